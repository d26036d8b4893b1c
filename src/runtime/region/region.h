/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions: pieces of a CPU program between two marks (include/retally.h), counted by themselves.
 *
 * REGION_LIVE counts one pass of the plan as the program runs. REGION_RANGE counts all passes of
 * each outermost region in place: a forked child executes the region for every pass but the last,
 * and the last one is the program's own execution (docs/regions.md).
 *
 * REGION_TURNS counts each region as the program runs, in one pass of the plan: passes take turns.
 * It is for programs whose devices are replayed in place: region_pause keeps the replays out of
 * what is counted. REGION_NOTHING counts nothing: each region is declined by its name, with a
 * reason.
 *
 * What a region counts: entered by the program's first thread, everything that the process does
 * until its end, in all threads and child processes; entered by another thread, that thread and the
 * threads it starts in the region.
 *
 * There is one set of regions per process. The marks are thread-safe, may be called in a signal
 * handler (a mark that interrupts another one of the same thread is ignored, and said), and never
 * fail towards the program: whatever goes wrong becomes a sentence.
 *
 * Locks: one, of this module, held over the bookkeeping and over calls of `append`; no call of
 * anything else is made under it.
 */
#ifndef RETALLY_RUNTIME_REGION_REGION_H
#define RETALLY_RUNTIME_REGION_REGION_H

#include "base/error.h"
#include "replay/replay.h"
#include "source/perf/perf_device.h"
#include "wire/plan.h"

#include <stdbool.h>
#include <stdint.h>

enum region_mode {
	REGION_LIVE = 1,
	REGION_RANGE,
	REGION_TURNS,
	REGION_NOTHING,
};

struct region_options {
	enum region_mode mode;
	const struct plan *plan; /* outlives the regions */
	uint32_t pass;           /* the one that is counted, from 1; REGION_TURNS: 0 for all */
	/* REGION_TURNS: the n-th region of a name is counted in pass (offset + n) mod P, or in one
	 * drawn from seed when random. */
	bool random;
	uint64_t seed, offset;
	/* REGION_NOTHING: why; REGION_TURNS: why each is counted in one pass only, NULL: that needs
	 * no reason. Static. */
	const char *why;
	bool is_late; /* opened at the first mark: threads that ran before are not counted */
	/* REGION_LIVE: counters of the whole process, open, on, and inherited by threads; they
	 * outlive the regions. NULL: the module opens its own. */
	struct perf_device *process;
	replay_append *append; /* called with the lock held; see replay/replay.h */
	void *append_data;
	/* Called before the first region of the process: whether there is a place for records.
	 * NULL: there is. Idempotent and thread-safe. */
	bool (*use)(void);
	/* The only memory beside ours that may be writable and shared while a region is replayed:
	 * that of the spool. NULL: none. */
	const void *(*own_map)(void);
	size_t own_map_size;
	uint64_t limit_ns; /* bound of one replayed execution, or 10 times the longest of the
			    * program's own if that is more; 0: REGION_LIMIT_NS */
	uint64_t stall_ns; /* a replayed execution that makes no progress for so long waits for
			    * what does not exist there; 0: REGION_STALL_NS */
	/* Descriptors of counters are moved to numbers from here on, out of the program's way. */
	int least_fd;
};

#define REGION_LIMIT_NS (60ull * 1000 * 1000 * 1000)
#define REGION_STALL_NS (3ull * 1000 * 1000 * 1000)
/* From here on: of struct spool_kernel and struct spool_dispatch in the records of regions, so that
 * they meet no number of a replay engine that writes into the same spool. */
#define REGION_FIRST_KERNEL  0x40000000u
#define REGION_FIRST_ORDINAL (1ull << 40)
#define REGION_NAME_SIZE     1001 /* with its NUL; what is longer is cut */
#define REGION_NAMES_MAX     2048
#define REGION_DEPTH_MAX     64

/* Opens the counters and lets the marks in. To be called by the first thread, best before there is
 * a second one: threads that exist already are not counted by what is opened here. Counters that
 * cannot be opened get their status in the samples. */
int region_open(const struct region_options *options, struct error *err);
/* The marks; site and frame are return address and frame address of the exported function. */
void region_begin(const char *name, const void *site, const void *frame);
void region_end(const char *name, const void *site, const void *frame);
/* Writes what is left to be said, and shuts the marks out for good. `append` is not called any more
 * after the return. Does nothing when not open. Callable in a signal handler. */
void region_close(void);
/* No region begins from here on; those that are open end as ever. False: that was so already, or
 * there are none. Thread-safe. */
bool region_stop(void);
/* In a forked child of the program: the marks do nothing there. Closes the copies of descriptors.
 */
void region_abandon(void);
bool region_is_open(void);

/* REGION_TURNS; they do nothing in the other modes. Between pause and resume, of the same thread,
 * nothing that this thread and the devices' threads do is counted in a region, and the time is not
 * the region's: where the regions of the first thread count the whole process, what other threads
 * do meanwhile is not counted either, and that is said. They nest. */
void region_pause(void);
void region_resume(void);
/* Work of ours is carried out among the program's own, where it cannot be kept out: said. */
void region_contains(void);
/* A vendor's library has started threads that work for its devices, in this thread. */
void region_started_threads(void);
/* This process is a copy in which a region is replayed: it writes no records of its own, and its
 * end is not the program's. */
bool region_is_copy(void);

#endif
