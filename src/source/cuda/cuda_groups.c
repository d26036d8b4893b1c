/* SPDX-License-Identifier: Apache-2.0 */
/* Configuring groups of counters: see cuda_groups.h. */
#include "source/cuda/cuda_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cuda_pass_config(const char *text, uint32_t *group_out, uint32_t *part_out,
		      uint32_t *parts_out)
{
	char end;

	return sscanf(text, "%u/%u/%u%c", group_out, part_out, parts_out, &end) == 3 &&
	       *part_out >= 1 && *part_out <= *parts_out && *parts_out <= PLAN_PASSES_MAX &&
	       *group_out < PLAN_PASSES_MAX;
}

/* The counters of the pass are those of the group. */
static int cuda_group_fill(struct cuda_group *k, const struct plan *plan,
			   const struct plan_pass *pass, struct error *err)
{
	free(k->counters);
	free(k->names);
	k->n = pass->n_counters;
	k->counters = calloc(k->n + 1, sizeof(*k->counters));
	k->names = calloc(k->n + 1, sizeof(*k->names));
	if (!k->counters || !k->names)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (uint32_t c = 0; c < k->n; c++) {
		k->counters[c] = pass->counters[c];
		k->names[c] = plan->counters[pass->counters[c]].name;
	}
	return 0;
}

/* Which pass is which part of which group; the counters of a group are those of its last part. */
static int cuda_groups_read(struct cuda_groups *g, struct error *err)
{
	const struct plan *plan = g->plan;

	for (uint32_t i = 0; i < plan->n_passes; i++) {
		const struct plan_pass *pass = &plan->passes[i];
		uint32_t group, part, parts;
		struct cuda_group *k;
		int rc;

		g->group_of[i] = UINT32_MAX;
		if (!*pass->config)
			continue;
		if (!cuda_pass_config(pass->config, &group, &part, &parts) ||
		    group >= plan->n_passes)
			return error_set(err, RC_INVALID, "pass %u of the plan: bad config '%s'",
					 i + 1, pass->config);
		g->group_of[i] = group;
		g->part_of[i] = part;
		if (group >= g->n)
			g->n = group + 1;
		k = &g->groups[group];
		k->parts = parts;
		if (part != parts)
			continue;
		rc = cuda_group_fill(k, plan, pass, err);
		if (rc)
			return rc;
		if (k->n > g->largest)
			g->largest = k->n;
	}
	for (uint32_t i = 0; i < g->n; i++)
		if (!g->groups[i].n)
			return error_set(err, RC_INVALID, "the plan's group %u has no last part",
					 i);
	for (uint32_t i = 0; i < plan->n_live; i++) {
		int rc = cuda_group_fill(&g->live[i], plan, &plan->live[i].group, err);

		if (rc)
			return rc;
		g->live[i].parts = 1;
		if (g->live[i].n > g->largest)
			g->largest = g->live[i].n;
	}
	return 0;
}

/* The order in which CUPTI is told the names decides how many passes it needs: the plan gives that
 * order as the counters' config ("order N"). */
struct cuda_ordered {
	uint32_t rank, counter;
	const char *name;
};

