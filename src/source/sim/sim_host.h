/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host half of the sim source: what the command needs to plan for the simulated device. Blocks,
 * counters and metrics are data (data/chips/sim.yaml, data/metrics/sim); this half asks the
 * device's own table whether the plan schedules. The template for the host half of a new source.
 */
#ifndef RETALLY_SOURCE_SIM_HOST_H
#define RETALLY_SOURCE_SIM_HOST_H

#include "base/error.h"
#include "model/catalog.h"
#include "wire/plan.h"

/* The chip that `--source sim` means when no --chip is given. */
#define SIM_HOST_CHIP "sim"

/* Whether the data files say of blocks and counters what the device says: a slot too many here
 * would be a failed run there. RC_MISMATCH names the first difference. Counters that the user's own
 * files add are fine as long as the device has their number. */
int sim_host_check(const struct catalog *c, struct error *err);
/* Proof that every pass schedules, without a device. RC_NO_SLOT names the pass, the counter and the
 * cause. */
int sim_host_prove(const struct plan *plan, struct error *err);
/* For `retally list sources`: one sentence. */
const char *sim_host_explain(void);

#endif
