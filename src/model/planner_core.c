/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a planner_problem to its core and back: drops what takes no slot, turns exclusive classes
 * into a block, removes dominated items, sets fillers aside, sorts. Also the bookkeeping of passes
 * that the heuristics share.
 */
#include "model/planner_core.h"

#include <stdlib.h>
#include <string.h>

struct draft_item {
	uint32_t n;
	uint32_t *events; /* ids of the draft, ascending */
	uint32_t source;
	uint32_t rides_on; /* index into the sorted drafts, itself when maximal */
};

struct draft {
	struct arena arena;
	uint32_t n_blocks, n_events;
	uint32_t *slots, *source_block;
	uint32_t *block, *cost;
	struct draft_item *items;
	uint32_t n_items;
};

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Larger items first, so that what rides comes after what carries it; then by content. */
static int compare_items(const void *a, const void *b)
{
	const struct draft_item *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->events[i] != y->events[i])
			return x->events[i] < y->events[i] ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

static bool is_subset(const struct draft_item *small, const struct draft_item *large)
{
	uint32_t j = 0;

	for (uint32_t i = 0; i < small->n; i++) {
		while (j < large->n && large->events[j] < small->events[i])
			j++;
		if (j == large->n || large->events[j] != small->events[i])
			return false;
		j++;
	}
	return true;
}

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
}

/* Numbers the exclusive classes by value and gives each an event of a one-slot block. */
static int draft_classes(struct draft *d, const struct planner_problem *p, uint32_t **classes_out,
			 uint32_t *n_classes_out)
{
	uint32_t *classes = arena_array(&d->arena, (size_t)p->n_events + 1, sizeof(*classes));
	uint32_t n = 0, m = 0;

	if (!classes)
		return RC_NO_MEMORY;
	for (uint32_t e = 0; e < p->n_events; e++)
		if (p->events[e].exclusive)
			classes[n++] = p->events[e].exclusive;
	if (n)
		qsort(classes, n, sizeof(*classes), compare_u32);
	for (uint32_t i = 0; i < n; i++)
		if (!m || classes[m - 1] != classes[i])
			classes[m++] = classes[i];
	*classes_out = classes;
	*n_classes_out = m;
	return RC_OK;
}

static int draft_items(struct draft *d, const struct planner_problem *p, const uint32_t *classes,
		       uint32_t n_classes)
{
	d->n_items = p->n_items;
	d->items = arena_array(&d->arena, (size_t)p->n_items + 1, sizeof(*d->items));
	if (!d->items)
		return RC_NO_MEMORY;
	for (uint32_t i = 0; i < p->n_items; i++) {
		const struct planner_item *in = &p->items[i];
		struct draft_item *it = &d->items[i];
		uint32_t m = 0;

		it->source = i;
		it->events =
			arena_array(&d->arena, (size_t)in->n_events * 2 + 1, sizeof(*it->events));
		if (!it->events)
			return RC_NO_MEMORY;
		for (uint32_t k = 0; k < in->n_events; k++) {
			uint32_t e = in->events[k], class = p->events[e].exclusive;

			if (d->block[e] != CORE_NOWHERE && d->cost[e])
				it->events[it->n++] = e;
			if (class) {
				uint32_t *c = bsearch(&class, classes, n_classes, sizeof(*classes),
						      compare_u32);

				it->events[it->n++] = p->n_events + (uint32_t)(c - classes);
			}
		}
		if (it->n)
			qsort(it->events, it->n, sizeof(*it->events), compare_u32);
		for (uint32_t k = 0; k < it->n; k++)
			if (!m || it->events[m - 1] != it->events[k])
				it->events[m++] = it->events[k];
		it->n = m;
	}
	return RC_OK;
}

static int draft_init(struct draft *d, const struct planner_problem *p)
{
	uint32_t *classes, n_classes, n_all;
	int rc = draft_classes(d, p, &classes, &n_classes);

	if (rc)
		return rc;
	n_all = p->n_events + n_classes;
	d->n_blocks = p->n_blocks + (n_classes ? 1 : 0);
	d->n_events = n_all;
	d->slots = arena_array(&d->arena, (size_t)d->n_blocks + 1, sizeof(uint32_t));
	d->source_block = arena_array(&d->arena, (size_t)d->n_blocks + 1, sizeof(uint32_t));
	d->block = arena_array(&d->arena, (size_t)n_all + 1, sizeof(uint32_t));
	d->cost = arena_array(&d->arena, (size_t)n_all + 1, sizeof(uint32_t));
	if (!d->slots || !d->source_block || !d->block || !d->cost)
		return RC_NO_MEMORY;
	for (uint32_t b = 0; b < p->n_blocks; b++) {
		d->slots[b] = p->slots[b];
		d->source_block[b] = b;
	}
	if (n_classes) {
		d->slots[p->n_blocks] = 1;
		d->source_block[p->n_blocks] = UINT32_MAX;
	}
	for (uint32_t e = 0; e < p->n_events; e++) {
		uint32_t b = p->events[e].block;

		d->block[e] = b == BLOCK_NONE || p->slots[b] == SLOTS_UNLIMITED ? CORE_NOWHERE : b;
		d->cost[e] = p->events[e].cost;
	}
	for (uint32_t e = p->n_events; e < n_all; e++) {
		d->block[e] = p->n_blocks;
		d->cost[e] = 1;
	}
	return draft_items(d, p, classes, n_classes);
}

