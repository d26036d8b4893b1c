/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of metric expressions (docs/expressions.md): recursive descent over the text, one
 * function a rule of the grammar. Texts come from data files and from users, so depth, size and
 * numbers are bounded, and every refusal names the column.
 */
#include "model/expr.h"

#include "base/vec.h"
#include "model/expr_lex.h"
#include "model/expr_node.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct parser {
	struct expr_lexer lex;
	int depth;
	uint32_t n_nodes;
	VEC(struct expr_leaf) leaves;
	VEC(struct expr_constant) constants;
	VEC(const struct expr_node *) reductions;
	VEC(struct expr_mention) mentions;
};

static bool at_mark(const struct parser *p, int mark)
{
	return !p->lex.rc && p->lex.token.kind == EXPR_TOKEN_MARK && p->lex.token.mark == mark;
}

static bool at_word(const struct parser *p, const char *word)
{
	return !p->lex.rc && p->lex.token.kind == EXPR_TOKEN_NAME && !p->lex.token.quoted &&
	       !strcmp(p->lex.token.text, word);
}

static bool skip_mark(struct parser *p, int mark)
{
	if (!at_mark(p, mark))
		return false;
	expr_lex_next(&p->lex);
	return true;
}

static bool want_mark(struct parser *p, int mark, const char *why)
{
	char found[80];

	if (skip_mark(p, mark))
		return true;
	if (!p->lex.rc)
		expr_lex_fail(&p->lex, p->lex.token.column, "'%c' is missing %s, found %s", mark,
			      why, expr_lex_describe(&p->lex, found));
	return false;
}

/* ---- nodes ---- */

static struct expr_node *node(struct parser *p, enum expr_op op)
{
	struct expr_node *n;

	if (p->lex.rc)
		return NULL;
	if (++p->n_nodes > EXPR_NODES_MAX)
		return expr_lex_fail(&p->lex, p->lex.token.column,
				     "more than %d operations and operands", EXPR_NODES_MAX);
	n = arena_alloc(p->lex.arena, sizeof(*n));
	if (!n) {
		expr_lex_no_memory(&p->lex);
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
				 ? arena_printf(p->lex.arena, "%s[]", name)
				 : arena_printf(p->lex.arena, "%s[%d]", name, instance);
		if (!l.full || !vec_push(&p->leaves, l) ||
		    !vec_push(&p->mentions, ((struct expr_mention){false, (uint32_t)i})))
			return expr_lex_no_memory(&p->lex);
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
			return expr_lex_no_memory(&p->lex);
	}
	n->index = (uint32_t)i;
	return n;
}

/* ---- the grammar ---- */

static const struct expr_node *parse_expr(struct parser *p);

static bool index_of_instance(struct parser *p, int32_t *index_out)
{
	double number = p->lex.token.number;

	if (p->lex.token.kind != EXPR_TOKEN_NUMBER || number != floor(number) ||
	    number > EXPR_INDEX_MAX) {
		expr_lex_fail(&p->lex, p->lex.token.column,
			      "an instance is a whole number from 0 to %d (all instances, X[], "
			      "only inside "
			      "sum, min, max, avg, std)",
			      EXPR_INDEX_MAX);
		return false;
	}
	*index_out = (int32_t)number;
	expr_lex_next(&p->lex);
	return want_mark(p, ']', "after the instance");
}

static const struct expr_node *parse_instances(struct parser *p, const struct expr_function *f)
{
	const char *name = p->lex.token.text;
	bool is_name = p->lex.token.kind == EXPR_TOKEN_NAME &&
		       (p->lex.token.quoted || !expr_is_reserved(p->lex.token.text));
	size_t column = p->lex.token.column;

	if (is_name) {
		expr_lex_next(&p->lex);
		if (skip_mark(p, '[') && skip_mark(p, ']'))
			return want_mark(p, ')', "after the counter")
				       ? leaf(p, f->op, name, EXPR_ALL_INSTANCES)
				       : NULL;
	}
	return expr_lex_fail(&p->lex, column, "'%s' takes all instances of one counter, %s(X[])",
			     f->name, f->name);
}

static const struct expr_node *parse_call(struct parser *p, const char *name, size_t column)
{
	const struct expr_function *f = expr_function_find(name, -1);
	const struct expr_node *arguments[2] = {NULL, NULL};
	struct expr_node *n;
	int n_arguments = 0;

	if (!f)
		return expr_lex_fail(&p->lex, column, "there is no function '%s'", name);
	if (f->op >= EXPR_INSTANCES_SUM && f->op <= EXPR_INSTANCES_STD)
		return parse_instances(p, f);
	do {
		if (n_arguments == 2)
			return expr_lex_fail(&p->lex, p->lex.token.column,
					     "'%s' has too many arguments", name);
		arguments[n_arguments++] = parse_expr(p);
	} while (skip_mark(p, ','));
	if (!want_mark(p, ')', "at the end of the arguments"))
		return NULL;
	if (!expr_function_find(name, n_arguments))
		return expr_lex_fail(&p->lex, column, "'%s' takes %d argument%s, not %d", name,
				     f->n_arguments, f->n_arguments == 1 ? "" : "s", n_arguments);
	f = expr_function_find(name, n_arguments);
	if (f->op == EXPR_QUANTILE && (arguments[1]->op != EXPR_NUMBER || arguments[1]->number > 1))
		return expr_lex_fail(&p->lex, column,
				     "the second argument of 'QUANTILE' is a number from 0 to 1");
	n = node_of(p, f->op, arguments[0], f->op == EXPR_QUANTILE ? NULL : arguments[1], NULL);
	if (n && f->op == EXPR_QUANTILE)
		n->number = arguments[1]->number;
	if (n && f->op >= EXPR_SUM) {
		n->index = (uint32_t)p->reductions.n;
		if (!vec_push(&p->reductions, n))
			return expr_lex_no_memory(&p->lex);
	}
	return n;
}

