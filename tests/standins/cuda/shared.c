/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses and memory apart, and memory that others have, too. An allocation is plain memory of
 * the device that no program's pointer points to; addresses are mapped to it. Values of handles are
 * given out again as soon as they are free. What is exported can be imported in the same process;
 * of another process there is standin_peer_add only.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#define ALLOCATIONS 64
#define OPENED      16
#define GRAIN       (2ul << 20)

static struct allocation {
	cu_ptr backing; /* 0: of a multicast object without memory */
	size_t bytes;
	unsigned references, mappings;
	bool bound; /* the backing is another's */
} allocations[ALLOCATIONS];
static uint64_t handles[ALLOCATIONS]; /* by value - 1: number of the allocation + 1 */

/* Memory of other processes. */
static struct {
	uint64_t number;
	cu_ptr address;
	unsigned times;
} opened[OPENED];

static struct allocation *allocation_of(uint64_t handle)
{
	return handle && handle <= ALLOCATIONS && handles[handle - 1]
		       ? &allocations[handles[handle - 1] - 1]
		       : NULL;
}

static uint64_t handle_new(const struct allocation *a)
{
	for (unsigned i = 0; i < ALLOCATIONS; i++)
		if (!handles[i]) {
			handles[i] = (uint64_t)(a - allocations) + 1;
			return i + 1;
		}
	abort();
}

static struct allocation *allocation_new(size_t bytes, bool memory)
{
	for (unsigned i = 0; i < ALLOCATIONS; i++) {
		struct allocation *a = &allocations[i];

		if (a->references || a->mappings)
			continue;
		*a = (struct allocation){.bytes = bytes, .references = 1, .bound = !memory};
		a->backing = memory ? gpu_allocate(bytes, GRAIN) : 0;
		if (!memory || a->backing)
			return a;
		a->references = 0;
		return NULL;
	}
	abort();
}

static void allocation_check(struct allocation *a)
{
	if (!a->references && !a->mappings && !a->bound)
		gpu_memory_remove(a->backing);
}

cu_result cuMemAddressReserve(cu_ptr *address, size_t bytes, size_t align, cu_ptr wish,
			      uint64_t flags)
{
	struct {
		cu_ptr *address;
		size_t bytes, align;
		cu_ptr wish;
		uint64_t flags;
	} p = {address, bytes, align, wish, flags};

	BEGIN_PLAIN(cuMemAddressReserve);
	*address = gpu_allocate(bytes, GRAIN);
	/* Reserved is not mapped: nothing can be reached there yet. */
	if (*address)
		gpu_memory_of(*address)->mapped = true;
	END(*address ? CU_OK : CU_OUT_OF_MEMORY);
}

cu_result cuMemAddressFree(cu_ptr address, size_t bytes)
{
	struct {
		cu_ptr address;
		size_t bytes;
	} p = {address, bytes};

	BEGIN_PLAIN(cuMemAddressFree);
	END(gpu_memory_remove(address) ? CU_OK : CU_INVALID_VALUE);
}

cu_result cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, uint64_t flags)
{
	struct {
		uint64_t *handle;
		size_t bytes;
		const void *properties;
		uint64_t flags;
	} p = {handle, bytes, properties, flags};
	struct allocation *a;

	BEGIN_PLAIN(cuMemCreate);
	if (!bytes || bytes % GRAIN)
		END(CU_INVALID_VALUE);
	a = allocation_new(bytes, true);
	if (!a)
		END(CU_OUT_OF_MEMORY);
	*handle = handle_new(a);
	END(CU_OK);
}

cu_result cuMemRelease(uint64_t handle)
{
	struct {
		uint64_t handle;
	} p = {handle};
	struct allocation *a;

	BEGIN_PLAIN(cuMemRelease);
	a = allocation_of(handle);
	if (!a)
		END(CU_INVALID_VALUE);
	if (!--a->references)
		handles[handle - 1] = 0;
	allocation_check(a);
	END(CU_OK);
}

