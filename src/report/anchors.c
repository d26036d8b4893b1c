/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing anchors. Rows come pass by pass, so each dispatch keeps the moments of the pass that is
 * being read and folds their mean into those of its passes when the next one comes.
 */
#include "report/anchors.h"

#include "base/vec.h"
#include "model/estimate.h"
#include "store/id_map.h"
#include "store/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX (8u << 20) /* dispatches times anchors: under 1 GB */

struct cell {                       /* one anchor of one dispatch */
	struct moments now, passes; /* executions of the pass being read; means of passes */
	double least, most;         /* of the means */
	double within;              /* squares, of all passes */
	uint64_t within_n;          /* their degrees of freedom */
	uint32_t pass;
};
struct row {
	uint32_t kernel;
	size_t cells; /* the first of its anchors */
};
struct sums { /* of a kernel and an anchor */
	uint64_t rows, compared, within_n, between_n;
	double largest, squares, within, between;
};
struct anchors {
	struct store *store;
	const struct plan *plan;
	uint32_t *counters; /* the anchors */
	size_t n;
	size_t n_kernels;
	struct sums *sums;   /* [kernel][anchor] */
	uint64_t *varying;   /* [kernel]: rows whose passes ended in different memory */
	struct id_map index; /* (dispatch, process or lane, and kind) to row */
	VEC(struct row) rows;
	VEC(struct cell) cells;
	uint64_t left_out;
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while comparing anchors");
}

const char *sameness_name(enum sameness s)
{
	static const char *const names[] = {"incomparable", "deterministic", "varying"};

	return names[s];
}

/* Another kernel under the same number (a damaged spool) is left out: it is no dispatch of ours. */
static struct row *row_of(struct anchors *a, const struct store_row *r, bool *failed)
{
	struct row row = {.kernel = r->kernel, .cells = a->cells.n};
	struct store_match match;
	uint64_t number, at;
	uint32_t process;

	row_identify(a->store, r, &match, &number, &process);
	if (id_map_get(&a->index, number, process, &at))
		return a->rows.items[at].kernel == r->kernel ? &a->rows.items[at] : NULL;
	if (a->cells.n + a->n > CELLS_MAX) {
		a->left_out++;
		return NULL;
	}
	*failed =
		!vec_push(&a->rows, row) || !id_map_set(&a->index, number, process, a->rows.n - 1);
	for (size_t i = 0; !*failed && i < a->n; i++)
		*failed = !vec_push(&a->cells, (struct cell){0});
	return *failed ? NULL : &a->rows.items[a->rows.n - 1];
}

static void fold_pass(struct cell *c)
{
	double mean = c->now.mean;

	if (!c->now.n)
		return;
	c->within += c->now.squares;
	c->within_n += c->now.n - 1;
	c->least = !c->passes.n || mean < c->least ? mean : c->least;
	c->most = !c->passes.n || mean > c->most ? mean : c->most;
	moments_add(&c->passes, mean);
	c->now = (struct moments){0};
}

static int take(void *data, const struct store_row *r, struct error *err)
{
	struct anchors *a = data;
	const struct plan_pass *p = &a->plan->passes[r->run->pass - 1];
	bool failed = false;
	struct row *row = row_of(a, r, &failed);

	if (failed)
		return no_memory(err);
	if (r->kernel < a->n_kernels && r->flags & SPOOL_DISPATCH_VARYING)
		a->varying[r->kernel]++;
	for (size_t i = 0; row && i < a->n; i++) {
		struct cell *c = &a->cells.items[row->cells + i];

		for (uint32_t k = 0; k < p->n_counters; k++) {
			const struct store_value *v = &r->values[k];

			if (p->counters[k] != a->counters[i] || !v->recorded ||
			    v->status != SAMPLE_OK)
				continue;
			if (c->pass != r->run->pass)
				fold_pass(c);
			c->pass = r->run->pass;
			moments_add(&c->now,
				    v->kind == SAMPLE_F64 ? v->value.f64 : (double)v->value.u64);
		}
	}
	return 0;
}

