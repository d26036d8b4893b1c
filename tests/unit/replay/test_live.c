/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches counted as the program runs them: spread passes, and what must run exactly once. */
#include "../test.h"
#include "fake.h"

static void spread(void **state)
{
	(void)state;
	for (int caps = 0; caps < 4; caps++) {
		struct replay_options o = {.mode = REPLAY_MODE_NONE, .offset = 1};
		uint32_t next[2] = {2, 2};
		struct fake f;
		int a;

		fake_init(&f, 3);
		f.source.capabilities =
			(caps & 1 ? SOURCE_NEEDS_DRAIN : 0) | (caps & 2 ? SOURCE_OVERLAP : 0);
		fake_start(&f, &o);
		a = fake_alloc(&f, 64, 0, NULL);
		f.buffers[a].bytes[0] = 0;
		for (uint32_t i = 0; i < 12; i++) {
			struct fake_launch l =
				FAKE(sparse, .n_args = 1, .args = {a}, .queue = i % 2);

			if (i % 3 == 0)
				l.kernel = &fake_nothing;
			assert_int_equal(fake_launch(&f, &l), REPLAY_COUNTED);
		}
		fake_sync(&f, "finish");
		fake_stop(&f);
		assert_int_equal(f.records.n, 12);
		assert_int_equal(f.declines.n, 0);
		/* Each kernel's own dispatches take the passes in turn. */
		for (size_t i = 0; i < f.records.n; i++) {
			const struct fake_record *r = &f.records.items[i];
			uint32_t *n = &next[r->dispatch.dispatch % 3 == 0];

			assert_int_equal(r->dispatch.dispatch, i);
			assert_int_equal(r->dispatch.pass, *n);
			assert_int_equal(r->dispatch.flags, 0);
			*n = *n % 3 + 1;
		}
		if (!(caps & 2))
			assert_int_equal(f.overlap, 0);
		fake_release(&f);
	}
}

static void by_chance(void **state)
{
	uint64_t seen[2][64], per_pass[4] = {0};

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct replay_options o = {.mode = REPLAY_MODE_NONE, .random = true, .seed = 11};
		struct fake f;
		int a;

		fake_init(&f, 3);
		fake_start(&f, &o);
		a = fake_alloc(&f, 64, 0, NULL);
		for (int i = 0; i < 64; i++)
			fake_launch(&f,
				    &(struct fake_launch)FAKE(nothing, .n_args = 1, .args = {a}));
		fake_sync(&f, "finish");
		fake_stop(&f);
		assert_int_equal(f.records.n, 64);
		for (size_t i = 0; i < 64; i++) {
			seen[turn][i] = f.records.items[i].dispatch.pass;
			per_pass[seen[turn][i]]++;
		}
		fake_release(&f);
	}
	assert_memory_equal(seen[0], seen[1], sizeof(seen[0]));
	assert_true(per_pass[1] > 20 && per_pass[2] > 20 && per_pass[3] > 20);
}

/* Once means once, and nothing waits right after it. */
static void exactly_once(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	struct fake f;
	int a, b;

	(void)state;
	fake_init(&f, 3);
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	b = fake_alloc(&f, 64, 0, NULL);
	f.buffers[a].bytes[0] = f.buffers[b].bytes[0] = 0;
	for (int i = 0; i < 6; i++) {
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {b}));
		fake_launch(&f, &(struct fake_launch)FAKE(append, .n_args = 1, .args = {a},
							  .flags = RUNTIME_OP_NEVER_REPLAY,
							  .why = "it is a collective"));
	}
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(f.buffers[a].bytes[0], 6);
	assert_int_equal(f.buffers[b].bytes[0], 6);
	assert_int_equal(fake_declined(&f, "it is a collective", SPOOL_INSTEAD_ONE_PASS), 6);
	for (size_t i = 0; i < f.records.n; i++)
		if (f.records.items[i].has_samples && f.records.items[i].dispatch.dispatch % 2)
			assert_int_equal(f.records.items[i].dispatch.flags, 0);
	fake_check_records(&f, 3, 1);
	fake_release(&f);
}

