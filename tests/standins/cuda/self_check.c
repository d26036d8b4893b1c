/* SPDX-License-Identifier: Apache-2.0 */
/* The self-check: what was used against the rules, written down when the process ends. */
#include "standin.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT 16

static struct {
	pthread_mutex_t lock;
	unsigned n;
	char first[KEPT][200];
	unsigned n_counts;
	const char *names[KEPT];
	uint64_t counts[KEPT];
} check = {.lock = PTHREAD_MUTEX_INITIALIZER};

void standin_violation(const char *format, ...)
{
	va_list list;

	pthread_mutex_lock(&check.lock);
	if (check.n < KEPT) {
		va_start(list, format);
		vsnprintf(check.first[check.n], sizeof(check.first[0]), format, list);
		va_end(list);
	}
	check.n++;
	pthread_mutex_unlock(&check.lock);
}

void standin_count(const char *what, uint64_t value)
{
	unsigned i = 0;

	pthread_mutex_lock(&check.lock);
	while (i < check.n_counts && strcmp(check.names[i], what))
		i++;
	if (i < KEPT) {
		check.names[i] = what;
		check.counts[i] += value;
		check.n_counts = i == check.n_counts ? i + 1 : check.n_counts;
	}
	pthread_mutex_unlock(&check.lock);
}

__attribute__((destructor)) static void self_check(void)
{
	const char *file = getenv("RETALLY_STANDIN_LOG");
	char text[8192];
	size_t at;
	int fd = 2;

	at = (size_t)snprintf(text, sizeof(text), "%s: self-check: %u violations", standin_name,
			      check.n);
	for (unsigned i = 0; i < check.n_counts; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, ", %s %llu", check.names[i],
				       (unsigned long long)check.counts[i]);
	at += (size_t)snprintf(text + at, sizeof(text) - at, "\n");
	for (unsigned i = 0; i < check.n && i < KEPT; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s: violation: %s\n",
				       standin_name, check.first[i]);
	/* A process that did nothing wrong is silent unless somebody collects the lines. */
	if (!file && !check.n)
		return;
	if (file)
		fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, text, at) != (ssize_t)at)
		return;
	if (file)
		close(fd);
}
