/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the database: the small tables into memory, in orders that do not depend on how the
 * database came to be, and the large ones row by row.
 */
#include "store/block.h"
#include "store/id_map.h"
#include "store/internal.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while reading retally.db");
}

static int load_spools(struct store *s, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(s->db,
			     "SELECT spool, file, launch, host, rank, ranks, local_rank, pid,"
			     " start_ns, state, missing FROM spool"
			     " ORDER BY start_ns, host, rank, pid, launch, file",
			     &q, err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		struct store_spool p = {
			.id = sqlite3_column_int64(q, 0),
			.file = arena_strdup(&s->arena, sql_column_text(q, 1)),
			.launch = arena_strdup(&s->arena, sql_column_text(q, 2)),
			.host = arena_strdup(&s->arena, sql_column_text(q, 3)),
			.rank = sqlite3_column_int(q, 4),
			.ranks = sqlite3_column_int(q, 5),
			.local_rank = sqlite3_column_int(q, 6),
			.pid = sqlite3_column_int(q, 7),
			.start_ns = sql_column_u64(q, 8),
			.state = (enum store_spool_state)sqlite3_column_int(q, 9),
			.missing = sqlite3_column_int(q, 10),
		};

		rc = p.file && p.launch && p.host && vec_push(&s->spools, p) ? 0 : no_memory(err);
	}
	sqlite3_finalize(q);
	return rc;
}

static int load_kernels(struct store *s, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(s->db, "SELECT kernel, unit, name FROM kernel ORDER BY unit, name", &q,
			     err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		struct store_kernel k = {
			.id = sqlite3_column_int64(q, 0),
			.unit = (uint32_t)sqlite3_column_int(q, 1),
			.name = arena_strdup(&s->arena, sql_column_text(q, 2)),
		};

		rc = k.name && vec_push(&s->kernels, k) ? 0 : no_memory(err);
	}
	sqlite3_finalize(q);
	return rc;
}

