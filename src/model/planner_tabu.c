/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tabu search for a plan of a given number of passes. All items are always placed; what is driven
 * to zero is the excess: slots used beyond a block's slots in any pass, and fillers for which no
 * slot is left. Blocks that stay in excess get heavier over time, which leads out of local minima.
 * Seeded and counted in moves looked at, so the result is the same on every machine.
 */
#include "model/planner_core.h"

#include <stdlib.h>
#include <string.h>

struct tabu {
	const struct planner_core *core;
	struct core_bins bins;
	uint32_t n;       /* passes */
	int64_t *space;   /* per block: free slots over all passes */
	uint32_t *weight; /* per block */
	uint64_t *until;  /* [item * n + pass]: not to return before this step */
	uint64_t rng;
};

static uint32_t random_below(struct tabu *t, uint32_t n)
{
	/* xorshift64*: small, and the same everywhere */
	t->rng ^= t->rng >> 12;
	t->rng ^= t->rng << 25;
	t->rng ^= t->rng >> 27;
	return (uint32_t)(((t->rng * 0x2545F4914F6CDD1Dull) >> 33) % n);
}

static int64_t over(int64_t load, int64_t slots)
{
	return load > slots ? load - slots : 0;
}

static int64_t short_of(int64_t fillers, int64_t space)
{
	return fillers > space ? fillers - space : 0;
}

/* Excess of the whole plan, unweighted; also recounts the free slots. */
static int64_t total_excess(struct tabu *t)
{
	const struct planner_core *core = t->core;
	int64_t excess = 0;

	for (uint32_t b = 0; b < core->n_blocks; b++) {
		t->space[b] = 0;
		for (uint32_t k = 0; k < t->n; k++) {
			int64_t load = t->bins.load[(size_t)k * core->n_blocks + b];

			excess += over(load, core->slots[b]);
			t->space[b] += over(core->slots[b], load);
		}
		excess += short_of(core->fillers[b], t->space[b]);
	}
	return excess;
}

/* Change of the weighted and the plain excess when the item goes to pass `to`. */
static int64_t move_gain(const struct tabu *t, uint32_t item, uint32_t to, int64_t *plain_out)
{
	const struct planner_core *core = t->core;
	const struct core_item *it = &core->items[item];
	uint32_t from = t->bins.pass_of[item];
	const uint16_t *refs_from = t->bins.refs + (size_t)from * core->n_events;
	const uint16_t *refs_to = t->bins.refs + (size_t)to * core->n_events;
	const uint32_t *load_from = t->bins.load + (size_t)from * core->n_blocks;
	const uint32_t *load_to = t->bins.load + (size_t)to * core->n_blocks;
	int64_t weighted = 0, plain = 0;

	for (uint32_t k = 0; k < it->n;) {
		uint32_t b = core->block[it->events[k]];
		int64_t off = 0, on = 0, slots = core->slots[b], change, space;
		int64_t a = load_from[b], c = load_to[b];

		for (; k < it->n && core->block[it->events[k]] == b; k++) {
			uint32_t e = it->events[k];

			off += refs_from[e] == 1 ? core->cost[e] : 0;
			on += refs_to[e] ? 0 : core->cost[e];
		}
		change = over(a - off, slots) - over(a, slots) + over(c + on, slots) -
			 over(c, slots);
		if (core->fillers[b]) {
			space = t->space[b] + over(slots, a - off) - over(slots, a) +
				over(slots, c + on) - over(slots, c);
			change += short_of(core->fillers[b], space) -
				  short_of(core->fillers[b], t->space[b]);
		}
		plain += change;
		weighted += change * t->weight[b];
	}
	*plain_out = plain;
	return weighted;
}

static void weigh_blocks(struct tabu *t)
{
	const struct planner_core *core = t->core;

	for (uint32_t b = 0; b < core->n_blocks; b++) {
		bool bad = t->space[b] < core->fillers[b];

		for (uint32_t k = 0; k < t->n && !bad; k++)
			bad = t->bins.load[(size_t)k * core->n_blocks + b] > core->slots[b];
		if (bad)
			t->weight[b]++;
		if (t->weight[b] > 1000)
			for (uint32_t c = 0; c < core->n_blocks; c++)
				t->weight[c] = (t->weight[c] + 1) / 2;
	}
}

