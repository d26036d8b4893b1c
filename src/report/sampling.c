/* SPDX-License-Identifier: Apache-2.0 */
/* Moments of the sampled values, by stratum, and the estimates made of them. */
#include "report/sampling.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "store/id_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95
#define INPUTS_MAX 12 /* counters of a metric, and the duration; with more there is no interval */

struct joint { /* of the counters of one metric, and the duration as the last */
	uint64_t n;
	uint32_t k;
	double *mean, *products; /* [k], [k * k]: of the differences from the means, summed */
};
struct group {
	uint32_t kernel;
	uint64_t population;
	uint32_t grid[3], block[3];
	struct moments *counters; /* [counter] */
	struct joint *metrics;    /* [metric] */
};
struct sampling {
	struct arena arena;
	struct store *store;
	const struct plan *plan;
	const struct metric_code *code;
	VEC(struct group) groups;
	struct id_map index; /* hash of the stratum to group */
	struct id_map seen;  /* numbers of dispatches, by process and kind */
	bool *sampled;       /* [kernel]: counted live, a pass each */
	bool *by_process;    /* [kernel]: has rows of processes that took one pass each */
	uint32_t *pass_of;   /* [spool]: the only pass in which it has dispatches, or MANY_PASSES */
	size_t n_kernels;
	int64_t n_processes;
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory for the estimates of a report");
}

static bool is_ok(const struct store_value *v)
{
	return v->recorded && v->status == SAMPLE_OK;
}

static double number(const struct store_value *v)
{
	return v->kind == SAMPLE_F64 ? v->value.f64 : (double)v->value.u64;
}

/* ---- collecting ---- */

/* Each process with passes of its dispatches: the pass when it is one, MANY_PASSES. Such a process
 * took no part in dealing passes over dispatches: it was told which to count. */
#define MANY_PASSES UINT32_MAX

static bool read_processes(struct sampling *x, const struct store *s)
{
	size_t n;
	const struct store_run *runs = store_runs(s, &n);

	for (size_t i = 0; i < n; i++)
		if (runs[i].spool->id >= x->n_processes)
			x->n_processes = runs[i].spool->id + 1;
	x->pass_of = calloc((size_t)x->n_processes + 1, sizeof(*x->pass_of));
	for (size_t i = 0; x->pass_of && i < n; i++) {
		uint32_t *pass = &x->pass_of[runs[i].spool->id];

		if (runs[i].pass)
			*pass = *pass && *pass != runs[i].pass ? MANY_PASSES : runs[i].pass;
	}
	return x->pass_of;
}

static struct group *group_of(struct sampling *x, uint32_t kernel, const uint32_t grid[3],
			      const uint32_t block[3])
{
	struct group g = {.kernel = kernel};
	uint32_t key[7] = {kernel};
	uint64_t h, at;

	memcpy(g.grid, grid, sizeof(g.grid));
	memcpy(g.block, block, sizeof(g.block));
	memcpy(key + 1, grid, sizeof(g.grid));
	memcpy(key + 4, block, sizeof(g.block));
	for (h = hash64(key, sizeof(key)); id_map_get(&x->index, h, 0, &at); h++) {
		struct group *have = &x->groups.items[at];

		if (have->kernel == g.kernel && !memcmp(have->grid, g.grid, sizeof(g.grid)) &&
		    !memcmp(have->block, g.block, sizeof(g.block)))
			return have;
	}
	g.counters = arena_array(&x->arena, (size_t)x->plan->n_counters + 1, sizeof(*g.counters));
	g.metrics = arena_array(&x->arena, (size_t)x->plan->n_metrics + 1, sizeof(*g.metrics));
	if (!g.counters || !g.metrics || !vec_push(&x->groups, g) ||
	    !id_map_set(&x->index, h, 0, x->groups.n - 1))
		return NULL;
	return &x->groups.items[x->groups.n - 1];
}

