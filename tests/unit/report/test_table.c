/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: three formats from one description, the two makers of text, numbers for people. */
#include "config.h"

#include "../test.h"
#include "base/json.h"
#include "golden.h"
#include "report/table.h"
#include "report/table_text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct table_column columns[] = {
	{"name", NULL, NULL, TABLE_STRING, 0},
	{"value", "how many", NULL, TABLE_NUMBER, TABLE_SCALED},
	{"unit", NULL, NULL, TABLE_STRING, TABLE_UNIT},
	{"wall", NULL, "ns", TABLE_NUMBER, 0},
	{"exact", NULL, NULL, TABLE_BOOL, 0},
	{"never", NULL, NULL, TABLE_STRING, TABLE_HIDE_EMPTY},
	{"secret", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA},
	{"drawn", NULL, NULL, TABLE_STRING, TABLE_ONLY_TEXT},
	{"reason", NULL, NULL, TABLE_STRING, 0},
};

static char *render(enum table_format format, bool base)
{
	struct table_options o = {.format = format, .base_units = base};
	struct error err = {0};
	struct table *t;
	size_t size = 0;
	char *text = NULL;

	o.out = open_memstream(&text, &size);
	assert_non_null(o.out);
	assert_int_equal(table_begin(&t, columns, sizeof(columns) / sizeof(columns[0]), &o, &err),
			 0);
	table_add_string(t, "cycles");
	table_add_u64(t, 18446744073709551615u);
	table_add_string(t, "cycles");
	table_add_u64(t, 4500000);
	table_add_bool(t, true);
	table_add_none(t);
	table_add_string(t, "s1");
	table_add_string(t, "d1");
	table_end_row(t);
	table_add_string(t, "quoted, \"so\"\nor not");
	table_add_number(t, NUMBER_F64(0.1));
	table_add_string(t, "%");
	table_add_u64(t, 12);
	table_add_bool(t, false);
	table_end_row(t);
	table_add_string(t, "\303\251t\303\251 \033[31m");
	table_add_none(t);
	table_add_string(t, "bytes");
	table_add_none(t);
	table_add_none(t);
	table_add_none(t);
	table_add_string(t, "");
	table_add_string(t, NULL);
	table_add_string(t, "pass 3 was not run");
	table_end_row(t);
	assert_int_equal(table_end(t, &err), 0);
	fclose(o.out);
	return text;
}

static void test_formats(void **state)
{
	static const struct {
		enum table_format format;
		bool base;
		const char *file;
	} cases[] = {{TABLE_TEXT, false, "report/table.txt"},
		     {TABLE_TEXT, true, "report/table-base.txt"},
		     {TABLE_CSV, false, "report/table.csv"},
		     {TABLE_JSON, false, "report/table.json"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = render(cases[i].format, cases[i].base);

		expect_golden(cases[i].file, text);
		free(text);
	}
}

/* What we write as JSON is JSON. */
static void test_json_parses(void **state)
{
	char *text = render(TABLE_JSON, false);
	struct arena arena = {0};
	struct json_value *root;
	const struct json_value *rows;
	struct error err = {0};

	(void)state;
	if (json_parse(&arena, "table", text, strlen(text), &root, &err))
		fail_msg("%s", err.message);
	assert_int_equal(json_read_array(root, "table", "rows", &rows, &err), 0);
	assert_int_equal(rows->n, 3);
	assert_int_equal(json_member(rows->child->next->next, "value")->type, JSON_NULL);
	arena_release(&arena);
	free(text);
}

static void test_locale_does_not_matter(void **state)
{
	char *before = render(TABLE_CSV, false), *text_before = render(TABLE_TEXT, false);

	(void)state;
	if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "C.UTF-8")) {
		char *after = render(TABLE_CSV, false), *text_after = render(TABLE_TEXT, false);

		assert_string_equal(before, after);
		assert_string_equal(text_before, text_after);
		free(after);
		free(text_after);
	}
	setlocale(LC_ALL, "C");
	free(before);
	free(text_before);
}

static void test_two_makers_agree(void **state)
{
	const char *headers[] = {"left", "right", "last one"};
	const bool right[] = {false, true, false};
	const char *cells[] = {"a", "1", "x",     "longer cell", "12345", "",
			       "",  "-", "words", "b",           "",      "two words"};
	struct grid g = {
		.n_columns = 3, .n_rows = 4, .headers = headers, .right = right, .cells = cells};
	struct str plain = STR_INIT, smart = STR_INIT;

	(void)state;
	grid_print_plain(&g, &plain);
	assert_string_equal(str_text(&plain), "left         right  last one\n"
					      "a                1  x\n"
					      "longer cell  12345\n"
					      "                 -  words\n"
					      "b                   two words\n");
	if (grid_print_smartcols(&g, &smart))
		assert_string_equal(str_text(&plain), str_text(&smart));
	else
		assert_int_equal(HAVE_SMARTCOLS, 0);
	str_release(&plain);
	str_release(&smart);
}

static void test_scales(void **state)
{
	static const struct {
		double value;
		bool is_f64;
		const char *unit, *want;
	} cases[] = {
		{0, false, "count", "0 count"},
		{99999, false, "count", "99999 count"},
		{100000, false, "count", "100.0 k count"},
		{1234567, false, "cycles", "1.235 M cycles"},
		{999, false, "ns", "999 ns"},
		{1500, false, "ns", "1.500 us"},
		{45123456, false, "ns", "45.12 ms"},
		{7.25e12, false, "ns", "7250.0 s"},
		{10000, false, "bytes", "10000 B"},
		{4194304, false, "bytes", "4.000 MiB"},
		{2.5e9, true, "Hz", "2.500 GHz"},
		{2.5e9, true, "bytes/s", "2.500 GB/s"},
		{187.96, true, "%", "188.0 %"},
		{-0.5, true, "", "-0.500 "},
		{1e-9, true, "", "1e-09 "},
		{2e6, true, "", "2.000 M"},
	};
	struct str text = STR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct number n = cases[i].is_f64 ? NUMBER_F64(cases[i].value)
						  : NUMBER_U64((uint64_t)cases[i].value);
		struct scale s = scale_pick(n, cases[i].unit, false);

		str_clear(&text);
		scale_print(&s, n, &text);
		str_addf(&text, " %s", s.unit);
		assert_string_equal(str_text(&text), cases[i].want);
	}
	str_clear(&text);
	number_print(NUMBER_F64((double)NAN), &text);
	assert_string_equal(str_text(&text), "null");
	str_release(&text);
}

static void test_unwritable(void **state)
{
	static const struct table_column one[] = {{"x", NULL, NULL, TABLE_NUMBER, 0}};
	struct table_options o = {.format = TABLE_CSV, .out = fopen("/dev/full", "w")};
	struct error err = {0};
	struct table *t;

	(void)state;
	if (!o.out)
		skip_because("no /dev/full here");
	setvbuf(o.out, NULL, _IONBF, 0);
	assert_int_equal(table_begin(&t, one, 1, &o, &err), 0);
	table_add_u64(t, 1);
	table_end_row(t);
	assert_int_equal(table_end(t, &err), RC_IO);
	fclose(o.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_json_parses),
		cmocka_unit_test(test_locale_does_not_matter),
		cmocka_unit_test(test_two_makers_agree),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_unwritable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
