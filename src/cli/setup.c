/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a catalogue, a selection and a plan. */
#include "config.h"

#include "cli/setup.h"

#include "base/str.h"
#include "cli/plan_cuda.h"
#include "model/catalog_load.h"
#include "model/planner.h"
#include "source/perf/perf_host.h"
#include "source/rocm/rocm_host.h"
#include "source/sim/sim_host.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *setup_data_dir(void)
{
	static char beside[PATH_MAX];
	const char *dir = getenv("RETALLY_DATA");
	ssize_t n;
	char *slash;

	if (dir && *dir)
		return dir;
	/* PREFIX/bin/retally -> PREFIX/share/retally, wherever it was moved to */
	n = readlink("/proc/self/exe", beside, sizeof(beside) - 32);
	if (n > 0) {
		beside[n] = '\0';
		slash = strrchr(beside, '/');
		if (slash) {
			strcpy(slash, "/../share/retally");
			if (!access(beside, R_OK | X_OK))
				return beside;
			strcpy(slash, "/../../../data"); /* the build tree */
			if (!access(beside, R_OK | X_OK))
				return beside;
		}
	}
	return RETALLY_DATADIR;
}

const char *setup_library(void)
{
	static char beside[PATH_MAX];
	const char *path = getenv("RETALLY_LIBRARY");
	ssize_t n;
	char *slash;

	if (path && *path)
		return path;
	n = readlink("/proc/self/exe", beside, sizeof(beside) - 40);
	if (n > 0) {
		beside[n] = '\0';
		slash = strrchr(beside, '/');
		if (slash) {
			strcpy(slash, "/../inject/libretally.so"); /* the build tree */
			if (!access(beside, R_OK))
				return beside;
		}
	}
	return RETALLY_LIBDIR "/libretally.so";
}

/* A counter that is not listed but that this machine may be able to count. */
static int resolve_on_machine(struct catalog *c, const char *name, uint32_t *index_out, void *data,
			      struct error *err)
{
	return perf_host_add_counter(c, name, data, index_out, err);
}

/* Names of CUPTI are checked when the selection is planned: asking for each would take seconds. */
static int resolve_for_cupti(struct catalog *c, const char *name, uint32_t *index_out, void *data,
			     struct error *err)
{
	struct counter k = {.name = name,
			    .source = "cuda",
			    .unit = "",
			    .help = "",
			    .block = BLOCK_NONE,
			    .event = name,
			    .instance = -1,
			    .level = UINT32_MAX,
			    .config = ""};

	(void)data;
	return catalog_add_counter(c, &k, index_out, err);
}

static int setup_machine(struct setup *s, const char *data, char *program, struct error *err)
{
	int rc;

	s->catalog.chip = SETUP_THIS_MACHINE;
	s->catalog.title = "this machine";
	s->catalog.resolve = resolve_on_machine;
	s->catalog.resolve_data = program;
	rc = perf_host_fill(&s->catalog, program, err);
	return rc ? rc : catalog_load_metrics_for(&s->catalog, data, SETUP_THIS_MACHINE, err);
}

/* A chip that our files do not describe may be one of NVIDIA's. */
static int setup_nvidia(struct setup *s, const char *data, const char *chip, struct error *err)
{
	struct error why = {0};
	int rc = cuda_host_open(&s->cuda, chip, &why);

	if (rc) {
		error_prefix(&why, "%s; nor is it one of NVIDIA's", err->message);
		*err = why;
		err->code = RC_NOT_FOUND;
		return RC_NOT_FOUND;
	}
	*err = (struct error){0};
	s->is_cuda = true;
	s->catalog.chip = chip;
	s->catalog.title = chip;
	s->catalog.resolve = resolve_for_cupti;
	return catalog_load_metrics_for(&s->catalog, data, "nvidia", err);
}

/* A chip of data/chips. The simulated device's own table has the last word about it. */
static int setup_chip(struct setup *s, const struct options *o, const char *data, const char *chip,
		      struct error *err)
{
	int rc = catalog_load_chip(&s->catalog, data, chip, err);

	if (rc == RC_NOT_FOUND)
		return setup_nvidia(s, data, chip, err);
	if (rc)
		return rc;
	if (o->source && s->catalog.source && strcmp(o->source, s->catalog.source))
		return error_set(err, RC_INVALID, "--source: '%s' does not count on %s, '%s' does",
				 o->source, chip, s->catalog.source);
	s->is_sim = s->catalog.source && !strcmp(s->catalog.source, "sim");
	return 0;
}

