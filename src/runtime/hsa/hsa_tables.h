/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function tables of the HSA runtime, in the order of the vendor's: HSA_CORE_FUNCTIONS(F, U)
 * and HSA_AMD_FUNCTIONS(F, U) list every entry, F(result, name, arguments) those that we call or
 * intercept, U(name) the others. The structs, and for tests prototypes and definitions, come from
 * these lists. Facts and the rules of versions: hsa_abi.h.
 */
#ifndef RETALLY_RUNTIME_HSA_TABLES_H
#define RETALLY_RUNTIME_HSA_TABLES_H

#include "runtime/hsa/hsa_abi.h"

#define HSA_INDEX_FUNCTIONS(F, U)                                                                 \
	F(uint64_t, hsa_queue_load_read_index_scacquire, (const struct hsa_queue *q))             \
	F(uint64_t, hsa_queue_load_read_index_relaxed, (const struct hsa_queue *q))               \
	F(uint64_t, hsa_queue_load_write_index_scacquire, (const struct hsa_queue *q))            \
	F(uint64_t, hsa_queue_load_write_index_relaxed, (const struct hsa_queue *q))              \
	F(void, hsa_queue_store_write_index_relaxed, (const struct hsa_queue *q, uint64_t v))     \
	F(void, hsa_queue_store_write_index_screlease, (const struct hsa_queue *q, uint64_t v))   \
	F(uint64_t, hsa_queue_cas_write_index_scacq_screl,                                        \
	  (const struct hsa_queue *q, uint64_t expected, uint64_t v))                             \
	F(uint64_t, hsa_queue_cas_write_index_scacquire,                                          \
	  (const struct hsa_queue *q, uint64_t expected, uint64_t v))                             \
	F(uint64_t, hsa_queue_cas_write_index_relaxed,                                            \
	  (const struct hsa_queue *q, uint64_t expected, uint64_t v))                             \
	F(uint64_t, hsa_queue_cas_write_index_screlease,                                          \
	  (const struct hsa_queue *q, uint64_t expected, uint64_t v))                             \
	F(uint64_t, hsa_queue_add_write_index_scacq_screl,                                        \
	  (const struct hsa_queue *q, uint64_t v))                                                \
	F(uint64_t, hsa_queue_add_write_index_scacquire, (const struct hsa_queue *q, uint64_t v)) \
	F(uint64_t, hsa_queue_add_write_index_relaxed, (const struct hsa_queue *q, uint64_t v))   \
	F(uint64_t, hsa_queue_add_write_index_screlease, (const struct hsa_queue *q, uint64_t v)) \
	U(hsa_queue_store_read_index_relaxed)                                                     \
	U(hsa_queue_store_read_index_screlease)

