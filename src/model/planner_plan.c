/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planner_plan: decides what goes into which pass for a catalogue and a selection. The fewest
 * passes come first; then, as far as they cost no pass: the counters of a metric that fits no pass
 * spread over as few passes as possible, anchors in every pass, free slots filled so that more
 * metrics are complete per pass. planner_emit.c writes the result down as a wire plan.
 */
#include "model/planner_parts.h"

#include <stdlib.h>
#include <string.h>

#define PIECES_EXTRA_MAX 2

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
}

/* By section, then name: the order of the plan does not depend on that of the catalogue. */
static int compare_metrics(const void *a, const void *b, void *data)
{
	const struct catalog *c = data;
	const struct metric *x = &c->metrics.items[*(const uint32_t *)a];
	const struct metric *y = &c->metrics.items[*(const uint32_t *)b];
	int order = name_compare(x->id, y->id);

	return order ? order : name_compare(x->name, y->name);
}

static uint32_t sorted_copy(uint32_t *to, const uint32_t *from, size_t n)
{
	if (n)
		memcpy(to, from, n * sizeof(*to));
	return event_list_sort(to, (uint32_t)n);
}

static int check_selection(const struct catalog *c, const struct selection *s, struct error *err)
{
	for (size_t i = 0; i < s->metrics.n; i++)
		if (s->metrics.items[i] >= c->metrics.n)
			return error_set(err, RC_INVALID,
					 "the selection has a metric that the "
					 "catalogue has not");
	for (size_t i = 0; i < s->counters.n; i++)
		if (s->counters.items[i] >= c->counters.n)
			return error_set(err, RC_INVALID,
					 "the selection has a counter that the "
					 "catalogue has not");
	if (s->metrics.n > PLAN_METRICS_MAX)
		return error_set(err, RC_INVALID, "%zu metrics are more than a plan holds (%d)",
				 s->metrics.n, PLAN_METRICS_MAX);
	return RC_OK;
}

/* Metrics in plan order, counters asked for, and the events of both and of the anchors. */
static int gather(struct parts *parts, const struct selection *s, struct error *err)
{
	const struct catalog *c = parts->catalog;
	struct arena *a = &parts->arena;
	size_t total = s->counters.n + c->n_anchors;
	uint32_t *metrics = arena_array(a, s->metrics.n + 1, sizeof(*metrics));
	uint32_t *asked = arena_array(a, s->counters.n + 1, sizeof(*asked));
	uint32_t *all, n = 0;
	int rc;

	if (!metrics || !asked)
		return no_memory(err);
	parts->n_metrics = sorted_copy(metrics, s->metrics.items, s->metrics.n);
	if (parts->n_metrics)
		qsort_r(metrics, parts->n_metrics, sizeof(*metrics), compare_metrics,
			(void *)(uintptr_t)c);
	parts->metrics = metrics;
	parts->n_asked = sorted_copy(asked, s->counters.items, s->counters.n);
	parts->asked = asked;
	for (uint32_t m = 0; m < parts->n_metrics; m++)
		total += c->metrics.items[metrics[m]].n_counters;
	all = arena_array(a, total + 1, sizeof(*all));
	if (!all)
		return no_memory(err);
	for (uint32_t m = 0; m < parts->n_metrics; m++) {
		const struct metric *metric = &c->metrics.items[metrics[m]];

		for (uint32_t k = 0; k < metric->n_counters; k++)
			all[n++] = metric->counters[k];
	}
	for (uint32_t k = 0; k < parts->n_asked; k++)
		all[n++] = asked[k];
	for (uint32_t k = 0; k < c->n_anchors; k++)
		all[n++] = c->anchors[k];
	rc = event_table_init(&parts->table, c, all, n, err);
	if (rc)
		return rc;
	parts->needed = arena_array(a, (size_t)parts->table.n_counters + 1, sizeof(bool));
	if (!parts->needed)
		return no_memory(err);
	for (uint32_t i = 0; i + c->n_anchors < n; i++)
		for (uint32_t k = all[i], d = 0; k < c->counters.n && d < EVENTS_OF_COUNTER_MAX;
		     k = c->counters.items[k].level, d++)
			parts->needed[parts->table.place[k]] = true;
	return RC_OK;
}

static int make_item(struct parts *parts, const uint32_t *counters, uint32_t n,
		     struct planner_item *item_out, struct error *err)
{
	uint32_t *events =
		arena_array(&parts->arena, (size_t)n * EVENTS_OF_COUNTER_MAX + 1, sizeof(*events));
	uint32_t m = 0;

	if (!events)
		return no_memory(err);
	for (uint32_t k = 0; k < n; k++)
		m = event_table_add(&parts->table, counters[k], events, m);
	item_out->n_events = event_list_sort(events, m);
	item_out->events = events;
	return RC_OK;
}

