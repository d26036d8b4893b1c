/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run directories for tests of the store and the report, written with the real writers. A failure
 * to write one fails the test. `small_plan` has three passes: cycles is an anchor in all of them,
 * ipc is complete in pass 1, "split" takes counters of passes 2 and 3.
 */
#ifndef RETALLY_TESTS_UNIT_STORE_RUN_DIR_H
#define RETALLY_TESTS_UNIT_STORE_RUN_DIR_H

#include "wire/plan.h"
#include "wire/spool.h"

#include <stdint.h>

struct run_dir {
	char path[256];
	struct plan *plan; /* its hash goes into the spools */
	uint64_t next_start;
};

/* "cycles", "instructions", "branches", "bp:step", "bytes_read". */
enum small_counter {
	CYCLES,
	INSTRUCTIONS,
	BRANCHES,
	STEPS,
	BYTES
};
struct plan *small_plan(void);

void run_dir_init(struct run_dir *d, struct plan *plan);
void run_dir_remove(struct run_dir *d);
/* A file of the directory with this text. */
void run_dir_write(struct run_dir *d, const char *name, const char *text);
void run_dir_write_run_json(struct run_dir *d);
long run_dir_file_size(const struct run_dir *d, const char *name);
void run_dir_truncate(const struct run_dir *d, const char *name, long size);
void run_dir_flip_byte(const struct run_dir *d, const char *name, long offset);

/* A spool named spool/NAME.rts; start times ascend. Plan and collection as they should be. */
void run_dir_spool(struct run_dir *d, struct spool_writer *w, const char *name, int32_t rank);
void run_dir_spool_of(struct run_dir *d, struct spool_writer *w, const char *name,
		      const struct spool_header *header);
struct spool_header run_dir_header(struct run_dir *d, int32_t rank);

void add_begin(struct spool_writer *w, uint32_t pass, uint32_t passes);
void add_end(struct spool_writer *w, uint32_t pass, int exit_code, int signal, uint32_t flags);
void add_kernel(struct spool_writer *w, uint32_t id, const char *name);
void add_dispatch(struct spool_writer *w, uint32_t pass, uint64_t dispatch, uint32_t kernel,
		  uint32_t unit);
void add_samples(struct spool_writer *w, uint32_t pass, uint64_t dispatch,
		 const struct spool_sample *samples, uint32_t n);
void add_note(struct spool_writer *w, uint32_t pass, enum spool_note_kind kind, const char *text);
/* A dispatch of 10 us with everything in it; attempt and flags as given. */
void add_replayed(struct spool_writer *w, uint32_t pass, uint64_t dispatch, uint32_t kernel,
		  uint32_t unit, uint32_t attempt, uint32_t flags);
void add_window(struct spool_writer *w, const struct spool_window *window, const char *ended_by);
void add_decline(struct spool_writer *w, uint32_t kernel, uint64_t count,
		 enum spool_instead instead, const char *reason);
void finish(struct spool_writer *w);
/* One execution of a pass of small_plan as a process: begin, dispatch, samples, end. Counter c of
 * pass p counts base + 10 c + p; cycles counts 1000 + base. */
void add_small_pass(struct spool_writer *w, uint32_t pass, uint64_t base);

#define SAMPLE_U(c, v)          \
	((struct spool_sample){ \
		.counter = (c), .instance = SPOOL_INSTANCE_ALL, .value = {.u64 = (v)}})

#endif
