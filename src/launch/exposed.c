/* SPDX-License-Identifier: Apache-2.0 */
/* When signals that end a run may end the process that the launcher started. */
#include "launch/exposed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPOSED_FIRST_NS (10ull * 1000 * 1000)
#define EXPOSED_LAST_NS  (1000ull * 1000 * 1000)
#define EXPOSED_WAIT_MS  500

/* Not QUIT: its default action writes a core file. */
static const int exposed_signals[] = {SIGINT, SIGTERM, SIGHUP};
#define N_EXPOSED (sizeof(exposed_signals) / sizeof(*exposed_signals))

static uint64_t exposed_mask(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line ? strtoull(line + strlen(name), NULL, 16) : UINT64_MAX;
}

void exposed_read(const char *status, sigset_t *left)
{
	/* One that all threads block is for sigwait(3); the first thread stands for them. */
	uint64_t handled = exposed_mask(status, "\nSigBlk:") | exposed_mask(status, "\nSigIgn:") |
			   exposed_mask(status, "\nSigCgt:");

	sigemptyset(left);
	for (size_t i = 0; i < N_EXPOSED; i++)
		if (!(handled & 1ull << (exposed_signals[i] - 1)))
			sigaddset(left, exposed_signals[i]);
}

static void exposed_set(const struct exposed *e, const sigset_t *left)
{
	sigset_t open, closed;

	sigemptyset(&open);
	sigemptyset(&closed);
	for (size_t i = 0; i < N_EXPOSED; i++) {
		int signal = exposed_signals[i];

		if (sigismember(left, signal) && !sigismember(&e->blocked, signal))
			sigaddset(&open, signal);
		else
			sigaddset(&closed, signal);
	}
	sigprocmask(SIG_BLOCK, &closed, NULL);
	sigprocmask(SIG_UNBLOCK, &open, NULL);
}

/* False: there is no such process. */
static bool exposed_read_process(pid_t pid, char *text, size_t size)
{
	char path[40];
	size_t used = 0;
	ssize_t n = 1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (used + 1 < size && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	text[used] = '\0';
	return used > 0;
}

void exposed_program(struct exposed *e, pid_t pid, uint64_t now)
{
	sigset_t all;

	if (!e->wanted)
		return;
	e->program = pid;
	e->interval_ns = EXPOSED_FIRST_NS;
	e->look_ns = now + e->interval_ns;
	/* What has not begun handles nothing, what has ended does not any more. */
	sigemptyset(&all);
	for (size_t i = 0; i < N_EXPOSED; i++)
		sigaddset(&all, exposed_signals[i]);
	exposed_set(e, &all);
}

void exposed_look(struct exposed *e, uint64_t now)
{
	char text[4096];
	sigset_t left;

	if (!e->wanted || !e->program || now < e->look_ns)
		return;
	e->interval_ns =
		e->interval_ns * 2 < EXPOSED_LAST_NS ? e->interval_ns * 2 : EXPOSED_LAST_NS;
	e->look_ns = now + e->interval_ns;
	if (!exposed_read_process(e->program, text, sizeof(text)))
		return;
	exposed_read(text, &left);
	exposed_set(e, &left);
}

int exposed_timeout(const struct exposed *e, uint64_t now)
{
	if (!e->wanted || !e->program)
		return -1;
	return e->look_ns > now ? (int)((e->look_ns - now) / 1000000) + 1 : 0;
}

bool exposed_wait(pid_t pid, int signal)
{
	const struct timespec tick = {.tv_nsec = 1000 * 1000};
	char text[4096];
	sigset_t left;

	for (int i = 0; i < EXPOSED_WAIT_MS; i++) {
		if (!exposed_read_process(pid, text, sizeof(text)))
			return false;
		exposed_read(text, &left);
		if (sigismember(&left, signal) == 1)
			return true;
		nanosleep(&tick, NULL);
	}
	return false;
}
