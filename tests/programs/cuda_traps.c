/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the CUDA driver for every way in which replay in place can go wrong, on the stand-in
 * device. Prints one line a trap with a hash of all its memory: whoever watches, the lines must be
 * those of the program alone. usage: cuda_traps [TRAP...] | cuda_traps list
 */
#include "cuda_traps.h"

#include "nvtx_marks.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUmod_st *module;
struct CUstream_st *q, *q2;
cu_ptr a, b, c;
unsigned n = N;

void check(cu_result result, const char *what)
{
	const char *name = NULL;

	if (!result)
		return;
	cuGetErrorName(result, &name);
	printf("%s: %s\n", what, name ? name : "an error");
	exit(3);
}

struct CUfunc_st *function(const char *name)
{
	struct CUfunc_st *f;

	check(cuModuleGetFunction(&f, module, name), name);
	return f;
}

void launch_list(struct CUstream_st *stream, const char *name, void **arguments)
{
	check(cuLaunchKernel(function(name), (N + 255) / 256, 1, 1, 256, 1, 1, 0, stream, arguments,
			     NULL),
	      name);
}

uint64_t hash_bytes(const unsigned char *bytes, size_t size)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		h = (h ^ bytes[i]) * 0x100000001b3u;
	return h;
}

uint64_t hash(cu_ptr address, size_t size)
{
	static unsigned char bytes[1 << 20];

	works(cuMemcpyDtoH_v2(bytes, address, size));
	return hash_bytes(bytes, size);
}

void show(const char *name, uint64_t value)
{
	printf("%-12s %016llx\n", name, (unsigned long long)value);
	fflush(stdout);
}

static void prepare(void)
{
	static unsigned host[N];

	for (unsigned k = 0; k < 3; k++) {
		for (unsigned i = 0; i < N; i++)
			host[i] = (i + 7 * k) * (2 * k + 3);
		works(cuMemcpyHtoD_v2(k == 0 ? a : k == 1 ? b : c, host, BYTES));
	}
}

/* ---- the traps ---- */

static void update(void)
{
	for (int i = 0; i < 6; i++)
		launch(q, "update", &a, &n);
	works(cuStreamSynchronize(q));
	launch(NULL, "update", &a, &n); /* the default stream */
	works(cuCtxSynchronize());
}

static void atomics(void)
{
	works(cuMemsetD8Async(b, 0, 1024, q));
	for (int i = 0; i < 4; i++)
		launch(q, "histogram", &a, &b, &n);
}

/* Memory that no argument points to: three nodes with arrays of their own. */
static void chain(void)
{
	uint64_t nodes[3][2];
	cu_ptr list, arrays[3];
	uint64_t h = 0;

	works(cuMemAlloc_v2(&list, sizeof(nodes)));
	for (unsigned i = 0; i < 3; i++) {
		works(cuMemAlloc_v2(&arrays[i], BYTES));
		works(cuMemcpyDtoD_v2(arrays[i], i == 1 ? b : a, BYTES));
		nodes[i][0] = arrays[i];
		nodes[i][1] = i < 2 ? list + 16 * (i + 1) : 0;
	}
	works(cuMemcpyHtoD_v2(list, nodes, sizeof(nodes)));
	for (int i = 0; i < 8; i++) {
		launch(q, "chain", &list, &n);
		if (i % 3 == 2)
			works(cuStreamSynchronize(q));
	}
	works(cuStreamSynchronize(q));
	for (int i = 0; i < 3; i++) {
		h = h * 31 + hash(arrays[i], BYTES);
		works(cuMemFree_v2(arrays[i]));
	}
	works(cuMemFree_v2(list));
	show("chain data", h);
}

/* Two streams that depend on each other through events. */
static void streams(void)
{
	struct CUevent_st *e, *f;

	works(cuEventCreate(&e, 2));
	works(cuEventCreate(&f, 2));
	for (int i = 0; i < 5; i++) {
		launch(q, "update", &a, &n);
		works(cuEventRecord(e, q));
		works(cuStreamWaitEvent(q2, e, 0));
		launch(q2, "add", &a, &b, &c, &n);
		launch(q2, "update", &b, &n);
		works(cuEventRecord(f, q2));
		works(cuStreamWaitEvent(q, f, 0));
		launch(q, "add", &c, &b, &a, &n);
	}
	works(cuStreamSynchronize(q));
	works(cuStreamSynchronize(q2));
	works(cuEventDestroy_v2(e));
	works(cuEventDestroy_v2(f));
}

