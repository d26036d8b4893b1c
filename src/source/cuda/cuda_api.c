/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and opening CUPTI. */
#include "source/cuda/cuda_api.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sonames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
/* Newest first: glob sorts ascending, so each match list is walked backwards. */
static const char *const places[] = {
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.*",
	"/usr/local/cuda/lib64/libcupti.so.*",
	"/usr/local/cuda-*/extras/CUPTI/lib64/libcupti.so.*",
	"/usr/local/cuda-*/lib64/libcupti.so.*",
	"/usr/local/cuda-*/lib/libcupti.so.*",
	"/opt/nvidia/hpc_sdk/*/*/cuda/*/extras/CUPTI/lib64/libcupti.so.*",
};

static bool cuda_api_try(struct cuda_api *api, const char *path)
{
	struct link_map *map = NULL;

	api->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!api->library)
		return false;
	snprintf(api->path, sizeof(api->path), "%s",
		 dlinfo(api->library, RTLD_DI_LINKMAP, &map) || !map ? path : map->l_name);
	return true;
}

static bool cuda_api_search(struct cuda_api *api)
{
	bool found = false;
	glob_t g;

	for (size_t i = 0; i < sizeof(sonames) / sizeof(*sonames); i++)
		if (cuda_api_try(api, sonames[i]))
			return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !found; i++) {
		if (glob(places[i], 0, NULL, &g))
			continue;
		for (size_t k = g.gl_pathc; k-- > 0 && !found;)
			found = cuda_api_try(api, g.gl_pathv[k]);
		globfree(&g);
	}
	return found;
}

int cuda_api_open(struct cuda_api *api, struct error *err)
{
	const char *file = getenv("RETALLY_CUPTI");
	int (*get_version)(uint32_t *);

	*api = (struct cuda_api){0};
	if (file && *file) {
		if (!cuda_api_try(api, file))
			return error_set(err, RC_NOT_FOUND, "RETALLY_CUPTI: cannot open '%s': %s",
					 file, dlerror());
	} else if (!cuda_api_search(api)) {
		return error_set(
			err, RC_NOT_FOUND,
			"CUPTI (libcupti.so) was not found; install the CUDA toolkit or set "
			"RETALLY_CUPTI to the file");
	}
	*(void **)&get_version = dlsym(api->library, "cuptiGetVersion");
	if (get_version)
		get_version(&api->version);
#define X(symbol, params)                                                                         \
	*(void **)&api->symbol = dlsym(api->library, #symbol);                                    \
	if (!api->symbol)                                                                         \
		return error_set(err, RC_UNSUPPORTED, "'%s' is too old: it has no %s", api->path, \
				 #symbol);
	CUPTI_HOST_SYMBOLS(X)
#undef X
	return 0;
}

int cuda_api_schedule(const struct cuda_api *api, struct cupti_host *host, const char *const *names,
		      size_t n, size_t *passes_out, uint8_t **config_out, size_t *config_size_out)
{
	CUPTI_NEW(struct cupti_host_add_metrics, add, n);
	CUPTI_NEW(struct cupti_host_image_size, size, image_size);
	CUPTI_NEW(struct cupti_host_image, image, image);
	CUPTI_NEW(struct cupti_host_passes, passes, passes);
	int result;

	*config_out = NULL;
	add.host = size.host = image.host = host;
	/* CUPTI takes the array as writable and does not write to it. */
	memcpy(&add.names, &(const void *){names}, sizeof(add.names));
	add.n = n;
	result = api->cuptiProfilerHostConfigAddMetrics(&add);
	if (!result)
		result = api->cuptiProfilerHostGetConfigImageSize(&size);
	if (result)
		return result;
	*config_size_out = image.image_size = passes.image_size = size.image_size;
	*config_out = calloc(1, size.image_size ? size.image_size : 1);
	if (!*config_out)
		return CUDA_API_NO_MEMORY;
	image.image = passes.image = *config_out;
	result = api->cuptiProfilerHostGetConfigImage(&image);
	if (!result)
		result = api->cuptiProfilerHostGetNumOfPasses(&passes);
	*passes_out = passes.passes;
	return result;
}
