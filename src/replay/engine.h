/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the replay engine: its structs, and what its files offer each other. Nobody outside
 * src/replay includes this.
 *
 * Everything of a device is guarded by its replay lock (lock.c) unless said otherwise. A function
 * that takes the lock says so; all others want it held.
 */
#ifndef RETALLY_REPLAY_ENGINE_H
#define RETALLY_REPLAY_ENGINE_H

#include "base/moments.h"
#include "base/vec.h"
#include "replay/cost.h"
#include "replay/replay.h"

#include <pthread.h>
#include <stdatomic.h>

#define REPLAY_CHUNK      (64u << 10) /* see bench/results: compare and restore by this many bytes */
#define REPLAY_WINDOW     1024u
#define REPLAY_DRAIN_NS   10000000000ull
#define REPLAY_LIVE_ROOM  256u /* units of one live pass */
#define REPLAY_LIVE_KEPT  64u  /* the same, of a source that wants the device drained */
#define REPLAY_ALWAYS     2u   /* first instances of a kernel that are checked in full ... */
#define REPLAY_SAMPLE     64u  /* ... and then those of one window of so many */
#define REPLAY_CHECK_NS   1000000000ull /* a kernel is waited for so long before it is let go on */
#define REPLAY_GLANCE_NS  1u            /* for as long as an idle device takes to answer */
#define REPLAY_REASON_MAX 200u          /* bytes of a reason that came from a callback */
#define REPLAY_TROUBLES   3u /* windows of a kernel that may fail before it is not tried any more */
#define REPLAY_DECLARE    1024u /* declined dispatches that a killed program may lose */
#define REPLAY_RANGES     32u   /* open at the same time */
#define REPLAY_RANGE_NAME 512u  /* with its NUL; what is longer is cut */
#define REPLAY_REASONS    256u  /* different (kernel, reason) kept apart per device */

/* until.c: what is alike of a kernel, and how well it is known. */
struct kind_pass {
	uint64_t n, look; /* dispatches counted, and at how many it is looked at again */
	uint32_t good;    /* looks in a row at which it was known well enough */
	bool known;
};
struct kind {
	struct kind *next; /* of the kernel */
	uint32_t grid[3], block[3];
	uint32_t open;            /* passes that are not known */
	uint64_t counted;         /* dispatches, until it was known */
	uint64_t unwritten;       /* left out since, and in no record yet */
	struct kind_pass *passes; /* as replay_device.whole */
	struct moments *moments;  /* of the counters of each of these, one pass after the other */
};
struct unit_sum {
	double sum;
	bool any, bad;
};

struct kernel {
	char *name;
	uint64_t hash;
	uint32_t id;          /* in the spool */
	bool written;         /* its record is in the spool; record lock */
	bool wanted;          /* passes the filter of names */
	bool suspect;         /* was in a window that did not drain: alone from now on */
	bool undrainable;     /* alone, and did not drain */
	uint32_t troubles;    /* windows given up in a row */
	const char *given_up; /* why it is not replayed any more; of a decline */
	bool counted;         /* in sums.kernels */
	bool wide;            /* wrote outside its reach: reaches every memory */
	bool ends;            /* by itself: it did, while the program's thread waited */
	bool slow;            /* did not end soon enough for its check: alone until that is made */
	uint64_t windows;     /* that held it and were replayed */
	uint64_t checks;      /* instances whose reach was checked and found true */
	uint64_t live_n;      /* dispatches counted live */
	uint64_t mark;        /* generation of the window that holds it */
	struct kind *kinds;   /* with --until */
};

/* The engine's record of one memory. */
struct replay_memory {
	struct runtime_memory m;
	struct replay_memory *prev, *next;
	_Atomic bool gone; /* removed by a thread that could not have the lock */
	uint64_t mark; /* generation of the window that reaches it; the rest is of that window */
	uint32_t segments; /* first of its segments + 1, 0: none */
	bool whole;        /* one segment holds all of it */
	bool only_writes;  /* every operation of the window that can write it never reads it */
	/* Reach check: `hash` is of the contents in this window (hash_mark) before the operation of
	 * this number (hash_at). */
	uint64_t hash_mark, hash_at, hash;
	uint64_t reached; /* number of the last check whose operation reaches it */
	/* kept.c */
	void *kept;           /* store with its contents, outside of windows; NULL: none */
	uint64_t kept_strays; /* launches past the windows until then */
	uint64_t kept_window; /* device->windows then */
	uint32_t unchanged;   /* windows in a row that nothing wrote to it */
};

