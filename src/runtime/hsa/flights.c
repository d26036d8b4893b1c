/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of ours in the place of the program's: see flights.h. */
#include "runtime/hsa/flights.h"

#include <stdlib.h>
#include <time.h>

#define SPIN_NS 50000u /* a short kernel is waited for without sleeping */

static struct {
	pthread_mutex_t lock;
	struct hsa_flight *free;
} flights = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct hsa_flight *hsa_flight_new(uint64_t program, const struct hsa_tap *tap)
{
	struct hsa_flight *f;

	pthread_mutex_lock(&flights.lock);
	f = flights.free;
	if (f)
		flights.free = f->next_free;
	pthread_mutex_unlock(&flights.lock);
	if (f) {
		hsa_session.core.hsa_signal_store_relaxed(f->signal, 1);
	} else {
		f = calloc(1, sizeof(*f));
		if (!f)
			return NULL;
		if (hsa_session.core.hsa_signal_create(1, 0, NULL, &f->signal)) {
			free(f);
			return NULL;
		}
	}
	f->next = f->next_free = NULL;
	f->program = program;
	f->tap = tap;
	atomic_store(&f->references, 1);
	atomic_store(&f->delivered, false);
	return f;
}

void hsa_flight_ref(struct hsa_flight *f)
{
	atomic_fetch_add(&f->references, 1);
}

void hsa_flight_unref(struct hsa_flight *f)
{
	if (!f || atomic_fetch_sub(&f->references, 1) > 1)
		return;
	pthread_mutex_lock(&flights.lock);
	f->next_free = flights.free;
	flights.free = f;
	pthread_mutex_unlock(&flights.lock);
}

void hsa_flights_release(void)
{
	struct hsa_flight *f, *next;

	pthread_mutex_lock(&flights.lock);
	f = flights.free;
	flights.free = NULL;
	pthread_mutex_unlock(&flights.lock);
	for (; f; f = next) {
		next = f->next_free;
		if (!atomic_load(&hsa_session.closed))
			(void)hsa_session.core.hsa_signal_destroy(f->signal);
		free(f);
	}
}

void hsa_flight_track(struct hsa_device *d, struct hsa_flight *f)
{
	hsa_flight_ref(f);
	pthread_mutex_lock(&d->lock);
	f->next = d->flights;
	d->flights = f;
	pthread_mutex_unlock(&d->lock);
}

bool hsa_flight_over(const struct hsa_flight *f)
{
	const struct hsa_signal_body *body = (const void *)(uintptr_t)f->signal;

	return __atomic_load_n(&body->value, __ATOMIC_ACQUIRE) < 1;
}

bool hsa_flight_wait(const struct hsa_flight *f, uint64_t bound_ns)
{
	uint64_t begin, waited = 0;
	struct timespec pause = {0, 20000};

	if (hsa_flight_over(f))
		return true;
	begin = now();
	do {
		/* Polled: the runtime's own wait may last longer than it was asked to. */
		if (waited > 20000000)
			pause.tv_nsec = 500000;
		if (waited > SPIN_NS)
			nanosleep(&pause, NULL);
		if (hsa_flight_over(f))
			return true;
		waited = now() - begin;
	} while (waited < bound_ns);
	return false;
}

void hsa_flight_deliver(struct hsa_flight *f)
{
	const struct hsa_signal_body *from = (const void *)(uintptr_t)f->signal;
	struct hsa_signal_body *to = (void *)(uintptr_t)f->program;

	if (!f->program || atomic_exchange(&f->delivered, true) || atomic_load(&hsa_session.closed))
		return;
	to->start_ts = from->start_ts;
	to->end_ts = from->end_ts;
	hsa_session.core.hsa_signal_subtract_screlease(f->program, 1);
}

static bool on_end(int64_t value, void *data)
{
	struct hsa_flight *f = data;

	(void)value;
	hsa_flight_deliver(f);
	hsa_flight_unref(f);
	return false;
}

void hsa_flight_forward(struct hsa_flight *f)
{
	if (!f->program || atomic_load(&f->delivered) || atomic_load(&hsa_session.closed))
		return;
	hsa_flight_ref(f);
	if (!hsa_session.amd.hsa_amd_signal_async_handler(f->signal, HSA_LT, 1, on_end, f))
		return;
	/* Without a handler somebody has to wait, or the program would for ever. */
	(void)hsa_flight_wait(f, UINT64_MAX / 2);
	hsa_flight_deliver(f);
	hsa_flight_unref(f);
}

/* The next one that is not over, with a reference; those that are, are forgotten. */
static struct hsa_flight *next_of(struct hsa_device *d)
{
	struct hsa_flight **at, *f, *done = NULL, *found = NULL;

	pthread_mutex_lock(&d->lock);
	at = &d->flights;
	while ((f = *at)) {
		if (!found && !hsa_flight_over(f)) {
			hsa_flight_ref(f);
			found = f;
			break;
		}
		*at = f->next;
		f->next = done;
		done = f;
	}
	pthread_mutex_unlock(&d->lock);
	while (done) {
		f = done->next;
		hsa_flight_unref(done);
		done = f;
	}
	return found;
}

bool hsa_flights_wait(struct hsa_device *d, uint64_t bound_ns)
{
	uint64_t begin = now(), spent = 0;
	struct hsa_flight *f;
	bool over = true;

	while (over && (f = next_of(d))) {
		over = hsa_flight_wait(f, bound_ns > spent ? bound_ns - spent : 0);
		hsa_flight_unref(f);
		spent = now() - begin;
	}
	return over;
}

void hsa_flights_forget(struct hsa_device *d, const struct hsa_tap *tap)
{
	struct hsa_flight **at, *f, *gone = NULL;

	pthread_mutex_lock(&d->lock);
	at = &d->flights;
	while ((f = *at)) {
		if (f->tap != tap) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		f->next = gone;
		gone = f;
	}
	pthread_mutex_unlock(&d->lock);
	for (; gone; gone = f) {
		f = gone->next;
		/* What is not over keeps its signal: it may still be decremented. */
		if (hsa_flight_over(gone))
			hsa_flight_unref(gone);
	}
}
