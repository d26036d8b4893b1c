/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HSA runtime for the replay engine: AMD GPUs, whatever launches on them (HIP, OpenCL, OpenMP).
 * It intercepts packets, above the interceptors of rocprofiler-sdk, so that each packet it writes
 * is a dispatch of its own to the SDK, with its own counters.
 *
 * The completion signal of a recorded dispatch is not the program's but ours; the program's is
 * decremented when the window is over. So nobody, no thread, callback or other queue, sees a kernel
 * as done whose passes are still to come. What the program could only get to know by such a signal
 * ends the window: its waits and loads of signals, its packets with signals, its copies. Should it
 * wait in a way that is not seen, a thread of ours ends the window soon.
 */
#ifndef RETALLY_RUNTIME_HSA_RUNTIME_H
#define RETALLY_RUNTIME_HSA_RUNTIME_H

#include "base/error.h"
#include "replay/replay.h"

#include <stdbool.h>

struct runtime_hsa_options {
	const struct source *source; /* NULL: nothing counts, for the reason `why` */
	const char *why;
	bool (*use)(void); /* a device comes up: may it be recorded? Any thread */
	/* One sentence for the user. */
	void (*say)(const char *text);
	bool alone; /* windows of one dispatch: they end as soon as it was submitted */
};

/* tables: what rocprofiler-sdk hands over for HSA. Patches them. RC_UNSUPPORTED: a runtime of
 * another kind; nothing was patched. Once per process. */
int runtime_hsa_attach(struct replay *replay, void **tables, uint64_t n,
		       const struct runtime_hsa_options *options, struct error *err);
/* Ends windows; from now on every call and packet goes straight on. false: a thread is still inside
 * the engine after a second. */
bool runtime_hsa_detach(void);
/* After replay_close. */
void runtime_hsa_release(void);
/* In a forked child. */
void runtime_hsa_abandon(void);

#endif
