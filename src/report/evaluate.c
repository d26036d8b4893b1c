/* SPDX-License-Identifier: Apache-2.0 */
/* From sums to values, each with its status and reason. */
#include "report/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while evaluating metrics");
}

const char *status_name(uint8_t status)
{
	static const char *const names[] = {"ok",          "not collected", "overflowed",
					    "multiplexed", "not matched",   "declined",
					    "incomplete"};

	return status <= SAMPLE_STATUS_MAX ? names[status] : "not collected";
}

static const char *keep(struct values *v, struct str *s)
{
	const char *kept = str_is_failed(s) ? NULL : arena_strdup(&v->arena, str_text(s));

	str_release(s);
	return kept ? kept : "";
}

/* The sums of a counter at one of its places; NULL when the group has no rows of that pass. */
static const struct cell_sums *cell_at(const struct group_sums *g, const struct place *p)
{
	const struct pass_sums *sums = g->passes ? g->passes[p->pass - 1] : NULL;

	return sums ? &sums->cells[p->position] : NULL;
}

/* The places of a counter, by pass. */
#define for_each_place(v, counter, p)                                         \
	for (const struct place *p = (v)->places + (v)->first_place[counter]; \
	     p < (v)->places + (v)->first_place[(counter) + 1]; p++)

/* The first pass in which the counter has a value, or NULL. */
static const struct place *first_value(const struct values *v, const struct group_sums *g,
				       uint32_t counter)
{
	for_each_place (v, counter, p) {
		const struct cell_sums *c = cell_at(g, p);

		if (c && c->n)
			return p;
	}
	return NULL;
}

/* Says by which ranks a value was measured. */
static void set_ranks(struct values *v, const uint64_t *set, struct value *out)
{
	struct str list = STR_INIT;

	if (!out->present || !v->ranks.size || !set)
		return;
	out->n_ranks = ranks_list(&v->ranks, set, &list);
	out->of_ranks = (uint32_t)v->ranks.size;
	out->ranks = keep(v, &list);
}

static void join_ranks(const struct values *v, uint64_t *into, const uint64_t *from)
{
	for (size_t i = 0; into && from && i < ranks_words(&v->ranks); i++)
		into[i] |= from[i];
}

/* ---- counters ---- */

/* What the group's own samples say: the first pass with a bad one, and the commonest status there.
 */
static bool why_bad(const struct values *v, const struct group_sums *g, uint32_t counter,
		    struct value *value, struct str *why)
{
	for_each_place (v, counter, p) {
		const struct cell_sums *c = cell_at(g, p);
		uint8_t most = 0;

		for (uint8_t i = SAMPLE_NOT_COLLECTED; c && i <= SAMPLE_STATUS_MAX; i++) {
			if (c->bad[i] && (!most || c->bad[i] > c->bad[most]))
				most = i;
		}
		if (!most)
			continue;
		value->status = status_name(most);
		if (most == SAMPLE_MULTIPLEXED && c->enabled_ns) {
			str_addf(why, "multiplexed in pass %u: counted %.0f %% of the time",
				 p->pass, 100.0 * (double)c->running_ns / (double)c->enabled_ns);
			if (c->bad[most] == 1) {
				str_add(why, ", raw count ");
				number_print(c->raw, why);
			}
			return true;
		}
		if (!store_why_missing(v->store, counter, why))
			str_addf(why, "%s in pass %u", status_name(most), p->pass);
		return true;
	}
	return false;
}

static void why_counter(struct values *v, const struct group_sums *g, uint32_t counter,
			struct value *value)
{
	struct str why = STR_INIT;

	value->status = status_name(SAMPLE_NOT_COLLECTED);
	if (!why_bad(v, g, counter, value, &why) && !store_why_missing(v->store, counter, &why)) {
		if (g->pass)
			str_addf(&why, "no sample in pass %u", g->pass);
		else if (v->options.by == VALUES_BY_RANK)
			str_addf(&why, "no sample on rank %d", g->rank);
		else
			str_add(&why, "no sample of this kernel");
	}
	value->reason = keep(v, &why);
}

static bool is_less(struct number a, struct number b)
{
	if (!a.is_f64 && !b.is_f64)
		return a.u64 < b.u64;
	return number_f64(a) < number_f64(b);
}

