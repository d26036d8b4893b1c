/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `retally run -- mpirun -n 4 ./app`: the command is outside of the launcher, and the ranks are to
 * be counted, not the launcher. Every pass is one launch. The launcher runs with libretally
 * preloaded, which stands aside in the launcher's own processes; in the first process of each rank,
 * before any code of the program, it executes `retally run --pass K -o DIR -- ./app` in its place.
 * So each rank is counted exactly as if that had been written behind mpirun, and everything that
 * works there works here.
 *
 * What the library needs is in the environment, which launchers hand on to their ranks (on other
 * nodes Open MPI only does so when told, with -x): see inject/rank.c.
 */
#ifndef RETALLY_LAUNCH_LAUNCHER_H
#define RETALLY_LAUNCH_LAUNCHER_H

#include "base/error.h"

#include <stdbool.h>

/* Variables of the environment. */
#define LAUNCHER_COMMAND "RETALLY_LAUNCHER"      /* path of this command */
#define LAUNCHER_ARGS    "RETALLY_LAUNCHER_ARGS" /* words that follow it, with \037 between */
#define LAUNCHER_STEP    "RETALLY_LAUNCHER_STEP" /* JOB.STEP of Slurm that we are in ourselves */

/* Does this command line begin with a launcher, by the name of its file? */
bool launcher_starts(char *const *argv);
/* The program that the ranks run: the first word behind the launcher's name that is no option and
 * the name of an executable file (like execvp). Owned by the caller; NULL: not found. With
 * `mpirun A : B` it is A. Only for finding functions by name: what runs is what the launcher runs.
 */
char *launcher_application(char *const *argv);

struct launcher_request {
	const char *command;    /* path of retally */
	const char *library;    /* path of libretally.so */
	const char *directory;  /* run directory; made already */
	const char *collection; /* its id, which the ranks join */
	const char
		*distribute; /* --distribute UNIT of the ranks, NULL: they run the launch's pass */
	const char *seed;    /* for it, or NULL */
};
/* Puts the variables into our environment, where the launcher gets them from. RC_INVALID when
 * LD_PRELOAD cannot hold the library's path. */
int launcher_prepare(const struct launcher_request *q, struct error *err);
/* Takes them out again. */
void launcher_end(const char *library);

#endif
