/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: pure sums in, a choice and its sentence out. */
#include "../test.h"
#include "replay/cost.h"

static enum cost_choice choose(const struct cost_sums *s, uint32_t passes, char why[256])
{
	why[0] = '\0';
	return cost_choose(s, passes, why, 256);
}

static void too_little(void **state)
{
	struct cost_sums s = {.windows = 1, .dispatches = 3, .executions = 13, .run_ns = 1000};
	char why[256];

	(void)state;
	assert_int_equal(choose(&(struct cost_sums){0}, 13, why), COST_WAIT);
	assert_int_equal(choose(&s, 13, why), COST_WAIT);
	/* Slow kernels: three are enough. */
	s.run_ns = 3000000000u;
	assert_int_not_equal(choose(&s, 13, why), COST_WAIT);
}

/* Dear programming, many dispatches between two synchronisations. */
static void window(void **state)
{
	struct cost_sums s = {.windows = 1,
			      .dispatches = 300,
			      .executions = 13,
			      .kernels = 10,
			      .live_ns = 30000000,
			      .run_ns = 13 * 30000000u,
			      .program_ns = 13 * 20000000u,
			      .memory_ns = 1000000,
			      .window_bytes = 1 << 20,
			      .kernel_bytes = 300 << 20};
	char why[256];

	(void)state;
	assert_int_equal(choose(&s, 13, why), COST_WINDOW);
	assert_non_null(strstr(why, "auto: window, 2170.0 us a dispatch"));
	assert_non_null(strstr(why, "windows of 300"));
}

static void kernel(void **state)
{
	struct cost_sums s = {.windows = 10,
			      .dispatches = 10,
			      .executions = 130,
			      .kernels = 2,
			      .live_ns = 10000000,
			      .run_ns = 13 * 10000000u,
			      .program_ns = 1000000,
			      .memory_ns = 1000000,
			      .window_bytes = 1 << 20,
			      .kernel_bytes = 1 << 20};
	char why[256];

	(void)state;
	assert_int_equal(choose(&s, 13, why), COST_WINDOW);
	assert_non_null(strstr(why, "1.0 dispatches lie between two calls"));
	/* A window that reaches far more than each of its dispatches. */
	s.dispatches = 40;
	s.memory_ns = 4000000000u;
	s.window_bytes = 1 << 30;
	assert_int_equal(choose(&s, 13, why), COST_KERNEL);
	assert_non_null(strstr(why, "in windows of 4"));
}

/* Gigabytes are put back for kernels of microseconds that come again and again. */
static void none(void **state)
{
	struct cost_sums s = {.windows = 60,
			      .dispatches = 60,
			      .executions = 60 * 13,
			      .kernels = 2,
			      .live_ns = 60 * 20000,
			      .run_ns = 60 * 13 * 20000u,
			      .program_ns = 60 * 13 * 10000u,
			      .memory_ns = 60 * 13 * 1000000u,
			      .window_bytes = 1 << 30,
			      .kernel_bytes = 1 << 30};
	char why[256];

	(void)state;
	assert_int_equal(choose(&s, 13, why), COST_NONE);
	assert_non_null(strstr(why, "times the program's own run"));
	/* Too seldom to fill the passes that way. */
	s.kernels = 10;
	assert_int_equal(choose(&s, 13, why), COST_WINDOW);
	s.kernels = 2;
	assert_int_equal(choose(&s, 1, why), COST_WINDOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(too_little), cmocka_unit_test(window),
					   cmocka_unit_test(kernel), cmocka_unit_test(none)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
