/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage: the words, and the coupon collector against a simulation. */
#include "../test.h"
#include "model/coverage.h"

static void describes(const uint32_t *samples, uint32_t n, bool random, const char *wanted)
{
	struct str s = STR_INIT;

	coverage_describe(samples, n, random, &s);
	assert_false(str_is_failed(&s));
	assert_string_equal(str_text(&s), wanted);
	str_release(&s);
}

static void test_words(void **state)
{
	(void)state;
	describes((const uint32_t[]){1, 1, 1}, 3, false,
		  "samples of the 3 passes: 1 of pass 1-3\n");
	describes((const uint32_t[]){2, 2, 0, 1, 0, 0, 2}, 7, false,
		  "samples of the 7 passes: 2 of pass 1-2, 7; 1 of pass 4\n"
		  "missing: pass 3, 5-6; 3 more processes, with --pass, would collect them, or one "
		  "launch of 7 ranks with --distribute rank\n");
	describes((const uint32_t[]){1, 0}, 2, false,
		  "samples of the 2 passes: 1 of pass 1\n"
		  "missing: pass 2; 1 more process, with --pass, would collect it, or one launch "
		  "of 2 ranks with --distribute rank\n");
	describes((const uint32_t[]){5, 0, 0, 0}, 4, true,
		  "samples of the 4 passes: 5 of pass 1\n"
		  "missing: pass 2-4; about 8 more random processes would collect them (15 with "
		  "95 % certainty)\n");
	describes((const uint32_t[]){0, 0}, 2, false,
		  "missing: pass 1-2; 2 more processes, with --pass, would collect them, or one "
		  "launch of 2 ranks with --distribute rank\n");
}

static void test_collector(void **state)
{
	/* 4 passes, 3 missing: 4/1 + 4/2 + 4/3 */
	(void)state;
	assert_true(coverage_expected_draws(4, 3) > 7.333 && coverage_expected_draws(4, 3) < 7.334);
	assert_true(coverage_expected_draws(9, 0) == 0);
	assert_true(coverage_draws_for(9, 0, 0.95) == 0);
	assert_true(coverage_draws_for(1, 1, 0.95) == 1);
}

/* The bound holds: of 2000 simulated collections at least 95 % are complete after that many. */
static void test_bound(void **state)
{
	enum {
		PASSES = 13,
		MISSING = 5,
		RUNS = 2000
	};
	unsigned draws = (unsigned)coverage_draws_for(PASSES, MISSING, 0.95), complete = 0;
	uint64_t x = 88172645463325252u;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		unsigned seen = 0;

		for (unsigned i = 0; i < draws; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			seen |= 1u << ((x >> 32) % PASSES);
		}
		complete += (seen & ((1u << MISSING) - 1)) == (1u << MISSING) - 1;
	}
	assert_in_range(complete, RUNS * 95 / 100, RUNS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_collector),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