static void globals(void)
{
	cu_ptr total, table;
	size_t size;
	unsigned value;

	for (int i = 0; i < 4; i++)
		launch(q, "globals", &a, &n);
	works(cuStreamSynchronize(q));
	works(cuModuleGetGlobal_v2(&total, &size, module, "total"));
	works(cuModuleGetGlobal_v2(&table, NULL, module, "table"));
	works(cuMemcpyDtoH_v2(&value, total, 4));
	show("total", value);
	show("table", hash(table, 1024));
}

/* Launches that wait for the host, which does something meanwhile. */
static void let_spin(int launches, void (*meanwhile)(void))
{
	unsigned *flag;
	cu_ptr device;

	works(cuMemHostAlloc((void **)&flag, 64, 2));
	works(cuMemHostGetDevicePointer_v2(&device, flag, 0));
	for (int i = 0; i < launches; i++) {
		*flag = 0;
		launch(q, "spin", &device, &b);
		meanwhile();
		__atomic_store_n(flag, 9, __ATOMIC_RELEASE);
		works(cuCtxSynchronize());
	}
	works(cuMemFreeHost(flag));
}

static void launch_more(void)
{
	launch(q2, "update", &a, &n);
}

static void look(void)
{
	works(cuStreamQuery(q2));
}

/* A kernel that waits for what the host does after more launches. */
static void spin(void)
{
	works(cuMemsetD32Async(b, 1, 1, q));
	let_spin(2, launch_more);
}

/* The same with nothing beside it. */
static void hold(void)
{
	works(cuMemsetD32Async(b, 1, 1, q));
	works(cuCtxSynchronize());
	let_spin(4, look);
}

/* The host polls what a kernel writes. */
static void mapped(void)
{
	unsigned *flag;

	works(cuMemHostAlloc((void **)&flag, 64, 2));
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(flag, 0, __ATOMIC_RELEASE);
		launch(q, "answer", &flag, &a);
		while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
			sched_yield();
		show("answer", *flag);
		launch(q, "update", &a, &n);
		works(cuStreamSynchronize(q));
	}
	works(cuMemFreeHost(flag));
}

static void managed(void)
{
	unsigned *m;
	cu_ptr address;

	works(cuMemAllocManaged(&address, BYTES, 1));
	m = (unsigned *)(uintptr_t)address;
	for (unsigned i = 0; i < N; i++)
		m[i] = i;
	for (int i = 0; i < 3; i++) {
		launch(q, "update", &address, &n);
		launch(q, "update", &address, &n);
		works(cuStreamSynchronize(q));
		m[i] += 1000; /* between the launches it is the host's */
	}
	show("managed data", hash_bytes((unsigned char *)m, BYTES));
	works(cuMemFree_v2(address));
}

static void append(void)
{
	unsigned room = N, count = 1300; /* the fourth fills it, the fifth finds no room */

	works(cuMemsetD32Async(a, 0, 1, q));
	for (int i = 0; i < 5; i++)
		launch(q, "append", &a, &b, &room, &count);
}

/* Work that is done once only: the second time there is nothing left to count. */
static void once(void)
{
	works(cuMemsetD32Async(a, 0, N, q));
	launch(q, "once", &a, &b, &n);
	launch(q, "once", &a, &b, &n);
}

/* Memory that comes and goes in the order of a stream, and comes back with another meaning. */
static void pools(void)
{
	struct CUmemPoolHandle_st *pool;
	uint64_t h = 0;

	works(cuDeviceGetDefaultMemPool(&pool, 0));
	for (int i = 0; i < 5; i++) {
		cu_ptr x, y;

		works(cuMemAllocAsync(&x, BYTES, q));
		works(cuMemsetD32Async(x, (unsigned)i, N, q));
		launch(q, "update", &x, &n);
		works(cuMemAllocFromPoolAsync(&y, BYTES, pool, q));
		works(cuMemcpyDtoDAsync_v2(y, x, BYTES, q));
		launch(q, "update", &y, &n);
		launch(q, "add", &x, &y, &c, &n);
		works(cuMemFreeAsync(x, q));
		launch(q, "update", &y, &n);
		works(cuStreamSynchronize(q));
		h = h * 31 + hash(y, BYTES);
		works(cuMemFreeAsync(y, q));
	}
	works(cuStreamSynchronize(q));
	show("pools data", h);
}

