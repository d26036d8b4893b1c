/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row for each dispatch, range or process, with the values that all passes have of it: what
 * files of other tools are made from. The rows are those of the report: in place, a dispatch is
 * known by its process and number; over several executions of a program as they were matched
 * (store/match.h). A row that has not all passes, or that not every execution has, is kept with
 * what it has.
 *
 * A value is what the report by dispatch has: the mean over the executions of all passes that have
 * it. Everything is in memory: about 16 bytes for each row and value.
 */
#ifndef RETALLY_EXPORT_JOIN_H
#define RETALLY_EXPORT_JOIN_H

#include "base/arena.h"
#include "base/vec.h"
#include "report/scale.h"
#include "report/values.h"
#include "store/id_map.h"
#include "store/match.h"
#include "store/store.h"

struct join_cell {
	union {
		uint64_t u64;
		double f64;
	} sum;
	uint32_t n; /* executions in it; 0: no value */
	bool is_f64;
};
struct join_row {
	const struct store_spool
		*spool;                /* of the first pass that has it, as all here to n_passes */
	uint32_t kernel, unit, device; /* kernel: index into store_kernels */
	uint32_t grid[3], block[3];    /* in work-groups and work-items; 0: no meaning */
	uint32_t registers, shared_bytes;
	uint64_t queue, begin_ns, end_ns, dispatch;
	uint32_t n_passes, last_pass;
	uint32_t flags; /* enum spool_dispatch_flag of all */
	struct store_match match;
	uint64_t number; /* of the dispatch, with process and kernel: see row_identify */
	uint32_t identity;
	uint64_t next; /* with the same number, of another kernel: index + 1 */
	size_t cells;  /* where its values are */
};
/* The value of one instance of a counter. */
struct join_instance {
	size_t row;
	uint32_t counter, instance;
	struct join_cell cell;
};
struct join_options {
	const bool *kernels;   /* by index; NULL: all */
	const bool *instances; /* by counter: keep its instances; NULL: none */
	uint32_t units;        /* bits 1 << enum spool_unit; 0: all */
	uint32_t pass;         /* this one only; 0: all */
};
struct join {
	const struct plan *plan;
	struct store *store;
	struct arena arena;
	struct metric_code *code;
	VEC(struct join_row) rows; /* by rank, process and dispatch */
	VEC(struct join_cell) cells;
	VEC(struct join_instance) instances; /* by row, counter, instance */
	size_t n_values;                     /* metrics, then counters */
	uint64_t incomplete;                 /* rows that some pass with counters lacks */
	uint64_t executions;                 /* rows of passes behind it all */
};

int join_collect(struct join *j, struct store *s, const struct join_options *o, struct error *err);
void join_release(struct join *j);
/* NULL: no value. */
const struct join_cell *join_counter(const struct join *j, const struct join_row *r,
				     uint32_t counter);
const struct join_cell *join_metric(const struct join *j, const struct join_row *r,
				    uint32_t metric);
/* The mean over its executions; a count stays one where that is whole. */
struct number join_number(const struct join_cell *c);

#endif
