/* SPDX-License-Identifier: Apache-2.0 */
/* Agents of the model, known before HSA is loaded, as the real SDK reads them from the driver. */
#include "sdk_standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sdk_agent sdk_agents[1 + T0_MAX_AGENTS];
unsigned sdk_n_agents;

static void describe(struct rocp_agent *a, unsigned node, bool gpu, enum t0_gfx gfx)
{
	bool mi200 = gfx == T0_GFX90A;
	a->id = 0x9000 + node * 0x11;
	a->type = gpu ? ROCP_AGENT_GPU : ROCP_AGENT_CPU;
	a->node_id = node;
	a->logical_node_id = (int32_t)node;
	a->logical_node_type_id = gpu ? (int32_t)node - 1 : 0;
	a->runtime_visibility = 0xf;
	if (!gpu) {
		a->cpu_cores_count = 4;
		a->name = a->product_name = a->model_name = "model CPU";
		a->vendor_name = "CPU";
		return;
	}
	a->num_xcc = mi200 ? 1 : 8;
	a->num_shader_banks = mi200 ? 8 : 32;
	a->cu_count = mi200 ? 110 : 304;
	a->simd_per_cu = 4;
	a->simd_count = a->cu_count * 4;
	a->simd_arrays_per_engine = 1;
	a->array_count = a->num_shader_banks;
	a->cu_per_simd_array = mi200 ? 14 : 10;
	a->cu_per_engine = a->cu_per_simd_array;
	a->max_waves_per_simd = 8;
	a->max_waves_per_cu = 32;
	a->wave_front_size = 64;
	a->lds_size_in_kb = 64;
	a->gfx_target_version = mi200 ? 90010 : 90402;
	a->vendor_id = 0x1002;
	a->device_id = mi200 ? 0x740f : 0x74a1;
	a->location_id = node << 8;
	a->max_engine_clk_fcompute = mi200 ? 1700 : 2100;
	a->drm_render_minor = 127 + node;
	a->local_mem_size = t0_config()->vram;
	a->gpu_id = 0x5000 + node;
	a->name = mi200 ? "gfx90a" : "gfx942";
	a->vendor_name = "AMD";
	a->product_name = a->model_name = mi200 ? "model of gfx90a" : "model of gfx942";
	a->uuid[7] = 7;
	a->uuid[8] = (uint8_t)node;
}

void agents_init(void)
{
	const struct t0_config *c = t0_config();
	size_t size = sizeof(struct rocp_agent) + (c->mutate & T0_SIZES ? 64 : 0);
	sdk_n_agents = 1 + c->n_gpus;
	for (unsigned i = 0; i < sdk_n_agents; i++) {
		struct sdk_agent *a = &sdk_agents[i];
		a->gfx = i ? c->gpu[i - 1] : T0_GFX90A;
		a->xccs = a->gfx == T0_GFX90A ? 1 : 8;
		a->ses_per_xcc = a->gfx == T0_GFX90A ? 8 : 4;
		pthread_mutex_init(&a->serial_lock, NULL);
		a->public = calloc(1, size);
		if (!a->public)
			t0_abort("no memory");
		memset((char *)a->public + sizeof *a->public, 0xee, size - sizeof *a->public);
		a->public->size = size;
		describe(a->public, i, i > 0, a->gfx);
	}
}

struct sdk_agent *agent_by_id(uint64_t id)
{
	for (unsigned i = 0; i < sdk_n_agents; i++)
		if (sdk_agents[i].public->id == id)
			return &sdk_agents[i];
	return NULL;
}

static uint32_t match(uint64_t handle, void *data)
{
	uint32_t node = 0;
	(void)data;
	sdk_core.hsa_agent_get_info(handle, HSA_AGENT_DRIVER_NODE, &node);
	for (unsigned i = 0; i < sdk_n_agents; i++)
		if (sdk_agents[i].public->node_id == node)
			sdk_agents[i].hsa = handle;
	return HSA_OK;
}

void agents_match(void)
{
	sdk_core.hsa_iterate_agents(match, NULL);
}

struct sdk_agent *agent_by_hsa(uint64_t handle)
{
	if (!sdk_agents[0].hsa)
		agents_match();
	for (unsigned i = 0; i < sdk_n_agents; i++)
		if (sdk_agents[i].hsa == handle)
			return &sdk_agents[i];
	return NULL;
}

uint32_t rocprofiler_query_available_agents(uint32_t version, rocp_agents_callback callback,
					    size_t agent_size, void *data)
{
	const void *list[1 + T0_MAX_AGENTS];
	if (version != ROCP_AGENT_VERSION_0)
		return ROCP_INVALID_ARGUMENT;
	if (agent_size > sdk_agents[0].public->size)
		return ROCP_INCOMPATIBLE_ABI;
	for (unsigned i = 0; i < sdk_n_agents; i++)
		list[i] = sdk_agents[i].public;
	return callback(version, list, sdk_n_agents, data);
}
