/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of metric expressions (docs/expressions.md): recursive descent over the text, one
 * function a rule of the grammar. Texts come from data files and from users, so depth, size and
 * numbers are bounded, and every refusal names the column.
 */
#include "model/expr.h"

#include "base/vec.h"
#include "model/expr_node.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum token_kind {
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_NAME,   /* text is the name; quoted tells a backquoted one */
	TOKEN_DOLLAR, /* $NAME, text without the '$' */
	TOKEN_MARK,   /* one of the operators and brackets, mark holds it */
};

enum token_mark {
	MARK_LESS_EQUAL = 256,
	MARK_GREATER_EQUAL,
	MARK_EQUAL,
	MARK_NOT_EQUAL,
};

struct token {
	enum token_kind kind;
	size_t column; /* from 1 */
	const char *text;
	double number;
	int mark;
	bool quoted;
};

struct parser {
	struct arena *arena;
	const char *name;
	const char *text;
	const char *at;
	struct token token;
	int depth;
	uint32_t n_nodes;
	VEC(struct expr_leaf) leaves;
	VEC(struct expr_constant) constants;
	VEC(const struct expr_node *) reductions;
	VEC(struct expr_mention) mentions;
	int rc;
	struct error *err;
};

/* Numbers are read alike in every locale. newlocale is called once and never freed. */
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void c_locale_make(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static const struct expr_node *no_memory(struct parser *p)
{
	if (!p->rc)
		p->rc = error_set(p->err, RC_NO_MEMORY, "%s: out of memory", p->name);
	return NULL;
}

/* The first error wins: later ones are its consequences. NULL, so that a rule can return it. */
__attribute__((format(printf, 3, 4))) static void *fail(struct parser *p, size_t column,
							const char *fmt, ...)
{
	char text[ERROR_MESSAGE_SIZE];
	va_list ap;

	if (p->rc)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->rc = error_set(p->err, RC_INVALID, "%.100s: column %zu: %s", p->name, column, text);
	return NULL;
}

/* ---- words ---- */

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

static void next_number(struct parser *p)
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
		fail(p, p->token.column, "'%.*s' is neither a number nor a name", (int)(n + 1), s);
		return;
	}
	if (n >= sizeof(digits)) {
		fail(p, p->token.column, "a number of more than %zu characters",
		     sizeof(digits) - 1);
		return;
	}
	memcpy(digits, s, n);
	digits[n] = '\0';
	pthread_once(&c_locale_once, c_locale_make);
	p->token.number = c_locale ? strtod_l(digits, NULL, c_locale) : strtod(digits, NULL);
	if (!isfinite(p->token.number)) {
		fail(p, p->token.column, "the number %s is too large", digits);
		return;
	}
	p->token.kind = TOKEN_NUMBER;
	p->at += n;
}

static void next_mark(struct parser *p)
{
	static const struct {
		char text[3];
		int mark;
	} doubles[] = {{"<=", MARK_LESS_EQUAL},
		       {">=", MARK_GREATER_EQUAL},
		       {"==", MARK_EQUAL},
		       {"!=", MARK_NOT_EQUAL}};

	p->token.kind = TOKEN_MARK;
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
		fail(p, p->token.column, "'=' compares nothing; write '=='");
	} else if (*p->at == '&' || *p->at == '|' || *p->at == '%' || *p->at == '^') {
		fail(p, p->token.column, "there is no operator '%c'", *p->at);
	} else if (*p->at >= 0x20 && *p->at < 0x7f) {
		fail(p, p->token.column, "'%c' has no meaning here", *p->at);
	} else {
		fail(p, p->token.column, "the byte 0x%02x has no meaning here",
		     (unsigned)(unsigned char)*p->at);
	}
}

static void next_text(struct parser *p, enum token_kind kind, size_t skip, size_t n)
{
	p->token.kind = kind;
	p->token.text = arena_strndup(p->arena, p->at + skip, n);
	if (!p->token.text)
		no_memory(p);
}

