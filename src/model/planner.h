/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass planner: from a selection to the fewest passes, each within the slots of every block,
 * with every metric that can be whole in one pass whole in one, and a proof or a lower bound.
 *
 * The core works on a plain problem (no names, no catalogue), so that it can be tested against an
 * independent solver; planner_plan is the bridge from a catalogue and a selection to a wire plan.
 * Bounded by nodes, never by time: same input, same bytes.
 *
 * What a plan is, in this order: as few passes as possible; the counters of a metric that fits no
 * pass in as few passes as possible; the catalogue's anchors in every pass; as many metrics
 * complete per pass as the free slots allow. Nothing after the first may cost a pass. All of it is
 * decided by names, so the order of catalogue and selection does not matter. In the plan, counters
 * are in order of source, block and name (numbers inside names by value) with an accumulator right
 * after its level counter, metrics in order of id and name, passes by number of complete metrics,
 * most first.
 */
#ifndef RETALLY_MODEL_PLANNER_H
#define RETALLY_MODEL_PLANNER_H

#include "model/catalog.h"
#include "model/selection.h"
#include "wire/plan.h"

#define PLANNER_NODES_DEFAULT 2000000

/* ---- the plain problem ---- */
struct planner_event {
	uint32_t block;     /* index into slots, or BLOCK_NONE */
	uint32_t cost;      /* slots it takes, 1 for most, 2 for a level with its accumulator */
	uint32_t exclusive; /* as in struct counter */
};
struct planner_item { /* a metric, or a single counter: all its events in one pass */
	uint32_t n_events;
	const uint32_t *events; /* ascending */
};
struct planner_problem {
	uint32_t n_blocks;
	const uint32_t *slots; /* SLOTS_UNLIMITED allowed */
	uint32_t n_events;
	const struct planner_event *events;
	uint32_t n_items;
	const struct planner_item *items; /* each fits one pass alone (planner_item_fits) */
	uint64_t max_nodes;
};
struct planner_solution {
	uint32_t n_passes;
	uint32_t *pass_of_item; /* from 0; owned */
	uint32_t lower_bound;   /* no plan with fewer passes exists */
	bool proven;            /* lower_bound == n_passes */
	uint64_t nodes;         /* placements that the exact search tried, at most max_nodes */
};
bool planner_item_fits(const struct planner_problem *p, const struct planner_item *item);
/* The order of the items does not matter; events and blocks are told apart by their index.
 * RC_NO_SLOT when an item fits no pass, RC_INVALID for an index out of range. */
int planner_solve(const struct planner_problem *p, struct planner_solution *solution_out,
		  struct error *err);
void planner_solution_release(struct planner_solution *s);

/* ---- catalogue to plan ---- */
struct planner_options {
	uint64_t max_nodes; /* 0: PLANNER_NODES_DEFAULT */
	bool no_anchors;
	const char *selection_text; /* recorded in the plan */
};
/* The plan's strings point into the catalogue: it must outlive the plan. Metrics that fit no single
 * pass are split (pass 0 in struct plan_metric). RC_NO_SLOT names a counter that no pass can hold.
 */
int planner_plan(const struct catalog *c, const struct selection *s,
		 const struct planner_options *options, struct plan *plan_out, struct error *err);

#endif
