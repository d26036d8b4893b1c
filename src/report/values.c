/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting values: prepare the metrics, add up, sort the groups, evaluate. */
#include "report/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while preparing a report");
}

const char *values_kernel_name(const struct store *s, uint32_t kernel)
{
	const struct store_kernel *kernels;
	const char *program = store_info(s)->program;
	size_t n;

	kernels = store_kernels(s, &n);
	if (kernel >= n)
		return program ? program : "process";
	if (kernels[kernel].unit == SPOOL_UNIT_PROCESS && program &&
	    !strcmp(kernels[kernel].name, "process"))
		return program;
	return kernels[kernel].name;
}

const char *values_shown_name(const struct store *s, const struct values_options *o,
			      uint32_t kernel)
{
	const char *name = values_kernel_name(s, kernel);
	const struct store_kernel *kernels;
	size_t n;

	kernels = store_kernels(s, &n);
	/* The program's own name is no name of the store's. */
	if (!o->names || kernel >= n || name != kernels[kernel].name)
		return name;
	return o->names[kernel];
}

int metrics_parse(struct arena *arena, const struct plan *plan, struct metric_code **code_out,
		  struct error *err)
{
	*code_out = arena_array(arena, plan->n_metrics + 1, sizeof(**code_out));
	if (!*code_out)
		return no_memory(err);
	for (uint32_t m = 0; m < plan->n_metrics; m++) {
		struct metric_code *code = &(*code_out)[m];
		struct error why = {0};

		if (!expr_parse(arena, plan->metrics[m].name, plan->metrics[m].expression,
				&code->expr, &why))
			continue;
		code->expr = NULL;
		code->why = arena_strdup(arena, why.message);
		if (!code->why)
			return no_memory(err);
	}
	return 0;
}

/* ---- one row ---- */
struct row_input {
	const struct plan *plan;
	const struct plan_pass *pass;
	const struct store_row *row;
};

static struct expr_value of_value(const struct store_value *v)
{
	struct expr_value none = {.missing = true};

	if (!v->recorded || v->status != SAMPLE_OK)
		return none;
	return (struct expr_value){.number = v->kind == SAMPLE_F64 ? v->value.f64
								   : (double)v->value.u64};
}

static struct expr_value row_counter(void *data, const char *name, int instance, size_t row)
{
	const struct row_input *in = data;
	struct expr_value none = {.missing = true};
	size_t n = strlen(name);

	(void)row;
	for (uint32_t i = 0; i < in->pass->n_counters; i++) {
		const char *have = in->plan->counters[in->pass->counters[i]].name;
		char *end;

		if (strncmp(have, name, n) != 0)
			continue;
		if (instance < 0 && !have[n])
			return of_value(&in->row->values[i]);
		if (instance >= 0 && have[n] == '[' && have[n + 1] != ']' &&
		    strtol(have + n + 1, &end, 10) == instance && *end == ']')
			return of_value(&in->row->values[i]);
		if (instance < 0 || (have[n] && strcmp(have + n, "[]") != 0))
			continue;
		for (size_t k = 0; k < in->row->n_instances; k++) {
			const struct store_instance *e = &in->row->instances[k];

			if (e->counter == in->pass->counters[i] &&
			    e->instance == (uint32_t)instance)
				return of_value(&e->value);
		}
	}
	return none;
}

static size_t row_instances(void *data, const char *name)
{
	const struct row_input *in = data;
	size_t n = 0;

	(void)name;
	for (size_t i = 0; i < in->row->n_instances; i++) {
		if (in->row->instances[i].instance >= n)
			n = in->row->instances[i].instance + 1;
	}
	return n;
}

static struct expr_value row_constant(void *data, const char *name, size_t row)
{
	const struct row_input *in = data;

	(void)row;
	/* Constants of the chip were replaced when the plan was made. */
	if (!strcmp(name, "duration_ns") && in->row->end_ns > in->row->begin_ns)
		return (struct expr_value){.number = (double)(in->row->end_ns - in->row->begin_ns)};
	return (struct expr_value){.missing = true};
}

struct expr_value metric_of_row(const struct plan *plan, uint32_t m, const struct expr *expr,
				const struct store_row *row)
{
	struct row_input data = {.plan = plan, .row = row};
	struct expr_input in = {.n_rows = 1,
				.data = &data,
				.counter = row_counter,
				.instances = row_instances,
				.constant = row_constant};
	struct expr_result result = {.value = {.missing = true}};

	(void)m;
	data.pass = &plan->passes[row->run->pass - 1];
	if (expr_evaluate(expr, &in, EXPR_RATIO_OF_SUMS, &result, NULL) ||
	    !isfinite(result.value.number))
		result.value.missing = true;
	return result.value;
}

/* ---- groups ---- */

/* Where each counter is counted. */
static int index_counters(struct values *v, struct error *err)
{
	const struct plan *plan = v->plan;
	uint32_t total = 0, *next;

	v->first_place = arena_array(&v->arena, (size_t)plan->n_counters + 2, sizeof(uint32_t));
	if (!v->first_place)
		return no_memory(err);
	next = v->first_place + 1; /* counted one further on, then each fill moves it into place */
	for (uint32_t k = 0; k < plan->n_passes; k++) {
		for (uint32_t i = 0; i < plan->passes[k].n_counters; i++)
			next[plan->passes[k].counters[i]]++;
		total += plan->passes[k].n_counters;
	}
	for (uint32_t c = 0, at = 0; c < plan->n_counters; c++) {
		uint32_t n = next[c];

		next[c] = at;
		at += n;
	}
	v->places = arena_array(&v->arena, total + 1, sizeof(*v->places));
	if (!v->places)
		return no_memory(err);
	for (uint32_t k = 0; k < plan->n_passes; k++) {
		for (uint32_t i = 0; i < plan->passes[k].n_counters; i++)
			v->places[next[plan->passes[k].counters[i]]++] =
				(struct place){.pass = k + 1, .position = i};
	}
	return 0;
}