static int compare_runs(const void *a, const void *b)
{
	const struct store_run *x = a, *y = b;

	if (x->pass != y->pass)
		return x->pass < y->pass ? -1 : 1;
	if (x->spool != y->spool) /* both in the sorted array */
		return x->spool < y->spool ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static int load_runs(struct store *s, const struct id_map *spools, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc =
		sql_prepare(s->db,
			    "SELECT run, spool, pass, attempt, pid, begun, ended, begin_ns, end_ns,"
			    " exit_code, signal, flags, wall_ns, user_ns, system_ns, max_rss_bytes,"
			    " in_place"
			    " FROM run",
			    &q, err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		uint64_t at;
		struct store_run r = {
			.id = sqlite3_column_int64(q, 0),
			.pass = (uint32_t)sqlite3_column_int64(q, 2),
			.attempt = (uint32_t)sqlite3_column_int64(q, 3),
			.pid = (uint32_t)sqlite3_column_int64(q, 4),
			.begun = sqlite3_column_int(q, 5),
			.ended = sqlite3_column_int(q, 6),
			.begin_ns = sql_column_u64(q, 7),
			.end_ns = sql_column_u64(q, 8),
			.exit_code = sqlite3_column_int(q, 9),
			.signal = sqlite3_column_int(q, 10),
			.flags = (uint32_t)sqlite3_column_int64(q, 11),
			.wall_ns = sql_column_u64(q, 12),
			.user_ns = sql_column_u64(q, 13),
			.system_ns = sql_column_u64(q, 14),
			.max_rss_bytes = sql_column_u64(q, 15),
			.in_place = sqlite3_column_int(q, 16),
		};

		rc = 0;
		if (!id_map_get(spools, (uint64_t)sqlite3_column_int64(q, 1), 0, &at) ||
		    r.pass > s->plan.n_passes) {
			rc = error_set(err, RC_CORRUPT,
				       "'%s/retally.db': run %lld has no spool or pass", s->dir,
				       (long long)r.id);
			break;
		}
		r.spool = &s->spools.items[at];
		s->pass_has_run[r.pass] = true;
		if (!vec_push(&s->runs, r))
			rc = no_memory(err);
	}
	sqlite3_finalize(q);
	/* A part of what a later pass tells leaves no record of its own. */
	for (uint32_t k = s->plan.n_passes; k > 1; k--) {
		if (s->pass_has_run[k] && store_pass_is_part(s, k - 1))
			s->pass_has_run[k - 1] = true;
	}
	if (!rc && s->runs.n)
		qsort(s->runs.items, s->runs.n, sizeof(*s->runs.items), compare_runs);
	return rc;
}

static int load_counts(struct store *s, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(s->db,
			     "SELECT pass, counter, status, sum(n) FROM coverage"
			     " GROUP BY pass, counter, status",
			     &q, err);

	while (!rc && (rc = sql_step(q, err)) > 0) {
		int64_t pass = sqlite3_column_int64(q, 0), counter = sqlite3_column_int64(q, 1);
		int status = sqlite3_column_int(q, 2);
		const struct plan_pass *p;

		rc = 0;
		if (pass < 1 || pass > s->plan.n_passes || status < 0 || status > SAMPLE_STATUS_MAX)
			continue;
		p = &s->plan.passes[pass - 1];
		for (uint32_t i = 0; i < p->n_counters; i++) {
			if (p->counters[i] == counter)
				s->counts[s->pass_offset[pass - 1] + i][status] =
					sql_column_u64(q, 3);
		}
	}
	sqlite3_finalize(q);
	return rc;
}

static int add_finding(struct store *s, const char *text, struct error *err)
{
	struct store_finding f = {.kind = SPOOL_NOTE_FINDING, .n = 1, .text = text};

	return text && vec_push(&s->findings, f) ? 0 : no_memory(err);
}

/* Of a spool whose values are in the database: "FILE: WHY". */
static const char *why_not_read(struct store *s, const char *file)
{
	vec_for_each (&s->found, f) {
		if (f->unreadable && !strcmp(f->file, file))
			return f->unreadable;
	}
	return arena_printf(&s->arena, "%s: the file is gone", file);
}

static int load_findings(struct store *s, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->spools.n; i++) {
		if (s->spools.items[i].missing)
			rc = add_finding(s,
					 arena_printf(&s->arena,
						      "%s; its values come from retally.db",
						      why_not_read(s, s->spools.items[i].file)),
					 err);
	}
	for (size_t i = 0; !rc && i < s->expected.n; i++) {
		const char *want = s->expected.items[i];
		const char *base = strrchr(want, '/');
		bool there = false;

		base = base ? base + 1 : want;
		vec_for_each (&s->spools, p)
			there = there || !strcmp(p->file + strlen("spool/"), base);
		if (!there)
			rc = add_finding(s,
					 arena_printf(&s->arena,
						      "spool/%s: named in run.json, but the file is"
						      " missing",
						      base),
					 err);
	}
	if (!rc)
		rc = sql_prepare(s->db,
				 "SELECT from_program, kind, pass, sum(n), text FROM finding"
				 " GROUP BY from_program, kind, pass, text"
				 " ORDER BY from_program, kind, pass, text",
				 &q, err);
	while (!rc && (rc = sql_step(q, err)) > 0) {
		struct store_finding f = {
			.from_program = sqlite3_column_int(q, 0),
			.kind = (uint32_t)sqlite3_column_int(q, 1),
			.pass = (uint32_t)sqlite3_column_int64(q, 2),
			.n = sql_column_u64(q, 3),
			.text = arena_strdup(&s->arena, sql_column_text(q, 4)),
		};

		rc = f.text && vec_push(&s->findings, f) ? 0 : no_memory(err);
	}
	sqlite3_finalize(q);
	return rc;
}

