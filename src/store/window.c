/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches waiting for their samples, and the rows they become. */
#include "store/window.h"

#include <stdlib.h>
#include <string.h>

#define FIXED_COLUMNS 22 /* of pass_K, before the counters (schema.c) */

int window_init(struct window *w, sqlite3 *db, const struct plan *plan, struct error *err)
{
	size_t bytes;

	*w = (struct window){.db = db, .plan = plan, .n_values = 1};
	for (uint32_t k = 0; k < plan->n_passes; k++) {
		if (plan->passes[k].n_counters > w->n_values)
			w->n_values = plan->passes[k].n_counters;
	}
	bytes = sizeof(*w->slots) + w->n_values * sizeof(*w->values);
	w->n_slots = WINDOW_BYTES / bytes;
	if (w->n_slots > WINDOW_SLOTS_MAX)
		w->n_slots = WINDOW_SLOTS_MAX;
	if (w->n_slots < 16)
		w->n_slots = 16;
	w->slots = calloc(w->n_slots, sizeof(*w->slots));
	w->values = calloc(w->n_slots * w->n_values, sizeof(*w->values));
	w->insert = calloc(plan->n_passes + 1, sizeof(*w->insert));
	w->next_row = calloc(plan->n_passes + 1, sizeof(*w->next_row));
	w->first_row = calloc(plan->n_passes + 1, sizeof(*w->first_row));
	if (!w->slots || !w->values || !w->insert || !w->next_row || !w->first_row) {
		window_release(w);
		return error_set(err, RC_NO_MEMORY, "out of memory while reading spools");
	}
	return sql_prepare(db, "INSERT INTO sample_extra VALUES(?, ?, ?, ?, ?, ?)",
			   &w->insert_extra, err);
}

void window_release(struct window *w)
{
	for (uint32_t k = 0; w->insert && k <= w->plan->n_passes; k++)
		sqlite3_finalize(w->insert[k]);
	sqlite3_finalize(w->insert_extra);
	free(w->slots);
	free(w->values);
	free(w->insert);
	free(w->next_row);
	free(w->first_row);
	id_map_release(&w->waiting);
	*w = (struct window){0};
}

/* The table of a pass, its insert statement and its next free row. */
static int prepare_pass(struct window *w, uint32_t pass, struct error *err)
{
	uint32_t n = FIXED_COLUMNS + schema_columns(w->plan, pass);
	struct str sql = STR_INIT;
	sqlite3_stmt *last = NULL;
	int rc = schema_create_pass(w->db, w->plan, pass, err);

	str_addf(&sql, "SELECT max(row) FROM pass_%u", pass);
	if (!rc)
		rc = sql_prepare(w->db, str_text(&sql), &last, err);
	if (!rc)
		rc = sql_step(last, err);
	if (rc > 0) {
		w->next_row[pass] = sqlite3_column_int64(last, 0) + 1;
		rc = 0;
	}
	sqlite3_finalize(last);
	str_clear(&sql);
	str_addf(&sql, "INSERT INTO pass_%u VALUES(?", pass);
	for (uint32_t i = 1; i < n; i++)
		str_add(&sql, ",?");
	str_add(&sql, ")");
	if (!rc && str_is_failed(&sql))
		rc = error_set(err, RC_NO_MEMORY, "out of memory while reading spools");
	if (!rc)
		rc = sql_prepare(w->db, str_text(&sql), &w->insert[pass], err);
	str_release(&sql);
	return rc;
}

static void bind_value(sqlite3_stmt *s, int index, const struct window_value *v)
{
	double number;

	if (v->kind == SAMPLE_U64) {
		sql_bind_u64(s, index, v->bits);
	} else {
		memcpy(&number, &v->bits, sizeof(number));
		sqlite3_bind_double(s, index, number);
	}
}

static void bind_dispatch(sqlite3_stmt *s, const struct window_slot *slot)
{
	const struct spool_dispatch *d = &slot->d;

	sqlite3_bind_int64(s, 1, slot->row);
	sqlite3_bind_int64(s, 2, slot->run);
	sqlite3_bind_int64(s, 3, slot->kernel);
	sql_bind_u64(s, 4, d->dispatch);
	sqlite3_bind_int64(s, 5, d->unit);
	sqlite3_bind_int64(s, 6, d->device);
	for (int i = 0; i < 3; i++) {
		sqlite3_bind_int64(s, 7 + i, d->grid[i]);
		sqlite3_bind_int64(s, 10 + i, d->block[i]);
	}
	sql_bind_u64(s, 13, d->queue);
	sql_bind_u64(s, 14, d->begin_ns);
	sql_bind_u64(s, 15, d->end_ns);
	sqlite3_bind_int64(s, 16, d->registers);
	sqlite3_bind_int64(s, 17, d->shared_bytes);
	sql_bind_u64(s, 18, slot->enabled_ns);
	sql_bind_u64(s, 19, slot->running_ns);
	/* Of the execution when the writer does not tell dispatches apart. */
	sqlite3_bind_int64(s, 20, d->attempt ? d->attempt : slot->attempt);
	sqlite3_bind_int64(s, 21, d->flags);
}

