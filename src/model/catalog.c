/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue: definitions are copied into its arena when they are added, found by name through
 * its maps and kept in the order of definition.
 */
#include "model/catalog.h"

#include <stdlib.h>
#include <string.h>

void catalog_release(struct catalog *c)
{
	vec_release(&c->blocks);
	vec_release(&c->counters);
	vec_release(&c->metrics);
	vec_release(&c->sets);
	vec_release(&c->constants);
	vec_release(&c->skipped);
	vec_release(&c->roofline);
	map_release(&c->block_index);
	map_release(&c->counter_index);
	map_release(&c->metric_index);
	map_release(&c->set_index);
	arena_release(&c->arena);
	*c = (struct catalog){0};
}

static uint32_t find(const struct map *m, const char *name)
{
	size_t i;

	return map_get(m, name, &i) ? (uint32_t)i : UINT32_MAX;
}

uint32_t catalog_find_block(const struct catalog *c, const char *name)
{
	return find(&c->block_index, name);
}

uint32_t catalog_find_counter(const struct catalog *c, const char *name)
{
	return find(&c->counter_index, name);
}

uint32_t catalog_find_metric(const struct catalog *c, const char *name)
{
	return find(&c->metric_index, name);
}

uint32_t catalog_find_set(const struct catalog *c, const char *name)
{
	return find(&c->set_index, name);
}

