/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that does, one after the other, what replay of OpenCL kernels must not break. Each case
 * prints one line with what it read back; the output never depends on time or addresses. Nearly all
 * kernels change memory in place, so that running one twice without restoring shows.
 *
 *   opencl_traps           all cases
 *   opencl_traps CASE...   these; "flags" (kernels that wait for each other) only when named
 *
 * With WITH_DLOPEN it opens libOpenCL itself and looks every function up.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_DLOPEN
#include "opencl_traps_calls.h"

#endif
#include "opencl_program.h"

#define N 256u
static cl_context context;
static cl_device_id device, devices[4];
static cl_uint n_devices;
static cl_program program;
static cl_command_queue queue, other, loose; /* in order, in order, out of order */
static const size_t items = N;
static int host[N];

static const char *const source =
	"kernel void inc(global int *a) { a[get_global_id(0)] += 1; }\n"
	"kernel void add(global int *a, int v) { a[get_global_id(0)] += v; }\n"
	"kernel void two(global int *a, global int *b) {\n"
	"  size_t i = get_global_id(0); a[i] += 1; b[i] += 2; }\n"
	"kernel void sneaky(global const int *ro, global int *o) {\n"
	"  size_t i = get_global_id(0); ((global int *)ro)[i] += 1; o[i] += ro[i]; }\n"
	"kernel void turn(global int *a, local int *s) {\n"
	"  size_t l = get_local_id(0), n = get_local_size(0), g = get_global_id(0);\n"
	"  s[l] = a[g]; barrier(CLK_LOCAL_MEM_FENCE); a[g] = s[n - 1 - l] + 1; }\n"
	"kernel void count(global int *a) { atomic_inc(a); }\n"
	"kernel void append(global int *n, global int *list) {\n"
	"  int i = atomic_inc(n); if (i < 256) list[i] += 1; }\n"
	"kernel void sum(global int *total, global const int *a) {\n"
	"  int s = 0; for (int i = 0; i < 256; i++) s += a[i]; total[0] = total[0] * 3 + s; }\n"
	"kernel void unset(global int *a) { size_t i = get_global_id(0); a[i] = a[i] * 2 + 1; }\n"
	"kernel void image2(read_write image2d_t im) {\n"
	"  int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
	"  uint4 v = read_imageui(im, p); v.x += 1; v.y += v.x; write_imageui(im, p, v); }\n"
	"kernel void layers2(read_write image2d_array_t im) {\n"
	"  int4 p = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n"
	"  uint4 v = read_imageui(im, p); v.x += p.z + 1; write_imageui(im, p, v); }\n"
	"kernel void layers1(read_write image1d_array_t im) {\n"
	"  int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
	"  uint4 v = read_imageui(im, p); v.x += p.y + 1; write_imageui(im, p, v); }\n"
	"kernel void await(global volatile int *flag, int mine, int theirs) {\n"
	"  atomic_xchg(&flag[mine], 1);\n"
	"  for (long i = 0; i < 400000000L && !atomic_add(&flag[theirs], 0); i++) ;\n"
	"  flag[mine + 2] = flag[mine + 2] * 2 + atomic_add(&flag[theirs], 0); }\n";
static const char *const printing =
	"kernel void say(global int *a) {\n"
	"  if (get_global_id(0) == 0) printf(\"hello from a kernel %d\\n\", a[0]);\n"
	"  a[get_global_id(0)] += 1; }\n";

static cl_mem buffer_of(cl_context c, cl_mem_flags flags, size_t bytes, void *from)
{
	cl_int e;
	cl_mem m = clCreateBuffer(c, flags, bytes, from, &e);

	must(e, "clCreateBuffer");
	return m;
}

static cl_mem buffer(void)
{
	return buffer_of(context, CL_MEM_READ_WRITE, sizeof(host), NULL);
}

static cl_kernel kernel_of(const char *name)
{
	cl_int e;
	cl_kernel k = clCreateKernel(program, name, &e);

	must(e, name);
	return k;
}

