/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the pairs: executions and their lanes from the runs; the dispatches of one execution after
 * another into memory, matched with the list of what the lane has so far. What
 * has no partner there is put into the list where it was launched, for executions that follow.
 */
#include "store/match.h"

#include "store/id_map.h"
#include "store/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct item {
	uint64_t dispatch;
	int64_t kernel;
	uint32_t unit, device, shape[6];
	uint64_t key, loose;
	size_t anchors; /* into the pool of the lane, or that of the execution */
	size_t logical; /* number within the lane */
	enum match_how how;
	double confidence;
};
struct execution {
	int64_t spool, run; /* run 0: passes in place */
	uint32_t pass;      /* 0: in place */
	size_t lane, order;
	VEC(struct item) items;
	struct id_map seen; /* (dispatch, unit) to item + 1; another kernel is another item */
};
struct spool_lane {
	int64_t spool;
	const char *launch, *host;
	int64_t rank;
	size_t order, ordinal, lane;
};
struct maker {
	struct store *s; /* for its plan and arena */
	sqlite3 *db;
	VEC(struct spool_lane) spools;
	VEC(struct execution) executions;
	uint32_t *anchors; /* counters */
	size_t n_anchors;
	VEC(double) pool;     /* anchors of what the lane has so far */
	VEC(double) new_pool; /* and of the execution being matched */
	struct id_map keys[2];
	VEC(struct item) known[2]; /* one item for each key */
	sqlite3_stmt *add_execution, *add_match;
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while matching dispatches");
}

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

static int read_spools(struct maker *m, struct error *err)
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

		rc = l.launch && l.host && vec_push(&m->spools, l) ? 0 : no_memory(err);
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

/* In the order of spools, then as they ran. */
static int read_executions(struct maker *m, struct error *err)
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
				rc = no_memory(err);
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

static int take_anchors(struct maker *m, sqlite3_stmt *q, uint32_t pass, struct item *it,
			bool is_new, struct error *err)
{
	const struct plan_pass *p = &m->s->plan.passes[pass - 1];
	uint32_t columns = schema_columns(&m->s->plan, pass);

	if (is_new) {
		it->anchors = m->new_pool.n;
		for (size_t i = 0; i < m->n_anchors; i++) {
			if (!vec_push(&m->new_pool, (double)NAN))
				return no_memory(err);
		}
	}
	for (size_t i = 0; i < m->n_anchors; i++) {
		double *value = &m->new_pool.items[it->anchors + i];

		for (uint32_t c = 0; isnan(*value) && c < columns; c++) {
			int column = (int)(12 + c);

			if (p->counters[c] == m->anchors[i] &&
			    sqlite3_column_type(q, column) != SQLITE_NULL)
				*value = sqlite3_column_double(q, column);
		}
	}
	return 0;
}

static int take_row(struct maker *m, struct execution *e, sqlite3_stmt *q, uint32_t pass,
		    struct error *err)
{
	struct item it = {
		.kernel = sqlite3_column_int64(q, 1),
		.dispatch = sql_column_u64(q, 2),
		.unit = (uint32_t)sqlite3_column_int64(q, 3),
		.device = (uint32_t)sqlite3_column_int64(q, 4),
	};
	uint64_t at = 0;
	bool known = id_map_get(&e->seen, it.dispatch, it.unit, &at);

	if (known && e->items.items[at].kernel == it.kernel) /* counted in another pass, or again */
		return take_anchors(m, q, pass, &e->items.items[at], false, err);
	for (int i = 0; i < 6; i++)
		it.shape[i] = (uint32_t)sqlite3_column_int64(q, 5 + i);
	it.key = key_of(m, &it, false);
	it.loose = key_of(m, &it, true);
	if (!it.key || !it.loose || !vec_push(&e->items, it) ||
	    !id_map_set(&e->seen, it.dispatch, it.unit, e->items.n - 1))
		return no_memory(err);
	return take_anchors(m, q, pass, &e->items.items[e->items.n - 1], true, err);
}

