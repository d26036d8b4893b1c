/* SPDX-License-Identifier: Apache-2.0 */
/* The mark in the environment: round trip, constant size, and every kind of nonsense refused. */
#include "../test.h"
#include "inject/state.h"

#include <stdio.h>
#include <unistd.h>

static struct state sample(uint32_t pass)
{
	return (struct state){.pass = pass,
			      .passes = 4096,
			      .replay = true,
			      .phase = STATE_BEGIN,
			      .pid = 4711,
			      .start = 282755,
			      .launch = "6b0fc1c92682a7a7ef331002",
			      .exit_code = pass % 256,
			      .stderr_fd = pass % 2 ? -1 : 880};
}

static void test_round_trip(void **state)
{
	size_t size = 0;

	(void)state;
	for (uint32_t pass = 1; pass <= 4096; pass++) {
		struct state s = sample(pass), back;
		char text[STATE_TEXT_SIZE], pass_text[32];
		struct error err = {0};

		state_format(&s, text, pass_text);
		assert_memory_equal(text, "RETALLY_STATE=", 14);
		assert_memory_equal(pass_text, "RETALLY_PASS=", 13);
		if (!size)
			size = strlen(text) + strlen(pass_text);
		assert_int_equal(strlen(text) + strlen(pass_text), size);
		assert_int_equal(state_parse(&back, text + 14, pass_text + 13, "4096", &err), 0);
		assert_int_equal(back.pass, pass);
		assert_int_equal(back.pid, 4711);
		assert_int_equal(back.start, 282755);
		assert_string_equal(back.launch, s.launch);
		assert_int_equal(back.exit_code, s.exit_code);
		assert_int_equal(back.stderr_fd, s.stderr_fd);
		assert_true(back.replay);
		assert_int_equal(back.phase, STATE_BEGIN);
		state_set_phase(text + 14, STATE_RUN);
		assert_int_equal(state_parse(&back, text + 14, pass_text + 13, "4096", &err), 0);
		assert_int_equal(back.phase, STATE_RUN);
	}
}

static void test_nonsense(void **state)
{
	struct state s = sample(3), back;
	char text[STATE_TEXT_SIZE], pass[32], bad[STATE_TEXT_SIZE];
	struct error err = {0};
	size_t meaning;

	(void)state;
	state_format(&s, text, pass);
	meaning = strlen(text) - 14 - strspn(text + 14 + strcspn(text + 14, "."), ".");
	/* Every shorter text, and every byte made a blank, a slash or a letter that is no digit. */
	for (size_t n = 0; n < meaning; n++) {
		snprintf(bad, sizeof(bad), "%.*s", (int)n, text + 14);
		assert_int_equal(state_parse(&back, bad, "3", "4096", &err), RC_INVALID);
		for (const char *c = "/G"; *c; c++) {
			snprintf(bad, sizeof(bad), "%s", text + 14);
			if (bad[n] == ' ')
				continue; /* behind the id, where nobody looks */
			bad[n] = *c;
			assert_int_equal(state_parse(&back, bad, "3", "4096", &err), RC_INVALID);
		}
	}
	assert_int_equal(state_parse(&back, text + 14, "5", "4", &err), RC_INVALID);
	assert_int_equal(state_parse(&back, text + 14, NULL, "4", &err), RC_INVALID);
	assert_int_equal(state_parse(&back, text + 14, "1", NULL, &err), RC_INVALID);
	assert_int_equal(state_parse(&back, text + 14, "1", "99999", &err), RC_INVALID);
}

static void test_numbers(void **state)
{
	static const char *const bad[] = {"",   "0",  "-1",  "+1", " 1",
					  "1 ", "1x", "0x1", "11", "99999999999999999999"};
	uint32_t value = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(state_parse_number(bad[i], 10, &value));
	assert_false(state_parse_number(NULL, 10, &value));
	assert_true(state_parse_number("10", 10, &value));
	assert_int_equal(value, 10);
	assert_true(state_parse_number("007", 10, &value));
	assert_int_equal(value, 7);
}

static void test_environment(void **state)
{
	static char a[] = "RETALLY_PASSES=3", b[] = "RETALLY_PASS=2", c[] = "RETALLY_PASS",
		    d[] = "X=";
	char *envp[] = {c, a, b, d, NULL};

	(void)state;
	assert_string_equal(state_variable(envp, "RETALLY_PASS"), "2");
	assert_string_equal(state_variable(envp, "RETALLY_PASSES"), "3");
	assert_string_equal(state_variable(envp, "X"), "");
	assert_null(state_variable(envp, "RETALLY"));
	assert_null(state_variable(NULL, "RETALLY"));
}

static void test_start_time(void **state)
{
	struct error err = {0};
	uint64_t a = 0, b = 1;

	(void)state;
	assert_int_equal(state_start_time(&a, &err), 0);
	assert_int_equal(state_start_time(&b, &err), 0);
	assert_int_equal(a, b);
	assert_true(a > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_numbers),    cmocka_unit_test(test_environment),
		cmocka_unit_test(test_start_time),
	};

	return cmocka_run_group_tests_name("inject state", tests, NULL, NULL);
}
