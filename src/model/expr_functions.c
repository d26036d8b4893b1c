/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions and reserved words of the metric language: one place for parser and
 * printer. */
#include "model/expr_node.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Upper case: over dispatches, or element by element. Lower case: over the instances of a block. */
static const struct expr_function functions[] = {
	{"sum", EXPR_INSTANCES_SUM, 1}, {"min", EXPR_INSTANCES_MIN, 1},
	{"max", EXPR_INSTANCES_MAX, 1}, {"avg", EXPR_INSTANCES_AVG, 1},
	{"std", EXPR_INSTANCES_STD, 1}, {"SUM", EXPR_SUM, 1},
	{"AVG", EXPR_AVG, 1},           {"MIN", EXPR_MIN, 1},
	{"MIN", EXPR_MIN2, 2},          {"MAX", EXPR_MAX, 1},
	{"MAX", EXPR_MAX2, 2},          {"MEDIAN", EXPR_MEDIAN, 1},
	{"STD", EXPR_STD, 1},           {"QUANTILE", EXPR_QUANTILE, 2},
	{"ROUND", EXPR_ROUND, 2},       {"MOD", EXPR_MOD, 2},
	{"ABS", EXPR_ABS, 1},           {"TO_INT", EXPR_TO_INT, 1},
	{"CONCAT", EXPR_CONCAT, 2},
};

const struct expr_function *expr_function_find(const char *name, int n_arguments)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(functions[i].name, name) &&
		    (n_arguments < 0 || functions[i].n_arguments == n_arguments))
			return &functions[i];
	return NULL;
}

const char *expr_function_name(enum expr_op op)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (functions[i].op == op)
			return functions[i].name;
	return NULL;
}

bool expr_is_reserved(const char *word)
{
	return !strcmp(word, "if") || !strcmp(word, "else") || !strcmp(word, "None");
}

/* Numbers are read alike in every locale. newlocale is called once and never freed. */
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void c_locale_make(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool expr_number(const char *text, double *number_out)
{
	char *end;
	double number;

	pthread_once(&c_locale_once, c_locale_make);
	number = c_locale ? strtod_l(text, &end, c_locale) : strtod(text, &end);
	if (end == text || *end || !isfinite(number))
		return false;
	*number_out = number;
	return true;
}
