/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware events behind a list of catalogue counters: counters of one (block, event text)
 * share an event, an accumulator brings its level counter. Everything is numbered by name, so the
 * table is the same for any order of the catalogue or the list. Shared by planner_plan.c and
 * planner_explain.c.
 */
#ifndef RETALLY_MODEL_PLANNER_EVENTS_H
#define RETALLY_MODEL_PLANNER_EVENTS_H

#include "base/arena.h"
#include "model/planner.h"

struct event_table {
	struct arena arena;
	const struct catalog *catalog;
	/* The counters and the level counters they need, in canonical order: by source, block,
	 * name; numbers inside names by value; an accumulator right after its level counter. */
	uint32_t n_counters;
	const uint32_t *counters; /* catalogue indices */
	const uint32_t *place;    /* catalogue index -> place in counters, or UINT32_MAX */
	const uint32_t *event_of; /* place -> event */
	uint32_t n_events;
	const struct planner_event *events; /* block: place in blocks, or BLOCK_NONE */
	uint32_t n_blocks;
	const uint32_t *blocks; /* catalogue indices by name */
	const uint32_t *slots;
};

int event_table_init(struct event_table *t, const struct catalog *c, const uint32_t *counters,
		     uint32_t n, struct error *err);
void event_table_release(struct event_table *t);
/* Adds the events of a counter (catalogue index), its level's included, to list; returns the new
 * length. At most EVENTS_OF_COUNTER_MAX are added; the list is not sorted. */
#define EVENTS_OF_COUNTER_MAX 4
uint32_t event_table_add(const struct event_table *t, uint32_t counter, uint32_t *list, uint32_t n);
/* Sorts and drops duplicates; returns the new length. */
uint32_t event_list_sort(uint32_t *list, uint32_t n);
/* Byte order, but digits compare as numbers: "X[2]" before "X[10]". Ignores the locale. */
int name_compare(const char *a, const char *b);

#endif
