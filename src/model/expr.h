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
 * The text is not kept; what *expr_out points to lives in the arena. */
int expr_parse(struct arena *arena, const char *name, const char *text,
	       const struct expr **expr_out, struct error *err);
/* Calls found(name, is_constant, data) for each counter or $constant, in order of appearance, each
 * once. A counter is named as the counter that has to be collected: "X" summed over instances,
 * "X[3]" one instance, "X[]" all instances one by one. A constant is named without its '$'. */
void expr_names(const struct expr *e, void (*found)(const char *name, bool is_constant, void *data),
		void *data);

/* Appends the expression with every operation in parentheses: parses back to the same expression.
 */
struct str;
void expr_print(const struct expr *e, struct str *out);
/* True for the constants that are facts of a run ($duration_ns, $dispatches) and not of a chip. */
bool expr_is_run_fact(const char *name);

/* True when it reduces over dispatches or asks for their number: then one row that holds sums
 * cannot stand for many rows. */
bool expr_needs_rows(const struct expr *e);

/* Where values come from. Rows are dispatches, 0 .. n_rows - 1. */
struct expr_input {
	size_t n_rows;
	void *data;
	/* Value of counter `name` in row; instance -1 means summed over instances. */
	struct expr_value (*counter)(void *data, const char *name, int instance, size_t row);
	/* Number of instances of the counter's block (0: unknown). */
	size_t (*instances)(void *data, const char *name);
	struct expr_value (*constant)(void *data, const char *name, size_t row);
	/* Optional (both or none), for many rows: bind is called once per counter and instance, and
	 * bound in place of counter with what bind returned, so that no name is looked up per row.
	 */
	size_t (*bind)(void *data, const char *name, int instance);
	struct expr_value (*bound)(void *data, size_t handle, size_t row);
};
enum expr_ratio {
	EXPR_RATIO_OF_SUMS,
	EXPR_MEAN_OF_RATIOS
};
struct expr_result {
	struct expr_value value;
	/* How many rows the value stands on: those with every counter (ratio of sums), those with a
	 * value (mean of ratios); with reductions over dispatches, the fewest that one of them
	 * used. */
	size_t rows_used;
};
/* Evaluates for in->n_rows dispatches; without rows the value is missing. Linear in rows, no
 * allocation per row. Fails only with RC_NO_MEMORY or when a block claims an absurd number of
 * instances. */
int expr_evaluate(const struct expr *e, const struct expr_input *in, enum expr_ratio ratio,
		  struct expr_result *result_out, struct error *err);

#endif
