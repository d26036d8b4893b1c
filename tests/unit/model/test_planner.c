/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner's solver on plain problems: cases worked out by hand, and properties over seeded
 * random instances: feasible, never worse than first fit decreasing, equal to brute force on small
 * ones, proven up to 24 items, the same for shuffled items.
 */
#include "../test.h"
#include "planner_instances.h"

#include <stdlib.h>

#define EVENTS(...)                                                               \
	.n_events = sizeof((uint32_t[]){__VA_ARGS__}) / 4, .events = (uint32_t[]) \
	{                                                                         \
		__VA_ARGS__                                                       \
	}

static void solve(const struct planner_problem *p, struct planner_solution *s)
{
	struct error err = {0};

	assert_int_equal(planner_solve(p, s, &err), 0);
	assert_true(instance_check(p, s->pass_of_item, s->n_passes));
	assert_true(s->lower_bound <= s->n_passes);
	assert_int_equal(s->proven, s->lower_bound == s->n_passes);
	assert_true(s->nodes <= p->max_nodes);
}

/* One block of 8 slots, metrics with 4, 3, 3, 2, 2 and 2 counters of their own: first fit takes 3
 * passes (4+3, 3+2+2, 2), the optimum is 2 (4+2+2, 3+3+2). */
static void test_first_fit_loses(void **state)
{
	struct planner_event events[16];
	const struct planner_item items[] = {
		{EVENTS(0, 1, 2, 3)}, {EVENTS(4, 5, 6)}, {EVENTS(7, 8, 9)},
		{EVENTS(10, 11)},     {EVENTS(12, 13)},  {EVENTS(14, 15)},
	};
	struct planner_problem p = {.n_blocks = 1,
				    .slots = (uint32_t[]){8},
				    .n_events = 16,
				    .events = events,
				    .n_items = 6,
				    .items = items,
				    .max_nodes = 1000};
	struct planner_solution s;

	(void)state;
	for (int e = 0; e < 16; e++)
		events[e] = (struct planner_event){.cost = 1};
	solve(&p, &s);
	assert_int_equal(instance_first_fit(&p), 3);
	assert_int_equal(s.n_passes, 2);
	assert_true(s.proven);
	planner_solution_release(&s);
}

/* A base that three metrics share is counted once in a pass and again in the next. */
static void test_shared_events(void **state)
{
	const struct planner_event events[] = {{.cost = 1}, {.cost = 1}, {.cost = 1}, {.cost = 1}};
	const struct planner_item items[] = {
		{EVENTS(0, 1)}, {EVENTS(0, 2)}, {EVENTS(0, 3)}, {EVENTS(3)}};
	uint32_t slots[] = {3};
	struct planner_problem p = {.n_blocks = 1,
				    .slots = slots,
				    .n_events = 4,
				    .events = events,
				    .n_items = 4,
				    .items = items,
				    .max_nodes = 1000};
	struct planner_solution s;

	(void)state;
	solve(&p, &s);
	assert_int_equal(s.n_passes, 2);
	assert_int_equal(s.pass_of_item[2], s.pass_of_item[3]);
	planner_solution_release(&s);
	slots[0] = 4;
	solve(&p, &s);
	assert_int_equal(s.n_passes, 1);
	planner_solution_release(&s);
	slots[0] = 2;
	solve(&p, &s);
	assert_int_equal(s.n_passes, 3);
	assert_true(s.proven);
	planner_solution_release(&s);
}

static void test_exclusive_classes(void **state)
{
	const struct planner_event events[] = {{.block = 0, .cost = 1, .exclusive = 7},
					       {.block = BLOCK_NONE, .cost = 1, .exclusive = 9},
					       {.block = 0, .cost = 1, .exclusive = 7},
					       {.block = 0, .cost = 1}};
	const struct planner_item items[] = {{EVENTS(0)}, {EVENTS(1)}, {EVENTS(2)}, {EVENTS(3)}};
	const struct planner_item clash = {EVENTS(0, 1)};
	struct planner_problem p = {.n_blocks = 1,
				    .slots = (uint32_t[]){SLOTS_UNLIMITED},
				    .n_events = 4,
				    .events = events,
				    .n_items = 4,
				    .items = items,
				    .max_nodes = 1000};
	struct planner_solution s;

	(void)state;
	solve(&p, &s);
	assert_int_equal(s.n_passes, 2);
	assert_int_equal(s.pass_of_item[0], s.pass_of_item[2]);
	assert_int_not_equal(s.pass_of_item[0], s.pass_of_item[1]);
	assert_true(s.proven);
	assert_false(planner_item_fits(&p, &clash));
	planner_solution_release(&s);
}

static void test_nothing_and_slotless(void **state)
{
	const struct planner_event events[] = {{.block = BLOCK_NONE, .cost = 1},
					       {.block = 0, .cost = 2}};
	const struct planner_item items[] = {{EVENTS(0)}, {.n_events = 0}, {EVENTS(1)}};
	struct planner_problem p = {.n_blocks = 1,
				    .slots = (uint32_t[]){1},
				    .n_events = 2,
				    .events = events,
				    .items = items,
				    .max_nodes = 1000};
	struct planner_solution s;
	struct error err = {0};

	(void)state;
	solve(&p, &s);
	assert_int_equal(s.n_passes, 0);
	assert_true(s.proven);
	planner_solution_release(&s);
	p.n_items = 2;
	solve(&p, &s);
	assert_int_equal(s.n_passes, 1);
	assert_true(s.proven);
	planner_solution_release(&s);
	p.n_items = 3;
	assert_int_equal(planner_solve(&p, &s, &err), RC_NO_SLOT);
	assert_non_null(strstr(err.message, "item 2"));
}

