/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long metric expressions take over many dispatches: nanoseconds a row, for a few typical ones,
 * both ways of taking a ratio. The time must not depend on the number of rows.
 */
#include "model/expr.h"

#include <stdio.h>
#include <time.h>

#define ROWS_MAX 1000000

static double columns[8][ROWS_MAX];

static size_t bind(void *data, const char *name, int instance)
{
	(void)data;
	(void)instance;
	return (size_t)(name[0] - 'a');
}

static struct expr_value bound(void *data, size_t handle, size_t row)
{
	(void)data;
	return (struct expr_value){columns[handle][row], false};
}

static struct expr_value constant(void *data, const char *name, size_t row)
{
	(void)data;
	(void)name;
	return (struct expr_value){(double)row + 1, false};
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure(const struct expr *e, size_t rows, enum expr_ratio ratio)
{
	struct expr_input in = {.n_rows = rows, .bind = bind, .bound = bound, .constant = constant};
	struct expr_result result;
	double best = 1e18, start, spent;

	for (int i = 0; i < 5; i++) {
		start = now();
		if (expr_evaluate(e, &in, ratio, &result, NULL))
			return -1;
		spent = now() - start;
		best = spent < best ? spent : best;
	}
	return best / (double)rows;
}

int main(void)
{
	static const char *const texts[] = {
		"100 * a / b",
		"1e9 * c / $duration_ns",
		"(64 * (a + b) - 32 * c) / d if d != 0 else None",
		"AVG(a / b)",
		"MEDIAN(a)",
		"QUANTILE(a / b, 0.9)",
	};

	for (size_t i = 0; i < 8; i++)
		for (size_t j = 0; j < ROWS_MAX; j++)
			columns[i][j] = (double)((j * 2654435761u + i * 40503u) % 1000003);
	printf("%-50s %10s %18s %18s\n", "ns a row", "rows", "ratio of sums", "mean of ratios");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct arena arena = {0};
		const struct expr *e;
		struct error err = {0};

		if (expr_parse(&arena, "bench", texts[i], &e, &err)) {
			fprintf(stderr, "%s\n", err.message);
			return 1;
		}
		for (size_t rows = ROWS_MAX / 100; rows <= ROWS_MAX; rows *= 10)
			printf("%-50s %10zu %18.1f %18.1f\n", texts[i], rows,
			       measure(e, rows, EXPR_RATIO_OF_SUMS),
			       measure(e, rows, EXPR_MEAN_OF_RATIOS));
		arena_release(&arena);
	}
	return 0;
}
