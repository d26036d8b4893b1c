/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a place in a file to an address in a process. libc only; no allocation; thread-safe.
 */
#ifndef RETALLY_SOURCE_PERF_ADDRESS_H
#define RETALLY_SOURCE_PERF_ADDRESS_H

#include "source/perf/perf_abi.h"

#include <sys/types.h>

/* The address of a breakpoint's place (c->object, c->offset) in process pid (0: the caller), found
 * in /proc/PID/maps: right for PIE, fixed-address, static and shared objects. When c->build_id is
 * set it is compared with the one in the process's memory, where that may be read. RC_NOT_FOUND:
 * the object is not mapped (yet); RC_MISMATCH: another build of it is. */
int perf_address_find(pid_t pid, const struct perf_config *c, uint64_t *address_out,
		      struct error *err);

#endif