uint32_t catalog_find_constant(const struct catalog *c, const char *name)
{
	for (size_t i = 0; i < c->constants.n; i++)
		if (!strcmp(c->constants.items[i].name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

static uint32_t constant_or(const struct catalog *c, const char *name, uint32_t otherwise)
{
	uint32_t i = catalog_find_constant(c, name);

	if (i == UINT32_MAX || !(c->constants.items[i].value >= 1) ||
	    c->constants.items[i].value > 65536)
		return otherwise;
	return (uint32_t)c->constants.items[i].value;
}

uint32_t catalog_block_instances(const struct catalog *c, uint32_t block)
{
	const struct block *b;

	if (block == BLOCK_NONE)
		return 1;
	b = &c->blocks.items[block];
	if (!strcmp(b->scope, "per-XCC"))
		return b->instances * constant_or(c, "num_xcd", 1);
	if (!strcmp(b->scope, "per-SE"))
		return b->instances * constant_or(c, "se_per_gpu", 0);
	if (!strcmp(b->scope, "") || !strcmp(b->scope, "per-GPU") || !strcmp(b->scope, "thread"))
		return b->instances;
	return 0;
}

/* Splits "X_sum" and "X[i]"; false when name is neither. *instance_out is -1 for X_sum. */
static bool split_form(const char *name, char base_out[512], int32_t *instance_out)
{
	size_t n = strlen(name), open = strcspn(name, "[");

	if (n > 4 && !strcmp(name + n - 4, "_sum")) {
		*instance_out = -1;
		n -= 4;
	} else if (n > 2 && name[n - 1] == ']' && open && open + 2 < n && n - open < 10 &&
		   strspn(name + open + 1, "0123456789") == n - open - 2) {
		*instance_out = (int32_t)strtoul(name + open + 1, NULL, 10);
		n = open;
	} else {
		return false;
	}
	if (n >= 512)
		return false;
	memcpy(base_out, name, n);
	base_out[n] = '\0';
	return true;
}

static int ask_source(struct catalog *c, const char *name, uint32_t *index_out, struct error *err)
{
	if (!c->resolve)
		return RC_NOT_FOUND;
	return c->resolve(c, name, index_out, c->resolve_data, err);
}

int catalog_resolve_counter(struct catalog *c, const char *name, uint32_t *index_out,
			    struct error *err)
{
	uint32_t index = catalog_find_counter(c, name), total;
	int32_t instance;
	struct counter form;
	char base[512];
	size_t n;

	*index_out = index;
	if (index != UINT32_MAX)
		return 0;
	if (!split_form(name, base, &instance))
		return ask_source(c, name, index_out, err);
	index = catalog_find_counter(c, base);
	n = strlen(base);
	if (index == UINT32_MAX && instance >= 0 && n > 4 && !strcmp(base + n - 4, "_sum")) {
		base[n - 4] = '\0'; /* X_sum[i] is X[i] */
		index = catalog_find_counter(c, base);
	}
	if (index == UINT32_MAX || c->counters.items[index].instance >= 0)
		return ask_source(c, name, index_out, err);
	total = catalog_block_instances(c, c->counters.items[index].block);
	if (instance >= 0 && total && (uint32_t)instance >= total)
		return error_set(err, RC_INVALID, "'%.100s' has no instance %d of %u", base,
				 instance, total);
	form = c->counters.items[index];
	form.name = name;
	form.instance = instance;
	return catalog_add_counter(c, &form, index_out, err);
}

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory for the catalogue");
}

/* A copy in the arena; NULL becomes "". *failed is set when memory is out. */
static const char *copy(struct catalog *c, const char *text, bool *failed)
{
	const char *s = text && *text ? arena_strdup(&c->arena, text) : "";

	if (!s)
		*failed = true;
	return s;
}

static const uint32_t *copy_indices(struct catalog *c, const uint32_t *indices, uint32_t n,
				    bool *failed)
{
	uint32_t *list = arena_array(&c->arena, n, sizeof(*list));

	if (!list)
		*failed = true;
	else if (n)
		memcpy(list, indices, n * sizeof(*list));
	return list;
}

/* What every definition needs: a name that is new. */
static int check_name(const struct map *m, const char *kind, const char *name, struct error *err)
{
	if (!name || !*name)
		return error_set(err, RC_INVALID, "a %s without a name", kind);
	if (map_get(m, name, NULL))
		return error_set(err, RC_EXISTS, "%s '%s' is defined twice", kind, name);
	return 0;
}

static int check_indices(const char *kind, const char *name, const char *what,
			 const uint32_t *indices, uint32_t n, size_t limit, struct error *err)
{
	for (uint32_t i = 0; i < n; i++)
		if (indices[i] >= limit)
			return error_set(err, RC_INVALID, "%s '%s' refers to %s number %u of %zu",
					 kind, name, what, indices[i], limit);
	return 0;
}

int catalog_add_block(struct catalog *c, const struct block *b, uint32_t *index_out,
		      struct error *err)
{
	struct block new = *b;
	bool failed = false;
	int rc = check_name(&c->block_index, "block", b->name, err);

	if (rc)
		return rc;
	new.name = copy(c, b->name, &failed);
	new.scope = copy(c, b->scope, &failed);
	new.reference = copy(c, b->reference, &failed);
	new.confidence = copy(c, b->confidence, &failed);
	if (!new.instances)
		new.instances = 1;
	if (failed || !vec_push(&c->blocks, new))
		return no_memory(err);
	if (!map_set(&c->block_index, new.name, c->blocks.n - 1)) {
		c->blocks.n--;
		return no_memory(err);
	}
	if (index_out)
		*index_out = (uint32_t)(c->blocks.n - 1);
	return 0;
}

int catalog_add_counter(struct catalog *c, const struct counter *k, uint32_t *index_out,
			struct error *err)
{
	struct counter new = *k;
	bool failed = false;
	int rc = check_name(&c->counter_index, "counter", k->name, err);

	if (!rc && k->block != BLOCK_NONE)
		rc = check_indices("counter", k->name, "block", &k->block, 1, c->blocks.n, err);
	if (!rc && k->level != UINT32_MAX)
		rc = check_indices("counter", k->name, "level counter", &k->level, 1, c->counters.n,
				   err);
	if (rc)
		return rc;
	new.name = copy(c, k->name, &failed);
	new.unit = copy(c, k->unit, &failed);
	new.help = copy(c, k->help, &failed);
	new.source = copy(c, k->source, &failed);
	/* a counter that names no event is one of its own */
	new.event = k->event && * k->event ? copy(c, k->event, &failed) : new.name;
	new.config = copy(c, k->config, &failed);
	if (failed || !vec_push(&c->counters, new))
		return no_memory(err);
	if (!map_set(&c->counter_index, new.name, c->counters.n - 1)) {
		c->counters.n--;
		return no_memory(err);
	}
	if (index_out)
		*index_out = (uint32_t)(c->counters.n - 1);
	return 0;
}

int catalog_add_metric(struct catalog *c, const struct metric *m, uint32_t *index_out,
		       struct error *err)
{
	struct metric new = *m;
	bool failed = false;
	int rc = check_name(&c->metric_index, "metric", m->name, err);

	if (!rc && m->id && *m->id && strcmp(m->id, m->name) &&
	    map_get(&c->metric_index, m->id, NULL))
		rc = error_set(err, RC_EXISTS, "metric '%s' has the id '%s' of another metric",
			       m->name, m->id);
	if (!rc)
		rc = check_indices("metric", m->name, "counter", m->counters, m->n_counters,
				   c->counters.n, err);
	if (rc)
		return rc;
	new.id = copy(c, m->id, &failed);
	new.name = copy(c, m->name, &failed);
	new.title = m->title && * m->title ? copy(c, m->title, &failed) : new.name;
	new.unit = copy(c, m->unit, &failed);
	new.help = copy(c, m->help, &failed);
	new.expression = copy(c, m->expression, &failed);
	new.where = copy(c, m->where, &failed);
	new.counters = copy_indices(c, m->counters, m->n_counters, &failed);
	if (failed || !vec_push(&c->metrics, new))
		return no_memory(err);
	if (!map_set(&c->metric_index, new.name, c->metrics.n - 1)) {
		c->metrics.n--;
		return no_memory(err);
	}
	if (*new.id && !map_set(&c->metric_index, new.id, c->metrics.n - 1))
		return no_memory(err);
	if (index_out)
		*index_out = (uint32_t)(c->metrics.n - 1);
	return 0;
}

int catalog_add_constant(struct catalog *c, const struct chip_constant *k, struct error *err)
{
	struct chip_constant new = *k;
	bool failed = false;

	if (catalog_find_constant(c, k->name) != UINT32_MAX)
		return error_set(err, RC_EXISTS, "constant '%s' is defined twice", k->name);
	new.name = copy(c, k->name, &failed);
	new.unit = copy(c, k->unit, &failed);
	return failed || !vec_push(&c->constants, new) ? no_memory(err) : 0;
}

int catalog_add_skipped(struct catalog *c, const struct catalog_skipped *k, uint32_t *index_out,
			struct error *err)
{
	struct catalog_skipped new = *k;
	bool failed = false;

	new.id = copy(c, k->id, &failed);
	new.name = copy(c, k->name, &failed);
	new.reason = copy(c, k->reason, &failed);
	if (failed || !vec_push(&c->skipped, new))
		return no_memory(err);
	*index_out = (uint32_t)(c->skipped.n - 1);
	return 0;
}

int catalog_add_set(struct catalog *c, const struct metric_set *s, uint32_t *index_out,
		    struct error *err)
{
	struct metric_set new = *s;
	bool failed = false;
	int rc = check_name(&c->set_index, "set", s->name, err);

	if (!rc)
		rc = check_indices("set", s->name, "metric", s->metrics, s->n_metrics, c->metrics.n,
				   err);
	if (!rc)
		rc = check_indices("set", s->name, "counter", s->counters, s->n_counters,
				   c->counters.n, err);
	if (!rc)
		rc = check_indices("set", s->name, "skipped metric", s->skipped, s->n_skipped,
				   c->skipped.n, err);
	if (rc)
		return rc;
	new.name = copy(c, s->name, &failed);
	new.title = s->title && * s->title ? copy(c, s->title, &failed) : new.name;
	new.metrics = copy_indices(c, s->metrics, s->n_metrics, &failed);
	new.counters = copy_indices(c, s->counters, s->n_counters, &failed);
	new.skipped = copy_indices(c, s->skipped, s->n_skipped, &failed);
	if (failed || !vec_push(&c->sets, new))
		return no_memory(err);
	if (!map_set(&c->set_index, new.name, c->sets.n - 1)) {
		c->sets.n--;
		return no_memory(err);
	}
	if (index_out)
		*index_out = (uint32_t)(c->sets.n - 1);
	return 0;
}
