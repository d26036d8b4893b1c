/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of dispatches over all passes: see join.h. */
#include "export/join.h"

#include <stdlib.h>
#include <string.h>

struct joining {
	struct join *j;
	const struct join_options *o;
	struct id_map index; /* number and process of a row to its index + 1 */
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while joining the passes");
}

static struct join_row *row_of(struct joining *x, const struct store_row *r, struct error *err)
{
	struct join *j = x->j;
	struct join_row row = {.spool = r->run->spool,
			       .kernel = r->kernel,
			       .unit = r->unit,
			       .device = r->device,
			       .registers = r->registers,
			       .shared_bytes = r->shared_bytes,
			       .queue = r->queue,
			       .begin_ns = r->begin_ns,
			       .end_ns = r->end_ns,
			       .dispatch = r->dispatch,
			       .cells = j->cells.n};
	uint64_t at = 0;

	row_identify(j->store, r, &row.match, &row.number, &row.identity);
	id_map_get(&x->index, row.number, row.identity, &at);
	for (uint64_t i = at; i; i = j->rows.items[i - 1].next) {
		if (j->rows.items[i - 1].kernel == r->kernel)
			return &j->rows.items[i - 1];
	}
	row.next = at;
	memcpy(row.grid, r->grid, sizeof(row.grid));
	memcpy(row.block, r->block, sizeof(row.block));
	if (!vec_reserve(&j->cells, j->cells.n + j->n_values) || !vec_push(&j->rows, row) ||
	    !id_map_set(&x->index, row.number, row.identity, j->rows.n)) {
		no_memory(err);
		return NULL;
	}
	memset(j->cells.items + j->cells.n, 0, j->n_values * sizeof(*j->cells.items));
	j->cells.n += j->n_values;
	return &j->rows.items[j->rows.n - 1];
}

/* ---- values ---- */

static void add(struct join_cell *c, struct number n)
{
	uint64_t sum;

	if (!c->n) {
		c->is_f64 = n.is_f64;
		if (n.is_f64)
			c->sum.f64 = n.f64;
		else
			c->sum.u64 = n.u64;
	} else if (!c->is_f64 && !n.is_f64 && !__builtin_add_overflow(c->sum.u64, n.u64, &sum)) {
		c->sum.u64 = sum;
	} else {
		c->sum.f64 = (c->is_f64 ? c->sum.f64 : (double)c->sum.u64) + number_f64(n);
		c->is_f64 = true;
	}
	c->n++;
}

static struct number value_number(const struct store_value *v)
{
	return v->kind == SAMPLE_F64 ? NUMBER_F64(v->value.f64) : NUMBER_U64(v->value.u64);
}

static int add_instances(struct joining *x, const struct store_row *r, size_t row,
			 struct error *err)
{
	struct join *j = x->j;

	for (size_t i = 0; i < r->n_instances; i++) {
		const struct store_instance *v = &r->instances[i];
		struct join_instance one = {
			.row = row, .counter = v->counter, .instance = v->instance};

		if (v->counter >= j->plan->n_counters || !x->o->instances[v->counter] ||
		    v->value.status != SAMPLE_OK)
			continue;
		add(&one.cell, value_number(&v->value));
		if (!vec_push(&j->instances, one))
			return no_memory(err);
	}
	return 0;
}

static int take_row(void *data, const struct store_row *r, struct error *err)
{
	struct joining *x = data;
	struct join *j = x->j;
	const struct plan_pass *p = &j->plan->passes[r->run->pass - 1];
	struct join_cell *cells;
	struct join_row *row;

	if (x->o->units && !(x->o->units & 1u << r->unit))
		return 0;
	row = row_of(x, r, err);
	if (!row)
		return RC_NO_MEMORY;
	cells = j->cells.items + row->cells;
	j->executions++;
	row->flags |= r->flags;
	if (row->last_pass != r->run->pass) {
		row->n_passes++;
		row->last_pass = r->run->pass;
	}
	for (uint32_t m = 0; m < j->plan->n_metrics; m++) {
		struct expr_value e = {.missing = true};

		if (j->plan->metrics[m].pass != r->run->pass)
			continue;
		if (j->code[m].expr)
			e = metric_of_row(j->plan, m, j->code[m].expr, r);
		if (!e.missing)
			add(&cells[m], NUMBER_F64(e.number));
	}
	for (uint32_t i = 0; i < p->n_counters; i++) {
		const struct store_value *v = &r->values[i];

		if (v->recorded && v->status == SAMPLE_OK)
			add(&cells[j->plan->n_metrics + p->counters[i]], value_number(v));
	}
	return x->o->instances ? add_instances(x, r, (size_t)(row - j->rows.items), err) : 0;
}

