/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans for NVIDIA devices. CUPTI alone knows which counters share a pass. Told all of them at once
 * it needs the fewest passes, but a counter's hardware parts are then spread over them and nothing
 * is known before the last; told them in groups that it takes in one pass each, every pass is of
 * use by itself. A plan of the first kind has such groups besides, for what is not replayed. See
 * cuda_device.h for how a plan says so.
 */
#include "source/cuda/cuda_host.h"
#include "source/cuda/cuda_range_abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct maker {
	const struct cuda_host *h;
	struct plan *plan;
	struct error *err;
	const uint32_t *group_of; /* of counter i: in which group it is */
	uint32_t n_groups;
	uint32_t *parts;      /* of group g */
	const uint32_t *rank; /* of counter i: its place in the order told to CUPTI */
};

static int maker_no_memory(struct maker *m)
{
	return error_set(m->err, RC_NO_MEMORY, "out of memory");
}

static bool is_sum(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && !strcmp(name + n - 4, ".sum");
}

/* The unit as CUPTI has it, of the name without its suffix. */
static const char *unit_of(struct maker *m, struct cupti_host *host, const char *name)
{
	CUPTI_NEW(struct cupti_host_properties, p, type);
	char *base = arena_strdup(&m->plan->arena, name), *dot;
	const char *unit = "";

	if (!base)
		return "";
	dot = strchr(base, '.');
	if (dot)
		*dot = '\0';
	p.host = host;
	p.name = base;
	if (strstr(name, ".pct_of_peak") || strstr(name, ".pct"))
		return "%";
	if (!m->h->api.cuptiProfilerHostGetMetricProperties(&p) && p.dim_unit)
		unit = p.dim_unit;
	unit = arena_printf(&m->plan->arena, "%s%s", unit, strstr(name, ".per_second") ? "/s" : "");
	return unit ? unit : "";
}

static int maker_counters(struct maker *m, const char **names, size_t n)
{
	CUPTI_NEW(struct cupti_host_initialize, open, host);
	CUPTI_NEW(struct cupti_host_deinitialize, close, host);
	struct plan *plan = m->plan;
	int rc = 0;

	plan->counters = arena_array(&plan->arena, n + 1, sizeof(*plan->counters));
	if (!plan->counters)
		return maker_no_memory(m);
	open.profiler_type = CUPTI_RANGE_PROFILER;
	open.chip = m->h->chip;
	if (m->h->api.cuptiProfilerHostInitialize(&open))
		return error_set(m->err, RC_UNSUPPORTED, "CUPTI cannot plan for chip '%s'",
				 m->h->chip);
	for (size_t i = 0; i < n && !rc; i++) {
		const char *name = arena_strdup(&plan->arena, names[i]);
		const char *config = arena_printf(&plan->arena, "order %u", m->rank[i]);

		if (!name || !config)
			rc = maker_no_memory(m);
		plan->counters[i] =
			(struct plan_counter){.name = name,
					      .source = "cuda",
					      .block = "",
					      .unit = unit_of(m, open.host, name),
					      .config = config,
					      .flags = is_sum(name) ? 0 : PLAN_COUNTER_MEAN};
	}
	plan->n_counters = (uint32_t)n;
	close.host = open.host;
	m->h->api.cuptiProfilerHostDeinitialize(&close);
	return rc;
}

/* One pass of the plan for each part; the counters are listed with the last. */
static int maker_passes(struct maker *m)
{
	struct plan *plan = m->plan;
	uint32_t n = 0;

	for (uint32_t g = 0; g < m->n_groups; g++)
		n += m->parts[g];
	plan->passes = arena_array(&plan->arena, n + 1, sizeof(*plan->passes));
	if (!plan->passes)
		return maker_no_memory(m);
	for (uint32_t g = 0; g < m->n_groups; g++)
		for (uint32_t part = 1; part <= m->parts[g]; part++) {
			struct plan_pass *pass = &plan->passes[plan->n_passes++];
			uint32_t *counters =
				arena_array(&plan->arena, plan->n_counters + 1, sizeof(*counters));

			*pass = (struct plan_pass){.counters = counters};
			pass->config = arena_printf(&plan->arena, "%u/%u/%u", g, part, m->parts[g]);
			pass->reason =
				m->parts[g] == 1
					? arena_strdup(&plan->arena, "a group that CUPTI takes in "
								     "one pass")
					: arena_printf(&plan->arena,
						       "part %u of %u, scheduled by CUPTI %u", part,
						       m->parts[g], m->h->api.version);
			if (!counters || !pass->config || !pass->reason)
				return maker_no_memory(m);
			for (uint32_t i = 0; part == m->parts[g] && i < plan->n_counters; i++)
				if (m->group_of[i] == g)
					counters[pass->n_counters++] = i;
		}
	return 0;
}

