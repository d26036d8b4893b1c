/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing what to show, and putting the parts together. */
#include "report/report.h"

#include "base/pattern.h"
#include "model/selection.h"
#include "report/html.h"
#include "report/parts.h"

#include <stdlib.h>
#include <string.h>

struct filter {
	struct arena arena;
	const char **full, **shown;         /* names of kernels, by index */
	bool *kernels, *counters, *metrics; /* NULL: all */
	struct values_options values;
};

const char *report_by_name(enum report_by by)
{
	static const char *const names[] = {"kernel", "dispatch", "pass",
					    "rank",   "window",   "reason"};

	return names[by];
}

const char *unit_name(uint32_t unit)
{
	return unit == SPOOL_UNIT_PROCESS ? "process"
	       : unit == SPOOL_UNIT_RANGE ? "range"
					  : "kernel";
}

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while preparing a report");
}

/* A kernel is known by the name the vendor gave it and by what that means. */
static bool filter_matches(const struct pattern *patterns, size_t n, const char *name,
			   const char *full)
{
	bool any_include = false, included = false;

	for (size_t i = 0; i < n; i++) {
		bool one = pattern_matches(&patterns[i], name);
		bool other = pattern_matches(&patterns[i], full);
		bool matches = patterns[i].exclude ? one && other : one || other;

		/* pattern_matches already turns an excluding pattern around. */
		if (patterns[i].exclude && !matches)
			return false;
		if (!patterns[i].exclude) {
			any_include = true;
			included = included || matches;
		}
	}
	return included || !any_include;
}

static int no_kernel_matches(const struct store *s, const struct report_options *o,
			     struct error *err)
{
	struct str names = STR_INIT;
	size_t n, shown = 0, more = 0;
	const struct store_kernel *kernels = store_kernels(s, &n);
	int rc;

	for (size_t i = 0; i < n; i++) {
		if (kernels[i].unit == SPOOL_UNIT_PROCESS)
			continue;
		if (shown == 8)
			more++;
		else
			str_addf(&names, "%s %.60s", shown++ ? "," : "; there are",
				 values_kernel_name(s, (uint32_t)i));
	}
	if (more)
		str_addf(&names, " and %zu more", more);
	rc = error_set(err, RC_NOT_FOUND, "no kernel matches '%s'%s%s", o->kernels[0],
		       o->n_kernels > 1 ? " and the other patterns" : "", str_text(&names));
	str_release(&names);
	return rc;
}

static int filter_kernels(struct filter *filter, const struct store *s,
			  const struct report_options *o, struct error *err)
{
	struct pattern *patterns = calloc(o->n_kernels, sizeof(*patterns));
	size_t n = 0, n_kernels, matches = 0;
	int rc = 0;

	store_kernels(s, &n_kernels);
	filter->kernels = calloc(n_kernels + 1, sizeof(bool));
	if (!patterns || !filter->kernels)
		rc = no_memory(err);
	for (; !rc && n < o->n_kernels; n++) {
		rc = pattern_init(&patterns[n], o->kernels[n], err);
		if (rc)
			break;
	}
	for (size_t i = 0; !rc && i < n_kernels; i++) {
		filter->kernels[i] = filter_matches(patterns, n, values_kernel_name(s, (uint32_t)i),
						    filter->full[i]);
		matches += filter->kernels[i];
	}
	if (!rc && !matches)
		rc = no_kernel_matches(s, o, err);
	while (n > 0)
		pattern_release(&patterns[--n]);
	free(patterns);
	return rc;
}

/* Marks the names of a comma-separated list. */
static int filter_names(bool *marks, size_t n, const char *(*name)(const struct plan *, size_t),
			const struct plan *plan, const char *what, const char *list,
			struct error *err)
{
	const char *one;
	size_t length;

	while (selection_next_name(&list, &one, &length)) {
		size_t i = 0;

		while (length && i < n &&
		       (strlen(name(plan, i)) != length || strncmp(name(plan, i), one, length)))
			i++;
		if (length && i == n)
			return error_set(err, RC_INVALID, "no %s '%.*s' in this run", what,
					 (int)length, one);
		if (length)
			marks[i] = true;
	}
	return 0;
}
static const char *counter_name(const struct plan *plan, size_t i)
{
	return plan->counters[i].name;
}
static const char *metric_name(const struct plan *plan, size_t i)
{
	return plan->metrics[i].name;
}

