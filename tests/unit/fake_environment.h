/* SPDX-License-Identifier: Apache-2.0 */
/* A fake environment for tests of what reads one (identity_get): NAME=VALUE separated by spaces. */
#ifndef RETALLY_TESTS_UNIT_FAKE_ENVIRONMENT_H
#define RETALLY_TESTS_UNIT_FAKE_ENVIRONMENT_H

#include <stdio.h>
#include <string.h>

/* context is the text; the value is valid until the next call. */
static inline const char *fake_get(void *context, const char *name)
{
	static char value[64];
	size_t n = strlen(name);

	for (const char *at = context; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		if (length > n && !strncmp(at, name, n) && at[n] == '=') {
			snprintf(value, sizeof(value), "%.*s", (int)(length - n - 1), at + n + 1);
			return value;
		}
		at += length;
	}
	return NULL;
}

#endif
