/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory the program has, by address. Lookups are a binary search in a sorted array under a
 * lock of their own, which is not held over a call of anybody.
 */
#ifndef RETALLY_RUNTIME_HSA_MEMORY_H
#define RETALLY_RUNTIME_HSA_MEMORY_H

#include "replay/runtime.h"

#include <pthread.h>
#include <stdbool.h>

struct hsa_device;

enum hsa_memory_kind {
	HSA_MEMORY_DEVICE,   /* coarse-grained, on a GPU */
	HSA_MEMORY_HOST,     /* the host can use it at any time: fine-grained, pinned, kernarg */
	HSA_MEMORY_VARIABLE, /* of a module, on a GPU */
	HSA_MEMORY_FOREIGN   /* of another process, API, or mapped in several places */
};
struct hsa_memory {
	uint64_t address, size;
	enum hsa_memory_kind kind;
	uint64_t agent;              /* that owns it */
	uint64_t module;             /* of HSA_MEMORY_VARIABLE: the executable */
	struct replay_memory *known; /* to the engine; NULL: not yet */
};
struct hsa_memories {
	pthread_rwlock_t lock;
	struct hsa_memory *items; /* sorted by address, not overlapping */
	size_t n, room;
};

/* Forgets what overlaps and adds. False: no memory. */
bool hsa_memories_add(struct hsa_memories *m, const struct hsa_memory *item);
/* Takes out the one that begins at the address; false: there is none. */
bool hsa_memories_take(struct hsa_memories *m, uint64_t address, struct hsa_memory *out);
/* Takes out any that lies in the part, or (bytes 0) that is of the module; false: no more. */
bool hsa_memories_take_in(struct hsa_memories *m, uint64_t address, uint64_t bytes, uint64_t module,
			  struct hsa_memory *out);
bool hsa_memories_find(struct hsa_memories *m, uint64_t address, struct hsa_memory *out);
/* Calls visit for everything that an 8-byte word of bytes points into, and for the variables of the
 * module (0: of all modules) on that agent. */
void hsa_memories_scan(struct hsa_memories *m, const void *bytes, size_t n, uint64_t agent,
		       uint64_t module, void (*visit)(void *data, const struct hsa_memory *memory),
		       void *data);
void hsa_memories_name(struct hsa_memories *m, uint64_t address, struct replay_memory *known);
/* One of the agent that the engine does not know and can save. */
bool hsa_memories_unknown(struct hsa_memories *m, uint64_t agent, struct hsa_memory *out);

#endif
