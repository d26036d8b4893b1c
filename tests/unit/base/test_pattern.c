/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns: every kind, both ends of a name, exclusion, what is refused. */
#include "../test.h"
#include "base/pattern.h"

static bool matches(const char *pattern, const char *name)
{
	struct pattern p;
	bool yes;

	assert_int_equal(pattern_init(&p, pattern, NULL), 0);
	yes = pattern_matches(&p, name);
	pattern_release(&p);
	return yes;
}

static void test_kinds(void **state)
{
	(void)state;
	assert_true(matches("axpy", "saxpy_kernel"));
	assert_true(matches("saxpy_kernel", "saxpy_kernel"));
	assert_false(matches("daxpy", "saxpy_kernel"));
	assert_true(matches("regex:^s.*l$", "saxpy_kernel"));
	assert_false(matches("regex:^axpy", "saxpy_kernel"));
	assert_true(matches("glob:*_kernel", "saxpy_kernel"));
	assert_false(matches("glob:_kernel", "saxpy_kernel"));
	assert_true(matches("exact:saxpy", "saxpy"));
	assert_false(matches("exact:saxpy", "saxpy_kernel"));
	assert_false(matches("!saxpy", "saxpy_kernel"));
	assert_true(matches("!exact:saxpy", "saxpy_kernel"));
}

/* What docs/in-place.md says of C++ kernels, which are seen mangled while the program runs. */
static void test_mangled(void **state)
{
	static const char scale[] = "_ZN2ns5scaleIfEEvPT_i"; /* ns::scale<float>(float*, int) */

	(void)state;
	assert_true(matches("scale", scale));
	assert_true(matches("scale", "_Z7rescalePf"));
	assert_false(matches("!scale", scale));
	assert_true(matches("regex:5scaleIfE", scale));
	assert_true(matches("regex:2ns5scale", scale));
	assert_false(matches("regex:5scaleIdE", scale));
	assert_false(matches("exact:scale", scale));
	assert_false(matches("ns::scale", scale));
}

static void test_refused(void **state)
{
	struct pattern p;
	struct error err = {0};

	(void)state;
	assert_int_equal(pattern_init(&p, "regex:(", &err), RC_INVALID);
	assert_non_null(strstr(err.message, "regex:("));
	assert_int_equal(pattern_init(&p, "", &err), RC_INVALID);
	assert_int_equal(pattern_init(&p, "!glob:", &err), RC_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_mangled),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
