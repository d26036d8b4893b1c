/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of programs and kernels: the table of arguments of every kernel object, and what makes a
 * kernel one that must run exactly once: what its program has in it (opencl_programs.c), or
 * pointers that the layer cannot follow.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

const char *kernel_why(struct kernel *k, const struct device *d)
{
	if (!k->examined) {
		const char *why = program_why(k->program, d);

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
		programs_forget();
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
		programs_forget();
	}
	return layer.next.clCompileProgram(p, n, devices, options, n_headers, headers, names,
					   notify, data);
}

static struct vendor_program *
link_program(struct vendor_context *c, uint32_t n, struct vendor_device *const *devices,
	     const char *options, uint32_t n_inputs, struct vendor_program *const *inputs,
	     opencl_program_notify *notify, void *data, int32_t *status)
{
	programs_forget();
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
