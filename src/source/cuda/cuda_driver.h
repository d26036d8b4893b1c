/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver and CUPTI's target half in the program's process, opened at run time and never
 * closed. Not thread-safe; once, at attach. */
#ifndef RETALLY_SOURCE_CUDA_DRIVER_H
#define RETALLY_SOURCE_CUDA_DRIVER_H

#include "base/error.h"
#include "source/cuda/cuda_api.h"
#include "source/cuda/cuda_driver_abi.h"
#include "source/cuda/cuda_range_abi.h"

struct cuda_driver {
#define R(symbol, name, arguments) cu_result(*name) arguments;
#define O(symbol, name, arguments) cu_result(*name) arguments;
	CUDA_DRIVER_SYMBOLS(R, O)
#undef R
#undef O
};

struct cuda_target {
	struct cuda_api host; /* CUPTI's planning half, used for evaluation */
#define X(symbol, params) int (*symbol)(params *);
	CUPTI_TARGET_SYMBOLS(X)
#undef X
#define X(symbol, arguments) int(*symbol) arguments;
	CUPTI_CALLBACK_SYMBOLS(X)
#undef X
	/* Newer than the first CUPTI we support: names the other client. May be NULL. */
	int (*cuptiSubscribe_v2)(struct cupti_subscriber **, cupti_callback *, void *,
				 struct cupti_subscriber_params *);
};

/* The program's own libcuda.so.1, which must be loaded already. RC_NOT_FOUND, RC_UNSUPPORTED with
 * the missing symbol's name. */
int cuda_driver_open(struct cuda_driver *d, struct error *err);
/* As cuda_api_open, with the target's symbols. */
int cuda_target_open(struct cuda_target *t, struct error *err);

/* "CUDA_ERROR_OUT_OF_MEMORY (2)" for messages; a static buffer per thread. */
const char *cuda_driver_error(const struct cuda_driver *d, cu_result result);

#endif
