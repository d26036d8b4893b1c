/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of opencl_traps: queues, events, callbacks and threads. */
#include "opencl_traps.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- queues and events ---- */

static volatile int called;

static void CL_CALLBACK call_back(cl_event e, cl_int status, void *data)
{
	(void)e;
	(void)data;
	__sync_fetch_and_add(&called, status == CL_COMPLETE ? 1 : 100);
}

static void wait_called(int n)
{
	for (int i = 0; i < 20000 && called < n; i++)
		usleep(1000);
}

void case_callback(const char *name)
{
	cl_ulong t[4] = {0};
	cl_mem m = buffer();
	cl_kernel k = kernel_of("inc");
	cl_event e;

	called = 0;
	fill(queue, m, 1);
	arg(k, 0, m);
	run(queue, k, 0, NULL, &e);
	must(clSetEventCallback(e, CL_COMPLETE, call_back, NULL), "callback");
	must(clWaitForEvents(1, &e), "wait");
	wait_called(1);
	usleep(20000);
	for (cl_uint i = 0; i < 4; i++)
		must(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_QUEUED + i, sizeof(t[i]),
					     &t[i], NULL),
		     "times");
	printf("%-22s called %d, times in order: %s\n", name, called,
	       t[0] <= t[1] && t[1] <= t[2] && t[2] <= t[3] ? "yes" : "no");
	show(name, "once", queue, m);
	clReleaseEvent(e);
	clReleaseKernel(k);
	clReleaseMemObject(m);
}

static cl_kernel chained_kernel;

static void CL_CALLBACK enqueue_more(cl_event e, cl_int status, void *data)
{
	(void)e;
	(void)status;
	(void)data;
	run(other, chained_kernel, 0, NULL, NULL);
	must(clFlush(other), "clFlush");
	__sync_fetch_and_add(&called, 1);
}

void case_callback_enqueues(const char *name)
{
	cl_mem m = buffer();
	cl_event e;

	called = 0;
	chained_kernel = kernel_of("inc");
	fill(queue, m, 1);
	arg(chained_kernel, 0, m);
	run(queue, chained_kernel, 0, NULL, &e);
	must(clSetEventCallback(e, CL_COMPLETE, enqueue_more, NULL), "callback");
	must(clFlush(queue), "clFlush");
	wait_called(1);
	must(clFinish(other), "clFinish");
	show(name, "twice", other, m);
	clReleaseEvent(e);
	clReleaseKernel(chained_kernel);
	clReleaseMemObject(m);
}

void case_user_event(const char *name)
{
	cl_mem m = buffer();
	cl_kernel k = kernel_of("inc");
	cl_event e, done;
	cl_int status = 0, err;

	fill(queue, m, 1);
	arg(k, 0, m);
	run(queue, k, 0, NULL, NULL);
	e = clCreateUserEvent(context, &err);
	must(err, "clCreateUserEvent");
	run(queue, k, 1, &e, &done);
	must(clFlush(queue), "clFlush");
	must(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL),
	     "status");
	printf("%-22s waits: %s\n", name, status != CL_COMPLETE ? "yes" : "no");
	must(clSetUserEventStatus(e, CL_COMPLETE), "set");
	must(clFinish(queue), "clFinish");
	run(queue, k, 1, &done, NULL);
	show(name, "three", queue, m);
	clReleaseEvent(e);
	clReleaseEvent(done);
	clReleaseKernel(k);
	clReleaseMemObject(m);
}

void case_user_event_two(const char *name)
{
	cl_mem a = buffer(), b = buffer();
	cl_kernel k = kernel_of("inc");
	cl_event e, first, second;
	cl_int err;

	fill(queue, a, 1);
	fill(queue, b, 1);
	e = clCreateUserEvent(context, &err);
	must(err, "clCreateUserEvent");
	arg(k, 0, a);
	run(other, k, 1, &e, &first);
	arg(k, 0, b);
	run(queue, k, 0, NULL, &second);
	run(queue, k, 1, &first, NULL);
	must(clFlush(queue), "clFlush");
	must(clFlush(other), "clFlush");
	must(clSetUserEventStatus(e, CL_COMPLETE), "set");
	must(clFinish(other), "clFinish");
	must(clFinish(queue), "clFinish");
	show(name, "first", queue, a);
	show(name, "second", queue, b);
	clReleaseEvent(e);
	clReleaseEvent(first);
	clReleaseEvent(second);
	clReleaseKernel(k);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
}

