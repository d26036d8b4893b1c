/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device half of the perf source: opens the counters of one pass for a process and reads them.
 * It executes a ready plan; it knows no names. libc only: used by the injected object (for itself)
 * and by launch/ (for a child, from outside).
 *
 * Counts are exact or have a status. Hardware events of a pass form one group per PMU under a
 * pinned leader; everything else is opened one by one. Threads and children are counted with
 * PERF_INHERIT; a breakpoint ends where a child executes another program (its address means nothing
 * there; the counts before stay), a uprobe goes on in every program that maps the object.
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
	/* Hardware counters give way to others that are pinned: they are multiplexed, and say so,
	 * where those take all slots. */
	PERF_GIVES_WAY = 1 << 2,
};

struct perf_device_event {
	uint32_t counter; /* index into the plan's counters */
	int fd;           /* -1: not open */
	int status;       /* enum sample_status to report when fd is -1 */
	int leader;       /* index of its group's leader */
	bool late;        /* a breakpoint: opened by perf_device_open_addresses */
	bool registered;  /* a uprobe that perf_device_close must take out of tracefs */
	int keeper;       /* keeps a uprobe's breakpoints where they are, see keep_uprobe; -1 */
	bool hardware;    /* in a group of a hardware PMU */
};
struct perf_device {
	const struct plan *plan;
	uint32_t pass; /* from 1 */
	pid_t pid;
	uint32_t n_events;
	struct perf_device_event *events; /* one per counter of the pass whose source is perf */
	unsigned flags;
	int reference_fd; /* a dummy event whose enabled time is that of the whole process tree; -1:
			     none */
	int tracefs;      /* directory, -1: not used */
	unsigned serial;  /* of this set in this process: names of uprobes contain it */
	/* First reason for which a counter could not be opened, "" when all are open. */
	char why[256];
};

/* Opens what does not depend on where the program is loaded. A counter that cannot be opened is
 * marked with a status and d->why; the others go on. Error only when nothing at all can be done. */
int perf_device_open(struct perf_device *d, const struct plan *plan, uint32_t pass, pid_t pid,
		     unsigned flags, struct error *err);
/* True when the pass has breakpoints, whose addresses are known only once mapped. (Uprobes are
 * places in files and are opened before.) */
bool perf_device_needs_addresses(const struct plan *plan, uint32_t pass);
/* Resolves them through /proc/PID/maps and opens them, counting at once. Call it once; what cannot
 * be found or opened is marked as in perf_device_open. */
int perf_device_open_addresses(struct perf_device *d, struct error *err);
int perf_device_enable(struct perf_device *d, struct error *err);
int perf_device_disable(struct perf_device *d, struct error *err);
/* One sample per perf counter of the pass into samples_out (room for the pass's n_counters); a
 * multiplexed or never-scheduled event gets its status. Group times of the least-running event. May
 * be called again; counts go on. */
int perf_device_read(struct perf_device *d, struct spool_sample *samples_out, uint32_t *n_out,
		     uint64_t *enabled_ns_out, uint64_t *running_ns_out, struct error *err);
/* Safe on a zeroed or a closed one. After fork the child must not call it: it would take uprobes
 * out. */
void perf_device_close(struct perf_device *d);

#endif
