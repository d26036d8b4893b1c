/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: what is written reads back; what is broken is refused with its line. */
#include "../test.h"
#include "base/json.h"

#include <math.h>

static void test_round_trip(void **state)
{
	struct str out = STR_INIT;
	struct json_writer w;
	struct arena arena = {0};
	struct json_value *root;
	struct error err = {0};
	const char *text;
	uint64_t number;

	(void)state;
	json_writer_init(&w, &out, false);
	json_begin_object(&w);
	json_key(&w, "text");
	json_string(&w, "a \"quote\", a \\, a tab\t, \xc3\xa9, \x01 and \xff bad");
	json_key(&w, "list");
	json_begin_array(&w);
	json_uint(&w, UINT64_MAX);
	json_int(&w, -5);
	json_double(&w, 0.1);
	json_double(&w, (double)NAN);
	json_end_array(&w);
	json_key(&w, "empty");
	json_begin_object(&w);
	json_end_object(&w);
	json_end_object(&w);
	assert_int_equal(json_parse(&arena, "t", out.text, out.size, &root, &err), 0);
	assert_int_equal(json_read_string(root, "t", "text", &text, &err), 0);
	assert_string_equal(text,
			    "a \"quote\", a \\, a tab\t, \xc3\xa9, \x01 and \xef\xbf\xbd bad");
	assert_int_equal(
		json_to_uint(json_member(root, "list")->child, "t", UINT64_MAX, &number, &err), 0);
	assert_true(number == UINT64_MAX);
	assert_string_equal(json_member(root, "list")->child->next->next->text, "0.1");
	assert_int_equal(json_member(root, "empty")->n, 0);
	arena_release(&arena);
	str_release(&out);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"",      "{",     "[1,]",     "{\"a\":1,\"a\":2}", "nul",
		"01",    "1.",    "-",        "\"\\ud800\"",       "\"a",
		"[1] 2", "{a:1}", "\"\x01\"", "\"\\x\"",           "\"\\u0000\"",
		"[1e]",
	};
	char deep[200];

	(void)state;
	memset(deep, '[', sizeof(deep));
	for (size_t i = 0; i <= sizeof(bad) / sizeof(*bad); i++) {
		struct arena arena = {0};
		struct json_value *root;
		struct error err = {0};
		int rc = i < sizeof(bad) / sizeof(*bad)
				 ? json_parse(&arena, "f", bad[i], strlen(bad[i]), &root, &err)
				 : json_parse(&arena, "f", deep, sizeof(deep), &root, &err);

		assert_int_equal(rc, RC_INVALID);
		assert_true(strstr(err.message, "f:1: ") == err.message);
		arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
