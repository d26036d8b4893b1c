/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting until a device is idle, with a bound. OpenCL's own waits have none, so the state of
 * markers is polled; a poll does no work in the threads of a CPU device, which are being counted.
 */
#include "runtime/opencl/opencl_internal.h"

#include <sched.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The n-th rest of a wait: gives the processor away, then sleeps, at most a tenth of the time
 * already waited. */
static void rest(uint32_t n, uint64_t begun)
{
	uint64_t ns = (now_ns() - begun) / 10;

	if (n < 50) {
		sched_yield();
		return;
	}
	ns = ns < 5000 ? 5000 : ns > 1000000 ? 1000000 : ns;
	nanosleep(&(struct timespec){0, (long)ns}, NULL);
}

/* 0, RC_TIMEOUT, or RC_ERROR when the command failed. */
static int wait_until(struct vendor_event *e, uint64_t deadline, const char *what,
		      struct error *err)
{
	uint64_t begun = now_ns();
	int32_t status = 1;

	for (uint32_t n = 0;; n++) {
		if (layer.next.clGetEventInfo(e, OPENCL_EVENT_COMMAND_EXECUTION_STATUS,
					      sizeof(status), &status, NULL))
			return error_set(err, RC_ERROR, "the state of %s cannot be read", what);
		if (status == OPENCL_COMPLETE)
			return 0;
		if (status < 0)
			return error_set(err, RC_ERROR, "%s failed (OpenCL error %d)", what,
					 (int)status);
		if (now_ns() > deadline)
			return error_set(err, RC_TIMEOUT, "%s does not end", what);
		rest(n, begun);
	}
}

int wait_for(struct vendor_event *e, const char *what, struct error *err)
{
	return wait_until(e, UINT64_MAX, what, err);
}

static int drain_replays(struct device *d, uint64_t deadline, struct error *err)
{
	int rc = 0;

	while (d->n_replaying && !rc) {
		struct context *c = d->replaying[d->n_replaying - 1];
		uint32_t i = device_index(c, d);

		layer.next.clFlush(c->replays[i]);
		rc = wait_until(c->last[i], deadline, "a replayed operation", err);
		if (rc != RC_TIMEOUT)
			d->n_replaying--;
	}
	return rc;
}

static int drain_queue(struct queue *q, uint64_t deadline, struct error *err)
{
	struct vendor_event *marker = NULL;
	int32_t status;
	int rc;

	if (layer.next.clEnqueueMarkerWithWaitList)
		status = layer.next.clEnqueueMarkerWithWaitList(q->object.handle, 0, NULL, &marker);
	else
		status = layer.next.clEnqueueMarker(q->object.handle, &marker);
	if (status || !marker)
		return error_set(err, RC_ERROR, "a queue takes no marker (OpenCL error %d)",
				 (int)status);
	layer.next.clFlush(q->object.handle);
	rc = wait_until(marker, deadline, "the program's own work", err);
	layer.next.clReleaseEvent(marker);
	return rc;
}

/* A queue that was used since it was last idle, kept from being released; NULL: none is left. */
static struct queue *take_used(struct device *d)
{
	struct queue *q;

	track_lock();
	for (q = d->queues; q; q = q->next)
		if (!q->dead && atomic_exchange(&q->used, false)) {
			q->busy++;
			break;
		}
	track_unlock();
	return q;
}

static void put_back(struct queue *q)
{
	bool release;

	track_lock();
	release = !--q->busy && q->dead;
	track_unlock();
	if (!release)
		return;
	layer.next.clReleaseCommandQueue(q->object.handle);
	context_drop_child(q->context);
	pool_put(q);
}

int drain(void *device, uint64_t bound_ns, struct error *err)
{
	struct device *d = device;
	uint64_t begun = now_ns();
	uint64_t deadline = bound_ns < UINT64_MAX - begun ? begun + bound_ns : UINT64_MAX;
	uint64_t enqueues;
	struct queue *q;
	int rc = drain_replays(d, deadline, err);

	if (rc)
		return rc;
	do {
		enqueues = atomic_load(&d->enqueues);
		while ((q = take_used(d))) {
			rc = drain_queue(q, deadline, err);
			if (rc)
				atomic_store(&q->used, true);
			put_back(q);
			if (rc)
				return rc;
		}
		/* Their callbacks may enqueue more. */
		for (uint32_t n = 0; atomic_load(&layer.callbacks_due); n++) {
			if (now_ns() > deadline)
				return error_set(err, RC_TIMEOUT,
						 "a callback of the program does not end");
			rest(n, begun);
		}
	} while (atomic_load(&d->enqueues) != enqueues);
	return 0;
}
