/* SPDX-License-Identifier: Apache-2.0 */
/* Traps with two devices: see cuda_traps.h. */
#include "cuda_traps.h"

static struct CUctx_st *first, *second;
static struct CUmod_st *there; /* the module, queue and memory of the second */
static struct CUstream_st *s;
static cu_ptr x, y;

/* Both ways each may use what the other has. */
static void begin(void)
{
	struct CUctx_st *popped;

	works(cuCtxGetCurrent(&first));
	works(cuDevicePrimaryCtxRetain(&second, 1));
	works(cuCtxEnablePeerAccess(second, 0));
	works(cuCtxPushCurrent_v2(second));
	works(cuCtxEnablePeerAccess(first, 0));
	works(cuModuleLoadData(&there, "standin-module\nkernel update\nkernel histogram\n"));
	works(cuStreamCreate(&s, 1));
	works(cuMemAlloc_v2(&x, BYTES));
	works(cuMemAlloc_v2(&y, BYTES));
	works(cuMemsetD32_v2(x, 5, N));
	works(cuMemsetD32_v2(y, 0, N));
	works(cuCtxPopCurrent_v2(&popped));
}

static void end(void)
{
	works(cuCtxPushCurrent_v2(second));
	works(cuCtxSynchronize());
	show("second", hash(x, BYTES) * 31 + hash(y, BYTES));
	works(cuMemFree_v2(x));
	works(cuMemFree_v2(y));
	works(cuStreamDestroy_v2(s));
	works(cuModuleUnload(there));
	works(cuCtxSetCurrent(first));
	works(cuDevicePrimaryCtxRelease_v2(1));
}

static void launch_second(const char *name, void **arguments)
{
	struct CUctx_st *popped;
	struct CUfunc_st *f;

	works(cuCtxPushCurrent_v2(second));
	works(cuModuleGetFunction(&f, there, name));
	works(cuLaunchKernel(f, 20, 1, 1, 256, 1, 1, 0, s, arguments, NULL));
	works(cuCtxPopCurrent_v2(&popped));
}

static void wait_second(void)
{
	struct CUctx_st *popped;

	works(cuCtxPushCurrent_v2(second));
	works(cuStreamSynchronize(s));
	works(cuCtxPopCurrent_v2(&popped));
}

/* Each for itself. */
void devices(void)
{
	begin();
	for (int i = 0; i < 3; i++) {
		launch(q, "update", &a, &n);
		launch_second("update", (void *[]){&x, &n});
		launch(q, "update", &a, &n);
		launch_second("update", (void *[]){&x, &n});
		works(cuStreamSynchronize(q));
		wait_second();
	}
	end();
}

/* Only the second has kernels, and they use what was taken while the first was current. */
void borrowed(void)
{
	cu_ptr managed;
	unsigned *pinned;

	begin();
	works(cuMemAllocManaged(&managed, BYTES, 1));
	works(cuMemAllocHost_v2((void **)&pinned, BYTES));
	for (unsigned i = 0; i < N; i++)
		((unsigned *)(uintptr_t)managed)[i] = pinned[i] = i;
	for (int i = 0; i < 2; i++) {
		launch_second("update", (void *[]){&managed, &n});
		launch_second("update", (void *[]){&pinned, &n});
		launch_second("update", (void *[]){&a, &n});
		launch_second("update", (void *[]){&x, &n});
		wait_second();
	}
	show("managed", hash_bytes((unsigned char *)(uintptr_t)managed, BYTES));
	show("pinned", hash_bytes((unsigned char *)pinned, BYTES));
	works(cuMemFree_v2(managed));
	works(cuMemFreeHost(pinned));
	end();
}

/* Copies of the first that are under way into one half of what a kernel of the second has the other
 * half of. */
void crossing(void)
{
	unsigned half = N / 2;

	begin();
	for (int i = 0; i < 3; i++) {
		works(i % 2 ? cuMemcpyAsync(x + BYTES / 2, a, BYTES / 2, q)
			    : cuMemcpyDtoDAsync_v2(x + BYTES / 2, a, BYTES / 2, q));
		launch_second("update", (void *[]){&x, &half});
		wait_second();
		works(cuStreamSynchronize(q));
		launch(q, "update", &a, &n);
		works(cuStreamSynchronize(q));
	}
	end();
}

/* The first writes what the second has, between two kernels of the second. */
void peers(void)
{
	struct CUevent_st *e, *f;
	struct CUctx_st *popped;

	begin();
	works(cuEventCreate(&f, 2));
	works(cuCtxPushCurrent_v2(second));
	works(cuEventCreate(&e, 2));
	works(cuCtxPopCurrent_v2(&popped));
	for (int i = 0; i < 3; i++) {
		launch_second("histogram", (void *[]){&x, &y, &n});
		works(cuCtxPushCurrent_v2(second));
		works(cuEventRecord(e, s));
		works(cuCtxPopCurrent_v2(&popped));
		works(cuStreamWaitEvent(q, e, 0));
		launch(q, "update", &y, &n);
		works(cuEventRecord(f, q));
		works(cuCtxPushCurrent_v2(second));
		works(cuStreamWaitEvent(s, f, 0));
		works(cuCtxPopCurrent_v2(&popped));
		launch_second("histogram", (void *[]){&x, &y, &n});
		wait_second();
		launch(q, "update", &a, &n);
		works(cuStreamSynchronize(q));
	}
	works(cuEventDestroy_v2(e));
	works(cuEventDestroy_v2(f));
	end();
}