static void add_up(struct anchors *a)
{
	vec_for_each (&a->rows, row) {
		for (size_t i = 0; i < a->n; i++) {
			struct cell *c = &a->cells.items[row->cells + i];
			struct sums *s = &a->sums[row->kernel * a->n + i];
			double mean, share;

			fold_pass(c);
			s->rows++;
			mean = fabs(c->passes.mean);
			if (mean > 0) {
				s->within += c->within / (mean * mean);
				s->within_n += c->within_n;
			}
			if (c->passes.n < 2)
				continue;
			s->compared++;
			share = c->most > c->least ? (c->most - c->least) / mean : 0;
			s->largest = share > s->largest ? share : s->largest;
			s->squares += share * share;
			if (mean > 0) {
				s->between += c->passes.squares / (mean * mean);
				s->between_n += c->passes.n - 1;
			}
		}
	}
}

int anchors_collect(struct anchors **out, struct store *s, const bool *kernels, struct error *err)
{
	struct store_scan scan = {.pass = STORE_ALL_PASSES, .kernels = kernels};
	struct anchors *a = calloc(1, sizeof(*a));
	int rc = a ? store_match_load(s, err) : no_memory(err);

	*out = NULL;
	if (!a)
		return rc;
	a->store = s;
	a->plan = store_plan(s);
	store_kernels(s, &a->n_kernels);
	a->counters = calloc(a->plan->n_counters + 1, sizeof(*a->counters));
	for (uint32_t c = 0; a->counters && c < a->plan->n_counters; c++) {
		if (a->plan->counters[c].flags & PLAN_COUNTER_ANCHOR)
			a->counters[a->n++] = c;
	}
	a->sums = calloc(a->n_kernels * a->n + 1, sizeof(*a->sums));
	a->varying = calloc(a->n_kernels + 1, sizeof(*a->varying));
	if (!rc && (!a->counters || !a->sums || !a->varying))
		rc = no_memory(err);
	if (!rc && a->n)
		rc = store_scan(s, &scan, take, a, err);
	if (!rc)
		add_up(a);
	id_map_release(&a->index);
	vec_release(&a->rows);
	vec_release(&a->cells);
	if (rc)
		anchors_free(a);
	else
		*out = a;
	return rc;
}

void anchors_free(struct anchors *a)
{
	if (!a)
		return;
	free(a->counters);
	free(a->sums);
	free(a->varying);
	free(a);
}

struct anchor_spread anchors_of_kernel(const struct anchors *a, uint32_t kernel)
{
	struct anchor_spread out = {.within = -1, .between = -1, .counter = UINT32_MAX};
	const struct sums *worst = NULL;

	for (size_t i = 0; a && kernel < a->n_kernels && i < a->n; i++) {
		const struct sums *s = &a->sums[kernel * a->n + i];

		if (worst && (s->compared < worst->compared ||
			      (s->compared == worst->compared && s->largest <= worst->largest)))
			continue;
		worst = s;
		out.counter = a->counters[i];
	}
	if (!worst)
		return out;
	out.rows = worst->rows;
	out.compared = worst->compared;
	out.largest = worst->largest;
	out.typical = worst->compared ? sqrt(worst->squares / (double)worst->compared) : 0;
	if (worst->within_n)
		out.within = sqrt(worst->within / (double)worst->within_n);
	if (worst->between_n)
		out.between = sqrt(worst->between / (double)worst->between_n);
	if (!worst->compared || worst->compared * 2 < worst->rows)
		out.sameness = SAMENESS_INCOMPARABLE;
	else if (worst->largest > 0 || worst->within > 0 || a->varying[kernel])
		out.sameness = SAMENESS_VARYING;
	else
		out.sameness = SAMENESS_DETERMINISTIC;
	return out;
}

void sameness_text(const struct anchors *a, uint32_t kernel, struct str *out)
{
	struct anchor_spread s = anchors_of_kernel(a, kernel);

	str_add(out, sameness_name(s.sameness));
	if (s.sameness == SAMENESS_VARYING && s.largest > 0) {
		str_add_char(out, ' ');
		share_print(s.largest, out);
		str_addf(out, " (%s)", a->plan->counters[s.counter].name);
	} else if (s.sameness == SAMENESS_VARYING && s.within > 0) {
		str_add(out, " from repeat to repeat");
	} else if (s.sameness == SAMENESS_VARYING) {
		str_add(out, " (memory)");
	} else if (s.sameness == SAMENESS_INCOMPARABLE && s.counter == UINT32_MAX) {
		str_add(out, " (no anchor)");
	} else if (s.sameness == SAMENESS_INCOMPARABLE) {
		str_addf(out, " (%llu of %llu in two passes)", (unsigned long long)s.compared,
			 (unsigned long long)s.rows);
	}
}
