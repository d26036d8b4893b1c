/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a hand-made catalogue to a plan: shared events, level counters, split metrics, anchors,
 * refusals, and the explanations of the result.
 */
#include "../test.h"
#include "base/str.h"
#include "model/planner.h"
#include "model/planner_explain.h"

#include <stdio.h>

static uint32_t block(struct catalog *c, const char *name, uint32_t slots)
{
	struct block b = {.name = name,
			  .slots = slots,
			  .instances = 1,
			  .scope = "",
			  .reference = "",
			  .confidence = "inferred"};
	uint32_t index;

	assert_int_equal(catalog_add_block(c, &b, &index, NULL), 0);
	return index;
}

static uint32_t counter(struct catalog *c, const char *name, uint32_t of_block, const char *event,
			uint32_t level, uint32_t exclusive)
{
	struct counter k = {.name = name,
			    .unit = "count",
			    .help = "",
			    .source = "sim",
			    .block = of_block,
			    .event = event,
			    .instance = -1,
			    .level = level,
			    .exclusive = exclusive,
			    .config = ""};
	uint32_t index;

	assert_int_equal(catalog_add_counter(c, &k, &index, NULL), 0);
	return index;
}

static uint32_t metric(struct catalog *c, const char *id, const char *name, uint32_t n,
		       const uint32_t *counters)
{
	struct metric m = {.id = id,
			   .name = name,
			   .title = name,
			   .unit = "",
			   .help = "",
			   .expression = "",
			   .n_counters = n,
			   .counters = counters,
			   .where = ""};
	uint32_t index;

	assert_int_equal(catalog_add_metric(c, &m, &index, NULL), 0);
	return index;
}

static int find(const struct plan *plan, const char *name)
{
	for (uint32_t k = 0; k < plan->n_counters; k++)
		if (!strcmp(plan->counters[k].name, name))
			return (int)k;
	return -1;
}

static bool pass_has(const struct plan *plan, uint32_t pass, const char *name)
{
	for (uint32_t k = 0; k < plan->passes[pass].n_counters; k++)
		if (!strcmp(plan->counters[plan->passes[pass].counters[k]].name, name))
			return true;
	return false;
}

static void make_plan(const struct catalog *c, const struct selection *s, struct plan *plan)
{
	struct error err = {0};
	int rc = planner_plan(c, s, NULL, plan, &err);

	if (rc)
		fail_msg("%s", err.message);
}

static void test_one_event_one_slot(void **state)
{
	struct catalog c = {.chip = "toy"};
	struct selection s = {0};
	struct plan plan;
	uint32_t l2 = block(&c, "L2", 2);

	(void)state;
	counter(&c, "HIT[10]", l2, "hit", UINT32_MAX, 0);
	counter(&c, "HIT[2]", l2, "hit", UINT32_MAX, 0);
	counter(&c, "HIT_sum", l2, "hit", UINT32_MAX, 0);
	counter(&c, "HIT", l2, "hit", UINT32_MAX, 0);
	counter(&c, "MISS", l2, "miss", UINT32_MAX, 0);
	for (uint32_t k = 0; k < 5; k++)
		assert_true(vec_push(&s.counters, 4 - k));
	make_plan(&c, &s, &plan);
	assert_int_equal(plan.n_passes, 1);
	assert_true(plan.proven);
	assert_int_equal(plan.passes[0].n_counters, 5);
	assert_string_equal(plan.passes[0].reason, "L2: 2 of 2 slots");
	assert_true(find(&plan, "HIT[2]") < find(&plan, "HIT[10]"));
	for (uint32_t k = 0; k < 5; k++)
		assert_int_equal(plan.counters[k].flags, 0);
	plan_release(&plan);
	selection_release(&s);
	catalog_release(&c);
}