/* NULL when it cannot be built so. */
static cl_program build_as(cl_context c, const char *text, const char *options)
{
	cl_int e;
	cl_program p = clCreateProgramWithSource(c, 1, (const char **)(uintptr_t)&text, NULL, &e);

	must(e, "clCreateProgramWithSource");
	if (!clBuildProgram(p, 0, NULL, options, NULL, NULL))
		return p;
	clReleaseProgram(p);
	return NULL;
}

static cl_program build(cl_context c, const char *text)
{
	cl_program p = build_as(c, text, "");

	must(p ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE, "clBuildProgram");
	return p;
}

static void arg(cl_kernel k, cl_uint i, cl_mem m)
{
	must(clSetKernelArg(k, i, sizeof(m), &m), "clSetKernelArg");
}

static void fill(cl_command_queue q, cl_mem m, int v)
{
	for (unsigned i = 0; i < N; i++)
		host[i] = v + (int)i;
	must(clEnqueueWriteBuffer(q, m, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "write");
}

static void run(cl_command_queue q, cl_kernel k, cl_uint n, const cl_event *wait, cl_event *event)
{
	must(clEnqueueNDRangeKernel(q, k, 1, NULL, &items, NULL, n, wait, event), "run");
}

static uint64_t sum_of(const void *bytes, size_t n)
{
	const unsigned char *b = bytes;
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 1099511628211u;
	return h;
}

static void say(const char *name, const char *what, uint64_t sum, int first, int last)
{
	printf("%-22s %-12s %016llx %d %d\n", name, what, (unsigned long long)sum, first, last);
	fflush(stdout);
}

static void show(const char *name, const char *what, cl_command_queue q, cl_mem m)
{
	must(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "read");
	say(name, what, sum_of(host, sizeof(host)), host[0], host[N - 1]);
}

/* ---- buffers ---- */

static void case_plain(const char *name)
{
	cl_mem m = buffer();
	cl_kernel k = kernel_of("inc");

	fill(queue, m, 5);
	arg(k, 0, m);
	for (int i = 0; i < 5; i++)
		run(queue, k, 0, NULL, NULL);
	show(name, "five", queue, m);
	run(queue, k, 0, NULL, NULL);
	show(name, "one more", queue, m);
	clReleaseKernel(k);
	clReleaseMemObject(m);
}

static void case_const(const char *name)
{
	cl_mem ro = buffer_of(context, CL_MEM_READ_ONLY, sizeof(host), NULL), o = buffer();
	cl_kernel k = kernel_of("sneaky");

	fill(queue, ro, 1);
	fill(queue, o, 0);
	arg(k, 0, ro);
	arg(k, 1, o);
	run(queue, k, 0, NULL, NULL);
	show(name, "read-only", queue, ro);
	show(name, "written", queue, o);
	clReleaseKernel(k);
	clReleaseMemObject(ro);
	clReleaseMemObject(o);
}

static void case_parts(const char *name)
{
	cl_buffer_region low = {0, 512}, high = {512, 512};
	cl_mem m = buffer(), a, b;
	cl_kernel inc = kernel_of("inc"), two = kernel_of("two");
	size_t half = 128;
	cl_int e;

	a = clCreateSubBuffer(m, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &low, &e);
	must(e, "clCreateSubBuffer");
	b = clCreateSubBuffer(m, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &high, &e);
	must(e, "clCreateSubBuffer");
	fill(queue, m, 1);
	arg(inc, 0, b);
	must(clEnqueueNDRangeKernel(queue, inc, 1, NULL, &half, NULL, 0, NULL, NULL), "run");
	show(name, "upper half", queue, m);
	arg(two, 0, a);
	arg(two, 1, b);
	must(clEnqueueNDRangeKernel(queue, two, 1, NULL, &half, NULL, 0, NULL, NULL), "run");
	show(name, "both halves", queue, m);
	arg(two, 0, m);
	arg(two, 1, m);
	run(queue, two, 0, NULL, NULL);
	show(name, "twice the same", queue, m);
	/* The parent goes before its parts. */
	clReleaseMemObject(m);
	arg(two, 0, a);
	arg(two, 1, b);
	must(clEnqueueNDRangeKernel(queue, two, 1, NULL, &half, NULL, 0, NULL, NULL), "run");
	must(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, 512, host, 0, NULL, NULL), "read");
	say(name, "parent gone", sum_of(host, 512), host[0], host[127]);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	clReleaseKernel(inc);
	clReleaseKernel(two);
}

