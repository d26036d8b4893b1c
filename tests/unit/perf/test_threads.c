/* SPDX-License-Identifier: Apache-2.0 */
/* perf counters on a device's threads: what threads do between begin and end of a unit, exactly. */
#include "../test.h"
#include "replay/runtime.h"
#include "source/perf/perf_threads_device.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORKERS 4

struct worker {
	pthread_t thread;
	int32_t tid;
	bool stop;
	size_t pages;
};
static struct worker workers[WORKERS];
static uint32_t n_workers;
static pthread_barrier_t start, finish;

/* Touches fresh pages of its own: so many page faults. */
static void touch(size_t pages)
{
	volatile char *p = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)madvise((void *)(uintptr_t)p, pages * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		p[i * 4096] = 1;
	munmap((void *)(uintptr_t)p, pages * 4096);
}

static void *work(void *data)
{
	struct worker *w = data;

	w->tid = (int32_t)syscall(SYS_gettid);
	touch(1);
	pthread_barrier_wait(&finish);
	for (;;) {
		pthread_barrier_wait(&start);
		if (w->stop)
			return NULL;
		touch(w->pages);
		pthread_barrier_wait(&finish);
	}
}

static uint32_t list(void *data, int32_t *tids, uint32_t room)
{
	(void)data;
	for (uint32_t i = 0; i < n_workers && i < room; i++)
		tids[i] = workers[i].tid;
	return n_workers;
}

static struct runtime_threads threads = {sizeof(threads), NULL, list};
static struct plan_counter counters[] = {
	{.name = "page-faults",
	 .source = "perf",
	 .block = "",
	 .unit = "count",
	 .config = "type=1 config=2"},
	{.name = "task-clock",
	 .source = "perf",
	 .block = "",
	 .unit = "ns",
	 .config = "type=1 config=1"},
	{.name = "other", .source = "sim", .block = "", .unit = "count", .config = ""},
	{.name = "nonsense",
	 .source = "perf",
	 .block = "",
	 .unit = "count",
	 .config = "pmu=no_such_pmu config=1"},
};
static const uint32_t first[] = {0, 2}, second[] = {0, 1, 3};
static struct plan_pass passes[] = {
	{.n_counters = 2, .counters = first, .reason = "", .config = ""},
	{.n_counters = 3, .counters = second, .reason = "", .config = ""},
};
static struct plan plan = {.n_counters = 4, .counters = counters, .n_passes = 2, .passes = passes};

static void begin_workers(uint32_t n)
{
	pthread_barrier_init(&start, NULL, n + 1);
	pthread_barrier_init(&finish, NULL, n + 1);
	memset(workers, 0, sizeof(workers));
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	pthread_barrier_wait(&finish);
	n_workers = n;
}

static void end_workers(void)
{
	for (uint32_t i = 0; i < n_workers; i++)
		workers[i].stop = true;
	pthread_barrier_wait(&start);
	for (uint32_t i = 0; i < n_workers; i++)
		pthread_join(workers[i].thread, NULL);
	n_workers = 0;
}

static void run_workers(size_t pages)
{
	for (uint32_t i = 0; i < n_workers; i++)
		workers[i].pages = pages + i;
	pthread_barrier_wait(&start);
	pthread_barrier_wait(&finish);
}

static void run_unit(void *device, uint32_t index, size_t pages)
{
	struct source_unit unit = {.index = index};
	struct error err = {0};

	assert_int_equal(source_perf_threads.unit_begin(device, &unit, &err), 0);
	run_workers(pages);
	assert_int_equal(source_perf_threads.unit_end(device, &unit, &err), 0);
}

static void *open_device(void)
{
	struct error err = {0};
	void *device = NULL;

	if (source_perf_threads.device_open(&device, &plan, "opencl", &threads, 0, &err))
		fail_msg("%s", err.message);
	return device;
}