/* A saved part of a memory. Chunks are counted from its offset, which is a multiple of the chunk.
 */
struct segment {
	struct replay_memory *memory;
	uint64_t offset, bytes;
	uint32_t next; /* segment of the same memory + 1 */
	uint32_t n_chunks;
	uint32_t n_changed;
	bool tracked;
	bool touched; /* the window's own run wrote to it, perhaps what was there before */
	void *start;  /* store: contents at the start of the window */
	void *end;    /* store: the changed chunks, packed, as the window's own run left them */
	uint64_t *changed; /* by pass 0 */
	uint64_t *dirty;   /* changed by any execution so far: what a restore must put back */
};

struct window_op {
	void *recorded;
	struct kernel *kernel; /* NULL: a transfer */
	uint64_t ordinal;
	uint64_t queue;
	void *queue_native;
	uint32_t grid[3], block[3];
	uint32_t registers, shared_bytes;
	uint64_t live_begin_ns, live_end_ns;
};

/* One counted execution of one dispatch, until the window is over. */
struct unit_result {
	uint32_t pass, attempt;
	uint32_t op;
	uint32_t n_samples;
	size_t first_sample;
	uint64_t enabled_ns, running_ns;
	uint64_t begin_ns, end_ns;
};

struct window {
	bool open;
	struct kernel *checking; /* launched last; what it does not reach was hashed before */
	bool check_later;        /* not right after its launch, but when the window ends */
	uint64_t check_at;       /* number of its operation */
	bool unchecked;          /* something does not end: nothing more is waited for in it */
	bool varying;
	bool no_restore;
	bool learning;           /* holds a kernel that is checked because it is new */
	bool alone;              /* of a kernel that is watched: ends with the next operation */
	enum source_units units; /* what all of its dispatches are */
	uint64_t generation;     /* of this window, unique on the device, from 1 */
	uint64_t intrusions;     /* device->intrusions when it opened */
	uint64_t store_bytes;    /* of START and END */
	uint64_t kernel_bytes;   /* sum of what each dispatch reaches */
	VEC(struct window_op) ops;
	VEC(struct segment) segments;
	VEC(uint64_t) bits;
	VEC(struct unit_result) results;
	VEC(struct spool_sample) samples;
	struct spool_window account;
};

/* Dispatches counted as the program runs them, one pass each. */
struct live_unit {
	struct window_op op;
	bool failed;        /* the program's launch failed */
	const char *reason; /* why it is not replayed; NULL: nothing is */
};
struct live {
	bool open;
	bool unit_open;
	enum source_units units_are; /* of the open pass */
	uint32_t room, room_next;    /* units of this pass, and of the next one that is kept open */
	struct kernel *trying;       /* launched uncounted, to see whether it ends */
	bool held;                   /* its unit is open until the device is found idle */
	bool beside;                 /* something else was launched meanwhile */
	uint32_t pass;
	VEC(struct live_unit) units;
};

struct decline {
	struct kernel *kernel;
	char *reason;
	uint64_t hash;
	uint32_t instead;
	uint64_t count;
};

enum device_phase {
	PHASE_IDLE = 0, /* nothing to do at a boundary */
	PHASE_OPEN,     /* a window or a live pass is open, or something may still be running */
	PHASE_BUSY,     /* the engine uses the device's memory: nobody may launch */
};

struct replay_device {
	struct replay *replay;
	struct replay_device *next;
	const struct runtime *runtime;
	void *runtime_device;
	const struct source *source;
	void *source_device;
	uint32_t number;

	/* lock.c */
	pthread_mutex_t lock;
	_Atomic(uintptr_t) owner; /* thread that holds it */
	_Atomic int phase;
	_Atomic uint32_t intruding;  /* threads between before and after without the lock */
	_Atomic uint64_t intrusions; /* that there have been */
	_Atomic uint64_t unlocked_dispatches; /* launched by intruders */
	_Atomic uint64_t
		strays; /* operations outside of windows that may write later than launched */
	uint32_t nested;

