/* SPDX-License-Identifier: Apache-2.0 */
/* Output names: every placeholder in each spelling, and a sentence for each mistake. */
#include "../test.h"
#include "base/path_template.h"

#include <stdlib.h>

static unsigned taken; /* how many numbers %i finds in use */

static const char *fake_env(void *context, const char *name)
{
	(void)context;
	if (!strcmp(name, "SCRATCH"))
		return "/scratch/me";
	return strcmp(name, "EMPTY") ? NULL : "";
}

static bool fake_exists(void *context, const char *path)
{
	const char *digits = path + strcspn(path, "0123456789");

	(void)context;
	return (unsigned)atoi(digits) <= taken;
}

static struct path_values fake_values(void)
{
	return (struct path_values){
		.host = "node1",
		.pid = 4711,
		.rank = 3,
		.job = "12/3.server",
		.tag = "a.out",
		.start = 1718113435,
		.get_env = fake_env,
		.exists = fake_exists,
	};
}

static void test_placeholders(void **state)
{
	static const char *const cases[][2] = {
		{"out", "out"},
		{"%h-%hostname%", "node1-node1"},
		{"%p-%pid%", "4711-4711"},
		{"%r-%rank%", "3-3"},
		{"%j-%job%", "12_3.server-12_3.server"},
		{"%nid%", "3"},
		{"%t", "20240611T134355Z"},
		{"%launch_time%", "20240611T134355Z"},
		{"%tag%", "a.out"},
		{"%q{SCRATCH}/x", "/scratch/me/x"},
		{"%env{SCRATCH}%/x", "/scratch/me/x"},
		{"x%q{EMPTY}y%q{UNSET}z", "xyz"},
		{"100%%", "100%"},
		{"%%p", "%p"},
		{"%pid", "4711id"}, /* the short one, then text */
		{"%hostnam", "node1ostnam"},
		{"%p%r%h", "47113node1"},
		{"run%i", "run1"},
		{"%rank%%%%pid%", "3%4711"},
	};

	(void)state;
	taken = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct path_values values = fake_values();
		struct str out = STR_INIT;
		struct error err = {0};

		str_add(&out, ">");
		assert_int_equal(path_template_expand(cases[i][0], &values, &out, &err), 0);
		assert_string_equal(out.text + 1, cases[i][1]);
		str_release(&out);
	}
}

static void test_refused(void **state)
{
	static const char *const cases[][2] = {
		{"a%zb", "unknown placeholder '%z'"},
		{"a%", "unknown placeholder '%'"},
		{"%H", "unknown placeholder '%H'"},
		{"%env", "unknown placeholder '%e'"},
		{"%q", "unknown placeholder '%q'"},
		{"%q{X", "no '}' after '%q{'"},
		{"%env{X}", "no '%' after '%env{X}'"},
		{"%q{}", "no name of a variable in '%q{}'"},
		{"%q{A=B}", "no name of a variable in '%q{A=B}'"},
		{"", "nothing is left"},
		{"%q{EMPTY}", "nothing is left"},
	};
	char *huge = malloc(PATH_TEMPLATE_SIZE_MAX + 1);
	struct path_values values = fake_values();
	struct str out = STR_INIT;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(path_template_expand(cases[i][0], &values, &out, &err),
				 RC_INVALID);
		if (!strstr(err.message, cases[i][1]) || !strstr(err.message, cases[i][0]))
			fail_msg("got '%s', wanted '%s'", err.message, cases[i][1]);
	}
	assert_non_null(huge);
	memset(huge, 'x', PATH_TEMPLATE_SIZE_MAX);
	huge[PATH_TEMPLATE_SIZE_MAX] = '\0';
	assert_int_equal(path_template_expand(huge, &values, &out, &err), RC_INVALID);
	memset(huge, 0, PATH_TEMPLATE_SIZE_MAX);
	for (int i = 0; i < 400; i++)
		memcpy(huge + 2 * i, "%t", 2); /* 800 bytes become 6,400 */
	assert_int_equal(path_template_expand(huge, &values, &out, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "longer than 4095 bytes"));
	assert_int_equal(out.size, 0); /* nothing is added on an error */
	free(huge);
}

static void test_unknown(void **state)
{
	struct path_values values = {
		.pid = 5, .rank = PATH_TEMPLATE_RANK_UNKNOWN, .get_env = fake_env};
	struct str out = STR_INIT;
	struct error err = {0};

	(void)state;
	assert_int_equal(path_template_expand("%r", &values, &out, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "rank is not known"));
	assert_non_null(strstr(err.message, "%nid%"));
	assert_int_equal(path_template_expand("%h.%nid%.%j%tag%", &values, &out, &err), 0);
	assert_string_equal(out.text, "unknown.5.");
	str_release(&out);
}

static void test_index(void **state)
{
	struct path_values values = fake_values();
	struct str out = STR_INIT;
	struct error err = {0};

	(void)state;
	taken = 41;
	assert_int_equal(path_template_expand("%i", &values, &out, &err), 0);
	assert_string_equal(out.text, "42");
	taken = UINT32_MAX;
	assert_int_equal(path_template_expand("%i", &values, &out, &err), RC_EXISTS);
	str_release(&out);
	/* The real thing: / exists, /1 hardly. */
	values.exists = NULL;
	assert_int_equal(path_template_expand("/nonexistent-%i", &values, &out, &err), 0);
	assert_string_equal(out.text, "/nonexistent-1");
	str_release(&out);
}

static void test_per_process(void **state)
{
	(void)state;
	assert_true(path_template_is_per_process("a%p"));
	assert_true(path_template_is_per_process("a%rank%"));
	assert_true(path_template_is_per_process("%h%nid%"));
	assert_true(path_template_is_per_process("%q{X}"));
	assert_false(path_template_is_per_process("%h.%j.%t"));
	assert_false(path_template_is_per_process("%%p"));
	assert_false(path_template_is_per_process("plain%"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_placeholders), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unknown),      cmocka_unit_test(test_index),
		cmocka_unit_test(test_per_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
