/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that make the pairs of retally.db share: match.c, match_read.c, match_write.c. */
#ifndef RETALLY_STORE_MATCH_MAKE_H
#define RETALLY_STORE_MATCH_MAKE_H

#include "store/block.h"
#include "store/id_map.h"
#include "store/internal.h"
#include "store/match.h"

struct item {
	uint64_t dispatch;
	int64_t kernel;
	uint32_t unit, device, shape[6];
	uint64_t key, loose;
	size_t anchors; /* into the pool of the lane, or that of the execution */
	size_t logical; /* number within the lane */
	enum match_how how;
	double confidence;
};
struct execution {
	int64_t spool, run; /* run 0: passes in place */
	uint32_t pass;      /* 0: in place */
	size_t lane, order;
	VEC(struct item) items;
	struct id_map seen; /* (dispatch, kernel) to item */
};
struct spool_lane {
	int64_t spool;
	const char *launch, *host;
	int64_t rank;
	size_t order, ordinal, lane;
};
struct maker {
	struct store *s; /* for its plan and arena */
	sqlite3 *db;
	VEC(struct spool_lane) spools;
	VEC(struct execution) executions;
	uint32_t *anchors; /* counters */
	size_t n_anchors;
	VEC(double) pool;     /* anchors of what the lane has so far */
	VEC(double) new_pool; /* and of the execution being matched */
	struct id_map keys[2];
	VEC(struct item) known[2]; /* one item for each key */
	struct block_reader blocks;
	struct store_value *values; /* of the row that was read last */
	int64_t last_run;
	bool last_in_place;
	sqlite3_stmt *find_rows, *find_run, *add_execution, *add_match, *add_kernel;
};

/* What the lane has so far, in order; logical is the number of each. */
struct list {
	VEC(struct item) items;
	size_t next_number;
};

static inline int match_no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while matching dispatches");
}

/* ---- match_read.c ---- */
/* The spools and their lanes. */
int match_read_spools(struct maker *m, struct error *err);
/* Executions by lane, in the order of spools, then as they ran. After match_read_spools. */
int match_read_executions(struct maker *m, struct error *err);
/* The dispatches of one, in order; their anchors into new_pool. */
int match_read_dispatches(struct maker *m, struct execution *e, struct error *err);

/* ---- match_write.c ---- */
/* alike: its dispatches, where all executions of the lane have the same; NULL: they are listed. */
int match_write_execution(struct maker *m, const struct execution *e, uint32_t id,
			  const struct list *alike, struct error *err);
/* Whether dispatches follow one another and each is itself in what the lane had before. */
bool match_is_alike(const struct list *list, const struct execution *e, bool is_first);
/* The first n executions were alike, and the one after them was not: lists their dispatches, which
 * are the n_items first that the list had. */
int match_write_unlike(struct maker *m, const struct list *list, size_t n_items,
		       const struct execution *lane, size_t n, uint32_t first_id,
		       struct error *err);
/* All n executions were alike: how many dispatches of each kernel they have. */
int match_write_alike(struct maker *m, const struct list *list, const struct execution *lane,
		      size_t n, uint32_t first_id, struct error *err);
int match_write_items(struct maker *m, uint32_t id, const struct item *items, size_t n,
		      struct error *err);

#endif
