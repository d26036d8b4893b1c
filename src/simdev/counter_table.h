/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the simulated device counts: its blocks, its counters, which go together, and the value of
 * each as an exact function of the work that was done. Pure functions; also linked by the command,
 * to check a plan without a device.
 */
#ifndef RETALLY_SIMDEV_COUNTER_TABLE_H
#define RETALLY_SIMDEV_COUNTER_TABLE_H

#include "simdev/retally_sim_tool.h"

#include <stddef.h>
#include <stdint.h>

#define SIM_SHARES       4 /* work is kept in so many parts; group g belongs to part g mod 4 */
#define SIM_SELECTED_MAX 64

struct sim_share {
	uint64_t dispatches, groups, items, loads, stores, atomics, iterations;
	uint64_t load_bytes, store_bytes;
};
struct sim_work {
	struct sim_share share[SIM_SHARES];
};

const struct sim_block *sim_table_blocks(uint32_t *n_out);
const struct sim_counter *sim_table_counters(uint32_t *n_out);
const struct sim_counter *sim_table_find(uint32_t id); /* NULL */
/* Whether the counters can be programmed together, in this order: SIM_INVALID (unknown, or twice),
 * SIM_NO_SLOT, SIM_CONFLICT, with a sentence. */
int sim_table_check(const uint32_t *ids, uint32_t n, char *why, size_t why_size);
/* The count of one instance of the counter's block: part s belongs to instance s mod instances. */
uint64_t sim_table_value(const struct sim_counter *k, uint32_t instance,
			 const struct sim_work *work);

#endif
