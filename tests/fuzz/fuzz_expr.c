/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metric expressions from anyone: parse, print, parse again, evaluate both over a few rows. The two
 * must agree to the last bit.
 */
#include "base/str.h"
#include "fuzz.h"
#include "model/expr.h"

#include <stdlib.h>
#include <string.h>

/* Row 2 lacks every third counter; the rest are small numbers made of the name. */
static struct expr_value counter(void *data, const char *name, int instance, size_t row)
{
	size_t n = strlen(name) + (size_t)(instance + 1) + row;

	(void)data;
	return (struct expr_value){(double)(n % 7), row == 2 && n % 3 == 0};
}

static size_t instances(void *data, const char *name)
{
	(void)data;
	return strlen(name) % 4;
}

static struct expr_value constant(void *data, const char *name, size_t row)
{
	(void)data;
	return (struct expr_value){(double)row + (double)strlen(name), false};
}

static void count(const char *name, bool is_constant, void *data)
{
	(void)is_constant;
	*(size_t *)data += strlen(name);
}

static void evaluate(const struct expr *e, const struct expr *again)
{
	struct expr_input in = {.counter = counter, .instances = instances, .constant = constant};
	static const enum expr_ratio ratios[] = {EXPR_RATIO_OF_SUMS, EXPR_MEAN_OF_RATIOS};
	struct expr_result a, b;

	for (in.n_rows = 0; in.n_rows < 5; in.n_rows++) {
		for (size_t i = 0; i < 2; i++) {
			if (expr_evaluate(e, &in, ratios[i], &a, NULL) ||
			    expr_evaluate(again, &in, ratios[i], &b, NULL))
				continue;
			fuzz_assert(a.value.missing == b.value.missing &&
				    a.rows_used == b.rows_used &&
				    !memcmp(&a.value.number, &b.value.number, sizeof(double)));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	const struct expr *e, *again;
	struct error err = {0};
	struct str printed = STR_INIT;
	size_t names = 0;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!expr_parse(&arena, "fuzz", text, &e, &err)) {
		expr_names(e, count, &names);
		expr_print(e, &printed);
		/* more parentheses may be more than what is allowed, but never wrong otherwise */
		if (!expr_parse(&arena, "fuzz", str_text(&printed), &again, &err))
			evaluate(e, again);
		else
			fuzz_assert(strstr(err.message, "nested deeper") ||
				    strstr(err.message, "an expression of more than"));
	}
	str_release(&printed);
	arena_release(&arena);
	free(text);
	return 0;
}
