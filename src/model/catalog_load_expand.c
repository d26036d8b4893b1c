/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Built-ins and constants in expressions. They are replaced in the text, in parentheses, before the
 * expression is kept: what a plan holds needs nothing but counters and facts of the run.
 */
#include "base/str.h"
#include "model/catalog_load_internal.h"
#include "model/expr.h"
#include "model/expr_node.h"
#include "model/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 16

struct expansion {
	const struct catalog *c;
	const struct catalog_document *document;
	const char *open[NESTING_MAX]; /* built-ins being replaced */
	int depth;
	struct str *out;
	struct error *err;
};

static size_t name_length(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	return n && (*s < '0' || *s > '9') ? n : 0;
}

static const struct yaml_value *find_builtin(const struct catalog_document *d, const char *name)
{
	const struct yaml_value *list = yaml_member(d->root, "builtins"), *v;

	for (const struct yaml_value *b = list ? list->child : NULL; b; b = b->next) {
		v = yaml_member(b, "name");
		if (v && v->text && !strcmp(v->text, name))
			return yaml_member(b, "expression");
	}
	return NULL;
}

static void add_number(struct str *out, double value)
{
	struct expr_node number = {.op = EXPR_NUMBER, .number = value < 0 ? -value : value};
	struct expr e = {.root = &number};

	if (value < 0)
		str_add(out, "(-");
	expr_print(&e, out);
	if (value < 0)
		str_add_char(out, ')');
}

static int unknown(struct expansion *x, const struct yaml_value *at, const char *name)
{
	const struct yaml_value *list = yaml_member(x->document->root, "builtins"), *v;
	struct nearest n;
	char hint[160];

	nearest_init(&n, name);
	for (const struct yaml_value *b = list ? list->child : NULL; b; b = b->next) {
		v = yaml_member(b, "name");
		if (v && v->text)
			nearest_offer(&n, v->text);
	}
	vec_for_each (&x->c->constants, k)
		nearest_offer(&n, k->name);
	nearest_offer(&n, "duration_ns");
	nearest_offer(&n, "dispatches");
	return yaml_error(at, x->document->name, x->err,
			  "there is no constant or built-in '$%.80s'%s", name,
			  nearest_hint(&n, hint, sizeof(hint)));
}

static int expand(struct expansion *x, const struct yaml_value *at, const char *text);

static int expand_name(struct expansion *x, const struct yaml_value *at, const char *name)
{
	const struct yaml_value *builtin = find_builtin(x->document, name);
	uint32_t constant = catalog_find_constant(x->c, name);
	int rc;

	if (builtin) {
		for (int i = 0; i < x->depth; i++)
			if (!strcmp(x->open[i], name))
				return yaml_error(builtin, x->document->name, x->err,
						  "built-in '$%.80s' uses itself", name);
		if (x->depth == NESTING_MAX)
			return yaml_error(builtin, x->document->name, x->err,
					  "built-ins nested deeper than %d", NESTING_MAX);
		x->open[x->depth++] = name;
		str_add_char(x->out, '(');
		rc = expand(x, builtin, builtin->text);
		str_add_char(x->out, ')');
		x->depth--;
		return rc;
	}
	if (constant != UINT32_MAX)
		add_number(x->out, x->c->constants.items[constant].value);
	else if (expr_is_run_fact(name))
		str_addf(x->out, "$%s", name);
	else
		return unknown(x, at, name);
	return 0;
}

static int expand(struct expansion *x, const struct yaml_value *at, const char *text)
{
	bool quoted = false;
	char *name;
	size_t n;
	int rc;

	while (*text) {
		if (*text == '`')
			quoted = !quoted;
		n = *text == '$' && !quoted ? name_length(text + 1) : 0;
		if (x->out->size > EXPR_TEXT_MAX)
			return yaml_error(at, x->document->name, x->err,
					  "more than %d bytes with its built-ins", EXPR_TEXT_MAX);
		if (!n) {
			str_add_char(x->out, *text++);
			continue;
		}
		name = strndup(text + 1, n);
		if (!name)
			return error_set(x->err, RC_NO_MEMORY, "out of memory");
		rc = expand_name(x, at, name);
		free(name);
		if (rc)
			return rc;
		text += 1 + n;
	}
	return 0;
}

int catalog_load_expand(const struct catalog *c, const struct catalog_document *d,
			const struct yaml_value *at, const char *text, struct str *out,
			struct error *err)
{
	struct expansion x = {.c = c, .document = d, .out = out, .err = err};
	int rc = expand(&x, at, text);

	if (!rc && str_is_failed(out))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	return rc;
}

static int check_builtin(const struct catalog *c, const struct catalog_document *d,
			 struct arena *scratch, const struct yaml_value *b, struct error *err)
{
	static const char *const keys[] = {"!name", "!expression", "help", NULL};
	const char *name = "", *text = "";
	const struct yaml_value *v;
	const struct expr *e;
	struct str out = STR_INIT;
	char where[400];
	int rc = yaml_check_keys(b, d->name, "a built-in", keys, err);

	if (!rc)
		rc = yaml_text(b, d->name, "name", &name, err);
	if (!rc)
		rc = yaml_text(b, d->name, "expression", &text, err);
	if (rc)
		return rc;
	v = yaml_member(b, "name");
	if (!*name || name_length(name) != strlen(name))
		return yaml_error(v, d->name, err,
				  "the name of a built-in has letters, digits and '_' only");
	if (expr_is_run_fact(name) || catalog_find_constant(c, name) != UINT32_MAX)
		return yaml_error(v, d->name, err, "'$%.80s' is a constant already", name);
	for (const struct yaml_value *o = yaml_member(d->root, "builtins")->child; o != b;
	     o = o->next)
		if (!strcmp(yaml_member(o, "name")->text, name))
			return yaml_error(v, d->name, err, "built-in '%.80s' is defined twice",
					  name);
	v = yaml_member(b, "expression");
	snprintf(where, sizeof(where), "%.200s:%u:%u: built-in '%.80s'", d->name, v->line,
		 v->column, name);
	rc = expr_parse(scratch, where, text, &e, err);
	if (rc)
		return rc;
	/* as $NAME, so that a built-in that uses itself is found */
	text = arena_printf(scratch, "$%s", name);
	if (!text)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = catalog_load_expand(c, d, v, text, &out, err);
	str_release(&out);
	return rc;
}

int catalog_load_builtins(const struct catalog *c, const struct catalog_document *d,
			  struct arena *scratch, struct error *err)
{
	const struct yaml_value *list;
	int rc = yaml_list(d->root, d->name, "builtins", YAML_MAPPING, &list, err);

	/* a built-in may use a later one: all must have their keys before one is expanded */
	for (const struct yaml_value *b = list ? list->child : NULL; b && !rc; b = b->next)
		if (!yaml_member(b, "expression") || yaml_member(b, "expression")->kind)
			rc = yaml_error(b, d->name, err,
					"a built-in without the text 'expression'");
	for (const struct yaml_value *b = list ? list->child : NULL; b && !rc; b = b->next)
		rc = check_builtin(c, d, scratch, b, err);
	return rc;
}