/* Neither waited for nor counted; a window that was open is given up, since what the launch writes
 * is not known. */
static void left_alone(void **state)
{
	static const enum replay_mode modes[] = {REPLAY_MODE_WINDOW, REPLAY_MODE_NONE};

	(void)state;
	for (int m = 0; m < 2; m++) {
		struct replay_options o = {.mode = modes[m]};
		struct fake f;
		int a;

		fake_init(&f, 2);
		fake_start(&f, &o);
		a = fake_alloc(&f, 64, 0, NULL);
		f.buffers[a].bytes[0] = 0;
		fake_launch(&f, &(struct fake_launch)FAKE(append, .n_args = 1, .args = {a}));
		fake_launch(&f, &(struct fake_launch)FAKE(append, .n_args = 1, .args = {a},
							  .flags = RUNTIME_OP_NEVER_REPLAY |
								   RUNTIME_OP_NO_WAIT_BEFORE |
								   RUNTIME_OP_LEAVE_ALONE,
							  .why = "hands off"));
		fake_sync(&f, "finish");
		fake_launch(&f, &(struct fake_launch)FAKE(append, .n_args = 1, .args = {a}));
		fake_sync(&f, "finish");
		fake_stop(&f);
		assert_int_equal(f.buffers[a].bytes[0], 3);
		assert_int_equal(fake_declined(&f, "hands off", SPOOL_INSTEAD_NOTHING), 2);
		assert_int_equal(fake_declined(&f, "hands off", SPOOL_INSTEAD_ONE_PASS), 0);
		fake_release(&f);
	}
}

/* A kernel that does not end by itself, where the device must be drained around what is counted:
 * its unit stays open while the program goes on. Beside other work it is not counted. */
static void held(void **state)
{
	static const enum replay_mode modes[] = {REPLAY_MODE_KERNEL, REPLAY_MODE_WINDOW,
						 REPLAY_MODE_NONE};

	(void)state;
	for (size_t m = 0; m < 3; m++)
		for (int beside = 0; beside < 2; beside++) {
			struct replay_options o = {.mode = modes[m]};
			struct fake f;
			int flag, a;

			fake_init(&f, 3);
			f.source.capabilities = SOURCE_NEEDS_DRAIN;
			fake_start(&f, &o);
			flag = fake_alloc(&f, 64, 0, NULL);
			a = fake_alloc(&f, 64, 0, NULL);
			f.buffers[a].bytes[0] = 0;
			for (int i = 0; i < 5; i++)
				fake_let_wait(&f, flag, beside ? a : -1);
			fake_launch(&f,
				    &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a}));
			fake_sync(&f, "finish");
			fake_stop(&f);
			assert_int_equal(f.buffers[a].bytes[0], beside ? 6 : 1);
			/* The first was waited for in vain. */
			assert_int_equal(
				fake_declined(&f, "does not drain", SPOOL_INSTEAD_ONE_PASS),
				beside ? 0 : 4);
			if (beside)
				assert_int_not_equal(
					fake_declined(
						&f, "does not drain, and other work ran beside it",
						SPOOL_INSTEAD_NOTHING),
					0);
			fake_check_records(&f, 3, 1);
			fake_release(&f);
		}
}

/* Three parts that mean something together; live, groups of their counters by themselves. */
static void make_parts(struct fake *f, uint32_t n_live)
{
	static const uint32_t indices[] = {0, 1, 2, 3}, pair[] = {0, 2};
	static struct plan_pass parts[] = {
		{0, indices, "", "0/1/3"}, {0, indices, "", "0/2/3"}, {4, indices, "", "0/3/3"}};
	static struct plan_live live[] = {{3, {2, indices, "", ""}}, {3, {2, pair, "", ""}}};

	f->plan.passes = parts;
	f->plan.live = live;
	f->plan.n_live = n_live;
}

