/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner on real chips: every metric that can be whole in one pass is, in as few passes as the
 * project promises; counters alone take the hardware's lower bound; same bytes for a shuffled
 * catalogue. Plans are checked from the catalogue, not with the planner's own tables.
 */
#include "../test.h"
#include "base/str.h"
#include "chip_fixture.h"
#include "model/planner.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static const char *folder;

static bool pass_has(const struct plan *plan, uint32_t pass, uint32_t counter)
{
	for (uint32_t k = 0; k < plan->passes[pass].n_counters; k++)
		if (plan->passes[pass].counters[k] == counter)
			return true;
	return false;
}

/* Slots, levels and order of one pass, counted from the catalogue's counters. */
static void check_pass(const struct catalog *c, const struct plan *plan, uint32_t pass)
{
	const struct plan_pass *p = &plan->passes[pass];
	uint32_t *load = calloc(c->blocks.n, sizeof(*load));

	for (uint32_t k = 0; k < p->n_counters; k++) {
		uint32_t id = catalog_find_counter(c, plan->counters[p->counters[k]].name);
		const struct counter *x = &c->counters.items[id];
		bool repeated = false;

		assert_true(id != UINT32_MAX);
		assert_true(!k || p->counters[k] > p->counters[k - 1]);
		if (x->level != UINT32_MAX) {
			const char *level = c->counters.items[x->level].name;
			bool found = false;

			for (uint32_t j = 0; j < p->n_counters; j++)
				found |= !strcmp(plan->counters[p->counters[j]].name, level);
			assert_true(found);
		}
		for (uint32_t j = 0; j < k && !repeated; j++) {
			uint32_t other =
				catalog_find_counter(c, plan->counters[p->counters[j]].name);
			const struct counter *y = &c->counters.items[other];

			repeated = x->block == y->block && !strcmp(x->event, y->event);
		}
		if (!repeated)
			load[x->block]++;
	}
	for (uint32_t b = 0; b < c->blocks.n; b++)
		assert_true(load[b] <= c->blocks.items[b].slots);
	assert_true(p->reason && *p->reason);
	free(load);
}

/* Returns (metric, pass) pairs in which the metric is complete. */
static uint32_t check_plan(const struct catalog *c, const struct plan *plan, uint32_t *whole_out)
{
	uint32_t pairs = 0;

	*whole_out = 0;
	for (uint32_t k = 0; k < plan->n_passes; k++)
		check_pass(c, plan, k);
	for (uint32_t k = 0; k < plan->n_counters; k++) {
		bool found = false;

		for (uint32_t p = 0; p < plan->n_passes; p++)
			found |= pass_has(plan, p, k);
		assert_true(found);
	}
	for (uint32_t m = 0; m < plan->n_metrics; m++) {
		const struct plan_metric *metric = &plan->metrics[m];
		uint32_t first = 0;

		for (uint32_t p = 0; p < plan->n_passes; p++) {
			bool complete = true;

			for (uint32_t k = 0; k < metric->n_counters; k++)
				complete &= pass_has(plan, p, metric->counters[k]);
			pairs += complete;
			if (complete && !first)
				first = p + 1;
		}
		assert_int_equal(metric->pass, first);
		*whole_out += first != 0;
	}
	return pairs;
}

static uint32_t hardware_bound(const struct catalog *c)
{
	uint32_t bound = 0;

	for (uint32_t b = 0; b < c->blocks.n; b++) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < c->counters.n; k++) {
			const struct counter *x = &c->counters.items[k];
			bool repeated = x->block != b;

			for (uint32_t j = 0; j < k && !repeated; j++)
				repeated = c->counters.items[j].block == b &&
					   !strcmp(c->counters.items[j].event, x->event);
			n += !repeated;
		}
		n = (n + c->blocks.items[b].slots - 1) / c->blocks.items[b].slots;
		bound = n > bound ? n : bound;
	}
	return bound;
}

static void check_full(const char *name, uint32_t metrics, uint32_t at_most, double per_pass)
{
	struct chip_fixture f;
	struct plan plan;
	struct error err = {0};
	uint32_t whole, pairs;

	chip_fixture_load(&f, folder, name, 0);
	assert_int_equal(planner_plan(&f.catalog, &f.everything, NULL, &plan, &err), 0);
	pairs = check_plan(&f.catalog, &plan, &whole);
	print_message("# %s: %u of %u metrics whole, %u passes, at least %u, %.1f per pass\n", name,
		      whole, metrics, plan.n_passes, plan.lower_bound,
		      (double)pairs / plan.n_passes);
	assert_int_equal(f.n_that_fit, metrics);
	assert_int_equal(whole, metrics);
	assert_true(plan.n_passes <= at_most);
	assert_true(plan.lower_bound <= plan.n_passes);
	assert_true(plan.lower_bound >= hardware_bound(&f.catalog));
	assert_int_equal(plan.proven, plan.lower_bound == plan.n_passes);
	assert_true((double)pairs >= per_pass * plan.n_passes);
	plan_release(&plan);
	chip_fixture_release(&f);
}