int load_tables(struct store *s, struct error *err)
{
	struct id_map spools = {0};
	int rc = load_spools(s, err);

	for (size_t i = 0; !rc && i < s->spools.n; i++) {
		if (!id_map_set(&spools, (uint64_t)s->spools.items[i].id, 0, i))
			rc = no_memory(err);
	}
	if (!rc)
		rc = load_kernels(s, err);
	if (!rc)
		rc = load_runs(s, &spools, err);
	if (!rc)
		rc = load_counts(s, err);
	if (!rc)
		rc = load_findings(s, err);
	if (!rc)
		rc = load_replays(s, err);
	id_map_release(&spools);
	return rc;
}

/* ---- the large tables ---- */
struct scan {
	struct store *s;
	const struct store_scan *what;
	int (*row)(void *data, const struct store_row *r, struct error *err);
	void *data;
	struct id_map runs, kernels; /* id to index */
	struct store_value *values;
	VEC(struct store_instance) instances;
	struct block_reader blocks;
	sqlite3_stmt *extra;
	const struct store_run *last_run;
};

static void read_value(sqlite3_stmt *q, int column, struct store_value *v)
{
	sqlite3_value *value = sqlite3_column_value(q, column);

	v->recorded = true;
	v->status = SAMPLE_OK;
	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		v->kind = SAMPLE_U64;
		v->value.u64 = (uint64_t)sqlite3_value_int64(value);
		break;
	case SQLITE_FLOAT:
		v->kind = SAMPLE_F64;
		v->value.f64 = sqlite3_value_double(value);
		break;
	default:
		*v = (struct store_value){0};
		break;
	}
}

/* Reasons, instances, and counters that found no column. */
static int read_extra(struct scan *c, uint32_t pass, int64_t row, struct error *err)
{
	const struct plan_pass *p = pass ? &c->s->plan.passes[pass - 1] : NULL;
	int rc;

	sqlite3_bind_int64(c->extra, 1, pass);
	sqlite3_bind_int64(c->extra, 2, row);
	while ((rc = sql_step(c->extra, err)) > 0) {
		struct store_instance e = {
			.counter = (uint32_t)sqlite3_column_int64(c->extra, 0),
			.instance = (uint32_t)sqlite3_column_int64(c->extra, 1),
		};

		read_value(c->extra, 3, &e.value);
		e.value.recorded = true;
		e.value.status = (uint8_t)sqlite3_column_int(c->extra, 2);
		if (e.instance != SPOOL_INSTANCE_ALL) {
			if (!vec_push(&c->instances, e)) {
				rc = no_memory(err);
				break;
			}
			continue;
		}
		for (uint32_t i = 0; p && i < p->n_counters; i++) {
			if (p->counters[i] == e.counter)
				c->values[i] = e.value;
		}
	}
	sqlite3_reset(c->extra);
	return rc;
}

/* Rows of one execution follow one another. */
static const struct store_run *run_of(struct scan *c, int64_t id)
{
	uint64_t at;

	if (c->last_run && c->last_run->id == id)
		return c->last_run;
	if (!id_map_get(&c->runs, (uint64_t)id, 0, &at))
		return NULL;
	return c->last_run = &c->s->runs.items[at];
}