static void parts_that_belong_together(void **state)
{
	static const enum replay_mode modes[] = {REPLAY_MODE_KERNEL, REPLAY_MODE_WINDOW,
						 REPLAY_MODE_NONE};

	(void)state;
	for (size_t m = 0; m < 3; m++)
		for (uint32_t n_live = 0; n_live < 3; n_live += 2)
			for (uint32_t only = 0; only < 4; only += 3) {
				struct replay_options o = {.mode = modes[m], .only_pass = only};
				bool spread = n_live && !only, live = modes[m] == REPLAY_MODE_NONE;
				uint32_t next = 4, counted = 0;
				struct fake f;
				int a, b;

				fake_init(&f, 3);
				make_parts(&f, n_live);
				f.source.capabilities = SOURCE_NEEDS_DRAIN;
				fake_start(&f, &o);
				a = fake_alloc(&f, 64, 0, NULL);
				b = fake_alloc(&f, 64, 0, NULL);
				f.buffers[a].bytes[0] = f.buffers[b].bytes[0] = 0;
				for (int i = 0; i < 5; i++) {
					if (!live)
						fake_launch(&f, &(struct fake_launch)FAKE(
									sparse, .n_args = 1,
									.args = {b}));
					fake_launch(&f, &(struct fake_launch)FAKE(
								append, .n_args = 1, .args = {a},
								.flags = RUNTIME_OP_NEVER_REPLAY,
								.why = "it is a collective"));
				}
				fake_sync(&f, "finish");
				fake_stop(&f);
				assert_int_equal(f.buffers[a].bytes[0], 5);
				assert_int_equal(f.buffers[b].bytes[0], live ? 0 : 5);
				if (!live)
					assert_int_equal(
						fake_declined(&f, "it is a collective",
							      spread ? SPOOL_INSTEAD_ONE_PASS
								     : SPOOL_INSTEAD_NOTHING),
						5);
				/* The groups in turn, each recorded as the pass that has its
				 * counters; they are no passes of replay. */
				vec_for_each (&f.records, r) {
					if (r->dispatch.flags & SPOOL_DISPATCH_REPLAYED)
						assert_int_equal(r->counted, r->dispatch.pass);
					if (!r->has_samples ||
					    r->dispatch.flags & SPOOL_DISPATCH_REPLAYED)
						continue;
					assert_int_equal(r->dispatch.pass, 3);
					assert_int_equal(r->counted, next);
					next = next == 4 ? 5 : 4;
					counted++;
				}
				assert_int_equal(counted, spread ? 5 : 0);
				assert_int_equal(f.notes.n, 1);
				assert_non_null(strstr(f.notes.items[0], "several passes"));
				assert_string_equal(strrchr(f.notes.items[0], ':'),
						    spread ? ": c3" : ": c0, c1, c2, c3");
				if (!live)
					fake_check_records(&f, only ? 1 : 3, 1);
				fake_release(&f);
			}
}

/* One that cannot be begun is left out, this time. */
static void others_go_on(void **state)
{
	static const uint32_t want[] = {5, 4, 5};
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	struct fake f;
	int a;

	(void)state;
	fake_init(&f, 3);
	make_parts(&f, 2);
	f.source.capabilities = SOURCE_NEEDS_DRAIN;
	f.failures[FAKE_PASS_BEGIN] = (struct fake_failure){1, 1, RC_MISMATCH};
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	f.buffers[a].bytes[0] = 0;
	for (int i = 0; i < 4; i++)
		fake_launch(&f, &(struct fake_launch)FAKE(append, .n_args = 1, .args = {a},
							  .flags = RUNTIME_OP_NEVER_REPLAY,
							  .why = "it is a collective"));
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(f.buffers[a].bytes[0], 4);
	assert_int_equal(fake_declined(&f, "it is a collective", SPOOL_INSTEAD_NOTHING), 1);
	assert_int_equal(fake_declined(&f, "it is a collective", SPOOL_INSTEAD_ONE_PASS), 3);
	assert_int_equal(f.records.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(f.records.items[i].counted, want[i]);
	fake_release(&f);
}

static void unrecordable(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW, .verify = REPLAY_VERIFY_NEVER};
	struct fake f;
	int a;

	(void)state;
	fake_init(&f, 2);
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	f.buffers[a].bytes[0] = 0;
	for (int i = 0; i < 9; i++)
		assert_int_equal(
			fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a},
								  .unrecordable = i % 3 == 2)),
			i % 3 == 2 ? REPLAY_COUNTED : REPLAY_RECORDED);
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(f.buffers[a].bytes[0], 9);
	assert_int_equal(fake_declined(&f, "cannot be recorded", SPOOL_INSTEAD_ONE_PASS), 3);
	assert_string_equal(f.ends.items[0], "an operation outside the window");
	fake_check_records(&f, 2, 1);
	fake_release(&f);
}

