/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the driver and CUPTI's target half. */
#include "source/cuda/cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>

int cuda_driver_open(struct cuda_driver *d, struct error *err)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	*d = (struct cuda_driver){0};
	if (!library)
		return error_set(err, RC_NOT_FOUND, "libcuda.so.1 is not loaded in this process");
#define R(symbol, name, arguments)                                                                \
	*(void **)&d->name = dlsym(library, #symbol);                                             \
	if (!d->name)                                                                             \
		return error_set(err, RC_UNSUPPORTED, "the CUDA driver is too old: it has no %s", \
				 #symbol);
#define O(symbol, name, arguments) *(void **)&d->name = dlsym(library, #symbol);
	CUDA_DRIVER_SYMBOLS(R, O)
#undef R
#undef O
	return 0;
}

int cuda_target_open(struct cuda_target *t, struct error *err)
{
	int rc;

	*t = (struct cuda_target){0};
	rc = cuda_api_open(&t->host, err);
	if (rc)
		return rc;
#define X(symbol, params)                                                              \
	*(void **)&t->symbol = dlsym(t->host.library, #symbol);                        \
	if (!t->symbol)                                                                \
		return error_set(err, RC_UNSUPPORTED, "'%s' is too old: it has no %s", \
				 t->host.path, #symbol);
	CUPTI_TARGET_SYMBOLS(X)
	CUPTI_CALLBACK_SYMBOLS(X)
#undef X
	*(void **)&t->cuptiSubscribe_v2 = dlsym(t->host.library, "cuptiSubscribe_v2");
	return 0;
}

const char *cuda_driver_error(const struct cuda_driver *d, cu_result result)
{
	static _Thread_local char text[80];
	const char *name = NULL;

	if (!d->error_name || d->error_name(result, &name) || !name)
		name = "CUDA error";
	snprintf(text, sizeof(text), "%s (%d)", name, result);
	return text;
}
