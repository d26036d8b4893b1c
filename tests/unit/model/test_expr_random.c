/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random expressions against a second, naive evaluator that shares no code with the first: it works
 * on the test's own tree, gathers and sorts where the real one streams, and rounds nothing away.
 * Seeded, so a failure comes again. What steps (comparisons, ROUND, MOD, TO_INT, divisors) gets
 * whole numbers only, so that a last digit cannot decide.
 */
#include "../test.h"
#include "base/str.h"
#include "model/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_MAX  40
#define INSTANCES 3
#define NODES_MAX 4000
#define ROUNDS    20000

enum kind {
	NUMBER,
	NONE,
	COUNTER,
	ONE_INSTANCE,
	CONSTANT,
	OPERATOR,
	NEGATE,
	IF,
	CALL1,
	CALL2,
	INSTANCES_OF,
	REDUCE
};

struct tree {
	enum kind kind;
	int which; /* counter, instance, operator or function */
	double number;
	const struct tree *a, *b, *c;
};
struct answer {
	double x;
	double scale; /* size of the largest number it was computed from: errors are relative to it
		       */
	bool missing;
};

static const char *const counters[] = {"a", "b_x", "c.d", "cache-misses", "`u/e=1,f/`"};
static const char *const operators[] = {"+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!="};
static const char *const calls1[] = {"ABS", "TO_INT"};
static const char *const calls2[] = {"MIN", "MAX", "MOD", "ROUND"};
static const char *const over_instances[] = {"sum", "min", "max", "avg", "std"};
static const char *const reductions[] = {"SUM", "MIN", "MAX", "AVG", "STD", "MEDIAN", "QUANTILE"};

static struct tree nodes[NODES_MAX];
static size_t n_nodes;
static uint64_t seed = 20240611;
static size_t n_rows;
static double values[5][INSTANCES + 1][ROWS_MAX]; /* NaN: missing; [INSTANCES] is the sum */
static const char *failing;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static struct tree *new_node(enum kind kind)
{
	struct tree *t = &nodes[n_nodes++];

	assert_true(n_nodes < NODES_MAX);
	*t = (struct tree){.kind = kind};
	return t;
}

/* `exact`: only what stays a whole number. `reduced`: inside a reduction (which may be nested
 * once). */
static struct tree *grow(int depth, bool exact, int reduced)
{
	unsigned choice = depth <= 0 ? pick(4) : pick(16);
	struct tree *t;

	switch (choice) {
	case 0:
		t = new_node(NUMBER);
		t->number = exact ? pick(20) : pick(400) / 16.0;
		return t;
	case 1:
	case 2:
		t = new_node(pick(4) ? COUNTER : ONE_INSTANCE);
		t->which = (int)pick(5);
		t->number = pick(INSTANCES);
		return t;
	case 3:
		t = new_node(pick(20) ? CONSTANT : NONE);
		t->which = (int)pick(2);
		return t;
	case 4:
		t = new_node(NEGATE);
		t->a = grow(depth - 1, exact, reduced);
		return t;
	case 5:
		t = new_node(IF);
		t->a = grow(depth - 1, exact, reduced);
		t->b = grow(depth - 1, true, reduced);
		t->c = grow(depth - 1, exact, reduced);
		return t;
	case 6:
		t = new_node(CALL1);
		t->which = exact ? 0 : (int)pick(2);
		t->a = grow(depth - 1, exact || t->which, reduced);
		return t;
	case 7:
		t = new_node(CALL2);
		t->which = (int)pick(4);
		t->a = grow(depth - 1, exact || t->which >= 2, reduced);
		t->b = grow(depth - 1, exact || t->which >= 2, reduced);
		if (t->which == 3) {
			t->b = new_node(NUMBER);
			nodes[n_nodes - 1].number = pick(3);
		}
		return t;
	case 8:
		t = new_node(INSTANCES_OF);
		t->which = (int)pick(exact ? 3 : 5);
		t->number = pick(5);
		return t;
	case 9:
	case 10:
		if (reduced > 1)
			return grow(depth - 1, exact, reduced);
		t = new_node(REDUCE);
		t->which = (int)pick(exact ? 3 : 7);
		t->number = pick(5) / 4.0;
		t->a = grow(depth - 1, exact || t->which >= 5, reduced + 1);
		return t;
	default:
		t = new_node(OPERATOR);
		t->which = (int)pick(exact ? 3 : 10);
		t->a = grow(depth - 1, exact || t->which > 3, reduced);
		t->b = grow(depth - 1, exact || t->which >= 3, reduced);
		return t;
	}
}