static int push_item(struct parts *parts, struct planner_item item, struct error *err)
{
	return vec_push(&parts->items, item) ? RC_OK : no_memory(err);
}

/* Says which block cannot hold the counter even alone. */
static int refuse_counter(const struct parts *parts, uint32_t counter,
			  const struct planner_item *item, struct error *err)
{
	const struct catalog *c = parts->catalog;
	const struct event_table *t = &parts->table;

	for (uint32_t b = 0; b < t->n_blocks; b++) {
		uint64_t load = 0;

		for (uint32_t k = 0; k < item->n_events; k++)
			if (t->events[item->events[k]].block == b)
				load += t->events[item->events[k]].cost;
		if (load > t->slots[b])
			return error_set(err, RC_NO_SLOT,
					 "counter '%s' needs %llu slot%s of block '%s', which has "
					 "%u, so no pass can hold it",
					 c->counters.items[counter].name, (unsigned long long)load,
					 load == 1 ? "" : "s", c->blocks.items[t->blocks[b]].name,
					 t->slots[b]);
	}
	return error_set(err, RC_NO_SLOT,
			 "counter '%s' and its level counter exclude each other, so no pass can "
			 "hold both",
			 c->counters.items[counter].name);
}

static int push_counter(struct parts *parts, uint32_t counter, struct error *err)
{
	struct planner_item item;
	int rc = make_item(parts, &counter, 1, &item, err);

	if (rc)
		return rc;
	if (!planner_item_fits(&parts->problem, &item))
		return refuse_counter(parts, counter, &item, err);
	return push_item(parts, item, err);
}

/* One item per metric that fits a pass; the counters of the others, and those asked for, singly. */
static int make_items(struct parts *parts, struct error *err)
{
	const struct catalog *c = parts->catalog;
	int rc = RC_OK;

	parts->metric_items = arena_array(&parts->arena, (size_t)parts->n_metrics + 1,
					  sizeof(*parts->metric_items));
	parts->fits = arena_array(&parts->arena, (size_t)parts->n_metrics + 1, sizeof(bool));
	if (!parts->metric_items || !parts->fits)
		return no_memory(err);
	for (uint32_t m = 0; !rc && m < parts->n_metrics; m++) {
		const struct metric *metric = &c->metrics.items[parts->metrics[m]];
		struct planner_item *item = &parts->metric_items[m];

		rc = make_item(parts, metric->counters, metric->n_counters, item, err);
		if (rc)
			return rc;
		parts->fits[m] = planner_item_fits(&parts->problem, item);
		if (parts->fits[m])
			rc = push_item(parts, *item, err);
		for (uint32_t k = 0; !rc && !parts->fits[m] && k < metric->n_counters; k++) {
			rc = push_counter(parts, metric->counters[k], err);
			if (rc)
				error_prefix(err, "metric '%s'", metric->name);
		}
	}
	for (uint32_t k = 0; !rc && k < parts->n_asked; k++)
		rc = push_counter(parts, parts->asked[k], err);
	return rc;
}

static void point_at_items(struct parts *parts)
{
	parts->problem.n_items = (uint32_t)parts->items.n;
	parts->problem.items = parts->items.items;
}

static int solve(struct parts *parts, struct error *err)
{
	struct planner_solution solution;
	int rc;

	point_at_items(parts);
	rc = planner_solve(&parts->problem, &solution, err);
	if (rc)
		return rc;
	parts->n_passes = solution.n_passes;
	parts->lower_bound = solution.lower_bound;
	parts->proven = solution.proven;
	parts->nodes = solution.nodes;
	free(parts->pass_of_item);
	parts->pass_of_item = solution.pass_of_item;
	if (parts->n_passes > PLAN_PASSES_MAX)
		return error_set(err, RC_INVALID,
				 "the selection needs %u passes, more than a plan holds (%d)",
				 parts->n_passes, PLAN_PASSES_MAX);
	return RC_OK;
}

/* Takes over a plan of the items, with some events left out, if one of n_passes is found. */
static int try_within(struct parts *parts, const struct planner_problem *p, bool *found_out,
		      struct error *err)
{
	uint32_t *pass_of_item = calloc((size_t)p->n_items + 1, sizeof(*pass_of_item));
	int rc;

	if (!pass_of_item)
		return no_memory(err);
	rc = planner_solve_within(p, parts->n_passes, pass_of_item, found_out, err);
	if (!rc && *found_out) {
		free(parts->pass_of_item);
		parts->pass_of_item = pass_of_item;
		return RC_OK;
	}
	free(pass_of_item);
	return rc;
}

/* Slots of each block if the items' load is spread evenly over n pieces, but enough for each item.
 */
