/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue: blocks with their slots, counters, metrics and sets of one chip. It is filled by
 * data/chips and data/metrics (model/catalog_load.h) and, for the machine at hand, by a source's
 * host half (source/perf/perf_host.h). Everything lives in the catalogue's arena; the order of
 * every array is the order of definition, so whatever is derived from it is the same on every
 * machine and locale.
 */
#ifndef RETALLY_MODEL_CATALOG_H
#define RETALLY_MODEL_CATALOG_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define BLOCK_NONE      UINT32_MAX /* takes no slot: software events, timestamps */
#define SLOTS_UNLIMITED UINT32_MAX

/* A hardware unit and how many events it can count at once (per instance; an event takes the same
 * slot in every instance). */
struct block {
	const char *name;
	uint32_t slots;
	uint32_t instances;     /* at least 1 */
	const char *scope;      /* "per-XCC", "per-SE", "thread", "" */
	const char *reference;  /* where the fact comes from */
	const char *confidence; /* "measured", "vendor source", "inferred" */
};

/* One hardware count. `X`, `X_sum` and `X[i]` are counters of one event: they share its slot. */
struct counter {
	const char *name;
	const char *unit;   /* "count", "cycles", "bytes", "ns"... */
	const char *help;   /* one line, may be "" */
	const char *source; /* "perf", "rocm", "cuda", "sim" */
	uint32_t block;     /* index, or BLOCK_NONE */
	const char
		*event; /* identity of the hardware event within the block; equal text = one slot */
	int32_t instance; /* -1: reduced over all instances */
	/* For an accumulator: index of the level counter that must be in the same pass, in the slot
	 * before it; UINT32_MAX otherwise. Its own slot and the level's are both counted. */
	uint32_t level;
	uint32_t exclusive; /* nonzero: counters with different nonzero values never share a pass */
	const char *config; /* for struct plan_counter */
};

struct metric {
	const char *id;    /* section number, "2.1.0", or "" */
	const char *name;  /* what the user types: letters, digits, '_' */
	const char *title; /* what people read */
	const char *unit;
	const char *help;
	const char *expression;
	uint32_t n_counters;      /* found in the expression, after built-ins were replaced */
	const uint32_t *counters; /* indices, ascending, no duplicates */
	bool percent;             /* a share: more than 100 is shown with its cause */
	const char *where;        /* "file:line" of the definition */
};

struct metric_set {
	const char *name;
	const char *title;
	uint32_t n_metrics;
	const uint32_t *metrics; /* indices, in display order */
	uint32_t n_counters;     /* plain counters beside the metrics */
	const uint32_t *counters;
	uint32_t n_skipped;      /* metrics of the set that this machine cannot have */
	const uint32_t *skipped; /* indices into catalog->skipped */
};

/* A metric that is defined for the chip but not possible here, and why: selecting it is no error.
 */
struct catalog_skipped {
	const char *id;
	const char *name;
	const char *reason; /* "needs 'dTLB-loads', which this machine does not count" */
};

/* One line of a roofline: how fast a kernel works or moves bytes, and the most that the chip can.
 */
struct roofline_line {
	const char *title; /* "64-bit floats", "Device memory" */
	const char *unit;  /* of both numbers: "GFLOP/s", "GB/s" */
	bool is_memory;    /* bytes; otherwise work */
	/* Expressions over counters and $duration_ns; what is the chip's was replaced by numbers.
	 */
	const char *rate;
	const char *peak; /* "": not known */
};

struct chip_constant {
	const char *name; /* without the '$' */
	double value;
	const char *unit;
};

struct catalog {
	struct arena arena;
	const char *chip;  /* "gfx90a", "GH100", "cpu" */
	const char *title; /* "AMD Instinct MI200" */
	/* Source of the counters that data files define ("rocm"); NULL for the machine at hand,
	 * whose counters a source's host half adds itself. */
	const char *source;
	VEC(struct block) blocks;
	VEC(struct counter) counters;
	VEC(struct metric) metrics;
	VEC(struct metric_set) sets;
	VEC(struct chip_constant) constants;
	VEC(struct catalog_skipped) skipped;
	VEC(struct roofline_line) roofline;
	struct map block_index, counter_index, metric_index, set_index;
	uint32_t n_anchors; /* preferred anchors, best first: used where they cost no pass */
	uint32_t *anchors;  /* counter indices */
	/* Optional: asked for a counter that is not in the catalogue; adds it, or RC_NOT_FOUND.
	 * Lets metrics use what a source can name but does not list (perf: raw events, bp:SYMBOL).
	 */
	int (*resolve)(struct catalog *c, const char *name, uint32_t *index_out, void *data,
		       struct error *err);
	void *resolve_data;
};

void catalog_release(struct catalog *c);
/* Index by name, or UINT32_MAX. catalog_find_metric also takes a metric's id. */
uint32_t catalog_find_block(const struct catalog *c, const char *name);
uint32_t catalog_find_counter(const struct catalog *c, const char *name);
uint32_t catalog_find_metric(const struct catalog *c, const char *name);
uint32_t catalog_find_set(const struct catalog *c, const char *name);
uint32_t catalog_find_constant(const struct catalog *c, const char *name);
/* How many instances the whole chip has of a block, over all shader engines and dies; 0: unknown.
 */
uint32_t catalog_block_instances(const struct catalog *c, uint32_t block);
/* Index of a counter by name, or of a form of a defined counter X, which is added to the catalogue
 * as a counter of the same event: X_sum (the same as X) and X[i] (instance i). RC_NOT_FOUND,
 * without a message, when there is none; RC_INVALID when X has no instance i. */
int catalog_resolve_counter(struct catalog *c, const char *name, uint32_t *index_out,
			    struct error *err);
/* Add one (strings are copied into the arena). RC_EXISTS names the duplicate. */
int catalog_add_block(struct catalog *c, const struct block *b, uint32_t *index_out,
		      struct error *err);
int catalog_add_counter(struct catalog *c, const struct counter *k, uint32_t *index_out,
			struct error *err);
int catalog_add_metric(struct catalog *c, const struct metric *m, uint32_t *index_out,
		       struct error *err);
int catalog_add_constant(struct catalog *c, const struct chip_constant *k, struct error *err);
int catalog_add_skipped(struct catalog *c, const struct catalog_skipped *k, uint32_t *index_out,
			struct error *err);
int catalog_add_set(struct catalog *c, const struct metric_set *s, uint32_t *index_out,
		    struct error *err);

#endif
