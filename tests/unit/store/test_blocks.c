/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of retally.db: what was written comes back, by the store's own reader and by SQL through
 * the view of the pass; executions with the same dispatches are matched without a row for each; and
 * a database of another version is made again, or kept where it has what no spool has.
 */
#include "../test.h"
#include "run_dir.h"
#include "store/match.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROWS 5000u

static uint64_t random_state = 88172645463325252u;
static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct made {
	struct spool_dispatch d;
	struct spool_sample samples[3];
	uint64_t enabled_ns, running_ns;
};
static struct made made[ROWS];

/* Of any magnitude; times and numbers beyond 2^63 are no integers of SQL. */
static uint64_t random_magnitude(void)
{
	uint64_t r = random_next();

	return r >> (1 + r % 62);
}

static void make(struct made *m, uint32_t i)
{
	static const uint32_t counters[] = {CYCLES, INSTRUCTIONS, BRANCHES};
	uint64_t r = random_next();

	*m = (struct made){.d = {.dispatch = i + (r % 7 ? 0 : random_magnitude()),
				 .kernel = 1 + (uint32_t)(r >> 8) % 3,
				 .unit = SPOOL_UNIT_DISPATCH,
				 .pass = 1,
				 .device = (uint32_t)(r >> 16) % 2,
				 .grid = {1 + (uint32_t)(r >> 20) % 4, 2, 3},
				 .block = {64, 1 + (uint32_t)(r >> 24) % 2, 1},
				 .queue = r % 5,
				 .begin_ns = random_magnitude(),
				 .end_ns = random_magnitude(), /* also before its begin */
				 .registers = (uint32_t)r % 3,
				 .shared_bytes = 4096,
				 .attempt = 1 + (uint32_t)r % 2,
				 .flags = (uint32_t)r % 8},
			   .enabled_ns = random_magnitude(),
			   .running_ns = random_magnitude()};
	for (int c = 0; c < 3; c++) {
		m->samples[c] = SAMPLE_U(counters[c], random_magnitude());
		r = random_next();
		if (r % 3 == 0) {
			m->samples[c].kind = SAMPLE_F64;
			m->samples[c].value.f64 =
				r % 2 ? (double)random_magnitude() : -(double)r / 3e-7;
		} else if (r % 3 == 1) {
			m->samples[c].status = SAMPLE_OVERFLOWED;
		}
	}
}

static void write_rows(struct run_dir *d)
{
	struct error err = {0};
	struct spool_writer w;

	run_dir_spool(d, &w, "a", 0);
	add_kernel(&w, 1, "one");
	add_kernel(&w, 2, "two");
	add_kernel(&w, 3, "three");
	for (uint32_t i = 0; i < ROWS; i++) {
		struct made *m = &made[i];
		struct spool_samples head = {.pass = 1, .n = 3};

		make(m, i);
		head.dispatch = m->d.dispatch;
		head.enabled_ns = m->enabled_ns;
		head.running_ns = m->running_ns;
		if (spool_append(&w, SPOOL_DISPATCH, &m->d, sizeof(m->d), NULL, 0, &err) ||
		    spool_append(&w, SPOOL_SAMPLES, &head, sizeof(head), m->samples,
				 sizeof(m->samples), &err))
			fail_msg("%s", err.message);
	}
	finish(&w);
}

struct checking {
	sqlite3_stmt *q; /* the same rows by SQL */
	uint32_t n;
};

static void check_value(const struct spool_sample *s, const struct store_value *v, sqlite3_stmt *q,
			int column)
{
	assert_true(v->recorded);
	assert_int_equal(v->status, s->status);
	if (s->status != SAMPLE_OK) {
		assert_int_equal(sqlite3_column_type(q, column), SQLITE_NULL);
	} else if (s->kind == SAMPLE_F64) {
		assert_int_equal(v->kind, SAMPLE_F64);
		assert_memory_equal(&v->value.f64, &s->value.f64, sizeof(double));
		assert_int_equal(sqlite3_column_type(q, column), SQLITE_FLOAT);
		assert_true(sqlite3_column_double(q, column) >= s->value.f64 &&
			    sqlite3_column_double(q, column) <= s->value.f64);
	} else {
		assert_int_equal(v->kind, SAMPLE_U64);
		assert_int_equal(v->value.u64, s->value.u64);
		assert_int_equal(sqlite3_column_int64(q, column), s->value.u64);
	}
}

