/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated device alone: what kernels do, what is counted, what is refused, what fails. */
#include "simdev/counter_table.h"
#include "tests/unit/sim/sim_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 1000u

struct here {
	struct sim_device *d;
	struct sim_queue *q;
	uint64_t a, b, c;
};

static void begin(struct here *h, const struct sim_config *config)
{
	h->d = sim_test_open(config);
	works(sim_queue_create(h->d, &h->q));
	works(sim_malloc(h->d, N * 8, &h->a));
	works(sim_malloc(h->d, N * 8, &h->b));
	works(sim_malloc(h->d, N * 8, &h->c));
	works(sim_fill(h->q, h->a, 0, N * 8));
	works(sim_fill(h->q, h->b, 0, N * 8));
	works(sim_fill(h->q, h->c, 0, N * 8));
	works(sim_wait(h->d));
}

static void test_kernels_do_what_they_say(void **state)
{
	uint32_t x[N], y[N], out[N], count;
	uint64_t sums[2], seeds[N], box;
	unsigned char bytes[N];
	struct here h;

	(void)state;
	begin(&h, NULL);
	for (uint32_t i = 0; i < N; i++) {
		x[i] = i * 7;
		y[i] = UINT32_MAX - i;
		bytes[i] = (unsigned char)(i % 5);
		seeds[i] = i + 1;
	}
	works(sim_copy_in(h.q, h.a, x, sizeof(x)));
	works(sim_copy_in(h.q, h.b, y, sizeof(y)));
	works(enqueue(h.q, "vector_add", N, h.a, h.b, h.c, N));
	sim_test_read(h.q, h.c, out, sizeof(out));
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(out[i], x[i] + y[i]);
	works(enqueue(h.q, "update", N, h.a, N));
	sim_test_read(h.q, h.a, out, sizeof(out));
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(out[i], 3 * x[i] + 1);
	works(enqueue(h.q, "set", N, h.a, N, 5));
	sim_test_read(h.q, h.a, out, sizeof(out));
	assert_int_equal(out[N - 1], N + 4);
	/* only as many elements as there are items */
	works(enqueue(h.q, "set", 64, h.a, N, 9));
	sim_test_read(h.q, h.a, out, sizeof(out));
	assert_int_equal(out[63], 72);
	assert_int_equal(out[64], 69);

	works(sim_copy_in(h.q, h.a, bytes, sizeof(bytes)));
	works(sim_fill(h.q, h.b, 0, N * 8));
	works(enqueue(h.q, "histogram", N, h.a, h.b, N));
	sim_test_read(h.q, h.b, out, sizeof(out));
	assert_int_equal(out[0], 200);
	assert_int_equal(out[4], 200);
	assert_int_equal(out[5], 0);

	for (uint32_t i = 0; i < N; i++)
		x[i] = (i + 7) % N;
	works(sim_copy_in(h.q, h.a, x, sizeof(x)));
	works(enqueue(h.q, "chain", 1, h.a, h.c, 3, 10));
	sim_test_read(h.q, h.c, out, 4);
	assert_int_equal(out[0], 73);

	works(sim_fill(h.q, h.b, 0, N * 8));
	for (int i = 0; i < 3; i++)
		works(enqueue(h.q, "append", 1, h.b, h.c, 10, (uint64_t)i * 100));
	sim_test_read(h.q, h.b, &count, 4);
	sim_test_read(h.q, h.c, out, 120);
	assert_int_equal(count, 30);
	assert_int_equal(out[29], 209);

	works(sim_copy_in(h.q, h.a, seeds, sizeof(seeds)));
	works(sim_fill(h.q, h.b, 0, 16));
	works(enqueue(h.q, "walk", N, h.a, h.b, N));
	sim_test_read(h.q, h.b, sums, sizeof(sums));
	assert_in_range(sums[0], N, 4096 * N);
	sim_test_read(h.q, h.a, seeds, sizeof(seeds));
	assert_int_not_equal(seeds[0], 1);

	works(sim_copy_in(h.q, h.a, &h.c, 8));
	works(sim_fill(h.q, h.c, 0, N * 8));
	works(enqueue(h.q, "stray", 1, h.a, 42));
	sim_test_read(h.q, h.c, out, 4);
	assert_int_equal(out[0], 42);
	sim_test_read(h.q, h.a, &box, 8);
	assert_int_equal(box, h.c);

	works(sim_fill(h.q, h.a, 0, N * 8));
	works(enqueue(h.q, "guarded", N, h.a, h.b, N));
	sim_test_read(h.q, h.a, out, sizeof(out));
	assert_int_equal(out[N - 1], 1);
	works(sim_close(h.d));
}

