/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenMP runtime of the program, if it has one: its threads must be gone before a fork, because
 * the child would wait for them in its first parallel region. Found by name at run time (libgomp
 * and LLVM's libomp), never linked.
 */
#ifndef RETALLY_RUNTIME_REGION_REGION_OPENMP_H
#define RETALLY_RUNTIME_REGION_REGION_OPENMP_H

#include <stdbool.h>
#include <stddef.h>

/* Threads of this process; 0 when that cannot be found out. */
int region_count_threads(void);
/* Ends the runtime's threads, so that the caller is the only thread of the process. True when it is
 * then; *workers_out is the number of threads that were ended and that region_openmp_warm makes
 * again. Else false and one phrase in reason_out; the program then has what it had, or a pool that
 * its next parallel region makes anew. */
bool region_openmp_pause(int *workers_out, char *reason_out, size_t size);
/* Starts that many threads and lets them wait for work, as they would in the program. */
void region_openmp_warm(int workers);

#endif