static int check_row(void *data, const struct store_row *r, struct error *err)
{
	struct checking *c = data;
	const struct made *m = &made[c->n++];
	const uint64_t numbers[] = {m->d.dispatch, m->d.begin_ns, m->d.end_ns,  m->enabled_ns,
				    m->running_ns, m->d.device,   m->d.grid[0], m->d.block[1],
				    m->d.queue,    m->d.attempt,  m->d.flags};

	(void)err;
	assert_int_equal(r->dispatch, m->d.dispatch);
	assert_int_equal(r->begin_ns, m->d.begin_ns);
	assert_int_equal(r->end_ns, m->d.end_ns);
	assert_int_equal(r->enabled_ns, m->enabled_ns);
	assert_int_equal(r->running_ns, m->running_ns);
	assert_int_equal(r->device, m->d.device);
	assert_memory_equal(r->grid, m->d.grid, sizeof(r->grid));
	assert_memory_equal(r->block, m->d.block, sizeof(r->block));
	assert_int_equal(r->queue, m->d.queue);
	assert_int_equal(r->registers, m->d.registers);
	assert_int_equal(r->shared_bytes, m->d.shared_bytes);
	assert_int_equal(r->attempt, m->d.attempt);
	assert_int_equal(r->flags, m->d.flags);
	assert_int_equal(sqlite3_step(c->q), SQLITE_ROW);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		assert_int_equal(sqlite3_column_int64(c->q, (int)i), numbers[i]);
	for (int i = 0; i < 3; i++)
		check_value(&m->samples[i], &r->values[i], c->q, 11 + i);
	return 0;
}

static struct store *open_dir(const struct run_dir *d)
{
	struct error err = {0};
	struct store *s = NULL;

	if (store_open(&s, d->path, &err))
		fail_msg("%s", err.message);
	return s;
}

static sqlite3 *open_database(const struct run_dir *d)
{
	char path[400];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/retally.db", d->path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	return db;
}

static int64_t ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *q;
	int64_t n;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return n;
}

static void test_what_was_written_comes_back(void **state)
{
	struct store_scan all = {.pass = 1};
	struct checking c = {0};
	struct error err = {0};
	struct run_dir d;
	struct store *s;
	sqlite3 *db;

	(void)state;
	run_dir_init(&d, small_plan());
	write_rows(&d);
	s = open_dir(&d);
	db = open_database(&d);
	assert_int_equal(
		sqlite3_prepare_v2(db,
				   "SELECT dispatch, begin_ns, end_ns, enabled_ns, running_ns,"
				   " device, grid_x, block_y, queue, attempt, flags, cycles,"
				   " instructions, branches FROM pass_1 ORDER BY row",
				   -1, &c.q, NULL),
		SQLITE_OK);
	if (store_scan(s, &all, check_row, &c, &err))
		fail_msg("%s", err.message);
	assert_int_equal(c.n, ROWS);
	assert_int_equal(sqlite3_step(c.q), SQLITE_DONE);
	sqlite3_finalize(c.q);
	assert_int_equal(ask(db, "SELECT count(DISTINCT row) FROM pass_1"), ROWS);
	assert_true(ask(db, "SELECT count(*) FROM block_1") < ROWS / 50);
	sqlite3_close(db);
	store_close(s);
	run_dir_remove(&d);
}

/* ---- executions with the same dispatches ---- */
static void add_execution(struct run_dir *d, const char *name, uint32_t pass, uint32_t n)
{
	struct spool_sample s[] = {SAMPLE_U(CYCLES, 5)};
	struct spool_writer w;

	run_dir_spool(d, &w, name, 0);
	add_kernel(&w, 1, "one");
	add_kernel(&w, 2, "two");
	add_kernel(&w, 3, "three");
	add_begin(&w, pass, 3);
	for (uint32_t i = 0; i < n; i++) {
		add_dispatch(&w, pass, 100 + i, i < 6 ? 1 + i % 2 : 3, SPOOL_UNIT_DISPATCH);
		add_samples(&w, pass, 100 + i, s, 1);
	}
	add_end(&w, pass, 0, 0, 0);
	finish(&w);
}

struct expected {
	const struct store *s;
	uint64_t n[4]; /* by how */
	uint32_t most; /* executions that have a dispatch */
};

static int check_match(void *data, const struct store_row *r, struct error *err)
{
	struct expected *e = data;
	struct store_match m;

	(void)err;
	store_match(e->s, r, &m);
	assert_true(m.compared);
	assert_int_equal(m.logical, r->dispatch - 100);
	assert_true(m.lowest >= 1 && (m.how != MATCH_EXACT || m.confidence >= 1));
	assert_int_equal(m.of_executions, e->most);
	assert_int_equal(m.executions, m.logical < 6 ? e->most : 1);
	e->n[m.how]++;
	return 0;
}

