/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL program with regions of the process around its kernels, in which everything is done a
 * known number of times: `advance` runs in GROUPS groups for each launch, `work` is a function of
 * the host. It waits inside of each region, so that windows end and are replayed there.
 *
 *   both    6 times: 10 times work, two launches, a wait, 5 times work; "inner" inside, around the
 *           second launch and the wait
 *   host    3 times: 7 times work, no kernel
 *   once    once: a launch and a wait
 *   before  3 times: a wait alone, for a launch that was made before it
 *   thread  3 times in another thread: a launch, a wait, 3 times work
 *
 * With an argument, a library that is opened and asked for `marked_region`, which is called twice
 * with the function to run in a region "library".
 */
#define CL_TARGET_OPENCL_VERSION 120
#include "opencl_program.h"
#include "region_work.h"
#include "retally.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define N     4096
#define GROUP 64 /* items */

static const char *const source =
	"kernel __attribute__((reqd_work_group_size(64, 1, 1))) void advance(global int *a)\n"
	"{ size_t i = get_global_id(0); a[i] = a[i] * 3 + 1; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_kernel advance;
static void launch(void)
{
	static const size_t items = N, group = GROUP;

	must(clEnqueueNDRangeKernel(queue, advance, 1, NULL, &items, &group, 0, NULL, NULL),
	     "launch");
}

static void wait_for_all(void)
{
	must(clFinish(queue), "clFinish");
}

static void launch_and_wait(void)
{
	work_times(4);
	launch();
	wait_for_all();
}

static void *in_thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		RETALLY_BEGIN("thread");
		launch();
		wait_for_all();
		work_times(3);
		RETALLY_END("thread");
	}
	return NULL;
}

static void regions(void)
{
	for (int i = 0; i < 6; i++) {
		RETALLY_BEGIN("both");
		work_times(10);
		launch();
		RETALLY_BEGIN("inner");
		launch();
		wait_for_all();
		RETALLY_END("inner");
		work_times(5);
		RETALLY_END("both");
	}
	for (int i = 0; i < 3; i++) {
		RETALLY_BEGIN("host");
		work_times(7);
		RETALLY_END("host");
	}
	RETALLY_BEGIN("once");
	launch();
	wait_for_all();
	RETALLY_END("once");
	for (int i = 0; i < 3; i++) {
		launch();
		RETALLY_BEGIN("before");
		wait_for_all();
		RETALLY_END("before");
	}
}

static void of_library(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	void (*marked_region)(void (*f)(void)) = NULL;

	if (handle)
		*(void **)(void *)&marked_region = dlsym(handle, "marked_region");
	if (!marked_region) {
		printf("no marked_region: %s\n", dlerror());
		exit(4);
	}
	marked_region(launch_and_wait);
	marked_region(launch_and_wait);
}

int main(int argc, char **argv)
{
	static int host[N];
	const char *lines[] = {source};
	cl_program program;
	cl_device_id device;
	pthread_t thread;
	cl_mem a;
	cl_int e;
	unsigned sum = 0;

	context = first_context(&device);
	queue = clCreateCommandQueue(context, device, 0, &e);
	must(e, "clCreateCommandQueue");
	program = clCreateProgramWithSource(context, 1, lines, NULL, &e);
	must(e, "clCreateProgramWithSource");
	must(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
	advance = clCreateKernel(program, "advance", &e);
	must(e, "clCreateKernel");
	for (int i = 0; i < N; i++)
		host[i] = i;
	a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(host), host, &e);
	must(e, "clCreateBuffer");
	must(clSetKernelArg(advance, 0, sizeof(a), &a), "clSetKernelArg");
	if (argc > 1) {
		of_library(argv[1]);
	} else {
		regions();
		if (pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL))
			return 5;
	}
	must(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "read");
	for (int i = 0; i < N; i++)
		sum = sum * 31 + (unsigned)host[i];
	printf("%u %lu\n", sum, state);
	clReleaseMemObject(a);
	clReleaseKernel(advance);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
