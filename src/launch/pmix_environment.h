/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which environment variables tie a process to its launcher's process manager. A program that gets
 * a process manager of ours must not see them, nor must our PMIx server, which would take itself
 * for a client of the launcher.
 */
#ifndef RETALLY_LAUNCH_PMIX_ENVIRONMENT_H
#define RETALLY_LAUNCH_PMIX_ENVIRONMENT_H

#include <stdbool.h>

/* Of "NAME=value" or "NAME". All PMIX_* go, because the launcher sets some of PMIX_MCA_* too and
 * the user's cannot be told from those. */
bool pmix_environment_is_launchers(const char *entry);
/* Removes them from this process. Not thread-safe. */
void pmix_environment_clean(void);
/* What Open MPI 4 needs to believe that it was started by a launcher without help of its own
 * daemons (inside a Slurm step it does so by itself): "NAME=value", or NULL when nothing is needed.
 * Later versions do not look at it. */
const char *pmix_environment_direct(void);

#endif
