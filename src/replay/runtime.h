/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime, as the replay engine sees it: what launches work on a device and owns its memory. The
 * runtime intercepts the program's calls, describes them with the structs below and tells the
 * engine (replay/replay.h); the engine asks it to save, compare and restore memory and to launch
 * recorded work again through the callbacks of struct runtime.
 *
 * Words: *memory* is one allocation (or a root buffer, a module's variable...); an *operation* is a
 * dispatch or a transfer that the device carries out by itself (copy, fill), recorded so that it
 * can be done again; a *store* is memory of ours that holds saved contents. Stores must never come
 * from the program's allocator: that would change what its uninitialised memory holds.
 *
 * Whatever the program puts into a queue that later calls code of the host (callbacks) is bracketed
 * by replay_before and replay_after as well, as a transfer that cannot be recorded and reaches
 * nothing (RUNTIME_OP_REACH_EXACT): the engine's own waits would wait for it.
 *
 * Callbacks come with the replay lock of the device held, from whichever thread made the call that
 * the engine is serving; calls that the callbacks themselves make into the vendor's library must
 * not be intercepted again (the runtime has a guard per thread). They return 0, or a negative code
 * of base/error.h with one sentence. A failed copy may have copied a part; the engine copies again
 * from what it saved.
 */
#ifndef RETALLY_REPLAY_RUNTIME_H
#define RETALLY_REPLAY_RUNTIME_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum runtime_capability {
	/* save is ordered on the queue of the operation it precedes and does not wait; without it
	 * the engine drains the device first. */
	RUNTIME_ORDERED_SAVE = 1 << 0,
	/* Stores can be on the device (RUNTIME_STORE_DEVICE) as well as on the host. */
	RUNTIME_DEVICE_STORE = 1 << 1,
	/* changed is cheaper than reading all of the memory, once track was called. */
	RUNTIME_TRACKS_WRITES = 1 << 2,
	/* launch repeats the waits between queues, too, that the operation had when it was recorded
	 * (events). Without it the engine drains the device whenever the queue changes. */
	RUNTIME_LAUNCH_KEEPS_ORDER = 1 << 3,
};

enum runtime_memory_flag {
	/* Contents cannot be saved or put back (imported, shared with another process or device,
	 * pipes): a dispatch that reaches it is declined with memory->why. */
	RUNTIME_MEMORY_UNSAVABLE = 1 << 0,
	/* The host may read or write it at any time without a call (mapped, managed): a dispatch
	 * that reaches it is declined. */
	RUNTIME_MEMORY_HOST = 1 << 1,
	/* No dispatch can write it (by the language or the hardware, not by a hint). */
	RUNTIME_MEMORY_CONSTANT = 1 << 2,
	/* The host may use it without a call, and it is saved and put back all the same (managed):
	 * a dispatch that reaches it may wait for the host. */
	RUNTIME_MEMORY_MANAGED = 1 << 3,
	/* With RUNTIME_MEMORY_UNSAVABLE: it can be hashed all the same, so that a dispatch that
	 * writes it, and was not known to, is found. */
	RUNTIME_MEMORY_HASHED = 1 << 4,
};

struct replay_memory; /* the engine's record of one memory */

struct runtime_memory {
	uint64_t address; /* unique among the live memories of the device; what save etc. are given
			   */
	uint64_t size;    /* bytes */
	uint32_t flags;
	const char *why; /* of RUNTIME_MEMORY_UNSAVABLE; static */
	void *data;      /* the runtime's */
};

/* What an operation can reach. Certain facts only: a hint that a program can break is none. */
enum runtime_access {
	RUNTIME_MAY_READ_WRITE = 0,
	RUNTIME_ONLY_READS = 1 << 0,  /* guaranteed not to write */
	RUNTIME_ONLY_WRITES = 1 << 1, /* guaranteed not to read what was there before */
};
struct runtime_reach {
	struct replay_memory *memory;
	uint64_t offset, size; /* the part of it that can be reached; bytes */
	uint32_t access;       /* enum runtime_access */
};

enum runtime_op_kind {
	RUNTIME_DISPATCH = 1,
	RUNTIME_TRANSFER = 2, /* replayed with the window, never counted */
};
enum runtime_op_flag {
	/* It may wait for something the host does later (a pending user event, a flag): the engine
	 * must not wait for anything before it is launched. */
	RUNTIME_OP_NO_WAIT_BEFORE = 1 << 0,
	/* Must run exactly once; `why` says why (collective, device-side enqueue, ...). It is
	 * counted live with one pass where that is possible. */
	RUNTIME_OP_NEVER_REPLAY = 1 << 1,
	/* `reach` is complete by construction: no check for writes outside it is needed. */
	RUNTIME_OP_REACH_EXACT = 1 << 2,
	/* The dispatch is the launch of exactly one kernel. */
	RUNTIME_OP_ONE_KERNEL = 1 << 3,
	/* Nothing may be asked of the device now, for `why`: it is launched and declined. Goes with
	 * the first two. */
	RUNTIME_OP_LEAVE_ALONE = 1 << 4,
};
struct runtime_op {
	enum runtime_op_kind kind;
	uint32_t flags; /* enum runtime_op_flag */
	const char *why;
	uint64_t queue; /* number of the queue, unique on the device */
	void *queue_native;
	/* Of dispatches. The name is as the vendor gives it (mangled); it need not outlive the
	 * call. */
	const char *kernel;
	uint32_t grid[3], block[3]; /* in work-groups and work-items; 0: no meaning */
	uint32_t registers, shared_bytes;
	uint32_t n_reach;
	const struct runtime_reach *reach; /* of the caller; copied */
	/* What `launch` needs to do it again (arguments copied, sources copied). The engine owns it
	 * from replay_before on when that says so, and gives it back through op_release. NULL: it
	 * cannot be recorded; then the verdict is never REPLAY_RECORDED. */
	void *recorded;
};