static void case_host_ptr(const char *name)
{
	int *own = aligned_alloc(4096, 4096), *at;
	cl_kernel k = kernel_of("inc");
	cl_mem m;
	cl_int e;

	for (unsigned i = 0; i < 1024; i++)
		own[i] = 3;
	m = buffer_of(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 4096, own);
	arg(k, 0, m);
	run(queue, k, 0, NULL, NULL);
	run(queue, k, 0, NULL, NULL);
	at = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 4096, 0, NULL,
				NULL, &e);
	must(e, "clEnqueueMapBuffer");
	say(name, "mapped", sum_of(at, 4096), at[0], at[1023]);
	at[0] = 100;
	must(clEnqueueUnmapMemObject(queue, m, at, 0, NULL, NULL), "unmap");
	run(queue, k, 0, NULL, NULL);
	at = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ, 0, 4096, 0, NULL, NULL, &e);
	must(e, "clEnqueueMapBuffer");
	say(name, "raw pointer", sum_of(own, 4096), own[0], own[1023]);
	must(clEnqueueUnmapMemObject(queue, m, at, 0, NULL, NULL), "unmap");
	must(clFinish(queue), "clFinish");
	clReleaseMemObject(m);
	clReleaseKernel(k);
	free(own);
}

static void case_no_access(const char *name)
{
	cl_mem hidden =
		buffer_of(context, CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, sizeof(host), NULL);
	cl_mem m = buffer();
	cl_kernel k = kernel_of("inc");

	fill(queue, m, 20);
	must(clEnqueueCopyBuffer(queue, m, hidden, 0, 0, sizeof(host), 0, NULL, NULL), "copy");
	arg(k, 0, hidden);
	run(queue, k, 0, NULL, NULL);
	run(queue, k, 0, NULL, NULL);
	must(clEnqueueCopyBuffer(queue, hidden, m, 0, 0, sizeof(host), 0, NULL, NULL), "copy");
	show(name, "copied back", queue, m);
	printf("%-22s reading it: %d\n", name,
	       (int)clEnqueueReadBuffer(queue, hidden, CL_TRUE, 0, 4, host, 0, NULL, NULL));
	clReleaseMemObject(hidden);
	clReleaseMemObject(m);
	clReleaseKernel(k);
}

static void case_unset(const char *name)
{
	/* Large enough to come from the system, which clears it. */
	size_t bytes = 36u << 20, n = bytes / sizeof(int);
	cl_mem m = buffer_of(context, CL_MEM_READ_WRITE, bytes, NULL);
	cl_kernel k = kernel_of("unset");
	int *all = malloc(bytes);

	arg(k, 0, m);
	for (int i = 0; i < 2; i++)
		must(clEnqueueNDRangeKernel(queue, k, 1, NULL, &n, NULL, 0, NULL, NULL), "run");
	must(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, bytes, all, 0, NULL, NULL), "read");
	say(name, "never written", sum_of(all, bytes), all[0], all[n - 1]);
	free(all);
	clReleaseMemObject(m);
	clReleaseKernel(k);
}

static void case_sparse(const char *name)
{
	size_t bytes = 16u << 20;
	cl_mem m = buffer_of(context, CL_MEM_READ_WRITE, bytes, NULL);
	cl_kernel k = kernel_of("inc");
	int zero = 0, *all = malloc(bytes);

	must(clEnqueueFillBuffer(queue, m, &zero, 4, 0, bytes, 0, NULL, NULL), "fill");
	arg(k, 0, m);
	for (int i = 0; i < 6; i++) {
		run(queue, k, 0, NULL, NULL);
		must(clFinish(queue), "clFinish");
	}
	must(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, bytes, all, 0, NULL, NULL), "read");
	say(name, "a corner", sum_of(all, bytes), all[0], all[N]);
	free(all);
	clReleaseMemObject(m);
	clReleaseKernel(k);
}

