/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The evaluator of metric expressions: for one dispatch, for sums over many, or for the mean of the
 * values of many (docs/expressions.md says which is when).
 *
 * A workspace holds one column per counter and instance. Either a row is loaded on demand (each
 * counter is asked for when the tree needs it: `A if C else B` asks for nothing in the branch not
 * taken), or the sums over all complete rows are loaded once. Reductions over dispatches are
 * computed before anything that uses them, innermost first, so that a row is evaluated without
 * looking at other rows.
 */
#include "model/expr_node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSTANCES_MAX 65536
#define COLUMNS_MAX   1048576

struct range {
	uint32_t first, n;
};

struct workspace {
	const struct expr *e;
	const struct expr_input *in;
	struct range *range; /* of a leaf: its columns */
	size_t *handle;      /* of a column, when the input binds */
	int32_t *instance;   /* of a column */
	const char **name;   /* of a column */
	bool *bare;          /* of a column */
	double *sum;         /* of a column */
	uint32_t n_columns;
	struct expr_value *constant; /* sums or the first row's, in summed mode */
	struct expr_value *reduced;  /* of a reduction */
	size_t reductions_used;      /* the fewest rows a reduction used */
	double *sorted; /* n_rows, for medians and quantiles; allocated when first used */
	bool summed;    /* counters stand for sums */
	size_t row;     /* otherwise: for their values in this row */
	size_t dispatches;
	int rc;
};

static const struct expr_value missing = {0, true};

static struct expr_value number(double x)
{
	return isfinite(x) ? (struct expr_value){x, false} : missing;
}

static struct expr_value fetch(const struct workspace *w, uint32_t column, size_t row)
{
	const struct expr_input *in = w->in;
	struct expr_value v =
		in->bind ? in->bound(in->data, w->handle[column], row)
			 : in->counter(in->data, w->name[column], w->instance[column], row);

	return v.missing ? missing : number(v.number);
}

static struct expr_value column_value(const struct workspace *w, uint32_t column)
{
	return w->summed ? number(w->sum[column]) : fetch(w, column, w->row);
}

static struct expr_value constant_value(const struct workspace *w, uint32_t index)
{
	const struct expr_constant *k = &w->e->constants[index];
	struct expr_value v;

	if (k->dispatches)
		return number((double)w->dispatches);
	if (w->summed)
		return w->constant[index];
	v = w->in->constant ? w->in->constant(w->in->data, k->name, w->row) : missing;
	return v.missing ? missing : number(v.number);
}

/* ---- one value from several: instances or rows ---- */

/* Welford's running mean and sum of squared differences; n is the count after x. */
struct moments {
	size_t n;
	double sum, lowest, highest, mean, squares;
};

static void moments_add(struct moments *m, double x)
{
	double delta = x - m->mean;

	m->lowest = m->n && m->lowest < x ? m->lowest : x;
	m->highest = m->n && m->highest > x ? m->highest : x;
	m->n++;
	m->sum += x;
	m->mean += delta / (double)m->n;
	m->squares += delta * (x - m->mean);
}

static struct expr_value moments_sum(const struct moments *m)
{
	return m->n ? number(m->sum) : missing;
}

static struct expr_value moments_avg(const struct moments *m)
{
	return m->n ? number(m->sum / (double)m->n) : missing;
}

static struct expr_value moments_lowest(const struct moments *m)
{
	return m->n ? number(m->lowest) : missing;
}

static struct expr_value moments_highest(const struct moments *m)
{
	return m->n ? number(m->highest) : missing;
}

