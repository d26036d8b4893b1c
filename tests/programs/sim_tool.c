/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool for the simulated device that is nothing but runtime, source and engine: what
 * libretally.so does with it, without plans in files and spools. Its plan has as many passes as
 * SIM_TOOL_PASSES says (3), all with the same counters; SIM_TOOL_MODE is kernel, window (default)
 * or none; SIM_TOOL_PLAIN=1 takes every optional capability away; SIM_TOOL_LOSES=1 takes memory of
 * the device that it does not give back. At the end it writes to the file
 * SIM_TOOL_OUT what was counted: for each dispatch and pass the loads, iterations and the flags;
 * windows, declined dispatches and notes.
 */
#include "replay/replay.h"
#include "runtime/sim/runtime_sim.h"
#include "source/sim/sim_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSES_MAX 64

static struct plan_counter counters[] = {
	{"SEQ_LOADS", "sim", "SEQ", "count", 0, "3"},
	{"SEQ_ITERATIONS", "sim", "SEQ", "count", 0, "6"},
	{"DEV_DISPATCHES", "sim", "DEV", "count", 0, "41"},
};
static const uint32_t all[] = {0, 1, 2};
static struct plan_pass passes[PASSES_MAX];
static struct plan plan = {.n_counters = 3, .counters = counters, .passes = passes};
static struct replay *replay;
static FILE *out;
static const struct sim_tools *tools;
static struct sim_api next;

/* A tool with a leak, for the device's self-check. */
static int open_and_lose(uint32_t number, struct sim_device **device_out)
{
	uint64_t address;
	int rc = next.open(number, device_out);

	return rc ? rc : tools->tool_malloc(*device_out, 4096, &address);
}

static int append(void *data, enum spool_type type, const void *first, size_t n_first,
		  const void *second, size_t n_second, struct error *err)
{
	const struct spool_sample *s = second;

	(void)data;
	(void)n_first;
	(void)err;
	if (!out)
		return 0;
	if (type == SPOOL_KERNEL) {
		const struct spool_kernel *k = first;

		fprintf(out, "kernel %u %.*s\n", k->kernel, (int)n_second, (const char *)second);
	} else if (type == SPOOL_DISPATCH) {
		const struct spool_dispatch *x = first;

		fprintf(out, "dispatch %llu kernel %u pass %u flags %u times %d\n",
			(unsigned long long)x->dispatch, x->kernel, x->pass, x->flags,
			x->end_ns > x->begin_ns);
	} else if (type == SPOOL_SAMPLES) {
		const struct spool_samples *x = first;

		fprintf(out, "samples %llu pass %u", (unsigned long long)x->dispatch, x->pass);
		for (size_t i = 0; i < n_second / sizeof(*s); i++)
			fprintf(out, " %s=%llu/%u", counters[s[i].counter].name,
				(unsigned long long)s[i].value.u64, s[i].status);
		fputc('\n', out);
	} else if (type == SPOOL_WINDOW) {
		const struct spool_window *x = first;

		fprintf(out, "window %llu dispatches %u transfers %u passes %u ended %.*s\n",
			(unsigned long long)x->window, x->dispatches, x->transfers, x->passes,
			(int)n_second, (const char *)second);
	} else if (type == SPOOL_DECLINE) {
		const struct spool_decline *x = first;

		fprintf(out, "declined %llu of kernel %u: %.*s\n", (unsigned long long)x->count,
			x->kernel, (int)n_second, (const char *)second);
	} else if (type == SPOOL_NOTE) {
		fprintf(out, "note %.*s\n", (int)n_second, (const char *)second);
	}
	return 0;
}

static void finish(void)
{
	if (!replay)
		return;
	replay_boundary_all(replay, "exit");
	if (runtime_sim_detach()) {
		replay_close(replay);
		runtime_sim_release();
	}
	replay = NULL;
	if (out)
		fclose(out);
	out = NULL;
}

static uint32_t number(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

__attribute__((visibility("default"))) int retally_sim_tool(const struct sim_tools *tools,
							    struct sim_api *api);
int retally_sim_tool(const struct sim_tools *functions, struct sim_api *api)
{
	const char *mode = getenv("SIM_TOOL_MODE"), *path = getenv("SIM_TOOL_OUT");
	bool plain = number("SIM_TOOL_PLAIN", 0);
	const struct runtime_sim_options weak = {.no_ordered_save = true,
						 .no_device_store = true,
						 .no_tracking = true,
						 .no_order = true,
						 .no_times = true};
	const struct source_sim_options device = {.capabilities = SOURCE_NEEDS_DRAIN};
	struct replay_options o = {.mode = !mode || !strcmp(mode, "window") ? REPLAY_MODE_WINDOW
					   : !strcmp(mode, "kernel")        ? REPLAY_MODE_KERNEL
									    : REPLAY_MODE_NONE,
				   .window = number("SIM_TOOL_WINDOW", 0),
				   .drain_ns =
					   UINT64_C(1000000) * number("SIM_TOOL_DRAIN_MS", 300)};
	struct error err = {0};

	plan.n_passes = number("SIM_TOOL_PASSES", 3);
	if (!plan.n_passes || plan.n_passes > PASSES_MAX)
		return -1;
	for (uint32_t i = 0; i < plan.n_passes; i++)
		passes[i] = (struct plan_pass){3, all, "", ""};
	if (path)
		out = fopen(path, "we");
	if (replay_open(&replay, &o, &plan, append, NULL, &err) ||
	    runtime_sim_attach(replay, functions, api, source_sim(plain ? &device : NULL), NULL,
			       plain ? &weak : NULL, &err)) {
		fprintf(stderr, "sim_tool: %s\n", err.message);
		return -1;
	}
	tools = functions;
	next = *api;
	if (number("SIM_TOOL_LOSES", 0))
		api->open = open_and_lose;
	atexit(finish);
	return 0;
}
