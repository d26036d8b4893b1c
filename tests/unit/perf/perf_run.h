/* SPDX-License-Identifier: Apache-2.0 */
/* Counts a test program from outside, in the order that perf_device.h asks for. */
#ifndef RETALLY_TESTS_UNIT_PERF_RUN_H
#define RETALLY_TESTS_UNIT_PERF_RUN_H

#include "source/perf/perf_device.h"

#define RUN_COUNTERS_MAX 16

struct run {
	struct spool_sample samples[RUN_COUNTERS_MAX];
	uint32_t n;
	int status; /* of waitpid */
	uint64_t enabled, running;
	char why[256];
};

/* Path of a program of tests/programs in a static buffer. */
const char *run_program(const char *name);
/* Runs program with the space-separated arguments and counts the configurations. With hold the
 * program's first argument is `hold`, and breakpoints are set while it is stopped. Ends the test on
 * an error of the harness. */
void run_counted(const char *program, const char *arguments, bool hold, const char *const *configs,
		 uint32_t n, struct run *out);

#endif