static const struct expr_node *parse_name(struct parser *p)
{
	const char *name = p->lex.token.text;
	size_t column = p->lex.token.column;
	bool quoted = p->lex.token.quoted;
	int32_t index;

	if (at_word(p, "None")) {
		expr_lex_next(&p->lex);
		return node(p, EXPR_NONE);
	}
	if (!quoted && expr_is_reserved(name))
		return expr_lex_fail(&p->lex, column, "a value is missing before '%s'", name);
	expr_lex_next(&p->lex);
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

	if (p->lex.rc)
		return NULL;
	switch (p->lex.token.kind) {
	case EXPR_TOKEN_NUMBER:
		number = node(p, EXPR_NUMBER);
		if (number)
			number->number = p->lex.token.number;
		expr_lex_next(&p->lex);
		return number;
	case EXPR_TOKEN_NAME:
		return parse_name(p);
	case EXPR_TOKEN_DOLLAR:
		n = constant(p, p->lex.token.text);
		expr_lex_next(&p->lex);
		return n;
	case EXPR_TOKEN_MARK:
	case EXPR_TOKEN_END:
	default:
		if (!skip_mark(p, '('))
			return expr_lex_fail(&p->lex, p->lex.token.column,
					     "a value is missing, found %s",
					     expr_lex_describe(&p->lex, found));
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
		return expr_lex_fail(&p->lex, p->lex.token.column, "nested deeper than %d",
				     EXPR_DEPTH_MAX);
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
	} comparisons[] = {{'<', EXPR_LESS},
			   {EXPR_MARK_LESS_EQUAL, EXPR_LESS_EQUAL},
			   {'>', EXPR_GREATER},
			   {EXPR_MARK_GREATER_EQUAL, EXPR_GREATER_EQUAL},
			   {EXPR_MARK_EQUAL, EXPR_EQUAL},
			   {EXPR_MARK_NOT_EQUAL, EXPR_NOT_EQUAL}};
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

	if (p->lex.rc)
		return NULL;
	if (++p->depth > EXPR_DEPTH_MAX)
		return expr_lex_fail(&p->lex, p->lex.token.column, "nested deeper than %d",
				     EXPR_DEPTH_MAX);
	n = parse_compare(p);
	if (at_word(p, "if")) {
		expr_lex_next(&p->lex);
		condition = parse_expr(p);
		if (at_word(p, "else")) {
			expr_lex_next(&p->lex);
			n = node_of(p, EXPR_IF, n, condition, parse_expr(p));
		} else if (!p->lex.rc) {
			expr_lex_fail(&p->lex, p->lex.token.column,
				      "'else' is missing after 'if', found %s",
				      expr_lex_describe(&p->lex, found));
		}
	}
	p->depth--;
	return n;
}

static void *keep(struct parser *p, const void *items, size_t n, size_t size)
{
	void *copy = arena_array(p->lex.arena, n, size);

	if (!copy)
		expr_lex_no_memory(&p->lex);
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
	struct parser p = {
		.lex = {.arena = arena, .name = name, .text = text, .at = text, .err = err}};
	struct expr *e = arena_alloc(arena, sizeof(*e));
	char found[80];

	*expr_out = NULL;
	if (!e) {
		expr_lex_no_memory(&p.lex);
		return p.lex.rc;
	}
	if (strnlen(text, EXPR_TEXT_MAX + 1) > EXPR_TEXT_MAX)
		return error_set(err, RC_INVALID, "%s: an expression of more than %d bytes", name,
				 EXPR_TEXT_MAX);
	expr_lex_next(&p.lex);
	e->root = parse_expr(&p);
	if (!p.lex.rc && p.lex.token.kind != EXPR_TOKEN_END)
		expr_lex_fail(&p.lex, p.lex.token.column, "an operator is missing before %s",
			      expr_lex_describe(&p.lex, found));
	if (!p.lex.rc) {
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
	if (!p.lex.rc)
		*expr_out = e;
	vec_release(&p.leaves);
	vec_release(&p.constants);
	vec_release(&p.reductions);
	vec_release(&p.mentions);
	return p.lex.rc;
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

bool expr_needs_rows(const struct expr *e)
{
	for (uint32_t i = 0; i < e->n_constants; i++) {
		if (e->constants[i].dispatches)
			return true;
	}
	return e->n_reductions > 0;
}
