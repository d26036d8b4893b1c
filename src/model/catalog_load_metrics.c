/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From parsed metric files to counters, metrics and sets of the catalogue. Everything that a file
 * says is checked here, where it can be refused with its place: names, expressions, counters, sets.
 */
#include "base/str.h"
#include "model/catalog_load_internal.h"
#include "model/expr.h"
#include "model/expr_node.h"
#include "model/nearest.h"
#include "model/selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loader {
	struct catalog *c;
	struct arena *scratch;
	const struct catalog_document *d; /* the one being loaded */
	bool hints;
	struct error *err;
};

static int no_memory(struct loader *l)
{
	return error_set(l->err, RC_NO_MEMORY, "%s: out of memory", l->d->name);
}

/* Puts the place of v in front of an error that some other function has reported. */
static int at(struct loader *l, const struct yaml_value *v, int rc)
{
	if (rc)
		error_prefix(l->err, "%.200s:%u:%u", l->d->name, v->line, v->column);
	return rc;
}

static bool is_metric_name(const char *s)
{
	if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_'))
		return false;
	return strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") ==
	       strlen(s);
}

/* ---- counters ---- */

static int load_counter(struct loader *l, const struct yaml_value *v)
{
	static const char *const keys[] = {"!name", "!block", "!event",   "unit",      "help",
					   "level", "config", "instance", "exclusive", NULL};
	const char *name = "", *block = "", *level = NULL, *file = l->d->name;
	struct counter k = {.unit = "count", .instance = -1, .level = UINT32_MAX};
	uint32_t instance = UINT32_MAX;
	struct nearest n;
	char hint[160];
	int rc = yaml_check_keys(v, file, "a counter", keys, l->err);

	if (rc || (rc = yaml_text(v, file, "name", &name, l->err)) ||
	    (rc = yaml_text(v, file, "block", &block, l->err)) ||
	    (rc = yaml_text(v, file, "event", &k.event, l->err)) ||
	    (rc = yaml_text(v, file, "unit", &k.unit, l->err)) ||
	    (rc = yaml_text(v, file, "help", &k.help, l->err)) ||
	    (rc = yaml_text(v, file, "level", &level, l->err)) ||
	    (rc = yaml_text(v, file, "config", &k.config, l->err)) ||
	    (rc = yaml_uint(v, file, "instance", 0, EXPR_INDEX_MAX, &instance, l->err)) ||
	    (rc = yaml_uint(v, file, "exclusive", 1, UINT32_MAX, &k.exclusive, l->err)))
		return rc;
	if (!l->c->source)
		return yaml_error(v, file, l->err,
				  "counters are defined for chips of data/chips only: this machine "
				  "names its own");
	if (!*name || strpbrk(name, " \t\n`,[]"))
		return yaml_error(yaml_member(v, "name"), file, l->err,
				  "'%.80s' is no name of a counter", name);
	k.name = name;
	k.source = l->c->source;
	k.block = catalog_find_block(l->c, block);
	if (k.block == UINT32_MAX && strcmp(block, "none")) {
		nearest_init(&n, block);
		vec_for_each (&l->c->blocks, b)
			nearest_offer(&n, b->name);
		return yaml_error(yaml_member(v, "block"), file, l->err,
				  "there is no block '%.80s' on %s%s", block, l->c->chip,
				  nearest_hint(&n, hint, sizeof(hint)));
	}
	if (!k.config)
		k.config = k.event;
	if (instance != UINT32_MAX)
		k.instance = (int32_t)instance;
	if (level) {
		k.level = catalog_find_counter(l->c, level);
		if (k.level == UINT32_MAX)
			return yaml_error(yaml_member(v, "level"), file, l->err,
					  "level counter '%.80s' is not defined before its "
					  "accumulator",
					  level);
	}
	return at(l, v, catalog_add_counter(l->c, &k, NULL, l->err));
}

/* ---- metrics ---- */

struct needs { /* collects the counters of an expression */
	struct loader *l;
	const struct yaml_value *at;
	VEC(uint32_t) counters;
	const char *missing; /* the first counter that is not there */
	const char *why;     /* what the source said about it, or NULL */
	int rc;
};

