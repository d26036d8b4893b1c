/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtimes and sources that there are, and how they meet: nothing else of the injected object
 * knows their names. A source counts on a device when the plan has counters of it.
 */
#ifndef RETALLY_INJECT_REPLAY_RUNTIMES_H
#define RETALLY_INJECT_REPLAY_RUNTIMES_H

#include "base/error.h"
#include "replay/replay.h"

#include <stdbool.h>

/* At the start of the process, for runtimes that have to know the engine before the program's first
 * call. regions_only: devices are left alone. */
int replay_runtimes_attach(struct replay *engine, bool regions_only, struct error *err);
/* After that, in an object that is preloaded: for runtimes that are not asked to load us by every
 * library. opencl_layers: the program's OPENCL_LAYERS, or NULL. */
void replay_runtimes_take_calls(const char *opencl_layers);
/* Ends windows; from now on every call goes straight to the vendor. false: a thread is still inside
 * the engine, which must not be closed then. */
bool replay_runtimes_detach(void);
/* After replay_close. */
void replay_runtimes_release(void);
/* In a forked child. */
void replay_runtimes_abandon(void);

#endif
