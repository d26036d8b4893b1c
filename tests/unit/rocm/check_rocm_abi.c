/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares our declarations of rocprofiler-sdk (rocm_abi.h) and of HSA's structs and numbers
 * (hsa_abi.h) with the headers of an installed ROCm: whatever differs does not compile. Run by
 * scripts/check-rocm-abi, never a part of the ordinary build.
 */
#include "runtime/hsa/hsa_abi.h"
#include "source/rocm/rocm_abi.h"

#define __HIP_PLATFORM_AMD__ 1
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#if __has_include(<hip/hip_runtime.h>)
#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk/callback_tracing.h>
#else
#define WITHOUT_TRACING 1
#endif
#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/counter_config.h>
#include <rocprofiler-sdk/counters.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/registration.h>
#include <stdio.h>

/* Structs that the library fills may have grown at the end: ours is then a prefix. */
#define SAME(ours, theirs)  _Static_assert(sizeof(struct ours) <= sizeof(theirs), #theirs)
#define VALUE(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #theirs)
#define FIELD(ours, our_field, theirs, their_field)                                         \
	_Static_assert(offsetof(struct ours, our_field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->our_field) ==                     \
				       sizeof(((theirs *)0)->their_field),                  \
		       #theirs "." #their_field)

SAME(rocp_client_id, rocprofiler_client_id_t);
FIELD(rocp_client_id, name, rocprofiler_client_id_t, name);
FIELD(rocp_client_id, handle, rocprofiler_client_id_t, handle);
SAME(rocp_configure_result, rocprofiler_tool_configure_result_t);
FIELD(rocp_configure_result, initialize, rocprofiler_tool_configure_result_t, initialize);
FIELD(rocp_configure_result, finalize, rocprofiler_tool_configure_result_t, finalize);
FIELD(rocp_configure_result, tool_data, rocprofiler_tool_configure_result_t, tool_data);
SAME(rocp_dim3, rocprofiler_dim3_t);
FIELD(rocp_dim3, y, rocprofiler_dim3_t, y);
FIELD(rocp_dim3, z, rocprofiler_dim3_t, z);
SAME(rocp_agent, rocprofiler_agent_v0_t);
FIELD(rocp_agent, id, rocprofiler_agent_v0_t, id);
FIELD(rocp_agent, type, rocprofiler_agent_v0_t, type);
FIELD(rocp_agent, cpu_cores_count, rocprofiler_agent_v0_t, cpu_cores_count);
FIELD(rocp_agent, simd_count, rocprofiler_agent_v0_t, simd_count);
FIELD(rocp_agent, mem_banks_count, rocprofiler_agent_v0_t, mem_banks_count);
FIELD(rocp_agent, caches_count, rocprofiler_agent_v0_t, caches_count);
FIELD(rocp_agent, io_links_count, rocprofiler_agent_v0_t, io_links_count);
FIELD(rocp_agent, cpu_core_id_base, rocprofiler_agent_v0_t, cpu_core_id_base);
FIELD(rocp_agent, simd_id_base, rocprofiler_agent_v0_t, simd_id_base);
FIELD(rocp_agent, max_waves_per_simd, rocprofiler_agent_v0_t, max_waves_per_simd);
FIELD(rocp_agent, lds_size_in_kb, rocprofiler_agent_v0_t, lds_size_in_kb);
FIELD(rocp_agent, gds_size_in_kb, rocprofiler_agent_v0_t, gds_size_in_kb);
FIELD(rocp_agent, num_gws, rocprofiler_agent_v0_t, num_gws);
FIELD(rocp_agent, wave_front_size, rocprofiler_agent_v0_t, wave_front_size);
FIELD(rocp_agent, num_xcc, rocprofiler_agent_v0_t, num_xcc);
FIELD(rocp_agent, cu_count, rocprofiler_agent_v0_t, cu_count);
FIELD(rocp_agent, array_count, rocprofiler_agent_v0_t, array_count);
FIELD(rocp_agent, num_shader_banks, rocprofiler_agent_v0_t, num_shader_banks);
FIELD(rocp_agent, simd_arrays_per_engine, rocprofiler_agent_v0_t, simd_arrays_per_engine);
FIELD(rocp_agent, cu_per_simd_array, rocprofiler_agent_v0_t, cu_per_simd_array);
FIELD(rocp_agent, simd_per_cu, rocprofiler_agent_v0_t, simd_per_cu);
FIELD(rocp_agent, max_slots_scratch_cu, rocprofiler_agent_v0_t, max_slots_scratch_cu);
FIELD(rocp_agent, gfx_target_version, rocprofiler_agent_v0_t, gfx_target_version);
FIELD(rocp_agent, vendor_id, rocprofiler_agent_v0_t, vendor_id);
FIELD(rocp_agent, device_id, rocprofiler_agent_v0_t, device_id);
FIELD(rocp_agent, location_id, rocprofiler_agent_v0_t, location_id);
FIELD(rocp_agent, domain, rocprofiler_agent_v0_t, domain);
FIELD(rocp_agent, drm_render_minor, rocprofiler_agent_v0_t, drm_render_minor);
FIELD(rocp_agent, num_sdma_engines, rocprofiler_agent_v0_t, num_sdma_engines);
FIELD(rocp_agent, num_sdma_xgmi_engines, rocprofiler_agent_v0_t, num_sdma_xgmi_engines);
FIELD(rocp_agent, num_sdma_queues_per_engine, rocprofiler_agent_v0_t, num_sdma_queues_per_engine);
FIELD(rocp_agent, num_cp_queues, rocprofiler_agent_v0_t, num_cp_queues);
FIELD(rocp_agent, max_engine_clk_ccompute, rocprofiler_agent_v0_t, max_engine_clk_ccompute);
FIELD(rocp_agent, max_engine_clk_fcompute, rocprofiler_agent_v0_t, max_engine_clk_fcompute);
FIELD(rocp_agent, sdma_fw_version, rocprofiler_agent_v0_t, sdma_fw_version);
FIELD(rocp_agent, fw_version, rocprofiler_agent_v0_t, fw_version);
FIELD(rocp_agent, capability, rocprofiler_agent_v0_t, capability);
FIELD(rocp_agent, cu_per_engine, rocprofiler_agent_v0_t, cu_per_engine);
FIELD(rocp_agent, max_waves_per_cu, rocprofiler_agent_v0_t, max_waves_per_cu);
FIELD(rocp_agent, family_id, rocprofiler_agent_v0_t, family_id);
FIELD(rocp_agent, workgroup_max_size, rocprofiler_agent_v0_t, workgroup_max_size);
FIELD(rocp_agent, grid_max_size, rocprofiler_agent_v0_t, grid_max_size);
FIELD(rocp_agent, local_mem_size, rocprofiler_agent_v0_t, local_mem_size);
FIELD(rocp_agent, hive_id, rocprofiler_agent_v0_t, hive_id);
FIELD(rocp_agent, gpu_id, rocprofiler_agent_v0_t, gpu_id);
FIELD(rocp_agent, workgroup_max_dim, rocprofiler_agent_v0_t, workgroup_max_dim);
FIELD(rocp_agent, grid_max_dim, rocprofiler_agent_v0_t, grid_max_dim);
FIELD(rocp_agent, mem_banks, rocprofiler_agent_v0_t, mem_banks);
FIELD(rocp_agent, caches, rocprofiler_agent_v0_t, caches);
FIELD(rocp_agent, io_links, rocprofiler_agent_v0_t, io_links);
FIELD(rocp_agent, name, rocprofiler_agent_v0_t, name);
FIELD(rocp_agent, vendor_name, rocprofiler_agent_v0_t, vendor_name);
FIELD(rocp_agent, product_name, rocprofiler_agent_v0_t, product_name);
FIELD(rocp_agent, model_name, rocprofiler_agent_v0_t, model_name);
FIELD(rocp_agent, node_id, rocprofiler_agent_v0_t, node_id);
FIELD(rocp_agent, logical_node_id, rocprofiler_agent_v0_t, logical_node_id);
FIELD(rocp_agent, logical_node_type_id, rocprofiler_agent_v0_t, logical_node_type_id);
FIELD(rocp_agent, runtime_visibility, rocprofiler_agent_v0_t, runtime_visibility);
FIELD(rocp_agent, uuid, rocprofiler_agent_v0_t, uuid);
SAME(rocp_counter_info_v0, rocprofiler_counter_info_v0_t);
FIELD(rocp_counter_info_v0, name, rocprofiler_counter_info_v0_t, name);
FIELD(rocp_counter_info_v0, description, rocprofiler_counter_info_v0_t, description);
FIELD(rocp_counter_info_v0, block, rocprofiler_counter_info_v0_t, block);
FIELD(rocp_counter_info_v0, expression, rocprofiler_counter_info_v0_t, expression);
SAME(rocp_dimension_info, rocprofiler_counter_record_dimension_info_t);
FIELD(rocp_dimension_info, instances, rocprofiler_counter_record_dimension_info_t, instance_size);
FIELD(rocp_dimension_info, id, rocprofiler_counter_record_dimension_info_t, id);
SAME(rocp_instance_dimension, rocprofiler_counter_dimension_info_t);
FIELD(rocp_instance_dimension, name, rocprofiler_counter_dimension_info_t, dimension_name);
FIELD(rocp_instance_dimension, index, rocprofiler_counter_dimension_info_t, index);
SAME(rocp_instance_info, rocprofiler_counter_record_dimension_instance_info_t);
FIELD(rocp_instance_info, instance_id, rocprofiler_counter_record_dimension_instance_info_t,
      instance_id);
FIELD(rocp_instance_info, counter_id, rocprofiler_counter_record_dimension_instance_info_t,
      counter_id);
FIELD(rocp_instance_info, n_dimensions, rocprofiler_counter_record_dimension_instance_info_t,
      dimensions_count);
FIELD(rocp_instance_info, dimensions, rocprofiler_counter_record_dimension_instance_info_t,
      dimensions);
SAME(rocp_counter_info_v1, rocprofiler_counter_info_v1_t);
FIELD(rocp_counter_info_v1, id, rocprofiler_counter_info_v1_t, id);
FIELD(rocp_counter_info_v1, name, rocprofiler_counter_info_v1_t, name);
FIELD(rocp_counter_info_v1, description, rocprofiler_counter_info_v1_t, description);
FIELD(rocp_counter_info_v1, block, rocprofiler_counter_info_v1_t, block);
FIELD(rocp_counter_info_v1, expression, rocprofiler_counter_info_v1_t, expression);
FIELD(rocp_counter_info_v1, n_dimensions, rocprofiler_counter_info_v1_t, dimensions_count);
FIELD(rocp_counter_info_v1, dimensions, rocprofiler_counter_info_v1_t, dimensions);
FIELD(rocp_counter_info_v1, n_instances, rocprofiler_counter_info_v1_t, dimensions_instances_count);
FIELD(rocp_counter_info_v1, instances, rocprofiler_counter_info_v1_t, dimensions_instances);
SAME(rocp_async_correlation, rocprofiler_async_correlation_id_t);
FIELD(rocp_async_correlation, external, rocprofiler_async_correlation_id_t, external);
SAME(rocp_dispatch_info, rocprofiler_kernel_dispatch_info_t);
FIELD(rocp_dispatch_info, agent, rocprofiler_kernel_dispatch_info_t, agent_id);
FIELD(rocp_dispatch_info, queue, rocprofiler_kernel_dispatch_info_t, queue_id);
FIELD(rocp_dispatch_info, kernel_id, rocprofiler_kernel_dispatch_info_t, kernel_id);
FIELD(rocp_dispatch_info, dispatch_id, rocprofiler_kernel_dispatch_info_t, dispatch_id);
FIELD(rocp_dispatch_info, private_segment_size, rocprofiler_kernel_dispatch_info_t,
      private_segment_size);
FIELD(rocp_dispatch_info, group_segment_size, rocprofiler_kernel_dispatch_info_t,
      group_segment_size);
FIELD(rocp_dispatch_info, workgroup, rocprofiler_kernel_dispatch_info_t, workgroup_size);
FIELD(rocp_dispatch_info, grid, rocprofiler_kernel_dispatch_info_t, grid_size);
FIELD(rocp_dispatch_info, reserved, rocprofiler_kernel_dispatch_info_t, reserved_padding);
SAME(rocp_dispatch_data, rocprofiler_dispatch_counting_service_data_t);
FIELD(rocp_dispatch_data, correlation, rocprofiler_dispatch_counting_service_data_t,
      correlation_id);
FIELD(rocp_dispatch_data, start_ns, rocprofiler_dispatch_counting_service_data_t, start_timestamp);
FIELD(rocp_dispatch_data, end_ns, rocprofiler_dispatch_counting_service_data_t, end_timestamp);
FIELD(rocp_dispatch_data, dispatch, rocprofiler_dispatch_counting_service_data_t, dispatch_info);
SAME(rocp_dispatch_record, rocprofiler_dispatch_counting_service_record_t);
FIELD(rocp_dispatch_record, n_records, rocprofiler_dispatch_counting_service_record_t, num_records);
FIELD(rocp_dispatch_record, correlation, rocprofiler_dispatch_counting_service_record_t,
      correlation_id);
FIELD(rocp_dispatch_record, start_ns, rocprofiler_dispatch_counting_service_record_t,
      start_timestamp);
FIELD(rocp_dispatch_record, end_ns, rocprofiler_dispatch_counting_service_record_t, end_timestamp);
FIELD(rocp_dispatch_record, dispatch, rocprofiler_dispatch_counting_service_record_t,
      dispatch_info);
SAME(rocp_counter_record, rocprofiler_counter_record_t);
FIELD(rocp_counter_record, value, rocprofiler_counter_record_t, counter_value);
FIELD(rocp_counter_record, dispatch_id, rocprofiler_counter_record_t, dispatch_id);
FIELD(rocp_counter_record, user_data, rocprofiler_counter_record_t, user_data);
FIELD(rocp_counter_record, agent, rocprofiler_counter_record_t, agent_id);
SAME(rocp_record_header, rocprofiler_record_header_t);
FIELD(rocp_record_header, kind, rocprofiler_record_header_t, kind);
FIELD(rocp_record_header, payload, rocprofiler_record_header_t, payload);
SAME(rocp_correlation, rocprofiler_correlation_id_t);
FIELD(rocp_correlation, external, rocprofiler_correlation_id_t, external);
FIELD(rocp_correlation, ancestor, rocprofiler_correlation_id_t, ancestor);
SAME(rocp_tracing_record, rocprofiler_callback_tracing_record_t);
FIELD(rocp_tracing_record, thread, rocprofiler_callback_tracing_record_t, thread_id);
FIELD(rocp_tracing_record, correlation, rocprofiler_callback_tracing_record_t, correlation_id);
FIELD(rocp_tracing_record, kind, rocprofiler_callback_tracing_record_t, kind);
FIELD(rocp_tracing_record, operation, rocprofiler_callback_tracing_record_t, operation);
FIELD(rocp_tracing_record, phase, rocprofiler_callback_tracing_record_t, phase);
FIELD(rocp_tracing_record, payload, rocprofiler_callback_tracing_record_t, payload);
/* Structs on the stack of a callback: the size matters too. */
#define EXACT(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
EXACT(rocp_dispatch_data, rocprofiler_dispatch_counting_service_data_t);
EXACT(rocp_counter_record, rocprofiler_counter_record_t);
EXACT(rocp_tracing_record, rocprofiler_callback_tracing_record_t);
EXACT(rocp_client_id, rocprofiler_client_id_t);
EXACT(rocp_configure_result, rocprofiler_tool_configure_result_t);
EXACT(rocp_record_header, rocprofiler_record_header_t);
VALUE(ROCP_OK, ROCPROFILER_STATUS_SUCCESS);
VALUE(ROCP_ERROR, ROCPROFILER_STATUS_ERROR);
VALUE(ROCP_CONTEXT_NOT_FOUND, ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND);
VALUE(ROCP_BUFFER_NOT_FOUND, ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND);
VALUE(ROCP_KIND_NOT_FOUND, ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND);
VALUE(ROCP_OPERATION_NOT_FOUND, ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND);
VALUE(ROCP_AGENT_NOT_FOUND, ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND);
VALUE(ROCP_COUNTER_NOT_FOUND, ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND);
VALUE(ROCP_CONTEXT_ERROR, ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR);
VALUE(ROCP_CONTEXT_INVALID, ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID);
VALUE(ROCP_CONTEXT_NOT_STARTED, ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED);
VALUE(ROCP_CONTEXT_CONFLICT, ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT);
VALUE(ROCP_CONTEXT_ID_NOT_ZERO, ROCPROFILER_STATUS_ERROR_CONTEXT_ID_NOT_ZERO);
VALUE(ROCP_BUFFER_BUSY, ROCPROFILER_STATUS_ERROR_BUFFER_BUSY);
VALUE(ROCP_SERVICE_ALREADY_CONFIGURED, ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED);
VALUE(ROCP_CONFIGURATION_LOCKED, ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED);
VALUE(ROCP_NOT_IMPLEMENTED, ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED);
VALUE(ROCP_INCOMPATIBLE_ABI, ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI);
VALUE(ROCP_INVALID_ARGUMENT, ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT);
VALUE(ROCP_METRIC_NOT_VALID_FOR_AGENT, ROCPROFILER_STATUS_ERROR_METRIC_NOT_VALID_FOR_AGENT);
VALUE(ROCP_FINALIZED, ROCPROFILER_STATUS_ERROR_FINALIZED);
VALUE(ROCP_HSA_NOT_LOADED, ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED);
VALUE(ROCP_DIM_NOT_FOUND, ROCPROFILER_STATUS_ERROR_DIM_NOT_FOUND);
VALUE(ROCP_PROFILE_COUNTER_NOT_FOUND, ROCPROFILER_STATUS_ERROR_PROFILE_COUNTER_NOT_FOUND);
VALUE(ROCP_OUT_OF_RESOURCES, ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES);
VALUE(ROCP_PROFILE_NOT_FOUND, ROCPROFILER_STATUS_ERROR_PROFILE_NOT_FOUND);
VALUE(ROCP_AGENT_DISPATCH_CONFLICT, ROCPROFILER_STATUS_ERROR_AGENT_DISPATCH_CONFLICT);
VALUE(ROCP_AGENT_MISMATCH, ROCPROFILER_STATUS_ERROR_AGENT_MISMATCH);
VALUE(ROCP_NOT_AVAILABLE, ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE);
VALUE(ROCP_EXCEEDS_HW_LIMIT, ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT);
VALUE(ROCP_AGENT_ARCH_NOT_SUPPORTED, ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED);
VALUE(ROCP_PERMISSION_DENIED, ROCPROFILER_STATUS_ERROR_PERMISSION_DENIED);
VALUE(ROCP_AGENT_CPU, ROCPROFILER_AGENT_TYPE_CPU);
VALUE(ROCP_AGENT_GPU, ROCPROFILER_AGENT_TYPE_GPU);
VALUE(ROCP_AGENT_VERSION_0, ROCPROFILER_AGENT_INFO_VERSION_0);
VALUE(ROCP_COUNTER_INFO_VERSION_0, ROCPROFILER_COUNTER_INFO_VERSION_0);
VALUE(ROCP_COUNTER_INFO_VERSION_1, ROCPROFILER_COUNTER_INFO_VERSION_1);
VALUE(ROCP_BUFFER_DISCARD, ROCPROFILER_BUFFER_POLICY_DISCARD);
VALUE(ROCP_BUFFER_LOSSLESS, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
VALUE(ROCP_CATEGORY_TRACING, ROCPROFILER_BUFFER_CATEGORY_TRACING);
VALUE(ROCP_CATEGORY_PC_SAMPLING, ROCPROFILER_BUFFER_CATEGORY_PC_SAMPLING);
VALUE(ROCP_CATEGORY_COUNTERS, ROCPROFILER_BUFFER_CATEGORY_COUNTERS);
VALUE(ROCP_RECORD_DISPATCH_HEADER, ROCPROFILER_COUNTER_RECORD_PROFILE_COUNTING_DISPATCH_HEADER);
VALUE(ROCP_RECORD_VALUE, ROCPROFILER_COUNTER_RECORD_VALUE);
VALUE(ROCP_TRACING_MARKER_CORE_API, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API);
VALUE(ROCP_TRACING_MARKER_CONTROL_API, ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API);
VALUE(ROCP_TRACING_CODE_OBJECT, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT);
VALUE(ROCP_TRACING_KERNEL_DISPATCH, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH);
VALUE(ROCP_PHASE_ENTER, ROCPROFILER_CALLBACK_PHASE_ENTER);
VALUE(ROCP_PHASE_EXIT, ROCPROFILER_CALLBACK_PHASE_EXIT);
VALUE(ROCP_CODE_OBJECT_LOAD, ROCPROFILER_CODE_OBJECT_LOAD);
VALUE(ROCP_KERNEL_SYMBOL, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER);
VALUE(ROCP_TABLE_HSA, ROCPROFILER_HSA_TABLE);
VALUE(ROCP_TABLE_HIP_RUNTIME, ROCPROFILER_HIP_RUNTIME_TABLE);
VALUE(ROCP_TABLE_HIP_COMPILER, ROCPROFILER_HIP_COMPILER_TABLE);
VALUE(ROCP_TABLE_MARKER_CORE, ROCPROFILER_MARKER_CORE_TABLE);
VALUE(ROCP_TABLE_MARKER_CONTROL, ROCPROFILER_MARKER_CONTROL_TABLE);
VALUE(ROCP_TABLE_MARKER_NAME, ROCPROFILER_MARKER_NAME_TABLE);
VALUE(ROCP_TABLE_RCCL, ROCPROFILER_RCCL_TABLE);
SAME(hsa_kernel_packet, hsa_kernel_dispatch_packet_t);
FIELD(hsa_kernel_packet, setup, hsa_kernel_dispatch_packet_t, setup);
FIELD(hsa_kernel_packet, private_bytes, hsa_kernel_dispatch_packet_t, private_segment_size);
FIELD(hsa_kernel_packet, group_bytes, hsa_kernel_dispatch_packet_t, group_segment_size);
FIELD(hsa_kernel_packet, kernel_object, hsa_kernel_dispatch_packet_t, kernel_object);
FIELD(hsa_kernel_packet, kernarg, hsa_kernel_dispatch_packet_t, kernarg_address);
FIELD(hsa_kernel_packet, completion, hsa_kernel_dispatch_packet_t, completion_signal);
_Static_assert(offsetof(struct hsa_kernel_packet, grid) ==
			       offsetof(hsa_kernel_dispatch_packet_t, grid_size_x) &&
		       offsetof(struct hsa_kernel_packet, workgroup) ==
			       offsetof(hsa_kernel_dispatch_packet_t, workgroup_size_x),
	       "sizes");
SAME(hsa_barrier_packet, hsa_barrier_and_packet_t);
FIELD(hsa_barrier_packet, dependency, hsa_barrier_and_packet_t, dep_signal);
FIELD(hsa_barrier_packet, completion, hsa_barrier_and_packet_t, completion_signal);
SAME(hsa_barrier_value_packet, hsa_amd_barrier_value_packet_t);
FIELD(hsa_barrier_value_packet, signal, hsa_amd_barrier_value_packet_t, signal);
FIELD(hsa_barrier_value_packet, value, hsa_amd_barrier_value_packet_t, value);
FIELD(hsa_barrier_value_packet, mask, hsa_amd_barrier_value_packet_t, mask);
FIELD(hsa_barrier_value_packet, condition, hsa_amd_barrier_value_packet_t, cond);
FIELD(hsa_barrier_value_packet, completion, hsa_amd_barrier_value_packet_t, completion_signal);
_Static_assert(offsetof(struct hsa_barrier_value_packet, format) ==
		       offsetof(hsa_amd_vendor_packet_header_t, AmdFormat),
	       "format");
EXACT(hsa_queue, hsa_queue_t);
FIELD(hsa_queue, type, hsa_queue_t, type);
FIELD(hsa_queue, features, hsa_queue_t, features);
FIELD(hsa_queue, base, hsa_queue_t, base_address);
FIELD(hsa_queue, doorbell, hsa_queue_t, doorbell_signal);
FIELD(hsa_queue, size, hsa_queue_t, size);
FIELD(hsa_queue, id, hsa_queue_t, id);
EXACT(hsa_signal_body, amd_signal_t);
FIELD(hsa_signal_body, kind, amd_signal_t, kind);
FIELD(hsa_signal_body, value, amd_signal_t, value);
FIELD(hsa_signal_body, mailbox, amd_signal_t, event_mailbox_ptr);
FIELD(hsa_signal_body, event, amd_signal_t, event_id);
FIELD(hsa_signal_body, start_ts, amd_signal_t, start_ts);
FIELD(hsa_signal_body, end_ts, amd_signal_t, end_ts);
SAME(hsa_pointer_info, hsa_amd_pointer_info_t);
FIELD(hsa_pointer_info, type, hsa_amd_pointer_info_t, type);
FIELD(hsa_pointer_info, agent_base, hsa_amd_pointer_info_t, agentBaseAddress);
FIELD(hsa_pointer_info, host_base, hsa_amd_pointer_info_t, hostBaseAddress);
FIELD(hsa_pointer_info, bytes, hsa_amd_pointer_info_t, sizeInBytes);
FIELD(hsa_pointer_info, user_data, hsa_amd_pointer_info_t, userData);
FIELD(hsa_pointer_info, owner, hsa_amd_pointer_info_t, agentOwner);
FIELD(hsa_pointer_info, global_flags, hsa_amd_pointer_info_t, global_flags);
EXACT(hsa_dispatch_time, hsa_amd_profiling_dispatch_time_t);
EXACT(hsa_pitched, hsa_pitched_ptr_t);
EXACT(hsa_dim3, hsa_dim3_t);
EXACT(hsa_access_desc, hsa_amd_memory_access_desc_t);
FIELD(hsa_access_desc, agent, hsa_amd_memory_access_desc_t, agent_handle);
VALUE(HSA_OK, HSA_STATUS_SUCCESS);
VALUE(HSA_BREAK, HSA_STATUS_INFO_BREAK);
VALUE(HSA_FAILED, HSA_STATUS_ERROR);
VALUE(HSA_INVALID_ARGUMENT, HSA_STATUS_ERROR_INVALID_ARGUMENT);
VALUE(HSA_INVALID_QUEUE_CREATION, HSA_STATUS_ERROR_INVALID_QUEUE_CREATION);
VALUE(HSA_INVALID_ALLOCATION, HSA_STATUS_ERROR_INVALID_ALLOCATION);
VALUE(HSA_INVALID_AGENT, HSA_STATUS_ERROR_INVALID_AGENT);
VALUE(HSA_INVALID_SIGNAL, HSA_STATUS_ERROR_INVALID_SIGNAL);
VALUE(HSA_INVALID_QUEUE, HSA_STATUS_ERROR_INVALID_QUEUE);
VALUE(HSA_OUT_OF_RESOURCES, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
VALUE(HSA_INVALID_PACKET_FORMAT, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
VALUE(HSA_NOT_INITIALIZED, HSA_STATUS_ERROR_NOT_INITIALIZED);
VALUE(HSA_INVALID_CODE_OBJECT, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
VALUE(HSA_INVALID_EXECUTABLE, HSA_STATUS_ERROR_INVALID_EXECUTABLE);
VALUE(HSA_FROZEN_EXECUTABLE, HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
VALUE(HSA_INVALID_SYMBOL_NAME, HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
VALUE(HSA_EXCEPTION, HSA_STATUS_ERROR_EXCEPTION);
VALUE(HSA_INVALID_EXECUTABLE_SYMBOL, HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL);
VALUE(HSA_INVALID_CODE_OBJECT_READER, HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER);
VALUE(HSA_FATAL, HSA_STATUS_ERROR_FATAL);
VALUE(HSA_INVALID_POOL, HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
VALUE(HSA_APERTURE_VIOLATION, HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION);
VALUE(HSA_MEMORY_FAULT, HSA_STATUS_ERROR_MEMORY_FAULT);
VALUE(HSA_NOT_SUPPORTED, HSA_STATUS_ERROR_NOT_SUPPORTED);
VALUE(HSA_PACKET_VENDOR, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
VALUE(HSA_PACKET_INVALID, HSA_PACKET_TYPE_INVALID);
VALUE(HSA_PACKET_KERNEL, HSA_PACKET_TYPE_KERNEL_DISPATCH);
VALUE(HSA_PACKET_BARRIER_AND, HSA_PACKET_TYPE_BARRIER_AND);
VALUE(HSA_PACKET_AGENT, HSA_PACKET_TYPE_AGENT_DISPATCH);
VALUE(HSA_PACKET_BARRIER_OR, HSA_PACKET_TYPE_BARRIER_OR);
VALUE(HSA_PACKET_BARRIER, 1 << HSA_PACKET_HEADER_BARRIER);
VALUE(HSA_PACKET_ACQUIRE_SHIFT, HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE);
VALUE(HSA_PACKET_RELEASE_SHIFT, HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
VALUE(HSA_FENCE_SYSTEM, HSA_FENCE_SCOPE_SYSTEM);
VALUE(HSA_VENDOR_BARRIER_VALUE, HSA_AMD_PACKET_TYPE_BARRIER_VALUE);
VALUE(HSA_QUEUE_SINGLE, HSA_QUEUE_TYPE_SINGLE);
VALUE(HSA_QUEUE_COOPERATIVE, HSA_QUEUE_TYPE_COOPERATIVE);
VALUE(HSA_EQ, HSA_SIGNAL_CONDITION_EQ);
VALUE(HSA_NE, HSA_SIGNAL_CONDITION_NE);
VALUE(HSA_LT, HSA_SIGNAL_CONDITION_LT);
VALUE(HSA_GTE, HSA_SIGNAL_CONDITION_GTE);
VALUE(HSA_WAIT_ACTIVE, HSA_WAIT_STATE_ACTIVE);
VALUE(HSA_KIND_CPU, HSA_DEVICE_TYPE_CPU);
VALUE(HSA_KIND_GPU, HSA_DEVICE_TYPE_GPU);
VALUE(HSA_AGENT_NAME, HSA_AGENT_INFO_NAME);
VALUE(HSA_AGENT_VENDOR_NAME, HSA_AGENT_INFO_VENDOR_NAME);
VALUE(HSA_AGENT_FEATURE, HSA_AGENT_INFO_FEATURE);
VALUE(HSA_AGENT_WAVEFRONT_SIZE, HSA_AGENT_INFO_WAVEFRONT_SIZE);
VALUE(HSA_AGENT_QUEUES_MAX, HSA_AGENT_INFO_QUEUES_MAX);
VALUE(HSA_AGENT_QUEUE_MIN_SIZE, HSA_AGENT_INFO_QUEUE_MIN_SIZE);
VALUE(HSA_AGENT_QUEUE_MAX_SIZE, HSA_AGENT_INFO_QUEUE_MAX_SIZE);
VALUE(HSA_AGENT_NODE, HSA_AGENT_INFO_NODE);
VALUE(HSA_AGENT_DEVICE, HSA_AGENT_INFO_DEVICE);
VALUE(HSA_AGENT_COMPUTE_UNITS, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
VALUE(HSA_AGENT_DRIVER_NODE, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID);
VALUE(HSA_AGENT_BDF, HSA_AMD_AGENT_INFO_BDFID);
VALUE(HSA_AGENT_PRODUCT_NAME, HSA_AMD_AGENT_INFO_PRODUCT_NAME);
VALUE(HSA_AGENT_DOMAIN, HSA_AMD_AGENT_INFO_DOMAIN);
VALUE(HSA_AGENT_UUID, HSA_AMD_AGENT_INFO_UUID);
VALUE(HSA_SYSTEM_TIMESTAMP, HSA_SYSTEM_INFO_TIMESTAMP);
VALUE(HSA_SYSTEM_TIMESTAMP_FREQUENCY, HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY);
VALUE(HSA_SEGMENT_GLOBAL, HSA_AMD_SEGMENT_GLOBAL);
VALUE(HSA_SEGMENT_GROUP, HSA_AMD_SEGMENT_GROUP);
VALUE(HSA_POOL_KERNARG, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
VALUE(HSA_POOL_FINE_GRAINED, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
VALUE(HSA_POOL_COARSE_GRAINED, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
VALUE(HSA_POOL_EXTENDED_FINE_GRAINED, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED);
VALUE(HSA_POOL_SEGMENT, HSA_AMD_MEMORY_POOL_INFO_SEGMENT);
VALUE(HSA_POOL_GLOBAL_FLAGS, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS);
VALUE(HSA_POOL_SIZE, HSA_AMD_MEMORY_POOL_INFO_SIZE);
VALUE(HSA_POOL_ALLOC_ALLOWED, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED);
VALUE(HSA_POOL_ALLOC_GRANULE, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE);
VALUE(HSA_POOL_ACCESSIBLE_BY_ALL, HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL);
VALUE(HSA_POOL_LOCATION, HSA_AMD_MEMORY_POOL_INFO_LOCATION);
VALUE(HSA_ALLOC_EXECUTABLE, HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG);
VALUE(HSA_REGION_SEGMENT, HSA_REGION_INFO_SEGMENT);
VALUE(HSA_REGION_GLOBAL_FLAGS, HSA_REGION_INFO_GLOBAL_FLAGS);
VALUE(HSA_REGION_SIZE, HSA_REGION_INFO_SIZE);
VALUE(HSA_ADDRESS_HSA, HSA_EXT_POINTER_TYPE_HSA);
VALUE(HSA_ADDRESS_LOCKED, HSA_EXT_POINTER_TYPE_LOCKED);
VALUE(HSA_ADDRESS_GRAPHICS, HSA_EXT_POINTER_TYPE_GRAPHICS);
VALUE(HSA_ADDRESS_IPC, HSA_EXT_POINTER_TYPE_IPC);
VALUE(HSA_ADDRESS_RESERVED, HSA_EXT_POINTER_TYPE_RESERVED_ADDR);
VALUE(HSA_SYMBOL_VARIABLE, HSA_SYMBOL_KIND_VARIABLE);
VALUE(HSA_SYMBOL_KERNEL, HSA_SYMBOL_KIND_KERNEL);
VALUE(HSA_SYMBOL_TYPE, HSA_EXECUTABLE_SYMBOL_INFO_TYPE);
VALUE(HSA_SYMBOL_NAME_LENGTH, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH);
VALUE(HSA_SYMBOL_NAME, HSA_EXECUTABLE_SYMBOL_INFO_NAME);
VALUE(HSA_SYMBOL_VARIABLE_SIZE, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE);
VALUE(HSA_SYMBOL_VARIABLE_IS_CONST, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST);
VALUE(HSA_SYMBOL_KERNARG_SIZE, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE);
VALUE(HSA_SYMBOL_KERNARG_ALIGNMENT, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT);
VALUE(HSA_SYMBOL_GROUP_SIZE, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE);
VALUE(HSA_SYMBOL_PRIVATE_SIZE, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE);
VALUE(HSA_SYMBOL_AGENT, HSA_EXECUTABLE_SYMBOL_INFO_AGENT);
VALUE(HSA_SYMBOL_VARIABLE_ADDRESS, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS);
VALUE(HSA_SYMBOL_KERNEL_OBJECT, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
VALUE(HSA_PROFILE_OF_ALL, HSA_PROFILE_FULL);

#ifndef WITHOUT_TRACING /* callback_tracing.h includes HIP */
SAME(rocp_code_object, rocprofiler_callback_tracing_code_object_load_data_t);
FIELD(rocp_code_object, code_object_id, rocprofiler_callback_tracing_code_object_load_data_t,
      code_object_id);
FIELD(rocp_code_object, agent, rocprofiler_callback_tracing_code_object_load_data_t, rocp_agent);
FIELD(rocp_code_object, hsa_agent, rocprofiler_callback_tracing_code_object_load_data_t, hsa_agent);
FIELD(rocp_code_object, uri, rocprofiler_callback_tracing_code_object_load_data_t, uri);
FIELD(rocp_code_object, load_base, rocprofiler_callback_tracing_code_object_load_data_t, load_base);
FIELD(rocp_code_object, load_size, rocprofiler_callback_tracing_code_object_load_data_t, load_size);
FIELD(rocp_code_object, load_delta, rocprofiler_callback_tracing_code_object_load_data_t,
      load_delta);
FIELD(rocp_code_object, storage_type, rocprofiler_callback_tracing_code_object_load_data_t,
      storage_type);
SAME(rocp_kernel_symbol, rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t);
FIELD(rocp_kernel_symbol, kernel_id,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, kernel_id);
FIELD(rocp_kernel_symbol, code_object_id,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, code_object_id);
FIELD(rocp_kernel_symbol, name,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, kernel_name);
FIELD(rocp_kernel_symbol, kernel_object,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, kernel_object);
FIELD(rocp_kernel_symbol, kernarg_segment_size,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, kernarg_segment_size);
FIELD(rocp_kernel_symbol, kernarg_segment_alignment,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t,
      kernarg_segment_alignment);
FIELD(rocp_kernel_symbol, group_segment_size,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, group_segment_size);
FIELD(rocp_kernel_symbol, private_segment_size,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, private_segment_size);
FIELD(rocp_kernel_symbol, sgpr_count,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, sgpr_count);
FIELD(rocp_kernel_symbol, arch_vgpr_count,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, arch_vgpr_count);
FIELD(rocp_kernel_symbol, accum_vgpr_count,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, accum_vgpr_count);
FIELD(rocp_kernel_symbol, kernel_code_entry_byte_offset,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t,
      kernel_code_entry_byte_offset);
FIELD(rocp_kernel_symbol, kernel_address,
      rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, kernel_address);
SAME(rocp_marker_data, rocprofiler_callback_tracing_marker_api_data_t);
FIELD(rocp_marker_data, args, rocprofiler_callback_tracing_marker_api_data_t, args);
FIELD(rocp_marker_data, result, rocprofiler_callback_tracing_marker_api_data_t, retval);
SAME(roctx_core_table, roctxCoreApiTable_t);
FIELD(roctx_core_table, mark, roctxCoreApiTable_t, roctxMarkA_fn);
FIELD(roctx_core_table, range_push, roctxCoreApiTable_t, roctxRangePushA_fn);
FIELD(roctx_core_table, range_pop, roctxCoreApiTable_t, roctxRangePop_fn);
FIELD(roctx_core_table, range_start, roctxCoreApiTable_t, roctxRangeStartA_fn);
FIELD(roctx_core_table, range_stop, roctxCoreApiTable_t, roctxRangeStop_fn);
FIELD(roctx_core_table, get_thread_id, roctxCoreApiTable_t, roctxGetThreadId_fn);
SAME(roctx_control_table, roctxControlApiTable_t);
FIELD(roctx_control_table, pause, roctxControlApiTable_t, roctxProfilerPause_fn);
FIELD(roctx_control_table, resume, roctxControlApiTable_t, roctxProfilerResume_fn);
VALUE(ROCP_MARKER_MARK, ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA);
VALUE(ROCP_MARKER_RANGE_PUSH, ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA);
VALUE(ROCP_MARKER_RANGE_POP, ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop);
VALUE(ROCP_MARKER_RANGE_START, ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA);
VALUE(ROCP_MARKER_RANGE_STOP, ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop);
VALUE(ROCP_MARKER_GET_THREAD_ID, ROCPROFILER_MARKER_CORE_API_ID_roctxGetThreadId);
VALUE(ROCP_MARKER_PAUSE, ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerPause);
VALUE(ROCP_MARKER_RESUME, ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerResume);
#endif

int main(void)
{
#ifdef WITHOUT_TRACING
	puts("without HIP headers: structs of callback tracing were not compared");
#endif
	return 0;
}
