/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing the values of two run directories. */
#include "report/diff.h"

#include "base/vec.h"
#include "report/anchors.h"
#include "report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum verdict {
	WITHIN,
	MOVED,
	UNKNOWN,
	ONLY_A,
	ONLY_B
};
static const char *const verdicts[] = {"within spread", "moved", "spread unknown", "only in A",
				       "only in B"};

static const struct table_column columns[] = {
	COLUMNS_KERNEL,
	COLUMN_KIND,
	COLUMN_NAME,
	{"a", NULL, NULL, TABLE_NUMBER, TABLE_SCALED},
	{"b", NULL, NULL, TABLE_NUMBER, TABLE_SCALED},
	COLUMN_UNIT,
	{"change", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"change_share", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"change_text", "change", NULL, TABLE_STRING, TABLE_ONLY_TEXT | TABLE_RIGHT},
	{"spread", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"spread_text", "spread", NULL, TABLE_STRING, TABLE_ONLY_TEXT | TABLE_RIGHT},
	{"verdict", NULL, NULL, TABLE_STRING, 0},
};

struct side {
	struct store *store;
	struct arena arena;
	struct values *values;
	const struct value_group *groups;
	size_t n;
};
struct diff {
	struct side a, b;
	struct table *table;
	bool is_text;
	size_t n[5]; /* by verdict */
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while comparing runs");
}

/* Marks the names of the list that the plan has; the other run may have the rest. */
static bool *marks(const char *list, bool other, size_t n, const struct plan *plan, bool metric)
{
	bool *out = list || other ? calloc(n + 1, sizeof(*out)) : NULL;

	for (size_t i = 0; list && out && i < n; i++) {
		const char *name = metric ? plan->metrics[i].name : plan->counters[i].name;
		size_t length = strlen(name);

		for (const char *at = list; at && *at; at = strchr(at, ',')) {
			at += *at == ',';
			out[i] = out[i] ||
				 (!strncmp(at, name, length) && (at[length] == ',' || !at[length]));
		}
	}
	return out;
}

static int side_init(struct side *s, struct store *store, const struct report_options *o,
		     struct error *err)
{
	const struct plan *plan = store_plan(store);
	struct values_options vo = {.by = VALUES_BY_KERNEL, .ratio = o->ratio};
	bool *metrics = marks(o->metrics, o->counters, plan->n_metrics, plan, true);
	bool *counters = marks(o->counters, o->metrics, plan->n_counters, plan, false);
	const struct store_kernel *kernels;
	const char **names;
	size_t n;
	int rc = 0;

	s->store = store;
	kernels = store_kernels(store, &n);
	names = arena_array(&s->arena, n + 1, sizeof(*names));
	if (!names || ((o->metrics || o->counters) && (!metrics || !counters)))
		rc = no_memory(err);
	for (size_t i = 0; !rc && i < n; i++) {
		names[i] = kernels[i].unit == SPOOL_UNIT_DISPATCH
				   ? kernel_name_show(&s->arena, kernels[i].name, o->names)
				   : kernels[i].name;
		if (!names[i])
			rc = no_memory(err);
	}
	vo.metrics = metrics;
	vo.counters = counters;
	vo.names = names;
	if (!rc)
		rc = values_collect(&s->values, store, &vo, err);
	if (!rc)
		s->groups = values_groups(s->values, &s->n);
	free(metrics);
	free(counters);
	return rc;
}

static const char *name_of(const struct side *s, const struct value *v)
{
	const struct plan *plan = store_plan(s->store);

	return v->is_metric ? plan->metrics[v->index].name : plan->counters[v->index].name;
}

static const char *unit_of(const struct side *s, const struct value *v)
{
	const struct plan *plan = store_plan(s->store);

	return v->is_metric ? plan->metrics[v->index].unit : plan->counters[v->index].unit;
}

/* Negative: nothing is known. */
static double spread_of(const struct side *s, const struct value_group *g, const struct value *v)
{
	struct anchor_spread x = anchors_of_kernel(values_anchors(s->values), g->kernel);
	double value = fabs(number_f64(v->value)), spread = -1;

	if (v->has_estimate && v->estimate.has_interval)
		spread = (v->estimate.high - v->estimate.low) / 2;
	if (v->error >= 0)
		spread = fmax(spread, v->error * value);
	if (x.sameness != SAMENESS_INCOMPARABLE)
		spread = fmax(spread, x.typical * value);
	if (x.within >= 0)
		spread = fmax(spread, x.within * value);
	if (g->unit == SPOOL_UNIT_PROCESS && v->has_spread)
		spread = fmax(spread, number_f64(v->max) - number_f64(v->min));
	return spread;
}

/* The run may have another path: the process is the process. */
static const struct value_group *find_group(const struct side *s, const struct value_group *g)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->groups[i].unit == g->unit &&
		    (g->unit == SPOOL_UNIT_PROCESS || !strcmp(s->groups[i].name, g->name)))
			return &s->groups[i];
	}
	return NULL;
}

