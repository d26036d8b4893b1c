/* SPDX-License-Identifier: Apache-2.0 */
/* retally list: sources, chips, counters, metrics, sets - of this machine, or of a chip that is not
 * here. */
#include "base/pattern.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/setup.h"
#include "model/catalog_load.h"
#include "report/table.h"
#include "source/perf/perf_host.h"
#include "source/rocm/rocm_host.h"
#include "source/sim/sim_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
	const struct options *o;
	struct pattern *patterns; /* of -k */
	size_t n_patterns;
	struct setup setup;
};

/* Shown when a pattern without '!' matches the name, the id or the words about it (both may be
 * NULL), or there is none such, and no '!' one excludes the name or the id. */
static bool listing_wants_id(const struct listing *l, const char *name, const char *id,
			     const char *about)
{
	bool wanted = true, any = false;

	for (size_t i = 0; i < l->n_patterns; i++) {
		const struct pattern *p = &l->patterns[i];
		bool match;

		if (p->exclude) { /* pattern_matches already turns it around */
			if (!pattern_matches(p, name) || (id && *id && !pattern_matches(p, id)))
				return false;
			continue;
		}
		match = pattern_matches(p, name) || (id && pattern_matches(p, id)) ||
			(about && pattern_matches(p, about));
		wanted = any ? wanted || match : match;
		any = true;
	}
	return wanted;
}

static bool listing_wants(const struct listing *l, const char *name, const char *about)
{
	return listing_wants_id(l, name, NULL, about);
}

static int listing_begin(const struct listing *l, struct table **t, const struct table_column *c,
			 size_t n, struct error *err)
{
	static const enum table_format formats[] = {TABLE_TEXT, TABLE_CSV, TABLE_JSON};
	struct table_options o = {.format = formats[l->o->format], .out = stdout};

	return table_begin(t, c, n, &o, err);
}

static int list_sources(struct listing *l, struct error *err)
{
	static const struct table_column columns[] = {{.id = "source"},
						      {.id = "can", .header = "what"},
						      {.id = "works", .type = TABLE_BOOL},
						      {.id = "explanation"}};
	struct arena arena = {0};
	struct perf_finding *f;
	struct cuda_api api;
	struct error why = {0};
	struct table *t;
	char rocm[600];
	size_t n;
	int rc = perf_host_examine(&arena, &f, &n, err);

	if (rc || (rc = listing_begin(l, &t, columns, 4, err)))
		goto out;
	for (size_t i = 0; i < n; i++) {
		table_add_string(t, "perf");
		table_add_string(t, f[i].what);
		table_add_bool(t, f[i].works);
		table_add_string(t, f[i].explain);
		table_end_row(t);
	}
	rc = cuda_api_open(&api, &why);
	table_add_string(t, "cuda");
	table_add_string(t, "planning for NVIDIA chips");
	table_add_bool(t, !rc);
	table_add_string(t, rc ? why.message : api.path);
	table_end_row(t);
	rc = rocm_host_explain(rocm, sizeof(rocm));
	table_add_string(t, "rocm");
	table_add_string(t, "counting on AMD GPUs");
	table_add_bool(t, rc != 0);
	table_add_string(t, rocm);
	table_end_row(t);
	table_add_string(t, "sim");
	table_add_string(t, "the simulated device");
	table_add_bool(t, true);
	table_add_string(t, sim_host_explain());
	table_end_row(t);
	rc = table_end(t, err);
out:
	arena_release(&arena);
	return rc;
}

static int list_chips(struct listing *l, struct error *err)
{
	static const struct table_column columns[] = {
		{.id = "chip"}, {.id = "vendor"}, {.id = "title"}};
	struct arena arena = {0};
	struct catalog_chip *chips;
	const char *const *nvidia = NULL;
	struct cuda_api api;
	struct table *t;
	size_t n, n_nvidia = 0;
	int rc = catalog_list_chips(&arena, setup_data_dir(), &chips, &n, err);

	if (rc || (rc = listing_begin(l, &t, columns, 3, err)))
		goto out;
	for (size_t i = 0; i < n; i++) {
		if (!listing_wants(l, chips[i].name, chips[i].title))
			continue;
		table_add_string(t, chips[i].name);
		table_add_string(t, chips[i].vendor);
		table_add_string(t, chips[i].title);
		table_end_row(t);
	}
	/* Without CUPTI its chips are simply not known; `list sources` says so. */
	if (!cuda_api_open(&api, NULL) && !cuda_host_chips(&api, &arena, &nvidia, &n_nvidia, NULL))
		for (size_t i = 0; i < n_nvidia; i++) {
			if (!listing_wants(l, nvidia[i], NULL))
				continue;
			table_add_string(t, nvidia[i]);
			table_add_string(t, "nvidia");
			table_add_string(t, "known to CUPTI");
			table_end_row(t);
		}
	rc = table_end(t, err);
out:
	arena_release(&arena);
	return rc;
}

