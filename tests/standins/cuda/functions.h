/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the CUDA driver that the stand-in has, for itself and for the test programs that
 * are linked with it. Declared here from what the driver's interface is; nothing of the vendor's
 * headers. */
#ifndef RETALLY_STANDIN_FUNCTIONS_H
#define RETALLY_STANDIN_FUNCTIONS_H

#include "standin.h"

STANDIN_API cu_result cuInit(unsigned flags);
STANDIN_API cu_result cuDriverGetVersion(int *version);
STANDIN_API cu_result cuGetErrorName(cu_result result, const char **name);
STANDIN_API cu_result cuGetErrorString(cu_result result, const char **text);
STANDIN_API cu_result cuGetProcAddress_v2(const char *symbol, void **function, int version,
					  uint64_t flags, int *status);
STANDIN_API cu_result cuProfilerStart(void);
STANDIN_API cu_result cuProfilerStop(void);
STANDIN_API cu_result cuDeviceGetCount(int *n);
STANDIN_API cu_result cuDeviceGet(int *device, int ordinal);
STANDIN_API cu_result cuDeviceGetName(char *name, int size, int device);
STANDIN_API cu_result cuDeviceGetUuid(unsigned char *uuid, int device);
STANDIN_API cu_result cuDeviceGetUuid_v2(unsigned char *uuid, int device);
STANDIN_API cu_result cuDeviceGetAttribute(int *value, int attribute, int device);
STANDIN_API cu_result cuDeviceTotalMem_v2(size_t *bytes, int device);
STANDIN_API cu_result cuDevicePrimaryCtxRetain(struct CUctx_st **context, int device);
STANDIN_API cu_result cuDevicePrimaryCtxRelease_v2(int device);
STANDIN_API cu_result cuCtxCreate_v2(struct CUctx_st **context, unsigned flags, int device);
STANDIN_API cu_result cuCtxDestroy_v2(struct CUctx_st *context);
STANDIN_API cu_result cuCtxSetCurrent(struct CUctx_st *context);
STANDIN_API cu_result cuCtxGetCurrent(struct CUctx_st **context);
STANDIN_API cu_result cuCtxPushCurrent_v2(struct CUctx_st *context);
STANDIN_API cu_result cuCtxPopCurrent_v2(struct CUctx_st **context);
STANDIN_API cu_result cuCtxGetDevice(int *device);
STANDIN_API cu_result cuCtxSynchronize(void);
STANDIN_API cu_result cuDeviceCanAccessPeer(int *can, int device, int peer);
STANDIN_API cu_result cuCtxEnablePeerAccess(struct CUctx_st *peer, unsigned flags);
STANDIN_API cu_result cuStreamCreate(struct CUstream_st **stream, unsigned flags);
STANDIN_API cu_result cuStreamDestroy_v2(struct CUstream_st *stream);
STANDIN_API cu_result cuStreamSynchronize(struct CUstream_st *stream);
STANDIN_API cu_result cuStreamQuery(struct CUstream_st *stream);
STANDIN_API cu_result cuStreamWaitEvent(struct CUstream_st *stream, struct CUevent_st *event,
					unsigned flags);
STANDIN_API cu_result cuEventCreate(struct CUevent_st **event, unsigned flags);
STANDIN_API cu_result cuEventDestroy_v2(struct CUevent_st *event);
STANDIN_API cu_result cuEventRecord(struct CUevent_st *event, struct CUstream_st *stream);
STANDIN_API cu_result cuEventQuery(struct CUevent_st *event);
STANDIN_API cu_result cuEventSynchronize(struct CUevent_st *event);
STANDIN_API cu_result cuEventElapsedTime(float *ms, struct CUevent_st *from, struct CUevent_st *to);
STANDIN_API cu_result cuMemGetInfo_v2(size_t *free_out, size_t *total_out);
STANDIN_API cu_result cuMemAlloc_v2(cu_ptr *address, size_t bytes);
STANDIN_API cu_result cuMemAllocPitch_v2(cu_ptr *address, size_t *pitch, size_t width,
					 size_t height, unsigned element);
