/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Own declarations of the CUDA driver ABI that retally uses: the functions it calls itself, found
 * in libcuda.so.1 at run time, and the argument structs with which CUPTI describes the program's
 * calls (one struct a function, the arguments in order). Facts: CUDA 13.0, x86-64; compared with
 * the vendor's headers by tests/unit/cuda/check_abi.c where those are installed.
 */
#ifndef RETALLY_SOURCE_CUDA_DRIVER_ABI_H
#define RETALLY_SOURCE_CUDA_DRIVER_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef unsigned long long cu_ptr; /* an address on the device */
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUkern_st;
struct CUlib_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
struct CUmemPoolHandle_st;
struct CUarray_st;

enum cu_results {
	CU_OK = 0,
	CU_INVALID_VALUE = 1,
	CU_OUT_OF_MEMORY = 2,
	CU_DEINITIALIZED = 4,
	CU_INVALID_HANDLE = 400,
	CU_NOT_FOUND = 500,
	CU_NOT_READY = 600,
	CU_NOT_SUPPORTED = 801,
};

enum cu_attribute_id { /* of launches; only those that we judge */
	CU_ATTRIBUTE_COOPERATIVE = 2,
	CU_ATTRIBUTE_STREAM_SERIALIZATION = 6,
	CU_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
	CU_ATTRIBUTE_COMPLETION_EVENT = 12,
	CU_ATTRIBUTE_UPDATABLE_NODE = 13,
};
struct cu_attribute {
	int id;
	char pad[4];
	union {
		char bytes[64];
		int flag;
		struct CUevent_st *event;
	} value;
};
struct cu_launch_config {
	unsigned grid[3];
	unsigned block[3];
	unsigned shared_bytes;
	struct CUstream_st *stream;
	struct cu_attribute *attributes;
	unsigned n_attributes;
};
_Static_assert(sizeof(struct cu_attribute) == 72, "ABI");
_Static_assert(sizeof(struct cu_launch_config) == 56, "ABI");

/* cuLaunchKernel, cuLaunchCooperativeKernel (without `extra`) */
struct cu_launch_params {
	struct CUfunc_st *function;
	unsigned grid[3];
	unsigned block[3];
	unsigned shared_bytes;
	struct CUstream_st *stream;
	void **arguments;
	void **extra;
};
struct cu_launch_ex_params {
	const struct cu_launch_config *config;
	struct CUfunc_st *function;
	void **arguments;
	void **extra;
};
/* In `extra` of a launch. */
#define CU_EXTRA_END     ((void *)0)
#define CU_EXTRA_POINTER ((void *)1)
#define CU_EXTRA_SIZE    ((void *)2)

