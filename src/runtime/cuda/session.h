/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the CUDA runtime share: one session per process, one struct cuda_context for
 * each context of the program. Contexts are never freed before the session ends, so that a thread
 * that still holds one is safe.
 */
#ifndef RETALLY_RUNTIME_CUDA_SESSION_H
#define RETALLY_RUNTIME_CUDA_SESSION_H

#include "replay/replay.h"
#include "runtime/common/memories.h"
#include "source/cuda/cuda_device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define CUDA_CONTEXTS_MAX 64
#define CUDA_STREAMS_MAX  256
#define CUDA_PASSED_MAX   256

struct cuda_function;
struct cuda_store;

/* A stream that got work since the device was last idle. */
struct cuda_stream {
	struct CUstream_st *stream;
	struct CUevent_st *event;
};

struct cuda_context {
	struct CUctx_st *context;
	int ordinal;
	uint32_t number; /* in the session */
	struct cuda_native native;
	struct cuda_clock clock;
	struct replay_device *device; /* NULL until the first launch */
	_Atomic bool opening;         /* a thread tries device_add; session lock */
	_Atomic bool opened;          /* it was tried */
	_Atomic bool gone;            /* destroyed by the program */
	_Atomic int reaches_pageable; /* pageable.c's */
	_Atomic uint64_t introduced;  /* memories.added when the engine knew all of the context */

	/* Streams that got work without the lock since the last drain; one more than fit: wait for
	 * all. */
	struct CUstream_st *_Atomic passed[CUDA_PASSED_MAX];
	_Atomic bool passed_overflow;
	/* All below: with the device's replay lock held. */
	struct CUstream_st *own; /* ours, non-blocking: copies and checks */
	bool own_busy;           /* copies on it were not waited for */
	struct CUmod_st *checks; /* our kernels */
	struct CUfunc_st *compare, *hash;
	cu_ptr scratch; /* device memory of our own for their results */
	size_t scratch_size;
	void *scratch_host; /* pinned */
	cu_ptr flush;       /* of our own, twice the L2; 0: not needed yet */
	size_t flush_size;
	struct cuda_store *free_stores;
	struct cuda_stream busy[CUDA_STREAMS_MAX];
	unsigned n_busy;
	bool busy_overflow; /* more streams than room: wait for the whole context */
};

struct cuda_session {
	struct replay *replay;
	struct cuda_driver driver;
	struct cuda_target target;
	struct cupti_subscriber *subscriber;
	void (*say)(void *data, const char *text);
	void (*mark)(void *data, const char *name, bool begins);
	void *user; /* data of both */
	_Atomic bool off;
	pthread_mutex_t lock;  /* of what follows; never held over a call of the driver */
	pthread_cond_t opened; /* a context was */
	_Atomic unsigned n_contexts;
	struct cuda_context contexts[CUDA_CONTEXTS_MAX];
	struct memories memories;
	/* Why nothing is replayed any more: memory that is not known can be anybody's. Static. */
	const char *_Atomic why_none;
	_Atomic int captures; /* streams being captured now */
};

extern struct cuda_session cuda_session;

/* True while this thread is inside our code: its driver calls are not the program's. */
extern _Thread_local bool cuda_inside __attribute__((tls_model("initial-exec")));

/* The context's record, made on first sight; NULL when there is no more room. */
struct cuda_context *cuda_session_context(struct CUctx_st *context);
/* Adds the engine's device for the context if that was not tried yet; the context is current. */
void cuda_session_open_device(struct cuda_context *c);

/* Work of the program or of a replay went to this stream. */
void cuda_drain_note(struct cuda_context *c, struct CUstream_st *stream);
/* The same without the lock. */
void cuda_drain_note_passed(struct cuda_context *c, struct CUstream_st *stream);
/* Without the lock, too: to any stream, so that the next drain waits for the whole context. */
void cuda_drain_note_all(struct cuda_context *c);
extern const struct runtime cuda_runtime;

#endif