static void next(struct parser *p)
{
	const char *end;
	size_t n;

	if (p->rc)
		return;
	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
		p->at++;
	p->token = (struct token){.kind = TOKEN_END, .column = (size_t)(p->at - p->text) + 1};
	if (!*p->at)
		return;
	n = name_length(p->at, true);
	if (n) {
		next_text(p, TOKEN_NAME, 0, n);
		p->at += n;
	} else if (is_digit(*p->at) || (*p->at == '.' && is_digit(p->at[1]))) {
		next_number(p);
	} else if (*p->at == '$') {
		n = name_length(p->at + 1, false);
		if (!n) {
			fail(p, p->token.column, "'$' without the name of a constant");
			return;
		}
		next_text(p, TOKEN_DOLLAR, 1, n);
		p->at += 1 + n;
	} else if (*p->at == '`') {
		end = strchr(p->at + 1, '`');
		if (!end || end == p->at + 1) {
			fail(p, p->token.column,
			     end ? "an empty name in backquotes" : "the backquote is never closed");
			return;
		}
		next_text(p, TOKEN_NAME, 1, (size_t)(end - p->at) - 1);
		p->token.quoted = true;
		p->at = end + 1;
	} else {
		next_mark(p);
	}
}

static bool at_mark(const struct parser *p, int mark)
{
	return !p->rc && p->token.kind == TOKEN_MARK && p->token.mark == mark;
}

static bool at_word(const struct parser *p, const char *word)
{
	return !p->rc && p->token.kind == TOKEN_NAME && !p->token.quoted &&
	       !strcmp(p->token.text, word);
}

static bool skip_mark(struct parser *p, int mark)
{
	if (!at_mark(p, mark))
		return false;
	next(p);
	return true;
}

/* What stands where something else was wanted, for messages. */
static const char *describe(const struct parser *p, char text_out[80])
{
	static const char *const doubles[] = {"<=", ">=", "==", "!="};

	switch (p->token.kind) {
	case TOKEN_NUMBER:
		snprintf(text_out, 80, "a number");
		break;
	case TOKEN_NAME:
		snprintf(text_out, 80, "'%.60s'", p->token.text);
		break;
	case TOKEN_DOLLAR:
		snprintf(text_out, 80, "'$%.60s'", p->token.text);
		break;
	case TOKEN_MARK:
		if (p->token.mark >= MARK_LESS_EQUAL)
			snprintf(text_out, 80, "'%s'", doubles[p->token.mark - MARK_LESS_EQUAL]);
		else
			snprintf(text_out, 80, "'%c'", p->token.mark);
		break;
	case TOKEN_END:
	default:
		snprintf(text_out, 80, "the end");
	}
	return text_out;
}

static bool want_mark(struct parser *p, int mark, const char *why)
{
	char found[80];

	if (skip_mark(p, mark))
		return true;
	if (!p->rc)
		fail(p, p->token.column, "'%c' is missing %s, found %s", mark, why,
		     describe(p, found));
	return false;
}

/* ---- nodes ---- */

static struct expr_node *node(struct parser *p, enum expr_op op)
{
	struct expr_node *n;

	if (p->rc)
		return NULL;
	if (++p->n_nodes > EXPR_NODES_MAX)
		return fail(p, p->token.column, "more than %d operations and operands",
			    EXPR_NODES_MAX);
	n = arena_alloc(p->arena, sizeof(*n));
	if (!n) {
		no_memory(p);
		return NULL;
	}
	n->op = op;
	return n;
}

static struct expr_node *node_of(struct parser *p, enum expr_op op, const struct expr_node *a,
				 const struct expr_node *b, const struct expr_node *c)
{
	struct expr_node *n = node(p, op);

	if (n) {
		n->a = a;
		n->b = b;
		n->c = c;
	}
	return n;
}

