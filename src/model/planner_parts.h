/* SPDX-License-Identifier: Apache-2.0 */
/* A plan in the making, between planner_plan.c, which decides, and planner_emit.c, which writes. */
#ifndef RETALLY_MODEL_PLANNER_PARTS_H
#define RETALLY_MODEL_PLANNER_PARTS_H

#include "model/planner_core.h"
#include "model/planner_events.h"
#include "model/planner_fill.h"

struct parts {
	struct arena arena;
	const struct catalog *catalog;
	const struct selection *selection;
	struct event_table table; /* of needed counters and of all possible anchors */
	bool *needed;             /* per place in table: not only there as a possible anchor */
	bool *anchor;             /* per place: an anchor that was chosen, or its level counter */
	bool *anchored;           /* per event: in every pass because of an anchor; may be NULL */
	uint32_t n_metrics;
	const uint32_t *metrics;           /* catalogue indices in plan order */
	struct planner_item *metric_items; /* their events */
	bool *fits;                        /* one pass can hold all of them */
	uint32_t n_asked;
	const uint32_t *asked; /* counters named by the user, ascending */
	struct planner_problem problem;
	VEC(struct planner_item) items; /* what was solved for */
	uint32_t *pass_of_item;
	uint32_t n_passes, lower_bound;
	bool proven;
	uint64_t nodes;
	struct pass_table passes;
};

/* Writes the parts down; plan_out holds nothing on error. */
int planner_emit(const struct parts *parts, const char *selection_text, struct plan *plan_out,
		 struct error *err);

#endif
