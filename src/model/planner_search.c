/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact search: can the items be placed in a given number of passes? Depth first over whole items,
 * the item with the fewest possible passes first; passes still empty are alike, so only the first
 * of them is tried. Four things cut the tree:
 *  - an item all of whose events are in a pass already is put there at no cost;
 *  - an item that fits nowhere any more ends the branch;
 *  - repeats: a block may repeat only as many slots as passes * slots exceed its demand. Repeats
 * made are counted off, and repeats that unplaced items will force are summed up over disjoint
 * items;
 *  - states seen before (same loads, same still useful events in the passes, same items left).
 * One node is one placement tried.
 */
#include "model/planner_core.h"

#include <stdlib.h>
#include <string.h>

#define SEEN_SIZE      (1u << 16)
#define BLOCKS_TRACKED 16 /* of an item, for the sum of forced repeats; more only weaken it */

struct seen {
	uint64_t a, b;
};

struct search {
	const struct planner_core *core;
	uint32_t n_passes;
	uint32_t words; /* of an event set */
	uint64_t nodes_left;
	bool exhausted;
	uint64_t *masks;   /* [pass]: events in it */
	uint32_t *load;    /* [pass * n_blocks + block] */
	uint32_t *covered; /* per event: passes that have it */
	uint32_t *wanted;  /* per event: unplaced items that have it */
	int64_t *slack;    /* per block: repeats still affordable */
	uint32_t *pass_of;
	uint32_t n_used;    /* passes in use; they are 0 .. n_used - 1 */
	uint64_t *options;  /* [depth * n_items + item]: bit set of used passes that can take it */
	uint64_t *hash_of;  /* per item */
	uint64_t left_hash; /* of the unplaced items */
	double *volume;     /* per item, for ties */
	struct seen *seen;
	uint64_t *claimed; /* event set, scratch */
	int64_t *forced;   /* per block, scratch */
	uint32_t *order;   /* [depth * CORE_SEARCH_MAX]: passes to try */
};

static bool has_event(const uint64_t *set, uint32_t e)
{
	return set[e / 64] >> (e % 64) & 1;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
	return x ^ (x >> 31);
}

/* Room in the pass for what the item adds there, per block. */
static bool fits(const struct search *s, uint32_t item, uint32_t pass)
{
	const struct planner_core *core = s->core;
	const struct core_item *it = &core->items[item];
	const uint64_t *mask = s->masks + (size_t)pass * s->words;
	const uint32_t *load = s->load + (size_t)pass * core->n_blocks;

	for (uint32_t k = 0; k < it->n;) {
		uint32_t b = core->block[it->events[k]], add = 0;

		for (; k < it->n && core->block[it->events[k]] == b; k++)
			if (!has_event(mask, it->events[k]))
				add += core->cost[it->events[k]];
		if (add && load[b] + add > core->slots[b])
			return false;
	}
	return true;
}

/* Repeats per block that the item would make in the pass (UINT32_MAX: a new one) stay affordable.
 * Lowers least[] (aligned with the item's blocks in order) to what it would make. */
static bool affordable(const struct search *s, uint32_t item, uint32_t pass, uint32_t *least)
{
	const struct planner_core *core = s->core;
	const struct core_item *it = &core->items[item];
	const uint64_t *mask = pass == UINT32_MAX ? NULL : s->masks + (size_t)pass * s->words;
	uint32_t repeats[BLOCKS_TRACKED];
	uint32_t n = 0;

	for (uint32_t k = 0; k < it->n; n++) {
		uint32_t b = core->block[it->events[k]], repeat = 0;

		for (; k < it->n && core->block[it->events[k]] == b; k++) {
			uint32_t e = it->events[k];

			if (s->covered[e] && !(mask && has_event(mask, e)))
				repeat += core->cost[e];
		}
		if (repeat > s->slack[b])
			return false;
		if (n < BLOCKS_TRACKED)
			repeats[n] = repeat;
	}
	for (uint32_t k = 0; k < n && k < BLOCKS_TRACKED; k++)
		if (repeats[k] < least[k])
			least[k] = repeats[k];
	return true;
}

