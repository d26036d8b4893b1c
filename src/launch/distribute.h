/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --distribute: nothing is replayed, every rank or process of a job runs one pass. Each pass holds
 * all counters of every metric it claims, so what a process collects is complete in itself; what a
 * job lacks is said afterwards (model/coverage.h).
 *
 *   cyclic   pass = (rank + offset) mod P, the offset the same in all ranks of a launch: from
 *            --seed, or from what names the launch (launch/job.h), so that further launches move on
 *   random   pass = hash(seed, rank) mod P; without --seed drawn anew in each process
 *
 * `dispatch` deals passes over the dispatches of each process in the same two ways.
 *
 * A process without a rank counts as rank 0; its offset is random without --seed.
 */
#ifndef RETALLY_LAUNCH_DISTRIBUTE_H
#define RETALLY_LAUNCH_DISTRIBUTE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum distribute_unit {
	DISTRIBUTE_NONE = 0,
	DISTRIBUTE_RANK,     /* the rank must be known */
	DISTRIBUTE_PROCESS,  /* any process that the command starts */
	DISTRIBUTE_DISPATCH, /* the dispatches of each process (launch/in_place.h) */
};
struct distribute {
	enum distribute_unit unit;
	bool random; /* false: cyclic */
	bool has_seed;
	uint64_t seed;
};

/* Reads UNIT[:cyclic|random]. RC_INVALID with one sentence. */
int distribute_parse(const char *text, struct distribute *d, struct error *err);
/* The pass, from 1 to n_passes, of a process with this rank (negative: unknown) in the launch of
 * this name ("": unknown). RC_INVALID when the unit is RANK and the rank is unknown. */
int distribute_pass(const struct distribute *d, int32_t rank, const char *job, uint32_t n_passes,
		    uint32_t *pass_out, struct error *err);
/* DISTRIBUTE_DISPATCH: what the process with this rank begins with. cyclic: the n-th dispatch of a
 * kernel takes pass 1 + (offset + n) mod P, and ranks begin at different passes; random: passes are
 * drawn from seed, which differs between ranks. */
void distribute_dispatches(const struct distribute *d, int32_t rank, const char *job,
			   uint32_t n_passes, uint64_t *seed_out, uint64_t *offset_out);

#endif
