/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the stand-in driver: plain, in pools, managed, pinned, registered. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGN 512
#define PAGE  4096u

struct CUmemPoolHandle_st {
	enum gpu_memory_kind kind;
};

cu_result cuMemGetInfo_v2(size_t *free_out, size_t *total_out)
{
	struct {
		size_t *free_out, *total_out;
	} p = {free_out, total_out};

	BEGIN(cuMemGetInfo_v2);
	*free_out = GPU_MEMORY - gpu.used;
	*total_out = GPU_MEMORY;
	END(CU_OK);
}

cu_result cuMemAlloc_v2(cu_ptr *address, size_t bytes)
{
	struct {
		cu_ptr *address;
		size_t bytes;
	} p = {address, bytes};

	BEGIN(cuMemAlloc_v2);
	if (call.injected && standin_fault("alloc", NULL))
		END(CU_OUT_OF_MEMORY);
	if (!bytes)
		END(CU_INVALID_VALUE);
	*address = gpu_allocate(bytes, ALIGN);
	if (*address)
		gpu_memory_of(*address)->own = call.injected;
	END(*address ? CU_OK : CU_OUT_OF_MEMORY);
}

cu_result cuMemAllocPitch_v2(cu_ptr *address, size_t *pitch, size_t width, size_t height,
			     unsigned element)
{
	struct {
		cu_ptr *address;
		size_t *pitch, width, height;
		unsigned element;
	} p = {address, pitch, width, height, element};

	BEGIN(cuMemAllocPitch_v2);
	*pitch = (width + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	*address = gpu_allocate(*pitch * height, ALIGN);
	END(*address ? CU_OK : CU_OUT_OF_MEMORY);
}

/* The host may touch it, so it is not in the device's memory. */
static void *host_pages(size_t bytes)
{
	void *at = mmap(NULL, (bytes + PAGE - 1) & ~(size_t)(PAGE - 1), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

cu_result cuMemAllocManaged(cu_ptr *address, size_t bytes, unsigned flags)
{
	struct {
		cu_ptr *address;
		size_t bytes;
		unsigned flags;
	} p = {address, bytes, flags};

	BEGIN(cuMemAllocManaged);
	if (!bytes)
		END(CU_INVALID_VALUE);
	*address = (cu_ptr)(uintptr_t)host_pages(bytes);
	END(*address && gpu_memory_add(*address, bytes, MEMORY_MANAGED) ? CU_OK : CU_OUT_OF_MEMORY);
}

static cu_result give_back(cu_ptr address, bool host)
{
	struct gpu_memory *m = gpu_memory_of(address), was;

	if (!m || m->address != address || m->mapped ||
	    (m->kind == MEMORY_PINNED || m->kind == MEMORY_REGISTERED) != host)
		return CU_INVALID_VALUE;
	gpu_context_wait(context_current());
	was = *gpu_memory_of(address);
	gpu_memory_remove(address);
	if (was.kind == MEMORY_MANAGED || was.kind == MEMORY_PINNED)
		munmap((void *)(uintptr_t)address, (was.size + PAGE - 1) & ~(size_t)(PAGE - 1));
	return CU_OK;
}

cu_result cuMemFree_v2(cu_ptr address)
{
	struct {
		cu_ptr address;
	} p = {address};

	BEGIN(cuMemFree_v2);
	END(address ? give_back(address, false) : CU_OK);
}

/* ---- in the order of a stream ---- */

cu_result cuMemAllocAsync(cu_ptr *address, size_t bytes, struct CUstream_st *stream)
{
	struct {
		cu_ptr *address;
		size_t bytes;
		struct CUstream_st *stream;
	} p = {address, bytes, stream};

	BEGIN(cuMemAllocAsync);
	if (!bytes || !stream_of(stream))
		END(CU_INVALID_VALUE);
	*address = gpu_allocate(bytes, ALIGN);
	END(*address ? CU_OK : CU_OUT_OF_MEMORY);
}

cu_result cuMemAllocFromPoolAsync(cu_ptr *address, size_t bytes, struct CUmemPoolHandle_st *pool,
				  struct CUstream_st *stream)
{
	struct {
		cu_ptr *address;
		size_t bytes;
		struct CUmemPoolHandle_st *pool;
		struct CUstream_st *stream;
	} p = {address, bytes, pool, stream};

	BEGIN(cuMemAllocFromPoolAsync);
	if (!bytes || !pool || !stream_of(stream))
		END(CU_INVALID_VALUE);
	if (pool->kind == MEMORY_DEVICE) {
		*address = gpu_allocate(bytes, ALIGN);
		END(*address ? CU_OK : CU_OUT_OF_MEMORY);
	}
	*address = (cu_ptr)(uintptr_t)host_pages(bytes);
	END(*address && gpu_memory_add(*address, bytes, pool->kind) ? CU_OK : CU_OUT_OF_MEMORY);
}

cu_result cuMemFreeAsync(cu_ptr address, struct CUstream_st *stream)
{
	struct {
		cu_ptr address;
		struct CUstream_st *stream;
	} p = {address, stream};
	struct gpu_command *c;
	const struct gpu_memory *m;

	BEGIN(cuMemFreeAsync);
	m = gpu_memory_of(address);
	/* Pages of the host are not given back to it. */
	if (!m || m->address != address || m->mapped || !stream_of(stream))
		END(CU_INVALID_VALUE);
	c = gpu_command_new(COMMAND_FREE);
	c->to = address;
	gpu_enqueue(stream_of(stream), c);
	END(CU_OK);
}

cu_result cuDeviceGetDefaultMemPool(struct CUmemPoolHandle_st **pool, int device)
{
	static struct CUmemPoolHandle_st plain;
	struct {
		struct CUmemPoolHandle_st **pool;
		int device;
	} p = {pool, device};

	BEGIN_PLAIN(cuDeviceGetDefaultMemPool);
	*pool = &plain;
	END(device < 0 || device >= standin_devices() ? ERROR_INVALID_DEVICE : CU_OK);
}

cu_result cuMemPoolCreate(struct CUmemPoolHandle_st **pool,
			  const struct cu_create_properties *properties)
{
	struct {
		struct CUmemPoolHandle_st **pool;
		const struct cu_create_properties *properties;
	} p = {pool, properties};

	BEGIN_PLAIN(cuMemPoolCreate);
	*pool = calloc(1, sizeof(**pool));
	if (!*pool)
		abort();
	(*pool)->kind = properties->type == CU_CREATE_MANAGED       ? MEMORY_MANAGED
			: properties->place.type != CU_PLACE_DEVICE ? MEMORY_PINNED
								    : MEMORY_DEVICE;
	END(CU_OK);
}

cu_result cuMemPoolDestroy(struct CUmemPoolHandle_st *pool)
{
	struct {
		struct CUmemPoolHandle_st *pool;
	} p = {pool};

	BEGIN_PLAIN(cuMemPoolDestroy);
	free(pool);
	END(CU_OK);
}

/* ---- of the host ---- */

static cu_result pinned(void **address, size_t bytes, bool own)
{
	*address = bytes ? host_pages(bytes) : NULL;
	if (!*address)
		return bytes ? CU_OUT_OF_MEMORY : CU_INVALID_VALUE;
	if (!gpu_memory_add((cu_ptr)(uintptr_t)*address, bytes, MEMORY_PINNED))
		return CU_OUT_OF_MEMORY;
	gpu_memory_of((cu_ptr)(uintptr_t)*address)->own = own;
	return CU_OK;
}

cu_result cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
	struct {
		void **address;
		size_t bytes;
		unsigned flags;
	} p = {address, bytes, flags};

	BEGIN(cuMemHostAlloc);
	if (call.injected && standin_fault("host-alloc", NULL))
		END(CU_OUT_OF_MEMORY);
	END(pinned(address, bytes, call.injected));
}

cu_result cuMemAllocHost_v2(void **address, size_t bytes)
{
	struct {
		void **address;
		size_t bytes;
	} p = {address, bytes};

	BEGIN(cuMemAllocHost_v2);
	END(pinned(address, bytes, call.injected));
}

cu_result cuMemFreeHost(void *address)
{
	struct {
		void *address;
	} p = {address};

	BEGIN(cuMemFreeHost);
	END(give_back((cu_ptr)(uintptr_t)address, true));
}

cu_result cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
	struct {
		void *address;
		size_t bytes;
		unsigned flags;
	} p = {address, bytes, flags};

	BEGIN(cuMemHostRegister_v2);
	if (!address || !bytes || gpu_memory_of((cu_ptr)(uintptr_t)address))
		END(CU_INVALID_VALUE);
	END(gpu_memory_add((cu_ptr)(uintptr_t)address, bytes, MEMORY_REGISTERED)
		    ? CU_OK
		    : CU_OUT_OF_MEMORY);
}

cu_result cuMemHostUnregister(void *address)
{
	struct {
		void *address;
	} p = {address};

	BEGIN(cuMemHostUnregister);
	END(give_back((cu_ptr)(uintptr_t)address, true));
}

cu_result cuMemHostGetDevicePointer_v2(cu_ptr *address, void *host, unsigned flags)
{
	struct {
		cu_ptr *address;
		void *host;
		unsigned flags;
	} p = {address, host, flags};

	BEGIN(cuMemHostGetDevicePointer_v2);
	*address = (cu_ptr)(uintptr_t)host;
	END(gpu_memory_of(*address) ? CU_OK : CU_INVALID_VALUE);
}

cu_result cuPointerGetAttribute(void *value, int attribute, cu_ptr address)
{
	struct {
		void *value;
		int attribute;
		cu_ptr address;
	} p = {value, attribute, address};
	const struct gpu_memory *m;
	unsigned number = 0;

	BEGIN(cuPointerGetAttribute);
	if (call.injected && standin_fault("pointer", NULL))
		END(ERROR_OPERATING_SYSTEM);
	m = gpu_memory_of(address);
	if (!m)
		END(CU_INVALID_VALUE);
	switch (attribute) {
	case CU_POINTER_MEMORY_TYPE: /* managed memory passes for the device's */
		number = m->kind == MEMORY_DEVICE || m->kind == MEMORY_MANAGED ? 2 : 1;
		break;
	case CU_POINTER_IS_MANAGED:
		number = m->kind == MEMORY_MANAGED;
		break;
	case CU_POINTER_RANGE_START:
		memcpy(value, &m->address, sizeof(m->address));
		END(CU_OK);
	case CU_POINTER_RANGE_SIZE:
		memcpy(value, &m->size, sizeof(m->size));
		END(CU_OK);
	case CU_POINTER_MAPPED:
		number = 1;
		break;
	case CU_POINTER_DEVICE_ORDINAL:
		number = (unsigned)m->device;
		break;
	default:
		END(CU_INVALID_VALUE);
	}
	memcpy(value, &number, sizeof(number));
	END(CU_OK);
}