/* Rows of one pass, of this execution. */
static int read_rows(struct maker *m, struct execution *e, uint32_t pass, struct error *err)
{
	sqlite3_stmt *range = NULL, *q = NULL;
	struct str sql = STR_INIT;
	int64_t first = 0, last = -1;
	int rc = sql_prepare(m->db,
			     "SELECT first, last FROM spool_rows WHERE spool = ? AND pass = ?",
			     &range, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(range, 1, e->spool);
	sqlite3_bind_int64(range, 2, pass);
	rc = sql_step(range, err);
	if (rc > 0) {
		first = sqlite3_column_int64(range, 0);
		last = sqlite3_column_int64(range, 1);
		rc = 0;
	}
	sqlite3_finalize(range);
	if (rc || last < first)
		return rc;
	str_add(&sql, "SELECT run, kernel, dispatch, unit, device, grid_x, grid_y, grid_z, block_x,"
		      " block_y, block_z, (SELECT r.in_place FROM run r WHERE r.run = t.run)");
	schema_add_columns(&m->s->plan, pass, &sql);
	str_addf(&sql, " FROM pass_%u t WHERE row BETWEEN ? AND ?", pass);
	rc = str_is_failed(&sql) ? no_memory(err) : sql_prepare(m->db, str_text(&sql), &q, err);
	str_release(&sql);
	if (rc)
		return rc;
	sqlite3_bind_int64(q, 1, first);
	sqlite3_bind_int64(q, 2, last);
	while (!rc && (rc = sql_step(q, err)) > 0) {
		/* What is counted in place is of no execution of its own. */
		bool own =
			e->run ? sqlite3_column_int64(q, 0) == e->run : sqlite3_column_int(q, 11);

		rc = own ? take_row(m, e, q, pass, err) : 0;
	}
	sqlite3_finalize(q);
	return rc;
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

static int read_execution(struct maker *m, struct execution *e, struct error *err)
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

/* ---- matching one lane ---- */
static struct match_item *match_items(const struct maker *m, const double *pool,
				      const struct item *items, size_t n)
{
	struct match_item *out = malloc((n + 1) * sizeof(*out));

	for (size_t i = 0; out && i < n; i++)
		out[i] = (struct match_item){.key = items[i].key,
					     .kernel = items[i].loose,
					     .anchors =
						     m->n_anchors ? pool + items[i].anchors : NULL};
	return out;
}

struct list { /* what the lane has so far, in order; logical is the number of each */
	VEC(struct item) items;
	size_t next_number;
};

/* The list with what only e has put behind its predecessor. */
static int join_list(struct maker *m, struct list *list, struct execution *e,
		     const struct match_pair *pairs, struct error *err)
{
	size_t n = list->items.n, *before;
	VEC(struct item) joined = {0};
	size_t behind = 0; /* place in the old list, 0: in front */

	before = malloc((e->items.n + 1) * sizeof(*before));
	if (!before || !vec_reserve(&joined, n + e->items.n) ||
	    !vec_reserve(&m->pool, m->pool.n + e->items.n * m->n_anchors)) {
		free(before);
		vec_release(&joined);
		return no_memory(err);
	}
	for (size_t k = 0; k < e->items.n; k++) {
		struct item *it = &e->items.items[k];

		it->how = pairs[k].how;
		it->confidence = pairs[k].confidence;
		if (it->how) {
			it->logical = list->items.items[pairs[k].other].logical;
			if (it->how != MATCH_BY_ANCHOR && pairs[k].other + 1 > behind)
				behind = pairs[k].other + 1;
		} else {
			it->logical = list->next_number++;
		}
		before[k] = behind; /* rising */
	}
	for (size_t i = 0, k = 0; i <= n; i++) {
		for (; k < e->items.n && before[k] == i; k++) {
			struct item it = e->items.items[k];

			if (it.how)
				continue;
			it.anchors = m->pool.n; /* there is room */
			for (size_t c = 0; c < m->n_anchors; c++)
				m->pool.items[m->pool.n++] =
					m->new_pool.items[e->items.items[k].anchors + c];
			joined.items[joined.n++] = it;
		}
		if (i < n)
			joined.items[joined.n++] = list->items.items[i];
	}
	free(before);
	vec_release(&list->items);
	list->items.items = joined.items;
	list->items.n = joined.n;
	list->items.capacity = joined.capacity;
	return 0;
}

static int match_execution(struct maker *m, struct list *list, struct execution *e,
			   struct error *err)
{
	struct match_item *a = match_items(m, m->pool.items, list->items.items, list->items.n);
	struct match_item *b = match_items(m, m->new_pool.items, e->items.items, e->items.n);
	struct match_pair *pairs = malloc((e->items.n + 1) * sizeof(*pairs));
	int rc = a && b && pairs ? 0 : no_memory(err);

	if (!rc)
		rc = match_sequences(a, list->items.n, b, e->items.n, m->n_anchors, pairs, err);
	if (!rc)
		rc = join_list(m, list, e, pairs, err);
	free(a);
	free(b);
	free(pairs);
	return rc;
}

static int write_execution(struct maker *m, const struct execution *e, uint32_t id,
			   struct error *err)
{
	sqlite3_stmt *x = m->add_execution, *s = m->add_match;
	int rc;

	sqlite3_bind_int64(x, 1, id);
	sqlite3_bind_int64(x, 2, (int64_t)e->lane + 1);
	sqlite3_bind_int64(x, 3, e->spool);
	if (e->run)
		sqlite3_bind_int64(x, 4, e->run);
	else
		sqlite3_bind_null(x, 4);
	sqlite3_bind_int64(x, 5, e->pass);
	rc = sql_run(x, err);
	for (size_t i = 0; !rc && i < e->items.n; i++) {
		const struct item *it = &e->items.items[i];

		sqlite3_bind_int64(s, 1, id);
		sqlite3_bind_int64(s, 2, it->unit);
		sql_bind_u64(s, 3, it->dispatch);
		sqlite3_bind_int64(s, 4, it->kernel);
		sqlite3_bind_int64(s, 5, (int64_t)it->logical);
		sqlite3_bind_int64(s, 6, it->how);
		if (it->how)
			sqlite3_bind_double(s, 7, it->confidence);
		else
			sqlite3_bind_null(s, 7);
		rc = sql_run(s, err);
	}
	return rc;
}

static int match_lane(struct maker *m, struct execution *lane, size_t n, uint32_t *next_id,
		      struct error *err)
{
	struct list list = {0};
	int rc = 0;

	/* One at a time: a lane may have thousands of executions. */
	for (size_t i = 0; !rc && i < n; i++) {
		rc = read_execution(m, &lane[i], err);
		if (!rc)
			rc = match_execution(m, &list, &lane[i], err);
		if (!rc)
			rc = write_execution(m, &lane[i], (*next_id)++, err);
		vec_release(&lane[i].items);
		id_map_release(&lane[i].seen);
	}
	vec_clear(&m->pool);
	vec_release(&list.items);
	return rc;
}

static int find_anchors(struct maker *m, struct error *err)
{
	const struct plan *plan = &m->s->plan;

	m->anchors = arena_array(&m->s->arena, (size_t)plan->n_counters + 1, sizeof(*m->anchors));
	if (!m->anchors)
		return no_memory(err);
	for (uint32_t c = 0; c < plan->n_counters; c++) {
		if (plan->counters[c].flags & PLAN_COUNTER_ANCHOR)
			m->anchors[m->n_anchors++] = c;
	}
	return 0;
}

int match_make(struct store *s, sqlite3 *db, struct error *err)
{
	struct maker m = {.s = s, .db = db};
	uint32_t next_id = 1;
	int rc = sql_execute(db, "DELETE FROM execution; DELETE FROM dispatch_match", err);

	if (!rc)
		rc = find_anchors(&m, err);
	if (!rc)
		rc = read_spools(&m, err);
	if (!rc)
		rc = read_executions(&m, err);
	if (!rc)
		rc = sql_prepare(db, "INSERT INTO execution VALUES(?, ?, ?, ?, ?)",
				 &m.add_execution, err);
	if (!rc)
		rc = sql_prepare(db, "INSERT INTO dispatch_match VALUES(?, ?, ?, ?, ?, ?, ?)",
				 &m.add_match, err);
	for (size_t i = 0, n; !rc && i < m.executions.n; i += n) {
		struct execution *lane = &m.executions.items[i];

		for (n = 1; i + n < m.executions.n && lane[n].lane == lane->lane;)
			n++;
		if (n > 1)
			rc = match_lane(&m, lane, n, &next_id, err);
	}
	sqlite3_finalize(m.add_execution);
	sqlite3_finalize(m.add_match);
	vec_release(&m.spools);
	vec_release(&m.executions);
	vec_release(&m.pool);
	vec_release(&m.new_pool);
	for (int i = 0; i < 2; i++) {
		id_map_release(&m.keys[i]);
		vec_release(&m.known[i]);
	}
	return rc;
}
