/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marked regions of a process whose dispatches are replayed in place (docs/regions.md): in which
 * way they are counted there, and when their counters are opened.
 */
#ifndef RETALLY_INJECT_REGIONS_H
#define RETALLY_INJECT_REGIONS_H

#include "base/error.h"
#include "replay/replay.h"

#include <stdbool.h>

/* With the session's settings and plan, in the constructor, while there is one thread. */
int regions_attach(bool regions_only, struct error *err);
/* A mark comes: of a library that nobody knew of before. Thread-safe. */
void regions_meet_mark(void);
/* Of struct replay_options: what the engine does by itself is no part of a region. */
void regions_own(enum replay_own what);

#endif
