/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: the state of the process's regions, of one thread, and the
 * page that a replayed execution writes its results into.
 *
 *   region.c        marks, nesting, threads
 *   region_record.c names, records, sentences
 *   region_fork.c   replaying by fork
 *   region_turns.c  passes in turn beside the replay of devices
 *   region_count.c, region_memory.c, region_openmp.c, region_guard.c   what these need
 */
#ifndef RETALLY_RUNTIME_REGION_REGION_INTERNAL_H
#define RETALLY_RUNTIME_REGION_REGION_INTERNAL_H

#include "runtime/region/region.h"
#include "runtime/region/region_count.h"

#include <pthread.h>
#include <sys/types.h>

#define REGION_REASON_SIZE  320
#define REGION_REASONS_MAX  256
#define REGION_LOG_SIZE     (1u << 20)
#define REGION_HASH_SIZE    (REGION_NAMES_MAX * 2) /* a power of two */
#define REGION_REFUSALS_MAX 2                      /* then a name is not tried again */

struct region_name {
	uint32_t id; /* in records: of the text, so that all passes and images agree */
	uint32_t length;
	char text[REGION_NAME_SIZE];
};
/* State of the replayed execution; the last one written stays. */
enum region_child_state {
	REGION_CHILD_STARTS = 0,
	REGION_CHILD_RUNS,
	REGION_CHILD_DONE,
	REGION_CHILD_REFUSED, /* number: the system call */
	REGION_CHILD_LEFT,    /* an exception or a jump went out of the region */
	REGION_CHILD_EXITS,   /* it called exit */
	REGION_CHILD_FAILED,  /* number: errno of the filter */
};
/* Shared with replayed executions: they find names of their own, and leave what they counted. */
struct region_shared {
	uint32_t n_names;
	uint16_t hash[REGION_HASH_SIZE]; /* number + 1 of a name, 0: free */
	struct region_name names[REGION_NAMES_MAX];
	int32_t state; /* enum region_child_state */
	int32_t number;
	uint64_t ready_ns; /* when the region began to run */
	uint32_t used, lost;
	_Alignas(8) unsigned char log[REGION_LOG_SIZE]; /* struct region_result, then its samples */
};
struct region_result {
	uint64_t ordinal, begin_ns, end_ns, enabled_ns, running_ns;
	uint32_t kernel; /* number + 1 of the name */
	uint32_t n;
};

struct region_info { /* of a name; of this process alone */
	bool is_written;
	bool given_up;
	uint32_t refusals;
	uint64_t instances; /* outermost ones */
	uint64_t counted;   /* with an end */
	uint64_t live_ns;   /* the longest execution of the program's own */
};

struct region_entry {    /* a region that was begun */
	uint32_t kernel; /* number + 1 of its name; 0: one name too many, not counted */
	uint32_t pass;
	uint64_t ordinal, begin_ns;
	uint64_t paused_ns; /* of its counters, until it began */
	uintptr_t site, frame;
	struct region_set *set; /* NULL: not counted */
	bool is_child;          /* the replayed execution ends with it */
	bool is_replayed;       /* its other passes ran in children */
	bool switches;          /* its set is on for its time only */
};
struct region_pause { /* of a set of counters; with the lock */
	uint32_t depth;
	uint64_t since, total_ns;
};
struct region_thread {
	struct region_thread *next;
	uint32_t number; /* from 0 in the order of first marks; 0 is the process's first thread */
	bool is_first;
	volatile bool busy;
	uint32_t depth;
	uint32_t overflow;         /* begins beyond the last entry */
	struct region_set set;     /* of other threads than the first */
	struct region_pause pause; /* of `set` */
	bool has_device;           /* `set` counts threads of a device */
	bool with_process;         /* paused together with the counters of the process */
	uint32_t room;
	size_t size; /* of this object's map */
	struct region_entry open[REGION_DEPTH_MAX];
	struct region_reading *end;   /* room readings */
	struct region_reading *begin; /* room readings for each entry */
	struct spool_sample *samples;
};