static void place(struct search *s, uint32_t item, uint32_t pass)
{
	const struct planner_core *core = s->core;
	const struct core_item *it = &core->items[item];
	uint64_t *mask = s->masks + (size_t)pass * s->words;
	uint32_t *load = s->load + (size_t)pass * core->n_blocks;

	for (uint32_t k = 0; k < it->n; k++) {
		uint32_t e = it->events[k];

		s->wanted[e]--;
		if (has_event(mask, e))
			continue;
		mask[e / 64] |= 1ull << (e % 64);
		load[core->block[e]] += core->cost[e];
		if (s->covered[e]++)
			s->slack[core->block[e]] -= core->cost[e];
	}
	s->pass_of[item] = pass;
	s->left_hash ^= s->hash_of[item];
}

/* Undo of place: `had` is the pass's event set from before. */
static void unplace(struct search *s, uint32_t item, const uint64_t *had)
{
	const struct planner_core *core = s->core;
	const struct core_item *it = &core->items[item];
	uint32_t pass = s->pass_of[item];
	uint64_t *mask = s->masks + (size_t)pass * s->words;
	uint32_t *load = s->load + (size_t)pass * core->n_blocks;

	for (uint32_t k = 0; k < it->n; k++) {
		uint32_t e = it->events[k];

		s->wanted[e]++;
		if (has_event(had, e))
			continue;
		mask[e / 64] &= ~(1ull << (e % 64));
		load[core->block[e]] -= core->cost[e];
		if (--s->covered[e])
			s->slack[core->block[e]] += core->cost[e];
	}
	s->pass_of[item] = CORE_NOWHERE;
	s->left_hash ^= s->hash_of[item];
}

/* 128 bits over what decides the rest: independent of the numbering of passes. */
static struct seen state_key(const struct search *s)
{
	const struct planner_core *core = s->core;
	struct seen key = {.a = s->left_hash, .b = mix(s->left_hash ^ 0x51ED270B)};

	for (uint32_t w = 0; w < s->words; w++) {
		s->claimed[w] = 0;
		for (uint32_t e = w * 64; e < core->n_events && e < w * 64 + 64; e++)
			s->claimed[w] |= (uint64_t)(s->wanted[e] > 0) << (e % 64);
	}
	for (uint32_t k = 0; k < s->n_used; k++) {
		uint64_t h = 0x9E3779B97F4A7C15ull;

		for (uint32_t w = 0; w < s->words; w++)
			h = mix(h ^ (s->masks[(size_t)k * s->words + w] & s->claimed[w])) + w;
		for (uint32_t b = 0; b < core->n_blocks; b++)
			h = mix(h +
				s->load[(size_t)k * core->n_blocks + b] * 0xD6E8FEB86659FD93ull +
				b);
		key.a += h;
		key.b += mix(h ^ 0xA5A5A5A5A5A5A5A5ull);
	}
	return key;
}

/* Chooses the item to place next, or finds that the branch is dead. Returns false when dead;
 * *item_out is CORE_NOWHERE when nothing is left. */
static bool choose(struct search *s, uint64_t *options, uint32_t *item_out)
{
	const struct planner_core *core = s->core;
	int best = INT32_MAX;
	double best_volume = 0;
	bool may_open = s->n_used < s->n_passes;

	*item_out = CORE_NOWHERE;
	memset(s->claimed, 0, s->words * sizeof(*s->claimed));
	memset(s->forced, 0, core->n_blocks * sizeof(*s->forced));
	for (uint32_t i = 0; i < core->n_items; i++) {
		const struct core_item *it = &core->items[i];
		uint32_t least[BLOCKS_TRACKED];
		uint64_t set = options[i];
		bool open = may_open, disjoint = true;
		int count;

		if (s->pass_of[i] != CORE_NOWHERE)
			continue;
		memset(least, 0xFF, sizeof(least));
		for (uint64_t rest = set; rest; rest &= rest - 1) {
			uint32_t k = (uint32_t)__builtin_ctzll(rest);

			if (!affordable(s, i, k, least))
				set &= ~(1ull << k);
		}
		/* Slack only shrinks on the way down, so the option is gone for good below here. */
		options[i] = set;
		if (open && !affordable(s, i, UINT32_MAX, least))
			open = false;
		count = __builtin_popcountll(set) + (open ? 1 : 0);
		if (!count)
			return false;
		for (uint32_t k = 0; k < it->n && disjoint; k++)
			disjoint = !has_event(s->claimed, it->events[k]);
		if (disjoint) {
			bool forces = false;
			uint32_t n = 0;

			for (uint32_t k = 0; k < it->n; n++) {
				uint32_t b = core->block[it->events[k]];

				while (k < it->n && core->block[it->events[k]] == b)
					k++;
				if (n < BLOCKS_TRACKED && least[n]) {
					forces = true;
					s->forced[b] += least[n];
					if (s->forced[b] > s->slack[b])
						return false;
				}
			}
			for (uint32_t k = 0; k < it->n && forces; k++)
				s->claimed[it->events[k] / 64] |= 1ull << (it->events[k] % 64);
		}
		if (count < best || (count == best && s->volume[i] > best_volume)) {
			best = count;
			best_volume = s->volume[i];
			*item_out = i;
		}
	}
	return true;
}

