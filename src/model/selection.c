/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the names of -m, -e and --set to indices of the catalogue. Order and repetition of names do
 * not matter: the lists are kept sorted, so the same wishes give the same plan.
 */
#include "model/selection.h"

#include "model/nearest.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE_MAX 4096
#define HINT_SIZE     160

/* ---- lists of names ---- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

/* Length of the first item of a list. A comma does not end it inside pmu/event,a=b/, in the
 * parameter list of a C++ function, or in backquotes. A '/' opens a list of terms only after the
 * name of a PMU: the path in bp:SYMBOL@/usr/lib/x.so is none. */
static size_t item_length(const char *s)
{
	bool pmu = true, terms = false, quoted = false;
	size_t n, parentheses = 0;

	for (n = 0; s[n]; n++) {
		if (s[n] == '`')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (s[n] == '/' && pmu && n)
			terms = !terms;
		else if (s[n] == '(')
			parentheses++;
		else if (s[n] == ')' && parentheses)
			parentheses--;
		else if (s[n] == ',' && !terms && !parentheses)
			break;
		if (!terms && !is_word(s[n]))
			pmu = false;
	}
	return n;
}

bool selection_next_name(const char **list, const char **name_out, size_t *length_out)
{
	const char *s = *list;
	size_t n;

	if (!s)
		return false;
	while (is_space(*s))
		s++;
	n = item_length(s);
	*list = s[n] ? s + n + 1 : NULL;
	while (n && is_space(s[n - 1]))
		n--;
	if (n >= 2 && s[0] == '`' && s[n - 1] == '`') {
		s++;
		n -= 2;
	}
	*name_out = s;
	*length_out = n;
	return true;
}

/* The next name of a list as a string; 0, RC_END or an error. */
static int next_name(const char **list, const char *what, char name[NAME_SIZE_MAX],
		     struct error *err)
{
	const char *s;
	size_t n;

	if (!selection_next_name(list, &s, &n))
		return RC_END;
	if (!n)
		return error_set(err, RC_INVALID, "an empty name in the list of %s", what);
	if (n >= NAME_SIZE_MAX)
		return error_set(err, RC_INVALID, "the name '%.40s...' has more than %d bytes", s,
				 NAME_SIZE_MAX - 1);
	memcpy(name, s, n);
	name[n] = '\0';
	return 0;
}

