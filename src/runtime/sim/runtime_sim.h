/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime of the simulated device, and the template for a new one (docs/add-a-source.md). It
 * intercepts the program's calls through the table that the device's library offers to tools
 * (simdev/retally_sim_tool.h), describes them to the replay engine, and carries out what the engine
 * asks for.
 *
 * One attachment per process. The entry that libretally.so exports for RETALLY_SIM_TOOL is
 *
 *   int retally_sim_tool(const struct sim_tools *tools, struct sim_api *api)
 *   {
 *           ... open the session and the engine ...
 *           return runtime_sim_attach(replay, tools, api, source, why, NULL, &err);
 *   }
 *
 * and at the end of the program, before replay_close: runtime_sim_detach().
 */
#ifndef RETALLY_RUNTIME_SIM_H
#define RETALLY_RUNTIME_SIM_H

#include "base/error.h"
#include "replay/replay.h"
#include "simdev/retally_sim_tool.h"

#include <stdbool.h>

/* What a real runtime finds out about its library is chosen here, so that the engine is tested both
 * ways. NULL or zero: everything the device can. */
struct runtime_sim_options {
	bool no_ordered_save; /* without RUNTIME_ORDERED_SAVE */
	bool no_device_store; /* without RUNTIME_DEVICE_STORE */
	bool no_tracking;     /* without RUNTIME_TRACKS_WRITES */
	bool no_order;        /* without RUNTIME_LAUNCH_KEEPS_ORDER */
	bool exact_reach; /* believe the device that a kernel touches nothing but its arguments */
	bool no_times;    /* device times are unknown */
};

/* Fills the table with ours and keeps tools, which must stay valid. Devices that the program opens
 * from now on are given to the engine with this source (NULL: with `why`, static, as the reason for
 * which nothing counts there). RC_EXISTS when attached already, RC_MISMATCH when the library is of
 * another version; then the table is as it was. */
int runtime_sim_attach(struct replay *replay, const struct sim_tools *tools, struct sim_api *api,
		       const struct source *source, const char *why,
		       const struct runtime_sim_options *options, struct error *err);
/* From now on every call goes straight to the library and the engine is not called any more.
 * false: a thread is still inside the engine after a second; then the engine must not be closed.
 * What the engine holds (devices, recorded operations, stores) stays valid until
 * runtime_sim_release. */
bool runtime_sim_detach(void);
/* After replay_close: frees what is left. Devices of the program may still be open. */
void runtime_sim_release(void);
/* What the engine and the program's calls have taken from this runtime and not given back. After
 * runtime_sim_release, when the program has destroyed its events, both are 0. */
struct runtime_sim_left {
	uint64_t stores;  /* that the engine has */
	uint64_t records; /* of operations */
};
void runtime_sim_left(struct runtime_sim_left *left_out);
/* In a forked child, beside replay_abandon: no lock is taken, no call made. */
void runtime_sim_abandon(void);

#endif
