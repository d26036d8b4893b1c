/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planner_solve: the core problem, first guesses, bounds, then one pass fewer at a time: tabu
 * search looks for such a plan, the exact search looks for it or proves that there is none. Every
 * step has its share of the node budget, so the result does not depend on the machine's speed.
 */
#include "model/planner_core.h"

#include <stdlib.h>
#include <string.h>

#define TABU_LOOKS_PER_NODE 40

struct solver {
	struct planner_core core;
	uint32_t *best; /* pass of each core item */
	uint32_t *trial;
	uint32_t n_passes;
	uint32_t bound;
	uint64_t max_nodes, nodes_left;
};

bool planner_item_fits(const struct planner_problem *p, const struct planner_item *item)
{
	uint32_t class = 0;

	for (uint32_t k = 0; k < item->n_events; k++) {
		const struct planner_event *e = &p->events[item->events[k]];
		uint64_t load = 0;

		if (e->exclusive && class && e->exclusive != class)
			return false;
		class = e->exclusive ? e->exclusive : class;
		if (e->block == BLOCK_NONE || p->slots[e->block] == SLOTS_UNLIMITED)
			continue;
		for (uint32_t j = 0; j < item->n_events; j++) {
			/* events are ascending: an equal neighbour is the same event */
			if (j && item->events[j] == item->events[j - 1])
				continue;
			if (p->events[item->events[j]].block == e->block)
				load += p->events[item->events[j]].cost;
		}
		if (load > p->slots[e->block])
			return false;
	}
	return true;
}

static int check_problem(const struct planner_problem *p, struct error *err)
{
	if (p->n_items > UINT16_MAX)
		return error_set(err, RC_INVALID, "%u items are more than the planner takes (%u)",
				 p->n_items, (unsigned)UINT16_MAX);
	for (uint32_t e = 0; e < p->n_events; e++)
		if (p->events[e].block != BLOCK_NONE && p->events[e].block >= p->n_blocks)
			return error_set(err, RC_INVALID,
					 "event %u is of a block %u that is not there", e,
					 p->events[e].block);
	for (uint32_t i = 0; i < p->n_items; i++) {
		for (uint32_t k = 0; k < p->items[i].n_events; k++)
			if (p->items[i].events[k] >= p->n_events)
				return error_set(err, RC_INVALID,
						 "item %u has an event %u that is not there", i,
						 p->items[i].events[k]);
		if (!planner_item_fits(p, &p->items[i]))
			return error_set(err, RC_NO_SLOT, "item %u fits no single pass", i);
	}
	return RC_OK;
}

/* Passes that always suffice: one item each, and the fillers in passes of their own. */
static uint32_t passes_at_most(const struct planner_core *core)
{
	uint32_t most = 0;

	for (uint32_t b = 0; b < core->n_blocks; b++) {
		uint32_t need = core->fillers[b] ? (core->fillers[b] - 1) / core->slots[b] + 1 : 0;

		most = need > most ? need : most;
	}
	return most + core->n_items;
}

static int solver_init(struct solver *s, const struct planner_problem *p, struct error *err)
{
	int rc = check_problem(p, err);

	if (rc)
		return rc;
	rc = core_init(&s->core, p, err);
	if (rc)
		return rc;
	s->max_nodes = s->nodes_left = p->max_nodes;
	s->best = calloc((size_t)s->core.n_items + 1, sizeof(*s->best));
	s->trial = calloc((size_t)s->core.n_items + 1, sizeof(*s->trial));
	if (!s->best || !s->trial)
		return error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
	return core_bound(&s->core, &s->bound, err);
}

static void solver_release(struct solver *s)
{
	core_release(&s->core);
	free(s->best);
	free(s->trial);
}

