/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: whatever the mode and the number of passes, the program's memory ends as without the
 * engine, every pass starts from the same memory, and every dispatch has all its passes.
 */
#include "../test.h"
#include "fake.h"

/* Starts of one window's passes: consecutive runs of `passes` entries. */
static void starts_agree(const struct fake *f, uint32_t passes)
{
	assert_int_equal(f->starts.n % passes, 0);
	for (size_t i = 0; i < f->starts.n; i++)
		assert_int_equal(f->starts.items[i], f->starts.items[i / passes * passes]);
}

static void same_memory(void **state)
{
	static const uint32_t passes[] = {1, 3, 13};
	static const enum replay_mode modes[] = {REPLAY_MODE_KERNEL, REPLAY_MODE_WINDOW,
						 REPLAY_MODE_AUTO, REPLAY_MODE_NONE};
	uint64_t want = fake_program_alone();

	(void)state;
	for (size_t p = 0; p < 3; p++)
		for (size_t m = 0; m < 4; m++)
			for (uint32_t caps = 0; caps < 8; caps++) {
				struct replay_options o = {.mode = modes[m],
							   .window = caps & 1 ? 5 : 0};
				struct fake f;

				fake_init(&f, passes[p]);
				f.runtime.capabilities =
					caps & 2 ? RUNTIME_ORDERED_SAVE : RUNTIME_DEVICE_STORE;
				f.source.capabilities =
					caps & 4 ? SOURCE_NEEDS_DRAIN | SOURCE_WANTS_WARM_UP : 0;
				fake_start(&f, &o);
				assert_int_equal(fake_program(&f), want);
				fake_stop(&f);
				if (modes[m] != REPLAY_MODE_NONE) {
					starts_agree(&f, passes[p]);
					fake_check_records(&f, passes[p], 1);
					assert_int_equal(fake_counted(&f), 36);
				}
				assert_int_equal(f.declines.n, 0);
				fake_release(&f);
			}
}

/* Without restoring, the same program must end otherwise: else the test above proves nothing. */
static void control(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	uint64_t want = fake_program_alone();
	struct fake f;

	(void)state;
	fake_init(&f, 3);
	f.no_restore = true;
	fake_start(&f, &o);
	assert_int_not_equal(fake_program(&f), want);
	fake_stop(&f);
	fake_release(&f);
}

static void repeats(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW, .repeat = 4};
	struct fake f;
	uint32_t last = 0;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	assert_int_equal(fake_program(&f), fake_program_alone());
	fake_stop(&f);
	fake_check_records(&f, 3, 4);
	/* All passes, then all again. */
	for (size_t i = 0; i < f.records.n; i++) {
		const struct spool_dispatch *d = &f.records.items[i].dispatch;

		if (d->dispatch || !d->pass)
			continue;
		assert_int_equal(d->pass, last % 3 + 1);
		assert_int_equal(d->attempt, last / 3 + 1);
		last++;
	}
	assert_int_equal(last, 12);
	fake_release(&f);
}

/* What is guaranteed or found to need no restore is not restored, instance by instance. */
static void idempotent(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_KERNEL};
	struct fake f;
	int a, flag;
	uint64_t seen[4] = {0};

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	a = fake_alloc(&f, 100000, 0, NULL);
	flag = fake_alloc(&f, 8, 0, NULL);
	f.buffers[flag].bytes[0] = 0;
	fake_launch(&f, &(struct fake_launch)FAKE(nothing, .n_args = 1, .args = {a}));
	fake_sync(&f, "finish");
	fake_launch(&f, &(struct fake_launch)FAKE(fill, .n_args = 1, .args = {a},
						  .access = {RUNTIME_ONLY_WRITES}, .value = 9));
	fake_sync(&f, "finish");
	assert_int_equal(f.bytes_restored, 0);
	/* The first `done` changes memory, the second does not. Run again from its own end the
	 * first would do no work at all. */
	for (int i = 0; i < 2; i++) {
		fake_launch(&f, &(struct fake_launch)FAKE(done, .n_args = 1, .args = {flag}));
		fake_sync(&f, "finish");
	}
	assert_int_equal(f.bytes_restored, 3 * 8);
	fake_stop(&f);
	for (size_t i = 0; i < f.records.n; i++) {
		const struct fake_record *r = &f.records.items[i];

		if (!r->dispatch.pass)
			continue;
		seen[r->dispatch.dispatch]++;
		assert_int_equal(!!(r->dispatch.flags & SPOOL_DISPATCH_NO_RESTORE),
				 r->dispatch.dispatch != 2);
		if (r->dispatch.dispatch >= 2)
			assert_int_equal(r->work, r->dispatch.dispatch == 2 ? 1000 : 1);
	}
	assert_int_equal(seen[0] + seen[1] + seen[2] + seen[3], 12);
	assert_int_equal(f.windows.items[0].spared_bytes, 3 * 100000);
	fake_release(&f);
}

