/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps for replay on HSA: hsa_traps NAME [N] runs one, which prints numbers that are right only
 * when every kernel has run exactly once on the memory it should have seen. `hsa_traps list` names
 * them.
 */
#include "hsa_program.h"
#include "t0_device.h"
#include "t0_kernels.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 1024u
static unsigned times = 4;

static void *filled(uint32_t n, uint32_t seed)
{
	uint32_t *host = malloc(n * 4);
	void *device = hsa_device(0, n * 4);
	if (!host)
		exit(3);
	for (uint32_t i = 0; i < n; i++)
		host[i] = i * seed;
	hsa_put(device, host, n * 4);
	free(host);
	return device;
}

static void print(const char *what, const void *device, size_t bytes)
{
	printf("%s %016llx\n", what, (unsigned long long)hsa_sum(device, bytes));
}

#define ARGUMENTS(type, ...) \
	hsa_arguments(&(struct t0_##type){__VA_ARGS__}, sizeof(struct t0_##type))

/* Each launch waited for, with the tests' hook before the second (rocm_probe.c). */
static void accumulate(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 256);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "accumulate"), done = hsa_new_signal(1);
	void *buffer = filled(WORDS, 3);
	void *arguments = ARGUMENTS(accumulate, buffer, WORDS, 5);
	union {
		void *symbol;
		void (*call)(void);
	} middle = {dlsym(RTLD_DEFAULT, "probe_middle")};
	for (unsigned i = 0; i < times; i++) {
		if (i == 1 && middle.symbol)
			middle.call();
		hsa_signal_store_relaxed(done, 1);
		hsa_launch(q, kernel, WORDS, arguments, done, 0);
		hsa_await(done);
	}
	print("accumulate", buffer, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
	HSA_MUST(hsa_signal_destroy(done));
	HSA_MUST(hsa_amd_memory_pool_free(arguments));
	HSA_MUST(hsa_amd_memory_pool_free(buffer));
}

/* All launched before any is waited for; more packets than the ring has slots. */
static void many(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "accumulate");
	void *buffer = filled(WORDS, 7);
	void *arguments = ARGUMENTS(accumulate, buffer, WORDS, 1);
	for (unsigned i = 0; i < times * 40; i++)
		hsa_launch(q, kernel, WORDS, arguments, 0, 0);
	hsa_finish(q);
	print("many", buffer, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

static void atomics(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 256);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "atomics");
	void *total = filled(2, 0), *bins = filled(16, 0);
	void *arguments = ARGUMENTS(atomics, total, bins, 16, 0);
	for (unsigned i = 0; i < times; i++)
		hsa_launch(q, kernel, 1000 + i, arguments, 0, HSA_NO_BARRIER);
	hsa_finish(q);
	print("total", total, 8);
	print("bins", bins, 64);
	HSA_MUST(hsa_queue_destroy(q));
}

/* The buffer is reached only through a pointer in device memory. */
static void through_pointer(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 256);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "through_pointer");
	void *buffer = filled(WORDS, 5), *box = hsa_device(0, 8);
	hsa_put(box, &buffer, sizeof buffer);
	void *arguments = ARGUMENTS(through_pointer, box, WORDS, 0);
	for (unsigned i = 0; i < times; i++) {
		hsa_launch(q, kernel, WORDS, arguments, 0, 0);
		hsa_finish(q);
	}
	print("through_pointer", buffer, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

static void module_variable(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 256);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "module_variable"), symbol, address;
	void *out = filled(1, 1);
	void *arguments = ARGUMENTS(module_variable, out);
	for (unsigned i = 0; i < times; i++) {
		hsa_launch(q, kernel, 64, arguments, 0, 0);
		hsa_finish(q);
	}
	HSA_MUST(hsa_executable_get_symbol_by_name(hsa_code, "total", &gpus[0].agent, &symbol));
	HSA_MUST(hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_VARIABLE_ADDRESS, &address));
	print("out", out, 4);
	print("variable", (const void *)(uintptr_t)address, 4);
	HSA_MUST(hsa_queue_destroy(q));
}

