/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of one pass on one thread (or, inherited, on a process), read twice: a region counts
 * the difference. All counters are read in the same order at both ends, so that each contains the
 * same part of our own reading.
 *
 * Reads are system calls on descriptors that were checked to be ours; no allocation, no lock.
 */
#ifndef RETALLY_RUNTIME_REGION_REGION_COUNT_H
#define RETALLY_RUNTIME_REGION_REGION_COUNT_H

#include "base/error.h"
#include "source/perf/perf_device.h"
#include "wire/plan.h"
#include "wire/spool.h"

#include <stdbool.h>
#include <stdint.h>

struct region_set {
	uint32_t pass;              /* 0: none */
	struct perf_device *device; /* &own, or somebody else's */
	struct perf_device own;
	bool late; /* has counters that are placed at addresses, see perf_device.h */
	int probe; /* descriptor by which the set is recognised as still ours, -1: none */
	uint64_t probe_id;
};
struct region_reading {
	uint64_t value, enabled, running;
	bool valid;
};

/* Opens the counters of a pass on a thread (0: the caller), off, inherited by what it starts.
 * flags: PERF_GIVES_WAY or 0. Descriptors are moved to least_fd and above. Late counters are
 * placed, and count, at once. */
int region_set_open(struct region_set *s, const struct plan *plan, uint32_t pass, pid_t tid,
		    int least_fd, unsigned flags, struct error *err);
/* Uses counters that somebody else opened. */
void region_set_borrow(struct region_set *s, struct perf_device *device);
void region_set_switch(struct region_set *s, bool on);
/* Safe on a zeroed one. */
void region_set_close(struct region_set *s);
/* At the end of the process: closes it when it has uprobes, which would stay in the kernel. It
 * frees memory, so not without need. */
void region_set_retire(struct region_set *s);
/* In a forked child: closes the descriptors, nothing more. */
void region_set_abandon(struct region_set *s);
/* Whether the descriptors are still the counters: a program may close what it does not know, and
 * get the number again for a file of its own. */
bool region_set_is_ours(const struct region_set *s);

/* Readings that one read takes: one per counter and one more. */
uint32_t region_set_room(const struct region_set *s);
void region_set_read(const struct region_set *s, struct region_reading *readings_out);
/* One sample per perf counter of the pass from two readings; n_out samples, at most room - 1. */
void region_set_delta(const struct region_set *s, const struct region_reading *begin,
		      const struct region_reading *end, struct spool_sample *samples_out,
		      uint32_t *n_out, uint64_t *enabled_ns_out, uint64_t *running_ns_out);

#endif
