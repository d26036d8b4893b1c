/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an expression back as text, every operation in parentheses; parsing that gives the same
 * tree. */
#include "base/str.h"
#include "model/expr_node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const operators[] = {" + ",  " - ", " * ",  " / ",  " < ",
					" <= ", " > ", " >= ", " == ", " != "};

static bool is_plain_name(const char *s)
{
	if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_'))
		return false;
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_' ||
		      (*s >= '0' && *s <= '9')))
			return false;
	return true;
}

static void print_leaf(const struct expr_leaf *l, struct str *out)
{
	bool plain = is_plain_name(l->name) && !expr_is_reserved(l->name);

	str_addf(out, plain ? "%s" : "`%s`", l->name);
	if (l->instance == EXPR_ALL_INSTANCES)
		str_add(out, "[]");
	else if (l->instance >= 0)
		str_addf(out, "[%d]", l->instance);
}

static void print_number(double number, struct str *out)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (!(strtod(text, NULL) < number || strtod(text, NULL) > number))
			break;
	}
	for (char *c = text; *c; c++)
		if (*c == ',')
			*c = '.'; /* a locale with a decimal comma */
	str_add(out, text);
}

static void print_node(const struct expr *e, const struct expr_node *n, struct str *out)
{
	if (n->op == EXPR_NUMBER) {
		print_number(n->number, out);
	} else if (n->op == EXPR_NONE) {
		str_add(out, "None");
	} else if (n->op == EXPR_COUNTER) {
		print_leaf(&e->leaves[n->index], out);
	} else if (n->op == EXPR_CONSTANT) {
		str_addf(out, "$%s", e->constants[n->index].name);
	} else if (n->op >= EXPR_ADD && n->op <= EXPR_NOT_EQUAL) {
		str_add_char(out, '(');
		print_node(e, n->a, out);
		str_add(out, operators[n->op - EXPR_ADD]);
		print_node(e, n->b, out);
		str_add_char(out, ')');
	} else if (n->op == EXPR_NEGATE) {
		str_add(out, "(-");
		print_node(e, n->a, out);
		str_add_char(out, ')');
	} else if (n->op == EXPR_IF) {
		str_add_char(out, '(');
		print_node(e, n->a, out);
		str_add(out, " if ");
		print_node(e, n->b, out);
		str_add(out, " else ");
		print_node(e, n->c, out);
		str_add_char(out, ')');
	} else {
		str_addf(out, "%s(", expr_function_name(n->op));
		if (n->op >= EXPR_INSTANCES_SUM && n->op <= EXPR_INSTANCES_STD)
			print_leaf(&e->leaves[n->index], out);
		else
			print_node(e, n->a, out);
		if (n->b) {
			str_add(out, ", ");
			print_node(e, n->b, out);
		}
		if (n->op == EXPR_QUANTILE) {
			str_add(out, ", ");
			print_number(n->number, out);
		}
		str_add_char(out, ')');
	}
}

void expr_print(const struct expr *e, struct str *out)
{
	print_node(e, e->root, out);
}