struct cu_graph_launch_params {
	struct CUgraphExec_st *graph;
	struct CUstream_st *stream;
};
struct cu_alloc_params { /* cuMemAlloc_v2, cuMemAllocManaged, cuMemAllocAsync, ...FromPoolAsync */
	cu_ptr *address;
	size_t bytes;
	struct CUmemPoolHandle_st *pool; /* of the last */
};
struct cu_alloc_pitch_params {
	cu_ptr *address;
	size_t *pitch;
	size_t width, height;
	unsigned element;
};
struct cu_free_params { /* cuMemFree_v2, cuMemFreeAsync */
	cu_ptr address;
};
struct cu_map_params { /* cuMemMap, cuMemUnmap: the first two */
	cu_ptr address;
	size_t bytes;
	size_t offset;
	uint64_t handle;
};
struct cu_place { /* CUmemLocation */
	int type; /* CU_PLACE_... */
	int ordinal;
};
#define CU_PLACE_DEVICE   1
#define CU_PLACE_HOST     2
#define CU_CREATE_MANAGED 2
struct cu_create_properties { /* CUmemAllocationProp, CUmemPoolProps; what follows is not asked for
			       */
	int type, handle_types;
	struct cu_place place;
};
struct cu_create_params { /* cuMemCreate */
	uint64_t *handle_out;
	size_t bytes;
	const struct cu_create_properties *properties;
};
struct cu_pool_create_params { /* cuMemPoolCreate */
	struct CUmemPoolHandle_st **pool_out;
	const struct cu_create_properties *properties;
};
struct cu_pool_get_params { /* cuMemGetMemPool, cuMemGetDefaultMemPool */
	struct CUmemPoolHandle_st **pool_out;
	const struct cu_place *place;
	int type;
};
struct cu_handle_out_params { /* cuMemImportFromShareableHandle, cuMulticastCreate: the first */
	uint64_t *handle_out;
};
struct cu_handle_params { /* cuMemRelease */
	uint64_t handle;
};
struct cu_retain_params { /* cuMemRetainAllocationHandle */
	uint64_t *handle_out;
	void *address;
};
struct cu_export_params { /* cuMemExportToShareableHandle, cuIpcGetMemHandle,
			     cuMemPoolExportPointer: the first two */
	void *shareable_out;
	uint64_t what; /* a handle for the first, an address for the others */
};
struct cu_export_range_params { /* cuMemGetHandleForAddressRange */
	void *shareable_out;
	cu_ptr address;
	size_t bytes;
};
struct cu_bind_memory_params { /* cuMulticastBindMem */
	uint64_t multicast;
	size_t multicast_offset;
	uint64_t handle;
};
struct cu_bind_address_params { /* cuMulticastBindAddr */
	uint64_t multicast;
	size_t multicast_offset;
	cu_ptr address;
	size_t bytes;
};
struct cu_bind_memory_on_params { /* cuMulticastBindMem_v2: of CUDA 13.1 */
	uint64_t multicast;
	int device;
	size_t multicast_offset;
	uint64_t handle;
};
struct cu_bind_address_on_params { /* cuMulticastBindAddr_v2 */
	uint64_t multicast;
	int device;
	size_t multicast_offset;
	cu_ptr address;
	size_t bytes;
};
struct cu_set_pointer_params { /* cuPointerSetAttribute */
	const void *value;
	int attribute;
	cu_ptr address;
};
#define CU_POINTER_SYNCHRONOUS 6 /* what others do with it is to be seen by the next copy */
struct cu_import_params {        /* cuIpcOpenMemHandle_v2, cuMemPoolImportPointer: the first */
	cu_ptr *address_out;
};
struct cu_external_buffer { /* CUDA_EXTERNAL_MEMORY_BUFFER_DESC */
	unsigned long long offset, bytes;
};
struct cu_external_params { /* cuExternalMemoryGetMappedBuffer */
	cu_ptr *address_out;
	void *memory;
	const struct cu_external_buffer *buffer;
};
struct cu_graphics_params { /* cuGraphicsResourceGetMappedPointer_v2 */
	cu_ptr *address_out;
	size_t *bytes_out;
};
struct cu_host_alloc_params { /* cuMemHostAlloc, cuMemAllocHost_v2 */
	void **address;
	size_t bytes;
};
struct cu_host_register_params {
	void *address;
	size_t bytes;
	unsigned flags;
};
struct cu_host_free_params { /* cuMemFreeHost, cuMemHostUnregister */
	void *address;
};
struct cu_htod_params {
	cu_ptr to;
	const void *from;
	size_t bytes;
	struct CUstream_st *stream;
};
struct cu_dtod_params { /* cuMemcpyDtoDAsync_v2, cuMemcpyAsync */
	cu_ptr to, from;
	size_t bytes;
	struct CUstream_st *stream;
};
struct cu_set8_params {
	cu_ptr to;
	unsigned char value;
	size_t n;
	struct CUstream_st *stream;
};
struct cu_set16_params {
	cu_ptr to;
	unsigned short value;
	size_t n;
	struct CUstream_st *stream;
};
struct cu_set32_params {
	cu_ptr to;
	unsigned value;
	size_t n;
	struct CUstream_st *stream;
};
struct cu_event_record_params { /* cuEventRecord, cuEventRecordWithFlags */
	struct CUevent_st *event;
	struct CUstream_st *stream;
};
struct cu_wait_event_params {
	struct CUstream_st *stream;
	struct CUevent_st *event;
	unsigned flags;
};
struct cu_instantiate_params { /* every cuGraphInstantiate*: the first two arguments */
	struct CUgraphExec_st **graph_out;
	struct CUgraph_st *graph;
	union { /* of ...WithFlags and ...WithParams */
		unsigned long long flags;
		const unsigned long long *flags_at; /* the first of a struct */
	} how;
};
#define CU_GRAPH_FOR_DEVICE 4u /* flag: kernels may launch it */
struct cu_exec_update_params { /* cuGraphExecUpdate, cuGraphExecUpdate_v2: the first two */
	struct CUgraphExec_st *exec;
	struct CUgraph_st *graph;
};
struct cu_kernel_node {             /* CUDA_KERNEL_NODE_PARAMS_v2 */
	struct CUfunc_st *function; /* NULL: kernel */
	unsigned grid[3], block[3], shared_bytes;
	void **arguments, **extra;
	struct CUkern_st *kernel;
	struct CUctx_st *context;
};
_Static_assert(sizeof(struct cu_kernel_node) == 72, "ABI");
struct cu_set_node { /* CUDA_MEMSET_NODE_PARAMS */
	cu_ptr to;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};
