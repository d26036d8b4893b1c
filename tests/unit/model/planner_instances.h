/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planner problems for tests and benchmarks: seeded random ones, and an independent check of a
 * solution. Nothing here uses the planner's own code.
 */
#ifndef RETALLY_TESTS_PLANNER_INSTANCES_H
#define RETALLY_TESTS_PLANNER_INSTANCES_H

#include "base/arena.h"
#include "model/planner.h"

struct instance {
	struct arena arena;
	struct planner_problem problem;
};

struct instance_shape {
	uint32_t n_blocks; /* of the ten of an MI300, in order of the table; at most 10 */
	uint32_t n_items;
	uint32_t events_max;   /* per item */
	uint32_t pool;         /* events of a block per slot of it */
	uint32_t pairs_of_100; /* chance that an event costs 2 */
	uint32_t classes;      /* exclusive classes; 0: none */
};

uint64_t instance_random(uint64_t *state);
void instance_make(struct instance *in, const struct instance_shape *shape, uint64_t seed);
void instance_release(struct instance *in);

/* Checks a solution from the problem alone; prints what is wrong to stderr and returns false. */
bool instance_check(const struct planner_problem *p, const uint32_t *pass_of_item,
		    uint32_t n_passes);
/* Passes of first fit by decreasing number of events, the yardstick of published tools. */
uint32_t instance_first_fit(const struct planner_problem *p);
/* Fewest passes by trying everything; for up to about 9 items. */
uint32_t instance_brute_force(const struct planner_problem *p);
/* max over blocks of ceil(distinct events / slots). */
uint32_t instance_slot_bound(const struct planner_problem *p);

#endif