/* ---- kernels and arguments ---- */

static void case_local(const char *name)
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

static void case_atomic(const char *name)
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

static void case_changed_args(const char *name)
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

static void case_clone(const char *name)
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

static void case_all_kernels(const char *name)
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

static void case_printf(const char *name)
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
static void case_program_scope(const char *name)
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

static void case_task(const char *name)
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

static void case_native(const char *name)
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

static void case_rebuilt(const char *name)
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

static void case_callback(const char *name)
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

static void case_callback_enqueues(const char *name)
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

static void case_user_event(const char *name)
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

static void case_user_event_two(const char *name)
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

static void case_chain(const char *name)
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

static void case_two_queues(const char *name)
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

static void case_threads(const char *name)
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
static void case_flags(const char *name)
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

/* ---- transfers ---- */

static void case_write_behind(const char *name)
{
	static int values[8][N];
	cl_mem m = buffer(), total = buffer();
	cl_kernel inc = kernel_of("inc"), sum = kernel_of("sum");
	const size_t one = 1;
	cl_event e;

	fill(queue, total, 0);
	arg(inc, 0, m);
	arg(sum, 0, total);
	arg(sum, 1, m);
	for (int i = 0; i < 8; i++) {
		for (unsigned k = 0; k < N; k++)
			values[i][k] = i * (int)k;
		must(clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, sizeof(host), values[i], 0, NULL,
					  &e),
		     "write");
		run(queue, inc, 0, NULL, NULL);
		must(clEnqueueNDRangeKernel(queue, sum, 1, NULL, &one, NULL, 0, NULL, NULL), "sum");
		must(clWaitForEvents(1, &e), "wait");
		clReleaseEvent(e);
		memset(values[i], 0x55, sizeof(values[i])); /* ours again */
	}
	show(name, "sums", queue, total);
	clReleaseKernel(inc);
	clReleaseKernel(sum);
	clReleaseMemObject(m);
	clReleaseMemObject(total);
}

static void case_copies(const char *name)
{
	cl_mem a = buffer(), b = buffer(), total = buffer();
	cl_kernel inc = kernel_of("inc"), sum = kernel_of("sum");
	const size_t one = 1, from[3] = {0, 1, 0}, to[3] = {16, 2, 0}, region[3] = {32, 4, 1};
	int pattern[2] = {7, 9}, rows[80];

	for (int i = 0; i < 80; i++)
		rows[i] = i * i;
	fill(queue, a, 1);
	fill(queue, b, 1);
	fill(queue, total, 0);
	arg(inc, 0, a);
	arg(sum, 0, total);
	arg(sum, 1, b);
	for (int i = 0; i < 4; i++) {
		run(queue, inc, 0, NULL, NULL);
		must(clEnqueueCopyBuffer(queue, a, b, 0, 256, 512, 0, NULL, NULL), "copy");
		must(clEnqueueFillBuffer(queue, b, pattern, sizeof(pattern), 64, 128, 0, NULL,
					 NULL),
		     "fill");
		must(clEnqueueCopyBufferRect(queue, b, a, from, to, region, 64, 0, 64, 0, 0, NULL,
					     NULL),
		     "rectangle");
		must(clEnqueueWriteBufferRect(queue, b, CL_FALSE, to, from, region, 64, 0, 64, 0,
					      rows, 0, NULL, NULL),
		     "rectangle");
		must(clEnqueueNDRangeKernel(queue, sum, 1, NULL, &one, NULL, 0, NULL, NULL), "sum");
	}
	show(name, "sums", queue, total);
	show(name, "a", queue, a);
	show(name, "b", queue, b);
	clReleaseKernel(inc);
	clReleaseKernel(sum);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	clReleaseMemObject(total);
}

