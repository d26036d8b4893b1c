/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a plan is as it is: what is in a pass and would be nowhere without it, and why a metric is
 * complete where it is, or fits no pass. Works on a finished plan, also one read from a file, and
 * the catalogue it was made from. Results live in the caller's arena; names point into catalogue
 * and plan.
 */
#ifndef RETALLY_MODEL_PLANNER_EXPLAIN_H
#define RETALLY_MODEL_PLANNER_EXPLAIN_H

#include "base/arena.h"
#include "base/str.h"
#include "model/catalog.h"
#include "wire/plan.h"

struct explain_block {
	const char *name;
	uint32_t used;  /* slots taken: in the pass, or by the metric alone (may exceed slots) */
	uint32_t slots; /* SLOTS_UNLIMITED possible */
};

struct explain_pass {
	uint32_t pass; /* from 1 */
	const struct plan_pass *in_plan;
	uint32_t n_blocks; /* those used, by name */
	const struct explain_block *blocks;
	uint32_t n_complete; /* indices into plan->metrics, ascending */
	const uint32_t *complete;
	uint32_t n_only; /* those complete here and in no other pass */
	const uint32_t *only;
	uint32_t n_only_counters; /* counters (indices into plan->counters) in no other pass */
	const uint32_t *only_counters;
};

struct explain_metric {
	uint32_t metric; /* index into plan->metrics */
	uint32_t n_blocks;
	const struct explain_block *blocks;
	bool fits;         /* one pass could hold all its counters */
	uint32_t n_passes; /* passes (from 1) in which it is complete; for a split metric the fewest
			    */
	uint32_t *passes;  /* found that together have its counters (greedy) */
};

/* RC_INVALID when there is no such pass. */
int planner_explain_pass(const struct catalog *c, const struct plan *plan, uint32_t pass,
			 struct arena *arena, struct explain_pass *out, struct error *err);
/* Name or id. RC_NOT_FOUND when the plan has no such metric. */
int planner_explain_metric(const struct catalog *c, const struct plan *plan, const char *name,
			   struct arena *arena, struct explain_metric *out, struct error *err);
/* The same as lines of text for people, appended to text. */
int planner_explain_pass_text(const struct catalog *c, const struct plan *plan, uint32_t pass,
			      struct str *text, struct error *err);
int planner_explain_metric_text(const struct catalog *c, const struct plan *plan, const char *name,
				struct str *text, struct error *err);

#endif
