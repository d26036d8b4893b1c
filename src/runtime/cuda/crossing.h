/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies from a stream of one context into memory of another. The other's windows must not be
 * replayed beside them: what is put back would be older than what arrives.
 */
#ifndef RETALLY_RUNTIME_CUDA_CROSSING_H
#define RETALLY_RUNTIME_CUDA_CROSSING_H

#include "runtime/cuda/session.h"

/* The stream got such work for `to`; NULL: for any of the others. Any thread, no lock. */
void cuda_crossing_note(struct cuda_context *from, struct cuda_context *to,
			struct CUstream_st *stream);
/* Waits until what others have under way for the context has arrived. RC_TIMEOUT after bound_ns
 * from now. With the context current and its replay lock held. */
int cuda_crossing_wait(struct cuda_context *to, uint64_t bound_ns, struct error *err);
/* The stream goes; what it has under way is taken for done. */
void cuda_crossing_forget(struct cuda_context *from, struct CUstream_st *stream);

#endif