static int add_joint(struct sampling *x, struct group *g, uint32_t m, const struct store_row *r,
		     struct error *err)
{
	const struct plan_metric *metric = &x->plan->metrics[m];
	const struct plan_pass *p = &x->plan->passes[metric->pass - 1];
	struct joint *j = &g->metrics[m];
	double value[INPUTS_MAX], before[INPUTS_MAX];
	uint32_t k = metric->n_counters + 1;

	if (k > INPUTS_MAX)
		return 0;
	for (uint32_t i = 0; i < metric->n_counters; i++) {
		uint32_t at = 0;

		while (at < p->n_counters && p->counters[at] != metric->counters[i])
			at++;
		if (at == p->n_counters || !is_ok(&r->values[at]))
			return 0;
		value[i] = number(&r->values[at]);
	}
	value[k - 1] = (double)(r->end_ns - r->begin_ns);
	if (!j->mean) {
		j->k = k;
		j->mean = arena_array(&x->arena, k, sizeof(double));
		j->products = arena_array(&x->arena, (size_t)k * k, sizeof(double));
		if (!j->mean || !j->products)
			return no_memory(err);
	}
	j->n++;
	for (uint32_t i = 0; i < k; i++) {
		before[i] = value[i] - j->mean[i];
		j->mean[i] += before[i] / (double)j->n;
	}
	for (uint32_t i = 0; i < k; i++) {
		for (uint32_t l = 0; l < k; l++)
			j->products[i * k + l] += before[i] * (value[l] - j->mean[l]);
	}
	return 0;
}

static int take(void *data, const struct store_row *r, struct error *err)
{
	struct sampling *x = data;
	const struct plan_pass *p = &x->plan->passes[r->run->pass - 1];
	uint32_t process = (uint32_t)r->run->spool->id * 4 + r->unit % 4;
	struct group *g;
	bool is_new;
	int rc = 0;

	if (r->flags & SPOOL_DISPATCH_REPLAYED || r->unit == SPOOL_UNIT_PROCESS)
		return 0;
	if (!r->run->in_place ||
	    (r->unit == SPOOL_UNIT_RANGE && x->pass_of[r->run->spool->id] != MANY_PASSES)) {
		x->by_process[r->kernel] = true;
		return 0;
	}
	g = group_of(x, r->kernel, r->grid, r->block);
	if (!g)
		return no_memory(err);
	x->sampled[r->kernel] = true;
	if (!id_map_mark(&x->seen, r->dispatch, process, &is_new))
		return no_memory(err);
	g->population += is_new;
	for (uint32_t i = 0; i < p->n_counters; i++) {
		if (is_ok(&r->values[i]))
			moments_add(&g->counters[p->counters[i]], number(&r->values[i]));
	}
	for (uint32_t m = 0; !rc && m < x->plan->n_metrics; m++) {
		if (x->plan->metrics[m].pass == r->run->pass && x->code[m].expr)
			rc = add_joint(x, g, m, r, err);
	}
	return rc;
}

/* Those that nobody recorded, because enough was known of their kind. */
static int add_left(struct sampling *x, const bool *kernels, struct error *err)
{
	const struct store_left *l;
	struct group *g;
	size_t n;

	l = store_left(x->store, &n);
	for (size_t i = 0; i < n; i++) {
		if (kernels && !kernels[l[i].kernel])
			continue;
		g = group_of(x, l[i].kernel, l[i].grid, l[i].block);
		if (!g)
			return no_memory(err);
		x->sampled[l[i].kernel] = true;
		g->population += l[i].n;
	}
	return 0;
}

