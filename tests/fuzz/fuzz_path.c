/* SPDX-License-Identifier: Apache-2.0 */
/* Output name templates: the first byte chooses what is known, the rest is the template. */
#include "base/path_template.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static const char *fuzz_env(void *context, const char *name)
{
	(void)context;
	if (*name == 'L') /* long: many of them reach the limit */
		return "a/value/of/some/length/that/is/repeated/in/a/template/until/it/is/too/long";
	return *name == 'U' ? NULL : name;
}

static bool fuzz_exists(void *context, const char *path)
{
	unsigned *left = context; /* numbers that are taken */

	return *path && *left && (*left)--;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned known = size ? data[0] : 0, taken = known >> 5;
	struct path_values values = {
		.host = known & 1 ? "ho/st" : NULL,
		.pid = 1234567,
		.rank = known & 2 ? 17 : PATH_TEMPLATE_RANK_UNKNOWN,
		.job = known & 4 ? "job/1" : NULL,
		.tag = known & 8 ? "../a.out" : NULL,
		.start = known & 16 ? 1700000000 : (time_t)1 << 60,
		.get_env = fuzz_env,
		.exists = fuzz_exists,
		.context = &taken,
	};
	struct str out = STR_INIT;
	struct error err = {0};
	char *template = calloc(1, size + 1);
	int rc;

	setenv("RETALLY_LOG", "error", 1); /* an unset variable is a warning each time */
	if (!template)
		return 0;
	if (size)
		memcpy(template, data + 1, size - 1);
	rc = path_template_expand(template, &values, &out, &err);
	if (rc)
		fuzz_assert(*err.message && !out.size);
	else
		fuzz_assert(out.size && out.size < PATH_TEMPLATE_SIZE_MAX &&
			    strlen(out.text) == out.size);
	path_template_is_per_process(template);
	str_release(&out);
	free(template);
	return 0;
}