static int maker_dropped(struct maker *m, const struct cuda_plan *p, bool groups)
{
	struct plan *plan = m->plan;

	plan->dropped = arena_array(&plan->arena, p->n + 1, sizeof(*plan->dropped));
	if (!plan->dropped)
		return maker_no_memory(m);
	for (size_t i = 0; i < p->n; i++) {
		const struct cuda_plan_counter *k = &p->counters[i];
		struct plan_dropped *d = &plan->dropped[plan->n_dropped];

		if (k->absent || (!k->reason && !(groups && k->alone > 1)))
			continue;
		d->name = arena_strdup(&plan->arena, k->name);
		d->reason = k->reason ? arena_strdup(&plan->arena, k->reason)
				      : arena_printf(&plan->arena,
						     "needs %u passes by itself, which only replay "
						     "can give it",
						     k->alone);
		if (!d->name || !d->reason)
			return maker_no_memory(m);
		plan->n_dropped++;
	}
	return 0;
}

static bool fits(const struct maker *m, const char **names, size_t n)
{
	uint32_t passes;

	return !cuda_host_passes(m->h, names, n, &passes, NULL) && passes == 1;
}

static int compare_indexes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Whether `run` of the left counters fit beside the n of the group. */
static bool maker_takes(struct maker *m, const char **names, const uint32_t *left, size_t run,
			const char **group, size_t n)
{
	for (size_t i = 0; i < run; i++)
		group[n + i] = names[left[i]];
	return fits(m, group, n + run);
}

/* How many of the left counters do: mostly none, so it begins with one, doubles, then halves. */
static size_t maker_run(struct maker *m, const char **names, const uint32_t *left, size_t n_left,
			const char **group, size_t n)
{
	size_t low = 0, high = 1;

	while (maker_takes(m, names, left, high, group, n)) {
		low = high;
		if (low == n_left)
			return low;
		high = 2 * low < n_left ? 2 * low : n_left;
	}
	while (low + 1 < high) { /* low fit, high do not */
		size_t middle = low + (high - low) / 2;

		if (maker_takes(m, names, left, middle, group, n))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Fills one pass: as long a run of the left counters as fits is taken at once, then the one that
 * did not fit is passed over, until none is left. */
static size_t maker_fill(struct maker *m, const char **names, const uint32_t *left, size_t n_left,
			 const char **group, uint32_t *taken)
{
	size_t n = 0, at = 0;

	while (at < n_left) {
		size_t run = maker_run(m, names, left + at, n_left - at, group, n);

		for (size_t i = 0; i < run; i++) {
			group[n] = names[left[at + i]];
			taken[n++] = left[at + i];
		}
		at += run + 1;
	}
	return n;
}

/* Which counters share a pass, each in the first with room. */
struct grouping {
	uint32_t *group_of; /* of names[i] */
	uint32_t *rank;     /* its place in the order told to CUPTI */
	uint32_t n;
};

static void grouping_release(struct grouping *g)
{
	free(g->group_of);
	free(g->rank);
}

static int maker_groups(struct maker *m, const char **names, size_t n, struct grouping *g)
{
	uint32_t *left = calloc(n + 1, sizeof(*left)), *taken = calloc(n + 1, sizeof(*taken));
	const char **group = calloc(n + 1, sizeof(*group));
	size_t n_left = n, rest;
	int rc;

	*g = (struct grouping){.group_of = calloc(n + 1, sizeof(*g->group_of)),
			       .rank = calloc(n + 1, sizeof(*g->rank))};
	rc = left && taken && group && g->group_of && g->rank ? 0 : maker_no_memory(m);
	for (size_t i = 0; !rc && i < n; i++) {
		left[i] = (uint32_t)i;
		g->group_of[i] = UINT32_MAX;
	}
	while (!rc && n_left) {
		size_t k = maker_fill(m, names, left, n_left, group, taken);

		if (!k) {
			rc = error_set(m->err, RC_NO_SLOT, "counter '%s' fits no pass",
				       names[left[0]]);
			break;
		}
		for (size_t i = 0; i < k; i++) {
			g->group_of[taken[i]] = g->n;
			g->rank[taken[i]] = (uint32_t)i;
		}
		g->n++;
		rest = 0;
		for (size_t i = 0; i < n_left; i++)
			if (g->group_of[left[i]] == UINT32_MAX)
				left[rest++] = left[i];
		n_left = rest;
	}
	free(left);
	free(taken);
	free(group);
	return rc;
}

/* All of them one group, in the order in which CUPTI needs the fewest passes. */
static int maker_schedule(struct maker *m, const struct cuda_plan *p, const char **names, size_t n,
			  struct grouping *g)
{
	*g = (struct grouping){.group_of = calloc(n + 1, sizeof(*g->group_of)),
			       .rank = calloc(n + 1, sizeof(*g->rank)),
			       .n = 1};
	if (!g->group_of || !g->rank)
		return maker_no_memory(m);
	m->parts[0] = p->passes;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < p->n_order; k++)
			if (!strcmp(p->order[k], names[i]))
				g->rank[i] = (uint32_t)k;
	return 0;
}

/* Index of the counter in the plan; UINT32_MAX: not in it. */
static uint32_t maker_counter(const struct maker *m, const char *name)
{
	for (uint32_t i = 0; i < m->plan->n_counters; i++)
		if (!strcmp(m->plan->counters[i].name, name))
			return i;
	return UINT32_MAX;
}

static uint32_t passes_alone(const struct cuda_plan *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->counters[i].name, name))
			return p->counters[i].alone;
	return 0;
}

