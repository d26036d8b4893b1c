/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight threads of a program on four queues of the simulated device, with callbacks that launch;
 * kernels that wait for the host and for each other. Also for the thread sanitizer. Every thread
 * has its own memory, so what it must hold is known.
 */
#include "sim_engine.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 8
#define QUEUES  4
#define ROUNDS  120
#define N       256u

struct worker {
	pthread_t thread;
	struct sim_device *d;
	struct sim_queue *q;
	uint64_t a, count, list;
	uint32_t number;
	uint32_t callbacks; /* launches from them; only the device's thread of the queue counts */
	int failed, callback_failed; /* of the thread; of the device's */
};

static void from_callback(void *data)
{
	struct worker *w = data;

	w->callback_failed |= enqueue(w->q, "append", 1, w->count, w->list, 1, 7);
}

static void *work(void *data)
{
	struct worker *w = data;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		w->failed |= enqueue(w->q, "update", N, w->a, N);
		if (i % 10 == w->number)
			w->failed |= enqueue(w->q, "append", 1, w->count, w->list, 1, i);
		if (i % 30 == 29) {
			w->failed |= sim_queue_callback(w->q, from_callback, w);
			w->callbacks++;
		}
		if (i % 16 == w->number)
			w->failed |= sim_queue_wait(w->q);
	}
	w->failed |= sim_wait(w->d);
	return NULL;
}

static void run(enum replay_mode mode, const struct runtime_sim_options *runtime)
{
	struct sim_engine *e = calloc(1, sizeof(*e));
	struct worker workers[THREADS] = {0};
	struct sim_queue *queues[QUEUES];
	uint32_t host[N], want[N], count, appended = 0, launches = 0;
	struct sim_device *d;

	assert_non_null(e);
	e->passes = 3;
	e->options.mode = mode;
	e->options.window = 64;
	e->runtime = *runtime;
	sim_engine_on(e);
	d = sim_test_open(NULL);
	for (int i = 0; i < QUEUES; i++)
		works(sim_queue_create(d, &queues[i]));
	for (uint32_t i = 0; i < THREADS; i++) {
		struct worker *w = &workers[i];

		*w = (struct worker){.d = d, .q = queues[i % QUEUES], .number = i};
		works(sim_malloc(d, N * 4, &w->a));
		works(sim_malloc(d, 4, &w->count));
		works(sim_malloc(d, ROUNDS * 4, &w->list));
		works(sim_fill(w->q, w->a, 0, N * 4));
		works(sim_fill(w->q, w->count, 0, 4));
	}
	works(sim_wait(d));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	works(sim_wait(d));
	for (uint32_t i = 0; i < N; i++) {
		want[i] = 0;
		for (int k = 0; k < ROUNDS; k++)
			want[i] = 3 * want[i] + 1;
	}
	for (int i = 0; i < THREADS; i++) {
		struct worker *w = &workers[i];

		assert_int_equal(w->failed | w->callback_failed, 0);
		sim_test_read(w->q, w->a, host, sizeof(host));
		assert_memory_equal(host, want, sizeof(host));
		sim_test_read(w->q, w->count, &count, 4);
		appended = ROUNDS / 10 + w->callbacks;
		assert_int_equal(count, appended);
		launches += ROUNDS + appended;
	}
	works(sim_close(d));
	sim_engine_off(e);
	assert_int_equal(e->replayed + e->live + e->declined, launches);
	assert_int_equal(e->notes, 0);
	free(e);
}

static void threads(void **state)
{
	(void)state;
	run(REPLAY_MODE_WINDOW, &(struct runtime_sim_options){0});
	run(REPLAY_MODE_WINDOW,
	    &(struct runtime_sim_options){.no_ordered_save = true, .no_order = true});
	run(REPLAY_MODE_KERNEL, &(struct runtime_sim_options){0});
	run(REPLAY_MODE_NONE, &(struct runtime_sim_options){0});
}

/* The host sets the flag only after the launch, and after a call that ends windows. */
static void waits_for_the_host(void **state)
{
	(void)state;
	for (int mode = REPLAY_MODE_KERNEL; mode <= REPLAY_MODE_NONE; mode++) {
		struct sim_engine *e = calloc(1, sizeof(*e));
		struct sim_device *d;
		struct sim_queue *q;
		uint64_t a, b;
		uint32_t *flag, out;
		void *shared;

		assert_non_null(e);
		e->passes = 3;
		e->options.mode = (enum replay_mode)mode;
		e->options.drain_ns = 30000000;
		sim_engine_on(e);
		d = sim_test_open(NULL);
		works(sim_queue_create(d, &q));
		works(sim_malloc_shared(d, 4, &shared));
		flag = shared;
		works(sim_malloc(d, 4, &a));
		for (uint32_t i = 1; i <= 3; i++) {
			__atomic_store_n(flag, 0, __ATOMIC_SEQ_CST);
			works(enqueue(q, "spin", 1, (uint64_t)(uintptr_t)flag, a));
			works(enqueue(q, "set", 1, a, 1, i));
			assert_int_equal(sim_queue_query(q), SIM_NOT_READY);
			works(sim_malloc(d, 4, &b));
			__atomic_store_n(flag, i, __ATOMIC_SEQ_CST);
			sim_test_read(q, a, &out, 4);
			assert_int_equal(out, i);
		}
		works(sim_close(d));
		sim_engine_off(e);
		assert_int_equal(e->notes, 0);
		free(e);
	}
}

static void wait_for_each_other(void **state)
{
	(void)state;
	for (int mode = REPLAY_MODE_KERNEL; mode <= REPLAY_MODE_NONE; mode++)
		for (int plain = 0; plain < 2; plain++) {
			struct sim_engine *e = calloc(1, sizeof(*e));
			struct sim_device *d;
			struct sim_queue *q[2];
			uint64_t turn;
			uint32_t out;

			assert_non_null(e);
			e->passes = 3;
			e->options.mode = (enum replay_mode)mode;
			e->options.drain_ns = 30000000;
			e->runtime = (struct runtime_sim_options){.no_ordered_save = plain,
								  .no_order = plain};
			sim_engine_on(e);
			d = sim_test_open(NULL);
			works(sim_queue_create(d, &q[0]));
			works(sim_queue_create(d, &q[1]));
			works(sim_malloc(d, 4, &turn));
			for (int i = 0; i < 4; i++) {
				works(sim_fill(q[0], turn, 0, 4));
				works(sim_queue_wait(q[0]));
				works(enqueue(q[0], "ping", 1, turn, 0, 20));
				works(enqueue(q[1], "ping", 1, turn, 1, 20));
				works(sim_wait(d));
				sim_test_read(q[0], turn, &out, 4);
				assert_int_equal(out, 40);
			}
			works(sim_close(d));
			sim_engine_off(e);
			assert_int_equal(e->notes, 0);
			free(e);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(threads),
					   cmocka_unit_test(waits_for_the_host),
					   cmocka_unit_test(wait_for_each_other)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
