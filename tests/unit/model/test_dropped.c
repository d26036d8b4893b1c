/* SPDX-License-Identifier: Apache-2.0 */
/* What is not in a plan, by reason. */
#include "../test.h"
#include "model/dropped.h"

#include <string.h>

static struct plan_dropped dropped[] = {
	{"a", "no such event"}, {"b", "needs 'x'"},     {"c", "no such event"},
	{"d", "no such event"}, {"e", "no such event"}, {"f", "needs 'y'"},
};

static void test_lines(void **state)
{
	static const char *const want[] = {"4 (a, c, d and 1 more): no such event",
					   "b: needs 'x'",
					   NULL,
					   NULL,
					   NULL,
					   "f: needs 'y'"};
	struct plan plan = {.n_dropped = 6, .dropped = dropped};

	(void)state;
	assert_int_equal(dropped_reasons(&plan), 3);
	for (uint32_t i = 0; i < 6; i++) {
		struct str text = STR_INIT;

		assert_int_equal(dropped_line(&plan, i, 3, &text), want[i] != NULL);
		assert_string_equal(str_text(&text), want[i] ? want[i] : "");
		str_release(&text);
	}
}

static void test_all_names(void **state)
{
	struct plan plan = {.n_dropped = 6, .dropped = dropped};
	struct str text = STR_INIT;

	(void)state;
	assert_true(dropped_line(&plan, 0, UINT32_MAX, &text));
	assert_string_equal(str_text(&text), "4 (a, c, d, e): no such event");
	str_release(&text);
	plan.n_dropped = 0;
	assert_int_equal(dropped_reasons(&plan), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_all_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
