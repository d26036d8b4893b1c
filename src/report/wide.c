/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row for each dispatch of each process, with its values in columns, all its passes and
 * repeats together: a value is the mean of the executions that have it, the duration that of all.
 * Rows are kept until the end, since a later pass adds to them.
 */
#include "report/collect.h"
#include "report/html.h"
#include "report/parts.h"

#include <string.h>

#define VALUES_AUTO_MAX 8

static const struct table_column head[] = {
	COLUMNS_DISPATCH,
	{"counted", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	COLUMNS_LAUNCH,
};
static const struct table_column tail[] = {
	COLUMNS_FLAGS,
	COLUMNS_MATCH,
	{"passes", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"executions", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	{"of_executions", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},
	COLUMN_NOTE,
};
#define N_HEAD (sizeof(head) / sizeof(*head))
#define N_TAIL (sizeof(tail) / sizeof(*tail))

struct wide_value { /* a column */
	bool is_metric;
	uint32_t index;
};
struct wide_cell {
	struct total sum;
	uint64_t n;
	uint8_t status; /* of the first execution without a value */
};
struct wide_row {
	struct store_row first; /* its pointers but run are gone */
	const struct store_spool *spool;
	uint64_t counted, timed, ns;
	uint32_t flags, n_passes, last_pass;
	struct store_match match;
	size_t next; /* another kernel with the same number, and 1; 0: none */
};
struct wide {
	struct store *store;
	const struct plan *plan;
	const struct values_options *options;
	struct arena arena;
	struct metric_code *code;
	bool is_text;
	struct table *table;
	VEC(struct wide_value) values;
	VEC(struct wide_row) rows;
	VEC(struct wide_cell) cells;
	struct id_map index; /* (dispatch, process or lane, and kind) to row */
	size_t rows_max;
	uint64_t left_out;
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory for the rows of dispatches");
}

/* Metrics of several passes have no value of one dispatch. */
static bool wants_metric(const struct values_options *vo, const struct plan *plan, uint32_t m)
{
	return plan->metrics[m].pass && (!vo->metrics || vo->metrics[m]);
}

bool dispatches_fit_wide(const struct plan *plan, const struct values_options *vo)
{
	uint32_t n = 0;

	for (uint32_t m = 0; m < plan->n_metrics; m++)
		n += wants_metric(vo, plan, m);
	for (uint32_t c = 0; c < plan->n_counters; c++)
		n += !vo->counters || vo->counters[c];
	return n <= VALUES_AUTO_MAX;
}

/* ---- columns ---- */

static bool is_taken(const struct table_column *columns, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(columns[i].id, id))
			return true;
	}
	for (size_t i = 0; i < N_TAIL; i++) {
		if (!strcmp(tail[i].id, id))
			return true;
	}
	return false;
}

/* Units that a name does not tell. */
static const char *column_unit(const char *unit)
{
	static const char *const shown[] = {"ns", "bytes", "%"};

	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		if (!strcmp(unit, shown[i]))
			return shown[i];
	}
	return "";
}

static int make_columns(struct wide *w, struct table_column **columns_out, size_t *n_out,
			struct error *err)
{
	const struct plan *plan = w->plan;
	struct table_column *columns;
	size_t n = N_HEAD;

