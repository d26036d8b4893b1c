/* SPDX-License-Identifier: Apache-2.0 */
/* When signals that end a run may end the process that the launcher started. */
#include "launch/exposed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
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
static bool exposed_read_process(pid_t pid, const char *name, char *text, size_t size)
{
	char path[40];
	size_t used = 0;
	ssize_t n = 1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (used + 1 < size && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	text[used] = '\0';
	return used > 0;
}

static void exposed_close_end(struct exposed *e)
{
	if (e->end > 0)
		close(e->end);
	e->end = 0;
}

void exposed_open(const struct exposed *e)
{
	sigset_t all;

	if (!e->wanted)
		return;
	sigemptyset(&all);
	for (size_t i = 0; i < N_EXPOSED; i++)
		sigaddset(&all, exposed_signals[i]);
	exposed_set(e, &all);
}

void exposed_program(struct exposed *e, pid_t pid, uint64_t now)
{
	sigset_t none;

	if (!e->wanted)
		return;
	exposed_close_end(e);
	e->program = pid;
	e->interval_ns = EXPOSED_FIRST_NS;
	e->look_ns = now + e->interval_ns;
	sigemptyset(&e->sent);
	if (e->together) {
		sigemptyset(&none);
		exposed_set(e, &none);
		return;
	}
	/* What has not begun handles nothing, what has ended does not any more. */
	exposed_open(e);
	if (pid > 0)
		e->end = pidfd_open(pid, 0); /* close-on-exec; -1: the supervisor tells, too */
}

int exposed_end_fd(const struct exposed *e)
{
	return e->end > 0 ? e->end : -1;
}

int exposed_read_end(const char *stat)
{
	const char *at = strrchr(stat, ')'); /* the name before it may hold anything */
	int status;

	if (!at || strncmp(at, ") Z ", 4))
		return 0;
	/* The exit code is field 52, and the blank before the state that before field 3. */
	at++;
	for (int field = 3; field < 52; field++) {
		at = strchr(at + 1, ' ');
		if (!at)
			return 0;
	}
	status = (int)strtol(at, NULL, 10);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void exposed_die(const struct exposed *e, int signal)
{
	exposed_open(e);
	raise(signal);
}

void exposed_ended(struct exposed *e)
{
	char text[1024];
	sigset_t left;
	int signal = 0;

	exposed_close_end(e);
	/* Gone if the supervisor was quicker, which then tells how the run ended. */
	if (exposed_read_process(e->program, "stat", text, sizeof(text)))
		signal = exposed_read_end(text);
	for (size_t i = 0; i < N_EXPOSED; i++) {
		if (exposed_signals[i] != signal)
			continue;
		if (sigismember(&e->sent, signal) == 1)
			exposed_die(e, signal);
		/* Slurm signals the processes one by one, this one after its descendants. */
		sigemptyset(&left);
		sigaddset(&left, signal);
		exposed_set(e, &left);
		e->program = 0;
	}
}

void exposed_sent(struct exposed *e, int signal)
{
	if (e->wanted && e->program)
		sigaddset(&e->sent, signal);
}

void exposed_look(struct exposed *e, uint64_t now)
{
	char text[4096];
	sigset_t left;

	if (!e->wanted || e->together || !e->program || now < e->look_ns)
		return;
	e->interval_ns =
		e->interval_ns * 2 < EXPOSED_LAST_NS ? e->interval_ns * 2 : EXPOSED_LAST_NS;
	e->look_ns = now + e->interval_ns;
	if (!exposed_read_process(e->program, "status", text, sizeof(text)))
		return;
	exposed_read(text, &left);
	exposed_set(e, &left);
}

int exposed_timeout(const struct exposed *e, uint64_t now)
{
	if (!e->wanted || e->together || !e->program)
		return -1;
	return e->look_ns > now ? (int)((e->look_ns - now) / 1000000) + 1 : 0;
}

bool exposed_wait(pid_t pid, int signal)
{
	const struct timespec tick = {.tv_nsec = 1000 * 1000};
	char text[4096];
	sigset_t left;

	for (int i = 0; i < EXPOSED_WAIT_MS; i++) {
		if (!exposed_read_process(pid, "status", text, sizeof(text)))
			return false;
		exposed_read(text, &left);
		if (sigismember(&left, signal) == 1)
			return true;
		nanosleep(&tick, NULL);
	}
	return false;
}