_Static_assert(sizeof(struct cu_set_node) == 40, "ABI");
struct cu_exec_node_params { /* cuGraphExecKernelNodeSetParams_v2 and others of that kind */
	struct CUgraphExec_st *exec;
	struct CUgraphNode_st *node;
	union {
		const struct cu_kernel_node *kernel;
		const struct cu_copy_3d *copy;
		const struct cu_set_node *fill;
		struct CUgraph_st *graph;
		const struct cu_node_params *any; /* cuGraphExecNodeSetParams */
	} of;
};

/* ---- arrays and surfaces ---- */

enum cu_array_format { /* those whose elements are channels of one size */
	CU_FORMAT_U8 = 0x01,
	CU_FORMAT_U16 = 0x02,
	CU_FORMAT_U32 = 0x03,
	CU_FORMAT_S8 = 0x08,
	CU_FORMAT_S16 = 0x09,
	CU_FORMAT_S32 = 0x0a,
	CU_FORMAT_HALF = 0x10,
	CU_FORMAT_FLOAT = 0x20,
	CU_FORMAT_UNORM8X1 = 0xc0, /* X2, X4 follow; then the other three */
	CU_FORMAT_UNORM16X1 = 0xc3,
	CU_FORMAT_SNORM8X1 = 0xc6,
	CU_FORMAT_SNORM16X1 = 0xc9,
	CU_FORMAT_SNORM16X4 = 0xcb,
};
enum cu_array_flag {
	CU_ARRAY_LAYERED = 0x01,
	CU_ARRAY_SURFACE = 0x02, /* a surface may be made of it */
	CU_ARRAY_SPARSE = 0x40,
	CU_ARRAY_MAPPED_LATER = 0x80,
};
struct cu_array_2d {
	size_t width, height; /* height 0: one dimension */
	int format;
	unsigned channels;
};
struct cu_array_3d {
	size_t width, height, depth; /* depth: also layers */
	int format;
	unsigned channels, flags;
};
#define CU_MEMORY_DEVICE  2
#define CU_MEMORY_ARRAY   3
#define CU_MEMORY_UNIFIED 4
struct cu_copy_side {
	size_t x_bytes, y, z, level;
	int memory_type;
	void *host;
	cu_ptr device;
	struct CUarray_st *array;
	void *reserved;
	size_t pitch, height;
};
struct cu_copy_3d { /* CUDA_MEMCPY3D_v2 */
	struct cu_copy_side from, to;
	size_t width_bytes, height, depth;
};
struct cu_node_params { /* CUgraphNodeParams */
	int type, reserved[3];
	union {
		struct cu_kernel_node kernel;
		struct {
			int flags, reserved;
			struct CUctx_st *context;
			struct cu_copy_3d box;
		} copy;
		struct cu_set_node fill; /* then the context */
		struct CUgraph_st *graph;
		long long room[29];
	} of;
	long long reserved_too;
};
_Static_assert(sizeof(struct cu_node_params) == 256, "ABI");
struct cu_resource { /* of a surface or texture object */
	int type;    /* 0: an array */
	union {
		struct CUarray_st *array;
		int room[32];
	} of;
	unsigned flags;
};
_Static_assert(sizeof(struct cu_array_3d) == 40, "ABI");
_Static_assert(sizeof(struct cu_copy_3d) == 200, "ABI");
_Static_assert(sizeof(struct cu_resource) == 144, "ABI");