/* Cost the item adds to the pass, over all blocks, weighted by slots. */
static double added(const struct search *s, uint32_t item, uint32_t pass)
{
	const struct planner_core *core = s->core;
	const struct core_item *it = &core->items[item];
	const uint64_t *mask = s->masks + (size_t)pass * s->words;
	double sum = 0;

	for (uint32_t k = 0; k < it->n; k++)
		if (!has_event(mask, it->events[k]))
			sum += (double)core->cost[it->events[k]] /
			       (double)core->slots[core->block[it->events[k]]];
	return sum;
}

/* Passes to try for the item, least added first; *free_out when one costs nothing. */
static uint32_t rank_passes(const struct search *s, uint32_t item, uint64_t set, uint32_t *order,
			    bool *free_out)
{
	double value[CORE_SEARCH_MAX];
	uint32_t n = 0;

	*free_out = false;
	for (; set; set &= set - 1) {
		uint32_t k = (uint32_t)__builtin_ctzll(set), at;
		double v = added(s, item, k);

		if (v <= 0) {
			order[0] = k;
			*free_out = true;
			return 1;
		}
		for (at = n++; at && value[at - 1] > v; at--) {
			value[at] = value[at - 1];
			order[at] = order[at - 1];
		}
		value[at] = v;
		order[at] = k;
	}
	return n;
}

static bool descend(struct search *s, uint32_t depth)
{
	const struct planner_core *core = s->core;
	uint64_t *options = s->options + (size_t)depth * core->n_items;
	uint64_t *next = options + core->n_items;
	uint32_t *order = s->order + (size_t)depth * CORE_SEARCH_MAX;
	uint64_t *had = s->masks + ((size_t)s->n_passes + depth) * s->words;
	struct seen key, *slot;
	uint32_t item, n;
	bool free_of_cost;

	if (!choose(s, options, &item))
		return false;
	if (item == CORE_NOWHERE)
		return core_fillers_fit(core, s->load, s->n_passes);
	key = state_key(s);
	slot = &s->seen[key.a % SEEN_SIZE];
	if (slot->a == key.a && slot->b == key.b)
		return false;
	n = rank_passes(s, item, options[item], order, &free_of_cost);
	if (!free_of_cost && s->n_used < s->n_passes)
		order[n++] = s->n_used;
	for (uint32_t t = 0; t < n; t++) {
		uint32_t pass = order[t], used = s->n_used;
		bool ok;

		if (pass == used) {
			uint32_t least[BLOCKS_TRACKED];

			memset(least, 0xFF, sizeof(least));
			if (!affordable(s, item, UINT32_MAX, least))
				continue;
		}
		if (!s->nodes_left) {
			s->exhausted = true;
			return false;
		}
		s->nodes_left--;
		memcpy(had, s->masks + (size_t)pass * s->words, s->words * sizeof(*had));
		place(s, item, pass);
		if (pass == used)
			s->n_used++;
		memcpy(next, options, core->n_items * sizeof(*next));
		for (uint32_t j = 0; j < core->n_items; j++) {
			if (s->pass_of[j] != CORE_NOWHERE)
				continue;
			if (pass == used || next[j] >> pass & 1)
				next[j] = fits(s, j, pass) ? next[j] | 1ull << pass
							   : next[j] & ~(1ull << pass);
		}
		ok = descend(s, depth + 1);
		if (ok)
			return true;
		unplace(s, item, had);
		s->n_used = used;
		if (s->exhausted)
			return false;
	}
	*slot = key;
	return false;
}

