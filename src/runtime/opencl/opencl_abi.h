/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of OpenCL's binary interface that the layer uses: constants, structs, and the dispatch
 * table of the ICD loader in its order. Declared here from the specification (OpenCL 3.0, and the
 * layer extension cl_loader_layers); nothing of the vendor is included. tests/unit/opencl/abi.c
 * holds it against installed headers where there are some.
 *
 * Handles are opaque structs of the vendor. Types: cl_int is int32_t, cl_uint and cl_bool are
 * uint32_t, bit fields, properties and cl_ulong are uint64_t. Entries that the layer neither hooks
 * nor calls are plain pointers.
 */
#ifndef RETALLY_RUNTIME_OPENCL_ABI_H
#define RETALLY_RUNTIME_OPENCL_ABI_H

#include <stddef.h>
#include <stdint.h>

struct vendor_platform;
struct vendor_device;
struct vendor_context;
struct vendor_queue;
struct vendor_mem;
struct vendor_program;
struct vendor_kernel;
struct vendor_event;
struct vendor_sampler;

enum opencl_status {
	OPENCL_SUCCESS = 0,
	OPENCL_OUT_OF_HOST_MEMORY = -6,
	OPENCL_INVALID_VALUE = -30,
	OPENCL_INVALID_OPERATION = -59,
	OPENCL_COMPLETE = 0, /* of a command; larger: not yet, negative: failed */
};

