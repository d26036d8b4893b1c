/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the table of hardware events behind catalogue counters, numbered by name alone.
 */
#include "model/planner_events.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int name_compare(const char *a, const char *b)
{
	const char *x = a, *y = b;

	while (*x && *y) {
		const char *i = x, *j = y;

		if (!is_digit(*x) || !is_digit(*y)) {
			if (*x != *y)
				return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
			x++;
			y++;
			continue;
		}
		while (*i == '0')
			i++;
		while (*j == '0')
			j++;
		for (x = i; is_digit(*x); x++)
			;
		for (y = j; is_digit(*y); y++)
			;
		if (x - i != y - j)
			return x - i < y - j ? -1 : 1;
		if (memcmp(i, j, (size_t)(x - i)))
			return memcmp(i, j, (size_t)(x - i)) < 0 ? -1 : 1;
	}
	if (*x || *y)
		return *x ? 1 : -1;
	/* equal but for leading zeros: still a total order */
	return strcmp(a, b) < 0 ? -1 : strcmp(a, b) > 0;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

uint32_t event_list_sort(uint32_t *list, uint32_t n)
{
	uint32_t m = 0;

	if (n)
		qsort(list, n, sizeof(*list), compare_u32);
	for (uint32_t k = 0; k < n; k++)
		if (!m || list[m - 1] != list[k])
			list[m++] = list[k];
	return m;
}

static const char *block_name(const struct catalog *c, const struct counter *k)
{
	return k->block == BLOCK_NONE ? "" : c->blocks.items[k->block].name;
}

static bool has_level(const struct catalog *c, const struct counter *k)
{
	return k->level < c->counters.n;
}

static int compare_blocks(const void *a, const void *b, void *data)
{
	const struct catalog *c = data;

	return name_compare(c->blocks.items[*(const uint32_t *)a].name,
			    c->blocks.items[*(const uint32_t *)b].name);
}

static int compare_counters(const void *a, const void *b, void *data)
{
	const struct catalog *c = data;
	const struct counter *x = &c->counters.items[*(const uint32_t *)a];
	const struct counter *y = &c->counters.items[*(const uint32_t *)b];
	const struct counter *i = has_level(c, x) ? &c->counters.items[x->level] : x;
	const struct counter *j = has_level(c, y) ? &c->counters.items[y->level] : y;
	int order = name_compare(x->source, y->source);

	if (!order)
		order = name_compare(block_name(c, x), block_name(c, y));
	if (!order)
		order = name_compare(i->name, j->name);
	if (!order && has_level(c, x) != has_level(c, y))
		return has_level(c, x) ? 1 : -1;
	return order ? order : name_compare(x->name, y->name);
}

/* Places of counters by (block, event text), to find those that share an event. */
static int compare_events(const void *a, const void *b, void *data)
{
	const struct event_table *t = data;
	const struct catalog *c = t->catalog;
	const struct counter *x = &c->counters.items[t->counters[*(const uint32_t *)a]];
	const struct counter *y = &c->counters.items[t->counters[*(const uint32_t *)b]];
	int order = name_compare(x->source, y->source);

	if (!order)
		order = name_compare(block_name(c, x), block_name(c, y));
	return order ? order : name_compare(x->event, y->event);
}

static int fill_blocks(struct event_table *t, uint32_t **rank_out)
{
	const struct catalog *c = t->catalog;
	uint32_t n = (uint32_t)c->blocks.n;
	uint32_t *blocks = arena_array(&t->arena, (size_t)n + 1, sizeof(*blocks));
	uint32_t *slots = arena_array(&t->arena, (size_t)n + 1, sizeof(*slots));
	uint32_t *rank = arena_array(&t->arena, (size_t)n + 1, sizeof(*rank));

	if (!blocks || !slots || !rank)
		return RC_NO_MEMORY;
	for (uint32_t b = 0; b < n; b++)
		blocks[b] = b;
	if (n)
		qsort_r(blocks, n, sizeof(*blocks), compare_blocks, (void *)(uintptr_t)c);
	for (uint32_t b = 0; b < n; b++) {
		rank[blocks[b]] = b;
		slots[b] = c->blocks.items[blocks[b]].slots;
	}
	t->n_blocks = n;
	t->blocks = blocks;
	t->slots = slots;
	*rank_out = rank;
	return RC_OK;
}

static int fill_counters(struct event_table *t, const uint32_t *counters, uint32_t n)
{
	const struct catalog *c = t->catalog;
	uint32_t *place = arena_array(&t->arena, c->counters.n + 1, sizeof(*place));
	uint32_t *list = arena_array(&t->arena, c->counters.n + 1, sizeof(*list));
	uint32_t m = 0;

	if (!place || !list)
		return RC_NO_MEMORY;
	for (size_t k = 0; k < c->counters.n; k++)
		place[k] = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = counters[i];

		for (int depth = 0; depth < EVENTS_OF_COUNTER_MAX && k < c->counters.n; depth++) {
			if (place[k] == UINT32_MAX) {
				place[k] = 0;
				list[m++] = k;
			}
			k = c->counters.items[k].level;
		}
	}
	if (m)
		qsort_r(list, m, sizeof(*list), compare_counters, (void *)(uintptr_t)c);
	for (uint32_t i = 0; i < m; i++)
		place[list[i]] = i;
	t->n_counters = m;
	t->counters = list;
	t->place = place;
	return RC_OK;
}

