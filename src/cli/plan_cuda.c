/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `retally plan` for NVIDIA's chips. CUPTI schedules the passes and does not say which counter is
 * in which, so what can be told is their number, what each counter needs alone, and what would be
 * saved without it.
 */
#include "cli/plan_cuda.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

static void plan_cuda_json(const struct setup *s, const struct cuda_plan *p)
{
	struct str text = STR_INIT;
	struct json_writer w;

	json_writer_init(&w, &text, false);
	json_begin_object(&w);
	json_key(&w, "chip");
	json_string(&w, s->cuda.chip);
	json_key(&w, "scheduled_by");
	json_string(&w, "CUPTI");
	json_key(&w, "cupti_version");
	json_uint(&w, s->cuda.api.version);
	json_key(&w, "n_passes");
	json_uint(&w, p->passes);
	json_key(&w, "counters");
	json_begin_array(&w);
	for (size_t i = 0; i < p->n; i++) {
		json_begin_object(&w);
		json_key(&w, "name");
		json_string(&w, p->counters[i].name);
		json_key(&w, "passes_alone");
		if (p->counters[i].reason) {
			json_null(&w);
			json_key(&w, "reason");
			json_string(&w, p->counters[i].reason);
		} else {
			json_uint(&w, p->counters[i].alone);
		}
		json_end_object(&w);
	}
	json_end_array(&w);
	json_end_object(&w);
	puts(str_text(&text));
	str_release(&text);
}

#define COLUMNS 100

/* Sets ask any chip; what this one lacks is named once, in as few lines as it takes. */
static void plan_cuda_absent(const struct setup *s, const struct cuda_plan *p)
{
	size_t column = 0;

	if (!p->n_absent)
		return;
	printf("\n%s does not have %zu of what the selected sets name:", s->cuda.chip, p->n_absent);
	for (size_t i = 0; i < p->n; i++) {
		const char *name = p->counters[i].name;

		if (!p->counters[i].absent)
			continue;
		if (!column || column + strlen(name) > COLUMNS)
			column = (size_t)printf("\n  %s", name);
		else
			column += (size_t)printf(", %s", name);
	}
	putchar('\n');
}

static void plan_cuda_table(const struct setup *s, const struct cuda_plan *p)
{
	size_t several = 0, refused = 0;

	for (size_t i = 0; i < p->n; i++)
		several += p->counters[i].alone > 1;
	printf("plan for %s: %u pass%s, scheduled by CUPTI %u; %zu counters, %zu of them need "
	       "several "
	       "passes alone\n",
	       s->cuda.chip, p->passes, p->passes == 1 ? "" : "es", s->cuda.api.version,
	       p->n - p->n_refused, several);
	if (several)
		puts("\nneed several passes by themselves:");
	for (size_t i = 0; i < p->n; i++)
		if (p->counters[i].alone > 1)
			printf("  %u passes  %s\n", p->counters[i].alone, p->counters[i].name);
	for (size_t i = 0; i < p->n; i++)
		if (p->counters[i].reason && !p->counters[i].absent)
			printf("%s  %s: %s\n", refused++ ? "" : "\nnot collected:\n",
			       p->counters[i].name, p->counters[i].reason);
	plan_cuda_absent(s, p);
}

/* What one counter costs: its passes alone, and the passes of the rest without it. */
static int plan_cuda_explain(const struct setup *s, const struct cuda_plan *p, const char *name,
			     struct arena *arena, struct error *err)
{
	const char **others = arena_array(arena, p->n + 1, sizeof(*others));
	const struct cuda_plan_counter *k = NULL;
	struct cuda_plan without;
	size_t n = 0;
	int rc;

