/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random planner problems after the model of published comparisons: ten blocks with the slots of an
 * MI300, metrics of one to eight counters with shared bases; and plain, slow checks of solutions.
 */
#include "planner_instances.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t mi300_slots[] = {8, 6, 4, 4, 4, 2, 2, 2, 2, 2};

uint64_t instance_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15ull);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
	return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(instance_random(state) % n);
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void instance_make(struct instance *in, const struct instance_shape *shape, uint64_t seed)
{
	uint64_t rng = seed * 1000003 + shape->n_items;
	uint32_t first[11], n_events = 0;
	struct planner_event *events;
	struct planner_item *items;
	uint32_t *slots;

	*in = (struct instance){0};
	slots = arena_array(&in->arena, shape->n_blocks, sizeof(*slots));
	for (uint32_t b = 0; b < shape->n_blocks; b++) {
		slots[b] = mi300_slots[b];
		first[b] = n_events;
		n_events += shape->pool * slots[b];
	}
	first[shape->n_blocks] = n_events;
	events = arena_array(&in->arena, n_events, sizeof(*events));
	for (uint32_t b = 0; b < shape->n_blocks; b++)
		for (uint32_t e = first[b]; e < first[b + 1]; e++) {
			events[e].block = b;
			events[e].cost = below(&rng, 100) < shape->pairs_of_100 ? 2 : 1;
			if (shape->classes && below(&rng, 4) == 0)
				events[e].exclusive = 1 + below(&rng, shape->classes);
		}
	items = arena_array(&in->arena, shape->n_items + 1, sizeof(*items));
	in->problem = (struct planner_problem){.n_blocks = shape->n_blocks,
					       .slots = slots,
					       .n_events = n_events,
					       .events = events,
					       .n_items = shape->n_items,
					       .items = items,
					       .max_nodes = PLANNER_NODES_DEFAULT};
	for (uint32_t i = 0; i < shape->n_items;) {
		uint32_t n = 1 + below(&rng, shape->events_max), n_homes = 1 + below(&rng, 6);
		uint32_t homes[6], m = 0;
		uint32_t *list = arena_array(&in->arena, n, sizeof(*list));

		for (uint32_t h = 0; h < n_homes; h++)
			homes[h] = below(&rng, shape->n_blocks);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t b = homes[below(&rng, n_homes)];
			uint32_t width = first[b + 1] - first[b];

			/* one in three are one of the block's two bases */
			if (below(&rng, 3) < 1)
				width = 2;
			list[k] = first[b] + below(&rng, width);
		}
		qsort(list, n, sizeof(*list), compare_u32);
		for (uint32_t k = 0; k < n; k++)
			if (!m || list[m - 1] != list[k])
				list[m++] = list[k];
		items[i].n_events = m;
		items[i].events = list;
		if (planner_item_fits(&in->problem, &items[i]))
			i++;
	}
}

void instance_release(struct instance *in)
{
	arena_release(&in->arena);
}

/* ---- passes as plain tables ---- */

struct table {
	const struct planner_problem *p;
	uint8_t *has; /* [pass * n_events + event]: items that need it there */
	uint32_t n;
};

static bool pass_holds(const struct table *t, uint32_t pass, const struct planner_item *extra)
{
	const struct planner_problem *p = t->p;
	uint32_t class = 0;
	bool ok = true;
	uint64_t *load = calloc((size_t)p->n_blocks + 1, sizeof(*load));
	uint8_t *has = calloc((size_t)p->n_events + 1, 1);

	memcpy(has, t->has + (size_t)pass * p->n_events, p->n_events);
	for (uint32_t k = 0; extra && k < extra->n_events; k++)
		has[extra->events[k]] = 1;
	for (uint32_t e = 0; e < p->n_events && ok; e++) {
		if (!has[e])
			continue;
		if (p->events[e].block != BLOCK_NONE) {
			load[p->events[e].block] += p->events[e].cost;
			ok = load[p->events[e].block] <= p->slots[p->events[e].block];
		}
		if (p->events[e].exclusive) {
			ok = ok && (!class || class == p->events[e].exclusive);
			class = p->events[e].exclusive;
		}
	}
	free(load);
	free(has);
	return ok;
}

