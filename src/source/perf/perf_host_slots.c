/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the counters of a PMU by opening groups and running them. */
#include "source/perf/perf_host_slots.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int real_open(void *data, struct perf_event_attr *attr, int group_fd)
{
	int fd;

	(void)data;
	fd = perf_open(attr, 0, -1, group_fd);
	return fd < 0 ? -errno : fd;
}

static ssize_t real_read(void *data, int fd, void *buffer, size_t size)
{
	(void)data;
	return read(fd, buffer, size);
}

static void real_close(void *data, int fd)
{
	(void)data;
	close(fd);
}

static void real_work(void *data)
{
	(void)data;
	for (unsigned long i = 0; i < 20000; i++)
		__asm__ volatile("" : : "r"(i) : "memory");
}

const struct perf_kernel perf_kernel_real = {NULL, real_open, real_read, real_close, real_work};

enum perf_fit perf_group_fit(const struct perf_kernel *k, const struct perf_event_attr *attrs,
			     size_t n, size_t *at_out, int *errno_out)
{
	int fds[PERF_SLOTS_MAX];
	enum perf_fit fit = PERF_FIT_RUNS;
	size_t opened = 0;

	*errno_out = 0;
	*at_out = n;
	for (; opened < n && opened < PERF_SLOTS_MAX; opened++) {
		struct perf_event_attr attr = attrs[opened];

		/* Everything enabled: the kernel counts only enabled events when it checks a group.
		 */
		attr.disabled = 0;
		attr.pinned = opened == 0;
		attr.inherit = 0;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		fds[opened] = k->open(k->data, &attr, opened ? fds[0] : -1);
		if (fds[opened] < 0) {
			*errno_out = -fds[opened];
			*at_out = opened;
			fit = PERF_FIT_REFUSED;
			break;
		}
	}
	if (fit == PERF_FIT_RUNS) {
		k->work(k->data);
		for (size_t i = 0; i < opened; i++) {
			uint64_t v[3];

			/* No bytes from a pinned leader: the kernel gave the group up. */
			if (k->read(k->data, fds[i], v, sizeof(v)) == (ssize_t)sizeof(v) && v[2] &&
			    v[1] == v[2])
				continue;
			if (fit == PERF_FIT_RUNS)
				*at_out = i;
			fit = PERF_FIT_STARVED;
		}
	}
	/* Members first: closing the leader would make each of them a group of its own. */
	while (opened)
		k->close(k->data, fds[--opened]);
	return fit;
}

uint32_t perf_slots_find(const struct perf_kernel *k, const struct perf_event_attr *event,
			 const struct perf_event_attr *extra, uint32_t *accepted_out,
			 int *errno_out)
{
	struct perf_event_attr attrs[PERF_SLOTS_MAX];
	size_t n = 0, at, limit;
	uint32_t accepted;
	int error;

	if (extra)
		attrs[n++] = *extra;
	limit = PERF_SLOTS_MAX - n;
	for (size_t i = 0; i < limit; i++)
		attrs[n + i] = *event;
	if (perf_group_fit(k, attrs, n + limit, &at, &error) == PERF_FIT_REFUSED)
		accepted = at > n ? (uint32_t)(at - n) : 0;
	else
		accepted = (uint32_t)limit;
	*errno_out = accepted ? 0 : error;
	if (accepted_out)
		*accepted_out = accepted;
	while (accepted && perf_group_fit(k, attrs, n + accepted, &at, &error) != PERF_FIT_RUNS)
		accepted--;
	return accepted;
}
