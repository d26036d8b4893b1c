/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of opencl_traps: kernels, programs and arguments. */
#include "opencl_traps.h"

#include <stdio.h>
#include <string.h>

/* ---- kernels and arguments ---- */

static const char *const printing =
	"kernel void say(global int *a) {\n"
	"  if (get_global_id(0) == 0) printf(\"hello from a kernel %d\\n\", a[0]);\n"
	"  a[get_global_id(0)] += 1; }\n";

void case_local(const char *name)
{
	cl_mem m = buffer();
	cl_kernel k = kernel_of("turn");
	size_t group = 64;

	fill(queue, m, 7);
	arg(k, 0, m);
	must(clSetKernelArg(k, 1, 64 * sizeof(int), NULL), "local");
	must(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &group, 0, NULL, NULL), "run");
	show(name, "turned", queue, m);
	clReleaseMemObject(m);
	clReleaseKernel(k);
}

void case_atomic(const char *name)
{
	cl_mem m = buffer(), list = buffer();
	cl_kernel k = kernel_of("count"), append = kernel_of("append");

	memset(host, 0, sizeof(host));
	must(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL),
	     "write");
	must(clEnqueueWriteBuffer(queue, list, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL),
	     "write");
	arg(k, 0, m);
	run(queue, k, 0, NULL, NULL);
	show(name, "counted", queue, m);
	memset(host, 0, sizeof(host));
	must(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL),
	     "write");
	arg(append, 0, m);
	arg(append, 1, list);
	run(queue, append, 0, NULL, NULL);
	show(name, "appended", queue, list);
	clReleaseMemObject(m);
	clReleaseMemObject(list);
	clReleaseKernel(k);
	clReleaseKernel(append);
}

void case_changed_args(const char *name)
{
	cl_mem a = buffer(), b = buffer();
	cl_kernel k = kernel_of("add");

	fill(queue, a, 0);
	fill(queue, b, 0);
	for (int i = 0; i < 10; i++) {
		arg(k, 0, i % 2 ? a : b);
		must(clSetKernelArg(k, 1, sizeof(i), &i), "value");
		run(loose, k, 0, NULL, NULL);
		must(clEnqueueBarrierWithWaitList(loose, 0, NULL, NULL), "barrier");
	}
	must(clFinish(loose), "clFinish");
	show(name, "odd", queue, a);
	show(name, "even", queue, b);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	clReleaseKernel(k);
}

void case_clone(const char *name)
{
	cl_mem m = buffer();
	cl_kernel k = kernel_of("add"), c;
	int v = 40;
	cl_int e;

	fill(queue, m, 1);
	arg(k, 0, m);
	must(clSetKernelArg(k, 1, sizeof(v), &v), "value");
	c = clCloneKernel(k, &e);
	must(e, "clCloneKernel");
	v = 1000;
	must(clSetKernelArg(k, 1, sizeof(v), &v), "value");
	run(queue, c, 0, NULL, NULL);
	clReleaseKernel(k);
	run(queue, c, 0, NULL, NULL);
	show(name, "of 40", queue, m);
	clReleaseKernel(c);
	clReleaseMemObject(m);
}

void case_all_kernels(const char *name)
{
	cl_kernel list[32];
	cl_mem m = buffer();
	cl_uint n = 0;

	must(clCreateKernelsInProgram(program, 32, list, &n), "clCreateKernelsInProgram");
	fill(queue, m, 1);
	for (cl_uint i = 0; i < n; i++) {
		char text[64] = "";

		clGetKernelInfo(list[i], CL_KERNEL_FUNCTION_NAME, sizeof(text), text, NULL);
		if (!strcmp(text, "inc")) {
			arg(list[i], 0, m);
			run(queue, list[i], 0, NULL, NULL);
		}
		clRetainKernel(list[i]);
		clReleaseKernel(list[i]);
	}
	show(name, "inc of many", queue, m);
	for (cl_uint i = 0; i < n; i++)
		clReleaseKernel(list[i]);
	clReleaseMemObject(m);
}

void case_printf(const char *name)
{
	cl_program p = build(context, printing);
	cl_mem m = buffer();
	cl_int e;
	cl_kernel k = clCreateKernel(p, "say", &e);

	must(e, "say");
	fill(queue, m, 1);
	arg(k, 0, m);
	run(queue, k, 0, NULL, NULL);
	must(clFinish(queue), "clFinish");
	show(name, "after it", queue, m);
	clReleaseKernel(k);
	clReleaseProgram(p);
	clReleaseMemObject(m);
}

/* A variable at program scope keeps its value from launch to launch; OpenCL cannot save it.
 * PoCL 3.1 has such variables in OpenCL C 2.0, and says that it has not. */
void case_program_scope(const char *name)
{
	cl_program p = build_as(context,
				"global int c = 5;\n"
				"kernel void advance(global int *a) {\n"
				"  if (!get_global_id(0)) { c += 3; a[0] += c; } }\n",
				"-cl-std=CL2.0");
	cl_mem m;
	cl_kernel k;
	cl_int e;

	if (!p) {
		say(name, "not supported", 0, 0, 0);
		return;
	}
	m = buffer();
	fill(queue, m, 1);
	k = clCreateKernel(p, "advance", &e);
	must(e, "advance");
	arg(k, 0, m);
	for (int i = 0; i < 3; i++)
		run(queue, k, 0, NULL, NULL);
	show(name, "three steps", queue, m);
	clReleaseKernel(k);
	clReleaseProgram(p);
	clReleaseMemObject(m);
}

void case_task(const char *name)
{
	cl_mem m = buffer();
	cl_kernel k = kernel_of("inc");

	fill(queue, m, 1);
	arg(k, 0, m);
	must(clEnqueueTask(queue, k, 0, NULL, NULL), "task");
	must(clEnqueueTask(queue, k, 0, NULL, NULL), "task");
	show(name, "two tasks", queue, m);
	clReleaseKernel(k);
	clReleaseMemObject(m);
}

static void CL_CALLBACK native(void *data)
{
	int *a = *(int **)data;

	a[0] = a[0] * 2 + 1;
}

void case_native(const char *name)
{
	cl_device_exec_capabilities can = 0;
	cl_mem m = buffer();
	void *list[1] = {m};
	const void *place = &list[0];

	fill(queue, m, 6);
	clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof(can), &can, NULL);
	if (can & CL_EXEC_NATIVE_KERNEL)
		must(clEnqueueNativeKernel(queue, native, list, sizeof(list), 1, &m, &place, 0,
					   NULL, NULL),
		     "native");
	must(clFinish(queue), "clFinish");
	show(name, "host function", queue, m);
	clReleaseMemObject(m);
}

void case_rebuilt(const char *name)
{
	const char *first = "kernel void f(global int *a) { a[get_global_id(0)] += 2; }";
	cl_mem m = buffer();

	fill(queue, m, 1);
	for (int i = 0; i < 4; i++) {
		cl_program p = build(context, first);
		cl_int e;
		cl_kernel k = clCreateKernel(p, "f", &e);

		must(e, "f");
		arg(k, 0, m);
		run(queue, k, 0, NULL, NULL);
		clReleaseKernel(k); /* what was enqueued goes on */
		clReleaseProgram(p);
	}
	show(name, "four programs", queue, m);
	clReleaseMemObject(m);
}
