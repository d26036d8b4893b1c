/* SPDX-License-Identifier: Apache-2.0 */
/* Plan: every byte changed, every length cut, and files with a right hash but wrong content. */
#include "plan_fixture.h"

#include <stdlib.h>

static struct str good = STR_INIT;

static int make_good(void **state)
{
	struct plan plan = fixture_plan();

	(void)state;
	return plan_encode(&plan, &good, NULL);
}

static int drop_good(void **state)
{
	(void)state;
	str_release(&good);
	return 0;
}

/* From malloc of the very size, so that reading outside is seen by a sanitizer. */
static int decode(const char *text, size_t size, struct error *err)
{
	char *copy = malloc(size ? size : 1);
	struct plan plan;
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, size);
	rc = plan_decode(&plan, "f.json", copy, size, err);
	if (rc) {
		assert_null(plan.arena.head); /* holds nothing */
		assert_int_equal(plan.n_counters, 0);
		assert_non_null(strstr(err->message, "f.json"));
	}
	plan_release(&plan);
	free(copy);
	return rc;
}

static void test_every_byte_changed(void **state)
{
	static const char masks[] = {0x01, 0x20, (char)0x80};
	struct error err = {0};

	(void)state;
	assert_int_equal(decode(good.text, good.size, &err), 0);
	for (size_t i = 0; i < good.size; i++)
		for (size_t m = 0; m < sizeof(masks); m++) {
			good.text[i] ^= masks[m];
			assert_int_not_equal(decode(good.text, good.size, &err), 0);
			good.text[i] ^= masks[m];
		}
}

static void test_every_length(void **state)
{
	struct error err = {0};
	struct str longer = STR_INIT;

	(void)state;
	for (size_t size = 0; size < good.size; size++)
		assert_int_not_equal(decode(good.text, size, &err), 0);
	str_add_bytes(&longer, good.text, good.size);
	str_add(&longer, "\n");
	assert_int_not_equal(decode(longer.text, longer.size, &err), 0);
	str_release(&longer);
}

/* Replaces the first `from`, and seals the result unless the hash is to be wrong. */
static int decode_edited(const char *from, const char *to, bool seal, struct error *err)
{
	const char *at = strstr(good.text, from), *hash = strstr(good.text, "\"hash\": \"");
	struct str text = STR_INIT;
	int rc;

	assert_non_null(at);
	assert_true(at + strlen(from) <= hash);
	str_add_bytes(&text, good.text, (size_t)(at - good.text));
	str_add(&text, to);
	at += strlen(from);
	str_add_bytes(&text, at, (size_t)(hash - at));
	if (seal)
		fixture_seal(&text);
	else
		str_add(&text, hash);
	rc = decode(text.text, text.size, err);
	str_release(&text);
	return rc;
}