static void case_map_between(const char *name)
{
	cl_mem m = buffer(), still = buffer();
	cl_kernel k = kernel_of("inc");
	int *at, *held;
	cl_int e;

	fill(queue, m, 1);
	fill(queue, still, 1);
	held = clEnqueueMapBuffer(queue, still, CL_TRUE, CL_MAP_READ, 0, sizeof(host), 0, NULL,
				  NULL, &e);
	must(e, "map");
	arg(k, 0, m);
	for (int i = 0; i < 4; i++) {
		run(queue, k, 0, NULL, NULL);
		at = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
					sizeof(host), 0, NULL, NULL, &e);
		must(e, "map");
		at[i] = at[i] * 10 + held[i];
		must(clEnqueueUnmapMemObject(queue, m, at, 0, NULL, NULL), "unmap");
		run(queue, k, 0, NULL, NULL);
	}
	must(clEnqueueUnmapMemObject(queue, still, held, 0, NULL, NULL), "unmap");
	show(name, "both sides", queue, m);
	clReleaseKernel(k);
	clReleaseMemObject(m);
	clReleaseMemObject(still);
}

/* ---- objects that come and go ---- */

static void case_retained(const char *name)
{
	cl_mem m = buffer();
	cl_kernel k = kernel_of("inc");
	cl_uint refs = 0;

	fill(queue, m, 1);
	arg(k, 0, m);
	clRetainMemObject(m);
	clReleaseMemObject(m);
	run(queue, k, 0, NULL, NULL);
	must(clFinish(queue), "clFinish");
	clGetMemObjectInfo(m, CL_MEM_REFERENCE_COUNT, sizeof(refs), &refs, NULL);
	printf("%-22s references %u\n", name, refs);
	show(name, "still there", queue, m);
	clReleaseMemObject(m);
	clReleaseKernel(k);
}

static void case_reused(const char *name)
{
	uint64_t all = 0;
	cl_kernel k = kernel_of("inc");

	for (int i = 0; i < 40; i++) {
		cl_mem m = buffer_of(context, CL_MEM_READ_WRITE, sizeof(host), NULL);

		fill(queue, m, i);
		arg(k, 0, m);
		run(queue, k, 0, NULL, NULL);
		if (i % 2)
			run(queue, k, 0, NULL, NULL);
		must(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL),
		     "read");
		all = all * 31 + sum_of(host, sizeof(host));
		arg(k, 0, m);
		run(queue, k, 0, NULL, NULL); /* and goes with the command under way */
		clReleaseMemObject(m);
	}
	must(clFinish(queue), "clFinish");
	say(name, "forty", all, host[0], host[N - 1]);
	clReleaseKernel(k);
}

static void case_two_contexts(const char *name)
{
	const char *text = "kernel void f(global int *a) { a[get_global_id(0)] += 3; }";
	cl_queue_properties none[] = {0};
	cl_int e;
	cl_context c = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
	cl_command_queue q;
	cl_kernel k, inc = kernel_of("inc");
	cl_program p;
	cl_mem m, mine = buffer();

	must(e, "clCreateContext");
	q = clCreateCommandQueueWithProperties(c, device, none, &e);
	must(e, "queue");
	p = build(c, text);
	k = clCreateKernel(p, "f", &e);
	must(e, "f");
	m = buffer_of(c, CL_MEM_READ_WRITE, sizeof(host), NULL);
	clReleaseContext(c); /* what was made of it keeps it */
	fill(q, m, 1);
	fill(queue, mine, 1);
	arg(k, 0, m);
	arg(inc, 0, mine);
	for (int i = 0; i < 3; i++) {
		run(q, k, 0, NULL, NULL);
		run(queue, inc, 0, NULL, NULL);
	}
	show(name, "second", q, m);
	show(name, "first", queue, mine);
	clReleaseKernel(k);
	clReleaseKernel(inc);
	clReleaseProgram(p);
	clReleaseMemObject(m);
	clReleaseMemObject(mine);
	clReleaseCommandQueue(q);
}