static bool is_glob(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

/* ---- sorted lists of indices ---- */

static int compare_indices(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static size_t unique(uint32_t *items, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(items, n, sizeof(*items), compare_indices);
	for (size_t i = 0; i < n; i++)
		if (!kept || items[kept - 1] != items[i])
			items[kept++] = items[i];
	return kept;
}

static int tidy(struct selection *s)
{
	s->metrics.n = unique(s->metrics.items, s->metrics.n);
	s->counters.n = unique(s->counters.items, s->counters.n);
	return 0;
}

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory for the selection");
}

static int drop(struct selection *s, const struct catalog_skipped *skipped, struct error *err)
{
	struct selection_dropped d = {skipped->name, skipped->reason};

	vec_for_each (&s->dropped, old)
		if (!strcmp(old->name, d.name))
			return 0;
	return vec_push(&s->dropped, d) ? 0 : no_memory(err);
}

/* ---- metrics ---- */

static int unknown_metric(const struct catalog *c, const char *name, struct error *err)
{
	struct nearest n;
	char hint[HINT_SIZE];

	if (catalog_find_set(c, name) != UINT32_MAX)
		return error_set(err, RC_NOT_FOUND, "'%s' is a set, not a metric; use --set %s",
				 name, name);
	if (catalog_find_counter(c, name) != UINT32_MAX)
		return error_set(err, RC_NOT_FOUND, "'%s' is a counter, not a metric; use -e %s",
				 name, name);
	nearest_init(&n, name);
	vec_for_each (&c->metrics, m) {
		nearest_offer(&n, m->name);
		nearest_offer(&n, m->id);
	}
	return error_set(err, RC_NOT_FOUND, "there is no metric '%.120s' on %s%s", name,
			 c->chip ? c->chip : "this machine", nearest_hint(&n, hint, sizeof(hint)));
}

bool selection_name_matches(const char *pattern, const char *name, const char *id)
{
	if (!is_glob(pattern))
		return !strcmp(pattern, name) || !strcmp(pattern, id);
	return !fnmatch(pattern, name, 0) || (*id && !fnmatch(pattern, id, 0));
}

static int add_metric(struct selection *s, const struct catalog *c, const char *name,
		      struct error *err)
{
	uint32_t index = catalog_find_metric(c, name);
	bool found = false;

	if (index != UINT32_MAX)
		return vec_push(&s->metrics, index) ? 0 : no_memory(err);
	for (size_t i = 0; is_glob(name) && i < c->metrics.n; i++) {
		const struct metric *m = &c->metrics.items[i];

		if (!selection_name_matches(name, m->name, m->id))
			continue;
		found = true;
		if (!vec_push(&s->metrics, (uint32_t)i))
			return no_memory(err);
	}
	vec_for_each (&c->skipped, k) {
		if (!selection_name_matches(name, k->name, k->id))
			continue;
		found = true;
		if (drop(s, k, err))
			return RC_NO_MEMORY;
	}
	if (found)
		return 0;
	if (is_glob(name))
		return error_set(err, RC_NOT_FOUND, "no metric on %s matches '%.120s'",
				 c->chip ? c->chip : "this machine", name);
	return unknown_metric(c, name, err);
}

int selection_add_metrics(struct selection *s, const struct catalog *c, const char *list,
			  struct error *err)
{
	char name[NAME_SIZE_MAX];
	int rc;

	while (!(rc = next_name(&list, "metrics", name, err))) {
		rc = add_metric(s, c, name, err);
		if (rc)
			return rc;
	}
	return rc == RC_END ? tidy(s) : rc;
}

/* ---- counters ---- */

static int unknown_counter(const struct catalog *c, const char *name, struct error *err)
{
	struct nearest n;
	char hint[HINT_SIZE];

	if (catalog_find_metric(c, name) != UINT32_MAX)
		return error_set(err, RC_NOT_FOUND, "'%s' is a metric, not a counter; use -m %s",
				 name, name);
	if (catalog_find_set(c, name) != UINT32_MAX)
		return error_set(err, RC_NOT_FOUND, "'%s' is a set, not a counter; use --set %s",
				 name, name);
	nearest_init(&n, name);
	vec_for_each (&c->counters, k)
		nearest_offer(&n, k->name);
	return error_set(err, RC_NOT_FOUND, "there is no counter '%.120s' on %s%s", name,
			 c->chip ? c->chip : "this machine", nearest_hint(&n, hint, sizeof(hint)));
}

static int add_counter(struct selection *s, struct catalog *c, const char *name, struct error *err)
{
	uint32_t index;
	bool found = false;
	int rc = catalog_resolve_counter(c, name, &index, err);

	if (!rc)
		return vec_push(&s->counters, index) ? 0 : no_memory(err);
	if (rc != RC_NOT_FOUND)
		return rc;
	for (size_t i = 0; is_glob(name) && i < c->counters.n; i++) {
		if (fnmatch(name, c->counters.items[i].name, 0))
			continue;
		found = true;
		if (!vec_push(&s->counters, (uint32_t)i))
			return no_memory(err);
	}
	return found ? 0 : unknown_counter(c, name, err);
}

int selection_add_counters(struct selection *s, struct catalog *c, const char *list,
			   struct error *err)
{
	char name[NAME_SIZE_MAX];
	int rc;

	while (!(rc = next_name(&list, "counters", name, err))) {
		rc = add_counter(s, c, name, err);
		if (rc)
			return rc;
	}
	return rc == RC_END ? tidy(s) : rc;
}

/* ---- sets ---- */

static int add_set(struct selection *s, const struct catalog *c, const char *name,
		   struct error *err)
{
	uint32_t index = catalog_find_set(c, name);
	const struct metric_set *set;
	struct nearest n;
	char hint[HINT_SIZE];

	if (index == UINT32_MAX) {
		nearest_init(&n, name);
		vec_for_each (&c->sets, known)
			nearest_offer(&n, known->name);
		return error_set(err, RC_NOT_FOUND, "there is no set '%.120s' on %s%s", name,
				 c->chip ? c->chip : "this machine",
				 nearest_hint(&n, hint, sizeof(hint)));
	}
	set = &c->sets.items[index];
	for (uint32_t i = 0; i < set->n_metrics; i++)
		if (!vec_push(&s->metrics, set->metrics[i]))
			return no_memory(err);
	for (uint32_t i = 0; i < set->n_counters; i++)
		if (!vec_push(&s->counters, set->counters[i]))
			return no_memory(err);
	for (uint32_t i = 0; i < set->n_skipped; i++)
		if (drop(s, &c->skipped.items[set->skipped[i]], err))
			return RC_NO_MEMORY;
	return 0;
}

int selection_add_set(struct selection *s, const struct catalog *c, const char *name,
		      struct error *err)
{
	char one[NAME_SIZE_MAX];
	int rc;

	while (!(rc = next_name(&name, "sets", one, err))) {
		rc = add_set(s, c, one, err);
		if (rc)
			return rc;
	}
	return rc == RC_END ? tidy(s) : rc;
}

void selection_release(struct selection *s)
{
	vec_release(&s->metrics);
	vec_release(&s->counters);
	vec_release(&s->dropped);
}