/* Operations of the device between kernels; the source of a copy may change once the call is back.
 */
static void transfers(void)
{
	static unsigned host[N], back[64];
	unsigned *pinned;

	works(cuMemAllocHost_v2((void **)&pinned, 4096));
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned k = 0; k < N; k++)
			host[k] = k ^ i;
		launch(q, "update", &a, &n);
		works(cuMemcpyHtoDAsync_v2(b, host, BYTES / 2, q));
		memset(host, 0xee, sizeof(host));
		launch(q, "add", &a, &b, &c, &n);
		works(cuMemsetD16Async(b + 100, 0x1234, 33, q));
		works(cuMemcpyDtoDAsync_v2(a + 400, c, 4000, q));
		works(cuMemcpyAsync(b + 8000, a, 4000, q));
		works(cuMemcpyDtoHAsync_v2(pinned, c, 4096, q));
		launch(q, "update", &c, &n);
		works(cuMemcpyDtoHAsync_v2(back, b, sizeof(back), q));
		works(cuStreamSynchronize(q));
		show("pinned", hash_bytes((unsigned char *)pinned, 4096));
		show("back", hash_bytes((unsigned char *)back, sizeof(back)));
	}
	works(cuMemFreeHost(pinned));
}

/* Copies that are under way into one half of what a kernel of another stream has the other half of:
 * of a kind that is not recorded, then, while no window is open, of one that would be. */
static void beside(void)
{
	unsigned half = N / 2;

	for (int i = 0; i < 4; i++) {
		if (i % 2)
			works(cuMemcpyAsync(a + BYTES / 2, b, BYTES / 2, q2));
		else
			works(cuMemcpyDtoDAsync_v2(a + BYTES / 2, b, BYTES / 2, q2));
		launch(q, "update", &a, &half);
		works(cuStreamSynchronize(q));
		works(cuStreamSynchronize(q2));
		launch(q, "update", &b, &n);
		works(cuStreamSynchronize(q));
	}
}

static void called(void *data)
{
	++*(unsigned *)data;
}
static void callback(void)
{
	unsigned count = 0;

	for (int i = 0; i < 3; i++) {
		launch(q, "update", &a, &n);
		works(cuLaunchHostFunc(q, called, &count));
		launch(q, "update", &a, &n);
	}
	works(cuStreamSynchronize(q));
	show("called", count);
}

/* Writes where a word of memory says. */
static void stray(void)
{
	works(cuMemcpyHtoD_v2(a, &c, 8));
	for (int i = 0; i < 5; i++)
		launch(q, "stray", &a, &n);
	works(cuMemsetD8Async(a, 0, 8, q)); /* an address is another one each time */
}

/* The other ways to launch. */
static void ways(void)
{
	unsigned char packed[16] = {0};
	size_t size = 12;
	void *extra[] = {CU_EXTRA_POINTER, packed, CU_EXTRA_SIZE, &size, CU_EXTRA_END};
	struct cu_attribute attributes[] = {{.id = CU_ATTRIBUTE_COOPERATIVE, .value.flag = 1},
					    {.id = 4, .value.flag = 1}};
	struct cu_launch_config k = {.grid = {20, 1, 1},
				     .block = {256, 1, 1},
				     .stream = q,
				     .attributes = attributes,
				     .n_attributes = 2};

	memcpy(packed, &a, 8);
	memcpy(packed + 8, &n, 4);
	works(cuLaunchKernel(function("update"), 20, 1, 1, 256, 1, 1, 0, q, NULL, extra));
	works(cuLaunchKernelEx(&k, function("update"), (void *[]){&a, &n}, NULL));
	works(cuLaunchCooperativeKernel(function("update"), 20, 1, 1, 256, 1, 1, 0, q,
					(void *[]){&b, &n}));
	launch(q, "ncclDevKernel_update", &c, &n); /* a collective by its name */
}