/* What is asked of objects, and bits of what was given; names as in the specification. */
#define OPENCL_PLATFORM_NAME                  0x0902u
#define OPENCL_DEVICE_TYPE                    0x1000u
#define OPENCL_DEVICE_NAME                    0x102Bu
#define OPENCL_DEVICE_PLATFORM                0x1031u
#define OPENCL_DEVICE_PARENT_DEVICE           0x1042u
#define OPENCL_DEVICE_TYPE_CPU                (UINT64_C(1) << 1)
#define OPENCL_DEVICE_MAX_VARIABLE_SIZE       0x104Du /* ..._MAX_GLOBAL_VARIABLE_SIZE */
#define OPENCL_DEVICE_SVM_CAPABILITIES        0x1053u
#define OPENCL_SVM_FINE_GRAIN_SYSTEM          (UINT64_C(1) << 2)
#define OPENCL_CONTEXT_DEVICES                0x1081u
#define OPENCL_CONTEXT_NUM_DEVICES            0x1083u
#define OPENCL_QUEUE_CONTEXT                  0x1090u
#define OPENCL_QUEUE_DEVICE                   0x1091u
#define OPENCL_QUEUE_PROPERTIES               0x1093u
#define OPENCL_QUEUE_OUT_OF_ORDER             (UINT64_C(1) << 0)
#define OPENCL_QUEUE_PROFILING                (UINT64_C(1) << 1)
#define OPENCL_QUEUE_ON_DEVICE                (UINT64_C(1) << 2)
#define OPENCL_QUEUE_ON_DEVICE_DEFAULT        (UINT64_C(1) << 3)
#define OPENCL_MEM_USE_HOST_PTR               (UINT64_C(1) << 3)
#define OPENCL_MEM_HOST_WRITE_ONLY            (UINT64_C(1) << 7)
#define OPENCL_MEM_HOST_READ_ONLY             (UINT64_C(1) << 8)
#define OPENCL_MEM_HOST_NO_ACCESS             (UINT64_C(1) << 9)
#define OPENCL_MEM_READ_WRITE                 (UINT64_C(1) << 0)
#define OPENCL_MEM_OBJECT_BUFFER              0x10F0u
#define OPENCL_MEM_OBJECT_IMAGE2D             0x10F1u
#define OPENCL_MEM_OBJECT_IMAGE3D             0x10F2u
#define OPENCL_MEM_OBJECT_IMAGE2D_ARRAY       0x10F3u
#define OPENCL_MEM_OBJECT_IMAGE1D             0x10F4u
#define OPENCL_MEM_OBJECT_IMAGE1D_ARRAY       0x10F5u
#define OPENCL_MEM_OBJECT_IMAGE1D_BUFFER      0x10F6u
#define OPENCL_MEM_OBJECT_PIPE                0x10F7u
#define OPENCL_MEM_TYPE                       0x1100u
#define OPENCL_MEM_FLAGS                      0x1101u
#define OPENCL_MEM_SIZE                       0x1102u
#define OPENCL_MEM_CONTEXT                    0x1106u
#define OPENCL_MEM_ASSOCIATED_MEMOBJECT       0x1107u
#define OPENCL_MEM_OFFSET                     0x1108u
#define OPENCL_IMAGE_ELEMENT_SIZE             0x1111u
#define OPENCL_IMAGE_WIDTH                    0x1114u
#define OPENCL_IMAGE_HEIGHT                   0x1115u
#define OPENCL_IMAGE_DEPTH                    0x1116u
#define OPENCL_IMAGE_ARRAY_SIZE               0x1117u
#define OPENCL_IMAGE_BUFFER                   0x1118u
#define OPENCL_IMAGE_NUM_MIP_LEVELS           0x1119u
#define OPENCL_IMAGE_NUM_SAMPLES              0x111Au
#define OPENCL_MAP_READ                       (UINT64_C(1) << 0)
#define OPENCL_MAP_WRITE                      (UINT64_C(1) << 1)
#define OPENCL_PROGRAM_DEVICES                0x1163u
#define OPENCL_PROGRAM_NUM_DEVICES            0x1162u
#define OPENCL_PROGRAM_SOURCE                 0x1164u
#define OPENCL_PROGRAM_BINARY_SIZES           0x1165u
#define OPENCL_PROGRAM_BINARIES               0x1166u
#define OPENCL_PROGRAM_BUILD_OPTIONS          0x1182u
#define OPENCL_PROGRAM_GLOBAL_VARIABLE_SIZE   0x1185u /* ..._BUILD_GLOBAL_VARIABLE_TOTAL_SIZE */
#define OPENCL_KERNEL_FUNCTION_NAME           0x1190u
#define OPENCL_KERNEL_NUM_ARGS                0x1191u
#define OPENCL_KERNEL_CONTEXT                 0x1193u
#define OPENCL_KERNEL_PROGRAM                 0x1194u
#define OPENCL_KERNEL_LOCAL_MEM_SIZE          0x11B2u
#define OPENCL_EVENT_COMMAND_QUEUE            0x11D0u
#define OPENCL_EVENT_COMMAND_TYPE             0x11D1u
#define OPENCL_EVENT_CONTEXT                  0x11D4u
#define OPENCL_COMMAND_USER                   0x1204u
#define OPENCL_EVENT_COMMAND_EXECUTION_STATUS 0x11D3u
#define OPENCL_PROFILING_COMMAND_START        0x1282u
#define OPENCL_PROFILING_COMMAND_END          0x1283u
#define OPENCL_LAYER_API_VERSION              0x4240u
#define OPENCL_LAYER_NAME                     0x4241u
#define OPENCL_LAYER_API_VERSION_100          100u

struct opencl_image_format {
	uint32_t order, type;
};
struct opencl_image_desc {
	uint32_t type;
	size_t width, height, depth, array_size, row_pitch, slice_pitch;
	uint32_t mip_levels, samples;
	struct vendor_mem *object; /* buffer or image that it is made of */
};
struct opencl_buffer_region {
	size_t origin, size;
};
_Static_assert(sizeof(struct opencl_image_format) == 8, "OpenCL 3.0");
_Static_assert(sizeof(void *) != 8 || sizeof(struct opencl_image_desc) == 72, "OpenCL 3.0");

typedef void opencl_context_notify(const char *, const void *, size_t, void *);
typedef void opencl_program_notify(struct vendor_program *, void *);
typedef void opencl_event_notify(struct vendor_event *, int32_t, void *);

/* struct _cl_icd_dispatch of the loaders, all that OpenCL 3.0 has. Older loaders have a shorter
 * one, newer ones may have more. */
