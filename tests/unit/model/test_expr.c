/* SPDX-License-Identifier: Apache-2.0 */
/* The metric language: what each rule of docs/expressions.md means, and what is refused where. */
#include "../test.h"
#include "base/str.h"
#include "model/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NONE ((double)NAN) /* in the tables below: no value */

/* Four dispatches of counters a, b, m (missing in row 1) and z (zero in row 2), and three instances
 * of c. */
static const struct {
	const char *name;
	double rows[4];
} table[] = {
	{"a", {1, 2, 3, 4}},
	{"b", {10, 20, 30, 60}},
	{"m", {5, NONE, 7, 9}},
	{"z", {1, 1, 0, 2}},
	{"c[0]", {1, 2, 3, 4}},
	{"c[1]", {5, 6, 7, 8}},
	{"c[2]", {0, 100, 0, 0}},
	{"a[2]", {7, 7, 7, 7}},
	{"cache-misses", {8, 8, 8, 8}},
	{"cpu/event=0x3c/", {2, 2, 2, 2}},
	{"if", {3, 3, 3, 3}},
	{"bp:ns::f@lib.so", {6, 6, 6, 6}},
};

static struct expr_value value(double x)
{
	return (struct expr_value){isnan(x) ? 0 : x, isnan(x)};
}

static struct expr_value test_counter(void *data, const char *name, int instance, size_t row)
{
	char full[64];

	(void)data;
	if (instance < 0)
		snprintf(full, sizeof(full), "%s", name);
	else
		snprintf(full, sizeof(full), "%s[%d]", name, instance);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(table[i].name, full))
			return value(table[i].rows[row]);
	return value(NONE);
}

static size_t test_instances(void *data, const char *name)
{
	(void)data;
	return !strcmp(name, "c") ? 3 : 0;
}

static struct expr_value test_constant(void *data, const char *name, size_t row)
{
	(void)data;
	if (!strcmp(name, "num_xcd"))
		return value(8);
	if (!strcmp(name, "duration_ns"))
		return value((double)(row + 1) * 100);
	return value(NONE);
}

static struct expr_result run(const char *text, size_t n_rows, enum expr_ratio ratio)
{
	struct expr_input in = {
		.n_rows = n_rows,
		.counter = test_counter,
		.instances = test_instances,
		.constant = test_constant,
	};
	struct arena arena = {0};
	const struct expr *e = NULL;
	struct expr_result result;
	struct error err = {0};

	if (expr_parse(&arena, "metric", text, &e, &err))
		fail_msg("%s: %s", text, err.message);
	assert_int_equal(expr_evaluate(e, &in, ratio, &result, &err), 0);
	arena_release(&arena);
	return result;
}

static void expect(const char *text, size_t n_rows, enum expr_ratio ratio, double wanted)
{
	struct expr_result r = run(text, n_rows, ratio);

	if (r.value.missing != isnan(wanted) ||
	    (!r.value.missing && fabs(r.value.number - wanted) > 1e-9 * (1 + fabs(wanted))))
		fail_msg("%s over %zu rows is %.17g%s, not %.17g", text, n_rows, r.value.number,
			 r.value.missing ? " (missing)" : "", wanted);
}