/* A library's kernel launched as a function, as CUDA's runtime does; with a variable of its own. */
static void library(void)
{
	static const char image[] = "standin-module\nkernel globals\nkernel update\n"
				    "global total 4\nglobal table 1024\n";
	struct CUlib_st *l;
	struct CUkern_st *adds, *updates;
	struct CUfunc_st *f;
	struct CUmod_st *m;
	cu_ptr table;

	works(cuLibraryLoadData(&l, image, NULL, NULL, 0, NULL, NULL, 0));
	works(cuLibraryGetKernel(&adds, l, "globals"));
	works(cuLibraryGetKernel(&updates, l, "update"));
	for (int i = 0; i < 3; i++) {
		works(cuLaunchKernel((struct CUfunc_st *)(void *)adds, 20, 1, 1, 256, 1, 1, 0, q,
				     (void *[]){&a, &n}, NULL));
		works(cuLaunchKernel((struct CUfunc_st *)(void *)updates, 20, 1, 1, 256, 1, 1, 0, q,
				     (void *[]){&a, &n}, NULL));
	}
	works(cuStreamSynchronize(q));
	works(cuKernelGetFunction(&f, adds));
	works(cuFuncGetModule(&m, f));
	works(cuModuleGetGlobal_v2(&table, NULL, m, "table"));
	show("library data", hash(table, 1024));
	works(cuLibraryUnload(l));
}

/* Addresses and memory apart; rows with a pitch; memory of the host that is registered. */
static void kinds(void)
{
	static unsigned char own[2 * 4096] __attribute__((aligned(4096)));
	uint64_t handle, h;
	cu_ptr at, rows, host;
	size_t pitch, size = 2u << 20;

	works(cuMemAddressReserve(&at, size, 0, 0, 0));
	works(cuMemCreate(&handle, size, NULL, 0));
	works(cuMemMap(at, size, 0, handle, 0));
	works(cuMemSetAccess(at, size, NULL, 0));
	works(cuMemAllocPitch_v2(&rows, &pitch, 1000, 20, 4));
	works(cuMemHostRegister_v2(own, sizeof(own), 2));
	works(cuMemHostGetDevicePointer_v2(&host, own, 0));
	works(cuMemsetD32Async(at, 3, N, q));
	works(cuMemsetD8Async(rows, 7, pitch * 20, q));
	for (int i = 0; i < 3; i++) {
		unsigned some = 2048;

		launch(q, "update", &at, &n);
		launch(q, "update", &rows, &some);
		launch(q, "set", &host, &some, &some); /* the host may look at any time */
		works(cuMemcpyDtoDAsync_v2(rows, at, 1000, q));
	}
	works(cuStreamSynchronize(q));
	h = hash(at, BYTES) * 31 + hash(rows, pitch * 20);
	show("kinds data", h * 31 + hash_bytes(own, sizeof(own)));
	works(cuMemHostUnregister(own));
	works(cuMemFree_v2(rows));
	works(cuMemUnmap(at, size));
	works(cuMemRelease(handle));
	works(cuMemAddressFree(at, size));
}

/* Two contexts, and launches from one into the other's absence. */
static void contexts(void)
{
	static const char image[] = "standin-module\nkernel update\n";
	struct CUctx_st *other, *popped;
	struct CUmod_st *m;
	struct CUfunc_st *f;
	cu_ptr x;

	works(cuCtxCreate_v2(&other, 0, 0));
	works(cuModuleLoadData(&m, image));
	works(cuModuleGetFunction(&f, m, "update"));
	works(cuMemAlloc_v2(&x, BYTES));
	works(cuMemsetD32_v2(x, 5, N));
	for (int i = 0; i < 4; i++) {
		works(cuLaunchKernel(f, 20, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&x, &n}, NULL));
		works(cuCtxPopCurrent_v2(&popped));
		launch(q, "update", &a, &n);
		works(cuCtxPushCurrent_v2(other));
	}
	works(cuCtxSynchronize());
	show("other", hash(x, BYTES));
	works(cuCtxDestroy_v2(other));
}