/* Where each metric's counters are in its pass, and which metrics each pass completes. */
static int index_metrics(struct values *v, struct error *err)
{
	const struct plan *plan = v->plan;

	v->metrics_of_pass = arena_array(&v->arena, plan->n_passes + 1, sizeof(uint32_t *));
	v->position = arena_array(&v->arena, plan->n_metrics + 1, sizeof(uint32_t *));
	if (!v->metrics_of_pass || !v->position)
		return no_memory(err);
	for (uint32_t k = 0; k < plan->n_passes; k++) {
		uint32_t n = 0;

		v->metrics_of_pass[k] =
			arena_array(&v->arena, plan->n_metrics + 1, sizeof(uint32_t));
		if (!v->metrics_of_pass[k])
			return no_memory(err);
		for (uint32_t m = 0; m < plan->n_metrics; m++) {
			if (plan->metrics[m].pass == k + 1 && v->code[m].expr &&
			    (!v->options.metrics || v->options.metrics[m]))
				v->metrics_of_pass[k][n++] = m;
		}
		v->metrics_of_pass[k][n] = UINT32_MAX;
	}
	for (uint32_t m = 0; m < plan->n_metrics; m++) {
		const struct plan_metric *metric = &plan->metrics[m];
		const struct plan_pass *pass;

		v->position[m] = arena_array(&v->arena, metric->n_counters + 1, sizeof(uint32_t));
		if (!v->position[m])
			return no_memory(err);
		if (!metric->pass)
			continue;
		pass = &plan->passes[metric->pass - 1];
		for (uint32_t i = 0; i < metric->n_counters; i++) {
			uint32_t at = 0;

			while (at < pass->n_counters && pass->counters[at] != metric->counters[i])
				at++;
			if (at == pass->n_counters)
				return error_set(err, RC_CORRUPT,
						 "plan.json: metric '%s' is said to be complete in "
						 "pass %u, which does not count '%s'",
						 metric->name, metric->pass,
						 plan->counters[metric->counters[i]].name);
			v->position[m][i] = at;
		}
	}
	return 0;
}

static int compare_sums(const void *a, const void *b)
{
	const struct group_sums *x = a, *y = b;

	if (x->kernel != y->kernel)
		return x->kernel < y->kernel ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->pass < y->pass ? -1 : x->pass > y->pass;
}

/* Nothing was collected: still a report, of the program, with the reasons. */
static int add_empty_group(struct values *v, struct error *err)
{
	struct group_sums g = {.kernel = UINT32_MAX, .rank = SPOOL_RANK_NONE};

	if (v->sums.n || v->options.kernels)
		return 0;
	return vec_push(&v->sums, g) ? 0 : no_memory(err);
}

int values_collect(struct values **values_out, struct store *s, const struct values_options *o,
		   struct error *err)
{
	struct values *v = calloc(1, sizeof(*v));
	int rc;

	*values_out = NULL;
	if (!v)
		return no_memory(err);
	v->store = s;
	v->plan = store_plan(s);
	v->options = *o;
	rc = metrics_parse(&v->arena, v->plan, &v->code, err);
	if (!rc)
		rc = ranks_init(&v->ranks, s, err);
	if (!rc)
		rc = index_counters(v, err);
	if (!rc)
		rc = index_metrics(v, err);
	if (!rc)
		rc = collect_rows(v, err);
	if (!rc)
		rc = anchors_collect(&v->anchors, s, o->kernels, err);
	if (!rc && o->by == VALUES_BY_KERNEL)
		rc = sampling_collect(&v->sampling, s, o->kernels, v->code, err);
	if (!rc)
		rc = add_empty_group(v, err);
	if (!rc && v->sums.n)
		qsort(v->sums.items, v->sums.n, sizeof(*v->sums.items), compare_sums);
	for (size_t i = 0; !rc && i < v->sums.n; i++)
		rc = evaluate_group(v, &v->sums.items[i], err);
	if (rc)
		values_free(v);
	else
		*values_out = v;
	return rc;
}

const struct value_group *values_groups(const struct values *v, size_t *n_out)
{
	*n_out = v->groups.n;
	return v->groups.items;
}

bool values_spread_left_out(const struct values *v)
{
	return v->spread_left_out;
}

const struct anchors *values_anchors(const struct values *v)
{
	return v->anchors;
}

void values_free(struct values *v)
{
	if (!v)
		return;
	vec_for_each (&v->sums, g) {
		for (uint32_t k = 0; g->passes && k < v->plan->n_passes; k++) {
			if (!g->passes[k])
				continue;
			id_map_release(&g->passes[k]->instance_index);
			vec_release(&g->passes[k]->instances);
		}
		for (uint32_t m = 0; g->metrics && m < v->plan->n_metrics; m++)
			vec_release(&g->metrics[m].columns);
	}
	vec_release(&v->sums);
	vec_release(&v->groups);
	id_map_release(&v->group_index);
	ranks_release(&v->ranks);
	anchors_free(v->anchors);
	sampling_free(v->sampling);
	id_map_release(&v->seen);
	arena_release(&v->arena);
	free(v);
}
