/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Around every function of the stand-in driver: the callbacks of its begin and end, as CUPTI makes
 * them, also for calls that the listener makes itself. The body in between holds gpu.lock.
 */
#ifndef RETALLY_STANDIN_DRIVER_H
#define RETALLY_STANDIN_DRIVER_H

#include "functions.h"
#include "gpu.h"
#include "source/cuda/cuda_range_abi.h"

/* Every function of the stand-in, in the order of the callback ids. */
/* clang-format off */
#define STANDIN_FUNCTIONS(X) \
	X(cuInit) X(cuDriverGetVersion) X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) \
	X(cuDeviceGetUuid) X(cuDeviceGetAttribute) X(cuDeviceTotalMem_v2) \
	X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease_v2) X(cuCtxCreate_v2) \
	X(cuCtxDestroy_v2) X(cuCtxSetCurrent) X(cuCtxGetCurrent) X(cuCtxPushCurrent_v2) \
	X(cuCtxPopCurrent_v2) X(cuCtxGetDevice) X(cuCtxSynchronize) X(cuMemGetInfo_v2) \
	X(cuMemAlloc_v2) X(cuMemAllocPitch_v2) X(cuMemAllocManaged) X(cuMemFree_v2) \
	X(cuMemAllocAsync) X(cuMemFreeAsync) X(cuMemAllocFromPoolAsync) \
	X(cuDeviceGetDefaultMemPool) X(cuMemHostAlloc) X(cuMemAllocHost_v2) X(cuMemFreeHost) \
	X(cuMemHostRegister_v2) X(cuMemHostUnregister) X(cuMemHostGetDevicePointer_v2) \
	X(cuPointerGetAttribute) X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) \
	X(cuMemRelease) X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess) X(cuMemcpy) \
	X(cuMemcpyAsync) X(cuMemcpyHtoD_v2) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoH_v2) \
	X(cuMemcpyDtoHAsync_v2) X(cuMemcpyDtoD_v2) X(cuMemcpyDtoDAsync_v2) X(cuMemsetD8_v2) \
	X(cuMemsetD32_v2) X(cuMemsetD8Async) X(cuMemsetD16Async) X(cuMemsetD32Async) \
	X(cuStreamCreate) X(cuStreamDestroy_v2) X(cuStreamSynchronize) X(cuStreamQuery) \
	X(cuStreamIsCapturing) X(cuStreamWaitEvent) X(cuStreamBeginCapture_v2) \
	X(cuStreamEndCapture) X(cuLaunchHostFunc) X(cuEventCreate) X(cuEventDestroy_v2) \
	X(cuEventRecord) X(cuEventQuery) X(cuEventSynchronize) X(cuEventElapsedTime) \
	X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuModuleGetGlobal_v2) \
	X(cuFuncGetModule) X(cuFuncGetParamInfo) X(cuFuncGetAttribute) X(cuFuncLoad) \
	X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuLaunchCooperativeKernel) X(cuGraphCreate) \
	X(cuGraphDestroy) X(cuGraphGetNodes) X(cuGraphNodeGetType) \
	X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGetErrorName) \
	X(cuGetErrorString) X(cuGetProcAddress_v2) X(cuProfilerStart) X(cuProfilerStop) X(cuLibraryLoadData) \
	X(cuLibraryUnload) X(cuLibraryGetKernel) X(cuKernelGetFunction) \
	X(cuKernelGetParamInfo) X(cuKernelGetAttribute) X(cuSurfObjectCreate) \
	X(cuSurfObjectDestroy) X(cuLaunchCooperativeKernelMultiDevice) X(cuArrayCreate_v2) \
	X(cuArray3DCreate_v2) X(cuArrayDestroy) X(cuArray3DGetDescriptor_v2) \
	X(cuMipmappedArrayCreate) X(cuMipmappedArrayGetLevel) X(cuMipmappedArrayDestroy) \
	X(cuExternalMemoryGetMappedMipmappedArray) X(cuTexObjectCreate) X(cuTexObjectDestroy) \
	X(cuModuleGetSurfRef) X(cuSurfRefSetArray) X(cuMemcpy3D_v2) X(cuMemcpy3DAsync_v2) \
	X(cuMemcpy2DAsync_v2) X(cuMemcpyHtoA_v2) X(cuMemcpyAtoH_v2) X(cuLibraryGetModule) \
	X(cuGraphKernelNodeGetParams_v2) X(cuGraphMemcpyNodeGetParams) X(cuGraphAddNode) X(cuGraphMemsetNodeGetParams) \
	X(cuGraphChildGraphNodeGetGraph) X(cuGraphKernelNodeGetAttribute) \
	X(cuGraphKernelNodeSetAttribute) X(cuGraphExecKernelNodeSetParams_v2) \
	X(cuGraphExecMemcpyNodeSetParams) X(cuGraphExecMemsetNodeSetParams) \
	X(cuGraphExecChildGraphNodeSetParams) X(cuGraphExecEventRecordNodeSetEvent) \
	X(cuGraphExecNodeSetParams) X(cuGraphNodeSetEnabled) X(cuGraphExecStandin) \
	X(cuGraphExecUpdate_v2) X(cuFuncGetName) X(cuKernelGetName) \
	X(cuDeviceCanAccessPeer) X(cuCtxEnablePeerAccess) \
	X(cuMemRetainAllocationHandle) X(cuMemImportFromShareableHandle) \
	X(cuMulticastCreate) X(cuMulticastAddDevice) X(cuIpcOpenMemHandle_v2) X(cuIpcCloseMemHandle) \
	X(cuMemPoolImportPointer) X(cuExternalMemoryGetMappedBuffer) \
	X(cuGraphicsResourceGetMappedPointer_v2) X(cuGraphicsResourceGetMappedEglFrame) \
	X(cuMemPoolCreate) X(cuMemPoolDestroy) STANDIN_EXPORTS(X)
