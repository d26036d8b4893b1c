/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaying in place, in the program: with RETALLY_REPLAY (wire/replay_settings.h) the passes run
 * inside this one execution of the program. The session has the settings, the plan, the engine and
 * the spool of this process; the runtimes (replay_runtimes.c) bring devices to it.
 *
 * The spool is made when the first device or marked region comes up: of a shell script with a
 * hundred commands, only those that use a device leave a file. Windows end when the program returns
 * from main or calls exit or quick_exit; one that ends by _exit, by a signal or by executing
 * another program loses the window that is open then, and only that, because none of these may wait
 * or allocate. A forked child is not replayed when a device was up in its parent; it is forgotten
 * there without a call to anybody.
 *
 * Everything that fails is said once, recorded where that is possible, and leaves the program as it
 * is. Thread-safe from replay_session_use on.
 */
#ifndef RETALLY_INJECT_REPLAY_SESSION_H
#define RETALLY_INJECT_REPLAY_SESSION_H

#include "replay/replay.h"
#include "wire/plan.h"
#include "wire/replay_settings.h"

#include <stdbool.h>

/* In the constructor: whether RETALLY_REPLAY is in this environment. If so the process takes no
 * part in application replay, whether or not the settings are good. is_launcher: it stands aside.
 */
bool replay_session_start(char *const *envp, bool is_launcher);

/* The engine, or NULL: nothing is to be replayed here. It may be had before a device is up. */
struct replay *replay_session_engine(void);
const struct plan *replay_session_plan(void);
const struct replay_settings *replay_session_settings(void);
/* A device or a region comes up: from here on there is a spool, and the end of the program is
 * watched. false: collection is off in this process. */
bool replay_session_use(void);
/* Appends a record, from any thread; the type replay_append. */
int replay_session_append(void *unused, enum spool_type type, const void *a, size_t na,
			  const void *b, size_t nb, struct error *err);
/* The mapped front of the spool (SPOOL_LOG_AT bytes), NULL before replay_session_use. */
const void *replay_session_map(void);

/* Whether ranges of that name are chosen (--range). NULL: one without a name. */
bool replay_session_takes_range(const char *name);
/* Whether marks of the program matter: as units, or as a filter. */
bool replay_session_wants_marks(void);
/* A range of the program begins or ends, for its devices; from any thread. */
void replay_session_mark(const char *name, bool begins);

/* quick_exit does not tell its handlers the status. */
void replay_session_set_quick_status(int status);
/* _exit, in any process, maybe in a signal handler: the record of the end, without a window. */
void replay_session_stop(int status);

#endif
