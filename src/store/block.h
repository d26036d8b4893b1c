/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatches as retally.db keeps them: many to a row of the table block_K of their pass, as JSON
 * (docs/store.md), because a row of SQL for each costs more than everything else together when a
 * pass has few counters. The view pass_K shows them one by one. What many dispatches have in common
 * is a row of dispatch_kind.
 *
 * Here are the writer and the reader of blocks. Numbers of rows are consecutive within a block, and
 * a block holds rows of one execution only. Functions return 0 or a negative code with err filled.
 * Not thread-safe.
 */
#ifndef RETALLY_STORE_BLOCK_H
#define RETALLY_STORE_BLOCK_H

#include "store/id_map.h"
#include "store/internal.h"

/* No padding: it is compared as bytes. */
struct dispatch_kind {
	int64_t kernel; /* row of table kernel */
	uint64_t queue;
	uint32_t unit, device;
	uint32_t grid[3], block[3];
	uint32_t registers, shared_bytes;
	uint32_t attempt, flags;
};
_Static_assert(sizeof(struct dispatch_kind) == 64, "compared as bytes");

/* One dispatch in one execution of a pass, without its counters. */
struct block_row {
	int64_t row, run;
	uint64_t dispatch, begin_ns, end_ns;
	uint64_t enabled_ns, running_ns;
	uint32_t extra; /* rows in sample_extra */
	struct dispatch_kind kind;
};

/* ---- writing ---- */
struct block_pass {
	sqlite3_stmt *insert; /* NULL: nothing of it was written yet */
	char *rows;           /* of the block being made: room for BLOCK_BYTES and one row */
	size_t size;
	int64_t first, run;
	uint64_t base_ns;
	uint32_t n;
};
struct block_writer {
	sqlite3 *db;
	const struct plan *plan;
	struct block_pass *passes; /* [pass] */
	size_t row_size;           /* most bytes of one row */
	sqlite3_stmt *add_kind;
	struct id_map by_hash;           /* of kinds, to index + 1 */
	VEC(struct dispatch_kind) kinds; /* those that were seen last */
	VEC(int64_t) kind_ids;
	int64_t next_kind;
};

/* For a database with the tables of schema_create. */
int block_writer_init(struct block_writer *w, sqlite3 *db, const struct plan *plan,
		      struct error *err);
void block_writer_release(struct block_writer *w);
/* Makes the table of a pass where there is none; *next_row_out: its first number not in use. Before
 * the first block_write to a pass. */
int block_begin_pass(struct block_writer *w, uint32_t pass, int64_t *next_row_out,
		     struct error *err);
/* Rows of a pass come in the order of their numbers. `values`: the counters that have a column
 * (schema_columns), as many. */
int block_write(struct block_writer *w, uint32_t pass, const struct block_row *r,
		const struct store_value *values, struct error *err);
/* What was written goes into the database; blocks of different spools are different ones. */
int block_flush(struct block_writer *w, struct error *err);

/* ---- reading ---- */
#define BLOCK_KINDS 1024u
struct block_reader {
	sqlite3 *db;
	const struct plan *plan;
	const char *dir; /* for errors */
	uint32_t pass, columns;
	sqlite3_stmt *blocks, *kind;
	const char *at; /* rest of the block; NULL: none */
	int64_t next, run;
	uint64_t base_ns;
	struct {
		int64_t id; /* 0: empty */
		struct dispatch_kind kind;
	} * kinds; /* by the low bits of their id */
};

/* Any part of block_reader is invalid when it was released; zeros are a released one. */
int block_reader_init(struct block_reader *r, sqlite3 *db, const struct plan *plan, const char *dir,
		      struct error *err);
void block_reader_release(struct block_reader *r);
/* Rows first to last of a pass, whose table there must be. */
int block_read_rows(struct block_reader *r, uint32_t pass, int64_t first, int64_t last,
		    struct error *err);
/* 1: one row, with its columns' values (recorded is false for NULL), 0: there are no more. */
int block_next(struct block_reader *r, struct block_row *row_out, struct store_value *values_out,
	       struct error *err);

#endif
