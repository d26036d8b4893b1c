/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing and hashing memory on the device, at its own speed, and emptying its L2 by reading. The
 * device is drained. */
#ifndef RETALLY_RUNTIME_CUDA_CHECKS_H
#define RETALLY_RUNTIME_CUDA_CHECKS_H

#include "runtime/cuda/session.h"

int cuda_check_compare(void *device, const struct runtime_memory *m, uint64_t offset,
		       uint64_t bytes, void *store, uint64_t store_offset, uint64_t chunk,
		       uint64_t *bitmap, struct error *err);
int cuda_check_hash(void *device, const struct runtime_memory *m, uint64_t *hash_out,
		    struct error *err);
/* runtime.flush: reads memory of our own, of twice the size of the L2. That was never written since
 * it got its first contents, so that what takes the place of the program's lines is clean: no
 * kernel pays for writing it back. Lines that the program made persist (an access policy) may stay.
 */
int cuda_check_flush(void *device, struct error *err);

#endif
