/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA runtime for the replay engine: sees the program's driver calls through CUPTI's
 * callbacks, knows what memory there is, records launches and can do them again.
 *
 * Attached from InitializeInjection (CUDA_INJECTION64_PATH), when the driver is being initialised:
 * contexts, memory and modules are seen from the first one on. The device half of the source is
 * opened at the first launch in a context.
 */
#ifndef RETALLY_RUNTIME_CUDA_RUNTIME_H
#define RETALLY_RUNTIME_CUDA_RUNTIME_H

#include "base/error.h"
#include "replay/replay.h"

/* Once per process. replay outlives it. say, which may be NULL, gets one sentence for each thing
 * that the user should know (no counters on a device, ...); mark, which may be NULL, the ranges
 * that the program marks by calls of CUDA, to do with them what it does with other marks. On an
 * error nothing is attached and the program runs as it would. */
int runtime_cuda_attach(struct replay *replay, void (*say)(void *data, const char *text),
			void (*mark)(void *data, const char *name, bool begins), void *data,
			struct error *err);
/* Stops listening. After it, and a replay_boundary_all before it, replay_close is safe. */
void runtime_cuda_detach(void);
/* In a forked child: the driver is not usable there; nothing is called any more. */
void runtime_cuda_abandon(void);

#endif
