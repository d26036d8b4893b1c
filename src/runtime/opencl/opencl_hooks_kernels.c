/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of programs and kernels: the table of arguments of every kernel object, and what makes a
 * kernel one that must run exactly once (program-scope variables, printf, pointers that the layer
 * cannot follow).
 */
#include "runtime/opencl/opencl_internal.h"

#include <ctype.h>
#include <string.h>

/* ---- what a program has in it ---- */

#define KNOWN_PROGRAMS 32u
static struct {
	struct vendor_program *program;
	const char *why;
} known[KNOWN_PROGRAMS];
static uint32_t n_known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

/* Built again, or another one at its address. */
static void forget_programs(void)
{
	pthread_mutex_lock(&known_lock);
	n_known = 0;
	pthread_mutex_unlock(&known_lock);
}

static const char *skip_text(const char *at, char quote)
{
	for (at++; *at && *at != quote; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether the source, without its comments and strings, may print: it names printf, or takes in
 * text that is not here. */
static bool may_print(const char *source)
{
	const char *at = source;

	while (*at) {
		if (at[0] == '/' && at[1] == '/') {
			while (*at && *at != '\n')
				at++;
		} else if (at[0] == '/' && at[1] == '*') {
			const char *end = strstr(at + 2, "*/");

			at = end ? end + 2 : at + strlen(at);
		} else if (*at == '"' || *at == '\'') {
			at = skip_text(at, *at);
		} else if (*at == '#') {
			for (at++; *at == ' ' || *at == '\t'; at++)
				;
			if (!strncmp(at, "include", 7))
				return true;
		} else if (is_word(*at)) {
			size_t n = 1;

			while (is_word(at[n]))
				n++;
			if (n == 6 && !memcmp(at, "printf", 6))
				return true;
			at += n;
		} else {
			at++;
		}
	}
	return false;
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

static const char *examine_program(struct vendor_program *p, const struct device *d)
{
	size_t size = 0, variables = 0;
	char *source = NULL;
	bool prints = true;

	if (!layer.next.clGetProgramBuildInfo(p, d->handle, OPENCL_PROGRAM_GLOBAL_VARIABLE_SIZE,
					      sizeof(variables), &variables, NULL) &&
	    variables)
		return "its program has variables at program scope";
	if (!layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_SOURCE, 0, NULL, &size) && size > 1)
		source = pool_get(size + 1);
	if (source && !layer.next.clGetProgramInfo(p, OPENCL_PROGRAM_SOURCE, size, source, NULL))
		prints = may_print(source);
	pool_put(source);
	if (prints && binary_prints(p))
		return "its program prints (printf), or it cannot be told that it does not";
	return NULL;
}

static const char *why_of_program(struct vendor_program *p, const struct device *d)
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

const char *kernel_why(struct kernel *k, const struct device *d)
{
	if (!k->examined) {
		const char *why = why_of_program(k->program, d);

		if (why)
			k->why = why;
		k->examined = true;
	}
	return k->why ? k->why : k->argument;
}

static int32_t build_program(struct vendor_program *p, uint32_t n,
			     struct vendor_device *const *devices, const char *options,
			     opencl_program_notify *notify, void *data)
{
	if (layer_is_on()) {
		rules_apply_context("clBuildProgram", NULL);
		forget_programs();
	}
	return layer.next.clBuildProgram(p, n, devices, options, notify, data);
}

static int32_t compile_program(struct vendor_program *p, uint32_t n,
			       struct vendor_device *const *devices, const char *options,
			       uint32_t n_headers, struct vendor_program *const *headers,
			       const char **names, opencl_program_notify *notify, void *data)
{
	if (layer_is_on()) {
		rules_apply_context("clCompileProgram", NULL);
		forget_programs();
	}
	return layer.next.clCompileProgram(p, n, devices, options, n_headers, headers, names,
					   notify, data);
}

static struct vendor_program *
link_program(struct vendor_context *c, uint32_t n, struct vendor_device *const *devices,
	     const char *options, uint32_t n_inputs, struct vendor_program *const *inputs,
	     opencl_program_notify *notify, void *data, int32_t *status)
{
	forget_programs();
	return layer.next.clLinkProgram(c, n, devices, options, n_inputs, inputs, notify, data,
					status);
}

/* ---- kernels ---- */

static struct vendor_kernel *create_kernel(struct vendor_program *p, const char *name,
					   int32_t *status)
{
	struct vendor_kernel *k = layer.next.clCreateKernel(p, name, status);

	if (k && layer_is_on())
		kernel_add(k);
	return k;
}

static int32_t create_kernels(struct vendor_program *p, uint32_t n, struct vendor_kernel **kernels,
			      uint32_t *n_out)
{
	uint32_t made = 0;
	int32_t status = layer.next.clCreateKernelsInProgram(p, n, kernels, &made);

	if (n_out)
		*n_out = made;
	for (uint32_t i = 0; !status && kernels && i < made && i < n && layer_is_on(); i++)
		kernel_add(kernels[i]);
	return status;
}

static bool set_argument(struct argument *a, size_t size, const void *value)
{
	a->is_set = true;
	a->is_local = !value;
	a->size = size;
	if (!value)
		return true;
	if (a->room < size) {
		unsigned char *more = pool_get(size);

		if (!more)
			return false;
		pool_put(a->bytes);
		a->bytes = more;
		a->room = size;
	}
	memcpy(a->bytes, value, size);
	return true;
}

static struct vendor_kernel *clone_kernel(struct vendor_kernel *handle, int32_t *status)
{
	struct vendor_kernel *clone = layer.next.clCloneKernel(handle, status);
	struct kernel *from, *to;

	if (!clone || !layer_is_on())
		return clone;
	from = track_find(handle, OBJECT_KERNEL);
	to = kernel_add(clone);
	if (!to)
		return clone;
	to->why = from ? from->why : "it was cloned from an unknown kernel object";
	to->argument = from ? from->argument : NULL;
	to->svm_argument = from ? from->svm_argument : 0;
	for (uint32_t i = 0; from && i < from->n_arguments && i < to->n_arguments; i++) {
		const struct argument *a = &from->arguments[i];

		if (a->is_set &&
		    !set_argument(&to->arguments[i], a->size, a->is_local ? NULL : a->bytes))
			to->why = "out of memory for its arguments";
	}
	return clone;
}

static int32_t retain_kernel(struct vendor_kernel *k)
{
	int32_t status = layer.next.clRetainKernel(k);

	if (!status && layer_is_on())
		track_retain(k, OBJECT_KERNEL);
	return status;
}

static int32_t release_kernel(struct vendor_kernel *handle)
{
	struct kernel *k = layer_is_on() ? track_find(handle, OBJECT_KERNEL) : NULL;

	if (k && track_release(handle, OBJECT_KERNEL)) {
		track_remove(k);
		kernel_leave(k);
	}
	return layer.next.clReleaseKernel(handle);
}

static int32_t set_kernel_arg(struct vendor_kernel *handle, uint32_t i, size_t size,
			      const void *value)
{
	int32_t status = layer.next.clSetKernelArg(handle, i, size, value);
	struct kernel *k = !status && layer_is_on() ? track_find(handle, OBJECT_KERNEL) : NULL;

	if (!k || i >= k->n_arguments)
		return status;
	if (k->argument && k->svm_argument == i)
		k->argument = NULL;
	if (!set_argument(&k->arguments[i], size, value))
		k->why = "out of memory for its arguments";
	return status;
}

static int32_t set_kernel_arg_svm(struct vendor_kernel *handle, uint32_t i, const void *value)
{
	int32_t status = layer.next.clSetKernelArgSVMPointer(handle, i, value);
	struct kernel *k = !status && layer_is_on() ? track_find(handle, OBJECT_KERNEL) : NULL;

	if (k) {
		/* One of them is remembered; with two, the kernel stays declined. */
		if (k->argument && k->svm_argument != i)
			k->why = "reaches shared virtual memory";
		k->argument = "reaches shared virtual memory";
		k->svm_argument = i;
	}
	return status;
}

static int32_t set_kernel_exec_info(struct vendor_kernel *handle, uint32_t what, size_t size,
				    const void *value)
{
	int32_t status = layer.next.clSetKernelExecInfo(handle, what, size, value);
	struct kernel *k = !status && layer_is_on() ? track_find(handle, OBJECT_KERNEL) : NULL;

	if (k)
		k->why = "reaches shared virtual memory (clSetKernelExecInfo)";
	return status;
}

void hooks_kernels(struct opencl_dispatch *t)
{
	t->clBuildProgram = build_program;
	t->clCompileProgram = compile_program;
	t->clLinkProgram = link_program;
	t->clCreateKernel = create_kernel;
	t->clCreateKernelsInProgram = create_kernels;
	t->clCloneKernel = clone_kernel;
	t->clRetainKernel = retain_kernel;
	t->clReleaseKernel = release_kernel;
	t->clSetKernelArg = set_kernel_arg;
	t->clSetKernelArgSVMPointer = set_kernel_arg_svm;
	t->clSetKernelExecInfo = set_kernel_exec_info;
}
