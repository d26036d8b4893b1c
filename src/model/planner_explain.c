/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains passes and metrics of a plan: looks the plan's counters up in the catalogue and counts
 * slots by hardware event, the way the planner did.
 */
#include "model/planner_explain.h"

#include "model/planner_events.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while explaining the plan");
}

/* Slots per block that these counters of the plan take together. */
static int count_blocks(const struct catalog *c, const struct plan *plan, const uint32_t *counters,
			uint32_t n, struct arena *arena, const struct explain_block **blocks_out,
			uint32_t *n_blocks_out, struct error *err)
{
	struct event_table t = {0};
	uint32_t *indices = arena_array(arena, (size_t)n + 1, sizeof(*indices));
	struct explain_block *blocks = arena_array(arena, c->blocks.n + 1, sizeof(*blocks));
	uint32_t m = 0;
	int rc;

	if (!indices || !blocks)
		return no_memory(err);
	for (uint32_t k = 0; k < n; k++) {
		indices[k] = catalog_find_counter(c, plan->counters[counters[k]].name);
		if (indices[k] == UINT32_MAX)
			return error_set(err, RC_MISMATCH,
					 "counter '%s' of the plan is not known on '%s'",
					 plan->counters[counters[k]].name, c->chip ? c->chip : "");
	}
	rc = event_table_init(&t, c, indices, n, err);
	if (rc)
		return rc;
	for (uint32_t b = 0; b < t.n_blocks; b++) {
		struct explain_block *out = &blocks[m];

		for (uint32_t e = 0; e < t.n_events; e++)
			out->used += t.events[e].block == b ? t.events[e].cost : 0;
		if (!out->used)
			continue;
		out->name = c->blocks.items[t.blocks[b]].name;
		out->slots = t.slots[b];
		m++;
	}
	event_table_release(&t);
	*blocks_out = blocks;
	*n_blocks_out = m;
	return RC_OK;
}

static bool pass_has(const struct plan *plan, uint32_t pass, uint32_t counter)
{
	const struct plan_pass *p = &plan->passes[pass];
	uint32_t low = 0, high = p->n_counters;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->counters[middle] < counter)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->n_counters && p->counters[low] == counter;
}

static uint32_t counters_in(const struct plan *plan, uint32_t pass, const struct plan_metric *m)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < m->n_counters; k++)
		n += pass_has(plan, pass, m->counters[k]);
	return n;
}

static uint32_t passes_with(const struct plan *plan, uint32_t counter)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < plan->n_passes; k++)
		n += pass_has(plan, k, counter);
	return n;
}

int planner_explain_pass(const struct catalog *c, const struct plan *plan, uint32_t pass,
			 struct arena *arena, struct explain_pass *out, struct error *err)
{
	const struct plan_pass *p;
	uint32_t *complete, *only, *only_counters;
	int rc;

	*out = (struct explain_pass){.pass = pass};
	if (!pass || pass > plan->n_passes)
		return error_set(err, RC_INVALID, "there is no pass %u: the plan has %u pass%s",
				 pass, plan->n_passes, plan->n_passes == 1 ? "" : "es");
	p = out->in_plan = &plan->passes[pass - 1];
	rc = count_blocks(c, plan, p->counters, p->n_counters, arena, &out->blocks, &out->n_blocks,
			  err);
	if (rc)
		return rc;
	complete = arena_array(arena, (size_t)plan->n_metrics + 1, sizeof(*complete));
	only = arena_array(arena, (size_t)plan->n_metrics + 1, sizeof(*only));
	only_counters = arena_array(arena, (size_t)p->n_counters + 1, sizeof(*only_counters));
	if (!complete || !only || !only_counters)
		return no_memory(err);
	for (uint32_t m = 0; m < plan->n_metrics; m++) {
		const struct plan_metric *metric = &plan->metrics[m];
		uint32_t n = 0;

		if (counters_in(plan, pass - 1, metric) != metric->n_counters)
			continue;
		complete[out->n_complete++] = m;
		for (uint32_t k = 0; k < plan->n_passes && n < 2; k++)
			n += counters_in(plan, k, metric) == metric->n_counters;
		if (n == 1)
			only[out->n_only++] = m;
	}
	for (uint32_t k = 0; k < p->n_counters; k++)
		if (passes_with(plan, p->counters[k]) == 1)
			only_counters[out->n_only_counters++] = p->counters[k];
	out->complete = complete;
	out->only = only;
	out->only_counters = only_counters;
	return RC_OK;
}

/* Passes that together have the metric's counters, each time the one with most that are missing. */
static int cover(const struct plan *plan, const struct plan_metric *m, struct arena *arena,
		 struct explain_metric *out, struct error *err)
{
	bool *covered = arena_array(arena, (size_t)m->n_counters + 1, sizeof(*covered));
	uint32_t left = m->n_counters;

	if (!covered)
		return no_memory(err);
	while (left) {
		uint32_t best = 0, most = 0;

		for (uint32_t p = 0; p < plan->n_passes; p++) {
			uint32_t n = 0;

			for (uint32_t k = 0; k < m->n_counters; k++)
				n += !covered[k] && pass_has(plan, p, m->counters[k]);
			if (n > most) {
				most = n;
				best = p;
			}
		}
		if (!most)
			break;
		for (uint32_t k = 0; k < m->n_counters; k++)
			covered[k] |= pass_has(plan, best, m->counters[k]);
		left -= most;
		out->passes[out->n_passes++] = best + 1;
	}
	out->n_passes = event_list_sort(out->passes, out->n_passes);
	return RC_OK;
}

