/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine in front of the simulated device, in this process: a program of sim_* calls runs with
 * and without it. Records are checked while they come: every replayed dispatch has each pass once,
 * and the counter that all passes share says the same in each.
 */
#ifndef RETALLY_TESTS_UNIT_REPLAY_SIM_ENGINE_H
#define RETALLY_TESTS_UNIT_REPLAY_SIM_ENGINE_H

#include "replay/replay.h"
#include "runtime/sim/runtime_sim.h"
#include "source/sim/sim_device.h"
#include "tests/unit/sim/sim_test.h"

#define SIM_ENGINE_DISPATCHES 65536

struct sim_engine {
	/* Set before sim_engine_on. */
	uint32_t passes;
	struct replay_options options;
	struct runtime_sim_options runtime;
	uint32_t source_capabilities;
	bool no_restore; /* the control: nothing is put back */
	bool loses; /* the other control: device memory is not freed, so that something is left */

	/* What came out; read after sim_engine_off. */
	uint64_t replayed, live, declined, once, windows, notes, overflowed, no_restores;
	uint64_t programmed; /* calls of pass_begin */
	uint64_t bytes_restored, bytes_saved;
	char note[256], reason[256]; /* the last ones */
	char left[256]; /* what was there before sim_engine_on and is not the same now; "": nothing
			 */
	struct {
		uint64_t value; /* of the shared counter */
		uint32_t passes;
		bool replayed;
	} dispatches[SIM_ENGINE_DISPATCHES];
};

/* From now on devices that are opened have the engine in front. */
void sim_engine_on(struct sim_engine *e);
/* Ends it; checks that every replayed dispatch has all passes, and (but for `loses`) that device
 * memory, counters, stores, records, file descriptors and threads are as they were. Devices and
 * events made under the engine are closed before. */
void sim_engine_off(struct sim_engine *e);

#endif
