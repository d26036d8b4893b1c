/* SPDX-License-Identifier: Apache-2.0 */
/* The sums behind values.h, and what fills them. */
#ifndef RETALLY_REPORT_COLLECT_H
#define RETALLY_REPORT_COLLECT_H

#include "base/arena.h"
#include "base/vec.h"
#include "report/anchors.h"
#include "report/ranks.h"
#include "report/sampling.h"
#include "report/values.h"
#include "store/id_map.h"

/* A sum that stays exact while it is of counts. */
struct total {
	unsigned __int128 whole;
	double real; /* of the SAMPLE_F64 ones */
	bool has_real;
};
void total_add(struct total *t, struct number n);
double total_f64(const struct total *t);
struct number total_number(const struct total *t); /* a count when it is one of 64 bits */
/* A mean that is a whole number of counts stays one. */
struct number total_mean(const struct total *t, uint64_t n);

struct cell_sums { /* one counter, one pass, one group */
	uint64_t n, n_complete;
	struct total all, complete; /* complete: of rows that have every counter of the pass */
	struct number min, max;
	uint64_t bad[SAMPLE_STATUS_MAX + 1];
	uint64_t enabled_ns, running_ns; /* of the multiplexed */
	struct number raw;               /* of the last multiplexed */
	uint64_t *ranks;                 /* set of those behind n; NULL: none of a known rank */
};
struct instance_sums {
	struct total all;
	uint64_t n;
};
struct pass_sums {
	uint64_t rows, complete_rows;
	uint64_t duration_ns, complete_duration_ns;
	struct cell_sums *cells; /* as the pass's counters */
	/* Single instances: (counter, instance) to an index of `instances`. */
	struct id_map instance_index;
	VEC(struct instance_sums) instances;
	uint32_t n_instances; /* highest seen, plus 1 */
};
struct metric_sums {   /* of one metric in its pass */
	uint64_t rows; /* incomplete rows that have all that this metric needs */
	uint64_t duration_ns;
	struct total *extra; /* [counter of the metric], of those */
	uint64_t *ranks;     /* as in cell_sums, of the rows that have all that it needs */
	uint64_t spread_n;
	double min, max;
	VEC(double) columns; /* n_counters numbers a row, then its duration; see expr_needs_rows */
	size_t column_rows;
	bool too_many;
};
struct group_sums {
	uint32_t kernel;
	int32_t rank;
	uint32_t pass;
	uint64_t rows;
	uint64_t dispatches, varying;
	uint64_t timed, duration_ns, min_ns, max_ns; /* of the rows with a duration */
	struct pass_sums **passes;                   /* [pass - 1], NULL until needed */
	struct metric_sums *metrics;                 /* [metric] */
};
struct place { /* of a counter: pass, and position within it */
	uint32_t pass, position;
};
struct values {
	struct arena arena;
	struct store *store;
	const struct plan *plan;
	struct values_options options;
	struct metric_code *code;
	uint32_t **metrics_of_pass; /* [pass - 1]: wanted metrics complete there, UINT32_MAX ends */
	struct ranks ranks;
	struct place *places;  /* by counter, then pass; see first_place */
	uint32_t *first_place; /* [counter], and one more */
	uint32_t **position;   /* [metric]: of its counters within its pass */
	VEC(struct group_sums) sums;
	struct id_map group_index; /* (kernel and rank, pass) to index of sums */
	struct id_map seen;        /* dispatches: (number / 64, process and kind) to 64 bits */
	size_t columns_used;
	uint64_t evaluations; /* of metrics on single rows, for their spread */
	bool spread_left_out;
	struct anchors *anchors;
	struct sampling *sampling; /* NULL unless by kernel */
	VEC(struct value_group) groups;
};

/* Goes over the rows once. */
int collect_rows(struct values *v, struct error *err);
/* Turns the sums of one group into its values, appended to v->groups. */
int evaluate_group(struct values *v, const struct group_sums *g, struct error *err);

/* Whether metric m needs its dispatches one by one, and not only their sums. */
bool metric_needs_rows(const struct values *v, uint32_t m);

#endif
