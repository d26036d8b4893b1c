/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks data and plans against the device's own table, as a source of a vendor asks the vendor's
 * library where that works without hardware.
 */
#include "source/sim/sim_host.h"

#include "simdev/counter_table.h"
#include "source/sim/sim_abi.h"

#include <string.h>

static int check_block(const struct sim_block *b, const struct catalog *c, struct error *err)
{
	uint32_t i = catalog_find_block(c, b->name);

	if (i == UINT32_MAX)
		return error_set(err, RC_MISMATCH,
				 "the simulated device has a block '%s' that its file leaves out",
				 b->name);
	if (c->blocks.items[i].slots != b->slots || c->blocks.items[i].instances != b->instances)
		return error_set(err, RC_MISMATCH,
				 "block '%s' has %u slots and %u instances in its file, but %u and "
				 "%u in the device",
				 b->name, c->blocks.items[i].slots, c->blocks.items[i].instances,
				 b->slots, b->instances);
	return 0;
}

static int check_counter(const struct counter *k, const struct catalog *c, struct error *err)
{
	struct plan_counter wire = {.name = k->name, .config = k->config};
	const struct sim_counter *own, *level = NULL;
	uint32_t id, instance, n;
	int rc = sim_abi_decode(&wire, &id, &instance, err);

	if (rc)
		return rc;
	own = sim_table_find(id);
	if (!own)
		return error_set(err, RC_MISMATCH,
				 "counter '%s': the simulated device has no counter %u", k->name,
				 id);
	if (k->block == BLOCK_NONE ||
	    strcmp(c->blocks.items[k->block].name, sim_table_blocks(&n)[own->block].name))
		return error_set(err, RC_MISMATCH, "counter '%s' is one of block %s in the device",
				 k->name, sim_table_blocks(&n)[own->block].name);
	if (own->level)
		level = sim_table_find(own->level);
	if (!level != (k->level == UINT32_MAX) || own->exclusive != k->exclusive)
		return error_set(err, RC_MISMATCH,
				 "counter '%s': what goes together with it is another thing in the "
				 "device",
				 k->name);
	return 0;
}

int sim_host_check(const struct catalog *c, struct error *err)
{
	uint32_t n;
	const struct sim_block *blocks = sim_table_blocks(&n);
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++)
		rc = check_block(&blocks[i], c, err);
	for (size_t i = 0; i < c->counters.n && !rc; i++)
		rc = check_counter(&c->counters.items[i], c, err);
	return rc;
}

static int prove_pass(const struct plan *plan, uint32_t pass, struct error *err)
{
	const struct plan_pass *p = &plan->passes[pass];
	uint32_t ids[SIM_SELECTED_MAX], n = 0, id, instance, j;
	char why[160];
	int rc;

	for (uint32_t i = 0; i < p->n_counters; i++) {
		const struct plan_counter *k = &plan->counters[p->counters[i]];

		if (strcmp(k->source, "sim"))
			continue;
		rc = sim_abi_decode(k, &id, &instance, err);
		if (rc)
			return rc;
		for (j = 0; j < n && ids[j] != id; j++)
			;
		if (j < n)
			continue;
		if (n == SIM_SELECTED_MAX)
			return error_set(err, RC_NO_SLOT, "pass %u: more than %d counters",
					 pass + 1, SIM_SELECTED_MAX);
		ids[n++] = id;
	}
	rc = sim_table_check(ids, n, why, sizeof(why));
	return rc ? error_set(err, RC_NO_SLOT, "pass %u does not schedule: %s", pass + 1, why) : 0;
}

int sim_host_prove(const struct plan *plan, struct error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < plan->n_passes && !rc; i++)
		rc = prove_pass(plan, i, err);
	return rc;
}

const char *sim_host_explain(void)
{
	return "chip 'sim', a device in software: to try plans and replay on any machine, and the "
	       "template for new sources";
}
