/* SPDX-License-Identifier: Apache-2.0 */
/* The values of groups as rows. */
#include "base/vec.h"
#include "report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct table_column columns[] = {
	{"kernel", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA},
	COLUMN_SCOPE,
	{"rank", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"group_pass", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	COLUMN_KIND,
	COLUMN_NAME,
	{"title", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA},
	COLUMNS_VALUE,
	{"min", NULL, NULL, TABLE_NUMBER, TABLE_SCALED | TABLE_ONLY_DATA},
	{"max", NULL, NULL, TABLE_NUMBER, TABLE_SCALED | TABLE_ONLY_DATA},
	{"sum", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"interval", "of all, 95 %", NULL, TABLE_STRING,
	 TABLE_ONLY_TEXT | TABLE_RIGHT | TABLE_HIDE_EMPTY},
	{"range", "min .. max", NULL, TABLE_STRING,
	 TABLE_ONLY_TEXT | TABLE_RIGHT | TABLE_HIDE_EMPTY},
	{"n", NULL, NULL, TABLE_NUMBER, 0},
	{"passes", "pass", NULL, TABLE_STRING, 0},
	COLUMNS_STATUS,
	{"dispatches", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"error", NULL, NULL, TABLE_NUMBER, TABLE_SCALED | TABLE_ONLY_DATA},
	{"estimate", NULL, NULL, TABLE_NUMBER, TABLE_SCALED | TABLE_ONLY_DATA},
	{"low", NULL, NULL, TABLE_NUMBER, TABLE_SCALED | TABLE_ONLY_DATA},
	{"high", NULL, NULL, TABLE_NUMBER, TABLE_SCALED | TABLE_ONLY_DATA},
	{"population", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"missing", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"varying", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"ranks", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA},
	{"of_ranks", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"some_ranks", "ranks", NULL, TABLE_STRING, TABLE_ONLY_TEXT | TABLE_HIDE_EMPTY},
	COLUMN_NOTE,
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Reasons under a text table, numbered in order of appearance. */
struct legend {
	VEC(const char *) reasons;
	bool failed;
};

static size_t legend_number(struct legend *l, const char *reason)
{
	for (size_t i = 0; i < l->reasons.n; i++) {
		if (!strcmp(l->reasons.items[i], reason))
			return i + 1;
	}
	if (!vec_push(&l->reasons, reason))
		l->failed = true;
	return l->reasons.n;
}

static void add_range(struct table *t, const struct value *v, const char *unit, bool base)
{
	struct scale scale = scale_pick(v->value, unit, base);
	struct str text = STR_INIT;

	if (v->present && v->has_spread) {
		scale_print(&scale, v->min, &text);
		str_add(&text, " .. ");
		scale_print(&scale, v->max, &text);
	}
	table_add_string(t, str_text(&text));
	str_release(&text);
}

static void add_note(struct table *t, const struct plan *plan, const struct value *v,
		     struct legend *legend)
{
	struct str text = STR_INIT;

	if (!v->present)
		str_addf(&text, "[%zu]", legend_number(legend, v->reason));
	else if (*v->reason)
		str_addf(&text, "(%s)", v->reason);
	else if (!v->is_metric && (plan->counters[v->index].flags & PLAN_COUNTER_ANCHOR))
		str_add(&text, "anchor");
	if (v->has_estimate)
		str_addf(&text, "%s%llu of %llu dispatches", text.size ? ", " : "",
			 (unsigned long long)v->estimate.n,
			 (unsigned long long)v->estimate.population);
	if (v->has_estimate && v->estimate.missing)
		str_addf(&text, " (%llu of a kind without a sample)",
			 (unsigned long long)v->estimate.missing);
	if (v->has_estimate && !v->estimate.has_interval)
		str_addf(&text, ", no interval: %s", v->estimate.why);
	if (v->present && v->error >= 0) {
		str_add(&text, text.size ? ", +- " : "+- ");
		share_print(v->error, &text);
	}
	if (v->present && v->pass_spread >= 0) {
		str_add(&text, text.size ? ", passes differ by " : "passes differ by ");
		share_print(v->pass_spread, &text);
	}
	table_add_string(t, str_text(&text));
	str_release(&text);
}

/* For people only where not all ranks stand behind a value, and not where the group is one rank. */
static void add_some_ranks(struct table *t, const struct value_group *g, const struct value *v)
{
	char text[64] = "";

	if (v->n_ranks < v->of_ranks && g->rank < 0) {
		if (strlen(v->ranks) <= 16)
			snprintf(text, sizeof(text), "%s of %u", v->ranks, v->of_ranks);
		else
			snprintf(text, sizeof(text), "%u of %u", v->n_ranks, v->of_ranks);
	}
	table_add_string(t, text);
}

static void add_present(struct table *t, bool there, struct number n)
{
	if (there)
		table_add_number(t, n);
	else
		table_add_none(t);
}

/* Data only: what is known of how far the value may be off. */
static void add_error(struct table *t, const struct value *v)
{
	const struct estimate *e = &v->estimate;
	bool there = v->has_estimate, interval = there && e->has_interval;

	add_present(t, v->present && v->error >= 0,
		    NUMBER_F64(v->error * fabs(number_f64(v->value))));
	add_present(t, there, NUMBER_F64(e->value));
	add_present(t, interval, NUMBER_F64(e->low));
	add_present(t, interval, NUMBER_F64(e->high));
	add_present(t, there, NUMBER_U64(e->population));
	add_present(t, there, NUMBER_U64(e->missing));
}

static void add_interval(struct table *t, const struct value *v, const char *unit, bool base)
{
	const struct estimate *e = &v->estimate;
	struct scale scale = scale_pick(v->value, unit, base);
	struct str text = STR_INIT;
	bool there = v->has_estimate, interval = there && e->has_interval;

	if (interval) {
		scale_print(&scale, NUMBER_F64(e->low), &text);
		str_add(&text, " .. ");
		scale_print(&scale, NUMBER_F64(e->high), &text);
	} else if (there) {
		str_add(&text, "unknown");
	}
	table_add_string(t, str_text(&text));
	str_release(&text);
}

static void add_value(struct table *t, const struct plan *plan, const struct value_group *g,
		      const struct value *v, bool base, struct legend *legend)
{
	const char *unit =
		v->is_metric ? plan->metrics[v->index].unit : plan->counters[v->index].unit;

	table_add_string(t, g->name);
	table_add_string(t, unit_name(g->unit));
	if (g->rank >= 0)
		table_add_u64(t, (uint64_t)g->rank);
	else
		table_add_none(t);
	add_present(t, g->pass > 0, NUMBER_U64(g->pass));
	table_add_string(t, v->is_metric ? "metric" : "counter");
	table_add_string(t, v->is_metric ? plan->metrics[v->index].name
					 : plan->counters[v->index].name);
	table_add_string(t, v->is_metric ? plan->metrics[v->index].title : NULL);
	add_present(t, v->present, v->value);
	table_add_string(t, unit);
	add_present(t, v->present && v->has_spread, v->min);
	add_present(t, v->present && v->has_spread, v->max);
	add_present(t, v->present && v->has_sum, v->sum);
	add_interval(t, v, unit, base);
	add_range(t, v, unit, base);
	table_add_u64(t, v->present ? v->n : 0);
	table_add_string(t, v->passes);
	table_add_string(t, v->status);
	table_add_string(t, v->reason);
	add_present(t, g->unit != SPOOL_UNIT_PROCESS, NUMBER_U64(g->dispatches));
	add_error(t, v);
	add_present(t, g->unit != SPOOL_UNIT_PROCESS, NUMBER_U64(g->varying));
	table_add_string(t, v->ranks);
	add_present(t, v->of_ranks > 0, NUMBER_U64(v->of_ranks));
	add_some_ranks(t, g, v);
	add_note(t, plan, v, legend);
	table_end_row(t);
}

static int print(struct str *text, FILE *f, struct error *err)
{
	int rc = 0;

	if (str_is_failed(text))
		rc = error_set(err, RC_NO_MEMORY, "out of memory while writing a report");
	else if (fputs(str_text(text), f) < 0)
		rc = error_set(err, RC_IO, "the report could not be written");
	str_clear(text);
	return rc;
}

static void add_heading(struct str *text, const struct value_group *g)
{
	str_add_char(text, '\n');
	for (const char *c = g->name; *c; c++)
		str_add_char(text, (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c);
	str_addf(text, " (%s", unit_name(g->unit));
	if (g->pass)
		str_addf(text, ", pass %u", g->pass);
	if (g->rank >= 0)
		str_addf(text, ", rank %d", g->rank);
	if (g->unit == SPOOL_UNIT_PROCESS)
		str_addf(text, ", %llu execution%s)\n", (unsigned long long)g->rows,
			 g->rows == 1 ? "" : "s");
	else
		str_addf(text, ", %llu %s%s%s)\n", (unsigned long long)g->dispatches,
			 g->unit == SPOOL_UNIT_RANGE ? "time" : "dispatch",
			 g->dispatches == 1            ? ""
			 : g->unit == SPOOL_UNIT_RANGE ? "s"
						       : "es",
			 g->varying ? ", varying" : "");
}

static int text_group(const struct plan *plan, const struct value_group *g,
		      const struct report_options *o, FILE *f, struct error *err)
{
	struct table_options to = {
		.format = TABLE_TEXT, .base_units = o->base_units, .out = f, .indent = "  "};
	struct legend legend = {0};
	struct str text = STR_INIT;
	struct table *t = NULL;
	int rc;

	add_heading(&text, g);
	rc = print(&text, f, err);
	if (!rc)
		rc = table_begin(&t, columns, N_COLUMNS, &to, err);
	for (size_t i = 0; !rc && i < g->n; i++)
		add_value(t, plan, g, &g->values[i], o->base_units, &legend);
	if (!rc)
		rc = table_end(t, err);
	for (size_t i = 0; i < legend.reasons.n; i++) {
		str_addf(&text, "  - [%zu] ", i + 1);
		text_wrapped(&text, legend.reasons.items[i], 8);
		str_add_char(&text, '\n');
	}
	text.failed = text.failed || legend.failed;
	if (!rc)
		rc = print(&text, f, err);
	vec_release(&legend.reasons);
	str_release(&text);
	return rc;
}

int values_table(struct store *s, const struct values *v, const struct report_options *o, FILE *f,
		 struct json_writer *json, struct error *err)
{
	struct table_options to = {.format = o->format, .out = f, .json = json};
	const struct plan *plan = store_plan(s);
	const struct value_group *groups;
	struct legend legend = {0};
	struct table *t = NULL;
	size_t n;
	int rc = 0;

	groups = values_groups(v, &n);
	if (o->format == TABLE_TEXT) {
		for (size_t i = 0; !rc && i < n; i++)
			rc = text_group(plan, &groups[i], o, f, err);
		if (!rc && values_spread_left_out(v) &&
		    fprintf(f,
			    "\nmin .. max of metrics is left out: it would take over %d "
			    "evaluations\n",
			    VALUES_SPREAD_EVALUATIONS) < 0)
			rc = error_set(err, RC_IO, "the report could not be written");
		return rc;
	}
	rc = table_begin(&t, columns, N_COLUMNS, &to, err);
	for (size_t i = 0; !rc && i < n; i++) {
		for (size_t k = 0; k < groups[i].n; k++)
			add_value(t, plan, &groups[i], &groups[i].values[k], true, &legend);
	}
	vec_release(&legend.reasons);
	return rc ? rc : table_end(t, err);
}