/* ---- text, with as many spaces and parentheses as chance wants ---- */

static int level_of(const struct tree *t)
{
	if (t->kind == IF)
		return 0;
	if (t->kind == OPERATOR)
		return t->which > 3 ? 1 : t->which > 1 ? 3 : 2;
	return t->kind == NEGATE ? 4 : 5;
}

static void space(struct str *s)
{
	for (unsigned n = pick(8) ? 1 : pick(4) + 1; n; n--)
		str_add_char(s, ' ');
}

static void write_tree(struct str *s, const struct tree *t, int level)
{
	bool wrap = level_of(t) < level || !pick(10);

	if (wrap)
		str_add(s, pick(2) ? "(" : "( ");
	switch (t->kind) {
	case NUMBER:
		str_addf(s, "%.17g", t->number);
		break;
	case NONE:
		str_add(s, "None");
		break;
	case COUNTER:
		str_add(s, counters[t->which]);
		break;
	case ONE_INSTANCE:
		str_addf(s, "%s[%d]", counters[t->which], (int)t->number);
		break;
	case CONSTANT:
		str_add(s, t->which ? "$seven" : "$duration_ns");
		break;
	case OPERATOR:
		write_tree(s, t->a, t->which > 3 ? 2 : level_of(t));
		space(s);
		str_add(s, operators[t->which]);
		space(s);
		write_tree(s, t->b, t->which > 3 ? 2 : level_of(t) + 1);
		break;
	case NEGATE:
		str_add(s, "-");
		write_tree(s, t->a, 4);
		break;
	case IF:
		write_tree(s, t->a, 1);
		str_add(s, " if ");
		write_tree(s, t->b, 0);
		str_add(s, " else ");
		write_tree(s, t->c, 0);
		break;
	case CALL1:
	case CALL2:
		str_addf(s, "%s(", t->kind == CALL1 ? calls1[t->which] : calls2[t->which]);
		write_tree(s, t->a, 0);
		if (t->kind == CALL2) {
			str_add(s, pick(2) ? "," : ", ");
			write_tree(s, t->b, 0);
		}
		str_add(s, ")");
		break;
	case INSTANCES_OF:
		str_addf(s, "%s(%s[])", over_instances[t->which], counters[(int)t->number]);
		break;
	case REDUCE:
		str_addf(s, "%s(", reductions[t->which]);
		write_tree(s, t->a, 0);
		if (t->which == 6)
			str_addf(s, ", %.2f", t->number);
		str_add(s, ")");
		break;
	}
	if (wrap)
		str_add(s, ")");
}

/* ---- the naive evaluator ---- */

#define ALL_ROWS (-1) /* counters stand for sums over rows that are `usable` */

static bool usable[ROWS_MAX];

static const struct answer none = {0, 0, true};

static struct answer answer(double x, double scale)
{
	if (!isfinite(x))
		return none;
	return (struct answer){x, fabs(x) > scale ? fabs(x) : scale, false};
}

static struct answer column(int counter, int instance, int row)
{
	const double *v = values[counter][instance];
	double sum = 0;

	if (row != ALL_ROWS)
		return isnan(v[row]) ? none : answer(v[row], 0);
	for (size_t i = 0; i < n_rows; i++)
		if (usable[i])
			sum += v[i];
	return answer(sum, 0);
}

static struct answer duration(int row)
{
	double sum = 0;

	for (size_t i = 0; i < n_rows; i++)
		if (row == ALL_ROWS ? usable[i] : (int)i == row)
			sum += 100 + (double)i;
	return answer(sum, 0);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* which: as in reductions[] */
static struct answer gather(double *x, size_t n, double scale, int which, double q)
{
	double sum = 0, squares = 0, position;
	size_t k;

