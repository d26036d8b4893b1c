/* SPDX-License-Identifier: Apache-2.0 */
/* System, agents and pools of the model runtime: a CPU and the GPUs of RETALLY_T0_AGENTS. */
#include "hsa_standin.h"

#include <stdio.h>
#include <string.h>

struct agent t0_agents[1 + T0_MAX_AGENTS];
unsigned t0_n_agents;

static uint64_t handle_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void add_pool(struct agent *a, uint32_t segment, uint32_t flags, bool device)
{
	a->pools[a->n_pools++] = (struct pool){a, segment, flags, device};
}

void agents_init(void)
{
	const struct t0_config *c = t0_config();
	t0_n_agents = 1 + c->n_gpus;
	for (unsigned i = 0; i < t0_n_agents; i++) {
		struct agent *a = &t0_agents[i];
		a->index = i;
		a->gpu = i > 0;
		a->gfx = i ? c->gpu[i - 1] : T0_GFX90A;
		pthread_mutex_init(&a->lock, NULL);
		if (a->gpu) {
			add_pool(a, HSA_SEGMENT_GLOBAL, HSA_POOL_COARSE_GRAINED, true);
			add_pool(a, HSA_SEGMENT_GLOBAL, HSA_POOL_FINE_GRAINED, true);
			add_pool(a, HSA_SEGMENT_GROUP, 0, true);
		} else {
			add_pool(a, HSA_SEGMENT_GLOBAL, HSA_POOL_FINE_GRAINED, false);
			add_pool(a, HSA_SEGMENT_GLOBAL, HSA_POOL_FINE_GRAINED | HSA_POOL_KERNARG,
				 false);
			add_pool(a, HSA_SEGMENT_GLOBAL, HSA_POOL_COARSE_GRAINED, false);
		}
	}
}

struct agent *agent_of(uint64_t handle)
{
	for (unsigned i = 0; i < t0_n_agents; i++)
		if (handle_of(&t0_agents[i]) == handle)
			return &t0_agents[i];
	return NULL;
}

struct pool *pool_of(uint64_t handle)
{
	for (unsigned i = 0; i < t0_n_agents; i++)
		for (unsigned k = 0; k < t0_agents[i].n_pools; k++)
			if (handle_of(&t0_agents[i].pools[k]) == handle)
				return &t0_agents[i].pools[k];
	return NULL;
}

uint32_t t0_hsa_system_get_info(uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_SYSTEM_VERSION_MAJOR:
		*(uint16_t *)value = 1;
		return HSA_OK;
	case HSA_SYSTEM_VERSION_MINOR:
		*(uint16_t *)value = 18;
		return HSA_OK;
	case HSA_SYSTEM_TIMESTAMP:
		*(uint64_t *)value = t0_now();
		return HSA_OK;
	case HSA_SYSTEM_TIMESTAMP_FREQUENCY:
		*(uint64_t *)value = 1000000000;
		return HSA_OK;
	default:
		return HSA_INVALID_ARGUMENT;
	}
}

uint32_t t0_hsa_iterate_agents(uint32_t (*callback)(uint64_t agent, void *data), void *data)
{
	if (!callback)
		return HSA_INVALID_ARGUMENT;
	if (!t0_hsa_up)
		return HSA_NOT_INITIALIZED;
	for (unsigned i = 0; i < t0_n_agents; i++) {
		uint32_t status = callback(handle_of(&t0_agents[i]), data);
		if (status != HSA_OK)
			return status;
	}
	return HSA_OK;
}

static void text(void *value, size_t room, const char *s)
{
	memset(value, 0, room);
	memcpy(value, s, strlen(s) < room ? strlen(s) : room - 1);
}

