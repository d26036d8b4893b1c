/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Own declarations of CUPTI's target half: range profiler, callbacks, device support. Facts:
 * layouts of CUPTI 13.0 (x86-64, LP64), checked by tests/unit/cuda/check_abi.c against the vendor's
 * headers where those are installed. As in cuda_abi.h every struct starts with its size.
 */
#ifndef RETALLY_SOURCE_CUDA_RANGE_ABI_H
#define RETALLY_SOURCE_CUDA_RANGE_ABI_H

#include "source/cuda/cuda_abi.h"

struct CUctx_st;
struct CUstream_st;
struct cupti_range_profiler;

enum cupti_range_kind {
	CUPTI_RANGE_AUTO = 1,
	CUPTI_RANGE_USER = 2
};
enum cupti_replay_kind {
	CUPTI_REPLAY_APPLICATION = 1,
	CUPTI_REPLAY_KERNEL = 2,
	CUPTI_REPLAY_USER = 3
};
/* More results that mean something to us (cupti_result.h). */
enum cupti_target_result {
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_UNKNOWN = 999, /* also: no driver */
};

struct cupti_profiler_initialize {
	size_t size;
	void *reserved;
};
struct cupti_chip_name {
	size_t size;
	void *reserved;
	size_t device;
	const char *chip; /* out, the library's */
};
struct cupti_availability {
	size_t size;
	void *reserved;
	struct CUctx_st *context;
	size_t image_size; /* in and out */
	uint8_t *image;    /* NULL: only the size */
};
/* Reasons for which a device cannot be profiled: each 0 unknown, 1 unsupported, 2 disabled, 3 fine.
 */
struct cupti_device_supported {
	size_t size;
	void *reserved;
	int device;
	int supported; /* out, as all below */
	int architecture;
	int sli;
	int vgpu;
	int confidential;
	int cmp;
	int wsl;
	int api; /* in: 0 range profiling */
};
struct cupti_range_enable {
	size_t size;
	void *reserved;
	struct CUctx_st *context;
	struct cupti_range_profiler *profiler; /* out */
};
struct cupti_range_profiler_only { /* disable, start, pop range */
	size_t size;
	void *reserved;
	struct cupti_range_profiler *profiler;
};
struct cupti_range_config {
	size_t size;
	void *reserved;
	struct cupti_range_profiler *profiler;
	size_t config_size;
	const uint8_t *config;
	size_t data_size;
	uint8_t *data;
	int range;  /* enum cupti_range_kind */
	int replay; /* enum cupti_replay_kind */
	size_t max_ranges;
	uint16_t n_levels;
	uint16_t min_level;
	size_t pass;
	uint16_t target_level;
};
struct cupti_range_stop {
	size_t size;
	void *reserved;
	struct cupti_range_profiler *profiler;
	size_t pass;         /* out */
	size_t target_level; /* out */
	uint8_t all_passes;  /* out: 1 when every pass of the configuration was submitted */
};
struct cupti_range_push {
	size_t size;
	void *reserved;
	struct cupti_range_profiler *profiler;
	const char *name;
};
struct cupti_range_decode {
	size_t size;
	void *reserved;
	struct cupti_range_profiler *profiler;
	size_t dropped; /* out: ranges */
};
struct cupti_range_data_size {
	size_t size;
	void *reserved;
	struct cupti_range_profiler *profiler;
	const char **names;
	size_t n;
	size_t max_ranges;
	uint32_t max_nodes;
	size_t data_size; /* out */
};
struct cupti_range_data_initialize {
	size_t size;
	void *reserved;
	struct cupti_range_profiler *profiler;
	size_t data_size;
	uint8_t *data;
};
struct cupti_range_data_info {
	size_t size;
	void *reserved;
	const uint8_t *data;
	size_t data_size;
	size_t n_ranges; /* out */
};
struct cupti_host_evaluate {
	size_t size;
	void *reserved;
	struct cupti_host *host;
	const uint8_t *data;
	size_t data_size;
	size_t range;
	const char **names;
	size_t n;
	double *values; /* room for n; NaN where it cannot be evaluated */
};

_Static_assert(sizeof(struct cupti_profiler_initialize) == 16, "ABI");
_Static_assert(sizeof(struct cupti_availability) == 40, "ABI");
_Static_assert(sizeof(struct cupti_device_supported) == 56, "ABI");
_Static_assert(sizeof(struct cupti_range_enable) == 32, "ABI");
_Static_assert(offsetof(struct cupti_range_config, range) == 56, "ABI");
_Static_assert(offsetof(struct cupti_range_config, pass) == 80, "ABI");
_Static_assert(sizeof(struct cupti_range_config) == 96, "ABI");
_Static_assert(offsetof(struct cupti_range_stop, all_passes) == 40, "ABI");
_Static_assert(offsetof(struct cupti_range_data_size, data_size) == 56, "ABI");
_Static_assert(sizeof(struct cupti_host_evaluate) == 72, "ABI");

