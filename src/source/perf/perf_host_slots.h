/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many events a PMU really counts at once. Two steps, because neither alone is right: the
 * kernel refuses a group that can never fit only when its members are enabled (a disabled leader is
 * not counted, so one event too many is accepted), and a slot that somebody else holds (the NMI
 * watchdog, another user) shows only when a pinned group is run and reads nothing.
 *
 * The kernel is a table of functions, so that tests can put machines in its place.
 */
#ifndef RETALLY_SOURCE_PERF_HOST_SLOTS_H
#define RETALLY_SOURCE_PERF_HOST_SLOTS_H

#include "source/perf/perf_abi.h"

#include <sys/types.h>

#define PERF_SLOTS_MAX 64

struct perf_kernel {
	void *data;
	/* As perf_event_open for the calling thread; a negative errno on failure. */
	int (*open)(void *data, struct perf_event_attr *attr, int group_fd);
	ssize_t (*read)(void *data, int fd, void *buffer, size_t size);
	void (*close)(void *data, int fd);
	void (*work)(void *data); /* runs long enough to be counted */
};
extern const struct perf_kernel perf_kernel_real;

enum perf_fit {
	PERF_FIT_RUNS,
	PERF_FIT_REFUSED, /* an open failed: *at_out and *errno_out */
	PERF_FIT_STARVED, /* opened, but never or not always counted */
};
/* Opens attrs[0..n) (n at most PERF_SLOTS_MAX) as one pinned group with an enabled leader, runs,
 * reads. */
enum perf_fit perf_group_fit(const struct perf_kernel *k, const struct perf_event_attr *attrs,
			     size_t n, size_t *at_out, int *errno_out);

/* The number of times `event` runs at once, beside `extra` (may be NULL) that also runs.
 * accepted_out (may be NULL): how many the kernel accepts; more than the result when slots are held
 * by others. 0 when the event does not open: *errno_out. */
uint32_t perf_slots_find(const struct perf_kernel *k, const struct perf_event_attr *event,
			 const struct perf_event_attr *extra, uint32_t *accepted_out,
			 int *errno_out);

#endif
