/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the device with a bound. The driver's own wait has none, so an event is recorded on
 * every stream that got work since the last time, and the events are polled.
 */
#include "runtime/cuda/drain.h"

#include "runtime/cuda/calls.h"
#include "runtime/cuda/crossing.h"

#include <time.h>

#define EVENT_DISABLE_TIMING 2u

void cuda_drain_note(struct cuda_context *c, struct CUstream_st *stream)
{
	for (unsigned i = c->n_busy; i-- > 0;)
		if (c->busy[i].stream == stream)
			return;
	if (c->n_busy == CUDA_STREAMS_MAX) {
		c->busy_overflow = true;
		return;
	}
	c->busy[c->n_busy++].stream = stream; /* the slot's event, if it has one, is kept */
}

void cuda_drain_note_all(struct cuda_context *c)
{
	c->passed_overflow = true;
}

void cuda_drain_note_passed(struct cuda_context *c, struct CUstream_st *stream)
{
	for (unsigned i = 0; i < CUDA_PASSED_MAX; i++) {
		struct CUstream_st *there = c->passed[i];

		if (there == stream ||
		    (!there && (atomic_compare_exchange_strong(&c->passed[i], &there, stream) ||
				there == stream)))
			return;
	}
	cuda_drain_note_all(c);
}

static void take_passed(struct cuda_context *c)
{
	for (unsigned i = 0; i < CUDA_PASSED_MAX; i++) {
		struct CUstream_st *stream =
			c->passed[i] ? atomic_exchange(&c->passed[i], NULL) : NULL;

		if (stream)
			cuda_drain_note(c, stream);
	}
	if (c->passed_overflow && atomic_exchange(&c->passed_overflow, false))
		c->busy_overflow = true;
}

void cuda_drain_forget(struct cuda_context *c, struct CUstream_st *stream)
{
	take_passed(c);
	for (unsigned i = 0; i < c->n_busy; i++)
		if (c->busy[i].stream == stream) {
			struct cuda_stream gone = c->busy[i];

			c->busy[i] = c->busy[--c->n_busy];
			c->busy[c->n_busy] = gone; /* keeps the event */
			return;
		}
}

uint64_t cuda_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int cuda_drain_fail(const char *what, cu_result result, struct error *err)
{
	const struct cuda_driver *d = &cuda_session.driver;
	/* Errors of a kernel stick to the context: nothing more can be done with it. */
	bool lost = result >= 700 || result == CU_DEINITIALIZED;

	return error_set(err, lost ? RC_END : RC_ERROR, "%s: %s", what,
			 cuda_driver_error(d, result));
}

/* Kernels of microseconds are waited for by spinning, longer ones without taking a core. */
static void pause_between(uint64_t waited_ns)
{
	struct timespec t = {0, 20000};

	if (waited_ns < 200000)
		return;
	if (waited_ns > 20000000)
		t.tv_nsec = 500000;
	nanosleep(&t, NULL);
}

static uint64_t left(uint64_t start_ns, uint64_t bound_ns)
{
	uint64_t waited = cuda_now_ns() - start_ns;

	return waited < bound_ns ? bound_ns - waited : 0;
}

/* An event in such a stream would become a part of the program's graph. */
static bool is_capturing(const struct cuda_context *c)
{
	if (cuda_session.captures <= 0)
		return false;
	for (unsigned i = 0; i < c->n_busy; i++)
		if (cuda_is_captured(c->busy[i].stream))
			return true;
	return c->busy_overflow;
}

int cuda_drain(void *device, uint64_t bound_ns, struct error *err)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct cuda_context *c = device;
	uint64_t start = cuda_now_ns();
	cu_result result = CU_OK;

	if (c->gone)
		return error_set(err, RC_END, "the context was destroyed");

	take_passed(c);
	if (c->own_busy) {
		cuda_drain_note(c, c->own);
		c->own_busy = false;
	}
	if (is_capturing(c))
		return error_set(err, RC_TIMEOUT, "a stream with work to do is being captured");
	if (c->busy_overflow) {
		result = d->context_wait();
		c->n_busy = 0;
		c->busy_overflow = false;
		return result ? cuda_drain_fail("waiting for the device", result, err)
			      : cuda_crossing_wait(c, left(start, bound_ns), err);
	}
	for (unsigned i = 0; i < c->n_busy && !result; i++) {
		if (!c->busy[i].event)
			result = d->event_create(&c->busy[i].event, EVENT_DISABLE_TIMING);
		if (!result)
			result = d->event_record(c->busy[i].event, c->busy[i].stream);
	}
	for (unsigned i = 0; i < c->n_busy && !result;) {
		uint64_t waited;

		result = d->event_query(c->busy[i].event);
		if (result != CU_NOT_READY) {
			i++;
			continue;
		}
		result = CU_OK;
		waited = cuda_now_ns() - start;
		if (waited > bound_ns)
			return error_set(err, RC_TIMEOUT,
					 "the device did not become idle within %.1f s",
					 (double)bound_ns / 1e9);
		pause_between(waited);
	}
	if (result)
		return cuda_drain_fail("waiting for the device", result, err);
	c->n_busy = 0;
	return cuda_crossing_wait(c, left(start, bound_ns), err);
}