static int filter_show_names(struct filter *filter, const struct store *s,
			     const struct report_options *o, struct error *err)
{
	const struct store_kernel *kernels;
	size_t n;

	kernels = store_kernels(s, &n);
	filter->full = arena_array(&filter->arena, n + 1, sizeof(*filter->full));
	filter->shown = arena_array(&filter->arena, n + 1, sizeof(*filter->shown));
	if (!filter->full || !filter->shown)
		return no_memory(err);
	for (size_t i = 0; i < n; i++) {
		bool is_kernel = kernels[i].unit == SPOOL_UNIT_DISPATCH;
		const char *name = kernels[i].name;

		filter->full[i] =
			is_kernel ? kernel_name_show(&filter->arena, name, KERNEL_NAME_FULL) : name;
		filter->shown[i] = !is_kernel ? name
				   : o->names == KERNEL_NAME_FULL
					   ? filter->full[i]
					   : kernel_name_show(&filter->arena, name, o->names);
		if (!filter->full[i] || !filter->shown[i])
			return no_memory(err);
	}
	return 0;
}

static int filter_init(struct filter *filter, const struct store *s, const struct report_options *o,
		       struct error *err)
{
	const struct plan *plan = store_plan(s);
	int rc;

	*filter = (struct filter){0};
	rc = filter_show_names(filter, s, o, err);
	if (!rc && o->n_kernels)
		rc = filter_kernels(filter, s, o, err);
	if (!rc && (o->metrics || o->counters)) { /* naming one kind leaves out the other */
		filter->metrics = calloc(plan->n_metrics + 1, sizeof(bool));
		filter->counters = calloc(plan->n_counters + 1, sizeof(bool));
		if (!filter->metrics || !filter->counters)
			rc = no_memory(err);
	}
	if (!rc && o->metrics)
		rc = filter_names(filter->metrics, plan->n_metrics, metric_name, plan, "metric",
				  o->metrics, err);
	if (!rc && o->counters)
		rc = filter_names(filter->counters, plan->n_counters, counter_name, plan, "counter",
				  o->counters, err);
	filter->values = (struct values_options){
		.by = o->by == REPORT_BY_PASS   ? VALUES_BY_PASS
		      : o->by == REPORT_BY_RANK ? VALUES_BY_RANK
						: VALUES_BY_KERNEL,
		.kernels = filter->kernels,
		.counters = filter->counters,
		.metrics = filter->metrics,
		.ratio = o->ratio,
		.names = filter->shown,
	};
	return rc;
}

static void filter_release(struct filter *filter)
{
	free(filter->kernels);
	free(filter->counters);
	free(filter->metrics);
	arena_release(&filter->arena);
}

static int write_out(struct str *text, FILE *f, struct error *err)
{
	int rc = 0;

	if (str_is_failed(text))
		rc = no_memory(err);
	else if (text->size && fwrite(text->text, 1, text->size, f) != text->size)
		rc = error_set_errno(err, RC_IO, 0, "the report could not be written");
	str_clear(text);
	return rc;
}

static int write_values(struct store *s, const struct values *v, const struct filter *filter,
			const struct report_options *o, FILE *f, struct json_writer *json,
			struct error *err)
{
	switch (o->by) {
	case REPORT_BY_DISPATCH:
		return dispatches_table(s, &filter->values, o, f, json, err);
	case REPORT_BY_WINDOW:
		return windows_table(s, o, f, json, err);
	case REPORT_BY_REASON:
		return declined_table(s, &filter->values, o, f, json, err);
	case REPORT_BY_KERNEL:
	case REPORT_BY_PASS:
	case REPORT_BY_RANK:
	default:
		return values_table(s, v, o, f, json, err);
	}
}

/* Windows and reasons are the whole report when asked for. */
static bool has_values(enum report_by by)
{
	return by != REPORT_BY_WINDOW && by != REPORT_BY_REASON;
}

static int write_replays(struct store *s, const struct filter *filter,
			 const struct report_options *o, FILE *f, struct json_writer *json,
			 struct error *err)
{
	size_t n_windows, n_declined;
	int rc = 0;

