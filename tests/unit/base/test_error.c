/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages: prefixes, errno texts, and names that carry escape sequences. */
#include "../test.h"
#include "base/error.h"

#include <errno.h>

static void test_messages(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(error_set(&err, RC_INVALID, "'%s' is bad", "x"), RC_INVALID);
	assert_int_equal(error_prefix(&err, "file:%d", 3), RC_INVALID);
	assert_string_equal(err.message, "file:3: 'x' is bad");
	assert_int_equal(error_set_errno(&err, 0, ENOSPC, "cannot write"), RC_NO_SPACE);
	assert_string_equal(err.message, "cannot write: No space left on device");
}

static void test_escapes(void **state)
{
	struct error err = {0};

	(void)state;
	error_set(&err, RC_INVALID, "'%s'", "a\033[31mb\x7f\r\xc3\xa9");
	assert_string_equal(err.message, "'a?[31mb??\xc3\xa9'");
	error_set(&err, RC_INVALID, "'%s'", "one\nretally: error: two\tthree");
	assert_string_equal(err.message, "'one retally: error: two three'");
	error_prefix(&err, "\033]0;title\a");
	assert_null(strchr(err.message, '\033'));
	assert_null(strchr(err.message, '\a'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_escapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
