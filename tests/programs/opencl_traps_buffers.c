/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of opencl_traps: buffers, and what moves between them and the host. */
#include "opencl_traps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffers ---- */

void case_plain(const char *name)
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

void case_const(const char *name)
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

void case_parts(const char *name)
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

void case_host_ptr(const char *name)
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

void case_no_access(const char *name)
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

void case_unset(const char *name)
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

void case_sparse(const char *name)
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

/* ---- transfers ---- */

void case_write_behind(const char *name)
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

void case_copies(const char *name)
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

void case_map_between(const char *name)
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
