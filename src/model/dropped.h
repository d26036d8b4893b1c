/* SPDX-License-Identifier: Apache-2.0 */
/* What was wanted and is not in a plan, in few lines: names that share a reason share a line. */
#ifndef RETALLY_MODEL_DROPPED_H
#define RETALLY_MODEL_DROPPED_H

#include "base/str.h"
#include "wire/plan.h"

#include <stdbool.h>

/* Appends "NAME: REASON", or "12 (A, B, C and 9 more): REASON" with at most names_max names, for
 * plan->dropped[first] and those after it with the same reason. False, and nothing, when an earlier
 * one has that reason. */
bool dropped_line(const struct plan *plan, uint32_t first, uint32_t names_max, struct str *out);
/* How many different reasons there are. */
uint32_t dropped_reasons(const struct plan *plan);

#endif