static const struct expr_node *leaf(struct parser *p, enum expr_op op, const char *name,
				    int32_t instance)
{
	struct expr_node *n = node(p, op);
	struct expr_leaf l = {.name = name, .instance = instance};
	size_t i;

	if (!n)
		return NULL;
	for (i = 0; i < p->leaves.n; i++)
		if (p->leaves.items[i].instance == instance &&
		    !strcmp(p->leaves.items[i].name, name))
			break;
	if (i == p->leaves.n) {
		l.full = instance == -1 ? name
			 : instance == EXPR_ALL_INSTANCES
				 ? arena_printf(p->arena, "%s[]", name)
				 : arena_printf(p->arena, "%s[%d]", name, instance);
		if (!l.full || !vec_push(&p->leaves, l) ||
		    !vec_push(&p->mentions, ((struct expr_mention){false, (uint32_t)i})))
			return no_memory(p);
	}
	n->index = (uint32_t)i;
	return n;
}

/* The facts of a run, and whether they add up over dispatches. */
static const struct {
	const char *name;
	bool adds_up;
} run_facts[] = {{"duration_ns", true}, {"dispatches", false}};

bool expr_is_run_fact(const char *name)
{
	for (size_t i = 0; i < sizeof(run_facts) / sizeof(*run_facts); i++)
		if (!strcmp(run_facts[i].name, name))
			return true;
	return false;
}

static const struct expr_node *constant(struct parser *p, const char *name)
{
	struct expr_node *n = node(p, EXPR_CONSTANT);
	struct expr_constant k = {.name = name, .dispatches = !strcmp(name, "dispatches")};
	size_t i;

	if (!n)
		return NULL;
	for (i = 0; i < p->constants.n; i++)
		if (!strcmp(p->constants.items[i].name, name))
			break;
	if (i == p->constants.n) {
		for (size_t j = 0; j < sizeof(run_facts) / sizeof(*run_facts); j++)
			if (!strcmp(run_facts[j].name, name))
				k.adds_up = run_facts[j].adds_up;
		if (!vec_push(&p->constants, k) ||
		    !vec_push(&p->mentions, ((struct expr_mention){true, (uint32_t)i})))
			return no_memory(p);
	}
	n->index = (uint32_t)i;
	return n;
}

/* ---- the grammar ---- */

static const struct expr_node *parse_expr(struct parser *p);

static bool index_of_instance(struct parser *p, int32_t *index_out)
{
	double number = p->token.number;

	if (p->token.kind != TOKEN_NUMBER || number != floor(number) || number > EXPR_INDEX_MAX) {
		fail(p, p->token.column,
		     "an instance is a whole number from 0 to %d (all instances, X[], only inside "
		     "sum, min, max, avg, std)",
		     EXPR_INDEX_MAX);
		return false;
	}
	*index_out = (int32_t)number;
	next(p);
	return want_mark(p, ']', "after the instance");
}

static const struct expr_node *parse_instances(struct parser *p, const struct expr_function *f)
{
	const char *name = p->token.text;
	bool is_name = p->token.kind == TOKEN_NAME &&
		       (p->token.quoted || !expr_is_reserved(p->token.text));
	size_t column = p->token.column;

	if (is_name) {
		next(p);
		if (skip_mark(p, '[') && skip_mark(p, ']'))
			return want_mark(p, ')', "after the counter")
				       ? leaf(p, f->op, name, EXPR_ALL_INSTANCES)
				       : NULL;
	}
	return fail(p, column, "'%s' takes all instances of one counter, %s(X[])", f->name,
		    f->name);
}

static const struct expr_node *parse_call(struct parser *p, const char *name, size_t column)
{
	const struct expr_function *f = expr_function_find(name, -1);
	const struct expr_node *arguments[2] = {NULL, NULL};
	struct expr_node *n;
	int n_arguments = 0;

	if (!f)
		return fail(p, column, "there is no function '%s'", name);
	if (f->op >= EXPR_INSTANCES_SUM && f->op <= EXPR_INSTANCES_STD)
		return parse_instances(p, f);
	do {
		if (n_arguments == 2)
			return fail(p, p->token.column, "'%s' has too many arguments", name);
		arguments[n_arguments++] = parse_expr(p);
	} while (skip_mark(p, ','));
	if (!want_mark(p, ')', "at the end of the arguments"))
		return NULL;
	if (!expr_function_find(name, n_arguments))
		return fail(p, column, "'%s' takes %d argument%s, not %d", name, f->n_arguments,
			    f->n_arguments == 1 ? "" : "s", n_arguments);
	f = expr_function_find(name, n_arguments);
	if (f->op == EXPR_QUANTILE && (arguments[1]->op != EXPR_NUMBER || arguments[1]->number > 1))
		return fail(p, column, "the second argument of 'QUANTILE' is a number from 0 to 1");
	n = node_of(p, f->op, arguments[0], f->op == EXPR_QUANTILE ? NULL : arguments[1], NULL);
	if (n && f->op == EXPR_QUANTILE)
		n->number = arguments[1]->number;
	if (n && f->op >= EXPR_SUM) {
		n->index = (uint32_t)p->reductions.n;
		if (!vec_push(&p->reductions, n))
			return no_memory(p);
	}
	return n;
}

