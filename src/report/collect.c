/* SPDX-License-Identifier: Apache-2.0 */
/* Adding up rows by group, pass and counter. */
#include "report/collect.h"

#include <string.h>

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while adding up samples");
}

void total_add(struct total *t, struct number n)
{
	if (n.is_f64) {
		t->real += n.f64;
		t->has_real = true;
	} else {
		t->whole += n.u64;
	}
}

double total_f64(const struct total *t)
{
	return (double)t->whole + t->real;
}

struct number total_number(const struct total *t)
{
	if (t->has_real || t->whole > UINT64_MAX)
		return NUMBER_F64(total_f64(t));
	return NUMBER_U64((uint64_t)t->whole);
}

struct number total_mean(const struct total *t, uint64_t n)
{
	if (!t->has_real && t->whole % n == 0 && t->whole / n <= UINT64_MAX)
		return NUMBER_U64((uint64_t)(t->whole / n));
	return NUMBER_F64(total_f64(t) / (double)n);
}

static struct number number_of(const struct store_value *v)
{
	return v->kind == SAMPLE_F64 ? NUMBER_F64(v->value.f64) : NUMBER_U64(v->value.u64);
}

static bool is_ok(const struct store_value *v)
{
	return v->recorded && v->status == SAMPLE_OK;
}

static bool is_less(struct number a, struct number b)
{
	if (!a.is_f64 && !b.is_f64)
		return a.u64 < b.u64;
	return number_f64(a) < number_f64(b);
}

/* False when memory is out. */
static bool add_rank(struct values *v, uint64_t **set, size_t rank)
{
	if (rank == SIZE_MAX)
		return true;
	if (!*set)
		*set = arena_array(&v->arena, ranks_words(&v->ranks), sizeof(**set));
	if (*set)
		(*set)[rank / 64] |= (uint64_t)1 << (rank % 64);
	return *set != NULL;
}

static void add_to_cell(struct cell_sums *c, const struct store_value *v, const struct store_row *r)
{
	struct number n = number_of(v);

	if (!v->recorded)
		return;
	if (v->status != SAMPLE_OK) {
		if (v->status <= SAMPLE_STATUS_MAX)
			c->bad[v->status]++;
		if (v->status == SAMPLE_MULTIPLEXED) {
			c->raw = n;
			c->enabled_ns += r->enabled_ns;
			c->running_ns += r->running_ns;
		}
		return;
	}
	if (!c->n || is_less(n, c->min))
		c->min = n;
	if (!c->n || is_less(c->max, n))
		c->max = n;
	c->n++;
	total_add(&c->all, n);
	if (r->complete) {
		c->n_complete++;
		total_add(&c->complete, n);
	}
}

static int add_instances(struct pass_sums *p, const struct store_row *r, struct error *err)
{
	for (size_t i = 0; i < r->n_instances; i++) {
		const struct store_instance *e = &r->instances[i];
		uint64_t at;

		if (!is_ok(&e->value))
			continue;
		if (e->instance >= p->n_instances)
			p->n_instances = e->instance + 1;
		if (!id_map_get(&p->instance_index, e->counter, e->instance, &at)) {
			at = p->instances.n;
			if (!vec_push(&p->instances, (struct instance_sums){0}) ||
			    !id_map_set(&p->instance_index, e->counter, e->instance, at))
				return no_memory(err);
		}
		total_add(&p->instances.items[at].all, number_of(&e->value));
		p->instances.items[at].n++;
	}
	return 0;
}

/* A metric that looks at single dispatches keeps their numbers. */
static int keep_columns(struct values *v, struct metric_sums *sums, uint32_t m,
			const struct store_row *r, struct error *err)
{
	const struct plan_metric *metric = &v->plan->metrics[m];

	if (sums->too_many || v->columns_used + metric->n_counters + 1 > VALUES_COLUMNS_MAX) {
		sums->too_many = true;
		return 0;
	}
	for (uint32_t i = 0; i < metric->n_counters; i++) {
		const struct store_value *value = &r->values[v->position[m][i]];

		if (!vec_push(&sums->columns,
			      is_ok(value) ? number_f64(number_of(value)) : __builtin_nan("")))
			return no_memory(err);
	}
	if (!vec_push(&sums->columns, (double)(r->end_ns - r->begin_ns)))
		return no_memory(err);
	sums->column_rows++;
	v->columns_used += metric->n_counters + 1;
	return 0;
}

static void add_spread(struct values *v, struct metric_sums *sums, uint32_t m,
		       const struct store_row *r)
{
	struct expr_value one;

	if (v->spread_left_out)
		return;
	if (v->evaluations++ == VALUES_SPREAD_EVALUATIONS) {
		v->spread_left_out = true;
		return;
	}
	one = metric_of_row(v->plan, m, v->code[m].expr, r);
	if (one.missing)
		return;
	if (!sums->spread_n || one.number < sums->min)
		sums->min = one.number;
	if (!sums->spread_n || one.number > sums->max)
		sums->max = one.number;
	sums->spread_n++;
}

bool metric_needs_rows(const struct values *v, uint32_t m)
{
	return v->options.ratio == EXPR_MEAN_OF_RATIOS || expr_needs_rows(v->code[m].expr);
}