/* Start for a plan of n passes: the best plan's passes but the emptiest, whose items tabu deals. */
static void shrink_start(const struct solver *s, uint32_t n, uint32_t *start)
{
	uint32_t *size = calloc((size_t)s->n_passes + 1, sizeof(*size));
	uint32_t least = s->n_passes - 1;

	if (!size) {
		memset(start, 0xFF, s->core.n_items * sizeof(*start));
		return;
	}
	for (uint32_t i = 0; i < s->core.n_items; i++)
		size[s->best[i]] += s->core.items[i].n;
	for (uint32_t k = s->n_passes; k-- > 0;)
		if (size[k] < size[least])
			least = k;
	for (uint32_t i = 0; i < s->core.n_items; i++) {
		uint32_t k = s->best[i];

		start[i] = k == least ? CORE_NOWHERE : k == s->n_passes - 1 ? least : k;
		if (start[i] != CORE_NOWHERE && start[i] >= n)
			start[i] = CORE_NOWHERE;
	}
	free(size);
}

/* Tabu for n passes from several starts. */
static int try_tabu(struct solver *s, uint32_t n, uint64_t effort, bool *found_out,
		    struct error *err)
{
	*found_out = false;
	for (uint64_t seed = 1; seed <= 4 && !*found_out; seed++) {
		int rc;

		if (seed % 2)
			shrink_start(s, n, s->trial);
		else
			memset(s->trial, 0xFF, s->core.n_items * sizeof(*s->trial));
		rc = core_tabu(&s->core, n, effort / 4, seed, s->trial, found_out, err);
		if (rc)
			return rc;
	}
	if (*found_out) {
		memcpy(s->best, s->trial, s->core.n_items * sizeof(*s->best));
		s->n_passes = n;
	}
	return RC_OK;
}

static int try_search(struct solver *s, const struct planner_core *core, uint32_t n,
		      uint64_t budget, enum core_answer *answer_out, struct error *err)
{
	uint64_t left = budget < s->nodes_left ? budget : s->nodes_left;
	uint64_t spent = left;
	int rc = core_search(core, n, &left, s->trial, answer_out, err);

	s->nodes_left -= spent - left;
	return rc;
}

/* Is there a block, or a pair of blocks, that alone cannot do with n passes? */
static int refute_by_blocks(struct solver *s, uint32_t n, bool *refuted_out, struct error *err)
{
	uint32_t n_blocks = s->core.n_blocks;
	bool *keep = calloc((size_t)n_blocks + 1, sizeof(*keep));
	int rc = RC_OK;

	*refuted_out = false;
	if (!keep)
		return error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
	for (uint32_t a = 0; a < n_blocks && !*refuted_out; a++)
		for (uint32_t b = a; b < n_blocks && !*refuted_out; b++) {
			struct planner_core part;
			enum core_answer answer = CORE_UNKNOWN;
			uint32_t bound = 0;

			if (!s->core.demand[a] || !s->core.demand[b])
				continue;
			memset(keep, 0, n_blocks * sizeof(*keep));
			keep[a] = keep[b] = true;
			rc = core_restrict(&part, &s->core, keep, err);
			if (rc)
				goto out;
			rc = core_bound(&part, &bound, err);
			if (!rc && bound > n)
				*refuted_out = true;
			else if (!rc && part.n_items)
				rc = try_search(s, &part, n, s->max_nodes / (a == b ? 100 : 1000),
						&answer, err);
			core_release(&part);
			if (rc)
				goto out;
			*refuted_out |= answer == CORE_NO;
		}
out:
	free(keep);
	return rc;
}

