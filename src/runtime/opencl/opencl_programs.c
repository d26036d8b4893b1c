/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes all kernels of a program run exactly once: it prints, or it has variables at program
 * scope. Found in its source (opencl_source.c), and in its binary where that does not say; the
 * answers of the last programs are kept.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

#define KNOWN_PROGRAMS 32u
static struct {
	struct vendor_program *program;
	const char *why;
} known[KNOWN_PROGRAMS];
static uint32_t n_known;
/* Some program was built in a version of the language that has variables at program scope. */
static bool may_keep;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

void programs_forget(const char *options)
{
	pthread_mutex_lock(&known_lock);
	n_known = 0;
	may_keep |= options_may_keep(options);
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

/* Whether the built program has the name in it, for any of its devices; true when it cannot be
 * told. */
static bool binary_prints(struct vendor_program *p)
{
	size_t sizes[64] = {0}, got = 0, n, total = 0;
	unsigned char *list[64], *bytes;
	bool prints = false;

	if (layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_BINARY_SIZES, sizeof(sizes), sizes, &got))
		return true;
	n = got / sizeof(*sizes);
	for (size_t i = 0; i < n; i++)
		total += sizes[i];
	bytes = total ? pool_get(total) : NULL;
	if (!bytes)
		return true;
	total = 0;
	for (size_t i = 0; i < n; i++) {
		list[i] = bytes + total;
		total += sizes[i];
	}
	if (layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_BINARIES, n * sizeof(*list), (void *)list,
					NULL))
		prints = true;
	else
		prints = names_printf(bytes, total);
	pool_put(bytes);
	return prints;
}

/* Whether it may keep something in variables at program scope. PoCL 3.1 says of every program that
 * it has none, builds them all the same where -cl-std asks for OpenCL C 2.0, and they keep their
 * values; so its word is not taken. */
static bool has_variables(struct vendor_program *p, const struct device *d, const char *source,
			  bool others)
{
	size_t size = 0;
	char options[4096];

	if (!layer.next.clGetProgramBuildInfo(p, d->handle, OPENCL_PROGRAM_GLOBAL_VARIABLE_SIZE,
					      sizeof(size), &size, NULL) &&
	    size)
		return true;
	if (!source) /* of a binary, or linked: parts may have been built so */
		return others;
	if (layer.next.clGetProgramBuildInfo(p, d->handle, OPENCL_PROGRAM_BUILD_OPTIONS,
					     sizeof(options), options, NULL))
		return others; /* longer than that, or unknown */
	return options_may_keep(options) && (strchr(options, ';') || source_may_keep(source));
}

static const char *examine_program(struct vendor_program *p, const struct device *d, bool others)
{
	const char *why = NULL;
	size_t size = 0;
	char *source = NULL;

	if (!layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_SOURCE, 0, NULL, &size) && size > 1)
		source = pool_get(size + 1);
	if (source && layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_SOURCE, size, source, NULL)) {
		pool_put(source);
		source = NULL;
	}
	if (has_variables(p, d, source, others))
		why = "its program has variables at program scope, or it cannot be told that it "
		      "has none";
	else if ((!source || source_may_print(source)) && binary_prints(p))
		why = "its program prints (printf), or it cannot be told that it does not";
	pool_put(source);
	return why;
}

const char *program_why(struct vendor_program *p, const struct device *d)
{
	const char *why = NULL;
	bool found = false, others;

	pthread_mutex_lock(&known_lock);
	for (uint32_t i = 0; i < n_known && !found; i++)
		if (known[i].program == p) {
			why = known[i].why;
			found = true;
		}
	others = may_keep;
	pthread_mutex_unlock(&known_lock);
	if (found)
		return why;
	why = examine_program(p, d, others);
	pthread_mutex_lock(&known_lock);
	if (n_known == KNOWN_PROGRAMS)
		n_known = 0;
	known[n_known].program = p;
	known[n_known++].why = why;
	pthread_mutex_unlock(&known_lock);
	return why;
}