static void case_devices(const char *name)
{
	cl_queue_properties none[] = {0};
	cl_mem m = buffer();
	cl_kernel k = kernel_of("inc");

	fill(queue, m, 1);
	arg(k, 0, m);
	for (int round = 0; round < 2; round++)
		for (cl_uint i = 0; i < n_devices; i++) {
			cl_int e;
			cl_command_queue q =
				clCreateCommandQueueWithProperties(context, devices[i], none, &e);

			must(e, "queue");
			run(q, k, 0, NULL, NULL);
			must(clFinish(q), "clFinish");
			clReleaseCommandQueue(q);
		}
	show(name, "by each twice", queue, m);
	clReleaseKernel(k);
	clReleaseMemObject(m);
}

/* ---- images ---- */

static cl_mem image(cl_mem_object_type type, size_t w, size_t h, size_t n)
{
	cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	cl_image_desc desc;
	unsigned char *pixels = malloc(w * h * n * 4);
	cl_int e;
	cl_mem m;

	memset(&desc, 0, sizeof(desc));
	desc.image_type = type;
	desc.image_width = w;
	desc.image_height = h;
	if (type == CL_MEM_OBJECT_IMAGE3D)
		desc.image_depth = n;
	else
		desc.image_array_size = n;
	for (size_t i = 0; i < w * h * n * 4; i++)
		pixels[i] = (unsigned char)(i * 7);
	m = clCreateImage(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &format, &desc, pixels,
			  &e);
	must(e, "clCreateImage");
	free(pixels);
	return m;
}

static void show_image(const char *name, const char *what, cl_mem m, size_t w, size_t h, size_t n)
{
	const size_t origin[3] = {0, 0, 0}, region[3] = {w, h, n};
	unsigned char *pixels = malloc(w * h * n * 4);

	must(clEnqueueReadImage(queue, m, CL_TRUE, origin, region, 0, 0, pixels, 0, NULL, NULL),
	     "read");
	say(name, what, sum_of(pixels, w * h * n * 4), pixels[0], pixels[w * h * n * 4 - 4]);
	free(pixels);
}

static void case_image(const char *name)
{
	cl_mem m = image(CL_MEM_OBJECT_IMAGE2D, 20, 12, 1),
	       flat = buffer_of(context, CL_MEM_READ_WRITE, 4096, NULL);
	cl_kernel k = kernel_of("image2");
	const size_t size[2] = {20, 12}, at[3] = {3, 2, 0}, region[3] = {8, 4, 1};
	const size_t origin[3] = {0, 0, 0};
	cl_uint color[4] = {1, 2, 3, 4};
	unsigned char pixels[8 * 4 * 4];

	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (unsigned char)i;
	arg(k, 0, m);
	for (int i = 0; i < 3; i++)
		must(clEnqueueNDRangeKernel(queue, k, 2, NULL, size, NULL, 0, NULL, NULL), "run");
	show_image(name, "in place", m, 20, 12, 1);
	for (int i = 0; i < 2; i++) {
		must(clEnqueueWriteImage(queue, m, CL_FALSE, at, region, 0, 0, pixels, 0, NULL,
					 NULL),
		     "write");
		must(clEnqueueNDRangeKernel(queue, k, 2, NULL, size, NULL, 0, NULL, NULL), "run");
		must(clEnqueueCopyImageToBuffer(queue, m, flat, origin, region, 64, 0, NULL, NULL),
		     "to buffer");
		must(clEnqueueCopyBufferToImage(queue, flat, m, 64, at, region, 0, NULL, NULL),
		     "to image");
		must(clEnqueueFillImage(queue, m, color, origin, (const size_t[3]){2, 2, 1}, 0,
					NULL, NULL),
		     "fill");
		must(clEnqueueNDRangeKernel(queue, k, 2, NULL, size, NULL, 0, NULL, NULL), "run");
	}
	show_image(name, "and copies", m, 20, 12, 1);
	clReleaseKernel(k);
	clReleaseMemObject(m);
	clReleaseMemObject(flat);
}

