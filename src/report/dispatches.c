/* SPDX-License-Identifier: Apache-2.0 */
/* One row for each value of each dispatch in each execution of a pass, written while the database
 * is read. As text only so many are shown. */
#include "report/parts.h"

#include <string.h>

static const struct table_column columns[] = {
	COLUMNS_DISPATCH,
	{"pass", NULL, NULL, TABLE_NUMBER, 0},
	{"attempt", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	COLUMNS_LAUNCH,
	COLUMN_KIND,
	COLUMN_NAME,
	COLUMNS_VALUE,
	COLUMNS_STATUS,
	COLUMNS_FLAGS,
	COLUMNS_MATCH,
	COLUMN_NOTE,
};

struct writer {
	struct store *store;
	const struct plan *plan;
	const struct values_options *values;
	struct arena arena;
	struct metric_code *code;
	struct table *table;
	bool is_text;
	uint64_t rows, left_out;
};

static void add_triple(struct table *t, const uint32_t v[3])
{
	char text[48] = "";

	if (v[0])
		snprintf(text, sizeof(text), "%ux%ux%u", v[0], v[1], v[2]);
	table_add_string(t, text);
}

/* A mangled name can be longer than a screen is wide: its ends are what tells it from others. */
static void add_kernel(struct table *t, const char *name, bool is_text)
{
	size_t n = strlen(name);
	char cut[40];

	if (!is_text || n < 32) {
		table_add_string(t, name);
		return;
	}
	snprintf(cut, sizeof(cut), "%.15s..%s", name, name + n - 14);
	table_add_string(t, cut);
}

void dispatch_add(struct table *t, struct store *s, const struct values_options *vo,
		  const struct store_row *r, const struct store_spool *spool, bool is_text)
{
	add_kernel(t, values_shown_name(s, vo, r->kernel), is_text);
	table_add_string(t, unit_name(r->unit));
	table_add_u64(t, r->dispatch);
	table_add_string(t, spool->host);
	if (spool->rank >= 0)
		table_add_u64(t, (uint64_t)spool->rank);
	else
		table_add_none(t);
	table_add_u64(t, (uint64_t)(uint32_t)spool->pid);
	table_add_string(t, spool->launch);
}

void dispatch_add_launch(struct table *t, const struct store_row *r, bool has_duration, uint64_t ns)
{
	table_add_u64(t, r->device);
	if (r->begin_ns)
		table_add_u64(t, r->begin_ns);
	else /* what ran live, and could not be timed */
		table_add_none(t);
	if (has_duration)
		table_add_u64(t, ns);
	else
		table_add_none(t);
	add_triple(t, r->grid);
	add_triple(t, r->block);
	for (int i = 0; i < 2; i++) { /* 0 where the source does not say */
		uint32_t v = i ? r->shared_bytes : r->registers;

		if (r->unit == SPOOL_UNIT_DISPATCH && v)
			table_add_u64(t, v);
		else
			table_add_none(t);
	}
}

void dispatch_add_match(struct table *t, const struct store_match *m, bool of_row, bool is_text)
{
	/* People are told of what is not as it should be. */
	bool plain = is_text && m->lowest >= 1 && m->executions == m->of_executions;
	bool paired = of_row ? m->how != MATCH_NONE : m->executions > 1;

	if (!m->compared || plain) {
		table_add_none(t);
		table_add_string(t, NULL);
		table_add_none(t);
		return;
	}
	table_add_u64(t, m->logical);
	/* The first execution is what the others are compared with. */
	table_add_string(t, !paired  ? (m->executions > 1 ? "first" : match_how_name(MATCH_NONE))
			    : of_row ? match_how_name(m->how)
			    : m->lowest < 1 ? "unsure"
					    : "exact");
	if (paired)
		table_add_number(t, NUMBER_F64(of_row ? m->confidence : m->lowest));
	else
		table_add_none(t);
}

static void add_dispatch(struct writer *w, const struct store_row *r)
{
	dispatch_add(w->table, w->store, w->values, r, r->run->spool, w->is_text);
	table_add_u64(w->table, r->run->pass);
	table_add_u64(w->table, r->attempt);
	dispatch_add_launch(w->table, r, r->end_ns > r->begin_ns, r->end_ns - r->begin_ns);
}

/* The cells of a row behind its reason. */
static void add_note(struct writer *w, const struct store_row *r, const char *status)
{
	struct store_match match;

	table_add_bool(w->table, r->flags & SPOOL_DISPATCH_REPLAYED);
	table_add_bool(w->table, r->flags & SPOOL_DISPATCH_VARYING);
	store_match(w->store, r, &match);
	dispatch_add_match(w->table, &match, true, w->is_text);
	table_add_string(w->table, status                              ? status
				   : r->flags & SPOOL_DISPATCH_VARYING ? "varying"
								       : NULL);
}

static bool take_row(struct writer *w)
{
	if (w->is_text && w->rows >= REPORT_TEXT_ROWS_MAX) {
		w->left_out++;
		return false;
	}
	w->rows++;
	return true;
}

static void add_counter(struct writer *w, const struct store_row *r, uint32_t counter,
			const struct store_value *v)
{
	bool ok = v->recorded && v->status == SAMPLE_OK;
	struct table *t = w->table;
	struct str reason = STR_INIT;

	if (!take_row(w))
		return;
	add_dispatch(w, r);
	table_add_string(t, "counter");
	table_add_string(t, w->plan->counters[counter].name);
	if (ok)
		table_add_number(t, v->kind == SAMPLE_F64 ? NUMBER_F64(v->value.f64)
							  : NUMBER_U64(v->value.u64));
	else
		table_add_none(t);
	table_add_string(t, w->plan->counters[counter].unit);
	table_add_string(t, status_name(v->recorded ? v->status : SAMPLE_NOT_COLLECTED));
	if (!v->recorded) {
		str_add(&reason, "no sample");
	} else if (v->status == SAMPLE_MULTIPLEXED && r->enabled_ns) {
		str_addf(&reason, "multiplexed: counted %.0f %% of the time, raw count %llu",
			 100.0 * (double)r->running_ns / (double)r->enabled_ns,
			 (unsigned long long)v->value.u64);
	} else if (!ok) {
		str_add(&reason, status_name(v->status));
	}
	table_add_string(t, str_text(&reason));
	add_note(w, r, ok ? NULL : status_name(v->recorded ? v->status : SAMPLE_NOT_COLLECTED));
	table_end_row(t);
	str_release(&reason);
}

static void add_metric(struct writer *w, const struct store_row *r, uint32_t m)
{
	const struct plan_metric *metric = &w->plan->metrics[m];
	struct expr_value v = {.missing = true};
	struct table *t = w->table;

	if (!take_row(w))
		return;
	if (w->code[m].expr)
		v = metric_of_row(w->plan, m, w->code[m].expr, r);
	add_dispatch(w, r);
	table_add_string(t, "metric");
	table_add_string(t, metric->name);
	if (v.missing)
		table_add_none(t);
	else
		table_add_number(t, NUMBER_F64(v.number));
	table_add_string(t, metric->unit);
	table_add_string(t, status_name(v.missing ? SAMPLE_NOT_COLLECTED : SAMPLE_OK));
	table_add_string(t, !v.missing         ? NULL
			    : !w->code[m].expr ? w->code[m].why
			    : r->complete      ? "the expression has no value for these counts"
					       : "a counter it needs has no value");
	add_note(w, r, v.missing ? status_name(SAMPLE_NOT_COLLECTED) : NULL);
	table_end_row(t);
}

static int write_row(void *data, const struct store_row *r, struct error *err)
{
	struct writer *w = data;
	const struct plan_pass *pass = &w->plan->passes[r->run->pass - 1];

	(void)err;
	for (uint32_t m = 0; m < w->plan->n_metrics; m++) {
		if (w->plan->metrics[m].pass == r->run->pass &&
		    (!w->values->metrics || w->values->metrics[m]))
			add_metric(w, r, m);
	}
	for (uint32_t i = 0; i < pass->n_counters; i++) {
		if (!w->values->counters || w->values->counters[pass->counters[i]])
			add_counter(w, r, pass->counters[i], &r->values[i]);
	}
	return 0;
}

int dispatches_table(struct store *s, const struct values_options *vo,
		     const struct report_options *o, FILE *f, struct json_writer *json,
		     struct error *err)
{
	struct table_options to = {
		.format = o->format, .base_units = o->base_units, .out = f, .json = json};
	struct store_scan scan = {.pass = STORE_ALL_PASSES, .kernels = vo->kernels};
	struct writer w = {.store = s,
			   .plan = store_plan(s),
			   .values = vo,
			   .is_text = o->format == TABLE_TEXT};
	int rc, end;

	if (o->layout == REPORT_WIDE ||
	    (o->layout == REPORT_AUTO && w.is_text && dispatches_fit_wide(w.plan, vo)))
		return dispatches_wide(s, vo, o, f, json, err);
	rc = metrics_parse(&w.arena, w.plan, &w.code, err);

	if (!rc && w.is_text && fputc('\n', f) == EOF)
		rc = error_set(err, RC_IO, "the report could not be written");
	if (!rc)
		rc = table_begin(&w.table, columns, sizeof(columns) / sizeof(columns[0]), &to, err);
	if (!rc) {
		rc = store_scan(s, &scan, write_row, &w, err);
		end = table_end(w.table, rc ? NULL : err);
		rc = rc ? rc : end;
	}
	if (!rc && w.left_out &&
	    fprintf(f, "%llu more values are not shown; --format csv has all of them\n",
		    (unsigned long long)w.left_out) < 0)
		rc = error_set(err, RC_IO, "the report could not be written");
	arena_release(&w.arena);
	return rc;
}