int sampling_collect(struct sampling **out, struct store *s, const bool *kernels,
		     const struct metric_code *code, struct error *err)
{
	struct store_scan scan = {.pass = STORE_ALL_PASSES, .kernels = kernels};
	struct sampling *x = calloc(1, sizeof(*x));
	size_t n_left;
	int rc = 0;

	*out = NULL;
	if (!x)
		return no_memory(err);
	x->store = s;
	x->plan = store_plan(s);
	x->code = code;
	store_left(s, &n_left);
	store_kernels(s, &x->n_kernels);
	x->sampled = calloc(x->n_kernels + 1, sizeof(bool));
	x->by_process = calloc(x->n_kernels + 1, sizeof(bool));
	if (!x->sampled || !x->by_process || !read_processes(x, s))
		rc = no_memory(err);
	/* One pass has every dispatch, but for what was left out; and only in place are there
	 * dispatches of one pass each. */
	if (!rc && (x->plan->n_passes > 1 || n_left) && store_is_in_place(s))
		rc = store_scan(s, &scan, take, x, err);
	if (!rc && n_left)
		rc = add_left(x, kernels, err);
	id_map_release(&x->seen);
	id_map_release(&x->index);
	if (rc)
		sampling_free(x);
	else
		*out = x;
	return rc;
}

void sampling_free(struct sampling *x)
{
	if (!x)
		return;
	vec_release(&x->groups);
	free(x->sampled);
	free(x->by_process);
	free(x->pass_of);
	arena_release(&x->arena);
	free(x);
}

/* ---- estimates ---- */

/* Strata of a kernel, all empty; NULL: it was not sampled. */
static struct stratum *strata_of(const struct sampling *x, uint32_t kernel, size_t *n_out)
{
	struct stratum *strata;
	size_t n = 0;

	if (!x || kernel >= x->n_kernels || !x->sampled[kernel])
		return NULL;
	strata = calloc(x->groups.n + 1, sizeof(*strata));
	for (size_t i = 0; strata && i < x->groups.n; i++) {
		if (x->groups.items[i].kernel == kernel)
			strata[n++].population = x->groups.items[i].population;
	}
	*n_out = n;
	return strata;
}

static bool finish(const struct sampling *x, uint32_t kernel, struct estimate *out)
{
	if (!out->present || (out->n >= out->population && !out->missing))
		return false;
	if (x->by_process[kernel]) {
		out->has_interval = false;
		out->why = "some processes counted one pass for all their dispatches";
	}
	return true;
}

bool sampling_counter(const struct sampling *x, uint32_t kernel, uint32_t counter,
		      struct estimate *out)
{
	size_t n = 0, k = 0;
	struct stratum *strata = strata_of(x, kernel, &n);

	if (!strata)
		return false;
	for (size_t i = 0; i < x->groups.n; i++) {
		if (x->groups.items[i].kernel == kernel)
			strata[k++].sample = x->groups.items[i].counters[counter];
	}
	estimate_mean(strata, n, CONFIDENCE, out);
	free(strata);
	return finish(x, kernel, out);
}

struct inputs {
	const struct plan *plan;
	const struct plan_metric *metric;
	const double *value;
};

static struct expr_value input_counter(void *data, const char *name, int instance, size_t row)
{
	const struct inputs *in = data;

	(void)row;
	for (uint32_t i = 0; instance < 0 && i < in->metric->n_counters; i++) {
		if (!strcmp(in->plan->counters[in->metric->counters[i]].name, name))
			return (struct expr_value){.number = in->value[i]};
	}
	return (struct expr_value){.missing = true};
}

static size_t input_instances(void *data, const char *name)
{
	(void)data;
	(void)name;
	return 0;
}

static struct expr_value input_constant(void *data, const char *name, size_t row)
{
	const struct inputs *in = data;

	(void)row;
	if (!strcmp(name, "duration_ns"))
		return (struct expr_value){.number = in->value[in->metric->n_counters]};
	return (struct expr_value){.missing = true};
}

/* NaN where the expression has no value. */
static double evaluate(const struct sampling *x, uint32_t m, const double *value)
{
	struct inputs data = {x->plan, &x->plan->metrics[m], value};
	struct expr_input in = {.n_rows = 1,
				.data = &data,
				.counter = input_counter,
				.instances = input_instances,
				.constant = input_constant};
	struct expr_result result = {.value = {.missing = true}};

	if (expr_evaluate(x->code[m].expr, &in, EXPR_RATIO_OF_SUMS, &result, NULL) ||
	    result.value.missing)
		return (double)NAN;
	return result.value.number;
}