static void test_touch_writes_the_part(void **state)
{
	const uint64_t size = 1000 * SIM_PAGE;
	uint64_t pages[16] = {0}, address, n = 0;
	const struct sim_tools *t = sim_test_tools();
	struct here h;

	(void)state;
	begin(&h, NULL);
	works(sim_malloc(h.d, size, &address));
	works(t->track(h.d, address));
	works(enqueue(h.q, "touch", 1, address, size, 10, 1));
	works(sim_wait(h.d));
	works(t->tracked(h.d, address, pages));
	for (int i = 0; i < 16; i++)
		n += (uint64_t)__builtin_popcountll(pages[i]);
	assert_int_equal(n, 10);
	memset(pages, 0, sizeof(pages));
	works(t->tracked(h.d, address, pages));
	assert_int_equal(pages[0], 0);
	works(sim_close(h.d));
}

/* Ends by SIGSEGV when the host touches what is the device's, in every way. */
static int status_of_access(int way)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		const struct rlimit none = {0, 0};
		volatile unsigned char *p;
		struct here h;

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL);
		begin(&h, NULL);
		p = (volatile unsigned char *)(uintptr_t)h.a;
		if (way == 0)
			(void)*p;
		else if (way == 1)
			*p = 1;
		else if (way == 2) { /* also while a kernel of the device uses it */
			void *flag;

			works(sim_malloc_shared(h.d, 4, &flag));
			works(enqueue(h.q, "spin", 1, (uint64_t)(uintptr_t)flag, h.a));
			(void)*p;
		} else if (way == 3) { /* shared memory is the host's as well */
			void *shared;

			works(sim_malloc_shared(h.d, 4, &shared));
			*(volatile unsigned char *)shared = 1;
		}
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_the_host_cannot_touch_it(void **state)
{
	(void)state;
	for (int way = 0; way < 3; way++) {
		int status = status_of_access(way);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSEGV);
	}
	assert_int_equal(status_of_access(3), 0);
}

static void test_memory_is_not_cleared_and_comes_again(void **state)
{
	uint64_t again, tool;
	uint32_t out[N];
	struct here h;

	(void)state;
	begin(&h, NULL);
	works(enqueue(h.q, "set", N, h.b, N, 77));
	works(sim_free(h.d, h.b));
	/* What a tool takes comes from elsewhere. */
	works(sim_test_tools()->tool_malloc(h.d, N * 8, &tool));
	works(sim_malloc(h.d, N * 8, &again));
	assert_int_equal(again, h.b);
	sim_test_read(h.q, again, out, sizeof(out));
	assert_int_equal(out[1], 78);
	assert_int_equal(sim_free(h.d, h.b + 1), SIM_INVALID);
	works(sim_test_tools()->tool_free(h.d, tool));
	works(sim_close(h.d));
}

/* ---- queues ---- */

