/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of ours for programs that wait in a way that is not seen: for memory that a kernel
 * writes, or in a thread that was waiting for a signal before the dispatch came. When no packet has
 * come for a moment, windows end and the signals that were held back are delivered.
 */
#include "runtime/hsa/session.h"

#include <signal.h>
#include <time.h>

#define TICK_NS 5000000 /* a window that nothing ends waits twice as long at most */

static void *watch(void *unused)
{
	struct timespec tick = {0, TICK_NS};
	uint64_t seen = 0;

	(void)unused;
	while (!atomic_load(&hsa_session.off)) {
		uint64_t now = atomic_load(&hsa_session.activity);
		bool quiet = now == seen && !atomic_load(&hsa_session.inside);

		seen = now;
		/* Only when nobody else is in: a wait for the lock could end in a lost window. */
		if (quiet && hsa_enter()) {
			hsa_boundary("no packet came for a while");
			hsa_leave();
		}
		nanosleep(&tick, NULL);
	}
	return NULL;
}

void hsa_watch_start(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	bool failed;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	failed = pthread_create(&thread, &attributes, watch, NULL) != 0;
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		replay_disable(hsa_session.replay, "no thread could be made that ends windows");
}
