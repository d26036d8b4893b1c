/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_plan FILE PASS...: writes a plan file for tests of what carries plans out, without the
 * planner. A PASS is a comma-separated list of counters: page-faults, task-clock, context-switches,
 * minor-faults, cpu-migrations, or NAME@OBJECT@OFFSET, a breakpoint at an offset of an object, or
 * NAME+OBJECT+OFFSET, a uprobe there; NAME=NUMBER is a counter of the simulated device.
 */
#include "base/str.h"
#include "wire/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *unit;
	int config;
} software[] = {{"cpu-clock", "ns", 0},         {"task-clock", "ns", 1},
		{"page-faults", "count", 2},    {"context-switches", "count", 3},
		{"cpu-migrations", "count", 4}, {"minor-faults", "count", 5}};

static struct plan plan;
static struct arena arena;

static uint32_t add_counter(char *name)
{
	struct plan_counter *c;
	char *object = strpbrk(name, "@+"), *offset = object ? strpbrk(object + 1, "@+") : NULL;
	char *number = strchr(name, '=');
	bool uprobe = object && *object == '+';

	for (uint32_t i = 0; i < plan.n_counters; i++)
		if (!strcmp(plan.counters[i].name, name))
			return i;
	c = &plan.counters[plan.n_counters];
	*c = (struct plan_counter){.source = "perf", .block = "", .unit = "count"};
	if (offset) {
		*object++ = *offset++ = '\0';
		c->config = arena_printf(&arena, "%s object=%s offset=%s",
					 uprobe ? "uprobe=entry" : "type=5 bp_type=x bp_len=8",
					 object, offset);
		c->block = uprobe ? "" : "breakpoint";
	}
	if (!offset && number) {
		*number++ = '\0';
		c->source = "sim";
		c->block = "DEV";
		c->config = number;
	}
	for (size_t i = 0; i < sizeof(software) / sizeof(*software); i++)
		if (!offset && !strcmp(name, software[i].name)) {
			c->config = arena_printf(&arena, "type=1 config=%d", software[i].config);
			c->unit = software[i].unit;
		}
	if (!c->config) {
		fprintf(stderr, "make_plan: unknown counter '%s'\n", name);
		exit(2);
	}
	c->name = name;
	return plan.n_counters++;
}

static void add_ascending(struct plan_pass *pass, uint32_t *counters, uint32_t counter)
{
	uint32_t i = pass->n_counters++;

	for (; i > 0 && counters[i - 1] > counter; i--)
		counters[i] = counters[i - 1];
	counters[i] = counter;
}

int main(int argc, char **argv)
{
	struct error err = {0};

	if (argc < 3)
		return 2;
	plan.chip = "test";
	plan.selection = "";
	plan.counters = arena_array(&arena, 1024, sizeof(*plan.counters));
	plan.passes = arena_array(&arena, (size_t)argc, sizeof(*plan.passes));
	for (int i = 2; i < argc; i++) {
		struct plan_pass *pass = &plan.passes[plan.n_passes++];
		uint32_t *counters = arena_array(&arena, 1024, sizeof(*counters));

		for (char *name = strtok(argv[i], ","); name; name = strtok(NULL, ","))
			add_ascending(pass, counters, add_counter(name));
		pass->counters = counters;
		pass->reason = "test";
		pass->config = "";
	}
	plan.lower_bound = plan.n_passes;
	if (plan_write_file(&plan, argv[1], &err)) {
		fprintf(stderr, "make_plan: %s\n", err.message);
		return 1;
	}
	return 0;
}
