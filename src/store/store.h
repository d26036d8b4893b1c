/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run directory holds, as a database. Opening a directory reads plan.json and run.json and
 * brings retally.db up to date with the spools: only new or changed ones are read, in an order that
 * does not depend on the directory, into a copy under a temporary name that replaces retally.db
 * when it is whole. The result is the same whatever the order in which spools arrived.
 *
 * A spool of another plan or collection is left out with a finding that names what differs; of a
 * damaged one, what precedes the damage is used; one that is gone, or that was read once and is not
 * a spool any more, keeps its values in the database. The same pass collected twice gives two rows,
 * never one. All SQL of retally.db is in this folder.
 *
 * Everything handed out belongs to the store and lives until store_close. Not thread-safe.
 */
#ifndef RETALLY_STORE_STORE_H
#define RETALLY_STORE_STORE_H

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "wire/plan.h"
#include "wire/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* run.json; NULL or 0 where it has no such member or does not exist. */
struct store_info {
	const char *dir; /* as given to store_open */
	size_t argc;
	const char *const *argv; /* NULL-terminated */
	const char *program; /* argv[0], or what a launcher started, without its folders; else the
			      * name of the process unit */
	const char *options; /* of the run that made it, as given */
	const char *cwd, *filters, *host, *created, *collection;
	bool temporary; /* retally.db could not be written: a private database is used */
};

enum store_spool_state {
	STORE_SPOOL_COMPLETE = 0,
	STORE_SPOOL_TORN = 1,    /* ends within a record: its process was killed */
	STORE_SPOOL_DAMAGED = 2, /* used up to the damage */
	STORE_SPOOL_REFUSED = 3, /* another plan or collection */
};
struct store_spool {
	const char *file; /* "spool/NAME", relative to the directory */
	const char *launch, *host;
	int32_t rank, ranks, local_rank; /* SPOOL_RANK_NONE when unknown */
	int32_t pid;
	uint64_t start_ns; /* CLOCK_REALTIME */
	enum store_spool_state state;
	bool missing; /* the file is gone or unreadable, its values are not */
	int64_t id;   /* in the database */
};

/* What was measured: a kernel, a range or the whole process (unit: enum spool_unit). */
struct store_kernel {
	const char *name;
	uint32_t unit;
	int64_t id;
};

/* One execution of one pass in one process. */
struct store_run {
	const struct store_spool *spool;
	uint32_t pass; /* 0: the program's own, uncounted execution */
	uint32_t attempt;
	uint32_t pid;
	bool begun, ended; /* its begin and end were recorded */
	bool in_place; /* replays of this pass within pass 0: it has no begin, end and status of its
			* own */
	uint32_t flags; /* enum spool_pass_flag */
	int32_t exit_code, signal;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC of that machine */
	uint64_t wall_ns, user_ns, system_ns, max_rss_bytes;
	int64_t id;
};

/* Windows of replayed dispatches that were alike, added up. Times in ns, host. */
struct store_window {
	uint64_t least, most; /* dispatches in each; most 0: no bound */
	const char *ended_by; /* the program's call, "full", "exit"... */
	bool replayed;        /* false: nothing in it was counted */
	uint64_t n;           /* windows */
	uint64_t dispatches, transfers;
	uint64_t passes; /* counted executions, all windows together */
	uint64_t span_ns, live_ns, save_ns, restore_ns, check_ns, program_ns, run_ns;
	uint64_t reach_bytes, saved_bytes, restored_bytes, spared_bytes;
};
/* Dispatches that were not counted in the wanted way. */
struct store_declined {
	uint32_t kernel;  /* index into store_kernels, UINT32_MAX: any */
	uint32_t instead; /* enum spool_instead */
	const char *reason;
	uint64_t n;
};

/* Dispatches that were left uncounted because others of the same kind had told enough (--until), of
 * all processes. store_declined has them, too, with SPOOL_INSTEAD_ESTIMATE. */
struct store_left {
	uint32_t kernel; /* index into store_kernels */
	uint32_t grid[3], block[3];
	uint64_t n;
	uint64_t counted; /* the fewest after which a process knew enough */
};

struct store_finding {
	bool from_program; /* a note of the measured process, else found while reading */
	uint32_t kind;     /* enum spool_note_kind */
	uint32_t pass;     /* 0: no particular one */
	uint64_t n;        /* how many times */
	const char *text;
};