/* Four orders of one operation on a signal. */
#define HSA_SIGNAL_FOUR(F, result, name, args) \
	F(result, name##_relaxed, args)        \
	F(result, name##_scacquire, args)      \
	F(result, name##_screlease, args)      \
	F(result, name##_scacq_screl, args)

#define HSA_SIGNAL_FUNCTIONS(F, U)                                                                \
	F(uint32_t, hsa_signal_create,                                                            \
	  (int64_t value, uint32_t n_consumers, const uint64_t *consumers, uint64_t *signal_out)) \
	F(uint32_t, hsa_signal_destroy, (uint64_t signal))                                        \
	F(int64_t, hsa_signal_load_relaxed, (uint64_t signal))                                    \
	F(int64_t, hsa_signal_load_scacquire, (uint64_t signal))                                  \
	F(void, hsa_signal_store_relaxed, (uint64_t signal, int64_t value))                       \
	F(void, hsa_signal_store_screlease, (uint64_t signal, int64_t value))                     \
	F(int64_t, hsa_signal_wait_relaxed,                                                       \
	  (uint64_t signal, uint32_t condition, int64_t value, uint64_t timeout, uint32_t how))   \
	F(int64_t, hsa_signal_wait_scacquire,                                                     \
	  (uint64_t signal, uint32_t condition, int64_t value, uint64_t timeout, uint32_t how))   \
	HSA_SIGNAL_FOUR(F, void, hsa_signal_and, (uint64_t signal, int64_t value))                \
	HSA_SIGNAL_FOUR(F, void, hsa_signal_or, (uint64_t signal, int64_t value))                 \
	HSA_SIGNAL_FOUR(F, void, hsa_signal_xor, (uint64_t signal, int64_t value))                \
	HSA_SIGNAL_FOUR(F, int64_t, hsa_signal_exchange, (uint64_t signal, int64_t value))        \
	HSA_SIGNAL_FOUR(F, void, hsa_signal_add, (uint64_t signal, int64_t value))                \
	HSA_SIGNAL_FOUR(F, void, hsa_signal_subtract, (uint64_t signal, int64_t value))           \
	HSA_SIGNAL_FOUR(F, int64_t, hsa_signal_cas,                                               \
			(uint64_t signal, int64_t expected, int64_t value))

#define HSA_CORE_FUNCTIONS(F, U)                                                                  \
	F(uint32_t, hsa_init, (void))                                                             \
	F(uint32_t, hsa_shut_down, (void))                                                        \
	F(uint32_t, hsa_system_get_info, (uint32_t attribute, void *value))                       \
	U(hsa_system_extension_supported)                                                         \
	U(hsa_system_get_extension_table)                                                         \
	F(uint32_t, hsa_iterate_agents,                                                           \
	  (uint32_t(*callback)(uint64_t agent, void *data), void *data))                          \
	F(uint32_t, hsa_agent_get_info, (uint64_t agent, uint32_t attribute, void *value))        \
	F(uint32_t, hsa_queue_create,                                                             \
	  (uint64_t agent, uint32_t size, uint32_t type, hsa_queue_callback callback, void *data, \
	   uint32_t private_bytes, uint32_t group_bytes, struct hsa_queue **queue_out))           \
	F(uint32_t, hsa_soft_queue_create,                                                        \
	  (uint64_t region, uint32_t size, uint32_t type, uint32_t features, uint64_t doorbell,   \
	   struct hsa_queue * *queue_out))                                                        \
	F(uint32_t, hsa_queue_destroy, (struct hsa_queue * queue))                                \
	F(uint32_t, hsa_queue_inactivate, (struct hsa_queue * queue))                             \
	HSA_INDEX_FUNCTIONS(F, U)                                                                 \
	F(uint32_t, hsa_agent_iterate_regions,                                                    \
	  (uint64_t agent, uint32_t(*callback)(uint64_t region, void *data), void *data))         \
	F(uint32_t, hsa_region_get_info, (uint64_t region, uint32_t attribute, void *value))      \
	U(hsa_agent_get_exception_policies)                                                       \
	U(hsa_agent_extension_supported)                                                          \
	F(uint32_t, hsa_memory_register, (void *address, size_t bytes))                           \
	F(uint32_t, hsa_memory_deregister, (void *address, size_t bytes))                         \
	F(uint32_t, hsa_memory_allocate, (uint64_t region, size_t bytes, void **address_out))     \
	F(uint32_t, hsa_memory_free, (void *address))                                             \
	F(uint32_t, hsa_memory_copy, (void *to, const void *from, size_t bytes))                  \
	F(uint32_t, hsa_memory_assign_agent, (void *address, uint64_t agent, uint32_t access))    \
	HSA_SIGNAL_FUNCTIONS(F, U)                                                                \
	U(hsa_isa_from_name)                                                                      \
	U(hsa_isa_get_info)                                                                       \
	U(hsa_isa_compatible)                                                                     \
	U(hsa_code_object_serialize)                                                              \
	U(hsa_code_object_deserialize)                                                            \
	U(hsa_code_object_destroy)                                                                \
	U(hsa_code_object_get_info)                                                               \
	U(hsa_code_object_get_symbol)                                                             \
	U(hsa_code_symbol_get_info)                                                               \
	U(hsa_code_object_iterate_symbols)                                                        \
	U(hsa_executable_create)                                                                  \
	F(uint32_t, hsa_executable_destroy, (uint64_t executable))                                \
	F(uint32_t, hsa_executable_load_code_object,                                              \
	  (uint64_t executable, uint64_t agent, uint64_t code_object, const char *options))       \
	F(uint32_t, hsa_executable_freeze, (uint64_t executable, const char *options))            \
	U(hsa_executable_get_info)                                                                \
	F(uint32_t, hsa_executable_global_variable_define,                                        \
	  (uint64_t executable, const char *name, void *address))                                 \
	F(uint32_t, hsa_executable_agent_global_variable_define,                                  \
	  (uint64_t executable, uint64_t agent, const char *name, void *address))                 \
	F(uint32_t, hsa_executable_readonly_variable_define,                                      \
	  (uint64_t executable, uint64_t agent, const char *name, void *address))                 \
	U(hsa_executable_validate)                                                                \
	U(hsa_executable_get_symbol)                                                              \
	F(uint32_t, hsa_executable_symbol_get_info,                                               \
	  (uint64_t symbol, uint32_t attribute, void *value))                                     \
	U(hsa_executable_iterate_symbols)                                                         \
	F(uint32_t, hsa_status_string, (uint32_t status, const char **text_out))                  \
	U(hsa_extension_get_name)                                                                 \
	U(hsa_system_major_extension_supported)                                                   \
	U(hsa_system_get_major_extension_table)                                                   \
	U(hsa_agent_major_extension_supported)                                                    \
	U(hsa_cache_get_info)                                                                     \
	U(hsa_agent_iterate_caches)                                                               \
	F(void, hsa_signal_silent_store_relaxed, (uint64_t signal, int64_t value))                \
	F(void, hsa_signal_silent_store_screlease, (uint64_t signal, int64_t value))              \
	U(hsa_signal_group_create)                                                                \
	U(hsa_signal_group_destroy)                                                               \
	U(hsa_signal_group_wait_any_scacquire)                                                    \
	U(hsa_signal_group_wait_any_relaxed)                                                      \
	U(hsa_agent_iterate_isas)                                                                 \
	U(hsa_isa_get_info_alt)                                                                   \
	U(hsa_isa_get_exception_policies)                                                         \
	U(hsa_isa_get_round_method)                                                               \
	U(hsa_wavefront_get_info)                                                                 \
	U(hsa_isa_iterate_wavefronts)                                                             \
	U(hsa_code_object_get_symbol_from_name)                                                   \
	F(uint32_t, hsa_code_object_reader_create_from_file, (int file, uint64_t *reader_out))    \
	F(uint32_t, hsa_code_object_reader_create_from_memory,                                    \
	  (const void *object, size_t bytes, uint64_t *reader_out))                               \
	F(uint32_t, hsa_code_object_reader_destroy, (uint64_t reader))                            \
	F(uint32_t, hsa_executable_create_alt,                                                    \
	  (uint32_t profile, uint32_t rounding, const char *options, uint64_t *executable_out))   \
	U(hsa_executable_load_program_code_object)                                                \
	F(uint32_t, hsa_executable_load_agent_code_object,                                        \
	  (uint64_t executable, uint64_t agent, uint64_t reader, const char *options,             \
	   uint64_t *loaded_out))                                                                 \
	U(hsa_executable_validate_alt)                                                            \
	F(uint32_t, hsa_executable_get_symbol_by_name,                                            \
	  (uint64_t executable, const char *name, const uint64_t *agent, uint64_t *symbol_out))   \
	F(uint32_t, hsa_executable_iterate_agent_symbols,                                         \
	  (uint64_t executable, uint64_t agent, hsa_symbol_callback callback, void *data))        \
	U(hsa_executable_iterate_program_symbols)

#define HSA_AMD_FUNCTIONS(F, U)                                                                   \
	U(hsa_amd_coherency_get_type)                                                             \
	U(hsa_amd_coherency_set_type)                                                             \
	F(uint32_t, hsa_amd_profiling_set_profiler_enabled,                                       \
	  (struct hsa_queue * queue, int enable))                                                 \
	F(uint32_t, hsa_amd_profiling_async_copy_enable, (bool enable))                           \
	F(uint32_t, hsa_amd_profiling_get_dispatch_time,                                          \
	  (uint64_t agent, uint64_t signal, struct hsa_dispatch_time * time_out))                 \
	F(uint32_t, hsa_amd_profiling_get_async_copy_time,                                        \
	  (uint64_t signal, struct hsa_dispatch_time * time_out))                                 \
	F(uint32_t, hsa_amd_profiling_convert_tick_to_system_domain,                              \
	  (uint64_t agent, uint64_t tick, uint64_t * system_out))                                 \
	F(uint32_t, hsa_amd_signal_async_handler,                                                 \
	  (uint64_t signal, uint32_t condition, int64_t value, hsa_signal_handler handler,        \
	   void *data))                                                                           \
	U(hsa_amd_async_function)                                                                 \
	F(uint32_t, hsa_amd_signal_wait_any,                                                      \
	  (uint32_t n, uint64_t * signals, uint32_t * conditions, int64_t * values,               \
	   uint64_t timeout, uint32_t how, int64_t * value_out))                                  \
	U(hsa_amd_queue_cu_set_mask)                                                              \
	F(uint32_t, hsa_amd_memory_pool_get_info,                                                 \
	  (uint64_t pool, uint32_t attribute, void *value))                                       \
	F(uint32_t, hsa_amd_agent_iterate_memory_pools,                                           \
	  (uint64_t agent, uint32_t(*callback)(uint64_t pool, void *data), void *data))           \
	F(uint32_t, hsa_amd_memory_pool_allocate,                                                 \
	  (uint64_t pool, size_t bytes, uint32_t flags, void **address_out))                      \
	F(uint32_t, hsa_amd_memory_pool_free, (void *address))                                    \
	F(uint32_t, hsa_amd_memory_async_copy,                                                    \
	  (void *to, uint64_t to_agent, const void *from, uint64_t from_agent, size_t bytes,      \
	   uint32_t n_deps, const uint64_t *deps, uint64_t completion))                           \
	F(uint32_t, hsa_amd_memory_async_copy_on_engine,                                          \
	  (void *to, uint64_t to_agent, const void *from, uint64_t from_agent, size_t bytes,      \
	   uint32_t n_deps, const uint64_t *deps, uint64_t completion, uint32_t engine,           \
	   bool force_sdma))                                                                      \
	U(hsa_amd_memory_copy_engine_status)                                                      \
	U(hsa_amd_agent_memory_pool_get_info)                                                     \
	F(uint32_t, hsa_amd_agents_allow_access,                                                  \
	  (uint32_t n, const uint64_t *agents, const uint32_t *flags, const void *address))       \
	U(hsa_amd_memory_pool_can_migrate)                                                        \
	F(uint32_t, hsa_amd_memory_migrate, (const void *address, uint64_t pool, uint32_t flags)) \
	F(uint32_t, hsa_amd_memory_lock,                                                          \
	  (void *host, size_t bytes, uint64_t *agents, int n, void **address_out))                \
	F(uint32_t, hsa_amd_memory_unlock, (void *host))                                          \
	F(uint32_t, hsa_amd_memory_fill, (void *address, uint32_t value, size_t words))           \
	F(uint32_t, hsa_amd_interop_map_buffer,                                                   \
	  (uint32_t n, uint64_t * agents, int handle, uint32_t flags, size_t *bytes_out,          \
	   void **address_out, size_t *metadata_bytes_out, const void **metadata_out))            \
	F(uint32_t, hsa_amd_interop_unmap_buffer, (void *address))                                \
	U(hsa_amd_image_create)                                                                   \
	F(uint32_t, hsa_amd_pointer_info,                                                         \
	  (const void *address, struct hsa_pointer_info *info_out, void *(*alloc)(size_t),        \
	   uint32_t *n_accessible_out, uint64_t **accessible_out))                                \
	U(hsa_amd_pointer_info_set_userdata)                                                      \
	U(hsa_amd_ipc_memory_create)                                                              \
	F(uint32_t, hsa_amd_ipc_memory_attach,                                                    \
	  (const void *handle, size_t bytes, uint32_t n, const uint64_t *agents,                  \
	   void **address_out))                                                                   \
	F(uint32_t, hsa_amd_ipc_memory_detach, (void *address))                                   \
	F(uint32_t, hsa_amd_signal_create,                                                        \
	  (int64_t value, uint32_t n_consumers, const uint64_t *consumers, uint64_t attributes,   \
	   uint64_t *signal_out))                                                                 \
	U(hsa_amd_ipc_signal_create)                                                              \
	U(hsa_amd_ipc_signal_attach)                                                              \
	U(hsa_amd_register_system_event_handler)                                                  \
	F(uint32_t, hsa_amd_queue_intercept_create,                                               \
	  (uint64_t agent, uint32_t size, uint32_t type, hsa_queue_callback callback, void *data, \
	   uint32_t private_bytes, uint32_t group_bytes, struct hsa_queue **queue_out))           \
	F(uint32_t, hsa_amd_queue_intercept_register,                                             \
	  (struct hsa_queue * queue, hsa_packet_handler handler, void *data))                     \
	U(hsa_amd_queue_set_priority)                                                             \
	F(uint32_t, hsa_amd_memory_async_copy_rect,                                               \
	  (const struct hsa_pitched *to, const struct hsa_dim3 *to_offset,                        \
	   const struct hsa_pitched *from, const struct hsa_dim3 *from_offset,                    \
	   const struct hsa_dim3 *range, uint64_t agent, uint32_t direction, uint32_t n_deps,     \
	   const uint64_t *deps, uint64_t completion))                                            \
	F(uint32_t, hsa_amd_runtime_queue_create_register,                                        \
	  (void (*callback)(const struct hsa_queue *queue, uint64_t agent, void *data),           \
	   void *data))                                                                           \
	F(uint32_t, hsa_amd_memory_lock_to_pool,                                                  \
	  (void *host, size_t bytes, uint64_t *agents, int n, uint64_t pool, uint32_t flags,      \
	   void **address_out))                                                                   \
	U(hsa_amd_register_deallocation_callback)                                                 \
	U(hsa_amd_deregister_deallocation_callback)                                               \
	F(uint32_t, hsa_amd_signal_value_pointer,                                                 \
	  (uint64_t signal, volatile int64_t * *value_out))                                       \
	F(uint32_t, hsa_amd_svm_attributes_set,                                                   \
	  (void *address, size_t bytes, void *attributes, size_t n))                              \
	U(hsa_amd_svm_attributes_get)                                                             \
	F(uint32_t, hsa_amd_svm_prefetch_async,                                                   \
	  (void *address, size_t bytes, uint64_t agent, uint32_t n_deps, const uint64_t *deps,    \
	   uint64_t completion))                                                                  \
	U(hsa_amd_spm_acquire)                                                                    \
	U(hsa_amd_spm_release)                                                                    \
	U(hsa_amd_spm_set_dest_buffer)                                                            \
	U(hsa_amd_queue_cu_get_mask)                                                              \
	U(hsa_amd_portable_export_dmabuf)                                                         \
	U(hsa_amd_portable_close_dmabuf)                                                          \
	F(uint32_t, hsa_amd_vmem_address_reserve,                                                 \
	  (void **address_out, size_t bytes, uint64_t hint, uint64_t flags))                      \
	F(uint32_t, hsa_amd_vmem_address_free, (void *address, size_t bytes))                     \
	F(uint32_t, hsa_amd_vmem_handle_create,                                                   \
	  (uint64_t pool, size_t bytes, uint32_t type, uint64_t flags, uint64_t * handle_out))    \
	F(uint32_t, hsa_amd_vmem_handle_release, (uint64_t handle))                               \
	F(uint32_t, hsa_amd_vmem_map,                                                             \
	  (void *address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags))          \
	F(uint32_t, hsa_amd_vmem_unmap, (void *address, size_t bytes))                            \
	F(uint32_t, hsa_amd_vmem_set_access,                                                      \
	  (void *address, size_t bytes, const struct hsa_access_desc *desc, size_t n))            \
	U(hsa_amd_vmem_get_access)                                                                \
	U(hsa_amd_vmem_export_shareable_handle)                                                   \
	U(hsa_amd_vmem_import_shareable_handle)                                                   \
	U(hsa_amd_vmem_retain_alloc_handle)                                                       \
	U(hsa_amd_vmem_get_alloc_properties_from_handle)                                          \
	U(hsa_amd_agent_set_async_scratch_limit)                                                  \
	U(hsa_amd_queue_get_info)                                                                 \
	F(uint32_t, hsa_amd_vmem_address_reserve_align,                                           \
	  (void **address_out, size_t bytes, uint64_t hint, uint64_t alignment, uint64_t flags))  \
	U(hsa_amd_enable_logging)                                                                 \
	U(hsa_amd_signal_wait_all)                                                                \
	U(hsa_amd_memory_get_preferred_copy_engine)                                               \
	U(hsa_amd_portable_export_dmabuf_v2)

struct hsa_table_version {
	uint32_t major;
	uint32_t minor; /* size of the table, bytes */
	uint32_t step;
	uint32_t reserved;
};
#define HSA_TABLE_F(result, name, args) result(*name) args;
#define HSA_TABLE_U(name)               void (*name)(void);
struct hsa_core_table {
	struct hsa_table_version version;
	HSA_CORE_FUNCTIONS(HSA_TABLE_F, HSA_TABLE_U)
};
struct hsa_amd_table {
	struct hsa_table_version version;
	HSA_AMD_FUNCTIONS(HSA_TABLE_F, HSA_TABLE_U)
};
#undef HSA_TABLE_F
#undef HSA_TABLE_U
/* tables[0] of the callback of rocp_at_intercept_table_registration (kind ROCP_TABLE_HSA). */
struct hsa_api_table {
	struct hsa_table_version version;
	struct hsa_core_table *core;
	struct hsa_amd_table *amd;
	void *finalizer, *image, *tools, *pc_sampling;
};
enum hsa_table_major {
	HSA_API_TABLE_MAJOR = 3,
	HSA_CORE_TABLE_MAJOR = 2,
	HSA_AMD_TABLE_MAJOR = 2,
};

/* Whether the table of this runtime is long enough to have the entry. */
#define HSA_TABLE_HAS(table, entry) \
	((table)->version.minor >=  \
	 (size_t)((const char *)&(table)->entry - (const char *)(table)) + sizeof((table)->entry))

HSA_ABI_SIZE(hsa_table_version, 16);
HSA_ABI_SIZE(hsa_api_table, 64);
HSA_ABI_AT(hsa_api_table, core, 16);
HSA_ABI_AT(hsa_api_table, amd, 24);
HSA_ABI_AT(hsa_api_table, finalizer, 32);
HSA_ABI_AT(hsa_api_table, image, 40);
HSA_ABI_AT(hsa_api_table, tools, 48);
HSA_ABI_AT(hsa_api_table, pc_sampling, 56);
HSA_ABI_SIZE(hsa_core_table, 1016);
HSA_ABI_SIZE(hsa_amd_table, 608);
HSA_ABI_AT(hsa_core_table, hsa_init, 16);
HSA_ABI_AT(hsa_core_table, hsa_shut_down, 24);
HSA_ABI_AT(hsa_core_table, hsa_system_get_info, 32);
HSA_ABI_AT(hsa_core_table, hsa_iterate_agents, 56);
HSA_ABI_AT(hsa_core_table, hsa_agent_get_info, 64);
HSA_ABI_AT(hsa_core_table, hsa_queue_create, 72);
HSA_ABI_AT(hsa_core_table, hsa_soft_queue_create, 80);
HSA_ABI_AT(hsa_core_table, hsa_queue_destroy, 88);
HSA_ABI_AT(hsa_core_table, hsa_queue_inactivate, 96);
HSA_ABI_AT(hsa_core_table, hsa_queue_load_read_index_scacquire, 104);
HSA_ABI_AT(hsa_core_table, hsa_queue_load_read_index_relaxed, 112);
HSA_ABI_AT(hsa_core_table, hsa_queue_load_write_index_scacquire, 120);
HSA_ABI_AT(hsa_core_table, hsa_queue_load_write_index_relaxed, 128);
HSA_ABI_AT(hsa_core_table, hsa_queue_store_write_index_relaxed, 136);
HSA_ABI_AT(hsa_core_table, hsa_queue_store_write_index_screlease, 144);
HSA_ABI_AT(hsa_core_table, hsa_queue_cas_write_index_scacq_screl, 152);
HSA_ABI_AT(hsa_core_table, hsa_queue_cas_write_index_scacquire, 160);
HSA_ABI_AT(hsa_core_table, hsa_queue_cas_write_index_relaxed, 168);
HSA_ABI_AT(hsa_core_table, hsa_queue_cas_write_index_screlease, 176);
HSA_ABI_AT(hsa_core_table, hsa_queue_add_write_index_scacq_screl, 184);
HSA_ABI_AT(hsa_core_table, hsa_queue_add_write_index_scacquire, 192);
HSA_ABI_AT(hsa_core_table, hsa_queue_add_write_index_relaxed, 200);
HSA_ABI_AT(hsa_core_table, hsa_queue_add_write_index_screlease, 208);
HSA_ABI_AT(hsa_core_table, hsa_agent_iterate_regions, 232);
HSA_ABI_AT(hsa_core_table, hsa_region_get_info, 240);
HSA_ABI_AT(hsa_core_table, hsa_memory_register, 264);
HSA_ABI_AT(hsa_core_table, hsa_memory_deregister, 272);
HSA_ABI_AT(hsa_core_table, hsa_memory_allocate, 280);
HSA_ABI_AT(hsa_core_table, hsa_memory_free, 288);
HSA_ABI_AT(hsa_core_table, hsa_memory_copy, 296);
HSA_ABI_AT(hsa_core_table, hsa_memory_assign_agent, 304);
HSA_ABI_AT(hsa_core_table, hsa_signal_create, 312);
HSA_ABI_AT(hsa_core_table, hsa_signal_destroy, 320);
HSA_ABI_AT(hsa_core_table, hsa_signal_load_relaxed, 328);
HSA_ABI_AT(hsa_core_table, hsa_signal_load_scacquire, 336);
HSA_ABI_AT(hsa_core_table, hsa_signal_store_relaxed, 344);
HSA_ABI_AT(hsa_core_table, hsa_signal_store_screlease, 352);
HSA_ABI_AT(hsa_core_table, hsa_signal_wait_relaxed, 360);
HSA_ABI_AT(hsa_core_table, hsa_signal_wait_scacquire, 368);
HSA_ABI_AT(hsa_core_table, hsa_signal_and_relaxed, 376);
HSA_ABI_AT(hsa_core_table, hsa_signal_and_scacquire, 384);
HSA_ABI_AT(hsa_core_table, hsa_signal_and_screlease, 392);
HSA_ABI_AT(hsa_core_table, hsa_signal_and_scacq_screl, 400);
HSA_ABI_AT(hsa_core_table, hsa_signal_or_relaxed, 408);
HSA_ABI_AT(hsa_core_table, hsa_signal_or_scacquire, 416);
HSA_ABI_AT(hsa_core_table, hsa_signal_or_screlease, 424);
HSA_ABI_AT(hsa_core_table, hsa_signal_or_scacq_screl, 432);
HSA_ABI_AT(hsa_core_table, hsa_signal_xor_relaxed, 440);
HSA_ABI_AT(hsa_core_table, hsa_signal_xor_scacquire, 448);
HSA_ABI_AT(hsa_core_table, hsa_signal_xor_screlease, 456);
HSA_ABI_AT(hsa_core_table, hsa_signal_xor_scacq_screl, 464);
HSA_ABI_AT(hsa_core_table, hsa_signal_exchange_relaxed, 472);
HSA_ABI_AT(hsa_core_table, hsa_signal_exchange_scacquire, 480);
HSA_ABI_AT(hsa_core_table, hsa_signal_exchange_screlease, 488);
HSA_ABI_AT(hsa_core_table, hsa_signal_exchange_scacq_screl, 496);
HSA_ABI_AT(hsa_core_table, hsa_signal_add_relaxed, 504);
HSA_ABI_AT(hsa_core_table, hsa_signal_add_scacquire, 512);
HSA_ABI_AT(hsa_core_table, hsa_signal_add_screlease, 520);
HSA_ABI_AT(hsa_core_table, hsa_signal_add_scacq_screl, 528);
HSA_ABI_AT(hsa_core_table, hsa_signal_subtract_relaxed, 536);
HSA_ABI_AT(hsa_core_table, hsa_signal_subtract_scacquire, 544);
HSA_ABI_AT(hsa_core_table, hsa_signal_subtract_screlease, 552);
HSA_ABI_AT(hsa_core_table, hsa_signal_subtract_scacq_screl, 560);
HSA_ABI_AT(hsa_core_table, hsa_signal_cas_relaxed, 568);
HSA_ABI_AT(hsa_core_table, hsa_signal_cas_scacquire, 576);
HSA_ABI_AT(hsa_core_table, hsa_signal_cas_screlease, 584);
HSA_ABI_AT(hsa_core_table, hsa_signal_cas_scacq_screl, 592);
HSA_ABI_AT(hsa_core_table, hsa_executable_destroy, 688);
HSA_ABI_AT(hsa_core_table, hsa_executable_load_code_object, 696);
HSA_ABI_AT(hsa_core_table, hsa_executable_freeze, 704);
HSA_ABI_AT(hsa_core_table, hsa_executable_global_variable_define, 720);
HSA_ABI_AT(hsa_core_table, hsa_executable_agent_global_variable_define, 728);
HSA_ABI_AT(hsa_core_table, hsa_executable_readonly_variable_define, 736);
HSA_ABI_AT(hsa_core_table, hsa_executable_symbol_get_info, 760);
HSA_ABI_AT(hsa_core_table, hsa_status_string, 776);
HSA_ABI_AT(hsa_core_table, hsa_signal_silent_store_relaxed, 832);
HSA_ABI_AT(hsa_core_table, hsa_signal_silent_store_screlease, 840);
HSA_ABI_AT(hsa_core_table, hsa_code_object_reader_create_from_file, 936);
HSA_ABI_AT(hsa_core_table, hsa_code_object_reader_create_from_memory, 944);
HSA_ABI_AT(hsa_core_table, hsa_code_object_reader_destroy, 952);
HSA_ABI_AT(hsa_core_table, hsa_executable_create_alt, 960);
HSA_ABI_AT(hsa_core_table, hsa_executable_load_agent_code_object, 976);
HSA_ABI_AT(hsa_core_table, hsa_executable_get_symbol_by_name, 992);
HSA_ABI_AT(hsa_core_table, hsa_executable_iterate_agent_symbols, 1000);
HSA_ABI_AT(hsa_amd_table, hsa_amd_profiling_set_profiler_enabled, 32);
HSA_ABI_AT(hsa_amd_table, hsa_amd_profiling_async_copy_enable, 40);
HSA_ABI_AT(hsa_amd_table, hsa_amd_profiling_get_dispatch_time, 48);
HSA_ABI_AT(hsa_amd_table, hsa_amd_profiling_get_async_copy_time, 56);
HSA_ABI_AT(hsa_amd_table, hsa_amd_profiling_convert_tick_to_system_domain, 64);
HSA_ABI_AT(hsa_amd_table, hsa_amd_signal_async_handler, 72);
HSA_ABI_AT(hsa_amd_table, hsa_amd_signal_wait_any, 88);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_pool_get_info, 104);
HSA_ABI_AT(hsa_amd_table, hsa_amd_agent_iterate_memory_pools, 112);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_pool_allocate, 120);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_pool_free, 128);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_async_copy, 136);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_async_copy_on_engine, 144);
HSA_ABI_AT(hsa_amd_table, hsa_amd_agents_allow_access, 168);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_migrate, 184);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_lock, 192);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_unlock, 200);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_fill, 208);
HSA_ABI_AT(hsa_amd_table, hsa_amd_interop_map_buffer, 216);
HSA_ABI_AT(hsa_amd_table, hsa_amd_interop_unmap_buffer, 224);
HSA_ABI_AT(hsa_amd_table, hsa_amd_pointer_info, 240);
HSA_ABI_AT(hsa_amd_table, hsa_amd_ipc_memory_attach, 264);
HSA_ABI_AT(hsa_amd_table, hsa_amd_ipc_memory_detach, 272);
HSA_ABI_AT(hsa_amd_table, hsa_amd_signal_create, 280);
HSA_ABI_AT(hsa_amd_table, hsa_amd_queue_intercept_create, 312);
HSA_ABI_AT(hsa_amd_table, hsa_amd_queue_intercept_register, 320);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_async_copy_rect, 336);
HSA_ABI_AT(hsa_amd_table, hsa_amd_runtime_queue_create_register, 344);
HSA_ABI_AT(hsa_amd_table, hsa_amd_memory_lock_to_pool, 352);
HSA_ABI_AT(hsa_amd_table, hsa_amd_signal_value_pointer, 376);
HSA_ABI_AT(hsa_amd_table, hsa_amd_svm_attributes_set, 384);
HSA_ABI_AT(hsa_amd_table, hsa_amd_svm_prefetch_async, 400);
HSA_ABI_AT(hsa_amd_table, hsa_amd_vmem_address_reserve, 456);
HSA_ABI_AT(hsa_amd_table, hsa_amd_vmem_address_free, 464);
HSA_ABI_AT(hsa_amd_table, hsa_amd_vmem_handle_create, 472);
HSA_ABI_AT(hsa_amd_table, hsa_amd_vmem_handle_release, 480);
HSA_ABI_AT(hsa_amd_table, hsa_amd_vmem_map, 488);
HSA_ABI_AT(hsa_amd_table, hsa_amd_vmem_unmap, 496);
HSA_ABI_AT(hsa_amd_table, hsa_amd_vmem_set_access, 504);
HSA_ABI_AT(hsa_amd_table, hsa_amd_vmem_address_reserve_align, 568);
#endif