/* Of a sample: divided by n - 1, so one value has none. */
static struct expr_value moments_std(const struct moments *m)
{
	return m->n > 1 ? number(sqrt(m->squares / (double)(m->n - 1))) : missing;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The k-th smallest of x[0..n), which is reordered. Linear on average (median of three as pivot);
 * values that keep splitting badly, such as rising and then falling ones, are sorted instead. */
static double select_kth(double *x, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	for (int rounds = 0; low < high; rounds++) {
		double a = x[low], b = x[low + (high - low) / 2], c = x[high];
		double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
		size_t i = low, j = high;

		if (rounds == 64) {
			qsort(x + low, high - low + 1, sizeof(*x), compare_doubles);
			break;
		}
		for (;;) {
			while (x[i] < pivot)
				i++;
			while (x[j] > pivot)
				j--;
			if (i >= j)
				break;
			a = x[i];
			x[i++] = x[j];
			x[j--] = a;
		}
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return x[k];
}

/* Linear between the two values nearest to position q (n - 1). */
static double quantile(double *x, size_t n, double q)
{
	double position = q * (double)(n - 1);
	size_t k = (size_t)position;
	double low, high;

	if (k >= n - 1)
		return select_kth(x, n, n - 1);
	low = select_kth(x, n, k);
	/* everything after k is at least as large: the next one is the smallest of them */
	high = x[k + 1];
	for (size_t i = k + 2; i < n; i++)
		if (x[i] < high)
			high = x[i];
	return low + (position - (double)k) * (high - low);
}

static struct expr_value over_instances(struct workspace *w, enum expr_op op, uint32_t leaf)
{
	struct range r = w->range[leaf];
	struct moments m = {0};

	if (!r.n)
		return missing;
	for (uint32_t i = 0; i < r.n; i++) {
		struct expr_value v = column_value(w, r.first + i);

		if (v.missing)
			return missing;
		moments_add(&m, v.number);
	}
	switch ((int)op) {
	case EXPR_INSTANCES_SUM:
		return moments_sum(&m);
	case EXPR_INSTANCES_MIN:
		return moments_lowest(&m);
	case EXPR_INSTANCES_MAX:
		return moments_highest(&m);
	case EXPR_INSTANCES_AVG:
		return moments_avg(&m);
	default:
		return moments_std(&m);
	}
}

/* ---- element by element ---- */

/* Half to even, as the decimal digits say it; more digits than a double has change nothing. */
static struct expr_value rounded(double x, double digits)
{
	double scale;

	digits = rint(digits);
	if (digits > 15)
		return number(x);
	if (digits < -308)
		return number(0);
	scale = pow(10, fabs(digits));
	return number(digits < 0 ? rint(x / scale) * scale : rint(x * scale) / scale);
}

/* The digits of a followed by those of b; both whole and not negative. */
static struct expr_value concatenated(double a, double b)
{
	double scale = 10;

	if (a < 0 || b < 0 || a > floor(a) || b > floor(b))
		return missing;
	while (scale <= b)
		scale *= 10;
	return number(a * scale + b);
}

/* The remainder has the sign of the divisor. */
static struct expr_value modulo(double a, double b)
{
	double r;

	if (!(b < 0 || b > 0))
		return missing;
	r = fmod(a, b);
	if ((r < 0 && b > 0) || (r > 0 && b < 0))
		r += b;
	return number(r);
}

static struct expr_value binary(enum expr_op op, double a, double b)
{
	switch ((int)op) {
	case EXPR_ADD:
		return number(a + b);
	case EXPR_SUBTRACT:
		return number(a - b);
	case EXPR_MULTIPLY:
		return number(a * b);
	case EXPR_DIVIDE:
		return number(a / b); /* by zero: infinite or undefined, so missing */
	case EXPR_LESS:
		return number(a < b);
	case EXPR_LESS_EQUAL:
		return number(a <= b);
	case EXPR_GREATER:
		return number(a > b);
	case EXPR_GREATER_EQUAL:
		return number(a >= b);
	case EXPR_EQUAL:
		return number(a >= b && a <= b);
	case EXPR_NOT_EQUAL:
		return number(a < b || a > b);
	case EXPR_MIN2:
		return number(a < b ? a : b);
	case EXPR_MAX2:
		return number(a > b ? a : b);
	case EXPR_ROUND:
		return rounded(a, b);
	case EXPR_MOD:
		return modulo(a, b);
	default: /* EXPR_CONCAT, the last one with two operands */
		return concatenated(a, b);
	}
}

static struct expr_value evaluate(struct workspace *w, const struct expr_node *n)
{
	struct expr_value a, b;

	switch ((int)n->op) {
	case EXPR_NUMBER:
		return number(n->number);
	case EXPR_NONE:
		return missing;
	case EXPR_COUNTER:
		return column_value(w, w->range[n->index].first);
	case EXPR_CONSTANT:
		return constant_value(w, n->index);
	case EXPR_IF:
		b = evaluate(w, n->b);
		if (b.missing)
			return missing;
		return evaluate(w, b.number < 0 || b.number > 0 ? n->a : n->c);
	case EXPR_NEGATE:
	case EXPR_ABS:
	case EXPR_TO_INT:
		a = evaluate(w, n->a);
		if (a.missing)
			return missing;
		return number(n->op == EXPR_NEGATE ? -a.number
			      : n->op == EXPR_ABS  ? fabs(a.number)
						   : trunc(a.number));
	default:
		if (n->op >= EXPR_SUM)
			return w->reduced[n->index];
		if (n->op >= EXPR_INSTANCES_SUM)
			return over_instances(w, n->op, n->index);
		a = evaluate(w, n->a);
		if (a.missing)
			return missing;
		b = evaluate(w, n->b);
		return b.missing ? missing : binary(n->op, a.number, b.number);
	}
}

/* ---- over dispatches ---- */

/* The values of a node in every row, missing ones left out. What is not needed to order them is not
 * kept, so only MEDIAN and QUANTILE take memory. */
static size_t over_rows(struct workspace *w, const struct expr_node *n, struct moments *m,
			double *kept)
{
	w->summed = false;
	w->dispatches = 1;
	for (w->row = 0; w->row < w->in->n_rows; w->row++) {
		struct expr_value v = evaluate(w, n);

		if (v.missing)
			continue;
		if (kept)
			kept[m->n] = v.number;
		moments_add(m, v.number);
	}
	return m->n;
}

static struct expr_value reduce(struct workspace *w, const struct expr_node *n, size_t *used_out)
{
	bool ordered = n->op == EXPR_MEDIAN || n->op == EXPR_QUANTILE;
	struct moments m = {0};

	if (ordered && !w->sorted) {
		w->sorted = calloc(w->in->n_rows, sizeof(*w->sorted));
		if (!w->sorted) {
			w->rc = RC_NO_MEMORY;
			return missing;
		}
	}
	*used_out = over_rows(w, n->a, &m, ordered ? w->sorted : NULL);
	switch ((int)n->op) {
	case EXPR_SUM:
		return moments_sum(&m);
	case EXPR_AVG:
		return moments_avg(&m);
	case EXPR_MIN:
		return moments_lowest(&m);
	case EXPR_MAX:
		return moments_highest(&m);
	case EXPR_STD:
		return moments_std(&m);
	default:
		return m.n ? number(quantile(w->sorted, m.n,
					     n->op == EXPR_MEDIAN ? 0.5 : n->number))
			   : missing;
	}
}

/* Loads the sums over the rows that have every bare counter and every fact that adds up. */
static size_t load_sums(struct workspace *w, double *row_values)
{
	const struct expr *e = w->e;
	size_t used = 0;
	uint32_t c;

	w->summed = false;
	for (w->row = 0; w->row < w->in->n_rows; w->row++) {
		double *facts = row_values + w->n_columns;

		for (c = 0; c < w->n_columns; c++) {
			struct expr_value v;

			if (!w->bare[c])
				continue;
			v = fetch(w, c, w->row);
			if (v.missing)
				break;
			row_values[c] = v.number;
		}
		if (c < w->n_columns)
			continue;
		for (c = 0; c < e->n_constants; c++) {
			struct expr_value v;

			if (!e->constants[c].bare || e->constants[c].dispatches ||
			    (used && !e->constants[c].adds_up))
				continue;
			v = constant_value(w, c);
			if (v.missing && e->constants[c].adds_up)
				break;
			facts[c] = v.number;
			if (!e->constants[c].adds_up)
				w->constant[c] = v;
		}
		if (c < e->n_constants)
			continue;
		for (c = 0; c < w->n_columns; c++)
			if (w->bare[c])
				w->sum[c] += row_values[c];
		for (c = 0; c < e->n_constants; c++)
			if (e->constants[c].bare && e->constants[c].adds_up)
				w->constant[c].number += facts[c];
		used++;
	}
	for (c = 0; c < e->n_constants; c++)
		if (!isfinite(w->constant[c].number))
			w->constant[c] = missing;
	w->summed = true;
	w->dispatches = used;
	return used;
}

/* ---- the workspace ---- */

static int workspace_columns(struct workspace *w, struct error *err)
{
	const struct expr_input *in = w->in;
	size_t total = 0;

	for (uint32_t i = 0; i < w->e->n_leaves; i++) {
		const struct expr_leaf *l = &w->e->leaves[i];
		size_t n = 1;

		if (l->instance == EXPR_ALL_INSTANCES)
			n = in->instances ? in->instances(in->data, l->name) : 0;
		if (n > INSTANCES_MAX || total + n > COLUMNS_MAX)
			return error_set(err, RC_INVALID, "'%s' has too many instances: %zu",
					 l->name, n);
		w->range[i] = (struct range){(uint32_t)total, (uint32_t)n};
		total += n;
	}
	w->n_columns = (uint32_t)total;
	return 0;
}

static int workspace_init(struct workspace *w, const struct expr *e, const struct expr_input *in,
			  struct error *err)
{
	int rc;

	*w = (struct workspace){.e = e, .in = in, .reductions_used = in->n_rows};
	w->range = calloc((size_t)e->n_leaves + 1, sizeof(*w->range));
	w->constant = calloc((size_t)e->n_constants + 1, sizeof(*w->constant));
	w->reduced = calloc((size_t)e->n_reductions + 1, sizeof(*w->reduced));
	if (!w->range || !w->constant || !w->reduced)
		return error_set(err, RC_NO_MEMORY, "out of memory for an expression");
	rc = workspace_columns(w, err);
	if (rc)
		return rc;
	w->handle = calloc((size_t)w->n_columns + 1, sizeof(*w->handle));
	w->instance = calloc((size_t)w->n_columns + 1, sizeof(*w->instance));
	w->name = calloc((size_t)w->n_columns + 1, sizeof(*w->name));
	w->bare = calloc((size_t)w->n_columns + 1, sizeof(*w->bare));
	w->sum = calloc((size_t)w->n_columns + 1, sizeof(*w->sum));
	if (!w->handle || !w->instance || !w->name || !w->bare || !w->sum)
		return error_set(err, RC_NO_MEMORY, "out of memory for an expression");
	for (uint32_t i = 0; i < e->n_leaves; i++) {
		const struct expr_leaf *l = &e->leaves[i];

		for (uint32_t j = 0; j < w->range[i].n; j++) {
			uint32_t c = w->range[i].first + j;

			w->name[c] = l->name;
			w->instance[c] =
				l->instance == EXPR_ALL_INSTANCES ? (int32_t)j : l->instance;
			w->bare[c] = l->bare;
			if (in->bind)
				w->handle[c] = in->bind(in->data, l->name, w->instance[c]);
		}
	}
	return 0;
}

static void workspace_release(struct workspace *w)
{
	free(w->range);
	free(w->constant);
	free(w->reduced);
	free(w->handle);
	free(w->instance);
	free(w->name);
	free(w->bare);
	free(w->sum);
	free(w->sorted);
}

static void evaluate_one(struct workspace *w, struct expr_result *result)
{
	bool all = true;

	w->row = 0;
	w->dispatches = 1;
	w->summed = false;
	result->value = evaluate(w, w->e->root);
	for (uint32_t c = 0; c < w->n_columns && all; c++)
		all = !fetch(w, c, 0).missing;
	result->rows_used = all || !result->value.missing;
}

static int evaluate_sums(struct workspace *w, struct expr_result *result)
{
	double *row_values =
		calloc((size_t)w->n_columns + w->e->n_constants + 1, sizeof(*row_values));

	if (!row_values)
		return RC_NO_MEMORY;
	result->rows_used = load_sums(w, row_values);
	result->value = result->rows_used ? evaluate(w, w->e->root) : missing;
	free(row_values);
	return 0;
}

int expr_evaluate(const struct expr *e, const struct expr_input *in, enum expr_ratio ratio,
		  struct expr_result *result_out, struct error *err)
{
	struct workspace w;
	struct moments m = {0};
	bool has_bare = false;
	int rc;

	*result_out = (struct expr_result){missing, 0};
	if (!in->n_rows)
		return 0;
	rc = workspace_init(&w, e, in, err);
	if (rc)
		goto out;
	for (uint32_t i = 0; i < e->n_reductions && !w.rc; i++) {
		size_t used = 0;

		w.reduced[i] = reduce(&w, e->reductions[i], &used);
		if (used < w.reductions_used)
			w.reductions_used = used;
	}
	for (uint32_t c = 0; c < w.n_columns; c++)
		has_bare = has_bare || w.bare[c];
	for (uint32_t i = 0; i < e->n_constants; i++)
		has_bare = has_bare || (e->constants[i].bare && e->constants[i].adds_up);
	rc = w.rc;
	if (rc) {
		error_set(err, rc, "out of memory for an expression");
	} else if (in->n_rows == 1) {
		evaluate_one(&w, result_out);
	} else if (ratio == EXPR_MEAN_OF_RATIOS && has_bare) {
		result_out->rows_used = over_rows(&w, e->root, &m, NULL);
		result_out->value = moments_avg(&m);
	} else {
		rc = evaluate_sums(&w, result_out);
		if (rc)
			error_set(err, rc, "out of memory for an expression");
	}
	if (e->n_reductions && w.reductions_used < result_out->rows_used)
		result_out->rows_used = w.reductions_used;
out:
	workspace_release(&w);
	return rc;
}