/* The native object of a device whose work is done by threads of this process (an OpenCL CPU
 * device): a source that counts threads asks it which. */
struct runtime_threads {
	uint32_t size; /* sizeof(struct runtime_threads) of who filled it */
	void *data;
	/* Their ids, at most room of them; returns how many there are. 0: none of its own, the work
	 * is done in the thread that calls. May change from one window to the next. */
	uint32_t (*list)(void *data, int32_t *tids_out, uint32_t room);
};

enum runtime_store_kind {
	RUNTIME_STORE_DEVICE = 1,
	RUNTIME_STORE_HOST = 2
};

struct runtime {
	const char *name; /* "sim", "opencl", "cuda", "hsa" */
	uint32_t size;    /* sizeof(struct runtime) of who filled it */
	uint32_t capabilities;

	/* All queues of the device are idle and no callback of the program that the device
	 * triggered is running. RC_TIMEOUT after bound_ns (then nothing may be assumed). RC_END:
	 * the device is lost, and nothing runs on it any more. */
	int (*drain)(void *device, uint64_t bound_ns, struct error *err);
	/* A place for saved contents, from a pool that is kept warm. RC_NO_MEMORY, RC_NO_SPACE. */
	int (*store_get)(void *device, uint64_t bytes, enum runtime_store_kind kind,
			 void **store_out, struct error *err);
	void (*store_put)(void *device, void *store);
	/* Memory -> store. before: the operation that it must precede (ordered on its queue after
	 * everything it waits for), or NULL when the device is drained. */
	int (*save)(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		    void *store, uint64_t store_offset, const struct runtime_op *before,
		    struct error *err);
	/* Store -> memory; the device is drained; done, or ordered before the next launch, when it
	 * returns. */
	int (*restore)(void *device, const struct runtime_memory *m, uint64_t offset,
		       uint64_t bytes, void *store, uint64_t store_offset, struct error *err);
	/* Sets bit i of bitmap (cleared by the caller) when chunk i of the part differs from the
	 * store's chunk. The device is drained. The last chunk may be short. */
	int (*compare)(void *device, const struct runtime_memory *m, uint64_t offset,
		       uint64_t bytes, void *store, uint64_t store_offset, uint64_t chunk,
		       uint64_t *bitmap, struct error *err);
	/* A hash of the contents; the device is drained. */
	int (*hash)(void *device, const struct runtime_memory *m, uint64_t *hash_out,
		    struct error *err);
	/* RUNTIME_TRACKS_WRITES: from now on remember writes to the memory; and: bits of the chunks
	 * written since the last track or changed of it (a superset is fine). NULL otherwise. */
	int (*track)(void *device, const struct runtime_memory *m, struct error *err);
	int (*changed)(void *device, const struct runtime_memory *m, uint64_t chunk,
		       uint64_t *bitmap, struct error *err);
	/* Does a recorded operation again, with what it had when it was recorded, visible to the
	 * program in no way (no event, no callback, no output). Does not wait. */
	int (*launch)(void *device, void *recorded, struct error *err);
	/* Device times of the last launch of it, once drained; RC_UNSUPPORTED when unknown. May be
	 * NULL. CLOCK_MONOTONIC or the device's own clock, in ns. */
	int (*times)(void *device, void *recorded, uint64_t *begin_ns_out, uint64_t *end_ns_out,
		     struct error *err);
	void (*op_release)(void *device, void *recorded);
	/* May be NULL. The window of the operation was given up while the device may still run it:
	 * op_release follows when the device is idle. A runtime that holds something back until the
	 * window is over (a signal of the program) lets go of it here. */
	void (*op_parked)(void *device, void *recorded);
	/* May be NULL: the caches that the device's dispatches share cannot be emptied. Nothing of
	 * the program is left in them when it returns, nor anything that is still to be written.
	 * The device is drained. */
	int (*flush)(void *device, struct error *err);
	/* May be NULL. Around what a mark of the program makes the engine do, in the thread of the
	 * mark, which may have another device in hand and whose calls from here on are not the
	 * program's. false: the device cannot be used here now, and leave does not follow. */
	bool (*enter)(void *device);
	void (*leave)(void *device);
};

#endif
