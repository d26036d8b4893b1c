/* SPDX-License-Identifier: Apache-2.0 */
/* A pass plan as people read it. */
#include "cli/plan_print.h"

#include "base/map.h"
#include "base/vec.h"
#include "model/dropped.h"

#include <string.h>

#define WIDTH 100

void plan_print_size(FILE *out, const struct plan *plan)
{
	fprintf(out, "%u pass%s", plan->n_passes, plan->n_passes == 1 ? "" : "es");
	if (plan->proven)
		fputs(", proven minimal", out);
	else
		fprintf(out, ", at least %u", plan->lower_bound);
}

/* A word list in lines of at most WIDTH columns, indented. */
struct word_list {
	FILE *out;
	size_t indent, column;
};

static void word_add(struct word_list *w, const char *word)
{
	size_t n = strlen(word);

	if (!w->column || (w->column > w->indent && w->column + 1 + n > WIDTH)) {
		fprintf(w->out, "%s%*s", w->column ? "\n" : "", (int)w->indent, "");
		w->column = w->indent;
	} else {
		fputc(' ', w->out);
		w->column++;
	}
	fputs(word, w->out);
	w->column += n;
}

static void word_end(struct word_list *w)
{
	if (w->column)
		fputc('\n', w->out);
	w->column = 0;
}

static uint32_t count_complete(const struct plan *plan, uint32_t pass)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_metrics; i++)
		n += plan->metrics[i].pass == pass;
	return n;
}

static void print_split(FILE *out, const struct plan *plan)
{
	struct word_list w = {.out = out, .indent = 2};
	bool any = false;

	for (uint32_t i = 0; i < plan->n_metrics; i++) {
		if (plan->metrics[i].pass)
			continue;
		if (!any)
			fputs("\nfit no single pass, their values are stitched from several:\n",
			      out);
		any = true;
		word_add(&w, plan->metrics[i].name);
	}
	word_end(&w);
}

void plan_print(FILE *out, const struct plan *plan)
{
	struct word_list w = {.out = out, .indent = 2};
	uint32_t anchors = 0, whole = 0;

	for (uint32_t i = 0; i < plan->n_metrics; i++)
		whole += plan->metrics[i].pass != 0;
	fprintf(out, "plan %.12s for %s: ", plan->hash, plan->chip);
	plan_print_size(out, plan);
	fprintf(out, "; %u counter%s", plan->n_counters, plan->n_counters == 1 ? "" : "s");
	if (plan->n_metrics)
		fprintf(out, "; %u of %u metrics whole in one pass", whole, plan->n_metrics);
	fputc('\n', out);
	for (uint32_t i = 0; i < plan->n_counters; i++) {
		if (!(plan->counters[i].flags & PLAN_COUNTER_ANCHOR))
			continue;
		if (!anchors++)
			fputs("anchors, in every pass:\n", out);
		word_add(&w, plan->counters[i].name);
	}
	word_end(&w);
	for (uint32_t k = 1; k <= plan->n_passes; k++) {
		const struct plan_pass *p = &plan->passes[k - 1];

		fprintf(out, "\npass %u: %u counters", k, p->n_counters);
		if (plan->n_metrics)
			fprintf(out, ", %u metrics taken from it", count_complete(plan, k));
		fprintf(out, "%s%s\n", *p->reason ? "; " : "", p->reason);
		for (uint32_t i = 0; i < p->n_counters; i++)
			if (!(plan->counters[p->counters[i]].flags & PLAN_COUNTER_ANCHOR))
				word_add(&w, plan->counters[p->counters[i]].name);
		word_end(&w);
	}
	print_split(out, plan);
	for (uint32_t i = 0; i < plan->n_dropped; i++) {
		struct str line = STR_INIT;

		if (dropped_line(plan, i, UINT32_MAX, &line))
			fprintf(out, "%s  %s\n", i ? "" : "\nnot collected:\n", str_text(&line));
		str_release(&line);
	}
}

/* Names of one kind of thing in two plans, compared in the order of a, then of b. */
static size_t diff_names(FILE *out, const char *kind, const char *const *a, uint32_t na,
			 const char *const *b, uint32_t nb)
{
	struct map in_a = {0}, in_b = {0};
	size_t n = 0;

	for (uint32_t i = 0; i < na; i++)
		map_set(&in_a, a[i], i);
	for (uint32_t i = 0; i < nb; i++)
		map_set(&in_b, b[i], i);
	for (uint32_t i = 0; i < na; i++)
		if (!map_get(&in_b, a[i], NULL) && ++n)
			fprintf(out, "- %s %s\n", kind, a[i]);
	for (uint32_t i = 0; i < nb; i++)
		if (!map_get(&in_a, b[i], NULL) && ++n)
			fprintf(out, "+ %s %s\n", kind, b[i]);
	map_release(&in_a);
	map_release(&in_b);
	return n;
}

static size_t diff_passes(FILE *out, const struct plan *a, const struct plan *b)
{
	struct map in_b = {0};
	size_t n = 0, j;

	for (uint32_t i = 0; i < b->n_metrics; i++)
		map_set(&in_b, b->metrics[i].name, i);
	for (uint32_t i = 0; i < a->n_metrics; i++)
		if (map_get(&in_b, a->metrics[i].name, &j) &&
		    !a->metrics[i].pass != !b->metrics[j].pass && ++n)
			fprintf(out, "%s metric %s is %s in the second\n",
				b->metrics[j].pass ? "+" : "-", a->metrics[i].name,
				b->metrics[j].pass ? "whole" : "split");
	map_release(&in_b);
	return n;
}

size_t plan_print_diff(FILE *out, const struct plan *a, const struct plan *b)
{
	VEC(const char *) x = {0}, y = {0};
	size_t n = 0;

	if (a->n_passes != b->n_passes && ++n)
		fprintf(out, "passes: %u and %u\n", a->n_passes, b->n_passes);
	for (uint32_t i = 0; i < a->n_counters; i++)
		vec_push(&x, a->counters[i].name);
	for (uint32_t i = 0; i < b->n_counters; i++)
		vec_push(&y, b->counters[i].name);
	n += diff_names(out, "counter", x.items, (uint32_t)x.n, y.items, (uint32_t)y.n);
	vec_clear(&x);
	vec_clear(&y);
	for (uint32_t i = 0; i < a->n_metrics; i++)
		vec_push(&x, a->metrics[i].name);
	for (uint32_t i = 0; i < b->n_metrics; i++)
		vec_push(&y, b->metrics[i].name);
	n += diff_names(out, "metric", x.items, (uint32_t)x.n, y.items, (uint32_t)y.n);
	n += diff_passes(out, a, b);
	if (!n && strcmp(a->hash, b->hash) && ++n)
		fputs("the same counters and metrics, dealt to the passes in another way\n", out);
	vec_release(&x);
	vec_release(&y);
	return n;
}