static void test_kernels_that_wait(void **state)
{
	struct sim_queue *second;
	struct here h;
	uint32_t turn;
	void *flag;

	(void)state;
	begin(&h, NULL);
	works(sim_queue_create(h.d, &second));
	works(sim_malloc_shared(h.d, 4, &flag));
	works(enqueue(h.q, "spin", 1, (uint64_t)(uintptr_t)flag, h.a));
	assert_int_equal(sim_queue_query(h.q), SIM_NOT_READY);
	assert_int_equal(sim_test_tools()->drain(h.d, 1000000), SIM_TIMEOUT);
	__atomic_store_n((uint32_t *)flag, 5, __ATOMIC_RELEASE);
	works(sim_queue_wait(h.q));
	works(sim_queue_query(h.q));
	works(enqueue(h.q, "ping", 1, h.b, 0, 100));
	works(enqueue(second, "ping", 1, h.b, 1, 100));
	works(sim_wait(h.d));
	sim_test_read(h.q, h.b, &turn, 4);
	assert_int_equal(turn, 200);
	works(sim_close(h.d));
}

static void test_events_order_queues(void **state)
{
	struct sim_queue *second;
	struct sim_event *e, *never;
	uint32_t out[N];
	struct here h;
	void *flag;

	(void)state;
	begin(&h, NULL);
	works(sim_queue_create(h.d, &second));
	works(sim_event_create(h.d, &e));
	works(sim_event_create(h.d, &never));
	works(sim_event_query(never));
	works(sim_queue_wait_event(h.q, never));
	works(sim_malloc_shared(h.d, 4, &flag));
	works(enqueue(h.q, "spin", 1, (uint64_t)(uintptr_t)flag, h.c));
	works(enqueue(h.q, "set", N, h.a, N, 1));
	works(sim_event_record(e, h.q));
	works(sim_queue_wait_event(second, e));
	works(enqueue(second, "update", N, h.a, N));
	assert_int_equal(sim_event_query(e), SIM_NOT_READY);
	__atomic_store_n((uint32_t *)flag, 1, __ATOMIC_RELEASE);
	works(sim_event_wait(e));
	sim_test_read(second, h.a, out, sizeof(out));
	assert_int_equal(out[2], 10);
	works(sim_event_destroy(e));
	works(sim_event_destroy(never));
	works(sim_queue_destroy(second));
	works(sim_close(h.d));
}

struct called {
	struct here h;
	int launched, waited;
};

static void from_callback(void *data)
{
	struct called *c = data;

	c->launched = enqueue(c->h.q, "update", N, c->h.a, N);
	c->waited = sim_wait(c->h.d);
}

static void test_callbacks(void **state)
{
	struct called c = {0};
	uint32_t out[2];

	(void)state;
	begin(&c.h, NULL);
	works(enqueue(c.h.q, "set", N, c.h.a, N, 1));
	works(sim_queue_callback(c.h.q, from_callback, &c));
	works(sim_test_tools()->drain(c.h.d, UINT64_C(60) * 1000000000));
	works(c.launched);
	assert_int_equal(c.waited, SIM_NOT_PERMITTED);
	sim_test_read(c.h.q, c.h.a, out, sizeof(out));
	assert_int_equal(out[1], 7);
	works(sim_close(c.h.d));
}

/* ---- counters ---- */

