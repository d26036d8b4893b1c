/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the source of an OpenCL program says: whether it may print, and whether it may keep
 * something from one launch to the next in variables at program scope. Tokens are looked at,
 * nothing is expanded; what cannot be told is answered with true.
 */
#include "runtime/opencl/opencl_internal.h"

#include <ctype.h>
#include <string.h>

/* ---- tokens ---- */

struct text {
	const char *at;
	const char *word; /* of the last token, when it was a word */
	size_t n;
	uint32_t line; /* where the token is; lines that go on are one */
};

static const char *skip_quoted(const char *at, char quote)
{
	for (at++; *at && *at != quote; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : at;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The next token without white space, comments and strings: 'a' for a word or number, else the
 * character itself; 0 at the end. A '#' begins a directive, which is the rest of its line. */
static char next(struct text *t)
{
	for (;;) {
		const char *at = t->at;

		if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
			t->at += at[1] == '\n' ? 2 : 3;
		} else if (at[0] == '\n') {
			t->line++;
			t->at++;
		} else if (isspace((unsigned char)at[0])) {
			t->at++;
		} else if (at[0] == '/' && at[1] == '/') {
			t->at += strcspn(at, "\n");
		} else if (at[0] == '/' && at[1] == '*') {
			const char *end = strstr(at + 2, "*/");

			t->at = end ? end + 2 : at + strlen(at);
		} else if (at[0] == '"' || at[0] == '\'') {
			t->at = skip_quoted(at, at[0]);
		} else {
			break;
		}
	}
	if (is_word(*t->at)) {
		t->word = t->at;
		for (t->n = 1; is_word(t->word[t->n]); t->n++)
			;
		t->at += t->n;
		return 'a';
	}
	return *t->at ? *t->at++ : '\0';
}

static bool is(const struct text *t, const char *word)
{
	return strlen(word) == t->n && !memcmp(t->word, word, t->n);
}

static bool is_one_of(const struct text *t, const char *const *words)
{
	for (; *words; words++)
		if (is(t, *words))
			return true;
	return false;
}

bool source_may_print(const char *source)
{
	struct text t = {.at = source};
	char c, before = '\0';

	while ((c = next(&t))) {
		if (c == 'a' && (is(&t, "printf") || (before == '#' && is(&t, "include"))))
			return true;
		before = c;
	}
	return false;
}

/* ---- variables ---- */

/* One declaration or definition at program scope, as far as it has been read. */
struct statement {
	uint32_t words; /* before the first parenthesis */
	bool any, parenthesis, bracket, equals, star, body, declarator;
	bool is_typedef, is_type, is_const, is_constant, is_global, is_sampler;
};

#define MACROS 64u
struct scan {
	struct text text;
	struct statement s;
	uint32_t braces, parentheses;
	uint32_t attribute; /* parentheses of an attribute, which say nothing */
	bool attribute_begins;
	struct text macros[MACROS]; /* whose text has a semicolon, or `static`: names */
	uint32_t n_macros;
};

/* Whether a declaration that ends here makes a variable that a kernel could change. */
static bool makes_variable(const struct statement *s)
{
	if (!s->any || s->is_typedef)
		return false;
	if ((s->is_constant && !s->is_global) || (s->is_const && !s->star) || s->is_sampler)
		return false;
	if (s->equals || s->bracket)
		return true;
	if (s->is_type && (s->body ? !s->declarator : s->words == 2 && !s->parenthesis))
		return false;
	/* A prototype has a type and a name; a name alone may be a macro. */
	return !(s->parenthesis && s->words >= 2);
}

/* A directive: true when it takes in text that is not here. Names of macros are remembered when
 * their text may have a declaration in it. */
static bool read_directive(struct scan *scan, char *c_out)
{
	struct text *t = &scan->text, name;
	uint32_t braces = 0, line = t->line;
	bool found = false, defines;
	char c = next(t);

	if (c == 'a' && t->line == line && is(t, "include"))
		return true;
	defines = c == 'a' && t->line == line && is(t, "define");
	if (defines)
		c = next(t);
	name = *t;
	while (c && t->line == line) {
		c = next(t);
		if (t->line != line)
			break;
		braces += c == '{';
		braces -= c == '}' && braces;
		found = found || (c == ';' && !braces) || (c == 'a' && is(t, "static"));
		for (uint32_t i = 0; c == 'a' && i < scan->n_macros; i++)
			found = found || (scan->macros[i].n == t->n &&
					  !memcmp(scan->macros[i].word, t->word, t->n));
	}
	*c_out = c;
	if (!defines || !found)
		return false;
	if (scan->n_macros == MACROS)
		return true;
	scan->macros[scan->n_macros++] = name;
	return false;
}

static bool read_word(struct scan *scan)
{
	static const char *const types[] = {"struct", "union", "enum", NULL};
	static const char *const globals[] = {"global", "__global", NULL};
	static const char *const constants[] = {"constant", "__constant", NULL};
	const struct text *t = &scan->text;
	struct statement *s = &scan->s;

	if (is(t, "__attribute__")) {
		scan->attribute_begins = true;
		return false;
	}
	if (scan->braces && is(t, "static"))
		return true;
	/* Inside functions macros may have several statements; of declarations only static ones
	 * keep their value, and those are rare. */
	for (uint32_t i = 0; i < scan->n_macros; i++)
		if ((!scan->braces || memmem(t->word, t->n, "static", 6)) &&
		    scan->macros[i].n == t->n && !memcmp(scan->macros[i].word, t->word, t->n))
			return true;
	if (scan->braces || scan->parentheses)
		return false;
	s->words += !s->parenthesis;
	s->any = true;
	s->declarator = s->declarator || s->body;
	s->is_type = s->is_type || (s->words == 1 && is_one_of(t, types));
	s->is_typedef = s->is_typedef || is(t, "typedef");
	s->is_const = s->is_const || is(t, "const");
	s->is_sampler = s->is_sampler || is(t, "sampler_t");
	s->is_global = s->is_global || is_one_of(t, globals);
	s->is_constant = s->is_constant || is_one_of(t, constants);
	return false;
}

/* True when a variable was seen, or what cannot be told apart from one. */
static bool read_mark(struct scan *scan, char c)
{
	struct statement *s = &scan->s;

	if (scan->attribute || (scan->attribute_begins && c == '(')) {
		scan->attribute += c == '(';
		scan->attribute -= c == ')';
		scan->attribute_begins = false;
		return false;
	}
	if (c == '{' && !scan->braces++) {
		/* Neither a function, nor a type, nor an initial value: `extern "C"`. */
		if (!s->parenthesis && !s->is_type && !s->is_typedef && !s->equals)
			return true;
		s->body = true;
	} else if (c == '}' && scan->braces) {
		if (!--scan->braces && s->parenthesis && !s->equals && !s->is_typedef)
			*s = (struct statement){0}; /* a function's */
	}
	if (scan->braces || c == '}')
		return false;
	if (c == ';') {
		bool found = makes_variable(s);

		*s = (struct statement){0};
		scan->parentheses = 0;
		return found;
	}
	s->any = true;
	scan->parentheses += c == '(';
	scan->parentheses -= c == ')' && scan->parentheses;
	s->parenthesis = s->parenthesis || c == '(';
	if (!scan->parentheses) {
		s->equals = s->equals || c == '=';
		s->bracket = s->bracket || c == '[';
		s->star = s->star || c == '*';
	}
	return false;
}

bool source_may_keep(const char *source)
{
	struct scan scan = {.text = {.at = source}};
	char c = next(&scan.text);

	while (c) {
		if (c == '#') {
			if (read_directive(&scan, &c))
				return true;
			continue;
		}
		if (c == 'a' ? !scan.attribute && read_word(&scan) : read_mark(&scan, c))
			return true;
		c = next(&scan.text);
	}
	return scan.braces != 0; /* it does not end as it should */
}

bool options_may_keep(const char *options)
{
	const char *at = options ? strstr(options, "-cl-std=") : NULL;

	if (!at)
		return false;
	return strncmp(at + strlen("-cl-std="), "CL1.", 4) != 0;
}