	store_windows(s, &n_windows);
	store_declined(s, &n_declined);
	if (json)
		json_key(json, "windows");
	if (json || n_windows)
		rc = windows_table(s, o, f, json, err);
	if (rc)
		return rc;
	if (json)
		json_key(json, "declined");
	return json || n_declined ? declined_table(s, &filter->values, o, f, json, err) : 0;
}

static int write_text(struct store *s, const struct values *v, const struct filter *filter,
		      const struct report_options *o, FILE *f, struct error *err)
{
	struct str text = STR_INIT;
	int rc;

	text_head(s, v, o->ratio, &text);
	text_matching(s, &filter->values, &text);
	text_replay(s, &text);
	if (text.text)
		str_tame(text.text);
	rc = write_out(&text, f, err);
	if (!rc && o->by == REPORT_BY_RANK)
		rc = ranks_table(s, o, f, NULL, err);
	if (!rc && o->by == REPORT_BY_KERNEL && kernels_has_rows(v))
		rc = kernels_table(s, v, o, f, NULL, err);
	if (!rc)
		rc = write_values(s, v, filter, o, f, NULL, err);
	if (!rc && has_values(o->by))
		rc = write_replays(s, filter, o, f, NULL, err);
	if (!rc && has_values(o->by))
		rc = passes_table(s, o, f, NULL, err);
	if (has_values(o->by)) {
		text_findings(s, &text);
		text_missing(s, &text);
	}
	if (!rc)
		rc = write_out(&text, f, err);
	str_release(&text);
	return rc;
}

/* A page is the document, more compact and with more in it, inside its script element. */
static int write_json(struct store *s, const struct values *v, const struct filter *filter,
		      const struct report_options *o, FILE *f, struct error *err)
{
	bool page = o->format == TABLE_ARRAYS;
	struct str text = STR_INIT;
	struct json_writer w;
	int rc = page ? html_begin(f, err) : 0;

	json_writer_init(&w, &text, page);
	w.in_html = page;
	json_begin_object(&w);
	json_head(s, o, &w);
	json_key(&w, "values");
	if (!rc)
		rc = write_values(s, v, filter, o, f, &w, err);
	if (!rc && (page || o->by == REPORT_BY_RANK)) {
		json_key(&w, "ranks");
		rc = ranks_table(s, o, f, &w, err);
	}
	if (!rc && o->by == REPORT_BY_KERNEL) {
		json_key(&w, "kernels");
		rc = kernels_table(s, v, o, f, &w, err);
	}
	if (!rc && has_values(o->by))
		rc = write_replays(s, filter, o, f, &w, err);
	if (!rc && page)
		rc = html_members(s, v, &filter->values, o, f, &w, err);
	if (!rc) {
		json_matching(s, &filter->values, &w);
		json_replay(s, &w);
		json_tail(s, &w);
		json_end_object(&w);
		str_add_char(&text, '\n');
		rc = write_out(&text, f, err);
	}
	if (!rc && page)
		rc = html_end(f, err);
	str_release(&text);
	return rc;
}

int report_write(struct store *s, const struct report_options *o, FILE *f, struct error *err)
{
	struct values *v = NULL;
	struct filter filter;
	int rc = filter_init(&filter, s, o, err);

	if (!rc && has_values(o->by))
		rc = store_match_load(s, err);
	if (!rc && o->by != REPORT_BY_DISPATCH && has_values(o->by))
		rc = values_collect(&v, s, &filter.values, err);
	if (!rc && o->format == TABLE_TEXT)
		rc = write_text(s, v, &filter, o, f, err);
	else if (!rc && (o->format == TABLE_JSON || o->format == TABLE_ARRAYS))
		rc = write_json(s, v, &filter, o, f, err);
	else if (!rc)
		rc = write_values(s, v, &filter, o, f, NULL, err);
	if (!rc && fflush(f) != 0)
		rc = error_set(err, RC_IO, "the report could not be written");
	values_free(v);
	filter_release(&filter);
	return rc;
}

int report_choose_kernels(struct store *s, const char *const *patterns, size_t n,
			  bool **kernels_out, struct error *err)
{
	struct report_options o = {.kernels = patterns, .n_kernels = n};
	struct filter filter;
	int rc = filter_init(&filter, s, &o, err);

	*kernels_out = filter.kernels;
	filter.kernels = NULL;
	if (rc) {
		free(*kernels_out);
		*kernels_out = NULL;
	}
	filter_release(&filter);
	return rc;
}
