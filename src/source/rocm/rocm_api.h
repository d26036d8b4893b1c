/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprofiler-sdk's functions, found at run time: in the program with rocm_api_find, once the
 * library has called us, and in the command with rocm_api_probe, which only looks whether there is
 * one. Nothing is linked, and nothing here needs an installed ROCm.
 */
#ifndef RETALLY_SOURCE_ROCM_API_H
#define RETALLY_SOURCE_ROCM_API_H

#include "base/error.h"
#include "source/rocm/rocm_abi.h"

struct rocm_api {
#define ROCM_API_MEMBER(name, args) uint32_t(*name) args;
	ROCP_FUNCTIONS(ROCM_API_MEMBER, ROCM_API_MEMBER)
#undef ROCM_API_MEMBER
	const char *(*rocprofiler_get_status_name)(uint32_t status);
};

/* RC_UNSUPPORTED names the function that is missing. */
int rocm_api_find(struct rocm_api *api, struct error *err);
/* One of the versions that rocprofiler_configure is called with: 0, or RC_UNSUPPORTED with the
 * sentence that the user reads. text may be NULL. */
int rocm_api_check_version(uint32_t version, const char *text, struct error *err);
/* The status in words, and in a code of ours. what: "starting the counters". */
int rocm_api_fail(const struct rocm_api *api, uint32_t status, const char *what, struct error *err);
/* Path of the library that a program of this environment would load, or NULL with the reason. The
 * library is opened and closed again; its constructors run. */
int rocm_api_probe(char *path_out, size_t size, struct error *err);

#endif