static bool is_over_100(const char *unit, const struct value *x)
{
	return x->present && (!strcmp(unit, "%") || !strcmp(unit, "percent")) &&
	       number_f64(x->value) > 100;
}

/* All from one pass, and yet more than the whole: then that is what was counted. */
static void explain_coherent(struct values *v, const char *unit, struct value *out)
{
	struct str why = STR_INIT;

	if (!is_over_100(unit, out) || *out->reason)
		return;
	str_addf(&why, "over 100 %%: counted so in pass %s, not put together from several",
		 out->passes);
	out->reason = keep(v, &why);
}

static int counter_value(struct values *v, const struct group_sums *g, uint32_t counter,
			 struct value *out, struct error *err)
{
	VEC(uint32_t) passes = {0};
	struct total total = {0};
	struct str list = STR_INIT;
	double low = 0, high = 0, mean;
	uint32_t n_compared = 0;
	uint64_t *ranks = arena_array(&v->arena, ranks_words(&v->ranks) + 1, sizeof(*ranks));

	if (!ranks)
		return no_memory(err);
	*out = (struct value){.index = counter,
			      .status = "ok",
			      .reason = "",
			      .passes = "",
			      .ranks = "",
			      .error = -1};
	for_each_place (v, counter, p) {
		const struct cell_sums *c = cell_at(g, p);

		if (!c || !c->n)
			continue;
		if (!out->n || is_less(c->min, out->min))
			out->min = c->min;
		if (!out->n || is_less(out->max, c->max))
			out->max = c->max;
		out->n += c->n;
		join_ranks(v, ranks, c->ranks);
		total.whole += c->all.whole;
		total.real += c->all.real;
		total.has_real = total.has_real || c->all.has_real;
		if (c->n == g->passes[p->pass - 1]->rows) { /* others count other dispatches */
			mean = total_f64(&c->all) / (double)c->n;
			low = n_compared && low < mean ? low : mean;
			high = n_compared && high > mean ? high : mean;
			n_compared++;
		}
		if (!vec_push(&passes, p->pass)) {
			vec_release(&passes);
			return no_memory(err);
		}
	}
	mean = out->n ? total_f64(&total) / (double)out->n : 0;
	out->pass_spread = n_compared < 2 ? -1 : high > low ? (high - low) / fabs(mean) : 0;
	store_list_passes(passes.items, passes.n, &list);
	vec_release(&passes);
	out->passes = keep(v, &list);
	out->present = out->n > 0;
	out->has_spread = out->n > 1;
	if (out->present) {
		out->value = total_mean(&total, out->n);
		out->has_sum = !(v->plan->counters[counter].flags & PLAN_COUNTER_MEAN);
		if (out->has_sum)
			out->sum = total_number(&total);
		out->has_estimate =
			sampling_counter(v->sampling, g->kernel, counter, &out->estimate);
		set_ranks(v, ranks, out);
		explain_coherent(v, v->plan->counters[counter].unit, out);
	} else {
		why_counter(v, g, counter, out);
	}
	return 0;
}

/* ---- metrics ---- */
struct metric_input {
	const struct values *v;
	const struct plan_metric *metric;
	const struct group_sums *group;
	const struct metric_sums *sums;
	const struct pass_sums *pass; /* NULL for a split metric */
	const uint32_t *position;
	const double *row_numbers; /* with expr_needs_rows */
	double duration;
	bool of_means;
	uint64_t rows; /* of the pass that have all the counters */
};

static size_t counter_in_metric(const struct plan *plan, const struct plan_metric *m,
				const char *name)
{
	for (uint32_t i = 0; i < m->n_counters; i++) {
		if (!strcmp(plan->counters[m->counters[i]].name, name))
			return i;
	}
	return SIZE_MAX;
}

/* The plan names single instances as counters of their own, "X[3]", or has them as instances of X.
 */