/* What of CUPTI's schedule fits one pass by itself, in groups for dispatches that are not replayed.
 * The names stand in the order in which the device half tells them. */
static int maker_live(struct maker *m, const struct cuda_plan *p)
{
	struct plan *plan = m->plan;
	const char **names = calloc(p->n_order + 1, sizeof(*names));
	struct grouping g = {0};
	size_t n = 0;
	int rc = names ? 0 : maker_no_memory(m);

	for (size_t i = 0; !rc && i < p->n_order; i++)
		if (passes_alone(p, p->order[i]) == 1)
			names[n++] = p->order[i];
	rc = rc ? rc : maker_groups(m, names, n, &g);
	if (!rc && g.n) {
		plan->live = arena_array(&plan->arena, g.n, sizeof(*plan->live));
		rc = plan->live ? 0 : maker_no_memory(m);
	}
	for (uint32_t k = 0; !rc && k < g.n; k++) {
		struct plan_live *live = &plan->live[plan->n_live++];
		uint32_t *counters = arena_array(&plan->arena, n, sizeof(*counters));

		*live = (struct plan_live){
			.pass = plan->n_passes,
			.group = {.counters = counters, .reason = "", .config = ""}};
		if (!counters)
			rc = maker_no_memory(m);
		for (size_t i = 0; !rc && i < n; i++)
			if (g.group_of[i] == k)
				counters[live->group.n_counters++] = maker_counter(m, names[i]);
		if (!rc)
			qsort(counters, live->group.n_counters, sizeof(*counters), compare_indexes);
	}
	grouping_release(&g);
	free(names);
	return rc;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The passes cannot be fewer than those of the counter that needs most. */
static uint32_t lower_bound(const struct cuda_plan *p)
{
	uint32_t most = 1;

	for (size_t i = 0; i < p->n; i++)
		if (!p->counters[i].reason && p->counters[i].alone > most)
			most = p->counters[i].alone;
	return most;
}

int cuda_host_make_plan(const struct cuda_host *h, const struct cuda_plan *p, bool groups,
			const char *selection, struct plan *plan_out, struct error *err)
{
	struct maker m = {.h = h, .plan = plan_out, .err = err};
	struct grouping g = {0};
	const char **names = calloc(p->n + 1, sizeof(*names));
	size_t n = 0;
	int rc = 0;

	*plan_out = (struct plan){0};
	m.parts = calloc(p->n + 1, sizeof(*m.parts));
	plan_out->chip = arena_strdup(&plan_out->arena, h->chip);
	plan_out->selection = arena_strdup(&plan_out->arena, selection);
	if (!names || !m.parts || !plan_out->chip || !plan_out->selection)
		rc = maker_no_memory(&m);
	for (size_t i = 0; !rc && i < p->n; i++)
		if (!p->counters[i].reason && !(groups && p->counters[i].alone > 1))
			names[n++] = p->counters[i].name;
	if (!rc && !n)
		rc = error_set(err, RC_NO_SLOT,
			       "nothing of the selection can be collected on chip '%s'%s", h->chip,
			       groups ? " in single passes" : "");
	if (!rc)
		qsort(names, n, sizeof(*names), compare_names);
	if (!rc && groups) {
		rc = maker_groups(&m, names, n, &g);
		for (uint32_t i = 0; i < g.n; i++)
			m.parts[i] = 1;
	} else if (!rc) {
		rc = maker_schedule(&m, p, names, n, &g);
	}
	m.group_of = g.group_of;
	m.rank = g.rank;
	m.n_groups = g.n;
	if (!rc)
		rc = maker_counters(&m, names, n);
	if (!rc)
		rc = maker_passes(&m);
	if (!rc && !groups && p->passes > 1)
		rc = maker_live(&m, p);
	if (!rc)
		rc = maker_dropped(&m, p, groups);
	plan_out->lower_bound = groups ? 1 : lower_bound(p);
	plan_out->proven = plan_out->lower_bound == plan_out->n_passes;
	free(names);
	grouping_release(&g);
	free(m.parts);
	return rc;
}

/* In a process of its own: the driver leaves threads and descriptors behind, and a vendor's library
 * that crashes must not take the command with it. */
static int detect_here(char chip_out[64], struct error *err)
{
	CUPTI_NEW(struct cupti_chip_name, p, chip);
	/* Without it the name is asked in vain. */
	CUPTI_NEW(struct cupti_profiler_initialize, start, reserved);
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned), (*count)(int *);
	int (*name)(struct cupti_chip_name *), (*begin)(struct cupti_profiler_initialize *);
	struct cuda_api api;
	int n = 0, rc;

	if (!driver)
		return error_set(err, RC_NOT_FOUND, "no CUDA driver (libcuda.so.1) is installed");
	*(void **)&init = dlsym(driver, "cuInit");
	*(void **)&count = dlsym(driver, "cuDeviceGetCount");
	if (!init || !count || init(0) || count(&n) || n < 1)
		return error_set(err, RC_NOT_FOUND, "the CUDA driver finds no GPU");
	rc = cuda_api_open(&api, err);
	if (rc)
		return rc;
	*(void **)&name = dlsym(api.library, "cuptiDeviceGetChipName");
	*(void **)&begin = dlsym(api.library, "cuptiProfilerInitialize");
	if (!name || !begin || begin(&start) || name(&p) || !p.chip || strlen(p.chip) > 63)
		return error_set(err, RC_UNSUPPORTED, "CUPTI does not know the chip of GPU 0");
	strcpy(chip_out, p.chip);
	return 0;
}

struct detected {
	int rc;
	char chip[64];
	struct error err;
};

int cuda_host_detect(const char **chip_out, struct error *err)
{
	static struct detected d;
	int ends[2], status;
	ssize_t n = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return error_set_errno(err, 0, errno, "cannot make a pipe");
	pid = fork();
	if (!pid) {
		d.rc = detect_here(d.chip, &d.err);
		n = write(ends[1], &d, sizeof(d));
		_exit(n != (ssize_t)sizeof(d));
	}
	close(ends[1]);
	if (pid > 0) {
		do
			n = read(ends[0], &d, sizeof(d));
		while (n < 0 && errno == EINTR);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	if (pid < 0 || n != (ssize_t)sizeof(d))
		return error_set(err, RC_UNSUPPORTED,
				 "the driver or CUPTI crashed when asked for the chip of GPU 0");
	if (d.rc)
		return error_set(err, d.rc, "%s", d.err.message);
	*chip_out = d.chip;
	return 0;
}
