/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of memory that others have, too: another process adds to it between two kernels of a
 * window, and nothing that is put back later may undo that. */
#include "cuda_traps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES (2ul << 20)

/* Four launches on it, and what others write after them. */
static void with_peer(const char *name, cu_ptr x)
{
	for (int i = 0; i < 2; i++) {
		launch(q, "update", &x, &n);
		launch(q, "update", &x, &n);
		standin_peer_add(x, N, 7);
		works(cuStreamSynchronize(q));
	}
	show(name, hash(x, BYTES));
}

/* Two launches on what is the program's alone: they are replayed. */
static void own(cu_ptr x)
{
	works(cuMemsetD32Async(x, 5, N, q));
	launch(q, "update", &x, &n);
	launch(q, "update", &x, &n);
	works(cuStreamSynchronize(q));
	show("own", hash(x, BYTES));
}

/* ---- plain memory ---- */

void given(void)
{
	struct standin_ipc handle;
	int fd;
	unsigned on = 1;
	cu_ptr x[5];

	for (int i = 0; i < 5; i++) {
		works(cuMemAlloc_v2(&x[i], 3 * BYTES));
		own(x[i]);
	}
	works(cuIpcGetMemHandle(&handle, x[0] + BYTES)); /* all of it is given */
	with_peer("ipc", x[0]);
	works(cuMemPoolExportPointer(&handle, x[1]));
	with_peer("pool pointer", x[1]);
	works(cuMemGetHandleForAddressRange(&fd, x[2], 3 * BYTES, 1, 0));
	with_peer("range", x[2]);
	works(cuPointerSetAttribute(&on, CU_POINTER_SYNCHRONOUS, x[4] + 8));
	with_peer("adapter", x[4]);
	own(x[3]);
	for (int i = 0; i < 5; i++)
		works(cuMemFree_v2(x[i]));
	/* The address again, which nobody else has now. */
	works(cuMemAlloc_v2(&x[0], 3 * BYTES));
	own(x[0]);
	works(cuMemFree_v2(x[0]));
}

/* From pools: of the host, which may write it, managed, and the device's own. */
void pool_kinds(void)
{
	static const struct cu_create_properties of[] = {
		{.type = 1, .place = {CU_PLACE_HOST, 0}},
		{.type = CU_CREATE_MANAGED, .place = {CU_PLACE_DEVICE, 0}},
		{.type = 1, .place = {CU_PLACE_DEVICE, 0}}};
	struct CUmemPoolHandle_st *pool;
	cu_ptr x;

	for (int i = 0; i < 3; i++) {
		works(cuMemPoolCreate(&pool, &of[i]));
		works(cuMemAllocFromPoolAsync(&x, BYTES, pool, q));
		if (i == 0) {
			memset((void *)(uintptr_t)x, 1, BYTES);
			launch(q, "update", &x, &n);
			standin_peer_add(x, N, 7);
			works(cuStreamSynchronize(q));
			works(cuCtxSynchronize());
			show("host", hash_bytes((void *)(uintptr_t)x, BYTES));
		} else {
			own(x);
		}
		works(cuMemFreeAsync(x, q));
		works(cuStreamSynchronize(q));
		works(cuMemPoolDestroy(pool));
	}
}

/* Given away while a window is open that has saved it. */
void given_late(void)
{
	struct standin_ipc handle;
	cu_ptr x;

	works(cuMemAlloc_v2(&x, BYTES));
	works(cuMemsetD32Async(x, 5, N, q));
	launch(q, "update", &x, &n);
	works(cuIpcGetMemHandle(&handle, x));
	launch(q, "update", &x, &n);
	standin_peer_add(x, N, 3);
	works(cuStreamSynchronize(q));
	show("given late", hash(x, BYTES));
	works(cuMemFree_v2(x));
}

