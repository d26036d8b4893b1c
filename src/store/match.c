/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the pairs: the dispatches of one execution after another into memory, matched with the
 * list of what the lane has so far. What has no partner there is put into the list where it was
 * launched, for executions that follow.
 */
#include "store/match_make.h"

#include <stdlib.h>
#include <string.h>

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
		return match_no_memory(err);
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
	int rc = a && b && pairs ? 0 : match_no_memory(err);

	if (!rc)
		rc = match_sequences(a, list->items.n, b, e->items.n, m->n_anchors, pairs, err);
	if (!rc)
		rc = join_list(m, list, e, pairs, err);
	free(a);
	free(b);
	free(pairs);
	return rc;
}

static int match_lane(struct maker *m, struct execution *lane, size_t n, uint32_t *next_id,
		      struct error *err)
{
	struct list list = {0};
	uint32_t first_id = *next_id;
	bool alike = true;
	int rc = 0;

	/* One at a time: a lane may have thousands of executions. */
	for (size_t i = 0; !rc && i < n; i++) {
		size_t had = list.items.n;

		rc = match_read_dispatches(m, &lane[i], err);
		if (!rc)
			rc = match_execution(m, &list, &lane[i], err);
		if (!rc && alike && !match_is_alike(&list, &lane[i], i == 0)) {
			alike = false;
			rc = match_write_unlike(m, &list, had, lane, i, first_id, err);
		}
		if (!rc && !alike)
			rc = match_write_execution(m, &lane[i], first_id + (uint32_t)i, NULL, err);
		if (!rc && !alike)
			rc = match_write_items(m, first_id + (uint32_t)i, lane[i].items.items,
					       lane[i].items.n, err);
		vec_release(&lane[i].items);
		id_map_release(&lane[i].seen);
	}
	if (!rc && alike)
		rc = match_write_alike(m, &list, lane, n, first_id, err);
	*next_id = first_id + (uint32_t)n;
	vec_clear(&m->pool);
	vec_release(&list.items);
	return rc;
}

static int find_anchors(struct maker *m, struct error *err)
{
	const struct plan *plan = &m->s->plan;

	m->anchors = arena_array(&m->s->arena, (size_t)plan->n_counters + 1, sizeof(*m->anchors));
	if (!m->anchors)
		return match_no_memory(err);
	for (uint32_t c = 0; c < plan->n_counters; c++) {
		if (plan->counters[c].flags & PLAN_COUNTER_ANCHOR)
			m->anchors[m->n_anchors++] = c;
	}
	return 0;
}

static int prepare(struct maker *m, struct error *err)
{
	const struct plan *plan = &m->s->plan;
	size_t most = 1;
	int rc = block_reader_init(&m->blocks, m->db, plan, m->s->dir, err);

	for (uint32_t k = 1; k <= plan->n_passes; k++) {
		if (schema_columns(plan, k) > most)
			most = schema_columns(plan, k);
	}
	m->values = calloc(most, sizeof(*m->values));
	if (!rc && !m->values)
		rc = match_no_memory(err);
	if (!rc)
		rc = sql_prepare(m->db,
				 "SELECT first, last FROM spool_rows WHERE spool = ? AND pass = ?",
				 &m->find_rows, err);
	if (!rc)
		rc = sql_prepare(m->db, "SELECT in_place FROM run WHERE run = ?", &m->find_run,
				 err);
	if (!rc)
		rc = sql_prepare(m->db, "INSERT INTO execution VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
				 &m->add_execution, err);
	if (!rc)
		/* Numbers from 2^63 on, which only a lying spool has, are alike as REAL. */
		rc = sql_prepare(m->db,
				 "INSERT OR IGNORE INTO dispatch_match VALUES(?, ?, ?, ?, ?, ?, ?)",
				 &m->add_match, err);
	if (!rc)
		rc = sql_prepare(m->db,
				 "INSERT INTO lane_kernel VALUES(?1, ?2, ?3)"
				 " ON CONFLICT DO UPDATE SET n = n + ?3",
				 &m->add_kernel, err);
	return rc;
}

static void maker_release(struct maker *m)
{
	sqlite3_finalize(m->find_rows);
	sqlite3_finalize(m->find_run);
	sqlite3_finalize(m->add_execution);
	sqlite3_finalize(m->add_match);
	sqlite3_finalize(m->add_kernel);
	block_reader_release(&m->blocks);
	free(m->values);
	vec_release(&m->spools);
	vec_release(&m->executions);
	vec_release(&m->pool);
	vec_release(&m->new_pool);
	for (int i = 0; i < 2; i++) {
		id_map_release(&m->keys[i]);
		vec_release(&m->known[i]);
	}
}

int match_make(struct store *s, sqlite3 *db, struct error *err)
{
	struct maker m = {.s = s, .db = db};
	uint32_t next_id = 1;
	int rc = sql_execute(db,
			     "DELETE FROM execution; DELETE FROM dispatch_match;"
			     "DELETE FROM lane_kernel",
			     err);

	if (!rc)
		rc = find_anchors(&m, err);
	if (!rc)
		rc = match_read_spools(&m, err);
	if (!rc)
		rc = match_read_executions(&m, err);
	if (!rc)
		rc = prepare(&m, err);
	for (size_t i = 0, n; !rc && i < m.executions.n; i += n) {
		struct execution *lane = &m.executions.items[i];

		for (n = 1; i + n < m.executions.n && lane[n].lane == lane->lane;)
			n++;
		if (n > 1)
			rc = match_lane(&m, lane, n, &next_id, err);
	}
	maker_release(&m);
	return rc;
}