/* All counters of a block's worth of selections, for a fixed piece of work; a text of them. */
static char *count_everything(const struct sim_config *config)
{
	static const uint32_t passes[][8] = {{1, 2, 3, 4, 5, 6, 7, 8},
					     {9, 10},
					     {20, 21, 22, 23},
					     {24, 25, 26, 27},
					     {30, 31},
					     {32, 33},
					     {34},
					     {40, 41, 42},
					     {43}};
	const struct sim_tools *t = sim_test_tools();
	uint64_t seeds[N];
	size_t size = 0;
	char *text = calloc(1, 65536);
	struct here h;

	assert_non_null(text);
	for (uint32_t i = 0; i < N; i++)
		seeds[i] = i * 0x9e3779b97f4a7c15u + 1;
	begin(&h, config);
	works(t->counters_acquire(h.d));
	for (size_t p = 0; p < sizeof(passes) / sizeof(*passes); p++) {
		uint32_t n = 0;

		while (n < 8 && passes[p][n])
			n++;
		works(sim_copy_in(h.q, h.a, seeds, sizeof(seeds)));
		works(sim_wait(h.d));
		works(t->counters_program(h.d, passes[p], n, 2));
		works(t->counters_start(h.d, h.q, 0));
		works(enqueue(h.q, "walk", N, h.a, h.b, N));
		works(t->counters_stop(h.d, h.q, 0));
		works(t->counters_start(h.d, h.q, 1));
		works(enqueue(h.q, "vector_add", N, h.a, h.b, h.c, N));
		works(t->counters_stop(h.d, h.q, 1));
		works(sim_wait(h.d));
		for (uint32_t u = 0; u < 2; u++)
			for (uint32_t i = 0; i < n; i++) {
				const struct sim_counter *k = sim_table_find(passes[p][i]);
				uint32_t n_blocks;

				for (uint32_t s = 0; s < t->blocks(&n_blocks)[k->block].instances;
				     s++) {
					struct sim_reading r;

					works(t->counters_read(h.d, u, k->id, s, 1, &r));
					size += (size_t)snprintf(
						text + size, 65536 - size, "%u %s[%u] %llu%s\n", u,
						k->name, s, (unsigned long long)(r.end - r.begin),
						r.overflowed ? " overflowed" : "");
				}
			}
	}
	t->counters_release(h.d);
	works(sim_close(h.d));
	return text;
}

static void test_same_work_same_counts(void **state)
{
	struct sim_config noisy, other;
	char *a = count_everything(NULL), *b = count_everything(NULL), *c, *d, *e;

	(void)state;
	assert_string_equal(a, b);
	/* 1000 items in 16 groups, 4 of each share of the work; 2 loads and a store each */
	assert_non_null(strstr(a, "1 SEQ_ITEMS[0] 512\n"));
	assert_non_null(strstr(a, "1 SEQ_LOADS[0] 1024\n"));
	assert_non_null(strstr(a, "1 SEQ_LOADS[1] 976\n"));
	assert_non_null(strstr(a, "1 L2_READ_BYTES[3] 1856\n"));
	assert_non_null(strstr(a, "1 MEM_WRITE_BYTES[0] 2048\n"));
	assert_non_null(strstr(a, "1 DEV_DISPATCHES[0] 1\n"));
	/* noise is seeded, and in cycles only */
	sim_config_default(&noisy);
	noisy.noise = 100;
	other = noisy;
	other.seed = 2;
	c = count_everything(&noisy);
	d = count_everything(&noisy);
	e = count_everything(&other);
	assert_string_equal(c, d);
	assert_string_not_equal(c, a);
	assert_string_not_equal(c, e);
	assert_non_null(strstr(c, "1 SEQ_LOADS[1] 976\n"));
	free(a);
	free(b);
	free(c);
	free(d);
	free(e);
}

static void test_counting_the_whole_device(void **state)
{
	const uint32_t ids[] = {3, 41};
	const struct sim_tools *t = sim_test_tools();
	struct sim_queue *second;
	struct sim_reading r, both[2];
	struct here h;

	(void)state;
	begin(&h, NULL);
	works(sim_queue_create(h.d, &second));
	works(t->counters_acquire(h.d));
	works(t->counters_program(h.d, ids, 2, 1));
	works(enqueue(h.q, "update", N, h.a, N));
	works(sim_wait(h.d));
	works(t->counters_start(h.d, NULL, 0));
	works(enqueue(h.q, "update", N, h.a, N));
	works(enqueue(second, "update", N, h.b, N));
	works(sim_wait(h.d));
	works(t->counters_stop(h.d, NULL, 0));
	works(enqueue(h.q, "update", N, h.a, N));
	works(sim_wait(h.d));
	works(t->counters_read(h.d, 0, 41, 0, 1, &r));
	assert_int_equal(r.end - r.begin, 2);
	works(t->counters_read(h.d, 0, 3, 0, 1, &r));
	assert_int_equal(r.end - r.begin, 1024);
	assert_int_equal(t->counters_read(h.d, 0, 4, 0, 1, &r), SIM_INVALID);
	assert_int_equal(t->counters_read(h.d, 1, 3, 0, 1, &r), SIM_INVALID);
	assert_int_equal(t->counters_read(h.d, 0, 3, 2, 1, &r), SIM_INVALID);
	assert_int_equal(t->counters_read(h.d, 0, 3, 1, 2, both), SIM_INVALID);
	works(t->counters_read(h.d, 0, 3, 0, 2, both));
	assert_int_equal(both[0].end, r.end);
	assert_int_equal(both[1].end - both[1].begin, 976);
	works(sim_close(h.d));
}