static void spread_slots(const struct planner_problem *p, uint32_t n, uint32_t *slots)
{
	for (uint32_t b = 0; b < p->n_blocks; b++) {
		uint32_t total = 0, largest = 0;

		for (uint32_t i = 0; i < p->n_items; i++) {
			uint32_t load = 0;

			for (uint32_t k = 0; k < p->items[i].n_events; k++)
				if (p->events[p->items[i].events[k]].block == b)
					load += p->events[p->items[i].events[k]].cost;
			total += load;
			largest = load > largest ? load : largest;
		}
		total = (total + n - 1) / n;
		total = total > largest ? total : largest;
		slots[b] = total < p->slots[b] ? total : p->slots[b];
	}
}

/* Groups a metric's counters so that each group fits a pass, and appends the groups as items: into
 * as few groups as there can be, or, smaller and easier to place, evenly into `extra` more. */
static int push_pieces(struct parts *parts, uint32_t m, uint32_t extra, struct error *err)
{
	const struct metric *metric = &parts->catalog->metrics.items[parts->metrics[m]];
	struct planner_problem p = parts->problem;
	struct arena *a = &parts->arena;
	struct planner_item *items = arena_array(a, metric->n_counters, sizeof(*items));
	uint32_t *group = arena_array(a, metric->n_counters, sizeof(*group));
	uint32_t *slots = arena_array(a, (size_t)p.n_blocks + 1, sizeof(*slots));
	struct planner_solution solution;
	int rc = RC_OK;

	if (!items || !group || !slots)
		return no_memory(err);
	for (uint32_t k = 0; !rc && k < metric->n_counters; k++)
		rc = make_item(parts, &metric->counters[k], 1, &items[k], err);
	if (rc)
		return rc;
	p.items = items;
	p.n_items = metric->n_counters;
	p.max_nodes = parts->problem.max_nodes / 100;
	rc = planner_solve(&p, &solution, err);
	if (!rc && extra) {
		spread_slots(&p, solution.n_passes + extra, slots);
		p.slots = slots;
		planner_solution_release(&solution);
		rc = planner_solve(&p, &solution, err);
	}
	for (uint32_t g = 0; !rc && g < solution.n_passes; g++) {
		struct planner_item piece;
		uint32_t n = 0;

		for (uint32_t k = 0; k < metric->n_counters; k++)
			if (solution.pass_of_item[k] == g)
				group[n++] = metric->counters[k];
		rc = make_item(parts, group, n, &piece, err);
		if (!rc)
			rc = push_item(parts, piece, err);
	}
	planner_solution_release(&solution);
	return rc;
}

/* Adds one metric's pieces if that costs no pass, in as few pieces as works. */
static int gather_one(struct parts *parts, uint32_t m, struct error *err)
{
	size_t before = parts->items.n;

	for (uint32_t extra = 0; extra <= PIECES_EXTRA_MAX; extra++) {
		bool found;
		int rc = push_pieces(parts, m, extra, err);

		if (rc)
			return rc;
		point_at_items(parts);
		rc = try_within(parts, &parts->problem, &found, err);
		if (rc || found)
			return rc;
		parts->items.n = before;
	}
	return RC_OK;
}

/* Metrics that fit no pass: keep their counters in as few passes as they need, where that costs no
 * pass. All of them at once if possible, else one after the other. */
static int gather_split(struct parts *parts, struct error *err)
{
	size_t base = parts->items.n;
	bool found = false;
	int rc = RC_OK;

	for (uint32_t m = 0; !rc && m < parts->n_metrics; m++)
		if (!parts->fits[m])
			rc = push_pieces(parts, m, 0, err);
	if (rc || parts->items.n == base)
		return rc;
	point_at_items(parts);
	rc = try_within(parts, &parts->problem, &found, err);
	if (rc || found)
		return rc;
	parts->items.n = base;
	for (uint32_t m = 0; !rc && m < parts->n_metrics; m++)
		if (!parts->fits[m])
			rc = gather_one(parts, m, err);
	point_at_items(parts);
	return rc;
}

/* Is there still a plan of n_passes when every pass also holds these events? */
static int try_anchors(struct parts *parts, const bool *anchored, bool *found_out,
		       struct error *err)
{
	const struct planner_problem *p = &parts->problem;
	struct planner_problem q = *p;
	uint32_t *slots = calloc((size_t)p->n_blocks + 1, sizeof(*slots));
	struct planner_event *events = calloc((size_t)p->n_events + 1, sizeof(*events));
	int rc = RC_OK;

