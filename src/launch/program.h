/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program to run: found once as execvp would find it, held open, so that every pass executes
 * the same file even when the program deletes or replaces its own binary.
 */
#ifndef RETALLY_LAUNCH_PROGRAM_H
#define RETALLY_LAUNCH_PROGRAM_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/stat.h>

struct program {
	char *const *argv; /* the caller's */
	char *path;        /* what execvp would execute; owned */
	char *absolute;    /* the same from any folder; owned */
	int fd;            /* O_PATH, close-on-exec */
	bool is_script;    /* begins with #! */
	dev_t dev;
	ino_t ino;
	/* Why the kernel takes counters away from this program when it is executed (set-user-id,
	 * file capabilities, not readable); "" when it does not. See perf_event_open(2) and exec.c
	 * of the kernel: events of a process that becomes non-dumpable are removed. */
	char cannot_count[256];
};

/* RC_NOT_FOUND or RC_PERMISSION with one sentence; the program holds nothing then. */
int program_find(struct program *p, char *const *argv, struct error *err);
/* In the child: becomes the program. `moved` says that the working directory is not the one the
 * program was found from. Returns only on failure, with errno of the first reason. */
void program_execute(const struct program *p, char *const *envp, bool moved);
void program_release(struct program *p);

#endif
