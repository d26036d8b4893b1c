/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every callback fails on demand, at every point: the program's memory ends as it should, the
 * reason is recorded, nothing is left over. And kernels that do not end by themselves.
 */
#include "../test.h"
#include "fake.h"
#include "fake_parts.h"

#include <stdio.h>

struct outcome {
	uint64_t counted, declined, hash;
	bool disabled;
};

/* The program with one callback failing from its call number `after` on, `times` times. */
static struct outcome run(uint32_t caps, enum replay_mode mode, enum fake_call call,
			  struct fake_failure failure)
{
	struct replay_options o = {.mode = mode, .window = 7, .chunk = 4096};
	struct outcome out = {0};
	struct fake f;

	fake_init(&f, 3);
	f.source.capabilities = caps & 1 ? SOURCE_NEEDS_DRAIN | SOURCE_WANTS_WARM_UP : 0;
	f.runtime.capabilities = caps & 2 ? 0 : RUNTIME_ORDERED_SAVE | RUNTIME_DEVICE_STORE;
	f.failures[call] = failure;
	fake_start(&f, &o);
	out.hash = fake_program(&f);
	fake_stop(&f);
	if (f.calls[call] < failure.after)
		out.hash = 0; /* it never came to that */
	out.counted = fake_counted(&f);
	out.declined = fake_declined(&f, "", -1);
	out.disabled = fake_note(&f, "nothing more is counted on device 0");
	if (call != FAKE_APPEND) {
		fake_check_records(&f, 3, 1);
		if (mode == REPLAY_MODE_NONE)
			assert_int_not_equal(f.records.n + out.declined, 0);
		else
			assert_int_equal(out.counted +
						 fake_declined(&f, "", SPOOL_INSTEAD_NOTHING) +
						 fake_declined(&f, "", SPOOL_INSTEAD_ONE_PASS) -
						 fake_live_first(&f),
					 36);
	}
	fake_release(&f);
	return out;
}

static void every_call(void **state)
{
	static const int codes[] = {RC_ERROR, RC_NO_MEMORY, RC_NO_SPACE, RC_IO};
	static const enum replay_mode modes[] = {REPLAY_MODE_KERNEL, REPLAY_MODE_WINDOW,
						 REPLAY_MODE_NONE};
	uint64_t want = fake_program_alone();
	uint64_t runs = 0, declined = 0;

	(void)state;
	for (int call = 0; call < FAKE_CALLS; call++)
		for (uint32_t caps = 0; caps < 4; caps++)
			for (int m = 0; m < 3; m++) {
				uint64_t step = 1;

				for (uint64_t after = 1;; after += step, step += after / 4) {
					struct fake_failure x = {after, 1 + after % 3,
								 codes[(after + caps) % 4]};
					struct outcome out =
						run(caps, modes[m], (enum fake_call)call, x);

					if (!out.hash)
						break;
					if (out.hash != want)
						fail_msg("call %d number %lu, caps %u, mode %d: "
							 "the program's memory is wrong",
							 call, (unsigned long)after, caps, m);
					assert_false(out.disabled);
					runs++;
					declined += out.declined;
				}
			}
	print_message("# %lu runs with a failure, %lu dispatches declined\n", (unsigned long)runs,
		      (unsigned long)declined);
	assert_true(runs > 300 && declined > 300);
}

/* Gone in the middle of anything: no call that touches it any more, and the reason is a note. */
static void device_lost(void **state)
{
	uint64_t runs = 0;

	(void)state;
	for (int call = 0; call < FAKE_PASS_BEGIN; call++)
		for (uint64_t after = 1;; after += 1 + after / 4) {
			struct outcome out = run(0, REPLAY_MODE_WINDOW, (enum fake_call)call,
						 (struct fake_failure){after, 1, RC_END});

			if (!out.hash)
				break;
			assert_true(out.disabled);
			runs++;
		}
	assert_true(runs > 20);
}