	*found_out = false;
	if (!slots || !events) {
		rc = no_memory(err);
		goto out;
	}
	memcpy(slots, p->slots, p->n_blocks * sizeof(*slots));
	memcpy(events, p->events, p->n_events * sizeof(*events));
	for (uint32_t e = 0; e < p->n_events; e++) {
		uint32_t b = events[e].block;

		if (!anchored[e] || b == BLOCK_NONE)
			continue;
		if (slots[b] != SLOTS_UNLIMITED) {
			if (slots[b] < events[e].cost)
				goto out;
			slots[b] -= events[e].cost;
		}
		events[e].block = BLOCK_NONE;
	}
	q.slots = slots;
	q.events = events;
	for (uint32_t i = 0; i < q.n_items; i++)
		if (!planner_item_fits(&q, &q.items[i]))
			goto out;
	rc = try_within(parts, &q, found_out, err);
out:
	free(slots);
	free(events);
	return rc;
}

/* The catalogue's anchors, best first, each kept if the passes stay as few. */
static int choose_anchors(struct parts *parts, struct error *err)
{
	const struct catalog *c = parts->catalog;
	const struct event_table *t = &parts->table;
	bool *anchored = arena_array(&parts->arena, (size_t)t->n_events + 1, sizeof(*anchored));
	bool *trial = arena_array(&parts->arena, (size_t)t->n_events + 1, sizeof(*trial));

	if (!anchored || !trial)
		return no_memory(err);
	parts->anchored = anchored;
	for (uint32_t k = 0; k < c->n_anchors && parts->n_passes; k++) {
		uint32_t list[EVENTS_OF_COUNTER_MAX];
		uint32_t n = event_table_add(t, c->anchors[k], list, 0);
		bool found = true, exclusive = false;
		int rc;

		memcpy(trial, anchored, t->n_events * sizeof(*trial));
		for (uint32_t i = 0; i < n; i++) {
			exclusive |= t->events[list[i]].exclusive != 0;
			trial[list[i]] = true;
		}
		/* what excludes others cannot be everywhere */
		if (exclusive)
			continue;
		rc = try_anchors(parts, trial, &found, err);
		if (rc)
			return rc;
		if (!found)
			continue;
		memcpy(anchored, trial, t->n_events * sizeof(*trial));
		for (uint32_t i = c->anchors[k], d = 0;
		     i < c->counters.n && d < EVENTS_OF_COUNTER_MAX;
		     i = c->counters.items[i].level, d++)
			parts->anchor[t->place[i]] = true;
	}
	return RC_OK;
}

static int fill_passes(struct parts *parts, struct error *err)
{
	const struct event_table *t = &parts->table;
	struct planner_item *wanted;
	uint32_t n = 0;
	int rc = pass_table_init(&parts->passes, &parts->problem, parts->n_passes, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < parts->items.n; i++)
		pass_table_add(&parts->passes, parts->pass_of_item[i], &parts->items.items[i]);
	for (uint32_t k = 0; k < parts->n_passes; k++)
		for (uint32_t e = 0; e < t->n_events; e++)
			if (parts->anchored && parts->anchored[e])
				pass_table_add(&parts->passes, k,
					       &(struct planner_item){.n_events = 1, .events = &e});
	wanted = arena_array(&parts->arena, (size_t)parts->n_metrics + 1, sizeof(*wanted));
	if (!wanted)
		return no_memory(err);
	for (uint32_t m = 0; m < parts->n_metrics; m++)
		if (parts->fits[m])
			wanted[n++] = parts->metric_items[m];
	return pass_table_fill(&parts->passes, wanted, n, err);
}

static void parts_release(struct parts *parts)
{
	event_table_release(&parts->table);
	pass_table_release(&parts->passes);
	vec_release(&parts->items);
	free(parts->pass_of_item);
	arena_release(&parts->arena);
}

int planner_plan(const struct catalog *c, const struct selection *s,
		 const struct planner_options *options, struct plan *plan_out, struct error *err)
{
	struct parts parts = {.catalog = c, .selection = s};
	bool no_anchors = options && options->no_anchors;
	int rc = check_selection(c, s, err);

	*plan_out = (struct plan){0};
	if (!rc)
		rc = gather(&parts, s, err);
	if (rc)
		goto out;
	parts.anchor = arena_array(&parts.arena, (size_t)parts.table.n_counters + 1, sizeof(bool));
	if (!parts.anchor) {
		rc = no_memory(err);
		goto out;
	}
	parts.problem = (struct planner_problem){.n_blocks = parts.table.n_blocks,
						 .slots = parts.table.slots,
						 .n_events = parts.table.n_events,
						 .events = parts.table.events,
						 .max_nodes = options && options->max_nodes
								      ? options->max_nodes
								      : PLANNER_NODES_DEFAULT};
	rc = make_items(&parts, err);
	if (!rc)
		rc = solve(&parts, err);
	if (!rc)
		rc = gather_split(&parts, err);
	if (!rc && !no_anchors)
		rc = choose_anchors(&parts, err);
	if (!rc)
		rc = fill_passes(&parts, err);
	if (!rc)
		rc = planner_emit(&parts, options ? options->selection_text : NULL, plan_out, err);
out:
	parts_release(&parts);
	return rc;
}
