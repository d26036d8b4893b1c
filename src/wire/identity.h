/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who am I in a parallel job: rank, size, local rank, host and job, and which environment variable
 * said so. Launchers disagree on names and leak their variables into jobs of other launchers, so
 * the table in identity.c has an order, Slurm last: with mpirun inside one batch step SLURM_PROCID
 * is the same for all ranks. What no variable says is *unknown* (SPOOL_RANK_NONE), never 0.
 *
 * A variable that holds no number from 0 to 2^31-1 is ignored with a warning; an empty one counts
 * as unset. Size and local rank are taken from the launcher the rank came from or, where that one
 * has no such variable, from the next whose own rank is the same. libc only; reads the environment
 * once per call, not thread-safe against setenv.
 */
#ifndef RETALLY_WIRE_IDENTITY_H
#define RETALLY_WIRE_IDENTITY_H

#include "wire/spool.h"

#include <stdint.h>

struct identity {
	char host[SPOOL_HOST_SIZE];     /* name of this machine, without its domain; "unknown" */
	char job[64];                   /* of the batch system, "" when unknown */
	int32_t rank, size, local_rank; /* or SPOOL_RANK_NONE */
	/* The variable each came from; NULL when unknown. Static strings. */
	const char *rank_from, *size_from, *local_rank_from, *job_from;
};

/* Value of an environment variable or NULL; context is the caller's (a fake environment in tests).
 */
typedef const char *identity_get(void *context, const char *name);

void identity_read(struct identity *identity);
/* The same from another environment; host is left for the caller to fill ("unknown" here). */
void identity_read_from(struct identity *identity, identity_get *get, void *context);
/* What is wrong with the variables was said already, by this process before it executed the program
 * again. Not thread-safe, as reading is. */
void identity_warn_no_more(void);

/* Is this process a rank of an MPI launch, one that may not be executed again under the feet of its
 * launcher? Returns the name of the variable that says so, or NULL. Neither a Slurm step alone (its
 * processes are singletons unless a PMI variable is there too) nor RETALLY_RANK says so. */
const char *identity_in_mpi_rank(void);
const char *identity_in_mpi_rank_from(identity_get *get, void *context);

#endif
