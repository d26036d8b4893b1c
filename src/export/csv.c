/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV. Long is the report by dispatch: a line for each value of each execution, in an order that
 * does not depend on how the directory came to be, written while the database is read. Wide is a
 * line a dispatch over all passes.
 */
#include "export/parts.h"
#include "report/report.h"
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

static const struct table_column head[] = {
	{"kernel", NULL, NULL, TABLE_STRING, 0},     {"scope", NULL, NULL, TABLE_STRING, 0},
	{"dispatch", NULL, NULL, TABLE_NUMBER, 0},   {"host", NULL, NULL, TABLE_STRING, 0},
	{"rank", NULL, NULL, TABLE_NUMBER, 0},       {"pid", NULL, NULL, TABLE_NUMBER, 0},
	{"launch", NULL, NULL, TABLE_STRING, 0},     {"device", NULL, NULL, TABLE_NUMBER, 0},
	{"begin_ns", NULL, NULL, TABLE_NUMBER, 0},   {"end_ns", NULL, NULL, TABLE_NUMBER, 0},
	{"grid", NULL, NULL, TABLE_STRING, 0},       {"block", NULL, NULL, TABLE_STRING, 0},
	{"registers", NULL, NULL, TABLE_NUMBER, 0},  {"shared_bytes", NULL, NULL, TABLE_NUMBER, 0},
	{"passes", NULL, NULL, TABLE_NUMBER, 0},     {"varying", NULL, NULL, TABLE_BOOL, 0},
	{"executions", NULL, NULL, TABLE_NUMBER, 0}, {"of_executions", NULL, NULL, TABLE_NUMBER, 0},
	{"confidence", NULL, NULL, TABLE_NUMBER, 0},
};
#define N_HEAD (sizeof(head) / sizeof(*head))

static void add_triple(struct table *t, const uint32_t v[3])
{
	char text[48] = "";

	if (v[0])
		snprintf(text, sizeof(text), "%ux%ux%u", v[0], v[1], v[2]);
	table_add_string(t, text);
}

static void add_known(struct table *t, bool known, uint64_t v)
{
	if (known)
		table_add_u64(t, v);
	else
		table_add_none(t);
}

static void add_row(struct table *t, const struct join *j, const struct export_kernels *k,
		    const struct join_row *r)
{
	static const char *const units[] = {"", "process", "kernel", "range"};
	bool is_kernel = r->unit == SPOOL_UNIT_DISPATCH;

	table_add_string(t, k->names[r->kernel]);
	table_add_string(t, units[r->unit & 3]);
	table_add_u64(t, r->dispatch);
	table_add_string(t, r->spool->host);
	add_known(t, r->spool->rank >= 0, (uint64_t)r->spool->rank);
	table_add_u64(t, (uint32_t)r->spool->pid);
	table_add_string(t, r->spool->launch);
	table_add_u64(t, r->device);
	table_add_u64(t, r->begin_ns);
	table_add_u64(t, r->end_ns);
	add_triple(t, r->grid);
	add_triple(t, r->block);
	add_known(t, is_kernel && r->registers, r->registers);
	add_known(t, is_kernel && r->shared_bytes, r->shared_bytes);
	table_add_u64(t, r->n_passes);
	table_add_bool(t, r->flags & SPOOL_DISPATCH_VARYING);
	add_known(t, r->match.compared, r->match.executions);
	add_known(t, r->match.compared, r->match.of_executions);
	if (r->match.executions > 1)
		table_add_number(t, NUMBER_F64(r->match.lowest));
	else
		table_add_none(t);
	for (uint32_t i = 0; i < j->plan->n_metrics + j->plan->n_counters; i++) {
		const struct join_cell *c = i < j->plan->n_metrics
						    ? join_metric(j, r, i)
						    : join_counter(j, r, i - j->plan->n_metrics);

		if (c)
			table_add_number(t, join_number(c));
		else
			table_add_none(t);
	}
	table_end_row(t);
}

static bool is_taken(const struct table_column *columns, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(columns[i].id, id))
			return true;
	}
	return false;
}

static int wide(struct store *s, const struct export_kernels *k, FILE *f, struct error *err)
{
	struct join_options jo = {.kernels = k->chosen};
	struct table_options to = {.format = TABLE_CSV, .out = f};
	const struct plan *plan = store_plan(s);
	size_t n = N_HEAD + (size_t)plan->n_metrics + plan->n_counters;
	struct table_column *columns = calloc(n, sizeof(*columns));
	struct table *t = NULL;
	struct join j = {0};
	int rc = columns ? join_collect(&j, s, &jo, err)
			 : error_set(err, RC_NO_MEMORY, "out of memory for a table");

	if (columns)
		memcpy(columns, head, sizeof(head));
	for (size_t i = N_HEAD; !rc && i < n; i++) {
		size_t at = i - N_HEAD;
		bool metric = at < plan->n_metrics;
		const char *id =
			metric ? plan->metrics[at].name : plan->counters[at - plan->n_metrics].name;

		if (is_taken(columns, i, id)) /* ids are unique: a program reads by them */
			id = arena_printf(&j.arena, "%s:%s", metric ? "metric" : "counter", id);
		columns[i] = (struct table_column){id, NULL, NULL, TABLE_NUMBER, 0};
		if (!id)
			rc = error_set(err, RC_NO_MEMORY, "out of memory for a table");
	}
	if (!rc)
		rc = table_begin(&t, columns, n, &to, err);
	if (!rc) {
		vec_for_each (&j.rows, r)
			add_row(t, &j, k, r);
		rc = table_end(t, err);
	}
	join_release(&j);
	free(columns);
	return rc;
}

int export_csv(struct store *s, const struct export_options *o, const struct export_kernels *k,
	       FILE *f, struct error *err)
{
	struct report_options ro = {.by = REPORT_BY_DISPATCH,
				    .layout = REPORT_LONG,
				    .format = TABLE_CSV,
				    .kernels = o->kernels,
				    .n_kernels = o->n_kernels};

	return o->wide ? wide(s, k, f, err) : report_write(s, &ro, f, err);
}