static void test_level_beside_accumulator(void **state)
{
	struct catalog c = {.chip = "toy"};
	struct selection s = {0};
	struct plan plan;
	uint32_t sq = block(&c, "SQ", 4), zz, waves, busy;

	(void)state;
	zz = counter(&c, "ZZ_LEVEL", sq, "9", UINT32_MAX, 0);
	waves = counter(&c, "LEVEL_WAVES", sq, "5", UINT32_MAX, 0);
	counter(&c, "AA_ACCUM", sq, "9+acc", zz, 0);
	counter(&c, "LEVEL_WAVES_ACCUM", sq, "5+acc", waves, 0);
	busy = counter(&c, "BUSY", sq, "1", UINT32_MAX, 0);
	/* only accumulators are asked for: their levels come along and cost a slot each */
	assert_true(vec_push(&s.counters, 2) && vec_push(&s.counters, 3) &&
		    vec_push(&s.counters, busy));
	make_plan(&c, &s, &plan);
	assert_int_equal(plan.n_counters, 5);
	assert_int_equal(plan.n_passes, 2);
	for (uint32_t p = 0; p < 2; p++) {
		assert_int_equal(pass_has(&plan, p, "AA_ACCUM"), pass_has(&plan, p, "ZZ_LEVEL"));
		assert_int_equal(pass_has(&plan, p, "LEVEL_WAVES_ACCUM"),
				 pass_has(&plan, p, "LEVEL_WAVES"));
	}
	assert_int_equal(find(&plan, "AA_ACCUM"), find(&plan, "ZZ_LEVEL") + 1);
	assert_int_equal(find(&plan, "LEVEL_WAVES_ACCUM"), find(&plan, "LEVEL_WAVES") + 1);
	assert_int_equal(plan.counters[find(&plan, "ZZ_LEVEL")].flags,
			 PLAN_COUNTER_LEVEL | PLAN_COUNTER_HIDDEN);
	assert_int_equal(plan.counters[find(&plan, "AA_ACCUM")].flags, 0);
	plan_release(&plan);
	selection_release(&s);
	catalog_release(&c);
}

/* Metrics: wide needs 5 of 4 slots; a and b share the base. */
static void toy(struct catalog *c, struct selection *s)
{
	uint32_t sq, k[6], soft;

	*c = (struct catalog){.chip = "toy"};
	*s = (struct selection){0};
	sq = block(c, "SQ", 4);
	for (uint32_t i = 0; i < 6; i++) {
		char name[8];

		snprintf(name, sizeof(name), "K%u", i);
		k[i] = counter(c, name, sq, name, UINT32_MAX, 0);
	}
	soft = counter(c, "faults", BLOCK_NONE, "faults", UINT32_MAX, 0);
	metric(c, "10.1", "wide", 5, (uint32_t[]){k[0], k[1], k[2], k[3], k[4]});
	metric(c, "9.1", "a", 2, (uint32_t[]){k[0], k[5]});
	metric(c, "9.2", "b", 2, (uint32_t[]){k[0], soft});
	for (uint32_t m = 0; m < 3; m++)
		assert_true(vec_push(&s->metrics, m));
}

static void test_split_metric(void **state)
{
	struct catalog c;
	struct selection s;
	struct plan plan;
	struct str text = STR_INIT;
	struct arena arena = {0};
	struct explain_metric e;
	struct explain_pass pass;
	struct error err = {0};

	(void)state;
	toy(&c, &s);
	make_plan(&c, &s, &plan);
	assert_int_equal(plan.n_passes, 2);
	assert_int_equal(plan.lower_bound, 2);
	assert_int_equal(plan.n_metrics, 3);
	/* in order of section: 9.1 before 10.1 */
	assert_string_equal(plan.metrics[0].name, "a");
	assert_string_equal(plan.metrics[2].name, "wide");
	assert_int_equal(plan.metrics[2].pass, 0);
	assert_int_not_equal(plan.metrics[0].pass, 0);
	assert_int_not_equal(plan.metrics[1].pass, 0);

	assert_int_equal(planner_explain_metric(&c, &plan, "10.1", &arena, &e, &err), 0);
	assert_false(e.fits);
	assert_int_equal(e.n_passes, 2);
	assert_int_equal(e.n_blocks, 1);
	assert_int_equal(e.blocks[0].used, 5);
	assert_int_equal(e.blocks[0].slots, 4);
	assert_int_equal(planner_explain_metric(&c, &plan, "none", &arena, &e, &err), RC_NOT_FOUND);
	assert_int_equal(planner_explain_pass(&c, &plan, 3, &arena, &pass, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "2 passes"));
	for (uint32_t p = 1; p <= 2; p++) {
		assert_int_equal(planner_explain_pass(&c, &plan, p, &arena, &pass, &err), 0);
		assert_int_equal(pass.n_blocks, 1);
		assert_true(pass.blocks[0].used <= 4);
		assert_true(pass.n_only <= pass.n_complete);
		for (uint32_t k = 0; k < pass.n_only; k++)
			assert_int_equal(plan.metrics[pass.only[k]].pass, p);
	}
	assert_int_equal(planner_explain_metric_text(&c, &plan, "wide", &text, &err), 0);
	assert_non_null(strstr(str_text(&text), "SQ: 5 of 4 slots: too many for one pass"));
	assert_non_null(strstr(str_text(&text), "fits no single pass"));
	str_clear(&text);
	assert_int_equal(planner_explain_pass_text(&c, &plan, 1, &text, &err), 0);
	assert_non_null(strstr(str_text(&text), "pass 1 of 2"));
	str_release(&text);
	arena_release(&arena);
	plan_release(&plan);
	selection_release(&s);
	catalog_release(&c);
}