static size_t instance_in_metric(const struct plan *plan, const struct plan_metric *m,
				 const char *name, int instance, size_t *of_all_out)
{
	struct str text = STR_INIT;
	size_t at;

	*of_all_out = counter_in_metric(plan, m, name);
	if (instance < 0)
		return *of_all_out;
	str_addf(&text, "%s[%d]", name, instance);
	at = counter_in_metric(plan, m, str_text(&text));
	if (*of_all_out == SIZE_MAX) {
		str_clear(&text);
		str_addf(&text, "%s[]", name);
		*of_all_out = counter_in_metric(plan, m, str_text(&text));
	}
	str_release(&text);
	return at;
}

static struct expr_value of_number(double d)
{
	return (struct expr_value){.number = d, .missing = !isfinite(d)};
}

/* Of an average no sum can be taken: a metric with one sees the means of all its counters. */
static bool metric_is_of_means(const struct plan *plan, const struct plan_metric *m)
{
	for (uint32_t i = 0; i < m->n_counters; i++) {
		if (plan->counters[m->counters[i]].flags & PLAN_COUNTER_MEAN)
			return true;
	}
	return false;
}

static struct expr_value get_counter(void *data, const char *name, int instance, size_t row)
{
	const struct metric_input *in = data;
	const struct plan *plan = in->v->plan;
	size_t all, at = instance_in_metric(plan, in->metric, name, instance, &all);
	const struct place *place;
	const struct cell_sums *c;
	struct expr_value none = {.missing = true};
	double sum;
	uint64_t i;

	if (at == SIZE_MAX) {
		if (instance < 0 || all == SIZE_MAX || !in->pass ||
		    !id_map_get(&in->pass->instance_index, in->metric->counters[all],
				(uint32_t)instance, &i))
			return none;
		return of_number(total_f64(&in->pass->instances.items[i].all) /
				 (in->of_means ? (double)in->pass->instances.items[i].n : 1));
	}
	if (in->row_numbers)
		return of_number(in->row_numbers[row * (in->metric->n_counters + 1) + at]);
	if (in->pass) {
		c = &in->pass->cells[in->position[at]];
		sum = total_f64(&c->complete);
		if (in->sums->extra)
			sum += total_f64(&in->sums->extra[at]);
		return c->n_complete || in->sums->rows
			       ? of_number(in->of_means ? sum / (double)in->rows : sum)
			       : none;
	}
	place = first_value(in->v, in->group, in->metric->counters[at]); /* split */
	if (!place)
		return none;
	c = cell_at(in->group, place);
	return of_number(total_f64(&c->all) / (double)c->n);
}

static size_t get_instances(void *data, const char *name)
{
	const struct metric_input *in = data;

	(void)name;
	return in->pass ? in->pass->n_instances : 0;
}

static struct expr_value get_constant(void *data, const char *name, size_t row)
{
	const struct metric_input *in = data;
	double ns;

	if (strcmp(name, "duration_ns") != 0)
		return (struct expr_value){.missing = true};
	ns = in->row_numbers
		     ? in->row_numbers[row * (in->metric->n_counters + 1) + in->metric->n_counters]
		     : in->duration;
	/* What ran live has no times where the runtime cannot tell them. */
	if (ns > 0)
		return of_number(ns);
	return (struct expr_value){.missing = true};
}

static void why_metric(struct values *v, const struct group_sums *g, const struct plan_metric *m,
		       struct value *out)
{
	struct str why = STR_INIT;
	struct value counter;

	out->status = status_name(SAMPLE_NOT_COLLECTED);
	if (m->pass && !store_pass_has_run(v->store, m->pass)) {
		str_addf(&why, "pass %u was not run", m->pass);
		out->reason = keep(v, &why);
		return;
	}
	for (uint32_t i = 0; i < m->n_counters; i++) {
		const struct pass_sums *sums = m->pass && g->passes ? g->passes[m->pass - 1] : NULL;

		if (m->pass ? sums && sums->cells[v->position[m - v->plan->metrics][i]].n
			    : first_value(v, g, m->counters[i]) != NULL)
			continue;
		counter = (struct value){0};
		why_counter(v, g, m->counters[i], &counter);
		out->status = counter.status;
		str_addf(&why, "needs %s: %s", v->plan->counters[m->counters[i]].name,
			 counter.reason);
		out->reason = keep(v, &why);
		return;
	}
	str_add(&why, "the expression has no value for these counts (a division by zero?)");
	out->reason = keep(v, &why);
}