/* Mean of each input over the population, from the strata that have samples. False: none has. */
static bool mean_inputs(const struct sampling *x, uint32_t kernel, uint32_t m, double *mean,
			uint64_t *covered_out)
{
	uint32_t k = x->plan->metrics[m].n_counters + 1;
	double covered = 0;

	memset(mean, 0, k * sizeof(*mean));
	*covered_out = 0;
	for (size_t i = 0; i < x->groups.n; i++) {
		const struct group *g = &x->groups.items[i];
		const struct joint *j = &g->metrics[m];

		if (g->kernel != kernel || !j->n)
			continue;
		covered += (double)g->population;
		*covered_out += g->population;
		for (uint32_t c = 0; c < k; c++)
			mean[c] += j->mean[c] * (double)g->population;
	}
	for (uint32_t c = 0; covered > 0 && c < k; c++)
		mean[c] /= covered;
	return covered > 0;
}

/* Derivatives by the mean of each input, of the expression over sums of `covered` dispatches. */
static bool gradient(const struct sampling *x, uint32_t m, const double *mean, double covered,
		     double *slope, double *value_out)
{
	uint32_t k = x->plan->metrics[m].n_counters + 1;
	double sums[INPUTS_MAX];

	for (uint32_t c = 0; c < k; c++)
		sums[c] = mean[c] * covered;
	*value_out = evaluate(x, m, sums);
	for (uint32_t c = 0; c < k; c++) {
		double step = fmax(fabs(sums[c]) * 1e-5, 1e-5), up, down, keep = sums[c];

		sums[c] = keep + step;
		up = evaluate(x, m, sums);
		sums[c] = keep - step;
		down = evaluate(x, m, sums);
		sums[c] = keep;
		slope[c] = (up - down) / (2 * step) * covered;
		if (!isfinite(slope[c]))
			return false;
	}
	return isfinite(*value_out);
}

bool sampling_metric(const struct sampling *x, uint32_t kernel, uint32_t m, struct estimate *out)
{
	uint32_t k = x ? x->plan->metrics[m].n_counters + 1 : 0;
	double mean[INPUTS_MAX], slope[INPUTS_MAX] = {0}, value = 0, half;
	size_t n = 0, at = 0;
	uint64_t covered = 0;
	struct stratum *strata;
	bool smooth;

	if (!x || !x->plan->metrics[m].pass || !x->code[m].expr || k > INPUTS_MAX)
		return false;
	strata = strata_of(x, kernel, &n);
	if (!strata || !mean_inputs(x, kernel, m, mean, &covered)) {
		free(strata);
		return false;
	}
	smooth = !expr_needs_rows(x->code[m].expr) &&
		 gradient(x, m, mean, (double)covered, slope, &value);
	for (size_t i = 0; i < x->groups.n; i++) {
		const struct group *g = &x->groups.items[i];
		const struct joint *j = &g->metrics[m];
		struct moments *to;

		if (g->kernel != kernel)
			continue;
		to = &strata[at++].sample;
		to->n = j->n;
		for (uint32_t c = 0; smooth && j->n && c < k; c++) {
			to->mean += slope[c] * j->mean[c];
			for (uint32_t d = 0; d < k; d++)
				to->squares += slope[c] * slope[d] * j->products[c * k + d];
		}
		to->squares = fmax(to->squares, 0); /* rounding */
	}
	estimate_mean(strata, n, CONFIDENCE, out);
	free(strata);
	if (!smooth) {
		out->present = false;
		return false;
	}
	half = (out->high - out->low) / 2;
	out->value = value;
	out->low = value - half;
	out->high = value + half;
	return finish(x, kernel, out);
}
