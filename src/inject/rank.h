/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process below a launcher that `retally run` started (launch/launcher.h): when it is the first
 * one of a rank, the command goes in front of the program.
 */
#ifndef RETALLY_INJECT_RANK_H
#define RETALLY_INJECT_RANK_H

#include "base/error.h"

#include <stdbool.h>

/* Is this process of this environment below such a launcher? */
bool rank_is_wanted(char *const *envp);
/* Is it a rank, rather than a process between the launcher and its ranks? */
bool rank_is_here(char *const *envp);
/* Executes `retally run ... -- PROGRAM` in this place, with the environment that the program would
 * have had. argv and envp: as the kernel handed them over; name: the file that was executed.
 * Returns only on failure. */
int rank_execute(char *const *argv, char *const *envp, const char *name, struct error *err);

#endif