static void test_slots_and_conflicts(void **state)
{
	static const struct {
		uint32_t n, ids[9];
		int result;
	} cases[] = {
		{8, {1, 2, 3, 4, 5, 6, 7, 8}, SIM_OK},
		{9, {1, 2, 3, 4, 5, 6, 7, 9, 10}, SIM_NO_SLOT},
		{4, {20, 21, 22, 23}, SIM_OK},
		{5, {20, 21, 22, 23, 24}, SIM_NO_SLOT},
		{3, {30, 31, 32}, SIM_NO_SLOT},
		{6, {20, 21, 30, 31, 40, 41}, SIM_OK},
		{2, {9, 10}, SIM_OK},
		{1, {9}, SIM_OK},
		{1, {10}, SIM_CONFLICT},
		{2, {10, 9}, SIM_CONFLICT},
		{3, {9, 1, 10}, SIM_CONFLICT},
		{1, {42}, SIM_OK},
		{1, {43}, SIM_OK},
		{2, {42, 43}, SIM_CONFLICT},
		{2, {1, 1}, SIM_INVALID},
		{1, {99}, SIM_INVALID},
		{0, {0}, SIM_OK},
	};
	const struct sim_tools *t = sim_test_tools();
	struct here h;

	(void)state;
	begin(&h, NULL);
	assert_int_equal(t->counters_program(h.d, cases[0].ids, 1, 1), SIM_INVALID);
	works(t->counters_acquire(h.d));
	assert_int_equal(t->counters_acquire(h.d), SIM_BUSY);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(t->counters_program(h.d, cases[i].ids, cases[i].n, 1),
				 cases[i].result);
	works(sim_close(h.d));
}

/* ---- failures on demand ---- */

static void test_counters_that_fail(void **state)
{
	const struct sim_tools *t = sim_test_tools();
	const uint32_t ids[] = {23, 8};
	struct sim_config c;
	struct sim_reading r;
	struct here h;

	(void)state;
	sim_config_default(&c);
	c.busy_counters = 1;
	begin(&h, &c);
	assert_int_equal(t->counters_acquire(h.d), SIM_BUSY);
	works(sim_close(h.d));

	sim_config_default(&c);
	c.fail_program = 2;
	c.fail_read = 2;
	c.counter_bits = 12;
	c.counter_start = 4090;
	begin(&h, &c);
	works(t->counters_acquire(h.d));
	works(t->counters_program(h.d, ids, 2, 1));
	assert_int_equal(t->counters_program(h.d, ids, 2, 1), SIM_IO);
	works(t->counters_program(h.d, ids, 2, 1));
	works(t->counters_start(h.d, h.q, 0));
	works(enqueue(h.q, "update", N, h.a, N));
	works(t->counters_stop(h.d, h.q, 0));
	works(sim_wait(h.d));
	/* past the end of the register once: still right modulo its width */
	works(t->counters_read(h.d, 0, 23, 0, 1, &r));
	assert_false(r.overflowed);
	assert_true(r.end < r.begin);
	assert_int_equal((r.end - r.begin) & 4095, 1024);
	assert_int_equal(t->counters_read(h.d, 0, 23, 0, 1, &r), SIM_IO);
	/* 16 groups, 1000 items, loads and stores: more cycles than 12 bits hold */
	works(t->counters_read(h.d, 0, 8, 0, 1, &r));
	assert_true(r.overflowed);
	works(sim_close(h.d));
}

