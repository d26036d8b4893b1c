/* SPDX-License-Identifier: Apache-2.0 */
/* Planning for NVIDIA chips through CUPTI's host library. */
#include "source/cuda/cuda_host.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static int cuda_host_begin(const struct cuda_host *h, struct cupti_host **host_out,
			   struct error *err)
{
	CUPTI_NEW(struct cupti_host_initialize, p, host);
	int result;

	p.profiler_type = CUPTI_RANGE_PROFILER;
	p.chip = h->chip;
	result = h->api.cuptiProfilerHostInitialize(&p);
	if (result)
		return error_set(err, RC_UNSUPPORTED, "CUPTI cannot plan for chip '%s' (error %d)",
				 h->chip, result);
	*host_out = p.host;
	return 0;
}

static void cuda_host_end(const struct cuda_host *h, struct cupti_host *host)
{
	CUPTI_NEW(struct cupti_host_deinitialize, p, host);

	p.host = host;
	h->api.cuptiProfilerHostDeinitialize(&p);
}

int cuda_host_chips(struct cuda_api *api, struct arena *arena, const char *const **names_out,
		    size_t *n_out, struct error *err)
{
	CUPTI_NEW(struct cupti_host_chips, p, names);
	int result = api->cuptiProfilerHostGetSupportedChips(&p);
	const char **names;

	if (result)
		return error_set(err, RC_ERROR, "CUPTI does not list its chips (error %d)", result);
	names = arena_array(arena, p.n + 1, sizeof(*names));
	if (!names)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < p.n; i++) {
		names[i] = arena_strdup(arena, p.names[i]);
		if (!names[i])
			return error_set(err, RC_NO_MEMORY, "out of memory");
	}
	*names_out = names;
	*n_out = p.n;
	return 0;
}

/* What nvcc calls an architecture, and a chip of it. Fact: the CUDA toolkit's list of compute
 * capabilities. */
static const char *chip_of_architecture(const char *name)
{
	static const struct {
		const char *architecture, *chip;
	} known[] = {{"75", "TU102"},  {"80", "GA100"},  {"86", "GA102"},  {"87", "GA10B"},
		     {"89", "AD102"},  {"90", "GH100"},  {"90a", "GH100"}, {"100", "GB100"},
		     {"103", "GB110"}, {"120", "GB202"}, {"121", "GB20B"}};

	if (strncmp(name, "sm_", 3) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name + 3, known[i].architecture))
			return known[i].chip;
	return NULL;
}

int cuda_host_open(struct cuda_host *h, const char *chip, struct error *err)
{
	struct arena arena = {0};
	struct str known = STR_INIT;
	const char *const *names = NULL;
	size_t n = 0;
	int rc;

	*h = (struct cuda_host){.chip = chip};
	rc = cuda_api_open(&h->api, err);
	if (!rc)
		rc = cuda_host_chips(&h->api, &arena, &names, &n, err);
	for (size_t i = 0; !rc && i < n; i++) {
		if (!strcmp(names[i], chip))
			goto out;
		str_addf(&known, " %s", names[i]);
	}
	if (!rc && chip_of_architecture(chip))
		rc = error_set(err, RC_INVALID,
			       "'%s' is an architecture, whose chip CUPTI calls %s: --chip %s",
			       chip, chip_of_architecture(chip), chip_of_architecture(chip));
	else if (!rc)
		rc = error_set(err, RC_INVALID, "CUPTI %u does not know chip '%s'; it knows%s",
			       h->api.version, chip, str_text(&known));
out:
	str_release(&known);
	arena_release(&arena);
	return rc;
}

static int cuda_host_schedule(const struct cuda_host *h, struct cupti_host *host,
			      const char *const *names, size_t n, uint32_t *passes_out,
			      struct error *err)
{
	size_t passes = 0, config_size;
	uint8_t *config;
	int result = cuda_api_schedule(&h->api, host, names, n, &passes, &config, &config_size);

	free(config);
	if (result == CUDA_API_NO_MEMORY)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	if (result == CUPTI_INVALID_PARAMETER)
		return error_set(err, RC_NOT_FOUND, "unknown to CUPTI for chip '%s'", h->chip);
	if (result)
		return error_set(err, RC_UNSUPPORTED,
				 "the range profiler cannot collect it on chip '%s' (error %d)",
				 h->chip, result);
	*passes_out = (uint32_t)passes;
	return 0;
}

int cuda_host_passes(const struct cuda_host *h, const char *const *names, size_t n,
		     uint32_t *passes_out, struct error *err)
{
	struct cupti_host *host;
	int rc;

	*passes_out = 0;
	if (!n)
		return 0;
	/* A fresh object for each question: metrics only accumulate. */
	rc = cuda_host_begin(h, &host, err);
	if (rc)
		return rc;
	rc = cuda_host_schedule(h, host, names, n, passes_out, err);
	cuda_host_end(h, host);
	return rc;
}

