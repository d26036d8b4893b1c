/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a finished plan down in the wire form: passes in order (most complete metrics first, then
 * by content), the reason for each, counters in canonical order, each metric with its first whole
 * pass.
 */
#include "model/planner_parts.h"

#include <stdlib.h>
#include <string.h>

struct emit {
	const struct parts *parts;
	struct plan *plan;
	uint32_t *order;    /* plan's pass (from 0) -> pass of the parts */
	uint32_t *complete; /* per pass of the parts */
	uint32_t *number;   /* place in the event table -> plan's counter, or UINT32_MAX */
	double *pressure;   /* per block: demand / slots */
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
}

static bool is_in_plan(const struct parts *parts, uint32_t place)
{
	return parts->needed[place] || parts->anchor[place];
}

static int compare_passes(const void *a, const void *b, void *data)
{
	const struct emit *e = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct pass_table *t = &e->parts->passes;
	int order;

	if (e->complete[x] != e->complete[y])
		return e->complete[x] > e->complete[y] ? -1 : 1;
	order = memcmp(t->has + (size_t)y * t->n_events, t->has + (size_t)x * t->n_events,
		       t->n_events * sizeof(*t->has));
	return order ? order : x < y ? -1 : x > y;
}

static int order_passes(struct emit *e)
{
	const struct parts *parts = e->parts;
	const struct pass_table *t = &parts->passes;

	for (uint32_t k = 0; k < parts->n_passes; k++) {
		e->order[k] = k;
		for (uint32_t m = 0; m < parts->n_metrics; m++)
			e->complete[k] += pass_table_holds(t, k, &parts->metric_items[m]);
	}
	if (parts->n_passes)
		qsort_r(e->order, parts->n_passes, sizeof(*e->order), compare_passes, e);
	for (uint32_t i = 0; i < t->n_events; i++) {
		uint32_t b = t->events[i].block;

		if (b != BLOCK_NONE && t->slots[b] && t->slots[b] != SLOTS_UNLIMITED)
			e->pressure[b] += (double)t->events[i].cost / t->slots[b];
	}
	return RC_OK;
}

static bool was_asked(const struct parts *parts, uint32_t counter)
{
	for (uint32_t k = 0; k < parts->n_asked; k++)
		if (parts->asked[k] == counter)
			return true;
	return false;
}

static int emit_counters(struct emit *e)
{
	const struct parts *parts = e->parts;
	const struct event_table *t = &parts->table;
	const struct catalog *c = parts->catalog;
	struct plan *plan = e->plan;

	plan->counters =
		arena_array(&plan->arena, (size_t)t->n_counters + 1, sizeof(*plan->counters));
	if (!plan->counters)
		return RC_NO_MEMORY;
	for (uint32_t p = 0; p < t->n_counters; p++) {
		const struct counter *k = &c->counters.items[t->counters[p]];
		struct plan_counter *out;

		e->number[p] = UINT32_MAX;
		if (!is_in_plan(parts, p))
			continue;
		e->number[p] = plan->n_counters;
		out = &plan->counters[plan->n_counters++];
		out->name = k->name;
		out->source = k->source;
		out->block = k->block == BLOCK_NONE ? "" : c->blocks.items[k->block].name;
		out->unit = k->unit ? k->unit : "";
		out->config = k->config ? k->config : "";
		if (parts->anchor[p])
			out->flags |= PLAN_COUNTER_ANCHOR;
		if (parts->needed[p] && !was_asked(parts, t->counters[p]))
			out->flags |= PLAN_COUNTER_HIDDEN;
	}
	for (uint32_t p = 0; p < t->n_counters; p++) {
		uint32_t level = c->counters.items[t->counters[p]].level;

		if (e->number[p] != UINT32_MAX && level < c->counters.n)
			plan->counters[e->number[t->place[level]]].flags |= PLAN_COUNTER_LEVEL;
	}
	return RC_OK;
}

/* The full block under most pressure forces the pass; none full: the fullest. */
static const char *pass_reason(const struct emit *e, uint32_t pass)
{
	const struct parts *parts = e->parts;
	const struct pass_table *t = &parts->passes;
	const struct event_table *table = &parts->table;
	uint32_t best = UINT32_MAX;
	double best_share = 0;

	for (uint32_t b = 0; b < t->n_blocks; b++) {
		uint32_t load = t->load[(size_t)pass * t->n_blocks + b];
		double share;

		if (!load || t->slots[b] == SLOTS_UNLIMITED)
			continue;
		share = (double)load / t->slots[b];
		if (best == UINT32_MAX || share > best_share ||
		    (share == best_share && e->pressure[b] > e->pressure[best])) {
			best = b;
			best_share = share;
		}
	}
	if (best == UINT32_MAX)
		return t->class[pass] ? "counters that no other pass may hold" : "takes no slots";
	return arena_printf(&e->plan->arena, "%s: %u of %u slot%s",
			    parts->catalog->blocks.items[table->blocks[best]].name,
			    t->load[(size_t)pass * t->n_blocks + best], t->slots[best],
			    t->slots[best] == 1 ? "" : "s");
}

