/* SPDX-License-Identifier: Apache-2.0 */
/* The helpers of sql.h. */
#include "store/sql.h"

#include <stdarg.h>
#include <stdio.h>

int sql_error(sqlite3 *db, struct error *err)
{
	const char *name = db ? sqlite3_db_filename(db, "main") : NULL;
	int code = RC_ERROR;

	switch (db ? sqlite3_errcode(db) : SQLITE_NOMEM) {
	case SQLITE_NOMEM:
		code = RC_NO_MEMORY;
		break;
	case SQLITE_FULL:
		code = RC_NO_SPACE;
		break;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		code = RC_CORRUPT;
		break;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		code = RC_PERMISSION;
		break;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		code = RC_IO;
		break;
	default:
		break;
	}
	return error_set(err, code, "'%s': %s", name && *name ? name : "temporary database",
			 db ? sqlite3_errmsg(db) : "out of memory");
}

int sql_execute(sqlite3 *db, const char *sql, struct error *err)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sql_error(db, err);
}

int sql_executef(sqlite3 *db, struct error *err, const char *fmt, ...)
{
	char sql[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(sql, sizeof(sql), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(sql))
		return error_set(err, RC_ERROR, "SQL statement of %d bytes is too long", n);
	return sql_execute(db, sql, err);
}

int sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement_out, struct error *err)
{
	*statement_out = NULL;
	if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement_out, NULL) ==
	    SQLITE_OK)
		return 0;
	return sql_error(db, err);
}

int sql_step(sqlite3_stmt *s, struct error *err)
{
	int rc = sqlite3_step(s);

	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : sql_error(sqlite3_db_handle(s), err);
}

int sql_run(sqlite3_stmt *s, struct error *err)
{
	int rc = sql_step(s, err);

	sqlite3_reset(s);
	return rc < 0 ? rc : 0;
}

void sql_bind_text(sqlite3_stmt *s, int index, const char *text)
{
	if (text)
		sqlite3_bind_text(s, index, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(s, index);
}

void sql_bind_u64(sqlite3_stmt *s, int index, uint64_t value)
{
	if (value <= INT64_MAX)
		sqlite3_bind_int64(s, index, (int64_t)value);
	else
		sqlite3_bind_double(s, index, (double)value);
}

uint64_t sql_column_u64(sqlite3_stmt *s, int index)
{
	double d;

	if (sqlite3_column_type(s, index) != SQLITE_FLOAT) {
		int64_t i = sqlite3_column_int64(s, index);

		return i < 0 ? 0 : (uint64_t)i;
	}
	d = sqlite3_column_double(s, index);
	return d >= 0x1p64 ? UINT64_MAX : d > 0 ? (uint64_t)d : 0;
}

const char *sql_column_text(sqlite3_stmt *s, int index)
{
	const char *t = (const char *)sqlite3_column_text(s, index);

	return t ? t : "";
}