/* Reached through pointers in memory, by a kernel and by a graph. */
void given_chain(void)
{
	struct standin_ipc handle;
	struct CUgraphExec_st *exec;
	struct CUgraph_st *g;
	cu_ptr list, x;
	uint64_t node[2];

	works(cuMemAlloc_v2(&x, BYTES));
	works(cuMemAlloc_v2(&list, sizeof(node)));
	works(cuMemsetD32_v2(x, 5, N));
	node[0] = x;
	node[1] = 0;
	works(cuMemcpyHtoD_v2(list, node, sizeof(node)));
	works(cuIpcGetMemHandle(&handle, x));
	for (int i = 0; i < 3; i++) {
		launch(q, "chain", &list, &n);
		standin_peer_add(x, N, 3);
		works(cuStreamSynchronize(q));
	}
	show("given chain", hash(x, BYTES));
	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "chain", &list, &n);
	works(cuStreamEndCapture(q, &g));
	works(cuGraphInstantiateWithFlags(&exec, g, 0));
	for (int i = 0; i < 2; i++)
		works(cuGraphLaunch(exec, q));
	standin_peer_add(x, N, 3);
	works(cuStreamSynchronize(q));
	show("given graph", hash(x, BYTES));
	works(cuGraphExecDestroy(exec));
	works(cuGraphDestroy(g));
	works(cuMemFree_v2(list));
	works(cuMemFree_v2(x));
}

/* Copied from while others write it: the copy is not made again. */
void given_copy(void)
{
	struct standin_ipc handle;
	cu_ptr x, y;

	works(cuMemAlloc_v2(&x, BYTES));
	works(cuMemAlloc_v2(&y, BYTES));
	works(cuMemsetD32_v2(x, 5, N));
	works(cuMemsetD32_v2(y, 5, N));
	works(cuIpcGetMemHandle(&handle, x));
	launch(q, "update", &y, &n);
	works(cuMemcpyDtoDAsync_v2(y, x, BYTES / 2, q));
	launch(q, "update", &y, &n);
	standin_peer_add(x, N, 3);
	works(cuStreamSynchronize(q));
	show("given copy", hash(y, BYTES));
	works(cuMemFree_v2(x));
	works(cuMemFree_v2(y));
}

void taken(void)
{
	struct standin_ipc handle = {{1, 11, 3 * BYTES}};
	struct cu_external_buffer buffer = {0, 3 * BYTES};
	struct CUmemPoolHandle_st *pool;
	size_t size = 3 * BYTES;
	cu_ptr x, y;

	works(cuIpcOpenMemHandle_v2(&x, handle, 1));
	with_peer("opened", x);
	works(cuIpcOpenMemHandle_v2(&y, handle, 1));
	works(cuIpcCloseMemHandle(y));
	with_peer("opened twice", x);
	works(cuIpcCloseMemHandle(x));
	works(cuDeviceGetDefaultMemPool(&pool, 0));
	works(cuMemPoolImportPointer(&x, pool, &handle));
	with_peer("pool pointer", x);
	works(cuMemFree_v2(x));
	works(cuExternalMemoryGetMappedBuffer(&x, &size, &buffer));
	with_peer("external", x);
	works(cuMemFree_v2(x));
	works(cuGraphicsResourceGetMappedPointer_v2(&x, &size, &size));
	with_peer("graphics", x);
	works(cuMemFree_v2(x));
}

/* ---- addresses and memory apart ---- */

static cu_ptr map(uint64_t handle)
{
	cu_ptr at;

	works(cuMemAddressReserve(&at, PAGES, 0, 0, 0));
	works(cuMemMap(at, PAGES, 0, handle, 0));
	works(cuMemSetAccess(at, PAGES, NULL, 0));
	return at;
}

static void unmap(cu_ptr at)
{
	works(cuMemUnmap(at, PAGES));
	works(cuMemAddressFree(at, PAGES));
}

/* Memory of which nothing is told: from then on nothing is replayed. Not with the others. */
void taken_frame(void)
{
	size_t size = BYTES;
	cu_ptr x;

	works(cuGraphicsResourceGetMappedEglFrame(&x, &size, 0, 0));
	with_peer("frame", x);
	works(cuMemFree_v2(x));
}

