/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes below one of ours, found through /proc. The root must be a child subreaper, so that
 * a process whose parent died is still below it. A snapshot can be outdated when it is used;
 * callers repeat until nothing is left.
 */
#ifndef RETALLY_LAUNCH_TREE_H
#define RETALLY_LAUNCH_TREE_H

#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tree_process {
	pid_t pid;
	pid_t parent;
	char state;
	uint64_t start; /* clock ticks since boot: with the pid, the identity of a process */
	char name[32];  /* cut to fit; for messages */
};
struct tree {
	VEC(struct tree_process) processes;
};

/* Fills t with all living descendants of root (zombies left out), except those in `known` (may be
 * NULL) and what is below them. Returns 0 or -1 when /proc cannot be read or memory is out. */
int tree_scan(struct tree *t, pid_t root, const struct tree *known);
/* SIGKILL to all of them once. Returns how many there were, or -1. */
int tree_kill(pid_t root, const struct tree *known);
/* "sleep (123), sh (124) and 3 more" into buffer. */
void tree_describe(const struct tree *t, char *buffer, size_t size);
/* State letter of a process as /proc shows it, 0 when it is gone. */
char tree_state(pid_t pid);
void tree_release(struct tree *t);

#endif
