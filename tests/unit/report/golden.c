/* SPDX-License-Identifier: Apache-2.0 */
/* Golden files. GOLDEN_FOLDER comes from the build. */
#include "golden.h"

#include "../test.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

void expect_golden(const char *name, const char *got)
{
	struct str want = STR_INIT;
	char path[512], buffer[4096];
	const char *update = getenv("UPDATE_GOLDEN");
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", GOLDEN_FOLDER, name);
	if (update && !strcmp(update, "1")) {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(got, f);
		assert_int_equal(fclose(f), 0);
	}
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s is not there; UPDATE_GOLDEN=1 writes it", path);
	while ((n = fread(buffer, 1, sizeof(buffer), f)) > 0)
		str_add_bytes(&want, buffer, n);
	fclose(f);
	if (strcmp(str_text(&want), got) != 0)
		fail_msg("%s differs; got:\n%s", path, got);
	str_release(&want);
}

char *text_without(const char *text, const char *from, const char *to)
{
	struct str out = STR_INIT;
	const char *hit;

	while (from && (hit = strstr(text, from))) {
		str_add_bytes(&out, text, (size_t)(hit - text));
		str_add(&out, to);
		text = hit + strlen(from);
	}
	str_add(&out, text);
	return str_take(&out);
}