	const char *dead; /* why nothing is done here any more; NULL: alive */
	char dead_text[REPLAY_REASON_MAX];
	bool hung; /* lost to us because it never became idle: it still runs what we launched */
	bool source_gone;  /* the source said that its counters are gone for good */
	bool lost;         /* the device itself: no callback that touches it is called any more */
	bool told_untimed; /* a note says that times of some kernels are not known */
	enum replay_mode mode;
	uint64_t chunk;
	uint32_t room;        /* samples of one unit */
	uint32_t most_units;  /* of one pass */
	VEC(uint32_t) passes; /* numbers of those with a counter of this source */
	/* Numbers of what means something by itself: of these passes, and the plan's live groups
	 * (plan_counted). */
	VEC(uint32_t) whole;
	size_t n_alone;        /* of whole, the passes */
	bool told_replay_only; /* a note has the counters that are in none of whole */

	VEC(struct kernel *) kernels; /* open addressing */
	size_t n_kernels;
	struct kernel *last; /* looked up */
	struct replay_memory *memories;
	VEC(struct replay_memory *) spare;
	uint64_t matched; /* dispatches that passed the filter of names */
	uint64_t windows, generation;
	uint64_t operations;  /* launched by the program with the lock held */
	uint64_t checks;      /* of reaches begun */
	uint32_t outstanding; /* undrainable ones launched since the device was last idle */
	uint32_t once;        /* the same, of those that must run exactly once */
	bool before_is_taken; /* replay_before recorded the operation */
	VEC(void *) parked_stores, parked_ops; /* in use until the device drains */
	struct window window;
	struct live live;
	VEC(struct decline) declines;
	uint64_t undeclared; /* dispatches in it that no record has yet ... */
	uint64_t declare_at; /* ... written with the next window, or when they are so many */
	VEC(uint64_t) scratch;
	uint64_t kept_bytes;   /* of stores that are kept outside of windows */
	struct cost_sums sums; /* for auto */
	bool decided;
	struct kernel *range; /* the open one; REPLAY_MODE_RANGE */
	uint32_t n_kinds;
	VEC(struct unit_sum) unit_sums; /* scratch of until.c: room for the counters of any pass */
};

struct replay {
	struct replay_options options;
	const struct plan *plan;
	replay_append *append;
	void *append_data;
	pthread_mutex_t record_lock;
	_Atomic(struct replay_device *) devices;
	_Atomic bool disabled, abandoned;
	pthread_mutex_t range_lock; /* of the marked ranges that are open */
	_Atomic uint32_t n_ranges;  /* may be more than have a place */
	char ranges[REPLAY_RANGES][REPLAY_RANGE_NAME];
	_Atomic uint64_t ordinals, window_ordinals;
	_Atomic uint32_t kernel_ids;
	bool append_failed;
	bool *divided; /* with --until, by counter: it is in a metric of several */
};

uint64_t replay_now(void); /* CLOCK_MONOTONIC, ns */

/* ---- lock.c ---- */
/* True: the lock is held. False: it could not be had in time (may_wait) or at once, and the thread
 * goes on without it: counted as an intruder until device_intruder_leaves. Never false while the
 * phase is PHASE_BUSY. */
bool device_enter(struct replay_device *d, bool may_wait);
void device_leave(struct replay_device *d);
void device_intruder_leaves(struct replay_device *d);
bool device_is_mine(const struct replay_device *d);
/* PHASE_BUSY, if no intruder is there and, for a window, none has been since it opened. */
bool device_busy(struct replay_device *d);
/* Before a wait for work of the program, which may need an intruder to end. */
void device_not_busy(struct replay_device *d);
/* The phase that the state of the device calls for. */
void device_settle_phase(struct replay_device *d);

/* ---- range.c ---- */
/* The marked range that dispatches belong to now; false: none. No lock of a device is needed. */
bool range_current(struct replay *r, char name_out[REPLAY_RANGE_NAME]);

/* ---- kernel.c ---- */
/* NULL: no memory. */
struct kernel *kernel_find(struct replay_device *d, const char *name);
/* A note with their names when there are kernels, and all of them are filtered out. */
void kernels_note_unwanted(struct replay_device *d);
void kernels_release(struct replay_device *d);

