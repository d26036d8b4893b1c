/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replayed execution of a region may ask of the kernel: only what stays within its own
 * process. Everything else (output, files, sockets, new processes, signals to others) is trapped
 * before it happens, so that nothing is done twice.
 */
#ifndef RETALLY_RUNTIME_REGION_REGION_GUARD_H
#define RETALLY_RUNTIME_REGION_REGION_GUARD_H

#include <stddef.h>
#include <stdint.h>

/* Puts the filter on the calling thread and on all that it starts; for good. A forbidden call
 * raises SIGSYS with its number in si_syscall. read is allowed on the n descriptors only. 0, or an
 * errno. No allocation. */
int region_guard_raise(const int *readable, uint32_t n);
/* "write" for SYS_write; "number 999" for one that has no name here. */
void region_guard_name(int number, char *name_out, size_t size);

#define REGION_GUARD_READABLE_MAX 256

#endif
