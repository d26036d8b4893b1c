/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device half of the perf source: opens the counters of one pass for a process and reads them.
 * It executes a ready plan; it knows no names. libc only: used by the injected object (for itself)
 * and by launch/ (for a child, from outside).
 *
 * From outside, the order is: fork; the child waits; perf_device_open with PERF_ON_EXEC; the child
 * execs (counting starts by itself); when perf_device_needs_addresses says so the caller holds the
 * child once its libraries are mapped and before any of their code ran, and calls
 * perf_device_open_addresses; wait for the end; perf_device_read; perf_device_close.
 */
#ifndef RETALLY_SOURCE_PERF_DEVICE_H
#define RETALLY_SOURCE_PERF_DEVICE_H

#include "base/error.h"
#include "wire/plan.h"
#include "wire/spool.h"

#include <stdbool.h>
#include <sys/types.h>

enum perf_open_flags {
	PERF_ON_EXEC =
		1 << 0, /* start counting at the child's next exec; else disabled until enabled */
	PERF_INHERIT = 1 << 1, /* count threads and children as well */
};

struct perf_device_event {
	uint32_t counter; /* index into the plan's counters */
	int fd;           /* -1: not open */
	int status;       /* enum sample_status to report when fd is -1 */
	int leader;       /* index of its group's leader */
};
struct perf_device {
	const struct plan *plan;
	uint32_t pass; /* from 1 */
	pid_t pid;
	uint32_t n_events;
	struct perf_device_event *events; /* one per counter of the pass whose source is perf */
	unsigned flags;
	char why[256]; /* first reason for which a counter could not be opened, "" when all are open
			*/
};

/* Opens what does not depend on where the program is loaded. A counter that cannot be opened is
 * marked with a status and d->why; the others go on. Error only when nothing at all can be done. */
int perf_device_open(struct perf_device *d, const struct plan *plan, uint32_t pass, pid_t pid,
		     unsigned flags, struct error *err);
/* True when the pass has breakpoints or uprobes, whose addresses are known only once mapped. */
bool perf_device_needs_addresses(const struct plan *plan, uint32_t pass);
/* Resolves them through /proc/PID/maps and opens them, counting at once. */
int perf_device_open_addresses(struct perf_device *d, struct error *err);
int perf_device_enable(struct perf_device *d, struct error *err);
int perf_device_disable(struct perf_device *d, struct error *err);
/* One sample per perf counter of the pass into samples_out (room for the pass's n_counters); a
 * multiplexed or never-scheduled event gets its status. Group times of the least-running event. */
int perf_device_read(struct perf_device *d, struct spool_sample *samples_out, uint32_t *n_out,
		     uint64_t *enabled_ns_out, uint64_t *running_ns_out, struct error *err);
void perf_device_close(struct perf_device *d);

#endif
