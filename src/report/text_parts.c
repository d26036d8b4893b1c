/* SPDX-License-Identifier: Apache-2.0 */
/* The text around the values: what was run, planned and collected; passes; findings; what is
 * missing. */
#include "base/vec.h"
#include "model/dropped.h"
#include "report/anchors.h"
#include "report/parts.h"
#include "report/ranks.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

void text_wrapped(struct str *out, const char *text, unsigned indent)
{
	size_t column = indent;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > indent && column + word > REPORT_WIDTH) {
			while (out->size && out->text[out->size - 1] == ' ')
				out->text[--out->size] = '\0';
			str_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		}
		for (size_t i = 0; i < word; i++) {
			unsigned char c = (unsigned char)text[i];

			str_add_char(out, c < 0x20 || c == 0x7f ? '?' : text[i]);
		}
		column += word;
		text += word;
		if (*text == ' ') {
			str_add_char(out, ' ');
			column++;
			text++;
		}
	}
}

/* ---- head ---- */
static void add_plan(const struct plan *plan, struct str *out)
{
	str_addf(out, "plan       %u pass%s", plan->n_passes, plan->n_passes == 1 ? "" : "es");
	if (plan->proven)
		str_add(out, " (proven minimal)");
	else
		str_addf(out, " (at least %u are needed)", plan->lower_bound);
	str_addf(out, ", %u counters, %u metrics", plan->n_counters, plan->n_metrics);
	if (plan->chip && *plan->chip)
		str_addf(out, ", %s", plan->chip);
	str_add(out, "\n");
}

struct collected collected_of(const struct store *s)
{
	const struct plan *plan = store_plan(s);
	struct collected c = {0};
	const struct store_run *runs;
	struct str why = STR_INIT;
	size_t n_runs;

	for (uint32_t k = 1; k <= plan->n_passes; k++)
		c.passes += store_pass_is_complete(s, k);
	for (uint32_t i = 0; i < plan->n_counters; i++)
		c.counters += !store_why_missing(s, i, &why);
	str_release(&why);
	runs = store_runs(s, &n_runs);
	for (size_t i = 0; i < n_runs; i++)
		c.executions += !runs[i].in_place;
	store_spools(s, &c.spools);
	return c;
}

static void add_coverage(const struct store *s, struct str *out)
{
	struct collected c = collected_of(s);

	str_addf(out,
		 "collected  %u of %u passes, %u of %u counters; %zu execution%s in %zu spool%s\n",
		 c.passes, store_plan(s)->n_passes, c.counters, store_plan(s)->n_counters,
		 c.executions, c.executions == 1 ? "" : "s", c.spools, c.spools == 1 ? "" : "s");
}

