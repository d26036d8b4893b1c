/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks, counters and their values: the hardware manual of the simulated device. */
#include "simdev/counter_table.h"

#include <stdio.h>

enum {
	SEQ,
	L2,
	MEM,
	DEV
};
static const struct sim_block blocks[] = {
	[SEQ] = {"SEQ", 8, 2}, /* sequencers */
	[L2] = {"L2", 4, 4},   /* channels of the cache */
	[MEM] = {"MEM", 2, 2}, /* memory controllers; their registers are narrow */
	[DEV] = {"DEV", 3, 1}, /* the device as a whole */
};

/* data/metrics/sim names the same numbers; tests/unit/sim compares. */
static const struct sim_counter counters[] = {
	{1, "SEQ_GROUPS", SEQ, 64, 0, 0, 0},
	{2, "SEQ_ITEMS", SEQ, 64, 0, 0, 0},
	{3, "SEQ_LOADS", SEQ, 64, 0, 0, 0},
	{4, "SEQ_STORES", SEQ, 64, 0, 0, 0},
	{5, "SEQ_ATOMICS", SEQ, 64, 0, 0, 0},
	{6, "SEQ_ITERATIONS", SEQ, 64, 0, 0, 0},
	{7, "SEQ_INSTRUCTIONS", SEQ, 64, 0, 0, 0},
	{8, "SEQ_CYCLES", SEQ, 64, SIM_COUNTER_NOISY, 0, 0},
	{9, "SEQ_LEVEL_GROUPS", SEQ, 64, SIM_COUNTER_LEVEL, 0, 0},
	{10, "SEQ_LEVEL_GROUPS_ACCUM", SEQ, 64, SIM_COUNTER_ACCUMULATOR, 9, 0},
	{20, "L2_READS", L2, 64, 0, 0, 0},
	{21, "L2_WRITES", L2, 64, 0, 0, 0},
	{22, "L2_ATOMICS", L2, 64, 0, 0, 0},
	{23, "L2_READ_BYTES", L2, 64, 0, 0, 0},
	{24, "L2_WRITE_BYTES", L2, 64, 0, 0, 0},
	{25, "L2_HITS", L2, 64, 0, 0, 0},
	{26, "L2_MISSES", L2, 64, 0, 0, 0},
	{27, "L2_BUSY", L2, 64, SIM_COUNTER_NOISY, 0, 0},
	{30, "MEM_READ_BYTES", MEM, 32, 0, 0, 0},
	{31, "MEM_WRITE_BYTES", MEM, 32, 0, 0, 0},
	{32, "MEM_READS", MEM, 32, 0, 0, 0},
	{33, "MEM_WRITES", MEM, 32, 0, 0, 0},
	{34, "MEM_BUSY", MEM, 32, SIM_COUNTER_NOISY, 0, 0},
	{40, "DEV_CYCLES", DEV, 64, SIM_COUNTER_NOISY, 0, 0},
	{41, "DEV_DISPATCHES", DEV, 64, 0, 0, 0},
	/* One sampler, which looks either at loads or at stores. */
	{42, "DEV_SAMPLED_LOADS", DEV, 64, 0, 0, 1},
	{43, "DEV_SAMPLED_STORES", DEV, 64, 0, 0, 2},
};
#define N_BLOCKS   (uint32_t)(sizeof(blocks) / sizeof(*blocks))
#define N_COUNTERS (uint32_t)(sizeof(counters) / sizeof(*counters))

const struct sim_block *sim_table_blocks(uint32_t *n_out)
{
	*n_out = N_BLOCKS;
	return blocks;
}

const struct sim_counter *sim_table_counters(uint32_t *n_out)
{
	*n_out = N_COUNTERS;
	return counters;
}

const struct sim_counter *sim_table_find(uint32_t id)
{
	for (uint32_t i = 0; i < N_COUNTERS; i++)
		if (counters[i].id == id)
			return &counters[i];
	return NULL;
}

int sim_table_check(const uint32_t *ids, uint32_t n, char *why, size_t why_size)
{
	uint32_t taken[N_BLOCKS], exclusive = 0;
	const char *holder = "";

	for (uint32_t i = 0; i < N_BLOCKS; i++)
		taken[i] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct sim_counter *k = sim_table_find(ids[i]);

		if (!k) {
			snprintf(why, why_size, "there is no counter %u", ids[i]);
			return SIM_INVALID;
		}
		for (uint32_t j = 0; j < i; j++)
			if (ids[j] == ids[i]) {
				snprintf(why, why_size, "counter '%s' is selected twice", k->name);
				return SIM_INVALID;
			}
		if (++taken[k->block] > blocks[k->block].slots) {
			snprintf(why, why_size, "counter '%s' finds all %u slots of %s taken",
				 k->name, blocks[k->block].slots, blocks[k->block].name);
			return SIM_NO_SLOT;
		}
		if ((k->flags & SIM_COUNTER_ACCUMULATOR) && (!i || ids[i - 1] != k->level)) {
			snprintf(why, why_size,
				 "counter '%s' must follow the level counter that it adds up",
				 k->name);
			return SIM_CONFLICT;
		}
		if (k->exclusive && exclusive && k->exclusive != exclusive) {
			snprintf(why, why_size, "counters '%s' and '%s' exclude each other", holder,
				 k->name);
			return SIM_CONFLICT;
		}
		if (k->exclusive) {
			exclusive = k->exclusive;
			holder = k->name;
		}
	}
	return SIM_OK;
}

static uint64_t cycles(const struct sim_share *s)
{
	return 16 * s->groups + 4 * s->items + 2 * s->loads + 2 * s->stores + 8 * s->atomics +
	       s->iterations;
}

/* Of one part of the work. */
static uint64_t value(uint32_t id, const struct sim_share *s)
{
	uint64_t accesses = s->loads + s->stores;

	switch (id) {
	case 1:
	case 9:
		return s->groups;
	case 2:
		return s->items;
	case 3:
	case 20:
		return s->loads;
	case 4:
	case 21:
		return s->stores;
	case 5:
	case 22:
		return s->atomics;
	case 6:
		return s->iterations;
	case 7:
		return s->loads + s->stores + s->atomics + s->iterations;
	case 8:
	case 40:
		return cycles(s);
	case 10:
		return 3 * cycles(s); /* three groups in flight on average */
	case 23:
	case 30:
		return s->load_bytes;
	case 24:
	case 31:
		return s->store_bytes;
	case 25:
		return accesses - accesses / 4;
	case 26:
		return accesses / 4;
	case 27:
		return accesses + 4 * s->atomics;
	case 32:
		return (s->load_bytes + 63) / 64;
	case 33:
		return (s->store_bytes + 63) / 64;
	case 34:
		return (s->load_bytes + s->store_bytes) / 8;
	case 41:
		return s->dispatches;
	case 42:
		return s->loads / 16;
	case 43:
		return s->stores / 16;
	default:
		return 0;
	}
}

uint64_t sim_table_value(const struct sim_counter *k, uint32_t instance,
			 const struct sim_work *work)
{
	uint32_t instances = blocks[k->block].instances;
	uint64_t sum = 0;

	for (uint32_t s = instance; s < SIM_SHARES; s += instances)
		sum += value(k->id, &work->share[s]);
	return sum;
}
