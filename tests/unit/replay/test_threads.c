/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight threads of the program launch on four queues, some without waiting, and end windows; run
 * under the thread sanitizer too. Every thread owns its memory, so the result is known.
 */
#include "../test.h"
#include "fake.h"

#include <pthread.h>

#define THREADS 8
#define ROUNDS  200

struct worker {
	struct fake *f;
	pthread_t thread;
	int buffer;
	uint32_t number;
	bool impatient; /* some of its launches must not wait */
};

static void *work(void *data)
{
	struct worker *w = data;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct fake_launch l = FAKE(sparse, .n_args = 1, .args = {w->buffer},
					    .queue = w->number % FAKE_QUEUES, .value = i % 64);

		if (w->impatient && i % 5 == 0)
			l.flags = RUNTIME_OP_NO_WAIT_BEFORE;
		fake_launch(w->f, &l);
		if (i % 16 == w->number)
			fake_sync(w->f, "finish");
		if (i % 50 == 49) {
			replay_memory_remove(
				w->f->device,
				replay_memory_add(w->f->device, &w->f->buffers[w->buffer].memory));
		}
	}
	return NULL;
}

static void run(enum replay_mode mode, bool impatient)
{
	struct replay_options o = {.mode = mode, .window = 64};
	struct worker workers[THREADS];
	struct fake f;
	uint64_t dispatches = 0;

	fake_init(&f, 3);
	fake_start(&f, &o);
	for (uint32_t i = 0; i < THREADS; i++) {
		int b = fake_alloc(&f, 64, 0, NULL);

		memset(f.buffers[b].bytes, 0, 64);
		workers[i] = (struct worker){
			.f = &f, .buffer = b, .number = i, .impatient = impatient && i % 2};
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	fake_sync(&f, "finish");
	fake_stop(&f);
	for (int i = 0; i < THREADS; i++)
		for (uint32_t k = 0; k < 64; k++)
			assert_int_equal(f.buffers[workers[i].buffer].bytes[k],
					 ROUNDS / 64 + (k < ROUNDS % 64));
	fake_check_records(&f, 3, 1);
	dispatches = fake_declined(&f, "", -1);
	for (size_t i = 0; i < f.records.n; i++)
		dispatches += f.records.items[i].has_samples &&
			      (mode == REPLAY_MODE_NONE ||
			       (f.records.items[i].dispatch.pass == 1 &&
				(f.records.items[i].dispatch.flags & SPOOL_DISPATCH_REPLAYED)));
	assert_int_equal(dispatches, THREADS * ROUNDS);
	fake_release(&f);
}

static void patient(void **state)
{
	(void)state;
	run(REPLAY_MODE_WINDOW, false);
	run(REPLAY_MODE_KERNEL, false);
	run(REPLAY_MODE_NONE, false);
}

static void impatient(void **state)
{
	(void)state;
	run(REPLAY_MODE_WINDOW, true);
	run(REPLAY_MODE_KERNEL, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(patient), cmocka_unit_test(impatient)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