	for (uint32_t m = 0; m < plan->n_metrics; m++) {
		if (wants_metric(w->options, plan, m) &&
		    !vec_push(&w->values, ((struct wide_value){true, m})))
			return no_memory(err);
	}
	for (uint32_t c = 0; c < plan->n_counters; c++) {
		if ((!w->options->counters || w->options->counters[c]) &&
		    !vec_push(&w->values, ((struct wide_value){false, c})))
			return no_memory(err);
	}
	columns = arena_array(&w->arena, N_HEAD + w->values.n + N_TAIL, sizeof(*columns));
	if (!columns)
		return no_memory(err);
	memcpy(columns, head, sizeof(head));
	vec_for_each (&w->values, v) {
		const char *name =
			v->is_metric ? plan->metrics[v->index].name : plan->counters[v->index].name;
		const char *unit =
			v->is_metric ? plan->metrics[v->index].unit : plan->counters[v->index].unit;
		const char *id = name;

		if (is_taken(columns, n, id)) /* ids are unique: a program reads by them */
			id = arena_printf(&w->arena, "%s:%s", v->is_metric ? "metric" : "counter",
					  name);
		if (!id)
			return no_memory(err);
		columns[n++] = (struct table_column){id, name, column_unit(unit), TABLE_NUMBER, 0};
	}
	memcpy(columns + n, tail, sizeof(tail));
	*columns_out = columns;
	*n_out = n + N_TAIL;
	return 0;
}

/* ---- rows ---- */

/* The row of a dispatch, made when it comes up for the first time. SIZE_MAX: none, not *failed: not
 * shown. */
static size_t row_of(struct wide *w, const struct store_row *r, bool *failed)
{
	struct wide_row row = {.first = *r, .spool = r->run->spool};
	uint64_t at = 0, number;
	uint32_t process;
	bool known;

	row_identify(w->store, r, &row.match, &number, &process);
	known = id_map_get(&w->index, number, process, &at);

	for (size_t i = known ? at + 1 : 0; i; i = w->rows.items[i - 1].next) {
		if (w->rows.items[i - 1].first.kernel == r->kernel)
			return i - 1;
	}
	if (w->rows.n >= w->rows_max) {
		w->left_out++;
		return SIZE_MAX;
	}
	row.next = known ? at + 1 : 0;
	*failed =
		!vec_push(&w->rows, row) || !id_map_set(&w->index, number, process, w->rows.n - 1);
	for (size_t i = 0; !*failed && i < w->values.n; i++)
		*failed = !vec_push(&w->cells, (struct wide_cell){0});
	return *failed ? SIZE_MAX : w->rows.n - 1;
}

static void add_to_cell(struct wide_cell *c, bool ok, struct number n, uint8_t status)
{
	if (ok) {
		total_add(&c->sum, n);
		c->n++;
	} else if (!c->status) {
		c->status = status;
	}
}

static void take_value(struct wide *w, struct wide_cell *c, const struct wide_value *v,
		       const struct store_row *r)
{
	const struct plan_pass *pass = &w->plan->passes[r->run->pass - 1];

	if (v->is_metric) {
		struct expr_value e = {.missing = true};

		if (w->plan->metrics[v->index].pass != r->run->pass)
			return;
		if (w->code[v->index].expr)
			e = metric_of_row(w->plan, v->index, w->code[v->index].expr, r);
		add_to_cell(c, !e.missing, NUMBER_F64(e.number), SAMPLE_NOT_COLLECTED);
		return;
	}
	for (uint32_t i = 0; i < pass->n_counters; i++) {
		const struct store_value *x = &r->values[i];

		if (pass->counters[i] != v->index)
			continue;
		add_to_cell(c, x->recorded && x->status == SAMPLE_OK,
			    x->kind == SAMPLE_F64 ? NUMBER_F64(x->value.f64)
						  : NUMBER_U64(x->value.u64),
			    x->recorded ? x->status : SAMPLE_NOT_COLLECTED);
	}
}

static int take_row(void *data, const struct store_row *r, struct error *err)
{
	struct wide *w = data;
	bool failed = false;
	size_t at = row_of(w, r, &failed);
	struct wide_row *row;

	if (at == SIZE_MAX)
		return failed ? no_memory(err) : 0;
	row = &w->rows.items[at];
	row->counted++;
	row->flags |= r->flags;
	if (row->last_pass != r->run->pass) { /* a scan takes one pass after the other */
		row->n_passes++;
		row->last_pass = r->run->pass;
	}
	if (r->end_ns > r->begin_ns) {
		row->ns += r->end_ns - r->begin_ns;
		row->timed++;
	}
	for (size_t i = 0; i < w->values.n; i++)
		take_value(w, &w->cells.items[at * w->values.n + i], &w->values.items[i], r);
	return 0;
}

