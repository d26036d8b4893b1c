/* SPDX-License-Identifier: Apache-2.0 */
/* What the plan tests share: a small plan that is always the same. */
#ifndef RETALLY_TESTS_PLAN_FIXTURE_H
#define RETALLY_TESTS_PLAN_FIXTURE_H

#include "../test.h"
#include "base/str.h"
#include "wire/plan.h"

static const uint32_t fixture_first[] = {0, 1}, fixture_second[] = {0, 2}, fixture_all[] = {1, 2};

static struct plan_counter fixture_counters[] = {
	{"cycles", "perf", "core", "count", PLAN_COUNTER_ANCHOR | PLAN_COUNTER_BASE, "type=0"},
	{"bp:main", "perf", "breakpoint", "count", 0, "type=5 \"quoted\" \\ and \n"},
	{"task-clock", "perf", "", "ns", PLAN_COUNTER_HIDDEN, ""},
};
static struct plan_pass fixture_passes[] = {
	{2, fixture_first, "core: 2 of 2 slots", ""},
	{2, fixture_second, "", "whole pass"},
};
static struct plan_live fixture_live[] = {
	{2, {1, fixture_second, "", ""}},
	{1, {2, fixture_first, "", ""}},
};
static struct plan_metric fixture_metrics[] = {
	{"calls", "Calls", "count", "`bp:main`", 1, fixture_first + 1, 1},
	{"rate", "Calls a second", "1/s", "`bp:main` / `task-clock`", 2, fixture_all, 0},
};
static struct plan_dropped fixture_dropped[] = {{"ipc", "no PMU on this machine"}};

static inline struct plan fixture_plan(void)
{
	return (struct plan){
		.chip = "this machine",
		.selection = "-e cycles,bp:main",
		.lower_bound = 2,
		.proven = true,
		.nodes = 42,
		.n_counters = 3,
		.counters = fixture_counters,
		.n_passes = 2,
		.passes = fixture_passes,
		.n_live = 2,
		.live = fixture_live,
		.n_metrics = 2,
		.metrics = fixture_metrics,
		.n_dropped = 1,
		.dropped = fixture_dropped,
	};
}

/* Makes a file of any content look unedited: appends the hash as the encoder does. */
static inline void fixture_seal(struct str *text)
{
	char hash[HASH_TEXT_SIZE];

	hash_text(str_text(text), text->size, hash);
	str_addf(text, "\"hash\": \"%s\"\n}\n", hash);
}

#endif
