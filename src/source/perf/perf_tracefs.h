/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What perf needs of tracefs: numbers of tracepoints, and uprobes that threads and children
 * inherit.
 *
 * A uprobe opened directly on the uprobe PMU cannot be inherited: the kernel reads the object's
 * path again from the memory of the process that forks, so with `inherit` set the program's own
 * pthread_create and fork fail with EFAULT (seen on Linux 6.18). A uprobe registered in tracefs and
 * opened as a tracepoint has no such fault. Registrations are visible to the whole machine while
 * they exist; their group is named retally_PID, and what a killed process left is removed by the
 * next user.
 *
 * libc only. Not thread-safe. Where tracefs is not mounted it is used through a mount that belongs
 * to no folder (fsmount(2), Linux 5.2, root): nothing appears in anybody's mount table.
 */
#ifndef RETALLY_SOURCE_PERF_TRACEFS_H
#define RETALLY_SOURCE_PERF_TRACEFS_H

#include "source/perf/perf_abi.h"

/* A descriptor of the root of tracefs, close-on-exec; the caller closes it. RC_PERMISSION or
 * RC_UNSUPPORTED with the cure. */
int perf_tracefs_open(int *dir_out, struct error *err);
/* The number of tracepoint "SUBSYSTEM:NAME". RC_NOT_FOUND. */
int perf_tracefs_id(int dir, const char *name, uint64_t *id_out, struct error *err);
/* Registers a uprobe as retally_PID:NAME and gives its number. An older one of that name is
 * replaced. */
int perf_tracefs_add_uprobe(int dir, const char *name, const struct perf_config *c,
			    uint64_t *id_out, struct error *err);
/* Removes it again; every event opened on it must be closed before. Errors are ignored. */
void perf_tracefs_remove_uprobe(int dir, const char *name);
/* Removes the uprobes of processes that no longer exist, and those of this process that no event
 * uses (a process that executes itself for the next pass keeps its number). The kernel refuses to
 * remove one in use. */
void perf_tracefs_sweep(int dir);

#endif
