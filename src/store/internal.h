/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of store/ share. */
#ifndef RETALLY_STORE_INTERNAL_H
#define RETALLY_STORE_INTERNAL_H

#include "base/arena.h"
#include "base/vec.h"
#include "store/sql.h"
#include "store/store.h"

#define STORE_SCHEMA_VERSION 6
/* SQLite allows 2000 columns a table; counters beyond go to sample_extra. */
#define STORE_COLUMNS_MAX 1900

/* A spool on disk, before it is ingested. */
struct found_spool {
	const char *file; /* "spool/NAME" */
	uint64_t size;
	int64_t mtime_ns;
	struct spool_header header;
	char header_hash[HASH_TEXT_SIZE];
	const char *unreadable; /* why, when the header was refused */
};

struct matches;
struct store {
	struct arena arena;
	char *dir;
	struct plan plan;
	uint32_t *pass_offset; /* where pass K's counters begin in `counts`: [K - 1]; [n] is all */
	struct store_info info;
	sqlite3 *db;
	const char *no_run_json;    /* why it is not used; NULL: it is, or there is none */
	VEC(const char *) expected; /* spools that run.json names */
	VEC(struct found_spool) found;
	VEC(struct store_spool) spools;
	VEC(struct store_kernel) kernels;
	VEC(struct store_run) runs;
	VEC(struct store_finding) findings;
	VEC(struct store_window) windows;
	VEC(struct store_declined) declined;
	VEC(struct store_left) left;
	uint64_t (*counts)[SAMPLE_STATUS_MAX + 1]; /* by pass and counter, see pass_offset */
	bool *pass_has_run;                        /* [pass] */
	struct matches *matches;                   /* NULL until store_match_load */
};

/* ---- missing.c ---- */
/* As one word of a shell. */
void store_add_word(struct str *out, const char *word);

/* ---- schema.c ---- */
/* Creates every table but those of the passes, and describes the plan in them. */
int schema_create(sqlite3 *db, const struct plan *plan, const char *collection, struct error *err);
/* Creates block_K and the view pass_K when they are not there. K 0 has no counters. */
int schema_create_pass(sqlite3 *db, const struct plan *plan, uint32_t pass, struct error *err);
/* Is db one of ours, for this plan and collection, with every table and view? */
bool schema_fits(sqlite3 *db, const struct plan *plan, const char *collection);
/* Is it one for this plan and collection, of another version of these tables? */
bool schema_is_other_version(sqlite3 *db, const struct plan *plan, const char *collection,
			     char *version_out, size_t size);
/* How many counters of pass K have a column. */
uint32_t schema_columns(const struct plan *plan, uint32_t pass);

/* ---- find.c ---- */
/* Fills found, in canonical order. A directory without spool/ has none. */
int find_spools(struct store *s, struct error *err);
/* The collection that spools of this directory must have, or "". */
const char *find_collection(const struct store *s);

/* ---- keep.c ---- */
/* Before the database at `path`, open as `old` (NULL: it cannot be opened), is made again from the
 * spools: gives it another name when it has, or may have, values of spools that are gone, with a
 * finding. RC_INVALID when there is no spool at all: the file is to be left as it is. */
int keep_old_database(struct store *s, sqlite3 *old, const char *path, struct error *err);

/* ---- update.c ---- */
/* Opens retally.db, after bringing it up to date. */
int update_database(struct store *s, struct error *err);

/* ---- ingest.c ---- */
/* Adds one spool, inside a transaction. Problems in the file become findings; an error is the
 * database's. */
struct window;
int ingest_spool(struct window *window, const char *dir, const struct found_spool *file,
		 const char *collection, struct error *err);
/* ---- forget.c ---- */
/* Takes every row of a spool out again. */
int ingest_forget(sqlite3 *db, int64_t spool, uint32_t n_passes, struct error *err);

/* ---- load.c ---- */
/* Spools, kernels, runs, findings and counts into memory. */
int load_tables(struct store *s, struct error *err);

/* ---- match.c, match_load.c ---- */
/* Fills the tables execution and dispatch_match anew. */
int match_make(struct store *s, sqlite3 *db, struct error *err);
void match_free(struct matches *m);

/* ---- replays.c ---- */
/* What replays cost and what was declined, added up, into memory. */
int load_replays(struct store *s, struct error *err);
/* One record of a spool, inside the transaction. kernel is a row of table kernel, 0: any. */
int replays_add_window(sqlite3_stmt *insert, int64_t spool, const struct spool_record *r,
		       struct error *err);
int replays_add_declined(sqlite3_stmt *insert, int64_t spool, int64_t kernel,
			 const struct spool_record *r, struct error *err);
#define REPLAYS_INSERT_WINDOW \
	"INSERT INTO replay_window VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
int replays_add_left(sqlite3_stmt *insert, int64_t spool, int64_t kernel,
		     const struct spool_record *r, struct error *err);
#define REPLAYS_INSERT_LEFT     "INSERT INTO left_out VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
#define REPLAYS_INSERT_DECLINED "INSERT INTO declined VALUES(?, ?, ?, ?, ?, ?)"

#endif
