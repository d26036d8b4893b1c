/* SPDX-License-Identifier: Apache-2.0 */
/* Fork, open, exec, hold, wait, read: what the supervisor does, in small. */
#include "perf_run.h"

#include "../test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const char *run_program(const char *name)
{
	static char path[4][1024];
	static int next;
	const char *folder = getenv("RETALLY_TEST_PROGRAMS");

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", folder ? folder : ".", name);
	return path[next];
}

static void start(const char *program, const char *arguments, bool hold, int gate)
{
	char *argv[16], *copy = strdup(arguments), *word, c;
	int n = 0;

	argv[n++] = strdup(program);
	if (hold)
		argv[n++] = strdup("hold");
	for (word = strtok(copy, " "); word && n < 15; word = strtok(NULL, " "))
		argv[n++] = word;
	argv[n] = NULL;
	if (read(gate, &c, 1) == 1)
		execv(program, argv);
	_exit(127);
}

void run_counted(const char *program, const char *arguments, bool hold, const char *const *configs,
		 uint32_t n, struct run *out)
{
	struct plan_counter counters[RUN_COUNTERS_MAX];
	uint32_t indices[RUN_COUNTERS_MAX];
	struct plan_pass pass = {.n_counters = n, .counters = indices, .reason = "", .config = ""};
	struct plan plan = {.n_counters = n, .counters = counters, .n_passes = 1, .passes = &pass};
	struct perf_device d;
	struct error err = {0};
	int gate[2], status;
	pid_t pid;

	memset(out, 0, sizeof(*out));
	assert_true(n <= RUN_COUNTERS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		counters[i] = (struct plan_counter){"counter", "perf", "", "count", 0, configs[i]};
		indices[i] = i;
	}
	assert_int_equal(pipe(gate), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(gate[1]);
		start(program, arguments, hold, gate[0]);
	}
	close(gate[0]);
	assert_int_equal(perf_device_open(&d, &plan, 1, pid, PERF_ON_EXEC | PERF_INHERIT, &err), 0);
	assert_int_equal(write(gate[1], "x", 1), 1);
	close(gate[1]);
	if (hold) {
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		assert_true(WIFSTOPPED(status));
		if (perf_device_needs_addresses(&plan, 1))
			assert_int_equal(perf_device_open_addresses(&d, &err), 0);
		kill(pid, SIGCONT);
	}
	assert_int_equal(waitpid(pid, &out->status, 0), pid);
	assert_int_equal(
		perf_device_read(&d, out->samples, &out->n, &out->enabled, &out->running, &err), 0);
	memcpy(out->why, d.why, sizeof(out->why));
	perf_device_close(&d);
}