cu_result cuMemRetainAllocationHandle(uint64_t *handle, void *address)
{
	struct {
		uint64_t *handle;
		void *address;
	} p = {handle, address};
	const struct gpu_memory *m;
	struct allocation *a;

	BEGIN_PLAIN(cuMemRetainAllocationHandle);
	m = gpu_memory_of((cu_ptr)(uintptr_t)address);
	if (!m || !m->allocation)
		END(CU_INVALID_VALUE);
	a = &allocations[m->allocation - 1];
	*handle = 0;
	for (unsigned i = 0; i < ALLOCATIONS && !*handle; i++)
		if (handles[i] == m->allocation)
			*handle = i + 1;
	if (!*handle)
		*handle = handle_new(a);
	a->references++;
	END(CU_OK);
}

cu_result cuMemMap(cu_ptr address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)
{
	struct {
		cu_ptr address;
		size_t bytes, offset;
		uint64_t handle, flags;
	} p = {address, bytes, offset, handle, flags};
	struct gpu_memory *m;
	struct allocation *a;

	BEGIN_PLAIN(cuMemMap);
	m = gpu_memory_of(address);
	a = allocation_of(handle);
	/* One mapping for all of the reservation. */
	if (!m || !m->mapped || m->backing || m->address != address || m->size != bytes || !a ||
	    !a->backing || offset + bytes > a->bytes)
		END(CU_INVALID_VALUE);
	m->backing = a->backing + offset;
	m->allocation = (uint64_t)(a - allocations) + 1;
	a->mappings++;
	END(CU_OK);
}

cu_result cuMemUnmap(cu_ptr address, size_t bytes)
{
	struct {
		cu_ptr address;
		size_t bytes;
	} p = {address, bytes};
	struct gpu_memory *m;
	struct allocation *a;

	BEGIN_PLAIN(cuMemUnmap);
	if (context_current())
		gpu_context_wait(context_current());
	m = gpu_memory_of(address);
	if (!m || !m->allocation)
		END(CU_INVALID_VALUE);
	a = &allocations[m->allocation - 1];
	m->backing = 0;
	m->allocation = 0;
	a->mappings--;
	allocation_check(a);
	END(CU_OK);
}

cu_result cuMemSetAccess(cu_ptr address, size_t bytes, const void *access, size_t n)
{
	struct {
		cu_ptr address;
		size_t bytes;
		const void *access;
		size_t n;
	} p = {address, bytes, access, n};

	BEGIN_PLAIN(cuMemSetAccess);
	END(gpu_memory_of(address) ? CU_OK : CU_INVALID_VALUE);
}

/* ---- given away ---- */

cu_result cuMemExportToShareableHandle(void *shareable, uint64_t handle, int type, uint64_t flags)
{
	struct {
		void *shareable;
		uint64_t handle;
		int type;
		uint64_t flags;
	} p = {shareable, handle, type, flags};

	BEGIN_PLAIN(cuMemExportToShareableHandle);
	if (!allocation_of(handle))
		END(CU_INVALID_VALUE);
	*(int *)shareable = (int)handles[handle - 1];
	END(CU_OK);
}

cu_result cuMemImportFromShareableHandle(uint64_t *handle, void *shareable, int type)
{
	struct {
		uint64_t *handle;
		void *shareable;
		int type;
	} p = {handle, shareable, type};
	uintptr_t number = (uintptr_t)shareable;
	struct allocation *a;

	BEGIN_PLAIN(cuMemImportFromShareableHandle);
	if (!number || number > ALLOCATIONS || !allocations[number - 1].bytes)
		END(CU_INVALID_VALUE);
	/* A part of what the exporter has: that is expected to live longer. */
	a = allocation_new(allocations[number - 1].bytes, false);
	a->backing = allocations[number - 1].backing;
	*handle = handle_new(a);
	END(CU_OK);
}

cu_result cuMulticastCreate(uint64_t *handle, const void *properties)
{
	struct {
		uint64_t *handle;
		const void *properties;
	} p = {handle, properties};

	BEGIN_PLAIN(cuMulticastCreate);
	*handle = handle_new(allocation_new(GRAIN, false));
	END(CU_OK);
}

