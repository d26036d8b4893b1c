/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of ours, from mmap and kept: never from the program's allocator, whose uninitialised
 * memory would then hold other bytes than it does without us, and warm after the first time. Blocks
 * are of powers of two, 16-byte aligned, not cleared. Thread-safe.
 */
#ifndef RETALLY_RUNTIME_SIM_POOL_H
#define RETALLY_RUNTIME_SIM_POOL_H

#include <stdint.h>

void *sim_pool_get(uint64_t bytes); /* NULL: no memory */
void sim_pool_put(void *block, uint64_t bytes);
void sim_pool_release(void); /* gives everything back to the system */

#endif
