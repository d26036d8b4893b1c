/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Own declarations of the public C ABI of CUPTI that retally uses: the host half of the range
 * profiler, which plans without a GPU or driver. Facts: layouts of CUPTI 13.0 (x86-64, LP64); every
 * struct starts with its size, so that a newer library knows which fields we have.
 * tests/unit/cuda/check_abi.c compares all of this with the vendor's headers where those are
 * installed.
 */
#ifndef RETALLY_SOURCE_CUDA_ABI_H
#define RETALLY_SOURCE_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

enum cupti_profiler_type {
	CUPTI_RANGE_PROFILER = 0,
	CUPTI_PM_SAMPLING = 1
};

/* Results that mean something to us; any other nonzero value is a failure too. */
enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_INVALID_PARAMETER = 1, /* a metric name it does not know */
	CUPTI_NOT_SUPPORTED = 27,    /* a metric it knows and the range profiler cannot collect */
};

struct cupti_host;

struct cupti_host_initialize {
	size_t size;
	void *reserved;
	int profiler_type;
	const char *chip;
	const uint8_t *availability; /* NULL: every counter of the chip */
	struct cupti_host *host;     /* out */
};
struct cupti_host_deinitialize {
	size_t size;
	void *reserved;
	struct cupti_host *host;
};
struct cupti_host_chips {
	size_t size;
	void *reserved;
	size_t n;                 /* out */
	const char *const *names; /* out, the library's */
};
struct cupti_host_metrics {
	size_t size;
	void *reserved;
	struct cupti_host *host;
	int type;           /* 0 counter, 1 ratio, 2 throughput */
	const char **names; /* out, the library's */
	size_t n;           /* out */
};
struct cupti_host_properties {
	size_t size;
	void *reserved;
	struct cupti_host *host;
	const char *name;
	const char *description; /* out, the library's */
	const char *hw_unit;     /* out */
	const char *dim_unit;    /* out */
	int type;                /* out */
};
struct cupti_host_add_metrics {
	size_t size;
	void *reserved;
	struct cupti_host *host;
	const char **names;
	size_t n;
};
struct cupti_host_image_size {
	size_t size;
	void *reserved;
	struct cupti_host *host;
	size_t image_size; /* out, bytes */
};
struct cupti_host_image {
	size_t size;
	void *reserved;
	struct cupti_host *host;
	size_t image_size;
	uint8_t *image; /* caller's */
};
struct cupti_host_passes {
	size_t size;
	void *reserved;
	size_t image_size;
	uint8_t *image;
	size_t passes; /* out */
};

_Static_assert(sizeof(struct cupti_host_initialize) == 48, "ABI");
_Static_assert(offsetof(struct cupti_host_initialize, chip) == 24, "ABI");
_Static_assert(sizeof(struct cupti_host_deinitialize) == 24, "ABI");
_Static_assert(sizeof(struct cupti_host_chips) == 32, "ABI");
_Static_assert(offsetof(struct cupti_host_metrics, names) == 32, "ABI");
_Static_assert(sizeof(struct cupti_host_metrics) == 48, "ABI");
_Static_assert(offsetof(struct cupti_host_properties, type) == 56, "ABI");
_Static_assert(sizeof(struct cupti_host_add_metrics) == 40, "ABI");
_Static_assert(sizeof(struct cupti_host_image_size) == 32, "ABI");
_Static_assert(sizeof(struct cupti_host_image) == 40, "ABI");
_Static_assert(sizeof(struct cupti_host_passes) == 40, "ABI");

/* Size of a struct as the library wants it: up to the end of its last field, without tail padding.
 */
#define CUPTI_STRUCT_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))
/* Declares a struct of arguments, zero but for its size. */
#define CUPTI_NEW(type, variable, last) type variable = {.size = CUPTI_STRUCT_SIZE(type, last)}

/* The symbols, one list: pointer table, loading and messages come from it. */
#define CUPTI_HOST_SYMBOLS(X)                                                 \
	X(cuptiProfilerHostInitialize, struct cupti_host_initialize)          \
	X(cuptiProfilerHostDeinitialize, struct cupti_host_deinitialize)      \
	X(cuptiProfilerHostGetSupportedChips, struct cupti_host_chips)        \
	X(cuptiProfilerHostGetBaseMetrics, struct cupti_host_metrics)         \
	X(cuptiProfilerHostGetMetricProperties, struct cupti_host_properties) \
	X(cuptiProfilerHostConfigAddMetrics, struct cupti_host_add_metrics)   \
	X(cuptiProfilerHostGetConfigImageSize, struct cupti_host_image_size)  \
	X(cuptiProfilerHostGetConfigImage, struct cupti_host_image)           \
	X(cuptiProfilerHostGetNumOfPasses, struct cupti_host_passes)

#endif
