/* SPDX-License-Identifier: Apache-2.0 */
/* The host half of the sim source: the data files agree with the device, and plans are proven. */
#include "model/catalog_load.h"
#include "model/planner.h"
#include "simdev/counter_table.h"
#include "source/sim/sim_abi.h"
#include "source/sim/sim_host.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#define WHY ", reference: r, confidence: measured"

static struct error err;

static void test_data_files(void **state)
{
	const struct sim_counter *k;
	struct catalog c = {0};
	uint32_t n;

	(void)state;
	assert_int_equal(catalog_load_chip(&c, getenv("RETALLY_DATA"), SIM_HOST_CHIP, &err), 0);
	assert_int_equal(sim_host_check(&c, &err), 0);
	/* and nothing that the device has was forgotten */
	k = sim_table_counters(&n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t index = catalog_find_counter(&c, k[i].name);
		struct plan_counter wire = {.name = k[i].name};
		uint32_t id, instance;

		if (index == UINT32_MAX)
			print_message("'%s' is not in data/metrics/sim\n", k[i].name);
		assert_true(index != UINT32_MAX);
		wire.config = c.counters.items[index].config;
		assert_int_equal(sim_abi_decode(&wire, &id, &instance, &err), 0);
		assert_int_equal(id, k[i].id);
	}
	catalog_release(&c);
}

static void differs(const char *blocks, const char *counters, const char *what)
{
	struct catalog c = {0};
	char text[2048];

	snprintf(text, sizeof(text), "chip: sim\ntitle: t\nvendor: v\nsource: sim\nblocks:\n%s",
		 blocks);
	assert_int_equal(catalog_load_chip_text(&c, "chip", text, strlen(text), &err), 0);
	snprintf(text, sizeof(text), "chips: [sim]\ncounters:\n%s", counters);
	assert_int_equal(catalog_load_text(&c, "metrics", text, strlen(text), &err), 0);
	assert_int_equal(sim_host_check(&c, &err), what ? RC_MISMATCH : 0);
	if (what && !strstr(err.message, what))
		print_message("%s\n", err.message);
	assert_true(!what || strstr(err.message, what));
	catalog_release(&c);
}

static void test_files_that_differ(void **state)
{
	static const char good[] = "  - {name: SEQ, slots: 8, instances: 2" WHY
				   "}\n  - {name: L2, slots: 4, instances: 4" WHY "}\n"
				   "  - {name: MEM, slots: 2, instances: 2" WHY
				   "}\n  - {name: DEV, slots: 3" WHY "}\n";
	static const char more[] = "  - {name: SEQ, slots: 8, instances: 2" WHY
				   "}\n  - {name: L2, slots: 5, instances: 4" WHY "}\n"
				   "  - {name: MEM, slots: 2, instances: 2" WHY
				   "}\n  - {name: DEV, slots: 3" WHY "}\n";
	static const char loads[] = "  - {name: A, block: SEQ, event: \"3\"}\n";

	(void)state;
	differs(good, loads, NULL);
	differs(more, loads, "block 'L2' has 5 slots");
	differs("  - {name: SEQ, slots: 8, instances: 2" WHY "}\n", loads, "a block 'L2'");
	differs(good, "  - {name: A, block: L2, event: \"3\"}\n", "one of block SEQ");
	differs(good, "  - {name: A, block: SEQ, event: \"77\"}\n", "no counter 77");
	differs(good, "  - {name: A, block: SEQ, event: \"10\"}\n", "goes together");
	differs(good, "  - {name: A, block: DEV, event: \"42\"}\n", "goes together");
	differs(good, "  - {name: A, block: DEV, event: \"42\", exclusive: 2}\n", "goes together");
	differs(good, "  - {name: A, block: DEV, event: \"42\", exclusive: 1}\n", NULL);
}

static void test_every_set_schedules(void **state)
{
	struct catalog c = {0};

	(void)state;
	assert_int_equal(catalog_load_chip(&c, getenv("RETALLY_DATA"), SIM_HOST_CHIP, &err), 0);
	for (size_t i = 0; i < c.sets.n; i++) {
		const struct planner_options o = {.selection_text = ""};
		struct selection s = {0};
		struct plan plan = {0};

		assert_int_equal(selection_add_set(&s, &c, c.sets.items[i].name, &err), 0);
		assert_int_equal(planner_plan(&c, &s, &o, &plan, &err), 0);
		assert_int_equal(sim_host_prove(&plan, &err), 0);
		if (!strcmp(c.sets.items[i].name, "overview"))
			assert_int_equal(plan.n_passes, 1);
		plan_release(&plan);
		selection_release(&s);
	}
	catalog_release(&c);
}

static void test_a_plan_that_does_not(void **state)
{
	struct plan_counter counters[] = {
		{"a", "sim", "", "", 0, "42"},   {"b", "sim", "", "", 0, "43"},
		{"c", "sim", "", "", 0, "30"},   {"c[1]", "sim", "", "", 0, "30"},
		{"d", "sim", "", "", 0, "31"},   {"e", "sim", "", "", 0, "32"},
		{"f", "perf", "", "", 0, "x=y"},
	};
	static const uint32_t fine[] = {0, 2, 3, 4, 6}, both[] = {0, 1}, many[] = {2, 4, 5};
	struct plan_pass passes[] = {{5, fine, "", ""}, {2, both, "", ""}};
	struct plan plan = {.n_counters = 7, .counters = counters, .n_passes = 1, .passes = passes};

	(void)state;
	assert_int_equal(sim_host_prove(&plan, &err), 0);
	plan.n_passes = 2;
	assert_int_equal(sim_host_prove(&plan, &err), RC_NO_SLOT);
	assert_non_null(strstr(err.message, "pass 2"));
	passes[1] = (struct plan_pass){3, many, "", ""};
	assert_int_equal(sim_host_prove(&plan, &err), RC_NO_SLOT);
	assert_non_null(strstr(err.message, "MEM"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_files),
		cmocka_unit_test(test_files_that_differ),
		cmocka_unit_test(test_every_set_schedules),
		cmocka_unit_test(test_a_plan_that_does_not),
	};

	return cmocka_run_group_tests_name("sim host", tests, NULL, NULL);
}