/* The counters are gone, the device is not: memory is right, everything after is live. */
static void source_gone(void **state)
{
	uint64_t want = fake_program_alone();

	(void)state;
	for (int call = FAKE_PASS_BEGIN; call < FAKE_APPEND; call++)
		for (int m = REPLAY_MODE_KERNEL; m <= REPLAY_MODE_NONE; m++) {
			struct outcome out;

			if (m == REPLAY_MODE_RANGE)
				continue;
			out = run(0, (enum replay_mode)m, (enum fake_call)call,
				  (struct fake_failure){2, 1000000, RC_END});
			assert_int_equal(out.hash, want);
			assert_true(out.disabled);
			assert_true(out.declined > 0);
		}
}

/* Memory that cannot be put back is the one thing that cannot be made good: it is said. */
static void restore_always_fails(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	struct fake f;

	(void)state;
	fake_init(&f, 3);
	f.failures[FAKE_RESTORE] = (struct fake_failure){1, 1000000, RC_ERROR};
	fake_start(&f, &o);
	fake_program(&f);
	assert_true(fake_note(&f, "the program's results may be wrong"));
	assert_int_equal(fake_counted(&f), 0);
	fake_stop(&f);
	fake_release(&f);
}

/* The disk is full: collection ends, the program does not notice. */
static void records_fail(void **state)
{
	uint64_t want = fake_program_alone();

	(void)state;
	for (uint64_t after = 1; after < 60; after += 7) {
		struct outcome out = run(0, REPLAY_MODE_WINDOW, FAKE_APPEND,
					 (struct fake_failure){after, 1000000, RC_NO_SPACE});

		assert_int_equal(out.hash, want);
	}
}

/* Stores of a bounded size: windows end early, what does not fit at all is declined. */
static void no_room(void **state)
{
	uint64_t want = fake_program_alone();

	(void)state;
	for (int how = 0; how < 2; how++)
		for (uint64_t room = 100; room < 300000; room *= 3) {
			struct replay_options o = {.mode = REPLAY_MODE_WINDOW,
						   .max_snapshot = how ? room : 0};
			struct fake f;

			fake_init(&f, 3);
			f.room = how ? 0 : room;
			fake_start(&f, &o);
			assert_int_equal(fake_program(&f), want);
			fake_stop(&f);
			fake_check_records(&f, 3, 1);
			if (room < 40000)
				assert_int_not_equal(
					fake_declined(&f, how ? "--max-snapshot" : "no memory", -1),
					0);
			else if (room > 200000)
				assert_int_equal(fake_counted(&f), 36);
			fake_release(&f);
		}
}

static void unsavable(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	struct fake f;
	int pipe, host, fine;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	pipe = fake_alloc(&f, 64, RUNTIME_MEMORY_UNSAVABLE, "it writes a pipe");
	host = fake_alloc(&f, 64, RUNTIME_MEMORY_HOST, NULL);
	fine = fake_alloc(&f, 64, 0, NULL);
	f.buffers[fine].bytes[0] = 0;
	for (int i = 0; i < 4; i++) {
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {pipe}));
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {host}));
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {fine}));
	}
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(f.buffers[fine].bytes[0], 4);
	assert_int_equal(fake_declined(&f, "it writes a pipe", SPOOL_INSTEAD_ONE_PASS), 4);
	assert_int_equal(fake_declined(&f, "the host may use at any time", SPOOL_INSTEAD_ONE_PASS),
			 4);
	/* Four replayed, and pass 1 of the others' 8 live ones, which take turns. */
	fake_check_records(&f, 3, 1);
	fake_release(&f);
}

/* Memory that is given to others, in its window and between two; one that is never named is hashed.
 */
