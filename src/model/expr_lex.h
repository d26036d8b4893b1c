/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of the metric language: numbers, names, $constants, operators. Private to the parser of
 * expressions. The first error stops the lexer: lex->rc stays set and every further step does
 * nothing.
 */
#ifndef RETALLY_MODEL_EXPR_LEX_H
#define RETALLY_MODEL_EXPR_LEX_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum expr_token_kind {
	EXPR_TOKEN_END,
	EXPR_TOKEN_NUMBER,
	EXPR_TOKEN_NAME,   /* text is the name; quoted tells a backquoted one */
	EXPR_TOKEN_DOLLAR, /* $NAME, text without the '$' */
	EXPR_TOKEN_MARK,   /* one of the operators and brackets, mark holds it */
};

enum expr_token_mark {
	EXPR_MARK_LESS_EQUAL = 256,
	EXPR_MARK_GREATER_EQUAL,
	EXPR_MARK_EQUAL,
	EXPR_MARK_NOT_EQUAL,
};

struct expr_token {
	enum expr_token_kind kind;
	size_t column; /* from 1 */
	const char *text;
	double number;
	int mark;
	bool quoted;
};

struct expr_lexer {
	struct arena *arena; /* names are copied into it */
	const char *name;    /* for messages */
	const char *text;
	const char *at;
	struct expr_token token; /* the word that comes next */
	int rc;
	struct error *err;
};

/* Steps to the next word. */
void expr_lex_next(struct expr_lexer *p);
/* What the current word is, for "found ..."; returns text_out. */
const char *expr_lex_describe(const struct expr_lexer *p, char text_out[80]);
/* Both record an error unless there is one already, and return NULL so that a rule can return it.
 */
void *expr_lex_fail(struct expr_lexer *p, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void *expr_lex_no_memory(struct expr_lexer *p);

#endif