static void *thread(void *data)
{
	struct CUstream_st *s;
	cu_ptr *x = data;

	works(cuCtxSetCurrent(NULL));
	works(cuDevicePrimaryCtxRetain((struct CUctx_st **)&s, 0));
	works(cuCtxSetCurrent((struct CUctx_st *)s));
	works(cuStreamCreate(&s, 1));
	for (int i = 0; i < 6; i++) {
		launch(s, "update", x, &n);
		if (i % 2)
			works(cuStreamSynchronize(s));
	}
	works(cuStreamSynchronize(s));
	works(cuStreamDestroy_v2(s));
	works(cuDevicePrimaryCtxRelease_v2(0));
	return NULL;
}
static void threads(void)
{
	pthread_t ids[3];
	cu_ptr x[3] = {a, b, c};

	for (int i = 0; i < 3; i++)
		if (pthread_create(&ids[i], NULL, thread, &x[i]))
			exit(4);
	for (int i = 0; i < 3; i++)
		pthread_join(ids[i], NULL);
}

/* What is between start and stop, twice; they do not nest. Only by name, like the next. */
static void profiler(void)
{
	launch(q, "update", &a, &n);
	works(cuProfilerStop());
	for (int i = 0; i < 2; i++) {
		works(cuProfilerStart());
		works(cuProfilerStart());
		launch(q, "add", &a, &b, &c, &n);
		launch(q, "update", &c, &n);
		works(cuProfilerStop());
		launch(q, "update", &b, &n);
	}
	works(cuStreamSynchronize(q));
}

/* Rounds 0 and 1 are the range "pair", 1 is "inner" in it; then again. The marks come from a thread
 * that has no context. */
static void *mark_before(void *round)
{
	nvtx_marks_before(*(unsigned *)round);
	return NULL;
}
static void nvtx(void)
{
	pthread_t id;

	for (unsigned i = 0; i < 4; i++) {
		/* A push belongs to its thread. */
		if (i % 2)
			nvtx_marks_before(i);
		else if (pthread_create(&id, NULL, mark_before, &i) || pthread_join(id, NULL))
			exit(4);
		launch(q, "update", &a, &n);
		launch(q, "add", &a, &b, &c, &n);
		nvtx_marks_after(i);
		launch(q, "update", &b, &n);
	}
	works(cuStreamSynchronize(q));
}

/* The host waits after each launch. Only by name. */
static void waits(void)
{
	for (int i = 0; i < 150; i++) {
		launch(q, "update", &a, &n);
		works(cuStreamSynchronize(q));
	}
}

/* A collective by its name and the same work without, often, on the same memory. */
static void collective_often(void)
{
	for (int i = 0; i < 24; i++) {
		launch(q, "update", &a, &n);
		launch(q, "ncclDevKernel_update", &a, &n);
		if (i % 5 == 4)
			works(cuStreamSynchronize(q));
	}
	works(cuStreamSynchronize(q));
}

