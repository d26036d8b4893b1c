/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals are passed on: every order in which the copies can arrive. */
#include "../test.h"
#include "launch/inbox.h"

#include <signal.h>

#define MS 1000000ull

static void test_direct(void **state)
{
	struct inbox b = {0};
	struct inbox_event e;

	(void)state;
	assert_false(inbox_relayed(&b, SIGTERM, SI_USER, 100 * MS, &e));
	assert_int_equal(inbox_deadline(&b), 100 * MS + INBOX_WAIT_NS);
	assert_false(inbox_due(&b, 100 * MS + INBOX_WAIT_NS - 1, &e));
	assert_true(inbox_due(&b, 100 * MS + INBOX_WAIT_NS, &e));
	assert_int_equal(e.signal, SIGTERM);
	assert_true(e.direct);
	assert_false(inbox_due(&b, 500 * MS, &e));
	assert_int_equal(inbox_deadline(&b), 0);
}

static void test_group_caller_first(void **state)
{
	struct inbox b = {0};
	struct inbox_event e;

	(void)state;
	assert_false(inbox_relayed(&b, SIGINT, SI_KERNEL, 100 * MS, &e));
	assert_true(inbox_own(&b, SIGINT, SI_KERNEL, 101 * MS, &e));
	assert_false(e.direct);
	assert_true(e.kernel);
	assert_false(inbox_due(&b, 900 * MS, &e));
}

static void test_group_own_first(void **state)
{
	struct inbox b = {0};
	struct inbox_event e;

	(void)state;
	assert_true(inbox_own(&b, SIGINT, SI_KERNEL, 100 * MS, &e));
	assert_false(e.direct);
	assert_false(inbox_relayed(&b, SIGINT, SI_KERNEL, 101 * MS, &e));
	assert_false(inbox_due(&b, 900 * MS, &e));
	/* A second Ctrl-C later is a second event. */
	assert_true(inbox_own(&b, SIGINT, SI_KERNEL, 300 * MS, &e));
	assert_false(inbox_relayed(&b, SIGINT, SI_KERNEL, 301 * MS, &e));
}

/* A process of the program signalled its parent, us alone: no later signal is swallowed by it. */
static void test_own_alone(void **state)
{
	struct inbox b = {0};
	struct inbox_event e;

	(void)state;
	assert_true(inbox_own(&b, SIGUSR1, SI_USER, 100 * MS, &e));
	assert_false(e.direct);
	assert_false(inbox_relayed(&b, SIGUSR1, SI_USER, 100 * MS + INBOX_KEEP_NS, &e));
	assert_true(inbox_due(&b, 900 * MS, &e));
	assert_true(e.direct);
}

static void test_two_direct_in_a_row(void **state)
{
	struct inbox b = {0};
	struct inbox_event e;

	(void)state;
	assert_false(inbox_relayed(&b, SIGUSR2, SI_USER, 100 * MS, &e));
	assert_true(inbox_relayed(&b, SIGUSR2, SI_USER, 101 * MS, &e));
	assert_true(e.direct);
	assert_true(inbox_due(&b, 900 * MS, &e));
	assert_false(inbox_due(&b, 901 * MS, &e));
}

static void test_different_signals_do_not_mix(void **state)
{
	struct inbox b = {0};
	struct inbox_event e;

	(void)state;
	assert_false(inbox_relayed(&b, SIGTERM, SI_USER, 100 * MS, &e));
	assert_true(inbox_own(&b, SIGCONT, SI_USER, 100 * MS, &e));
	assert_true(inbox_due(&b, 900 * MS, &e));
	assert_int_equal(e.signal, SIGTERM);
}

static void test_not_taken(void **state)
{
	struct inbox b = {0};
	struct inbox_event e;

	(void)state;
	assert_false(inbox_own(&b, SIGCHLD, SI_KERNEL, MS, &e));
	assert_false(inbox_own(&b, SIGTSTP, SI_KERNEL, MS, &e));
	assert_false(inbox_own(&b, 64, SI_USER, MS, &e));
	assert_false(inbox_relayed(&b, -1, SI_USER, MS, &e));
	assert_false(inbox_relayed(&b, 1000000, SI_USER, MS, &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_group_caller_first),
		cmocka_unit_test(test_group_own_first),
		cmocka_unit_test(test_own_alone),
		cmocka_unit_test(test_two_direct_in_a_row),
		cmocka_unit_test(test_different_signals_do_not_mix),
		cmocka_unit_test(test_not_taken),
	};

	return cmocka_run_group_tests_name("inbox", tests, NULL, NULL);
}