cu_result cuMulticastAddDevice(uint64_t handle, int device)
{
	struct {
		uint64_t handle;
		int device;
	} p = {handle, device};

	BEGIN_PLAIN(cuMulticastAddDevice);
	END(allocation_of(handle) && !device ? CU_OK : CU_INVALID_VALUE);
}

/* Of one device, so that what is written there is written to what was bound. */
static cu_result bind(uint64_t multicast, size_t offset, cu_ptr backing, size_t bytes)
{
	struct allocation *a = allocation_of(multicast);

	if (!a || a->backing || !a->bound || offset || bytes != a->bytes || !backing)
		return CU_INVALID_VALUE;
	a->backing = backing;
	return CU_OK;
}

cu_result cuMulticastBindMem(uint64_t multicast, size_t multicast_offset, uint64_t handle,
			     size_t offset, size_t bytes, uint64_t flags)
{
	struct {
		uint64_t multicast;
		size_t multicast_offset;
		uint64_t handle;
		size_t offset, bytes;
		uint64_t flags;
	} p = {multicast, multicast_offset, handle, offset, bytes, flags};
	const struct allocation *a;

	BEGIN_PLAIN(cuMulticastBindMem);
	a = allocation_of(handle);
	END(bind(multicast, multicast_offset, a ? a->backing + offset : 0, bytes));
}

cu_result cuMulticastBindAddr(uint64_t multicast, size_t multicast_offset, cu_ptr address,
			      size_t bytes, uint64_t flags)
{
	struct {
		uint64_t multicast;
		size_t multicast_offset;
		cu_ptr address;
		size_t bytes;
		uint64_t flags;
	} p = {multicast, multicast_offset, address, bytes, flags};
	const struct gpu_memory *m;

	BEGIN_PLAIN(cuMulticastBindAddr);
	m = gpu_memory_of(address);
	END(bind(multicast, multicast_offset, m ? gpu_backing(m, address) : 0, bytes));
}

static cu_result give(struct standin_ipc *to, cu_ptr address)
{
	const struct gpu_memory *m = gpu_memory_of(address);

	if (!m || m->kind != MEMORY_DEVICE || m->mapped)
		return CU_INVALID_VALUE;
	*to = (struct standin_ipc){{2, address}};
	return CU_OK;
}

cu_result cuIpcGetMemHandle(struct standin_ipc *handle, cu_ptr address)
{
	struct {
		struct standin_ipc *handle;
		cu_ptr address;
	} p = {handle, address};

	BEGIN(cuIpcGetMemHandle);
	END(give(handle, address));
}

cu_result cuMemPoolExportPointer(struct standin_ipc *data, cu_ptr address)
{
	struct {
		struct standin_ipc *data;
		cu_ptr address;
	} p = {data, address};

	BEGIN(cuMemPoolExportPointer);
	END(give(data, address));
}

cu_result cuMemGetHandleForAddressRange(void *handle, cu_ptr address, size_t bytes, int type,
					uint64_t flags)
{
	struct {
		void *handle;
		cu_ptr address;
		size_t bytes;
		int type;
		uint64_t flags;
	} p = {handle, address, bytes, type, flags};

	BEGIN_PLAIN(cuMemGetHandleForAddressRange);
	*(int *)handle = 3;
	END(gpu_at(address, bytes) ? CU_OK : CU_INVALID_VALUE);
}

cu_result cuPointerSetAttribute(const void *value, int attribute, cu_ptr address)
{
	struct {
		const void *value;
		int attribute;
		cu_ptr address;
	} p = {value, attribute, address};

	BEGIN(cuPointerSetAttribute);
	END(gpu_memory_of(address) && attribute == CU_POINTER_SYNCHRONOUS ? CU_OK
									  : CU_INVALID_VALUE);
}

/* ---- taken ---- */

/* Zeroed: what another process has there is up to it. */
static cu_ptr others_memory(size_t bytes)
{
	cu_ptr address = gpu_allocate(bytes, 512);

	if (address)
		memset(gpu_at(address, bytes), 0, bytes);
	return address;
}