/* As PyTorch's segments: with a type for handles, which are never made. */
static uint64_t create(void)
{
	static const struct cu_create_properties exportable = {
		.type = 1, .handle_types = 1, .place = {CU_PLACE_DEVICE, 0}};
	uint64_t handle;

	works(cuMemCreate(&handle, PAGES, &exportable, 0));
	return handle;
}

/* Of the program alone, whatever was done with the value of its handle before. */
void segments(void)
{
	struct CUctx_st *popped;
	uint64_t handle;
	cu_ptr x, y;
	int fd;

	handle = create();
	x = map(handle);
	own(x);
	works(cuMemExportToShareableHandle(&fd, handle, 1, 0));
	unmap(x);
	works(cuMemRelease(handle));
	handle = create(); /* the same value */
	works(cuCtxPopCurrent_v2(&popped));
	x = map(handle);
	works(cuMemRelease(handle));
	works(cuCtxPushCurrent_v2(popped));
	handle = create(); /* and again, while the first is mapped */
	y = map(handle);
	works(cuMemRelease(handle));
	own(x);
	own(y);
	unmap(x);
	unmap(y);
}

/* What is mapped outlives the context in which that was done. */
void segments_left(void)
{
	struct CUctx_st *other, *popped;
	uint64_t handle;
	cu_ptr x;

	works(cuCtxCreate_v2(&other, 0, 0));
	handle = create();
	x = map(handle);
	works(cuCtxPopCurrent_v2(&popped));
	works(cuCtxDestroy_v2(other));
	own(x);
	unmap(x);
	works(cuMemRelease(handle));
}

void segments_given(void)
{
	uint64_t handle = create(), again;
	cu_ptr x = map(handle);
	int fd;

	own(x);
	works(cuMemExportToShareableHandle(&fd, handle, 1, 0)); /* when it is mapped */
	with_peer("mapped", x);
	unmap(x);
	x = map(handle);
	with_peer("before", x); /* and before */
	unmap(x);
	works(cuMemRelease(handle));

	handle = create();
	x = map(handle);
	works(cuMemRelease(handle)); /* without a handle it lives on, and gets one again */
	works(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(x + 4096)));
	works(cuMemExportToShareableHandle(&fd, again, 1, 0));
	works(cuMemRelease(again));
	with_peer("retained", x);
	unmap(x);
}

void segments_taken(void)
{
	uint64_t handle = create(), taken;
	cu_ptr x = map(handle), y;
	int fd;

	works(cuMemExportToShareableHandle(&fd, handle, 1, 0));
	works(cuMemImportFromShareableHandle(&taken, (void *)(uintptr_t)fd, 1));
	unmap(x);
	y = map(taken);
	works(cuMemRelease(taken));
	with_peer("imported", y);
	unmap(y);
	works(cuMemRelease(handle));
}

/* One memory at two addresses. */
void segments_twice(void)
{
	uint64_t handle = create();
	cu_ptr x = map(handle), y;

	own(x);
	y = map(handle);
	for (int i = 0; i < 2; i++) {
		launch(q, "update", &x, &n);
		launch(q, "update", &y, &n);
		launch(q, "update", &x, &n);
		works(cuStreamSynchronize(q));
	}
	show("twice", hash(x, BYTES));
	unmap(y);
	unmap(x);
	works(cuMemRelease(handle));
}

void multicast(void)
{
	uint64_t memory[2] = {create(), create()}, object[2];
	cu_ptr x[2], at[2];

	for (int i = 0; i < 2; i++) {
		x[i] = map(memory[i]);
		own(x[i]);
		works(cuMulticastCreate(&object[i], NULL));
		works(cuMulticastAddDevice(object[i], 0));
	}
	works(cuMulticastBindMem(object[0], 0, memory[0], 0, PAGES, 0));
	works(cuMulticastBindAddr(object[1], 0, x[1], PAGES, 0));
	for (int i = 0; i < 2; i++) {
		at[i] = map(object[i]);
		with_peer("bound", x[i]);
		with_peer("multicast", at[i]);
	}
	for (int i = 0; i < 2; i++) {
		unmap(at[i]);
		unmap(x[i]);
		works(cuMemRelease(object[i]));
		works(cuMemRelease(memory[i]));
	}
}