	if (!others)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < p->n; i++) {
		if (!strcmp(p->counters[i].name, name))
			k = &p->counters[i];
		else if (!p->counters[i].reason)
			others[n++] = p->counters[i].name;
	}
	if (!k)
		return error_set(
			err, RC_NOT_FOUND,
			"--explain: '%s' is not in this selection; CUPTI does not tell what "
			"is in a pass, so only counters can be explained for %s",
			name, s->cuda.chip);
	if (k->reason) {
		printf("%s: not collected: %s\n", name, k->reason);
		return 0;
	}
	rc = cuda_host_plan(&s->cuda, arena, others, n, &without, err);
	if (!rc)
		printf("%s: %u pass%s alone; the selection takes %u with it and %u without it\n",
		       name, k->alone, k->alone == 1 ? "" : "es", p->passes, without.passes);
	return rc;
}

/* A counter that was asked for by name and that CUPTI refuses is an error; one of a set is not. */
static int plan_cuda_check_named(const struct options *o, const struct cuda_plan *p,
				 struct error *err)
{
	for (size_t i = 0; i < o->selection.n; i++) {
		const char *at = o->selection.items[i].text, *name;
		size_t n;

		if (o->selection.items[i].kind != 'e')
			continue;
		while (selection_next_name(&at, &name, &n))
			for (size_t k = 0; k < p->n; k++)
				if (p->counters[k].reason && strlen(p->counters[k].name) == n &&
				    !strncmp(p->counters[k].name, name, n))
					return error_set(err, RC_NOT_FOUND, "counter '%s': %s",
							 p->counters[k].name,
							 p->counters[k].reason);
	}
	return 0;
}

/* Selects, and asks CUPTI. */
static int plan_cuda_ask(struct setup *s, const struct options *o, struct arena *arena,
			 struct cuda_plan *p, struct error *err)
{
	const char **names;
	size_t n;
	int rc = setup_select(s, o, err);

	if (rc)
		return rc;
	n = s->selection.counters.n;
	names = arena_array(arena, n + 1, sizeof(*names));
	if (!names)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < n; i++)
		names[i] = s->catalog.counters.items[s->selection.counters.items[i]].name;
	rc = cuda_host_plan(&s->cuda, arena, names, n, p, err);
	return rc ? rc : plan_cuda_check_named(o, p, err);
}

int plan_cuda_make(struct setup *s, const struct options *o, struct error *err)
{
	struct arena arena = {0};
	struct cuda_plan p;
	bool apart = o->pass || o->distribute || (o->replay && !strcmp(o->replay, "none"));
	bool may = !apart && (!o->replay || !strcmp(o->replay, "auto"));
	int rc = plan_cuda_ask(s, o, &arena, &p, err);

	for (size_t i = 0; !rc && may && i < p.n; i++)
		may = p.counters[i].alone <= 1;
	/* Passes that each stand alone are of use to `auto`, which may spread them over dispatches,
	 * and to what is never replayed: not when there would be more of them, or values missing.
	 */
	if (!rc && may) {
		rc = cuda_host_make_plan(&s->cuda, &p, true, s->selection_text, &s->plan, err);
		if (!rc && s->plan.n_passes <= p.passes)
			goto out;
		plan_release(&s->plan);
	}
	/* A pass that is to stand alone cannot be a part of CUPTI's own schedule. For replay that
	 * schedule is the cheaper one: going on in it takes half as long as a new configuration. */
	if (!rc)
		rc = cuda_host_make_plan(&s->cuda, &p, apart, s->selection_text, &s->plan, err);
out:
	arena_release(&arena);
	return rc;
}

int plan_cuda(struct setup *s, const struct options *o, struct error *err)
{
	struct arena arena = {0};
	struct cuda_plan p;
	int rc = plan_cuda_ask(s, o, &arena, &p, err);

	if (rc)
		goto out;
	if (o->explain)
		rc = plan_cuda_explain(s, &p, o->explain, &arena, err);
	else if (o->count)
		printf("%u\n", p.passes);
	else if (o->json)
		plan_cuda_json(s, &p);
	else
		plan_cuda_table(s, &p);
out:
	arena_release(&arena);
	return rc;
}