/* Two queues; each kernel of the second waits for one of the first, by a barrier packet. */
static void two_queues(void)
{
	struct hsa_queue *a = hsa_new_queue(0, 64), *b = hsa_new_queue(0, 64);
	uint64_t produce = hsa_kernel(hsa_code, 0, "produce");
	uint64_t consume = hsa_kernel(hsa_code, 0, "consume");
	void *from = filled(WORDS, 1), *to = filled(WORDS, 2);
	void *p = ARGUMENTS(produce, from, WORDS, 0), *c = ARGUMENTS(consume, from, to, WORDS, 0);
	uint64_t produced = hsa_new_signal(1), consumed = hsa_new_signal(0);
	for (unsigned i = 0; i < times; i++) {
		hsa_barrier(a, consumed, 0);
		hsa_launch(a, produce, WORDS, p, produced, 0);
		hsa_barrier(b, produced, 0);
		hsa_launch(b, consume, WORDS, c, 0, 0);
		hsa_finish(b);
		hsa_signal_store_relaxed(produced, 1);
	}
	print("two_queues", to, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(a));
	HSA_MUST(hsa_queue_destroy(b));
}

/* A kernel that ends when the host says so, after it was launched. */
static void waits_for_host(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t wait = hsa_kernel(hsa_code, 0, "wait_for_flag");
	uint64_t work = hsa_kernel(hsa_code, 0, "accumulate"), done = hsa_new_signal(1);
	void *out = filled(1, 1), *buffer = filled(WORDS, 9);
	void *more = ARGUMENTS(accumulate, buffer, WORDS, 2);
	uint32_t *flag;
	HSA_MUST(hsa_amd_memory_pool_allocate(cpu_fine, 4, 0, (void **)&flag));
	HSA_MUST(hsa_amd_agents_allow_access(1, &gpus[0].agent, NULL, flag));
	for (unsigned i = 0; i < times; i++) {
		__atomic_store_n(flag, 0, __ATOMIC_RELEASE);
		void *arguments = ARGUMENTS(wait_for_flag, flag, out, 1, 0);
		hsa_signal_store_relaxed(done, 1);
		hsa_launch(q, work, WORDS, more, 0, 0);
		hsa_launch(q, wait, 64, arguments, done, 0);
		usleep(2000);
		__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
		hsa_await(done);
	}
	print("waits_for_host", out, 4);
	print("buffer", buffer, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

/* A kernel that ends when another one, launched later on another queue, has run. */
static void waits_for_kernel(void)
{
	struct hsa_queue *a = hsa_new_queue(0, 64), *b = hsa_new_queue(0, 64);
	uint64_t wait = hsa_kernel(hsa_code, 0, "wait_for_flag");
	uint64_t set = hsa_kernel(hsa_code, 0, "set_flag"), done = hsa_new_signal(1);
	void *out = filled(1, 1), *flag = filled(1, 0);
	for (unsigned i = 0; i < times; i++) {
		hsa_signal_store_relaxed(done, 1);
		hsa_launch(a, wait, 64, ARGUMENTS(wait_for_flag, flag, out, i + 1, 0), done, 0);
		hsa_launch(b, set, 64, ARGUMENTS(set_flag, flag, i + 1, 0), 0, 0);
		hsa_await(done);
		hsa_finish(b);
	}
	print("waits_for_kernel", out, 4);
	HSA_MUST(hsa_queue_destroy(a));
	HSA_MUST(hsa_queue_destroy(b));
}

/* Memory is freed and allocated again between dispatches, at the same address or another. */
static void freed(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "consume");
	void *from = filled(WORDS, 4), *to = filled(WORDS, 6);
	for (unsigned i = 0; i < times; i++) {
		hsa_launch(q, kernel, WORDS, ARGUMENTS(consume, from, to, WORDS, 0), 0, 0);
		hsa_finish(q);
		HSA_MUST(hsa_amd_memory_pool_free(from));
		from = filled(WORDS, i + 11);
	}
	print("freed", to, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

static void lists(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t append = hsa_kernel(hsa_code, 0, "append");
	uint64_t once = hsa_kernel(hsa_code, 0, "only_once");
	void *used = filled(1, 0), *list = filled(WORDS, 0);
	void *done = filled(64, 0), *work = filled(64, 0);
	for (unsigned i = 0; i < times; i++) {
		hsa_launch(q, append, 20, ARGUMENTS(append, used, list, WORDS, 0), 0, 0);
		hsa_launch(q, once, 64, ARGUMENTS(only_once, done, work, 64, 0), 0, 0);
	}
	hsa_finish(q);
	print("list", list, WORDS * 4);
	print("used", used, 4);
	print("work", work, 256);
	HSA_MUST(hsa_queue_destroy(q));
}

/* Writes through an address that no argument and no memory shows. */
static void astray(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "astray");
	void *buffer = filled(WORDS, 8), *hidden = hsa_device(0, 8);
	uint64_t key = (uint64_t)(uintptr_t)buffer ^ T0_ASTRAY_KEY;
	hsa_put(hidden, &key, 8);
	for (unsigned i = 0; i < times; i++) {
		hsa_launch(q, kernel, WORDS, ARGUMENTS(astray, hidden, WORDS, 0), 0, 0);
		hsa_finish(q);
	}
	print("astray", buffer, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

/* The host writes the arguments again as soon as the launch is on its way. */
static void arguments_change(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t fill = hsa_kernel(hsa_code, 0, "fill"), done = hsa_new_signal(1);
	void *buffer = filled(WORDS, 1);
	struct t0_fill *a = ARGUMENTS(fill, buffer, 1, WORDS);
	for (unsigned i = 0; i < times; i++) {
		a->value = i * 3 + 1;
		hsa_signal_store_relaxed(done, 1);
		hsa_launch(q, fill, WORDS, a, done, 0);
		hsa_await(done);
		memset(a, 0xff, sizeof *a);
		*a = (struct t0_fill){buffer, 0, WORDS};
	}
	print("arguments", buffer, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

/* Copies and fills of the runtime between kernels; an asynchronous one after a kernel. */
static void copies(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "accumulate");
	uint64_t done = hsa_new_signal(1), copied = hsa_new_signal(1);
	void *a = filled(WORDS, 3), *b = filled(WORDS, 4);
	void *arguments = ARGUMENTS(accumulate, a, WORDS, 6);
	for (unsigned i = 0; i < times; i++) {
		hsa_signal_store_relaxed(done, 1);
		hsa_signal_store_relaxed(copied, 1);
		HSA_MUST(hsa_amd_memory_fill(b, i, 8));
		hsa_launch(q, kernel, WORDS, arguments, done, 0);
		HSA_MUST(hsa_amd_memory_async_copy((char *)b + 64, gpus[0].agent, a, gpus[0].agent,
						   WORDS * 2, 1, &done, copied));
		hsa_await(copied);
		HSA_MUST(hsa_memory_copy(a, b, WORDS * 2));
	}
	print("a", a, WORDS * 4);
	print("b", b, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

/* Virtual memory: mapped while the kernel runs, unmapped afterwards. */
static void virtual_memory(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "accumulate"), handle;
	void *range, *buffer = filled(WORDS, 2);
	HSA_MUST(hsa_amd_vmem_address_reserve(&range, 65536, 0, 0));
	HSA_MUST(hsa_amd_vmem_handle_create(gpus[0].coarse, 65536, 0, 0, &handle));
	HSA_MUST(hsa_amd_vmem_map(range, 65536, 0, handle, 0));
	hsa_put(range, "some words here", 16);
	for (unsigned i = 0; i < times; i++) {
		hsa_launch(q, kernel, WORDS, ARGUMENTS(accumulate, range, WORDS, i), 0, 0);
		hsa_launch(q, kernel, WORDS, ARGUMENTS(accumulate, buffer, WORDS, i), 0, 0);
		hsa_finish(q);
	}
	print("mapped", range, WORDS * 4);
	print("beside", buffer, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
	HSA_MUST(hsa_amd_vmem_unmap(range, 65536));
	HSA_MUST(hsa_amd_vmem_handle_release(handle));
	HSA_MUST(hsa_amd_vmem_address_free(range, 65536));
}

/* Several packets written before one ring, without barrier bits: they may overlap. */
static void batch(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 256);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "accumulate");
	void *buffers[8];
	for (unsigned k = 0; k < 8; k++)
		buffers[k] = filled(WORDS, k + 1);
	for (unsigned i = 0; i < times; i++) {
		for (unsigned k = 0; k < 8; k++)
			hsa_launch(q, kernel, WORDS, ARGUMENTS(accumulate, buffers[k], WORDS, k), 0,
				   HSA_NO_BARRIER | (k < 7 ? HSA_NO_DOORBELL : 0));
		hsa_finish(q);
	}
	for (unsigned k = 0; k < 8; k++)
		print("batch", buffers[k], WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

/* Must run once, says its name. */
static void collective(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	uint64_t scale = hsa_kernel(hsa_code, 0, "_Z5scalePfi");
	void *buffer = filled(WORDS, 3);
	void *arguments = ARGUMENTS(accumulate, buffer, WORDS, 5);
	for (unsigned i = 0; i < times; i++) {
		hsa_launch(q, kernel, WORDS, arguments, 0, 0);
		hsa_launch(q, scale, WORDS, arguments, 0, 0);
		hsa_finish(q);
	}
	print("collective", buffer, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

static void *one_thread(void *data)
{
	uint32_t seed = *(const uint32_t *)data;
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "accumulate"), done = hsa_new_signal(1);
	void *buffer = filled(WORDS, seed);
	void *arguments = ARGUMENTS(accumulate, buffer, WORDS, seed);
	for (unsigned i = 0; i < times; i++) {
		hsa_signal_store_relaxed(done, 1);
		hsa_launch(q, kernel, WORDS, arguments, done, 0);
		hsa_await(done);
	}
	HSA_MUST(hsa_queue_destroy(q));
	HSA_MUST(hsa_signal_destroy(done));
	return buffer;
}

static void threads(void)
{
	pthread_t thread[4];
	uint32_t seeds[4] = {1, 2, 3, 4};
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, one_thread, &seeds[i]))
			exit(3);
	for (int i = 0; i < 4; i++) {
		void *buffer;
		pthread_join(thread[i], &buffer);
		print("thread", buffer, WORDS * 4);
	}
}

/* Every GPU that there is, each with its own code object. */
static void two_gpus(void)
{
	for (unsigned g = 0; g < n_gpus; g++) {
		uint64_t code = hsa_load(g, T0_CODE_MAGIC "kernel accumulate\n");
		uint64_t kernel = hsa_kernel(code, g, "accumulate");
		struct hsa_queue *q = hsa_new_queue(g, 64);
		void *buffer = hsa_device(g, WORDS * 4);
		void *arguments = ARGUMENTS(accumulate, buffer, WORDS, g + 1);
		for (unsigned i = 0; i < times; i++) {
			hsa_launch(q, kernel, WORDS, arguments, 0, 0);
			hsa_finish(q);
		}
		print(gpus[g].name, buffer, WORDS * 4);
		HSA_MUST(hsa_queue_destroy(q));
		HSA_MUST(hsa_executable_destroy(code));
	}
}

/* Ends with work in flight. */
static void ends_early(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 256);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "accumulate");
	void *buffer = filled(WORDS, 1);
	for (unsigned i = 0; i < times; i++)
		hsa_launch(q, kernel, WORDS, ARGUMENTS(accumulate, buffer, WORDS, i), 0, 0);
	printf("ends_early\n");
	exit(7);
}

/* A child that does nothing with the GPU, between dispatches. */
static void forks(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	uint64_t kernel = hsa_kernel(hsa_code, 0, "accumulate");
	void *buffer = filled(WORDS, 3);
	for (unsigned i = 0; i < times; i++) {
		hsa_launch(q, kernel, WORDS, ARGUMENTS(accumulate, buffer, WORDS, i), 0, 0);
		int status;
		pid_t child = fork();
		if (!child)
			_exit(5);
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 5)
			printf("the child ended with %d\n", status);
		hsa_finish(q);
	}
	print("forks", buffer, WORDS * 4);
	HSA_MUST(hsa_queue_destroy(q));
}

/* Wrong programs, for the model device itself: the host touches device memory, a kernel goes beyond
 * its buffer, or uses one that was freed. */
static void host_touches(void)
{
	volatile uint32_t *buffer = filled(WORDS, 3);
	printf("%u\n", buffer[1]);
}

static void kernel_beyond(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	void *arguments = ARGUMENTS(accumulate, filled(WORDS, 3), WORDS + 1, 5);
	hsa_launch(q, hsa_kernel(hsa_code, 0, "accumulate"), WORDS, arguments, 0, 0);
	hsa_finish(q);
}

static void kernel_after_free(void)
{
	struct hsa_queue *q = hsa_new_queue(0, 64);
	void *buffer = filled(WORDS, 3), *arguments = ARGUMENTS(accumulate, buffer, WORDS, 5);
	HSA_MUST(hsa_amd_memory_pool_free(buffer));
	hsa_launch(q, hsa_kernel(hsa_code, 0, "accumulate"), WORDS, arguments, 0, 0);
	hsa_finish(q);
}

static const struct {
	const char *name;
	void (*run)(void);
} traps[] = {{"accumulate", accumulate},
	     {"many", many},
	     {"atomics", atomics},
	     {"through_pointer", through_pointer},
	     {"module_variable", module_variable},
	     {"two_queues", two_queues},
	     {"waits_for_host", waits_for_host},
	     {"waits_for_kernel", waits_for_kernel},
	     {"freed", freed},
	     {"lists", lists},
	     {"astray", astray},
	     {"arguments_change", arguments_change},
	     {"copies", copies},
	     {"virtual_memory", virtual_memory},
	     {"batch", batch},
	     {"collective", collective},
	     {"threads", threads},
	     {"two_gpus", two_gpus},
	     {"forks", forks},
	     {"ends_early", ends_early},
	     {"host_touches", host_touches},
	     {"kernel_beyond", kernel_beyond},
	     {"kernel_after_free", kernel_after_free}};

/* What is loaded, into the file that HSA_MAPS_TO names. */
static void write_maps(void)
{
	const char *name = getenv("HSA_MAPS_TO");
	FILE *in = name ? fopen("/proc/self/maps", "r") : NULL, *out = in ? fopen(name, "w") : NULL;
	char line[4096];
	while (out && fgets(line, sizeof line, in))
		fputs(line, out);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

int main(int argc, char **argv)
{
	const unsigned n = sizeof traps / sizeof *traps;
	if (argc > 1 && !strcmp(argv[1], "list")) {
		for (unsigned i = 0; i < n; i++)
			puts(traps[i].name);
		return 0;
	}
	if (argc > 2)
		times = (unsigned)atoi(argv[2]);
	for (unsigned i = 0; argc > 1 && i < n; i++)
		if (!strcmp(traps[i].name, argv[1])) {
			hsa_start();
			traps[i].run();
			write_maps();
			HSA_MUST(hsa_executable_destroy(hsa_code));
			HSA_MUST(hsa_shut_down());
			return 0;
		}
	fprintf(stderr, "usage: hsa_traps NAME [N]\n");
	return 3;
}
