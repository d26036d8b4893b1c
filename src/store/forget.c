/* SPDX-License-Identifier: Apache-2.0 */
/* Taking one spool out of the database again, because the file has changed. Kernel names stay. */
#include "store/internal.h"

int ingest_forget(sqlite3 *db, int64_t spool, uint32_t n_passes, struct error *err)
{
	long long id = spool;
	int rc = 0;

	/* Passes whose table was never made have no range either. */
	for (uint32_t k = 0; !rc && k <= n_passes; k++) {
		sqlite3_stmt *s = NULL;
		long long first = 0, last = 0;

		rc = sql_prepare(db,
				 "SELECT first, last FROM spool_rows WHERE spool = ? AND pass = ?",
				 &s, err);
		if (rc)
			return rc;
		sqlite3_bind_int64(s, 1, spool);
		sqlite3_bind_int64(s, 2, k);
		rc = sql_step(s, err);
		if (rc > 0) {
			first = sqlite3_column_int64(s, 0);
			last = sqlite3_column_int64(s, 1);
		}
		sqlite3_finalize(s);
		if (rc <= 0)
			continue;
		rc = sql_executef(db, err, "DELETE FROM block_%u WHERE first BETWEEN %lld AND %lld",
				  k, first, last);
		if (!rc)
			rc = sql_executef(db, err,
					  "DELETE FROM sample_extra WHERE pass = %u"
					  " AND row BETWEEN %lld AND %lld",
					  k, first, last);
	}
	if (!rc)
		rc = sql_executef(db, err,
				  "DELETE FROM run WHERE spool = %lld;"
				  "DELETE FROM spool_rows WHERE spool = %lld;"
				  "DELETE FROM coverage WHERE spool = %lld;"
				  "DELETE FROM replay_window WHERE spool = %lld;"
				  "DELETE FROM declined WHERE spool = %lld;"
				  "DELETE FROM left_out WHERE spool = %lld;"
				  "DELETE FROM finding WHERE spool = %lld;"
				  "DELETE FROM spool WHERE spool = %lld",
				  id, id, id, id, id, id, id, id);
	return rc;
}
