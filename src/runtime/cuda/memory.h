/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory the program has: address ranges of the unified address space, each with the context
 * it was made in. Lookups by address are a binary search in a sorted array under a lock of their
 * own; callers never hold that over a call of the driver.
 */
#ifndef RETALLY_RUNTIME_CUDA_MEMORY_H
#define RETALLY_RUNTIME_CUDA_MEMORY_H

#include "replay/runtime.h"
#include "source/cuda/cuda_driver_abi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct cuda_context;

enum cuda_memory_kind {
	CUDA_MEMORY_DEVICE,
	CUDA_MEMORY_MANAGED,
	CUDA_MEMORY_HOST,   /* pinned, or registered */
	CUDA_MEMORY_GLOBAL, /* a module's variable */
	CUDA_MEMORY_FOREIGN /* of another process or API: cannot be saved */
};
struct cuda_memory {
	cu_ptr address;
	size_t size;
	enum cuda_memory_kind kind;
	struct cuda_context *context;
	struct replay_memory *known; /* to the engine; NULL until its device is open */
};
struct cuda_memories {
	pthread_rwlock_t lock;
	struct cuda_memory *items; /* sorted by address, not overlapping */
	size_t n, room;
	_Atomic uint64_t
		added; /* how often one was: whoever saw this number has seen all of them */
};

/* Forgets what overlaps (the program freed it in a way that we did not see) and adds. False: out of
 * memory. */
bool cuda_memories_add(struct cuda_memories *m, const struct cuda_memory *item);
/* Takes out the one that begins at address. False: there is none. */
bool cuda_memories_take(struct cuda_memories *m, cu_ptr address, struct cuda_memory *out);
/* Takes out any of the context, or that lies in the part; false: no more. */
bool cuda_memories_take_of(struct cuda_memories *m, const struct cuda_context *context,
			   struct cuda_memory *out);
bool cuda_memories_take_in(struct cuda_memories *m, cu_ptr address, size_t size,
			   struct cuda_memory *out);
/* The one that holds the address. */
bool cuda_memories_find(struct cuda_memories *m, cu_ptr address, struct cuda_memory *out);
/* Finds all that the 8-byte words of bytes point into; calls visit once a word that does. */
void cuda_memories_scan(struct cuda_memories *m, const void *bytes, size_t n,
			void (*visit)(void *data, const struct cuda_memory *memory), void *data);
/* Sets what the engine calls it. False: it is gone or has a name already. */
bool cuda_memories_name(struct cuda_memories *m, cu_ptr address, struct replay_memory *known);
/* One of a context that the engine does not know yet. */
bool cuda_memories_unknown(struct cuda_memories *m, const struct cuda_context *context,
			   struct cuda_memory *out);

#endif
