/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From stored rows to values: one pass over the database adds up every counter of every group (a
 * kernel, or a kernel on one rank or in one pass) and evaluates the metrics of the plan on the
 * sums.
 *
 * A metric that is complete in pass K takes all its counters from executions of pass K. A split one
 * takes the mean of each counter over the first pass that has it, and says so. The value of a
 * counter is its mean over the executions and dispatches behind it; n says how many these are.
 * Averages and ratios (PLAN_COUNTER_MEAN) have no sum, and a metric that uses one is evaluated on
 * means. A value that is not there has a status and a reason. Memory grows with groups and
 * counters, not with rows, except for metrics that look at single dispatches (QUANTILE,
 * $dispatches).
 */
#ifndef RETALLY_REPORT_VALUES_H
#define RETALLY_REPORT_VALUES_H

#include "model/estimate.h"
#include "model/expr.h"
#include "report/scale.h"
#include "store/match.h"
#include "store/store.h"

/* The spread of metrics takes an evaluation for each row; with more of them it is left out. */
#define VALUES_SPREAD_EVALUATIONS 500000
/* Numbers kept for metrics that look at single dispatches: 512 MB. */
#define VALUES_COLUMNS_MAX (64u << 20)

enum values_group {
	VALUES_BY_KERNEL,
	VALUES_BY_PASS,
	VALUES_BY_RANK
};
struct values_options {
	enum values_group by;
	const bool *kernels;  /* by index in store_kernels; NULL: all */
	const bool *counters; /* by index in the plan; NULL: all */
	const bool *metrics;
	enum expr_ratio ratio;    /* of metrics over several dispatches */
	const char *const *names; /* how kernels are shown, by index; NULL: as stored */
};
struct value {
	bool is_metric;
	uint32_t index; /* in the plan */
	bool present;
	struct number value, min, max, sum;
	bool has_sum;    /* a counter, and no average, ratio or extreme */
	bool has_spread; /* min and max are known and n is above 1 */
	uint64_t n;
	/* How far the means of the passes that counted it are apart, relative to the mean; for a
	 * counter of several passes, else negative. Tells whether passes are comparable. */
	double pass_spread;
	const char *status; /* "ok", "split", "not collected", "overflowed", "multiplexed",
			     * "not matched", "declined" */
	/* Of what is put together from several passes: how far its dispatches' anchors differ
	 * between passes, as the root of the mean square and relative; negative: none, or not
	 * known. */
	double error;
	/* For all dispatches of the kernel, where only some were counted in this pass; by kernel.
	 */
	bool has_estimate;
	struct estimate estimate;
	const char *reason; /* "" when status is ok, but for a percentage over 100: why it is */
	const char *passes; /* it was taken from: "1, 3"; "" for none */
	/* The ranks it was measured by, "0, 2-3", how many these are, and how many the job has; ""
	 * and 0 where ranks are not known. With fewer ranks than the job has, it is a value of
	 * those. */
	const char *ranks;
	uint32_t n_ranks, of_ranks;
};
struct value_group {
	const char *name;    /* of the kernel, or the program's */
	uint32_t unit;       /* enum spool_unit */
	int32_t rank;        /* by rank */
	uint32_t pass;       /* by pass */
	uint64_t rows;       /* dispatches and executions behind it, all passes together */
	uint64_t dispatches; /* different ones: one counted in three passes is one */
	uint64_t varying;    /* rows whose passes did not all end in the same memory */
	uint64_t mean_ns, min_ns, max_ns; /* duration of a row; 0 when none has a duration */
	const char *row_passes;           /* "1-3": that have rows */
	uint32_t kernel;                  /* index into store_kernels; UINT32_MAX: none */
	size_t n;
	const struct value *values; /* metrics, then counters, as in the plan */
};
struct anchors;
struct values; /* owns what it hands out */

int values_collect(struct values **values_out, struct store *s, const struct values_options *o,
		   struct error *err);
/* By unit and kernel name, then rank or pass. At least one, when the plan has counters. */
const struct value_group *values_groups(const struct values *v, size_t *n_out);
/* The spread of the metrics was left out because of VALUES_SPREAD_EVALUATIONS. */
bool values_spread_left_out(const struct values *v);
void values_free(struct values *v);
/* Whether the passes did the same work (report/anchors.h). */
const struct anchors *values_anchors(const struct values *v);

/* How a process unit is called: the program rather than "process". */
const char *values_kernel_name(const struct store *s, uint32_t kernel);
/* As the options want it. */
const char *values_shown_name(const struct store *s, const struct values_options *o,
			      uint32_t kernel);

/* ---- shared with the rows of single dispatches (dispatches.c) ---- */
struct metric_code { /* a parsed metric; NULL expr when it does not parse, with why */
	const struct expr *expr;
	const char *why;
};
int metrics_parse(struct arena *arena, const struct plan *plan, struct metric_code **code_out,
		  struct error *err);
/* Evaluates metric m on the values of one row of its pass. */
struct expr_value metric_of_row(const struct plan *plan, uint32_t m, const struct expr *expr,
				const struct store_row *row);
/* Rows of the same number, process and kernel are of one dispatch: of one process by its number, or
 * of several executions as they were matched. store_match_load comes first. */
void row_identify(const struct store *s, const struct store_row *r, struct store_match *match_out,
		  uint64_t *number_out, uint32_t *process_out);
const char *status_name(uint8_t status);

#endif