/* Symbols of one params struct each. */
#define CUPTI_TARGET_SYMBOLS(X)                                                             \
	X(cuptiProfilerInitialize, struct cupti_profiler_initialize)                        \
	X(cuptiDeviceGetChipName, struct cupti_chip_name)                                   \
	X(cuptiProfilerGetCounterAvailability, struct cupti_availability)                   \
	X(cuptiProfilerDeviceSupported, struct cupti_device_supported)                      \
	X(cuptiRangeProfilerEnable, struct cupti_range_enable)                              \
	X(cuptiRangeProfilerDisable, struct cupti_range_profiler_only)                      \
	X(cuptiRangeProfilerSetConfig, struct cupti_range_config)                           \
	X(cuptiRangeProfilerStart, struct cupti_range_profiler_only)                        \
	X(cuptiRangeProfilerStop, struct cupti_range_stop)                                  \
	X(cuptiRangeProfilerPushRange, struct cupti_range_push)                             \
	X(cuptiRangeProfilerPopRange, struct cupti_range_profiler_only)                     \
	X(cuptiRangeProfilerDecodeData, struct cupti_range_decode)                          \
	X(cuptiRangeProfilerGetCounterDataSize, struct cupti_range_data_size)               \
	X(cuptiRangeProfilerCounterDataImageInitialize, struct cupti_range_data_initialize) \
	X(cuptiRangeProfilerGetCounterDataInfo, struct cupti_range_data_info)               \
	X(cuptiProfilerHostEvaluateToGpuValues, struct cupti_host_evaluate)

/* ---- callbacks ---- */
enum cupti_domain {
	CUPTI_DRIVER_API = 1,
	CUPTI_RESOURCE = 3,
	CUPTI_NVTX = 5,
	CUPTI_STATE = 6,
};
enum cupti_site {
	CUPTI_ENTER = 0,
	CUPTI_EXIT = 1
};
enum cupti_resource {
	CUPTI_CONTEXT_CREATED = 1,
	CUPTI_CONTEXT_DESTROY_STARTING = 2,
	CUPTI_STREAM_CREATED = 3,
	CUPTI_STREAM_DESTROY_STARTING = 4,
	CUPTI_MODULE_LOADED = 6,
	CUPTI_MODULE_UNLOAD_STARTING = 7,
};
struct cupti_callback_data {
	int site; /* enum cupti_site */
	const char *function;
	const void *params; /* struct of the function's arguments, see cuda_driver_abi.h */
	void *result;       /* CUresult *, at exit */
	const char *symbol; /* of launches: the mangled kernel name */
	struct CUctx_st *context;
	uint32_t context_id;
	uint64_t *correlation; /* 64 bits kept from enter to exit */
	uint32_t correlation_id;
};
struct cupti_resource_data {
	struct CUctx_st *context;
	struct CUstream_st *stream;
	void *descriptor;
};
struct cupti_module_data {
	uint32_t module;
	size_t cubin_size;
	const char *cubin;
};
struct cupti_subscriber_params {
	size_t size;
	const char *name; /* at most 53 characters */
	char *old_name;   /* of the client that is there already */
	size_t old_size;  /* at least 64 */
};
struct cupti_subscriber;
typedef void cupti_callback(void *user, int domain, uint32_t id, const void *data);

_Static_assert(offsetof(struct cupti_callback_data, params) == 16, "ABI");
_Static_assert(offsetof(struct cupti_callback_data, context) == 40, "ABI");
_Static_assert(sizeof(struct cupti_callback_data) == 72, "ABI");
_Static_assert(sizeof(struct cupti_module_data) == 24, "ABI");

#define CUPTI_CALLBACK_SYMBOLS(X)                                                    \
	X(cuptiSubscribe, (struct cupti_subscriber **, cupti_callback *, void *))    \
	X(cuptiUnsubscribe, (struct cupti_subscriber *))                             \
	X(cuptiEnableCallback, (uint32_t, struct cupti_subscriber *, int, uint32_t)) \
	X(cuptiEnableDomain, (uint32_t, struct cupti_subscriber *, int))             \
	X(cuptiGetCallbackName, (int, uint32_t, const char **))

#endif