static void test_wrong_content(void **state)
{
	static const struct {
		const char *from, *to;
		int rc;
		const char *message;
	} cases[] = {
		{"\"version\": 1", "\"version\": 2", RC_MISMATCH,
		 "f.json: plan version 2, this retally reads 1"},
		{"retally-plan", "retally-run", RC_INVALID, "not a plan file"},
		{"\"version\": 1", "\"version\": \"1\"", RC_INVALID, "'version' is not a number"},
		{"\"version\": 1,", "", RC_INVALID, "'version' is missing"},
		{"\"chip\"", "\"chop\"", RC_INVALID, "'chip' is missing"},
		{"\"chip\": \"this machine\"", "\"chip\": null", RC_INVALID,
		 "'chip' is not a string"},
		{"\"lower_bound\": 2", "\"lower_bound\": 3", RC_INVALID, "lower bound 3"},
		{"\"lower_bound\": 2", "\"lower_bound\": 4097", RC_INVALID, "from 0 to 4096"},
		{"\"nodes\": 42", "\"nodes\": 18446744073709551616", RC_INVALID, "'nodes'"},
		{"\"nodes\": 42", "\"nodes\": -1", RC_INVALID, "'nodes'"},
		{"\"proven\": true", "\"proven\": 1", RC_INVALID, "'proven'"},
		{"\"name\": \"cycles\"", "\"name\": \"\"", RC_INVALID, "has no name"},
		{"\"anchor\"", "\"anker\"", RC_INVALID, "unknown flag"},
		{"\"anchor\"", "7", RC_INVALID, "unknown flag"},
		{"\"pass\": 2", "\"pass\": 3", RC_INVALID, "pass 3 where pass 2 belongs"},
		{"\"counters\": [\n        0,\n        2", "\"counters\": [\n        0,\n        3",
		 RC_INVALID, "pass 2 refers to counter 3, but there are 3"},
		{"\"counters\": [\n        0,\n        2", "\"counters\": [\n        2,\n        0",
		 RC_INVALID, "not in ascending order"},
		{"\"counters\": [\n        0,\n        2",
		 "\"counters\": [\n        0,\n        \"2\"", RC_INVALID, "not a whole number"},
		{"\"counters\": [\n        0,\n        2",
		 "\"counters\": [\n        0,\n        4294967296", RC_INVALID,
		 "not a whole number"},
		{"        1\n      ],\n      \"pass\": 1", "        1\n      ],\n      \"pass\": 3",
		 RC_INVALID, "metric 'calls' is in pass 3, but there are 2"},
		{"        1\n      ],\n      \"pass\": 1", "        1\n      ],\n      \"pass\": 2",
		 RC_INVALID, "metric 'calls' is not complete in pass 2"},
		{"\"live\": [\n    {\n      \"pass\": 2", "\"live\": [\n    {\n      \"pass\": 0",
		 RC_INVALID, "live group 1 is of pass 0, but there are 2"},
		{"\"live\": [\n    {\n      \"pass\": 2", "\"live\": [\n    {\n      \"pass\": 3",
		 RC_INVALID, "live group 1 is of pass 3, but there are 2"},
		{"\"counters\": [\n        0\n      ]", "\"counters\": []", RC_INVALID,
		 "live group 1 has no counters"},
		{"\"counters\": [\n        0\n      ]", "\"counters\": [\n        1\n      ]",
		 RC_INVALID, "live group 1 has counter 'bp:main', which is not in pass 2"},
		{"\"counters\": [\n        0\n      ]", "\"counters\": [\n        3\n      ]",
		 RC_INVALID, "live group 1 refers to counter 3, but there are 3"},
		{"\"live\": [", "\"live\": 7, \"dead\": [", RC_INVALID, "'live'"},
		{"\"dropped\": [", "\"dropped\": [ [],", RC_INVALID, "'name' is missing"},
	};
	struct error err = {0};

	(void)state;
	assert_int_equal(decode_edited("this machine", "that machine", true, &err), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(decode_edited(cases[i].from, cases[i].to, true, &err),
				 cases[i].rc);
		if (!strstr(err.message, cases[i].message))
			fail_msg("got '%s', wanted '%s'", err.message, cases[i].message);
	}
}

/* The same edits without a new hash: told as what they are, except for another version. */
static void test_edited_by_hand(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(decode_edited("this machine", "that machine", false, &err), RC_CORRUPT);
	assert_non_null(strstr(err.message, "was edited or damaged after it was written"));
	assert_non_null(strstr(err.message, "retally plan"));
	assert_int_equal(decode_edited("  \"chip\"", "\"chip\"", false, &err), RC_CORRUPT);
	assert_int_equal(decode_edited("\"version\": 1", "\"version\": 7", false, &err),
			 RC_MISMATCH);
}

/* More of everything than there may be. */
static void test_limits(void **state)
{
	struct str text = STR_INIT;
	struct error err = {0};

	(void)state;
	str_add(&text, "{\n  \"format\": \"retally-plan\", \"version\": 1, \"chip\": \"\", "
		       "\"selection\": \"\", \"lower_bound\": 0, \"proven\": true, \"nodes\": 0, "
		       "\"counters\": [], \"passes\": [0");
	for (int i = 0; i < PLAN_PASSES_MAX; i++)
		str_add(&text, ",0");
	str_add(&text, "], \"metrics\": [], \"dropped\": [],\n  ");
	fixture_seal(&text);
	assert_int_equal(decode(text.text, text.size, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "4097 passes, at most 4096 are possible"));
	str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte_changed),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_wrong_content),
		cmocka_unit_test(test_edited_by_hand),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, make_good, drop_good);
}
