/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan as a page draws it: which counter is in which pass, and which slots of which block it
 * takes. Slots, instances and events are known where the chip's file is at hand; a plan alone names
 * the blocks.
 */
#include "report/html.h"

#include <string.h>

static void add_flag(struct json_writer *w, const char *key, bool set)
{
	if (!set)
		return;
	json_key(w, key);
	json_bool(w, true);
}

/* What two counters of one slot have in common; NULL: not known. */
static const char *event_of(struct catalog *chip, const char *name)
{
	struct error ignored = {0};
	uint32_t i;

	if (!chip || !chip->source || catalog_resolve_counter(chip, name, &i, &ignored))
		return NULL;
	return chip->counters.items[i].event;
}

static void add_counter(const struct plan_counter *c, struct catalog *chip, struct json_writer *w)
{
	const char *event = event_of(chip, c->name);

	json_begin_object(w);
	json_key(w, "name");
	json_string(w, c->name);
	json_key(w, "source");
	json_string(w, c->source);
	json_key(w, "block");
	json_string(w, c->block);
	json_key(w, "unit");
	json_string(w, c->unit);
	if (event) {
		json_key(w, "event");
		json_string(w, event);
	}
	add_flag(w, "anchor", c->flags & PLAN_COUNTER_ANCHOR);
	add_flag(w, "level", c->flags & PLAN_COUNTER_LEVEL);
	add_flag(w, "hidden", c->flags & PLAN_COUNTER_HIDDEN);
	json_end_object(w);
}

static void add_indices(const uint32_t *indices, uint32_t n, struct json_writer *w)
{
	json_key(w, "counters");
	json_begin_array(w);
	for (uint32_t i = 0; i < n; i++)
		json_uint(w, indices[i]);
	json_end_array(w);
}

static void add_metric(const struct plan_metric *m, struct json_writer *w)
{
	json_begin_object(w);
	json_key(w, "name");
	json_string(w, m->name);
	json_key(w, "expression");
	json_string(w, m->expression);
	json_key(w, "pass");
	json_uint(w, m->pass);
	add_indices(m->counters, m->n_counters, w);
	json_end_object(w);
}

static void add_block(const struct block *b, struct json_writer *w)
{
	json_begin_object(w);
	json_key(w, "name");
	json_string(w, b->name);
	json_key(w, "slots");
	if (b->slots == SLOTS_UNLIMITED)
		json_null(w);
	else
		json_uint(w, b->slots);
	json_key(w, "instances");
	json_uint(w, b->instances);
	json_key(w, "scope");
	json_string(w, b->scope);
	json_key(w, "reference");
	json_string(w, b->reference);
	json_key(w, "confidence");
	json_string(w, b->confidence);
	json_end_object(w);
}

void html_plan(const struct plan *plan, const struct report_options *o, struct json_writer *w)
{
	json_key(w, "design");
	json_begin_object(w);
	json_key(w, "counters");
	json_begin_array(w);
	for (uint32_t i = 0; i < plan->n_counters; i++)
		add_counter(&plan->counters[i], o->chip, w);
	json_end_array(w);
	json_key(w, "metrics");
	json_begin_array(w);
	for (uint32_t i = 0; i < plan->n_metrics; i++)
		add_metric(&plan->metrics[i], w);
	json_end_array(w);
	json_key(w, "passes");
	json_begin_array(w);
	for (uint32_t i = 0; i < plan->n_passes; i++) {
		json_begin_object(w);
		json_key(w, "reason");
		json_string(w, plan->passes[i].reason);
		add_indices(plan->passes[i].counters, plan->passes[i].n_counters, w);
		json_end_object(w);
	}
	json_end_array(w);
	json_key(w, "blocks");
	json_begin_array(w);
	for (size_t i = 0; o->chip && i < o->chip->blocks.n; i++)
		add_block(&o->chip->blocks.items[i], w);
	json_end_array(w);
	json_end_object(w);
}
