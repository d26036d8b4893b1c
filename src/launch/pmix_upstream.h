/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells Slurm's own PMIx server that a rank called MPI_Abort. srun takes the job's status from what
 * its server is told; without a word it is the highest of its tasks', and those that
 * --kill-on-bad-exit ends with SIGTERM are higher than most. Told by a process that was made for it
 * and waits: it has the launcher's environment and a libpmix of its own, and signals that are meant
 * for the job do not reach it.
 */
#ifndef RETALLY_LAUNCH_PMIX_UPSTREAM_H
#define RETALLY_LAUNCH_PMIX_UPSTREAM_H

#include <stdbool.h>

/* Whether the launcher of this process is to be told; a look at the environment. */
bool pmix_upstream_is_wanted(void);
/* Starts the process, which goes when all copies of the result are closed. From a process with one
 * thread, before it drops the launcher's variables. -1: not started, nobody will be told. */
int pmix_upstream_start(void);
/* `status` as of MPI_Abort. Does not wait; any thread. */
void pmix_upstream_tell(int upstream, int status);

#endif