/* An anchor takes a slot in every pass only where that adds none; a software one always can. */
static void test_anchors(void **state)
{
	struct catalog c;
	struct selection s;
	struct plan plan;
	uint32_t anchors[3];

	(void)state;
	toy(&c, &s);
	anchors[0] = counter(&c, "time", BLOCK_NONE, "time", UINT32_MAX, 0);
	anchors[1] = catalog_find_counter(&c, "K0");
	anchors[2] = catalog_find_counter(&c, "K1");
	c.anchors = anchors;
	c.n_anchors = 3;
	make_plan(&c, &s, &plan);
	/* 8 slots, 6 events: K0 and K1 fit twice */
	assert_int_equal(plan.n_passes, 2);
	for (uint32_t p = 0; p < 2; p++) {
		assert_true(pass_has(&plan, p, "time"));
		assert_true(pass_has(&plan, p, "K0"));
		assert_true(pass_has(&plan, p, "K1"));
	}
	assert_int_equal(plan.counters[find(&plan, "time")].flags, PLAN_COUNTER_ANCHOR);
	assert_int_equal(plan.counters[find(&plan, "K0")].flags,
			 PLAN_COUNTER_ANCHOR | PLAN_COUNTER_HIDDEN);
	plan_release(&plan);
	/* with 7 events in the 8 slots only the first still can */
	counter(&c, "K6", catalog_find_block(&c, "SQ"), "K6", UINT32_MAX, 0);
	assert_true(vec_push(&s.counters, catalog_find_counter(&c, "K6")));
	make_plan(&c, &s, &plan);
	assert_int_equal(plan.n_passes, 2);
	assert_true(plan.counters[find(&plan, "K0")].flags & PLAN_COUNTER_ANCHOR);
	assert_false(plan.counters[find(&plan, "K1")].flags & PLAN_COUNTER_ANCHOR);
	plan_release(&plan);
	selection_release(&s);
	catalog_release(&c);
}

static void test_exclusive_counters(void **state)
{
	struct catalog c = {.chip = "toy"};
	struct selection s = {0};
	struct plan plan;
	uint32_t sq = block(&c, "SQ", SLOTS_UNLIMITED), k[3];

	(void)state;
	k[0] = counter(&c, "A", sq, "a", UINT32_MAX, 1);
	k[1] = counter(&c, "B", sq, "b", UINT32_MAX, 2);
	k[2] = counter(&c, "C", sq, "c", UINT32_MAX, 0);
	metric(&c, "", "both", 2, k);
	metric(&c, "", "one", 2, k + 1);
	assert_true(vec_push(&s.metrics, 0) && vec_push(&s.metrics, 1));
	make_plan(&c, &s, &plan);
	assert_int_equal(plan.n_passes, 2);
	assert_int_equal(plan.metrics[0].pass, 0);
	assert_int_not_equal(plan.metrics[1].pass, 0);
	for (uint32_t p = 0; p < 2; p++)
		assert_false(pass_has(&plan, p, "A") && pass_has(&plan, p, "B"));
	plan_release(&plan);
	selection_release(&s);
	catalog_release(&c);
}

static void test_refusals(void **state)
{
	struct catalog c = {.chip = "toy"};
	struct selection s = {0};
	struct plan plan;
	struct error err = {0};
	uint32_t one = block(&c, "TD", 1), level, k[2];

	(void)state;
	make_plan(&c, &s, &plan);
	assert_int_equal(plan.n_passes, 0);
	plan_release(&plan);
	level = counter(&c, "LEVEL", one, "1", UINT32_MAX, 0);
	k[0] = level;
	k[1] = counter(&c, "ACCUM", one, "1+acc", level, 0);
	metric(&c, "", "latency", 2, k);
	assert_true(vec_push(&s.metrics, 0));
	assert_int_equal(planner_plan(&c, &s, NULL, &plan, &err), RC_NO_SLOT);
	assert_string_equal(err.message, "metric 'latency': counter 'ACCUM' needs 2 slots of block "
					 "'TD', which has 1, so no pass can hold it");
	vec_clear(&s.metrics);
	assert_true(vec_push(&s.counters, 7));
	assert_int_equal(planner_plan(&c, &s, NULL, &plan, &err), RC_INVALID);
	selection_release(&s);
	catalog_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_event_one_slot),
		cmocka_unit_test(test_level_beside_accumulator),
		cmocka_unit_test(test_split_metric),
		cmocka_unit_test(test_anchors),
		cmocka_unit_test(test_exclusive_counters),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
