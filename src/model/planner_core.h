/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner's own form of a problem, shared by planner_core.c (which makes it), planner_greedy.c,
 * planner_tabu.c, planner_bound.c, planner_search.c and planner_solve.c. Not for use elsewhere.
 *
 * In this form
 *  - only events that take a slot of a limited block are left;
 *  - "exclusive" classes have become one more block of one slot, with one event per class;
 *  - an item whose events are a subset of another's is gone: it rides with that one;
 *  - an item that is one event of cost 1 is gone as well. No other item has that event (or it would
 *    ride there), so such *fillers* are interchangeable: only how many a block has matters. They
 * fit exactly when the block's free slots, over all passes, are at least as many;
 *  - items are sorted by content, so nothing depends on the order they came in.
 */
#ifndef RETALLY_MODEL_PLANNER_CORE_H
#define RETALLY_MODEL_PLANNER_CORE_H

#include "base/arena.h"
#include "model/planner.h"

#define CORE_NOWHERE    UINT32_MAX
#define CORE_SEARCH_MAX 64 /* passes the exact search can handle: one bit each */

struct core_item {
	uint32_t n;
	const uint32_t *events; /* sorted by (block, event) */
};

struct planner_core {
	struct arena arena;
	uint32_t n_blocks;
	const uint32_t *slots;
	const uint32_t *source_block; /* block of the problem; UINT32_MAX: the exclusive classes */
	uint32_t n_events;            /* of the items below; fillers have none */
	const uint32_t *block;        /* of each event */
	const uint32_t *cost;
	uint32_t n_items;
	const struct core_item *items;
	const uint32_t *fillers; /* per block */
	const uint64_t *demand;  /* per block: cost of its distinct events and fillers */
	uint32_t n_fillers;
	const uint32_t *filler_block;
	/* Where each item of the problem went: an item above, n_items + a filler, or CORE_NOWHERE
	 * when it takes no slot. */
	uint32_t n_source;
	const uint32_t *unit_of_source;
};

/* Passes as the heuristics keep them: how often each event is in each, and each block's load. */
struct core_bins {
	uint32_t n;        /* passes in use */
	uint32_t capacity; /* allocated */
	uint16_t *refs;    /* [pass * n_events + event] items in the pass that have the event */
	uint32_t *load;    /* [pass * n_blocks + block] */
	uint32_t *pass_of; /* per item, or CORE_NOWHERE */
};

int core_init(struct planner_core *core, const struct planner_problem *p, struct error *err);
void core_release(struct planner_core *core);
/* The core of one or more blocks alone (keep[block] true): a relaxation, so its bounds hold here.
 */
int core_restrict(struct planner_core *part, const struct planner_core *core, const bool *keep,
		  struct error *err);
/* True when the fillers fit beside these loads. */
bool core_fillers_fit(const struct planner_core *core, const uint32_t *load, uint32_t n_passes);
/* Deals the fillers and fills pass_of_source[n_source]. */
int core_expand(const struct planner_core *core, const uint32_t *pass_of_item, uint32_t n_passes,
		uint32_t *pass_of_source, struct error *err);

int bins_init(struct core_bins *b, const struct planner_core *core, uint32_t capacity,
	      struct error *err);
void bins_release(struct core_bins *b);
void bins_clear(struct core_bins *b, const struct planner_core *core, uint32_t n);
void bins_add(struct core_bins *b, const struct planner_core *core, uint32_t item, uint32_t pass);
void bins_remove(struct core_bins *b, const struct planner_core *core, uint32_t item);

/* Heuristics: pass_of_item[n_items] and its number of passes, at most `limit` (else CORE_NOWHERE in
 * *n_passes_out). The result is the best of several orders and rules. */
int core_greedy(const struct planner_core *core, uint32_t limit, uint32_t *pass_of_item,
		uint32_t *n_passes_out, struct error *err);
/* Tabu search for a plan of exactly n_passes; pass_of_item holds a start and, when *found_out, the
 * result. `effort` bounds the moves it looks at. */
int core_tabu(const struct planner_core *core, uint32_t n_passes, uint64_t effort, uint64_t seed,
	      uint32_t *pass_of_item, bool *found_out, struct error *err);

/* A bound from counting alone: slots per block, with the repeats that shared events force, and
 * pairwise incompatible items. */
int core_bound(const struct planner_core *core, uint32_t *bound_out, struct error *err);

/* Exact: is there a plan of n_passes? Spends at most *nodes and takes off what it spent. */
enum core_answer {
	CORE_NO,
	CORE_YES,
	CORE_UNKNOWN
};
int core_search(const struct planner_core *core, uint32_t n_passes, uint64_t *nodes,
		uint32_t *pass_of_item, enum core_answer *answer_out, struct error *err);

/* A plan of at most `limit` passes if one is found quickly (no proof of the contrary); used for
 * what is only done when it costs no pass. pass_of_item has p->n_items entries. */
int planner_solve_within(const struct planner_problem *p, uint32_t limit, uint32_t *pass_of_item,
			 bool *found_out, struct error *err);

#endif