static const struct expr_node *parse_name(struct parser *p)
{
	const char *name = p->token.text;
	size_t column = p->token.column;
	bool quoted = p->token.quoted;
	int32_t index;

	if (at_word(p, "None")) {
		next(p);
		return node(p, EXPR_NONE);
	}
	if (!quoted && expr_is_reserved(name))
		return fail(p, column, "a value is missing before '%s'", name);
	next(p);
	if (!quoted && skip_mark(p, '('))
		return parse_call(p, name, column);
	if (skip_mark(p, '[')) {
		if (!index_of_instance(p, &index))
			return NULL;
		return leaf(p, EXPR_COUNTER, name, index);
	}
	return leaf(p, EXPR_COUNTER, name, -1);
}

static const struct expr_node *parse_primary(struct parser *p)
{
	const struct expr_node *n;
	struct expr_node *number;
	char found[80];

	if (p->rc)
		return NULL;
	switch (p->token.kind) {
	case TOKEN_NUMBER:
		number = node(p, EXPR_NUMBER);
		if (number)
			number->number = p->token.number;
		next(p);
		return number;
	case TOKEN_NAME:
		return parse_name(p);
	case TOKEN_DOLLAR:
		n = constant(p, p->token.text);
		next(p);
		return n;
	case TOKEN_MARK:
	case TOKEN_END:
	default:
		if (!skip_mark(p, '('))
			return fail(p, p->token.column, "a value is missing, found %s",
				    describe(p, found));
		n = parse_expr(p);
		return want_mark(p, ')', "at the end of the parenthesis") ? n : NULL;
	}
}

static const struct expr_node *parse_unary(struct parser *p)
{
	const struct expr_node *n;

	if (!skip_mark(p, '-'))
		return parse_primary(p);
	if (++p->depth > EXPR_DEPTH_MAX)
		return fail(p, p->token.column, "nested deeper than %d", EXPR_DEPTH_MAX);
	n = parse_unary(p);
	p->depth--;
	return node_of(p, EXPR_NEGATE, n, NULL, NULL);
}

static const struct expr_node *parse_term(struct parser *p)
{
	const struct expr_node *n = parse_unary(p);

	for (;;) {
		if (skip_mark(p, '*'))
			n = node_of(p, EXPR_MULTIPLY, n, parse_unary(p), NULL);
		else if (skip_mark(p, '/'))
			n = node_of(p, EXPR_DIVIDE, n, parse_unary(p), NULL);
		else
			return n;
	}
}

static const struct expr_node *parse_sum(struct parser *p)
{
	const struct expr_node *n = parse_term(p);

	for (;;) {
		if (skip_mark(p, '+'))
			n = node_of(p, EXPR_ADD, n, parse_term(p), NULL);
		else if (skip_mark(p, '-'))
			n = node_of(p, EXPR_SUBTRACT, n, parse_term(p), NULL);
		else
			return n;
	}
}

static const struct expr_node *parse_compare(struct parser *p)
{
	static const struct {
		int mark;
		enum expr_op op;
	} comparisons[] = {{'<', EXPR_LESS},         {MARK_LESS_EQUAL, EXPR_LESS_EQUAL},
			   {'>', EXPR_GREATER},      {MARK_GREATER_EQUAL, EXPR_GREATER_EQUAL},
			   {MARK_EQUAL, EXPR_EQUAL}, {MARK_NOT_EQUAL, EXPR_NOT_EQUAL}};
	const struct expr_node *n = parse_sum(p);

	for (size_t i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++)
		if (skip_mark(p, comparisons[i].mark))
			return node_of(p, comparisons[i].op, n, parse_sum(p), NULL);
	return n;
}

