/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two run directories side by side: for each kernel and value that both have, the change, and
 * whether it is more than the spread of the two together. The spread of a value is the largest of
 * what is known of it: the interval of a sampled one, the error of one put together from several
 * passes, what anchors of the kernel differ by between passes and repeats, and for a whole process
 * the range of its executions. Where nothing of that is known on a side, that is said, and no
 * verdict given.
 */
#ifndef RETALLY_REPORT_DIFF_H
#define RETALLY_REPORT_DIFF_H

#include "report/report.h"

/* format, base_units, names, metrics and counters of the options count. *moved_out: values that
 * moved beyond their spread. Text shows those, and counts the others; CSV and JSON have all. */
int diff_write(struct store *a, struct store *b, const struct report_options *o, FILE *f,
	       size_t *moved_out, struct error *err);

#endif