/* Who ran which pass, and whether values of different ranks stand side by side. */
static void add_ranks(const struct store *s, const struct values *v, struct str *out)
{
	const struct value_group *groups;
	struct str text = STR_INIT;
	uint32_t size = 0;
	bool some = false;
	size_t n = 0;

	coverage_of_store(s, &text);
	for (const char *line = str_text(&text); *line;) {
		size_t length = strcspn(line, "\n");

		str_addf(out, "           %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
	str_release(&text);
	groups = v ? values_groups(v, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < groups[i].n; k++) {
			const struct value *x = &groups[i].values[k];

			size = x->of_ranks;
			some = some || (x->n_ranks < x->of_ranks && groups[i].rank < 0);
			if (some)
				break;
		}
	}
	if (some)
		str_addf(out,
			 "ranks      of the %u ranks only some measured what is marked below; such "
			 "values are\n           of those ranks alone, and no totals of the job\n",
			 size);
}

/* For each anchor, how far its passes are apart in the kernel where they differ most. */
static void add_anchors(const struct plan *plan, const struct values *v, struct str *out)
{
	const struct value_group *groups;
	size_t n = 0, lines = 0;

	groups = v ? values_groups(v, &n) : NULL;
	for (uint32_t c = 0; c < plan->n_counters; c++) {
		const struct value *worst = NULL;
		const char *where = NULL;

		if (!(plan->counters[c].flags & PLAN_COUNTER_ANCHOR))
			continue;
		for (size_t i = 0; i < n; i++) {
			for (size_t k = 0; k < groups[i].n; k++) {
				const struct value *x = &groups[i].values[k];

				if (x->is_metric || x->index != c || x->pass_spread < 0 ||
				    (worst && x->pass_spread <= worst->pass_spread))
					continue;
				worst = x;
				where = groups[i].name;
			}
		}
		if (!worst)
			continue;
		str_addf(out, "%s%s: passes differ by ", lines++ ? "           " : "anchors    ",
			 plan->counters[c].name);
		share_print(worst->pass_spread, out);
		if (n > 1)
			str_addf(out, " (at most, in %s)", where);
		str_add(out, "\n");
	}
}

/* Where passes were repeated: how much of that is there within one pass already. */
static void add_repeats(const struct store *s, const struct values *v, struct str *out)
{
	struct anchor_spread worst = {.within = -1};
	const struct value_group *groups;
	const char *where = NULL;
	size_t n = 0;

	groups = v ? values_groups(v, &n) : NULL;
	for (size_t i = 0; i < n; i++) {
		struct anchor_spread x = anchors_of_kernel(values_anchors(v), groups[i].kernel);

		if (x.within > worst.within) {
			worst = x;
			where = groups[i].name;
		}
	}
	if (worst.within < 0)
		return;
	str_addf(out, "repeats    %s: standard deviation ",
		 store_plan(s)->counters[worst.counter].name);
	share_print(worst.within, out);
	str_add(out, " within a pass");
	if (worst.between >= 0) {
		str_add(out, ", ");
		share_print(worst.between, out);
		str_add(out, " between passes");
	}
	str_addf(out, " (at most, in %s)\n", where);
}

void text_head(const struct store *s, const struct values *v, enum expr_ratio ratio,
	       struct str *out)
{
	const struct store_info *info = store_info(s);
	const struct plan *plan = store_plan(s);
	struct str command = STR_INIT;

	for (size_t i = 0; i < info->argc; i++)
		str_addf(&command, "%s%s", i ? " " : "", info->argv[i]);
	str_add(out, "program    ");
	text_wrapped(out,
		     info->argc      ? str_text(&command)
		     : info->program ? info->program
				     : info->dir,
		     11);
	str_add(out, "\n");
	str_release(&command);
	add_plan(plan, out);
	add_coverage(s, out);
	add_ranks(s, v, out);
	add_anchors(plan, v, out);
	add_repeats(s, v, out);
	if (ratio == EXPR_MEAN_OF_RATIOS)
		str_add(out, "ratios     means of the values of each dispatch (--ratio mean)\n");
}

/* ---- passes ---- */
void run_end_text(const struct store_run *r, struct str *out)
{
	const char *name = r->signal > 0 ? sigabbrev_np(r->signal) : NULL;

	if (r->in_place)
		str_add(out, "in place");
	else if (!r->ended)
		str_add(out, "no end");
	else if (r->flags & SPOOL_PASS_TIMED_OUT)
		str_add(out, "timed out");
	else if (name)
		str_addf(out, "SIG%s", name);
	else if (r->signal)
		str_addf(out, "signal %d", r->signal);
	else
		str_addf(out, "%d", r->exit_code);
}

static void add_counter_names(const struct plan *plan, uint32_t pass, struct str *out)
{
	const struct plan_pass *p = &plan->passes[pass - 1];
	size_t start = out->size;

	for (uint32_t i = 0; i < p->n_counters; i++) {
		const char *name = plan->counters[p->counters[i]].name;

		if (i && out->size - start + strlen(name) > 34) {
			str_addf(out, " and %u more", p->n_counters - i);
			return;
		}
		str_addf(out, "%s%s", i ? ", " : "", name);
	}
}

static const struct table_column pass_columns[] = {
	{"pass", NULL, NULL, TABLE_NUMBER, 0},
	{"runs", NULL, NULL, TABLE_NUMBER, 0},
	{"exit", NULL, NULL, TABLE_STRING, 0},
	{"wall", NULL, "ns", TABLE_NUMBER, 0},
	{"user", NULL, "ns", TABLE_NUMBER, 0},
	{"memory", NULL, "bytes", TABLE_NUMBER, 0},
	{"output", NULL, NULL, TABLE_STRING, TABLE_HIDE_EMPTY},
	{"counters", NULL, NULL, TABLE_STRING, 0},
};

/* One line a pass: means over its executions; different endings side by side. */
static void add_pass(struct table *t, const struct store *s, uint32_t pass)
{
	const struct store_run *runs;
	uint64_t wall = 0, user = 0, memory = 0, n = 0, ended = 0, differs = 0;
	struct str ends = STR_INIT, end = STR_INIT, text = STR_INIT;
	size_t n_runs;

	runs = store_runs(s, &n_runs);
	for (size_t i = 0; i < n_runs; i++) {
		const struct store_run *r = &runs[i];

		if (r->pass != pass)
			continue;
		n++;
		str_clear(&end);
		run_end_text(r, &end);
		if (ends.size > 20 || (ends.size && strstr(str_text(&ends), str_text(&end))))
			; /* it is there, or there are too many kinds */
		else
			str_addf(&ends, "%s%s", ends.size ? ", " : "", str_text(&end));
		differs += (r->flags & SPOOL_PASS_OUTPUT_DIFFERS) != 0;
		if (!r->ended)
			continue;
		ended++;
		wall += r->wall_ns;
		user += r->user_ns;
		memory = r->max_rss_bytes > memory ? r->max_rss_bytes : memory;
	}
	table_add_u64(t, pass);
	if (!n && store_pass_has_run(s, pass)) { /* without a record of its own */
		table_add_none(t);
		table_add_string(t, "in place");
	} else {
		table_add_u64(t, n);
		table_add_string(t, n ? str_text(&ends) : "not run");
	}
	for (int i = 0; i < 3; i++) {
		if (ended)
			table_add_u64(t, i == 0 ? wall / ended : i == 1 ? user / ended : memory);
		else
			table_add_none(t);
	}
	table_add_string(t, differs ? "differs" : NULL);
	if (store_pass_is_part(s, pass))
		str_add(&text, "(its values come with a later pass)");
	else if (pass)
		add_counter_names(store_plan(s), pass, &text);
	else
		str_add(&text, "(the program itself)");
	table_add_string(t, str_text(&text));
	table_end_row(t);
	str_release(&ends);
	str_release(&end);
	str_release(&text);
}

int passes_table(const struct store *s, const struct report_options *o, FILE *f,
		 struct json_writer *json, struct error *err)
{
	struct table_options to = {.format = o->format,
				   .base_units = o->base_units,
				   .out = f,
				   .json = json,
				   .indent = "  "};
	struct table *t;
	int rc;

	if (o->format == TABLE_TEXT && fputs("\npasses\n", f) < 0)
		return error_set(err, RC_IO, "the report could not be written");
	rc = table_begin(&t, pass_columns, sizeof(pass_columns) / sizeof(pass_columns[0]), &to,
			 err);
	if (rc)
		return rc;
	if (store_is_in_place(s))
		add_pass(t, s, 0);
	for (uint32_t k = 1; k <= store_plan(s)->n_passes; k++)
		add_pass(t, s, k);
	return table_end(t, err);
}

/* ---- findings and what is missing ---- */
void text_findings(const struct store *s, struct str *out)
{
	const struct store_finding *f;
	struct str text = STR_INIT;
	size_t n;

	f = store_findings(s, &n);
	if (n)
		str_add(out, "\nfindings\n");
	for (size_t i = 0; i < n; i++) {
		str_clear(&text);
		if (f[i].pass)
			str_addf(&text, "pass %u: ", f[i].pass);
		str_add(&text, f[i].text);
		if (f[i].n > 1)
			str_addf(&text, " (%llu times)", (unsigned long long)f[i].n);
		str_add(out, "  - ");
		text_wrapped(out, str_text(&text), 4);
		str_add(out, "\n");
	}
	out->failed = out->failed || text.failed;
	str_release(&text);
}

/* Counters that share a reason, in a line. */
static void add_reasons(const struct store *s, struct str *out)
{
	const struct plan *plan = store_plan(s);
	VEC(char *) why = {0};

	for (uint32_t c = 0; c < plan->n_counters; c++) {
		struct str text = STR_INIT;
		bool missing = store_why_missing(s, c, &text);
		char *taken = missing ? str_take(&text) : NULL;

		str_release(&text);
		if (!vec_push(&why, taken) || (missing && !taken))
			out->failed = true;
	}
	for (size_t i = 0; !out->failed && i < why.n; i++) {
		struct str line = STR_INIT;
		bool seen = !why.items[i];

		for (size_t k = 0; k < i; k++)
			seen = seen || (why.items[k] && !strcmp(why.items[k], why.items[i]));
		if (seen)
			continue;
		str_addf(&line, "%s: ", why.items[i]);
		for (size_t k = i, n = 0; k < why.n; k++) {
			if (why.items[k] && !strcmp(why.items[k], why.items[i]))
				str_addf(&line, "%s%s", n++ ? ", " : "", plan->counters[k].name);
		}
		str_add(out, "  - ");
		text_wrapped(out, str_text(&line), 4);
		str_add(out, "\n");
		str_release(&line);
	}
	vec_for_each (&why, w)
		free(*w);
	vec_release(&why);
}

void text_missing(const struct store *s, struct str *out)
{
	const struct plan *plan = store_plan(s);
	struct str why = STR_INIT;
	bool missing = plan->n_dropped > 0, nothing_ran = store_is_in_place(s);

	for (uint32_t c = 0; !missing && c < plan->n_counters; c++)
		missing = store_why_missing(s, c, &why);
	str_release(&why);
	if (missing) {
		str_add(out, "\nnot collected\n");
		add_reasons(s, out);
	}
	for (uint32_t i = 0; i < plan->n_dropped; i++) {
		struct str line = STR_INIT;

		str_add(&line, "not in the plan: ");
		if (!dropped_line(plan, i, UINT32_MAX, &line)) {
			str_release(&line);
			continue;
		}
		str_add(out, "  - ");
		text_wrapped(out, str_text(&line), 4);
		str_add(out, "\n");
		str_release(&line);
	}
	for (uint32_t k = 1; k <= plan->n_passes; k++)
		nothing_ran = nothing_ran && !store_pass_has_run(s, k);
	for (uint32_t k = 1, n = 0; k <= plan->n_passes; k++) {
		/* In place there was nothing to count: another pass would find nothing either. */
		if (store_pass_is_complete(s, k) || store_pass_is_part(s, k) || nothing_ran)
			continue;
		if (!n++)
			str_add(out, "\nto collect the missing passes\n");
		str_add(out, "  ");
		store_pass_command(s, k, out);
		str_add(out, "\n");
	}
}
