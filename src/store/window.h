/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatches on their way into the database. A dispatch and its samples are separate records, and a
 * dispatch may have several of them (one a source), so the last few thousand dispatches wait here
 * for theirs, each with its row number, and leave in the order in which they came. The window is
 * bounded in bytes, so memory does not grow with the file.
 */
#ifndef RETALLY_STORE_WINDOW_H
#define RETALLY_STORE_WINDOW_H

#include "store/block.h"
#include "store/id_map.h"
#include "store/internal.h"

#define WINDOW_BYTES     (16u << 20)
#define WINDOW_SLOTS_MAX 8192u

struct window_value {
	uint64_t bits; /* u64, or the bytes of a double */
	uint8_t kind;  /* enum sample_kind */
	uint8_t status;
	bool recorded;
	bool whole; /* came summed by the source: instances do not add to it */
	uint32_t n; /* instances in it */
};
struct window_slot {
	struct spool_dispatch d;
	int64_t row, run, kernel;
	uint64_t enabled_ns, running_ns;
	uint32_t extra;   /* rows in sample_extra */
	uint32_t attempt; /* of the execution */
	bool sampled;
};
struct window {
	struct block_writer blocks;
	struct spool_memory memory; /* that spools are read into */
	sqlite3 *db;
	const struct plan *plan;
	size_t n_slots, n_values; /* capacity; values a slot */
	struct window_slot *slots;
	struct window_value *values;
	uint64_t begin, end;     /* sequence numbers: the waiting ones */
	uint64_t indexed;        /* those before it are in `waiting` */
	struct id_map waiting;   /* (dispatch, pass) to sequence number */
	struct store_value *row; /* those of one dispatch that have a column */
	int64_t *next_row;       /* [pass]; 0: nothing of it was seen yet */
	int64_t *first_row;      /* [pass], of this spool; 0: none */
	sqlite3_stmt *insert_extra;
};

/* Released by window_release whatever it returns. */
int window_init(struct window *w, sqlite3 *db, const struct plan *plan, struct error *err);
/* Before the first dispatch of each spool. */
void window_begin_spool(struct window *w);
/* Adds a dispatch, which takes the next row of its pass (at most the plan's passes). */
int window_add(struct window *w, const struct spool_dispatch *d, int64_t run, uint32_t attempt,
	       int64_t kernel, struct error *err);
/* The waiting slot, or NULL: unknown, or gone already. */
int window_find(struct window *w, uint32_t pass, uint64_t dispatch, struct window_slot **slot_out,
		struct error *err);
/* Its value of the counter at a position within the pass. */
struct window_value *window_value(struct window *w, const struct window_slot *slot,
				  uint32_t position);
/* Writes one row of sample_extra for the slot; NULL value for none. RC_EXISTS when it is there. */
int window_add_extra(struct window *w, struct window_slot *slot, uint32_t counter,
		     uint32_t instance, uint32_t status, const struct window_value *value,
		     struct error *err);
/* Writes out everything that waits. */
int window_flush(struct window *w, struct error *err);
void window_release(struct window *w);

#endif
