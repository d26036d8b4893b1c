/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Own declarations of the public C ABI of rocprofiler-sdk that retally uses. Nothing of the vendor
 * is included or linked; functions are found with dlsym in the library that called our
 * rocprofiler_configure. Facts: rocprofiler-sdk 1.0.0 (ROCm 7.0), x86-64, layouts measured with its
 * headers; scripts/check-rocm-abi compares all of this with those of an installed ROCm.
 *
 * Versions: the argument `version` of rocprofiler_configure is 10000 * major + 100 * minor + patch.
 * Only major 1 has these layouts and status numbers (0.x has others under the same names).
 * A struct with a `size` member says how much of it the library filled; a newer library may fill
 * more. sizeof is ours, and is never what the library has.
 *
 * Handles (context, agent, counter, config, buffer, queue) are structs of one uint64_t in the
 * vendor's headers; such a struct is passed and returned like the number itself, so they are
 * numbers here. Enums are 32 bits wide.
 */
#ifndef RETALLY_SOURCE_ROCM_ABI_H
#define RETALLY_SOURCE_ROCM_ABI_H

#include <stddef.h>
#include <stdint.h>

enum rocp_status {
	ROCP_OK = 0,
	ROCP_ERROR = 1,
	ROCP_CONTEXT_NOT_FOUND = 2, /* also: the context is not active */
	ROCP_BUFFER_NOT_FOUND = 3,
	ROCP_KIND_NOT_FOUND = 4,
	ROCP_OPERATION_NOT_FOUND = 5,
	ROCP_AGENT_NOT_FOUND = 7,
	ROCP_COUNTER_NOT_FOUND = 8,
	ROCP_CONTEXT_ERROR = 9,
	ROCP_CONTEXT_INVALID = 10,
	ROCP_CONTEXT_NOT_STARTED = 11,
	ROCP_CONTEXT_CONFLICT = 12,
	ROCP_CONTEXT_ID_NOT_ZERO = 13,
	ROCP_BUFFER_BUSY = 14,
	ROCP_SERVICE_ALREADY_CONFIGURED = 15,
	ROCP_CONFIGURATION_LOCKED = 16, /* not in rocprofiler_configure or initialize any more */
	ROCP_NOT_IMPLEMENTED = 17,
	ROCP_INCOMPATIBLE_ABI = 18,
	ROCP_INVALID_ARGUMENT = 19,
	ROCP_METRIC_NOT_VALID_FOR_AGENT = 20,
	ROCP_FINALIZED = 21,
	ROCP_HSA_NOT_LOADED = 22,
	ROCP_DIM_NOT_FOUND = 23,
	ROCP_PROFILE_COUNTER_NOT_FOUND = 24,
	ROCP_OUT_OF_RESOURCES = 29,
	ROCP_PROFILE_NOT_FOUND = 30,
	ROCP_AGENT_DISPATCH_CONFLICT = 31,
	ROCP_AGENT_MISMATCH = 36,
	ROCP_NOT_AVAILABLE = 37,
	ROCP_EXCEEDS_HW_LIMIT = 38, /* the counters do not fit one pass */
	ROCP_AGENT_ARCH_NOT_SUPPORTED = 39,
	ROCP_PERMISSION_DENIED = 40,
};

/* A number or a pointer of ours that comes back with the record. */
union rocp_user_data {
	uint64_t value;
	void *ptr;
};

/* ---- how a tool is loaded ---- */

struct rocp_client_id {
	size_t size;
	const char *name; /* ours to set, for the library's messages; static */
	uint32_t handle;
};
typedef void (*rocp_client_finalize)(struct rocp_client_id id);
struct rocp_configure_result {
	size_t size; /* sizeof(struct rocp_configure_result) */
	/* Contexts and services are configured here or never. What it returns is ignored by 1.0.0.
	 * Runs inside the first call of a runtime. */
	int (*initialize)(rocp_client_finalize finalize, void *tool_data);
	void (*finalize)(void *tool_data); /* from atexit; contexts are stopped already */
	void *tool_data;
};
/* What we export as rocprofiler_configure. NULL: no tool here. The result is copied. */
typedef struct rocp_configure_result *(*rocp_configure)(uint32_t version, const char *version_text,
							uint32_t priority,
							struct rocp_client_id *id);

/* ---- agents ---- */

