/* SPDX-License-Identifier: Apache-2.0 */
/* Finding rocprofiler-sdk's functions, its versions, its errors in words. */
#include "source/rocm/rocm_api.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static void *look(const char *name)
{
	void *symbol = dlsym(RTLD_DEFAULT, name), *library;

	if (symbol)
		return symbol;
	/* A program may have opened it without giving its names to everybody. */
	library = dlopen("librocprofiler-sdk.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		library = dlopen("librocprofiler-sdk.so", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return NULL;
	symbol = dlsym(library, name);
	dlclose(library); /* only our reference */
	return symbol;
}

static int missing(const char *name, struct error *err)
{
	return error_set(err, RC_UNSUPPORTED, "this rocprofiler-sdk has no '%s'", name);
}

int rocm_api_find(struct rocm_api *api, struct error *err)
{
	*api = (struct rocm_api){0};
#define ROCM_API_NEEDED(name, args)                 \
	*(void **)(void *)&api->name = look(#name); \
	if (!api->name)                             \
		return missing(#name, err);
#define ROCM_API_OPTIONAL(name, args) *(void **)(void *)&api->name = look(#name);
	ROCP_FUNCTIONS(ROCM_API_NEEDED, ROCM_API_OPTIONAL)
#undef ROCM_API_NEEDED
#undef ROCM_API_OPTIONAL
	*(void **)(void *)&api->rocprofiler_get_status_name = look("rocprofiler_get_status_name");
	return 0;
}

int rocm_api_check_version(uint32_t version, const char *text, struct error *err)
{
	uint32_t major = version / 10000;

	if (major == 1)
		return 0;
	return error_set(err, RC_UNSUPPORTED,
			 "rocprofiler-sdk %u.%u%s%.40s%s cannot be used: retally needs 1.x, which "
			 "comes with ROCm 7.0 and later",
			 major, version / 100 % 100, text ? " ('" : "", text ? text : "",
			 text ? "')" : "");
}

int rocm_api_fail(const struct rocm_api *api, uint32_t status, const char *what, struct error *err)
{
	const char *name =
		api->rocprofiler_get_status_name ? api->rocprofiler_get_status_name(status) : NULL;
	int code = status == ROCP_EXCEEDS_HW_LIMIT                                   ? RC_NO_SLOT
		   : status == ROCP_FINALIZED || status == ROCP_CONFIGURATION_LOCKED ? RC_END
		   : status == ROCP_PERMISSION_DENIED                                ? RC_PERMISSION
		   : status == ROCP_CONTEXT_CONFLICT                                 ? RC_BUSY
		   : status == ROCP_OUT_OF_RESOURCES                                 ? RC_NO_MEMORY
		   : status == ROCP_COUNTER_NOT_FOUND                                ? RC_NOT_FOUND
		   : status == ROCP_AGENT_ARCH_NOT_SUPPORTED ? RC_UNSUPPORTED
							     : RC_ERROR;

	if (name && !strncmp(name, "ROCPROFILER_STATUS_ERROR_", 25))
		name += 25;
	return error_set(err, code, "%s: rocprofiler-sdk says %s (%u)", what, name ? name : "",
			 status);
}

int rocm_api_probe(char *path_out, size_t size, struct error *err)
{
	static const char *const names[] = {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so",
					    "/opt/rocm/lib/librocprofiler-sdk.so.1"};
	struct link_map *map = NULL;
	void *library = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !library; i++)
		library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		return error_set(err, RC_NOT_FOUND,
				 "librocprofiler-sdk.so.1 was not found (ROCm 7.0 or later)");
	snprintf(path_out, size, "%s",
		 dlinfo(library, RTLD_DI_LINKMAP, &map) || !map ? names[0] : map->l_name);
	dlclose(library);
	return 0;
}
