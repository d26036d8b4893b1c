/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the replay engine asks of the sim runtime: waiting, saving, comparing, putting back, doing
 * again. Every call goes to the library's own functions (tools), which are never intercepted.
 */
#include "base/hash.h"
#include "runtime/sim/internal.h"
#include "runtime/sim/pool.h"

#include <string.h>

#define SAVE_WAIT_NS UINT64_C(100000000)

/* The library's codes in ours. A real runtime has such a table, too. */
static int translate(struct error *err, int result, const char *what)
{
	int code = result == SIM_LOST || result == SIM_FAULT ? RC_END
		   : result == SIM_TIMEOUT                   ? RC_TIMEOUT
		   : result == SIM_NO_MEMORY                 ? RC_NO_MEMORY
		   : result == SIM_IO                        ? RC_IO
		   : result == SIM_BUSY                      ? RC_BUSY
							     : RC_ERROR;

	return result ? error_set(err, code, "%s on the simulated device: %s", what,
				  rt.tools->error_text())
		      : 0;
}

static int closed(struct error *err)
{
	return error_set(err, RC_END, "the program closed the simulated device");
}

/* The saves of one store, or all. */
static void saving_forget(struct rt_device *d, const struct rt_store *s)
{
	struct rt_store **at = &d->saving;

	pthread_mutex_lock(&d->lock);
	while (*at)
		if (!s || *at == s) {
			(*at)->queue = NULL;
			*at = (*at)->next_saving;
		} else {
			at = &(*at)->next_saving;
		}
	pthread_mutex_unlock(&d->lock);
}

static int drain(void *device, uint64_t bound_ns, struct error *err)
{
	struct rt_device *d = device;
	int rc = d->native.device
			 ? translate(err, rt.tools->drain(d->native.device, bound_ns), "waiting")
			 : closed(err);

	if (!rc)
		saving_forget(d, NULL); /* all are over */
	return rc;
}

static bool overlaps(const struct rt_store *s, const struct runtime_memory *m)
{
	return s->saved < m->address + m->size && m->address < s->saved + s->saved_bytes;
}

void saves_precede(struct rt_device *d, struct sim_queue *q, const struct runtime_memory *m,
		   bool may_wait)
{
	if (!may_wait) { /* the engine may be at work for another thread: the list is its */
		pthread_mutex_lock(&d->lock);
		for (struct rt_store *s = d->saving; s; s = s->next_saving)
			if (s->queue != q && overlaps(s, m))
				atomic_store(&s->failed, 1);
		pthread_mutex_unlock(&d->lock);
		return;
	}
	/* Here the engine's lock is held, and only its callbacks change the list. */
	for (struct rt_store *s = d->saving; s; s = s->next_saving)
		if (s->queue != q && overlaps(s, m) &&
		    rt.tools->queue_reach(s->queue, s->place, SAVE_WAIT_NS))
			atomic_store(&s->failed, 1);
}

/* ---- stores ---- */

static int store_get(void *device, uint64_t bytes, enum runtime_store_kind kind, void **store_out,
		     struct error *err)
{
	struct rt_device *d = device;
	struct rt_store **at, *s = NULL;
	int rc = 0;

