/* SPDX-License-Identifier: Apache-2.0 */
/* report --set: a named set as the metrics and counters of it that a run has. */
#ifndef RETALLY_CLI_REPORT_SET_H
#define RETALLY_CLI_REPORT_SET_H

#include "base/str.h"
#include "cli/options.h"
#include "wire/plan.h"

/* Appends the members of every --set that the plan has to the comma-separated lists. RC_NOT_FOUND
 * names an unknown set, or one of which the plan has nothing. */
int report_set_names(const struct options *o, const struct plan *plan, struct str *metrics,
		     struct str *counters, struct error *err);

#endif
