/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First guesses for the planner: first fit and best fit with sharing (an event that is already in a
 * pass costs nothing there) over several deterministic orders of the items. First fit by decreasing
 * number of events is among them, so a plan is never worse than that.
 */
#include "model/planner_core.h"

#include <stdlib.h>
#include <string.h>

enum order {
	ORDER_EVENTS,
	ORDER_VOLUME,
	ORDER_WIDEST,
	ORDER_PRESSURE,
	ORDER_SHARED,
	N_ORDERS
};
enum rule {
	RULE_FIRST,
	RULE_LEAST_ADDED,
	RULE_MOST_SHARED,
	N_RULES
};

struct ranked {
	uint32_t item;
	double key;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key > y->key)
		return -1;
	if (x->key < y->key)
		return 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

static void rank_items(const struct planner_core *core, enum order order, const uint32_t *uses,
		       const double *weight, struct ranked *ranked)
{
	for (uint32_t i = 0; i < core->n_items; i++) {
		const struct core_item *it = &core->items[i];
		double key = 0, widest = 0, run = 0;

		for (uint32_t k = 0; k < it->n; k++) {
			uint32_t e = it->events[k], b = core->block[e];
			double share = (double)core->cost[e] / (double)core->slots[b];

			run = k && core->block[it->events[k - 1]] == b ? run + share : share;
			widest = run > widest ? run : widest;
			switch (order) {
			case ORDER_EVENTS:
				key += 1;
				break;
			case ORDER_VOLUME:
			case ORDER_WIDEST:
				key += share;
				break;
			case ORDER_PRESSURE:
				key += weight[b] * core->cost[e];
				break;
			case ORDER_SHARED:
				key += share * (uses[e] > 1 ? 4.0 : 1.0);
				break;
			case N_ORDERS:
				break;
			}
		}
		if (order == ORDER_WIDEST)
			key = widest * 1000 + key;
		ranked[i] = (struct ranked){.item = i, .key = key};
	}
	if (core->n_items)
		qsort(ranked, core->n_items, sizeof(*ranked), compare_ranked);
}

/* Cost that the item would add to the pass, weighted by block, or -1 when it does not fit. */
static double added_cost(const struct planner_core *core, const struct core_bins *bins,
			 uint32_t item, uint32_t pass, const double *weight, double *shared_out)
{
	const struct core_item *it = &core->items[item];
	const uint16_t *refs = bins->refs + (size_t)pass * core->n_events;
	const uint32_t *load = bins->load + (size_t)pass * core->n_blocks;
	double added = 0, shared = 0;

	for (uint32_t k = 0; k < it->n;) {
		uint32_t b = core->block[it->events[k]], add = 0;

		for (; k < it->n && core->block[it->events[k]] == b; k++) {
			uint32_t e = it->events[k];

			if (refs[e])
				shared += weight[b] * core->cost[e];
			else
				add += core->cost[e];
		}
		if (add && load[b] + add > core->slots[b])
			return -1;
		added += weight[b] * add;
	}
	*shared_out = shared;
	return added;
}

/* One construction; false when it needs more than bins->capacity passes. */
static bool construct(const struct planner_core *core, struct core_bins *bins,
		      const struct ranked *ranked, enum rule rule, const double *weight)
{
	bins_clear(bins, core, 0);
	for (uint32_t r = 0; r < core->n_items; r++) {
		uint32_t item = ranked[r].item, best = CORE_NOWHERE;
		double best_value = 0;

		for (uint32_t k = 0; k < bins->n; k++) {
			double shared, value;
			double added = added_cost(core, bins, item, k, weight, &shared);

			if (added < 0)
				continue;
			value = rule == RULE_MOST_SHARED ? shared - added / 64 : -added;
			if (best == CORE_NOWHERE || value > best_value) {
				best = k;
				best_value = value;
			}
			if (rule == RULE_FIRST)
				break;
		}
		if (best == CORE_NOWHERE) {
			if (bins->n == bins->capacity)
				return false;
			best = bins->n++;
		}
		bins_add(bins, core, item, best);
	}
	while (!core_fillers_fit(core, bins->load, bins->n)) {
		if (bins->n == bins->capacity)
			return false;
		bins->n++;
	}
	return true;
}

int core_greedy(const struct planner_core *core, uint32_t limit, uint32_t *pass_of_item,
		uint32_t *n_passes_out, struct error *err)
{
	struct core_bins bins = {0};
	struct ranked *ranked = calloc((size_t)core->n_items + 1, sizeof(*ranked));
	uint32_t *uses = calloc((size_t)core->n_events + 1, sizeof(*uses));
	double *weight = calloc((size_t)core->n_blocks + 1, sizeof(*weight));
	int rc = bins_init(&bins, core, limit, err);

	*n_passes_out = CORE_NOWHERE;
	if (rc || !ranked || !uses || !weight) {
		rc = rc ? rc : error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
		goto out;
	}
	for (uint32_t i = 0; i < core->n_items; i++)
		for (uint32_t k = 0; k < core->items[i].n; k++)
			uses[core->items[i].events[k]]++;
	for (uint32_t b = 0; b < core->n_blocks; b++)
		weight[b] = core->slots[b] ? (double)core->demand[b] / core->slots[b] /
						     (double)core->slots[b]
					   : 0;
	for (int o = 0; o < N_ORDERS; o++) {
		rank_items(core, (enum order)o, uses, weight, ranked);
		for (int r = 0; r < N_RULES; r++) {
			if (!construct(core, &bins, ranked, (enum rule)r, weight) ||
			    bins.n >= *n_passes_out)
				continue;
			*n_passes_out = bins.n;
			memcpy(pass_of_item, bins.pass_of, core->n_items * sizeof(*pass_of_item));
		}
	}
out:
	bins_release(&bins);
	free(ranked);
	free(uses);
	free(weight);
	return rc;
}
