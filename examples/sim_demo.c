/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Monte-Carlo program on the simulated device, to try retally on any machine:
 *
 *   cc sim_demo.c -lretallysim -o sim_demo
 *   retally run --source sim -- ./sim_demo
 *
 * Walkers start from random seeds that lie in the device's memory and are advanced there, so that
 * running a kernel a second time without putting its memory back gives another result. Prints what
 * it found; the same in every run.
 *
 * usage: sim_demo [ROUNDS]
 */
#include <retally_sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WALKERS 16384u

static void check(int result, const char *what)
{
	if (result == SIM_OK)
		return;
	fprintf(stderr, "sim_demo: %s: %s (%s)\n", what, sim_error_text(), sim_result_name(result));
	exit(1);
}

static void launch(struct sim_queue *queue, const char *kernel, uint64_t a, uint64_t b, uint64_t c,
		   uint32_t n_arguments)
{
	const uint64_t arguments[] = {a, b, c};
	const struct sim_launch l = {.kernel = kernel,
				     .grid = {WALKERS / 64, 1, 1},
				     .block = {64, 1, 1},
				     .n_arguments = n_arguments,
				     .arguments = arguments};

	check(sim_launch(queue, &l), kernel);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8;
	static uint64_t seeds[WALKERS];
	static uint32_t bins[256];
	uint64_t state, sums, counts, result[2] = {0};
	struct sim_device *device;
	struct sim_queue *queue;
	unsigned fullest = 0;

	for (uint64_t i = 0; i < WALKERS; i++)
		seeds[i] = (i + 1) * 0x9e3779b97f4a7c15u;
	check(sim_open(0, &device), "sim_open");
	check(sim_queue_create(device, &queue), "sim_queue_create");
	check(sim_malloc(device, sizeof(seeds), &state), "sim_malloc");
	check(sim_malloc(device, sizeof(result), &sums), "sim_malloc");
	check(sim_malloc(device, sizeof(bins), &counts), "sim_malloc");
	check(sim_copy_in(queue, state, seeds, sizeof(seeds)), "sim_copy_in");
	check(sim_fill(queue, sums, 0, sizeof(result)), "sim_fill");
	check(sim_fill(queue, counts, 0, sizeof(bins)), "sim_fill");
	for (unsigned i = 0; i < rounds; i++) {
		launch(queue, "walk", state, sums, WALKERS, 3);
		launch(queue, "histogram", state, counts, WALKERS, 3);
		if (i % 4 == 3)
			check(sim_wait(device), "sim_wait");
	}
	check(sim_copy_out(queue, result, sums, sizeof(result)), "sim_copy_out");
	check(sim_copy_out(queue, bins, counts, sizeof(bins)), "sim_copy_out");
	check(sim_queue_wait(queue), "sim_queue_wait");
	for (unsigned i = 0; i < 256; i++)
		if (bins[i] > bins[fullest])
			fullest = i;
	printf("%u rounds of %u walkers: %llu steps, %llu escaped; %u bytes are %u\n", rounds,
	       WALKERS, (unsigned long long)result[0], (unsigned long long)result[1], bins[fullest],
	       fullest);
	check(sim_close(device), "sim_close");
	return 0;
}
