/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events by pass, while a plan is put together, and the second aim of planning: with the number of
 * passes settled, free slots take events a second time so that more metrics are complete per pass.
 */
#ifndef RETALLY_MODEL_PLANNER_FILL_H
#define RETALLY_MODEL_PLANNER_FILL_H

#include "model/planner.h"

struct pass_table {
	uint32_t n_passes, n_blocks, n_events;
	const uint32_t *slots;
	const struct planner_event *events;
	bool *has;       /* [pass * n_events + event] */
	uint32_t *load;  /* [pass * n_blocks + block] */
	uint32_t *class; /* per pass: its exclusive class, 0 for none */
};

int pass_table_init(struct pass_table *t, const struct planner_problem *p, uint32_t n_passes,
		    struct error *err);
void pass_table_release(struct pass_table *t);
void pass_table_add(struct pass_table *t, uint32_t pass, const struct planner_item *item);
bool pass_table_can_add(const struct pass_table *t, uint32_t pass, const struct planner_item *item);
bool pass_table_holds(const struct pass_table *t, uint32_t pass, const struct planner_item *item);
/* Adds whole wanted items (metrics) to passes with room, those first that complete most for the
 * slots they take. Greedy, and the same for the same table. */
int pass_table_fill(struct pass_table *t, const struct planner_item *wanted, uint32_t n_wanted,
		    struct error *err);

#endif
