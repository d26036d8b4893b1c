/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the simulated device for tests of the command: sim_program ROUNDS HOW [ARGUMENT...].
 * Each round updates an array in place, adds two and walks; every fourth round waits. What it
 * computed goes to stdout as one number. HOW it ends:
 *
 *   return, exit, quick_exit, _exit   with status 7 (return: 0)
 *   kill     by SIGKILL with a window open         abort   by SIGABRT
 *   exec     by executing the rest of its arguments
 *   fork     a child launches, too; then as return
 *   range    as return; two rounds are marked "pair", and the second of them "inner" inside
 *   nvtx     the same, marked by NVTX
 *   named    as return; each round is a range that has the next argument as its name
 *   none     without opening a device
 *   groups   as return; of each kernel that updates or adds so many groups run as the argument says
 *   hold     waits for the end of its stdin with a window open, then as return
 */
#include "nvtx_marks.h"
#include "retally.h"
#include "simdev/retally_sim.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 4096u

static void check(int rc)
{
	if (rc == SIM_OK)
		return;
	fprintf(stderr, "sim_program: %s\n", sim_error_text());
	exit(9);
}

static void launch(struct sim_queue *q, const char *kernel, uint32_t groups, uint32_t n,
		   const uint64_t *arguments)
{
	struct sim_launch l = {.kernel = kernel,
			       .grid = {groups, 1, 1},
			       .block = {64, 1, 1},
			       .n_arguments = n,
			       .arguments = arguments};

	check(sim_launch(q, &l));
}

struct work {
	struct sim_device *device;
	struct sim_queue *queue;
	uint64_t a, b, c, state, tally;
	uint32_t groups; /* of N / 64 */
};

static void work_open(struct work *w)
{
	static uint32_t host[N];
	static uint64_t seeds[64];

	check(sim_open(0, &w->device));
	check(sim_queue_create(w->device, &w->queue));
	check(sim_malloc(w->device, sizeof(host), &w->a));
	check(sim_malloc(w->device, sizeof(host), &w->b));
	check(sim_malloc(w->device, sizeof(host), &w->c));
	check(sim_malloc(w->device, sizeof(seeds), &w->state));
	check(sim_malloc(w->device, 16, &w->tally));
	for (uint32_t i = 0; i < N; i++)
		host[i] = i;
	for (uint64_t i = 0; i < 64; i++)
		seeds[i] = i + 1;
	check(sim_copy_in(w->queue, w->a, host, sizeof(host)));
	check(sim_copy_in(w->queue, w->b, host, sizeof(host)));
	check(sim_copy_in(w->queue, w->state, seeds, sizeof(seeds)));
	check(sim_fill(w->queue, w->tally, 0, 16));
	check(sim_fill(w->queue, w->c, 0, sizeof(host)));
}

static void work_round(struct work *w, unsigned round)
{
	const uint64_t n = (uint64_t)w->groups * 64, update[] = {w->a, n},
		       add[] = {w->a, w->b, w->c, n}, walk[] = {w->state, w->tally, 64};

	launch(w->queue, "update", w->groups, 2, update);
	launch(w->queue, "vector_add", w->groups, 4, add);
	launch(w->queue, "walk", N / 64, 3, walk);
	if (round % 4 == 3)
		check(sim_queue_wait(w->queue));
}

static void work_print(struct work *w)
{
	static uint32_t host[N];
	uint64_t tally[2], sum = 0;

	check(sim_copy_out(w->queue, host, w->c, sizeof(host)));
	check(sim_copy_out(w->queue, tally, w->tally, sizeof(tally)));
	check(sim_queue_wait(w->queue));
	for (uint32_t i = 0; i < N; i++)
		sum = 31 * sum + host[i];
	printf("%llu %llu %llu\n", (unsigned long long)sum, (unsigned long long)tally[0],
	       (unsigned long long)tally[1]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	const char *how = argc > 2 ? argv[2] : "return";
	struct work w = {.groups = N / 64};
	char byte;

	if (!strcmp(how, "none")) {
		puts("nothing");
		return 0;
	}
	if (!strcmp(how, "groups") && argc > 3 && atoi(argv[3]) > 0 && atoi(argv[3]) <= (int)N / 64)
		w.groups = (uint32_t)atoi(argv[3]);
	work_open(&w);
	for (unsigned i = 0; i < rounds; i++) {
		bool marks = !strcmp(how, "range"), nvtx = !strcmp(how, "nvtx");
		bool named = !strcmp(how, "named") && argc > 3 + (int)i;

		if (marks && i % 2 == 0)
			RETALLY_BEGIN("pair");
		if (marks && i % 2)
			RETALLY_BEGIN("inner");
		if (nvtx)
			nvtx_marks_before(i);
		if (named)
			RETALLY_BEGIN(argv[3 + i]);
		work_round(&w, i);
		if (named) {
			check(sim_queue_wait(w.queue));
			RETALLY_END(argv[3 + i]);
		}
		if (nvtx)
			nvtx_marks_after(i);
		if (marks && i % 2) {
			RETALLY_END("inner");
			RETALLY_END("pair");
		}
	}
	work_print(&w);
	work_round(&w, 0); /* a window that only the end closes */
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "hold")) {
		puts("holding");
		fflush(stdout);
		while (read(0, &byte, 1) > 0)
			;
	}
	if (!strcmp(how, "exec") && argc > 3) {
		execv(argv[3], argv + 3);
		return 8;
	}
	if (!strcmp(how, "fork")) {
		int status = 0;
		pid_t child = fork();

		if (!child) { /* the device is the parent's: its own says no */
			uint64_t address;

			_exit(sim_malloc(w.device, 64, &address) == SIM_OK ? 0 : 3);
		}
		waitpid(child, &status, 0);
		printf("child %d\n", WEXITSTATUS(status));
	}
	check(sim_queue_wait(w.queue));
	check(sim_close(w.device));
	return 0;
}