static const struct value *find_value(const struct side *s, const struct value_group *g,
				      const struct side *other, const struct value *v)
{
	for (size_t i = 0; g && i < g->n; i++) {
		if (g->values[i].is_metric == v->is_metric && g->values[i].present &&
		    !strcmp(name_of(s, &g->values[i]), name_of(other, v)))
			return &g->values[i];
	}
	return NULL;
}

static void add_number(struct table *t, bool there, double x)
{
	if (there)
		table_add_number(t, NUMBER_F64(x));
	else
		table_add_none(t);
}

static void add_share(struct table *t, bool there, double share, bool sign)
{
	struct str text = STR_INIT;

	if (there) {
		if (sign)
			str_add(&text, share < 0 ? "-" : "+");
		share_print(fabs(share), &text);
	}
	table_add_string(t, str_text(&text));
	str_release(&text);
}

static void add_row(struct diff *d, const struct side *s, const struct value_group *g,
		    const struct value *named, const struct value *a, const struct value *b,
		    double spread, enum verdict verdict)
{
	struct table *t = d->table;
	double x = a ? number_f64(a->value) : 0, y = b ? number_f64(b->value) : 0;
	bool both = a && b, has_share = both && fabs(x) > 0;

	d->n[verdict]++;
	if (d->is_text && verdict != MOVED)
		return;
	table_add_string(t, g->name);
	table_add_string(t, unit_name(g->unit));
	table_add_string(t, named->is_metric ? "metric" : "counter");
	table_add_string(t, name_of(s, named));
	if (a)
		table_add_number(t, a->value);
	else
		table_add_none(t);
	if (b)
		table_add_number(t, b->value);
	else
		table_add_none(t);
	table_add_string(t, unit_of(s, named));
	add_number(t, both, y - x);
	add_number(t, has_share, (y - x) / fabs(x));
	add_share(t, has_share, has_share ? (y - x) / fabs(x) : 0, true);
	add_number(t, both && spread >= 0, spread);
	add_share(t, has_share && spread >= 0, has_share ? spread / fabs(x) : 0, false);
	table_add_string(t, verdicts[verdict]);
	table_end_row(t);
}

static void compare_group(struct diff *d, const struct value_group *g)
{
	const struct value_group *h = find_group(&d->b, g);

	for (size_t i = 0; i < g->n; i++) {
		const struct value *a = &g->values[i], *b;
		double of_a, of_b, change;
		enum verdict verdict;

		if (!a->present)
			continue;
		b = find_value(&d->b, h, &d->a, a);
		if (!b) {
			add_row(d, &d->a, g, a, a, NULL, -1, ONLY_A);
			continue;
		}
		of_a = spread_of(&d->a, g, a);
		of_b = spread_of(&d->b, h, b);
		change = fabs(number_f64(b->value) - number_f64(a->value));
		if (of_a < 0 || of_b < 0)
			verdict = UNKNOWN;
		else
			verdict = change > of_a + of_b ? MOVED : WITHIN;
		add_row(d, &d->a, g, a, a, b, verdict == UNKNOWN ? -1 : of_a + of_b, verdict);
	}
}

static void add_only_b(struct diff *d, const struct value_group *g)
{
	const struct value_group *h = find_group(&d->a, g);

	for (size_t i = 0; i < g->n; i++) {
		const struct value *b = &g->values[i];

		if (b->present && !find_value(&d->a, h, &d->b, b))
			add_row(d, &d->b, g, b, NULL, b, -1, ONLY_B);
	}
}

int diff_write(struct store *a, struct store *b, const struct report_options *o, FILE *f,
	       size_t *moved_out, struct error *err)
{
	struct table_options to = {.format = o->format, .base_units = o->base_units, .out = f};
	struct diff d = {.is_text = o->format == TABLE_TEXT};
	int rc = side_init(&d.a, a, o, err);

	if (!rc)
		rc = side_init(&d.b, b, o, err);
	if (!rc)
		rc = table_begin(&d.table, columns, sizeof(columns) / sizeof(columns[0]), &to, err);
	for (size_t i = 0; !rc && i < d.a.n; i++)
		compare_group(&d, &d.a.groups[i]);
	for (size_t i = 0; !rc && i < d.b.n; i++)
		add_only_b(&d, &d.b.groups[i]);
	if (!rc)
		rc = table_end(d.table, err);
	if (!rc && d.is_text &&
	    fprintf(f,
		    "%zu moved beyond their spread, %zu did not; of %zu the spread is unknown; %zu "
		    "only in A, %zu only in B\n",
		    d.n[MOVED], d.n[WITHIN], d.n[UNKNOWN], d.n[ONLY_A], d.n[ONLY_B]) < 0)
		rc = error_set(err, RC_IO, "the comparison could not be written");
	if (!rc && !d.n[MOVED] && !d.n[WITHIN] && !d.n[UNKNOWN])
		rc = error_set(err, RC_NOT_FOUND,
			       "nothing was compared: no value is in both runs%s",
			       o->metrics || o->counters ? " and in the selection" : "");
	*moved_out = d.n[MOVED];
	values_free(d.a.values);
	values_free(d.b.values);
	arena_release(&d.a.arena);
	arena_release(&d.b.arena);
	return rc;
}
