/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How should the store keep samples? Three layouts are filled with the same seeded data and read
 * back once, summed by kernel and counter: narrow rows (one a sample), one packed blob a dispatch
 * and pass, and one wide row a dispatch and pass with a column for each counter. Prints what each
 * costs; docs/decisions.md holds the verdict. Usage: store_layout [DISPATCHES [COUNTERS]]
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KERNELS      64
#define COUNTERS_MAX 512

struct totals {
	uint64_t sum[KERNELS][COUNTERS_MAX];
};
struct layout {
	const char *name;
	void (*create)(sqlite3 *db, int counters);
	void (*fill)(sqlite3 *db, int dispatches, int counters);
	void (*read)(sqlite3 *db, int counters, struct totals *t);
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t random_state;
static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Counter values of a real run are between a few and some billions: vary the magnitude. */
static uint64_t value_next(void)
{
	uint64_t r = random_next();

	return (r >> 8) >> (20 + (r & 31));
}

static void check(sqlite3 *db, int rc)
{
	if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
		return;
	fprintf(stderr, "store_layout: %s\n", sqlite3_errmsg(db));
	exit(1);
}
static void execute(sqlite3 *db, const char *sql)
{
	check(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}
static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;

	check(db, sqlite3_prepare_v2(db, sql, -1, &s, NULL));
	return s;
}

/* ---- narrow ---- */
static void narrow_create(sqlite3 *db, int counters)
{
	(void)counters;
	execute(db, "CREATE TABLE dispatch(id INTEGER PRIMARY KEY, kernel INTEGER) STRICT;"
		    "CREATE TABLE sample(dispatch INTEGER, pass INTEGER, counter INTEGER,"
		    " status INTEGER, value INTEGER,"
		    " PRIMARY KEY(dispatch, pass, counter)) STRICT, WITHOUT ROWID");
}
static void narrow_fill(sqlite3 *db, int dispatches, int counters)
{
	sqlite3_stmt *d = prepare(db, "INSERT INTO dispatch VALUES(?, ?)");
	sqlite3_stmt *s = prepare(db, "INSERT INTO sample VALUES(?, 1, ?, 0, ?)");

	for (int i = 0; i < dispatches; i++) {
		sqlite3_bind_int(d, 1, i);
		sqlite3_bind_int(d, 2, i % KERNELS);
		check(db, sqlite3_step(d));
		sqlite3_reset(d);
		for (int c = 0; c < counters; c++) {
			sqlite3_bind_int(s, 1, i);
			sqlite3_bind_int(s, 2, c);
			sqlite3_bind_int64(s, 3, (int64_t)value_next());
			check(db, sqlite3_step(s));
			sqlite3_reset(s);
		}
	}
	sqlite3_finalize(d);
	sqlite3_finalize(s);
}
static void narrow_read(sqlite3 *db, int counters, struct totals *t)
{
	sqlite3_stmt *s =
		prepare(db, "SELECT d.kernel, s.counter, s.value FROM sample s JOIN dispatch d"
			    " ON d.id = s.dispatch");

	(void)counters;
	while (sqlite3_step(s) == SQLITE_ROW)
		t->sum[sqlite3_column_int(s, 0)][sqlite3_column_int(s, 1)] +=
			(uint64_t)sqlite3_column_int64(s, 2);
	sqlite3_finalize(s);
}

/* ---- packed: u64 values, then a status byte each ---- */
static void packed_create(sqlite3 *db, int counters)
{
	(void)counters;
	execute(db,
		"CREATE TABLE sample(id INTEGER PRIMARY KEY, kernel INTEGER, vector BLOB) STRICT");
}
static void packed_fill(sqlite3 *db, int dispatches, int counters)
{
	sqlite3_stmt *s = prepare(db, "INSERT INTO sample VALUES(?, ?, ?)");
	unsigned char blob[COUNTERS_MAX * 9];

	memset(blob, 0, sizeof(blob));
	for (int i = 0; i < dispatches; i++) {
		for (int c = 0; c < counters; c++) {
			uint64_t v = value_next();

			memcpy(blob + (size_t)c * 8, &v, 8);
		}
		sqlite3_bind_int(s, 1, i);
		sqlite3_bind_int(s, 2, i % KERNELS);
		sqlite3_bind_blob(s, 3, blob, counters * 9, SQLITE_STATIC);
		check(db, sqlite3_step(s));
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
}
static void packed_read(sqlite3 *db, int counters, struct totals *t)
{
	sqlite3_stmt *s = prepare(db, "SELECT kernel, vector FROM sample");

	while (sqlite3_step(s) == SQLITE_ROW) {
		const unsigned char *blob = sqlite3_column_blob(s, 1);
		int kernel = sqlite3_column_int(s, 0);

		for (int c = 0; c < counters; c++) {
			uint64_t v;

			memcpy(&v, blob + (size_t)c * 8, 8);
			t->sum[kernel][c] += v;
		}
	}
	sqlite3_finalize(s);
}

/* ---- wide: a table a pass, a column a counter ---- */
static void wide_create(sqlite3 *db, int counters)
{
	char sql[COUNTERS_MAX * 16];
	size_t n = (size_t)snprintf(sql, sizeof(sql),
				    "CREATE TABLE pass_1(id INTEGER PRIMARY KEY, kernel INTEGER");

	for (int c = 0; c < counters; c++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ", c%d ANY", c);
	snprintf(sql + n, sizeof(sql) - n, ") STRICT");
	execute(db, sql);
}
static void wide_fill(sqlite3 *db, int dispatches, int counters)
{
	char sql[COUNTERS_MAX * 4];
	size_t n = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO pass_1 VALUES(?, ?");
	sqlite3_stmt *s;

	for (int c = 0; c < counters; c++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ", ?");
	snprintf(sql + n, sizeof(sql) - n, ")");
	s = prepare(db, sql);
	for (int i = 0; i < dispatches; i++) {
		sqlite3_bind_int(s, 1, i);
		sqlite3_bind_int(s, 2, i % KERNELS);
		for (int c = 0; c < counters; c++)
			sqlite3_bind_int64(s, 3 + c, (int64_t)value_next());
		check(db, sqlite3_step(s));
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
}
static void wide_read(sqlite3 *db, int counters, struct totals *t)
{
	sqlite3_stmt *s = prepare(db, "SELECT * FROM pass_1");

	while (sqlite3_step(s) == SQLITE_ROW) {
		int kernel = sqlite3_column_int(s, 1);

		for (int c = 0; c < counters; c++)
			t->sum[kernel][c] += (uint64_t)sqlite3_column_int64(s, 2 + c);
	}
	sqlite3_finalize(s);
}

int main(int argc, char **argv)
{
	static const struct layout layouts[] = {
		{"narrow", narrow_create, narrow_fill, narrow_read},
		{"packed", packed_create, packed_fill, packed_read},
		{"wide", wide_create, wide_fill, wide_read},
	};
	int dispatches = argc > 1 ? atoi(argv[1]) : 200000;
	int counters = argc > 2 ? atoi(argv[2]) : 8;
	static struct totals want, got;
	char path[64];

	if (dispatches < 1 || counters < 1 || counters > COUNTERS_MAX) {
		fprintf(stderr, "usage: store_layout [DISPATCHES [COUNTERS, at most %d]]\n",
			COUNTERS_MAX);
		return 2;
	}
	snprintf(path, sizeof(path), "/tmp/store_layout.%d.db", (int)getpid());
	printf("%d dispatches, %d counters\n", dispatches, counters);
	printf("%-8s %16s %16s %10s\n", "layout", "ingest, M/s", "read, M/s", "bytes/smp");
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		double samples = (double)dispatches * counters, t0, t1, t2;
		sqlite3 *db = NULL;
		struct stat st;

		unlink(path);
		check(db, sqlite3_open(path, &db));
		execute(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 16384");
		layouts[i].create(db, counters);
		random_state = 0x9e3779b97f4a7c15u;
		t0 = now();
		execute(db, "BEGIN");
		layouts[i].fill(db, dispatches, counters);
		execute(db, "COMMIT");
		t1 = now();
		memset(&got, 0, sizeof(got));
		layouts[i].read(db, counters, &got);
		t2 = now();
		if (i == 0)
			want = got;
		if (memcmp(&want, &got, sizeof(got)) != 0) {
			fprintf(stderr, "store_layout: %s read other sums\n", layouts[i].name);
			return 1;
		}
		sqlite3_close(db);
		if (stat(path, &st) != 0)
			return 1;
		printf("%-8s %16.2f %16.2f %10.1f\n", layouts[i].name, samples / (t1 - t0) / 1e6,
		       samples / (t2 - t1) / 1e6, (double)st.st_size / samples);
		unlink(path);
	}
	return 0;
}
