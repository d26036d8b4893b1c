/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-in for librocprofiler-register.so.0: loads the SDK's stand-in when there is a tool, by the
 * same rules as the real library, and hands each runtime's tables to it.
 */
#include "register.h"

#include "t0.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*set_api_table)(const char *name, uint64_t version, uint64_t instance, void **tables,
			     uint64_t n);
#define EXPORT __attribute__((visibility("default")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static set_api_table set_table;
static bool looked;

static bool is_set(const char *name)
{
	const char *s = getenv(name);
	return s && *s;
}

static set_api_table load_sdk(void)
{
	if (!dlsym(RTLD_DEFAULT, "rocprofiler_configure") && !is_set("ROCP_TOOL_LIBRARIES") &&
	    !is_set("ROCPROFILER_REGISTER_LIBRARY") && !is_set("ROCPROFILER_REGISTER_FORCE_LOAD"))
		return NULL;
	const char *name = getenv("ROCPROFILER_REGISTER_LIBRARY");
	void *sdk = dlopen(name && *name ? name : "librocprofiler-sdk.so", RTLD_GLOBAL | RTLD_LAZY);
	Dl_info here;
	if (!sdk && dladdr((void *)(uintptr_t)&load_sdk, &here)) {
		char beside[4096];
		const char *slash = strrchr(here.dli_fname, '/');
		snprintf(beside, sizeof beside, "%.*slibrocprofiler-sdk.so",
			 slash ? (int)(slash - here.dli_fname + 1) : 0, here.dli_fname);
		sdk = dlopen(beside, RTLD_GLOBAL | RTLD_LAZY);
	}
	if (!sdk) {
		t0_say("no librocprofiler-sdk.so: %s", dlerror());
		return NULL;
	}
	return (set_api_table)dlsym(sdk, "rocprofiler_set_api_table");
}

EXPORT uint32_t rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void),
						       uint32_t version, void **tables, uint64_t n,
						       struct rocp_register_id *id_out)
{
	static const char *const known[] = {"hsa",  "hip",       "hip_compiler", "roctx",
					    "rccl", "rocdecode", "rocjpeg"};
	static uint32_t instances[sizeof known / sizeof *known];
	unsigned which = 0;
	while (which < sizeof known / sizeof *known && strcmp(known[which], name))
		which++;
	if (which == sizeof known / sizeof *known)
		return ROCP_REGISTER_UNSUPPORTED_API;
	if (!n || n > 64)
		return ROCP_REGISTER_BAD_TABLE_LENGTH;
	if (!import || import() != version)
		t0_misuse("%s registers as version %u without saying so itself", name, version);
	pthread_mutex_lock(&lock);
	uint32_t instance = instances[which];
	if (instance < 8)
		instances[which]++;
	if (!looked)
		set_table = load_sdk();
	looked = true;
	pthread_mutex_unlock(&lock);
	if (instance >= 8)
		return ROCP_REGISTER_EXCESS_INSTANCES;
	id_out->handle = which << 8 | instance;
	if (!set_table)
		return ROCP_REGISTER_NO_TOOLS;
	return set_table(name, version, instance, tables, n) ? ROCP_REGISTER_ROCPROFILER_ERROR
							     : ROCP_REGISTER_OK;
}