/* Which passes a split metric took its counters from. */
static const char *split_passes(struct values *v, const struct group_sums *g,
				const struct plan_metric *m, struct error *err)
{
	bool *used = calloc(v->plan->n_passes + 1, sizeof(*used));
	VEC(uint32_t) passes = {0};
	struct str list = STR_INIT;
	bool good = used != NULL;

	for (uint32_t i = 0; used && i < m->n_counters; i++) {
		const struct place *p = first_value(v, g, m->counters[i]);

		if (p)
			used[p->pass] = true;
	}
	for (uint32_t k = 1; used && k <= v->plan->n_passes; k++)
		good = good && (!used[k] || vec_push(&passes, k));
	free(used);
	store_list_passes(passes.items, passes.n, &list);
	vec_release(&passes);
	if (!good) {
		str_release(&list);
		no_memory(err);
		return NULL;
	}
	return keep(v, &list);
}

static uint32_t unit_of(const struct values *v, const struct group_sums *g)
{
	size_t n;
	const struct store_kernel *kernels = store_kernels(v->store, &n);

	return g->kernel < n ? kernels[g->kernel].unit : SPOOL_UNIT_PROCESS;
}

/* Several passes are as good as the anchors they share; a share above the whole shows it. */
static void explain_split(struct values *v, const struct group_sums *g, struct value *out,
			  struct str *why)
{
	struct anchor_spread s = anchors_of_kernel(v->anchors, g->kernel);

	if (s.sameness != SAMENESS_INCOMPARABLE)
		out->error = s.typical;
	if (!is_over_100(v->plan->metrics[out->index].unit, out)) {
		if (out->error < 0)
			str_add(why, ", error not known: no anchor was compared");
		return;
	}
	str_add(why, "; over 100 %: ");
	if (out->error < 0) {
		str_add(why, "whether these passes did the same work is not known, no anchor was "
			     "compared");
	} else if (s.largest > 0) {
		str_addf(why, "these passes did not do the same work, %s of %s differs by up to ",
			 v->plan->counters[s.counter].name,
			 unit_of(v, g) == SPOOL_UNIT_PROCESS ? "the process" : "one dispatch");
		share_print(s.largest, why);
	} else {
		str_addf(why, "not for the work, %s agrees in all passes",
			 v->plan->counters[s.counter].name);
	}
}

static int metric_value(struct values *v, const struct group_sums *g, uint32_t m, struct value *out,
			struct error *err)
{
	const struct plan_metric *metric = &v->plan->metrics[m];
	const struct metric_sums *sums = g->metrics ? &g->metrics[m] : NULL;
	struct metric_input data = {
		.v = v, .metric = metric, .group = g, .sums = sums, .position = v->position[m]};
	struct expr_input in = {.n_rows = 1,
				.data = &data,
				.counter = get_counter,
				.instances = get_instances,
				.constant = get_constant};
	struct expr_result result = {.value = {.missing = true}};
	struct str why = STR_INIT;
	int rc;