static int fill_events(struct event_table *t, const uint32_t *rank)
{
	const struct catalog *c = t->catalog;
	uint32_t *order = arena_array(&t->arena, (size_t)t->n_counters + 1, sizeof(*order));
	uint32_t *event_of = arena_array(&t->arena, (size_t)t->n_counters + 1, sizeof(*event_of));
	struct planner_event *events =
		arena_array(&t->arena, (size_t)t->n_counters + 1, sizeof(*events));
	bool *accumulated;

	if (!order || !event_of || !events)
		return RC_NO_MEMORY;
	for (uint32_t i = 0; i < t->n_counters; i++)
		order[i] = i;
	if (t->n_counters)
		qsort_r(order, t->n_counters, sizeof(*order), compare_events, t);
	for (uint32_t i = 0; i < t->n_counters; i++) {
		const struct counter *k = &c->counters.items[t->counters[order[i]]];
		struct planner_event *e;

		if (!i || compare_events(&order[i - 1], &order[i], t)) {
			e = &events[t->n_events++];
			e->block = k->block == BLOCK_NONE ? BLOCK_NONE : rank[k->block];
			e->cost = 1;
		}
		e = &events[t->n_events - 1];
		if (k->exclusive > e->exclusive)
			e->exclusive = k->exclusive;
		event_of[order[i]] = t->n_events - 1;
	}
	/* An accumulator adds up the slot before it. The level's own slot serves the first one; a
	 * second accumulator of the same level needs the level once more, in a slot of its own. */
	accumulated = arena_array(&t->arena, (size_t)t->n_events + 1, sizeof(*accumulated));
	if (!accumulated)
		return RC_NO_MEMORY;
	t->event_of = event_of;
	t->events = events;
	for (uint32_t i = 0; i < t->n_counters; i++) {
		const struct counter *k = &c->counters.items[t->counters[i]];
		uint32_t e = event_of[i], level;

		if (!has_level(c, k))
			continue;
		level = event_of[t->place[k->level]];
		if (level == e || events[e].cost > 1)
			continue;
		if (accumulated[level] && !accumulated[e])
			events[e].cost = 2;
		accumulated[level] = accumulated[e] = true;
	}
	return RC_OK;
}

int event_table_init(struct event_table *t, const struct catalog *c, const uint32_t *counters,
		     uint32_t n, struct error *err)
{
	uint32_t *rank;
	int rc;

	*t = (struct event_table){.catalog = c};
	rc = fill_blocks(t, &rank);
	if (!rc)
		rc = fill_counters(t, counters, n);
	if (!rc)
		rc = fill_events(t, rank);
	if (rc) {
		event_table_release(t);
		return error_set(err, rc, "out of memory while planning passes");
	}
	return RC_OK;
}

void event_table_release(struct event_table *t)
{
	arena_release(&t->arena);
	*t = (struct event_table){0};
}

uint32_t event_table_add(const struct event_table *t, uint32_t counter, uint32_t *list, uint32_t n)
{
	for (int depth = 0; depth < EVENTS_OF_COUNTER_MAX && counter < t->catalog->counters.n;
	     depth++) {
		list[n++] = t->event_of[t->place[counter]];
		counter = t->catalog->counters.items[counter].level;
	}
	return n;
}