static void test_executions_that_are_alike(void **state)
{
	struct store_scan all = {.pass = STORE_ALL_PASSES};
	struct error err = {0};
	struct run_dir d;

	(void)state;
	run_dir_init(&d, small_plan());
	add_execution(&d, "a", 1, 6);
	add_execution(&d, "b", 2, 6);
	for (uint32_t more = 0; more < 2; more++) {
		struct expected e = {.most = 3 + more};
		struct store *s;
		size_t n = 0;
		sqlite3 *db;

		add_execution(&d, more ? "d" : "c", more ? 2 : 3, more ? 7 : 6);
		e.s = s = open_dir(&d);
		if (store_match_load(s, &err) || store_scan(s, &all, check_match, &e, &err))
			fail_msg("%s", err.message);
		assert_int_equal(e.n[MATCH_NONE], 6 + more);
		assert_int_equal(e.n[MATCH_EXACT], 12 + 6 * more);
		assert_int_equal(store_matching(s)->pairs[MATCH_EXACT], 12 + 6 * more);
		assert_int_equal(store_matching(s)->dispatches, 6 + more);
		assert_int_equal(store_matching(s)->incomplete, more);
		assert_int_equal(store_matching(s)->executions, 3 + more);
		store_unmatched(s, &n);
		assert_int_equal(n, more);
		db = open_database(&d);
		/* Dispatches are listed only where one differs. */
		assert_int_equal(ask(db, "SELECT count(*) FROM dispatch_match"), more ? 25 : 0);
		assert_int_equal(ask(db, "SELECT count(*) FROM unmatched"), more);
		sqlite3_close(db);
		store_close(s);
	}
	run_dir_remove(&d);
}

/* ---- another version ---- */
static void test_another_version(void **state)
{
	char spool[400], kept[400];
	const struct store_finding *f;
	struct run_dir d;
	size_t n;

	(void)state;
	run_dir_init(&d, small_plan());
	add_execution(&d, "a", 1, 6);
	add_execution(&d, "b", 2, 6);
	snprintf(spool, sizeof(spool), "%s/spool/b.rts", d.path);
	snprintf(kept, sizeof(kept), "%s/retally.db.4", d.path);
	for (int gone = 0; gone < 2; gone++) {
		struct store *s = open_dir(&d);
		sqlite3 *db = open_database(&d);

		store_close(s);
		assert_int_equal(sqlite3_exec(db,
					      "UPDATE meta SET value = '4' WHERE key = 'schema'",
					      NULL, NULL, NULL),
				 SQLITE_OK);
		sqlite3_close(db);
		if (gone)
			assert_int_equal(unlink(spool), 0);
		s = open_dir(&d);
		f = store_findings(s, &n);
		assert_int_equal(n, gone);
		assert_int_equal(access(kept, F_OK), gone ? 0 : -1);
		if (gone)
			assert_string_equal(
				f[0].text,
				"retally.db of another version (4) was made again from the spools; "
				"values of 1 of them ('spool/b.rts'), whose files are gone, are "
				"only in the old one, kept as retally.db.4");
		store_close(s);
		db = open_database(&d);
		assert_int_equal(ask(db, "SELECT value FROM meta WHERE key = 'schema'"), 6);
		assert_int_equal(ask(db, "SELECT count(*) FROM pass_1"), 6);
		sqlite3_close(db);
	}
	run_dir_remove(&d);
}

/* ---- tables that are missing or not as they were ---- */
static void test_tables_dropped(void **state)
{
	static const char *const damages[] = {
		"DROP TABLE counter", "DROP TABLE declined",
		"DROP TABLE block_1", "DROP TABLE spool_rows",
		"DROP VIEW pass_2",   "ALTER TABLE run DROP COLUMN signal",
		"DROP TABLE spool"};
	char spool[400], kept[400];
	struct run_dir d;

	(void)state;
	run_dir_init(&d, small_plan());
	add_execution(&d, "a", 1, 6);
	add_execution(&d, "b", 2, 6);
	store_close(open_dir(&d));
	snprintf(kept, sizeof(kept), "%s/retally.db.damaged", d.path);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		sqlite3 *db = open_database(&d);

		assert_int_equal(access(kept, F_OK), -1);
		assert_int_equal(sqlite3_exec(db, damages[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		store_close(open_dir(&d));
		db = open_database(&d);
		assert_int_equal(ask(db, "SELECT count(*) FROM pass_1"), 6);
		assert_int_equal(ask(db, "SELECT count(*) FROM pass_2"), 6);
		assert_int_equal(ask(db, "SELECT count(*) FROM declined"), 0);
		sqlite3_close(db);
	}
	/* What only the old one has is kept, or may have: the last one does not tell its spools. */
	snprintf(spool, sizeof(spool), "%s/spool/b.rts", d.path);
	assert_int_equal(unlink(kept), 0);
	{
		sqlite3 *db = open_database(&d);
		const struct store_finding *f;
		struct store *s;
		size_t n;

		assert_int_equal(sqlite3_exec(db, "DROP TABLE run", NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		assert_int_equal(unlink(spool), 0);
		s = open_dir(&d);
		f = store_findings(s, &n);
		assert_int_equal(n, 1);
		assert_string_equal(
			f[0].text,
			"retally.db that is damaged was made again from the spools; values "
			"of 1 of them ('spool/b.rts'), whose files are gone, are only in "
			"the old one, kept as retally.db.damaged");
		store_close(s);
		assert_int_equal(access(kept, F_OK), 0);
	}
	run_dir_remove(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_written_comes_back),
		cmocka_unit_test(test_executions_that_are_alike),
		cmocka_unit_test(test_another_version),
		cmocka_unit_test(test_tables_dropped),
	};

	return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