/* Finds for each item a larger one that holds it. Only items that share its rarest event can. */
static int draft_dominate(struct draft *d)
{
	uint32_t *count = arena_array(&d->arena, (size_t)d->n_events + 2, sizeof(uint32_t));
	uint32_t *start, *fill, *list;
	size_t total = 0;

	if (!count)
		return RC_NO_MEMORY;
	if (d->n_items)
		qsort(d->items, d->n_items, sizeof(*d->items), compare_items);
	for (uint32_t i = 0; i < d->n_items; i++) {
		total += d->items[i].n;
		for (uint32_t k = 0; k < d->items[i].n; k++)
			count[d->items[i].events[k]]++;
	}
	start = arena_array(&d->arena, (size_t)d->n_events + 2, sizeof(uint32_t));
	fill = arena_array(&d->arena, (size_t)d->n_events + 2, sizeof(uint32_t));
	list = arena_array(&d->arena, total + 1, sizeof(uint32_t));
	if (!start || !fill || !list)
		return RC_NO_MEMORY;
	for (uint32_t e = 0; e < d->n_events; e++)
		start[e + 1] = start[e] + count[e];
	/* Lists hold maximal items only, in sorted order: what carries comes before what rides. */
	for (uint32_t i = 0; i < d->n_items; i++) {
		struct draft_item *it = &d->items[i];
		uint32_t rare = it->n ? it->events[0] : 0;

		it->rides_on = i;
		for (uint32_t k = 1; k < it->n; k++)
			if (fill[it->events[k]] < fill[rare])
				rare = it->events[k];
		for (uint32_t k = 0; it->n && k < fill[rare]; k++) {
			uint32_t j = list[start[rare] + k];

			if (is_subset(it, &d->items[j])) {
				it->rides_on = j;
				break;
			}
		}
		if (it->rides_on != i)
			continue;
		for (uint32_t k = 0; k < it->n; k++) {
			uint32_t e = it->events[k];

			list[start[e] + fill[e]++] = i;
		}
	}
	return RC_OK;
}

struct order_key {
	uint32_t block, event;
};