struct cu_array_create_params { /* cuArrayCreate_v2, cuArray3DCreate_v2, cuMipmappedArrayCreate */
	void **array_out;
	const void *description; /* struct cu_array_2d for the first, else 3d */
};
struct cu_array_part_params { /* cuMipmappedArrayGetLevel, cuArrayGetPlane */
	void **array_out;
	void *of;
	unsigned part;
};
struct cu_array_params { /* cuArrayDestroy, cuMipmappedArrayDestroy */
	void *array;
};
struct cu_surface_create_params {
	uint64_t *surface_out;
	const struct cu_resource *resource;
};
struct cu_surface_params {
	uint64_t surface;
};
struct cu_surface_reference_params { /* cuSurfRefSetArray */
	void *reference;
	void *array;
	unsigned flags;
};

enum cu_pointer_attribute {
	CU_POINTER_MEMORY_TYPE = 2, /* 1 host, 2 device, 3 array, 4 unified */
	CU_POINTER_IS_MANAGED = 8,
	CU_POINTER_DEVICE_ORDINAL = 9,
	CU_POINTER_RANGE_START = 11,
	CU_POINTER_RANGE_SIZE = 12,
	CU_POINTER_MAPPED = 13,
};
enum cu_function_attribute {
	CU_FUNCTION_SHARED_BYTES = 1,
	CU_FUNCTION_REGISTERS = 4,
};
enum cu_device_attribute {
	CU_DEVICE_L2_BYTES = 38,
	CU_DEVICE_REACHES_PAGEABLE = 88, /* memory of the host that nobody registered */
};
enum cu_node_type {
	CU_NODE_KERNEL = 0,
	CU_NODE_MEMCPY = 1,
	CU_NODE_MEMSET = 2,
	CU_NODE_HOST = 3,
	CU_NODE_GRAPH = 4,
	CU_NODE_EMPTY = 5,
	CU_NODE_EVENT_WAIT = 6,
	CU_NODE_EVENT_RECORD = 7,
	CU_NODE_SEMAPHORE_SIGNAL = 8,
	CU_NODE_SEMAPHORE_WAIT = 9,
	CU_NODE_ALLOCATE = 10,
	CU_NODE_FREE = 11,
	CU_NODE_WORDS = 12, /* waits for and writes of single words */
	CU_NODE_CONDITIONAL = 13,
};
#define CU_STREAM_APART 1u

/* What we call: name in libcuda, our name, arguments. `required` ones make it unusable when
 * missing; the others are NULL then. */
