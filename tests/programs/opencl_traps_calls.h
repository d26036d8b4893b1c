/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that opencl_traps calls, looked up in a libOpenCL that it opens itself. */
#ifndef OPENCL_TRAPS_CALLS_H
#define OPENCL_TRAPS_CALLS_H

#define CALLS(X)                              \
	X(clBuildProgram)                     \
	X(clCloneKernel)                      \
	X(clCreateBuffer)                     \
	X(clCreateCommandQueueWithProperties) \
	X(clCreateContext)                    \
	X(clCreateImage)                      \
	X(clCreateKernel)                     \
	X(clCreateKernelsInProgram)           \
	X(clCreateProgramWithSource)          \
	X(clCreateSubBuffer)                  \
	X(clCreateUserEvent)                  \
	X(clEnqueueBarrierWithWaitList)       \
	X(clEnqueueCopyBuffer)                \
	X(clEnqueueCopyBufferRect)            \
	X(clEnqueueCopyBufferToImage)         \
	X(clEnqueueCopyImageToBuffer)         \
	X(clEnqueueFillBuffer)                \
	X(clEnqueueFillImage)                 \
	X(clEnqueueMapBuffer)                 \
	X(clEnqueueNDRangeKernel)             \
	X(clEnqueueNativeKernel)              \
	X(clEnqueueReadBuffer)                \
	X(clEnqueueReadImage)                 \
	X(clEnqueueTask)                      \
	X(clEnqueueUnmapMemObject)            \
	X(clEnqueueWriteBuffer)               \
	X(clEnqueueWriteBufferRect)           \
	X(clEnqueueWriteImage)                \
	X(clFinish)                           \
	X(clFlush)                            \
	X(clGetDeviceIDs)                     \
	X(clGetDeviceInfo)                    \
	X(clGetEventInfo)                     \
	X(clGetEventProfilingInfo)            \
	X(clGetKernelInfo)                    \
	X(clGetMemObjectInfo)                 \
	X(clGetPlatformIDs)                   \
	X(clReleaseCommandQueue)              \
	X(clReleaseContext)                   \
	X(clReleaseEvent)                     \
	X(clReleaseKernel)                    \
	X(clReleaseMemObject)                 \
	X(clReleaseProgram)                   \
	X(clRetainKernel)                     \
	X(clRetainMemObject)                  \
	X(clSetEventCallback)                 \
	X(clSetKernelArg)                     \
	X(clSetUserEventStatus)               \
	X(clWaitForEvents)

#define CALL_EXTERN(name) extern __typeof__(name) *p_##name;
#pragma GCC visibility push(hidden)
CALLS(CALL_EXTERN)
#pragma GCC visibility pop
#define clBuildProgram                     p_clBuildProgram
#define clCloneKernel                      p_clCloneKernel
#define clCreateBuffer                     p_clCreateBuffer
#define clCreateCommandQueueWithProperties p_clCreateCommandQueueWithProperties
#define clCreateContext                    p_clCreateContext
#define clCreateImage                      p_clCreateImage
#define clCreateKernel                     p_clCreateKernel
#define clCreateKernelsInProgram           p_clCreateKernelsInProgram
#define clCreateProgramWithSource          p_clCreateProgramWithSource
#define clCreateSubBuffer                  p_clCreateSubBuffer
#define clCreateUserEvent                  p_clCreateUserEvent
#define clEnqueueBarrierWithWaitList       p_clEnqueueBarrierWithWaitList
#define clEnqueueCopyBuffer                p_clEnqueueCopyBuffer
#define clEnqueueCopyBufferRect            p_clEnqueueCopyBufferRect
#define clEnqueueCopyBufferToImage         p_clEnqueueCopyBufferToImage
#define clEnqueueCopyImageToBuffer         p_clEnqueueCopyImageToBuffer
#define clEnqueueFillBuffer                p_clEnqueueFillBuffer
#define clEnqueueFillImage                 p_clEnqueueFillImage
#define clEnqueueMapBuffer                 p_clEnqueueMapBuffer
#define clEnqueueNDRangeKernel             p_clEnqueueNDRangeKernel
#define clEnqueueNativeKernel              p_clEnqueueNativeKernel
#define clEnqueueReadBuffer                p_clEnqueueReadBuffer
#define clEnqueueReadImage                 p_clEnqueueReadImage
#define clEnqueueTask                      p_clEnqueueTask
#define clEnqueueUnmapMemObject            p_clEnqueueUnmapMemObject
#define clEnqueueWriteBuffer               p_clEnqueueWriteBuffer
#define clEnqueueWriteBufferRect           p_clEnqueueWriteBufferRect
#define clEnqueueWriteImage                p_clEnqueueWriteImage
#define clFinish                           p_clFinish
#define clFlush                            p_clFlush
#define clGetDeviceIDs                     p_clGetDeviceIDs
#define clGetDeviceInfo                    p_clGetDeviceInfo
#define clGetEventInfo                     p_clGetEventInfo
#define clGetEventProfilingInfo            p_clGetEventProfilingInfo
#define clGetKernelInfo                    p_clGetKernelInfo
#define clGetMemObjectInfo                 p_clGetMemObjectInfo
#define clGetPlatformIDs                   p_clGetPlatformIDs
#define clReleaseCommandQueue              p_clReleaseCommandQueue
#define clReleaseContext                   p_clReleaseContext
#define clReleaseEvent                     p_clReleaseEvent
#define clReleaseKernel                    p_clReleaseKernel
#define clReleaseMemObject                 p_clReleaseMemObject
#define clReleaseProgram                   p_clReleaseProgram
#define clRetainKernel                     p_clRetainKernel
#define clRetainMemObject                  p_clRetainMemObject
#define clSetEventCallback                 p_clSetEventCallback
#define clSetKernelArg                     p_clSetKernelArg
#define clSetUserEventStatus               p_clSetUserEventStatus
#define clWaitForEvents                    p_clWaitForEvents

#endif
