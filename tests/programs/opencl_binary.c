/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL programs that come as binaries, built in one process and run in another.
 *
 *   opencl_binary save FILE SOURCE OPTIONS   builds the source and saves the binary
 *   opencl_binary run FILE                   runs kernel k(global int *) of it five times
 *   opencl_binary link SOURCE SOURCE OPTIONS compiles both, links them, runs the same
 *
 * What the kernel left in its buffer goes to stdout. 77: no device, or it cannot be built here.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include "opencl_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_context context;
static cl_device_id device;

/* What is not built here is no failure of the test. */
static void must_build(cl_int status, const char *what)
{
	if (status == CL_BUILD_PROGRAM_FAILURE || status == CL_COMPILE_PROGRAM_FAILURE) {
		printf("%s: OpenCL error %d\n", what, (int)status);
		exit(77);
	}
	must(status, what);
}

static cl_program source(const char *text)
{
	cl_int e;
	cl_program p = clCreateProgramWithSource(context, 1, &text, NULL, &e);

	must(e, "clCreateProgramWithSource");
	return p;
}

static void save(cl_program p, const char *path)
{
	size_t size = 0;
	unsigned char *bytes;
	FILE *f;

	must(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL), "its size");
	bytes = malloc(size);
	must(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof(bytes), (void *)&bytes, NULL),
	     "the binary");
	f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
		must(CL_INVALID_VALUE, path);
	free(bytes);
}

static cl_program load(const char *path)
{
	static unsigned char bytes[4 << 20];
	const unsigned char *at = bytes;
	FILE *f = fopen(path, "rb");
	size_t size = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
	cl_int e;
	cl_program p = clCreateProgramWithBinary(context, 1, &device, &size, &at, NULL, &e);

	must(e, "clCreateProgramWithBinary");
	if (f)
		fclose(f);
	must_build(clBuildProgram(p, 1, &device, "", NULL, NULL), "clBuildProgram");
	return p;
}

static void run(cl_program p)
{
	int host[64] = {0};
	const size_t items = 64;
	cl_int e;
	cl_command_queue q = clCreateCommandQueue(context, device, 0, &e);
	cl_kernel k;
	cl_mem m;

	must(e, "clCreateCommandQueue");
	k = clCreateKernel(p, "k", &e);
	must(e, "k");
	m = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(host), host, &e);
	must(e, "clCreateBuffer");
	must(clSetKernelArg(k, 0, sizeof(m), &m), "clSetKernelArg");
	for (int i = 0; i < 5; i++)
		must(clEnqueueNDRangeKernel(q, k, 1, NULL, &items, NULL, 0, NULL, NULL), "run");
	must(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "read");
	printf("%d %d %d\n", host[0], host[1], host[63]);
	clReleaseMemObject(m);
	clReleaseKernel(k);
	clReleaseCommandQueue(q);
}

int main(int argc, char **argv)
{
	cl_program p, parts[2];
	cl_int e;

	context = first_context(&device);
	if (argc == 5 && !strcmp(argv[1], "save")) {
		p = source(argv[3]);
		must_build(clBuildProgram(p, 1, &device, argv[4], NULL, NULL), "clBuildProgram");
		save(p, argv[2]);
	} else if (argc == 5 && !strcmp(argv[1], "link")) {
		for (int i = 0; i < 2; i++) {
			parts[i] = source(argv[2 + i]);
			must_build(clCompileProgram(parts[i], 1, &device, argv[4], 0, NULL, NULL,
						    NULL, NULL),
				   "clCompileProgram");
		}
		p = clLinkProgram(context, 1, &device, "", 2, parts, NULL, NULL, &e);
		must(e, "clLinkProgram");
		clReleaseProgram(parts[0]);
		clReleaseProgram(parts[1]);
		run(p);
	} else if (argc == 3 && !strcmp(argv[1], "run")) {
		p = load(argv[2]);
		run(p);
	} else {
		return 2;
	}
	clReleaseProgram(p);
	clReleaseContext(context);
	return 0;
}
