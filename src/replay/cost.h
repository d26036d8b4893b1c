/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost model behind `--replay auto`: what counting the dispatches seen so far has cost in
 * windows, what it would have cost one by one or with one pass each, and which to go on with. A
 * pure function of the sums, so that it can be tested; times in ns of the host.
 */
#ifndef RETALLY_REPLAY_COST_H
#define RETALLY_REPLAY_COST_H

#include <stddef.h>
#include <stdint.h>

struct cost_sums {
	uint64_t windows;
	uint64_t dispatches;
	uint64_t executions;   /* counted, of whole windows */
	uint64_t kernels;      /* different ones among the dispatches */
	uint64_t live_ns;      /* the program's own run of the windows */
	uint64_t run_ns;       /* counted runs */
	uint64_t program_ns;   /* programming and reading counters */
	uint64_t memory_ns;    /* save, restore, check */
	uint64_t window_bytes; /* reach, each memory once a window */
	uint64_t kernel_bytes; /* reach, each memory once a dispatch */
};

enum cost_choice {
	COST_WAIT = 0, /* too little seen */
	COST_KERNEL,
	COST_WINDOW,
	COST_NONE,
};
/* passes: of the plan. why_out: one sentence. */
enum cost_choice cost_choose(const struct cost_sums *s, uint32_t passes, char *why_out,
			     size_t size);

#endif