/* Cost goes with what is written, not with what can be reached. */
static void write_set(void **state)
{
	struct replay_options o = {
		.mode = REPLAY_MODE_WINDOW, .chunk = 4096, .verify = REPLAY_VERIFY_NEVER};
	struct fake f;
	int a;

	(void)state;
	fake_init(&f, 13);
	fake_start(&f, &o);
	a = fake_alloc(&f, 1 << 20, 0, NULL);
	fake_launch(&f,
		    &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a}, .value = 500000));
	fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a}, .value = 1));
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(f.bytes_restored, 13 * 2 * 4096);
	assert_int_equal(f.windows.items[0].saved_bytes, (1 << 20) + 2 * 4096);
	assert_int_equal(f.windows.items[0].restored_bytes, f.bytes_restored);
	assert_int_equal(f.windows.items[0].reach_bytes, 1 << 20);
	assert_string_equal(f.ends.items[0], "finish");
	fake_release(&f);
}

/* No two runs end alike: said so, and the program keeps the memory of its own. */
static void varying(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW, .chunk = 64};
	struct fake f;
	uint8_t own;
	int a;

	(void)state;
	fake_init(&f, 5);
	fake_start(&f, &o);
	a = fake_alloc(&f, 4096, 0, NULL);
	for (int i = 0; i < 4; i++) {
		fake_launch(&f, &(struct fake_launch)FAKE(varying, .n_args = 1, .args = {a}));
		own = 0;
		fake_sync(&f, "finish");
		/* Pass 0 wrote the number after that of the last pass before: six a round. */
		own = f.buffers[a].bytes[0];
		assert_int_equal((own - 1) % 6, 0);
		assert_int_equal(f.buffers[a].bytes[4095 - own % 64], own);
	}
	fake_stop(&f);
	starts_agree(&f, 5);
	for (size_t i = 0; i < f.records.n; i++)
		if (f.records.items[i].dispatch.pass)
			assert_true(f.records.items[i].dispatch.flags & SPOOL_DISPATCH_VARYING);
	fake_release(&f);
}

/* A kernel that writes what its arguments do not name: pass 0 stands, then its reach is known. */
static void outside_reach(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	struct fake f;
	int a, hidden;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	hidden = fake_alloc(&f, 64, 0, NULL);
	f.buffers[a].bytes[0] = f.buffers[hidden].bytes[0] = 0;
	for (int i = 1; i <= 3; i++) {
		fake_launch(&f, &(struct fake_launch)FAKE(outside, .n_args = 1, .args = {a},
							  .hidden = hidden, .value = 1));
		fake_sync(&f, "finish");
		assert_int_equal(f.buffers[a].bytes[0], i);
		assert_int_equal(f.buffers[hidden].bytes[0], i);
	}
	fake_stop(&f);
	assert_int_equal(fake_declined(&f, "wrote outside its reach", SPOOL_INSTEAD_NOTHING), 1);
	assert_int_equal(fake_counted(&f), 2);
	starts_agree(&f, 3);
	fake_release(&f);
}

/* The same where other operations of the window reach what is written astray, before or after: it
 * must neither hide in what they save nor in what they write. */
