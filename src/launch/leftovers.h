/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory objects that a pass left in /dev/shm (shm_open, sem_open, segments of MPI
 * libraries): the next pass would meet them, and shm_open(O_EXCL) would fail in it. Compared before
 * and after a pass; only what appeared meanwhile, belongs to us and is mapped or held open by no
 * process counts as left by the pass.
 */
#ifndef RETALLY_LAUNCH_LEFTOVERS_H
#define RETALLY_LAUNCH_LEFTOVERS_H

#include "base/vec.h"

#include <stddef.h>
#include <sys/types.h>

#define LEFTOVERS_FOLDER "/dev/shm"

struct leftover {
	char name[256];
	ino_t ino;
};
struct leftovers {
	VEC(struct leftover) items; /* by name */
};

/* The plain files of folder that belong to this user. Replaces what l held. 0 or -1 (l is empty
 * then, for example when there is no such folder). */
int leftovers_list(struct leftovers *l, const char *folder);
/* What is in `after` and not in `before`, and in use by nobody. */
int leftovers_since(struct leftovers *out, const char *folder, const struct leftovers *before,
		    const struct leftovers *after);
/* Removes them if they are still the same objects; returns how many. */
size_t leftovers_remove(const struct leftovers *l, const char *folder);
/* "a, b, c and 2 more" */
void leftovers_describe(const struct leftovers *l, char *buffer, size_t size);
void leftovers_release(struct leftovers *l);

#endif
