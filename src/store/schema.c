/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of retally.db (docs/store.md shows how to query them). Each pass has a view with one
 * row per dispatch and execution and one column per counter: NULL where nothing was collected, with
 * the reason in sample_extra (and in words in the view not_collected). Behind it are blocks of many
 * rows each (block.h).
 */
#include "base/str.h"
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No semicolon but at the end of a statement: see has_all_texts. */
static const char schema_text[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
	"CREATE TABLE counter(counter INTEGER PRIMARY KEY, name TEXT NOT NULL, source TEXT NOT "
	"NULL,"
	" block TEXT NOT NULL, unit TEXT NOT NULL, flags INTEGER NOT NULL) STRICT;"
	"CREATE TABLE pass(pass INTEGER PRIMARY KEY, reason TEXT NOT NULL) STRICT;"
	"CREATE TABLE pass_counter(pass INTEGER NOT NULL, counter INTEGER NOT NULL,"
	" column_name TEXT, PRIMARY KEY(pass, counter)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE metric(metric INTEGER PRIMARY KEY, name TEXT NOT NULL, title TEXT NOT NULL,"
	" unit TEXT NOT NULL, expression TEXT NOT NULL, pass INTEGER NOT NULL) STRICT;"
	"CREATE TABLE spool(spool INTEGER PRIMARY KEY, file TEXT NOT NULL UNIQUE,"
	" size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, header_hash TEXT NOT NULL,"
	" state INTEGER NOT NULL, missing INTEGER NOT NULL DEFAULT 0, launch TEXT, host TEXT,"
	" rank INTEGER, ranks INTEGER, local_rank INTEGER, pid INTEGER, start_ns ANY) STRICT;"
	"CREATE TABLE kernel(kernel INTEGER PRIMARY KEY, unit INTEGER NOT NULL, name TEXT NOT NULL,"
	" UNIQUE(unit, name)) STRICT;"
	"CREATE TABLE run(run INTEGER PRIMARY KEY, spool INTEGER NOT NULL, pass INTEGER NOT NULL,"
	" attempt INTEGER NOT NULL, pid INTEGER NOT NULL, begun INTEGER NOT NULL,"
	" ended INTEGER NOT NULL, begin_ns ANY, end_ns ANY, exit_code INTEGER, signal INTEGER,"
	" flags INTEGER, wall_ns ANY, user_ns ANY, system_ns ANY, max_rss_bytes ANY,"
	" in_place INTEGER NOT NULL DEFAULT 0) STRICT;"
	/* `window` is a word of SQL. */
	"CREATE TABLE replay_window(spool INTEGER NOT NULL, window ANY, device INTEGER NOT NULL,"
	" dispatches INTEGER NOT NULL, transfers INTEGER NOT NULL, passes INTEGER NOT NULL,"
	" ended_by TEXT NOT NULL, begin_ns ANY, end_ns ANY, live_ns ANY, save_ns ANY,"
	" restore_ns ANY, check_ns ANY, program_ns ANY, run_ns ANY, reach_bytes ANY,"
	" saved_bytes ANY, restored_bytes ANY, spared_bytes ANY) STRICT;"
	"CREATE TABLE declined(spool INTEGER NOT NULL, kernel INTEGER, device INTEGER NOT NULL,"
	" instead INTEGER NOT NULL, reason TEXT NOT NULL, n ANY) STRICT;"
	"CREATE TABLE left_out(spool INTEGER NOT NULL, kernel INTEGER NOT NULL,"
	" device INTEGER NOT NULL, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,"
	" block_x INTEGER, block_y INTEGER, block_z INTEGER, precision REAL NOT NULL,"
	" counted ANY, n ANY) STRICT;"
	/* Where a rank has several executions (store/match.h); run NULL: passes in place. */
	"CREATE TABLE execution(execution INTEGER PRIMARY KEY, lane INTEGER NOT NULL,"
	" spool INTEGER NOT NULL, run INTEGER, pass INTEGER NOT NULL, unit INTEGER, first ANY,"
	" n INTEGER) STRICT;"
	"CREATE TABLE lane_kernel(lane INTEGER NOT NULL, kernel INTEGER NOT NULL,"
	" n INTEGER NOT NULL, PRIMARY KEY(lane, kernel)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE dispatch_match(execution INTEGER NOT NULL, unit INTEGER NOT NULL,"
	" dispatch ANY NOT NULL, kernel INTEGER NOT NULL, logical INTEGER NOT NULL,"
	" how INTEGER NOT NULL, confidence REAL,"
	" PRIMARY KEY(execution, unit, dispatch, kernel)) STRICT, WITHOUT ROWID;"
	"CREATE VIEW unmatched AS SELECT e.lane, m.logical, min(k.name) AS kernel,"
	" count(*) AS executions, l.n AS of_executions FROM dispatch_match m"
	" JOIN execution e USING(execution) JOIN kernel k USING(kernel)"
	" JOIN (SELECT lane, count(*) AS n FROM execution GROUP BY lane) l ON l.lane = e.lane"
	" GROUP BY e.lane, m.logical HAVING count(*) < l.n;"
	"CREATE TABLE dispatch_kind(kind INTEGER PRIMARY KEY, kernel INTEGER NOT NULL,"
	" unit INTEGER NOT NULL, device INTEGER NOT NULL, grid_x INTEGER, grid_y INTEGER,"
	" grid_z INTEGER, block_x INTEGER, block_y INTEGER, block_z INTEGER, queue ANY,"
	" registers INTEGER, shared_bytes INTEGER, attempt INTEGER NOT NULL,"
	" flags INTEGER NOT NULL) STRICT;"
	/* Rows of one spool in pass_K are consecutive: this is its index. */
	"CREATE TABLE spool_rows(spool INTEGER NOT NULL, pass INTEGER NOT NULL,"
	" first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY(spool, pass))"
	" STRICT, WITHOUT ROWID;"
	"CREATE TABLE sample_extra(pass INTEGER NOT NULL, row INTEGER NOT NULL,"
	" counter INTEGER NOT NULL, instance INTEGER NOT NULL, status INTEGER NOT NULL, value ANY,"
	" PRIMARY KEY(pass, row, counter, instance)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE coverage(spool INTEGER NOT NULL, pass INTEGER NOT NULL,"
	" counter INTEGER NOT NULL, status INTEGER NOT NULL, n INTEGER NOT NULL,"
	" PRIMARY KEY(spool, pass, counter, status)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE finding(spool INTEGER NOT NULL, from_program INTEGER NOT NULL,"
	" kind INTEGER NOT NULL, pass INTEGER NOT NULL, n INTEGER NOT NULL, text TEXT NOT NULL) "
	"STRICT;"
	"CREATE TABLE status(status INTEGER PRIMARY KEY, reason TEXT NOT NULL) STRICT;"
	"INSERT INTO status VALUES(0, 'ok'), (1, 'not collected'), (2, 'overflowed'),"
	" (3, 'multiplexed'), (4, 'dispatch not matched'), (5, 'declined'),"
	" (6, 'incomplete: the time limit ended the pass');"
	"CREATE VIEW not_collected AS SELECT e.pass, e.row, c.name AS counter, e.instance,"
	" s.reason, e.value AS raw FROM sample_extra e JOIN counter c USING(counter)"
	" JOIN status s USING(status) WHERE e.status <> 0;";

/* What pass_K has of a block b, its row r and its kind k, before the counters; block_write.c makes
 * the rows. */
static const char pass_columns[] =
	"b.first + r.key AS row, b.run AS run, k.kernel AS kernel,"
	" json_extract(r.value, '$[1]') AS dispatch, k.unit AS unit, k.device AS device,"
	" k.grid_x AS grid_x, k.grid_y AS grid_y, k.grid_z AS grid_z, k.block_x AS block_x,"
	" k.block_y AS block_y, k.block_z AS block_z, k.queue AS queue,"
	" b.base_ns + json_extract(r.value, '$[2]') AS begin_ns,"
	" b.base_ns + json_extract(r.value, '$[2]') + json_extract(r.value, '$[3]') AS end_ns,"
	" k.registers AS registers, k.shared_bytes AS shared_bytes,"
	" json_extract(r.value, '$[4]') AS enabled_ns, json_extract(r.value, '$[5]') AS running_ns,"
	" k.attempt AS attempt, k.flags AS flags, json_extract(r.value, '$[6]') AS extra";
#define PASS_FIRST_COUNTER 7u
static const char *const pass_column_names[] = {
	"row",        "run",      "kernel", "dispatch",  "unit",         "device",
	"grid_x",     "grid_y",   "grid_z", "block_x",   "block_y",      "block_z",
	"queue",      "begin_ns", "end_ns", "registers", "shared_bytes", "enabled_ns",
	"running_ns", "attempt",  "flags",  "extra",
};

uint32_t schema_columns(const struct plan *plan, uint32_t pass)
{
	uint32_t n = pass ? plan->passes[pass - 1].n_counters : 0;

	return n < STORE_COLUMNS_MAX ? n : STORE_COLUMNS_MAX;
}

/* Column names ignore case in SQL: a counter whose name is taken gets its index behind it. */
static bool name_is_taken(const struct plan *plan, uint32_t pass, uint32_t position)
{
	const struct plan_pass *p = &plan->passes[pass - 1];
	const char *name = plan->counters[p->counters[position]].name;

	for (size_t i = 0; i < sizeof(pass_column_names) / sizeof(pass_column_names[0]); i++) {
		if (!sqlite3_stricmp(name, pass_column_names[i]))
			return true;
	}
	for (uint32_t i = 0; i < position; i++) {
		if (!sqlite3_stricmp(name, plan->counters[p->counters[i]].name))
			return true;
	}
	return false;
}

static void column_name(const struct plan *plan, uint32_t pass, uint32_t position, struct str *out)
{
	uint32_t counter = plan->passes[pass - 1].counters[position];

	str_add(out, plan->counters[counter].name);
	if (name_is_taken(plan, pass, position))
		str_addf(out, "#%u", counter);
}

static int describe_pass(sqlite3_stmt *pass_row, sqlite3_stmt *counter_row, const struct plan *plan,
			 uint32_t pass, struct error *err)
{
	const struct plan_pass *p = &plan->passes[pass - 1];
	uint32_t columns = schema_columns(plan, pass);
	struct str name = STR_INIT;
	int rc;

	sqlite3_bind_int64(pass_row, 1, pass);
	sql_bind_text(pass_row, 2, p->reason);
	rc = sql_run(pass_row, err);
	for (uint32_t i = 0; !rc && i < p->n_counters; i++) {
		str_clear(&name);
		column_name(plan, pass, i, &name);
		sqlite3_bind_int64(counter_row, 1, pass);
		sqlite3_bind_int64(counter_row, 2, p->counters[i]);
		sql_bind_text(counter_row, 3, i < columns ? str_text(&name) : NULL);
		rc = sql_run(counter_row, err);
	}
	str_release(&name);
	return rc;
}

static int describe_plan(sqlite3 *db, const struct plan *plan, struct error *err)
{
	sqlite3_stmt *counter = NULL, *pass = NULL, *pass_counter = NULL, *metric = NULL;
	int rc = sql_prepare(db, "INSERT INTO counter VALUES(?, ?, ?, ?, ?, ?)", &counter, err);

	if (!rc)
		rc = sql_prepare(db, "INSERT INTO pass VALUES(?, ?)", &pass, err);
	if (!rc)
		rc = sql_prepare(db, "INSERT INTO pass_counter VALUES(?, ?, ?)", &pass_counter,
				 err);
	if (!rc)
		rc = sql_prepare(db, "INSERT INTO metric VALUES(?, ?, ?, ?, ?, ?)", &metric, err);
	for (uint32_t i = 0; !rc && i < plan->n_counters; i++) {
		sqlite3_bind_int64(counter, 1, i);
		sql_bind_text(counter, 2, plan->counters[i].name);
		sql_bind_text(counter, 3, plan->counters[i].source);
		sql_bind_text(counter, 4, plan->counters[i].block);
		sql_bind_text(counter, 5, plan->counters[i].unit);
		sqlite3_bind_int64(counter, 6, plan->counters[i].flags);
		rc = sql_run(counter, err);
	}
	for (uint32_t k = 1; !rc && k <= plan->n_passes; k++)
		rc = describe_pass(pass, pass_counter, plan, k, err);
	for (uint32_t i = 0; !rc && i < plan->n_metrics; i++) {
		sqlite3_bind_int64(metric, 1, i);
		sql_bind_text(metric, 2, plan->metrics[i].name);
		sql_bind_text(metric, 3, plan->metrics[i].title);
		sql_bind_text(metric, 4, plan->metrics[i].unit);
		sql_bind_text(metric, 5, plan->metrics[i].expression);
		sqlite3_bind_int64(metric, 6, plan->metrics[i].pass);
		rc = sql_run(metric, err);
	}
	sqlite3_finalize(counter);
	sqlite3_finalize(pass);
	sqlite3_finalize(pass_counter);
	sqlite3_finalize(metric);
	return rc;
}

int schema_create(sqlite3 *db, const struct plan *plan, const char *collection, struct error *err)
{
	sqlite3_stmt *meta = NULL;
	char version[16];
	const char *pairs[][2] = {
		{"schema", version}, {"plan_hash", plan->hash}, {"collection", collection}};
	int rc;

	sqlite3_snprintf(sizeof(version), version, "%d", STORE_SCHEMA_VERSION);
	rc = sql_execute(db, schema_text, err);
	if (!rc)
		rc = sql_prepare(db, "INSERT INTO meta VALUES(?, ?)", &meta, err);
	for (size_t i = 0; !rc && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		sql_bind_text(meta, 1, pairs[i][0]);
		sql_bind_text(meta, 2, pairs[i][1]);
		rc = sql_run(meta, err);
	}
	sqlite3_finalize(meta);
	return rc ? rc : describe_plan(db, plan, err);
}

/* Each counter with a column, by its place in the row. */
static void add_columns(const struct plan *plan, uint32_t pass, struct str *out)
{
	uint32_t n = schema_columns(plan, pass);
	struct str name = STR_INIT;

	for (uint32_t i = 0; i < n; i++) {
		str_clear(&name);
		column_name(plan, pass, i, &name);
		str_addf(out, ", json_extract(r.value, '$[%u]') AS \"", PASS_FIRST_COUNTER + i);
		for (const char *c = str_text(&name); *c; c++) {
			str_add_char(out, *c);
			if (*c == '"')
				str_add_char(out, '"');
		}
		str_add(out, "\"");
	}
	out->failed = out->failed || name.failed;
	str_release(&name);
}

int schema_create_pass(sqlite3 *db, const struct plan *plan, uint32_t pass, struct error *err)
{
	struct str sql = STR_INIT;
	int rc;

	str_addf(&sql,
		 "CREATE TABLE IF NOT EXISTS block_%u(first INTEGER PRIMARY KEY,"
		 " n INTEGER NOT NULL, run INTEGER NOT NULL, base_ns INTEGER NOT NULL,"
		 " rows TEXT NOT NULL) STRICT;"
		 "CREATE VIEW IF NOT EXISTS pass_%u AS SELECT %s",
		 pass, pass, pass_columns);
	add_columns(plan, pass, &sql);
	str_addf(&sql,
		 " FROM block_%u b CROSS JOIN json_each(b.rows) r CROSS JOIN dispatch_kind k"
		 " ON k.kind = json_extract(r.value, '$[0]')",
		 pass);
	rc = str_is_failed(&sql)
		     ? error_set(err, RC_NO_MEMORY, "out of memory for the table of pass %u", pass)
		     : sql_execute(db, str_text(&sql), err);
	str_release(&sql);
	return rc;
}

/* "" when there is none. */
static void read_meta(sqlite3 *db, const char *key, char *value_out, size_t size)
{
	sqlite3_stmt *s = NULL;

	*value_out = '\0';
	if (sql_prepare(db, "SELECT value FROM meta WHERE key = ?", &s, NULL))
		return;
	sql_bind_text(s, 1, key);
	if (sql_step(s, NULL) == 1)
		snprintf(value_out, size, "%s", sql_column_text(s, 0));
	sqlite3_finalize(s);
}

static bool meta_is(sqlite3 *db, const char *key, const char *want)
{
	char value[256];

	read_meta(db, key, value, sizeof(value));
	return !strcmp(value, want);
}

static bool is_of(sqlite3 *db, const struct plan *plan, const char *collection)
{
	return meta_is(db, "plan_hash", plan->hash) && meta_is(db, "collection", collection);
}

/* SQLite keeps the text of each table and view as it was created: from "CREATE" up to the semicolon
 * of schema_text. */
static bool has_all_texts(sqlite3 *db)
{
	sqlite3_stmt *s = NULL;
	bool found = !sql_prepare(db, "SELECT 1 FROM sqlite_schema WHERE sql = ?", &s, NULL);

	for (const char *text = schema_text, *end; found && *text; text = end + 1) {
		end = strchr(text, ';');
		if (strncmp(text, "CREATE ", 7) != 0)
			continue;
		sqlite3_bind_text(s, 1, text, (int)(end - text), SQLITE_STATIC);
		found = sql_step(s, NULL) == 1;
		sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return found;
}

/* Somebody's tool may have dropped or altered a table: then a query would fail in the middle. */
static bool tables_are_whole(sqlite3 *db)
{
	sqlite3_stmt *s = NULL;
	bool whole = has_all_texts(db) &&
		     !sql_prepare(db,
				  "SELECT 1 WHERE NOT EXISTS(SELECT 1 FROM spool_rows WHERE"
				  " 'block_' || pass NOT IN (SELECT name FROM sqlite_schema)"
				  " OR 'pass_' || pass NOT IN (SELECT name FROM sqlite_schema))",
				  &s, NULL) &&
		     sql_step(s, NULL) == 1;

	sqlite3_finalize(s);
	return whole;
}

bool schema_fits(sqlite3 *db, const struct plan *plan, const char *collection)
{
	char version[16];

	snprintf(version, sizeof(version), "%d", STORE_SCHEMA_VERSION);
	return meta_is(db, "schema", version) && is_of(db, plan, collection) &&
	       tables_are_whole(db);
}

bool schema_is_other_version(sqlite3 *db, const struct plan *plan, const char *collection,
			     char *version_out, size_t size)
{
	uint64_t version;

	read_meta(db, "schema", version_out, size);
	version = strtoul(version_out, NULL, 10);
	snprintf(version_out, size, "%u", (unsigned)version);
	return version && version != STORE_SCHEMA_VERSION && is_of(db, plan, collection);
}