static void test_one_dispatch(void **state)
{
	static const struct {
		const char *text;
		double wanted;
	} cases[] = {
		{"1 + 2 * 3", 7},
		{"(1 + 2) * 3", 9},
		{"8 / 4 / 2", 1},
		{"8 - 4 - 2", 2},
		{"--3", 3},
		{"-a + 3", 2},
		{"a -1", 0},
		{"b- a", 9},
		{".5 + 1e2 + 2.5E-1", 100.75},
		{"1 + 2 < 4", 1},
		{"1 < 1", 0},
		{"1 <= 1", 1},
		{"2 > 1", 1},
		{"1 >= 2", 0},
		{"a == 1", 1},
		{"a != 1", 0},
		{"a if b > 5 else None", 1},
		{"a if b < 5 else None", NONE},
		{"5 if 1 else nothing", 5},
		{"nothing if 0 else 6", 6},
		{"1 if nothing else 2", NONE},
		{"1 if 0 else 2 if 0 else 3", 3},
		{"1 if (1 if 0 else 0) else 3", 3},
		{"nothing + 1", NONE},
		{"1 / 0", NONE},
		{"0 / 0", NONE},
		{"1e308 * 10", NONE},
		{"None", NONE},
		{"a[2] + 0", 7},
		{"cache-misses", 8},
		{"`cpu/event=0x3c/`", 2},
		{"`if`", 3},
		{"bp:ns::f@lib.so", 6},
		{"sum(c[]) + min(c[]) + max(c[])", 11},
		{"avg(c[])", 2},
		{"std(c[])", 2.6457513110645907},
		{"sum(a[])", NONE},
		{"MIN(a, b) + MAX(a, b)", 11},
		{"ROUND(2.5, 0) + ROUND(3.5, 0)", 6},
		{"ROUND(1234.5678, 2)", 1234.57},
		{"ROUND(1234.5678, -2)", 1200},
		{"ROUND(0.1, 300)", 0.1},
		{"MOD(7, 3)", 1},
		{"MOD(-7, 3)", 2},
		{"MOD(7, -3)", -2},
		{"MOD(7, 0)", NONE},
		{"ABS(-2)", 2},
		{"TO_INT(2.9) + TO_INT(-2.9)", 0},
		{"CONCAT(1, 23)", 123},
		{"CONCAT(7, 0)", 70},
		{"CONCAT(1.5, 2)", NONE},
		{"a / $num_xcd", 0.125},
		{"$unknown", NONE},
		{"a / $dispatches", 1},
		{"SUM(a)", 1},
		{"STD(a)", NONE},
		{"MEDIAN(a)", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		expect(cases[i].text, 1, EXPR_RATIO_OF_SUMS, cases[i].wanted);
		expect(cases[i].text, 1, EXPR_MEAN_OF_RATIOS, cases[i].wanted);
		expect(cases[i].text, 0, EXPR_RATIO_OF_SUMS, NONE);
	}
}

static void test_many_dispatches(void **state)
{
	static const struct {
		const char *text;
		double of_sums, of_means;
	} cases[] = {
		{"a", 10, 2.5},
		{"b / a", 12, (10 + 10 + 10 + 15) / 4.0},
		{"a / $dispatches", 2.5, 2.5},
		{"$dispatches", 4, 4},
		{"a / $num_xcd", 1.25, 2.5 / 8},
		/* 10 counts in 1000 ns; 1/100 in each */
		{"a / $duration_ns", 0.01, 0.01},
		/* rows without m are left out of every sum */
		{"a / m", 8.0 / 21, (1 / 5.0 + 3 / 7.0 + 4 / 9.0) / 3},
		{"$dispatches + 0 * m", 3, 1},
		/* a ratio of sums has no zero to divide by, the mean leaves row 2 out */
		{"a / z", 10.0 / 4, (1 + 2 + 2) / 3.0},
		{"max(c[])", 100, (5 + 100 + 7 + 8) / 4.0},
		{"SUM(a)", 10, 10},
		{"AVG(b / a)", 11.25, 11.25},
		{"SUM(b) / SUM(a)", 12, 12},
		{"AVG(m)", 7, 7},
		{"MIN(m) + MAX(m)", 14, 14},
		{"MEDIAN(a)", 2.5, 2.5},
		{"MEDIAN(m)", 7, 7},
		{"QUANTILE(b, 0.25)", 17.5, 17.5},
		{"QUANTILE(b, 1)", 60, 60},
		{"QUANTILE(b, 0)", 10, 10},
		{"STD(a)", 1.2909944487358056, 1.2909944487358056},
		{"AVG(nothing)", NONE, NONE},
		{"SUM(a - AVG(a))", 0, 0},
		{"a / SUM(a)", 1, 0.25},
		{"MAX(SUM(a), 3)", 10, 10},
		{"AVG(a if z else None)", 7 / 3.0, 7 / 3.0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(cases[i].text, "$dispatches"))
			expect(cases[i].text, 4, EXPR_MEAN_OF_RATIOS, cases[i].of_means);
		expect(cases[i].text, 4, EXPR_RATIO_OF_SUMS, cases[i].of_sums);
	}
	assert_int_equal(run("a / m", 4, EXPR_RATIO_OF_SUMS).rows_used, 3);
	assert_int_equal(run("a / z", 4, EXPR_RATIO_OF_SUMS).rows_used, 4);
	assert_int_equal(run("a / z", 4, EXPR_MEAN_OF_RATIOS).rows_used, 3);
	assert_int_equal(run("AVG(a) + AVG(m)", 4, EXPR_RATIO_OF_SUMS).rows_used, 3);
	assert_int_equal(run("m", 1, EXPR_RATIO_OF_SUMS).rows_used, 1);
	assert_int_equal(run("nothing", 1, EXPR_RATIO_OF_SUMS).rows_used, 0);
	assert_int_equal(run("nothing", 4, EXPR_RATIO_OF_SUMS).rows_used, 0);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "x: column 1: a value is missing, found the end"},
		{"1 +", "x: column 4: a value is missing, found the end"},
		{"1 2", "x: column 3: an operator is missing before a number"},
		{"a b", "x: column 3: an operator is missing before 'b'"},
		{"(1", "x: column 3: ')' is missing at the end of the parenthesis, found the end"},
		{"1)", "x: column 2: an operator is missing before ')'"},
		{"a = 1", "x: column 3: '=' compares nothing; write '=='"},
		{"a % 2", "x: column 3: there is no operator '%'"},
		{"a ? 2", "x: column 3: '?' has no meaning here"},
		{"a + \xc3\xa9", "x: column 5: the byte 0xc3 has no meaning here"},
		{"1 if 2", "x: column 7: 'else' is missing after 'if', found the end"},
		{"if", "x: column 1: a value is missing before 'if'"},
		{"FOO(1)", "x: column 1: there is no function 'FOO'"},
		{"AVG(1, 2)", "x: column 1: 'AVG' takes 1 argument, not 2"},
		{"ROUND(1)", "x: column 1: 'ROUND' takes 2 arguments, not 1"},
		{"MOD(1, 2, 3)", "x: column 11: 'MOD' has too many arguments"},
		{"ABS()", "x: column 5: a value is missing, found ')'"},
		{"QUANTILE(a, b)",
		 "x: column 1: the second argument of 'QUANTILE' is a number from 0 to 1"},
		{"QUANTILE(a, 2)",
		 "x: column 1: the second argument of 'QUANTILE' is a number from 0 to 1"},
		{"sum(a)", "x: column 5: 'sum' takes all instances of one counter, sum(X[])"},
		{"sum(1 + a[])", "x: column 5: 'sum' takes all instances of one counter, sum(X[])"},
		{"$", "x: column 1: '$' without the name of a constant"},
		{"`a", "x: column 1: the backquote is never closed"},
		{"``", "x: column 1: an empty name in backquotes"},
		{"12ab", "x: column 1: '12a' is neither a number nor a name"},
		{"1e999", "x: column 1: the number 1e999 is too large"},
		{"1 < 2 < 3", "x: column 7: an operator is missing before '<'"},
		{"a[70000]", "x: column 3: an instance is a whole number from 0 to 65535 "},
		{"a[1.5]", "x: column 3: an instance is a whole number from 0 to 65535 "},
		{"a[]", "x: column 3: an instance is a whole number from 0 to 65535 "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arena arena = {0};
		const struct expr *e = NULL;
		struct error err = {0};

		assert_int_equal(expr_parse(&arena, "x", cases[i].text, &e, &err), RC_INVALID);
		assert_null(e);
		if (strncmp(err.message, cases[i].message, strlen(cases[i].message)))
			fail_msg("%s: %s", cases[i].text, err.message);
		arena_release(&arena);
	}
}