static void test_copies_that_fail(void **state)
{
	const struct sim_tools *t = sim_test_tools();
	unsigned char host[N * 8];
	atomic_int failed = 0;
	struct sim_config c;
	struct here h;

	(void)state;
	sim_config_default(&c);
	c.fail_copy = 2;
	c.fail_copy_times = 2;
	c.tool_memory = 64 << 10;
	begin(&h, &c);
	works(enqueue(h.q, "touch", 1, h.a, N * 8, 1000, 7));
	works(sim_wait(h.d));
	memset(host, 0, sizeof(host));
	works(t->copy(h.d, NULL, (uint64_t)(uintptr_t)host, h.a, N * 8, NULL));
	assert_int_equal(host[N * 8 - 1], 8);
	memset(host, 0, sizeof(host));
	assert_int_equal(t->copy(h.d, NULL, (uint64_t)(uintptr_t)host, h.a, N * 8, NULL), SIM_IO);
	assert_int_equal(host[0], 7);
	assert_int_equal(host[N * 8 - 1], 0);
	works(t->copy(h.d, h.q, (uint64_t)(uintptr_t)host, h.a, N * 8, &failed));
	works(sim_wait(h.d));
	assert_int_equal(failed, 1);
	failed = 0;
	works(t->copy(h.d, h.q, (uint64_t)(uintptr_t)host, h.a, N * 8, &failed));
	works(sim_wait(h.d));
	assert_int_equal(failed, 0);
	assert_int_equal(host[N * 8 - 1], 8);
	/* a snapshot for which there is no memory */
	assert_int_equal(t->tool_malloc(h.d, 65 << 10, &h.c), SIM_NO_MEMORY);
	works(sim_close(h.d));
}

static void test_a_kernel_that_does_not_end(void **state)
{
	struct sim_config c;
	struct here h;

	(void)state;
	sim_config_default(&c);
	c.hang_at = 2;
	begin(&h, &c);
	works(enqueue(h.q, "nop", 1, 0) == SIM_INVALID ? SIM_OK : SIM_IO); /* it takes none */
	works(sim_test_launch(h.q, "nop", 1, 0, NULL));
	works(sim_wait(h.d));
	works(sim_test_launch(h.q, "nop", 1, 0, NULL));
	assert_int_equal(sim_test_tools()->drain(h.d, 2000000), SIM_TIMEOUT);
	assert_int_equal(sim_queue_query(h.q), SIM_NOT_READY);
	works(sim_close(h.d)); /* ends it */
	c.hang_ns = 1000000;
	c.hang_at = 1;
	begin(&h, &c);
	works(sim_test_launch(h.q, "nop", 1, 0, NULL));
	works(sim_wait(h.d));
	works(sim_close(h.d));
}

static void test_a_device_that_is_lost(void **state)
{
	struct sim_config c;
	struct here h;
	uint64_t more;

	(void)state;
	sim_config_default(&c);
	c.lost_after = 4; /* three fills of begin, and one launch */
	begin(&h, &c);
	works(enqueue(h.q, "set", N, h.a, N, 1));
	works(sim_wait(h.d));
	works(enqueue(h.q, "set", N, h.a, N, 1));
	assert_int_equal(sim_wait(h.d), SIM_LOST);
	assert_int_equal(enqueue(h.q, "set", N, h.a, N, 1), SIM_LOST);
	assert_int_equal(sim_malloc(h.d, 8, &more), SIM_LOST);
	assert_int_equal(sim_test_tools()->drain(h.d, 0), SIM_LOST);
	works(sim_close(h.d));

	begin(&h, NULL);
	works(sim_copy_in(h.q, h.a, &(uint64_t){h.c + (UINT64_C(1) << 40)}, 8));
	works(enqueue(h.q, "stray", 1, h.a, 1));
	assert_int_equal(sim_wait(h.d), SIM_FAULT);
	assert_int_equal(sim_queue_query(h.q), SIM_FAULT);
	works(sim_close(h.d));

	sim_config_default(&c);
	c.fail_launch = 2;
	begin(&h, &c);
	works(enqueue(h.q, "set", N, h.a, N, 1));
	assert_int_equal(enqueue(h.q, "set", N, h.a, N, 2), SIM_IO);
	works(enqueue(h.q, "set", N, h.a, N, 3));
	works(sim_close(h.d));
}

