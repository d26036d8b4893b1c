/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA arrays that kernels may write, which is through surfaces alone: an array is a memory of the
 * program from its first surface to the last one's end. It has no address, so it is given one that
 * no memory of the device can have, and its contents are looked at as one piece, row after row and
 * slice after slice. Textures only read, and copies to arrays end the window.
 *
 * A kernel reaches the arrays whose surfaces are among its parameters; handles that lie in memory
 * are found as pointers are that lie there, by the engine's check of what else was written. Arrays
 * of surface references, and those that cannot be saved, are reached by every kernel.
 */
#ifndef RETALLY_RUNTIME_CUDA_ARRAYS_H
#define RETALLY_RUNTIME_CUDA_ARRAYS_H

#include "runtime/cuda/session.h"

/* Whether the address is that of an array. */
static inline bool cuda_array_is(uint64_t address)
{
	return address >> 56 == 0xa7;
}
/* Why its contents cannot be saved, static; NULL: they can. */
const char *cuda_array_why_not(uint64_t address);
/* Bytes of the array to or from where they lie one after the other, on the device or in pinned
 * memory. Ordered on the stream. */
cu_result cuda_array_copy(uint64_t address, uint64_t offset, uint64_t bytes, cu_ptr linear,
			  bool to_array, struct CUstream_st *stream);
/* Calls visit for each array that a kernel with these parameters reaches. */
void cuda_arrays_scan(struct cuda_context *c, const void *bytes, size_t n, memories_visitor *visit,
		      void *data);
/* The context goes. */
void cuda_arrays_forget(const struct cuda_context *c);

#endif
