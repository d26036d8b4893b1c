/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory the program has: address ranges, each with whom it belongs to. Lookups by address
 * are a binary search in a sorted array under a lock of their own, over which nobody else's code is
 * called but the visitors below, which must not come back here.
 */
#ifndef RETALLY_RUNTIME_COMMON_MEMORIES_H
#define RETALLY_RUNTIME_COMMON_MEMORIES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay_memory;

enum memory_kind {
	MEMORY_DEVICE,   /* only the device uses it while it works */
	MEMORY_MANAGED,  /* moves between device and host */
	MEMORY_HOST,     /* the host can use it at any time: pinned, registered, fine-grained */
	MEMORY_VARIABLE, /* of a module, on the device */
	MEMORY_FOREIGN,  /* of another process or API (HSA's: or mapped in several places) */
	MEMORY_SHARED,   /* kernels of several devices use it */
	MEMORY_GIVEN,    /* the program's own, given to another process or API as well, or mapped
			    in several places */
	MEMORY_ARRAY     /* has no address on the device: the runtime gives it one of its own */
};
struct program_memory {
	uint64_t address, size;
	enum memory_kind kind;
	uint64_t owner;      /* the runtime's number of the device or context */
	uint64_t module;     /* the runtime's, of MEMORY_VARIABLE; 0: nobody asks */
	uint64_t mapping_of; /* the runtime's: what was mapped there; 0: nothing, or unknown */
	struct replay_memory *known; /* to the engine; NULL: not yet */
};
struct memories {
	pthread_rwlock_t lock;
	struct program_memory *items; /* sorted by address, not overlapping */
	size_t n, room;
	_Atomic uint64_t added; /* how often: whoever saw this number has seen all of them */
};
typedef void memories_visitor(void *data, const struct program_memory *memory);

/* Forgets what overlaps (it was freed in a way that we did not see) and adds. What has no size or
 * no address is left out. False: out of memory. */
bool memories_add(struct memories *m, const struct program_memory *item);
/* Takes out the one that begins at the address. False: there is none. */
bool memories_take(struct memories *m, uint64_t address, struct program_memory *out);
/* Take out any that lies in the part, is of the owner, is of the module. False: no more. */
bool memories_take_in(struct memories *m, uint64_t address, uint64_t bytes,
		      struct program_memory *out);
bool memories_take_of_owner(struct memories *m, uint64_t owner, struct program_memory *out);
bool memories_take_of_module(struct memories *m, uint64_t module, struct program_memory *out);
/* The one that holds the address. */
bool memories_find(struct memories *m, uint64_t address, struct program_memory *out);
/* Calls visit for each 8-byte word of bytes that points into a memory. */
void memories_scan(struct memories *m, const void *bytes, size_t n, memories_visitor *visit,
		   void *data);
/* Calls visit for each memory of the owner, in the order of addresses. */
void memories_each(struct memories *m, uint64_t owner, memories_visitor *visit, void *data);
/* Make it MEMORY_GIVEN if the program alone has it: the one that holds the address, any that is a
 * mapping of that (not 0). With what it is now. False: there is none. */
bool memories_give(struct memories *m, uint64_t address, struct program_memory *out);
bool memories_give_mapping(struct memories *m, uint64_t mapping_of, struct program_memory *out);
/* Sets what the engine calls it. False: it is gone or has a name already. */
bool memories_name(struct memories *m, uint64_t address, struct replay_memory *known);
/* Makes the one that holds the address MEMORY_SHARED and nameless. *was_out: what it was, so that
 * the caller can tell the engine that it is gone. False: there is none, or it is shared already. */
bool memories_share(struct memories *m, uint64_t address, struct program_memory *was_out);
/* One of the owner that the engine does not know yet. */
bool memories_unknown(struct memories *m, uint64_t owner, struct program_memory *out);

#endif
