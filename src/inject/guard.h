/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Around our own writes: a pipe without readers and a file at its size limit are errors, not the
 * SIGPIPE and SIGXFSZ that would kill the program. Both signals go to the thread that writes, so it
 * is enough to block them there and to take back what came. Dispositions are not touched.
 * Async-signal-safe.
 */
#ifndef RETALLY_INJECT_GUARD_H
#define RETALLY_INJECT_GUARD_H

#include <signal.h>

struct guard {
	sigset_t old;     /* mask to put back */
	sigset_t pending; /* what waited before us: the program's */
};

void guard_enter(struct guard *g);
void guard_leave(const struct guard *g); /* errno is preserved */

#endif
