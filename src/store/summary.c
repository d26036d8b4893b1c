/* SPDX-License-Identifier: Apache-2.0 */
/* The few lines that end a run: what was collected, what was not and why, what it cost, what next.
 */
#include "store/internal.h"

#include <string.h>

#define REASONS_SHOWN  4
#define FINDINGS_SHOWN 4

static bool is_collected(const struct store *s, uint32_t counter)
{
	struct str why = STR_INIT;
	bool missing = store_why_missing(s, counter, &why);

	str_release(&why);
	return !missing;
}

/* In its pass, or anywhere for one that is split over passes. */
static bool metric_is_collected(const struct store *s, const struct plan_metric *m)
{
	for (uint32_t i = 0; i < m->n_counters; i++) {
		if (m->pass ? !store_sample_count(s, m->pass, m->counters[i], SAMPLE_OK)
			    : !is_collected(s, m->counters[i]))
			return false;
	}
	return true;
}

static void add_coverage(const struct store *s, struct str *out)
{
	uint32_t passes = 0, counters = 0, metrics = 0;

	for (uint32_t k = 1; k <= s->plan.n_passes; k++)
		passes += s->pass_has_run[k];
	for (uint32_t i = 0; i < s->plan.n_counters; i++)
		counters += is_collected(s, i);
	for (uint32_t i = 0; i < s->plan.n_metrics; i++)
		metrics += metric_is_collected(s, &s->plan.metrics[i]);
	str_addf(out, "retally: %s: %u of %u passes, %u of %u counters",
		 s->info.program ? s->info.program : s->dir, passes, s->plan.n_passes, counters,
		 s->plan.n_counters);
	if (s->plan.n_metrics)
		str_addf(out, ", %u of %u metrics", metrics, s->plan.n_metrics);
	str_add(out, "\n");
}

/* Counters with the same reason share a line. */
static void add_missing(const struct store *s, struct str *out)
{
	struct {
		char *why;
		struct str names;
		uint32_t n;
	} line[REASONS_SHOWN] = {0};
	uint32_t n_lines = 0, more = 0;

	for (uint32_t c = 0; c < s->plan.n_counters; c++) {
		struct str why = STR_INIT;
		uint32_t i = 0;
		char *text;

		if (!store_why_missing(s, c, &why)) {
			str_release(&why);
			continue;
		}
		text = str_take(&why);
		while (text && i < n_lines && strcmp(line[i].why, text) != 0)
			i++;
		if (!text || i == REASONS_SHOWN) {
			more++;
			free(text);
			continue;
		}
		if (i == n_lines) {
			n_lines++;
			line[i].why = text;
			text = NULL;
		}
		if (line[i].n++ < 3)
			str_addf(&line[i].names, "%s%s", line[i].n > 1 ? ", " : "",
				 s->plan.counters[c].name);
		free(text);
	}
	for (uint32_t i = 0; i < n_lines; i++) {
		str_addf(out, "  not collected: %s", str_text(&line[i].names));
		if (line[i].n > 3)
			str_addf(out, " and %u more", line[i].n - 3);
		str_addf(out, ": %s\n", line[i].why);
		free(line[i].why);
		str_release(&line[i].names);
	}
	if (more)
		str_addf(out, "  not collected: %u more counters, see the report\n", more);
	for (uint32_t i = 0; i < s->plan.n_dropped && i < 2; i++)
		str_addf(out, "  not planned: %s: %s\n", s->plan.dropped[i].name,
			 s->plan.dropped[i].reason);
	if (s->plan.n_dropped > 2)
		str_addf(out, "  not planned: %u more, see the report\n", s->plan.n_dropped - 2);
}

static void add_seconds(struct str *out, uint64_t ns)
{
	if (ns < 1000000)
		str_addf(out, "%.0f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		str_addf(out, "%.1f ms", (double)ns / 1e6);
	else
		str_addf(out, "%.2f s", (double)ns / 1e9);
}

static void add_cost(const struct store *s, struct str *out)
{
	uint64_t total = 0, first = 0;
	size_t n = 0, n_first = 0;

	vec_for_each (&s->runs, r) {
		if (!r->pass || !r->ended)
			continue;
		total += r->wall_ns;
		n++;
		if (r->pass == 1) {
			first += r->wall_ns;
			n_first++;
		}
	}
	if (!n || !total)
		return;
	str_addf(out, "  cost: %zu execution%s, ", n, n == 1 ? "" : "s");
	add_seconds(out, total);
	if (n_first && n > n_first) {
		str_add(out, "; pass 1 took ");
		add_seconds(out, first / n_first);
	}
	str_add(out, "\n");
}

int store_summary(struct store *s, struct str *out, struct error *err)
{
	size_t shown = 0;
	uint32_t next = 0;

	add_coverage(s, out);
	add_missing(s, out);
	vec_for_each (&s->findings, f) {
		if (shown++ == FINDINGS_SHOWN) {
			str_addf(out, "  %zu more findings, see the report\n",
				 s->findings.n - FINDINGS_SHOWN);
			break;
		}
		if (f->pass)
			str_addf(out, "  pass %u: %s\n", f->pass, f->text);
		else
			str_addf(out, "  %s\n", f->text);
	}
	add_cost(s, out);
	for (uint32_t k = s->plan.n_passes; k; k--) {
		if (!s->pass_has_run[k])
			next = k;
	}
	str_add(out, "  next: ");
	if (next) {
		store_pass_command(s, next, out);
	} else {
		str_add(out, "retally report ");
		str_add(out, s->dir);
	}
	str_add(out, "\n");
	if (str_is_failed(out))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	return 0;
}
