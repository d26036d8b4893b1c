/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals may end the process that the launcher started, and that they do. */
#include "../test.h"
#include "launch/exposed.h"

#include <poll.h>
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

static void test_read_end(void **state)
{
	static const struct {
		const char *state, *code;
		int signal;
	} ends[] = {
		{"Z", "2", SIGINT}, {"Z", "15", SIGTERM}, {"Z", "139", SIGSEGV}, /* and a core */
		{"Z", "768", 0},                                                 /* exit 3 */
		{"Z", "0", 0},      {"S", "2", 0},                               /* it lives */
	};
	char text[300], zeros[100] = "";

	(void)state;
	for (int i = 4; i < 52; i++)
		strcat(zeros, " 0");
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(text, sizeof(text), "12 (a) Z (b) %s%s %s\n", ends[i].state, zeros,
			 ends[i].code);
		assert_int_equal(exposed_read_end(text), ends[i].signal);
	}
	assert_int_equal(exposed_read_end(""), 0);
	assert_int_equal(exposed_read_end("12 (a) Z 0 0 2"), 0);
}

/* How a caller ends whose program handles SIGINT and then ends so; the signal reaches the caller
 * before that or after, or never. */
enum when {
	BEFORE,
	AFTER,
	NEVER
};
static int caller_after(int program_signal, enum when when)
{
	int status = 0;
	pid_t caller = fork();

	if (!caller) {
		struct exposed e = {.wanted = true};
		struct pollfd p = {.events = POLLIN};
		pid_t program;
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		program = fork();
		if (!program) {
			signal(SIGINT, on_signal);
			sleep(1);
			signal(program_signal ? program_signal : SIGINT, SIG_DFL);
			sigemptyset(&all);
			sigprocmask(SIG_SETMASK, &all, NULL);
			if (program_signal)
				raise(program_signal);
			_exit(3);
		}
		sigemptyset(&e.blocked);
		exposed_program(&e, program, 0);
		sigprocmask(SIG_BLOCK, &all, NULL); /* as a look would have it */
		if (when == BEFORE)
			exposed_sent(&e, SIGINT);
		p.fd = exposed_end_fd(&e);
		if (p.fd < 0)
			_exit(8); /* pidfd_open(2) is not to be had */
		poll(&p, 1, -1);
		exposed_ended(&e);
		if (exposed_end_fd(&e) >= 0)
			_exit(7);
		if (when == AFTER)
			raise(SIGINT);
		_exit(9);
	}
	assert_int_equal(waitpid(caller, &status, 0), caller);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void test_end(void **state)
{
	int first = caller_after(SIGINT, BEFORE);

	(void)state;
	if (first == -8) {
		skip_because("no pidfd_open(2)");
		return;
	}
	assert_int_equal(first, SIGINT);
	assert_int_equal(caller_after(SIGINT, AFTER), SIGINT);
	assert_int_equal(caller_after(SIGINT, NEVER), -9);
	assert_int_equal(caller_after(0, BEFORE), -9); /* it exited: so is the run to */
	assert_int_equal(caller_after(SIGTERM, AFTER), -9);
}

/* Under a launcher that kills the others nothing is open from the first pass on. */
static void test_together(void **state)
{
	int status = 0;
	pid_t caller = fork();

	(void)state;
	if (!caller) {
		struct exposed e = {.wanted = true};
		sigset_t now;

		sigemptyset(&now);
		sigprocmask(SIG_SETMASK, &now, NULL);
		sigemptyset(&e.blocked);
		e.together = true;
		for (int pid = getpid(); pid >= 0; pid = pid ? 0 : -1) {
			exposed_program(&e, pid, 0);
			exposed_look(&e, 1000000000000ull);
			raise(SIGINT);
			sigpending(&now);
			if (!sigismember(&now, SIGINT) || exposed_end_fd(&e) >= 0 ||
			    exposed_timeout(&e, 0) != -1)
				_exit(9);
		}
		exposed_open(&e);
		_exit(8);
	}
	assert_int_equal(waitpid(caller, &status, 0), caller);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
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
		cmocka_unit_test(test_wait),    cmocka_unit_test(test_read_end),
		cmocka_unit_test(test_end),     cmocka_unit_test(test_together),
	};

	return cmocka_run_group_tests_name("exposed", tests, NULL, NULL);
}