struct opencl_dispatch {
	int32_t (*clGetPlatformIDs)(uint32_t, struct vendor_platform **, uint32_t *);
	int32_t (*clGetPlatformInfo)(struct vendor_platform *, uint32_t, size_t, void *, size_t *);
	int32_t (*clGetDeviceIDs)(struct vendor_platform *, uint64_t, uint32_t,
				  struct vendor_device **, uint32_t *);
	int32_t (*clGetDeviceInfo)(struct vendor_device *, uint32_t, size_t, void *, size_t *);
	struct vendor_context *(*clCreateContext)(const intptr_t *, uint32_t,
						  struct vendor_device *const *,
						  opencl_context_notify *, void *, int32_t *);
	struct vendor_context *(*clCreateContextFromType)(const intptr_t *, uint64_t,
							  opencl_context_notify *, void *,
							  int32_t *);
	int32_t (*clRetainContext)(struct vendor_context *);
	int32_t (*clReleaseContext)(struct vendor_context *);
	int32_t (*clGetContextInfo)(struct vendor_context *, uint32_t, size_t, void *, size_t *);
	struct vendor_queue *(*clCreateCommandQueue)(struct vendor_context *,
						     struct vendor_device *, uint64_t, int32_t *);
	int32_t (*clRetainCommandQueue)(struct vendor_queue *);
	int32_t (*clReleaseCommandQueue)(struct vendor_queue *);
	int32_t (*clGetCommandQueueInfo)(struct vendor_queue *, uint32_t, size_t, void *, size_t *);
	void *clSetCommandQueueProperty;
	struct vendor_mem *(*clCreateBuffer)(struct vendor_context *, uint64_t, size_t, void *,
					     int32_t *);
	struct vendor_mem *(*clCreateImage2D)(struct vendor_context *, uint64_t,
					      const struct opencl_image_format *, size_t, size_t,
					      size_t, void *, int32_t *);
	struct vendor_mem *(*clCreateImage3D)(struct vendor_context *, uint64_t,
					      const struct opencl_image_format *, size_t, size_t,
					      size_t, size_t, size_t, void *, int32_t *);
	int32_t (*clRetainMemObject)(struct vendor_mem *);
	int32_t (*clReleaseMemObject)(struct vendor_mem *);
	void *clGetSupportedImageFormats;
	int32_t (*clGetMemObjectInfo)(struct vendor_mem *, uint32_t, size_t, void *, size_t *);
	int32_t (*clGetImageInfo)(struct vendor_mem *, uint32_t, size_t, void *, size_t *);
	void *clCreateSampler;
	void *clRetainSampler;
	int32_t (*clReleaseSampler)(struct vendor_sampler *);
	void *clGetSamplerInfo;
	void *clCreateProgramWithSource;
	void *clCreateProgramWithBinary;
	void *clRetainProgram;
	void *clReleaseProgram;
	int32_t (*clBuildProgram)(struct vendor_program *, uint32_t, struct vendor_device *const *,
				  const char *, opencl_program_notify *, void *);
	void *clUnloadCompiler;
	int32_t (*clGetProgramInfo)(struct vendor_program *, uint32_t, size_t, void *, size_t *);
	int32_t (*clGetProgramBuildInfo)(struct vendor_program *, struct vendor_device *, uint32_t,
					 size_t, void *, size_t *);
	struct vendor_kernel *(*clCreateKernel)(struct vendor_program *, const char *, int32_t *);
	int32_t (*clCreateKernelsInProgram)(struct vendor_program *, uint32_t,
					    struct vendor_kernel **, uint32_t *);
	int32_t (*clRetainKernel)(struct vendor_kernel *);
	int32_t (*clReleaseKernel)(struct vendor_kernel *);
	int32_t (*clSetKernelArg)(struct vendor_kernel *, uint32_t, size_t, const void *);
	int32_t (*clGetKernelInfo)(struct vendor_kernel *, uint32_t, size_t, void *, size_t *);
	int32_t (*clGetKernelWorkGroupInfo)(struct vendor_kernel *, struct vendor_device *,
					    uint32_t, size_t, void *, size_t *);
	int32_t (*clWaitForEvents)(uint32_t, struct vendor_event *const *);
	int32_t (*clGetEventInfo)(struct vendor_event *, uint32_t, size_t, void *, size_t *);
	int32_t (*clRetainEvent)(struct vendor_event *);
	int32_t (*clReleaseEvent)(struct vendor_event *);
	int32_t (*clGetEventProfilingInfo)(struct vendor_event *, uint32_t, size_t, void *,
					   size_t *);
	int32_t (*clFlush)(struct vendor_queue *);
	int32_t (*clFinish)(struct vendor_queue *);
	int32_t (*clEnqueueReadBuffer)(struct vendor_queue *, struct vendor_mem *, uint32_t, size_t,
				       size_t, void *, uint32_t, struct vendor_event *const *,
				       struct vendor_event **);
	int32_t (*clEnqueueWriteBuffer)(struct vendor_queue *, struct vendor_mem *, uint32_t,
					size_t, size_t, const void *, uint32_t,
					struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueCopyBuffer)(struct vendor_queue *, struct vendor_mem *,
				       struct vendor_mem *, size_t, size_t, size_t, uint32_t,
				       struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueReadImage)(struct vendor_queue *, struct vendor_mem *, uint32_t,
				      const size_t *, const size_t *, size_t, size_t, void *,
				      uint32_t, struct vendor_event *const *,
				      struct vendor_event **);
	int32_t (*clEnqueueWriteImage)(struct vendor_queue *, struct vendor_mem *, uint32_t,
				       const size_t *, const size_t *, size_t, size_t, const void *,
				       uint32_t, struct vendor_event *const *,
				       struct vendor_event **);
	int32_t (*clEnqueueCopyImage)(struct vendor_queue *, struct vendor_mem *,
				      struct vendor_mem *, const size_t *, const size_t *,
				      const size_t *, uint32_t, struct vendor_event *const *,
				      struct vendor_event **);
	int32_t (*clEnqueueCopyImageToBuffer)(struct vendor_queue *, struct vendor_mem *,
					      struct vendor_mem *, const size_t *, const size_t *,
					      size_t, uint32_t, struct vendor_event *const *,
					      struct vendor_event **);
	int32_t (*clEnqueueCopyBufferToImage)(struct vendor_queue *, struct vendor_mem *,
					      struct vendor_mem *, size_t, const size_t *,
					      const size_t *, uint32_t,
					      struct vendor_event *const *, struct vendor_event **);
	void *(*clEnqueueMapBuffer)(struct vendor_queue *, struct vendor_mem *, uint32_t, uint64_t,
				    size_t, size_t, uint32_t, struct vendor_event *const *,
				    struct vendor_event **, int32_t *);
	void *(*clEnqueueMapImage)(struct vendor_queue *, struct vendor_mem *, uint32_t, uint64_t,
				   const size_t *, const size_t *, size_t *, size_t *, uint32_t,
				   struct vendor_event *const *, struct vendor_event **, int32_t *);
	int32_t (*clEnqueueUnmapMemObject)(struct vendor_queue *, struct vendor_mem *, void *,
					   uint32_t, struct vendor_event *const *,
					   struct vendor_event **);
	int32_t (*clEnqueueNDRangeKernel)(struct vendor_queue *, struct vendor_kernel *, uint32_t,
					  const size_t *, const size_t *, const size_t *, uint32_t,
					  struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueTask)(struct vendor_queue *, struct vendor_kernel *, uint32_t,
				 struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueNativeKernel)(struct vendor_queue *, void (*)(void *), void *, size_t,
					 uint32_t, struct vendor_mem *const *, const void **,
					 uint32_t, struct vendor_event *const *,
					 struct vendor_event **);
	int32_t (*clEnqueueMarker)(struct vendor_queue *, struct vendor_event **);
	int32_t (*clEnqueueWaitForEvents)(struct vendor_queue *, uint32_t,
					  struct vendor_event *const *);
	int32_t (*clEnqueueBarrier)(struct vendor_queue *);
	void *(*clGetExtensionFunctionAddress)(const char *);
	struct vendor_mem *(*clCreateFromGLBuffer)(struct vendor_context *, uint64_t, uint32_t,
						   int32_t *);
	struct vendor_mem *(*clCreateFromGLTexture2D)(struct vendor_context *, uint64_t, uint32_t,
						      int32_t, uint32_t, int32_t *);
	struct vendor_mem *(*clCreateFromGLTexture3D)(struct vendor_context *, uint64_t, uint32_t,
						      int32_t, uint32_t, int32_t *);
	struct vendor_mem *(*clCreateFromGLRenderbuffer)(struct vendor_context *, uint64_t,
							 uint32_t, int32_t *);
	void *clGetGLObjectInfo;
	void *clGetGLTextureInfo;
	int32_t (*clEnqueueAcquireGLObjects)(struct vendor_queue *, uint32_t,
					     struct vendor_mem *const *, uint32_t,
					     struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueReleaseGLObjects)(struct vendor_queue *, uint32_t,
					     struct vendor_mem *const *, uint32_t,
					     struct vendor_event *const *, struct vendor_event **);
	void *clGetGLContextInfoKHR;
	void *clGetDeviceIDsFromD3D10KHR;
	void *clCreateFromD3D10BufferKHR;
	void *clCreateFromD3D10Texture2DKHR;
	void *clCreateFromD3D10Texture3DKHR;
	void *clEnqueueAcquireD3D10ObjectsKHR;
	void *clEnqueueReleaseD3D10ObjectsKHR;
	int32_t (*clSetEventCallback)(struct vendor_event *, int32_t, opencl_event_notify *,
				      void *);
	struct vendor_mem *(*clCreateSubBuffer)(struct vendor_mem *, uint64_t, uint32_t,
						const void *, int32_t *);
	void *clSetMemObjectDestructorCallback;
	struct vendor_event *(*clCreateUserEvent)(struct vendor_context *, int32_t *);
	int32_t (*clSetUserEventStatus)(struct vendor_event *, int32_t);
	int32_t (*clEnqueueReadBufferRect)(struct vendor_queue *, struct vendor_mem *, uint32_t,
					   const size_t *, const size_t *, const size_t *, size_t,
					   size_t, size_t, size_t, void *, uint32_t,
					   struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueWriteBufferRect)(struct vendor_queue *, struct vendor_mem *, uint32_t,
					    const size_t *, const size_t *, const size_t *, size_t,
					    size_t, size_t, size_t, const void *, uint32_t,
					    struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueCopyBufferRect)(struct vendor_queue *, struct vendor_mem *,
					   struct vendor_mem *, const size_t *, const size_t *,
					   const size_t *, size_t, size_t, size_t, size_t, uint32_t,
					   struct vendor_event *const *, struct vendor_event **);
	void *clCreateSubDevicesEXT;
	void *clRetainDeviceEXT;
	void *clReleaseDeviceEXT;
	void *clCreateEventFromGLsyncKHR;
	void *clCreateSubDevices;
	void *clRetainDevice;
	void *clReleaseDevice;
	struct vendor_mem *(*clCreateImage)(struct vendor_context *, uint64_t,
					    const struct opencl_image_format *,
					    const struct opencl_image_desc *, void *, int32_t *);
	void *clCreateProgramWithBuiltInKernels;
	int32_t (*clCompileProgram)(struct vendor_program *, uint32_t,
				    struct vendor_device *const *, const char *, uint32_t,
				    struct vendor_program *const *, const char **,
				    opencl_program_notify *, void *);
	struct vendor_program *(*clLinkProgram)(struct vendor_context *, uint32_t,
						struct vendor_device *const *, const char *,
						uint32_t, struct vendor_program *const *,
						opencl_program_notify *, void *, int32_t *);
	void *clUnloadPlatformCompiler;
	void *clGetKernelArgInfo;
	int32_t (*clEnqueueFillBuffer)(struct vendor_queue *, struct vendor_mem *, const void *,
				       size_t, size_t, size_t, uint32_t,
				       struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueFillImage)(struct vendor_queue *, struct vendor_mem *, const void *,
				      const size_t *, const size_t *, uint32_t,
				      struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueMigrateMemObjects)(struct vendor_queue *, uint32_t,
					      struct vendor_mem *const *, uint64_t, uint32_t,
					      struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueMarkerWithWaitList)(struct vendor_queue *, uint32_t,
					       struct vendor_event *const *,
					       struct vendor_event **);
	int32_t (*clEnqueueBarrierWithWaitList)(struct vendor_queue *, uint32_t,
						struct vendor_event *const *,
						struct vendor_event **);
	void *(*clGetExtensionFunctionAddressForPlatform)(struct vendor_platform *, const char *);
	struct vendor_mem *(*clCreateFromGLTexture)(struct vendor_context *, uint64_t, uint32_t,
						    int32_t, uint32_t, int32_t *);
	void *clGetDeviceIDsFromD3D11KHR;
	void *clCreateFromD3D11BufferKHR;
	void *clCreateFromD3D11Texture2DKHR;
	void *clCreateFromD3D11Texture3DKHR;
	void *clCreateFromDX9MediaSurfaceKHR;
	void *clEnqueueAcquireD3D11ObjectsKHR;
	void *clEnqueueReleaseD3D11ObjectsKHR;
	void *clGetDeviceIDsFromDX9MediaAdapterKHR;
	void *clEnqueueAcquireDX9MediaSurfacesKHR;
	void *clEnqueueReleaseDX9MediaSurfacesKHR;
	struct vendor_mem *(*clCreateFromEGLImageKHR)(struct vendor_context *, void *, void *,
						      uint64_t, const intptr_t *, int32_t *);
	int32_t (*clEnqueueAcquireEGLObjectsKHR)(struct vendor_queue *, uint32_t,
						 struct vendor_mem *const *, uint32_t,
						 struct vendor_event *const *,
						 struct vendor_event **);
	int32_t (*clEnqueueReleaseEGLObjectsKHR)(struct vendor_queue *, uint32_t,
						 struct vendor_mem *const *, uint32_t,
						 struct vendor_event *const *,
						 struct vendor_event **);
	void *clCreateEventFromEGLSyncKHR;
	struct vendor_queue *(*clCreateCommandQueueWithProperties)(struct vendor_context *,
								   struct vendor_device *,
								   const uint64_t *, int32_t *);
	struct vendor_mem *(*clCreatePipe)(struct vendor_context *, uint64_t, uint32_t, uint32_t,
					   const intptr_t *, int32_t *);
	void *clGetPipeInfo;
	void *(*clSVMAlloc)(struct vendor_context *, uint64_t, size_t, uint32_t);
	void *clSVMFree;
	int32_t (*clEnqueueSVMFree)(struct vendor_queue *, uint32_t, void **,
				    void (*)(struct vendor_queue *, uint32_t, void **, void *),
				    void *, uint32_t, struct vendor_event *const *,
				    struct vendor_event **);
	int32_t (*clEnqueueSVMMemcpy)(struct vendor_queue *, uint32_t, void *, const void *, size_t,
				      uint32_t, struct vendor_event *const *,
				      struct vendor_event **);
	int32_t (*clEnqueueSVMMemFill)(struct vendor_queue *, void *, const void *, size_t, size_t,
				       uint32_t, struct vendor_event *const *,
				       struct vendor_event **);
	int32_t (*clEnqueueSVMMap)(struct vendor_queue *, uint32_t, uint64_t, void *, size_t,
				   uint32_t, struct vendor_event *const *, struct vendor_event **);
	int32_t (*clEnqueueSVMUnmap)(struct vendor_queue *, void *, uint32_t,
				     struct vendor_event *const *, struct vendor_event **);
	void *clCreateSamplerWithProperties;
	int32_t (*clSetKernelArgSVMPointer)(struct vendor_kernel *, uint32_t, const void *);
	int32_t (*clSetKernelExecInfo)(struct vendor_kernel *, uint32_t, size_t, const void *);
	void *clGetKernelSubGroupInfoKHR;
	struct vendor_kernel *(*clCloneKernel)(struct vendor_kernel *, int32_t *);
	void *clCreateProgramWithIL;
	int32_t (*clEnqueueSVMMigrateMem)(struct vendor_queue *, uint32_t, const void **,
					  const size_t *, uint64_t, uint32_t,
					  struct vendor_event *const *, struct vendor_event **);
	void *clGetDeviceAndHostTimer;
	void *clGetHostTimer;
	void *clGetKernelSubGroupInfo;
	void *clSetDefaultDeviceCommandQueue;
	void *clSetProgramReleaseCallback;
	void *clSetProgramSpecializationConstant;
	struct vendor_mem *(*clCreateBufferWithProperties)(struct vendor_context *,
							   const uint64_t *, uint64_t, size_t,
							   void *, int32_t *);
	struct vendor_mem *(*clCreateImageWithProperties)(struct vendor_context *, const uint64_t *,
							  uint64_t,
							  const struct opencl_image_format *,
							  const struct opencl_image_desc *, void *,
							  int32_t *);
	void *clSetContextDestructorCallback;
};