	if (!d->native.device)
		return closed(err);
	if (kind == RUNTIME_STORE_DEVICE && rt.options.no_device_store)
		return error_set(err, RC_UNSUPPORTED, "no stores on this device");
	if (kind == RUNTIME_STORE_DEVICE) {
		pthread_mutex_lock(&d->lock);
		/* Not one of far too many bytes: a large memory may want it later. */
		for (at = &d->stores; *at; at = &(*at)->next)
			if ((*at)->room >= bytes && (*at)->room / 2 <= bytes)
				break;
		s = *at;
		if (s)
			*at = s->next;
		pthread_mutex_unlock(&d->lock);
	}
	if (!s) {
		s = sim_pool_get(sizeof(*s));
		if (!s)
			return error_set(err, RC_NO_MEMORY, "no memory for a store");
		memset(s, 0, sizeof(*s));
		s->room = bytes ? bytes : 1;
		s->kind = kind;
		if (kind == RUNTIME_STORE_DEVICE)
			rc = translate(
				err, rt.tools->tool_malloc(d->native.device, s->room, &s->address),
				"memory for a store");
		else if (!(s->address = (uint64_t)(uintptr_t)sim_pool_get(s->room)))
			rc = error_set(err, RC_NO_MEMORY, "the host has no %llu bytes for a store",
				       (unsigned long long)bytes);
		if (rc) {
			sim_pool_put(s, sizeof(*s));
			/* What lies in the pool unused may be in the way. */
			stores_release(d);
			return rc;
		}
	}
	s->bytes = bytes;
	atomic_store(&s->failed, 0);
	atomic_fetch_add_explicit(&rt.n_stores, 1, memory_order_relaxed);
	*store_out = s;
	return 0;
}

static void store_free(struct rt_device *d, struct rt_store *s)
{
	if (s->kind == RUNTIME_STORE_DEVICE && d->native.device)
		rt.tools->tool_free(d->native.device, s->address);
	if (s->kind == RUNTIME_STORE_HOST)
		sim_pool_put((void *)(uintptr_t)s->address, s->room);
	sim_pool_put(s, sizeof(*s));
}

static void store_put(void *device, void *store)
{
	struct rt_device *d = device;
	struct rt_store *s = store;

	if (!s)
		return;
	saving_forget(d, s);
	atomic_fetch_sub_explicit(&rt.n_stores, 1, memory_order_relaxed);
	if (s->kind == RUNTIME_STORE_HOST || !d->native.device) {
		store_free(d, s); /* the pool keeps host memory warm */
		return;
	}
	pthread_mutex_lock(&d->lock);
	s->next = d->stores;
	d->stores = s;
	pthread_mutex_unlock(&d->lock);
}

void stores_release(struct rt_device *d)
{
	struct rt_store *s;

	pthread_mutex_lock(&d->lock);
	s = d->stores;
	d->stores = NULL;
	pthread_mutex_unlock(&d->lock);
	while (s) {
		struct rt_store *next = s->next;

		store_free(d, s);
		s = next;
	}
}

static int check_store(const struct rt_device *d, const struct rt_store *s, uint64_t offset,
		       uint64_t bytes, struct error *err)
{
	if (!d->native.device)
		return closed(err);
	if (offset > s->bytes || bytes > s->bytes - offset)
		return error_set(err, RC_INVALID, "%llu bytes at %llu of a store of %llu",
				 (unsigned long long)bytes, (unsigned long long)offset,
				 (unsigned long long)s->bytes);
	return 0;
}

/* A save that was ordered on a queue says only here that it failed. */
static int check_saved(struct rt_store *s, struct error *err)
{
	return atomic_load(&s->failed)
		       ? error_set(err, RC_IO, "the memory could not be saved: the copy failed")
		       : 0;
}

/* ---- memory ---- */

static int save(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		void *store, uint64_t store_offset, const struct runtime_op *before,
		struct error *err)
{
	struct rt_device *d = device;
	struct rt_store *s = store;
	uint64_t place;
	int rc = check_store(d, s, store_offset, bytes, err);