/* True when moving the item can matter: its pass is over in a block of the item, or the item
 * repeats or takes slots of a block short of them. */
static bool is_involved(const struct tabu *t, uint32_t item)
{
	const struct planner_core *core = t->core;
	const struct core_item *it = &core->items[item];
	const uint32_t *load = t->bins.load + (size_t)t->bins.pass_of[item] * core->n_blocks;

	for (uint32_t k = 0; k < it->n; k++) {
		uint32_t b = core->block[it->events[k]];

		if (load[b] > core->slots[b] || t->space[b] < core->fillers[b])
			return true;
	}
	return false;
}

static bool walk(struct tabu *t, uint64_t effort)
{
	const struct planner_core *core = t->core;
	int64_t excess = total_excess(t), best_excess = excess;
	uint64_t looked = 0, since_best = 0;

	for (uint64_t step = 1; excess > 0 && looked < effort; step++) {
		int64_t best = INT64_MAX;
		uint32_t best_item = CORE_NOWHERE, best_pass = 0, ties = 0;
		/* Now and then any item may move: it makes room for the ones that must. */
		bool all = step % 4 == 0;

		for (uint32_t i = 0; i < core->n_items; i++) {
			if (!all && !is_involved(t, i))
				continue;
			for (uint32_t k = 0; k < t->n; k++) {
				int64_t plain, gain;

				if (k == t->bins.pass_of[i])
					continue;
				looked++;
				gain = move_gain(t, i, k, &plain);
				if (t->until[(size_t)i * t->n + k] > step &&
				    excess + plain >= best_excess)
					continue;
				if (gain < best) {
					best = gain;
					ties = 1;
				} else if (gain > best || random_below(t, ++ties)) {
					continue;
				}
				best_item = i;
				best_pass = k;
			}
		}
		if (best_item == CORE_NOWHERE) {
			looked += core->n_items;
			continue;
		}
		if (best >= 0)
			weigh_blocks(t);
		t->until[(size_t)best_item * t->n + t->bins.pass_of[best_item]] =
			step + 5 + random_below(t, 8 + core->n_items / 8);
		bins_remove(&t->bins, core, best_item);
		bins_add(&t->bins, core, best_item, best_pass);
		excess = total_excess(t);
		if (excess < best_excess) {
			best_excess = excess;
			since_best = 0;
		} else if (++since_best % 2000 == 0) {
			/* Long without progress: start the weights and the tabu list again. */
			for (uint32_t b = 0; b < core->n_blocks; b++)
				t->weight[b] = 1;
			memset(t->until, 0, (size_t)core->n_items * t->n * sizeof(*t->until));
		}
	}
	return excess == 0;
}

int core_tabu(const struct planner_core *core, uint32_t n_passes, uint64_t effort, uint64_t seed,
	      uint32_t *pass_of_item, bool *found_out, struct error *err)
{
	struct tabu t = {.core = core, .n = n_passes, .rng = seed * 0x9E3779B97F4A7C15ull | 1};
	int rc = bins_init(&t.bins, core, n_passes, err);

	*found_out = false;
	t.space = calloc((size_t)core->n_blocks + 1, sizeof(*t.space));
	t.weight = calloc((size_t)core->n_blocks + 1, sizeof(*t.weight));
	t.until = calloc((size_t)core->n_items * n_passes + 1, sizeof(*t.until));
	if (rc || !t.space || !t.weight || !t.until) {
		rc = rc ? rc : error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
		goto out;
	}
	bins_clear(&t.bins, core, n_passes);
	for (uint32_t b = 0; b < core->n_blocks; b++)
		t.weight[b] = 1;
	for (uint32_t i = 0; i < core->n_items; i++) {
		uint32_t k = pass_of_item[i];

		bins_add(&t.bins, core, i, k < n_passes ? k : random_below(&t, n_passes));
	}
	if (n_passes)
		*found_out = walk(&t, effort);
	if (*found_out)
		memcpy(pass_of_item, t.bins.pass_of, core->n_items * sizeof(*pass_of_item));
out:
	bins_release(&t.bins);
	free(t.space);
	free(t.weight);
	free(t.until);
	return rc;
}