static void test_settings_from_the_environment(void **state)
{
	struct sim_device *d;
	struct sim_config c;
	uint32_t n;

	(void)state;
	setenv("RETALLY_SIM_MEMORY", "3M", 1);
	setenv("RETALLY_SIM_LOST_AFTER", "0x10", 1);
	setenv("RETALLY_SIM_DEVICES", "5", 1);
	works(sim_config_read(&c));
	assert_int_equal(c.memory, 3 << 20);
	assert_int_equal(c.lost_after, 16);
	works(sim_device_count(&n));
	assert_int_equal(n, 5);
	works(sim_open(4, &d));
	works(sim_close(d));
	assert_int_equal(sim_open(5, &d), SIM_INVALID);
	setenv("RETALLY_SIM_NOISE", "much", 1);
	assert_int_equal(sim_open(0, &d), SIM_INVALID);
	assert_non_null(strstr(sim_error_text(), "RETALLY_SIM_NOISE"));
	setenv("RETALLY_SIM_NOISE", "4294967296", 1);
	assert_int_equal(sim_open(0, &d), SIM_INVALID);
	unsetenv("RETALLY_SIM_NOISE");
	unsetenv("RETALLY_SIM_MEMORY");
	unsetenv("RETALLY_SIM_LOST_AFTER");
	unsetenv("RETALLY_SIM_DEVICES");
}

/* ---- several threads ---- */

struct submitter {
	struct here *h;
	struct sim_queue *q;
	uint64_t memory;
};

static void *submit(void *data)
{
	struct submitter *s = data;

	for (int i = 0; i < 200; i++)
		if (enqueue(s->q, "update", 64, s->memory, 64))
			return s;
	return sim_queue_wait(s->q) ? s : NULL;
}

static void test_threads(void **state)
{
	struct sim_queue *queues[4];
	struct submitter s[8];
	pthread_t threads[8];
	struct sim_stats stats;
	struct here h;
	void *bad;

	(void)state;
	begin(&h, NULL);
	for (int i = 0; i < 4; i++)
		works(sim_queue_create(h.d, &queues[i]));
	for (int i = 0; i < 8; i++) {
		s[i] = (struct submitter){.h = &h, .q = queues[i % 4]};
		works(sim_malloc(h.d, 256, &s[i].memory));
		assert_int_equal(pthread_create(&threads[i], NULL, submit, &s[i]), 0);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
	sim_test_tools()->stats(h.d, &stats);
	assert_int_equal(stats.executions, 1600);
	works(sim_close(h.d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels_do_what_they_say),
		cmocka_unit_test(test_touch_writes_the_part),
		cmocka_unit_test(test_the_host_cannot_touch_it),
		cmocka_unit_test(test_memory_is_not_cleared_and_comes_again),
		cmocka_unit_test(test_kernels_that_wait),
		cmocka_unit_test(test_events_order_queues),
		cmocka_unit_test(test_callbacks),
		cmocka_unit_test(test_same_work_same_counts),
		cmocka_unit_test(test_counting_the_whole_device),
		cmocka_unit_test(test_slots_and_conflicts),
		cmocka_unit_test(test_counters_that_fail),
		cmocka_unit_test(test_copies_that_fail),
		cmocka_unit_test(test_a_kernel_that_does_not_end),
		cmocka_unit_test(test_a_device_that_is_lost),
		cmocka_unit_test(test_settings_from_the_environment),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests_name("sim device", tests, NULL, NULL);
}
