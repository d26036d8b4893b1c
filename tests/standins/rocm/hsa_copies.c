/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills of the model runtime: at once, or asynchronous on a thread each, as an engine
 * beside the queues would do them. */
#include "hsa_standin.h"

#include <stdlib.h>
#include <string.h>

static uint32_t copies_running;

uint32_t t0_hsa_memory_copy(void *to, const void *from, size_t bytes)
{
	if (!to || !from)
		return HSA_INVALID_ARGUMENT;
	return memory_move(to, from, bytes, "hsa_memory_copy");
}

uint32_t t0_hsa_amd_memory_fill(void *address, uint32_t value, size_t words)
{
	uint32_t *at = memory_at(address, words * 4, "hsa_amd_memory_fill");
	for (size_t i = 0; i < words; i++)
		at[i] = value;
	return HSA_OK;
}

uint32_t t0_hsa_memory_register(void *address, size_t bytes)
{
	(void)address, (void)bytes;
	return HSA_OK;
}

uint32_t t0_hsa_memory_deregister(void *address, size_t bytes)
{
	(void)address, (void)bytes;
	return HSA_OK;
}

uint32_t t0_hsa_memory_assign_agent(void *address, uint64_t agent, uint32_t access)
{
	(void)address, (void)access;
	return agent_of(agent) ? HSA_OK : HSA_INVALID_AGENT;
}

/* ---- asynchronous ---- */

struct copy {
	struct hsa_pitched to, from; /* a plain copy: one row */
	struct hsa_dim3 to_offset, from_offset, range;
	uint64_t completion;
	uint32_t n_deps;
	uint64_t deps[];
};

static void *run_copy(void *data)
{
	struct copy *c = data;
	for (uint32_t i = 0; i < c->n_deps; i++)
		signal_wait(signal_of(c->deps[i], "the dependency of a copy"), HSA_EQ, 0, NULL);
	uint64_t start = t0_now();
	uint32_t status = HSA_OK;
	for (uint32_t z = 0; z < c->range.z; z++)
		for (uint32_t y = 0; y < c->range.y; y++) {
			char *to = (char *)c->to.base + (c->to_offset.z + z) * c->to.slice +
				   (c->to_offset.y + y) * c->to.pitch + c->to_offset.x;
			const char *from = (const char *)c->from.base +
					   (c->from_offset.z + z) * c->from.slice +
					   (c->from_offset.y + y) * c->from.pitch +
					   c->from_offset.x;
			uint32_t s = memory_move(to, from, c->range.x, "an asynchronous copy");
			if (s != HSA_OK)
				status = s;
		}
	if (status == HSA_OK) {
		signal_complete(c->completion, start, t0_now());
	} else if (c->completion) {
		/* how ROCr says that a copy failed: a negative value */
		struct signal *s = signal_of(c->completion, "the completion of a copy");
		__atomic_store_n(&s->body.value, -1, __ATOMIC_RELEASE);
		signal_changed(s);
	}
	free(c);
	__atomic_sub_fetch(&copies_running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static uint32_t start_copy(struct copy like, uint32_t n_deps, const uint64_t *deps)
{
	struct copy *c = malloc(sizeof *c + n_deps * sizeof *deps);
	if (!c)
		return HSA_OUT_OF_RESOURCES;
	*c = like;
	c->n_deps = n_deps;
	if (n_deps)
		memcpy(c->deps, deps, n_deps * sizeof *deps);
	pthread_t thread;
	__atomic_add_fetch(&copies_running, 1, __ATOMIC_RELAXED);
	if (pthread_create(&thread, NULL, run_copy, c)) {
		__atomic_sub_fetch(&copies_running, 1, __ATOMIC_RELAXED);
		free(c);
		return HSA_OUT_OF_RESOURCES;
	}
	pthread_detach(thread);
	return HSA_OK;
}

uint32_t t0_hsa_amd_memory_async_copy(void *to, uint64_t to_agent, const void *from,
				      uint64_t from_agent, size_t bytes, uint32_t n_deps,
				      const uint64_t *deps, uint64_t completion)
{
	if (!agent_of(to_agent) || !agent_of(from_agent))
		return HSA_INVALID_AGENT;
	if (!to || !from || bytes > UINT32_MAX)
		return HSA_INVALID_ARGUMENT;
	struct copy c = {.to = {.base = to},
			 .from = {.base = (void *)(uintptr_t)from},
			 .range = {(uint32_t)bytes, 1, 1},
			 .completion = completion};
	return start_copy(c, n_deps, deps);
}

uint32_t t0_hsa_amd_memory_async_copy_on_engine(void *to, uint64_t to_agent, const void *from,
						uint64_t from_agent, size_t bytes, uint32_t n_deps,
						const uint64_t *deps, uint64_t completion,
						uint32_t engine, bool force_sdma)
{
	(void)engine, (void)force_sdma;
	return t0_hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, n_deps, deps,
					    completion);
}

uint32_t t0_hsa_amd_memory_async_copy_rect(const struct hsa_pitched *to,
					   const struct hsa_dim3 *to_offset,
					   const struct hsa_pitched *from,
					   const struct hsa_dim3 *from_offset,
					   const struct hsa_dim3 *range, uint64_t agent,
					   uint32_t direction, uint32_t n_deps,
					   const uint64_t *deps, uint64_t completion)
{
	(void)direction;
	if (!agent_of(agent))
		return HSA_INVALID_AGENT;
	struct copy c = {.to = *to,
			 .from = *from,
			 .to_offset = *to_offset,
			 .from_offset = *from_offset,
			 .range = *range,
			 .completion = completion};
	return start_copy(c, n_deps, deps);
}

/* ---- what this device does not have ---- */

uint32_t t0_hsa_amd_interop_map_buffer(uint32_t n, uint64_t *agents, int handle, uint32_t flags,
				       size_t *bytes_out, void **address_out,
				       size_t *metadata_bytes_out, const void **metadata_out)
{
	(void)n, (void)agents, (void)handle, (void)flags, (void)bytes_out, (void)address_out;
	(void)metadata_bytes_out, (void)metadata_out;
	return HSA_NOT_SUPPORTED;
}

uint32_t t0_hsa_amd_interop_unmap_buffer(void *address)
{
	(void)address;
	return HSA_NOT_SUPPORTED;
}

uint32_t t0_hsa_amd_ipc_memory_attach(const void *handle, size_t bytes, uint32_t n,
				      const uint64_t *agents, void **address_out)
{
	(void)handle, (void)bytes, (void)n, (void)agents, (void)address_out;
	return HSA_NOT_SUPPORTED;
}

uint32_t t0_hsa_amd_ipc_memory_detach(void *address)
{
	(void)address;
	return HSA_NOT_SUPPORTED;
}

uint32_t t0_hsa_amd_svm_attributes_set(void *address, size_t bytes, void *attributes, size_t n)
{
	(void)address, (void)bytes, (void)attributes, (void)n;
	return HSA_NOT_SUPPORTED;
}

uint32_t t0_hsa_amd_svm_prefetch_async(void *address, size_t bytes, uint64_t agent, uint32_t n_deps,
				       const uint64_t *deps, uint64_t completion)
{
	(void)address, (void)bytes, (void)agent, (void)n_deps, (void)deps, (void)completion;
	return HSA_NOT_SUPPORTED;
}
