/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process between a pipe and the program. Reading the pipe to its end before the program starts
 * would be simpler, and would hang whenever the other side waits for an answer first, or never
 * closes; so bytes are handed on as they come. What the program leaves unread is lost for whoever
 * reads the pipe after it, by up to a pipe's capacity: the one difference that can be seen.
 */
#include "inject/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __WALL
#define __WALL 0x40000000
#endif

/* A child that sends no SIGCHLD and that wait() without __WALL does not see. */
static pid_t stdin_clone(void)
{
	return (pid_t)syscall(SYS_clone, 0UL, 0UL, 0UL, 0UL, 0UL);
}

static bool stdin_write(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		n -= (size_t)done;
	}
	return true;
}

/* in -> copy and out, until the end of in or of the readers of out. */
static void stdin_relay(int in, int out, int copy, const char *copy_path)
{
	static char bytes[65536];
	struct pollfd fds[2] = {{.fd = in, .events = POLLIN}, {.fd = out, .events = 0}};

	for (;;) {
		ssize_t n;

		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		if (fds[1].revents & (POLLERR | POLLNVAL))
			return; /* nobody reads any more */
		if (!fds[0].revents)
			continue;
		n = read(in, bytes, sizeof(bytes));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return;
		if (copy >= 0 && !stdin_write(copy, bytes, (size_t)n)) {
			unlink(copy_path); /* half of the input would be worse than none */
			close(copy);
			copy = -1;
		}
		if (!stdin_write(out, bytes, (size_t)n))
			return;
	}
}

/* Holds nothing but its three descriptors: the program's pipes must end when the program ends. */
static void stdin_serve(int in, int out, int copy, const char *copy_path)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t none;
	int keep[3] = {in, out, copy};
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	unsigned next = 0;

	/* The program may well survive these, and must not lose its input then. SIGXFSZ and SIGPIPE
	 * are errors of write() here. */
	for (int s = 1; s < 32; s++)
		if (s == SIGHUP || s == SIGINT || s == SIGQUIT || s == SIGTERM || s == SIGPIPE ||
		    s == SIGXFSZ || s == SIGTSTP)
			sigaction(s, &ignore, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < 2; i++) /* three, ascending */
		for (int k = 0; k < 2; k++)
			if (keep[k] > keep[k + 1]) {
				int swap = keep[k];

				keep[k] = keep[k + 1];
				keep[k + 1] = swap;
			}
	for (int i = 0; i < 3; i++) {
		if (keep[i] > (int)next)
			syscall(SYS_close_range, next, (unsigned)keep[i] - 1, 0U);
		next = (unsigned)keep[i] + 1;
	}
	if (syscall(SYS_close_range, next, ~0U, 0U)) {
		getrlimit(RLIMIT_NOFILE, &limit);
		for (unsigned fd = 0; fd < limit.rlim_cur && fd < 65536; fd++)
			if ((int)fd != in && (int)fd != out && (int)fd != copy)
				close((int)fd);
	}
	stdin_relay(in, out, copy, copy_path);
	syscall(SYS_exit_group, 0);
}

/* Moves fd up so that it is not among the program's; on failure it stays. */
static int stdin_raise(int fd, int least)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, least);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

int stdin_keep(const struct session_paths *p, char *mark, struct error *err)
{
	int copy = open(p->stdin_copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int ends[2], in, status = 0, rc = RC_IO;
	pid_t child;

	if (copy < 0)
		return error_set_errno(err, 0, errno, "cannot create '%s'", p->stdin_copy);
	if (pipe2(ends, O_CLOEXEC)) {
		error_set_errno(err, 0, errno, "cannot make a pipe for standard input");
		close(copy);
		unlink(p->stdin_copy);
		return RC_IO;
	}
	in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 400);
	ends[1] = stdin_raise(ends[1], 500);
	copy = stdin_raise(copy, 600);
	/* Twice, so that it is no child of the program, which may wait for all of its own. */
	child = in < 0 ? -1 : stdin_clone();
	if (child == 0) {
		pid_t grandchild = stdin_clone();

		if (grandchild == 0) {
			memset(mark, 'x', strlen(mark));
			close(ends[0]); /* or the program's end would not be noticed */
			stdin_serve(in, ends[1], copy, p->stdin_copy);
		}
		syscall(SYS_exit_group, grandchild < 0);
	}
	while (child > 0 && waitpid(child, &status, __WALL) < 0 && errno == EINTR)
		;
	if (child > 0 && !status && dup2(ends[0], STDIN_FILENO) >= 0) {
		rc = 0;
	} else {
		error_set_errno(err, 0, errno,
				"cannot start the process that keeps standard input");
		unlink(p->stdin_copy);
	}
	close(ends[0]);
	close(ends[1]);
	close(copy);
	if (in >= 0)
		close(in);
	return rc;
}