static int improve(struct solver *s, struct error *err)
{
	while (s->bound < s->n_passes) {
		uint32_t n = s->n_passes - 1;
		bool found, refuted;
		enum core_answer answer;
		int rc;

		/* A short look each before a long one: most instances are easy one way or the
		 * other. */
		rc = try_tabu(s, n, s->max_nodes, &found, err);
		if (rc || found) {
			if (rc)
				return rc;
			continue;
		}
		rc = try_search(s, &s->core, n, s->max_nodes / 20, &answer, err);
		if (rc)
			return rc;
		if (answer == CORE_UNKNOWN) {
			rc = refute_by_blocks(s, n, &refuted, err);
			if (rc)
				return rc;
			if (refuted)
				answer = CORE_NO;
		}
		if (answer == CORE_UNKNOWN) {
			rc = try_tabu(s, n, s->max_nodes * TABU_LOOKS_PER_NODE, &found, err);
			if (rc)
				return rc;
			if (found)
				continue;
			rc = try_search(s, &s->core, n, s->nodes_left, &answer, err);
			if (rc)
				return rc;
		}
		if (answer == CORE_YES) {
			memcpy(s->best, s->trial, s->core.n_items * sizeof(*s->best));
			s->n_passes = n;
			continue;
		}
		if (answer == CORE_NO)
			s->bound = s->n_passes;
		return RC_OK;
	}
	return RC_OK;
}

/* Best of the greedy plans; greedy always finds one within passes_at_most. */
static int first_plan(struct solver *s, struct error *err)
{
	uint32_t limit = passes_at_most(&s->core);
	uint32_t guess = s->bound * 2 + 8;
	int rc = core_greedy(&s->core, guess < limit ? guess : limit, s->best, &s->n_passes, err);

	/* Far above the bound is rare: a first small limit keeps the tables small. */
	if (!rc && s->n_passes == CORE_NOWHERE)
		rc = core_greedy(&s->core, limit, s->best, &s->n_passes, err);
	return rc;
}

int planner_solve(const struct planner_problem *p, struct planner_solution *solution_out,
		  struct error *err)
{
	struct solver s = {0};
	int rc;

	*solution_out = (struct planner_solution){0};
	rc = solver_init(&s, p, err);
	if (rc)
		goto out;
	rc = first_plan(&s, err);
	if (!rc)
		rc = improve(&s, err);
	if (rc)
		goto out;
	solution_out->pass_of_item = calloc((size_t)p->n_items + 1, sizeof(uint32_t));
	if (!solution_out->pass_of_item) {
		rc = error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
		goto out;
	}
	rc = core_expand(&s.core, s.best, s.n_passes, solution_out->pass_of_item, err);
	if (rc)
		goto out;
	/* Items that take no slot need one pass all the same. */
	solution_out->n_passes = s.n_passes || !p->n_items ? s.n_passes : 1;
	solution_out->lower_bound = s.bound || !p->n_items ? s.bound : 1;
	solution_out->proven = solution_out->lower_bound == solution_out->n_passes;
	solution_out->nodes = s.max_nodes - s.nodes_left;
out:
	if (rc)
		planner_solution_release(solution_out);
	solver_release(&s);
	return rc;
}

int planner_solve_within(const struct planner_problem *p, uint32_t limit, uint32_t *pass_of_item,
			 bool *found_out, struct error *err)
{
	struct solver s = {0};
	enum core_answer answer;
	int rc = solver_init(&s, p, err);

	*found_out = false;
	if (rc || s.bound > limit)
		goto out;
	rc = first_plan(&s, err);
	while (!rc && s.n_passes > limit) {
		bool found;

		rc = try_tabu(&s, s.n_passes - 1, s.max_nodes, &found, err);
		if (rc || found)
			continue;
		rc = try_search(&s, &s.core, s.n_passes - 1, s.max_nodes / 100, &answer, err);
		if (rc || answer != CORE_YES)
			goto out;
		memcpy(s.best, s.trial, s.core.n_items * sizeof(*s.best));
		s.n_passes--;
	}
	if (!rc) {
		*found_out = true;
		rc = core_expand(&s.core, s.best, s.n_passes, pass_of_item, err);
	}
out:
	solver_release(&s);
	return rc;
}

void planner_solution_release(struct planner_solution *s)
{
	free(s->pass_of_item);
	*s = (struct planner_solution){0};
}
