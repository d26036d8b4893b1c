/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a counter's config: strict, because a plan file may come from anywhere. */
#include "source/sim/sim_abi.h"

#include <stdbool.h>
#include <string.h>

/* Decimal digits up to `end`, and nothing else. */
static bool read_number(const char *text, const char *end, uint32_t *out)
{
	uint64_t n = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9')
			return false;
		n = n * 10 + (uint64_t)(*text - '0');
		if (n >= UINT32_MAX)
			return false;
	}
	*out = (uint32_t)n;
	return true;
}

int sim_abi_decode(const struct plan_counter *k, uint32_t *id_out, uint32_t *instance_out,
		   struct error *err)
{
	size_t n = strlen(k->name);
	const char *open = n && k->name[n - 1] == ']' ? strrchr(k->name, '[') : NULL;

	*instance_out = SIM_ABI_ALL;
	if (!read_number(k->config, k->config + strlen(k->config), id_out))
		return error_set(err, RC_INVALID,
				 "counter '%.100s': '%.40s' is no counter number of the simulated "
				 "device",
				 k->name, k->config);
	if (open && !read_number(open + 1, k->name + n - 1, instance_out))
		return error_set(err, RC_INVALID, "counter '%.100s' names no instance", k->name);
	return 0;
}
