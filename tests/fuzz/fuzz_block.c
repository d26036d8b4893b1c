/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of blocks over any text: what is in a damaged retally.db, or in one that somebody
 * sent, is read to its end or refused with a sentence. What was read is written again and must come
 * back as it was.
 */
#include "fuzz.h"
#include "store/block.h"

#include <string.h>

#define COUNTERS 3u

static const uint32_t counted[COUNTERS] = {0, 1, 2};
static struct plan_counter counters[COUNTERS] = {
	{"a", "sim", "", "", 0, ""}, {"b", "sim", "", "", 0, ""}, {"c", "sim", "", "", 0, ""}};
static struct plan_pass passes[] = {{COUNTERS, counted, "", ""}};
static struct plan plan = {.chip = "sim",
			   .selection = "",
			   .n_counters = COUNTERS,
			   .counters = counters,
			   .n_passes = 1,
			   .passes = passes};

static sqlite3 *database(void)
{
	static sqlite3 *db;

	if (!db) {
		fuzz_assert(sqlite3_open(":memory:", &db) == SQLITE_OK);
		fuzz_assert(!schema_create(db, &plan, "fuzz", NULL));
		fuzz_assert(!schema_create_pass(db, &plan, 1, NULL));
		fuzz_assert(!sql_execute(db,
					 "INSERT INTO dispatch_kind"
					 " VALUES(1, 1, 2, 0, 1, 1, 1, 1, 1, 1, 7, 0, 0, 1, 0),"
					 " (2, 9, -1, -1, -1, 1, 1, 1, 1, 1, 1e300, 0, 0, 1, 0)",
					 NULL));
	}
	fuzz_assert(!sql_execute(db, "DELETE FROM block_1", NULL));
	return db;
}

/* Rows until the end; -1: refused. The first ones go to `kept`. */
static int read_rows(sqlite3 *db, struct block_row *kept, struct store_value *values, int room)
{
	struct block_reader r;
	struct block_row row;
	struct store_value v[COUNTERS];
	struct error err = {0};
	int n = 0, rc;

	fuzz_assert(!block_reader_init(&r, db, &plan, "fuzz", &err));
	fuzz_assert(!block_read_rows(&r, 1, 1, INT64_MAX, &err));
	while ((rc = block_next(&r, &row, v, &err)) > 0) {
		fuzz_assert(row.row == 1 + n && row.run == 5);
		if (n < room) {
			kept[n] = row;
			memcpy(&values[(size_t)n * COUNTERS], v, sizeof(v));
		}
		n++;
	}
	fuzz_assert(!rc || (rc == RC_CORRUPT && *err.message && !strchr(err.message, '\n')));
	block_reader_release(&r);
	return rc ? -1 : n;
}

static void insert(sqlite3 *db, const uint8_t *data, size_t size)
{
	sqlite3_stmt *s = NULL;

	fuzz_assert(!sql_prepare(db, "INSERT INTO block_1 VALUES(1, 1, 5, 1000, ?)", &s, NULL));
	sqlite3_bind_text64(s, 1, (const char *)data, size, SQLITE_TRANSIENT, SQLITE_UTF8);
	fuzz_assert(!sql_run(s, NULL));
	sqlite3_finalize(s);
}

#define KEPT 8
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct block_row kept[KEPT], again[KEPT];
	struct store_value values[KEPT * COUNTERS], values_again[KEPT * COUNTERS];
	struct block_writer w;
	sqlite3 *db = database();
	int64_t next = 0;
	int n;

	memset(values, 0, sizeof(values));
	insert(db, data, size);
	n = read_rows(db, kept, values, KEPT);
	if (n <= 0)
		return 0;
	n = n < KEPT ? n : KEPT;
	fuzz_assert(!sql_execute(db, "DELETE FROM block_1", NULL));
	fuzz_assert(!block_writer_init(&w, db, &plan, NULL));
	fuzz_assert(!block_begin_pass(&w, 1, &next, NULL) && next == 1);
	for (int i = 0; i < n; i++)
		fuzz_assert(!block_write(&w, 1, &kept[i], &values[(size_t)i * COUNTERS], NULL));
	fuzz_assert(!block_flush(&w, NULL));
	block_writer_release(&w);
	fuzz_assert(read_rows(db, again, values_again, KEPT) == n);
	for (int i = 0; i < n; i++)
		fuzz_assert(!memcmp(&again[i].kind, &kept[i].kind, sizeof(kept[i].kind)) &&
			    again[i].extra == kept[i].extra);
	return 0;
}