	if (rc)
		return rc;
	rc = translate(err,
		       rt.tools->copy(d->native.device, before ? before->queue_native : NULL,
				      s->address + store_offset, m->address + offset, bytes,
				      &s->failed),
		       "saving memory");
	if (rc || !before)
		return rc;
	place = rt.tools->queue_place(before->queue_native);
	/* A store has one place: what another queue saves into it has to be there first. */
	if (s->queue && s->queue != before->queue_native &&
	    rt.tools->queue_reach(s->queue, s->place, SAVE_WAIT_NS))
		atomic_store(&s->failed, 1);
	pthread_mutex_lock(&d->lock);
	if (!s->queue) {
		s->next_saving = d->saving;
		d->saving = s;
		s->saved = m->address + offset;
		s->saved_bytes = bytes;
	} else if (s->saved != m->address + offset) {
		/* Several parts in one store: as if all between them were saved. */
		uint64_t end = s->saved + s->saved_bytes;

		if (end < m->address + offset + bytes)
			end = m->address + offset + bytes;
		if (s->saved > m->address + offset)
			s->saved = m->address + offset;
		s->saved_bytes = end - s->saved;
	}
	s->queue = before->queue_native;
	s->place = place;
	pthread_mutex_unlock(&d->lock);
	return 0;
}

static int restore(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		   void *store, uint64_t store_offset, struct error *err)
{
	struct rt_device *d = device;
	struct rt_store *s = store;
	int rc = check_store(d, s, store_offset, bytes, err);

	if (!rc)
		rc = check_saved(s, err);
	if (rc)
		return rc;
	return translate(err,
			 rt.tools->copy(d->native.device, NULL, m->address + offset,
					s->address + store_offset, bytes, NULL),
			 "restoring memory");
}

static const unsigned char *look(struct rt_device *d, uint64_t address, uint64_t bytes)
{
	return rt.tools->look(d->native.device, address, bytes);
}

static int compare(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		   void *store, uint64_t store_offset, uint64_t chunk, uint64_t *bitmap,
		   struct error *err)
{
	struct rt_device *d = device;
	struct rt_store *s = store;
	const unsigned char *live, *saved;
	int rc = check_store(d, s, store_offset, bytes, err);

	if (!rc)
		rc = check_saved(s, err);
	if (rc)
		return rc;
	if (!chunk)
		return error_set(err, RC_INVALID, "chunks of no bytes");
	live = look(d, m->address + offset, bytes);
	saved = s->kind == RUNTIME_STORE_DEVICE
			? look(d, s->address + store_offset, bytes)
			: (const unsigned char *)(uintptr_t)(s->address + store_offset);
	if (!live || !saved)
		return error_set(err, RC_INVALID, "comparing outside of an allocation");
	for (uint64_t i = 0, at = 0; at < bytes; i++, at += chunk) {
		uint64_t size = bytes - at < chunk ? bytes - at : chunk;

		if (memcmp(live + at, saved + at, size))
			bitmap[i / 64] |= UINT64_C(1) << (i % 64);
	}
	return 0;
}

static int hash(void *device, const struct runtime_memory *m, uint64_t *hash_out, struct error *err)
{
	struct rt_device *d = device;
	const unsigned char *p;

	if (!d->native.device)
		return closed(err);
	p = look(d, m->address, m->size);
	if (!p)
		return error_set(err, RC_INVALID, "hashing outside of an allocation");
	*hash_out = hash64(p, m->size);
	return 0;
}

static int track(void *device, const struct runtime_memory *m, struct error *err)
{
	struct rt_device *d = device;

	return d->native.device ? translate(err, rt.tools->track(d->native.device, m->address),
					    "tracking writes")
				: closed(err);
}

static int changed(void *device, const struct runtime_memory *m, uint64_t chunk, uint64_t *bitmap,
		   struct error *err)
{
	struct rt_device *d = device;
	uint64_t pages = (m->size + SIM_PAGE - 1) / SIM_PAGE, bytes = (pages + 63) / 64 * 8,
		 *written;
	int rc;

	if (!d->native.device)
		return closed(err);
	if (!chunk)
		return error_set(err, RC_INVALID, "chunks of no bytes");
	written = sim_pool_get(bytes);
	if (!written)
		return error_set(err, RC_NO_MEMORY, "no memory for a bitmap");
	memset(written, 0, bytes);
	rc = translate(err, rt.tools->tracked(d->native.device, m->address, written),
		       "asking for writes");
	for (uint64_t p = 0; !rc && p < pages; p++) {
		uint64_t last = (p + 1) * SIM_PAGE - 1;

		if (!(written[p / 64] >> (p % 64) & 1))
			continue;
		if (last >= m->size)
			last = m->size - 1;
		for (uint64_t i = p * SIM_PAGE / chunk; i <= last / chunk; i++)
			bitmap[i / 64] |= UINT64_C(1) << (i % 64);
	}
	sim_pool_put(written, bytes);
	return rc;
}

