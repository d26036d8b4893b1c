/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the layer, from its own mappings: never from the program's allocator, whose pattern of
 * addresses and leftovers decides what the program's uninitialised memory holds.
 *
 * Small objects come in classes of powers of two and are kept for reuse. Stores (saved contents)
 * are mapped in whole huge pages, touched once, and kept warm up to a limit: the first touch of a
 * fresh GiB costs ten times its copy. Thread-safe.
 */
#ifndef RETALLY_RUNTIME_OPENCL_POOL_H
#define RETALLY_RUNTIME_OPENCL_POOL_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Zeroed; NULL when out of memory. */
void *pool_get(size_t bytes);
/* NULL is fine. */
void pool_put(void *object);

struct vendor_mem;
struct vendor_context;
struct store {
	unsigned char *bytes;
	size_t size;             /* that can be used */
	struct store *next;      /* free ones */
	struct vendor_mem *lent; /* a buffer object over it, for copies by the device; of the
				    runtime */
	struct vendor_context *lent_to;
};
/* Every page is present when it returns. RC_NO_MEMORY. */
int store_take(struct store **store_out, size_t bytes, struct error *err);
void store_give(struct store *s);
/* Unmaps what nobody uses. */
void store_trim(void);

#endif