static void need(struct needs *n, const char *name)
{
	struct error err = {0};
	uint32_t index = UINT32_MAX;

	if (n->rc || n->missing)
		return;
	n->rc = catalog_resolve_counter(n->l->c, name, &index, &err);
	if (n->rc == RC_INVALID) {
		yaml_error(n->at, n->l->d->name, n->l->err, "%s", err.message);
	} else if (n->rc == RC_NO_MEMORY) {
		no_memory(n->l);
	} else if (n->rc) { /* not found, not permitted, not supported: not here */
		n->rc = 0;
		n->missing = arena_strdup(n->l->scratch, name);
		/* "not found" says nothing new; "not permitted" comes with its cure */
		if (*err.message && err.code != RC_NOT_FOUND)
			n->why = arena_strdup(n->l->scratch, err.message);
		if (!n->missing)
			n->rc = no_memory(n->l);
	} else if (!vec_push(&n->counters, index)) {
		n->rc = no_memory(n->l);
	}
}

static void need_all_instances(struct needs *n, const char *name)
{
	uint32_t index = catalog_find_counter(n->l->c, name), total;
	char one[512];

	if (index == UINT32_MAX) {
		need(n, name);
		index = catalog_find_counter(n->l->c, name);
	}
	if (n->rc || n->missing || index == UINT32_MAX)
		return;
	total = catalog_block_instances(n->l->c, n->l->c->counters.items[index].block);
	if (!total || total > EXPR_INDEX_MAX) {
		n->rc = yaml_error(n->at, n->l->d->name, n->l->err,
				   "how many instances '%.80s' has on %s is not known", name,
				   n->l->c->chip);
		return;
	}
	for (uint32_t i = 0; i < total && !n->rc; i++) {
		snprintf(one, sizeof(one), "%.400s[%u]", name, i);
		need(n, one);
	}
}

static void found(const char *name, bool is_constant, void *data)
{
	struct needs *n = data;
	size_t length = strlen(name);
	char *base;

	if (is_constant || n->rc)
		return;
	if (length < 3 || strcmp(name + length - 2, "[]")) {
		need(n, name);
		return;
	}
	base = arena_strndup(n->l->scratch, name, length - 2);
	if (base)
		need_all_instances(n, base);
	else
		n->rc = no_memory(n->l);
}

