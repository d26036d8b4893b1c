/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report --set. What a set has is in the metric files of the plan's chip, which need not be this
 * machine's: members that the machine at hand could not count are members all the same.
 */
#include "cli/report_set.h"

#include "cli/setup.h"
#include "model/selection.h"

#include <string.h>

static bool has_metric(const struct plan *plan, const char *name)
{
	for (uint32_t i = 0; i < plan->n_metrics; i++) {
		if (!strcmp(plan->metrics[i].name, name))
			return true;
	}
	return false;
}

static bool has_counter(const struct plan *plan, const char *name)
{
	for (uint32_t i = 0; i < plan->n_counters; i++) {
		if (!strcmp(plan->counters[i].name, name))
			return true;
	}
	return false;
}

static void add_name(struct str *list, bool there, const char *name, size_t *n)
{
	if (!there)
		return;
	str_addf(list, "%s%s", list->size ? "," : "", name);
	++*n;
}

static int add_set(struct setup *s, const struct plan *plan, const char *name, struct str *metrics,
		   struct str *counters, struct error *err)
{
	const struct catalog *c = &s->catalog;
	struct selection members = {0};
	size_t n = 0;
	int rc = selection_add_set(&members, c, name, err);

	for (size_t i = 0; !rc && i < members.metrics.n; i++) {
		const char *metric = c->metrics.items[members.metrics.items[i]].name;

		add_name(metrics, has_metric(plan, metric), metric, &n);
	}
	for (size_t i = 0; !rc && i < members.counters.n; i++) {
		const char *counter = c->counters.items[members.counters.items[i]].name;

		add_name(counters, has_counter(plan, counter), counter, &n);
	}
	for (size_t i = 0; !rc && i < members.dropped.n; i++) {
		const char *metric = members.dropped.items[i].name;

		add_name(metrics, has_metric(plan, metric), metric, &n);
	}
	if (!rc && !n)
		rc = error_set(err, RC_NOT_FOUND, "--set: this run has nothing of the set '%s'",
			       name);
	selection_release(&members);
	return rc;
}

int report_set_names(const struct options *o, const struct plan *plan, struct str *metrics,
		     struct str *counters, struct error *err)
{
	struct setup s = {0};
	bool loaded = false;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->selection.n; i++) {
		if (o->selection.items[i].kind != 's')
			continue;
		if (!loaded)
			rc = setup_sets(&s, o, plan, err);
		loaded = true;
		if (!rc)
			rc = add_set(&s, plan, o->selection.items[i].text, metrics, counters, err);
	}
	setup_release(&s);
	return rc;
}
