/* SPDX-License-Identifier: Apache-2.0 */
/* Catalogue and selection: names, ids, globs, forms of a counter, and what is said about wrong
 * names. */
#include "../test.h"
#include "model/nearest.h"
#include "model/selection.h"

#include <stdio.h>

static uint32_t counter(struct catalog *c, const char *name, uint32_t block)
{
	struct counter k = {.name = name, .block = block, .instance = -1, .level = UINT32_MAX};
	uint32_t index = UINT32_MAX;

	assert_int_equal(catalog_add_counter(c, &k, &index, NULL), 0);
	return index;
}

static void metric(struct catalog *c, const char *id, const char *name, uint32_t needs)
{
	struct metric m = {.id = id, .name = name, .n_counters = 1, .counters = &needs};

	assert_int_equal(catalog_add_metric(c, &m, NULL, NULL), 0);
}

static void fill(struct catalog *c)
{
	struct block tcc = {.name = "TCC", .slots = 4, .instances = 16, .scope = "per-XCC"};
	struct catalog_skipped skipped = {"2.3", "tlb_rate", "needs 'dTLB-loads'"};
	struct chip_constant xcd = {"num_xcd", 2, ""};
	uint32_t block, index, metrics[] = {2, 0}, first_counter = 0;
	struct metric_set set = {.name = "default",
				 .n_metrics = 2,
				 .metrics = metrics,
				 .n_counters = 1,
				 .counters = &first_counter,
				 .n_skipped = 1,
				 .skipped = &first_counter};

	*c = (struct catalog){.chip = "gfx90a"};
	assert_int_equal(catalog_add_constant(c, &xcd, NULL), 0);
	assert_int_equal(catalog_add_block(c, &tcc, &block, NULL), 0);
	counter(c, "TCC_HIT", block);
	counter(c, "TCC_MISS", block);
	counter(c, "cpu/event=1,umask=2/", BLOCK_NONE);
	counter(c, "bp:f(int, long)@/usr/lib/x.so", BLOCK_NONE);
	metric(c, "2.1", "l2_hit", 0);
	metric(c, "2.10", "l2_miss", 1);
	metric(c, "3.1", "ipc", 0);
	assert_int_equal(catalog_add_skipped(c, &skipped, &index, NULL), 0);
	assert_int_equal(catalog_add_set(c, &set, NULL, NULL), 0);
}

static void test_catalog(void **state)
{
	struct catalog c;
	struct error err = {0};
	struct block again = {.name = "TCC"};
	struct counter wrong = {.name = "x", .block = 7, .level = UINT32_MAX};
	struct metric same_id = {.id = "2.1", .name = "other"};
	char name[] = "TCC_EA";
	uint32_t index;

	(void)state;
	fill(&c);
	assert_int_equal(catalog_add_block(&c, &again, NULL, &err), RC_EXISTS);
	assert_string_equal(err.message, "block 'TCC' is defined twice");
	assert_int_equal(catalog_add_counter(&c, &wrong, NULL, &err), RC_INVALID);
	assert_int_equal(catalog_add_metric(&c, &same_id, NULL, &err), RC_EXISTS);
	assert_string_equal(err.message, "metric 'other' has the id '2.1' of another metric");
	index = counter(&c, name, 0);
	name[0] = '?'; /* the catalogue has its own copy */
	assert_int_equal(catalog_find_counter(&c, "TCC_EA"), index);
	assert_int_equal(catalog_find_metric(&c, "2.10"), 1);
	assert_int_equal(catalog_find_metric(&c, "l2_miss"), 1);
	assert_int_equal(catalog_find_metric(&c, "l2"), UINT32_MAX);
	assert_int_equal(catalog_block_instances(&c, 0), 32);
	catalog_release(&c);
}

static void test_forms(void **state)
{
	struct catalog c;
	struct error err = {0};
	uint32_t sum, one, again;

	(void)state;
	fill(&c);
	assert_int_equal(catalog_resolve_counter(&c, "TCC_HIT_sum", &sum, &err), 0);
	assert_int_equal(catalog_resolve_counter(&c, "TCC_HIT[31]", &one, &err), 0);
	assert_int_equal(catalog_resolve_counter(&c, "TCC_HIT[31]", &again, &err), 0);
	assert_int_equal(one, again);
	assert_int_not_equal(sum, one);
	assert_int_equal(c.counters.items[sum].instance, -1);
	assert_int_equal(c.counters.items[one].instance, 31);
	assert_string_equal(c.counters.items[sum].event, c.counters.items[0].event);
	assert_string_equal(c.counters.items[one].event, c.counters.items[0].event);
	assert_int_equal(catalog_resolve_counter(&c, "TCC_HIT[32]", &one, &err), RC_INVALID);
	assert_string_equal(err.message, "'TCC_HIT' has no instance 32 of 32");
	assert_int_equal(catalog_resolve_counter(&c, "TCC_HIT[31][0]", &one, &err), RC_NOT_FOUND);
	assert_int_equal(catalog_resolve_counter(&c, "TCC_HIT[]", &one, &err), RC_NOT_FOUND);
	assert_int_equal(catalog_resolve_counter(&c, "[1]", &one, &err), RC_NOT_FOUND);
	assert_int_equal(catalog_resolve_counter(&c, "_sum", &one, &err), RC_NOT_FOUND);
	assert_int_equal(catalog_resolve_counter(&c, "TCC_H_sum", &one, &err), RC_NOT_FOUND);
	catalog_release(&c);
}