/* A launch that the program's library refused is no dispatch. */
static void refused_launches(void **state)
{
	(void)state;
	for (int mode = REPLAY_MODE_KERNEL; mode <= REPLAY_MODE_NONE; mode++) {
		struct replay_options o = {.mode = (enum replay_mode)mode};
		struct fake f;
		int a;

		fake_init(&f, 2);
		fake_start(&f, &o);
		a = fake_alloc(&f, 64, 0, NULL);
		f.buffers[a].bytes[0] = 0;
		for (int i = 0; i < 6; i++)
			fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a},
								  .fails = i % 2 == 0));
		fake_sync(&f, "finish");
		fake_stop(&f);
		assert_int_equal(f.buffers[a].bytes[0], 3);
		for (size_t i = 0; i < f.records.n; i++)
			assert_int_equal(f.records.items[i].dispatch.dispatch % 2, 1);
		if (mode == REPLAY_MODE_NONE)
			assert_int_equal(f.records.n, 3);
		fake_release(&f);
	}
}

/* Where nothing counts, dispatches are declined by name and run. */
static void no_source(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	struct error err = {0};
	struct fake f;
	int a;

	(void)state;
	fake_init(&f, 2);
	assert_int_equal(replay_open(&f.replay, &o, &f.plan, NULL, NULL, &err), 0);
	replay_close(f.replay);
	f.source.name = "another";
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	for (int i = 0; i < 3; i++)
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a}));
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(fake_declined(&f, "no counter of the plan is counted on this device",
				       SPOOL_INSTEAD_NOTHING),
			 3);
	fake_release(&f);
}

static void disabled(void **state)
{
	struct replay_options o = {.mode = REPLAY_MODE_WINDOW};
	struct fake f;
	int a;

	(void)state;
	fake_init(&f, 2);
	fake_start(&f, &o);
	a = fake_alloc(&f, 64, 0, NULL);
	f.buffers[a].bytes[0] = 0;
	for (int i = 0; i < 6; i++) {
		fake_launch(&f, &(struct fake_launch)FAKE(sparse, .n_args = 1, .args = {a}));
		if (i == 1)
			fake_sync(&f, "finish");
		if (i == 3) {
			replay_disable(f.replay, "the test says so");
			replay_disable(f.replay, "again");
		}
	}
	assert_true(replay_disabled(f.replay));
	fake_sync(&f, "finish");
	fake_stop(&f);
	assert_int_equal(f.buffers[a].bytes[0], 6);
	assert_int_equal(fake_counted(&f), 2);
	assert_int_equal(fake_declined(&f, "collection was stopped", -1), 2);
	assert_int_equal(f.notes.n, 1);
	assert_string_equal(f.notes.items[0], "disabled because the test says so");
	fake_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread),
		cmocka_unit_test(by_chance),
		cmocka_unit_test(exactly_once),
		cmocka_unit_test(held),
		cmocka_unit_test(parts_that_belong_together),
		cmocka_unit_test(others_go_on),
		cmocka_unit_test(unrecordable),
		cmocka_unit_test(refused_launches),
		cmocka_unit_test(no_source),
		cmocka_unit_test(disabled),
		cmocka_unit_test(left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
