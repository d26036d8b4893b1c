/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saved contents: a pool of device memory, and of pinned host memory when the device is full.
 * Pieces go back to the pool, because the driver's allocation is dearer than the copy; the program
 * gets them back when it needs the memory.
 */
#ifndef RETALLY_RUNTIME_CUDA_STORES_H
#define RETALLY_RUNTIME_CUDA_STORES_H

#include "runtime/cuda/session.h"

/* What stays free on the device when stores are taken, so that the program's next allocations do
 * not fail because of us. */
#define CUDA_STORE_RESERVE_MIN (512ull << 20)

int cuda_store_get(void *device, uint64_t bytes, enum runtime_store_kind kind, void **store_out,
		   struct error *err);
void cuda_store_put(void *device, void *store);
int cuda_store_save(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		    void *store, uint64_t store_offset, const struct runtime_op *before,
		    struct error *err);
int cuda_store_restore(void *device, const struct runtime_memory *m, uint64_t offset,
		       uint64_t bytes, void *store, uint64_t store_offset, struct error *err);
/* Where a store's bytes are, in the unified address space. */
cu_ptr cuda_store_address(const void *store);
/* Gives unused pieces back to the driver. */
void cuda_store_trim(struct cuda_context *c);

#endif
