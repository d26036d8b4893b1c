/* SPDX-License-Identifier: Apache-2.0 */
/* The calls by which memory comes and goes, and module variables with their executables. */
#include "runtime/hsa/stores.h"
#include "source/rocm/rocm_tool.h"

#include <stdlib.h>
#include <string.h>

/* ---- what memory is ---- */

static void add(void *address, size_t size, enum memory_kind kind, uint64_t agent)
{
	struct program_memory m = {.address = (uint64_t)(uintptr_t)address,
				   .size = size,
				   .kind = kind,
				   .owner = agent};

	if (!memories_add(&hsa_session.memories, &m))
		replay_disable(hsa_session.replay, "there is no memory for the list of memories");
}

static bool is_gpu(uint64_t agent)
{
	uint32_t kind = HSA_KIND_CPU;

	return agent && !hsa_session.core.hsa_agent_get_info(agent, HSA_AGENT_DEVICE, &kind) &&
	       kind == HSA_KIND_GPU;
}

/* The runtime knows whose it is and how coherent. */
static void allocated(void *address, size_t bytes)
{
	struct hsa_pointer_info info = {.size = sizeof(info)};
	bool known = !hsa_session.amd.hsa_amd_pointer_info(address, &info, NULL, NULL, NULL) &&
		     info.type == HSA_ADDRESS_HSA;

	if (known && is_gpu(info.owner) &&
	    !(info.global_flags &
	      (HSA_POOL_FINE_GRAINED | HSA_POOL_KERNARG | HSA_POOL_EXTENDED_FINE_GRAINED)))
		add(address, bytes, MEMORY_DEVICE, info.owner);
	else
		add(address, bytes, MEMORY_HOST, 0);
}

static void forget(struct program_memory *m)
{
	struct hsa_device *d = m->known ? hsa_device_find(m->owner) : NULL;

	if (d)
		replay_memory_remove(atomic_load(&d->engine), m->known);
}

static void forget_at(void *address)
{
	struct program_memory m;

	if (address && memories_take(&hsa_session.memories, (uint64_t)(uintptr_t)address, &m))
		forget(&m);
}

/* What we hold and do not use must not be missing to the program. */
static bool make_room(void)
{
	bool held = false;

	hsa_boundary("an allocation");
	for (unsigned i = 0; i < atomic_load(&hsa_session.n_devices); i++) {
		struct hsa_device *d = &hsa_session.devices[i];
		struct replay_device *engine = atomic_load(&d->engine);
		/* Inside replay_before nobody else uses the stores. */
		struct runtime_op op = {
			.kind = RUNTIME_TRANSFER, .flags = RUNTIME_OP_REACH_EXACT, .kernel = ""};

		if (!engine)
			continue;
		(void)replay_before(engine, &op);
		held |= hsa_store_holds(d);
		hsa_store_trim(d, false);
		replay_after(engine, &op, true);
	}
	return held;
}

static bool is_full(uint32_t status)
{
	return status == HSA_OUT_OF_RESOURCES || status == HSA_INVALID_ALLOCATION;
}

/* ---- pools and regions ---- */

static uint32_t my_pool_allocate(uint64_t pool, size_t bytes, uint32_t flags, void **address_out)
{
	const struct hsa_amd_table *a = &hsa_session.amd;
	uint32_t status;

	if (!hsa_enter())
		return a->hsa_amd_memory_pool_allocate(pool, bytes, flags, address_out);
	hsa_boundary("hsa_amd_memory_pool_allocate");
	status = a->hsa_amd_memory_pool_allocate(pool, bytes, flags, address_out);
	if (is_full(status) && make_room())
		status = a->hsa_amd_memory_pool_allocate(pool, bytes, flags, address_out);
	/* Code is written by nobody. */
	if (!status && !(flags & HSA_ALLOC_EXECUTABLE))
		allocated(*address_out, bytes);
	hsa_leave();
	return status;
}

