/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes all kernels of a program run exactly once: it prints, or it has variables at program
 * scope. Found in its source (opencl_source.c), and in its binary (opencl_bitcode.c) where that
 * does not say; the answers of the last programs are kept.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

#define KNOWN_PROGRAMS 32u
static struct {
	struct vendor_program *program;
	const char *why;
} known[KNOWN_PROGRAMS];
static uint32_t n_known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

void programs_forget(void)
{
	pthread_mutex_lock(&known_lock);
	n_known = 0;
	pthread_mutex_unlock(&known_lock);
}

/* PoCL puts variables of its own printf into every program, whether it prints or not; what only
 * programs that print have is the function's own name, and others around it. */
static bool is_always_there(const unsigned char *at, size_t before, size_t after)
{
	if (before >= 1 && after >= 7 && at[-1] == '_' && !memcmp(at + 6, "_buffer", 7))
		return true;
	return before >= 7 && after >= 11 && !memcmp(at - 7, "__pocl_", 7) &&
	       !memcmp(at + 6, "_float_libc", 11);
}

static bool names_printf(const unsigned char *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while ((at = memmem(at, n - (size_t)(at - bytes), "printf", 6))) {
		size_t before = (size_t)(at - bytes);

		if (!is_always_there(at, before, n - before - 6))
			return true;
		at += 6;
	}
	return false;
}

/* What was built, for all devices one behind the other: of the pool, or NULL. */
static unsigned char *get_binaries(struct vendor_program *p, size_t *bytes_out)
{
	size_t sizes[64] = {0}, got = 0, n, total = 0;
	unsigned char *list[64], *bytes;

	if (layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, &got))
		return NULL;
	n = got / sizeof(*sizes);
	for (size_t i = 0; i < n; i++)
		total += sizes[i];
	bytes = total ? pool_get(total) : NULL;
	if (!bytes)
		return NULL;
	*bytes_out = total;
	total = 0;
	for (size_t i = 0; i < n; i++) {
		list[i] = bytes + total;
		total += sizes[i];
	}
	if (!layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_BINARIES, n * sizeof(*list),
					 (void *)list, NULL))
		return bytes;
	pool_put(bytes);
	return NULL;
}

static char *get_source(struct vendor_program *p)
{
	size_t size = 0;
	char *source;

	if (layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_SOURCE, 0, NULL, &size) || size <= 1)
		return NULL;
	source = pool_get(size + 1);
	if (!source || !layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_SOURCE, size, source, NULL))
		return source;
	pool_put(source);
	return NULL;
}

/* Whether the source and the options it was built with show that it keeps nothing. */
static bool source_keeps_nothing(struct vendor_program *p, const struct device *d,
				 const char *source)
{
	char options[4096];

	if (!source || layer.next.clGetProgramBuildInfo(p, d->handle, OPENCL_PROGRAM_BUILD_OPTIONS,
							sizeof(options), options, NULL))
		return false;
	return !options_may_keep(options) || (!strchr(options, ';') && !source_may_keep(source));
}

/* Whether the device has no variables that keep their value: it says so, or has a version of OpenCL
 * without them. PoCL 3.1 says so and builds them all the same where -cl-std asks for OpenCL C 2.0,
 * and they keep their values; so its word is not taken. */
static bool device_keeps_nothing(const struct device *d)
{
	size_t most = 0;
	int32_t status;

	if (!strcmp(d->platform, OPENCL_POCL))
		return false;
	status = layer.next.clGetDeviceInfo(d->handle, OPENCL_DEVICE_MAX_VARIABLE_SIZE,
					    sizeof(most), &most, NULL);
	return status == OPENCL_INVALID_VALUE || (!status && !most);
}

/* The binary is looked at where the source does not say: PoCL compiles all kernels for it. */
static const char *examine_program(struct vendor_program *p, const struct device *d)
{
	char *source = get_source(p);
	bool keeps = !source_keeps_nothing(p, d, source) && !device_keeps_nothing(d);
	bool prints = !source || source_may_print(source);
	unsigned char *bytes = NULL;
	size_t total = 0, size = 0;

	if (keeps || prints)
		bytes = get_binaries(p, &total);
	if (bytes) {
		keeps = keeps && bitcode_may_keep(bytes, total);
		prints = prints && names_printf(bytes, total);
	}
	if (!layer.next.clGetProgramBuildInfo(p, d->handle, OPENCL_PROGRAM_GLOBAL_VARIABLE_SIZE,
					      sizeof(size), &size, NULL) &&
	    size)
		keeps = true;
	pool_put(bytes);
	pool_put(source);
	if (keeps)
		return "its program has variables at program scope, or it cannot be told that it "
		       "has none";
	return prints ? "its program prints (printf), or it cannot be told that it does not" : NULL;
}

const char *program_why(struct vendor_program *p, const struct device *d)
{
	const char *why = NULL;
	bool found = false;

	pthread_mutex_lock(&known_lock);
	for (uint32_t i = 0; i < n_known && !found; i++)
		if (known[i].program == p) {
			why = known[i].why;
			found = true;
		}
	pthread_mutex_unlock(&known_lock);
	if (found)
		return why;
	why = examine_program(p, d);
	pthread_mutex_lock(&known_lock);
	if (n_known == KNOWN_PROGRAMS)
		n_known = 0;
	known[n_known].program = p;
	known[n_known++].why = why;
	pthread_mutex_unlock(&known_lock);
	return why;
}
