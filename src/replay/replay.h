/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replay engine: how a runtime tells it what the program does. One engine per process.
 *
 * Pass 0 is the program's own execution, live and uncounted. The runtime brackets every launch:
 *
 *   verdict = replay_before(device, &op)    filter, decide, save what the operation may write
 *   the program's own launch, untouched
 *   replay_after(device, &op, launched)
 *
 * and calls replay_boundary before anything by which the host could see or change the device's
 * state. There the window ends: the device is drained with a bound, the counted passes run
 * (restore, count, launch), and memory ends as pass 0 left it. replay_before keeps the replay lock
 * of the device until replay_after of the same thread; launches of other threads wait for it, and
 * so do launches while passes run. No call of the engine fails towards the runtime: when something
 * inside goes wrong the operation is declined with a counted reason, or collection is disabled, and
 * the program goes on.
 *
 * Thread-safe. Lock order: one device's replay lock, then the record lock (spool). Never two
 * devices. After fork, the child must call replay_abandon and nothing else.
 */
#ifndef RETALLY_REPLAY_REPLAY_H
#define RETALLY_REPLAY_REPLAY_H

#include "base/error.h"
#include "replay/runtime.h"
#include "replay/source.h"
#include "wire/plan.h"
#include "wire/spool.h"

#include <stdbool.h>
#include <stdint.h>

enum replay_mode {
	REPLAY_MODE_AUTO = 0,
	REPLAY_MODE_KERNEL, /* windows of one dispatch */
	REPLAY_MODE_WINDOW,
	REPLAY_MODE_RANGE, /* marked ranges, one count for each */
	REPLAY_MODE_NONE,  /* passes are dealt over dispatches, nothing is replayed */
};
enum replay_verify {
	REPLAY_VERIFY_FIRST = 0, /* the first instances of a kernel, then a sample */
	REPLAY_VERIFY_ALWAYS,
	REPLAY_VERIFY_NEVER,
};

/* What the engine tells about its own work, to whom counts the program itself meanwhile. */
enum replay_own {
	REPLAY_OWN_BEGINS, /* this thread and the device work for us alone, nothing of the
			    * program's is under way there ... */
	REPLAY_OWN_ENDS,   /* ... until here, in the same thread; they nest */
	REPLAY_OWN_QUEUED, /* a save was put among the program's own commands */
};

struct replay_options {
	enum replay_mode mode;
	enum replay_verify verify;
	uint32_t window;       /* most dispatches of one; 0: the engine chooses */
	uint64_t max_snapshot; /* bytes of stores per device; 0: what fits */
	uint32_t repeat;       /* counted executions of each pass, 0 = 1 */
	uint64_t drain_ns;     /* bound of every wait for a device; 0: 10 s */
	/* Which dispatches: the filters -k, -s, -c, already parsed. match may be NULL (all). */
	bool (*match)(void *data, const char *kernel);
	void *match_data;
	bool only_in_ranges; /* and only those inside of a range that is marked */
	uint64_t skip;       /* matching dispatches left out at the start, per device */
	uint64_t count;      /* then so many are taken; 0: all */
	/* REPLAY_MODE_NONE: the pass of the n-th counted dispatch of a kernel is (offset + n) mod
	 * P, or drawn from seed when random. */
	bool random;
	uint64_t seed, offset;
	uint32_t until; /* of REPLAY_MODE_NONE: dispatches are left uncounted once their kernel's
			 * counters are known this well, in millionths of their means; 0: never */
	uint32_t only_pass; /* --pass K: 0 for all */
	bool flush;         /* the caches are emptied before each counted dispatch */
	/* May be NULL. With the replay lock held; it must not call the engine. */
	void (*own)(enum replay_own what);
	uint64_t chunk; /* bytes in which memory is compared and put back, a multiple of 64; 0:
			 * the engine chooses */
};

/* Where the engine puts what it measured. Called with the record lock held, one at a time, with
 * records of wire/spool.h. Returns 0 or a code: then collection is disabled. */
typedef int replay_append(void *data, enum spool_type type, const void *a, size_t na, const void *b,
			  size_t nb, struct error *err);

struct replay;
struct replay_device;

/* plan and the callbacks' data must outlive the engine. */
int replay_open(struct replay **replay_out, const struct replay_options *options,
		const struct plan *plan, replay_append *append, void *append_data,
		struct error *err);
/* A device. number: as shown to people, from 0. source may be NULL when none counts there: then
 * everything is live and declined with `why`. native: the runtime's object for source->device_open.
 */
int replay_device_add(struct replay *r, const struct runtime *runtime, void *runtime_device,
		      const struct source *source, void *native, uint32_t number, const char *why,
		      struct replay_device **device_out, struct error *err);

