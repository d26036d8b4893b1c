/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues: a ring of commands and a thread for each, in order. A place in a queue is the number of
 * commands put into it until then; everything that waits, waits for a place.
 */
#include "simdev/device.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_ROOM 256u

uint64_t sim_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *work(void *data)
{
	struct sim_queue *q = data;
	struct sim_command c;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		while (q->started == q->submitted && !q->stop) {
			q->idle = true;
			pthread_cond_wait(&q->filled, &q->lock);
			q->idle = false;
		}
		if (q->started == q->submitted)
			break;
		c = q->ring[q->started++ % q->room];
		pthread_mutex_unlock(&q->lock);
		sim_execute(q, &c);
		pthread_mutex_lock(&q->lock);
		q->completed++;
		if (q->waiters)
			pthread_cond_broadcast(&q->progressed);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* Commands are copied out before they run, so the ring may move at any time. */
static int grow(struct sim_queue *q)
{
	uint64_t room = q->room ? 2 * q->room : FIRST_ROOM;
	struct sim_command *ring = sim_pages(room * sizeof(*ring));

	if (!ring)
		return sim_fail(SIM_NO_MEMORY, "no memory for a longer queue");
	for (uint64_t i = q->started; i < q->submitted; i++)
		ring[i % room] = q->ring[i % q->room];
	sim_pages_free(q->ring, q->room * sizeof(*ring));
	q->ring = ring;
	q->room = room;
	return SIM_OK;
}

int sim_queue_put(struct sim_queue *q, const struct sim_command *c)
{
	int rc = SIM_OK;

	pthread_mutex_lock(&q->lock);
	if (q->stop || q->destroyed)
		rc = sim_fail(SIM_INVALID, "the queue was destroyed");
	else if (q->submitted - q->started == q->room)
		rc = grow(q);
	if (!rc) {
		q->ring[q->submitted++ % q->room] = *c;
		if (q->idle)
			pthread_cond_signal(&q->filled);
	}
	pthread_mutex_unlock(&q->lock);
	return rc;
}

uint64_t sim_queue_place(struct sim_queue *q)
{
	uint64_t place;

	pthread_mutex_lock(&q->lock);
	place = q->submitted;
	pthread_mutex_unlock(&q->lock);
	return place;
}

int sim_queue_until(struct sim_queue *q, uint64_t place, uint64_t deadline_ns)
{
	struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
				 .tv_nsec = (long)(deadline_ns % 1000000000u)};
	int rc = 0;

	pthread_mutex_lock(&q->lock);
	q->waiters++;
	while (q->completed < place && rc != ETIMEDOUT) {
		if (deadline_ns)
			rc = pthread_cond_timedwait(&q->progressed, &q->lock, &until);
		else
			pthread_cond_wait(&q->progressed, &q->lock);
	}
	q->waiters--;
	rc = q->completed < place ? SIM_TIMEOUT : SIM_OK;
	pthread_mutex_unlock(&q->lock);
	return rc;
}

int sim_queue_make(struct sim_device *d, struct sim_queue **queue_out)
{
	struct sim_queue *q;
	pthread_condattr_t clock;
	sigset_t all, old;
	int rc;

	pthread_mutex_lock(&d->queue_list_lock);
	if (d->n_queues == SIM_QUEUES_MAX) {
		rc = sim_fail(SIM_NO_MEMORY, "the device has no more than %d queues in its life",
			      SIM_QUEUES_MAX);
		goto out;
	}
	q = calloc(1, sizeof(*q));
	if (!q) {
		rc = sim_fail(SIM_NO_MEMORY, "no memory for a queue");
		goto out;
	}
	q->device = d;
	q->index = d->n_queues;
	q->unit = SIM_UNIT_NONE;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&q->filled, NULL);
	pthread_cond_init(&q->progressed, &clock);
	pthread_condattr_destroy(&clock);
	rc = grow(q);
	/* Signals are for the threads of the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!rc && pthread_create(&q->thread, NULL, work, q))
		rc = sim_fail(SIM_NO_MEMORY, "no thread for a queue");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc) {
		sim_pages_free(q->ring, q->room * sizeof(*q->ring));
		free(q);
		goto out;
	}
	d->queues[d->n_queues++] = q;
	*queue_out = q;
out:
	pthread_mutex_unlock(&d->queue_list_lock);
	return rc;
}

void sim_queue_end(struct sim_queue *q)
{
	pthread_mutex_lock(&q->lock);
	if (q->destroyed) {
		pthread_mutex_unlock(&q->lock);
		return;
	}
	q->destroyed = true;
	q->stop = true;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	sim_pages_free(q->ring, q->room * sizeof(*q->ring));
	q->ring = NULL;
}

/* Waits for what is in the queues now; *waited_out: something was. */
static int sweep(struct sim_device *d, uint64_t deadline, bool *waited_out)
{
	struct sim_queue *queues[SIM_QUEUES_MAX];
	uint64_t places[SIM_QUEUES_MAX];
	uint32_t n;
	int rc = SIM_OK;

	*waited_out = false;
	pthread_mutex_lock(&d->queue_list_lock);
	n = d->n_queues;
	memcpy(queues, d->queues, n * sizeof(*queues));
	pthread_mutex_unlock(&d->queue_list_lock);
	for (uint32_t i = 0; i < n; i++) {
		pthread_mutex_lock(&queues[i]->lock);
		places[i] = queues[i]->submitted;
		*waited_out |= queues[i]->completed < places[i];
		pthread_mutex_unlock(&queues[i]->lock);
	}
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = sim_queue_until(queues[i], places[i], deadline);
	return rc;
}

int sim_device_wait(struct sim_device *d)
{
	bool waited;
	int rc = sweep(d, 0, &waited);

	return rc ? rc : sim_device_state(d);
}

bool sim_device_is_busy(struct sim_device *d)
{
	bool waited;

	return sweep(d, 1, &waited) == SIM_TIMEOUT; /* that time has passed */
}

/* A callback may have put something into a queue that was looked at before: until all are idle. */
int sim_device_drain(struct sim_device *d, uint64_t bound_ns)
{
	uint64_t deadline = bound_ns ? sim_now_ns() + bound_ns : 0;
	bool waited;
	int rc;

	if (deadline < bound_ns)
		deadline = 0;
	do {
		rc = sweep(d, deadline, &waited);
		if (!rc && waited && deadline && sim_now_ns() >= deadline)
			rc = SIM_TIMEOUT;
	} while (!rc && waited);
	if (rc)
		return sim_fail(rc, "the device is still busy after %llu ms",
				(unsigned long long)(bound_ns / 1000000u));
	return sim_device_state(d);
}