static void outside_in_company(void **state)
{
	(void)state;
	for (int how = 0; how < 12; how++) {
		struct replay_options o = {.mode = how % 2 ? REPLAY_MODE_KERNEL
							   : REPLAY_MODE_WINDOW};
		bool before = how / 2 % 3 != 1, after = how / 2 % 3 != 0;
		struct fake f;
		int a, hidden;

		fake_init(&f, 3);
		f.runtime.capabilities = how >= 6 ? 0 : RUNTIME_ORDERED_SAVE;
		fake_start(&f, &o);
		a = fake_alloc(&f, 64, 0, NULL);
		hidden = fake_alloc(&f, 64, 0, NULL);
		f.buffers[a].bytes[0] = f.buffers[hidden].bytes[0] = 0;
		f.buffers[hidden].bytes[1] = 0;
		/* The company has been checked before. */
		for (int i = 0; i < 3; i++)
			fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1,
								  .args = {hidden}, .value = 1));
		for (int i = 1; i <= 3; i++) {
			if (before)
				fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1,
									  .args = {hidden}));
			fake_launch(&f, &(struct fake_launch)FAKE(outside, .n_args = 1, .args = {a},
								  .hidden = hidden, .value = 1));
			if (after)
				fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1,
									  .args = {hidden}));
			assert_true(fake_sync(&f, "finish"));
			assert_int_equal(f.buffers[a].bytes[0], i);
			assert_int_equal(f.buffers[hidden].bytes[0], i * (1 + before + after));
		}
		fake_stop(&f);
		assert_int_equal(f.buffers[hidden].bytes[1], 3);
		/* What was recorded in the window before it is lost as well. */
		assert_int_equal(
			fake_declined(&f, "wrote outside its reach", SPOOL_INSTEAD_NOTHING),
			how % 2 ? 1 : 4 + before);
		assert_int_equal(fake_counted(&f) + (how % 2 ? 1 : 4 + (uint64_t)before),
				 3 + 3 * (1 + (uint64_t)before + (uint64_t)after));
		fake_check_records(&f, 3, 1);
		starts_agree(&f, 3);
		fake_release(&f);
	}
}

/* Checks do not split windows, and a sampled check comes once a window and kernel. */
static void checks_keep_windows(void **state)
{
	(void)state;
	for (int always = 0; always < 2; always++) {
		struct replay_options o = {.mode = REPLAY_MODE_WINDOW,
					   .verify = always ? REPLAY_VERIFY_ALWAYS
							    : REPLAY_VERIFY_FIRST};
		struct fake f;
		int a, b;

		fake_init(&f, 2);
		fake_start(&f, &o);
		a = fake_alloc(&f, 64, 0, NULL);
		b = fake_alloc(&f, 64, 0, NULL);
		for (int i = 0; i < 10; i++) {
			fake_launch(&f,
				    &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a}));
			fake_launch(&f,
				    &(struct fake_launch)FAKE(append, .n_args = 1, .args = {b}));
		}
		fake_sync(&f, "finish");
		fake_stop(&f);
		assert_int_equal(f.windows.n, 1);
		assert_int_equal(f.windows.items[0].dispatches, 20);
		/* Each check looks at the one other memory before and after. */
		assert_int_equal(f.calls[FAKE_HASH], always ? 40 : 8);
		fake_check_records(&f, 2, 1);
		fake_release(&f);
	}
}

/* It does not end before the next operation comes: checked in a window of its own then. */
static void slow_to_check(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	struct fake f;
	uint64_t timeouts;
	int a, b, hidden;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	b = fake_alloc(&f, 64, 0, NULL);
	hidden = fake_alloc(&f, 64, 0, NULL);
	f.buffers[a].bytes[0] = f.buffers[b].bytes[0] = f.buffers[hidden].bytes[0] = 0;
	for (int i = 1; i <= 4; i++) {
		/* Not with the first, whose own write astray nobody sees: it shows the next time.
		 */
		struct fake_launch l = FAKE(outside, .n_args = 1, .args = {a},
					    .hidden = i > 1 ? hidden : 0, .value = 1);

		/* The wait of the check, which comes second after the one before the launch. */
		timeouts = i == 1 ? f.calls[FAKE_DRAIN] + 2 : 0;
		f.failures[FAKE_DRAIN] = (struct fake_failure){timeouts, 1, RC_TIMEOUT};
		fake_launch(&f, &l);
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {b}));
		assert_true(fake_sync(&f, "finish"));
		assert_int_equal(f.buffers[a].bytes[0], i);
		assert_int_equal(f.buffers[b].bytes[0], i);
		assert_int_equal(f.buffers[hidden].bytes[0], i - 1);
	}
	fake_stop(&f);
	assert_int_equal(fake_declined(&f, "wrote outside its reach", SPOOL_INSTEAD_NOTHING), 1);
	assert_int_equal(fake_counted(&f), 7);
	assert_string_equal(f.ends.items[0], "finish");
	assert_string_equal(f.ends.items[1], "wrote outside its reach");
	fake_check_records(&f, 3, 1);
	fake_release(&f);
}

