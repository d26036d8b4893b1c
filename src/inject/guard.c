/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of our own writes, kept from the program. */
#include "inject/guard.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static const int guard_signals[] = {SIGPIPE, SIGXFSZ};
#define GUARD_N (sizeof(guard_signals) / sizeof(*guard_signals))

void guard_enter(struct guard *g)
{
	sigset_t ours;

	sigemptyset(&ours);
	for (size_t i = 0; i < GUARD_N; i++)
		sigaddset(&ours, guard_signals[i]);
	sigpending(&g->pending);
	pthread_sigmask(SIG_BLOCK, &ours, &g->old);
}

void guard_leave(const struct guard *g)
{
	struct timespec none = {0, 0};
	int saved = errno;
	sigset_t ours;

	for (size_t i = 0; i < GUARD_N; i++) {
		if (sigismember(&g->pending, guard_signals[i]) == 1)
			continue;
		sigemptyset(&ours);
		sigaddset(&ours, guard_signals[i]);
		sigtimedwait(&ours, NULL, &none);
	}
	pthread_sigmask(SIG_SETMASK, &g->old, NULL);
	errno = saved;
}