enum rocp_agent_type {
	ROCP_AGENT_CPU = 1,
	ROCP_AGENT_GPU = 2,
};
enum rocp_agent_version {
	ROCP_AGENT_VERSION_0 = 1,
};
struct rocp_dim3 {
	uint32_t x, y, z;
};
struct rocp_agent {
	uint64_t size;
	uint64_t id;
	uint32_t type; /* enum rocp_agent_type */
	uint32_t cpu_cores_count;
	uint32_t simd_count;
	uint32_t mem_banks_count;
	uint32_t caches_count;
	uint32_t io_links_count;
	uint32_t cpu_core_id_base;
	uint32_t simd_id_base;
	uint32_t max_waves_per_simd;
	uint32_t lds_size_in_kb;
	uint32_t gds_size_in_kb;
	uint32_t num_gws;
	uint32_t wave_front_size;
	uint32_t num_xcc;
	uint32_t cu_count;
	uint32_t array_count;
	uint32_t num_shader_banks; /* shader engines, of all XCCs */
	uint32_t simd_arrays_per_engine;
	uint32_t cu_per_simd_array;
	uint32_t simd_per_cu;
	uint32_t max_slots_scratch_cu;
	uint32_t gfx_target_version; /* 90010 for gfx90a: 10000 major + 100 minor + stepping */
	uint16_t vendor_id;
	uint16_t device_id;
	uint32_t location_id; /* bus << 8 | device << 3 | function */
	uint32_t domain;
	uint32_t drm_render_minor;
	uint32_t num_sdma_engines;
	uint32_t num_sdma_xgmi_engines;
	uint32_t num_sdma_queues_per_engine;
	uint32_t num_cp_queues;
	uint32_t max_engine_clk_ccompute; /* MHz */
	uint32_t max_engine_clk_fcompute; /* MHz */
	uint32_t sdma_fw_version;
	uint32_t fw_version;
	uint32_t capability;
	uint32_t cu_per_engine;
	uint32_t max_waves_per_cu;
	uint32_t family_id;
	uint32_t workgroup_max_size;
	uint32_t grid_max_size;
	uint64_t local_mem_size; /* bytes */
	uint64_t hive_id;
	uint64_t gpu_id;
	struct rocp_dim3 workgroup_max_dim;
	struct rocp_dim3 grid_max_dim;
	const void *mem_banks;
	const void *caches;
	const void *io_links;
	const char *name; /* "gfx90a" */
	const char *vendor_name;
	const char *product_name;
	const char *model_name;
	uint32_t node_id;             /* HSA_AGENT_DRIVER_NODE of the same device */
	int32_t logical_node_id;      /* among all agents */
	int32_t logical_node_type_id; /* among those of its type: GPU 0, 1... */
	uint32_t runtime_visibility;  /* bit 0: visible to HSA, 1 HIP, 2 RCCL, 3 rocDecode */
	uint8_t uuid[16];
};
/* `agents`: n pointers to struct rocp_agent, valid until the process ends. */
typedef uint32_t (*rocp_agents_callback)(uint32_t version, const void **agents, size_t n,
					 void *data);

/* ---- counters ---- */

enum rocp_counter_info_version {
	ROCP_COUNTER_INFO_VERSION_0 = 1,
	ROCP_COUNTER_INFO_VERSION_1 = 2,
};
enum rocp_counter_bits {
	ROCP_COUNTER_IS_CONSTANT = 1 << 0,
	ROCP_COUNTER_IS_DERIVED = 1 << 1,
};
struct rocp_counter_info_v0 {
	uint64_t id;
	const char *name; /* all texts: the library's, static */
	const char *description;
	const char *block;      /* not of derived ones */
	const char *expression; /* of derived ones */
	uint8_t bits;           /* enum rocp_counter_bits */
};
struct rocp_dimension_info {
	const char *name; /* "DIMENSION_XCC", "DIMENSION_SHADER_ENGINE"... */
	size_t instances; /* positions, from 0 */
	uint64_t id;      /* for rocprofiler_query_record_dimension_position */
};
struct rocp_instance_dimension {
	uint64_t size;
	const char *name;
	size_t index;
};
struct rocp_instance_info {
	uint64_t size;
	uint64_t instance_id;
	uint64_t counter_id;
	uint64_t n_dimensions;
	const struct rocp_instance_dimension **dimensions;
};
struct rocp_counter_info_v1 {
	uint64_t size;
	uint64_t id;
	const char *name;
	const char *description;
	const char *block;
	const char *expression;
	uint8_t bits;
	uint64_t n_dimensions;
	const struct rocp_dimension_info **dimensions;
	uint64_t n_instances; /* records of one dispatch */
	const struct rocp_instance_info **instances;
};
typedef uint32_t (*rocp_counters_callback)(uint64_t agent, uint64_t *counters, size_t n,
					   void *data);

