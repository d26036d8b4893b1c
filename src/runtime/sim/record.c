/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded operations and their order. A window may use several queues that wait for each other
 * through events, and kernels on two queues may even talk to each other: so an operation is done
 * again on its own queue, after the same operations of other queues as the first time - no less, or
 * it would see other memory, and no more, or it could wait for what waits for it.
 */
#include "runtime/sim/internal.h"
#include "runtime/sim/pool.h"

#include <string.h>

struct rt_record *rt_record_new(struct rt_queue *q, enum rt_kind kind)
{
	struct rt_record *r = sim_pool_get(sizeof(*r));

	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	atomic_init(&r->references, 1);
	r->kind = kind;
	r->queue = q;
	atomic_fetch_add_explicit(&rt.n_records, 1, memory_order_relaxed);
	return r;
}

void rt_record_ref(struct rt_record *r)
{
	atomic_fetch_add_explicit(&r->references, 1, memory_order_relaxed);
}

void rt_record_unref(struct rt_record *r)
{
	if (!r || atomic_fetch_sub_explicit(&r->references, 1, memory_order_acq_rel) != 1)
		return;
	atomic_fetch_sub_explicit(&rt.n_records, 1, memory_order_relaxed);
	waits_release(&r->waits);
	sim_pool_put(r->source, r->bytes);
	sim_pool_put(r, sizeof(*r));
}

void waits_add(struct rt_waits *w, struct rt_record *r)
{
	rt_record_ref(r);
	for (uint32_t i = 0; i < w->n; i++)
		if (w->items[i]->queue == r->queue) {
			rt_record_unref(w->items[i]);
			w->items[i] = r;
			return;
		}
	if (w->n == w->room) {
		uint32_t room = w->room ? 2 * w->room : 8;
		struct rt_record **items = sim_pool_get(room * sizeof(*items));

		if (!items) {
			w->failed = true;
			rt_record_unref(r);
			return;
		}
		if (w->n)
			memcpy(items, w->items, w->n * sizeof(*items));
		sim_pool_put(w->items, w->room * sizeof(*items));
		w->items = items;
		w->room = room;
	}
	w->items[w->n++] = r;
}

void waits_copy(struct rt_waits *to, const struct rt_waits *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		waits_add(to, from->items[i]);
	to->failed |= from->failed;
}

void waits_clear(struct rt_waits *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		rt_record_unref(w->items[i]);
	w->n = 0;
}

void waits_release(struct rt_waits *w)
{
	waits_clear(w);
	sim_pool_put(w->items, w->room * sizeof(*w->items));
	*w = (struct rt_waits){0};
}

void rt_record_done(void *data, uint64_t begin_ns, uint64_t end_ns)
{
	struct rt_record *r = data;

	atomic_store_explicit(&r->begin_ns, begin_ns, memory_order_relaxed);
	atomic_store_explicit(&r->end_ns, end_ns, memory_order_relaxed);
	rt_record_unref(r);
}
