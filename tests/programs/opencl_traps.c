/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that does, one after the other, what replay of OpenCL kernels must not break. Each case
 * prints one line with what it read back; the output never depends on time or addresses. Nearly all
 * kernels change memory in place, so that running one twice without restoring shows.
 *
 *   opencl_traps           all cases
 *   opencl_traps CASE...   these; "flags" (kernels that wait for each other) only when named
 *
 * The cases are in opencl_traps_*.c. With WITH_DLOPEN it opens libOpenCL itself and looks every
 * function up.
 */
#include "opencl_traps.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_DLOPEN
#define CALL_POINTER(name) __typeof__(p_##name) p_##name;
#define CALL_FIND(name)    *(void **)(void *)&p_##name = dlsym(library, #name);
CALLS(CALL_POINTER)

static bool open_calls(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW);

	if (!library)
		return false;
	CALLS(CALL_FIND)
	return p_clGetPlatformIDs && p_clCloneKernel;
}
#endif

cl_context context;
cl_device_id device, devices[4];
cl_uint n_devices;
cl_program program;
cl_command_queue queue, other, loose;
const size_t items = N;
int host[N];

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
cl_mem buffer_of(cl_context c, cl_mem_flags flags, size_t bytes, void *from)
{
	cl_int e;
	cl_mem m = clCreateBuffer(c, flags, bytes, from, &e);

	must(e, "clCreateBuffer");
	return m;
}

cl_mem buffer(void)
{
	return buffer_of(context, CL_MEM_READ_WRITE, sizeof(host), NULL);
}

cl_kernel kernel_of(const char *name)
{
	cl_int e;
	cl_kernel k = clCreateKernel(program, name, &e);

	must(e, name);
	return k;
}

/* NULL when it cannot be built so. */
cl_program build_as(cl_context c, const char *text, const char *options)
{
	cl_int e;
	cl_program p = clCreateProgramWithSource(c, 1, (const char **)(uintptr_t)&text, NULL, &e);

	must(e, "clCreateProgramWithSource");
	if (!clBuildProgram(p, 0, NULL, options, NULL, NULL))
		return p;
	clReleaseProgram(p);
	return NULL;
}

cl_program build(cl_context c, const char *text)
{
	cl_program p = build_as(c, text, "");

	must(p ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE, "clBuildProgram");
	return p;
}

void arg(cl_kernel k, cl_uint i, cl_mem m)
{
	must(clSetKernelArg(k, i, sizeof(m), &m), "clSetKernelArg");
}

void fill(cl_command_queue q, cl_mem m, int v)
{
	for (unsigned i = 0; i < N; i++)
		host[i] = v + (int)i;
	must(clEnqueueWriteBuffer(q, m, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "write");
}

void run(cl_command_queue q, cl_kernel k, cl_uint n, const cl_event *wait, cl_event *event)
{
	must(clEnqueueNDRangeKernel(q, k, 1, NULL, &items, NULL, n, wait, event), "run");
}

uint64_t sum_of(const void *bytes, size_t n)
{
	const unsigned char *b = bytes;
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 1099511628211u;
	return h;
}

void say(const char *name, const char *what, uint64_t sum, int first, int last)
{
	printf("%-22s %-12s %016llx %d %d\n", name, what, (unsigned long long)sum, first, last);
	fflush(stdout);
}

void show(const char *name, const char *what, cl_command_queue q, cl_mem m)
{
	must(clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "read");
	say(name, what, sum_of(host, sizeof(host)), host[0], host[N - 1]);
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