/* ---- dispatch counting ---- */

struct rocp_async_correlation {
	uint64_t internal;
	union rocp_user_data external;
};
struct rocp_dispatch_info {
	uint64_t size; /* up to, without, the reserved part */
	uint64_t agent;
	uint64_t queue;
	uint64_t kernel_id;
	uint64_t dispatch_id; /* one for each packet submitted */
	uint32_t private_segment_size;
	uint32_t group_segment_size;
	struct rocp_dim3 workgroup;
	struct rocp_dim3 grid; /* work-items */
	uint8_t reserved[56];
};
struct rocp_dispatch_data { /* by value to the callbacks: on the stack */
	uint64_t size;
	struct rocp_async_correlation correlation;
	uint64_t start_ns; /* CLOCK_BOOTTIME-like; 0 in the dispatch callback */
	uint64_t end_ns;
	struct rocp_dispatch_info dispatch;
};
struct rocp_dispatch_record { /* head of the records in a buffer */
	uint64_t size;
	uint64_t n_records;
	struct rocp_async_correlation correlation;
	uint64_t start_ns;
	uint64_t end_ns;
	struct rocp_dispatch_info dispatch;
};
struct rocp_counter_record {
	uint64_t id; /* counter and position; opaque, rocprofiler_query_record_* tell */
	double value;
	uint64_t dispatch_id;
	union rocp_user_data user_data;
	uint64_t agent;
};
/* On the submitting thread, for each kernel packet that gets to the SDK's interceptor. *config_out
 * stays 0: not counted. Nothing that touches contexts may be called here. */
typedef void (*rocp_dispatch_callback)(struct rocp_dispatch_data data, uint64_t *config_out,
				       union rocp_user_data *user_data_out, void *arg);
/* On a thread of the library, in any order with the completion of the kernel, also after
 * rocprofiler_stop_context. records are valid until it returns. */
typedef void (*rocp_record_callback)(struct rocp_dispatch_data data,
				     struct rocp_counter_record *records, size_t n,
				     union rocp_user_data user_data, void *arg);

/* ---- buffers ---- */

enum rocp_buffer_policy {
	ROCP_BUFFER_DISCARD = 1,
	ROCP_BUFFER_LOSSLESS = 2,
};
enum rocp_buffer_category {
	ROCP_CATEGORY_TRACING = 1,
	ROCP_CATEGORY_PC_SAMPLING = 2,
	ROCP_CATEGORY_COUNTERS = 3,
};
enum rocp_counter_record_kind {          /* of ROCP_CATEGORY_COUNTERS */
	ROCP_RECORD_DISPATCH_HEADER = 1, /* struct rocp_dispatch_record */
	ROCP_RECORD_VALUE = 2,           /* struct rocp_counter_record */
};
struct rocp_record_header {
	uint32_t category;
	uint32_t kind;
	void *payload;
};
typedef void (*rocp_buffer_callback)(uint64_t context, uint64_t buffer,
				     struct rocp_record_header **headers, size_t n, void *data,
				     uint64_t dropped);

/* ---- callback tracing: code objects, kernel symbols, rocTX ---- */

enum rocp_tracing_kind { /* only by these numbers in 1.x; the name of a kind can be asked */
	ROCP_TRACING_MARKER_CORE_API = 7,
	ROCP_TRACING_MARKER_CONTROL_API = 8,
	ROCP_TRACING_CODE_OBJECT = 10,
	ROCP_TRACING_KERNEL_DISPATCH = 12,
};
enum rocp_phase {
	ROCP_PHASE_ENTER = 1, /* code objects: loaded */
	ROCP_PHASE_EXIT = 2,  /* code objects: to be unloaded */
};
enum rocp_code_object_operation {
	ROCP_CODE_OBJECT_LOAD = 1,
	ROCP_KERNEL_SYMBOL = 2,
};
struct rocp_correlation {
	uint64_t internal;
	union rocp_user_data external;
	uint64_t ancestor;
};
struct rocp_tracing_record {
	uint64_t context;
	uint64_t thread;
	struct rocp_correlation correlation;
	uint32_t kind;     /* enum rocp_tracing_kind */
	int32_t operation; /* of that kind */
	uint32_t phase;    /* enum rocp_phase */
	void *payload;
};
typedef void (*rocp_tracing_callback)(struct rocp_tracing_record record,
				      union rocp_user_data *user_data, void *arg);