	if (!n)
		return none;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
	qsort(x, n, sizeof(*x), compare);
	switch (which) {
	case 0:
		return answer(sum, scale * (double)n);
	case 1:
		return answer(x[0], scale);
	case 2:
		return answer(x[n - 1], scale);
	case 3:
		return answer(sum / (double)n, scale);
	case 4: /* the root makes small errors of the squares large ones */
		return n < 2 ? none : answer(sqrt(squares / (double)(n - 1)), scale * 1e6);
	default:
		position = (which == 5 ? 0.5 : q) * (double)(n - 1);
		k = (size_t)floor(position);
		if (k + 1 >= n)
			return answer(x[n - 1], scale);
		return answer(x[k] + (position - (double)k) * (x[k + 1] - x[k]), scale);
	}
}

static struct answer naive(const struct tree *t, int row);

static struct answer naive_operator(int which, struct answer a, struct answer b)
{
	if (a.missing || b.missing)
		return none;
	switch (which) {
	case 0:
		return answer(a.x + b.x, a.scale + b.scale);
	case 1:
		return answer(a.x - b.x, a.scale + b.scale);
	case 2:
		return answer(a.x * b.x, a.scale * b.scale);
	case 3:
		return b.x < 0 || b.x > 0 ? answer(a.x / b.x, a.scale / fabs(b.x)) : none;
	case 4:
		return answer(a.x < b.x ? 1 : 0, 0);
	case 5:
		return answer(a.x > b.x ? 0 : 1, 0);
	case 6:
		return answer(a.x > b.x ? 1 : 0, 0);
	case 7:
		return answer(a.x < b.x ? 0 : 1, 0);
	case 8:
		return answer(a.x < b.x || a.x > b.x ? 0 : 1, 0);
	default:
		return answer(a.x < b.x || a.x > b.x ? 1 : 0, 0);
	}
}

static struct answer naive_call(const struct tree *t, int row)
{
	struct answer a = naive(t->a, row), b = t->b ? naive(t->b, row) : none;

	if (a.missing || (t->b && b.missing))
		return none;
	if (t->kind == CALL1)
		return t->which ? answer(a.x < 0 ? ceil(a.x) : floor(a.x), a.scale)
				: answer(fabs(a.x), a.scale);
	switch (t->which) {
	case 0:
		return answer(a.x < b.x ? a.x : b.x, a.scale + b.scale);
	case 1:
		return answer(a.x < b.x ? b.x : a.x, a.scale + b.scale);
	case 2:
		return b.x < 0 || b.x > 0 ? answer(a.x - b.x * floor(a.x / b.x), a.scale + b.scale)
					  : none;
	default: /* ROUND of a whole number to decimals */
		return a;
	}
}

static struct answer naive_rows(const struct tree *t)
{
	double x[ROWS_MAX], scale = 0;
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++) {
		struct answer v = naive(t->a, (int)i);

		if (v.missing)
			continue;
		x[n++] = v.x;
		scale = v.scale > scale ? v.scale : scale;
	}
	return gather(x, n, scale, t->which, t->number);
}

static struct answer naive(const struct tree *t, int row)
{
	static const int of_instances[] = {0, 1, 2, 3, 4};
	double x[INSTANCES], scale = 0;
	struct answer a;

	switch (t->kind) {
	case NUMBER:
		return answer(t->number, 0);
	case NONE:
		return none;
	case COUNTER:
		return column(t->which, INSTANCES, row);
	case ONE_INSTANCE:
		return column(t->which, (int)t->number, row);
	case CONSTANT:
		return t->which ? answer(7, 0) : duration(row);
	case OPERATOR:
		return naive_operator(t->which, naive(t->a, row), naive(t->b, row));
	case NEGATE:
		a = naive(t->a, row);
		return a.missing ? none : answer(-a.x, a.scale);
	case IF:
		a = naive(t->b, row);
		return a.missing ? none : naive(a.x < 0 || a.x > 0 ? t->a : t->c, row);
	case CALL1:
	case CALL2:
		return naive_call(t, row);
	case INSTANCES_OF:
		for (int i = 0; i < INSTANCES; i++) {
			a = column((int)t->number, i, row);
			if (a.missing)
				return none;
			x[i] = a.x;
			scale = a.scale > scale ? a.scale : scale;
		}
		return gather(x, INSTANCES, scale, of_instances[t->which], 0);
	case REDUCE:
	default:
		return naive_rows(t);
	}
}

/* Whether every counter outside of reductions is there. */
static bool complete(const struct tree *t, size_t row)
{
	if (!t || t->kind == REDUCE)
		return true;
	if (t->kind == COUNTER && isnan(values[t->which][INSTANCES][row]))
		return false;
	if (t->kind == ONE_INSTANCE && isnan(values[t->which][(int)t->number][row]))
		return false;
	for (int i = 0; t->kind == INSTANCES_OF && i < INSTANCES; i++)
		if (isnan(values[(int)t->number][i][row]))
			return false;
	return complete(t->a, row) && complete(t->b, row) && complete(t->c, row);
}