/* ---- orders ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct join_row *x = a, *y = b;

	if (x->spool->rank != y->spool->rank)
		return x->spool->rank < y->spool->rank ? -1 : 1;
	if (x->match.compared != y->match.compared)
		return x->match.compared ? -1 : 1;
	if (x->match.compared && x->match.lane != y->match.lane)
		return x->match.lane < y->match.lane ? -1 : 1;
	if (!x->match.compared && x->spool != y->spool) /* in an order of their own */
		return x->spool < y->spool ? -1 : 1;
	if (x->match.logical != y->match.logical)
		return x->match.logical < y->match.logical ? -1 : 1;
	return x->cells < y->cells ? -1 : x->cells > y->cells;
}

static int compare_instances(const void *a, const void *b)
{
	const struct join_instance *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	return x->instance < y->instance ? -1 : x->instance > y->instance;
}

/* All executions become one. */
static void merge_instances(struct join *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->instances.n; i++) {
		struct join_instance *one = &j->instances.items[i], *last;

		last = n ? &j->instances.items[n - 1] : NULL;
		if (last && last->row == one->row && last->counter == one->counter &&
		    last->instance == one->instance)
			add(&last->cell, join_number(&one->cell));
		else
			j->instances.items[n++] = *one;
	}
	j->instances.n = n;
}

static int order(struct join *j, struct error *err)
{
	size_t *at = calloc(j->rows.n + 1, sizeof(*at));

	if (!at)
		return no_memory(err);
	if (j->rows.n)
		qsort(j->rows.items, j->rows.n, sizeof(*j->rows.items), compare_rows);
	for (size_t i = 0; j->n_values && i < j->rows.n; i++)
		at[j->rows.items[i].cells / j->n_values] = i;
	vec_for_each (&j->instances, one)
		one->row = at[one->row];
	free(at);
	if (j->instances.n)
		qsort(j->instances.items, j->instances.n, sizeof(*j->instances.items),
		      compare_instances);
	merge_instances(j);
	return 0;
}

int join_collect(struct join *j, struct store *s, const struct join_options *o, struct error *err)
{
	struct store_scan scan = {.pass = o->pass ? o->pass : STORE_ALL_PASSES,
				  .kernels = o->kernels};
	struct joining x = {.j = j, .o = o};
	uint32_t wanted = 0;
	int rc;

	*j = (struct join){.plan = store_plan(s), .store = s};
	j->n_values = (size_t)j->plan->n_metrics + j->plan->n_counters;
	for (uint32_t k = 0; k < j->plan->n_passes; k++)
		wanted += j->plan->passes[k].n_counters && (!o->pass || o->pass == k + 1);
	rc = metrics_parse(&j->arena, j->plan, &j->code, err);
	if (!rc)
		rc = store_match_load(s, err);
	if (!rc)
		rc = store_scan(s, &scan, take_row, &x, err);
	if (!rc)
		rc = order(j, err);
	vec_for_each (&j->rows, r)
		j->incomplete += r->n_passes < wanted;
	id_map_release(&x.index);
	return rc;
}

void join_release(struct join *j)
{
	vec_release(&j->rows);
	vec_release(&j->cells);
	vec_release(&j->instances);
	arena_release(&j->arena);
}

static const struct join_cell *cell(const struct join *j, const struct join_row *r, size_t at)
{
	const struct join_cell *c = &j->cells.items[r->cells + at];

	return c->n ? c : NULL;
}

const struct join_cell *join_counter(const struct join *j, const struct join_row *r,
				     uint32_t counter)
{
	return cell(j, r, j->plan->n_metrics + (size_t)counter);
}

const struct join_cell *join_metric(const struct join *j, const struct join_row *r, uint32_t metric)
{
	return cell(j, r, metric);
}

struct number join_number(const struct join_cell *c)
{
	if (c->is_f64)
		return NUMBER_F64(c->sum.f64 / c->n);
	if (c->sum.u64 % c->n == 0)
		return NUMBER_U64(c->sum.u64 / c->n);
	return NUMBER_F64((double)c->sum.u64 / c->n);
}