static int compare_ordered(const void *a, const void *b)
{
	const struct cuda_ordered *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int cuda_groups_sort(struct cuda_groups *g, struct cuda_group *k, struct error *err)
{
	struct cuda_ordered *o = calloc(k->n + 1, sizeof(*o));

	if (!o)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (uint32_t i = 0; i < k->n; i++) {
		o[i] = (struct cuda_ordered){i, k->counters[i], k->names[i]};
		sscanf(g->plan->counters[k->counters[i]].config, "order %u", &o[i].rank);
	}
	qsort(o, k->n, sizeof(*o), compare_ordered);
	for (uint32_t i = 0; i < k->n; i++) {
		k->counters[i] = o[i].counter;
		k->names[i] = o[i].name;
	}
	free(o);
	return 0;
}

static int cuda_groups_schedule(struct cuda_groups *g, struct cuda_group *k, const char *what,
				uint32_t index, struct error *err)
{
	const struct cuda_target *t = g->target;
	CUPTI_NEW(struct cupti_host_initialize, host, host);
	size_t passes = 0;
	int result;

	host.profiler_type = CUPTI_RANGE_PROFILER;
	host.chip = g->chip;
	host.availability = g->availability;
	result = t->host.cuptiProfilerHostInitialize(&host);
	if (result)
		return cuda_target_fail(err, "starting CUPTI's host part", result);
	k->host = host.host;
	result = cuda_api_schedule(&t->host, k->host, k->names, k->n, &passes, &k->config,
				   &k->config_size);
	if (result == CUDA_API_NO_MEMORY)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	if (result)
		return cuda_target_fail(err, "scheduling the counters on this device", result);
	if (passes != k->parts)
		return error_set(err, RC_MISMATCH,
				 "the plan's %s %u has %u passes, this device (%s, CUPTI %u) "
				 "needs %zu: plan again on it",
				 what, index, k->parts, g->chip, t->host.version, passes);
	return 0;
}

static int cuda_groups_configure(struct cuda_groups *g, struct cuda_group *k, const char *what,
				 uint32_t index, struct error *err)
{
	int rc = cuda_groups_sort(g, k, err);

	rc = rc ? rc : cuda_groups_schedule(g, k, what, index, err);
	k->failed = rc != 0;
	return rc;
}

/* Which counters are available in the context. */
static int cuda_groups_ask(struct cuda_groups *g, const struct cuda_native *native,
			   struct error *err)
{
	CUPTI_NEW(struct cupti_availability, availability, image);
	int result;

	availability.context = native->context;
	result = g->target->cuptiProfilerGetCounterAvailability(&availability);
	if (!result) {
		g->availability = calloc(1, availability.image_size ? availability.image_size : 1);
		if (!g->availability)
			return error_set(err, RC_NO_MEMORY, "out of memory");
		availability.image = g->availability;
		result = g->target->cuptiProfilerGetCounterAvailability(&availability);
	}
	return result ? cuda_target_fail(err, "asking which counters are available", result) : 0;
}

int cuda_groups_init(struct cuda_groups *g, const struct cuda_native *native,
		     const struct plan *plan, struct error *err)
{
	CUPTI_NEW(struct cupti_chip_name, chip, chip);
	int rc, result;

	*g = (struct cuda_groups){.plan = plan, .target = native->target};
	g->groups = calloc(plan->n_passes + 1, sizeof(*g->groups));
	g->live = calloc(plan->n_live + 1, sizeof(*g->live));
	g->group_of = calloc(plan->n_passes + 1, sizeof(*g->group_of));
	g->part_of = calloc(plan->n_passes + 1, sizeof(*g->part_of));
	if (!g->groups || !g->live || !g->group_of || !g->part_of)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = cuda_groups_read(g, err);
	if (rc)
		return rc;
	chip.device = (size_t)native->ordinal;
	result = g->target->cuptiDeviceGetChipName(&chip);
	if (result)
		return cuda_target_fail(err, "asking for the chip's name", result);
	if (strcmp(chip.chip, plan->chip))
		return error_set(err, RC_MISMATCH, "the plan is for chip '%s', device %d is a '%s'",
				 plan->chip, native->ordinal, chip.chip);
	g->chip = strdup(chip.chip);
	if (!g->chip)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = cuda_groups_ask(g, native, err);
	for (uint32_t i = 0; !rc && i < g->n; i++)
		rc = cuda_groups_configure(g, &g->groups[i], "group", i, err);
	return rc;
}

int cuda_groups_pass(const struct cuda_groups *g, uint32_t pass,
		     const struct cuda_group **group_out, uint32_t *part_out)
{
	uint32_t n = g->plan->n_passes;

	if (pass > n && pass - n <= g->plan->n_live) {
		*group_out = &g->live[pass - n - 1];
		*part_out = 1;
		return 0;
	}
	if (!pass || pass > n || g->group_of[pass - 1] == UINT32_MAX)
		return -1;
	*group_out = &g->groups[g->group_of[pass - 1]];
	*part_out = g->part_of[pass - 1];
	return 0;
}

int cuda_groups_prepare(struct cuda_groups *g, uint32_t pass, struct error *err)
{
	struct cuda_group *k;

	if (pass <= g->plan->n_passes || pass - g->plan->n_passes > g->plan->n_live)
		return 0;
	k = &g->live[pass - g->plan->n_passes - 1];
	if (k->failed)
		return error_set(err, RC_MISMATCH, "these counters could not be configured before");
	return k->host ? 0
		       : cuda_groups_configure(g, k, "live group", pass - g->plan->n_passes, err);
}

static void cuda_group_release(struct cuda_group *k, const struct cuda_target *t)
{
	if (k->host) {
		CUPTI_NEW(struct cupti_host_deinitialize, p, host);

		p.host = k->host;
		t->host.cuptiProfilerHostDeinitialize(&p);
	}
	free(k->counters);
	free(k->names);
	free(k->config);
}

void cuda_groups_release(struct cuda_groups *g)
{
	for (uint32_t i = 0; g->groups && i < g->n; i++)
		cuda_group_release(&g->groups[i], g->target);
	for (uint32_t i = 0; g->live && i < g->plan->n_live; i++)
		cuda_group_release(&g->live[i], g->target);
	free(g->groups);
	free(g->live);
	free(g->group_of);
	free(g->part_of);
	free(g->chip);
	free(g->availability);
	*g = (struct cuda_groups){0};
}
