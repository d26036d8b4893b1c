/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Name patterns of -k: a bare word matches as a substring; `regex:RE` (POSIX extended), `glob:G`
 * and `exact:NAME` say otherwise; `!` in front excludes. An exact name always matches its own bare
 * word.
 */
#ifndef RETALLY_BASE_PATTERN_H
#define RETALLY_BASE_PATTERN_H

#include "base/error.h"

#include <regex.h>
#include <stdbool.h>

enum pattern_kind {
	PATTERN_WORD,
	PATTERN_REGEX,
	PATTERN_GLOB,
	PATTERN_EXACT
};
struct pattern {
	enum pattern_kind kind;
	bool exclude;
	const char *text; /* into the caller's text, which must outlive the pattern */
	regex_t regex;
};

/* RC_INVALID with the regular expression's own message. */
int pattern_init(struct pattern *p, const char *text, struct error *err);
bool pattern_matches(const struct pattern *p, const char *name);
void pattern_release(struct pattern *p);

#endif
