/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make memory and give it back. */
#include "runtime/cuda/calls.h"
#include "runtime/cuda/stores.h"

void cuda_memory_add(struct cuda_context *c, uint64_t address, size_t size, enum memory_kind kind)
{
	struct program_memory m = {
		.address = address, .size = size, .kind = kind, .owner = c->number};

	cuda_memory_record(&m);
}

void cuda_memory_record(const struct program_memory *m)
{
	if (!memories_add(&cuda_session.memories, m))
		cuda_session.why_none = "there was no room to record what memory the program has";
}

void cuda_memory_remove(const struct program_memory *m)
{
	cuda_memory_unknown(m);
	cuda_mapping_gone(m->mapping_of);
}

void cuda_memory_unknown(const struct program_memory *m)
{
	struct cuda_context *c = &cuda_session.contexts[m->owner];

	if (m->known && c->device)
		replay_memory_remove(c->device, m->known);
}

void cuda_memory_make_room(struct cuda_context *c, size_t bytes, const char *call)
{
	size_t free_bytes = 0, total = 0;

	if (!c->device || cuda_session.captures > 0 ||
	    cuda_session.driver.memory_info(&free_bytes, &total) ||
	    free_bytes > bytes + CUDA_STORE_RESERVE_MIN)
		return;
	cuda_boundary(c, call);
	cuda_store_trim(c);
}

static void make_room(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_alloc_params *p = data->params;

	cuda_memory_make_room(c, p->bytes, data->function);
}

static void allocated(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_alloc_params *p = data->params;

	if (!cuda_result(data))
		cuda_memory_add(c, *p->address, p->bytes, MEMORY_DEVICE);
}

static void allocated_from_pool(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_alloc_params *p = data->params;

	if (!cuda_result(data))
		cuda_memory_add(c, *p->address, p->bytes, cuda_pool_kind(c, p->pool));
}

static void allocated_pitch(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_alloc_pitch_params *p = data->params;

	if (!cuda_result(data))
		cuda_memory_add(c, *p->address, *p->pitch * p->height, MEMORY_DEVICE);
}

static void allocated_managed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_alloc_params *p = data->params;

	if (!cuda_result(data))
		cuda_memory_add(c, *p->address, p->bytes, MEMORY_MANAGED);
}

static void allocated_host(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_host_alloc_params *p = data->params;

	if (!cuda_result(data))
		cuda_memory_add(c, (cu_ptr)(uintptr_t)*p->address, p->bytes, MEMORY_HOST);
}

static void registered_host(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_host_register_params *p = data->params;

	if (!cuda_result(data))
		cuda_memory_add(c, (cu_ptr)(uintptr_t)p->address, p->bytes, MEMORY_HOST);
}

static void forget(struct cuda_context *c, const struct cupti_callback_data *data, cu_ptr address)
{
	struct program_memory m;

	if (!address)
		return;
	cuda_boundary(c, data->function);
	if (memories_take(&cuda_session.memories, address, &m))
		cuda_memory_remove(&m);
}

static void freed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_free_params *p = data->params;

	forget(c, data, p->address);
}

static void freed_host(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_host_free_params *p = data->params;

	forget(c, data, (cu_ptr)(uintptr_t)p->address);
}

const struct cuda_call_entry cuda_memory_calls[] = {
	{"cuMemAlloc_v2", make_room, allocated},
	{"cuMemAllocPitch_v2", NULL, allocated_pitch},
	{"cuMemAllocManaged", NULL, allocated_managed},
	{"cuMemAllocAsync", make_room, allocated},
	{"cuMemAllocFromPoolAsync", make_room, allocated_from_pool},
	{"cuMemHostAlloc", NULL, allocated_host},
	{"cuMemHostAlloc_v2", NULL, allocated_host},
	{"cuMemAllocHost_v2", NULL, allocated_host},
	{"cuMemHostRegister", NULL, registered_host},
	{"cuMemHostRegister_v2", NULL, registered_host},
	{"cuMemFree_v2", freed, NULL},
	{"cuMemFreeAsync", freed, NULL},
	{"cuMemFreeHost", freed_host, NULL},
	{"cuMemHostUnregister", freed_host, NULL},
};
const size_t cuda_n_memory_calls = sizeof(cuda_memory_calls) / sizeof(*cuda_memory_calls);
