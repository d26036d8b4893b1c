/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host half of the perf source: what this machine can count, by name. Used by the command only.
 */
#ifndef RETALLY_SOURCE_PERF_HOST_H
#define RETALLY_SOURCE_PERF_HOST_H

#include "model/catalog.h"
#include "wire/plan.h"

/* RETALLY_PERF_SLOTS=BLOCK=N,... sets fewer slots than were found, or some where there is no limit
 * (software, uprobe, tracepoint): to lower the disturbance of a pass, and to try plans of several
 * passes on a machine without hardware counters. */

/* Adds this machine's PMUs as blocks (slots found by opening groups), and its software, hardware
 * and cache events as counters. `program` (may be NULL) is the executable that bp:, mem: and uprobe
 * names are resolved against. */
int perf_host_fill(struct catalog *c, const char *program, struct error *err);
/* Adds one counter by name that is not in the catalogue yet: pmu/event/, raw rNNN, tracepoint
 * subsystem:name, bp:SYMBOL[@OBJECT], mem:SYMBOL[@OBJECT][:r|w|rw], uprobe:SYMBOL, any libpfm4
 * name. Where the machine accepts breakpoints but never triggers them, bp: is counted by uprobe if
 * the user may. RC_NOT_FOUND with the nearest names; RC_PERMISSION explains perf_event_paranoid. */
int perf_host_add_counter(struct catalog *c, const char *name, const char *program,
			  uint32_t *index_out, struct error *err);
/* Opens every pass of the plan for a moment on this process (pinned, enabled leader) and reads it:
 * proof that it schedules. RC_NO_SLOT names the pass, the counter and the cause (for example the
 * NMI watchdog). */
int perf_host_prove(const struct plan *plan, struct error *err);

/* For `retally doctor` and `list sources`: one finding each, most important first. */
struct perf_finding {
	const char *what; /* "hardware counters" */
	bool works;
	const char *explain; /* one sentence, with the cure */
};
int perf_host_examine(struct arena *arena, struct perf_finding **findings_out, size_t *n_out,
		      struct error *err);

#endif
