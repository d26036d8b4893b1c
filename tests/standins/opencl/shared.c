/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL layer that adds to a CPU device of PoCL what OpenCL 2.0 has and PoCL 3.1 has not, so
 * that programs with it can be tested: kernels that reach all memory of the process (those of a CPU
 * do), pipes (a buffer that says that it is one) and queues on the device (ordinary ones). It
 * stands below the layer under test in OPENCL_LAYERS.
 */
#include "runtime/opencl/opencl_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *size_out);
EXPORT int32_t clInitLayer(uint32_t n, const struct opencl_dispatch *target, uint32_t *n_out,
			   const struct opencl_dispatch **ours_out);

enum {
	PIPE_SUPPORT = 0x1071,
	MOST = 64,
};

static struct opencl_dispatch next, ours;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vendor_mem *pipes[MOST];

static int32_t answer(size_t size, void *value, size_t *size_out, const void *from, size_t n)
{
	if (value && size < n)
		return OPENCL_INVALID_VALUE;
	if (value)
		memcpy(value, from, n);
	if (size_out)
		*size_out = n;
	return OPENCL_SUCCESS;
}

static int32_t device_info(struct vendor_device *d, uint32_t what, size_t size, void *value,
			   size_t *size_out)
{
	const uint32_t yes = 1;
	uint64_t svm = 0;

	if (what == PIPE_SUPPORT)
		return answer(size, value, size_out, &yes, sizeof(yes));
	if (what != OPENCL_DEVICE_SVM_CAPABILITIES)
		return next.clGetDeviceInfo(d, what, size, value, size_out);
	next.clGetDeviceInfo(d, what, sizeof(svm), &svm, NULL);
	svm |= OPENCL_SVM_FINE_GRAIN_SYSTEM;
	return answer(size, value, size_out, &svm, sizeof(svm));
}

/* ---- pipes and queues on the device ---- */

static struct vendor_mem *create_pipe(struct vendor_context *c, uint64_t flags, uint32_t packet,
				      uint32_t n, const intptr_t *properties, int32_t *status)
{
	struct vendor_mem *m =
		next.clCreateBuffer(c, flags & 7, (size_t)packet * (n + 1), NULL, status);

	(void)properties;
	pthread_mutex_lock(&lock);
	for (int i = 0; m && i < MOST; i++)
		if (!pipes[i]) {
			pipes[i] = m;
			break;
		}
	pthread_mutex_unlock(&lock);
	return m;
}

static int32_t release_memory(struct vendor_mem *m)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; m && i < MOST; i++)
		if (pipes[i] == m)
			pipes[i] = NULL;
	pthread_mutex_unlock(&lock);
	return next.clReleaseMemObject(m);
}

static int32_t memory_info(struct vendor_mem *m, uint32_t what, size_t size, void *value,
			   size_t *size_out)
{
	uint32_t type = OPENCL_MEM_OBJECT_PIPE;
	bool is_pipe = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < MOST; i++)
		is_pipe = is_pipe || (m && pipes[i] == m);
	pthread_mutex_unlock(&lock);
	if (is_pipe && what == OPENCL_MEM_TYPE)
		return answer(size, value, size_out, &type, sizeof(type));
	return next.clGetMemObjectInfo(m, what, size, value, size_out);
}

static struct vendor_queue *create_queue(struct vendor_context *c, struct vendor_device *d,
					 const uint64_t *properties, int32_t *status)
{
	uint64_t plain[] = {OPENCL_QUEUE_PROPERTIES, 0, 0};

	for (const uint64_t *p = properties; p && *p; p += 2)
		if (*p == OPENCL_QUEUE_PROPERTIES)
			plain[1] =
				p[1] & ~(OPENCL_QUEUE_ON_DEVICE | OPENCL_QUEUE_ON_DEVICE_DEFAULT);
	return next.clCreateCommandQueueWithProperties(c, d, plain, status);
}

/* ---- entry points ---- */

int32_t clGetLayerInfo(uint32_t what, size_t size, void *value, size_t *size_out)
{
	static const uint32_t version = OPENCL_LAYER_API_VERSION_100;

	return what == OPENCL_LAYER_API_VERSION
		       ? answer(size, value, size_out, &version, sizeof(version))
		       : answer(size, value, size_out, "shared", sizeof("shared"));
}

int32_t clInitLayer(uint32_t n, const struct opencl_dispatch *target, uint32_t *n_out,
		    const struct opencl_dispatch **ours_out)
{
	memcpy(&next, target,
	       n * sizeof(void *) < sizeof(next) ? n * sizeof(void *) : sizeof(next));
	ours.clGetDeviceInfo = device_info;
	ours.clCreatePipe = create_pipe;
	ours.clGetMemObjectInfo = memory_info;
	ours.clReleaseMemObject = release_memory;
	ours.clCreateCommandQueueWithProperties = create_queue;
	*n_out = OPENCL_N_ENTRIES;
	*ours_out = &ours;
	return OPENCL_SUCCESS;
}