static void write_row(struct wide *w, size_t at)
{
	const struct wide_row *row = &w->rows.items[at];
	const struct wide_cell *cells = w->cells.items + at * w->values.n;
	struct table *t = w->table;
	struct str note = STR_INIT;
	uint32_t missing = 0;
	uint8_t status = 0;

	dispatch_add(t, w->store, w->options, &row->first, row->spool, w->is_text);
	table_add_u64(t, row->counted);
	dispatch_add_launch(t, &row->first, row->timed != 0, row->timed ? row->ns / row->timed : 0);
	for (size_t i = 0; i < w->values.n; i++) {
		if (cells[i].n) {
			table_add_number(t, total_mean(&cells[i].sum, cells[i].n));
			continue;
		}
		table_add_none(t);
		if (!missing++)
			status = cells[i].status ? cells[i].status
				 : row->match.executions < row->match.of_executions
					 ? SAMPLE_NOT_MATCHED
					 : SAMPLE_NOT_COLLECTED;
	}
	table_add_bool(t, row->flags & SPOOL_DISPATCH_REPLAYED);
	table_add_bool(t, row->flags & SPOOL_DISPATCH_VARYING);
	dispatch_add_match(t, &row->match, false, w->is_text);
	table_add_u64(t, row->n_passes);
	for (int i = 0; i < 2; i++) {
		if (row->match.compared)
			table_add_u64(t, i ? row->match.of_executions : row->match.executions);
		else
			table_add_none(t);
	}
	if (row->flags & SPOOL_DISPATCH_VARYING)
		str_add(&note, "varying");
	if (row->match.executions < row->match.of_executions)
		str_addf(&note, "%sin %u of %u executions", note.size ? ", " : "",
			 row->match.executions, row->match.of_executions);
	if (missing)
		str_addf(&note, "%s%u %s", note.size ? ", " : "", missing, status_name(status));
	table_add_string(t, str_text(&note));
	table_end_row(t);
	str_release(&note);
}

int dispatches_wide(struct store *s, const struct values_options *vo,
		    const struct report_options *o, FILE *f, struct json_writer *json,
		    struct error *err)
{
	struct table_options to = {
		.format = o->format, .base_units = o->base_units, .out = f, .json = json};
	struct store_scan scan = {.pass = STORE_ALL_PASSES, .kernels = vo->kernels};
	struct wide w = {.store = s,
			 .plan = store_plan(s),
			 .options = vo,
			 .is_text = o->format == TABLE_TEXT,
			 .rows_max = o->format == TABLE_TEXT     ? REPORT_TEXT_ROWS_MAX
				     : o->format == TABLE_ARRAYS ? HTML_ROWS_MAX
								 : SIZE_MAX};
	struct table_column *columns = NULL;
	size_t n = 0;
	int rc = metrics_parse(&w.arena, w.plan, &w.code, err);

	if (!rc)
		rc = make_columns(&w, &columns, &n, err);
	if (!rc)
		rc = store_scan(s, &scan, take_row, &w, err);
	if (!rc && w.is_text && fputc('\n', f) == EOF)
		rc = error_set(err, RC_IO, "the report could not be written");
	if (!rc)
		rc = table_begin(&w.table, columns, n, &to, err);
	for (size_t i = 0; !rc && i < w.rows.n; i++)
		write_row(&w, i);
	if (!rc)
		rc = table_end(w.table, err);
	if (!rc && w.left_out && w.is_text &&
	    fprintf(f, "only the first %d dispatches are shown; --format csv has all of them\n",
		    REPORT_TEXT_ROWS_MAX) < 0)
		rc = error_set(err, RC_IO, "the report could not be written");
	vec_release(&w.values);
	vec_release(&w.rows);
	vec_release(&w.cells);
	id_map_release(&w.index);
	arena_release(&w.arena);
	return rc;
}
