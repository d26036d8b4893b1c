/* SPDX-License-Identifier: Apache-2.0 */
/* The page around its document, and the members that only a page has. */
#include "report/html.h"

#include "report/parts.h"
#include "report/ranks.h"

#include <stdlib.h>
#include <string.h>

static int put(const unsigned char *bytes, size_t n, FILE *f, struct error *err)
{
	if (fwrite(bytes, 1, n, f) != n)
		return error_set(err, RC_IO, "the report could not be written");
	return 0;
}

int html_begin(FILE *f, struct error *err)
{
	return put(html_head, html_head_size, f, err);
}

int html_end(FILE *f, struct error *err)
{
	return put(html_tail, html_tail_size, f, err);
}

static void add_run(const struct store *s, const struct values *v, const struct report_options *o,
		    struct json_writer *w)
{
	const struct store_info *info = store_info(s);
	struct collected c = collected_of(s);
	struct str text = STR_INIT;
	const struct {
		const char *key;
		uint64_t value;
	} members[] = {{"passes", c.passes},
		       {"counters", c.counters},
		       {"executions", c.executions},
		       {"spools", c.spools}};

	json_key(w, "run");
	json_begin_object(w);
	json_key(w, "host");
	json_string(w, info->host);
	json_key(w, "created");
	json_string(w, info->created);
	json_key(w, "options");
	json_string(w, info->options);
	json_key(w, "filters");
	json_string(w, info->filters);
	json_key(w, "in_place");
	json_bool(w, store_is_in_place(s));
	json_key(w, "spread_left_out");
	json_bool(w, values_spread_left_out(v));
	json_key(w, "no_chip");
	json_string(w, o->no_chip);
	json_key(w, "collected");
	json_begin_object(w);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		json_key(w, members[i].key);
		json_uint(w, members[i].value);
	}
	json_end_object(w);
	json_key(w, "coverage"); /* sentences, each ends a line */
	coverage_of_store(s, &text);
	json_string(w, str_text(&text));
	w->out->failed = w->out->failed || text.failed;
	json_end_object(w);
	str_release(&text);
}

/* ---- single dispatches ---- */

/* Takes of n wanted values those that there is room for. Returns how many are left out. */
static uint64_t fit(bool *marks, const bool *wanted, uint32_t n, uint64_t *room)
{
	uint64_t left_out = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool is_wanted = !wanted || wanted[i];

		marks[i] = is_wanted && *room;
		left_out += is_wanted && !*room;
		*room -= marks[i];
	}
	return left_out;
}

static int add_dispatches(struct store *s, const struct values *v, const struct values_options *vo,
			  const struct report_options *o, FILE *f, struct json_writer *w,
			  struct error *err)
{
	const struct plan *plan = store_plan(s);
	struct values_options some = *vo;
	bool *counters = calloc(plan->n_counters + 1u, sizeof(bool));
	bool *metrics = calloc(plan->n_metrics + 1u, sizeof(bool));
	const struct value_group *groups;
	uint64_t rows = 0, room, left_out;
	size_t n;
	int rc = 0;

	groups = values_groups(v, &n);
	for (size_t i = 0; i < n; i++)
		rows += groups[i].dispatches;
	room = HTML_CELLS_MAX / (rows < 1 ? 1 : rows > HTML_ROWS_MAX ? HTML_ROWS_MAX : rows);
	if (!counters || !metrics) {
		rc = error_set(err, RC_NO_MEMORY, "out of memory while preparing a report");
	} else {
		left_out = fit(metrics, vo->metrics, plan->n_metrics, &room);
		left_out += fit(counters, vo->counters, plan->n_counters, &room);
		some.counters = counters;
		some.metrics = metrics;
		json_key(w, "dispatch_values_left_out");
		json_uint(w, left_out);
		json_key(w, "dispatch_rows");
		json_uint(w, rows);
		json_key(w, "dispatches");
		rc = dispatches_wide(s, &some, o, f, w, err);
	}
	free(counters);
	free(metrics);
	return rc;
}

int html_members(struct store *s, const struct values *v, const struct values_options *vo,
		 const struct report_options *o, FILE *f, struct json_writer *w, struct error *err)
{
	int rc;

	add_run(s, v, o, w);
	html_plan(store_plan(s), o, w);
	json_key(w, "passes");
	rc = passes_table(s, o, f, w, err);
	if (!rc)
		rc = html_roofline(store_plan(s), v, o, w, err);
	return rc ? rc : add_dispatches(s, v, vo, o, f, w, err);
}
