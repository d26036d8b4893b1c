/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a roofline: for each line that the chip's metric file has (docs/report.md), how
 * fast each kernel worked or moved bytes, and the peak. A peak of constants only is the chip
 * file's; one that uses counters was measured with the kernels, and the highest is taken; without
 * one the page uses the highest rate of the run and says so. Counters of a kernel are its means,
 * which may come from several passes.
 */
#include "model/expr.h"
#include "report/html.h"
#include "report/parts.h"

#include <math.h>
#include <string.h>

struct input {
	const struct plan *plan;
	const struct value_group *group; /* NULL: there are constants only */
	bool uses_counters;
	const char *missing; /* a counter without a value */
};

static struct expr_value of_number(double d)
{
	return (struct expr_value){.number = d, .missing = !isfinite(d)};
}

static struct expr_value get_counter(void *data, const char *name, int instance, size_t row)
{
	struct input *in = data;

	(void)row;
	in->uses_counters = true;
	for (size_t i = 0; in->group && instance < 0 && i < in->group->n; i++) {
		const struct value *v = &in->group->values[i];

		if (v->is_metric || strcmp(in->plan->counters[v->index].name, name) != 0)
			continue;
		if (!v->present)
			break;
		return of_number(number_f64(v->value));
	}
	in->missing = name;
	return (struct expr_value){.missing = true};
}

static size_t get_instances(void *data, const char *name)
{
	(void)data;
	(void)name;
	return 0;
}

static struct expr_value get_constant(void *data, const char *name, size_t row)
{
	struct input *in = data;

	(void)row;
	if (!in->group || strcmp(name, "duration_ns") != 0 || !in->group->mean_ns)
		return (struct expr_value){.missing = true};
	return of_number((double)in->group->mean_ns);
}

/* The value of an expression for one kernel; missing where it is empty. */
static int evaluate(struct arena *arena, const char *text, struct input *in,
		    struct expr_value *value_out, struct error *err)
{
	struct expr_input rows = {.n_rows = 1,
				  .data = in,
				  .counter = get_counter,
				  .instances = get_instances,
				  .constant = get_constant};
	struct expr_result result = {.value = {.missing = true}};
	const struct expr *e;
	int rc = 0;

	in->uses_counters = false;
	in->missing = NULL;
	if (*text)
		rc = expr_parse(arena, "roofline", text, &e, err);
	if (*text && !rc)
		rc = expr_evaluate(e, &rows, EXPR_RATIO_OF_SUMS, &result, err);
	*value_out = result.value;
	return rc;
}

static void add_number(struct json_writer *w, const char *key, struct expr_value v)
{
	json_key(w, key);
	if (v.missing)
		json_null(w);
	else
		json_double(w, v.number);
}

/* Kernels that have this rate, as rows of [index of the kernel's group, rate]; what is missing
 * elsewhere; the peak. */
static int add_line(struct arena *arena, const struct roofline_line *line, struct input *in,
		    const struct value_group *groups, size_t n, struct json_writer *w,
		    struct error *err)
{
	struct expr_value peak = {.missing = true}, v;
	const char *missing = NULL;
	bool measured = false;
	int rc = 0;

	json_begin_object(w);
	json_key(w, "title");
	json_string(w, line->title);
	json_key(w, "unit");
	json_string(w, line->unit);
	json_key(w, "memory");
	json_bool(w, line->is_memory);
	json_key(w, "rate_of");
	json_string(w, line->rate);
	json_key(w, "peak_of");
	json_string(w, line->peak);
	json_key(w, "kernels");
	json_begin_array(w);
	for (size_t i = 0; !rc && i < n; i++) {
		in->group = &groups[i];
		rc = evaluate(arena, line->rate, in, &v, err);
		if (!rc && !v.missing) {
			json_begin_array(w);
			json_uint(w, i);
			json_double(w, v.number);
			json_end_array(w);
		}
		if (in->missing)
			missing = in->missing;
		if (!rc)
			rc = evaluate(arena, line->peak, in, &v, err);
		measured = measured || in->uses_counters;
		if (!v.missing && (peak.missing || v.number > peak.number))
			peak = v;
	}
	json_end_array(w);
	json_key(w, "missing");
	json_string(w, missing);
	add_number(w, "peak", peak);
	json_key(w, "measured");
	json_bool(w, measured);
	json_end_object(w);
	return rc;
}

int html_roofline(const struct plan *plan, const struct values *v, const struct report_options *o,
		  struct json_writer *w, struct error *err)
{
	struct input in = {.plan = plan};
	const struct value_group *groups;
	struct arena arena = {0};
	size_t n;
	int rc = 0;

	groups = values_groups(v, &n);
	json_key(w, "groups");
	json_begin_array(w); /* [name, scope, executions], in the order of the values */
	for (size_t i = 0; i < n; i++) {
		json_begin_array(w);
		json_string(w, groups[i].name);
		json_string(w, unit_name(groups[i].unit));
		json_uint(w, groups[i].rows);
		json_end_array(w);
	}
	json_end_array(w);
	json_key(w, "roofline");
	json_begin_array(w);
	for (size_t i = 0; !rc && o->chip && i < o->chip->roofline.n; i++)
		rc = add_line(&arena, &o->chip->roofline.items[i], &in, groups, n, w, err);
	json_end_array(w);
	arena_release(&arena);
	return rc;
}
