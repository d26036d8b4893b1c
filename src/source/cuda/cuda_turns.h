/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that share a GPU take turns: its counters belong to one at a time. A file for each user
 * and GPU ("retally-gpu-UID-UUID" in $XDG_RUNTIME_DIR, else in /tmp) carries locks of fcntl, which
 * the kernel drops when their process ends, however it ends, and which a forked child does not
 * inherit. The file has no contents and stays. Processes of other users are not seen; with those
 * CUPTI's own refusal is all there is.
 *
 * Thread-safe. One struct for each GPU of this process; it is never freed.
 */
#ifndef RETALLY_SOURCE_CUDA_TURNS_H
#define RETALLY_SOURCE_CUDA_TURNS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct cuda_turns;

/* Makes this process known to the others of the GPU. RC_PERMISSION when the file is another user's,
 * a link, or open to others; an error of the system else: then the GPU is used without turns. */
int cuda_turns_open(const unsigned char uuid[16], struct cuda_turns **turns_out, struct error *err);
/* Waits for the turn, at most 30 s for each process that has it before, and 300 s in all: RC_BUSY
 * with the process that has it. May be taken several times, and is given as often. */
int cuda_turns_take(struct cuda_turns *t, struct error *err);
void cuda_turns_give(struct cuda_turns *t);
/* Whether another process of this user has the GPU open now, or may open it any time: in a rank of
 * a parallel job, which may wait for one that has not come so far. Costs one system call. */
bool cuda_turns_shared(const struct cuda_turns *t);
/* What was waited so far, over all GPUs. */
void cuda_turns_waited(uint64_t *ns_out, uint64_t *times_out);

#endif
