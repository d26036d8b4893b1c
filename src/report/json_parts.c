/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON document around the values. */
#include "config.h"

#include "report/parts.h"

void json_head(const struct store *s, const struct report_options *o, struct json_writer *w)
{
	const struct store_info *info = store_info(s);
	const struct plan *plan = store_plan(s);

	json_key(w, "version");
	json_uint(w, TABLE_SCHEMA_VERSION);
	json_key(w, "retally");
	json_string(w, RETALLY_VERSION);
	json_key(w, "program");
	json_string(w, info->program);
	json_key(w, "argv");
	json_begin_array(w);
	for (size_t i = 0; i < info->argc; i++)
		json_string(w, info->argv[i]);
	json_end_array(w);
	json_key(w, "plan");
	json_begin_object(w);
	json_key(w, "hash");
	json_string(w, plan->hash);
	json_key(w, "chip");
	json_string(w, plan->chip);
	json_key(w, "selection");
	json_string(w, plan->selection);
	json_key(w, "passes");
	json_uint(w, plan->n_passes);
	json_key(w, "lower_bound");
	json_uint(w, plan->lower_bound);
	json_key(w, "proven");
	json_bool(w, plan->proven);
	json_end_object(w);
	json_key(w, "ratio");
	json_string(w, o->ratio == EXPR_MEAN_OF_RATIOS ? "mean" : "sums");
	json_key(w, "by");
	json_string(w, report_by_name(o->by));
}

static void add_runs(const struct store *s, struct json_writer *w)
{
	const struct store_run *runs;
	size_t n;

	runs = store_runs(s, &n);
	json_key(w, "runs");
	json_begin_array(w);
	for (size_t i = 0; i < n; i++) {
		const struct store_run *r = &runs[i];
		struct str end = STR_INIT;

		json_begin_object(w);
		json_key(w, "pass");
		json_uint(w, r->pass);
		json_key(w, "spool");
		json_string(w, r->spool->file);
		json_key(w, "launch");
		json_string(w, r->spool->launch);
		json_key(w, "host");
		json_string(w, r->spool->host);
		json_key(w, "rank");
		if (r->spool->rank >= 0)
			json_int(w, r->spool->rank);
		else
			json_null(w);
		json_key(w, "pid");
		json_uint(w, r->pid);
		json_key(w, "attempt");
		json_uint(w, r->attempt);
		run_end_text(r, &end);
		json_key(w, "end");
		json_string(w, str_text(&end));
		str_release(&end);
		json_key(w, "exit_code");
		if (r->ended && !r->signal)
			json_int(w, r->exit_code);
		else
			json_null(w);
		json_key(w, "wall_ns");
		if (r->ended)
			json_uint(w, r->wall_ns);
		else
			json_null(w);
		json_key(w, "user_ns");
		if (r->ended)
			json_uint(w, r->user_ns);
		else
			json_null(w);
		json_key(w, "system_ns");
		if (r->ended)
			json_uint(w, r->system_ns);
		else
			json_null(w);
		json_key(w, "max_rss_bytes");
		if (r->ended)
			json_uint(w, r->max_rss_bytes);
		else
			json_null(w);
		json_key(w, "output_differs");
		json_bool(w, r->flags & SPOOL_PASS_OUTPUT_DIFFERS);
		json_end_object(w);
	}
	json_end_array(w);
}

static void add_findings(const struct store *s, struct json_writer *w)
{
	const struct store_finding *f;
	size_t n;

	f = store_findings(s, &n);
	json_key(w, "findings");
	json_begin_array(w);
	for (size_t i = 0; i < n; i++) {
		json_begin_object(w);
		json_key(w, "pass");
		if (f[i].pass)
			json_uint(w, f[i].pass);
		else
			json_null(w);
		json_key(w, "n");
		json_uint(w, f[i].n);
		json_key(w, "text");
		json_string(w, f[i].text);
		json_end_object(w);
	}
	json_end_array(w);
}

void json_tail(const struct store *s, struct json_writer *w)
{
	const struct plan *plan = store_plan(s);
	struct str text = STR_INIT;

	add_runs(s, w);
	add_findings(s, w);
	json_key(w, "not_collected");
	json_begin_array(w);
	for (uint32_t c = 0; c < plan->n_counters + plan->n_dropped; c++) {
		bool dropped = c >= plan->n_counters;

		str_clear(&text);
		if (!dropped && !store_why_missing(s, c, &text))
			continue;
		json_begin_object(w);
		json_key(w, "name");
		json_string(w, dropped ? plan->dropped[c - plan->n_counters].name
				       : plan->counters[c].name);
		json_key(w, "reason");
		json_string(w,
			    dropped ? plan->dropped[c - plan->n_counters].reason : str_text(&text));
		json_end_object(w);
	}
	json_end_array(w);
	json_key(w, "missing_passes");
	json_begin_array(w);
	for (uint32_t k = 1; k <= plan->n_passes; k++) {
		if (store_pass_is_complete(s, k) || store_pass_is_part(s, k))
			continue;
		str_clear(&text);
		store_pass_command(s, k, &text);
		json_begin_object(w);
		json_key(w, "pass");
		json_uint(w, k);
		json_key(w, "command");
		json_string(w, str_text(&text));
		json_end_object(w);
	}
	json_end_array(w);
	str_release(&text);
}