STANDIN_API cu_result cuMemAllocManaged(cu_ptr *address, size_t bytes, unsigned flags);
STANDIN_API cu_result cuMemFree_v2(cu_ptr address);
STANDIN_API cu_result cuMemAllocAsync(cu_ptr *address, size_t bytes, struct CUstream_st *stream);
STANDIN_API cu_result cuMemAllocFromPoolAsync(cu_ptr *address, size_t bytes,
					      struct CUmemPoolHandle_st *pool,
					      struct CUstream_st *stream);
STANDIN_API cu_result cuMemFreeAsync(cu_ptr address, struct CUstream_st *stream);
STANDIN_API cu_result cuDeviceGetDefaultMemPool(struct CUmemPoolHandle_st **pool, int device);
STANDIN_API cu_result cuMemHostAlloc(void **address, size_t bytes, unsigned flags);
STANDIN_API cu_result cuMemAllocHost_v2(void **address, size_t bytes);
STANDIN_API cu_result cuMemFreeHost(void *address);
STANDIN_API cu_result cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags);
STANDIN_API cu_result cuMemHostUnregister(void *address);
STANDIN_API cu_result cuMemHostGetDevicePointer_v2(cu_ptr *address, void *host, unsigned flags);
STANDIN_API cu_result cuPointerGetAttribute(void *value, int attribute, cu_ptr address);
STANDIN_API cu_result cuMemAddressReserve(cu_ptr *address, size_t bytes, size_t align, cu_ptr wish,
					  uint64_t flags);
STANDIN_API cu_result cuMemAddressFree(cu_ptr address, size_t bytes);
STANDIN_API cu_result cuMemCreate(uint64_t *handle, size_t bytes, const void *properties,
				  uint64_t flags);
STANDIN_API cu_result cuMemRelease(uint64_t handle);
STANDIN_API cu_result cuMemMap(cu_ptr address, size_t bytes, size_t offset, uint64_t handle,
			       uint64_t flags);
STANDIN_API cu_result cuMemUnmap(cu_ptr address, size_t bytes);
STANDIN_API cu_result cuMemSetAccess(cu_ptr address, size_t bytes, const void *access, size_t n);
STANDIN_API cu_result cuMemRetainAllocationHandle(uint64_t *handle, void *address);
STANDIN_API cu_result cuMemExportToShareableHandle(void *shareable, uint64_t handle, int type,
						   uint64_t flags);
STANDIN_API cu_result cuMemImportFromShareableHandle(uint64_t *handle, void *shareable, int type);
STANDIN_API cu_result cuMulticastCreate(uint64_t *handle, const void *properties);
STANDIN_API cu_result cuMulticastAddDevice(uint64_t handle, int device);
STANDIN_API cu_result cuMulticastBindMem(uint64_t multicast, size_t multicast_offset,
					 uint64_t handle, size_t offset, size_t bytes,
					 uint64_t flags);
STANDIN_API cu_result cuMulticastBindAddr(uint64_t multicast, size_t multicast_offset,
					  cu_ptr address, size_t bytes, uint64_t flags);
struct standin_ipc { /* CUipcMemHandle; of another process: 1, its number, bytes */
	uint64_t words[8];
};
STANDIN_API cu_result cuIpcGetMemHandle(struct standin_ipc *handle, cu_ptr address);
STANDIN_API cu_result cuIpcOpenMemHandle_v2(cu_ptr *address, struct standin_ipc handle,
					    unsigned flags);
STANDIN_API cu_result cuIpcCloseMemHandle(cu_ptr address);
STANDIN_API cu_result cuMemPoolExportPointer(struct standin_ipc *data, cu_ptr address);
STANDIN_API cu_result cuMemPoolImportPointer(cu_ptr *address, struct CUmemPoolHandle_st *pool,
					     struct standin_ipc *data);
STANDIN_API cu_result cuMemGetHandleForAddressRange(void *handle, cu_ptr address, size_t bytes,
						    int type, uint64_t flags);
STANDIN_API cu_result cuPointerSetAttribute(const void *value, int attribute, cu_ptr address);
STANDIN_API cu_result cuMemPoolCreate(struct CUmemPoolHandle_st **pool,
				      const struct cu_create_properties *properties);
STANDIN_API cu_result cuMemPoolDestroy(struct CUmemPoolHandle_st *pool);
/* The external memory and the resource are so many bytes. */
STANDIN_API cu_result cuExternalMemoryGetMappedBuffer(cu_ptr *address, void *memory,
						      const struct cu_external_buffer *buffer);
