/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What replaying in place cost, window by window, and what was not replayed: from the spool's
 * records into the database, and added up from there.
 */
#include "store/id_map.h"
#include "store/internal.h"

#include <stdlib.h>
#include <string.h>

/* Text of the profiled program's side: a NUL would end it early. */
static int bind_text(sqlite3_stmt *s, int index, const void *text, size_t n, char **copy_out,
		     struct error *err)
{
	char *copy = malloc(n + 1);

	if (!copy)
		return error_set(err, RC_NO_MEMORY, "out of memory while reading spools");
	for (size_t i = 0; i < n; i++)
		copy[i] = ((const char *)text)[i] ? ((const char *)text)[i] : '?';
	copy[n] = '\0';
	*copy_out = copy;
	sql_bind_text(s, index, copy);
	return 0;
}

int replays_add_window(sqlite3_stmt *s, int64_t spool, const struct spool_record *r,
		       struct error *err)
{
	const struct spool_window *w = r->payload;
	const uint64_t rest[] = {w->begin_ns,    w->end_ns,         w->live_ns,
				 w->save_ns,     w->restore_ns,     w->check_ns,
				 w->program_ns,  w->run_ns,         w->reach_bytes,
				 w->saved_bytes, w->restored_bytes, w->spared_bytes};
	char *text = NULL;
	int rc = bind_text(s, 7, w + 1, r->size - sizeof(*w), &text, err);

	sqlite3_bind_int64(s, 1, spool);
	sql_bind_u64(s, 2, w->window);
	sqlite3_bind_int64(s, 3, w->device);
	sqlite3_bind_int64(s, 4, w->dispatches);
	sqlite3_bind_int64(s, 5, w->transfers);
	sqlite3_bind_int64(s, 6, w->passes);
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		sql_bind_u64(s, 8 + (int)i, rest[i]);
	if (!rc)
		rc = sql_run(s, err);
	free(text);
	return rc;
}

int replays_add_declined(sqlite3_stmt *s, int64_t spool, int64_t kernel,
			 const struct spool_record *r, struct error *err)
{
	const struct spool_decline *d = r->payload;
	char *text = NULL;
	int rc = bind_text(s, 5, d + 1, r->size - sizeof(*d), &text, err);

	sqlite3_bind_int64(s, 1, spool);
	if (kernel)
		sqlite3_bind_int64(s, 2, kernel);
	else
		sqlite3_bind_null(s, 2);
	sqlite3_bind_int64(s, 3, d->device);
	sqlite3_bind_int64(s, 4, d->instead);
	sql_bind_u64(s, 6, d->count);
	if (!rc)
		rc = sql_run(s, err);
	free(text);
	return rc;
}

int replays_add_left(sqlite3_stmt *s, int64_t spool, int64_t kernel, const struct spool_record *r,
		     struct error *err)
{
	const struct spool_left *l = r->payload;

	sqlite3_bind_int64(s, 1, spool);
	sqlite3_bind_int64(s, 2, kernel);
	sqlite3_bind_int64(s, 3, l->device);
	for (int i = 0; i < 3; i++) {
		sqlite3_bind_int64(s, 4 + i, l->grid[i]);
		sqlite3_bind_int64(s, 7 + i, l->block[i]);
	}
	sqlite3_bind_double(s, 10, l->precision / 1e6);
	sql_bind_u64(s, 11, l->counted);
	sql_bind_u64(s, 12, l->count);
	return sql_run(s, err);
}

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while reading retally.db");
}

/* total() never overflows, as sum() does; beyond 2^53 these figures are for orientation. */
static uint64_t column_total(sqlite3_stmt *q, int column)
{
	double d = sqlite3_column_double(q, column);

	return d > 0 && d < 18446744073709551615.0 ? (uint64_t)d : d > 0 ? UINT64_MAX : 0;
}

