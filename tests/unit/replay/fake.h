/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device for the tests of the replay engine: memory in plain buffers, queues of commands that run
 * when the device is drained and not before, kernels as C functions that may say "not yet", and
 * every callback able to fail. Nothing depends on time: a drain that makes no progress is a
 * timeout.
 *
 * fake_run plays the program with or without the engine, so that a test can compare the two.
 */
#ifndef RETALLY_TESTS_UNIT_REPLAY_FAKE_H
#define RETALLY_TESTS_UNIT_REPLAY_FAKE_H

#include "base/vec.h"
#include "replay/replay.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_QUEUES  4
#define FAKE_BUFFERS 32
#define FAKE_ARGS    4
#define FAKE_PASSES  16

struct fake;
struct fake_buffer {
	uint8_t *bytes;
	uint64_t size;
	bool used;
	struct runtime_memory memory;
	struct replay_memory *record;
};
/* Returns the work done, or -1: it waits for something (nothing was changed then). */
typedef int64_t fake_function(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value);
struct fake_kernel {
	const char *name;
	fake_function *run;
};
struct fake_launch { /* a dispatch, or a copy with kernel NULL: args[0] to args[1] */
	const struct fake_kernel *kernel;
	uint32_t queue;
	uint32_t n_args;
	int args[FAKE_ARGS]; /* numbers of buffers */
	uint32_t access[FAKE_ARGS];
	uint64_t value;
	uint32_t wider; /* another grid */
	uint32_t flags; /* enum runtime_op_flag */
	const char *why;
	int hidden; /* another buffer the kernel gets, which is not in its reach; -1 or 0: none */
	bool unrecordable, fails;
};

enum fake_call {
	FAKE_DRAIN,
	FAKE_STORE_GET,
	FAKE_SAVE,
	FAKE_RESTORE,
	FAKE_COMPARE,
	FAKE_HASH,
	FAKE_LAUNCH,
	FAKE_PASS_BEGIN,
	FAKE_UNIT_BEGIN,
	FAKE_UNIT_END,
	FAKE_PASS_END,
	FAKE_READ,
	FAKE_APPEND,
	FAKE_CALLS
};
struct fake_failure {
	uint64_t after; /* the call of this number (from 1) fails; 0: none */
	uint64_t times; /* and so many in a row */
	int code;
};

struct fake_command;
struct fake_unit {
	uint64_t work, start;
	bool ended;
};
struct fake_record { /* one dispatch record with its samples */
	struct spool_dispatch dispatch;
	uint64_t work;
	uint32_t counted; /* number of the pass, or of the live group behind them */
	bool has_samples;
};

struct fake {
	struct runtime runtime;
	struct source source;
	struct replay *replay; /* NULL: the program alone */
	struct replay_device *device;
	struct plan plan;
	pthread_mutex_t lock;
	struct fake_buffer buffers[FAKE_BUFFERS];
	VEC(struct fake_command *) queues[FAKE_QUEUES];
	bool no_restore; /* a control: restore does nothing */
	bool lost;
	uint64_t room; /* bytes of stores there may be; 0: any */

	/* the source */
	uint32_t pass;
	bool in_pass;
	VEC(struct fake_unit) units;
	uint64_t n_begun;

	struct fake_failure failures[FAKE_CALLS];
	uint64_t calls[FAKE_CALLS];
	uint64_t bytes_restored, bytes_stored;
	uint64_t stores, recorded; /* alive */
	int overlap;               /* units that overlapped */

	/* Hash of all memory when a pass began; compared by fake_starts_agree. */
	VEC(uint64_t) starts;

	/* What came out. */
	VEC(struct fake_record) records;
	VEC(struct spool_window) windows;
	VEC(struct spool_decline) declines;
	VEC(struct spool_left) left;
	VEC(char *) reasons; /* of declines */
	VEC(char *) ends;    /* of windows */
	VEC(char *) notes;
	VEC(char *) names; /* of kernels, by id - 1 */
};

/* passes: of the plan. Callers may set capabilities and failures before fake_start. */
void fake_init(struct fake *f, uint32_t passes);
/* Opens the engine; without it the program runs alone. */
void fake_start(struct fake *f, const struct replay_options *options);
/* Closes the engine, checks that nothing is left over. */
void fake_stop(struct fake *f);
void fake_release(struct fake *f);

int fake_alloc(struct fake *f, uint64_t size, uint32_t flags, const char *why);
void fake_free(struct fake *f, int buffer);
enum replay_verdict fake_launch(struct fake *f, const struct fake_launch *l);
/* A call of the program that waits for everything; false: it would hang. */
bool fake_sync(struct fake *f, const char *name);
/* A kernel waits for a flag that the host sets after a call that looks at the device, beside one
 * byte of a (-1: alone). */
void fake_let_wait(struct fake *f, int flag, int a);
/* Bytes of all buffers, for comparing runs. */
uint64_t fake_hash(struct fake *f);

/* Sum of the declined with this reason (a part of it) and what happened instead. */
uint64_t fake_declined(const struct fake *f, const char *reason, int instead);
/* Every dispatch counted by replay has all passes, each with the same work. */
void fake_check_records(const struct fake *f, uint32_t passes, uint32_t repeat);
uint64_t fake_counted(const struct fake *f);
bool fake_note(const struct fake *f, const char *part);
/* Dispatches counted live that got pass 1: fake_counted has them too. */
uint64_t fake_live_first(const struct fake *f);

/* Kernels. add: every byte of args[0] += value. fill: args[0] = value, writes only. append: a
 * counter in args[0] says where value goes. done: heavy work unless a flag is set, which it sets.
 * wait: ends when the first byte of args[0] is not 0. signal: sets it. outside: writes its hidden
 * buffer. dot: args[1] = sum of args[0]. varying: args[0] gets a number that no run repeats.
 * sparse: one byte of args[0] at value. nothing: reads only, but nobody guarantees it. */
extern const struct fake_kernel fake_add, fake_fill, fake_append, fake_done, fake_wait, fake_signal,
	fake_outside, fake_dot, fake_varying, fake_sparse, fake_nothing;

/* struct fake_launch of a kernel: FAKE(add, .n_args = 1, ...). */
#define FAKE(n, ...)                             \
	{                                        \
		.kernel = &fake_##n, __VA_ARGS__ \
	}

/* A program of 36 dispatches and 6 copies in two windows: in-place updates, a list that grows, work
 * that is done once, copies, sparse writes. Returns the hash of its memory at the end. */
uint64_t fake_program(struct fake *f);
uint64_t fake_program_alone(void);

#endif