STANDIN_API cu_result cuGraphicsResourceGetMappedPointer_v2(cu_ptr *address, size_t *bytes,
							    size_t *resource);
STANDIN_API cu_result cuGraphicsResourceGetMappedEglFrame(cu_ptr *frame, size_t *resource,
							  unsigned index, unsigned level);
/* No function of the driver: another process, of which nobody here is told, adds to n words as soon
 * as the program has waited: before its next call, or between what others do meanwhile. */
STANDIN_API void standin_peer_add(cu_ptr address, size_t n, unsigned value);
STANDIN_API cu_result cuMemcpy(cu_ptr to, cu_ptr from, size_t n);
STANDIN_API cu_result cuMemcpyAsync(cu_ptr to, cu_ptr from, size_t n, struct CUstream_st *stream);
STANDIN_API cu_result cuMemcpyHtoD_v2(cu_ptr to, const void *from, size_t n);
STANDIN_API cu_result cuMemcpyHtoDAsync_v2(cu_ptr to, const void *from, size_t n,
					   struct CUstream_st *stream);
STANDIN_API cu_result cuMemcpyDtoH_v2(void *to, cu_ptr from, size_t n);
STANDIN_API cu_result cuMemcpyDtoHAsync_v2(void *to, cu_ptr from, size_t n,
					   struct CUstream_st *stream);
STANDIN_API cu_result cuMemcpyDtoD_v2(cu_ptr to, cu_ptr from, size_t n);
STANDIN_API cu_result cuMemcpyDtoDAsync_v2(cu_ptr to, cu_ptr from, size_t n,
					   struct CUstream_st *stream);
STANDIN_API cu_result cuMemsetD8_v2(cu_ptr to, unsigned char value, size_t n);
STANDIN_API cu_result cuMemsetD32_v2(cu_ptr to, unsigned value, size_t n);
STANDIN_API cu_result cuMemsetD8Async(cu_ptr to, unsigned char value, size_t n,
				      struct CUstream_st *stream);
STANDIN_API cu_result cuMemsetD16Async(cu_ptr to, unsigned short value, size_t n,
				       struct CUstream_st *stream);
STANDIN_API cu_result cuMemsetD32Async(cu_ptr to, unsigned value, size_t n,
				       struct CUstream_st *stream);
STANDIN_API cu_result cuModuleLoadData(struct CUmod_st **module, const void *data);
STANDIN_API cu_result cuModuleUnload(struct CUmod_st *module);
STANDIN_API cu_result cuModuleGetFunction(struct CUfunc_st **function, struct CUmod_st *module,
					  const char *name);
STANDIN_API cu_result cuModuleGetGlobal_v2(cu_ptr *address, size_t *bytes, struct CUmod_st *module,
					   const char *name);
STANDIN_API cu_result cuFuncGetModule(struct CUmod_st **module, struct CUfunc_st *function);
STANDIN_API cu_result cuFuncGetParamInfo(struct CUfunc_st *function, size_t i, size_t *offset,
					 size_t *size);
STANDIN_API cu_result cuFuncGetAttribute(int *value, int attribute, struct CUfunc_st *function);
STANDIN_API cu_result cuFuncLoad(struct CUfunc_st *function);
STANDIN_API cu_result cuLaunchKernel(struct CUfunc_st *function, unsigned gx, unsigned gy,
				     unsigned gz, unsigned bx, unsigned by, unsigned bz,
				     unsigned shared, struct CUstream_st *stream, void **list,
				     void **extra);
STANDIN_API cu_result cuLaunchKernelEx(const struct cu_launch_config *config,
				       struct CUfunc_st *function, void **list, void **extra);
STANDIN_API cu_result cuLaunchCooperativeKernel(struct CUfunc_st *function, unsigned gx,
						unsigned gy, unsigned gz, unsigned bx, unsigned by,
						unsigned bz, unsigned shared,
						struct CUstream_st *stream, void **list);
struct standin_launch { /* of cuLaunchCooperativeKernelMultiDevice */
	struct CUfunc_st *function;
	unsigned grid[3], block[3];
	unsigned shared;
	struct CUstream_st *stream;
	void **list;
};
STANDIN_API cu_result cuLaunchCooperativeKernelMultiDevice(struct standin_launch *launches,
							   unsigned n, unsigned flags);