static void prepare(struct search *s)
{
	const struct planner_core *core = s->core;

	for (uint32_t b = 0; b < core->n_blocks; b++)
		s->slack[b] = (int64_t)s->n_passes * core->slots[b] - (int64_t)core->demand[b];
	for (uint32_t i = 0; i < core->n_items; i++) {
		const struct core_item *it = &core->items[i];

		s->pass_of[i] = CORE_NOWHERE;
		s->hash_of[i] = mix(i + 0x1234567ull);
		s->left_hash ^= s->hash_of[i];
		for (uint32_t k = 0; k < it->n; k++) {
			uint32_t b = core->block[it->events[k]];

			s->wanted[it->events[k]]++;
			s->volume[i] += (double)core->cost[it->events[k]] *
					(double)core->demand[b] /
					((double)core->slots[b] * (double)core->slots[b]);
		}
	}
}

int core_search(const struct planner_core *core, uint32_t n_passes, uint64_t *nodes,
		uint32_t *pass_of_item, enum core_answer *answer_out, struct error *err)
{
	struct search s = {.core = core, .n_passes = n_passes, .nodes_left = *nodes};
	size_t n = (size_t)core->n_items + 1;
	int rc = RC_OK;

	*answer_out = CORE_UNKNOWN;
	for (uint32_t b = 0; b < core->n_blocks; b++)
		if ((uint64_t)n_passes * core->slots[b] < core->demand[b]) {
			*answer_out = CORE_NO;
			return RC_OK;
		}
	if (n_passes > CORE_SEARCH_MAX || core->n_items > 4096)
		return RC_OK;
	s.words = core->n_events / 64 + 1;
	s.masks = calloc((n_passes + n) * s.words, sizeof(*s.masks));
	s.load = calloc((size_t)(n_passes + 1) * (core->n_blocks + 1), sizeof(*s.load));
	s.covered = calloc((size_t)core->n_events + 1, sizeof(*s.covered));
	s.wanted = calloc((size_t)core->n_events + 1, sizeof(*s.wanted));
	s.slack = calloc((size_t)core->n_blocks + 1, sizeof(*s.slack));
	s.pass_of = calloc(n, sizeof(*s.pass_of));
	s.options = calloc(n * (n + 1), sizeof(*s.options));
	s.hash_of = calloc(n, sizeof(*s.hash_of));
	s.volume = calloc(n, sizeof(*s.volume));
	s.seen = calloc(SEEN_SIZE, sizeof(*s.seen));
	s.claimed = calloc(s.words, sizeof(*s.claimed));
	s.forced = calloc((size_t)core->n_blocks + 1, sizeof(*s.forced));
	s.order = calloc(n * CORE_SEARCH_MAX, sizeof(*s.order));
	if (!s.masks || !s.load || !s.covered || !s.wanted || !s.slack || !s.pass_of ||
	    !s.options || !s.hash_of || !s.volume || !s.seen || !s.claimed || !s.forced ||
	    !s.order) {
		rc = error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
		goto out;
	}
	prepare(&s);
	if (descend(&s, 0)) {
		*answer_out = CORE_YES;
		memcpy(pass_of_item, s.pass_of, core->n_items * sizeof(*pass_of_item));
	} else {
		*answer_out = s.exhausted ? CORE_UNKNOWN : CORE_NO;
	}
	*nodes = s.nodes_left;
out:
	free(s.masks);
	free(s.load);
	free(s.covered);
	free(s.wanted);
	free(s.slack);
	free(s.pass_of);
	free(s.options);
	free(s.hash_of);
	free(s.volume);
	free(s.seen);
	free(s.claimed);
	free(s.forced);
	free(s.order);
	return rc;
}