static int parse_repeated(const char *head, const char *piece, size_t n, const char *tail)
{
	struct arena arena = {0};
	const struct expr *e;
	struct error err = {0};
	struct str s = STR_INIT;
	int rc;

	str_add(&s, head);
	for (size_t i = 0; i < n; i++)
		str_add(&s, piece);
	str_add(&s, tail);
	rc = expr_parse(&arena, "x", str_text(&s), &e, &err);
	str_release(&s);
	arena_release(&arena);
	return rc;
}

static void test_bounds(void **state)
{
	(void)state;
	assert_int_equal(parse_repeated("", "(", 100000 / 2, "1"), RC_INVALID);
	assert_int_equal(parse_repeated("", "-", 50000, "1"), RC_INVALID);
	assert_int_equal(parse_repeated("", "ABS(", 10000, "1"), RC_INVALID);
	assert_int_equal(parse_repeated("", "1 if 1 else ", 5000, "1"), RC_INVALID);
	assert_int_equal(parse_repeated("1", "+1", 30000, ""), RC_INVALID);
	assert_int_equal(parse_repeated("1", " ", 70000, ""), RC_INVALID);
	assert_int_equal(parse_repeated("1", "+1", 2000, ""), 0);
	assert_int_equal(parse_repeated("", "-", 100, "1"), 0);
}

static void collect(const char *name, bool is_constant, void *data)
{
	str_addf(data, "%s%s ", is_constant ? "$" : "", name);
}

static void test_names(void **state)
{
	struct arena arena = {0};
	const struct expr *e;
	struct error err = {0};
	struct str s = STR_INIT;

	(void)state;
	assert_int_equal(expr_parse(&arena, "x",
				    "b / $num_xcd + AVG(a[3]) + max(c[]) + b + a + $num_xcd", &e,
				    &err),
			 0);
	expr_names(e, collect, &s);
	assert_string_equal(str_text(&s), "b $num_xcd a[3] c[] a ");
	str_clear(&s);
	expr_print(e, &s);
	assert_string_equal(str_text(&s), "((((((b / $num_xcd) + AVG(a[3])) + max(c[])) + b) "
					  "+ a) + $num_xcd)");
	str_release(&s);
	arena_release(&arena);
}

static size_t bind_calls;

static size_t test_bind(void *data, const char *name, int instance)
{
	(void)data;
	(void)instance;
	bind_calls++;
	return (size_t)name[0];
}

static struct expr_value test_bound(void *data, size_t handle, size_t row)
{
	(void)data;
	return value((double)handle + (double)row);
}

/* Names are looked up once, not once a row. */
static void test_binding(void **state)
{
	struct expr_input in = {.n_rows = 100, .bind = test_bind, .bound = test_bound};
	struct arena arena = {0};
	const struct expr *e;
	struct expr_result r;
	struct error err = {0};

	(void)state;
	assert_int_equal(expr_parse(&arena, "x", "SUM(A - B) + A - A", &e, &err), 0);
	assert_int_equal(expr_evaluate(e, &in, EXPR_RATIO_OF_SUMS, &r, &err), 0);
	assert_int_equal(bind_calls, 2);
	assert_true(!r.value.missing);
	assert_int_equal((int)r.value.number, -100);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_dispatch), cmocka_unit_test(test_many_dispatches),
		cmocka_unit_test(test_refused),      cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_names),        cmocka_unit_test(test_binding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
