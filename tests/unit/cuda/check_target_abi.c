/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares our declarations of CUPTI's target half, its callbacks and the driver with the vendor's
 * headers, at compile time. Built only where those are installed.
 */
#include "source/cuda/cuda_driver_abi.h"
#include "source/cuda/cuda_range_abi.h"

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stddef.h>
#include <stdint.h>

#define SAME(ours, theirs, our_last)                                    \
	_Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs); \
	_Static_assert(CUPTI_STRUCT_SIZE(struct ours, our_last) == theirs##_STRUCT_SIZE, #theirs)
#define FIELD(ours, our_field, theirs, their_field)                                         \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->our_field) ==                     \
				       sizeof(((theirs *)0)->their_field),                  \
		       #theirs "." #their_field)

SAME(cupti_profiler_initialize, CUpti_Profiler_Initialize_Params, reserved);
SAME(cupti_chip_name, CUpti_Device_GetChipName_Params, chip);
SAME(cupti_availability, CUpti_Profiler_GetCounterAvailability_Params, image);
SAME(cupti_device_supported, CUpti_Profiler_DeviceSupported_Params, api);
FIELD(cupti_device_supported, supported, CUpti_Profiler_DeviceSupported_Params, isSupported);
FIELD(cupti_device_supported, confidential, CUpti_Profiler_DeviceSupported_Params,
      confidentialCompute);
FIELD(cupti_device_supported, wsl, CUpti_Profiler_DeviceSupported_Params, wsl);
SAME(cupti_range_enable, CUpti_RangeProfiler_Enable_Params, profiler);
SAME(cupti_range_profiler_only, CUpti_RangeProfiler_Disable_Params, profiler);
SAME(cupti_range_profiler_only, CUpti_RangeProfiler_Start_Params, profiler);
SAME(cupti_range_profiler_only, CUpti_RangeProfiler_PopRange_Params, profiler);
SAME(cupti_range_config, CUpti_RangeProfiler_SetConfig_Params, target_level);
FIELD(cupti_range_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
FIELD(cupti_range_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
FIELD(cupti_range_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME(cupti_range_stop, CUpti_RangeProfiler_Stop_Params, all_passes);
SAME(cupti_range_push, CUpti_RangeProfiler_PushRange_Params, name);
SAME(cupti_range_decode, CUpti_RangeProfiler_DecodeData_Params, dropped);
SAME(cupti_range_data_size, CUpti_RangeProfiler_GetCounterDataSize_Params, data_size);
FIELD(cupti_range_data_size, max_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
      maxNumRangeTreeNodes);
SAME(cupti_range_data_initialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, data);
SAME(cupti_range_data_info, CUpti_RangeProfiler_GetCounterDataInfo_Params, n_ranges);
SAME(cupti_host_evaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params, values);
FIELD(cupti_callback_data, params, CUpti_CallbackData, functionParams);
FIELD(cupti_callback_data, symbol, CUpti_CallbackData, symbolName);
FIELD(cupti_callback_data, context, CUpti_CallbackData, context);
FIELD(cupti_callback_data, correlation_id, CUpti_CallbackData, correlationId);
_Static_assert(sizeof(struct cupti_callback_data) == sizeof(CUpti_CallbackData), "callback");
_Static_assert(sizeof(struct cupti_module_data) == sizeof(CUpti_ModuleResourceData), "module");
_Static_assert(sizeof(struct cupti_resource_data) == sizeof(CUpti_ResourceData), "resource");
_Static_assert(sizeof(struct cupti_subscriber_params) == sizeof(CUpti_SubscriberParams),
	       "subscriber");
_Static_assert((int)CUPTI_DRIVER_API == (int)CUPTI_CB_DOMAIN_DRIVER_API, "domain");
_Static_assert((int)CUPTI_RESOURCE == (int)CUPTI_CB_DOMAIN_RESOURCE, "domain");
_Static_assert((int)CUPTI_MODULE_LOADED == (int)CUPTI_CBID_RESOURCE_MODULE_LOADED, "resource");
_Static_assert((int)CUPTI_CONTEXT_DESTROY_STARTING ==
		       (int)CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
	       "resource");
_Static_assert((int)CUPTI_RANGE_USER == (int)CUPTI_UserRange, "range");
_Static_assert((int)CUPTI_REPLAY_USER == (int)CUPTI_UserReplay, "replay");
_Static_assert((int)CUPTI_INSUFFICIENT_PRIVILEGES == (int)CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
	       "result");
_Static_assert((int)CUPTI_MULTIPLE_SUBSCRIBERS ==
		       (int)CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
	       "result");

/* Arguments of the program's calls. A struct of ours may stop before the last ones. */
#define ARGS(ours, theirs, last) \
	_Static_assert(CUPTI_STRUCT_SIZE(struct ours, last) <= sizeof(theirs), #theirs)
ARGS(cu_launch_params, cuLaunchKernel_params, extra);
FIELD(cu_launch_params, shared_bytes, cuLaunchKernel_params, sharedMemBytes);
FIELD(cu_launch_params, stream, cuLaunchKernel_params, hStream);
FIELD(cu_launch_params, arguments, cuLaunchKernel_params, kernelParams);
FIELD(cu_launch_params, extra, cuLaunchKernel_params, extra);
FIELD(cu_launch_params, arguments, cuLaunchCooperativeKernel_params, kernelParams);
FIELD(cu_launch_ex_params, config, cuLaunchKernelEx_params, config);
FIELD(cu_launch_ex_params, extra, cuLaunchKernelEx_params, extra);
FIELD(cu_launch_config, stream, CUlaunchConfig, hStream);
FIELD(cu_launch_config, n_attributes, CUlaunchConfig, numAttrs);
_Static_assert(sizeof(struct cu_launch_config) == sizeof(CUlaunchConfig), "config");
_Static_assert(sizeof(struct cu_attribute) == sizeof(CUlaunchAttribute), "attribute");
FIELD(cu_graph_launch_params, stream, cuGraphLaunch_params, hStream);
FIELD(cu_alloc_params, bytes, cuMemAlloc_v2_params, bytesize);
FIELD(cu_alloc_params, bytes, cuMemAllocManaged_params, bytesize);
FIELD(cu_alloc_params, bytes, cuMemAllocAsync_params, bytesize);
FIELD(cu_alloc_params, bytes, cuMemAllocFromPoolAsync_params, bytesize);
FIELD(cu_alloc_pitch_params, height, cuMemAllocPitch_v2_params, Height);
FIELD(cu_free_params, address, cuMemFreeAsync_params, dptr);
FIELD(cu_map_params, bytes, cuMemMap_params, size);
FIELD(cu_map_params, bytes, cuMemUnmap_params, size);
FIELD(cu_map_params, handle, cuMemMap_params, handle);
FIELD(cu_create_params, handle_out, cuMemCreate_params, handle);
FIELD(cu_create_params, properties, cuMemCreate_params, prop);
FIELD(cu_create_properties, place, CUmemAllocationProp, location);
FIELD(cu_place, ordinal, CUmemLocation, id);
_Static_assert((int)CU_DEVICE_REACHES_PAGEABLE == (int)CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
	       "enum");
_Static_assert((int)CU_PLACE_DEVICE == (int)CU_MEM_LOCATION_TYPE_DEVICE, "enum");
FIELD(cu_alloc_params, pool, cuMemAllocFromPoolAsync_params, pool);
FIELD(cu_pool_create_params, properties, cuMemPoolCreate_params, poolProps);
FIELD(cu_create_properties, type, CUmemPoolProps, allocType);
FIELD(cu_create_properties, place, CUmemPoolProps, location);
FIELD(cu_pool_get_params, place, cuMemGetMemPool_params, location);
FIELD(cu_pool_get_params, type, cuMemGetDefaultMemPool_params, type);
_Static_assert((int)CU_PLACE_HOST == (int)CU_MEM_LOCATION_TYPE_HOST, "enum");
_Static_assert((int)CU_CREATE_MANAGED == (int)CU_MEM_ALLOCATION_TYPE_MANAGED, "enum");
FIELD(cu_set_pointer_params, attribute, cuPointerSetAttribute_params, attribute);
FIELD(cu_set_pointer_params, address, cuPointerSetAttribute_params, ptr);
_Static_assert((int)CU_POINTER_SYNCHRONOUS == (int)CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, "enum");
FIELD(cu_handle_out_params, handle_out, cuMemImportFromShareableHandle_params, handle);
FIELD(cu_handle_out_params, handle_out, cuMulticastCreate_params, mcHandle);
FIELD(cu_handle_params, handle, cuMemRelease_params, handle);
FIELD(cu_retain_params, handle_out, cuMemRetainAllocationHandle_params, handle);
FIELD(cu_retain_params, address, cuMemRetainAllocationHandle_params, addr);
FIELD(cu_export_params, what, cuMemExportToShareableHandle_params, handle);
FIELD(cu_export_params, what, cuIpcGetMemHandle_params, dptr);
FIELD(cu_export_params, what, cuMemPoolExportPointer_params, ptr);
FIELD(cu_export_range_params, address, cuMemGetHandleForAddressRange_params, dptr);
FIELD(cu_export_range_params, bytes, cuMemGetHandleForAddressRange_params, size);
FIELD(cu_bind_memory_params, handle, cuMulticastBindMem_params, memHandle);
FIELD(cu_bind_address_params, address, cuMulticastBindAddr_params, memptr);
FIELD(cu_bind_address_params, bytes, cuMulticastBindAddr_params, size);
FIELD(cu_import_params, address_out, cuIpcOpenMemHandle_v2_params, pdptr);
FIELD(cu_import_params, address_out, cuMemPoolImportPointer_params, ptr_out);
FIELD(cu_external_params, address_out, cuExternalMemoryGetMappedBuffer_params, devPtr);
FIELD(cu_external_params, buffer, cuExternalMemoryGetMappedBuffer_params, bufferDesc);
FIELD(cu_external_buffer, bytes, CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size);
FIELD(cu_graphics_params, address_out, cuGraphicsResourceGetMappedPointer_v2_params, pDevPtr);
FIELD(cu_graphics_params, bytes_out, cuGraphicsResourceGetMappedPointer_v2_params, pSize);
FIELD(cu_host_alloc_params, bytes, cuMemHostAlloc_params, bytesize);
FIELD(cu_host_register_params, bytes, cuMemHostRegister_v2_params, bytesize);
FIELD(cu_htod_params, stream, cuMemcpyHtoDAsync_v2_params, hStream);
FIELD(cu_dtod_params, stream, cuMemcpyDtoDAsync_v2_params, hStream);
FIELD(cu_dtod_params, from, cuMemcpyDtoHAsync_v2_params, srcDevice);
FIELD(cu_set8_params, stream, cuMemsetD8Async_params, hStream);
FIELD(cu_set8_params, value, cuMemsetD8Async_params, uc);
FIELD(cu_set16_params, value, cuMemsetD16Async_params, us);
FIELD(cu_set16_params, stream, cuMemsetD16Async_params, hStream);
FIELD(cu_set32_params, value, cuMemsetD32Async_params, ui);
FIELD(cu_set32_params, stream, cuMemsetD32Async_params, hStream);
FIELD(cu_instantiate_params, graph, cuGraphInstantiateWithFlags_params, hGraph);
FIELD(cu_instantiate_params, graph, cuGraphInstantiateWithParams_params, hGraph);
FIELD(cu_instantiate_params, how, cuGraphInstantiateWithFlags_params, flags);
FIELD(cu_instantiate_params, how, cuGraphInstantiateWithParams_params, instantiateParams);
_Static_assert(offsetof(CUDA_GRAPH_INSTANTIATE_PARAMS, flags) == 0, "flags");
_Static_assert((int)CU_GRAPH_FOR_DEVICE == (int)CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH, "flag");
FIELD(cu_exec_update_params, graph, cuGraphExecUpdate_v2_params, hGraph);
FIELD(cu_exec_node_params, of, cuGraphExecKernelNodeSetParams_params, nodeParams);
FIELD(cu_exec_node_params, of, cuGraphExecKernelNodeSetParams_v2_params, nodeParams);
FIELD(cu_exec_node_params, of, cuGraphExecMemcpyNodeSetParams_params, copyParams);
FIELD(cu_exec_node_params, of, cuGraphExecMemsetNodeSetParams_params, memsetParams);
FIELD(cu_exec_node_params, of, cuGraphExecChildGraphNodeSetParams_params, childGraph);
_Static_assert(offsetof(struct cu_kernel_node, kernel) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1),
	       "node");
FIELD(cu_exec_node_params, node, cuGraphExecMemcpyNodeSetParams_params, hNode);
FIELD(cu_exec_node_params, of, cuGraphExecNodeSetParams_params, nodeParams);
_Static_assert(sizeof(struct cu_node_params) == sizeof(CUgraphNodeParams), "node");
FIELD(cu_node_params, of.kernel.kernel, CUgraphNodeParams, kernel.kern);
FIELD(cu_node_params, of.copy.box, CUgraphNodeParams, memcpy.copyParams);
FIELD(cu_node_params, of.fill.height, CUgraphNodeParams, memset.height);
FIELD(cu_node_params, of.graph, CUgraphNodeParams, graph.graph);
FIELD(cu_set_node, element, CUDA_MEMSET_NODE_PARAMS, elementSize);
_Static_assert(sizeof(struct cu_set_node) == sizeof(CUDA_MEMSET_NODE_PARAMS), "node");
FIELD(cu_kernel_node, block[0], CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
FIELD(cu_kernel_node, arguments, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
FIELD(cu_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
_Static_assert(sizeof(struct cu_kernel_node) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2), "node");
_Static_assert((int)CU_NODE_GRAPH == (int)CU_GRAPH_NODE_TYPE_GRAPH, "node");
_Static_assert((int)CU_NODE_EVENT_WAIT == (int)CU_GRAPH_NODE_TYPE_WAIT_EVENT, "node");
_Static_assert((int)CU_NODE_EVENT_RECORD == (int)CU_GRAPH_NODE_TYPE_EVENT_RECORD, "node");
_Static_assert((int)CU_NODE_SEMAPHORE_WAIT == (int)CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, "node");
_Static_assert((int)CU_NODE_ALLOCATE == (int)CU_GRAPH_NODE_TYPE_MEM_ALLOC, "node");
_Static_assert((int)CU_NODE_FREE == (int)CU_GRAPH_NODE_TYPE_MEM_FREE, "node");
_Static_assert((int)CU_NODE_WORDS == (int)CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, "node");
_Static_assert((int)CU_NODE_CONDITIONAL == (int)CU_GRAPH_NODE_TYPE_CONDITIONAL, "node");
FIELD(cu_array_create_params, description, cuArrayCreate_v2_params, pAllocateArray);
FIELD(cu_array_create_params, description, cuArray3DCreate_v2_params, pAllocateArray);
FIELD(cu_array_create_params, description, cuMipmappedArrayCreate_params, pMipmappedArrayDesc);
FIELD(cu_array_part_params, part, cuMipmappedArrayGetLevel_params, level);
FIELD(cu_array_part_params, part, cuArrayGetPlane_params, planeIdx);
FIELD(cu_array_params, array, cuArrayDestroy_params, hArray);
FIELD(cu_array_params, array, cuMipmappedArrayDestroy_params, hMipmappedArray);
FIELD(cu_surface_create_params, resource, cuSurfObjectCreate_params, pResDesc);
FIELD(cu_surface_params, surface, cuSurfObjectDestroy_params, surfObject);
FIELD(cu_surface_reference_params, array, cuSurfRefSetArray_params, hArray);
FIELD(cu_array_2d, channels, CUDA_ARRAY_DESCRIPTOR, NumChannels);
FIELD(cu_array_3d, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
FIELD(cu_array_3d, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
_Static_assert(sizeof(struct cu_array_2d) == sizeof(CUDA_ARRAY_DESCRIPTOR), "array");
_Static_assert(sizeof(struct cu_array_3d) == sizeof(CUDA_ARRAY3D_DESCRIPTOR), "array");
FIELD(cu_copy_3d, from.array, CUDA_MEMCPY3D, srcArray);
FIELD(cu_copy_3d, from.height, CUDA_MEMCPY3D, srcHeight);
FIELD(cu_copy_3d, to.memory_type, CUDA_MEMCPY3D, dstMemoryType);
FIELD(cu_copy_3d, to.device, CUDA_MEMCPY3D, dstDevice);
FIELD(cu_copy_3d, to.pitch, CUDA_MEMCPY3D, dstPitch);
FIELD(cu_copy_3d, width_bytes, CUDA_MEMCPY3D, WidthInBytes);
FIELD(cu_copy_3d, depth, CUDA_MEMCPY3D, Depth);
_Static_assert(sizeof(struct cu_copy_3d) == sizeof(CUDA_MEMCPY3D), "copy");
FIELD(cu_resource, of.array, CUDA_RESOURCE_DESC, res.array.hArray);
FIELD(cu_resource, flags, CUDA_RESOURCE_DESC, flags);
_Static_assert(sizeof(struct cu_resource) == sizeof(CUDA_RESOURCE_DESC), "resource");
_Static_assert((int)CU_RESOURCE_TYPE_ARRAY == 0, "resource");
_Static_assert((int)CU_MEMORY_ARRAY == (int)CU_MEMORYTYPE_ARRAY, "memory type");
_Static_assert((int)CU_MEMORY_UNIFIED == (int)CU_MEMORYTYPE_UNIFIED, "memory type");
_Static_assert((int)CU_ARRAY_LAYERED == CUDA_ARRAY3D_LAYERED, "array");
_Static_assert((int)CU_ARRAY_SURFACE == CUDA_ARRAY3D_SURFACE_LDST, "array");
_Static_assert((int)CU_ARRAY_SPARSE == CUDA_ARRAY3D_SPARSE, "array");
_Static_assert((int)CU_ARRAY_MAPPED_LATER == CUDA_ARRAY3D_DEFERRED_MAPPING, "array");
_Static_assert((int)CU_FORMAT_U8 == (int)CU_AD_FORMAT_UNSIGNED_INT8, "format");
_Static_assert((int)CU_FORMAT_U16 == (int)CU_AD_FORMAT_UNSIGNED_INT16, "format");
_Static_assert((int)CU_FORMAT_U32 == (int)CU_AD_FORMAT_UNSIGNED_INT32, "format");
_Static_assert((int)CU_FORMAT_S8 == (int)CU_AD_FORMAT_SIGNED_INT8, "format");
_Static_assert((int)CU_FORMAT_S16 == (int)CU_AD_FORMAT_SIGNED_INT16, "format");
_Static_assert((int)CU_FORMAT_S32 == (int)CU_AD_FORMAT_SIGNED_INT32, "format");
_Static_assert((int)CU_FORMAT_HALF == (int)CU_AD_FORMAT_HALF, "format");
_Static_assert((int)CU_FORMAT_FLOAT == (int)CU_AD_FORMAT_FLOAT, "format");
_Static_assert((int)CU_FORMAT_UNORM8X1 == (int)CU_AD_FORMAT_UNORM_INT8X1, "format");
_Static_assert((int)CU_FORMAT_UNORM16X1 == (int)CU_AD_FORMAT_UNORM_INT16X1, "format");
_Static_assert((int)CU_FORMAT_SNORM8X1 == (int)CU_AD_FORMAT_SNORM_INT8X1, "format");
_Static_assert((int)CU_FORMAT_SNORM16X1 == (int)CU_AD_FORMAT_SNORM_INT16X1, "format");
_Static_assert((int)CU_FORMAT_SNORM16X4 == (int)CU_AD_FORMAT_SNORM_INT16X4, "format");
_Static_assert((int)CU_ATTRIBUTE_COOPERATIVE == (int)CU_LAUNCH_ATTRIBUTE_COOPERATIVE, "attribute");
_Static_assert((int)CU_ATTRIBUTE_STREAM_SERIALIZATION ==
		       (int)CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	       "attribute");
_Static_assert((int)CU_ATTRIBUTE_COMPLETION_EVENT ==
		       (int)CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
	       "attribute");
_Static_assert((int)CU_NODE_HOST == (int)CU_GRAPH_NODE_TYPE_HOST, "node");
_Static_assert((int)CU_NODE_MEMSET == (int)CU_GRAPH_NODE_TYPE_MEMSET, "node");
_Static_assert((int)CU_FUNCTION_REGISTERS == (int)CU_FUNC_ATTRIBUTE_NUM_REGS, "function");
_Static_assert((int)CU_FUNCTION_SHARED_BYTES == (int)CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
	       "function");
_Static_assert((int)CU_POINTER_RANGE_START == (int)CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
	       "pointer");
_Static_assert((int)CU_DEVICE_L2_BYTES == (int)CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, "device");
_Static_assert((int)CU_NOT_READY == (int)CUDA_ERROR_NOT_READY, "result");

int main(void)
{
	return 0;
}
