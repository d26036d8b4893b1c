/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass: one child from fork to the end of its last descendant, with the counters of the pass
 * around it. An event loop, so that signals, the caller's death, stdin and time limits are served
 * whatever the program does.
 */
#ifndef RETALLY_LAUNCH_PASS_H
#define RETALLY_LAUNCH_PASS_H

#include "launch/record.h"
#include "launch/supervisor.h"

#include <stdbool.h>
#include <stdint.h>

struct pass_result {
	bool not_run; /* the program was not executed; why */
	struct error why;
	int exec_errno; /* not 0: neither was it, execve said this */
	int exit_code;
	int signal;       /* 0: exited */
	bool timed_out;   /* killed at the limit */
	bool cut_short;   /* killed because of a second Ctrl-C, because the caller is gone, or: */
	bool job_ended;   /* because another rank ended the job */
	bool job_goes_on; /* false: this rank's end or another's is that of the job */
	bool orphans_remain; /* processes of the first pass still run: no other pass may follow */
	struct record_times times;
	struct spool_sample *samples; /* owned; one per perf counter of the pass */
	uint32_t n_samples;
	uint64_t enabled_ns, running_ns;
};

/* streams[1], [2]: descriptors for stdout and stderr, -1 to keep; folder as in struct child.
 * limit_ns: 0 for none. The first pass of a launch is special as run.h says. */
void pass_run(struct supervisor *s, uint32_t pass, bool first, const int streams[3], int folder,
	      uint64_t limit_ns, struct pass_result *result_out);
void pass_result_release(struct pass_result *r);
/* While no program runs: serves signals, the caller and the manager until something happened or
 * until_ns. */
enum manager_idle pass_idle(struct supervisor *s, uint64_t until_ns);

uint64_t pass_now_ns(void); /* CLOCK_MONOTONIC */

#endif
