/* SPDX-License-Identifier: Apache-2.0 */
/* From blocks back to dispatches: see block.h. A database may be damaged: nothing of a text is
 * believed that was not looked at. */
#include "store/block.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int block_reader_init(struct block_reader *r, sqlite3 *db, const struct plan *plan, const char *dir,
		      struct error *err)
{
	*r = (struct block_reader){.db = db, .plan = plan, .dir = dir};
	r->kinds = calloc(BLOCK_KINDS, sizeof(*r->kinds));
	if (!r->kinds)
		return error_set(err, RC_NO_MEMORY, "out of memory while reading retally.db");
	return sql_prepare(db,
			   "SELECT kernel, queue, unit, device, grid_x, grid_y, grid_z, block_x,"
			   " block_y, block_z, registers, shared_bytes, attempt, flags"
			   " FROM dispatch_kind WHERE kind = ?",
			   &r->kind, err);
}

void block_reader_release(struct block_reader *r)
{
	sqlite3_finalize(r->blocks);
	sqlite3_finalize(r->kind);
	free(r->kinds);
	*r = (struct block_reader){0};
}

int block_read_rows(struct block_reader *r, uint32_t pass, int64_t first, int64_t last,
		    struct error *err)
{
	char sql[128];
	int rc = 0;

	if (!r->blocks || r->pass != pass) {
		sqlite3_finalize(r->blocks);
		snprintf(sql, sizeof(sql),
			 "SELECT first, run, base_ns, rows FROM block_%u"
			 " WHERE first BETWEEN ? AND ? ORDER BY first",
			 pass);
		rc = sql_prepare(r->db, sql, &r->blocks, err);
	} else {
		sqlite3_reset(r->blocks);
	}
	r->pass = pass;
	r->columns = schema_columns(r->plan, pass);
	r->at = NULL;
	if (rc)
		return rc;
	sqlite3_bind_int64(r->blocks, 1, first);
	sqlite3_bind_int64(r->blocks, 2, last);
	return 0;
}

static int bad_block(const struct block_reader *r, struct error *err)
{
	return error_set(err, RC_CORRUPT, "'%s/retally.db': row %lld of pass %u cannot be read",
			 r->dir, (long long)r->next, r->pass);
}

static int read_kind(struct block_reader *r, int64_t id, struct dispatch_kind *out,
		     struct error *err)
{
	size_t slot = (size_t)((uint64_t)id % BLOCK_KINDS);
	struct dispatch_kind *k = &r->kinds[slot].kind;
	sqlite3_stmt *q = r->kind;
	int rc;

	if (r->kinds[slot].id == id && id) {
		*out = *k;
		return 0;
	}
	sqlite3_bind_int64(q, 1, id);
	rc = sql_step(q, err);
	if (rc > 0) {
		*k = (struct dispatch_kind){
			.kernel = sqlite3_column_int64(q, 0),
			.queue = sql_column_u64(q, 1),
			.unit = (uint32_t)sqlite3_column_int64(q, 2),
			.device = (uint32_t)sqlite3_column_int64(q, 3),
			.registers = (uint32_t)sqlite3_column_int64(q, 10),
			.shared_bytes = (uint32_t)sqlite3_column_int64(q, 11),
			.attempt = (uint32_t)sqlite3_column_int64(q, 12),
			.flags = (uint32_t)sqlite3_column_int64(q, 13),
		};
		for (int i = 0; i < 3; i++) {
			k->grid[i] = (uint32_t)sqlite3_column_int64(q, 4 + i);
			k->block[i] = (uint32_t)sqlite3_column_int64(q, 7 + i);
		}
		r->kinds[slot].id = id;
		*out = *k;
	}
	sqlite3_reset(q);
	return rc > 0 ? 0 : rc ? rc : bad_block(r, err);
}

/* ---- numbers ---- */

