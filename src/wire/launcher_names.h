/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the programs that start parallel jobs, and of those that such a launcher starts for
 * itself. Both are never counted: what a user means by `mpirun ./app` is the ranks. libc only.
 */
#ifndef RETALLY_WIRE_LAUNCHER_NAMES_H
#define RETALLY_WIRE_LAUNCHER_NAMES_H

#include <stdbool.h>

/* A command that a user starts a parallel program with: mpirun, mpiexec, srun ... */
bool launcher_is_command(const char *name);
/* One of the former, a process of theirs (orted, hydra_pmi_proxy, slurmstepd ...), or retally. */
bool launcher_is_own(const char *name);

#endif