static int emit_passes(struct emit *e)
{
	const struct parts *parts = e->parts;
	const struct event_table *t = &parts->table;
	struct plan *plan = e->plan;

	plan->passes =
		arena_array(&plan->arena, (size_t)parts->n_passes + 1, sizeof(*plan->passes));
	if (!plan->passes)
		return RC_NO_MEMORY;
	plan->n_passes = parts->n_passes;
	for (uint32_t k = 0; k < parts->n_passes; k++) {
		struct plan_pass *out = &plan->passes[k];
		const bool *has = parts->passes.has + (size_t)e->order[k] * t->n_events;
		uint32_t *counters =
			arena_array(&plan->arena, (size_t)plan->n_counters + 1, sizeof(*counters));

		if (!counters)
			return RC_NO_MEMORY;
		for (uint32_t p = 0; p < t->n_counters; p++)
			if (e->number[p] != UINT32_MAX && has[t->event_of[p]])
				counters[out->n_counters++] = e->number[p];
		out->counters = counters;
		out->config = "";
		out->reason = pass_reason(e, e->order[k]);
		if (!out->reason)
			return RC_NO_MEMORY;
	}
	return RC_OK;
}

static int emit_metrics(struct emit *e)
{
	const struct parts *parts = e->parts;
	const struct catalog *c = parts->catalog;
	struct plan *plan = e->plan;

	plan->metrics =
		arena_array(&plan->arena, (size_t)parts->n_metrics + 1, sizeof(*plan->metrics));
	if (!plan->metrics)
		return RC_NO_MEMORY;
	plan->n_metrics = parts->n_metrics;
	for (uint32_t m = 0; m < parts->n_metrics; m++) {
		const struct metric *in = &c->metrics.items[parts->metrics[m]];
		struct plan_metric *out = &plan->metrics[m];
		uint32_t *counters =
			arena_array(&plan->arena, (size_t)in->n_counters + 1, sizeof(*counters));

		if (!counters)
			return RC_NO_MEMORY;
		for (uint32_t k = 0; k < in->n_counters; k++)
			counters[k] = e->number[parts->table.place[in->counters[k]]];
		out->n_counters = event_list_sort(counters, in->n_counters);
		out->counters = counters;
		out->name = in->name;
		out->title = in->title ? in->title : in->name;
		out->unit = in->unit ? in->unit : "";
		out->expression = in->expression ? in->expression : "";
		for (uint32_t k = 0; k < parts->n_passes && !out->pass; k++)
			if (pass_table_holds(&parts->passes, e->order[k], &parts->metric_items[m]))
				out->pass = k + 1;
	}
	return RC_OK;
}

static int emit_dropped(struct emit *e)
{
	const struct selection *s = e->parts->selection;
	struct plan *plan = e->plan;

	plan->dropped = arena_array(&plan->arena, s->dropped.n + 1, sizeof(*plan->dropped));
	if (!plan->dropped)
		return RC_NO_MEMORY;
	for (size_t i = 0; i < s->dropped.n; i++) {
		plan->dropped[i].name = s->dropped.items[i].name;
		plan->dropped[i].reason = s->dropped.items[i].reason;
	}
	plan->n_dropped = (uint32_t)s->dropped.n;
	return RC_OK;
}

int planner_emit(const struct parts *parts, const char *selection_text, struct plan *plan_out,
		 struct error *err)
{
	struct emit e = {.parts = parts, .plan = plan_out};
	int rc = RC_NO_MEMORY;

	e.order = calloc((size_t)parts->n_passes + 1, sizeof(*e.order));
	e.complete = calloc((size_t)parts->n_passes + 1, sizeof(*e.complete));
	e.number = calloc((size_t)parts->table.n_counters + 1, sizeof(*e.number));
	e.pressure = calloc((size_t)parts->table.n_blocks + 1, sizeof(*e.pressure));
	if (!e.order || !e.complete || !e.number || !e.pressure)
		goto out;
	plan_out->chip = parts->catalog->chip ? parts->catalog->chip : "";
	plan_out->selection = selection_text ? selection_text : "";
	plan_out->lower_bound = parts->lower_bound;
	plan_out->proven = parts->proven;
	plan_out->nodes = parts->nodes;
	rc = order_passes(&e);
	if (!rc)
		rc = emit_counters(&e);
	if (!rc)
		rc = emit_passes(&e);
	if (!rc)
		rc = emit_metrics(&e);
	if (!rc)
		rc = emit_dropped(&e);
	if (!rc && plan_out->n_counters > PLAN_COUNTERS_MAX)
		rc = RC_INVALID;
out:
	free(e.order);
	free(e.complete);
	free(e.number);
	free(e.pressure);
	if (rc) {
		uint32_t n = plan_out->n_counters;

		arena_release(&plan_out->arena);
		*plan_out = (struct plan){0};
		if (rc == RC_INVALID)
			return error_set(err, rc, "%u counters are more than a plan holds (%d)", n,
					 PLAN_COUNTERS_MAX);
		return no_memory(err);
	}
	return RC_OK;
}
