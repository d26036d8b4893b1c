/* SPDX-License-Identifier: Apache-2.0 */
/* Holding a program: everything mapped, nothing of it run, and nothing left of it afterwards. */
#include "../test.h"
#include "launch/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

struct held {
	pid_t pid;
	struct hold hold;
	int output, go;
};

/* Starts program and drives it to the hold; returns the last result. */
static enum hold_result start(struct held *h, const char *program, struct error *err)
{
	int out[2], go[2], status;
	enum hold_result result;

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	h->pid = fork();
	assert_true(h->pid >= 0);
	if (!h->pid) {
		char c;

		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		dup2(out[1], 1);
		execl(program, program, (char *)NULL);
		_exit(2);
	}
	close(go[0]);
	close(out[1]);
	h->output = out[0];
	if (hold_begin(&h->hold, h->pid, err)) {
		close(go[1]);
		waitpid(h->pid, &status, 0);
		return HOLD_FAILED;
	}
	assert_int_equal(write(go[1], "", 1), 1);
	close(go[1]);
	do {
		assert_int_equal(waitpid(h->pid, &status, 0), h->pid);
		if (!WIFSTOPPED(status)) {
			fail_msg("the program ended before it was held: status %x",
				 (unsigned)status);
		}
		result = hold_step(&h->hold, status, err);
	} while (result == HOLD_GO_ON);
	return result;
}

static bool is_mapped(pid_t pid, const char *name)
{
	char path[40], line[4096];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		found = found || strstr(line, name);
	fclose(maps);
	return found;
}

/* Nothing said so far. */
static bool is_silent(int fd)
{
	char c;
	int flags = fcntl(fd, F_GETFL);
	ssize_t n;

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	n = read(fd, &c, 1);
	fcntl(fd, F_SETFL, flags);
	return n < 0 && errno == EAGAIN;
}

static void finish(struct held *h, const char *said)
{
	char text[16] = "";
	size_t n = 0;
	ssize_t k;
	int status;

	hold_release(&h->hold);
	while ((k = read(h->output, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)k;
	assert_string_equal(text, said);
	assert_int_equal(waitpid(h->pid, &status, 0), h->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	close(h->output);
}

static void test_dynamic(void **state)
{
	struct held h = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(start(&h, getenv("EARLY_DYNAMIC"), &err), HOLD_REACHED);
	assert_true(is_mapped(h.pid, "libearly.so"));
	assert_true(is_mapped(h.pid, "libc.so"));
	assert_false(h.hold.stop.late);
	assert_true(is_silent(h.output));
	finish(&h, "CM");
}

static void test_static(void **state)
{
	struct held h = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(start(&h, getenv("EARLY_STATIC"), &err), HOLD_REACHED);
	assert_true(is_silent(h.output));
	finish(&h, "M");
}

/* A process that is traced already cannot be held, and says so. */
static void test_refused(void **state)
{
	struct error err = {0};
	struct hold h;
	pid_t child = fork();
	int status;

	(void)state;
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(3);
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	assert_true(hold_begin(&h, child, &err) < 0);
	assert_non_null(strstr(err.message, "ptrace"));
	assert_int_equal(hold_step(&h, status, &err), HOLD_NOT_OURS);
	ptrace(PTRACE_DETACH, child, NULL, NULL);
	kill(child, SIGCONT);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