struct mipmap;
struct standin_shared_array { /* of cuExternalMemoryGetMappedMipmappedArray */
	uint64_t offset;
	struct cu_array_3d array;
	unsigned levels, reserved[16];
};
struct standin_copy_2d_side {
	size_t x_bytes, y;
	int memory_type;
	void *host;
	cu_ptr device;
	struct CUarray_st *array;
	size_t pitch;
};
struct standin_copy_2d {
	struct standin_copy_2d_side from, to;
	size_t width_bytes, height;
};
STANDIN_API cu_result cuArrayCreate_v2(struct CUarray_st **array,
				       const struct cu_array_2d *description);
STANDIN_API cu_result cuArray3DCreate_v2(struct CUarray_st **array,
					 const struct cu_array_3d *description);
STANDIN_API cu_result cuArrayDestroy(struct CUarray_st *array);
STANDIN_API cu_result cuArray3DGetDescriptor_v2(struct cu_array_3d *description,
						struct CUarray_st *array);
/* The same, for programs on a driver that lacks it. */
STANDIN_API cu_result standin_array_descriptor(struct cu_array_3d *description,
					       struct CUarray_st *array);
STANDIN_API cu_result cuMipmappedArrayCreate(struct mipmap **array,
					     const struct cu_array_3d *description,
					     unsigned levels);
STANDIN_API cu_result cuMipmappedArrayGetLevel(struct CUarray_st **level, struct mipmap *array,
					       unsigned i);
STANDIN_API cu_result cuMipmappedArrayDestroy(struct mipmap *array);
STANDIN_API cu_result cuExternalMemoryGetMappedMipmappedArray(
	struct mipmap **array, void *memory, const struct standin_shared_array *description);
STANDIN_API cu_result cuSurfObjectCreate(uint64_t *surface, const struct cu_resource *resource);
STANDIN_API cu_result cuSurfObjectDestroy(uint64_t surface);
STANDIN_API cu_result cuTexObjectCreate(uint64_t *texture, const struct cu_resource *resource,
					const void *sampling, const void *view);
STANDIN_API cu_result cuTexObjectDestroy(uint64_t texture);
STANDIN_API cu_result cuModuleGetSurfRef(struct CUmod_st **reference, struct CUmod_st *module,
					 const char *name);
STANDIN_API cu_result cuSurfRefSetArray(struct CUmod_st *reference, struct CUarray_st *array,
					unsigned flags);
STANDIN_API cu_result cuMemcpy3D_v2(const struct cu_copy_3d *box);
STANDIN_API cu_result cuMemcpy3DAsync_v2(const struct cu_copy_3d *box, struct CUstream_st *stream);
STANDIN_API cu_result cuMemcpy2DAsync_v2(const struct standin_copy_2d *box,
					 struct CUstream_st *stream);
STANDIN_API cu_result cuMemcpyHtoA_v2(struct CUarray_st *array, size_t offset, const void *from,
				      size_t n);
STANDIN_API cu_result cuMemcpyAtoH_v2(void *to, struct CUarray_st *array, size_t offset, size_t n);
STANDIN_API cu_result cuLaunchHostFunc(struct CUstream_st *stream, void (*function)(void *),
				       void *data);
STANDIN_API cu_result cuStreamIsCapturing(struct CUstream_st *stream, int *status);
STANDIN_API cu_result cuStreamBeginCapture_v2(struct CUstream_st *stream, int mode);
STANDIN_API cu_result cuStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph);
STANDIN_API cu_result cuGraphCreate(struct CUgraph_st **graph, unsigned flags);
STANDIN_API cu_result cuGraphDestroy(struct CUgraph_st *graph);
STANDIN_API cu_result cuGraphGetNodes(struct CUgraph_st *graph, struct CUgraphNode_st **nodes,
				      size_t *n);
STANDIN_API cu_result cuGraphNodeGetType(struct CUgraphNode_st *node, int *type);
struct standin_node { /* of cuGraphAddNode */
	int type, reserved[3];
	union {
		struct CUgraph_st *graph;
		struct CUevent_st *event;
		long long room[29];
	} of;
	long long reserved_too;
};
STANDIN_API cu_result cuGraphAddNode(struct CUgraphNode_st **node, struct CUgraph_st *graph,
				     struct CUgraphNode_st **before, size_t n,
				     struct standin_node *params);