/* Opens DIR and ingests what is new. RC_NOT_FOUND when it is no run directory. */
int store_open(struct store **store_out, const char *dir, struct error *err);
void store_close(struct store *s);

const struct plan *store_plan(const struct store *s);
const struct store_info *store_info(const struct store *s);
/* By start, host, rank, pid and name. */
const struct store_spool *store_spools(const struct store *s, size_t *n_out);
/* By unit and name. */
const struct store_kernel *store_kernels(const struct store *s, size_t *n_out);
/* By pass, then in the order of spools, then as they ran. */
const struct store_run *store_runs(const struct store *s, size_t *n_out);
/* Most important first; equal ones are counted. */
const struct store_finding *store_findings(const struct store *s, size_t *n_out);
/* By size of the window, then most frequent first. */
const struct store_window *store_windows(const struct store *s, size_t *n_out);
/* Most frequent first. */
const struct store_declined *store_declined(const struct store *s, size_t *n_out);
/* By kernel, grid and block. */
const struct store_left *store_left(const struct store *s, size_t *n_out);
/* The program ran once and its passes within it (kernel, window, range, none). */
bool store_is_in_place(const struct store *s);
/* Samples of counter in pass with this status, over all spools. */
uint64_t store_sample_count(const struct store *s, uint32_t pass, uint32_t counter,
			    enum sample_status status);
/* A pass that is a part has run when the pass that tells its values has. */
bool store_pass_has_run(const struct store *s, uint32_t pass);
/* It has run, and every rank that was ended at the time limit in it has also come to its end there.
 */
bool store_pass_is_complete(const struct store *s, uint32_t pass);
/* The pass has no counters and one that follows has: what is counted in it comes with the values of
 * that one, as where a vendor's library schedules several passes for one group of counters. No
 * sample can be missing from it, and it cannot be run alone. */
bool store_pass_is_part(const struct store *s, uint32_t pass);

struct store_value {
	bool recorded;  /* false: no sample at all */
	uint8_t status; /* enum sample_status; the number is to be used only with SAMPLE_OK, and for
			 * SAMPLE_MULTIPLEXED is the raw count */
	uint8_t kind;   /* enum sample_kind */
	union {
		uint64_t u64;
		double f64;
	} value;
};
struct store_instance {
	uint32_t counter;
	uint32_t instance;
	struct store_value value;
};
/* One dispatch (range, process) in one execution of one pass. Valid during the callback. */
struct store_row {
	const struct store_run *run;
	uint32_t kernel; /* index into store_kernels */
	uint32_t unit, device;
	uint64_t dispatch;
	uint32_t grid[3], block[3];
	uint64_t queue, begin_ns, end_ns;
	uint32_t registers, shared_bytes;
	uint64_t enabled_ns, running_ns;
	uint32_t attempt; /* n-th execution of the pass for it (--repeat), from 1 */
	uint32_t flags;   /* enum spool_dispatch_flag */
	bool complete;    /* every value of the pass is SAMPLE_OK */
	/* Parallel to the counters of the plan's pass; the sum over instances. */
	const struct store_value *values;
	size_t n_values;
	const struct store_instance *instances;
	size_t n_instances;
};
#define STORE_ALL_PASSES UINT32_MAX
struct store_scan {
	uint32_t pass;       /* or STORE_ALL_PASSES, which leaves out pass 0 */
	const bool *kernels; /* wanted ones, by index; NULL: all */
};
/* Calls row for each, by pass, in the order of spools, as recorded: in bounded memory. A row
 * function that returns nonzero ends the scan, which returns that. */
int store_scan(struct store *s, const struct store_scan *scan,
	       int (*row)(void *data, const struct store_row *r, struct error *err), void *data,
	       struct error *err);

/* The command that collects pass K, quoted for a POSIX shell. For one that has parts: all passes.
 */
void store_pass_command(const struct store *s, uint32_t pass, struct str *out);
/* Passes as people write them: "1, 2, 5-9". `passes` ascending. */
void store_list_passes(const uint32_t *passes, size_t n, struct str *out);
/* Why nothing of this counter was collected; false when something was. */
bool store_why_missing(const struct store *s, uint32_t counter, struct str *out);
/* The end-of-run summary, at most 15 lines, for stderr. */
int store_summary(struct store *s, struct str *out, struct error *err);

#endif