static int compare_keys(const void *a, const void *b)
{
	const struct order_key *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* Copies an item's events under their new numbers, which are ascending by (block, event). */
static uint32_t *number_events(struct arena *a, const struct draft_item *it, const uint32_t *number)
{
	uint32_t *events = arena_array(a, it->n, sizeof(*events));

	if (!events)
		return NULL;
	for (uint32_t k = 0; k < it->n; k++)
		events[k] = number[it->events[k]];
	qsort(events, it->n, sizeof(*events), compare_u32);
	return events;
}

static bool is_filler(const struct draft *d, const struct draft_item *it)
{
	return it->n == 1 && d->cost[it->events[0]] == 1;
}

static int core_build(struct planner_core *core, const struct draft *d)
{
	struct arena *a = &core->arena;
	struct order_key *keys = arena_array(a, (size_t)d->n_events + 1, sizeof(*keys));
	uint32_t *number = arena_array(a, (size_t)d->n_events + 1, sizeof(uint32_t));
	uint32_t *unit = arena_array(a, (size_t)d->n_items + 1, sizeof(uint32_t));
	uint32_t *of_source = arena_array(a, (size_t)d->n_items + 1, sizeof(uint32_t));
	uint32_t *fillers = arena_array(a, (size_t)d->n_blocks + 1, sizeof(uint32_t));
	uint64_t *demand = arena_array(a, (size_t)d->n_blocks + 1, sizeof(uint64_t));
	uint32_t *filler_block = arena_array(a, (size_t)d->n_items + 1, sizeof(uint32_t));
	struct core_item *items = arena_array(a, (size_t)d->n_items + 1, sizeof(*items));
	uint32_t *block, *cost, *slots, *source_block;
	uint32_t n = 0;

	if (!keys || !number || !unit || !of_source || !fillers || !demand || !filler_block ||
	    !items)
		return RC_NO_MEMORY;
	for (uint32_t e = 0; e < d->n_events; e++)
		number[e] = CORE_NOWHERE;
	for (uint32_t i = 0; i < d->n_items; i++) {
		const struct draft_item *it = &d->items[i];

		if (it->rides_on != i || !it->n || is_filler(d, it))
			continue;
		for (uint32_t k = 0; k < it->n; k++) {
			uint32_t e = it->events[k];

			if (number[e] != CORE_NOWHERE)
				continue;
			number[e] = 0;
			keys[n++] = (struct order_key){.block = d->block[e], .event = e};
		}
	}
	if (n)
		qsort(keys, n, sizeof(*keys), compare_keys);
	block = arena_array(a, (size_t)n + 1, sizeof(uint32_t));
	cost = arena_array(a, (size_t)n + 1, sizeof(uint32_t));
	slots = arena_array(a, (size_t)d->n_blocks + 1, sizeof(uint32_t));
	source_block = arena_array(a, (size_t)d->n_blocks + 1, sizeof(uint32_t));
	if (!block || !cost || !slots || !source_block)
		return RC_NO_MEMORY;
	for (uint32_t e = 0; e < n; e++) {
		number[keys[e].event] = e;
		block[e] = keys[e].block;
		cost[e] = d->cost[keys[e].event];
		demand[block[e]] += cost[e];
	}
	for (uint32_t b = 0; b < d->n_blocks; b++) {
		slots[b] = d->slots[b];
		source_block[b] = d->source_block[b];
	}
	core->n_blocks = d->n_blocks;
	core->slots = slots;
	core->source_block = source_block;
	core->n_events = n;
	core->block = block;
	core->cost = cost;
	for (uint32_t i = 0; i < d->n_items; i++) {
		const struct draft_item *it = &d->items[i];

		unit[i] = CORE_NOWHERE;
		if (it->rides_on != i || !it->n || is_filler(d, it))
			continue;
		unit[i] = core->n_items;
		items[core->n_items].n = it->n;
		items[core->n_items].events = number_events(a, it, number);
		if (!items[core->n_items++].events)
			return RC_NO_MEMORY;
	}
	for (uint32_t i = 0; i < d->n_items; i++) {
		const struct draft_item *it = &d->items[i];
		uint32_t b;

		if (it->rides_on != i || !is_filler(d, it))
			continue;
		b = d->block[it->events[0]];
		unit[i] = core->n_items + core->n_fillers;
		filler_block[core->n_fillers++] = b;
		fillers[b]++;
		demand[b]++;
	}
	for (uint32_t i = 0; i < d->n_items; i++)
		of_source[d->items[i].source] = unit[d->items[i].rides_on];
	core->items = items;
	core->fillers = fillers;
	core->filler_block = filler_block;
	core->demand = demand;
	core->n_source = d->n_items;
	core->unit_of_source = of_source;
	return RC_OK;
}

int core_init(struct planner_core *core, const struct planner_problem *p, struct error *err)
{
	struct draft d = {0};
	int rc;

	*core = (struct planner_core){0};
	rc = draft_init(&d, p);
	if (!rc)
		rc = draft_dominate(&d);
	if (!rc)
		rc = core_build(core, &d);
	arena_release(&d.arena);
	if (rc) {
		core_release(core);
		return no_memory(err);
	}
	return RC_OK;
}

void core_release(struct planner_core *core)
{
	arena_release(&core->arena);
	*core = (struct planner_core){0};
}

int core_restrict(struct planner_core *part, const struct planner_core *core, const bool *keep,
		  struct error *err)
{
	struct arena a = {0};
	uint32_t n_all = core->n_items + core->n_fillers;
	struct planner_event *events =
		arena_array(&a, (size_t)core->n_events + core->n_fillers + 1, sizeof(*events));
	struct planner_item *items = arena_array(&a, (size_t)n_all + 1, sizeof(*items));
	uint32_t *own = arena_array(&a, (size_t)core->n_fillers + 1, sizeof(*own));
	struct planner_problem p = {.n_blocks = core->n_blocks,
				    .slots = core->slots,
				    .n_events = core->n_events + core->n_fillers,
				    .events = events,
				    .n_items = n_all,
				    .items = items};
	int rc;

	if (!events || !items || !own) {
		arena_release(&a);
		return no_memory(err);
	}
	for (uint32_t e = 0; e < core->n_events; e++) {
		events[e].block = keep[core->block[e]] ? core->block[e] : BLOCK_NONE;
		events[e].cost = core->cost[e];
	}
	for (uint32_t i = 0; i < core->n_items; i++) {
		items[i].n_events = core->items[i].n;
		items[i].events = core->items[i].events;
	}
	for (uint32_t f = 0; f < core->n_fillers; f++) {
		uint32_t b = core->filler_block[f];

		own[f] = core->n_events + f;
		events[own[f]].block = keep[b] ? b : BLOCK_NONE;
		events[own[f]].cost = 1;
		items[core->n_items + f].n_events = 1;
		items[core->n_items + f].events = &own[f];
	}
	rc = core_init(part, &p, err);
	arena_release(&a);
	return rc;
}

bool core_fillers_fit(const struct planner_core *core, const uint32_t *load, uint32_t n_passes)
{
	for (uint32_t b = 0; b < core->n_blocks; b++) {
		uint64_t space = 0;

		for (uint32_t k = 0; k < n_passes; k++) {
			uint32_t l = load[(size_t)k * core->n_blocks + b];

			space += l < core->slots[b] ? core->slots[b] - l : 0;
		}
		if (space < core->fillers[b])
			return false;
	}
	return true;
}

int core_expand(const struct planner_core *core, const uint32_t *pass_of_item, uint32_t n_passes,
		uint32_t *pass_of_source, struct error *err)
{
	struct core_bins bins;
	uint32_t *pass_of_filler = calloc((size_t)core->n_fillers + 1, sizeof(uint32_t));
	int rc = bins_init(&bins, core, n_passes, err);

	if (rc || !pass_of_filler) {
		rc = rc ? rc : no_memory(err);
		goto out;
	}
	bins_clear(&bins, core, n_passes);
	for (uint32_t i = 0; i < core->n_items; i++)
		bins_add(&bins, core, i, pass_of_item[i]);
	for (uint32_t f = 0; f < core->n_fillers; f++) {
		uint32_t b = core->filler_block[f], k = 0;

		while (k < n_passes && bins.load[(size_t)k * core->n_blocks + b] >= core->slots[b])
			k++;
		if (k == n_passes) {
			rc = error_set(err, RC_ERROR, "the planner lost a slot of block %u", b);
			goto out;
		}
		bins.load[(size_t)k * core->n_blocks + b]++;
		pass_of_filler[f] = k;
	}
	for (uint32_t s = 0; s < core->n_source; s++) {
		uint32_t u = core->unit_of_source[s];

		pass_of_source[s] = u == CORE_NOWHERE   ? 0
				    : u < core->n_items ? pass_of_item[u]
							: pass_of_filler[u - core->n_items];
	}
out:
	bins_release(&bins);
	free(pass_of_filler);
	return rc;
}

/* ---- passes of the heuristics ---- */

int bins_init(struct core_bins *b, const struct planner_core *core, uint32_t capacity,
	      struct error *err)
{
	size_t n_refs = (size_t)(capacity ? capacity : 1) * (core->n_events + 1);
	size_t n_load = (size_t)(capacity ? capacity : 1) * (core->n_blocks + 1);

	*b = (struct core_bins){.capacity = capacity};
	b->refs = calloc(n_refs, sizeof(*b->refs));
	b->load = calloc(n_load, sizeof(*b->load));
	b->pass_of = calloc((size_t)core->n_items + 1, sizeof(*b->pass_of));
	if (!b->refs || !b->load || !b->pass_of) {
		bins_release(b);
		return no_memory(err);
	}
	return RC_OK;
}

void bins_release(struct core_bins *b)
{
	free(b->refs);
	free(b->load);
	free(b->pass_of);
	*b = (struct core_bins){0};
}

void bins_clear(struct core_bins *b, const struct planner_core *core, uint32_t n)
{
	memset(b->refs, 0, (size_t)b->capacity * core->n_events * sizeof(*b->refs));
	memset(b->load, 0, (size_t)b->capacity * core->n_blocks * sizeof(*b->load));
	for (uint32_t i = 0; i < core->n_items; i++)
		b->pass_of[i] = CORE_NOWHERE;
	b->n = n;
}

void bins_add(struct core_bins *b, const struct planner_core *core, uint32_t item, uint32_t pass)
{
	const struct core_item *it = &core->items[item];
	uint16_t *refs = b->refs + (size_t)pass * core->n_events;
	uint32_t *load = b->load + (size_t)pass * core->n_blocks;

	for (uint32_t k = 0; k < it->n; k++)
		if (!refs[it->events[k]]++)
			load[core->block[it->events[k]]] += core->cost[it->events[k]];
	b->pass_of[item] = pass;
}

void bins_remove(struct core_bins *b, const struct planner_core *core, uint32_t item)
{
	const struct core_item *it = &core->items[item];
	uint16_t *refs = b->refs + (size_t)b->pass_of[item] * core->n_events;
	uint32_t *load = b->load + (size_t)b->pass_of[item] * core->n_blocks;

	for (uint32_t k = 0; k < it->n; k++)
		if (!--refs[it->events[k]])
			load[core->block[it->events[k]]] -= core->cost[it->events[k]];
	b->pass_of[item] = CORE_NOWHERE;
}
