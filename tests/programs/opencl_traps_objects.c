/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of opencl_traps: objects that come and go, several contexts and devices; images. */
#include "opencl_traps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- objects that come and go ---- */

void case_retained(const char *name)
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

void case_reused(const char *name)
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

void case_two_contexts(const char *name)
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

void case_devices(const char *name)
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

void case_image(const char *name)
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

void case_layers(const char *name)
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
