/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a counter of the simulated device travels in a plan; shared by both halves of the source. The
 * config is the counter's number in the device's table ("23"); a counter that is called `X[i]` is
 * instance i of its block, any other the sum over all. libc only, thread-safe.
 */
#ifndef RETALLY_SOURCE_SIM_ABI_H
#define RETALLY_SOURCE_SIM_ABI_H

#include "base/error.h"
#include "wire/plan.h"

#include <stdint.h>

#define SIM_ABI_ALL UINT32_MAX

/* RC_INVALID names the counter. */
int sim_abi_decode(const struct plan_counter *k, uint32_t *id_out, uint32_t *instance_out,
		   struct error *err);

#endif