struct rocp_code_object {
	uint64_t size;
	uint64_t code_object_id;
	uint64_t agent;
	uint64_t hsa_agent;
	const char *uri;
	uint64_t load_base;
	uint64_t load_size;
	int64_t load_delta;
	uint32_t storage_type; /* 1 file, 2 memory */
	union {
		int file;
		struct {
			uint64_t base, size;
		} memory;
	} storage;
};
struct rocp_kernel_symbol {
	uint64_t size;
	uint64_t kernel_id;
	uint64_t code_object_id;
	const char *name;       /* mangled, with ".kd" at its end */
	uint64_t kernel_object; /* as in the packet */
	uint32_t kernarg_segment_size;
	uint32_t kernarg_segment_alignment;
	uint32_t group_segment_size;
	uint32_t private_segment_size;
	uint32_t sgpr_count;
	uint32_t arch_vgpr_count;
	uint32_t accum_vgpr_count;
	int64_t kernel_code_entry_byte_offset;
	uint64_t kernel_address;
};

enum rocp_marker_core_operation {
	ROCP_MARKER_MARK = 0,
	ROCP_MARKER_RANGE_PUSH = 1,
	ROCP_MARKER_RANGE_POP = 2,
	ROCP_MARKER_RANGE_START = 3,
	ROCP_MARKER_RANGE_STOP = 4,
	ROCP_MARKER_GET_THREAD_ID = 5,
};
enum rocp_marker_control_operation {
	ROCP_MARKER_PAUSE = 0,
	ROCP_MARKER_RESUME = 1,
};
struct rocp_marker_data {
	uint64_t size;
	union {
		const char *message; /* mark, push, start; of the program, for this call only */
		uint64_t range_id;   /* stop */
		uint64_t thread_id;  /* pause, resume: 0 all */
		void *widest[2];
	} args;
	union {
		int32_t level;     /* push, pop; negative: nothing was pushed */
		uint64_t range_id; /* start; in the exit phase */
	} result;
};
/* Kernel replay by the library itself: version 1.4.1 and later, where it is called beta. The number
 * of its kind is found by its name, ROCP_TRACING_KERNEL_REPLAY_NAME. On the thread that submits:
 * CONFIG enter, where pass_count may be set; for each pass PASS enter, the dispatch callback, PASS
 * exit once the kernel is over; CONFIG exit. Without a pass_count, and for what the library does
 * not replay (several packets in one submission, graphs), there is no PASS. user_data as set in
 * CONFIG enter comes to all of them. Layout as in experimental/kernel_replay.h. */
#define ROCP_TRACING_KERNEL_REPLAY_NAME "KERNEL_REPLAY"
enum rocp_replay_operation {
	ROCP_REPLAY_CONFIG = 1,
	ROCP_REPLAY_PASS = 2,
};
struct rocp_replay_data {
	uint64_t size;
	struct rocp_dispatch_info dispatch;
	uint64_t current_pass; /* PASS: from 0 */
	uint64_t total_passes; /* PASS: as pass_count said */
	/* CONFIG enter: set by the tool. 1: as if not set; 0: until go_on says 0. */
	uint64_t (*pass_count)(struct rocp_dispatch_info dispatch, union rocp_user_data user_data);
	/* May be NULL. Asked after each pass but the last; 0: no more. */
	int (*go_on)(struct rocp_dispatch_info dispatch, uint64_t current_pass,
		     uint64_t total_passes, union rocp_user_data user_data);
	uint32_t (*start_context)(uint64_t context);
	uint32_t (*stop_context)(uint64_t context);
};
/* rocTX's own tables (ROCP_TABLE_MARKER_CORE...), all but the first pointers to functions. */
struct roctx_core_table {
	uint64_t size;
	void (*mark)(const char *message);
	int (*range_push)(const char *message);
	int (*range_pop)(void);
	uint64_t (*range_start)(const char *message);
	void (*range_stop)(uint64_t id);
	int (*get_thread_id)(uint64_t *id_out);
};
struct roctx_control_table {
	uint64_t size;
	int (*pause)(uint64_t thread);
	int (*resume)(uint64_t thread);
};

/* ---- tables of the runtimes ---- */