/* The names of all entries, in their order. */
#define OPENCL_ENTRIES(X)                           \
	X(clGetPlatformIDs)                         \
	X(clGetPlatformInfo)                        \
	X(clGetDeviceIDs)                           \
	X(clGetDeviceInfo)                          \
	X(clCreateContext)                          \
	X(clCreateContextFromType)                  \
	X(clRetainContext)                          \
	X(clReleaseContext)                         \
	X(clGetContextInfo)                         \
	X(clCreateCommandQueue)                     \
	X(clRetainCommandQueue)                     \
	X(clReleaseCommandQueue)                    \
	X(clGetCommandQueueInfo)                    \
	X(clSetCommandQueueProperty)                \
	X(clCreateBuffer)                           \
	X(clCreateImage2D)                          \
	X(clCreateImage3D)                          \
	X(clRetainMemObject)                        \
	X(clReleaseMemObject)                       \
	X(clGetSupportedImageFormats)               \
	X(clGetMemObjectInfo)                       \
	X(clGetImageInfo)                           \
	X(clCreateSampler)                          \
	X(clRetainSampler)                          \
	X(clReleaseSampler)                         \
	X(clGetSamplerInfo)                         \
	X(clCreateProgramWithSource)                \
	X(clCreateProgramWithBinary)                \
	X(clRetainProgram)                          \
	X(clReleaseProgram)                         \
	X(clBuildProgram)                           \
	X(clUnloadCompiler)                         \
	X(clGetProgramInfo)                         \
	X(clGetProgramBuildInfo)                    \
	X(clCreateKernel)                           \
	X(clCreateKernelsInProgram)                 \
	X(clRetainKernel)                           \
	X(clReleaseKernel)                          \
	X(clSetKernelArg)                           \
	X(clGetKernelInfo)                          \
	X(clGetKernelWorkGroupInfo)                 \
	X(clWaitForEvents)                          \
	X(clGetEventInfo)                           \
	X(clRetainEvent)                            \
	X(clReleaseEvent)                           \
	X(clGetEventProfilingInfo)                  \
	X(clFlush)                                  \
	X(clFinish)                                 \
	X(clEnqueueReadBuffer)                      \
	X(clEnqueueWriteBuffer)                     \
	X(clEnqueueCopyBuffer)                      \
	X(clEnqueueReadImage)                       \
	X(clEnqueueWriteImage)                      \
	X(clEnqueueCopyImage)                       \
	X(clEnqueueCopyImageToBuffer)               \
	X(clEnqueueCopyBufferToImage)               \
	X(clEnqueueMapBuffer)                       \
	X(clEnqueueMapImage)                        \
	X(clEnqueueUnmapMemObject)                  \
	X(clEnqueueNDRangeKernel)                   \
	X(clEnqueueTask)                            \
	X(clEnqueueNativeKernel)                    \
	X(clEnqueueMarker)                          \
	X(clEnqueueWaitForEvents)                   \
	X(clEnqueueBarrier)                         \
	X(clGetExtensionFunctionAddress)            \
	X(clCreateFromGLBuffer)                     \
	X(clCreateFromGLTexture2D)                  \
	X(clCreateFromGLTexture3D)                  \
	X(clCreateFromGLRenderbuffer)               \
	X(clGetGLObjectInfo)                        \
	X(clGetGLTextureInfo)                       \
	X(clEnqueueAcquireGLObjects)                \
	X(clEnqueueReleaseGLObjects)                \
	X(clGetGLContextInfoKHR)                    \
	X(clGetDeviceIDsFromD3D10KHR)               \
	X(clCreateFromD3D10BufferKHR)               \
	X(clCreateFromD3D10Texture2DKHR)            \
	X(clCreateFromD3D10Texture3DKHR)            \
	X(clEnqueueAcquireD3D10ObjectsKHR)          \
	X(clEnqueueReleaseD3D10ObjectsKHR)          \
	X(clSetEventCallback)                       \
	X(clCreateSubBuffer)                        \
	X(clSetMemObjectDestructorCallback)         \
	X(clCreateUserEvent)                        \
	X(clSetUserEventStatus)                     \
	X(clEnqueueReadBufferRect)                  \
	X(clEnqueueWriteBufferRect)                 \
	X(clEnqueueCopyBufferRect)                  \
	X(clCreateSubDevicesEXT)                    \
	X(clRetainDeviceEXT)                        \
	X(clReleaseDeviceEXT)                       \
	X(clCreateEventFromGLsyncKHR)               \
	X(clCreateSubDevices)                       \
	X(clRetainDevice)                           \
	X(clReleaseDevice)                          \
	X(clCreateImage)                            \
	X(clCreateProgramWithBuiltInKernels)        \
	X(clCompileProgram)                         \
	X(clLinkProgram)                            \
	X(clUnloadPlatformCompiler)                 \
	X(clGetKernelArgInfo)                       \
	X(clEnqueueFillBuffer)                      \
	X(clEnqueueFillImage)                       \
	X(clEnqueueMigrateMemObjects)               \
	X(clEnqueueMarkerWithWaitList)              \
	X(clEnqueueBarrierWithWaitList)             \
	X(clGetExtensionFunctionAddressForPlatform) \
	X(clCreateFromGLTexture)                    \
	X(clGetDeviceIDsFromD3D11KHR)               \
	X(clCreateFromD3D11BufferKHR)               \
	X(clCreateFromD3D11Texture2DKHR)            \
	X(clCreateFromD3D11Texture3DKHR)            \
	X(clCreateFromDX9MediaSurfaceKHR)           \
	X(clEnqueueAcquireD3D11ObjectsKHR)          \
	X(clEnqueueReleaseD3D11ObjectsKHR)          \
	X(clGetDeviceIDsFromDX9MediaAdapterKHR)     \
	X(clEnqueueAcquireDX9MediaSurfacesKHR)      \
	X(clEnqueueReleaseDX9MediaSurfacesKHR)      \
	X(clCreateFromEGLImageKHR)                  \
	X(clEnqueueAcquireEGLObjectsKHR)            \
	X(clEnqueueReleaseEGLObjectsKHR)            \
	X(clCreateEventFromEGLSyncKHR)              \
	X(clCreateCommandQueueWithProperties)       \
	X(clCreatePipe)                             \
	X(clGetPipeInfo)                            \
	X(clSVMAlloc)                               \
	X(clSVMFree)                                \
	X(clEnqueueSVMFree)                         \
	X(clEnqueueSVMMemcpy)                       \
	X(clEnqueueSVMMemFill)                      \
	X(clEnqueueSVMMap)                          \
	X(clEnqueueSVMUnmap)                        \
	X(clCreateSamplerWithProperties)            \
	X(clSetKernelArgSVMPointer)                 \
	X(clSetKernelExecInfo)                      \
	X(clGetKernelSubGroupInfoKHR)               \
	X(clCloneKernel)                            \
	X(clCreateProgramWithIL)                    \
	X(clEnqueueSVMMigrateMem)                   \
	X(clGetDeviceAndHostTimer)                  \
	X(clGetHostTimer)                           \
	X(clGetKernelSubGroupInfo)                  \
	X(clSetDefaultDeviceCommandQueue)           \
	X(clSetProgramReleaseCallback)              \
	X(clSetProgramSpecializationConstant)       \
	X(clCreateBufferWithProperties)             \
	X(clCreateImageWithProperties)              \
	X(clSetContextDestructorCallback)
#define OPENCL_COUNT_ENTRY(name) +1
#define OPENCL_N_ENTRIES         (0 OPENCL_ENTRIES(OPENCL_COUNT_ENTRY))
_Static_assert(sizeof(struct opencl_dispatch) == OPENCL_N_ENTRIES * sizeof(void *), "no padding");
_Static_assert(OPENCL_N_ENTRIES == 149, "OpenCL 3.0");

#endif