/* ---- device.c ---- */
/* Drains; on success what was parked is given back. bound_ns 0: the option's. */
int device_drain(struct replay_device *d, uint64_t bound_ns, struct error *err);
/* The caches empty, if that was asked for; the device is drained. */
int device_flush(struct replay_device *d, struct error *err);
/* Tells what the engine itself does. */
void device_own(const struct replay_device *d, enum replay_own what);
/* The end of a device: a note, and everything is live from now on. lost: it must not be touched. */
void device_kill(struct replay_device *d, bool lost, const char *why);
/* Kills the device if code says that it is lost. */
bool device_check_lost(struct replay_device *d, int code, const struct error *err);
/* What the dispatch is for the source, if that makes a difference to it. */
enum source_units device_units(struct replay_device *d, const struct runtime_op *op,
			       const struct kernel *k);
/* Tells the source what the units of the coming pass are. */
void device_expect(struct replay_device *d, uint32_t pass, enum source_units units);
/* Whether the source wants the device drained around such units. */
bool device_drains_around(const struct replay_device *d, enum source_units units);
void device_park_store(struct replay_device *d, void *store);
void device_park_op(struct replay_device *d, void *recorded);
void device_unpark(struct replay_device *d);
/* The same when the device is lost and what was under way on it is over. */
void device_unpark_lost(struct replay_device *d);

/* ---- snapshot.c, restore.c ---- */
/* Saves what is not saved yet of the part. RC_NO_SPACE and RC_NO_MEMORY: no room for it. */
int snapshot_save(struct replay_device *d, struct replay_memory *m, uint64_t offset, uint64_t size,
		  const struct runtime_op *op, struct error *err);
/* After the window's own run, drained: the write set, and its END image. */
int snapshot_end(struct replay_device *d, struct error *err);
bool snapshot_has(const struct replay_device *d, const struct replay_memory *m, uint64_t offset,
		  uint64_t size);
int snapshot_restore_start(struct replay_device *d, struct error *err);
/* Compares memory with what the window's own run left; adds what differs to the dirty chunks. */
int snapshot_check(struct replay_device *d, bool *differs_out, struct error *err);
/* Memory as the window's own run left it. all: also where it is not known to differ. */
int snapshot_restore_end(struct replay_device *d, bool all, struct error *err);
bool snapshot_needs_restore(const struct replay_device *d);
/* Gives the stores back; parked: the device may still be writing to them. */
void snapshot_forget(struct replay_device *d, bool parked);

/* ---- kept.c ---- */
/* The saved contents of a memory that are still right, now the caller's; NULL: it must be saved. */
void *kept_take(struct replay_device *d, struct replay_memory *m);
/* The window was replayed and the device is drained: START stores of what it did not write stay. */
void kept_learn(struct replay_device *d);
void kept_forget(struct replay_device *d, struct replay_memory *m);
/* false: there was nothing to forget. */
bool kept_forget_all(struct replay_device *d);

/* ---- verify.c ---- */
bool verify_wants(const struct replay_device *d, const struct runtime_op *op,
		  const struct kernel *k);
/* Before the operation: the device is drained and ours. */
int verify_begin(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		 struct error *err);
/* The same after it. 1: something outside its reach was written, and the kernel is wide now. */
int verify_end(struct replay_device *d, struct error *err);
/* The program's launch was made: checks what can be checked now. */
void verify_after(struct replay_device *d, bool launched);
/* Something else is launched before the check could be made. */
void verify_forget(struct replay_device *d);

/* ---- reach.c; k: NULL for transfers ---- */
/* 0, or a code with the reason why what the operation can write cannot be saved. */
int reach_check(struct replay_device *d, const struct runtime_op *op, const struct kernel *k,
		struct error *err);
bool reach_is_saved(struct replay_device *d, const struct runtime_op *op, const struct kernel *k);
/* Nobody but the device uses what it reaches. */
bool reach_is_private(struct replay_device *d, const struct runtime_op *op, const struct kernel *k);
void reach_mark(struct replay_device *d, const struct runtime_op *op, const struct kernel *k);
int reach_save(struct replay_device *d, const struct runtime_op *op, const struct kernel *k,
	       struct error *err);
/* Marks what it reaches with the number of the check. */
void reach_mark_check(struct replay_device *d, const struct runtime_op *op, const struct kernel *k);
/* Whether it can write what the window reaches. */
bool reach_touches_window(struct replay_device *d, const struct runtime_op *op,
			  const struct kernel *k);

/* ---- decide.c ---- */
/* A dispatch comes: its number, its kernel, and whether the filters take it. */
bool decide_wanted(struct replay_device *d, const struct runtime_op *op, struct kernel **kernel_out,
		   uint64_t *ordinal_out);