static void shared(void **state)
{
	static const char why[] = "it was given away";
	const uint32_t flags = RUNTIME_MEMORY_UNSAVABLE | RUNTIME_MEMORY_HASHED;
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW, .verify = REPLAY_VERIFY_ALWAYS};
	struct fake f;
	int a, b, c;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	b = fake_alloc(&f, 64, 0, NULL);
	c = fake_alloc(&f, 64, flags, why);
	for (int i = 0; i < 3; i++)
		f.buffers[i == 0 ? a : i == 1 ? b : c].bytes[0] = 0;
	for (int i = 0; i < 3; i++) {
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a}));
		if (i == 1) /* nobody has waited: its window is lost */
			replay_memory_share(f.device, f.buffers[a].record, flags, why);
		fake_sync(&f, "finish");
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {b}));
		fake_sync(&f, "finish");
	}
	fake_launch(&f, &(struct fake_launch)FAKE(outside, .n_args = 1, .args = {b}, .hidden = c,
						  .value = 1));
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(f.buffers[a].bytes[0], 3);
	assert_int_equal(f.buffers[c].bytes[0], 1);
	assert_int_equal(fake_declined(&f, "given to others inside its window", -1), 1);
	assert_int_equal(fake_declined(&f, why, -1), 1);
	assert_int_equal(fake_declined(&f, "wrote outside its reach", -1), 1);
	fake_check_records(&f, 3, 1);
	fake_release(&f);
}

/* A kernel that waits for a flag which the host sets after the call that ends the window. */
static void waits_for_host(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW, .verify = REPLAY_VERIFY_ALWAYS};
	struct fake f;
	int flag, a;

	(void)state;
	for (int mode = REPLAY_MODE_KERNEL; mode <= REPLAY_MODE_NONE; mode++) {
		o.mode = (enum replay_mode)mode;
		fake_init(&f, 3);
		fake_start(&f, &o);
		flag = fake_alloc(&f, 64, 0, NULL);
		a = fake_alloc(&f, 64, 0, NULL);
		f.buffers[a].bytes[0] = 0;
		for (int i = 0; i < 5; i++) {
			fake_let_wait(&f, flag, a);
			assert_int_equal(f.buffers[a].bytes[0], i + 1);
		}
		fake_stop(&f);
		if (mode == REPLAY_MODE_WINDOW)
			assert_int_not_equal(fake_declined(&f, "does not drain", -1), 0);
		fake_check_records(&f, 3, 1);
		fake_release(&f);
	}
}

/* Two kernels that wait for each other, on two queues. */
static void wait_for_each_other(void **state)
{
	(void)state;
	for (int caps = 0; caps < 8; caps++)
		for (int mode = REPLAY_MODE_KERNEL; mode <= REPLAY_MODE_NONE; mode++) {
			struct replay_options o = {.mode = (enum replay_mode)mode};
			struct fake f;
			int ping, pong;

			fake_init(&f, 3);
			f.source.capabilities = caps & 1   ? SOURCE_NEEDS_DRAIN
						: caps & 2 ? SOURCE_OVERLAP
							   : 0;
			f.runtime.capabilities = (caps & 2 ? RUNTIME_ORDERED_SAVE : 0) |
						 (caps & 4 ? RUNTIME_LAUNCH_KEEPS_ORDER : 0);
			fake_start(&f, &o);
			ping = fake_alloc(&f, 64, 0, NULL);
			pong = fake_alloc(&f, 64, 0, NULL);
			for (int i = 0; i < 6; i++) {
				f.buffers[ping].bytes[0] = f.buffers[pong].bytes[0] = 0;
				fake_launch(&f, &(struct fake_launch)FAKE(wait, .n_args = 1,
									  .args = {ping}));
				fake_launch(&f,
					    &(struct fake_launch)FAKE(wait, .n_args = 1,
								      .args = {pong}, .queue = 1));
				fake_launch(&f, &(struct fake_launch)FAKE(signal, .n_args = 1,
									  .args = {ping},
									  .value = 3, .queue = 2));
				fake_launch(&f, &(struct fake_launch)FAKE(signal, .n_args = 1,
									  .args = {pong},
									  .value = 4, .queue = 2));
				assert_true(fake_sync(&f, "finish"));
				assert_int_equal(f.buffers[ping].bytes[0], 3);
				assert_int_equal(f.buffers[pong].bytes[0], 4);
			}
			fake_stop(&f);
			fake_check_records(&f, 3, 1);
			fake_release(&f);
		}
}