static void test_bad_indices(void **state)
{
	struct planner_event event = {.block = 5, .cost = 1};
	struct planner_item item = {EVENTS(3)};
	struct planner_problem p = {.n_blocks = 1,
				    .slots = (uint32_t[]){1},
				    .n_events = 1,
				    .events = &event,
				    .n_items = 1,
				    .items = &item,
				    .max_nodes = 10};
	struct planner_solution s;
	struct error err = {0};

	(void)state;
	assert_int_equal(planner_solve(&p, &s, &err), RC_INVALID);
	event.block = 0;
	assert_int_equal(planner_solve(&p, &s, &err), RC_INVALID);
}

/* Without a budget the plan is the best guess with an honest bound. */
static void test_no_budget(void **state)
{
	const struct instance_shape shape = {
		.n_blocks = 10, .n_items = 60, .events_max = 8, .pool = 6};
	uint32_t unproven = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct planner_solution s, full;
		struct instance in;

		instance_make(&in, &shape, seed);
		in.problem.max_nodes = 0;
		solve(&in.problem, &s);
		in.problem.max_nodes = 200000;
		solve(&in.problem, &full);
		assert_true(s.n_passes >= full.n_passes);
		assert_true(s.lower_bound <= full.n_passes);
		assert_true(s.lower_bound <= full.lower_bound);
		unproven += !s.proven;
		planner_solution_release(&s);
		planner_solution_release(&full);
		instance_release(&in);
	}
	assert_true(unproven > 0);
}

static void test_small_against_brute_force(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		const struct instance_shape shape = {.n_blocks = 2 + (uint32_t)(seed % 4),
						     .n_items = 2 + (uint32_t)(seed % 7),
						     .events_max = 2 + (uint32_t)(seed % 5),
						     .pool = 1 + (uint32_t)(seed % 3),
						     .pairs_of_100 = seed % 2 ? 25 : 0,
						     .classes = seed % 3 ? 0 : 3};
		struct planner_solution s;
		struct instance in;

		instance_make(&in, &shape, seed);
		solve(&in.problem, &s);
		assert_true(s.proven);
		assert_int_equal(s.n_passes, instance_brute_force(&in.problem));
		planner_solution_release(&s);
		instance_release(&in);
	}
}

/* A thousand instances of up to 24 metrics: never worse than first fit, at least 95 % proven. */
static void test_thousand(void **state)
{
	uint32_t proven = 0, better = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		const struct instance_shape shape = {.n_blocks = 10,
						     .n_items = 8 + (uint32_t)(seed % 17),
						     .events_max = 8,
						     .pool = 3 + 3 * (uint32_t)(seed % 3),
						     .pairs_of_100 = seed % 5 ? 0 : 20,
						     .classes = seed % 7 ? 0 : 3};
		struct planner_solution s;
		struct instance in;
		uint32_t first_fit;

		instance_make(&in, &shape, seed);
		solve(&in.problem, &s);
		first_fit = instance_first_fit(&in.problem);
		assert_true(s.n_passes <= first_fit);
		assert_true(s.n_passes >= instance_slot_bound(&in.problem));
		better += s.n_passes < first_fit;
		proven += s.proven;
		planner_solution_release(&s);
		instance_release(&in);
	}
	print_message("# proven minimal: %u of 1000; first fit decreasing takes more in %u\n",
		      proven, better);
	assert_true(proven >= 950);
	assert_true(better > 0);
}

static void test_shuffled_items(void **state)
{
	const struct instance_shape shape = {
		.n_blocks = 10, .n_items = 24, .events_max = 8, .pool = 3, .pairs_of_100 = 10};

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct planner_solution first, again;
		struct planner_item items[24];
		uint32_t from[24];
		struct planner_problem p;
		struct instance in;
		uint64_t rng = seed;

		instance_make(&in, &shape, seed);
		solve(&in.problem, &first);
		for (uint32_t i = 0; i < 24; i++)
			from[i] = i;
		for (uint32_t i = 24; i > 1; i--) {
			uint32_t j = (uint32_t)(instance_random(&rng) % i), k = from[j];

			from[j] = from[i - 1];
			from[i - 1] = k;
		}
		for (uint32_t i = 0; i < 24; i++)
			items[i] = in.problem.items[from[i]];
		p = in.problem;
		p.items = items;
		solve(&p, &again);
		assert_int_equal(first.n_passes, again.n_passes);
		assert_int_equal(first.nodes, again.nodes);
		for (uint32_t i = 0; i < 24; i++)
			assert_int_equal(again.pass_of_item[i], first.pass_of_item[from[i]]);
		planner_solution_release(&first);
		planner_solution_release(&again);
		instance_release(&in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_fit_loses),
		cmocka_unit_test(test_shared_events),
		cmocka_unit_test(test_exclusive_classes),
		cmocka_unit_test(test_nothing_and_slotless),
		cmocka_unit_test(test_bad_indices),
		cmocka_unit_test(test_no_budget),
		cmocka_unit_test(test_small_against_brute_force),
		cmocka_unit_test(test_thousand),
		cmocka_unit_test(test_shuffled_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
