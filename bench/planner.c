/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good and how fast the planner is: for each number of metrics the share of random instances
 * proven minimal and the time (nothing here is a test), then the full sets of real chips.
 * Usage: bench_planner [INSTANCES_PER_SIZE [CHIP_FIXTURES_FOLDER]]
 */
#include "chip_fixture.h"
#include "planner_instances.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef CHIP_FIXTURES
#define CHIP_FIXTURES "tests/unit/model/data"
#endif

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void random_instances(uint32_t n_items, uint32_t count)
{
	double passes = 0, first_fit = 0, slots = 0, total = 0, longest = 0;
	uint32_t proven = 0, better = 0;
	uint64_t nodes = 0;

	for (uint32_t i = 1; i <= count; i++) {
		const struct instance_shape shape = {.n_blocks = 10,
						     .n_items = n_items,
						     .events_max = 8,
						     .pool = 3 + 3 * (i % 3)};
		struct planner_solution s;
		struct instance in;
		struct error err = {0};
		double start, took;
		uint32_t greedy;

		instance_make(&in, &shape, i);
		start = now();
		if (planner_solve(&in.problem, &s, &err)) {
			fprintf(stderr, "%s\n", err.message);
			exit(1);
		}
		took = now() - start;
		greedy = instance_first_fit(&in.problem);
		passes += s.n_passes;
		first_fit += greedy;
		better += s.n_passes < greedy;
		slots += instance_slot_bound(&in.problem);
		proven += s.proven;
		nodes += s.nodes;
		total += took;
		longest = took > longest ? took : longest;
		planner_solution_release(&s);
		instance_release(&in);
	}
	printf("%7u %9.2f %11.2f %9.2f %11.1f %% %9.1f %% %9.0f %9.4f %9.3f\n", n_items,
	       passes / count, slots / count, first_fit / count, 100.0 * better / count,
	       100.0 * proven / count, (double)nodes / count, total / count, longest);
}

static void chip(const char *folder, const char *name, bool counters_only)
{
	struct chip_fixture f;
	struct plan plan;
	struct error err = {0};
	double start, took;
	uint32_t whole = 0, pairs = 0;

	chip_fixture_load(&f, folder, name, 0);
	if (counters_only)
		chip_fixture_select_counters(&f);
	start = now();
	if (planner_plan(&f.catalog, &f.everything, NULL, &plan, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	took = now() - start;
	for (uint32_t m = 0; m < plan.n_metrics; m++) {
		const struct plan_metric *metric = &plan.metrics[m];

		whole += metric->pass != 0;
		for (uint32_t p = 0; p < plan.n_passes; p++) {
			const struct plan_pass *pass = &plan.passes[p];
			uint32_t n = 0;

			for (uint32_t k = 0; k < metric->n_counters; k++)
				for (uint32_t j = 0; j < pass->n_counters; j++)
					n += pass->counters[j] == metric->counters[k];
			pairs += n == metric->n_counters;
		}
	}
	printf("%-15s %-8s %4u/%-4u %8u %6u %11u %-7s %8.1f %9.3f\n", name,
	       counters_only ? "counters" : "metrics", whole, f.n_that_fit, plan.n_counters,
	       plan.n_passes, plan.lower_bound, plan.proven ? "minimal" : "open",
	       plan.n_passes ? (double)pairs / plan.n_passes : 0, took);
	plan_release(&plan);
	chip_fixture_release(&f);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {8, 12, 16, 20, 24, 32, 48, 64};
	static const char *const lists[] = {"gfx90a",         "gfx942",         "gfx950",
					    "gfx908_2025_01", "gfx90a_2025_01", "gfx942_2025_01"};
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100;
	const char *folder = argc > 2 ? argv[2] : CHIP_FIXTURES;

	printf("random instances, %u per size, default node budget\n", count);
	printf("metrics    passes slot bound first fit  fewer passes    proven     nodes  mean [s]"
	       "   max [s]\n");
	for (size_t i = 0; count && i < sizeof(sizes) / sizeof(*sizes); i++)
		random_instances(sizes[i], count);
	printf("\nchip            what       whole  counters passes lower bound proof    per pass"
	       "  time [s]\n");
	for (size_t i = 0; i < 3; i++)
		chip(folder, lists[i], false);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		chip(folder, lists[i], true);
	return 0;
}
