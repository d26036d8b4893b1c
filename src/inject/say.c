/* SPDX-License-Identifier: Apache-2.0 */
/* The only place of the injected object that prints. */
#include "inject/say.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int the_fd = -1;
static struct stat the_file;

void say_set_fd(int fd)
{
	the_fd = fd >= 0 && !fstat(fd, &the_file) ? fd : -1;
}

static bool say_owns_fd(void)
{
	struct stat st;

	return the_fd >= 0 && !fstat(the_fd, &st) && st.st_dev == the_file.st_dev &&
	       st.st_ino == the_file.st_ino;
}

int say_fd(void)
{
	return say_owns_fd() ? the_fd : -1;
}

/* A pipe that nobody reads must not kill the program with SIGPIPE on our account. */
static void say_write(int fd, const char *text, size_t n)
{
	struct timespec none = {0, 0};
	sigset_t pipe, old, pending;
	bool was_pending;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe, &old);
	if (write(fd, text, n) < 0 && errno == EPIPE && !was_pending)
		sigtimedwait(&pipe, NULL, &none);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void say(const char *fmt, ...)
{
	int saved = errno, n, fd = say_owns_fd() ? the_fd : STDERR_FILENO;
	char line[1400];
	va_list ap;

	n = snprintf(line, sizeof(line), "retally: ");
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n] = '\n';
	say_write(fd, line, (size_t)n + 1);
	errno = saved;
}

void say_abandon(void)
{
	if (say_owns_fd())
		close(the_fd);
	the_fd = -1;
}
