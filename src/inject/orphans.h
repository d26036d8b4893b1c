/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that a pass left behind (a daemon, a background job of a shell). They are known by the
 * mark in their environment, whoever their parent is by now: nothing about the program has to be
 * changed to find them, as PR_SET_CHILD_SUBREAPER would. A child that cleared its environment is
 * not found.
 */
#ifndef RETALLY_INJECT_ORPHANS_H
#define RETALLY_INJECT_ORPHANS_H

#include "inject/state.h"

struct orphans {
	int n;         /* found when first looked */
	int left;      /* of them after the wait */
	int pid;       /* of one of them */
	char name[32]; /* of that one */
};

/* Waits until no process but this one carries the mark of `state`, at most `seconds`. */
void orphans_wait(const struct state *state, unsigned seconds, struct orphans *o);

#endif
