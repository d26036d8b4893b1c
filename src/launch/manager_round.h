/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ranks tell each other between passes: a vote of each, and what follows from all of them.
 * Pure bookkeeping over the star's bytes; other ranks are not trusted to send what they should.
 */
#ifndef RETALLY_LAUNCH_MANAGER_ROUND_H
#define RETALLY_LAUNCH_MANAGER_ROUND_H

#include "base/str.h"
#include "launch/star.h"

#include <stdbool.h>
#include <stdint.h>

/* Rounds of ours beside those of star.h. */
#define MANAGER_ROUND_BEGIN  ((enum star_kind)4)
#define MANAGER_ROUND_RESULT ((enum star_kind)5)
#define MANAGER_ROUND_LEAVE  ((enum star_kind)6)

/* Why a rank wants no further pass. */
enum manager_reason {
	MANAGER_REASON_NONE = 0,
	MANAGER_REASON_LAST, /* it was the last one */
	MANAGER_REASON_FAILED,
	MANAGER_REASON_TIMED_OUT,
	MANAGER_REASON_SPAWNED,
	MANAGER_REASON_INTERRUPTED,
	MANAGER_REASON_ORPHANS,
	MANAGER_REASON_DISABLED, /* it cannot collect any more */
	MANAGER_REASONS,
};
struct manager_vote { /* in the byte order of the wire: see manager_vote_pack */
	bool go_on;
	enum manager_reason reason;
	uint32_t position;  /* passes begun so far */
	uint32_t completed; /* and completed */
	uint32_t wanted;
	int32_t status;   /* of the program, 128 + signal */
	uint64_t wall_ns; /* of the pass */
};
#define MANAGER_VOTE_SIZE 32
void manager_vote_pack(const struct manager_vote *v, unsigned char bytes_out[MANAGER_VOTE_SIZE]);
/* False: these are no vote. */
bool manager_vote_unpack(const void *bytes, size_t n, struct manager_vote *v_out);

struct manager_verdict {
	bool go_on;
	uint64_t wall_ns; /* the longest */
	char why[200]; /* why not, one sentence; "" for the last pass or a reason of our own rank */
};
/* Of a complete round. `rank` is ours. A part that is no vote, or of another pass, is a no. */
void manager_round_judge(const struct star_news *round, int rank, int size,
			 const struct manager_vote *mine, struct manager_verdict *verdict_out);
/* A sentence about the ranks that completed fewer passes than others; "" when there is none. */
void manager_round_results(const struct star_news *round, int size, char *text,
			   size_t size_of_text);

/* Complete rounds, kept until they are asked for. */
struct manager_rounds {
	struct {
		bool complete;
		struct str bytes;
	} of[STAR_KINDS];
};
void manager_rounds_keep(struct manager_rounds *r, const struct star_news *news);
/* True: it is complete; news_out has its parts, until the next one of the kind is kept. */
bool manager_rounds_take(struct manager_rounds *r, enum star_kind kind, struct star_news *news_out);
void manager_rounds_release(struct manager_rounds *r);

#endif