uint32_t t0_hsa_agent_get_info(uint64_t handle, uint32_t attribute, void *value)
{
	const struct agent *a = agent_of(handle);
	if (!a)
		return HSA_INVALID_AGENT;
	bool mi200 = a->gfx == T0_GFX90A;
	char uuid[24];
	switch (attribute) {
	case HSA_AGENT_NAME:
		text(value, 64, !a->gpu ? "model CPU" : mi200 ? "gfx90a" : "gfx942");
		return HSA_OK;
	case HSA_AGENT_VENDOR_NAME:
		text(value, 64, a->gpu ? "AMD" : "CPU");
		return HSA_OK;
	case HSA_AGENT_PRODUCT_NAME:
		text(value, 64,
		     !a->gpu ? "model CPU"
		     : mi200 ? "model of gfx90a"
			     : "model of gfx942");
		return HSA_OK;
	case HSA_AGENT_UUID:
		snprintf(uuid, sizeof uuid, "GPU-%016x", 0x70000u + a->index);
		text(value, 21, a->gpu ? uuid : "CPU-XX");
		return HSA_OK;
	case HSA_AGENT_FEATURE:
		*(uint32_t *)value = a->gpu ? 1 : 0;
		return HSA_OK;
	case HSA_AGENT_WAVEFRONT_SIZE:
		*(uint32_t *)value = a->gpu ? 64 : 0;
		return HSA_OK;
	case HSA_AGENT_QUEUES_MAX:
		*(uint32_t *)value = a->gpu ? 128 : 0;
		return HSA_OK;
	case HSA_AGENT_QUEUE_MIN_SIZE:
		*(uint32_t *)value = a->gpu ? 64 : 0;
		return HSA_OK;
	case HSA_AGENT_QUEUE_MAX_SIZE:
		*(uint32_t *)value = a->gpu ? 131072 : 0;
		return HSA_OK;
	case HSA_AGENT_NODE:
	case HSA_AGENT_DRIVER_NODE:
		*(uint32_t *)value = a->index;
		return HSA_OK;
	case HSA_AGENT_DEVICE:
		*(uint32_t *)value = a->gpu ? HSA_KIND_GPU : HSA_KIND_CPU;
		return HSA_OK;
	case HSA_AGENT_COMPUTE_UNITS:
		*(uint32_t *)value = !a->gpu ? 4 : mi200 ? 110 : 304;
		return HSA_OK;
	case HSA_AGENT_BDF:
		*(uint32_t *)value = a->gpu ? a->index << 8 : 0;
		return HSA_OK;
	case HSA_AGENT_DOMAIN:
		*(uint32_t *)value = 0;
		return HSA_OK;
	default:
		return HSA_INVALID_ARGUMENT;
	}
}

uint32_t t0_hsa_amd_agent_iterate_memory_pools(uint64_t handle,
					       uint32_t (*callback)(uint64_t pool, void *data),
					       void *data)
{
	struct agent *a = agent_of(handle);
	if (!a)
		return HSA_INVALID_AGENT;
	for (unsigned i = 0; i < a->n_pools; i++) {
		uint32_t status = callback(handle_of(&a->pools[i]), data);
		if (status != HSA_OK)
			return status;
	}
	return HSA_OK;
}

uint32_t t0_hsa_amd_memory_pool_get_info(uint64_t handle, uint32_t attribute, void *value)
{
	const struct pool *p = pool_of(handle);
	if (!p)
		return HSA_INVALID_POOL;
	switch (attribute) {
	case HSA_POOL_SEGMENT:
		*(uint32_t *)value = p->segment;
		return HSA_OK;
	case HSA_POOL_GLOBAL_FLAGS:
		*(uint32_t *)value = p->flags;
		return HSA_OK;
	case HSA_POOL_SIZE:
		*(size_t *)value = p->device ? t0_config()->vram : (size_t)8 << 30;
		return HSA_OK;
	case HSA_POOL_ALLOC_ALLOWED:
		*(bool *)value = p->segment == HSA_SEGMENT_GLOBAL;
		return HSA_OK;
	case HSA_POOL_ALLOC_GRANULE:
		*(size_t *)value = 4096;
		return HSA_OK;
	case HSA_POOL_ACCESSIBLE_BY_ALL:
		*(bool *)value = !p->device;
		return HSA_OK;
	case HSA_POOL_LOCATION:
		*(uint32_t *)value = p->device ? 1 : 0;
		return HSA_OK;
	default:
		return HSA_INVALID_ARGUMENT;
	}
}

uint32_t t0_hsa_agent_iterate_regions(uint64_t agent,
				      uint32_t (*callback)(uint64_t region, void *data), void *data)
{
	return t0_hsa_amd_agent_iterate_memory_pools(agent, callback, data);
}

uint32_t t0_hsa_region_get_info(uint64_t region, uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_REGION_SEGMENT:
	case HSA_REGION_GLOBAL_FLAGS:
	case HSA_REGION_SIZE:
		return t0_hsa_amd_memory_pool_get_info(region, attribute, value);
	default:
		return HSA_INVALID_ARGUMENT;
	}
}
