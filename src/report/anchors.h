/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether passes did the same work. Anchors are counted in every pass; here they are compared for
 * every dispatch over the passes (executions) that have it, and for repeats of one pass. A kernel
 * is
 *
 *  deterministic  every anchor of every dispatch was the same in all passes
 *                 and repeats;
 *  varying        they differ: by `largest` at most, `typical` as the root of the mean square, both
 *                 relative to the mean of the dispatch; or passes ended in different memory;
 *  incomparable   under half of its dispatches have an anchor in two passes; `compared` of `rows`.
 *
 * What differs between passes of one dispatch is the error of whatever is put together from several
 * passes.
 */
#ifndef RETALLY_REPORT_ANCHORS_H
#define RETALLY_REPORT_ANCHORS_H

#include "report/values.h"
#include "store/store.h"

enum sameness {
	SAMENESS_INCOMPARABLE,
	SAMENESS_DETERMINISTIC,
	SAMENESS_VARYING
};
struct anchor_spread {     /* of one kernel, or one anchor of it */
	uint64_t rows;     /* dispatches */
	uint64_t compared; /* of these, with the anchor in two passes or more */
	double largest, typical;
	/* Relative standard deviations: of executions of the same pass (repeats), and of the means
	 * of passes. Negative where there is nothing to take one of. */
	double within, between;
	uint32_t counter; /* the anchor that differs most */
	enum sameness sameness;
};
struct anchors;

/* Reads all rows of the kernels wanted. Where memory for single dispatches would pass a bound, the
 * rest is left out, and rows tells the number looked at. Rows that store_match knows as one
 * dispatch are compared. */
int anchors_collect(struct anchors **out, struct store *s, const bool *kernels, struct error *err);
void anchors_free(struct anchors *a);
/* Of a kernel (index into store_kernels): the anchor that differs most. */
struct anchor_spread anchors_of_kernel(const struct anchors *a, uint32_t kernel);
/* "deterministic", "varying", "incomparable". */
const char *sameness_name(enum sameness s);
/* "deterministic", "varying 0.3 % (cycles)", "incomparable: 2 of 10 dispatches in two passes". */
void sameness_text(const struct anchors *a, uint32_t kernel, struct str *out);
#endif
