/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI, opened at run time. Nothing of it is linked or bundled, and it is never closed again. */
#ifndef RETALLY_SOURCE_CUDA_API_H
#define RETALLY_SOURCE_CUDA_API_H

#include "base/error.h"
#include "source/cuda/cuda_abi.h"

struct cuda_api {
	void *library;
	char path[512];   /* of the library that was opened */
	uint32_t version; /* cuptiGetVersion: 130000 for 13.0 */
#define X(symbol, params) int (*symbol)(params *);
	CUPTI_HOST_SYMBOLS(X)
#undef X
};

/* Opens the first library found: RETALLY_CUPTI (a file; no other is tried then), the loader's own
 * search by soname, then the usual places of CUDA toolkits. RC_NOT_FOUND when there is none;
 * RC_UNSUPPORTED names the missing symbol of one that is too old. Not thread-safe; call once. */
int cuda_api_open(struct cuda_api *api, struct error *err);

/* Adds the counters to a host object that has none yet, all at once, and schedules them: the number
 * of passes and the configuration that says so (*config_out: to be freed, also after a failure).
 * Returns CUPTI's result, or CUDA_API_NO_MEMORY. */
#define CUDA_API_NO_MEMORY (-1)
int cuda_api_schedule(const struct cuda_api *api, struct cupti_host *host, const char *const *names,
		      size_t n, size_t *passes_out, uint8_t **config_out, size_t *config_size_out);

#endif
