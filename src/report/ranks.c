/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and ranks: who ran which passes, and what that covers. */
#include "report/ranks.h"

#include "base/vec.h"
#include "model/coverage.h"
#include "report/parts.h"

#include <stdlib.h>
#include <string.h>

static int compare_ranks(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int ranks_init(struct ranks *r, const struct store *s, struct error *err)
{
	const struct store_run *runs;
	size_t n;

	*r = (struct ranks){0};
	runs = store_runs(s, &n);
	for (size_t i = 0; i < n; i++) {
		const struct store_spool *p = runs[i].spool;

		if (!runs[i].pass || p->rank < 0)
			continue;
		if (p->ranks > 0 && (size_t)p->ranks > r->size)
			r->size = (size_t)p->ranks;
		/* Runs are in the order of passes, so a rank may come again. */
		if (!r->known.n || !bsearch(&p->rank, r->known.items, r->known.n, sizeof(int32_t),
					    compare_ranks)) {
			if (!vec_push(&r->known, p->rank))
				return error_set(err, RC_NO_MEMORY, "out of memory");
			qsort(r->known.items, r->known.n, sizeof(int32_t), compare_ranks);
		}
	}
	if (r->known.n > r->size)
		r->size = r->known.n;
	return 0;
}

size_t ranks_index(const struct ranks *r, int32_t rank)
{
	const int32_t *at = r->known.n ? bsearch(&rank, r->known.items, r->known.n, sizeof(int32_t),
						 compare_ranks)
				       : NULL;

	return at ? (size_t)(at - r->known.items) : SIZE_MAX;
}

size_t ranks_words(const struct ranks *r)
{
	return (r->known.n + 63) / 64;
}

uint32_t ranks_list(const struct ranks *r, const uint64_t *set, struct str *out)
{
	VEC(uint32_t) list = {0};
	uint32_t n = 0;

	for (size_t i = 0; set && i < r->known.n; i++) {
		if (!(set[i / 64] >> (i % 64) & 1))
			continue;
		n++;
		if (!vec_push(&list, (uint32_t)r->known.items[i]))
			out->failed = true;
	}
	store_list_passes(list.items, list.n, out);
	vec_release(&list);
	return n;
}

void ranks_release(struct ranks *r)
{
	vec_release(&r->known);
}

/* ---- one row for each rank ---- */

static const struct table_column rank_columns[] = {
	{"rank", NULL, NULL, TABLE_NUMBER, 0},      {"host", NULL, NULL, TABLE_STRING, 0},
	{"passes", NULL, NULL, TABLE_STRING, 0},    {"executions", "runs", NULL, TABLE_NUMBER, 0},
	{"exit", NULL, NULL, TABLE_STRING, 0},      {"pids", "pid", NULL, TABLE_STRING, 0},
	{"wall_ns", "wall", "ns", TABLE_NUMBER, 0},
};

static int compare_places(const void *a, const void *b)
{
	const struct store_run *x = *(const struct store_run *const *)a;
	const struct store_run *y = *(const struct store_run *const *)b;
	int c = x->spool->rank < y->spool->rank ? -1 : x->spool->rank > y->spool->rank;

	if (!c)
		c = strcmp(x->spool->host, y->spool->host);
	if (!c)
		c = x->pass < y->pass ? -1 : x->pass > y->pass;
	return c ? c : x < y ? -1 : x > y;
}

static bool same_place(const struct store_run *a, const struct store_run *b)
{
	return a->spool->rank == b->spool->rank && !strcmp(a->spool->host, b->spool->host);
}

static void add_once(struct str *list, const char *text)
{
	size_t n = strlen(text);

	for (const char *at = list->text; at && (at = strstr(at, text)); at += n) {
		if ((at == list->text || at[-1] == ' ') && (!at[n] || at[n] == ','))
			return;
	}
	str_addf(list, "%s%s", list->size ? ", " : "", text);
}

static void add_place(struct table *t, const struct store_run *const *runs, size_t n)
{
	struct str ends = STR_INIT, end = STR_INIT, pids = STR_INIT, passes = STR_INIT;
	VEC(uint32_t) list = {0};
	uint64_t wall = 0, ended = 0;
	char pid[24];

	for (size_t i = 0; i < n; i++) {
		str_clear(&end);
		run_end_text(runs[i], &end);
		add_once(&ends, str_text(&end));
		snprintf(pid, sizeof(pid), "%u", runs[i]->pid);
		if (pids.size < 24)
			add_once(&pids, pid);
		else if (pids.text[pids.size - 1] != '.')
			str_add(&pids, ", ...");
		if ((!list.n || list.items[list.n - 1] != runs[i]->pass) &&
		    !vec_push(&list, runs[i]->pass))
			passes.failed = true;
		ended += runs[i]->ended;
		wall += runs[i]->ended ? runs[i]->wall_ns : 0;
	}
	store_list_passes(list.items, list.n, &passes);
	if (runs[0]->spool->rank >= 0)
		table_add_u64(t, (uint64_t)runs[0]->spool->rank);
	else
		table_add_none(t);
	table_add_string(t, runs[0]->spool->host);
	table_add_string(t, str_text(&passes));
	table_add_u64(t, n);
	table_add_string(t, str_text(&ends));
	table_add_string(t, str_text(&pids));
	if (ended)
		table_add_u64(t, wall / ended);
	else
		table_add_none(t);
	table_end_row(t);
	vec_release(&list);
	str_release(&ends);
	str_release(&end);
	str_release(&pids);
	str_release(&passes);
}

int ranks_table(const struct store *s, const struct report_options *o, FILE *f,
		struct json_writer *json, struct error *err)
{
	struct table_options to = {.format = o->format,
				   .base_units = o->base_units,
				   .out = f,
				   .json = json,
				   .indent = json ? NULL : "  "};
	VEC(const struct store_run *) sorted = {0};
	const struct store_run *runs;
	struct table *t = NULL;
	size_t n;
	int rc;

	runs = store_runs(s, &n);
	for (size_t i = 0; i < n; i++) {
		if (runs[i].pass && !vec_push(&sorted, &runs[i])) {
			vec_release(&sorted);
			return error_set(err, RC_NO_MEMORY, "out of memory");
		}
	}
	if (sorted.n)
		qsort(sorted.items, sorted.n, sizeof(*sorted.items), compare_places);
	rc = !json && fputs("\nranks\n", f) < 0
		     ? error_set(err, RC_IO, "the report could not be written")
		     : table_begin(&t, rank_columns, sizeof(rank_columns) / sizeof(rank_columns[0]),
				   &to, err);
	for (size_t i = 0, end; !rc && i < sorted.n; i = end) {
		for (end = i + 1; end < sorted.n && same_place(sorted.items[i], sorted.items[end]);
		     end++)
			;
		add_place(t, sorted.items + i, end - i);
	}
	vec_release(&sorted);
	return rc ? rc : table_end(t, err);
}

/* ---- coverage ---- */

void coverage_of_store(const struct store *s, struct str *out)
{
	const struct plan *plan = store_plan(s);
	const char *options = store_info(s)->options;
	uint32_t *samples = calloc(plan->n_passes + 1, sizeof(*samples));
	bool dealt = options && strstr(options, "--distribute");
	const struct store_run *runs, *first = NULL;
	bool several = false;
	size_t n;

	runs = store_runs(s, &n);
	for (size_t i = 0; samples && i < n; i++) {
		if (!runs[i].pass || runs[i].pass > plan->n_passes || !runs[i].ended ||
		    (runs[i].flags & SPOOL_PASS_TIMED_OUT))
			continue;
		samples[runs[i].pass - 1]++;
		several = several || (first && first->spool != runs[i].spool);
		first = first ? first : &runs[i];
	}
	if (!samples)
		out->failed = true;
	else if (!store_is_in_place(s) && (several || dealt))
		coverage_describe(samples, plan->n_passes, dealt && strstr(options, ":random"),
				  out);
	free(samples);
}
