/* SPDX-License-Identifier: Apache-2.0 */
/* The only place of the injected object that prints. */
#include "inject/say.h"

#include "inject/guard.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
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

void say(const char *fmt, ...)
{
	int saved = errno, n, fd = say_owns_fd() ? the_fd : STDERR_FILENO;
	struct guard guard;
	char line[1400];
	va_list ap;

	n = snprintf(line, sizeof(line), "retally: ");
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n] = '\n';
	guard_enter(&guard);
	if (write(fd, line, (size_t)n + 1) < 0) {
		/* nowhere left to say it */
	}
	guard_leave(&guard);
	errno = saved;
}

void say_abandon(void)
{
	if (say_owns_fd())
		close(the_fd);
	the_fd = -1;
}