enum rocp_table { /* bits */
	ROCP_TABLE_HSA = 1 << 0,
	ROCP_TABLE_HIP_RUNTIME = 1 << 1,
	ROCP_TABLE_HIP_COMPILER = 1 << 2,
	ROCP_TABLE_MARKER_CORE = 1 << 3,
	ROCP_TABLE_MARKER_CONTROL = 1 << 4,
	ROCP_TABLE_MARKER_NAME = 1 << 5,
	ROCP_TABLE_RCCL = 1 << 6,
};
/* Inside the runtime's initialisation (hsa_init): only pointers may be patched here. The SDK's own
 * wrappers are in already. */
typedef void (*rocp_table_callback)(uint32_t kind, uint64_t version, uint64_t instance,
				    void **tables, uint64_t n, void *data);
typedef void (*rocp_thread_callback)(uint32_t library, void *data);

/* ---- functions ---- */

/* F: needed; without one of them there is no counting. O: may be absent. All but the first two of
 * each kind return enum rocp_status. */
#define ROCP_FUNCTIONS(F, O)                                                                    \
	F(rocprofiler_get_version, (uint32_t * major, uint32_t * minor, uint32_t * patch))      \
	F(rocprofiler_create_context, (uint64_t * context))                                     \
	F(rocprofiler_start_context, (uint64_t context))                                        \
	F(rocprofiler_stop_context, (uint64_t context))                                         \
	F(rocprofiler_context_is_active, (uint64_t context, int *active_out))                   \
	O(rocprofiler_context_is_valid, (uint64_t context, int *valid_out))                     \
	F(rocprofiler_query_available_agents,                                                   \
	  (uint32_t version, rocp_agents_callback callback, size_t agent_size, void *data))     \
	F(rocprofiler_iterate_agent_supported_counters,                                         \
	  (uint64_t agent, rocp_counters_callback callback, void *data))                        \
	F(rocprofiler_query_counter_info, (uint64_t counter, uint32_t version, void *info_out)) \
	F(rocprofiler_query_record_counter_id, (uint64_t record_id, uint64_t * counter_out))    \
	F(rocprofiler_query_record_dimension_position,                                          \
	  (uint64_t record_id, uint64_t dimension, size_t * position_out))                      \
	F(rocprofiler_create_counter_config,                                                    \
	  (uint64_t agent, uint64_t * counters, size_t n, uint64_t * config))                   \
	F(rocprofiler_destroy_counter_config, (uint64_t config))                                \
	F(rocprofiler_configure_callback_dispatch_counting_service,                             \
	  (uint64_t context, rocp_dispatch_callback dispatch, void *dispatch_arg,               \
	   rocp_record_callback record, void *record_arg))                                      \
	O(rocprofiler_configure_buffer_dispatch_counting_service,                               \
	  (uint64_t context, uint64_t buffer, rocp_dispatch_callback dispatch, void *arg))      \
	O(rocprofiler_create_buffer,                                                            \
	  (uint64_t context, size_t bytes, size_t watermark, uint32_t policy,                   \
	   rocp_buffer_callback callback, void *data, uint64_t *buffer_out))                    \
	O(rocprofiler_flush_buffer, (uint64_t buffer))                                          \
	O(rocprofiler_destroy_buffer, (uint64_t buffer))                                        \
	F(rocprofiler_configure_callback_tracing_service,                                       \
	  (uint64_t context, uint32_t kind, const int32_t *operations, size_t n,                \
	   rocp_tracing_callback callback, void *arg))                                          \
	O(rocprofiler_query_callback_tracing_kind_name,                                         \
	  (uint32_t kind, const char **name_out, uint64_t *length_out))                         \
	O(rocprofiler_query_callback_tracing_kind_operation_name,                               \
	  (uint32_t kind, int32_t operation, const char **name_out, uint64_t *length_out))      \
	O(rocprofiler_iterate_callback_tracing_kinds,                                           \
	  (int (*callback)(uint32_t kind, void *data), void *data))                             \
	F(rocprofiler_at_intercept_table_registration,                                          \
	  (rocp_table_callback callback, int kinds, void *data))                                \
	O(rocprofiler_at_internal_thread_create,                                                \
	  (rocp_thread_callback before, rocp_thread_callback after, int libraries, void *data)) \
	O(rocprofiler_is_initialized, (int *status_out))                                        \
	O(rocprofiler_is_finalized, (int *status_out))                                          \
	O(rocprofiler_force_configure, (rocp_configure configure))

/* These return text: NULL for an unknown status. */
#define ROCP_TEXT_FUNCTIONS(O)                            \
	O(rocprofiler_get_status_name, (uint32_t status)) \
	O(rocprofiler_get_status_string, (uint32_t status))

#include "source/rocm/rocm_abi_layout.h"

#endif
