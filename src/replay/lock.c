/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replay lock of a device, and what happens to those that cannot wait for it.
 *
 * Whoever holds the lock may be waiting for something that another thread of the program is about
 * to launch (the vendor's queue is full; the drain waits for a callback). So nobody waits for ever:
 * after a bound, or at once in a callback, a thread goes on without the lock. Such an intruder is
 * counted; the window that it ran into is not replayed, because its recording has a hole. The one
 * thing an intruder must not do is launch while the engine uses the device's memory. Then it does
 * wait: the device was drained and runs our work alone, which depends on nothing that the program
 * does later. Both sides write their own flag before they read the other's (sequentially
 * consistent).
 */
#include "replay/engine.h"

#include <sched.h>
#include <time.h>

#define TRIES    64
#define SLICE_NS 1000000u /* between two looks at the phase */

/* gcc 12's thread sanitizer does not know pthread_mutex_clocklock; the other one follows a clock
 * that can be set. */
#ifdef __SANITIZE_THREAD__
#define LOCK_CLOCK           CLOCK_REALTIME
#define lock_timed(mutex, t) pthread_mutex_timedlock(mutex, t)
#else
#define LOCK_CLOCK           CLOCK_MONOTONIC
#define lock_timed(mutex, t) pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, t)
#endif

static bool lock_within(struct replay_device *d, uint64_t ns)
{
	struct timespec t;

	clock_gettime(LOCK_CLOCK, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000u);
	t.tv_nsec = (long)(ns % 1000000000u);
	return !lock_timed(&d->lock, &t);
}

static bool lock_quickly(struct replay_device *d)
{
	for (int i = 0; i < TRIES; i++) {
		if (!pthread_mutex_trylock(&d->lock))
			return true;
		sched_yield();
	}
	return false;
}

bool device_is_mine(const struct replay_device *d)
{
	return atomic_load_explicit(&d->owner, memory_order_relaxed) == (uintptr_t)pthread_self();
}

bool device_enter(struct replay_device *d, bool may_wait)
{
	bool got = false;

	if (atomic_load(&d->replay->abandoned)) {
		atomic_fetch_add(&d->intruding, 1);
		return false;
	}
	if (may_wait)
		got = !pthread_mutex_trylock(&d->lock) ||
		      lock_within(d, d->replay->options.drain_ns);
	else
		got = lock_quickly(d);
	while (!got) {
		atomic_fetch_add(&d->intruding, 1);
		if (atomic_load(&d->phase) != PHASE_BUSY) {
			atomic_fetch_add(&d->intrusions, 1);
			return false;
		}
		atomic_fetch_sub(&d->intruding, 1);
		got = lock_within(d, SLICE_NS);
	}
	atomic_store_explicit(&d->owner, (uintptr_t)pthread_self(), memory_order_relaxed);
	return true;
}

void device_leave(struct replay_device *d)
{
	atomic_store_explicit(&d->owner, 0, memory_order_relaxed);
	pthread_mutex_unlock(&d->lock);
}

void device_intruder_leaves(struct replay_device *d)
{
	atomic_fetch_sub(&d->intruding, 1);
}

bool device_busy(struct replay_device *d)
{
	if (atomic_load_explicit(&d->phase, memory_order_relaxed) != PHASE_BUSY)
		atomic_store(&d->phase, PHASE_BUSY);
	if (!atomic_load(&d->intruding) &&
	    (!d->window.open || atomic_load(&d->intrusions) == d->window.intrusions))
		return true;
	atomic_store(&d->phase, PHASE_OPEN);
	return false;
}

void device_not_busy(struct replay_device *d)
{
	if (atomic_load_explicit(&d->phase, memory_order_relaxed) == PHASE_BUSY)
		atomic_store(&d->phase, PHASE_OPEN);
}

void device_settle_phase(struct replay_device *d)
{
	int phase = d->window.open || d->live.open || d->outstanding ? PHASE_OPEN : PHASE_IDLE;

	if (atomic_load_explicit(&d->phase, memory_order_relaxed) != phase)
		atomic_store(&d->phase, phase);
}
