/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of this machine, its plans proven, and its bp: counts beside those of gdb. */
#include "../test.h"
#include "perf_run.h"
#include "source/perf/perf_abi.h"
#include "source/perf/perf_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void fill(struct catalog *c)
{
	struct error err = {0};

	memset(c, 0, sizeof(*c));
	if (perf_host_fill(c, NULL, &err))
		fail_msg("%s", err.message);
}

static void need_counters(struct catalog *c)
{
	fill(c);
	if (catalog_find_counter(c, "task-clock") == UINT32_MAX) {
		catalog_release(c);
		print_message("# perf_event_open is not permitted here\n");
		skip();
	}
}

static void test_fill(void **state)
{
	struct catalog c;
	uint32_t i, again;
	struct perf_config config;

	(void)state;
	need_counters(&c);
	for (size_t k = 0; k < c.counters.n; k++) {
		const struct counter *counter = &c.counters.items[k];

		assert_string_equal(counter->source, "perf");
		assert_int_equal(perf_config_decode(&config, counter->config, NULL), 0);
		if (counter->block != BLOCK_NONE)
			assert_true(c.blocks.items[counter->block].slots >= 1);
	}
	i = catalog_find_counter(&c, "task-clock");
	assert_string_equal(c.counters.items[i].unit, "ns");
	assert_int_equal(c.counters.items[i].block, BLOCK_NONE);
	assert_int_equal(perf_host_add_counter(&c, "task-clock", NULL, &again, NULL), 0);
	assert_int_equal(again, i);
	/* An alias is another name of the same event. */
	i = catalog_find_counter(&c, "page-faults");
	assert_int_equal(perf_host_add_counter(&c, "faults", NULL, &again, NULL), 0);
	assert_true(again != i);
	assert_string_equal(c.counters.items[i].event, c.counters.items[again].event);
	if (catalog_find_counter(&c, "cycles") == UINT32_MAX) {
		struct error err = {0};

		assert_int_equal(perf_host_add_counter(&c, "cycles", NULL, &again, &err),
				 RC_UNSUPPORTED);
		assert_non_null(strstr(err.message, "hardware counters"));
		assert_int_equal(catalog_find_block(&c, "cpu"), UINT32_MAX);
	}
	catalog_release(&c);
}

static void test_caps(void **state)
{
	struct catalog c;
	struct error err = {0};
	uint32_t i;

	(void)state;
	setenv("RETALLY_PERF_SLOTS", "software=3,uprobe=4", 1);
	need_counters(&c);
	i = catalog_find_block(&c, "software");
	assert_true(i != UINT32_MAX);
	assert_int_equal(c.blocks.items[i].slots, 3);
	assert_int_equal(c.counters.items[catalog_find_counter(&c, "task-clock")].block, i);
	catalog_release(&c);
	memset(&c, 0, sizeof(c));
	setenv("RETALLY_PERF_SLOTS", "software=none", 1);
	assert_int_equal(perf_host_fill(&c, NULL, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "RETALLY_PERF_SLOTS"));
	catalog_release(&c);
	unsetenv("RETALLY_PERF_SLOTS");
}

/* A plan of one pass with these counters of the catalogue. */
static void make_plan(const struct catalog *c, const char *const *names, uint32_t n,
		      struct plan *plan, struct plan_counter *counters, uint32_t *indices,
		      struct plan_pass *pass)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = catalog_find_counter(c, names[i]);

		assert_true(k != UINT32_MAX);
		counters[i] = (struct plan_counter){names[i], "perf", "",
						    "count",  0,      c->counters.items[k].config};
		indices[i] = i;
	}
	*pass = (struct plan_pass){n, indices, "", ""};
	*plan = (struct plan){.n_counters = n, .counters = counters, .n_passes = 1, .passes = pass};
}