static void table_add(struct table *t, uint32_t pass, const struct planner_item *item, int by)
{
	for (uint32_t k = 0; k < item->n_events; k++) {
		uint8_t *h = &t->has[(size_t)pass * t->p->n_events + item->events[k]];

		*h = (uint8_t)(*h + by);
	}
}

static void table_init(struct table *t, const struct planner_problem *p, uint32_t n)
{
	t->p = p;
	t->n = 0;
	t->has = calloc((size_t)(n + 1) * (p->n_events + 1), 1);
}

bool instance_check(const struct planner_problem *p, const uint32_t *pass_of_item,
		    uint32_t n_passes)
{
	struct table t;
	bool ok = true;

	table_init(&t, p, n_passes);
	for (uint32_t i = 0; i < p->n_items; i++) {
		const struct planner_item *item = &p->items[i];

		if (pass_of_item[i] >= n_passes) {
			fprintf(stderr, "# item %u is in pass %u of %u\n", i, pass_of_item[i],
				n_passes);
			ok = false;
			continue;
		}
		for (uint32_t k = 0; k < item->n_events; k++)
			t.has[(size_t)pass_of_item[i] * p->n_events + item->events[k]] = 1;
	}
	for (uint32_t k = 0; k < n_passes; k++)
		if (!pass_holds(&t, k, NULL)) {
			fprintf(stderr, "# pass %u holds more than it can\n", k);
			ok = false;
		}
	free(t.has);
	return ok;
}

static const struct planner_problem *sorted_problem;

static int compare_by_events(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t n = sorted_problem->items[x].n_events, m = sorted_problem->items[y].n_events;

	return n != m ? (n > m ? -1 : 1) : x < y ? -1 : x > y;
}

uint32_t instance_first_fit(const struct planner_problem *p)
{
	struct table t;
	uint32_t *order = calloc((size_t)p->n_items + 1, sizeof(*order));
	uint32_t n;

	table_init(&t, p, p->n_items);
	for (uint32_t i = 0; i < p->n_items; i++)
		order[i] = i;
	sorted_problem = p;
	if (p->n_items)
		qsort(order, p->n_items, sizeof(*order), compare_by_events);
	for (uint32_t r = 0; r < p->n_items; r++) {
		const struct planner_item *item = &p->items[order[r]];
		uint32_t k = 0;

		while (k < t.n && !pass_holds(&t, k, item))
			k++;
		if (k == t.n)
			t.n++;
		table_add(&t, k, item, 1);
	}
	n = t.n;
	free(t.has);
	free(order);
	return n;
}

static void brute(struct table *t, uint32_t item, uint32_t *best)
{
	if (t->n >= *best)
		return;
	if (item == t->p->n_items) {
		*best = t->n;
		return;
	}
	for (uint32_t k = 0; k <= t->n; k++) {
		bool opened = k == t->n;

		if (opened)
			t->n++;
		if (pass_holds(t, k, &t->p->items[item])) {
			table_add(t, k, &t->p->items[item], 1);
			brute(t, item + 1, best);
			table_add(t, k, &t->p->items[item], -1);
		}
		if (opened) {
			t->n--;
			break;
		}
	}
}

uint32_t instance_brute_force(const struct planner_problem *p)
{
	uint32_t best = p->n_items + 1;
	struct table t;

	table_init(&t, p, p->n_items + 1);
	brute(&t, 0, &best);
	free(t.has);
	return best;
}

uint32_t instance_slot_bound(const struct planner_problem *p)
{
	uint64_t *demand = calloc((size_t)p->n_blocks + 1, sizeof(*demand));
	uint8_t *used = calloc((size_t)p->n_events + 1, 1);
	uint64_t bound = 0;

	for (uint32_t i = 0; i < p->n_items; i++)
		for (uint32_t k = 0; k < p->items[i].n_events; k++)
			used[p->items[i].events[k]] = 1;
	for (uint32_t e = 0; e < p->n_events; e++)
		if (used[e] && p->events[e].block != BLOCK_NONE)
			demand[p->events[e].block] += p->events[e].cost;
	for (uint32_t b = 0; b < p->n_blocks; b++)
		if (p->slots[b] && (demand[b] + p->slots[b] - 1) / p->slots[b] > bound)
			bound = (demand[b] + p->slots[b] - 1) / p->slots[b];
	free(demand);
	free(used);
	return (uint32_t)bound;
}