static uint32_t read_unit(void *device, uint32_t unit, struct spool_sample *s)
{
	uint64_t enabled, running;
	struct error err = {0};
	uint32_t n = 0;

	assert_int_equal(source_perf_threads.read(device, unit, s, 8, &n, &enabled, &running, &err),
			 0);
	return n;
}

static void test_counts(void **state)
{
	struct spool_sample s[8];
	struct error err = {0};
	void *device;

	(void)state;
	begin_workers(3);
	device = open_device();
	assert_int_equal(source_perf_threads.room(device), 3);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(source_perf_threads.pass_begin(device, 1, 2, &err), 0);
		run_unit(device, 0, 50);
		run_workers(1000); /* between units: not counted */
		run_unit(device, 1, 20);
		assert_int_equal(source_perf_threads.pass_end(device, &err), 0);
		assert_int_equal(read_unit(device, 0, s), 1);
		assert_int_equal(s[0].status, SAMPLE_OK);
		assert_int_equal(s[0].counter, 0);
		assert_int_equal(s[0].value.u64, 50 + 51 + 52);
		read_unit(device, 1, s);
		assert_int_equal(s[0].value.u64, 20 + 21 + 22);
		assert_int_equal(source_perf_threads.pass_begin(device, 2, 1, &err), 0);
		run_unit(device, 0, 30);
		assert_int_equal(read_unit(device, 0, s), 3);
		assert_int_equal(s[0].value.u64, 30 + 31 + 32);
		assert_int_equal(s[1].status, SAMPLE_OK);
		assert_true(s[1].value.u64 > 0);
		/* what this machine does not have is not collected, and not 0 */
		assert_int_equal(s[2].counter, 3);
		assert_int_equal(s[2].status, SAMPLE_NOT_COLLECTED);
	}
	source_perf_threads.device_close(device);
	end_workers();
}

static void test_threads_come_and_go(void **state)
{
	struct spool_sample s[8];
	struct error err = {0};
	void *device;

	(void)state;
	begin_workers(2);
	device = open_device();
	assert_int_equal(source_perf_threads.pass_begin(device, 1, 1, &err), 0);
	run_unit(device, 0, 10);
	read_unit(device, 0, s);
	assert_int_equal(s[0].value.u64, 10 + 11);
	end_workers();
	begin_workers(4);
	assert_int_equal(source_perf_threads.pass_begin(device, 1, 1, &err), 0);
	run_unit(device, 0, 10);
	read_unit(device, 0, s);
	assert_int_equal(s[0].value.u64, 10 + 11 + 12 + 13);
	source_perf_threads.pass_abort(device);
	assert_int_not_equal(source_perf_threads.unit_begin(device, &(struct source_unit){0}, &err),
			     0);
	source_perf_threads.device_close(device);
	end_workers();
}

static void test_calling_thread(void **state)
{
	struct source_unit unit = {.index = 0};
	struct spool_sample s[8];
	struct error err = {0};
	void *device;

	(void)state;
	n_workers = 0;
	device = open_device();
	touch(5);
	assert_int_equal(source_perf_threads.pass_begin(device, 1, 1, &err), 0);
	for (int i = 0; i < 2; i++) { /* the first is cold */
		assert_int_equal(source_perf_threads.unit_begin(device, &unit, &err), 0);
		touch(77);
		assert_int_equal(source_perf_threads.unit_end(device, &unit, &err), 0);
	}
	read_unit(device, 0, s);
	assert_int_equal(s[0].value.u64, 77);
	source_perf_threads.device_close(device);
}

static void test_refusals(void **state)
{
	struct error err = {0};
	void *device = NULL;

	(void)state;
	assert_int_equal(source_perf_threads.device_open(&device, &plan, "cuda", &threads, 3, &err),
			 RC_UNSUPPORTED);
	device = open_device();
	assert_int_equal(source_perf_threads.pass_begin(device, 0, 1, &err), RC_INVALID);
	assert_int_equal(source_perf_threads.pass_begin(device, 3, 1, &err), RC_INVALID);
	source_perf_threads.device_close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_threads_come_and_go),
		cmocka_unit_test(test_calling_thread),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