static void check_metrics(const char *list, const char *wanted)
{
	struct selection s = {0};
	struct catalog c;
	struct error err = {0};
	char found[ERROR_MESSAGE_SIZE] = "";
	int rc;

	fill(&c);
	rc = selection_add_metrics(&s, &c, list, &err);
	if (rc)
		snprintf(found, sizeof(found), "%s", err.message);
	else
		vec_for_each (&s.metrics, m)
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "%u ", *m);
	assert_string_equal(found, wanted);
	selection_release(&s);
	catalog_release(&c);
}

static void test_metrics(void **state)
{
	(void)state;
	check_metrics("ipc", "2 ");
	check_metrics("ipc,2.1", "0 2 ");
	check_metrics("2.1 , ipc,ipc", "0 2 ");
	check_metrics("2.*", "0 1 ");
	check_metrics("l2_*,3.?", "0 1 2 ");
	check_metrics("[a-k]*", "2 ");
	check_metrics("tlb_rate", ""); /* not here: dropped with its reason */
	check_metrics("ipx", "there is no metric 'ipx' on gfx90a; did you mean 'ipc'?");
	check_metrics("L2_HIT", "there is no metric 'L2_HIT' on gfx90a; did you mean 'l2_hit'?");
	check_metrics("miss", "there is no metric 'miss' on gfx90a; did you mean 'l2_miss'?");
	check_metrics("qwertz", "there is no metric 'qwertz' on gfx90a");
	check_metrics("9.*", "no metric on gfx90a matches '9.*'");
	check_metrics("default", "'default' is a set, not a metric; use --set default");
	check_metrics("TCC_HIT", "'TCC_HIT' is a counter, not a metric; use -e TCC_HIT");
	check_metrics("ipc,,l2_hit", "an empty name in the list of metrics");
	check_metrics("", "an empty name in the list of metrics");
}

static void test_dropped(void **state)
{
	struct selection s = {0};
	struct catalog c;

	(void)state;
	fill(&c);
	assert_int_equal(selection_add_metrics(&s, &c, "2.*", NULL), 0);
	assert_int_equal(selection_add_set(&s, &c, "default", NULL), 0);
	assert_int_equal(s.metrics.n, 3);
	assert_int_equal(s.counters.n, 1);
	assert_int_equal(s.dropped.n, 1);
	assert_string_equal(s.dropped.items[0].name, "tlb_rate");
	assert_string_equal(s.dropped.items[0].reason, "needs 'dTLB-loads'");
	selection_release(&s);
	catalog_release(&c);
}

static void test_counters(void **state)
{
	struct selection s = {0};
	struct catalog c;
	struct error err = {0};

	(void)state;
	fill(&c);
	assert_int_equal(selection_add_counters(&s, &c,
						"cpu/event=1,umask=2/,TCC_HIT_sum,TCC_MISS[3],"
						"bp:f(int, long)@/usr/lib/x.so,TCC_HIT",
						&err),
			 0);
	assert_int_equal(s.counters.n, 5);
	assert_int_equal(s.counters.items[0], 0);
	assert_int_equal(s.counters.items[1], 2);
	assert_int_equal(s.counters.items[2], 3);
	selection_release(&s);
	assert_int_equal(selection_add_counters(&s, &c, "TCC_HIT*", &err), 0);
	assert_int_equal(s.counters.n, 2);
	selection_release(&s);
	assert_int_equal(selection_add_counters(&s, &c, "TCC_HTI", &err), RC_NOT_FOUND);
	assert_string_equal(err.message,
			    "there is no counter 'TCC_HTI' on gfx90a; did you mean 'TCC_HIT'?");
	assert_int_equal(selection_add_counters(&s, &c, "ipc", &err), RC_NOT_FOUND);
	assert_string_equal(err.message, "'ipc' is a metric, not a counter; use -m ipc");
	assert_int_equal(selection_add_set(&s, &c, "defualt", &err), RC_NOT_FOUND);
	assert_string_equal(err.message,
			    "there is no set 'defualt' on gfx90a; did you mean 'default'?");
	selection_release(&s);
	catalog_release(&c);
}

static void test_lists(void **state)
{
	static const struct {
		const char *list, *items;
	} cases[] = {
		{"a,b", "a|b|"},
		{" a , b ", "a|b|"},
		{"a,", "a||"},
		{"cpu/a,b/u,c", "cpu/a,b/u|c|"},
		{"bp:f@/usr/lib/x.so,c", "bp:f@/usr/lib/x.so|c|"},
		{"bp:f@/usr/x.so,cpu/a,b/", "bp:f@/usr/x.so|cpu/a,b/|"},
		{"bp:ns::f(int, int),c", "bp:ns::f(int, int)|c|"},
		{"`a,b`,c", "a,b|c|"},
		{"cpu/a,b", "cpu/a,b|"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *list = cases[i].list, *name;
		char found[128] = "";
		size_t n;

		while (selection_next_name(&list, &name, &n))
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "%.*s|",
				 (int)n, name);
		assert_string_equal(found, cases[i].items);
	}
}

static void test_nearest(void **state)
{
	static const char *const known[] = {"instructions", "cycles", "cache-misses", "ipc"};
	static const struct {
		const char *wanted, *best;
	} cases[] = {
		{"cylces", "cycles"},
		{"CYCLES", "cycles"},
		{"instruction", "instructions"},
		{"cache_misses", "cache-misses"},
		{"misses", "cache-misses"},
		{"xyz", NULL},
		{"", NULL},
		{"cpi", "ipc"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct nearest n;

		nearest_init(&n, cases[i].wanted);
		for (size_t j = 0; j < 4; j++)
			nearest_offer(&n, known[j]);
		if (!cases[i].best)
			assert_null(n.best);
		else
			assert_string_equal(n.best, cases[i].best);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_catalog),  cmocka_unit_test(test_forms),
		cmocka_unit_test(test_metrics),  cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_counters), cmocka_unit_test(test_lists),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
