/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches waiting for their samples, and the rows they become. */
#include "store/window.h"

#include <stdlib.h>
#include <string.h>

int window_init(struct window *w, sqlite3 *db, const struct plan *plan, struct error *err)
{
	size_t bytes;
	int rc;

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
	w->row = calloc(w->n_values, sizeof(*w->row));
	w->next_row = calloc(plan->n_passes + 1, sizeof(*w->next_row));
	w->first_row = calloc(plan->n_passes + 1, sizeof(*w->first_row));
	if (!w->slots || !w->values || !w->row || !w->next_row || !w->first_row)
		return error_set(err, RC_NO_MEMORY, "out of memory while reading spools");
	rc = block_writer_init(&w->blocks, db, plan, err);
	return rc ? rc
		  : sql_prepare(db, "INSERT INTO sample_extra VALUES(?, ?, ?, ?, ?, ?)",
				&w->insert_extra, err);
}

void window_begin_spool(struct window *w)
{
	memset(w->first_row, 0, (w->plan->n_passes + 1) * sizeof(*w->first_row));
	w->begin = w->end = w->indexed = 0;
	id_map_release(&w->waiting);
}

void window_release(struct window *w)
{
	block_writer_release(&w->blocks);
	spool_memory_release(&w->memory);
	sqlite3_finalize(w->insert_extra);
	free(w->slots);
	free(w->values);
	free(w->row);
	free(w->next_row);
	free(w->first_row);
	id_map_release(&w->waiting);
	*w = (struct window){0};
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

static struct block_row row_of(const struct window_slot *slot)
{
	const struct spool_dispatch *d = &slot->d;
	struct block_row r = {
		.row = slot->row,
		.run = slot->run,
		.dispatch = d->dispatch,
		.begin_ns = d->begin_ns,
		.end_ns = d->end_ns,
		.enabled_ns = slot->enabled_ns,
		.running_ns = slot->running_ns,
		.extra = slot->extra,
		.kind = {.kernel = slot->kernel,
			 .queue = d->queue,
			 .unit = d->unit,
			 .device = d->device,
			 .registers = d->registers,
			 .shared_bytes = d->shared_bytes,
			 /* Of the execution when the writer does not tell dispatches apart. */
			 .attempt = d->attempt ? d->attempt : slot->attempt,
			 .flags = d->flags},
	};

	memcpy(r.kind.grid, d->grid, sizeof(r.kind.grid));
	memcpy(r.kind.block, d->block, sizeof(r.kind.block));
	return r;
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
	struct block_row row;
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
		w->row[i] = (struct store_value){.recorded = ok, .kind = v->kind};
		memcpy(&w->row[i].value, &v->bits, sizeof(v->bits));
	}
	if (rc)
		return rc;
	row = row_of(slot);
	rc = block_write(&w->blocks, pass, &row, w->row, err);
	/* A later dispatch with the same number (the pass ran again) may have taken its place. */
	if (w->begin < w->indexed)
		id_map_remove_value(&w->waiting, slot->d.dispatch, pass, w->begin);
	w->begin++;
	return rc;
}

int window_add(struct window *w, const struct spool_dispatch *d, int64_t run, uint32_t attempt,
	       int64_t kernel, struct error *err)
{
	uint32_t pass = d->pass;
	size_t at;
	int rc = 0;

	if (!w->next_row[pass])
		rc = block_begin_pass(&w->blocks, pass, &w->next_row[pass], err);
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
	w->end++;
	return 0;
}

int window_find(struct window *w, uint32_t pass, uint64_t dispatch, struct window_slot **slot_out,
		struct error *err)
{
	uint64_t sequence;

	*slot_out = NULL;
	if (w->begin < w->end) { /* mostly it is that of the record before */
		struct window_slot *last = &w->slots[(w->end - 1) % w->n_slots];

		if (last->d.dispatch == dispatch && last->d.pass == pass) {
			*slot_out = last;
			return 0;
		}
	}
	/* Where it always is, nothing is ever indexed. */
	if (w->indexed < w->begin)
		w->indexed = w->begin;
	for (; w->indexed < w->end; w->indexed++) {
		const struct spool_dispatch *d = &w->slots[w->indexed % w->n_slots].d;

		if (!id_map_set(&w->waiting, d->dispatch, d->pass, w->indexed))
			return error_set(err, RC_NO_MEMORY, "out of memory while reading spools");
	}
	if (id_map_get(&w->waiting, dispatch, pass, &sequence))
		*slot_out = &w->slots[sequence % w->n_slots];
	return 0;
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
	return rc ? rc : block_flush(&w->blocks, err);
}
