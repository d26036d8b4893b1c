/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of one pass in the spool. A write that fails (a full disk) is remembered and reported
 * once; everything after it is a no-op, so that the program's pass goes on to its end.
 */
#ifndef RETALLY_LAUNCH_RECORD_H
#define RETALLY_LAUNCH_RECORD_H

#include "base/error.h"
#include "wire/spool.h"

#include <stdbool.h>
#include <stdint.h>

struct record {
	struct spool_writer *spool;
	bool failed;
	struct error why; /* of the first failure */
};
struct record_times { /* of one pass; nanoseconds, CLOCK_MONOTONIC where absolute */
	uint64_t begin_ns, end_ns;
	uint64_t user_ns, system_ns;
	uint64_t max_rss_bytes;
};

void record_pass_begin(struct record *r, uint32_t pass, uint32_t passes, uint64_t begin_ns,
		       int32_t pid);
void record_samples(struct record *r, uint32_t pass, const struct record_times *times,
		    const struct spool_sample *samples, uint32_t n, uint64_t enabled_ns,
		    uint64_t running_ns);
void record_pass_end(struct record *r, uint32_t pass, int exit_code, int signal, uint32_t flags,
		     const struct record_times *times);
void record_note(struct record *r, uint32_t pass, enum spool_note_kind kind, const char *text);

#endif
