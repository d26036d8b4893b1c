/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device half of the sim source: programs and reads the counters of the simulated device. It is
 * the template for the device half of a new source (docs/add-a-source.md). libc only; the device's
 * library is not linked: the runtime called "sim" hands a struct sim_tool_device over as `native`,
 * and the queues of struct source_unit are struct sim_queue.
 */
#ifndef RETALLY_SOURCE_SIM_DEVICE_H
#define RETALLY_SOURCE_SIM_DEVICE_H

#include "replay/source.h"

#include <stdbool.h>

/* What a real source knows about its hardware is chosen here, so that the engine is tested in every
 * case. Zero: counts between two places of a queue, one sum for each counter. */
struct source_sim_options {
	uint32_t capabilities; /* enum source_capability; SOURCE_NEEDS_DRAIN counts the device */
	bool per_instance;     /* a sample for each instance of the block, not their sum */
};

/* The source. Options (NULL: none) are for the whole process; set them before devices are opened.
 */
const struct source *source_sim(const struct source_sim_options *options);

#endif