static void test_gfx90a(void **state)
{
	(void)state;
	check_full("gfx90a", 343, 13, 27.0);
}

static void test_gfx942(void **state)
{
	(void)state;
	check_full("gfx942", 343, 13, 27.0);
}

static void test_gfx950(void **state)
{
	(void)state;
	check_full("gfx950", 416, 18, 416.0 / 18);
}

static void test_counters_alone(void **state)
{
	static const char *const names[] = {"gfx90a",         "gfx942",         "gfx950",
					    "gfx908_2025_01", "gfx90a_2025_01", "gfx942_2025_01"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct chip_fixture f;
		struct plan plan;
		struct error err = {0};
		uint32_t whole;

		chip_fixture_load(&f, folder, names[i], 0);
		chip_fixture_select_counters(&f);
		assert_int_equal(planner_plan(&f.catalog, &f.everything, NULL, &plan, &err), 0);
		check_plan(&f.catalog, &plan, &whole);
		assert_int_equal(plan.n_counters, f.catalog.counters.n);
		assert_int_equal(plan.n_passes, hardware_bound(&f.catalog));
		assert_int_equal(plan.lower_bound, plan.n_passes);
		assert_true(plan.proven);
		plan_release(&plan);
		chip_fixture_release(&f);
	}
}

static void plan_bytes(const char *name, uint64_t seed, bool reverse, struct str *out)
{
	struct chip_fixture f;
	struct plan plan;
	struct error err = {0};
	size_t n;

	chip_fixture_load(&f, folder, name, seed);
	n = f.everything.metrics.n;
	for (size_t i = 0; reverse && i < n / 2; i++) {
		uint32_t m = f.everything.metrics.items[i];

		f.everything.metrics.items[i] = f.everything.metrics.items[n - 1 - i];
		f.everything.metrics.items[n - 1 - i] = m;
	}
	assert_int_equal(planner_plan(&f.catalog, &f.everything, NULL, &plan, &err), 0);
	assert_int_equal(plan_encode(&plan, out, &err), 0);
	plan_release(&plan);
	chip_fixture_release(&f);
}

static void test_same_bytes(void **state)
{
	struct str first = STR_INIT;

	(void)state;
	plan_bytes("gfx90a", 0, false, &first);
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct str again = STR_INIT;

		/* a locale with other collation, decimal point and case rules, where installed */
		if (seed == 3)
			setlocale(LC_ALL, "C.UTF-8");
		plan_bytes("gfx90a", seed, seed == 0, &again);
		assert_string_equal(str_text(&first), str_text(&again));
		str_release(&again);
	}
	setlocale(LC_ALL, "C");
	str_release(&first);
}

static void test_anchors(void **state)
{
	static const char *const wanted[] = {"SQ_WAVES", "GRBM_GUI_ACTIVE", "CPC_CPC_STAT_BUSY"};
	uint32_t anchors[3], passes;
	struct planner_options none = {.no_anchors = true};
	struct chip_fixture f;
	struct plan plan;
	struct error err = {0};
	uint32_t whole;

	(void)state;
	chip_fixture_load(&f, folder, "gfx90a", 0);
	for (uint32_t k = 0; k < 3; k++) {
		anchors[k] = catalog_find_counter(&f.catalog, wanted[k]);
		assert_true(anchors[k] != UINT32_MAX);
	}
	f.catalog.anchors = anchors;
	f.catalog.n_anchors = 3;
	assert_int_equal(planner_plan(&f.catalog, &f.everything, &none, &plan, &err), 0);
	passes = plan.n_passes;
	for (uint32_t k = 0; k < plan.n_counters; k++)
		assert_false(plan.counters[k].flags & PLAN_COUNTER_ANCHOR);
	plan_release(&plan);
	assert_int_equal(planner_plan(&f.catalog, &f.everything, NULL, &plan, &err), 0);
	check_plan(&f.catalog, &plan, &whole);
	assert_int_equal(plan.n_passes, passes);
	for (uint32_t k = 0; k < plan.n_counters; k++) {
		bool anchor = plan.counters[k].flags & PLAN_COUNTER_ANCHOR;

		/* SQ has 96 slots in 12 passes for 95 events, CPC's metrics take both slots: no
		 * room there. GRBM has. */
		assert_int_equal(anchor, !strcmp(plan.counters[k].name, "GRBM_GUI_ACTIVE"));
		for (uint32_t p = 0; anchor && p < plan.n_passes; p++)
			assert_true(pass_has(&plan, p, k));
	}
	plan_release(&plan);
	chip_fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gfx90a),     cmocka_unit_test(test_gfx942),
		cmocka_unit_test(test_gfx950),     cmocka_unit_test(test_counters_alone),
		cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_anchors),
	};

	folder = getenv("RETALLY_CHIP_FIXTURES");
	if (!folder)
		folder = "tests/unit/model/data";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
