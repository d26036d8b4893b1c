/* SPDX-License-Identifier: Apache-2.0 */
/* Turns between the handlers of signals: see events.h. */
#include "runtime/hsa/events.h"

#include "runtime/hsa/flights.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define TURN_S 5 /* a handler of the program's may be in the way */

enum turn_state {
	TURN_WAITS,
	TURN_RUNS,
	TURN_DONE,
	TURN_GIVEN_UP
};
struct turn {
	void (*call)(void *data);
	void *data;
	enum turn_state state; /* turns.lock */
	_Atomic unsigned references;
	struct hsa_flight *flight; /* its signal wakes the thread, which lets it go */
};
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Readers: packets on their way through the SDK. Innermost of all our locks. */
	pthread_rwlock_t gate;
	/* Kept from the first turn on: counting has to be stopped also where no signal is to be
	 * had. */
	struct hsa_flight *_Atomic spare;
} turns = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
	   PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP, NULL};

static struct hsa_flight *flight_get(void)
{
	struct hsa_flight *f = atomic_exchange(&turns.spare, NULL);

	if (!f)
		return hsa_flight_new(0, NULL);
	hsa_session.core.hsa_signal_store_relaxed(f->signal, 1);
	return f;
}

static void flight_put(struct hsa_flight *f)
{
	struct hsa_flight *none = NULL;

	if (f && !atomic_compare_exchange_strong(&turns.spare, &none, f))
		hsa_flight_unref(f);
}

void hsa_events_release(void)
{
	hsa_flight_unref(atomic_exchange(&turns.spare, NULL));
}

static void turn_unref(struct turn *t)
{
	if (atomic_fetch_sub(&t->references, 1) == 1)
		free(t);
}

static enum turn_state turn_move(struct turn *t, enum turn_state from, enum turn_state to)
{
	enum turn_state was;

	pthread_mutex_lock(&turns.lock);
	was = t->state;
	if (was == from)
		t->state = to;
	pthread_mutex_unlock(&turns.lock);
	/* Nobody waits for the begin of a turn, and who wakes up does not find the lock taken. */
	if (to == TURN_DONE)
		pthread_cond_broadcast(&turns.changed);
	return was;
}

static void call_alone(void (*call)(void *data), void *data)
{
	pthread_rwlock_wrlock(&turns.gate);
	call(data);
	pthread_rwlock_unlock(&turns.gate);
}

static bool on_turn(int64_t value, void *data)
{
	struct turn *t = data;

	(void)value;
	hsa_here.events = true;
	/* Before the one that waits goes on, perhaps to the end of everything. */
	flight_put(t->flight);
	if (turn_move(t, TURN_WAITS, TURN_RUNS) == TURN_WAITS) {
		call_alone(t->call, t->data);
		(void)turn_move(t, TURN_RUNS, TURN_DONE);
	}
	turn_unref(t);
	return false;
}

/* false: given up before it began. */
static bool turn_wait(struct turn *t)
{
	struct timespec until;
	bool done;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += TURN_S;
	pthread_mutex_lock(&turns.lock);
	while (t->state == TURN_WAITS &&
	       pthread_cond_timedwait(&turns.changed, &turns.lock, &until) != ETIMEDOUT)
		;
	if (t->state == TURN_WAITS)
		t->state = TURN_GIVEN_UP;
	while (t->state == TURN_RUNS)
		pthread_cond_wait(&turns.changed, &turns.lock);
	done = t->state == TURN_DONE;
	pthread_mutex_unlock(&turns.lock);
	return done;
}

bool hsa_events_turn(void (*call)(void *data), void *data)
{
	struct turn *t;
	bool done = false;

	if (atomic_load(&hsa_session.closed))
		return false;
	if (hsa_here.events) {
		call_alone(call, data);
		return true;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return false;
	*t = (struct turn){.call = call, .data = data};
	atomic_store(&t->references, 2);
	t->flight = flight_get();
	if (!t->flight || hsa_session.amd.hsa_amd_signal_async_handler(t->flight->signal, HSA_LT, 1,
								       on_turn, t)) {
		flight_put(t->flight);
		turn_unref(t);
	} else {
		hsa_session.core.hsa_signal_store_screlease(t->flight->signal, 0);
		done = turn_wait(t);
	}
	turn_unref(t);
	return done;
}

static void nothing(void *data)
{
	(void)data;
}

void hsa_events_meet(void)
{
	(void)hsa_events_turn(nothing, NULL);
}

void hsa_write(hsa_packet_writer writer, const void *packets, uint64_t n)
{
	pthread_rwlock_rdlock(&turns.gate);
	writer(packets, n);
	pthread_rwlock_unlock(&turns.gate);
}

void hsa_ring(uint64_t doorbell, uint64_t index)
{
	pthread_rwlock_rdlock(&turns.gate);
	hsa_session.core.hsa_signal_store_screlease(doorbell, (int64_t)index);
	pthread_rwlock_unlock(&turns.gate);
}