int planner_explain_metric(const struct catalog *c, const struct plan *plan, const char *name,
			   struct arena *arena, struct explain_metric *out, struct error *err)
{
	uint32_t known = catalog_find_metric(c, name), m = 0;
	const char *wanted = known == UINT32_MAX ? name : c->metrics.items[known].name;
	const struct plan_metric *metric;
	int rc;

	*out = (struct explain_metric){0};
	while (m < plan->n_metrics && strcmp(plan->metrics[m].name, wanted))
		m++;
	if (m == plan->n_metrics)
		return error_set(err, RC_NOT_FOUND, "metric '%s' is not in the plan", name);
	metric = &plan->metrics[m];
	out->metric = m;
	rc = count_blocks(c, plan, metric->counters, metric->n_counters, arena, &out->blocks,
			  &out->n_blocks, err);
	if (rc)
		return rc;
	out->passes = arena_array(arena, (size_t)plan->n_passes + 1, sizeof(*out->passes));
	if (!out->passes)
		return no_memory(err);
	/* Exclusive counters can keep a metric apart with every block's slots to spare, so what the
	 * plan achieved counts, not the slots. */
	out->fits = metric->pass != 0;
	if (!out->fits)
		return cover(plan, metric, arena, out, err);
	for (uint32_t p = 0; p < plan->n_passes; p++)
		if (counters_in(plan, p, metric) == metric->n_counters)
			out->passes[out->n_passes++] = p + 1;
	return RC_OK;
}

static int finish(struct str *text, struct arena *arena, struct error *err)
{
	arena_release(arena);
	return str_is_failed(text) ? no_memory(err) : RC_OK;
}

static void add_blocks(struct str *text, const struct explain_block *blocks, uint32_t n)
{
	for (uint32_t b = 0; b < n; b++) {
		if (blocks[b].slots == SLOTS_UNLIMITED)
			str_addf(text, "  %s: %u, no limit\n", blocks[b].name, blocks[b].used);
		else
			str_addf(text, "  %s: %u of %u slot%s%s\n", blocks[b].name, blocks[b].used,
				 blocks[b].slots, blocks[b].slots == 1 ? "" : "s",
				 blocks[b].used > blocks[b].slots    ? ": too many for one pass"
				 : blocks[b].used == blocks[b].slots ? ", full"
								     : "");
	}
}

int planner_explain_pass_text(const struct catalog *c, const struct plan *plan, uint32_t pass,
			      struct str *text, struct error *err)
{
	struct arena arena = {0};
	struct explain_pass e;
	int rc = planner_explain_pass(c, plan, pass, &arena, &e, err);

	if (rc) {
		arena_release(&arena);
		return rc;
	}
	str_addf(text, "pass %u of %u: %u counter%s; %s\n", pass, plan->n_passes,
		 e.in_plan->n_counters, e.in_plan->n_counters == 1 ? "" : "s", e.in_plan->reason);
	add_blocks(text, e.blocks, e.n_blocks);
	str_addf(text, "%u metric%s complete here, %u of them in no other pass\n", e.n_complete,
		 e.n_complete == 1 ? "" : "s", e.n_only);
	for (uint32_t k = 0; k < e.n_only; k++)
		str_addf(text, "  %s\n", plan->metrics[e.only[k]].name);
	str_addf(text, "%u counter%s in no other pass\n", e.n_only_counters,
		 e.n_only_counters == 1 ? "" : "s");
	for (uint32_t k = 0; k < e.n_only_counters; k++)
		str_addf(text, "  %s\n", plan->counters[e.only_counters[k]].name);
	return finish(text, &arena, err);
}

static void add_passes(struct str *text, const struct explain_metric *e)
{
	str_add(text, e->n_passes == 1 ? "pass" : "passes");
	for (uint32_t k = 0; k < e->n_passes; k++)
		str_addf(text, "%s %u", k ? "," : "", e->passes[k]);
}

int planner_explain_metric_text(const struct catalog *c, const struct plan *plan, const char *name,
				struct str *text, struct error *err)
{
	struct arena arena = {0};
	struct explain_metric e;
	const struct plan_metric *m;
	int rc = planner_explain_metric(c, plan, name, &arena, &e, err);

	if (rc) {
		arena_release(&arena);
		return rc;
	}
	m = &plan->metrics[e.metric];
	str_addf(text, "%s (%s): %u counter%s\n", m->name, m->title, m->n_counters,
		 m->n_counters == 1 ? "" : "s");
	add_blocks(text, e.blocks, e.n_blocks);
	str_add(text, e.fits ? "complete in " : "fits no single pass; its counters are in ");
	add_passes(text, &e);
	str_add_char(text, '\n');
	for (uint32_t k = 0; k < m->n_counters; k++) {
		const struct plan_counter *counter = &plan->counters[m->counters[k]];

		str_addf(text, "  %s%s%s:", counter->name, *counter->block ? " on " : "",
			 counter->block);
		for (uint32_t p = 0, n = 0; p < plan->n_passes; p++)
			if (pass_has(plan, p, m->counters[k]))
				str_addf(text, "%s %u", n++ ? "," : " pass", p + 1);
		str_add_char(text, '\n');
	}
	return finish(text, &arena, err);
}