static int scan_row(struct scan *c, const struct block_row *b, uint32_t pass, struct error *err)
{
	struct store_row r = {
		.run = run_of(c, b->run),
		.unit = b->kind.unit,
		.device = b->kind.device,
		.dispatch = b->dispatch,
		.queue = b->kind.queue,
		.begin_ns = b->begin_ns,
		.end_ns = b->end_ns,
		.registers = b->kind.registers,
		.shared_bytes = b->kind.shared_bytes,
		.enabled_ns = b->enabled_ns,
		.running_ns = b->running_ns,
		.attempt = b->kind.attempt,
		.flags = b->kind.flags,
		.n_values = pass ? c->s->plan.passes[pass - 1].n_counters : 0,
		.values = c->values,
		.complete = true,
	};
	uint64_t kernel;
	int rc = 0;

	if (!r.run || !id_map_get(&c->kernels, (uint64_t)b->kind.kernel, 0, &kernel))
		return error_set(err, RC_CORRUPT, "'%s/retally.db': row %lld of pass %u has no run",
				 c->s->dir, (long long)b->row, pass);
	if (c->what->kernels && !c->what->kernels[kernel])
		return 0;
	r.kernel = (uint32_t)kernel;
	memcpy(r.grid, b->kind.grid, sizeof(r.grid));
	memcpy(r.block, b->kind.block, sizeof(r.block));
	for (size_t i = schema_columns(&c->s->plan, pass); i < r.n_values; i++)
		c->values[i] = (struct store_value){0};
	vec_clear(&c->instances);
	if (b->extra)
		rc = read_extra(c, pass, b->row, err);
	for (size_t i = 0; i < r.n_values; i++)
		r.complete =
			r.complete && c->values[i].recorded && c->values[i].status == SAMPLE_OK;
	r.instances = c->instances.items;
	r.n_instances = c->instances.n;
	return rc ? rc : c->row(c->data, &r, err);
}

static int scan_pass(struct scan *c, uint32_t pass, struct error *err)
{
	sqlite3_stmt *ranges = NULL;
	struct block_row row;
	int rc = sql_prepare(c->s->db,
			     "SELECT r.first, r.last FROM spool_rows r JOIN spool s USING(spool)"
			     " WHERE r.pass = ?"
			     " ORDER BY s.start_ns, s.host, s.rank, s.pid, s.launch, s.file",
			     &ranges, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(ranges, 1, pass);
	while (!rc && (rc = sql_step(ranges, err)) > 0) {
		/* The table exists when a range does. */
		rc = block_read_rows(&c->blocks, pass, sqlite3_column_int64(ranges, 0),
				     sqlite3_column_int64(ranges, 1), err);
		while (!rc && (rc = block_next(&c->blocks, &row, c->values, err)) > 0)
			rc = scan_row(c, &row, pass, err);
	}
	sqlite3_finalize(ranges);
	return rc;
}

static int scan_init(struct scan *c, struct error *err)
{
	size_t most = 1;
	int rc;

	for (uint32_t k = 0; k < c->s->plan.n_passes; k++) {
		if (c->s->plan.passes[k].n_counters > most)
			most = c->s->plan.passes[k].n_counters;
	}
	c->values = calloc(most, sizeof(*c->values));
	if (!c->values)
		return no_memory(err);
	for (size_t i = 0; i < c->s->runs.n; i++) {
		if (!id_map_set(&c->runs, (uint64_t)c->s->runs.items[i].id, 0, i))
			return no_memory(err);
	}
	for (size_t i = 0; i < c->s->kernels.n; i++) {
		if (!id_map_set(&c->kernels, (uint64_t)c->s->kernels.items[i].id, 0, i))
			return no_memory(err);
	}
	rc = block_reader_init(&c->blocks, c->s->db, &c->s->plan, c->s->dir, err);
	return rc ? rc
		  : sql_prepare(c->s->db,
				"SELECT counter, instance, status, value FROM sample_extra"
				" WHERE pass = ? AND row = ? ORDER BY counter, instance",
				&c->extra, err);
}

int store_scan(struct store *s, const struct store_scan *what,
	       int (*row)(void *data, const struct store_row *r, struct error *err), void *data,
	       struct error *err)
{
	struct scan c = {.s = s, .what = what, .row = row, .data = data};
	int rc = scan_init(&c, err);

	if (!rc && what->pass == STORE_ALL_PASSES) {
		for (uint32_t k = 1; !rc && k <= s->plan.n_passes; k++)
			rc = scan_pass(&c, k, err);
	} else if (!rc && what->pass <= s->plan.n_passes) {
		rc = scan_pass(&c, what->pass, err);
	}
	sqlite3_finalize(c.extra);
	block_reader_release(&c.blocks);
	free(c.values);
	vec_release(&c.instances);
	id_map_release(&c.runs);
	id_map_release(&c.kernels);
	return rc;
}