static uint32_t my_pool_free(void *address)
{
	uint32_t status;

	if (!hsa_enter())
		return hsa_session.amd.hsa_amd_memory_pool_free(address);
	hsa_boundary("hsa_amd_memory_pool_free");
	forget_at(address);
	status = hsa_session.amd.hsa_amd_memory_pool_free(address);
	hsa_leave();
	return status;
}

static uint32_t my_allocate(uint64_t region, size_t bytes, void **address_out)
{
	const struct hsa_core_table *c = &hsa_session.core;
	uint32_t status;

	if (!hsa_enter())
		return c->hsa_memory_allocate(region, bytes, address_out);
	hsa_boundary("hsa_memory_allocate");
	status = c->hsa_memory_allocate(region, bytes, address_out);
	if (is_full(status) && make_room())
		status = c->hsa_memory_allocate(region, bytes, address_out);
	if (!status)
		allocated(*address_out, bytes);
	hsa_leave();
	return status;
}

static uint32_t my_free(void *address)
{
	uint32_t status;

	if (!hsa_enter())
		return hsa_session.core.hsa_memory_free(address);
	hsa_boundary("hsa_memory_free");
	forget_at(address);
	status = hsa_session.core.hsa_memory_free(address);
	hsa_leave();
	return status;
}

/* ---- memory of the host that GPUs see ---- */

static uint32_t my_lock(void *host, size_t bytes, uint64_t *agents, int n, void **address_out)
{
	uint32_t status = hsa_session.amd.hsa_amd_memory_lock(host, bytes, agents, n, address_out);

	if (!status && hsa_enter()) {
		add(*address_out, bytes, MEMORY_HOST, 0);
		hsa_leave();
	}
	return status;
}

static uint32_t my_lock_to_pool(void *host, size_t bytes, uint64_t *agents, int n, uint64_t pool,
				uint32_t flags, void **address_out)
{
	uint32_t status = hsa_session.amd.hsa_amd_memory_lock_to_pool(host, bytes, agents, n, pool,
								      flags, address_out);

	if (!status && hsa_enter()) {
		add(*address_out, bytes, MEMORY_HOST, 0);
		hsa_leave();
	}
	return status;
}

static uint32_t my_unlock(void *host)
{
	if (hsa_enter()) {
		hsa_boundary("hsa_amd_memory_unlock");
		forget_at(host);
		hsa_leave();
	}
	return hsa_session.amd.hsa_amd_memory_unlock(host);
}

/* Managed memory: the host uses it like its own. */
static uint32_t my_svm_set(void *address, size_t bytes, void *attributes, size_t n)
{
	if (hsa_enter()) {
		hsa_boundary("hsa_amd_svm_attributes_set");
		add(address, bytes, MEMORY_HOST, 0);
		hsa_leave();
	}
	return hsa_session.amd.hsa_amd_svm_attributes_set(address, bytes, attributes, n);
}

static uint32_t my_ipc_attach(const void *handle, size_t bytes, uint32_t n, const uint64_t *agents,
			      void **address_out)
{
	uint32_t status =
		hsa_session.amd.hsa_amd_ipc_memory_attach(handle, bytes, n, agents, address_out);
	struct hsa_pointer_info info = {.size = sizeof(info)};

	if (status || !hsa_enter())
		return status;
	if (!hsa_session.amd.hsa_amd_pointer_info(*address_out, &info, NULL, NULL, NULL) &&
	    is_gpu(info.owner))
		add(*address_out, info.bytes ? info.bytes : bytes, MEMORY_FOREIGN, info.owner);
	else
		add(*address_out, bytes, MEMORY_HOST, 0);
	hsa_leave();
	return status;
}

static uint32_t my_ipc_detach(void *address)
{
	if (hsa_enter()) {
		hsa_boundary("hsa_amd_ipc_memory_detach");
		forget_at(address);
		hsa_leave();
	}
	return hsa_session.amd.hsa_amd_ipc_memory_detach(address);
}