static void test_prove(void **state)
{
	static const char *const names[] = {"task-clock", "page-faults", "minor-faults"};
	struct plan_counter counters[32];
	uint32_t indices[32], block;
	struct plan_pass pass;
	struct plan plan;
	struct catalog c;
	struct error err = {0};

	(void)state;
	need_counters(&c);
	make_plan(&c, names, 3, &plan, counters, indices, &pass);
	if (perf_host_prove(&plan, &err))
		fail_msg("%s", err.message);
	/* More breakpoints than there are, and a counter of another machine. */
	block = catalog_find_block(&c, "breakpoint");
	if (block != UINT32_MAX) {
		uint32_t slots = c.blocks.items[block].slots;

		assert_true(slots < 31);
		for (uint32_t i = 0; i <= slots; i++) {
			counters[i] = counters[0];
			counters[i].config = "type=5 bp_type=x bp_len=8 object=/x offset=0x10";
			indices[i] = i;
		}
		pass.n_counters = plan.n_counters = slots;
		assert_int_equal(perf_host_prove(&plan, &err), 0);
		pass.n_counters = plan.n_counters = slots + 1;
		assert_int_equal(perf_host_prove(&plan, &err), RC_NO_SLOT);
		assert_non_null(strstr(err.message, "pass 1"));
	}
	counters[0].config = "pmu=no_such_pmu";
	pass.n_counters = plan.n_counters = 1;
	assert_int_equal(perf_host_prove(&plan, &err), RC_UNSUPPORTED);
	assert_non_null(strstr(err.message, "no_such_pmu"));
	catalog_release(&c);
}

/* Hits of breakpoint 1 as gdb counts them, or -1. */
static long gdb_hits(const char *program, const char *symbol, const char *arguments)
{
	char command[4096], line[512];
	long hits = 0;
	bool ran = false;
	FILE *f;

	snprintf(command, sizeof(command),
		 "gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' "
		 "-ex 'break "
		 "*%s' -ex 'ignore 1 1000000000' -ex 'run %s' -ex 'info breakpoints' '%s' 2>&1 "
		 "</dev/null",
		 symbol, arguments, program);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "already hit ");

		ran |= strstr(line, "exited normally") != NULL;
		if (at)
			hits = atol(at + strlen("already hit "));
	}
	if (f)
		pclose(f);
	return ran ? hits : -1;
}

static void test_equals_gdb(void **state)
{
	const char *program = run_program("perf_calls_pie");
	static const char arguments[] = "300 40 0 0 0 0";
	const char *configs[2];
	struct catalog c;
	struct error err = {0};
	struct run r;
	uint32_t called, never = 0;
	long hits;
	bool breakpoint;

	(void)state;
	need_counters(&c);
	if (perf_host_add_counter(&c, "bp:perf_called", program, &called, &err) ||
	    perf_host_add_counter(&c, "bp:perf_never_called", program, &never, &err)) {
		catalog_release(&c);
		print_message("# %s\n", err.message);
		skip();
	}
	hits = gdb_hits(program, "perf_called", arguments);
	if (hits < 0) {
		catalog_release(&c);
		print_message("# gdb is not installed or cannot run programs\n");
		skip();
	}
	configs[0] = c.counters.items[called].config;
	configs[1] = c.counters.items[never].config;
	breakpoint = !strncmp(configs[0], "type=5", 6);
	run_counted(program, arguments, true, configs, 2, &r);
	print_message("# bp: by %s %llu, gdb %ld\n", breakpoint ? "breakpoint" : "uprobe",
		      (unsigned long long)r.samples[0].value.u64, hits);
	assert_int_equal(r.samples[0].status, SAMPLE_OK);
	assert_int_equal(r.samples[0].value.u64, hits);
	assert_int_equal(hits, 340);
	assert_int_equal(r.samples[1].status, SAMPLE_OK);
	assert_int_equal(r.samples[1].value.u64, gdb_hits(program, "perf_never_called", arguments));
	/* And, where that is another mechanism, by uprobe. */
	if (breakpoint &&
	    !perf_host_add_counter(&c, "uprobe:perf_called", program, &called, &err)) {
		configs[0] = c.counters.items[called].config;
		run_counted(program, arguments, false, configs, 1, &r);
		assert_int_equal(r.samples[0].value.u64, hits);
	}
	catalog_release(&c);
}

static void test_examine(void **state)
{
	struct arena arena = {0};
	struct perf_finding *findings;
	size_t n;

	(void)state;
	assert_int_equal(perf_host_examine(&arena, &findings, &n, NULL), 0);
	assert_true(n >= 5);
	for (size_t i = 0; i < n; i++) {
		assert_true(findings[i].what[0]);
		assert_true(findings[i].explain[0]);
		print_message("# %s: %s: %s\n", findings[i].what,
			      findings[i].works ? "works" : "no", findings[i].explain);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),    cmocka_unit_test(test_caps),
		cmocka_unit_test(test_prove),   cmocka_unit_test(test_equals_gdb),
		cmocka_unit_test(test_examine),
	};

	return cmocka_run_group_tests_name("perf_host", tests, NULL, NULL);
}
