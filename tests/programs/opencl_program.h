/* SPDX-License-Identifier: Apache-2.0 */
/* What the OpenCL test programs share. CL_TARGET_OPENCL_VERSION is the program's own. */
#ifndef TESTS_OPENCL_PROGRAM_H
#define TESTS_OPENCL_PROGRAM_H

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with 3 when the call failed. */
static inline void must(cl_int status, const char *what)
{
	if (status == CL_SUCCESS)
		return;
	printf("%s: OpenCL error %d\n", what, (int)status);
	exit(3);
}

/* A context of the first device of the first platform. Ends the program with 77 when there is none.
 */
static inline cl_context first_context(cl_device_id *device_out)
{
	cl_platform_id platform;
	cl_context context;
	cl_int e;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, device_out, NULL)) {
		printf("no OpenCL device\n");
		exit(77);
	}
	context = clCreateContext(NULL, 1, device_out, NULL, NULL, &e);
	must(e, "clCreateContext");
	return context;
}

#endif