/* ---- virtual memory: one piece of memory may be mapped in several places ---- */

#define MAPPINGS 4096u

static struct {
	pthread_mutex_t lock;
	struct {
		uint64_t handle; /* 0: free */
		uint64_t pool;
		unsigned times; /* mapped */
	} items[MAPPINGS];
} handles = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void handle_note(uint64_t handle, uint64_t pool)
{
	pthread_mutex_lock(&handles.lock);
	for (unsigned i = 0; i < MAPPINGS; i++)
		if (!handles.items[i].handle) {
			handles.items[i].handle = handle;
			handles.items[i].pool = pool;
			handles.items[i].times = 0;
			break;
		}
	pthread_mutex_unlock(&handles.lock);
}

/* How often it has been mapped before; UINT32_MAX: it is not known. */
static unsigned handle_map(uint64_t handle, uint64_t *pool_out)
{
	unsigned times = UINT32_MAX;

	pthread_mutex_lock(&handles.lock);
	for (unsigned i = 0; i < MAPPINGS && times == UINT32_MAX; i++)
		if (handles.items[i].handle == handle) {
			times = handles.items[i].times++;
			*pool_out = handles.items[i].pool;
		}
	pthread_mutex_unlock(&handles.lock);
	return times;
}

static void handle_forget(uint64_t handle)
{
	pthread_mutex_lock(&handles.lock);
	for (unsigned i = 0; i < MAPPINGS; i++)
		if (handles.items[i].handle == handle)
			handles.items[i].handle = 0;
	pthread_mutex_unlock(&handles.lock);
}

static uint32_t my_handle_create(uint64_t pool, size_t bytes, uint32_t type, uint64_t flags,
				 uint64_t *handle_out)
{
	uint32_t status =
		hsa_session.amd.hsa_amd_vmem_handle_create(pool, bytes, type, flags, handle_out);

	if (!status && hsa_enter()) {
		handle_note(*handle_out, pool);
		hsa_leave();
	}
	return status;
}

static uint32_t my_handle_release(uint64_t handle)
{
	if (hsa_enter()) {
		handle_forget(handle);
		hsa_leave();
	}
	return hsa_session.amd.hsa_amd_vmem_handle_release(handle);
}

struct owner {
	uint64_t pool, agent;
};

static uint32_t on_pool(uint64_t pool, void *data)
{
	const uint64_t *wanted = data;

	return pool == *wanted ? HSA_BREAK : HSA_OK;
}

static uint32_t on_agent(uint64_t agent, void *data)
{
	struct owner *o = data;

	if (hsa_session.amd.hsa_amd_agent_iterate_memory_pools(agent, on_pool, &o->pool) !=
	    HSA_BREAK)
		return HSA_OK;
	o->agent = agent;
	return HSA_BREAK;
}

static uint32_t my_map(void *address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)
{
	uint32_t status = hsa_session.amd.hsa_amd_vmem_map(address, bytes, offset, handle, flags);
	struct owner o = {0};
	unsigned times;

	if (status || !hsa_enter())
		return status;
	hsa_boundary("hsa_amd_vmem_map");
	times = handle_map(handle, &o.pool);
	if (o.pool)
		(void)hsa_session.core.hsa_iterate_agents(on_agent, &o);
	if (!is_gpu(o.agent))
		add(address, bytes, MEMORY_HOST, 0);
	else
		add(address, bytes, times ? MEMORY_FOREIGN : MEMORY_DEVICE, o.agent);
	hsa_leave();
	return status;
}

static uint32_t my_unmap(void *address, size_t bytes)
{
	struct program_memory m;

	if (hsa_enter()) {
		hsa_boundary("hsa_amd_vmem_unmap");
		while (bytes && memories_take_in(&hsa_session.memories,
						 (uint64_t)(uintptr_t)address, bytes, &m))
			forget(&m);
		hsa_leave();
	}
	return hsa_session.amd.hsa_amd_vmem_unmap(address, bytes);
}

