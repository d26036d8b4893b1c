/* SPDX-License-Identifier: Apache-2.0 */
/* The few lines that end a run: what was collected, what was not and why, what it cost, what next.
 */
#include "model/dropped.h"
#include "store/id_map.h"
#include "store/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many lines of each kind, that all of it is at most 15. A run in place has more to tell. */
#define REASONS_SHOWN           4
#define REASONS_SHOWN_IN_PLACE  2
#define FINDINGS_SHOWN          4
#define FINDINGS_SHOWN_IN_PLACE 2
#define DECLINED_SHOWN          2

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

static void add_coverage(const struct store *s, uint64_t kernels, uint64_t dispatches,
			 struct str *out)
{
	uint32_t passes = 0, counters = 0, metrics = 0;

	for (uint32_t k = 1; k <= s->plan.n_passes; k++)
		passes += store_pass_is_complete(s, k);
	for (uint32_t i = 0; i < s->plan.n_counters; i++)
		counters += is_collected(s, i);
	for (uint32_t i = 0; i < s->plan.n_metrics; i++)
		metrics += metric_is_collected(s, &s->plan.metrics[i]);
	str_addf(out, "retally: %s: ", s->info.program ? s->info.program : s->dir);
	if (store_is_in_place(s))
		str_addf(out, "%llu kernel%s, %llu dispatch%s, ", (unsigned long long)kernels,
			 kernels == 1 ? "" : "s", (unsigned long long)dispatches,
			 dispatches == 1 ? "" : "es");
	str_addf(out, "%u of %u passes, %u of %u counters", passes, s->plan.n_passes, counters,
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
	uint32_t n_lines = 0, more = 0, reasons;
	uint32_t most = store_is_in_place(s) ? REASONS_SHOWN_IN_PLACE : REASONS_SHOWN;
	uint32_t most_dropped = store_is_in_place(s) ? 1 : 2;

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
		if (!text || i == most) {
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
	reasons = dropped_reasons(&s->plan);
	for (uint32_t i = 0, shown = 0; i < s->plan.n_dropped && shown < most_dropped; i++) {
		struct str text = STR_INIT;

		if (dropped_line(&s->plan, i, 3, &text)) {
			str_addf(out, "  not planned: %s\n", str_text(&text));
			shown++;
		}
		str_release(&text);
	}
	if (reasons > most_dropped)
		str_addf(out, "  not planned: more, for %u other reason%s, see the report\n",
			 reasons - most_dropped, reasons - most_dropped == 1 ? "" : "s");
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

/* ---- runs in place ---- */

struct seen {
	struct id_map dispatches; /* numbers, by spool and kind */
	bool *kernels;
	uint64_t n_kernels, n_dispatches;
};

static int see_row(void *data, const struct store_row *r, struct error *err)
{
	struct seen *seen = data;
	uint32_t process = (uint32_t)r->run->spool->id * 4 + r->unit % 4;
	bool is_new;

	if (r->unit == SPOOL_UNIT_PROCESS)
		return 0;
	seen->n_kernels += !seen->kernels[r->kernel];
	seen->kernels[r->kernel] = true;
	if (!id_map_mark(&seen->dispatches, r->dispatch, process, &is_new))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	seen->n_dispatches += is_new;
	return 0;
}

/* Different dispatches and ranges, each once whatever the number of its passes. */
static int count_dispatches(struct store *s, uint64_t *kernels_out, uint64_t *dispatches_out,
			    struct error *err)
{
	struct store_scan all = {.pass = STORE_ALL_PASSES};
	struct seen seen = {.kernels = calloc(s->kernels.n + 1, sizeof(bool))};
	int rc = seen.kernels ? store_scan(s, &all, see_row, &seen, err)
			      : error_set(err, RC_NO_MEMORY, "out of memory");

	*kernels_out = seen.n_kernels;
	*dispatches_out = seen.n_dispatches;
	id_map_release(&seen.dispatches);
	free(seen.kernels);
	return rc;
}

/* Why there may be nothing at all. A process in which a device came up has a file of its own, next
 * to that of the command. */
static void add_nothing_seen(const struct store *s, struct str *out)
{
	size_t from_inside = 0;

	vec_for_each (&s->runs, r)
		from_inside += !r->pass;
	vec_for_each (&s->findings, f)
		if (f->from_program && f->kind == SPOOL_NOTE_DISABLED)
			return; /* shown below */
	if (s->declined.n)
		return;
	if (from_inside < 2)
		str_add(out, "  no kernel was seen: nothing was recorded in the program (it has no "
			     "device, OpenCL or region that --replay range would count, is linked "
			     "statically or clears its environment; or libretally could not be "
			     "loaded or not write here, "
			     "which it says on stderr)\n");
	else
		str_add(out, "  no kernel was seen: a device was opened, but no kernel that the "
			     "filters take was launched on it\n");
}

static void add_declined(const struct store *s, struct str *out)
{
	static const char *const instead[] = {"not counted", "counted live, one pass each",
					      "replayed alone"};
	uint64_t more = 0, left = 0;
	size_t shown = 0;

	for (size_t i = 0; i < s->declined.n; i++) {
		const struct store_declined *d = &s->declined.items[i];

		if (d->instead == SPOOL_INSTEAD_ESTIMATE) {
			left += d->n;
			continue;
		}
		if (shown++ >= DECLINED_SHOWN) {
			more += d->n;
			continue;
		}
		str_addf(out, "  declined: %llu dispatch%s", (unsigned long long)d->n,
			 d->n == 1 ? "" : "es");
		if (d->kernel < s->kernels.n)
			str_addf(out, " of %.60s", s->kernels.items[d->kernel].name);
		str_addf(out, ": %s (%s)\n", d->reason, d->instead < 3 ? instead[d->instead] : "?");
	}
	if (more)
		str_addf(out, "  declined: %llu more, see the report\n", (unsigned long long)more);
	if (left)
		str_addf(
			out,
			"  left out: %llu dispatches, whose kernels were known well enough by then "
			"(--until)\n",
			(unsigned long long)left);
}

static void add_bytes(struct str *out, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	double v = (double)bytes;
	int i = 0;

	for (; v >= 1000 && i < 4; i++)
		v /= 1000;
	str_addf(out, i ? "%.1f %s" : "%.0f %s", v, units[i]);
}

static void add_cost_in_place(const struct store *s, struct str *out)
{
	uint64_t n = 0, live = 0, span = 0, program = 0, run = 0, memory = 0, whole = 0;
	uint64_t saved = 0, restored = 0, spared = 0;

	vec_for_each (&s->windows, w) {
		n += w->n;
		live += w->live_ns;
		span += w->span_ns;
		program += w->program_ns;
		run += w->run_ns;
		memory += w->save_ns + w->restore_ns + w->check_ns;
		saved += w->saved_bytes;
		restored += w->restored_bytes;
		spared += w->spared_bytes;
	}
	vec_for_each (&s->runs, r)
		if (!r->pass && r->ended && r->wall_ns > whole)
			whole = r->wall_ns;
	if (whole) {
		str_add(out, "  cost: ");
		add_seconds(out, whole);
		str_add(out, n ? " in all; " : " in all\n");
	} else if (n) {
		str_add(out, "  cost: ");
	}
	if (!n)
		return;
	str_addf(out, "%llu window%s: ", (unsigned long long)n, n == 1 ? "" : "s");
	add_seconds(out, live);
	str_add(out, " live, ");
	add_seconds(out, span);
	str_add(out, " with replays (counters ");
	add_seconds(out, program);
	str_add(out, ", dispatches ");
	add_seconds(out, run);
	str_add(out, ", memory ");
	add_seconds(out, memory);
	str_add(out, ")\n  memory: saved ");
	add_bytes(out, saved);
	str_add(out, ", restored ");
	add_bytes(out, restored);
	str_add(out, ", spared ");
	add_bytes(out, spared);
	str_add(out, "\n");
}

int store_summary(struct store *s, struct str *out, struct error *err)
{
	bool in_place = store_is_in_place(s);
	size_t shown = 0, most = in_place ? FINDINGS_SHOWN_IN_PLACE : FINDINGS_SHOWN;
	uint64_t kernels = 0, dispatches = 0;
	uint32_t next = 0;
	int rc = in_place ? count_dispatches(s, &kernels, &dispatches, err) : 0;

	if (rc)
		return rc;
	add_coverage(s, kernels, dispatches, out);
	if (in_place && !dispatches)
		add_nothing_seen(s, out);
	else
		add_missing(s, out);
	add_declined(s, out);
	vec_for_each (&s->findings, f) {
		if (f->kind == SPOOL_NOTE_DETAIL || shown++ >= most)
			continue;
		if (f->pass)
			str_addf(out, "  pass %u: %s\n", f->pass, f->text);
		else
			str_addf(out, "  %s\n", f->text);
	}
	if (shown > most)
		str_addf(out, "  %zu more findings, see the report\n", shown - most);
	if (in_place)
		add_cost_in_place(s, out);
	else
		add_cost(s, out);
	for (uint32_t k = s->plan.n_passes; k; k--) {
		if (!store_pass_is_complete(s, k) && !store_pass_is_part(s, k) &&
		    (!in_place || dispatches))
			next = k;
	}
	str_add(out, "  next: ");
	if (next) {
		store_pass_command(s, next, out);
	} else {
		str_add(out, "retally report ");
		store_add_word(out, s->dir);
	}
	str_add(out, "\n");
	if (str_is_failed(out))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	return 0;
}