int setup_catalog(struct setup *s, const struct options *o, char *program, struct error *err)
{
	const char *data = setup_data_dir(), *chip = o->chip;
	int rc;

	if (!chip && o->source && !strcmp(o->source, "sim"))
		chip = SIM_HOST_CHIP;
	if (o->source && !strcmp(o->source, "cuda") && !chip && (rc = cuda_host_detect(&chip, err)))
		return rc;
	if (o->source && !strcmp(o->source, "rocm") && !chip &&
	    (rc = rocm_host_detect(NULL, &chip, err)))
		return rc;
	s->this_machine = !chip || !strcmp(chip, SETUP_THIS_MACHINE);
	if (o->source && s->this_machine && strcmp(o->source, "perf"))
		return error_set(err, RC_INVALID,
				 "--source: '%s' cannot count here; see `retally list sources`",
				 o->source);
	rc = s->this_machine ? setup_machine(s, data, program, err)
			     : setup_chip(s, o, data, chip, err);
	for (size_t i = 0; !rc && i < o->metrics_files.n; i++)
		rc = catalog_load_file(&s->catalog, o->metrics_files.items[i], err);
	if (!rc && s->is_sim)
		rc = sim_host_check(&s->catalog, err);
	return rc;
}

int setup_sets(struct setup *s, const struct options *o, const struct plan *plan, struct error *err)
{
	bool nvidia = plan->n_counters && !strcmp(plan->counters[0].source, "cuda");
	const char *data = setup_data_dir();
	int rc;

	s->catalog.chip = plan->chip;
	s->catalog.title = plan->chip;
	if (nvidia) { /* CUPTI is needed to plan, not to name sets */
		s->catalog.resolve = resolve_for_cupti;
		rc = catalog_load_metrics_for(&s->catalog, data, "nvidia", err);
	} else if (!strcmp(plan->chip, SETUP_THIS_MACHINE)) {
		rc = setup_machine(s, data, NULL, err);
	} else {
		rc = catalog_load_chip(&s->catalog, data, plan->chip, err);
	}
	for (size_t i = 0; !rc && i < o->metrics_files.n; i++)
		rc = catalog_load_file(&s->catalog, o->metrics_files.items[i], err);
	return rc;
}

/* Counters given by name are looked up where they may not be listed. */
static int add_named_counters(struct catalog *c, const char *list, struct error *err)
{
	const char *at = list, *name;
	size_t n;

	while (selection_next_name(&at, &name, &n)) {
		char *copy = strndup(name, n);
		struct error why = {0};
		uint32_t index;
		int rc;

		if (!copy)
			return error_set(err, RC_NO_MEMORY, "out of memory");
		rc = *copy && !strpbrk(copy, "*?") ? catalog_resolve_counter(c, copy, &index, &why)
						   : 0;
		free(copy);
		/* Without a message it is for the selection to say what is near. */
		if (rc && (rc != RC_NOT_FOUND || why.message[0])) {
			if (err)
				*err = why;
			return rc;
		}
	}
	return 0;
}

int setup_select(struct setup *s, const struct options *o, struct error *err)
{
	int rc = 0;

	if (!o->selection.n)
		rc = selection_add_set(&s->selection, &s->catalog, s->is_cuda ? "basic" : "default",
				       err);
	for (size_t i = 0; !rc && i < o->selection.n; i++) {
		const struct option_selection *x = &o->selection.items[i];

		if (x->kind == 's')
			rc = selection_add_set(&s->selection, &s->catalog, x->text, err);
		else if (x->kind == 'm')
			rc = selection_add_metrics(&s->selection, &s->catalog, x->text, err);
		else if (!(rc = add_named_counters(&s->catalog, x->text, err)))
			rc = selection_add_counters(&s->selection, &s->catalog, x->text, err);
	}
	if (!rc && !s->selection.metrics.n && !s->selection.counters.n) {
		const struct selection_dropped *d = s->selection.dropped.items;

		rc = s->selection.dropped.n
			     ? error_set(err, RC_INVALID,
					 "nothing of the selection can be collected: '%s': %s%s",
					 d->name, d->reason,
					 s->selection.dropped.n > 1 ? " (and others)" : "")
			     : error_set(err, RC_INVALID,
					 "the selection is empty: nothing to collect");
	}
	return rc;
}

int setup_plan(struct setup *s, const struct options *o, struct error *err)
{
	struct planner_options po = {.max_nodes = o->max_nodes, .no_anchors = o->no_anchors};
	int rc;

	s->selection_text = options_selection_text(o);
	if (!s->selection_text)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	po.selection_text = s->selection_text;
	if (s->is_cuda)
		return plan_cuda_make(s, o, err);
	rc = setup_select(s, o, err);
	if (!rc)
		rc = planner_plan(&s->catalog, &s->selection, &po, &s->plan, err);
	return rc || !s->is_sim ? rc : sim_host_prove(&s->plan, err);
}

void setup_release(struct setup *s)
{
	plan_release(&s->plan);
	selection_release(&s->selection);
	catalog_release(&s->catalog);
	free(s->selection_text);
	*s = (struct setup){0};
}
