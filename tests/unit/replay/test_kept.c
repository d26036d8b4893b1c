/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels could write and do not is saved twice and then no more; and once it is written after
 * all - by a kernel, by the host, by a launch that the filters leave out - it is saved again, and
 * memory ends as it does without the engine.
 */
#include "sim_engine.h"

#include <stdlib.h>
#include <string.h>

#define N     16384u /* elements of 4 bytes */
#define BYTES (N * 4u)
#define LOOPS 24
#define SMALL (LOOPS * (2u * 4096 + 64)) /* START and END of what is always written */

enum writer {
	NOBODY,
	A_KERNEL,
	THE_HOST,
	A_FILL,
	A_KERNEL_LEFT_OUT
};

static bool not_set(void *data, const char *kernel)
{
	(void)data;
	return strcmp(kernel, "set") != 0;
}

/* `append` could write the large memory and is told to append nothing; the small one `update` does
 * write. In between somebody writes the large one after all. */
static void program(uint32_t *out, enum writer writer)
{
	struct sim_device *d = sim_test_open(NULL);
	struct sim_queue *q;
	uint32_t *host = calloc(N, 4);
	uint64_t large, small, count;

	assert_non_null(host);
	works(sim_queue_create(d, &q));
	works(sim_malloc(d, BYTES, &large));
	works(sim_malloc(d, 4096, &small));
	works(sim_malloc(d, 4, &count));
	works(sim_fill(q, count, 0, 4));
	works(sim_fill(q, large, 3, BYTES));
	works(sim_fill(q, small, 1, 4096));
	for (int i = 0; i < LOOPS; i++) {
		works(enqueue(q, "update", 64, small, 64));
		works(enqueue(q, "append", 64, count, large, 0, 0));
		if (i % 8 == 6 && writer == A_KERNEL)
			works(enqueue(q, "append", 64, count, large, 200, (uint64_t)i));
		if (i % 8 == 6 && writer == A_KERNEL_LEFT_OUT)
			works(enqueue(q, "set", 64, large, 300, (uint64_t)i));
		if (i % 8 == 6 && writer == A_FILL)
			works(sim_fill(q, large + 4000, (uint8_t)i, 1000));
		works(sim_wait(d));
		host[5] = (uint32_t)i;
		if (i % 8 == 7 && writer == THE_HOST)
			works(sim_copy_in(q, large, host, 4000));
		/* Launched right behind it, with nothing waited for. */
		works(enqueue(q, "append", 64, count, large, i % 8 == 7 && writer ? 100 : 0, 9));
		works(sim_wait(d));
	}
	sim_test_read(q, large, out, BYTES);
	sim_test_read(q, small, out + N, 4096);
	works(sim_close(d));
	free(host);
}

static uint64_t saved(enum replay_mode mode, enum writer writer, bool tracking)
{
	struct sim_engine *e = calloc(1, sizeof(*e));
	uint32_t *want = calloc(N + 1024, 4), *got = calloc(N + 1024, 4);
	uint64_t bytes;

	assert_true(e && want && got);
	program(want, writer);
	e->passes = 3;
	e->options.mode = mode;
	e->options.chunk = 4096;
	e->options.match = writer == A_KERNEL_LEFT_OUT ? not_set : NULL;
	e->runtime.no_tracking = !tracking;
	sim_engine_on(e);
	program(got, writer);
	sim_engine_off(e);
	assert_memory_equal(got, want, (N + 1024) * 4);
	assert_int_equal(e->declined + e->live, 0);
	assert_int_equal(e->replayed, 3 * LOOPS + (writer == A_KERNEL ? 3 : 0));
	bytes = e->bytes_saved;
	free(e);
	free(want);
	free(got);
	return bytes;
}

static void saved_no_more(void **state)
{
	(void)state;
	for (int mode = REPLAY_MODE_KERNEL; mode <= REPLAY_MODE_WINDOW; mode++) {
		uint64_t all = saved((enum replay_mode)mode, NOBODY, false);
		uint64_t learned = saved((enum replay_mode)mode, NOBODY, true);

		/* Without: in every window. With: only in the first two. */
		assert_true(all >= 2ull * LOOPS * BYTES);
		assert_true(learned < 3ull * BYTES + SMALL);
	}
}

static void written_after_all(void **state)
{
	(void)state;
	for (int mode = REPLAY_MODE_KERNEL; mode <= REPLAY_MODE_WINDOW; mode++)
		for (int writer = A_KERNEL; writer <= A_KERNEL_LEFT_OUT; writer++) {
			uint64_t learned = saved((enum replay_mode)mode, (enum writer)writer, true);

			/* Again after each write, and less than always. */
			assert_true(learned > 3ull * BYTES + SMALL);
			assert_true(learned < 2ull * LOOPS * BYTES);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saved_no_more),
		cmocka_unit_test(written_after_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