/* ---- executables ---- */

static uint32_t on_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *data)
{
	const struct hsa_core_table *c = &hsa_session.core;
	struct program_memory m = {.kind = MEMORY_VARIABLE, .owner = agent, .module = executable};
	uint32_t type = UINT32_MAX, size = 0;
	struct rocm_kernel *kernel;
	uint64_t object = 0;

	(void)data;
	if (c->hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_TYPE, &type))
		return HSA_OK;
	if (type == HSA_SYMBOL_KERNEL &&
	    !c->hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_KERNEL_OBJECT, &object) &&
	    (kernel = rocm_tool_kernel(object)))
		kernel->module = executable;
	if (type != HSA_SYMBOL_VARIABLE ||
	    c->hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_VARIABLE_ADDRESS, &m.address) ||
	    c->hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_VARIABLE_SIZE, &size))
		return HSA_OK;
	m.size = size;
	/* Constants, too: HSA_SYMBOL_VARIABLE_IS_CONST tells nothing, ROCr 1.18 answers it the
	 * wrong way round (amd_hsa_code.cpp, Symbol::IsConst). */
	if (!memories_add(&hsa_session.memories, &m))
		replay_disable(hsa_session.replay, "there is no memory for the list of memories");
	return HSA_OK;
}

static uint32_t on_gpu(uint64_t agent, void *data)
{
	const uint64_t *executable = data;

	if (is_gpu(agent))
		(void)hsa_session.core.hsa_executable_iterate_agent_symbols(*executable, agent,
									    on_symbol, NULL);
	return HSA_OK;
}

static uint32_t my_freeze(uint64_t executable, const char *options)
{
	uint32_t status = hsa_session.core.hsa_executable_freeze(executable, options);

	if (!status && hsa_enter()) {
		hsa_boundary("hsa_executable_freeze");
		(void)hsa_session.core.hsa_iterate_agents(on_gpu, &executable);
		hsa_leave();
	}
	return status;
}

static uint32_t my_executable_destroy(uint64_t executable)
{
	struct program_memory m;

	if (hsa_enter()) {
		hsa_boundary("hsa_executable_destroy");
		while (memories_take_of_module(&hsa_session.memories, executable, &m))
			forget(&m);
		hsa_leave();
	}
	return hsa_session.core.hsa_executable_destroy(executable);
}

void hsa_patch_memory(struct hsa_core_table *core, struct hsa_amd_table *amd)
{
	core->hsa_memory_allocate = my_allocate;
	core->hsa_memory_free = my_free;
	core->hsa_executable_freeze = my_freeze;
	core->hsa_executable_destroy = my_executable_destroy;
	amd->hsa_amd_memory_pool_allocate = my_pool_allocate;
	amd->hsa_amd_memory_pool_free = my_pool_free;
	amd->hsa_amd_memory_lock = my_lock;
	amd->hsa_amd_memory_unlock = my_unlock;
	amd->hsa_amd_ipc_memory_attach = my_ipc_attach;
	amd->hsa_amd_ipc_memory_detach = my_ipc_detach;
	if (HSA_TABLE_HAS(amd, hsa_amd_memory_lock_to_pool))
		amd->hsa_amd_memory_lock_to_pool = my_lock_to_pool;
	if (HSA_TABLE_HAS(amd, hsa_amd_svm_attributes_set))
		amd->hsa_amd_svm_attributes_set = my_svm_set;
	if (HSA_TABLE_HAS(amd, hsa_amd_vmem_unmap)) {
		amd->hsa_amd_vmem_handle_create = my_handle_create;
		amd->hsa_amd_vmem_handle_release = my_handle_release;
		amd->hsa_amd_vmem_map = my_map;
		amd->hsa_amd_vmem_unmap = my_unmap;
	}
}
