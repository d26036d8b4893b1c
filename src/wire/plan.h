/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan file (plan.json): what the command decided and the injected object and the supervisor
 * carry out. Canonical JSON: same plan, same bytes. Its last member is "hash", the content hash of
 * every byte before that member's key (see plan_write); a file that was edited is refused.
 *
 * The strings and arrays of a plan that was read live in its arena. A plan being built by the
 * command may point anywhere that outlives it. Passes and metrics refer to counters by index;
 * passes are numbered from 1 for people and in files, pass K is passes[K - 1].
 */
#ifndef RETALLY_WIRE_PLAN_H
#define RETALLY_WIRE_PLAN_H

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

#define PLAN_VERSION       1
#define PLAN_COUNTERS_MAX  16384
#define PLAN_PASSES_MAX    4096
#define PLAN_METRICS_MAX   16384
#define PLAN_FILE_SIZE_MAX (64u << 20)

enum plan_counter_flag {
	PLAN_COUNTER_ANCHOR = 1 << 0, /* in every pass, to tell whether passes are comparable */
	PLAN_COUNTER_BASE = 1 << 1,   /* other metrics are divided by it */
	PLAN_COUNTER_LEVEL = 1 << 2,  /* needs its accumulator beside it */
	PLAN_COUNTER_HIDDEN = 1 << 3, /* needed by a metric, not asked for by name */
	PLAN_COUNTER_MEAN = 1 << 4,   /* an average, ratio or extreme: over dispatches its mean is
				       * shown, never a sum */
};

struct plan_counter {
	const char *name;   /* as the user writes it: "cycles", "bp:lzma_code", "SQ_WAVES" */
	const char *source; /* "perf", "cuda", "rocm", "sim" */
	const char *block;  /* hardware unit whose slots it takes, "" when it takes none */
	const char *unit;   /* "count", "ns", "bytes"...; never NULL */
	uint32_t flags;     /* enum plan_counter_flag */
	/* What the source's device half needs to program it, opaque here (perf: struct perf_config
	 * of source/perf/perf_abi.h as text, see there). Never NULL. */
	const char *config;
};

struct plan_pass {
	uint32_t n_counters;
	const uint32_t *counters; /* indices into plan->counters, ascending */
	const char *reason;       /* what forces this pass: "breakpoint: 4 of 4 slots" */
	const char *config;       /* for sources that program a whole pass at once, else "" */
};

/* Some counters of a pass that cannot stand alone: what is counted without replay takes one such
 * group instead, and is recorded as that pass. No pass of the plan; numbered behind them. */
struct plan_live {
	uint32_t pass;          /* number (from 1) of the pass that has all of its counters */
	struct plan_pass group; /* reason and config are "" */
};

struct plan_metric {
	const char *name;
	const char *title;
	const char *unit;
	const char *expression; /* in the language of docs/expressions.md */
	uint32_t n_counters;
	const uint32_t *counters; /* indices, ascending */
	uint32_t pass; /* number (from 1) of the pass in which it is complete; 0: split */
};

struct plan_dropped { /* wanted, but not in the plan */
	const char *name;
	const char *reason;
};

struct plan {
	char hash[HASH_TEXT_SIZE]; /* filled by plan_write and plan_read */
	const char *chip;          /* "this machine" chip name, or the one asked for */
	const char *selection;     /* the selection options as given, canonical text */
	uint32_t lower_bound;      /* no plan with fewer passes exists */
	bool proven;    /* n_passes == lower_bound was proven, or the search was exhausted */
	uint64_t nodes; /* search nodes spent */

	uint32_t n_counters;
	struct plan_counter *counters;
	uint32_t n_passes;
	struct plan_pass *passes;
	uint32_t n_live; /* at most PLAN_PASSES_MAX */
	struct plan_live *live;
	uint32_t n_metrics;
	struct plan_metric *metrics;
	uint32_t n_dropped;
	struct plan_dropped *dropped;

	struct arena arena; /* owns what plan_read allocated */
};

/* Canonical bytes of the plan, appended to out; fills plan->hash. RC_NO_MEMORY, or RC_INVALID when
 * an index is out of range. */
struct str;
int plan_encode(struct plan *plan, struct str *out, struct error *err);
/* Parses and checks text[0..size): version, ranges, hash. `name` goes into messages. On error plan
 * holds nothing. Hostile input; libc only; usable in the injected object at start-up. */
int plan_decode(struct plan *plan, const char *name, const char *text, size_t size,
		struct error *err);
/* The same from and to a file. plan_write_file writes a temporary name and renames. */
int plan_read_file(struct plan *plan, const char *path, struct error *err);
int plan_write_file(struct plan *plan, const char *path, struct error *err);
/* What number `number` counts: a pass from 1 to n_passes, behind them the live groups. NULL: there
 * is no such number. *pass_out, unless NULL: the pass that it is recorded as. Any thread. */
const struct plan_pass *plan_counted(const struct plan *plan, uint32_t number, uint32_t *pass_out);
void plan_release(struct plan *plan);

#endif