/* ---- doing it again ---- */

static int launch(void *device, void *recorded, struct error *err)
{
	struct rt_device *d = device;
	struct rt_record *r = recorded;
	struct sim_queue *q = r->queue->native;
	uint64_t place;
	int rc = 0;

	if (!d->native.device || !q)
		return closed(err);
	for (uint32_t i = 0; i < r->waits.n && !rc && !rt.options.no_order; i++) {
		const struct rt_record *w = r->waits.items[i];

		pthread_mutex_lock(&d->lock);
		place = w->place;
		pthread_mutex_unlock(&d->lock);
		if (w->queue->native)
			rc = rt.tools->queue_wait_place(q, w->queue->native, place);
	}
	if (rc)
		return translate(err, rc, "waiting for another queue");
	switch (r->kind) {
	case RT_KERNEL:
		atomic_store_explicit(&r->end_ns, 0, memory_order_relaxed);
		rt_record_ref(r);
		rc = rt.tools->launch(q, &r->launch, rt_record_done, r);
		if (rc)
			rt_record_unref(r);
		break;
	case RT_COPY_IN:
		rc = rt.next.copy_in(q, r->to, r->source, r->bytes);
		break;
	case RT_COPY:
		rc = rt.next.copy(q, r->to, r->from, r->bytes);
		break;
	case RT_FILL:
		rc = rt.next.fill(q, r->to, r->value, r->bytes);
		break;
	}
	if (!rc) {
		place = rt.tools->queue_place(q);
		pthread_mutex_lock(&d->lock);
		r->place = place;
		pthread_mutex_unlock(&d->lock);
	}
	return translate(err, rc, "launching again");
}

static int times(void *device, void *recorded, uint64_t *begin_ns_out, uint64_t *end_ns_out,
		 struct error *err)
{
	struct rt_record *r = recorded;

	(void)device;
	*end_ns_out = atomic_load_explicit(&r->end_ns, memory_order_relaxed);
	*begin_ns_out = atomic_load_explicit(&r->begin_ns, memory_order_relaxed);
	if (r->kind != RT_KERNEL || !*end_ns_out)
		return error_set(err, RC_UNSUPPORTED, "the device has no times of it");
	return 0;
}

/* Places may still name it, but it is never done again: what it waited for is let go, or a chain of
 * operations that wait for each other would live as long as the program. */
static void op_release(void *device, void *recorded)
{
	struct rt_record *r = recorded;

	(void)device;
	waits_release(&r->waits);
	rt_record_unref(r);
}

void runtime_fill(struct runtime *runtime, const struct runtime_sim_options *o)
{
	*runtime = (struct runtime){
		.name = "sim",
		.size = sizeof(*runtime),
		.capabilities = (o->no_ordered_save ? 0 : RUNTIME_ORDERED_SAVE) |
				(o->no_device_store ? 0 : RUNTIME_DEVICE_STORE) |
				(o->no_tracking ? 0 : RUNTIME_TRACKS_WRITES) |
				(o->no_order ? 0 : RUNTIME_LAUNCH_KEEPS_ORDER),
		.drain = drain,
		.store_get = store_get,
		.store_put = store_put,
		.save = save,
		.restore = restore,
		.compare = compare,
		.hash = hash,
		.track = o->no_tracking ? NULL : track,
		.changed = o->no_tracking ? NULL : changed,
		.launch = launch,
		.times = o->no_times ? NULL : times,
		.op_release = op_release,
	};
}