static int list_counters(struct listing *l, struct error *err)
{
	static const struct table_column columns[] = {
		{.id = "counter"}, {.id = "source"},
		{.id = "block"},   {.id = "slots", .type = TABLE_NUMBER},
		{.id = "unit"},    {.id = "help"}};
	const struct catalog *c = &l->setup.catalog;
	struct table *t;
	int rc = l->setup.is_cuda ? cuda_host_fill(&l->setup.cuda, &l->setup.catalog, err) : 0;

	if (rc || (rc = listing_begin(l, &t, columns, 6, err)))
		return rc;
	vec_for_each (&c->counters, k) {
		if (!listing_wants(l, k->name, k->help))
			continue;
		table_add_string(t, k->name);
		table_add_string(t, k->source);
		if (k->block == BLOCK_NONE) {
			table_add_none(t);
			table_add_none(t);
		} else {
			table_add_string(t, c->blocks.items[k->block].name);
			table_add_u64(t, c->blocks.items[k->block].slots);
		}
		table_add_string(t, k->unit);
		table_add_string(t, k->help);
		table_end_row(t);
	}
	return table_end(t, err);
}

static int list_metrics(struct listing *l, struct error *err)
{
	static const struct table_column columns[] = {
		{.id = "id", .flags = TABLE_HIDE_EMPTY},
		{.id = "metric"},
		{.id = "unit"},
		{.id = "title"},
		{.id = "expression", .flags = TABLE_ONLY_DATA},
		{.id = "reason", .header = "not here, because", .flags = TABLE_HIDE_EMPTY}};
	const struct catalog *c = &l->setup.catalog;
	struct table *t;
	int rc = listing_begin(l, &t, columns, 6, err);

	if (rc)
		return rc;
	vec_for_each (&c->metrics, m) {
		if (!listing_wants_id(l, m->name, m->id, m->title))
			continue;
		table_add_string(t, m->id);
		table_add_string(t, m->name);
		table_add_string(t, m->unit);
		table_add_string(t, m->title);
		table_add_string(t, m->expression);
		table_add_none(t);
		table_end_row(t);
	}
	vec_for_each (&c->skipped, m) {
		if (!listing_wants_id(l, m->name, m->id, NULL))
			continue;
		table_add_string(t, m->id);
		table_add_string(t, m->name);
		for (int i = 0; i < 3; i++)
			table_add_none(t);
		table_add_string(t, m->reason);
		table_end_row(t);
	}
	return table_end(t, err);
}

static int list_sets(struct listing *l, struct error *err)
{
	static const struct table_column columns[] = {
		{.id = "set"},
		{.id = "metrics", .type = TABLE_NUMBER},
		{.id = "counters", .type = TABLE_NUMBER},
		{.id = "not_here", .header = "not here", .type = TABLE_NUMBER},
		{.id = "title"}};
	struct table *t;
	int rc = listing_begin(l, &t, columns, 5, err);

	if (rc)
		return rc;
	vec_for_each (&l->setup.catalog.sets, s) {
		if (!listing_wants(l, s->name, s->title))
			continue;
		table_add_string(t, s->name);
		table_add_u64(t, s->n_metrics);
		table_add_u64(t, s->n_counters);
		table_add_u64(t, s->n_skipped);
		table_add_string(t, s->title);
		table_end_row(t);
	}
	return table_end(t, err);
}

static const struct {
	const char *name;
	int (*list)(struct listing *l, struct error *err);
	bool needs_catalog;
} kinds[] = {
	{"sources", list_sources, false},  {"chips", list_chips, false},
	{"counters", list_counters, true}, {"metrics", list_metrics, true},
	{"sets", list_sets, true},
};

static int list_run(struct listing *l, struct error *err)
{
	const char *what = l->o->argc == 1 ? l->o->argv[0] : "";
	int rc;

	l->patterns = calloc(l->o->kernels.n + 1, sizeof(*l->patterns));
	if (!l->patterns)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < l->o->kernels.n; i++) {
		rc = pattern_init(&l->patterns[i], l->o->kernels.items[i], err);
		if (rc)
			return rc;
		l->n_patterns++;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, what))
			continue;
		rc = kinds[i].needs_catalog ? setup_catalog(&l->setup, l->o, NULL, err) : 0;
		return rc ? rc : kinds[i].list(l, err);
	}
	return error_set(err, RC_INVALID,
			 "list: one of sources, chips, counters, metrics, sets%s%s%s",
			 *what ? "; not '" : "", what, *what ? "'" : "");
}

int cmd_list(int argc, char **argv)
{
	struct options o;
	struct error err = {0};
	struct listing l = {.o = &o};
	int rc;

	if (!command_begin(&o, COMMAND_LIST, argc, argv, EXIT_USAGE, NULL, &rc))
		return rc;
	rc = list_run(&l, &err);
	for (size_t i = 0; i < l.n_patterns; i++)
		pattern_release(&l.patterns[i]);
	free(l.patterns);
	setup_release(&l.setup);
	options_release(&o);
	return rc ? command_fail(EXIT_USAGE, &err) : EXIT_FINE;
}
