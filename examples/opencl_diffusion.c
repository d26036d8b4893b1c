/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heat that spreads over a plate, on an OpenCL device: a stencil, a source of heat, and a sum that
 * tells how much there is. An ordinary program that knows nothing of retally.
 *
 *   cc -o opencl_diffusion opencl_diffusion.c -lOpenCL
 *   retally run --replay window -e cycles,instructions,cache-misses -- ./opencl_diffusion
 *   retally report opencl_diffusion.retally
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE   512u
#define STEPS  40u
#define GROUP  64u
#define GROUPS 64u

static const char source[] =
	"kernel void diffuse(global const float *from, global float *to, uint side)\n"
	"{\n"
	"	uint x = get_global_id(0), y = get_global_id(1), i = y * side + x;\n"
	"	float edge = 0.0f;\n"
	"	float west = x > 0 ? from[i - 1] : edge, east = x + 1 < side ? from[i + 1] : "
	"edge;\n"
	"	float north = y > 0 ? from[i - side] : edge;\n"
	"	float south = y + 1 < side ? from[i + side] : edge;\n"
	"	to[i] = from[i] + 0.2f * (west + east + north + south - 4.0f * from[i]);\n"
	"}\n"
	"kernel void heat(global float *plate, uint side, float degrees)\n"
	"{\n"
	"	uint x = get_global_id(0), y = side / 2;\n"
	"	plate[y * side + x] += degrees; /* in place: running it twice is wrong */\n"
	"}\n"
	"kernel void sum(global const float *plate, global float *sums, uint n)\n"
	"{\n"
	"	float s = 0.0f;\n"
	"	for (uint i = get_global_id(0); i < n; i += get_global_size(0))\n"
	"		s += plate[i];\n"
	"	sums[get_global_id(0)] = s;\n"
	"}\n";

static void check(cl_int code, const char *what)
{
	if (code == CL_SUCCESS)
		return;
	fprintf(stderr, "opencl_diffusion: %s: error %d\n", what, (int)code);
	exit(1);
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
	cl_int code;
	cl_kernel kernel = clCreateKernel(program, name, &code);

	check(code, name);
	return kernel;
}

int main(void)
{
	const size_t plate_size = sizeof(float) * SIDE * SIDE, all[2] = {SIDE, SIDE};
	const size_t row = SIDE, workers = GROUP * GROUPS, group = GROUP, tile[2] = {16, 16};
	const cl_uint side = SIDE, n = SIDE * SIDE;
	const cl_float degrees = 1.0f;
	const char *text = source;
	static float zero[SIDE * SIDE], sums[GROUP * GROUPS];
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel diffuse, heat, sum;
	cl_mem plate[2], partial;
	cl_int code;
	double total = 0;

	check(clGetPlatformIDs(1, &platform, NULL), "no OpenCL platform");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "no OpenCL device");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	check(code, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &code);
	check(code, "clCreateCommandQueue");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
	check(code, "clCreateProgramWithSource");
	check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	diffuse = kernel_of(program, "diffuse");
	heat = kernel_of(program, "heat");
	sum = kernel_of(program, "sum");
	for (int i = 0; i < 2; i++) {
		plate[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
					  plate_size, zero, &code);
		check(code, "clCreateBuffer");
	}
	partial = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof(sums), NULL, &code);
	check(code, "clCreateBuffer");
	for (unsigned step = 0; step < STEPS; step++) {
		cl_mem *from = &plate[step % 2], *to = &plate[(step + 1) % 2];

		clSetKernelArg(heat, 0, sizeof(*from), from);
		clSetKernelArg(heat, 1, sizeof(side), &side);
		clSetKernelArg(heat, 2, sizeof(degrees), &degrees);
		check(clEnqueueNDRangeKernel(queue, heat, 1, NULL, &row, &group, 0, NULL, NULL),
		      "heat");
		clSetKernelArg(diffuse, 0, sizeof(*from), from);
		clSetKernelArg(diffuse, 1, sizeof(*to), to);
		clSetKernelArg(diffuse, 2, sizeof(side), &side);
		check(clEnqueueNDRangeKernel(queue, diffuse, 2, NULL, all, tile, 0, NULL, NULL),
		      "diffuse");
		if (step % 10 == 9)
			check(clFinish(queue), "clFinish");
	}
	clSetKernelArg(sum, 0, sizeof(plate[0]), &plate[STEPS % 2]);
	clSetKernelArg(sum, 1, sizeof(partial), &partial);
	clSetKernelArg(sum, 2, sizeof(n), &n);
	check(clEnqueueNDRangeKernel(queue, sum, 1, NULL, &workers, &group, 0, NULL, NULL), "sum");
	check(clEnqueueReadBuffer(queue, partial, CL_TRUE, 0, sizeof(sums), sums, 0, NULL, NULL),
	      "clEnqueueReadBuffer");
	for (size_t i = 0; i < workers; i++)
		total += (double)sums[i];
	printf("heat after %u steps: %.3f\n", STEPS, total);
	for (int i = 0; i < 2; i++)
		clReleaseMemObject(plate[i]);
	clReleaseMemObject(partial);
	clReleaseKernel(diffuse);
	clReleaseKernel(heat);
	clReleaseKernel(sum);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
