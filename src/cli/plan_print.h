/* SPDX-License-Identifier: Apache-2.0 */
/* A pass plan as people read it. */
#ifndef RETALLY_CLI_PLAN_PRINT_H
#define RETALLY_CLI_PLAN_PRINT_H

#include "wire/plan.h"

#include <stdio.h>

/* "3 passes, proven minimal" or "13 passes, at least 12". */
void plan_print_size(FILE *out, const struct plan *plan);
/* Size, anchors, each pass with what forces it and its counters, what is split and what is left
 * out. */
void plan_print(FILE *out, const struct plan *plan);
/* What is different in b: passes, counters, metrics and where they are whole. Returns the number of
 * differences printed. */
size_t plan_print_diff(FILE *out, const struct plan *a, const struct plan *b);

#endif
