/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source, as the replay engine sees it: where counts of one device come from.
 *
 * For each pass of a window the engine calls
 *
 *   pass_begin, then for every counted dispatch unit_begin, (the launch), unit_end, then pass_end,
 * then read for every unit
 *
 * or pass_abort at any point after pass_begin. Units of a pass are numbered from 0 in the order in
 * which they begin; they never nest or overlap unless the source says SOURCE_OVERLAP. All calls for
 * one device come from one thread at a time (the engine holds that device's replay lock); different
 * devices may be called at the same time. A callback may block no longer than the vendor's library
 * does; it must not call back into the engine.
 *
 * Errors: 0, or a negative code of base/error.h with one sentence. An error ends counting of the
 * window, never the program; after RC_END (the device's counters are gone for good) the engine does
 * not ask this source again on that device.
 */
#ifndef RETALLY_REPLAY_SOURCE_H
#define RETALLY_REPLAY_SOURCE_H

#include "base/error.h"
#include "wire/plan.h"
#include "wire/spool.h"

#include <stdint.h>

enum source_capability {
	/* Counts whatever runs between unit_begin and unit_end: the engine drains the device before
	 * both. Without it, unit_begin and unit_end are ordered on the queue of the dispatch like
	 * commands, and the engine drains once per pass. */
	SOURCE_NEEDS_DRAIN = 1 << 0,
	/* Units of different queues may overlap in time. */
	SOURCE_OVERLAP = 1 << 1,
	/* Programming the counters is dear: `auto` prefers windows to single dispatches. */
	SOURCE_DEAR_PASS = 1 << 2,
	/* The first execution after pass_begin differs from the later ones (page faults, code
	 * loading): the engine runs the window once uncounted before the first counted pass. */
	SOURCE_WANTS_WARM_UP = 1 << 3,
	/* While a pass is open the vendor's library runs the kernels of a device one after the
	 * other, so that one which waits for another would never end. Nothing is counted live
	 * beside work that does not drain, live passes are of one dispatch, and a kernel is counted
	 * live only after an uncounted dispatch of it ended by itself. */
	SOURCE_SERIALISES = 1 << 4,
};

/* What the units of a pass are. */
enum source_units {
	SOURCE_UNITS_ANY = 0, /* whatever runs between begin and end: a range, a graph */
	/* Each is the launch of one kernel, which may wait for something that the program does
	 * later. */
	SOURCE_UNITS_KERNELS,
	/* The same, and each ends whatever the program does meanwhile: the launch itself may wait
	 * for it without a bound, and then unit_end need not find the device drained. */
	SOURCE_UNITS_WAITED,
};

struct source_unit {
	uint32_t index;     /* in this pass, from 0 */
	uint64_t queue;     /* as the runtime numbers them */
	void *queue_native; /* the runtime's object, of a kind that the source knows from
			     * runtime.name; NULL when there is none */
};

struct source {
	const char *name; /* as in struct plan_counter: "sim", "perf", "cuda", "rocm" */
	uint32_t size;    /* sizeof(struct source) of who filled it */
	uint32_t capabilities;

	/* Takes the counters of a device. native is the device's object of the runtime called
	 * `runtime`. The plan outlives the device. RC_UNSUPPORTED, RC_DENIED, RC_BUSY... with the
	 * sentence the user reads. */
	int (*device_open)(void **device_out, const struct plan *plan, const char *runtime,
			   void *native, uint32_t device, struct error *err);
	/* Programs the counters of pass `pass` (from 1; of a plan with live groups also one of
	 * these, see plan_counted) with room for n_units units. */
	int (*pass_begin)(void *device, uint32_t pass, uint32_t n_units, struct error *err);
	int (*unit_begin)(void *device, const struct source_unit *unit, struct error *err);
	int (*unit_end)(void *device, const struct source_unit *unit, struct error *err);
	/* Everything launched has been drained. Afterwards the units can be read until the next
	 * pass_begin. */
	int (*pass_end)(void *device, struct error *err);
	/* The samples of one unit: every counter of the pass that belongs to this source, with a
	 * status each, several per counter when block instances are kept apart. Room for `room`;
	 * RC_NO_SPACE with *n_out = the number wanted. */
	int (*read)(void *device, uint32_t unit, struct spool_sample *samples_out, uint32_t room,
		    uint32_t *n_out, uint64_t *enabled_ns_out, uint64_t *running_ns_out,
		    struct error *err);
	/* Most samples read can give for one unit of any pass. */
	uint32_t (*room)(void *device);
	/* Stops counting and forgets the pass. Cannot fail. */
	void (*pass_abort)(void *device);
	void (*device_close)(void *device);
	/* Passes begin that follow each other with nothing of the program between them, or they are
	 * over: what is dear to start may go on meanwhile. May be NULL. */
	void (*series)(void *device, bool begins);
	/* Most units of one pass, because each takes memory; windows are no larger. May be NULL:
	 * any number. */
	uint32_t (*most_units)(void *device);
	/* Before each pass_begin: what its units are, the same for all passes of a window, and how
	 * many kernels of the runtime's own are launched before each of them. NULL: it makes no
	 * difference. */
	void (*expect)(void *device, enum source_units units, uint32_t own);
	/* Whether another process may want the counters: no pass stays open while the program goes
	 * on. NULL: never. */
	bool (*is_shared)(void *device);
	/* With expect: whether the pass has counters that only SOURCE_UNITS_WAITED gives. */
	bool (*needs_waiting)(void *device, uint32_t pass);
};

#endif