static void case_layers(const char *name)
{
	cl_mem two = image(CL_MEM_OBJECT_IMAGE2D_ARRAY, 8, 6, 5);
	cl_mem one = image(CL_MEM_OBJECT_IMAGE1D_ARRAY, 16, 1, 7);
	cl_kernel k2 = kernel_of("layers2"), k1 = kernel_of("layers1");
	const size_t size2[3] = {8, 6, 5}, size1[2] = {16, 7};

	arg(k2, 0, two);
	arg(k1, 0, one);
	for (int i = 0; i < 2; i++) {
		must(clEnqueueNDRangeKernel(queue, k2, 3, NULL, size2, NULL, 0, NULL, NULL), "run");
		must(clEnqueueNDRangeKernel(queue, k1, 2, NULL, size1, NULL, 0, NULL, NULL), "run");
	}
	show_image(name, "2D array", two, 8, 6, 5);
	show_image(name, "1D array", one, 16, 7, 1);
	clReleaseKernel(k1);
	clReleaseKernel(k2);
	clReleaseMemObject(one);
	clReleaseMemObject(two);
}

/* ---- */

static const struct {
	const char *name;
	void (*call)(const char *name);
	bool only_named;
} cases[] = {
	{"plain", case_plain, false},
	{"const", case_const, false},
	{"parts", case_parts, false},
	{"host-ptr", case_host_ptr, false},
	{"no-access", case_no_access, false},
	{"unset", case_unset, false},
	{"sparse", case_sparse, false},
	{"local", case_local, false},
	{"atomic", case_atomic, false},
	{"changed-args", case_changed_args, false},
	{"clone", case_clone, false},
	{"all-kernels", case_all_kernels, false},
	{"printf", case_printf, false},
	{"program-scope", case_program_scope, false},
	{"task", case_task, false},
	{"native", case_native, false},
	{"rebuilt", case_rebuilt, false},
	{"callback", case_callback, false},
	{"callback-enqueues", case_callback_enqueues, false},
	{"user-event", case_user_event, false},
	{"user-event-two", case_user_event_two, false},
	{"chain", case_chain, false},
	{"two-queues", case_two_queues, false},
	{"threads", case_threads, false},
	{"flags", case_flags, true},
	{"write-behind", case_write_behind, false},
	{"copies", case_copies, false},
	{"map-between", case_map_between, false},
	{"retained", case_retained, false},
	{"reused", case_reused, false},
	{"two-contexts", case_two_contexts, false},
	{"devices", case_devices, false},
	{"image", case_image, false},
	{"layers", case_layers, false},
};

int main(int argc, char **argv)
{
	cl_queue_properties timed[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
	cl_queue_properties unordered[] = {CL_QUEUE_PROPERTIES,
					   CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
	cl_platform_id platform;
	cl_int e;

#ifdef WITH_DLOPEN
	if (!open_calls()) {
		printf("no libOpenCL\n");
		return 77;
	}
#endif
	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 4, devices, &n_devices)) {
		printf("no OpenCL device\n");
		return 77;
	}
	n_devices = n_devices > 4 ? 4 : n_devices;
	device = devices[0];
	context = clCreateContext(NULL, n_devices, devices, NULL, NULL, &e);
	must(e, "clCreateContext");
	queue = clCreateCommandQueueWithProperties(context, device, timed, &e);
	must(e, "queue");
	other = clCreateCommandQueueWithProperties(context, device, timed, &e);
	must(e, "queue");
	loose = clCreateCommandQueueWithProperties(context, device, unordered, &e);
	must(e, "queue");
	program = build(context, source);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool wanted = argc < 2 && !cases[i].only_named;

		for (int k = 1; k < argc; k++)
			wanted = wanted || !strcmp(argv[k], cases[i].name);
		if (wanted)
			cases[i].call(cases[i].name);
	}
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseCommandQueue(other);
	clReleaseCommandQueue(loose);
	clReleaseContext(context);
	return 0;
}
