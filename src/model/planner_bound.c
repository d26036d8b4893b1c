/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lower bounds that need no search.
 *
 * Slots: a block with demand D and S slots needs ceil(D / S) passes. Repeats tighten that. Take
 * events of the block connected through items (each item lies whole in a pass) as a component of
 * total cost n. Spread over k passes, the passes' parts overlap like a tree at least: their sum is
 * n + k - 1 or more when every event costs at least 1, and it is at most k S. So k >= (n - 1) / (S
 * - 1), and the component takes n + k - 1 slots.
 *
 * Cliques: items of which no two fit one pass together need a pass each.
 */
#include "model/planner_core.h"

#include <stdlib.h>

#define CLIQUE_ITEMS_MAX 2000

static uint32_t root_of(uint32_t *parent, uint32_t e)
{
	while (parent[e] != e) {
		parent[e] = parent[parent[e]];
		e = parent[e];
	}
	return e;
}

static int slot_bound(const struct planner_core *core, uint32_t *bound_out)
{
	uint32_t *parent = calloc((size_t)core->n_events + 1, sizeof(*parent));
	uint64_t *size = calloc((size_t)core->n_events + 1, sizeof(*size));
	uint64_t *need = calloc((size_t)core->n_blocks + 1, sizeof(*need));
	int rc = RC_NO_MEMORY;

	if (!parent || !size || !need)
		goto out;
	for (uint32_t e = 0; e < core->n_events; e++)
		parent[e] = e;
	for (uint32_t i = 0; i < core->n_items; i++) {
		const struct core_item *it = &core->items[i];

		for (uint32_t k = 1; k < it->n; k++)
			if (core->block[it->events[k]] == core->block[it->events[k - 1]])
				parent[root_of(parent, it->events[k])] =
					root_of(parent, it->events[k - 1]);
	}
	for (uint32_t e = 0; e < core->n_events; e++)
		size[root_of(parent, e)] += core->cost[e];
	for (uint32_t b = 0; b < core->n_blocks; b++)
		need[b] = core->fillers[b];
	for (uint32_t e = 0; e < core->n_events; e++) {
		uint64_t slots = core->slots[core->block[e]], n = size[e], passes = 1;

		if (root_of(parent, e) != e)
			continue;
		if (n > slots && slots > 1)
			passes = (n - 1 + slots - 2) / (slots - 1);
		need[core->block[e]] += n + passes - 1;
	}
	*bound_out = 0;
	for (uint32_t b = 0; b < core->n_blocks; b++) {
		uint64_t slots = core->slots[b];

		if (need[b] && (need[b] + slots - 1) / slots > *bound_out)
			*bound_out = (uint32_t)((need[b] + slots - 1) / slots);
	}
	rc = RC_OK;
out:
	free(parent);
	free(size);
	free(need);
	return rc;
}

/* Both lists are sorted by (block, event), so the union of a block is one run in each. */
static bool fit_together(const struct planner_core *core, const struct core_item *x,
			 const struct core_item *y)
{
	uint32_t i = 0, j = 0, block = CORE_NOWHERE, load = 0;

	while (i < x->n || j < y->n) {
		uint32_t e;

		if (j == y->n || (i < x->n && x->events[i] <= y->events[j])) {
			e = x->events[i];
			if (j < y->n && y->events[j] == e)
				j++;
			i++;
		} else {
			e = y->events[j++];
		}
		if (core->block[e] != block) {
			block = core->block[e];
			load = 0;
		}
		load += core->cost[e];
		if (load > core->slots[block])
			return false;
	}
	return true;
}

static int clique_bound(const struct planner_core *core, uint32_t *bound_out)
{
	uint32_t n = core->n_items < CLIQUE_ITEMS_MAX ? core->n_items : CLIQUE_ITEMS_MAX;
	bool *apart = calloc((size_t)n * n + 1, sizeof(*apart));
	uint32_t *degree = calloc((size_t)n + 1, sizeof(*degree));
	uint32_t *left = calloc((size_t)n + 1, sizeof(*left));
	int rc = RC_NO_MEMORY;

	*bound_out = core->n_items ? 1 : 0;
	if (!apart || !degree || !left)
		goto out;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			if (!fit_together(core, &core->items[i], &core->items[j])) {
				apart[(size_t)i * n + j] = apart[(size_t)j * n + i] = true;
				degree[i]++;
				degree[j]++;
			}
	/* Greedy from every item: add the candidate with most candidates beside it. */
	for (uint32_t start = 0; start < n; start++) {
		uint32_t n_left = 0, size = 1;

		if (degree[start] + 1 <= *bound_out)
			continue;
		for (uint32_t j = 0; j < n; j++)
			if (apart[(size_t)start * n + j])
				left[n_left++] = j;
		while (n_left && size + n_left > *bound_out) {
			uint32_t best = 0, m = 0;

			for (uint32_t a = 1; a < n_left; a++)
				if (degree[left[a]] > degree[left[best]])
					best = a;
			best = left[best];
			for (uint32_t a = 0; a < n_left; a++)
				if (apart[(size_t)best * n + left[a]])
					left[m++] = left[a];
			n_left = m;
			size++;
		}
		if (!n_left && size > *bound_out)
			*bound_out = size;
	}
	rc = RC_OK;
out:
	free(apart);
	free(degree);
	free(left);
	return rc;
}

int core_bound(const struct planner_core *core, uint32_t *bound_out, struct error *err)
{
	uint32_t slots = 0, clique = 0;
	int rc = slot_bound(core, &slots);

	if (!rc)
		rc = clique_bound(core, &clique);
	if (rc)
		return error_set(err, rc, "out of memory while planning passes");
	*bound_out = slots > clique ? slots : clique;
	return RC_OK;
}