static int compare_indices(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_needs(struct needs *n)
{
	size_t kept = 0;

	if (n->counters.n)
		qsort(n->counters.items, n->counters.n, sizeof(uint32_t), compare_indices);
	for (size_t i = 0; i < n->counters.n; i++)
		if (!kept || n->counters.items[kept - 1] != n->counters.items[i])
			n->counters.items[kept++] = n->counters.items[i];
	n->counters.n = kept;
}

static const char *counter_hint(struct loader *l, const char *name, char hint_out[200])
{
	struct nearest n;
	char left[100];
	const char *dash;

	/* "a-b" is one name; who wrote it may have meant a difference */
	for (dash = strchr(name, '-'); dash; dash = strchr(dash + 1, '-')) {
		snprintf(left, sizeof(left), "%.*s", (int)(dash - name), name);
		if (catalog_find_counter(l->c, left) != UINT32_MAX) {
			snprintf(hint_out, 200, "; to subtract, put spaces around the '-'");
			return hint_out;
		}
	}
	nearest_init(&n, name);
	vec_for_each (&l->c->counters, k)
		nearest_offer(&n, k->name);
	return nearest_hint(&n, hint_out, 200);
}

static int missing_counter(struct needs *n, const struct yaml_value *v, const struct metric *m)
{
	struct catalog_skipped skipped = {m->id, m->name, NULL};
	struct loader *l = n->l;
	size_t length = strlen(n->missing);
	char hint[200] = "";
	uint32_t index;

	/* a source names the counter itself as a rule: once is enough */
	if (n->why && n->why[0] == '\'' && !strncmp(n->why + 1, n->missing, length) &&
	    !strncmp(n->why + 1 + length, "': ", 3))
		n->why += length + 4;
	if (l->c->source || l->hints)
		counter_hint(l, n->missing, hint);
	if (l->c->source)
		return yaml_error(yaml_member(v, "expression"), l->d->name, l->err,
				  "metric '%.80s': there is no counter '%.80s' on %s%s", m->name,
				  n->missing, l->c->chip, hint);
	skipped.reason =
		n->why ? arena_printf(l->scratch, "needs '%s': %s", n->missing, n->why)
		       : arena_printf(l->scratch, "needs '%s', which this machine cannot count%s",
				      n->missing, hint);
	if (!skipped.reason)
		return no_memory(l);
	return catalog_add_skipped(l->c, &skipped, &index, l->err);
}

static int add_metric(struct loader *l, const struct yaml_value *v, struct metric *m,
		      const char *expanded)
{
	const struct yaml_value *e = yaml_member(v, "expression");
	struct needs n = {.l = l, .at = e};
	const struct expr *parsed;
	char where[400];
	int rc;

	snprintf(where, sizeof(where), "%.200s:%u:%u: metric '%.80s' with its built-ins",
		 l->d->name, e->line, e->column, m->name);
	rc = expr_parse(l->scratch, where, expanded, &parsed, l->err);
	if (rc)
		return rc;
	expr_names(parsed, found, &n);
	rc = n.rc;
	if (!rc && n.missing) {
		rc = missing_counter(&n, v, m);
	} else if (!rc) {
		sort_needs(&n);
		m->expression = expanded;
		m->counters = n.counters.items;
		m->n_counters = (uint32_t)n.counters.n;
		rc = at(l, v, catalog_add_metric(l->c, m, NULL, l->err));
	}
	vec_release(&n.counters);
	return rc;
}

static int check_metric_names(struct loader *l, const struct yaml_value *v, const struct metric *m)
{
	const struct yaml_value *name = yaml_member(v, "name"), *id = yaml_member(v, "id");
	uint32_t other;

	if (!is_metric_name(m->name))
		return yaml_error(name, l->d->name, l->err,
				  "'%.80s' is no name of a metric: letters, digits and '_'",
				  m->name);
	if (strspn(m->id, "0123456789.") != strlen(m->id))
		return yaml_error(id, l->d->name, l->err,
				  "'%.80s' is no id: numbers with dots, such as 2.1.0", m->id);
	other = catalog_find_metric(l->c, m->name);
	if (other == UINT32_MAX && *m->id)
		other = catalog_find_metric(l->c, m->id);
	if (other != UINT32_MAX)
		return yaml_error(name, l->d->name, l->err,
				  "metric '%.80s' is defined twice, first as '%s' in %s", m->name,
				  l->c->metrics.items[other].name,
				  l->c->metrics.items[other].where);
	return 0;
}

static int load_metric(struct loader *l, const struct yaml_value *v)
{
	static const char *const keys[] = {"id",      "!name", "title",       "unit",
					   "percent", "help",  "!expression", NULL};
	const char *file = l->d->name, *text = "";
	struct metric m = {.id = "", .name = "", .title = "", .unit = "", .help = ""};
	const struct expr *parsed;
	struct str out = STR_INIT;
	char where[400];
	int rc = yaml_check_keys(v, file, "a metric", keys, l->err);

	if (rc || (rc = yaml_text(v, file, "id", &m.id, l->err)) ||
	    (rc = yaml_text(v, file, "name", &m.name, l->err)) ||
	    (rc = yaml_text(v, file, "title", &m.title, l->err)) ||
	    (rc = yaml_text(v, file, "unit", &m.unit, l->err)) ||
	    (rc = yaml_text(v, file, "help", &m.help, l->err)) ||
	    (rc = yaml_bool(v, file, "percent", &m.percent, l->err)) ||
	    (rc = yaml_text(v, file, "expression", &text, l->err)) ||
	    (rc = check_metric_names(l, v, &m)))
		return rc;
	snprintf(where, sizeof(where), "%.200s:%u:%u: metric '%.80s'", file,
		 yaml_member(v, "expression")->line, yaml_member(v, "expression")->column, m.name);
	/* as written first: then columns in messages are those of the file */
	rc = expr_parse(l->scratch, where, text, &parsed, l->err);
	if (!rc)
		rc = catalog_load_expand(l->c, l->d, yaml_member(v, "expression"), text, &out,
					 l->err);
	snprintf(where, sizeof(where), "%.300s:%u", file, v->line);
	m.where = where;
	if (!rc)
		rc = add_metric(l, v, &m, str_text(&out));
	str_release(&out);
	return rc;
}

/* ---- sets ---- */

struct list {
	VEC(uint32_t) of;
};
struct members {
	struct list metrics, counters, skipped;
};

static int add_once(struct loader *l, struct list *list, size_t index)
{
	for (size_t i = 0; i < list->of.n; i++)
		if (list->of.items[i] == (uint32_t)index)
			return 0;
	return vec_push(&list->of, (uint32_t)index) ? 0 : no_memory(l);
}

static int set_metrics(struct loader *l, const struct yaml_value *v, struct members *set)
{
	const struct catalog *c = l->c;
	bool any = false;
	struct nearest n;
	char hint[160];
	int rc = 0;

	for (size_t i = 0; i < c->metrics.n && !rc; i++) {
		const struct metric *m = &c->metrics.items[i];

		if (!selection_name_matches(v->text, m->name, m->id))
			continue;
		any = true;
		rc = add_once(l, &set->metrics, i);
	}
	for (size_t i = 0; i < c->skipped.n && !rc; i++) {
		const struct catalog_skipped *k = &c->skipped.items[i];

		if (!selection_name_matches(v->text, k->name, k->id))
			continue;
		any = true;
		rc = add_once(l, &set->skipped, i);
	}
	if (rc || any)
		return rc;
	nearest_init(&n, v->text);
	vec_for_each (&c->metrics, m)
		nearest_offer(&n, m->name);
	return yaml_error(v, l->d->name, l->err, "there is no metric '%.80s'%s", v->text,
			  nearest_hint(&n, hint, sizeof(hint)));
}

static int set_counter(struct loader *l, const struct yaml_value *v, struct members *set)
{
	struct catalog_skipped skipped = {"", v->text, "this machine cannot count it"};
	struct error err = {0};
	char hint[200];
	uint32_t index;
	int rc = catalog_resolve_counter(l->c, v->text, &index, &err);

	if (!rc)
		return add_once(l, &set->counters, index);
	if (rc == RC_INVALID)
		return yaml_error(v, l->d->name, l->err, "%s", err.message);
	if (rc == RC_NO_MEMORY)
		return no_memory(l);
	if (l->c->source)
		return yaml_error(v, l->d->name, l->err, "there is no counter '%.80s' on %s%s",
				  v->text, l->c->chip, counter_hint(l, v->text, hint));
	rc = catalog_add_skipped(l->c, &skipped, &index, l->err);
	return rc ? rc : add_once(l, &set->skipped, index);
}

static int add_set(struct loader *l, const struct yaml_value *v, struct metric_set *set,
		   struct members *m)
{
	const struct yaml_value *metrics, *counters;
	int rc = yaml_list(v, l->d->name, "metrics", YAML_TEXT, &metrics, l->err);

	if (!rc)
		rc = yaml_list(v, l->d->name, "counters", YAML_TEXT, &counters, l->err);
	if (rc)
		return rc;
	for (const struct yaml_value *x = metrics ? metrics->child : NULL; x && !rc; x = x->next)
		rc = set_metrics(l, x, m);
	for (const struct yaml_value *x = counters ? counters->child : NULL; x && !rc; x = x->next)
		rc = set_counter(l, x, m);
	if (rc)
		return rc;
	set->metrics = m->metrics.of.items;
	set->n_metrics = (uint32_t)m->metrics.of.n;
	set->counters = m->counters.of.items;
	set->n_counters = (uint32_t)m->counters.of.n;
	set->skipped = m->skipped.of.items;
	set->n_skipped = (uint32_t)m->skipped.of.n;
	return at(l, v, catalog_add_set(l->c, set, NULL, l->err));
}

static int load_set(struct loader *l, const struct yaml_value *v)
{
	static const char *const keys[] = {"!name", "title", "metrics", "counters", NULL};
	struct metric_set set = {.name = "", .title = ""};
	struct members m = {0};
	int rc = yaml_check_keys(v, l->d->name, "a set", keys, l->err);

	if (rc || (rc = yaml_text(v, l->d->name, "name", &set.name, l->err)) ||
	    (rc = yaml_text(v, l->d->name, "title", &set.title, l->err)))
		return rc;
	if (!is_metric_name(set.name))
		return yaml_error(yaml_member(v, "name"), l->d->name, l->err,
				  "'%.80s' is no name of a set: letters, digits and '_'", set.name);
	rc = add_set(l, v, &set, &m);
	vec_release(&m.metrics.of);
	vec_release(&m.counters.of);
	vec_release(&m.skipped.of);
	return rc;
}

/* ---- documents ---- */

int catalog_load_anchors(struct catalog *c, const char *name, const struct yaml_value *list,
			 bool lenient, struct error *err)
{
	uint32_t *anchors, index;
	char hint[160];

	if (!list || !list->n)
		return 0;
	anchors = arena_array(&c->arena, c->n_anchors + list->n, sizeof(*anchors));
	if (!anchors)
		return error_set(err, RC_NO_MEMORY, "%s: out of memory", name);
	if (c->n_anchors)
		memcpy(anchors, c->anchors, c->n_anchors * sizeof(*anchors));
	c->anchors = anchors;
	for (const struct yaml_value *v = list->child; v; v = v->next) {
		struct nearest n;
		bool have = false;

		index = catalog_find_counter(c, v->text);
		if (index == UINT32_MAX && lenient)
			continue;
		if (index == UINT32_MAX) {
			nearest_init(&n, v->text);
			vec_for_each (&c->counters, k)
				nearest_offer(&n, k->name);
			return yaml_error(v, name, err, "anchor '%.80s' is no counter of %s%s",
					  v->text, c->chip, nearest_hint(&n, hint, sizeof(hint)));
		}
		for (uint32_t i = 0; i < c->n_anchors; i++)
			have = have || c->anchors[i] == index;
		if (!have)
			c->anchors[c->n_anchors++] = index;
	}
	return 0;
}

static int load_each(struct loader *l, const char *key,
		     int (*load)(struct loader *l, const struct yaml_value *v))
{
	const struct yaml_value *list;
	int rc = yaml_list(l->d->root, l->d->name, key, YAML_MAPPING, &list, l->err);

	for (const struct yaml_value *v = list ? list->child : NULL; v && !rc; v = v->next)
		rc = load(l, v);
	return rc;
}

static int load_step(struct loader *l, int step)
{
	static const char *const keys[] = {"chips", "title",   "builtins", "counters", "metrics",
					   "sets",  "anchors", "roofline", NULL};
	const struct yaml_value *anchors;
	int rc;

	switch (step) {
	case 0:
		rc = yaml_check_keys(l->d->root, l->d->name, "a metric file", keys, l->err);
		return rc ? rc : catalog_load_builtins(l->c, l->d, l->scratch, l->err);
	case 1:
		return load_each(l, "counters", load_counter);
	case 2:
		return load_each(l, "metrics", load_metric);
	case 3:
		return load_each(l, "sets", load_set);
	case 4:
		return catalog_load_roofline(l->c, l->d, l->scratch, l->err);
	default:
		rc = yaml_list(l->d->root, l->d->name, "anchors", YAML_TEXT, &anchors, l->err);
		return rc ? rc
			  : catalog_load_anchors(l->c, l->d->name, anchors, !l->c->source, l->err);
	}
}

int catalog_load_documents(struct catalog *c, struct arena *scratch,
			   const struct catalog_document *documents, size_t n, bool hints,
			   struct error *err)
{
	struct loader l = {.c = c, .scratch = scratch, .hints = hints, .err = err};
	int rc = 0;

	for (int step = 0; step < 6 && !rc; step++) {
		for (size_t i = 0; i < n && !rc; i++) {
			l.d = &documents[i];
			rc = load_step(&l, step);
		}
	}
	return rc;
}
