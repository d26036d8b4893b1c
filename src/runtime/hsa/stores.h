/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saved contents: memory of the GPU's own pool, or of a host pool when that is full. Copies are the
 * runtime's and are over when they return. Comparing and hashing read through a piece of host
 * memory: there is no code of ours on the device. All with the replay lock held, the device idle.
 */
#ifndef RETALLY_RUNTIME_HSA_STORES_H
#define RETALLY_RUNTIME_HSA_STORES_H

#include "runtime/hsa/session.h"

int hsa_store_get(void *device, uint64_t bytes, enum runtime_store_kind kind, void **store_out,
		  struct error *err);
void hsa_store_put(void *device, void *store);
int hsa_store_save(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		   void *store, uint64_t store_offset, const struct runtime_op *before,
		   struct error *err);
int hsa_store_restore(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		      void *store, uint64_t store_offset, struct error *err);
int hsa_store_compare(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		      void *store, uint64_t store_offset, uint64_t chunk, uint64_t *bitmap,
		      struct error *err);
int hsa_store_hash(void *device, const struct runtime_memory *m, uint64_t *hash_out,
		   struct error *err);
/* Unused pieces back to the runtime; everything, at the end (all). */
void hsa_store_trim(struct hsa_device *d, bool all);
bool hsa_store_holds(const struct hsa_device *d);

#endif