static int load_windows(struct store *s, struct error *err)
{
	static const uint64_t bounds[][2] = {{0, 0},   {1, 1},     {2, 9},
					     {10, 99}, {100, 999}, {1000, 0}};
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(
		s->db,
		"SELECT CASE WHEN dispatches < 1 THEN 0 WHEN dispatches < 2 THEN 1"
		" WHEN dispatches < 10 THEN 2 WHEN dispatches < 100 THEN 3"
		" WHEN dispatches < 1000 THEN 4 ELSE 5 END AS size, ended_by, passes > 0 AS done,"
		" count(*), total(dispatches), total(transfers), total(passes),"
		" total(max(0, end_ns - begin_ns)), total(live_ns), total(save_ns),"
		" total(restore_ns), total(check_ns), total(program_ns), total(run_ns),"
		" total(reach_bytes), total(saved_bytes), total(restored_bytes),"
		" total(spared_bytes) FROM replay_window GROUP BY size, ended_by, done"
		" ORDER BY size, count(*) DESC, ended_by, done DESC",
		&q, err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		const uint64_t *bound = bounds[sqlite3_column_int(q, 0)];
		struct store_window w = {
			.least = bound[0],
			.most = bound[1],
			.ended_by = arena_strdup(&s->arena, sql_column_text(q, 1)),
			.replayed = sqlite3_column_int(q, 2),
			.n = (uint64_t)sqlite3_column_int64(q, 3),
			.dispatches = column_total(q, 4),
			.transfers = column_total(q, 5),
			.passes = column_total(q, 6),
			.span_ns = column_total(q, 7),
			.live_ns = column_total(q, 8),
			.save_ns = column_total(q, 9),
			.restore_ns = column_total(q, 10),
			.check_ns = column_total(q, 11),
			.program_ns = column_total(q, 12),
			.run_ns = column_total(q, 13),
			.reach_bytes = column_total(q, 14),
			.saved_bytes = column_total(q, 15),
			.restored_bytes = column_total(q, 16),
			.spared_bytes = column_total(q, 17),
		};

		rc = w.ended_by && vec_push(&s->windows, w) ? 0 : no_memory(err);
	}
	sqlite3_finalize(q);
	return rc;
}

static int load_declined(struct store *s, const struct id_map *kernels, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(s->db,
			     "SELECT d.kernel, d.instead, d.reason, total(d.n) AS n"
			     " FROM (SELECT kernel, instead, reason, n FROM declined UNION ALL"
			     " SELECT kernel, 3, printf('known within %g %%', 100 * precision), n"
			     " FROM left_out) d LEFT JOIN kernel k USING(kernel)"
			     " GROUP BY d.kernel, d.instead, d.reason"
			     " ORDER BY n DESC, d.reason, k.name, d.instead",
			     &q, err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		struct store_declined d = {
			.kernel = UINT32_MAX,
			.instead = (uint32_t)sqlite3_column_int64(q, 1),
			.reason = arena_strdup(&s->arena, sql_column_text(q, 2)),
			.n = column_total(q, 3),
		};
		uint64_t at;

		if (id_map_get(kernels, (uint64_t)sqlite3_column_int64(q, 0), 0, &at))
			d.kernel = (uint32_t)at;
		rc = d.reason && vec_push(&s->declined, d) ? 0 : no_memory(err);
	}
	sqlite3_finalize(q);
	return rc;
}

static int load_left(struct store *s, const struct id_map *kernels, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(
		s->db,
		"SELECT k.kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z,"
		" total(n), min(counted) FROM left_out JOIN kernel k USING(kernel)"
		" GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY k.unit, k.name, 2, 3, 4, 5, 6, 7",
		&q, err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		struct store_left l = {.n = column_total(q, 7), .counted = column_total(q, 8)};
		uint64_t at;

		rc = 0;
		if (!id_map_get(kernels, (uint64_t)sqlite3_column_int64(q, 0), 0, &at))
			continue;
		l.kernel = (uint32_t)at;
		for (int i = 0; i < 3; i++) {
			l.grid[i] = (uint32_t)sqlite3_column_int64(q, 1 + i);
			l.block[i] = (uint32_t)sqlite3_column_int64(q, 4 + i);
		}
		if (!vec_push(&s->left, l))
			rc = no_memory(err);
	}
	sqlite3_finalize(q);
	return rc;
}

int load_replays(struct store *s, struct error *err)
{
	struct id_map kernels = {0};
	int rc = load_windows(s, err);

	for (size_t i = 0; !rc && i < s->kernels.n; i++) {
		if (!id_map_set(&kernels, (uint64_t)s->kernels.items[i].id, 0, i))
			rc = no_memory(err);
	}
	if (!rc)
		rc = load_declined(s, &kernels, err);
	if (!rc)
		rc = load_left(s, &kernels, err);
	id_map_release(&kernels);
	return rc;
}
