/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Application replay in process. With LD_PRELOAD=libretally.so and RETALLY_PLAN=FILE a program
 * counts pass 1 of the plan, and when it ends it executes itself again for the next pass, in the
 * same process, until all are done. docs/in-process.md tells the rules.
 *
 * main.c decides what this process is (start), pass.c begins and ends its pass, hooks.c has the
 * functions of libc by which a program ends or replaces itself.
 */
#ifndef RETALLY_INJECT_INJECT_H
#define RETALLY_INJECT_INJECT_H

#include "base/error.h"
#include "inject/state.h"

#include <stdbool.h>

/* Seconds to wait between passes for what a pass left behind, from 1 on. */
#define INJECT_WAIT_VARIABLE "RETALLY_ORPHAN_WAIT"
#define INJECT_WAIT_MAX      3600

/* ---- pass.c ---- */

/* This process owns the pass in `state`; value is the text of RETALLY_STATE in its environment.
 * Counts from here on. Everything that fails is said and recorded, and leaves the program as it is.
 */
void pass_begin(const struct state *state, char *value, char *const *envp);
/* The program ends with this status: records the pass and executes the program for the next one.
 * Returns only when there is no next pass, with the status to end with. In any process but the
 * owner: the status given. System calls only. */
int pass_end(int status);
/* quick_exit does not tell its handlers the status. */
void pass_set_quick_status(int status);
/* The program is about to be replaced by path (NULL: unknown); the exec may fail, and the program
 * go on. */
void pass_exec(const char *path, char *const *envp);
/* The program is about to limit its system calls: nothing of ours may happen in it from then on.
 * The pass is recorded as one without an end, and no other follows. Returns whether that was so; if
 * the limit is then not set, pass_unrestrict lets this pass end as others do. */
bool pass_restrict(void);
void pass_unrestrict(void);
/* Whether this process owns a pass that is being counted. Cheap; false in children. */
bool pass_is_owner(void);

/* ---- main.c ---- */

/* Decides and begins, once; later calls do nothing. */
void inject_start(char **argv, char **envp);

#endif
