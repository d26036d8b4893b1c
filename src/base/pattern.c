/* SPDX-License-Identifier: Apache-2.0 */
/* Name patterns of -k. */
#include "base/pattern.h"

#include <fnmatch.h>
#include <string.h>

int pattern_init(struct pattern *p, const char *text, struct error *err)
{
	static const struct {
		const char *prefix;
		enum pattern_kind kind;
	} kinds[] = {{"regex:", PATTERN_REGEX}, {"glob:", PATTERN_GLOB}, {"exact:", PATTERN_EXACT}};
	char why[128];
	int code;

	*p = (struct pattern){.kind = PATTERN_WORD, .text = text};
	if (*p->text == '!') {
		p->exclude = true;
		p->text++;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(p->text, kinds[i].prefix, strlen(kinds[i].prefix))) {
			p->kind = kinds[i].kind;
			p->text += strlen(kinds[i].prefix);
			break;
		}
	if (!*p->text)
		return error_set(err, RC_INVALID, "pattern '%s' is empty", text);
	if (p->kind != PATTERN_REGEX)
		return 0;
	code = regcomp(&p->regex, p->text, REG_EXTENDED | REG_NOSUB);
	if (!code)
		return 0;
	regerror(code, &p->regex, why, sizeof(why));
	p->kind = PATTERN_WORD; /* nothing to free */
	return error_set(err, RC_INVALID, "pattern '%s': %s", text, why);
}

bool pattern_matches(const struct pattern *p, const char *name)
{
	bool match = false;

	switch (p->kind) {
	case PATTERN_WORD:
		match = strstr(name, p->text) != NULL;
		break;
	case PATTERN_REGEX:
		match = !regexec(&p->regex, name, 0, NULL, 0);
		break;
	case PATTERN_GLOB:
		match = !fnmatch(p->text, name, 0);
		break;
	case PATTERN_EXACT:
		match = !strcmp(p->text, name);
		break;
	}
	return match != p->exclude;
}

void pattern_release(struct pattern *p)
{
	if (p->kind == PATTERN_REGEX)
		regfree(&p->regex);
}
