/* SPDX-License-Identifier: Apache-2.0 */
/* Small helpers around SQLite: one error path, with the database's own sentence. */
#ifndef RETALLY_STORE_SQL_H
#define RETALLY_STORE_SQL_H

#include "base/error.h"

#include <sqlite3.h>
#include <stdint.h>

/* Fills err from the last failure of db. Returns a negative enum rc. */
int sql_error(sqlite3 *db, struct error *err);
int sql_execute(sqlite3 *db, const char *sql, struct error *err);
int sql_executef(sqlite3 *db, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* For a statement that is run many times. */
int sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement_out, struct error *err);
/* 1: a row is there, 0: done, negative: failed. */
int sql_step(sqlite3_stmt *s, struct error *err);
/* Runs a statement without rows and makes it ready for the next time. */
int sql_run(sqlite3_stmt *s, struct error *err);
/* NULL binds NULL; the text must live until the statement was run. */
void sql_bind_text(sqlite3_stmt *s, int index, const char *text);
void sql_bind_u64(sqlite3_stmt *s, int index, uint64_t value); /* above 2^63 - 1 as REAL */
uint64_t sql_column_u64(sqlite3_stmt *s, int index);
/* "" for NULL; valid until the next step. */
const char *sql_column_text(sqlite3_stmt *s, int index);

#endif