/* ---- passes.c ---- */
/* The counts of a unit of the pass that just ended, kept with the window's results. */
int passes_read_unit(struct replay_device *d, size_t op_index, uint32_t unit, uint32_t pass,
		     uint32_t attempt, struct error *err);

/* ---- window.c ---- */
/* What is kept of an operation, without what it recorded. */
struct window_op window_op_of(const struct runtime_op *op, struct kernel *k, uint64_t ordinal);
/* Records the operation: 0, or a code with the reason why not. The window may have been ended (and
 * a new one opened) when it returns. */
int window_take(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		uint64_t ordinal, struct error *err);
/* An operation is about to be launched that is not in the window: ends or drops it if need be. */
void window_stand_aside(struct replay_device *d, const struct runtime_op *op,
			const struct kernel *k);
/* Ends the window: drains, replays, records. */
void window_end(struct replay_device *d, const char *why);
/* Gives it up: its dispatches ran and are not counted. why: the reason; parked: still running. */
void window_drop(struct replay_device *d, const char *why, bool parked);
/* The last recorded operation was not launched after all. */
void window_untake(struct replay_device *d);

/* ---- passes.c ---- */
/* All counted passes of the window; results and samples are filled. On return (also an error) the
 * memory is as the window's own run left it, or the device was killed. */
int passes_run(struct replay_device *d, struct error *err);

/* ---- live.c ---- */
/* Opens a unit around the operation about to be launched; false: it cannot be counted, *why_out
 * says why. */
enum live_how {
	LIVE_STRICT = 1 << 0, /* in the kernel's own next pass */
	LIVE_HELD = 1 << 1,   /* open until the device is found idle; live_may_hold() said so */
};
bool live_begin(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		uint64_t ordinal, unsigned how, const char **why_out);
void live_after(struct replay_device *d, bool launched);
/* An operation is about to be launched that is not counted: a pass in which launches wait ends. */
void live_stand_aside(struct replay_device *d, const struct runtime_op *op);
/* Whether a kernel that does not end by itself can be counted alone. Its unit then stays open while
 * the program goes on, until the device is found idle. */
bool live_may_hold(struct replay_device *d, const struct runtime_op *op);
/* Before anything else is launched: a held unit is over, or lost. */
void live_let_go(struct replay_device *d, const struct runtime_op *op);
/* The kernel that is tried was launched: waits a moment for its end. */
void live_tried(struct replay_device *d, bool launched);
/* The device is drained: reads and records what was counted. */
void live_close(struct replay_device *d);
/* It did not drain: the kernels in it are not waited for again. */
void live_learn_stuck(struct replay_device *d);
/* The counts are lost. */
void live_drop(struct replay_device *d, const char *why);

/* ---- until.c; --until, all do nothing without ---- */
/* What the engine needs of the plan. */
int until_open(struct replay *r, struct error *err);
/* Whether the dispatch is to be left uncounted, because enough is known; that is recorded. */
bool until_known(struct replay_device *d, const struct runtime_op *op, struct kernel *k);
/* The next pass that is not known, as an index into replay_device.whole, `at` if it is one. */
uint32_t until_next(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		    uint32_t at);
/* The samples of one dispatch counted live. */
void until_take(struct replay_device *d, const struct window_op *op, uint32_t pass,
		const struct spool_sample *samples, uint32_t n);
/* Whether half the 95 % interval is at most so much of the mean; from 30 samples on. */
bool until_is_near(const struct moments *m, double precision);
void until_release(struct kernel *k);

/* ---- record.c ---- */
/* One dispatch that was left out, with the next declines. */
void record_left(struct replay_device *d, struct kind *kind);
/* Adds up; kernel may be NULL. Returns the reason as it is kept until the end. */
const char *record_decline(struct replay_device *d, struct kernel *k, const char *reason,
			   enum spool_instead instead, uint64_t count);
void record_declines_flush(struct replay_device *d);
/* The finished window: dispatches, samples (when counted) and what it cost. */
void record_window(struct replay_device *d, bool counted, const char *why);
/* One dispatch counted live. */
void record_live(struct replay_device *d, const struct window_op *op, uint32_t pass,
		 const struct spool_sample *samples, uint32_t n, uint64_t enabled_ns,
		 uint64_t running_ns);
void record_note(struct replay *r, enum spool_note_kind kind, const char *text);

#endif