/* A counter without a sample, or with a bad one, is NULL; the reason of a sum over instances goes
 * to sample_extra here, because only now is it known that no better value came. */
static int flush_one(struct window *w, struct error *err)
{
	size_t at = (size_t)(w->begin % w->n_slots);
	struct window_slot *slot = &w->slots[at];
	struct window_value *values = &w->values[at * w->n_values];
	uint32_t pass = slot->d.pass, n = pass ? w->plan->passes[pass - 1].n_counters : 0;
	uint32_t columns = schema_columns(w->plan, pass);
	sqlite3_stmt *s = w->insert[pass];
	uint64_t sequence;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++) {
		struct window_value *v = &values[i];
		bool ok = v->recorded && v->status == SAMPLE_OK;
		bool raw = v->recorded && v->status == SAMPLE_MULTIPLEXED;

		if (v->recorded && (!ok || i >= columns))
			rc = window_add_extra(w, slot, w->plan->passes[pass - 1].counters[i],
					      SPOOL_INSTANCE_ALL, v->status, ok || raw ? v : NULL,
					      err);
		if (i >= columns)
			continue;
		if (ok)
			bind_value(s, (int)(FIXED_COLUMNS + 1 + i), v);
		else
			sqlite3_bind_null(s, (int)(FIXED_COLUMNS + 1 + i));
	}
	if (rc)
		return rc;
	bind_dispatch(s, slot);
	sqlite3_bind_int64(s, FIXED_COLUMNS, slot->extra);
	rc = sql_run(s, err);
	/* A later dispatch with the same number (the pass ran again) may have taken its place. */
	if (id_map_get(&w->waiting, slot->d.dispatch, pass, &sequence) && sequence == w->begin)
		id_map_remove(&w->waiting, slot->d.dispatch, pass);
	w->begin++;
	return rc;
}

int window_add(struct window *w, const struct spool_dispatch *d, int64_t run, uint32_t attempt,
	       int64_t kernel, struct error *err)
{
	uint32_t pass = d->pass;
	size_t at;
	int rc = 0;

	if (!w->insert[pass])
		rc = prepare_pass(w, pass, err);
	if (!rc && w->end - w->begin == w->n_slots)
		rc = flush_one(w, err);
	if (rc)
		return rc;
	at = (size_t)(w->end % w->n_slots);
	w->slots[at] = (struct window_slot){.d = *d,
					    .row = w->next_row[pass]++,
					    .run = run,
					    .kernel = kernel,
					    .attempt = attempt};
	memset(&w->values[at * w->n_values], 0, w->n_values * sizeof(*w->values));
	if (!w->first_row[pass])
		w->first_row[pass] = w->slots[at].row;
	if (!id_map_set(&w->waiting, d->dispatch, pass, w->end))
		return error_set(err, RC_NO_MEMORY, "out of memory while reading spools");
	w->end++;
	return 0;
}

struct window_slot *window_find(struct window *w, uint32_t pass, uint64_t dispatch)
{
	uint64_t sequence;

	if (!id_map_get(&w->waiting, dispatch, pass, &sequence))
		return NULL;
	return &w->slots[sequence % w->n_slots];
}

struct window_value *window_value(struct window *w, const struct window_slot *slot,
				  uint32_t position)
{
	return &w->values[(size_t)(slot - w->slots) * w->n_values + position];
}

int window_add_extra(struct window *w, struct window_slot *slot, uint32_t counter,
		     uint32_t instance, uint32_t status, const struct window_value *value,
		     struct error *err)
{
	sqlite3_stmt *s = w->insert_extra;
	int rc;

	sqlite3_bind_int64(s, 1, slot->d.pass);
	sqlite3_bind_int64(s, 2, slot->row);
	sqlite3_bind_int64(s, 3, counter);
	sqlite3_bind_int64(s, 4, instance);
	sqlite3_bind_int64(s, 5, status);
	if (value)
		bind_value(s, 6, value);
	else
		sqlite3_bind_null(s, 6);
	rc = sqlite3_step(s);
	sqlite3_reset(s);
	if (rc == SQLITE_CONSTRAINT)
		return RC_EXISTS;
	if (rc != SQLITE_DONE)
		return sql_error(w->db, err);
	slot->extra++;
	return 0;
}

int window_flush(struct window *w, struct error *err)
{
	int rc = 0;

	while (!rc && w->begin < w->end)
		rc = flush_one(w, err);
	return rc;
}
