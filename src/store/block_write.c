/* SPDX-License-Identifier: Apache-2.0 */
/* From dispatches to blocks: see block.h. */
#include "base/hash.h"
#include "store/block.h"

#include <stdio.h>
#include <string.h>

/* A block is put away when it has this many rows or bytes: large enough that SQL's work for a row
 * does not count, small enough that one for each of hundreds of passes can be in memory. */
#define BLOCK_ROWS  1024u
#define BLOCK_BYTES (32u << 10)
/* "-9223372036854775808," or "-1.7976931348623157e+308,", and a NUL. */
#define NUMBER_SIZE 26u
#define ROW_NUMBERS 7u     /* before the counters */
#define KINDS_MOST  65536u /* kept in memory; one that comes again later is written again */

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while reading spools");
}

int block_writer_init(struct block_writer *w, sqlite3 *db, const struct plan *plan,
		      struct error *err)
{
	sqlite3_stmt *last = NULL;
	size_t most = 0;
	int rc;

	*w = (struct block_writer){.db = db, .plan = plan};
	for (uint32_t k = 1; k <= plan->n_passes; k++) {
		if (schema_columns(plan, k) > most)
			most = schema_columns(plan, k);
	}
	w->passes = calloc(plan->n_passes + 1, sizeof(*w->passes));
	w->row_size = (ROW_NUMBERS + most) * NUMBER_SIZE + sizeof("[[],");
	if (!w->passes)
		return no_memory(err);
	rc = sql_prepare(db, "SELECT max(kind) FROM dispatch_kind", &last, err);
	if (!rc && (rc = sql_step(last, err)) > 0) {
		w->next_kind = sqlite3_column_int64(last, 0) + 1;
		rc = 0;
	}
	sqlite3_finalize(last);
	return rc ? rc
		  : sql_prepare(db,
				"INSERT INTO dispatch_kind VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
				&w->add_kind, err);
}

void block_writer_release(struct block_writer *w)
{
	for (uint32_t k = 0; w->passes && k <= w->plan->n_passes; k++) {
		sqlite3_finalize(w->passes[k].insert);
		free(w->passes[k].rows);
	}
	free(w->passes);
	sqlite3_finalize(w->add_kind);
	id_map_release(&w->by_hash);
	vec_release(&w->kinds);
	vec_release(&w->kind_ids);
	*w = (struct block_writer){0};
}

int block_begin_pass(struct block_writer *w, uint32_t pass, int64_t *next_row_out,
		     struct error *err)
{
	struct block_pass *p = &w->passes[pass];
	sqlite3_stmt *last = NULL;
	char sql[96];
	int rc = p->insert ? 0 : schema_create_pass(w->db, w->plan, pass, err);

	if (!rc && !p->rows) {
		p->rows = malloc(BLOCK_BYTES + w->row_size);
		rc = p->rows ? 0 : no_memory(err);
	}
	snprintf(sql, sizeof(sql), "INSERT INTO block_%u VALUES(?, ?, ?, ?, ?)", pass);
	if (!rc && !p->insert)
		rc = sql_prepare(w->db, sql, &p->insert, err);
	snprintf(sql, sizeof(sql), "SELECT first + n FROM block_%u ORDER BY first DESC LIMIT 1",
		 pass);
	if (!rc)
		rc = sql_prepare(w->db, sql, &last, err);
	if (!rc)
		rc = sql_step(last, err);
	*next_row_out = rc > 0 ? sqlite3_column_int64(last, 0) : 1;
	sqlite3_finalize(last);
	return rc < 0 ? rc : 0;
}

/* ---- kinds ---- */
static int add_kind(struct block_writer *w, const struct dispatch_kind *k, int64_t id,
		    struct error *err)
{
	sqlite3_stmt *s = w->add_kind;

	sqlite3_bind_int64(s, 1, id);
	sqlite3_bind_int64(s, 2, k->kernel);
	sqlite3_bind_int64(s, 3, k->unit);
	sqlite3_bind_int64(s, 4, k->device);
	for (int i = 0; i < 3; i++) {
		sqlite3_bind_int64(s, 5 + i, k->grid[i]);
		sqlite3_bind_int64(s, 8 + i, k->block[i]);
	}
	sql_bind_u64(s, 11, k->queue);
	sqlite3_bind_int64(s, 12, k->registers);
	sqlite3_bind_int64(s, 13, k->shared_bytes);
	sqlite3_bind_int64(s, 14, k->attempt);
	sqlite3_bind_int64(s, 15, k->flags);
	return sql_run(s, err);
}

/* Found by a hash, told apart by comparing. */
static int find_kind(struct block_writer *w, const struct dispatch_kind *k, int64_t *id_out,
		     struct error *err)
{
	uint64_t h = hash64(k, sizeof(*k)), at;
	int rc;

