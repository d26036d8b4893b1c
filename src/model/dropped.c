/* SPDX-License-Identifier: Apache-2.0 */
/* Dropped metrics and counters by reason. */
#include "model/dropped.h"

#include <string.h>

static bool is_first(const struct plan *plan, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++) {
		if (!strcmp(plan->dropped[i].reason, plan->dropped[at].reason))
			return false;
	}
	return true;
}

bool dropped_line(const struct plan *plan, uint32_t first, uint32_t names_max, struct str *out)
{
	const char *reason = plan->dropped[first].reason;
	uint32_t n = 0, shown = 0;

	if (!is_first(plan, first))
		return false;
	for (uint32_t i = first; i < plan->n_dropped; i++)
		n += !strcmp(plan->dropped[i].reason, reason);
	if (n > 1)
		str_addf(out, "%u (", n);
	for (uint32_t i = first; i < plan->n_dropped && shown < names_max; i++) {
		if (!strcmp(plan->dropped[i].reason, reason))
			str_addf(out, "%s%s", shown++ ? ", " : "", plan->dropped[i].name);
	}
	if (n > shown)
		str_addf(out, " and %u more", n - shown);
	str_addf(out, "%s: %s", n > 1 ? ")" : "", reason);
	return true;
}

uint32_t dropped_reasons(const struct plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_dropped; i++)
		n += is_first(plan, i);
	return n;
}
