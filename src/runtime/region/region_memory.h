/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of this process, as a replay by fork must know it: what a child would share with the
 * program instead of copying it, and how to have the copies made before anything is counted.
 *
 * System calls on /proc/self and madvise only; no allocation; static buffers, so one caller at a
 * time.
 */
#ifndef RETALLY_RUNTIME_REGION_REGION_MEMORY_H
#define RETALLY_RUNTIME_REGION_REGION_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct region_range {
	const void *at;
	size_t size;
};
/* True when this process has no writable shared memory but the n ranges. Else false and one phrase
 * in reason_out. */
bool region_memory_is_private(const struct region_range *own, size_t n, char *reason_out,
			      size_t size);
/* Makes private copies of all writable pages that exist, as far as the kernel allows. */
void region_memory_prefault(void);
/* Whether a copy of what this process has written fits into the machine's free memory. */
bool region_memory_fits(uint64_t *bytes_out, char *reason_out, size_t size);

#endif