	for (; id_map_get(&w->by_hash, h, 0, &at); h++) {
		if (!memcmp(&w->kinds.items[at], k, sizeof(*k))) {
			*id_out = w->kind_ids.items[at];
			return 0;
		}
	}
	if (w->kinds.n >= KINDS_MOST) {
		vec_clear(&w->kinds);
		vec_clear(&w->kind_ids);
		id_map_release(&w->by_hash);
		h = hash64(k, sizeof(*k));
	}
	rc = add_kind(w, k, w->next_kind, err);
	if (rc)
		return rc;
	if (!vec_push(&w->kinds, *k) || !vec_push(&w->kind_ids, w->next_kind) ||
	    !id_map_set(&w->by_hash, h, 0, w->kinds.n - 1))
		return no_memory(err);
	*id_out = w->next_kind++;
	return 0;
}

/* ---- the text of a row ---- */
static char *put_u64(char *to, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char digits[20], *from = digits + sizeof(digits);
	size_t n;

	for (; v >= 100; v /= 100)
		memcpy(from -= 2, pairs + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(from -= 2, pairs + v * 2, 2);
	else
		*--from = (char)('0' + v);
	n = (size_t)(digits + sizeof(digits) - from);
	memcpy(to, from, n);
	to[n] = ',';
	return to + n + 1;
}

static char *put_i64(char *to, int64_t v)
{
	if (v >= 0)
		return put_u64(to, (uint64_t)v);
	*to++ = '-';
	return put_u64(to, 0 - (uint64_t)v);
}

/* Always with a point or an exponent: what is read back is a double again. */
static char *put_f64(char *to, double v)
{
	char *begin = to;

	to += snprintf(to, NUMBER_SIZE, "%.17g", v);
	if (!strpbrk(begin, ".e")) {
		*to++ = '.';
		*to++ = '0';
	}
	*to++ = ',';
	return to;
}

/* Above 2^63 - 1 as a double, which is what SQL has for it. */
static char *put_count(char *to, uint64_t v)
{
	return v <= INT64_MAX ? put_u64(to, v) : put_f64(to, (double)v);
}

/* to - from, both times. */
static char *put_span(char *to, uint64_t from, uint64_t until)
{
	if (from <= INT64_MAX && until <= INT64_MAX)
		return put_i64(to, (int64_t)until - (int64_t)from);
	return put_f64(to, (double)until - (double)from);
}

static char *put_value(char *to, const struct store_value *v)
{
	if (!v->recorded) {
		memcpy(to, "null,", 5);
		return to + 5;
	}
	return v->kind == SAMPLE_U64 ? put_count(to, v->value.u64) : put_f64(to, v->value.f64);
}

static int flush_pass(struct block_pass *p, struct error *err)
{
	sqlite3_stmt *s = p->insert;
	int rc;

	if (!p->n)
		return 0;
	p->rows[p->size - 1] = ']'; /* for the comma behind the last row */
	sqlite3_bind_int64(s, 1, p->first);
	sqlite3_bind_int64(s, 2, p->n);
	sqlite3_bind_int64(s, 3, p->run);
	sqlite3_bind_int64(s, 4, (int64_t)p->base_ns);
	sqlite3_bind_text64(s, 5, p->rows, p->size, SQLITE_STATIC, SQLITE_UTF8);
	rc = sql_run(s, err);
	p->n = 0;
	return rc;
}

int block_write(struct block_writer *w, uint32_t pass, const struct block_row *r,
		const struct store_value *values, struct error *err)
{
	struct block_pass *p = &w->passes[pass];
	uint32_t columns = schema_columns(w->plan, pass);
	int64_t kind = 0;
	char *to;
	int rc = 0;

	if (p->n && (p->run != r->run || p->n >= BLOCK_ROWS || p->size >= BLOCK_BYTES))
		rc = flush_pass(p, err);
	if (!rc)
		rc = find_kind(w, &r->kind, &kind, err);
	if (rc)
		return rc;
	if (!p->n) {
		p->first = r->row;
		p->run = r->run;
		p->base_ns = r->begin_ns <= INT64_MAX ? r->begin_ns : 0;
		p->rows[0] = '[';
		p->size = 1;
	}
	to = p->rows + p->size;
	*to++ = '[';
	to = put_i64(to, kind);
	to = put_count(to, r->dispatch);
	to = put_span(to, p->base_ns, r->begin_ns);
	to = put_span(to, r->begin_ns, r->end_ns);
	to = put_count(to, r->enabled_ns);
	to = put_count(to, r->running_ns);
	to = put_u64(to, r->extra);
	for (uint32_t i = 0; i < columns; i++)
		to = put_value(to, &values[i]);
	to[-1] = ']';
	*to++ = ',';
	p->size = (size_t)(to - p->rows);
	p->n++;
	return 0;
}

int block_flush(struct block_writer *w, struct error *err)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k <= w->plan->n_passes; k++)
		rc = flush_pass(&w->passes[k], err);
	return rc;
}
