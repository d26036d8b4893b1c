/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From pairs to rows. Where all executions of a lane have the same dispatches, which follow one
 * another, which is mostly so, a row for each execution says all; else each dispatch of each is
 * listed.
 */
#include "store/match_make.h"

int match_write_items(struct maker *m, uint32_t id, const struct item *items, size_t n,
		      struct error *err)
{
	sqlite3_stmt *s = m->add_match;
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		const struct item *it = &items[i];

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

int match_write_execution(struct maker *m, const struct execution *e, uint32_t id,
			  const struct list *alike, struct error *err)
{
	sqlite3_stmt *s = m->add_execution;

	sqlite3_bind_int64(s, 1, id);
	sqlite3_bind_int64(s, 2, (int64_t)e->lane + 1);
	sqlite3_bind_int64(s, 3, e->spool);
	if (e->run)
		sqlite3_bind_int64(s, 4, e->run);
	else
		sqlite3_bind_null(s, 4);
	sqlite3_bind_int64(s, 5, e->pass);
	for (int i = 6; i <= 8; i++)
		sqlite3_bind_null(s, i);
	if (alike) {
		sqlite3_bind_int64(s, 6, alike->items.items[0].unit);
		sql_bind_u64(s, 7, alike->items.items[0].dispatch);
		sqlite3_bind_int64(s, 8, (int64_t)alike->items.n);
	}
	return sql_run(s, err);
}

bool match_is_alike(const struct list *list, const struct execution *e, bool is_first)
{
	if (!e->items.n || e->items.n != list->items.n)
		return false;
	for (size_t k = 0; k < e->items.n; k++) {
		const struct item *it = &e->items.items[k], *first = &e->items.items[0];
		const struct item *known = &list->items.items[k];

		if (it->unit != first->unit || it->dispatch != first->dispatch + k ||
		    it->logical != k || known->dispatch != it->dispatch ||
		    known->unit != it->unit || known->kernel != it->kernel)
			return false;
		if (!is_first && (it->how != MATCH_EXACT || it->confidence < 1))
			return false;
	}
	return true;
}

int match_write_unlike(struct maker *m, const struct list *list, size_t n_items,
		       const struct execution *lane, size_t n, uint32_t first_id, struct error *err)
{
	VEC(struct item) items = {0};
	int rc = 0;

	vec_for_each (&list->items, it) {
		if (it->logical < n_items && !vec_push(&items, *it))
			rc = match_no_memory(err);
	}
	for (size_t i = 0; !rc && i < n; i++) {
		vec_for_each (&items, it) {
			it->how = i ? MATCH_EXACT : MATCH_NONE;
			it->confidence = 1;
		}
		rc = match_write_execution(m, &lane[i], first_id + (uint32_t)i, NULL, err);
		if (!rc)
			rc = match_write_items(m, first_id + (uint32_t)i, items.items, items.n,
					       err);
	}
	vec_release(&items);
	return rc;
}

int match_write_alike(struct maker *m, const struct list *list, const struct execution *lane,
		      size_t n, uint32_t first_id, struct error *err)
{
	sqlite3_stmt *s = m->add_kernel;
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++)
		rc = match_write_execution(m, &lane[i], first_id + (uint32_t)i, list, err);
	for (size_t i = 0, same; !rc && i < list->items.n; i += same) {
		int64_t kernel = list->items.items[i].kernel;

		for (same = 1;
		     i + same < list->items.n && list->items.items[i + same].kernel == kernel;)
			same++;
		sqlite3_bind_int64(s, 1, (int64_t)lane->lane + 1);
		sqlite3_bind_int64(s, 2, kernel);
		sqlite3_bind_int64(s, 3, (int64_t)same);
		rc = sql_run(s, err);
	}
	return rc;
}