/* Memory comes and goes. _remove must follow a replay_boundary made before the program's free. The
 * returned record is valid until removed. NULL: no memory left; such an allocation makes what
 * reaches it declined. */
struct replay_memory *replay_memory_add(struct replay_device *d, const struct runtime_memory *m);
void replay_memory_remove(struct replay_device *d, struct replay_memory *m);
/* From now on others may write it, too: flags (enum runtime_memory_flag) are added, with `why` of
 * static storage. Follows a replay_boundary like _remove; what was saved of it is put back no more.
 */
void replay_memory_share(struct replay_device *d, struct replay_memory *m, uint32_t flags,
			 const char *why);
const struct runtime_memory *replay_memory_of(const struct replay_memory *m);

enum replay_verdict {
	REPLAY_LIVE = 0, /* launch it; the engine has no further interest; op.recorded stays the
			    caller's */
	REPLAY_RECORDED, /* launch it; the engine took op.recorded */
	REPLAY_COUNTED,  /* launch it; counted live; op.recorded stays the caller's */
};
/* Must be followed by replay_after in the same thread, whatever the verdict. launched: the
 * program's call succeeded. */
enum replay_verdict replay_before(struct replay_device *d, const struct runtime_op *op);
void replay_after(struct replay_device *d, const struct runtime_op *op, bool launched);

/* The cheap way past for dispatches that the filter of names leaves out: whether it does (the same
 * answer for a name every time, so that a runtime can remember it with the kernel) ... */
bool replay_matches(const struct replay *r, const char *kernel);
/* ... or whether all are left out now, because only those in marked ranges are wanted and none is
 * open ... */
bool replay_outside(const struct replay *r);
/* ... and whether nothing is going on that such a dispatch could disturb. True: launch it and call
 * replay_passed; no lock is taken. False: replay_before as always. Transfers may do the same. */
bool replay_pass_over(struct replay_device *d);
void replay_passed(struct replay_device *d);

/* Dispatches that the vendor's own library replays, in the place of replay_before and replay_after:
 * how often it is to execute this one, 0: once, without us. From there to replay_foreign_end, in
 * the same thread, the device is ours. n counts the executions from 0. _end: why it was not
 * counted, NULL: it was. */
uint32_t replay_foreign_begin(struct replay_device *d, const struct runtime_op *op);
int replay_foreign_pass_begin(struct replay_device *d, uint32_t n, struct error *err);
int replay_foreign_pass_end(struct replay_device *d, uint32_t n, struct error *err);
void replay_foreign_end(struct replay_device *d, const char *why);

/* Ends the window of the device. why: the name of the program's call, static ("clFinish"); counted
 * for the report. Does nothing fast when there is no open window (no lock, one load). */
void replay_boundary(struct replay_device *d, const char *why);
/* The same where the thread must not wait for another one (a callback of the vendor's library): if
 * somebody else has the device, its window is given up. */
void replay_boundary_no_wait(struct replay_device *d, const char *why);
/* Runs work(data) with the replay lock held: beside nothing that the engine does with the device.
 * It must not call the engine. False: the lock could not be had within options.drain_ns, and it was
 * not run. */
bool replay_with_lock(struct replay_device *d, void (*work)(void *data), void *data);
/* REPLAY_MODE_RANGE: from here on dispatches belong to the range `name`; NULL: to none. Every piece
 * of a range between two boundaries is one unit. Does nothing in the other modes. */
void replay_range(struct replay_device *d, const char *name);
/* The marks of a program, from any thread: replay_range for all devices, those that come up inside
 * a range as well. Ranges nest; dispatches belong to the innermost. In the other modes they matter
 * to only_in_ranges alone. */
void replay_range_begin(struct replay *r, const char *name);
void replay_range_end(struct replay *r, const char *name);
/* replay_boundary for all devices, e.g. at exit. */
void replay_boundary_all(struct replay *r, const char *why);

/* Collection stops for good: a note with the reason, open windows are dropped, memory is whole.
 * Safe from any thread that is not inside the engine. */
void replay_disable(struct replay *r, const char *reason);
bool replay_disabled(const struct replay *r);
/* Something that the user should know about how it was counted: a note of the spool. */
void replay_note(struct replay *r, const char *text);
/* The same, which only the report shows. */
void replay_note_detail(struct replay *r, const char *text);

/* Ends windows, writes the accounting records, frees. The runtimes must not call any more. */
void replay_close(struct replay *r);
/* In a forked child: forgets everything without a call to anybody. */
void replay_abandon(struct replay *r);

#endif
