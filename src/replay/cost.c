/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model behind `--replay auto`. */
#include "replay/cost.h"

#include <stdio.h>

/* Enough is seen when any of these is reached. */
#define ENOUGH_WINDOWS    8u
#define ENOUGH_DISPATCHES 64u
#define ENOUGH_NS         2000000000ull
/* Replaying is given up for spreading when it costs so many times the program's own run, each
 * kernel comes often enough that spread passes fill up, and it is not the kernels themselves. */
#define TOO_SLOW 50u
#define OFTEN    2u

static double part(uint64_t of, uint64_t whole)
{
	return whole ? (double)of / (double)whole : 0.0;
}

enum cost_choice cost_choose(const struct cost_sums *s, uint32_t passes, char *why_out, size_t size)
{
	uint64_t spent = s->run_ns + s->program_ns + s->memory_ns;
	double each = part(s->dispatches, s->windows);
	double window, kernel, none, live;

	if (s->windows < ENOUGH_WINDOWS && s->dispatches < ENOUGH_DISPATCHES && spent < ENOUGH_NS)
		return COST_WAIT;
	if (!s->dispatches || !s->executions)
		return COST_WAIT;
	live = part(s->live_ns, s->dispatches);
	window = part(spent, s->dispatches);
	/* One by one the counters are programmed for each dispatch, and memory that several reach
	 * is saved and put back for each. */
	kernel = part(s->run_ns, s->dispatches) + part(s->program_ns, s->windows) +
		 part(s->memory_ns, s->dispatches) *
			 (s->window_bytes ? part(s->kernel_bytes, s->window_bytes) : 1.0);
	none = part(s->program_ns, s->executions) + part(s->run_ns, s->dispatches) / passes;
	if (passes > 1 && window > live * TOO_SLOW &&
	    s->dispatches >= s->kernels * passes * OFTEN && s->run_ns < spent / 10) {
		snprintf(why_out, size,
			 "auto: none, passes are spread over dispatches: replaying costs %.1f us a "
			 "dispatch, %.0f times the program's own run, and spreading %.1f us",
			 window / 1e3, live > 0 ? window / live : 0.0, none / 1e3);
		return COST_NONE;
	}
	if (each < 1.5) {
		/* To replay one by one would cost the same now, and more if longer windows come. */
		snprintf(why_out, size,
			 "auto: window, %.1f us a dispatch with all passes: %.1f dispatches lie "
			 "between two calls that end a window",
			 window / 1e3, each);
		return COST_WINDOW;
	}
	if (kernel < window) {
		snprintf(why_out, size,
			 "auto: kernel, %.1f us a dispatch with all passes, in windows of %.0f "
			 "%.1f us",
			 kernel / 1e3, each, window / 1e3);
		return COST_KERNEL;
	}
	snprintf(why_out, size,
		 "auto: window, %.1f us a dispatch with all passes in windows of %.0f, one by one "
		 "it would be about %.1f us",
		 window / 1e3, each, kernel / 1e3);
	return COST_WINDOW;
}