void case_chain(const char *name)
{
	cl_mem m = buffer();
	cl_kernel k = kernel_of("inc");
	cl_event before = NULL, next;

	fill(queue, m, 0);
	arg(k, 0, m);
	for (int i = 0; i < 10; i++) {
		run(loose, k, before != NULL, before ? &before : NULL, &next);
		if (before)
			clReleaseEvent(before);
		before = next;
	}
	must(clWaitForEvents(1, &before), "wait");
	show(name, "ten", queue, m);
	clReleaseEvent(before);
	clReleaseKernel(k);
	clReleaseMemObject(m);
}

void case_two_queues(const char *name)
{
	cl_mem m = buffer(), total = buffer();
	cl_kernel inc = kernel_of("inc"), sum = kernel_of("sum");
	const size_t one = 1;
	cl_event made, used = NULL;

	fill(queue, m, 0);
	fill(queue, total, 0);
	arg(inc, 0, m);
	arg(sum, 0, total);
	arg(sum, 1, m);
	for (int i = 0; i < 8; i++) {
		run(queue, inc, used != NULL, used ? &used : NULL, &made);
		must(clFlush(queue), "clFlush");
		if (used)
			clReleaseEvent(used);
		must(clEnqueueNDRangeKernel(other, sum, 1, NULL, &one, NULL, 1, &made, &used),
		     "sum");
		must(clFlush(other), "clFlush");
		clReleaseEvent(made);
	}
	must(clWaitForEvents(1, &used), "wait");
	clReleaseEvent(used);
	show(name, "handed over", other, total);
	clReleaseKernel(inc);
	clReleaseKernel(sum);
	clReleaseMemObject(m);
	clReleaseMemObject(total);
}

static void *thread(void *data)
{
	cl_queue_properties none[] = {0};
	int *result = data, values[N];
	cl_int e;
	cl_command_queue q = clCreateCommandQueueWithProperties(context, device, none, &e);
	cl_mem m = buffer();
	cl_kernel k = kernel_of("inc");

	must(e, "queue");
	memset(values, 0, sizeof(values));
	must(clEnqueueWriteBuffer(q, m, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL),
	     "write");
	arg(k, 0, m);
	for (int i = 0; i < 100; i++)
		run(q, k, 0, NULL, NULL);
	must(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL), "read");
	for (unsigned i = 0; i < N; i++)
		*result += values[i] != 100;
	clReleaseKernel(k);
	clReleaseMemObject(m);
	clReleaseCommandQueue(q);
	return NULL;
}

void case_threads(const char *name)
{
	pthread_t t[4];
	int wrong[4] = {0};

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, &wrong[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%-22s wrong: %d %d %d %d\n", name, wrong[0], wrong[1], wrong[2], wrong[3]);
}

/* Two kernels that wait for each other, and one that waits for a write of the host. */
void case_flags(const char *name)
{
	int zero[N] = {0}, set = 1, values[4];
	const size_t one = 1;
	cl_mem m = buffer();
	cl_kernel a = kernel_of("await"), b = kernel_of("await");

	for (int k = 0; k < 2; k++) {
		int mine = k, theirs = 1 - k;

		arg(k ? b : a, 0, m);
		must(clSetKernelArg(k ? b : a, 1, sizeof(mine), &mine), "value");
		must(clSetKernelArg(k ? b : a, 2, sizeof(theirs), &theirs), "value");
	}
	must(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof(zero), zero, 0, NULL, NULL),
	     "write");
	must(clEnqueueNDRangeKernel(queue, a, 1, NULL, &one, &one, 0, NULL, NULL), "run");
	must(clFlush(queue), "clFlush");
	must(clEnqueueNDRangeKernel(other, b, 1, NULL, &one, &one, 0, NULL, NULL), "run");
	must(clFlush(other), "clFlush");
	must(clFinish(queue), "clFinish");
	must(clFinish(other), "clFinish");
	must(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL),
	     "read");
	printf("%-22s each other: %d %d %d %d\n", name, values[0], values[1], values[2], values[3]);
	fflush(stdout);
	must(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof(zero), zero, 0, NULL, NULL),
	     "write");
	must(clEnqueueNDRangeKernel(queue, a, 1, NULL, &one, &one, 0, NULL, NULL), "run");
	must(clFlush(queue), "clFlush");
	must(clEnqueueWriteBuffer(other, m, CL_FALSE, sizeof(int), sizeof(set), &set, 0, NULL,
				  NULL),
	     "write");
	must(clFlush(other), "clFlush");
	must(clFinish(queue), "clFinish");
	must(clFinish(other), "clFinish");
	must(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL),
	     "read");
	printf("%-22s the host: %d %d %d\n", name, values[0], values[1], values[2]);
	clReleaseKernel(a);
	clReleaseKernel(b);
	clReleaseMemObject(m);
}
