/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each dispatch was counted live in one pass (--replay none, --distribute dispatch), a value
 * comes from some dispatches of its kernel only. This estimates it for all of them: strata are
 * kernel, grid and block, the population are the dispatches that any pass recorded, and those that
 * were left out because enough was known of their kind (--until). A counter's
 * estimate is its mean over the dispatches; a metric's, its expression over their estimated sums,
 * with the error of the linearised expression. 95 % intervals; see model/estimate.h.
 *
 * Dispatches that no pass recorded (declined, skipped) are not in the population: they are counted
 * where they were declined. Where whole processes took one pass each, dispatches of one process are
 * no independent samples of the others, and there is no interval.
 */
#ifndef RETALLY_REPORT_SAMPLING_H
#define RETALLY_REPORT_SAMPLING_H

#include "model/estimate.h"
#include "report/values.h"

struct sampling;

/* One pass over the rows of the kernels wanted; nothing is kept of kernels that were not sampled.
 */
int sampling_collect(struct sampling **out, struct store *s, const bool *kernels,
		     const struct metric_code *code, struct error *err);
void sampling_free(struct sampling *x);
/* False when the kernel was not sampled, or the value is of all its dispatches. */
bool sampling_counter(const struct sampling *x, uint32_t kernel, uint32_t counter,
		      struct estimate *out);
bool sampling_metric(const struct sampling *x, uint32_t kernel, uint32_t metric,
		     struct estimate *out);

#endif