cu_result cuIpcOpenMemHandle_v2(cu_ptr *address, struct standin_ipc handle, unsigned flags)
{
	struct {
		cu_ptr *address;
		struct standin_ipc handle;
		unsigned flags;
	} p = {address, handle, flags};
	unsigned i = 0;

	BEGIN(cuIpcOpenMemHandle_v2);
	if (handle.words[0] != 1)
		END(ERROR_INVALID_CONTEXT);
	while (i < OPENED && opened[i].times && opened[i].number != handle.words[1])
		i++;
	if (i == OPENED)
		abort();
	if (!opened[i].times) {
		opened[i].number = handle.words[1];
		opened[i].address = others_memory(handle.words[2]);
	}
	opened[i].times++;
	*address = opened[i].address;
	END(*address ? CU_OK : CU_OUT_OF_MEMORY);
}

cu_result cuIpcCloseMemHandle(cu_ptr address)
{
	struct {
		cu_ptr address;
	} p = {address};

	BEGIN(cuIpcCloseMemHandle);
	for (unsigned i = 0; i < OPENED; i++)
		if (opened[i].times && opened[i].address == address) {
			gpu_context_wait(context_current());
			if (!--opened[i].times)
				gpu_memory_remove(address);
			END(CU_OK);
		}
	END(CU_INVALID_VALUE);
}

cu_result cuMemPoolImportPointer(cu_ptr *address, struct CUmemPoolHandle_st *pool,
				 struct standin_ipc *data)
{
	struct {
		cu_ptr *address;
		struct CUmemPoolHandle_st *pool;
		struct standin_ipc *data;
	} p = {address, pool, data};

	BEGIN(cuMemPoolImportPointer);
	*address = data->words[0] == 1 ? others_memory(data->words[2]) : 0;
	END(*address ? CU_OK : CU_INVALID_VALUE);
}

cu_result cuExternalMemoryGetMappedBuffer(cu_ptr *address, void *memory,
					  const struct cu_external_buffer *buffer)
{
	struct {
		cu_ptr *address;
		void *memory;
		const struct cu_external_buffer *buffer;
	} p = {address, memory, buffer};

	BEGIN(cuExternalMemoryGetMappedBuffer);
	*address = others_memory(buffer->bytes);
	END(*address ? CU_OK : CU_INVALID_VALUE);
}

cu_result cuGraphicsResourceGetMappedPointer_v2(cu_ptr *address, size_t *bytes, size_t *resource)
{
	struct {
		cu_ptr *address;
		size_t *bytes, *resource;
	} p = {address, bytes, resource};

	BEGIN(cuGraphicsResourceGetMappedPointer_v2);
	*bytes = *resource;
	*address = others_memory(*resource);
	END(*address ? CU_OK : CU_INVALID_VALUE);
}

cu_result cuGraphicsResourceGetMappedEglFrame(cu_ptr *frame, size_t *resource, unsigned index,
					      unsigned level)
{
	struct {
		cu_ptr *frame;
		size_t *resource;
		unsigned index, level;
	} p = {frame, resource, index, level};

	BEGIN(cuGraphicsResourceGetMappedEglFrame);
	*frame = others_memory(*resource);
	END(*frame ? CU_OK : CU_INVALID_VALUE);
}

/* ---- what another process does ---- */

static struct {
	cu_ptr address; /* 0: nothing */
	size_t n;
	unsigned value;
} peer;

void standin_peer_add(cu_ptr address, size_t n, unsigned value)
{
	pthread_mutex_lock(&gpu.lock);
	peer.address = address;
	peer.n = n;
	peer.value = value;
	pthread_mutex_unlock(&gpu.lock);
}

void gpu_peer_turn(void)
{
	unsigned *words = peer.address ? gpu_at(peer.address, peer.n * sizeof(*words)) : NULL;

	for (size_t i = 0; words && i < peer.n; i++)
		words[i] += peer.value;
	peer.address = 0;
}
