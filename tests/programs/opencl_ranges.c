/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL program with marks, whose memory is known by heart: a region "setup" around making the
 * context; then three times a region "pair" of two kernels, `grow` on a (16 KiB, in place) and
 * `add` of a to b (16 KiB); in the second one a region "inner" around `add`. What b holds goes to
 * stdout.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include "opencl_program.h"
#include "retally.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 4096

static const char *const source = "kernel void grow(global int *a) { size_t i = get_global_id(0);\n"
				  "  for (int k = 0; k < 100; k++) a[i] = a[i] * 3 + 1; }\n"
				  "kernel void add(global const int *a, global int *b) { "
				  "b[get_global_id(0)] += a[get_global_id(0)]; }\n";

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static const size_t items = N;

static void setup(void)
{
	cl_int e;

	context = first_context(&device);
	queue = clCreateCommandQueue(context, device, 0, &e);
	must(e, "clCreateCommandQueue");
}

static void run(cl_kernel k)
{
	must(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, NULL, 0, NULL, NULL), "run");
}

int main(void)
{
	static int host[N];
	cl_kernel grow, add;
	cl_program program;
	cl_mem a, b;
	cl_int e;

	RETALLY_BEGIN("setup");
	setup();
	RETALLY_END("setup");
	program =
		clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&source, NULL, &e);
	must(e, "clCreateProgramWithSource");
	must(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
	grow = clCreateKernel(program, "grow", &e);
	must(e, "grow");
	add = clCreateKernel(program, "add", &e);
	must(e, "add");
	for (int i = 0; i < N; i++)
		host[i] = i;
	a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(host), host, &e);
	must(e, "clCreateBuffer");
	b = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(host), host, &e);
	must(e, "clCreateBuffer");
	must(clSetKernelArg(grow, 0, sizeof(a), &a), "clSetKernelArg");
	must(clSetKernelArg(add, 0, sizeof(a), &a), "clSetKernelArg");
	must(clSetKernelArg(add, 1, sizeof(b), &b), "clSetKernelArg");
	for (int i = 0; i < 3; i++) {
		RETALLY_BEGIN("pair");
		run(grow);
		if (i == 1)
			RETALLY_BEGIN("inner");
		run(add);
		if (i == 1)
			RETALLY_END("inner");
		RETALLY_END("pair");
		must(clFinish(queue), "clFinish");
	}
	must(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "read");
	printf("%d %d %d\n", host[0], host[1], host[N - 1]);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	clReleaseKernel(grow);
	clReleaseKernel(add);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