int cuda_host_fill(const struct cuda_host *h, struct catalog *c, struct error *err)
{
	struct cupti_host *host;
	int rc = cuda_host_begin(h, &host, err);

	if (rc)
		return rc;
	for (int type = 0; !rc && type < 3; type++) {
		CUPTI_NEW(struct cupti_host_metrics, list, n);

		list.host = host;
		list.type = type;
		if (h->api.cuptiProfilerHostGetBaseMetrics(&list)) {
			rc = error_set(err, RC_ERROR, "CUPTI does not list the metrics of '%s'",
				       h->chip);
			break;
		}
		for (size_t i = 0; !rc && i < list.n; i++) {
			CUPTI_NEW(struct cupti_host_properties, p, type);
			struct counter k = {.name = list.names[i],
					    .source = "cuda",
					    .block = BLOCK_NONE,
					    .event = list.names[i],
					    .instance = -1,
					    .level = UINT32_MAX,
					    .config = ""};

			p.host = host;
			p.name = list.names[i];
			if (h->api.cuptiProfilerHostGetMetricProperties(&p))
				p.description = p.dim_unit = NULL;
			k.help = p.description ? p.description : "";
			k.unit = p.dim_unit ? p.dim_unit : "";
			if (catalog_find_counter(c, k.name) == UINT32_MAX)
				rc = catalog_add_counter(c, &k, NULL, err);
		}
	}
	cuda_host_end(h, host);
	return rc;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_by_cost(const void *a, const void *b)
{
	const struct cuda_plan_counter *x = a, *y = b;

	return x->alone != y->alone ? (x->alone < y->alone ? 1 : -1) : strcmp(x->name, y->name);
}

static int compare_by_name(const void *a, const void *b)
{
	return strcmp(((const struct cuda_plan_counter *)a)->name,
		      ((const struct cuda_plan_counter *)b)->name);
}

/* Some counters are fine alone and refused beside any other (pcie__*, ctc__*, nvl*: error 27 for
 * the whole union, CUPTI 13.0). Each is tried beside one plain counter, and what fails is named. */
static int cuda_host_probe_pairs(const struct cuda_host *h, struct arena *arena,
				 struct cuda_plan *plan, struct error *err)
{
	const char *pair[2] = {"sm__cycles_elapsed.max", NULL};
	uint32_t passes;

	for (size_t i = 0; i < plan->n; i++) {
		struct cuda_plan_counter *k = &plan->counters[i];

		pair[1] = k->name;
		if (!k->alone || !strcmp(pair[0], pair[1]) ||
		    !cuda_host_passes(h, pair, 2, &passes, NULL))
			continue;
		k->alone = 0;
		k->reason = arena_strdup(arena, "the range profiler collects it only without any "
						"other counter");
		if (!k->reason)
			return error_set(err, RC_NO_MEMORY, "out of memory");
		plan->n_refused++;
	}
	return 0;
}

/* Tries; each costs about as much as planning once (0.1 s for 220 counters). */
#define CUDA_ORDERS 24

/* Deals the names to orders: by name, costly first, cheap first, then seeded shuffles. */
static void cuda_host_order(const char **names, size_t n, const struct cuda_plan_counter *by_cost,
			    int order)
{
	uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(order + 1);

	for (size_t i = 0; i < n; i++)
		names[i] = by_cost[order == 1 ? n - 1 - i : i].name;
	if (order == 2)
		qsort(names, n, sizeof(*names), compare_names);
	if (order < 3)
		return;
	for (size_t i = n; i-- > 1;) {
		size_t j;
		const char *t = names[i];

		state = state * 6364136223846793005u + 1442695040888963407u;
		j = (size_t)((state >> 33) % (i + 1));
		names[i] = names[j];
		names[j] = t;
	}
}

int cuda_host_plan(const struct cuda_host *h, struct arena *arena, const char *const *names,
		   size_t n, struct cuda_plan *plan_out, struct error *err)
{
	struct cuda_plan_counter *k = arena_array(arena, n + 1, sizeof(*k));
	const char **order = arena_array(arena, n + 1, sizeof(*order)), **best;
	size_t good = 0;
	uint32_t floor = 0;
	int rc = 0;

	*plan_out = (struct cuda_plan){.counters = k};
	if (!k || !order)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < n; i++)
		k[i].name = names[i];
	qsort(k, n, sizeof(*k), compare_by_name);
	for (size_t i = 0; i < n; i++) {
		struct error why = {0};

		if (i && !strcmp(k[i].name, k[plan_out->n - 1].name))
			continue;
		k[plan_out->n] = k[i];
		rc = cuda_host_passes(h, &k[i].name, 1, &k[plan_out->n].alone, &why);
		if (rc) {
			k[plan_out->n].absent = rc == RC_NOT_FOUND;
			plan_out->n_absent += k[plan_out->n].absent;
			k[plan_out->n].alone = 0;
			k[plan_out->n].reason = arena_strdup(arena, why.message);
			plan_out->n_refused++;
		} else if (k[plan_out->n].alone > floor) {
			floor = k[plan_out->n].alone;
		}
		plan_out->n++;
	}
	rc = 0;
	/* Refused ones cost 0 alone, so they come last. */
	qsort(k, plan_out->n, sizeof(*k), compare_by_cost);
	good = plan_out->n - plan_out->n_refused;
	for (size_t i = 0; i < good; i++)
		order[i] = k[i].name;
	if (good > 1 && cuda_host_passes(h, order, good, &plan_out->passes, NULL)) {
		rc = cuda_host_probe_pairs(h, arena, plan_out, err);
		qsort(k, plan_out->n, sizeof(*k), compare_by_cost);
		good = plan_out->n - plan_out->n_refused;
	}
	plan_out->passes = 0;
	best = arena_array(arena, good + 1, sizeof(*best));
	if (!best)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	plan_out->order = best;
	plan_out->n_order = good;
	for (int i = 0; i < CUDA_ORDERS && good && !rc; i++) {
		uint32_t passes;

		cuda_host_order(order, good, k, i);
		rc = cuda_host_passes(h, order, good, &passes, err);
		if (!rc && (!plan_out->passes || passes < plan_out->passes)) {
			plan_out->passes = passes;
			memcpy(best, order, good * sizeof(*best));
		}
		if (plan_out->passes == floor)
			break; /* no order can need fewer than its costliest counter */
	}
	qsort(k, plan_out->n, sizeof(*k), compare_by_name);
	return rc;
}
