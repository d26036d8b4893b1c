/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a terminal, below a shell that does job control (a small one here): Ctrl-C reaches the program
 * once, Ctrl-Z stops everything and fg continues it, and the program's streams are the terminal.
 */
#include "../test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

/* The shell: its job in a group of its own in the foreground; a stopped job is continued. */
static void shell(char **argv)
{
	pid_t job;
	int status;

	signal(SIGTTOU, SIG_IGN);
	job = fork();
	if (!job) {
		setpgid(0, 0);
		tcsetpgrp(0, getpid());
		signal(SIGTTOU, SIG_DFL);
		execv(argv[0], argv);
		_exit(127);
	}
	setpgid(job, job);
	for (;;) {
		waitpid(job, &status, WUNTRACED);
		if (!WIFSTOPPED(status))
			break;
		tcsetpgrp(0, getpgrp());
		dprintf(1, "[stopped %s]\n", sigabbrev_np(WSTOPSIG(status)));
		tcsetpgrp(0, job);
		kill(-job, SIGCONT);
	}
	if (WIFSIGNALED(status))
		dprintf(1, "[killed %s]\n", sigabbrev_np(WTERMSIG(status)));
	else
		dprintf(1, "[exited %d]\n", WEXITSTATUS(status));
	_exit(0);
}

struct session {
	pid_t pid;
	int terminal;
	char text[4096]; /* everything the terminal showed */
	size_t n;
};

/* Runs two passes of the actor with these words; `file` is where the run directory goes. */
static void begin(struct session *s, char *const *words)
{
	char driver[512], actor[512], directory[128];
	char passes[] = "-P", two[] = "2", output[] = "-o";
	char *argv[32] = {driver, passes, two, output, directory, actor};
	size_t n = 6;

	snprintf(driver, sizeof(driver), "%s/tests/programs/run_driver", getenv("RETALLY_BUILD"));
	snprintf(actor, sizeof(actor), "%s/tests/programs/actor", getenv("RETALLY_BUILD"));
	snprintf(directory, sizeof(directory), "%s/%%p", folder);
	for (; *words; words++)
		argv[n++] = *words;
	memset(s, 0, sizeof(*s));
	s->pid = forkpty(&s->terminal, NULL, NULL, NULL);
	assert_true(s->pid >= 0);
	if (!s->pid)
		shell(argv);
}

/* Reads until the terminal has shown `what`; 30 s at most. */
static void expect(struct session *s, const char *what)
{
	while (!strstr(s->text, what)) {
		struct pollfd p = {.fd = s->terminal, .events = POLLIN};
		ssize_t k;

		if (poll(&p, 1, 30000) <= 0)
			fail_msg("waited for '%s', the terminal shows: %s", what, s->text);
		k = read(s->terminal, s->text + s->n, sizeof(s->text) - 1 - s->n);
		if (k <= 0)
			fail_msg("waited for '%s', the terminal ended with: %s", what, s->text);
		s->n += (size_t)k;
	}
}

static void type(const struct session *s, char key)
{
	assert_int_equal(write(s->terminal, &key, 1), 1);
}

static void end(struct session *s)
{
	waitpid(s->pid, NULL, 0);
	close(s->terminal);
}

static size_t count(const struct session *s, const char *what)
{
	size_t n = 0;

	for (const char *p = s->text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

#define WORDS(...) ((char *const[]){__VA_ARGS__, NULL})
static char w_print[] = "print", w_begun[] = "begun", w_sleep[] = "sleep", w_long[] = "60";
static char w_short[] = "1", w_over[] = "over", w_streams[] = "streams", w_count[] = "count";
static char w_int[] = "INT", w_line[] = "line";

static void test_interrupt(void **state)
{
	struct session s;

	(void)state;
	begin(&s, WORDS(w_print, w_begun, w_sleep, w_long, w_print, w_over));
	expect(&s, "begun");
	type(&s, 3);
	expect(&s, "[killed INT]");
	assert_int_equal(count(&s, "over"), 0);
	end(&s);
}

static void test_interrupt_handled(void **state)
{
	struct session s;
	char ready[128];

	(void)state;
	snprintf(ready, sizeof(ready), "%s/ready", folder);
	begin(&s, WORDS(w_count, w_int, ready));
	for (int i = 0; i < 3000 && access(ready, F_OK); i++)
		poll(NULL, 0, 10);
	type(&s, 3);
	expect(&s, "[exited 0]");
	assert_int_equal(count(&s, "INT 1"), 1); /* once, and no second pass */
	end(&s);
}

static void test_stop_and_continue(void **state)
{
	struct session s;

	(void)state;
	begin(&s, WORDS(w_print, w_begun, w_sleep, w_short, w_print, w_over));
	expect(&s, "begun");
	type(&s, 26);
	expect(&s, "[stopped TSTP]");
	expect(&s, "[exited 0]");
	assert_int_equal(count(&s, "over"), 1);
	assert_int_equal(count(&s, "stopped"), 1);
	end(&s);
}

static void test_streams(void **state)
{
	struct session s;

	(void)state;
	begin(&s, WORDS(w_streams, w_line));
	expect(&s, "ttt");
	type(&s, 'x');
	type(&s, '\n');
	expect(&s, "[exited 0]");
	assert_int_equal(count(&s, "x\r\n"), 2); /* the echo and the answer */
	end(&s);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/retally-terminal.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_interrupt_handled),
		cmocka_unit_test(test_stop_and_continue),
		cmocka_unit_test(test_streams),
	};

	return cmocka_run_group_tests_name("terminal", tests, set_up, tear_down);
}