static int add_to_metric(struct values *v, struct group_sums *g, uint32_t m,
			 const struct store_row *r, size_t rank, struct error *err)
{
	const struct plan_metric *metric = &v->plan->metrics[m];
	struct metric_sums *sums = &g->metrics[m];
	bool whole = true;
	int rc = 0;

	for (uint32_t i = 0; !r->complete && i < metric->n_counters; i++)
		whole = whole && is_ok(&r->values[v->position[m][i]]);
	if (whole && !add_rank(v, &sums->ranks, rank))
		return no_memory(err);

	if (metric_needs_rows(v, m))
		rc = keep_columns(v, sums, m, r, err);
	if (rc)
		return rc;
	add_spread(v, sums, m, r);
	if (r->complete || !whole)
		return 0;
	if (!sums->extra)
		sums->extra = arena_array(&v->arena, metric->n_counters, sizeof(*sums->extra));
	if (!sums->extra)
		return no_memory(err);
	for (uint32_t i = 0; i < metric->n_counters; i++)
		total_add(&sums->extra[i], number_of(&r->values[v->position[m][i]]));
	sums->rows++;
	sums->duration_ns += r->end_ns - r->begin_ns;
	return 0;
}

static struct group_sums *group_of(struct values *v, const struct store_row *r)
{
	struct group_sums g = {.kernel = r->kernel, .rank = SPOOL_RANK_NONE};
	uint64_t key, at;

	if (v->options.by == VALUES_BY_RANK)
		g.rank = r->run->spool->rank;
	if (v->options.by == VALUES_BY_PASS)
		g.pass = r->run->pass;
	key = (uint64_t)(uint32_t)g.rank << 32 | g.kernel;
	if (id_map_get(&v->group_index, key, g.pass, &at))
		return &v->sums.items[at];
	g.passes = arena_array(&v->arena, v->plan->n_passes, sizeof(struct pass_sums *));
	g.metrics = arena_array(&v->arena, v->plan->n_metrics + 1, sizeof(*g.metrics));
	if (!g.passes || !g.metrics || !vec_push(&v->sums, g) ||
	    !id_map_set(&v->group_index, key, g.pass, v->sums.n - 1))
		return NULL;
	return &v->sums.items[v->sums.n - 1];
}

/* Whether this dispatch of this process comes up for the first time; it does once a pass. */
static bool is_new_dispatch(struct values *v, const struct store_row *r, bool *failed)
{
	uint64_t key = r->dispatch / 64, bits = 0, bit = 1ull << (r->dispatch % 64);
	uint32_t process = (uint32_t)r->run->spool->id * 4 + r->unit % 4;

	if (v->options.by == VALUES_BY_PASS)
		key |= (uint64_t)r->run->pass << 50;
	id_map_get(&v->seen, key, process, &bits);
	if (bits & bit)
		return false;
	*failed = !id_map_set(&v->seen, key, process, bits | bit);
	return true;
}

static int describe_row(struct values *v, struct group_sums *g, const struct store_row *r,
			struct error *err)
{
	uint64_t ns = r->end_ns - r->begin_ns;
	bool failed = false;

	g->rows++;
	g->varying += (r->flags & SPOOL_DISPATCH_VARYING) != 0;
	g->dispatches += is_new_dispatch(v, r, &failed);
	if (r->end_ns > r->begin_ns) {
		if (!g->timed || ns < g->min_ns)
			g->min_ns = ns;
		if (ns > g->max_ns)
			g->max_ns = ns;
		g->duration_ns += ns;
		g->timed++;
	}
	return failed ? no_memory(err) : 0;
}

static int add_row(void *data, const struct store_row *r, struct error *err)
{
	struct values *v = data;
	struct group_sums *g = group_of(v, r);
	size_t rank = ranks_index(&v->ranks, r->run->spool->rank);
	uint32_t pass = r->run->pass;
	struct pass_sums *p;
	int rc = 0;

	if (!g)
		return no_memory(err);
	p = g->passes[pass - 1];
	if (!p) {
		p = arena_alloc(&v->arena, sizeof(*p));
		if (p)
			p->cells = arena_array(&v->arena, r->n_values + 1, sizeof(*p->cells));
		if (!p || !p->cells)
			return no_memory(err);
		g->passes[pass - 1] = p;
	}
	rc = describe_row(v, g, r, err);
	p->rows++;
	p->duration_ns += r->end_ns - r->begin_ns;
	if (r->complete) {
		p->complete_rows++;
		p->complete_duration_ns += r->end_ns - r->begin_ns;
	}
	for (size_t i = 0; i < r->n_values; i++) {
		add_to_cell(&p->cells[i], &r->values[i], r);
		if (is_ok(&r->values[i]) && !add_rank(v, &p->cells[i].ranks, rank))
			return no_memory(err);
	}
	if (!rc && r->n_instances)
		rc = add_instances(p, r, err);
	for (const uint32_t *m = v->metrics_of_pass[pass - 1]; !rc && *m != UINT32_MAX; m++)
		rc = add_to_metric(v, g, *m, r, rank, err);
	return rc;
}

int collect_rows(struct values *v, struct error *err)
{
	struct store_scan scan = {.pass = STORE_ALL_PASSES, .kernels = v->options.kernels};

	return store_scan(v->store, &scan, add_row, v, err);
}