#define CUDA_DRIVER_SYMBOLS(R, O)                                                                  \
	R(cuDriverGetVersion, driver_version, (int *))                                             \
	R(cuCtxGetCurrent, context_current, (struct CUctx_st **))                                  \
	R(cuCtxPushCurrent_v2, context_push, (struct CUctx_st *))                                  \
	R(cuCtxPopCurrent_v2, context_pop, (struct CUctx_st **))                                   \
	R(cuCtxGetDevice, context_device, (int *))                                                 \
	R(cuCtxSynchronize, context_wait, (void))                                                  \
	R(cuDeviceGetAttribute, device_attribute, (int *, int, int))                               \
	R(cuDeviceGetName, device_name, (char *, int, int))                                        \
	R(cuDeviceGetUuid, device_uuid, (unsigned char *, int))                                    \
	R(cuMemGetInfo_v2, memory_info, (size_t *, size_t *))                                      \
	R(cuMemAlloc_v2, alloc, (cu_ptr *, size_t))                                                \
	R(cuMemFree_v2, free, (cu_ptr))                                                            \
	R(cuMemHostAlloc, host_alloc, (void **, size_t, unsigned))                                 \
	R(cuMemFreeHost, host_free, (void *))                                                      \
	R(cuMemcpyAsync, copy, (cu_ptr, cu_ptr, size_t, struct CUstream_st *))                     \
	R(cuMemcpyHtoDAsync_v2, htod, (cu_ptr, const void *, size_t, struct CUstream_st *))        \
	R(cuMemcpyDtoH_v2, dtoh, (void *, cu_ptr, size_t))                                         \
	R(cuMemsetD8Async, set8, (cu_ptr, unsigned char, size_t, struct CUstream_st *))            \
	R(cuMemsetD16Async, set16, (cu_ptr, unsigned short, size_t, struct CUstream_st *))         \
	R(cuMemsetD32Async, set32, (cu_ptr, unsigned, size_t, struct CUstream_st *))               \
	R(cuStreamCreate, stream_create, (struct CUstream_st **, unsigned))                        \
	R(cuStreamDestroy_v2, stream_destroy, (struct CUstream_st *))                              \
	R(cuStreamSynchronize, stream_wait, (struct CUstream_st *))                                \
	R(cuStreamQuery, stream_query, (struct CUstream_st *))                                     \
	R(cuStreamIsCapturing, stream_capturing, (struct CUstream_st *, int *))                    \
	R(cuStreamWaitEvent, stream_wait_event,                                                    \
	  (struct CUstream_st *, struct CUevent_st *, unsigned))                                   \
	R(cuEventCreate, event_create, (struct CUevent_st **, unsigned))                           \
	R(cuEventDestroy_v2, event_destroy, (struct CUevent_st *))                                 \
	R(cuEventRecord, event_record, (struct CUevent_st *, struct CUstream_st *))                \
	R(cuEventQuery, event_query, (struct CUevent_st *))                                        \
	R(cuLaunchKernel, launch,                                                                  \
	  (struct CUfunc_st *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
	   unsigned, struct CUstream_st *, void **, void **))                                      \
	R(cuModuleLoadData, module_load, (struct CUmod_st **, const void *))                       \
	R(cuModuleGetFunction, module_function,                                                    \
	  (struct CUfunc_st **, struct CUmod_st *, const char *))                                  \
	R(cuModuleGetGlobal_v2, module_global,                                                     \
	  (cu_ptr *, size_t *, struct CUmod_st *, const char *))                                   \
	R(cuFuncGetAttribute, function_attribute, (int *, int, struct CUfunc_st *))                \
	R(cuPointerGetAttribute, pointer_attribute, (void *, int, cu_ptr))                         \
	R(cuGraphLaunch, graph_launch, (struct CUgraphExec_st *, struct CUstream_st *))            \
	R(cuGraphGetNodes, graph_nodes, (struct CUgraph_st *, struct CUgraphNode_st **, size_t *)) \
	R(cuGraphNodeGetType, node_type, (struct CUgraphNode_st *, int *))                         \
	O(cuFuncGetModule, function_module, (struct CUmod_st **, struct CUfunc_st *))              \
	O(cuFuncGetParamInfo, function_parameter,                                                  \
	  (struct CUfunc_st *, size_t, size_t *, size_t *))                                        \
	O(cuKernelGetParamInfo, kernel_parameter,                                                  \
	  (struct CUkern_st *, size_t, size_t *, size_t *))                                        \
	O(cuKernelGetFunction, kernel_function, (struct CUfunc_st **, struct CUkern_st *))         \
	O(cuKernelGetAttribute, kernel_attribute, (int *, int, struct CUkern_st *, int))           \
	O(cuLibraryGetModule, library_module, (struct CUmod_st **, struct CUlib_st *))             \
	O(cuFuncLoad, function_load, (struct CUfunc_st *))                                         \
	O(cuLaunchKernelEx, launch_ex,                                                             \
	  (const struct cu_launch_config *, struct CUfunc_st *, void **, void **))                 \
	O(cuLaunchCooperativeKernel, launch_cooperative,                                           \
	  (struct CUfunc_st *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
	   unsigned, struct CUstream_st *, void **))                                               \
	O(cuArray3DGetDescriptor_v2, array_description,                                            \
	  (struct cu_array_3d *, struct CUarray_st *))                                             \
	O(cuMemcpy3DAsync_v2, copy_3d, (const struct cu_copy_3d *, struct CUstream_st *))          \
	O(cuGraphKernelNodeGetParams_v2, kernel_node,                                              \
	  (struct CUgraphNode_st *, struct cu_kernel_node *))                                      \
	O(cuGraphMemcpyNodeGetParams, copy_node, (struct CUgraphNode_st *, struct cu_copy_3d *))   \
	O(cuGraphMemsetNodeGetParams, set_node, (struct CUgraphNode_st *, struct cu_set_node *))   \
	O(cuGraphChildGraphNodeGetGraph, graph_inside,                                             \
	  (struct CUgraphNode_st *, struct CUgraph_st **))                                         \
	O(cuGraphKernelNodeGetAttribute, node_attribute, (struct CUgraphNode_st *, int, void *))   \
	O(cuFuncGetName, function_name, (const char **, struct CUfunc_st *))                       \
	O(cuKernelGetName, kernel_name, (const char **, struct CUkern_st *))                       \
	O(cuGetErrorName, error_name, (cu_result, const char **))

#endif
