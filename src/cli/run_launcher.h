/* SPDX-License-Identifier: Apache-2.0 */
/* `retally run -- mpirun ...`: whether PROGRAM is a launcher, and what was counted of its ranks. */
#ifndef RETALLY_CLI_RUN_LAUNCHER_H
#define RETALLY_CLI_RUN_LAUNCHER_H

#include "cli/options.h"
#include "launch/run.h"

/* By --launcher, else by PROGRAM's name; never within a rank of a job, where the program is asked
 * for. */
int run_launcher_wanted(const struct options *o, bool *wanted_out, struct error *err);
/* Paths of this command and of libretally.so, which live for ever, and --distribute with its seed
 * for the ranks. seed: room for a number. */
int run_launcher_init(struct run_launcher *l, const struct options *o, char *seed, size_t size,
		      struct error *err);
/* The default for -o: APPLICATION.retally, as a template. */
void run_launcher_name_output(const char *application, char *text, size_t size);
/* Says on stderr in which passes of the launch no rank, or not every one, was counted, and what
 * that may be due to. Returns whether all were. */
bool run_launcher_check(const struct run_outcome *outcome, const struct plan *plan);

#endif
