/* SPDX-License-Identifier: Apache-2.0 */
/* The lexer of metric expressions. Texts come from data files and users: anything may stand in
 * them. */
#include "model/expr_lex.h"

#include "model/expr_node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *expr_lex_no_memory(struct expr_lexer *p)
{
	if (!p->rc)
		p->rc = error_set(p->err, RC_NO_MEMORY, "%s: out of memory", p->name);
	return NULL;
}

/* The first error wins: later ones are its consequences. NULL, so that a rule can return it. */
void *expr_lex_fail(struct expr_lexer *p, size_t column, const char *fmt, ...)
{
	char text[ERROR_MESSAGE_SIZE];
	va_list ap;

	if (p->rc)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->rc = error_set(p->err, RC_INVALID, "%.300s: column %zu: %s", p->name, column, text);
	return NULL;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_joint(char c)
{
	return c == '.' || c == ':' || c == '-' || c == '@';
}

/* Length of the NAME at s: joints belong to it only between letters and digits, so that "a - b", "a
 * -b" and "a- b" subtract and "cache-misses" is one name. */
static size_t name_length(const char *s, bool joints)
{
	size_t n = 0, end;

	if (!is_letter(s[0]))
		return 0;
	for (;;) {
		while (is_letter(s[n]) || is_digit(s[n]))
			n++;
		end = n;
		while (joints && is_joint(s[end]))
			end++;
		/* "::" and friends inside a symbol are fine, a joint at the end is not */
		if (end == n || (!is_letter(s[end]) && !is_digit(s[end])))
			return n;
		n = end;
	}
}

static void next_number(struct expr_lexer *p)
{
	const char *s = p->at;
	char digits[64];
	size_t n = 0;

	while (is_digit(s[n]))
		n++;
	if (s[n] == '.') {
		n++;
		while (is_digit(s[n]))
			n++;
	}
	if (s[n] == 'e' || s[n] == 'E') {
		size_t e = n + 1;

		if (s[e] == '+' || s[e] == '-')
			e++;
		if (is_digit(s[e])) {
			while (is_digit(s[e]))
				e++;
			n = e;
		}
	}
	if (is_letter(s[n])) {
		expr_lex_fail(p, p->token.column, "'%.*s' is neither a number nor a name",
			      (int)(n + 1), s);
		return;
	}
	if (n >= sizeof(digits)) {
		expr_lex_fail(p, p->token.column, "a number of more than %zu characters",
			      sizeof(digits) - 1);
		return;
	}
	memcpy(digits, s, n);
	digits[n] = '\0';
	if (!expr_number(digits, &p->token.number)) {
		expr_lex_fail(p, p->token.column, "the number %s is too large", digits);
		return;
	}
	p->token.kind = EXPR_TOKEN_NUMBER;
	p->at += n;
}

static void next_mark(struct expr_lexer *p)
{
	static const struct {
		char text[3];
		int mark;
	} doubles[] = {{"<=", EXPR_MARK_LESS_EQUAL},
		       {">=", EXPR_MARK_GREATER_EQUAL},
		       {"==", EXPR_MARK_EQUAL},
		       {"!=", EXPR_MARK_NOT_EQUAL}};

	p->token.kind = EXPR_TOKEN_MARK;
	for (size_t i = 0; i < 4; i++) {
		if (!strncmp(p->at, doubles[i].text, 2)) {
			p->token.mark = doubles[i].mark;
			p->at += 2;
			return;
		}
	}
	if (strchr("+-*/<>()[],", *p->at)) {
		p->token.mark = *p->at++;
	} else if (*p->at == '=') {
		expr_lex_fail(p, p->token.column, "'=' compares nothing; write '=='");
	} else if (*p->at == '&' || *p->at == '|' || *p->at == '%' || *p->at == '^') {
		expr_lex_fail(p, p->token.column, "there is no operator '%c'", *p->at);
	} else if (*p->at >= 0x20 && *p->at < 0x7f) {
		expr_lex_fail(p, p->token.column, "'%c' has no meaning here", *p->at);
	} else {
		expr_lex_fail(p, p->token.column, "the byte 0x%02x has no meaning here",
			      (unsigned)(unsigned char)*p->at);
	}
}

static void next_text(struct expr_lexer *p, enum expr_token_kind kind, size_t skip, size_t n)
{
	p->token.kind = kind;
	p->token.text = arena_strndup(p->arena, p->at + skip, n);
	if (!p->token.text)
		expr_lex_no_memory(p);
}

void expr_lex_next(struct expr_lexer *p)
{
	const char *end;
	size_t n;

	if (p->rc)
		return;
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
		p->at++;
	p->token = (struct expr_token){.kind = EXPR_TOKEN_END,
				       .column = (size_t)(p->at - p->text) + 1};
	if (!*p->at)
		return;
	n = name_length(p->at, true);
	if (n) {
		next_text(p, EXPR_TOKEN_NAME, 0, n);
		p->at += n;
	} else if (is_digit(*p->at) || (*p->at == '.' && is_digit(p->at[1]))) {
		next_number(p);
	} else if (*p->at == '$') {
		n = name_length(p->at + 1, false);
		if (!n) {
			expr_lex_fail(p, p->token.column, "'$' without the name of a constant");
			return;
		}
		next_text(p, EXPR_TOKEN_DOLLAR, 1, n);
		p->at += 1 + n;
	} else if (*p->at == '`') {
		end = strchr(p->at + 1, '`');
		if (!end || end == p->at + 1) {
			expr_lex_fail(p, p->token.column,
				      end ? "an empty name in backquotes"
					  : "the backquote is never closed");
			return;
		}
		next_text(p, EXPR_TOKEN_NAME, 1, (size_t)(end - p->at) - 1);
		p->token.quoted = true;
		p->at = end + 1;
	} else {
		next_mark(p);
	}
}

/* What stands where something else was wanted, for messages. */
const char *expr_lex_describe(const struct expr_lexer *p, char text_out[80])
{
	static const char *const doubles[] = {"<=", ">=", "==", "!="};

	switch (p->token.kind) {
	case EXPR_TOKEN_NUMBER:
		snprintf(text_out, 80, "a number");
		break;
	case EXPR_TOKEN_NAME:
		snprintf(text_out, 80, "'%.60s'", p->token.text);
		break;
	case EXPR_TOKEN_DOLLAR:
		snprintf(text_out, 80, "'$%.60s'", p->token.text);
		break;
	case EXPR_TOKEN_MARK:
		if (p->token.mark >= EXPR_MARK_LESS_EQUAL)
			snprintf(text_out, 80, "'%s'",
				 doubles[p->token.mark - EXPR_MARK_LESS_EQUAL]);
		else
			snprintf(text_out, 80, "'%c'", p->token.mark);
		break;
	case EXPR_TOKEN_END:
	default:
		snprintf(text_out, 80, "the end");
	}
	return text_out;
}