/* Those by which others get the program's memory. */
#define STANDIN_EXPORTS(X) \
	X(cuMemExportToShareableHandle) X(cuMulticastBindMem) X(cuMulticastBindAddr) \
	X(cuIpcGetMemHandle) X(cuMemPoolExportPointer) X(cuMemGetHandleForAddressRange) \
	X(cuPointerSetAttribute)
/* clang-format on */

enum standin_function {
	CALL_NONE,
#define X(name) CALL_##name,
	STANDIN_FUNCTIONS(X)
#undef X
	CALLS_END
};
_Static_assert(CALLS_END <= STANDIN_CALLS, "room for the callbacks");

struct call {
	struct cupti_callback_data data;
	enum standin_function id;
	uint64_t correlation;
	cu_result result;
	bool injected; /* called by the injected library */
	bool failed;   /* on demand */
};
/* Takes the lock. 0, or why the call cannot be made. */
cu_result call_enter(struct call *c, enum standin_function id, const void *params,
		     const char *symbol, bool needs_context, const void *caller);
/* Lets it go. */
cu_result call_leave(struct call *c, cu_result result);

/* In the body of a function: `call` is its frame and `p` its arguments in order, as CUPTI gives
 * them. */
#define BEGIN_(name, symbol, needs_context)                                          \
	struct call call;                                                            \
	cu_result result = call_enter(&call, CALL_##name, &p, symbol, needs_context, \
				      __builtin_return_address(0));                  \
	if (result)                                                                  \
	return call_leave(&call, result)
#define BEGIN(name)       BEGIN_(name, NULL, true)
#define BEGIN_PLAIN(name) BEGIN_(name, NULL, false)
#define END(value)        return call_leave(&call, value)

/* The context that is current in this thread, or NULL; the lock is not needed. */
struct CUctx_st *context_current(void);
/* The stream that a handle names in the current context; NULL: none. */
struct CUstream_st *stream_of(struct CUstream_st *handle);
/* Tells a listener of a resource; without the lock. */
void tell_resource(uint32_t id, struct CUctx_st *context, void *descriptor);

#endif