static const struct expr_node *parse_expr(struct parser *p)
{
	const struct expr_node *n, *condition;
	char found[80];

	if (p->rc)
		return NULL;
	if (++p->depth > EXPR_DEPTH_MAX)
		return fail(p, p->token.column, "nested deeper than %d", EXPR_DEPTH_MAX);
	n = parse_compare(p);
	if (at_word(p, "if")) {
		next(p);
		condition = parse_expr(p);
		if (at_word(p, "else")) {
			next(p);
			n = node_of(p, EXPR_IF, n, condition, parse_expr(p));
		} else if (!p->rc) {
			fail(p, p->token.column, "'else' is missing after 'if', found %s",
			     describe(p, found));
		}
	}
	p->depth--;
	return n;
}

static void *keep(struct parser *p, const void *items, size_t n, size_t size)
{
	void *copy = arena_array(p->arena, n, size);

	if (!copy)
		no_memory(p);
	else if (n)
		memcpy(copy, items, n * size);
	return copy;
}

/* Marks what is used outside of every reduction: in sums over many dispatches only that must be
 * there. */
static void mark_bare(struct parser *p, const struct expr_node *n)
{
	if (!n || n->op >= EXPR_SUM)
		return;
	if (n->op == EXPR_COUNTER || (n->op >= EXPR_INSTANCES_SUM && n->op <= EXPR_INSTANCES_STD))
		p->leaves.items[n->index].bare = true;
	if (n->op == EXPR_CONSTANT)
		p->constants.items[n->index].bare = true;
	mark_bare(p, n->a);
	mark_bare(p, n->b);
	mark_bare(p, n->c);
}

int expr_parse(struct arena *arena, const char *name, const char *text,
	       const struct expr **expr_out, struct error *err)
{
	struct parser p = {.arena = arena, .name = name, .text = text, .at = text, .err = err};
	struct expr *e = arena_alloc(arena, sizeof(*e));
	char found[80];

	*expr_out = NULL;
	if (!e) {
		no_memory(&p);
		return p.rc;
	}
	if (strnlen(text, EXPR_TEXT_MAX + 1) > EXPR_TEXT_MAX)
		return error_set(err, RC_INVALID, "%s: an expression of more than %d bytes", name,
				 EXPR_TEXT_MAX);
	next(&p);
	e->root = parse_expr(&p);
	if (!p.rc && p.token.kind != TOKEN_END)
		fail(&p, p.token.column, "an operator is missing before %s", describe(&p, found));
	if (!p.rc) {
		mark_bare(&p, e->root);
		e->n_nodes = p.n_nodes;
		e->n_leaves = (uint32_t)p.leaves.n;
		e->n_constants = (uint32_t)p.constants.n;
		e->n_reductions = (uint32_t)p.reductions.n;
		e->n_mentions = (uint32_t)p.mentions.n;
		e->leaves = keep(&p, p.leaves.items, p.leaves.n, sizeof(*p.leaves.items));
		e->constants =
			keep(&p, p.constants.items, p.constants.n, sizeof(*p.constants.items));
		e->reductions =
			keep(&p, p.reductions.items, p.reductions.n, sizeof(*p.reductions.items));
		e->mentions = keep(&p, p.mentions.items, p.mentions.n, sizeof(*p.mentions.items));
	}
	if (!p.rc)
		*expr_out = e;
	vec_release(&p.leaves);
	vec_release(&p.constants);
	vec_release(&p.reductions);
	vec_release(&p.mentions);
	return p.rc;
}

void expr_names(const struct expr *e, void (*found)(const char *name, bool is_constant, void *data),
		void *data)
{
	for (uint32_t i = 0; i < e->n_mentions; i++) {
		const struct expr_mention *m = &e->mentions[i];

		if (m->is_constant)
			found(e->constants[m->index].name, true, data);
		else
			found(e->leaves[m->index].full, false, data);
	}
}