struct region_reason {
	uint32_t kernel;
	uint32_t instead;
	uint64_t count;
	char text[REGION_REASON_SIZE];
};

struct region_state {
	struct region_options options;
	bool active;
	bool stopped; /* no region begins any more */
	pid_t pid;
	bool used;     /* a mark came, and there is a place for records */
	bool in_child; /* this is a replayed execution */
	int lock;      /* tid of the holder */
	struct region_shared *shared;
	struct region_info info[REGION_NAMES_MAX];
	struct region_set process; /* REGION_LIVE */
	struct region_set *sets;   /* REGION_RANGE: one per pass */
	struct region_set *turn; /* REGION_TURNS: of the region of the first thread that is open */
	struct region_pause pause;             /* of `turn` */
	uint64_t paused, paused_ns, contained; /* what is said of it at the end */
	bool unsure;                           /* counters were not switched as they should */
	uint32_t room;                         /* readings of the largest pass */
	uint64_t next_ordinal;
	uint32_t next_thread;
	uint64_t next_window;
	pthread_key_t key;
	bool has_key;
	bool failed;                   /* append said no */
	uint32_t inside;               /* marks at work */
	struct region_thread *threads; /* all but the first */
	struct region_reason reasons[REGION_REASONS_MAX];
	uint32_t n_reasons;
	uint64_t stray[REGION_NAMES_MAX + 1]; /* ends without a begin, by name */
	uint64_t left[REGION_NAMES_MAX + 1];  /* begins without an end */
	uint64_t too_deep, interrupted, too_many;
	char why[256]; /* first reason for a counter without a value */
};
extern struct region_state region;

uint64_t region_now(void);
size_t region_shared_size(void); /* of its map */
const struct plan_pass *region_pass(uint32_t pass);

/* ---- region_record.c ---- */

/* False when it cannot be had (this thread holds it already, or nobody gives it back). */
bool region_take_lock(void);
void region_give_lock(void);
/* Number + 1 of a name, 0 when there are too many. With the lock. */
uint32_t region_find_name(const char *name, bool add);
/* The rest takes the lock itself. */
void region_write(const struct region_result *r, const struct spool_sample *samples, uint32_t pass,
		  uint32_t thread, uint32_t flags);
void region_write_window(const struct spool_window *w);
void region_decline(uint32_t kernel, enum spool_instead instead, const char *reason);
void region_note(uint32_t kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Declined regions and the sentences about marks. */
void region_write_end(void);
/* In a replayed execution: into the log. */
void region_log(const struct region_result *r, const struct spool_sample *samples);

/* ---- region_turns.c ---- */

/* Opens the counters of the first thread, off. */
int region_turns_open(struct error *err);
/* The outermost region e of thread t begins: its pass and its counters. */
void region_turn(struct region_thread *t, struct region_entry *e);
/* It is over, or was left. */
void region_turn_over(struct region_thread *t, struct region_entry *e);
/* For how long the counters of the thread were paused until now. */
uint64_t region_turns_paused(struct region_thread *t);
/* The calling thread's own, NULL: it has passed no mark. */
struct region_thread *region_self(void);
/* Sentences about the end; with the lock. */
typedef void region_note_function(uint32_t kind, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void region_turns_write(region_note_function *note);

/* ---- region_fork.c ---- */

/* The outermost region e of the first thread begins: executes all passes but the last in children.
 * Returns in each of them (e->is_child) and in the program, with e's pass and set for the
 * execution that follows. */
void region_replay(struct region_entry *e);
/* The replayed execution is over. */
void region_child_exit(enum region_child_state state) __attribute__((noreturn));
/* The program's own execution of a replayed region is over. */
void region_replay_over(const struct region_entry *e, uint64_t end_ns);

#endif