STANDIN_API cu_result cuGraphKernelNodeGetParams_v2(struct CUgraphNode_st *node,
						    struct cu_kernel_node *params);
STANDIN_API cu_result cuGraphMemcpyNodeGetParams(struct CUgraphNode_st *node,
						 struct cu_copy_3d *params);
STANDIN_API cu_result cuGraphMemsetNodeGetParams(struct CUgraphNode_st *node,
						 struct cu_set_node *params);
STANDIN_API cu_result cuGraphChildGraphNodeGetGraph(struct CUgraphNode_st *node,
						    struct CUgraph_st **graph);
STANDIN_API cu_result cuGraphKernelNodeGetAttribute(struct CUgraphNode_st *node, int attribute,
						    void *value);
STANDIN_API cu_result cuGraphKernelNodeSetAttribute(struct CUgraphNode_st *node, int attribute,
						    const void *value);
STANDIN_API cu_result cuGraphExecKernelNodeSetParams_v2(struct CUgraphExec_st *exec,
							struct CUgraphNode_st *node,
							const struct cu_kernel_node *params);
STANDIN_API cu_result cuGraphExecMemcpyNodeSetParams(struct CUgraphExec_st *exec,
						     struct CUgraphNode_st *node,
						     const struct cu_copy_3d *params,
						     struct CUctx_st *context);
STANDIN_API cu_result cuGraphExecMemsetNodeSetParams(struct CUgraphExec_st *exec,
						     struct CUgraphNode_st *node,
						     const struct cu_set_node *params,
						     struct CUctx_st *context);
STANDIN_API cu_result cuGraphExecChildGraphNodeSetParams(struct CUgraphExec_st *exec,
							 struct CUgraphNode_st *node,
							 struct CUgraph_st *graph);
STANDIN_API cu_result cuGraphExecEventRecordNodeSetEvent(struct CUgraphExec_st *exec,
							 struct CUgraphNode_st *node,
							 struct CUevent_st *event);
STANDIN_API cu_result cuGraphExecNodeSetParams(struct CUgraphExec_st *exec,
					       struct CUgraphNode_st *node,
					       const struct cu_node_params *params);
STANDIN_API cu_result cuGraphNodeSetEnabled(struct CUgraphExec_st *exec,
					    struct CUgraphNode_st *node, unsigned on);
/* No driver has it: what a newer one may have. It switches all nodes off. */
STANDIN_API cu_result cuGraphExecStandin(struct CUgraphExec_st *exec);
STANDIN_API cu_result cuGraphExecUpdate_v2(struct CUgraphExec_st *exec, struct CUgraph_st *graph,
					   void *found);
STANDIN_API cu_result cuFuncGetName(const char **name, struct CUfunc_st *function);
STANDIN_API cu_result cuKernelGetName(const char **name, struct CUkern_st *kernel);
STANDIN_API cu_result cuGraphInstantiateWithFlags(struct CUgraphExec_st **exec,
						  struct CUgraph_st *graph, uint64_t flags);
STANDIN_API cu_result cuGraphLaunch(struct CUgraphExec_st *exec, struct CUstream_st *stream);
STANDIN_API cu_result cuGraphExecDestroy(struct CUgraphExec_st *exec);
STANDIN_API cu_result cuLibraryLoadData(struct CUlib_st **library, const void *data, void *jit,
					void **values, unsigned n, void *options,
					void **option_values, unsigned n_options);
STANDIN_API cu_result cuLibraryUnload(struct CUlib_st *library);
STANDIN_API cu_result cuLibraryGetModule(struct CUmod_st **module, struct CUlib_st *library);
STANDIN_API cu_result cuLibraryGetKernel(struct CUkern_st **kernel, struct CUlib_st *library,
					 const char *name);
STANDIN_API cu_result cuKernelGetFunction(struct CUfunc_st **function, struct CUkern_st *kernel);
STANDIN_API cu_result cuKernelGetParamInfo(struct CUkern_st *kernel, size_t i, size_t *offset,
					   size_t *size);
STANDIN_API cu_result cuKernelGetAttribute(int *value, int attribute, struct CUkern_st *kernel,
					   int device);

#endif
