/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row for each kernel or range: how many dispatches there were, how often they were counted,
 * how long one takes, and what is to be known before its values are trusted.
 */
#include "report/anchors.h"
#include "report/parts.h"

#include <string.h>

static const struct table_column columns[] = {
	COLUMNS_KERNEL,
	{"dispatches", NULL, NULL, TABLE_NUMBER, 0},
	{"counted", NULL, NULL, TABLE_NUMBER, 0},
	{"passes", NULL, NULL, TABLE_STRING, 0},
	{"mean_ns", "mean time", "ns", TABLE_NUMBER, 0},
	{"min_ns", "min", "ns", TABLE_NUMBER, 0},
	{"max_ns", "max", "ns", TABLE_NUMBER, 0},
	{"share", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"share_text", "share", NULL, TABLE_STRING, TABLE_ONLY_TEXT | TABLE_RIGHT},
	{"varying", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"declined", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"left_out", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"unmatched", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"sameness", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA},
	{"anchor", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA},
	{"anchor_compared", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"anchor_largest", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"anchor_typical", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"anchor_within", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"anchor_between", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"sameness_text", "passes are", NULL, TABLE_STRING, TABLE_ONLY_TEXT | TABLE_HIDE_EMPTY},
	COLUMN_NOTE,
};

static bool is_kernel(const struct value_group *g)
{
	return g->unit != SPOOL_UNIT_PROCESS;
}

bool kernels_has_rows(const struct values *v)
{
	const struct value_group *groups;
	size_t n;

	groups = values_groups(v, &n);
	for (size_t i = 0; i < n; i++) {
		if (is_kernel(&groups[i]))
			return true;
	}
	return false;
}

/* left_out: those that were known from others (--until). */
static uint64_t declined_of(const struct store *s, uint32_t kernel, uint64_t *left_out)
{
	const struct store_declined *d;
	uint64_t n_declined = 0;
	size_t n;

	*left_out = 0;
	d = store_declined(s, &n);
	for (size_t i = 0; i < n; i++) {
		if (d[i].kernel == kernel)
			*(d[i].instead == SPOOL_INSTEAD_ESTIMATE ? left_out : &n_declined) +=
				d[i].n;
	}
	return n_declined;
}

/* After how many dispatches of one kind the first ones were left out. */
static uint64_t left_after(const struct store *s, uint32_t kernel)
{
	const struct store_left *l;
	uint64_t least = UINT64_MAX;
	size_t n;

	l = store_left(s, &n);
	for (size_t i = 0; i < n; i++) {
		if (l[i].kernel == kernel && l[i].counted < least)
			least = l[i].counted;
	}
	return least;
}

/* Recorded or left out. */
static uint64_t dispatches_of(const struct store *s, const struct value_group *g)
{
	uint64_t left;

	declined_of(s, g->kernel, &left);
	return g->dispatches + left;
}

static void add_ns(struct table *t, const struct value_group *g, uint64_t ns)
{
	if (g->mean_ns)
		table_add_u64(t, ns);
	else
		table_add_none(t);
}

static void add_name(struct table *t, const char *name, bool is_text)
{
	size_t n = strlen(name);
	char cut[48];

	if (!is_text || n < 40) {
		table_add_string(t, name);
		return;
	}
	snprintf(cut, sizeof(cut), "%.24s..%s", name, name + n - 12);
	table_add_string(t, cut);
}

static void add_share(struct table *t, bool there, double share)
{
	if (there)
		table_add_number(t, NUMBER_F64(share));
	else
		table_add_none(t);
}

static void add_sameness(struct table *t, const struct store *s, const struct anchors *a,
			 uint32_t kernel)
{
	struct anchor_spread x = anchors_of_kernel(a, kernel);
	bool has_anchor = x.counter != UINT32_MAX;
	struct str text = STR_INIT;

	table_add_string(t, sameness_name(x.sameness));
	table_add_string(t, has_anchor ? store_plan(s)->counters[x.counter].name : NULL);
	table_add_u64(t, x.compared);
	add_share(t, x.compared > 0, x.largest);
	add_share(t, x.compared > 0, x.typical);
	add_share(t, x.within >= 0, x.within);
	add_share(t, x.between >= 0, x.between);
	if (store_plan(s)->n_passes > 1 || x.compared) /* else there is nothing to be the same */
		sameness_text(a, kernel, &text);
	table_add_string(t, str_text(&text));
	str_release(&text);
}

/* total_ns: of all kernels, each dispatch once. */
static void add_kernel(struct table *t, const struct store *s, const struct values *v,
		       const struct value_group *g, double total_ns, bool is_text)
{
	uint64_t left, declined = declined_of(s, g->kernel, &left);
	uint64_t unmatched = unmatched_of(s, g->kernel);
	uint64_t dispatches = g->dispatches + left;
	double share = total_ns > 0 ? (double)g->mean_ns * (double)dispatches / total_ns : 0;
	struct str text = STR_INIT;

	add_name(t, g->name, is_text);
	table_add_string(t, unit_name(g->unit));
	table_add_u64(t, dispatches);
	table_add_u64(t, g->rows);
	table_add_string(t, g->row_passes);
	add_ns(t, g, g->mean_ns);
	add_ns(t, g, g->min_ns);
	add_ns(t, g, g->max_ns);
	if (g->mean_ns) {
		table_add_number(t, NUMBER_F64(share));
		share_print(share, &text);
	} else {
		table_add_none(t);
	}
	table_add_string(t, str_text(&text));
	table_add_u64(t, g->varying);
	table_add_u64(t, declined);
	table_add_u64(t, left);
	table_add_u64(t, unmatched);
	add_sameness(t, s, values_anchors(v), g->kernel);
	str_clear(&text);
	if (g->varying)
		str_add(&text, "varying");
	if (declined)
		str_addf(&text, "%s%llu declined", g->varying ? ", " : "",
			 (unsigned long long)declined);
	if (left)
		str_addf(&text, "%s%llu left out, known after %llu", text.size ? ", " : "",
			 (unsigned long long)left, (unsigned long long)left_after(s, g->kernel));
	if (unmatched)
		str_addf(&text, "%s%llu not matched", text.size ? ", " : "",
			 (unsigned long long)unmatched);
	table_add_string(t, str_text(&text));
	table_end_row(t);
	str_release(&text);
}

int kernels_table(struct store *s, const struct values *v, const struct report_options *o, FILE *f,
		  struct json_writer *json, struct error *err)
{
	struct table_options to = {.format = o->format,
				   .base_units = o->base_units,
				   .out = f,
				   .json = json,
				   .indent = "  "};
	bool is_text = o->format == TABLE_TEXT;
	const struct value_group *groups;
	struct table *t = NULL;
	double total_ns = 0;
	size_t n;
	int rc;

	groups = values_groups(v, &n);
	for (size_t i = 0; i < n; i++) {
		if (is_kernel(&groups[i]))
			total_ns +=
				(double)groups[i].mean_ns * (double)dispatches_of(s, &groups[i]);
	}
	if (is_text && fputs("\nkernels\n", f) < 0)
		return error_set(err, RC_IO, "the report could not be written");
	rc = table_begin(&t, columns, sizeof(columns) / sizeof(columns[0]), &to, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (is_kernel(&groups[i]))
			add_kernel(t, s, v, &groups[i], total_ns, is_text);
	}
	return table_end(t, err);
}
