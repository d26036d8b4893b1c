/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metric expressions (docs/expressions.md): parse once, evaluate for one unit or over many. A
 * parsed expression lives in an arena and is immutable, so several threads may evaluate it.
 */
#ifndef RETALLY_MODEL_EXPR_H
#define RETALLY_MODEL_EXPR_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expr;

/* A number that may be missing. */
struct expr_value {
	double number;
	bool missing;
};

/* Parses text; error messages give the column: "NAME: column 7: ...". Depth and size are bounded.
 */
int expr_parse(struct arena *arena, const char *name, const char *text,
	       const struct expr **expr_out, struct error *err);
/* Calls found(name, is_constant, data) for each counter or $constant, in order of appearance. */
void expr_names(const struct expr *e, void (*found)(const char *name, bool is_constant, void *data),
		void *data);

/* Where values come from. Rows are dispatches, 0 .. n_rows - 1. */
struct expr_input {
	size_t n_rows;
	void *data;
	/* Value of counter `name` in row; instance -1 means summed over instances. */
	struct expr_value (*counter)(void *data, const char *name, int instance, size_t row);
	/* Number of instances of the counter's block (0: unknown). */
	size_t (*instances)(void *data, const char *name);
	struct expr_value (*constant)(void *data, const char *name, size_t row);
};
enum expr_ratio {
	EXPR_RATIO_OF_SUMS,
	EXPR_MEAN_OF_RATIOS
};
struct expr_result {
	struct expr_value value;
	size_t rows_used; /* dispatches that had every counter */
};
int expr_evaluate(const struct expr *e, const struct expr_input *in, enum expr_ratio ratio,
		  struct expr_result *result_out, struct error *err);

#endif
