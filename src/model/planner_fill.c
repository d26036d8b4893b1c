/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills the free slots of a finished plan. For each pass: of the metrics that are not complete
 * there and still fit, take the one whose missing events complete most metrics for the share of the
 * free slots they take; again until nothing fits. Free slots of different passes have nothing to do
 * with each other, so each pass is filled by itself.
 */
#include "model/planner_fill.h"

#include <stdlib.h>
#include <string.h>

int pass_table_init(struct pass_table *t, const struct planner_problem *p, uint32_t n_passes,
		    struct error *err)
{
	*t = (struct pass_table){.n_passes = n_passes,
				 .n_blocks = p->n_blocks,
				 .n_events = p->n_events,
				 .slots = p->slots,
				 .events = p->events};
	t->has = calloc((size_t)n_passes * p->n_events + 1, sizeof(*t->has));
	t->load = calloc((size_t)n_passes * p->n_blocks + 1, sizeof(*t->load));
	t->class = calloc((size_t)n_passes + 1, sizeof(*t->class));
	if (!t->has || !t->load || !t->class) {
		pass_table_release(t);
		return error_set(err, RC_NO_MEMORY, "out of memory while planning passes");
	}
	return RC_OK;
}

void pass_table_release(struct pass_table *t)
{
	free(t->has);
	free(t->load);
	free(t->class);
	*t = (struct pass_table){0};
}

void pass_table_add(struct pass_table *t, uint32_t pass, const struct planner_item *item)
{
	for (uint32_t k = 0; k < item->n_events; k++) {
		uint32_t e = item->events[k];
		bool *has = &t->has[(size_t)pass * t->n_events + e];

		if (*has)
			continue;
		*has = true;
		if (t->events[e].block != BLOCK_NONE)
			t->load[(size_t)pass * t->n_blocks + t->events[e].block] +=
				t->events[e].cost;
		if (t->events[e].exclusive)
			t->class[pass] = t->events[e].exclusive;
	}
}

bool pass_table_holds(const struct pass_table *t, uint32_t pass, const struct planner_item *item)
{
	for (uint32_t k = 0; k < item->n_events; k++)
		if (!t->has[(size_t)pass * t->n_events + item->events[k]])
			return false;
	return true;
}

bool pass_table_can_add(const struct pass_table *t, uint32_t pass, const struct planner_item *item)
{
	uint32_t class = t->class[pass];

	for (uint32_t k = 0; k < item->n_events; k++) {
		const struct planner_event *e = &t->events[item->events[k]];
		uint64_t load;

		if (t->has[(size_t)pass * t->n_events + item->events[k]])
			continue;
		if (e->exclusive && class && class != e->exclusive)
			return false;
		class = e->exclusive ? e->exclusive : class;
		if (e->block == BLOCK_NONE || t->slots[e->block] == SLOTS_UNLIMITED)
			continue;
		/* items are short: adding up once per event is cheaper than a table to clear */
		load = t->load[(size_t)pass * t->n_blocks + e->block];
		for (uint32_t j = 0; j < item->n_events; j++) {
			uint32_t f = item->events[j];

			if (t->events[f].block == e->block &&
			    !t->has[(size_t)pass * t->n_events + f])
				load += t->events[f].cost;
		}
		if (load > t->slots[e->block])
			return false;
	}
	return true;
}

struct fill {
	struct pass_table *t;
	const struct planner_item *wanted;
	uint32_t n_wanted;
	uint32_t *start, *users; /* per event: the wanted items that have it */
	uint32_t *missing;       /* per item, in the pass at hand */
	uint32_t *seen;          /* per item, scratch, zero between uses */
	uint32_t *touched;
};

