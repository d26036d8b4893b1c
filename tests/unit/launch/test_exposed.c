/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals may end the process that the launcher started, and that they do. */
#include "../test.h"
#include "launch/exposed.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of proc(5): bit n - 1 is signal n. */
static const struct {
	const char *blocked, *ignored, *caught, *left; /* letters of i t h */
} cases[] = {
	{"0000000000000000", "0000000000000000", "0000000000000000", "ith"},
	{"0000000000000000", "0000000000000000", "0000000141804eff", ""},
	{"0000000000000000", "0000000000000001", "0000000000000000", "it"},
	{"0000000000004000", "0000000000000000", "0000000000000002", "h"},
	{"fffffffe7ffbfeff", "0000000000000000", "0000000000000000", ""},
};

static void test_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[300], got[4] = "";
		sigset_t left;

		snprintf(text, sizeof(text),
			 "Name:\ta\nSigQ:\t0/95\nSigPnd:\t0\nShdPnd:\t0\nSigBlk:\t%s\nSigIgn:\t%s\n"
			 "SigCgt:\t%s\nCapInh:\t0\n",
			 cases[i].blocked, cases[i].ignored, cases[i].caught);
		exposed_read(text, &left);
		snprintf(got, sizeof(got), "%s%s%s", sigismember(&left, SIGINT) ? "i" : "",
			 sigismember(&left, SIGTERM) ? "t" : "",
			 sigismember(&left, SIGHUP) ? "h" : "");
		assert_string_equal(got, cases[i].left);
		assert_false(sigismember(&left, SIGQUIT));
	}
}

/* What cannot be understood leaves nothing to the default action. */
static void test_read_damaged(void **state)
{
	sigset_t left;

	(void)state;
	exposed_read("Name:\ta\n", &left);
	assert_false(sigismember(&left, SIGINT));
	exposed_read("", &left);
	assert_false(sigismember(&left, SIGTERM));
}

static void on_signal(int signal)
{
	(void)signal;
}

/* A process as the caller is one, whose program has this action for SIGINT: what it dies of. */
static int caller_of(void (*action)(int))
{
	int ready[2], status = 0;
	pid_t program, caller;
	char c;

	assert_int_equal(pipe(ready), 0);
	program = fork();
	if (!program) {
		signal(SIGINT, action);
		while (write(ready[1], "", 1) != 1)
			;
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	caller = fork();
	if (!caller) {
		struct exposed e = {.wanted = true};
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		sigemptyset(&e.blocked);
		exposed_program(&e, program, 0);
		exposed_look(&e, e.look_ns);
		raise(SIGINT);
		_exit(9);
	}
	assert_int_equal(waitpid(caller, &status, 0), caller);
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void test_default(void **state)
{
	(void)state;
	assert_int_equal(caller_of(SIG_DFL), SIGINT);
	assert_int_equal(caller_of(on_signal), -9);
	assert_int_equal(caller_of(SIG_IGN), -9);
}

static void test_times(void **state)
{
	struct exposed off = {0}, e = {.wanted = true};
	uint64_t now = 1000000000ull;

	(void)state;
	assert_int_equal(exposed_timeout(&off, now), -1);
	sigfillset(&e.blocked); /* of the caller: nothing is opened here */
	exposed_program(&e, 0, now);
	assert_int_equal(exposed_timeout(&e, now), -1);
	exposed_program(&e, getpid(), now);
	for (int i = 0; i < 20; i++) {
		assert_in_range(exposed_timeout(&e, now), 1, 1001);
		now = e.look_ns;
		exposed_look(&e, now);
		assert_true(e.look_ns > now);
	}
	assert_int_equal(e.look_ns - now, 1000000000ull);
}

static void test_wait(void **state)
{
	sigset_t none;

	(void)state;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	assert_false(exposed_wait(0x7fffffff, SIGINT)); /* nobody */
	signal(SIGINT, SIG_DFL);
	assert_true(exposed_wait(getpid(), SIGINT));
	signal(SIGINT, on_signal);
	assert_false(exposed_wait(getpid(), SIGINT));
	signal(SIGINT, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),    cmocka_unit_test(test_read_damaged),
		cmocka_unit_test(test_default), cmocka_unit_test(test_times),
		cmocka_unit_test(test_wait),
	};

	return cmocka_run_group_tests_name("exposed", tests, NULL, NULL);
}
