/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for the device with a bound: see drain.c. The replay lock is held and the context
 * current. */
#ifndef RETALLY_RUNTIME_CUDA_DRAIN_H
#define RETALLY_RUNTIME_CUDA_DRAIN_H

#include "runtime/cuda/session.h"

/* CLOCK_MONOTONIC; any thread. */
uint64_t cuda_now_ns(void);
/* runtime.drain */
int cuda_drain(void *device, uint64_t bound_ns, struct error *err);
/* A stream is being destroyed: nothing is asked of it any more. */
void cuda_drain_forget(struct cuda_context *c, struct CUstream_st *stream);
/* RC_END when the context is lost for good, else RC_ERROR. */
int cuda_drain_fail(const char *what, cu_result result, struct error *err);

#endif