static int fill_init(struct fill *f)
{
	size_t total = 0, n_events = f->t->n_events;
	uint32_t *next;

	for (uint32_t i = 0; i < f->n_wanted; i++)
		total += f->wanted[i].n_events;
	f->start = calloc(n_events + 2, sizeof(*f->start));
	f->users = calloc(total + 1, sizeof(*f->users));
	f->missing = calloc((size_t)f->n_wanted + 1, sizeof(*f->missing));
	f->seen = calloc((size_t)f->n_wanted + 1, sizeof(*f->seen));
	f->touched = calloc(total + 1, sizeof(*f->touched));
	next = calloc(n_events + 1, sizeof(*next));
	if (!f->start || !f->users || !f->missing || !f->seen || !f->touched || !next) {
		free(next);
		return RC_NO_MEMORY;
	}
	for (uint32_t i = 0; i < f->n_wanted; i++)
		for (uint32_t k = 0; k < f->wanted[i].n_events; k++)
			f->start[f->wanted[i].events[k] + 1]++;
	for (size_t e = 0; e < n_events; e++)
		f->start[e + 1] += f->start[e];
	for (uint32_t i = 0; i < f->n_wanted; i++)
		for (uint32_t k = 0; k < f->wanted[i].n_events; k++) {
			uint32_t e = f->wanted[i].events[k];

			f->users[f->start[e] + next[e]++] = i;
		}
	free(next);
	return RC_OK;
}

/* Metrics completed by adding the item, for the share of free slots that it takes. */
static double worth(struct fill *f, uint32_t pass, uint32_t item)
{
	const struct pass_table *t = f->t;
	const struct planner_item *it = &f->wanted[item];
	uint32_t n_touched = 0, completed = 0;
	double price = 1e-6;

	for (uint32_t k = 0; k < it->n_events; k++) {
		uint32_t e = it->events[k], b = t->events[e].block;

		if (t->has[(size_t)pass * t->n_events + e])
			continue;
		if (b != BLOCK_NONE && t->slots[b] != SLOTS_UNLIMITED)
			price += (double)t->events[e].cost /
				 (t->slots[b] - t->load[(size_t)pass * t->n_blocks + b]);
		for (uint32_t u = f->start[e]; u < f->start[e + 1]; u++) {
			uint32_t other = f->users[u];

			if (!f->seen[other]++)
				f->touched[n_touched++] = other;
		}
	}
	for (uint32_t k = 0; k < n_touched; k++) {
		uint32_t other = f->touched[k];

		completed += f->seen[other] == f->missing[other];
		f->seen[other] = 0;
	}
	return (double)completed / price;
}

static void count_missing(struct fill *f, uint32_t pass)
{
	for (uint32_t i = 0; i < f->n_wanted; i++) {
		const struct planner_item *it = &f->wanted[i];

		f->missing[i] = 0;
		for (uint32_t k = 0; k < it->n_events; k++)
			f->missing[i] += !f->t->has[(size_t)pass * f->t->n_events + it->events[k]];
	}
}

static void fill_pass(struct fill *f, uint32_t pass)
{
	for (;;) {
		uint32_t best = UINT32_MAX;
		double best_worth = 0;

		count_missing(f, pass);
		for (uint32_t i = 0; i < f->n_wanted; i++) {
			double w;

			if (!f->missing[i] || !pass_table_can_add(f->t, pass, &f->wanted[i]))
				continue;
			w = worth(f, pass, i);
			if (w > best_worth) {
				best = i;
				best_worth = w;
			}
		}
		if (best == UINT32_MAX)
			return;
		pass_table_add(f->t, pass, &f->wanted[best]);
	}
}

int pass_table_fill(struct pass_table *t, const struct planner_item *wanted, uint32_t n_wanted,
		    struct error *err)
{
	struct fill f = {.t = t, .wanted = wanted, .n_wanted = n_wanted};
	int rc = fill_init(&f);

	for (uint32_t k = 0; !rc && k < t->n_passes; k++)
		fill_pass(&f, k);
	free(f.start);
	free(f.users);
	free(f.missing);
	free(f.seen);
	free(f.touched);
	return rc ? error_set(err, rc, "out of memory while planning passes") : RC_OK;
}
