/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What saving and restoring costs the OpenCL layer, against a warm memcpy of the same size: its own
 * functions on PoCL's memory, as the engine calls them (direct, drained), and the restore of a
 * kernel that wrote 1 % of 1 GiB, found by write protection, against a full copy.
 *
 *   bench_opencl_memory [MIB]     default 64 and 1024
 *
 * Linked with the layer and with an engine that does nothing; needs an OpenCL CPU device of PoCL.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include "runtime/opencl/opencl_internal.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK (64u << 10) /* the engine's */
#define RUNS  9

struct replay_memory {
	struct runtime_memory m;
};
static struct replay_memory last;
static int a_device;

int replay_device_add(struct replay *r, const struct runtime *runtime, void *runtime_device,
		      const struct source *source, void *native, uint32_t number, const char *why,
		      struct replay_device **device_out, struct error *err)
{
	(void)r, (void)runtime, (void)runtime_device, (void)source, (void)native, (void)number,
		(void)why, (void)err;
	*device_out = (struct replay_device *)(void *)&a_device;
	return 0;
}

struct replay_memory *replay_memory_add(struct replay_device *d, const struct runtime_memory *m)
{
	(void)d;
	last.m = *m;
	return &last;
}

void replay_memory_remove(struct replay_device *d, struct replay_memory *m)
{
	(void)d, (void)m;
}

const struct runtime_memory *replay_memory_of(const struct replay_memory *m)
{
	return &m->m;
}

enum replay_verdict replay_before(struct replay_device *d, const struct runtime_op *op)
{
	(void)d, (void)op;
	return REPLAY_LIVE;
}

void replay_after(struct replay_device *d, const struct runtime_op *op, bool launched)
{
	(void)d, (void)op, (void)launched;
}

void replay_boundary(struct replay_device *d, const char *why)
{
	(void)d, (void)why;
}

static double ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double best_of(double best, double begin)
{
	double took = ms() - begin;

	return best < 0 || took < best ? took : best;
}

/* The hooks as the loader would get them, without a loader. */
int32_t clInitLayer(uint32_t n, const struct opencl_dispatch *target, uint32_t *n_out,
		    const struct opencl_dispatch **ours_out);

static int measure(struct device *d, cl_context context, size_t bytes)
{
	double copy = -1, save = -1, restore = -1, compare = -1, hash = -1;
	double arm = -1, find = -1, part = -1;
	size_t words = bytes / CHUNK / 64 + 2, pages = bytes / 4096, wanted = pages / 100,
	       found = 0;
	uint64_t *bits = pool_get(words * 8), value;
	struct store *a, *b;
	struct error err = {0};
	cl_int e;
	cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &e);
	struct memory *memory;
	unsigned char *live;
	int rc = 0;

	memory = e ? NULL : memory_add(track_find(context, OBJECT_CONTEXT), (void *)m, NULL);
	if (!memory || store_take(&a, bytes, &err) || store_take(&b, bytes, &err)) {
		printf("%zu MiB: no memory\n", bytes >> 20);
		return 1;
	}
	for (int i = 0; i < RUNS && !rc; i++) {
		double t = ms();

		memcpy(b->bytes, a->bytes, bytes);
		copy = best_of(copy, t);
		t = ms();
		rc = memory_save(d, &last.m, 0, bytes, a, 0, NULL, &err);
		save = i ? best_of(save, t) : save; /* the first finds the address */
		t = ms();
		rc = rc ? rc : memory_restore(d, &last.m, 0, bytes, a, 0, &err);
		restore = best_of(restore, t);
		t = ms();
		rc = rc ? rc : memory_compare(d, &last.m, 0, bytes, a, 0, CHUNK, bits, &err);
		compare = best_of(compare, t);
		t = ms();
		rc = rc ? rc : memory_hash(d, &last.m, &value, &err);
		hash = best_of(hash, t);
	}
	live = memory->direct;
	for (int i = 0; i < RUNS && !rc && live && written_is_supported(); i++) {
		double t = ms();
		size_t n;

		rc = written_track(d, &last.m, &err);
		arm = best_of(arm, t);
		/* One piece in the middle, as a kernel on a part of its data does. */
		memset(live + bytes / 3, i, wanted * 4096);
		t = ms();
		memset(bits, 0, words * 8);
		rc = rc ? rc : written_read(live, bytes, CHUNK, bits, &n, &err);
		find = best_of(find, t);
		t = ms();
		for (size_t k = 0; k < bytes / CHUNK && !rc; k++)
			if (bits[k / 64] >> (k % 64) & 1)
				rc = memory_restore(d, &last.m, k * CHUNK, CHUNK, a, k * CHUNK,
						    &err);
		part = best_of(part, t);
		found = n;
	}
	if (rc) {
		printf("%zu MiB: %s\n", bytes >> 20, err.message);
		return 1;
	}
	printf("%5zu MiB  warm memcpy %.2f ms; save %.2f (%.2fx), restore %.2f (%.2fx), compare "
	       "%.2f "
	       "(%.2fx), hash %.2f (%.2fx)\n",
	       bytes >> 20, copy, save, save / copy, restore, restore / copy, compare,
	       compare / copy, hash, hash / copy);
	if (arm >= 0)
		printf("%5zu MiB  1 %% written (%zu pages, %zu found): arm %.2f ms, find %.2f, "
		       "restore "
		       "%.2f; find and restore %.3f of a full copy, with arming %.3f\n",
		       bytes >> 20, wanted, found, arm, find, part, (find + part) / restore,
		       (arm + find + part) / restore);
	else
		printf("%5zu MiB  written pages cannot be remembered: needs Linux 6.7\n",
		       bytes >> 20);
	memory_store_put(d, a);
	memory_store_put(d, b);
	clReleaseMemObject(m);
	return 0;
}

int main(int argc, char **argv)
{
	struct runtime_opencl_options options = {0};
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	struct device *d;
	cl_int e;
	int failed = 0;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL)) {
		printf("skipped: no OpenCL CPU device\n");
		return 0;
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
	if (e || runtime_opencl_attach(NULL, &options, NULL))
		return 1;
#define CALL(name) *(void **)(void *)&layer.next.name = (void *)(uintptr_t)name
	CALL(clGetDeviceInfo);
	CALL(clGetPlatformInfo);
	CALL(clGetContextInfo);
	CALL(clGetMemObjectInfo);
	CALL(clGetEventInfo);
	CALL(clReleaseEvent);
	CALL(clReleaseMemObject);
	CALL(clCreateCommandQueueWithProperties);
	CALL(clEnqueueMapBuffer);
	CALL(clEnqueueUnmapMemObject);
	context_add((void *)context);
	d = device_of((void *)device);
	if (!d)
		return 1;
	if (argc > 1) {
		failed = measure(d, context, strtoul(argv[1], NULL, 10) << 20);
	} else {
		failed = measure(d, context, (size_t)64 << 20);
		store_trim();
		failed |= measure(d, context, (size_t)1 << 30);
	}
	return failed;
}