/* Behind the number and its comma or bracket; NULL: there is none. */
static const char *take_number(const char *at, struct store_value *out)
{
	bool negative = *at == '-';
	const char *c = at + negative;
	uint64_t n = 0;
	char *end;

	*out = (struct store_value){.recorded = true, .status = SAMPLE_OK, .kind = SAMPLE_U64};
	if (*c == 'n') {
		*out = (struct store_value){0};
		return !strncmp(c, "null", 4) && (c[4] == ',' || c[4] == ']') ? c + 5 : NULL;
	}
	/* What the writer makes has at most 19 digits. */
	for (; *c >= '0' && *c <= '9' && c - at < 20; c++)
		n = n * 10 + (uint64_t)(*c - '0');
	if (c == at + negative)
		return NULL;
	if (*c == ',' || *c == ']') {
		out->value.u64 = negative ? 0 - n : n;
		return c + 1;
	}
	out->kind = SAMPLE_F64;
	out->value.f64 = strtod(at, &end);
	/* Counts are finite (ingest.c). */
	return isfinite(out->value.f64) && (*end == ',' || *end == ']') ? end + 1 : NULL;
}

static double number_of(const struct store_value *v)
{
	return v->kind == SAMPLE_F64 ? v->value.f64 : (double)(int64_t)v->value.u64;
}

/* What SQL's own conversion gives (sql_column_u64). */
static uint64_t count_of(double d)
{
	return d >= 0x1p64 ? UINT64_MAX : d > 0 ? (uint64_t)d : 0;
}

static const char *take_count(const char *at, uint64_t *out)
{
	struct store_value v;

	at = take_number(at, &v);
	if (at)
		*out = v.kind == SAMPLE_F64 ? count_of(v.value.f64) : v.value.u64;
	return at;
}

/* A time as its distance from another. */
static const char *take_span(const char *at, uint64_t from, uint64_t *out)
{
	struct store_value v;

	at = take_number(at, &v);
	if (at && v.kind == SAMPLE_U64)
		*out = from + v.value.u64;
	else if (at)
		*out = count_of((double)from + number_of(&v));
	return at;
}

static int next_block(struct block_reader *r, struct error *err)
{
	int rc = sql_step(r->blocks, err);

	if (rc <= 0)
		return rc;
	r->next = sqlite3_column_int64(r->blocks, 0);
	r->run = sqlite3_column_int64(r->blocks, 1);
	r->base_ns = (uint64_t)sqlite3_column_int64(r->blocks, 2);
	r->at = (const char *)sqlite3_column_text(r->blocks, 3);
	if (!r->at || *r->at != '[')
		return bad_block(r, err);
	r->at++;
	return 1;
}

int block_next(struct block_reader *r, struct block_row *row_out, struct store_value *values_out,
	       struct error *err)
{
	struct store_value kind;
	uint64_t extra = 0;
	const char *at;
	int rc;

	if (!r->at && (rc = next_block(r, err)) <= 0)
		return rc;
	at = *r->at == '[' ? take_number(r->at + 1, &kind) : NULL;
	row_out->row = r->next;
	row_out->run = r->run;
	at = at ? take_count(at, &row_out->dispatch) : NULL;
	at = at ? take_span(at, r->base_ns, &row_out->begin_ns) : NULL;
	at = at ? take_span(at, row_out->begin_ns, &row_out->end_ns) : NULL;
	at = at ? take_count(at, &row_out->enabled_ns) : NULL;
	at = at ? take_count(at, &row_out->running_ns) : NULL;
	at = at ? take_count(at, &extra) : NULL;
	for (uint32_t i = 0; at && i < r->columns; i++) {
		/* Only the last number has a bracket behind it. */
		at = at[-1] == ',' ? take_number(at, &values_out[i]) : NULL;
	}
	if (!at || at[-1] != ']' || kind.kind != SAMPLE_U64 || !kind.recorded ||
	    (*at != ',' && *at != ']'))
		return bad_block(r, err);
	row_out->extra = (uint32_t)extra;
	r->next++;
	r->at = *at == ',' ? at + 1 : NULL;
	rc = read_kind(r, (int64_t)kind.value.u64, &row_out->kind, err);
	return rc ? rc : 1;
}