	*out = (struct value){.is_metric = true,
			      .index = m,
			      .status = "ok",
			      .reason = "",
			      .passes = "",
			      .ranks = "",
			      .error = -1,
			      .pass_spread = -1};
	if (!v->code[m].expr) {
		out->status = status_name(SAMPLE_NOT_COLLECTED);
		out->reason = v->code[m].why;
		return 0;
	}
	if (metric->pass && g->passes)
		data.pass = g->passes[metric->pass - 1];
	if ((metric->pass && !data.pass) || !sums) {
		why_metric(v, g, metric, out);
		return 0;
	}
	if (data.pass) {
		data.duration = (double)(data.pass->complete_duration_ns + sums->duration_ns);
		data.rows = out->n = data.pass->complete_rows + sums->rows;
		data.of_means = metric_is_of_means(v->plan, metric);
		if (data.of_means && data.rows)
			data.duration /= (double)data.rows;
		if (metric_needs_rows(v, m)) {
			data.row_numbers = sums->columns.items;
			in.n_rows = sums->column_rows;
		}
	} else {
		out->n = 1;
	}
	if (sums->too_many) {
		out->status = status_name(SAMPLE_NOT_COLLECTED);
		out->reason = "it looks at every dispatch, and there are too many at once; use -k";
		return 0;
	}
	rc = expr_evaluate(v->code[m].expr, &in, v->options.ratio, &result, err);
	if (rc)
		return rc;
	if (result.value.missing) {
		out->n = 0;
		why_metric(v, g, metric, out);
		return 0;
	}
	out->present = true;
	out->value = NUMBER_F64(result.value.number);
	if (data.row_numbers)
		out->n = result.rows_used;
	if (sums->spread_n > 1 && !v->spread_left_out) {
		out->has_spread = true;
		out->min = NUMBER_F64(sums->min);
		out->max = NUMBER_F64(sums->max);
	}
	if (metric->pass) {
		str_addf(&why, "%u", metric->pass);
		out->passes = keep(v, &why);
		out->has_estimate = sampling_metric(v->sampling, g->kernel, m, &out->estimate);
		set_ranks(v, sums->ranks, out);
		explain_coherent(v, metric->unit, out);
	} else {
		uint64_t *ranks =
			arena_array(&v->arena, ranks_words(&v->ranks) + 1, sizeof(*ranks));

		for (uint32_t i = 0; i < metric->n_counters; i++) {
			const struct place *p = first_value(v, g, metric->counters[i]);

			if (p)
				join_ranks(v, ranks, cell_at(g, p)->ranks);
		}
		set_ranks(v, ranks, out);
		out->status = "split";
		out->passes = split_passes(v, g, metric, err);
		if (!out->passes)
			return err ? err->code : RC_NO_MEMORY;
		str_addf(&why, "split over passes %s", out->passes);
		explain_split(v, g, out, &why);
		out->reason = keep(v, &why);
	}
	return 0;
}

static bool counter_is_wanted(const struct values *v, const struct group_sums *g, uint32_t counter)
{
	const struct plan_pass *p;

	if (v->options.counters && !v->options.counters[counter])
		return false;
	if (!g->pass)
		return true;
	p = &v->plan->passes[g->pass - 1];
	for (uint32_t i = 0; i < p->n_counters; i++) {
		if (p->counters[i] == counter)
			return true;
	}
	return false;
}

/* "1-3": the passes that have rows of this group. */
static const char *passes_of_rows(struct values *v, const struct group_sums *g)
{
	uint32_t *passes = calloc(v->plan->n_passes + 1, sizeof(*passes));
	struct str list = STR_INIT;
	size_t n = 0;

	for (uint32_t k = 0; passes && g->passes && k < v->plan->n_passes; k++) {
		if (g->passes[k] && g->passes[k]->rows)
			passes[n++] = k + 1;
	}
	if (passes)
		store_list_passes(passes, n, &list);
	free(passes);
	return keep(v, &list);
}

int evaluate_group(struct values *v, const struct group_sums *g, struct error *err)
{
	struct value_group out = {.rank = g->rank,
				  .pass = g->pass,
				  .rows = g->rows,
				  .unit = unit_of(v, g),
				  .dispatches = g->dispatches,
				  .varying = g->varying,
				  .mean_ns = g->timed ? g->duration_ns / g->timed : 0,
				  .min_ns = g->min_ns,
				  .max_ns = g->max_ns,
				  .kernel = g->kernel};
	struct value *values;
	int rc = 0;

	out.name = values_shown_name(v->store, &v->options, g->kernel);
	out.row_passes = passes_of_rows(v, g);
	values = arena_array(&v->arena, (size_t)v->plan->n_counters + v->plan->n_metrics + 1,
			     sizeof(*values));
	if (!values)
		return no_memory(err);
	for (uint32_t m = 0; !rc && m < v->plan->n_metrics; m++) {
		bool wanted = !v->options.metrics || v->options.metrics[m];

		if (wanted && (!g->pass || v->plan->metrics[m].pass == g->pass))
			rc = metric_value(v, g, m, &values[out.n++], err);
	}
	for (uint32_t c = 0; !rc && c < v->plan->n_counters; c++) {
		if (counter_is_wanted(v, g, c))
			rc = counter_value(v, g, c, &values[out.n++], err);
	}
	out.values = values;
	if (!rc && !vec_push(&v->groups, out))
		rc = no_memory(err);
	return rc;
}