/* ---- what the real evaluator asks ---- */

static size_t index_of(const char *name)
{
	for (size_t i = 0; i < 4; i++)
		if (!strcmp(counters[i], name))
			return i;
	assert_string_equal(name, "u/e=1,f/");
	return 4;
}

static struct expr_value real_counter(void *data, const char *name, int instance, size_t row)
{
	double x = values[index_of(name)][instance < 0 ? INSTANCES : instance][row];

	(void)data;
	return (struct expr_value){isnan(x) ? 0 : x, isnan(x)};
}

static size_t real_instances(void *data, const char *name)
{
	(void)data;
	(void)name;
	return INSTANCES;
}

static struct expr_value real_constant(void *data, const char *name, size_t row)
{
	(void)data;
	return (struct expr_value){*name == 's' ? 7 : 100 + (double)row, false};
}

static void check(struct expr_result got, struct answer want)
{
	if (got.value.missing != want.missing ||
	    (!want.missing && !(fabs(got.value.number - want.x) <= 1e-12 * (1 + want.scale))))
		fail_msg("%s over %zu rows: %.17g%s, not %.17g%s", failing, n_rows,
			 got.value.number, got.value.missing ? " (missing)" : "", want.x,
			 want.missing ? " (missing)" : "");
}

static bool has_bare(const struct tree *t)
{
	if (!t || t->kind == REDUCE)
		return false;
	if (t->kind == COUNTER || t->kind == ONE_INSTANCE || t->kind == INSTANCES_OF ||
	    (t->kind == CONSTANT && !t->which))
		return true;
	return has_bare(t->a) || has_bare(t->b) || has_bare(t->c);
}

static void check_many(const struct expr *e, const struct tree *t, const struct expr_input *in)
{
	struct tree mean = {.kind = REDUCE, .which = 3, .a = t};
	struct expr_result r;
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++) {
		usable[i] = complete(t, i);
		n += usable[i];
	}
	assert_int_equal(expr_evaluate(e, in, EXPR_RATIO_OF_SUMS, &r, NULL), 0);
	check(r, n ? naive(t, n_rows == 1 ? 0 : ALL_ROWS) : n_rows == 1 ? naive(t, 0) : none);
	if (has_bare(t)) {
		assert_int_equal(expr_evaluate(e, in, EXPR_MEAN_OF_RATIOS, &r, NULL), 0);
		check(r, naive_rows(&mean));
	}
}

static void fill(void)
{
	n_rows = pick(8) ? 1 + pick(6) : 1 + pick(ROWS_MAX);
	for (int c = 0; c < 5; c++)
		for (int i = 0; i <= INSTANCES; i++)
			for (size_t r = 0; r < n_rows; r++)
				values[c][i][r] = pick(12) ? (double)pick(100) : (double)NAN;
}

static void test_random(void **state)
{
	struct expr_input in = {
		.counter = real_counter, .instances = real_instances, .constant = real_constant};
	size_t with_value = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct str text = STR_INIT, again = STR_INIT, third = STR_INIT;
		struct arena arena = {0};
		const struct expr *e, *e2;
		struct error err = {0};
		const struct tree *t;

		n_nodes = 0;
		fill();
		in.n_rows = n_rows;
		t = grow(1 + (int)pick(5), false, 0);
		write_tree(&text, t, 0);
		failing = str_text(&text);
		if (expr_parse(&arena, "x", failing, &e, &err))
			fail_msg("%s: %s", failing, err.message);
		check_many(e, t, &in);
		/* what is printed parses to the same expression */
		expr_print(e, &again);
		if (expr_parse(&arena, "x", str_text(&again), &e2, &err))
			fail_msg("%s: %s", str_text(&again), err.message);
		expr_print(e2, &third);
		assert_string_equal(str_text(&again), str_text(&third));
		check_many(e2, t, &in);
		with_value += !naive(t, 0).missing;
		str_release(&text);
		str_release(&again);
		str_release(&third);
		arena_release(&arena);
	}
	assert_true(with_value > ROUNDS / 2); /* else this tests missing values only */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
