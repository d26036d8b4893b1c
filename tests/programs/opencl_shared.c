/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What OpenCL 2.0 lets kernels reach past memory objects, one case a line, every kernel in place.
 * Of PoCL 3.1's CPU devices the first two work; tests/standins/opencl/shared.c adds the others.
 * Between the cases runs a kernel that reaches nothing but its buffer.
 *
 *   opencl_shared CASE...   argument  pointers  system  pipe  queue
 */
#define CL_TARGET_OPENCL_VERSION 300
#include "opencl_program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 256u
static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_kernel inc, follow;
static cl_device_svm_capabilities svm;
static const size_t items = N;

static const char *const source =
	"kernel void inc(global int *a) { a[get_global_id(0)] += 1; }\n"
	"kernel void follow(global ulong *at) { ((global int *)at[0])[get_global_id(0)] += 1; }\n";

static void run(cl_kernel k)
{
	must(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, NULL, 0, NULL, NULL), "run");
}

static cl_mem buffer(const void *from, size_t bytes)
{
	cl_int e;
	cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
				  (void *)(uintptr_t)from, &e);

	must(e, "clCreateBuffer");
	return m;
}

static void say(const char *name, const int *a)
{
	printf("%-10s %d %d\n", name, a[0], a[N - 1]);
}

static void show(const char *name, cl_mem m)
{
	int host[N];

	must(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "read");
	say(name, host);
	clReleaseMemObject(m);
}

static void ordinary(void)
{
	int host[N] = {0};
	cl_mem m = buffer(host, sizeof(host));

	must(clSetKernelArg(inc, 0, sizeof(m), &m), "clSetKernelArg");
	for (int i = 0; i < 3; i++)
		run(inc);
	show("ordinary", m);
}

static int *shared_sevens(void)
{
	int seven = 7, *a = clSVMAlloc(context, CL_MEM_READ_WRITE, N * sizeof(int), 0);

	must(a ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "clSVMAlloc");
	must(clEnqueueSVMMemFill(queue, a, &seven, sizeof(seven), N * sizeof(int), 0, NULL, NULL),
	     "clEnqueueSVMMemFill");
	return a;
}

static void case_argument(void)
{
	int *a = shared_sevens(), host[N];

	must(clSetKernelArgSVMPointer(inc, 0, a), "clSetKernelArgSVMPointer");
	for (int i = 0; i < 3; i++)
		run(inc);
	must(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, a, N * sizeof(int), 0,
			     NULL, NULL),
	     "clEnqueueSVMMap");
	say("argument", a);
	a[0] = 100;
	must(clEnqueueSVMUnmap(queue, a, 0, NULL, NULL), "clEnqueueSVMUnmap");
	run(inc);
	must(clEnqueueSVMMemcpy(queue, CL_TRUE, host, a, sizeof(host), 0, NULL, NULL),
	     "clEnqueueSVMMemcpy");
	say("argument", host);
	clSVMFree(context, a);
}

/* The pointer is in a buffer, and the kernel is told of it. */
static void case_pointers(void)
{
	int *a = shared_sevens();
	uint64_t at = (uint64_t)(uintptr_t)a;
	void *list[] = {a};
	cl_mem m = buffer(&at, sizeof(at));

	must(clSetKernelArg(follow, 0, sizeof(m), &m), "clSetKernelArg");
	must(clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof(list), list),
	     "clSetKernelExecInfo");
	for (int i = 0; i < 3; i++)
		run(follow);
	must(clFinish(queue), "clFinish");
	say("pointers", a);
	clReleaseMemObject(m);
	clSVMFree(context, a);
}

/* The pointer is in a buffer, to memory of the process; nobody has to be told. */
static void case_system(void)
{
	static int a[N];
	uint64_t at = (uint64_t)(uintptr_t)a;
	cl_mem m = buffer(&at, sizeof(at));

	must(clSetKernelArg(follow, 0, sizeof(m), &m), "clSetKernelArg");
	for (int i = 0; i < 3; i++)
		run(follow);
	must(clFinish(queue), "clFinish");
	say("system", a);
	clReleaseMemObject(m);
}

static void case_pipe(void)
{
	cl_int e;
	cl_uint packets = 0;
	cl_mem m = clCreatePipe(context, CL_MEM_READ_WRITE, sizeof(int), N, NULL, &e);

	must(e, "clCreatePipe");
	must(clSetKernelArg(inc, 0, sizeof(m), &m), "clSetKernelArg");
	for (int i = 0; i < 3; i++)
		run(inc);
	must(clFinish(queue), "clFinish");
	printf("%-10s %u\n", "pipe", packets);
	clReleaseMemObject(m);
}

static void case_queue(void)
{
	const cl_queue_properties on_device[] = {
		CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE,
		0};
	cl_int e;
	cl_command_queue q = clCreateCommandQueueWithProperties(context, device, on_device, &e);

	must(e, "a queue on the device");
	ordinary();
	clReleaseCommandQueue(q);
}

int main(int argc, char **argv)
{
	cl_program program;
	cl_int e;

	context = first_context(&device);
	queue = clCreateCommandQueueWithProperties(context, device, NULL, &e);
	must(e, "queue");
	program =
		clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&source, NULL, &e);
	must(e, "clCreateProgramWithSource");
	must(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
	inc = clCreateKernel(program, "inc", &e);
	must(e, "inc");
	follow = clCreateKernel(program, "follow", &e);
	must(e, "follow");
	ordinary();
	for (int i = 1; i < argc; i++) {
		bool shared = !strcmp(argv[i], "argument") || !strcmp(argv[i], "pointers"),
		     system = !strcmp(argv[i], "system");

		if (shared || system)
			must(clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof(svm), &svm,
					     NULL),
			     "clGetDeviceInfo");
		if ((shared && !svm) || (system && !(svm & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM)))
			printf("%-10s the device has none\n", argv[i]);
		else if (!strcmp(argv[i], "argument"))
			case_argument();
		else if (!strcmp(argv[i], "pointers"))
			case_pointers();
		else if (system)
			case_system();
		else if (!strcmp(argv[i], "pipe"))
			case_pipe();
		else if (!strcmp(argv[i], "queue"))
			case_queue();
		ordinary();
	}
	clReleaseKernel(inc);
	clReleaseKernel(follow);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
