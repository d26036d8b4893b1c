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

/* Which pass is which part of which group; the counters of a group are those of its last part. */
static int cuda_groups_read(struct cuda_groups *g, struct error *err)
{
	const struct plan *plan = g->plan;

	for (uint32_t i = 0; i < plan->n_passes; i++) {
		const struct plan_pass *pass = &plan->passes[i];
		uint32_t group, part, parts;
		struct cuda_group *k;

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
		if (k->n > g->largest)
			g->largest = k->n;
	}
	for (uint32_t i = 0; i < g->n; i++)
		if (!g->groups[i].n)
			return error_set(err, RC_INVALID, "the plan's group %u has no last part",
					 i);
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

static int cuda_groups_configure(struct cuda_group *k, uint32_t index, const struct cuda_target *t,
				 const char *chip, const uint8_t *availability, struct error *err)
{
	CUPTI_NEW(struct cupti_host_initialize, host, host);
	size_t passes = 0;
	int result;

	host.profiler_type = CUPTI_RANGE_PROFILER;
	host.chip = chip;
	host.availability = availability;
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
				 "the plan's group %u has %u passes, this device (%s, CUPTI %u) "
				 "needs %zu: plan again on it",
				 index, k->parts, chip, t->host.version, passes);
	return 0;
}

int cuda_groups_init(struct cuda_groups *g, const struct cuda_native *native,
		     const struct plan *plan, struct error *err)
{
	const struct cuda_target *t = native->target;
	CUPTI_NEW(struct cupti_chip_name, chip, chip);
	CUPTI_NEW(struct cupti_availability, availability, image);
	uint8_t *image = NULL;
	int rc, result;

	*g = (struct cuda_groups){.plan = plan};
	g->groups = calloc(plan->n_passes + 1, sizeof(*g->groups));
	g->group_of = calloc(plan->n_passes + 1, sizeof(*g->group_of));
	g->part_of = calloc(plan->n_passes + 1, sizeof(*g->part_of));
	if (!g->groups || !g->group_of || !g->part_of)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = cuda_groups_read(g, err);
	if (rc)
		return rc;
	chip.device = (size_t)native->ordinal;
	result = t->cuptiDeviceGetChipName(&chip);
	if (result)
		return cuda_target_fail(err, "asking for the chip's name", result);
	if (strcmp(chip.chip, plan->chip))
		return error_set(err, RC_MISMATCH, "the plan is for chip '%s', device %d is a '%s'",
				 plan->chip, native->ordinal, chip.chip);
	availability.context = native->context;
	result = t->cuptiProfilerGetCounterAvailability(&availability);
	if (!result) {
		image = calloc(1, availability.image_size ? availability.image_size : 1);
		if (!image)
			return error_set(err, RC_NO_MEMORY, "out of memory");
		availability.image = image;
		result = t->cuptiProfilerGetCounterAvailability(&availability);
	}
	if (result)
		rc = cuda_target_fail(err, "asking which counters are available", result);
	for (uint32_t i = 0; !rc && i < g->n; i++) {
		rc = cuda_groups_sort(g, &g->groups[i], err);
		if (!rc)
			rc = cuda_groups_configure(&g->groups[i], i, t, chip.chip, image, err);
	}
	free(image);
	return rc;
}

int cuda_groups_pass(const struct cuda_groups *g, uint32_t pass,
		     const struct cuda_group **group_out, uint32_t *part_out)
{
	if (!pass || pass > g->plan->n_passes || g->group_of[pass - 1] == UINT32_MAX)
		return -1;
	*group_out = &g->groups[g->group_of[pass - 1]];
	*part_out = g->part_of[pass - 1];
	return 0;
}

void cuda_groups_release(struct cuda_groups *g, const struct cuda_target *t)
{
	for (uint32_t i = 0; g->groups && i < g->n; i++) {
		struct cuda_group *k = &g->groups[i];

		if (k->host) {
			CUPTI_NEW(struct cupti_host_deinitialize, p, host);

			p.host = k->host;
			t->host.cuptiProfilerHostDeinitialize(&p);
		}
		free(k->counters);
		free(k->names);
		free(k->config);
	}
	free(g->groups);
	free(g->group_of);
	free(g->part_of);
	*g = (struct cuda_groups){0};
}