/* Ends the device: an address that is nobody's. Only by name. */
static void wild(void)
{
	launch(q, "update", &a, &n);
	launch(q, "wild", &a);
	works(cuStreamSynchronize(q));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
		int by_name;
	} traps[] = {{"update", update, 0},
		     {"atomics", atomics, 0},
		     {"chain", chain, 0},
		     {"streams", streams, 0},
		     {"globals", globals, 0},
		     {"spin", spin, 0},
		     {"hold", hold, 1},
		     {"mapped", mapped, 0},
		     {"managed", managed, 0},
		     {"append", append, 0},
		     {"once", once, 0},
		     {"pools", pools, 0},
		     {"transfers", transfers, 0},
		     {"graph", graph, 0},
		     {"callback", callback, 0},
		     {"stray", stray, 0},
		     {"ways", ways, 0},
		     {"contexts", contexts, 0},
		     {"threads", threads, 0},
		     {"library", library, 0},
		     {"kinds", kinds, 0},
		     {"wild", wild, 1},
		     {"beside", beside, 0},
		     {"capture", capture, 1},
		     {"profiler", profiler, 1},
		     {"nvtx", nvtx, 1},
		     {"waits", waits, 1},
		     {"collective_often", collective_often, 1},
		     {"surfaces", surfaces, 0},
		     {"parts", parts, 0},
		     {"handles", handles, 0},
		     {"reference", reference, 0},
		     {"textures", textures, 0},
		     {"unsavable", unsavable, 1},
		     {"graph_only", graph_only, 0},
		     {"graph_kinds", graph_kinds, 1},
		     {"graph_whole", graph_whole, 0},
		     {"graph_packed", graph_packed, 1},
		     {"graph_changed", graph_changed, 1},
		     {"graph_changed_too", graph_changed_too, 1},
		     {"graph_doubted", graph_doubted, 1},
		     {"graph_contexts", graph_contexts, 1},
		     {"graph_large", graph_large, 1},
		     {"graph_many", graph_many, 1},
		     {"graph_bare", graph_bare, 0},
		     {"graph_late", graph_late, 1},
		     {"collectives", collectives, 1},
		     {"alone", alone, 0},
		     {"between", between, 1},
		     {"late", late, 1},
		     {"devices", devices, 1},
		     {"borrowed", borrowed, 1},
		     {"peers", peers, 1},
		     {"crossing", crossing, 1},
		     {"numbers", numbers, 1}, /* before there was other memory at its places */
		     {"pageable", pageable, 1},
		     {"given", given, 1},
		     {"given_late", given_late, 1},
		     {"given_chain", given_chain, 1},
		     {"given_copy", given_copy, 1},
		     {"taken", taken, 1},
		     {"segments", segments, 1},
		     {"segments_left", segments_left, 1},
		     {"pool_kinds", pool_kinds, 1},
		     {"taken_frame", taken_frame, 1},
		     {"segments_given", segments_given, 1},
		     {"segments_taken", segments_taken, 1},
		     {"segments_twice", segments_twice, 1},
		     {"multicast", multicast, 1}};
	static const char image[] =
		"standin-module\n"
		"kernel update\nkernel update_numbers\nkernel add\nkernel histogram\nkernel chain\n"
		"kernel globals\nkernel append\nkernel once\nkernel spin\n"
		"kernel answer\nkernel set\nkernel stray\nkernel wild\n"
		"kernel surface\nkernel surface_at\nkernel texture\n"
		"kernel ncclDevKernel_update\n"
		"kernel ncclKernel_AllReduce_RING_LL\n"
		"kernel nvshmemi_transfer_rma\n"
		"global total 4\nglobal table 1024\n";
	struct CUctx_st *context;

	if (argc > 1 && !strcmp(argv[1], "list")) {
		for (size_t i = 0; i < sizeof(traps) / sizeof(*traps); i++)
			if (!traps[i].by_name)
				puts(traps[i].name);
		return 0;
	}
	for (int k = 1; k < argc; k++) {
		size_t i = 0;

		while (i < sizeof(traps) / sizeof(*traps) && strcmp(argv[k], traps[i].name))
			i++;
		if (i == sizeof(traps) / sizeof(*traps)) {
			fprintf(stderr, "cuda_traps: no trap '%s'\n", argv[k]);
			return 2;
		}
	}
	works(cuInit(0));
	works(cuDevicePrimaryCtxRetain(&context, 0));
	works(cuCtxSetCurrent(context));
	works(cuModuleLoadData(&module, image));
	works(cuStreamCreate(&q, 1));
	works(cuStreamCreate(&q2, 1));
	works(cuMemAlloc_v2(&a, BYTES));
	works(cuMemAlloc_v2(&b, BYTES));
	works(cuMemAlloc_v2(&c, BYTES));
	for (size_t i = 0; i < sizeof(traps) / sizeof(*traps); i++) {
		int wanted = argc == 1 && !traps[i].by_name;

		for (int k = 1; k < argc; k++)
			wanted |= !strcmp(argv[k], traps[i].name);
		if (!wanted)
			continue;
		prepare();
		traps[i].run();
		works(cuCtxSynchronize());
		show(traps[i].name, hash(a, BYTES) * 961 + hash(b, BYTES) * 31 + hash(c, BYTES));
	}
	works(cuMemFree_v2(a));
	works(cuMemFree_v2(b));
	works(cuMemFree_v2(c));
	return 0;
}
