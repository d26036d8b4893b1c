/* SPDX-License-Identifier: Apache-2.0 */
/* Executions and their lanes from the runs, and the dispatches of one execution from the blocks of
 * its passes. */
#include "store/match_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lanes ---- */
static int compare_launches(const void *a, const void *b)
{
	const struct spool_lane *x = a, *y = b;
	int c = strcmp(x->launch, y->launch);

	if (!c && x->rank < 0 && y->rank < 0)
		c = strcmp(x->host, y->host);
	if (c)
		return c;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_lanes(const void *a, const void *b)
{
	const struct spool_lane *x = a, *y = b;
	int c = x->rank < 0 && y->rank < 0 ? strcmp(x->host, y->host) : 0;

	if (c)
		return c;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int match_read_spools(struct maker *m, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(m->db,
			     "SELECT spool, launch, host, rank FROM spool WHERE launch IS NOT NULL"
			     " ORDER BY start_ns, host, rank, pid, launch, file",
			     &q, err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		struct spool_lane l = {
			.spool = sqlite3_column_int64(q, 0),
			.launch = arena_strdup(&m->s->arena, sql_column_text(q, 1)),
			.host = arena_strdup(&m->s->arena, sql_column_text(q, 2)),
			.rank = sqlite3_column_int64(q, 3),
			.order = m->spools.n,
		};

		rc = l.launch && l.host && vec_push(&m->spools, l) ? 0 : match_no_memory(err);
	}
	sqlite3_finalize(q);
	if (rc || !m->spools.n)
		return rc;
	qsort(m->spools.items, m->spools.n, sizeof(*m->spools.items), compare_launches);
	for (size_t i = 1; i < m->spools.n; i++) {
		struct spool_lane *l = &m->spools.items[i], before = l[-1];

		before.order = l->order;
		if (!compare_launches(&before, l))
			l->ordinal = l[-1].ordinal + 1;
	}
	qsort(m->spools.items, m->spools.n, sizeof(*m->spools.items), compare_lanes);
	for (size_t i = 1; i < m->spools.n; i++) {
		struct spool_lane *l = &m->spools.items[i], before = l[-1];

		before.order = l->order;
		l->lane = l[-1].lane + (compare_lanes(&before, l) != 0);
	}
	return 0;
}

static int compare_executions(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->pass != y->pass)
		return x->pass < y->pass ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int match_read_executions(struct maker *m, struct error *err)
{
	size_t lanes = m->spools.n ? m->spools.items[m->spools.n - 1].lane + 1 : 0;
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(m->db,
			     "SELECT run, spool, pass, in_place FROM run WHERE pass > 0"
			     " AND spool = ? ORDER BY pass, attempt, run",
			     &q, err);

	for (size_t i = 0; !rc && i < m->spools.n; i++) {
		const struct spool_lane *l = &m->spools.items[i];
		bool has_in_place = false;

		sqlite3_bind_int64(q, 1, l->spool);
		while (!rc && (rc = sql_step(q, err)) > 0) {
			bool within = sqlite3_column_int(q, 3);
			struct execution e = {.spool = l->spool,
					      .run = within ? 0 : sqlite3_column_int64(q, 0),
					      .pass = within ? 0
							     : (uint32_t)sqlite3_column_int64(q, 2),
					      /* Regions counted beside a process that is
					       * counted from outside have their own. */
					      .lane = l->lane + (within ? lanes : 0),
					      .order = m->executions.n};

			rc = 0;
			if (within && has_in_place)
				continue;
			has_in_place = has_in_place || within;
			if (!vec_push(&m->executions, e))
				rc = match_no_memory(err);
		}
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	if (!rc && m->executions.n)
		qsort(m->executions.items, m->executions.n, sizeof(*m->executions.items),
		      compare_executions);
	return rc;
}

/* ---- the dispatches of one lane ---- */
static bool same_item(const struct item *x, const struct item *y, bool loose)
{
	return x->kernel == y->kernel && x->unit == y->unit && x->device == y->device &&
	       (loose || !memcmp(x->shape, y->shape, sizeof(x->shape)));
}

/* The number of its key: found by a hash, told apart by comparing. 0: out of memory. */
static uint64_t key_of(struct maker *m, const struct item *it, bool loose)
{
	uint64_t h = (uint64_t)it->kernel * 4 + it->unit, at;

	h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u + it->device;
	for (size_t i = 0; !loose && i < 6; i++)
		h = (h ^ (h >> 31)) * 0x94d049bb133111ebu + it->shape[i];
	for (; id_map_get(&m->keys[loose], h, 0, &at); h++) {
		if (same_item(&m->known[loose].items[at], it, loose))
			return at + 1;
	}
	if (!vec_push(&m->known[loose], *it) ||
	    !id_map_set(&m->keys[loose], h, 0, m->known[loose].n - 1))
		return 0;
	return m->known[loose].n;
}

static int take_anchors(struct maker *m, uint32_t pass, struct item *it, bool is_new,
			struct error *err)
{
	const struct plan_pass *p = &m->s->plan.passes[pass - 1];
	uint32_t columns = schema_columns(&m->s->plan, pass);

	if (is_new) {
		it->anchors = m->new_pool.n;
		for (size_t i = 0; i < m->n_anchors; i++) {
			if (!vec_push(&m->new_pool, (double)NAN))
				return match_no_memory(err);
		}
	}
	for (size_t i = 0; i < m->n_anchors; i++) {
		double *value = &m->new_pool.items[it->anchors + i];

		for (uint32_t c = 0; isnan(*value) && c < columns; c++) {
			const struct store_value *v = &m->values[c];

			if (p->counters[c] == m->anchors[i] && v->recorded)
				*value =
					v->kind == SAMPLE_F64 ? v->value.f64 : (double)v->value.u64;
		}
	}
	return 0;
}

static int take_row(struct maker *m, struct execution *e, const struct block_row *r, uint32_t pass,
		    struct error *err)
{
	struct item it = {
		.kernel = r->kind.kernel,
		.dispatch = r->dispatch,
		.unit = r->kind.unit,
		.device = r->kind.device,
	};
	uint64_t at = 0;
	/* A row of table kernel is of one unit. */
	bool known = id_map_get(&e->seen, it.dispatch, (uint32_t)it.kernel, &at);

	if (known) /* counted in another pass, or again */
		return take_anchors(m, pass, &e->items.items[at], false, err);
	memcpy(it.shape, r->kind.grid, sizeof(r->kind.grid));
	memcpy(it.shape + 3, r->kind.block, sizeof(r->kind.block));
	it.key = key_of(m, &it, false);
	it.loose = key_of(m, &it, true);
	if (!it.key || !it.loose || !vec_push(&e->items, it) ||
	    !id_map_set(&e->seen, it.dispatch, (uint32_t)it.kernel, e->items.n - 1))
		return match_no_memory(err);
	return take_anchors(m, pass, &e->items.items[e->items.n - 1], true, err);
}

/* What is counted in place is of no execution of its own. */
static int is_of_execution(struct maker *m, const struct execution *e, int64_t run, bool *is_out,
			   struct error *err)
{
	int rc;

	if (e->run || m->last_run == run) {
		*is_out = e->run ? e->run == run : m->last_in_place;
		return 0;
	}
	sqlite3_bind_int64(m->find_run, 1, run);
	rc = sql_step(m->find_run, err);
	m->last_run = run;
	*is_out = m->last_in_place = rc > 0 && sqlite3_column_int(m->find_run, 0);
	sqlite3_reset(m->find_run);
	return rc < 0 ? rc : 0;
}

/* Rows of one pass, of this execution. */
static int read_rows(struct maker *m, struct execution *e, uint32_t pass, struct error *err)
{
	sqlite3_stmt *range = m->find_rows;
	struct block_row row;
	bool own = false;
	int rc;

	sqlite3_bind_int64(range, 1, e->spool);
	sqlite3_bind_int64(range, 2, pass);
	rc = sql_step(range, err);
	if (rc > 0)
		rc = block_read_rows(&m->blocks, pass, sqlite3_column_int64(range, 0),
				     sqlite3_column_int64(range, 1), err);
	else if (!rc)
		rc = 1;
	sqlite3_reset(range);
	while (!rc && (rc = block_next(&m->blocks, &row, m->values, err)) > 0) {
		rc = is_of_execution(m, e, row.run, &own, err);
		if (!rc && own)
			rc = take_row(m, e, &row, pass, err);
	}
	return rc < 0 ? rc : 0;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	if (x->dispatch != y->dispatch)
		return x->dispatch < y->dispatch ? -1 : 1;
	return x->anchors < y->anchors ? -1 : x->anchors > y->anchors;
}

int match_read_dispatches(struct maker *m, struct execution *e, struct error *err)
{
	int rc = 0;

	vec_clear(&m->new_pool);
	if (e->pass)
		rc = read_rows(m, e, e->pass, err);
	for (uint32_t k = 1; !rc && !e->pass && k <= m->s->plan.n_passes; k++)
		rc = read_rows(m, e, k, err);
	if (!rc && e->items.n)
		qsort(e->items.items, e->items.n, sizeof(struct item), compare_items);
	return rc;
}
