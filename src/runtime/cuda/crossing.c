/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between contexts: see crossing.h. */
#include "runtime/cuda/crossing.h"

#include "runtime/cuda/calls.h"
#include "runtime/cuda/drain.h"

#include <time.h>

#define CROSSING_MAX         256
#define EVENT_DISABLE_TIMING 2u

struct crossing {
	struct cuda_context *from, *to;
	struct CUstream_st *stream;
};
static struct {
	pthread_mutex_t lock; /* never held over a call of the driver */
	_Atomic unsigned n;
	_Atomic bool overflow; /* one was not noted: it is not known when it has arrived */
	struct crossing items[CROSSING_MAX];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add(const struct crossing *x)
{
	pthread_mutex_lock(&table.lock);
	for (unsigned i = 0; i < table.n; i++)
		if (table.items[i].from == x->from && table.items[i].to == x->to &&
		    table.items[i].stream == x->stream) {
			pthread_mutex_unlock(&table.lock);
			return;
		}
	if (table.n < CROSSING_MAX)
		table.items[table.n++] = *x;
	else
		table.overflow = true;
	pthread_mutex_unlock(&table.lock);
}

void cuda_crossing_note(struct cuda_context *from, struct cuda_context *to,
			struct CUstream_st *stream)
{
	for (unsigned i = 0; i < cuda_session.n_contexts; i++) {
		struct crossing x = {from, &cuda_session.contexts[i], stream};

		if (x.to != from && (!to || x.to == to) && !x.to->gone)
			add(&x);
	}
}

static bool take(const struct cuda_context *to, struct crossing *out)
{
	bool found = false;

	pthread_mutex_lock(&table.lock);
	for (unsigned i = table.n; i-- > 0 && !found;)
		if (table.items[i].to == to) {
			*out = table.items[i];
			table.items[i] = table.items[--table.n];
			found = true;
		}
	pthread_mutex_unlock(&table.lock);
	return found;
}

void cuda_crossing_forget(struct cuda_context *from, struct CUstream_st *stream)
{
	if (!table.n)
		return;
	pthread_mutex_lock(&table.lock);
	for (unsigned i = table.n; i-- > 0;)
		if (table.items[i].from == from && table.items[i].stream == stream)
			table.items[i] = table.items[--table.n];
	pthread_mutex_unlock(&table.lock);
}

/* An event behind all that the stream has now; NULL: it has nothing any more, its context is lost.
 */
static struct CUevent_st *mark(const struct crossing *x)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct CUevent_st *event = NULL;
	struct CUctx_st *popped;

	if (x->from->gone || d->context_push(x->from->context))
		return NULL;
	if (!d->event_create(&event, EVENT_DISABLE_TIMING) && d->event_record(event, x->stream)) {
		d->event_destroy(event);
		event = NULL;
	}
	d->context_pop(&popped);
	return event;
}

/* False: not until then. */
static bool arrives(const struct crossing *x, uint64_t until_ns)
{
	const struct cuda_driver *d = &cuda_session.driver;
	const struct timespec pause = {0, 50000};
	struct CUevent_st *event;
	cu_result result;

	if (cuda_is_captured(x->stream))
		return false;
	event = mark(x);
	if (!event)
		return true;
	while ((result = d->event_query(event)) == CU_NOT_READY && cuda_now_ns() < until_ns)
		nanosleep(&pause, NULL);
	d->event_destroy(event);
	return result != CU_NOT_READY;
}

int cuda_crossing_wait(struct cuda_context *to, uint64_t bound_ns, struct error *err)
{
	uint64_t until = cuda_now_ns() + bound_ns;
	struct crossing x;

	if (table.overflow)
		return error_set(err, RC_TIMEOUT, "more copies between contexts than are followed");
	while (table.n && take(to, &x)) {
		if (arrives(&x, until))
			continue;
		add(&x);
		return error_set(err, RC_TIMEOUT, "a copy from another context did not end");
	}
	return 0;
}
