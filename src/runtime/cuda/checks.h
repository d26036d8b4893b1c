/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing and hashing memory on the device, at its own speed. The device is drained. */
#ifndef RETALLY_RUNTIME_CUDA_CHECKS_H
#define RETALLY_RUNTIME_CUDA_CHECKS_H

#include "runtime/cuda/session.h"

int cuda_check_compare(void *device, const struct runtime_memory *m, uint64_t offset,
		       uint64_t bytes, void *store, uint64_t store_offset, uint64_t chunk,
		       uint64_t *bitmap, struct error *err);
int cuda_check_hash(void *device, const struct runtime_memory *m, uint64_t *hash_out,
		    struct error *err);

#endif