/* In a pass the flag is as it was before the host set it: the engine lets the kernel go. */
static void waits_in_a_pass(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	struct fake f;
	int flag;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	flag = fake_alloc(&f, 64, 0, NULL);
	for (int i = 0; i < 3; i++) {
		f.buffers[flag].bytes[0] = 0;
		fake_launch(&f, &(struct fake_launch)FAKE(wait, .n_args = 1, .args = {flag}));
		fake_progress(&f); /* the save */
		f.buffers[flag].bytes[0] = 1;
		assert_true(fake_sync(&f, "finish"));
		assert_int_equal(f.buffers[flag].bytes[0], 1);
	}
	fake_stop(&f);
	assert_int_equal(
		fake_declined(&f, "does not drain when it is replayed", SPOOL_INSTEAD_NOTHING), 1);
	assert_int_equal(fake_declined(&f, "does not drain", SPOOL_INSTEAD_ONE_PASS), 2);
	assert_false(fake_note(&f, "nothing more"));
	fake_release(&f);
}

/* What the program may not wait for: recorded where saving can be ordered, else declined. */
static void no_wait(void **state)
{
	(void)state;
	for (int ordered = 0; ordered < 2; ordered++) {
		struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
		struct fake f;
		uint64_t drains;
		int a;

		fake_init(&f, 3);
		f.runtime.capabilities = ordered ? RUNTIME_ORDERED_SAVE : 0;
		fake_start(&f, &o);
		a = fake_alloc(&f, 64, 0, NULL);
		f.buffers[a].bytes[0] = 0;
		drains = f.calls[FAKE_DRAIN];
		for (int i = 0; i < 3; i++)
			fake_launch(&f,
				    &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a},
							      .flags = RUNTIME_OP_NO_WAIT_BEFORE));
		assert_int_equal(f.calls[FAKE_DRAIN], drains);
		fake_sync(&f, "finish");
		fake_stop(&f);
		assert_int_equal(f.buffers[a].bytes[0], 3);
		if (ordered)
			assert_int_equal(fake_counted(&f), 3);
		else
			assert_int_equal(fake_declined(&f, "it may wait for the program", -1), 3);
		fake_release(&f);
	}
}

/* A program that is killed keeps what was declined: all of it up to the last window, and without
 * any window at least half. */
static void declined_early(void **state)
{
	(void)state;
	for (int windows = 0; windows < 2; windows++) {
		struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
		struct fake f;
		uint64_t n;
		int a, b;

		fake_init(&f, 3);
		fake_start(&f, &o);
		a = fake_alloc(&f, 64, 0, NULL);
		b = fake_alloc(&f, 64, RUNTIME_MEMORY_UNSAVABLE, "it writes a pipe");
		for (uint64_t i = 1; i <= 3000; i++) {
			fake_launch(&f,
				    &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {b}));
			if (windows && i % 50 == 0)
				fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1,
									  .args = {a}));
			if (i % 50 == 0)
				fake_sync(&f, "finish");
			n = fake_declined(&f, "it writes a pipe", -1);
			if (windows && i % 50 == 0)
				assert_int_equal(n, i);
			if (!windows && i % 50 == 0)
				assert_true(n >= i / 2 && n + 1024 > i);
			assert_true(n <= i);
		}
		/* Few records for many. */
		assert_true(f.declines.n < 100);
		fake_stop(&f);
		assert_int_equal(fake_declined(&f, "it writes a pipe", -1), 3000);
		fake_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call),      cmocka_unit_test(device_lost),
		cmocka_unit_test(source_gone),     cmocka_unit_test(restore_always_fails),
		cmocka_unit_test(records_fail),    cmocka_unit_test(no_room),
		cmocka_unit_test(unsavable),       cmocka_unit_test(waits_for_host),
		cmocka_unit_test(waits_in_a_pass), cmocka_unit_test(wait_for_each_other),
		cmocka_unit_test(no_wait),         cmocka_unit_test(declined_early),
		cmocka_unit_test(shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