static void filters(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW, .skip = 2, .count = 3};
	struct fake f;
	int a;

	(void)state;
	fake_init(&f, 2);
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	for (uint64_t i = 0; i < 10; i++)
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a},
							  .value = i % 64));
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(fake_counted(&f), 3);
	for (size_t i = 0; i < f.records.n; i++)
		assert_in_range(f.records.items[i].dispatch.dispatch, 2, 4);
	fake_check_records(&f, 2, 1);
	fake_release(&f);
}

static void only_one_pass(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW, .only_pass = 2};
	struct error err = {0};
	struct replay *r;
	struct fake f;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	fake_program(&f);
	fake_stop(&f);
	for (size_t i = 0; i < f.records.n; i++)
		assert_true(!f.records.items[i].dispatch.pass ||
			    f.records.items[i].dispatch.pass == 2);
	o.only_pass = 4;
	assert_int_equal(replay_open(&r, &o, &f.plan, NULL, NULL, &err), RC_INVALID);
	assert_string_equal(err.message, "there is no pass 4: the plan has 3");
	fake_release(&f);
}

/* Marked ranges: one unit for all dispatches inside, nothing outside. */
static void ranges(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_RANGE};
	struct fake f;
	uint64_t n = 0;
	int a;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	f.buffers[a].bytes[1] = 0;
	for (int i = 0; i < 4; i++) {
		if (i == 1)
			replay_range(f.device, "solve");
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a},
							  .value = 1));
		if (i == 2)
			replay_range(f.device, NULL);
	}
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(f.buffers[a].bytes[1], 4);
	for (size_t i = 0; i < f.records.n; i++) {
		const struct fake_record *r = &f.records.items[i];

		if (r->dispatch.unit != SPOOL_UNIT_RANGE)
			continue;
		n++;
		assert_string_equal(f.names.items[r->dispatch.kernel - 1], "solve");
		assert_int_equal(r->work, 2 + 3);
	}
	assert_int_equal(n, 3);
	fake_release(&f);
}

/* The marks of a program: they nest, and a device that comes up inside is in them. */
static void marks(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_RANGE};
	struct replay_device *late;
	struct error err = {0};
	struct fake f;
	uint64_t n[2] = {0};
	int a;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	f.buffers[a].bytes[1] = 0;
	for (int i = 1; i <= 6; i++) {
		if (i == 2)
			replay_range_begin(f.replay, "outer");
		if (i == 3)
			replay_range_begin(f.replay, "inner");
		if (i == 5)
			replay_range_end(f.replay, "inner");
		if (i == 6) {
			replay_range_end(f.replay, "never begun");
			replay_range_end(f.replay, "outer");
		}
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a},
							  .value = 1));
	}
	fake_sync(&f, "finish");
	for (int i = 0; i < 100; i++)
		replay_range_begin(f.replay, "deep");
	assert_int_equal(
		replay_device_add(f.replay, &f.runtime, &f, NULL, NULL, 1, NULL, &late, &err), 0);
	for (int i = 0; i < 100; i++)
		replay_range_end(f.replay, "deep");
	replay_range_end(f.replay, "deep");
	fake_stop(&f);
	assert_int_equal(f.buffers[a].bytes[1], 6);
	for (size_t i = 0; i < f.records.n; i++) {
		const struct fake_record *r = &f.records.items[i];
		bool inner;

		if (r->dispatch.unit != SPOOL_UNIT_RANGE)
			continue;
		inner = !strcmp(f.names.items[r->dispatch.kernel - 1], "inner");
		/* The outer one is counted in two pieces. */
		if (inner)
			assert_int_equal(r->work, 3 + 4);
		else
			assert_true(r->work == 2 || r->work == 5);
		n[inner]++;
	}
	assert_int_equal(n[0], 6);
	assert_int_equal(n[1], 3);
	fake_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_memory),
		cmocka_unit_test(control),
		cmocka_unit_test(repeats),
		cmocka_unit_test(idempotent),
		cmocka_unit_test(write_set),
		cmocka_unit_test(varying),
		cmocka_unit_test(outside_reach),
		cmocka_unit_test(filters),
		cmocka_unit_test(outside_in_company),
		cmocka_unit_test(checks_keep_windows),
		cmocka_unit_test(slow_to_check),
		cmocka_unit_test(only_one_pass),
		cmocka_unit_test(ranges),
		cmocka_unit_test(marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
