/* SPDX-License-Identifier: Apache-2.0 */
/* What only the plan's encoder and decoder share: the rules every plan obeys, and names of flags.
 */
#ifndef RETALLY_WIRE_PLAN_FORMAT_H
#define RETALLY_WIRE_PLAN_FORMAT_H

#include "wire/plan.h"

#define PLAN_FORMAT_NAME "retally-plan"
#define PLAN_N_FLAGS     5

/* Name of flag bit i, for the file. */
extern const char *const plan_flag_names[PLAN_N_FLAGS];

/* Everything that must hold between the parts of a plan (indexes, order, limits). RC_INVALID with a
 * sentence that starts with `name` and says what is wrong where. */
int plan_check(const struct plan *plan, const char *name, struct error *err);

#endif
