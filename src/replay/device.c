/* SPDX-License-Identifier: Apache-2.0 */
/* A device of the engine: added, its memories, drained, and its end. */
#include "replay/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool pass_counts_here(const struct plan *plan, uint32_t pass, const char *source)
{
	const struct plan_pass *p = &plan->passes[pass - 1];

	/* A pass without counters is a part of the group that the next one with counters completes.
	 */
	while (!p->n_counters && *p->config && pass < plan->n_passes)
		p = &plan->passes[pass++];
	for (uint32_t i = 0; i < p->n_counters; i++)
		if (!strcmp(plan->counters[p->counters[i]].source, source))
			return true;
	return false;
}

/* Neither a part that a later pass completes, nor the one that completes parts. */
static bool is_whole(const struct plan *plan, uint32_t pass)
{
	const struct plan_pass *p = &plan->passes[pass - 1];

	return p->n_counters && (pass == 1 || p[-1].n_counters || !*p[-1].config);
}

static int choose_passes(struct replay_device *d, struct error *err)
{
	const struct plan *plan = d->replay->plan;
	uint32_t only = d->replay->options.only_pass;

	for (uint32_t p = 1; p <= plan->n_passes; p++) {
		if ((only && p != only) || !pass_counts_here(plan, p, d->source->name))
			continue;
		if (!vec_push(&d->passes, p) || (is_whole(plan, p) && !vec_push(&d->whole, p)))
			return error_set(err, RC_NO_MEMORY, "out of memory for a device");
	}
	d->n_alone = d->whole.n;
	/* A pass that was asked for by its number is that one and nothing else. */
	for (uint32_t i = 1; !only && i <= plan->n_live; i++) {
		if (!pass_counts_here(plan, plan->live[i - 1].pass, d->source->name))
			continue;
		if (!vec_push(&d->whole, plan->n_passes + i))
			return error_set(err, RC_NO_MEMORY, "out of memory for a device");
	}
	return 0;
}

/* A device on which nothing counts is not an error: its dispatches are declined by name. */
static int open_source(struct replay_device *d, void *native, const char *why, struct error *err)
{
	struct error inner = {0};
	int rc;

	if (!d->source) {
		snprintf(d->dead_text, sizeof(d->dead_text), "%s",
			 why ? why : "no source counts on this device");
		d->dead = d->dead_text;
		return 0;
	}
	if (d->replay->options.flush && !d->runtime->flush) {
		d->dead = "its caches cannot be emptied, as --cache flush wants it";
		return 0;
	}
	if (d->source->size < sizeof(struct source))
		return error_set(err, RC_MISMATCH, "source '%s' is of another version",
				 d->source->name);
	rc = choose_passes(d, err);
	if (rc)
		return rc;
	if (!d->passes.n) {
		d->dead = "no counter of the plan is counted on this device";
		return 0;
	}
	rc = d->source->device_open(&d->source_device, d->replay->plan, d->runtime->name, native,
				    d->number, &inner);
	if (rc) {
		snprintf(d->dead_text, sizeof(d->dead_text), "%.190s", inner.message);
		d->dead = d->dead_text;
		d->source_device = NULL;
		return 0;
	}
	d->room = d->source->room(d->source_device);
	d->most_units =
		d->source->most_units ? d->source->most_units(d->source_device) : UINT32_MAX;
	if (!d->most_units)
		d->most_units = 1;
	return 0;
}

/* One pass that stands alone. Where the first dispatch of a kernel differs from the later ones, or
 * cannot be counted live, replaying it has its use all the same. */
static bool needs_no_replay(const struct replay_device *d)
{
	return !d->dead && d->passes.n == 1 && d->whole.n == 1 && d->replay->options.repeat <= 1 &&
	       (d->source->capabilities & SOURCE_DEAR_PASS) &&
	       !(d->source->capabilities & (SOURCE_SERIALISES | SOURCE_WANTS_WARM_UP));
}

static int init_lock(struct replay_device *d, struct error *err)
{
	int rc = pthread_mutex_init(&d->lock, NULL);

	return rc ? error_set_errno(err, 0, rc, "cannot make a lock for a device") : 0;
}

static void release(struct replay_device *d)
{
	vec_release(&d->passes);
	vec_release(&d->whole);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

int replay_device_add(struct replay *r, const struct runtime *runtime, void *runtime_device,
		      const struct source *source, void *native, uint32_t number, const char *why,
		      struct replay_device **device_out, struct error *err)
{
	struct replay_device *d;
	char range[REPLAY_RANGE_NAME];
	int rc;

	*device_out = NULL;
	if (runtime->size < sizeof(struct runtime))
		return error_set(err, RC_MISMATCH, "runtime '%s' is of another version",
				 runtime->name);
	d = calloc(1, sizeof(*d));
	if (!d)
		return error_set(err, RC_NO_MEMORY, "out of memory for a device");
	d->replay = r;
	d->runtime = runtime;
	d->runtime_device = runtime_device;
	d->source = source;
	d->number = number;
	d->mode = r->options.mode == REPLAY_MODE_AUTO ? REPLAY_MODE_WINDOW : r->options.mode;
	d->decided = r->options.mode != REPLAY_MODE_AUTO;
	d->chunk = r->options.chunk;
	rc = init_lock(d, err);
	if (rc) {
		free(d);
		return rc;
	}
	rc = open_source(d, native, why, err);
	if (rc) {
		release(d);
		return rc;
	}
	d->next = atomic_load(&r->devices);
	while (!atomic_compare_exchange_weak(&r->devices, &d->next, d))
		;
	if (r->options.mode == REPLAY_MODE_AUTO && needs_no_replay(d)) {
		d->mode = REPLAY_MODE_NONE;
		d->decided = true;
		record_note(r, SPOOL_NOTE_FINDING,
			    "auto: none, the counters fit one pass, which counts the program's own "
			    "dispatches");
	}
	if (range_current(r, range))
		replay_range(d, range);
	*device_out = d;
	return 0;
}

/* ---- units of a pass ---- */

enum source_units device_units(struct replay_device *d, const struct runtime_op *op,
			       const struct kernel *k)
{
	if (!d->source || !d->source->expect || d->mode == REPLAY_MODE_RANGE ||
	    !(op->flags & RUNTIME_OP_ONE_KERNEL))
		return SOURCE_UNITS_ANY;
	return !(op->flags & RUNTIME_OP_NEVER_REPLAY) && reach_is_private(d, op, k)
		       ? SOURCE_UNITS_WAITED
		       : SOURCE_UNITS_KERNELS;
}

void device_expect(struct replay_device *d, uint32_t pass, enum source_units units)
{
	if (!d->source->expect)
		return;
	d->source->expect(d->source_device, units, d->replay->options.flush);
	if (units != SOURCE_UNITS_KERNELS || d->told_untimed ||
	    !d->source->needs_waiting(d->source_device, pass))
		return;
	d->told_untimed = true;
	record_note(
		d->replay, SPOOL_NOTE_FINDING,
		"counters of elapsed time are not collected of some dispatches: they may wait for "
		"the host, and what is counted around them holds their launch, too");
}

bool device_drains_around(const struct replay_device *d, enum source_units units)
{
	return (d->source->capabilities & SOURCE_NEEDS_DRAIN) &&
	       (units != SOURCE_UNITS_WAITED || !d->source->expect);
}

/* ---- memories ---- */

struct replay_memory *replay_memory_add(struct replay_device *d, const struct runtime_memory *m)
{
	struct replay_memory *memory = NULL;

	if (!device_enter(d, true)) {
		device_intruder_leaves(d);
		return NULL;
	}
	if (d->spare.n)
		memory = d->spare.items[--d->spare.n];
	else if (vec_reserve(&d->spare, d->spare.n + 1))
		memory = malloc(sizeof(*memory));
	if (memory) {
		memset(memory, 0, sizeof(*memory));
		memory->m = *m;
		memory->next = d->memories;
		if (d->memories)
			d->memories->prev = memory;
		d->memories = memory;
	}
	device_leave(d);
	return memory;
}

static void unlink_memory(struct replay_device *d, struct replay_memory *m)
{
	if (m->prev)
		m->prev->next = m->next;
	else
		d->memories = m->next;
	if (m->next)
		m->next->prev = m->prev;
}

void replay_memory_remove(struct replay_device *d, struct replay_memory *m)
{
	if (!m)
		return;
	/* An intruder's window is dropped without another look at its memories; the record stays
	 * until the end. */
	if (!device_enter(d, true)) {
		atomic_store(&m->gone, true);
		device_intruder_leaves(d);
		return;
	}
	if (d->window.open && m->mark == d->window.generation)
		window_drop(d, "memory was freed inside its window", true);
	/* The program gives back what it had on a lost device: so do we, while it is still open. */
	device_unpark_lost(d);
	kept_forget(d, m);
	unlink_memory(d, m);
	if (d->spare.n < 64 && vec_reserve(&d->spare, d->spare.n + 1))
		d->spare.items[d->spare.n++] = m;
	else
		free(m);
	device_settle_phase(d);
	device_leave(d);
}

void replay_memory_share(struct replay_device *d, struct replay_memory *m, uint32_t flags,
			 const char *why)
{
	bool entered = device_enter(d, true);

	if (entered && d->window.open && m->mark == d->window.generation)
		window_drop(d, "memory was given to others inside its window", true);
	m->m.why = why;
	/* An intruder's window is dropped without another look at its memories. */
	__atomic_fetch_or(&m->m.flags, flags, __ATOMIC_RELEASE);
	if (!entered) {
		device_intruder_leaves(d);
		return;
	}
	kept_forget(d, m);
	device_settle_phase(d);
	device_leave(d);
}

const struct runtime_memory *replay_memory_of(const struct replay_memory *m)
{
	return &m->m;
}

/* ---- draining ---- */

void device_park_store(struct replay_device *d, void *store)
{
	/* Without memory for the list the store is given up: it may still be written to. */
	(void)vec_push(&d->parked_stores, store);
}

void device_park_op(struct replay_device *d, void *recorded)
{
	if (d->runtime->op_parked && !d->lost)
		d->runtime->op_parked(d->runtime_device, recorded);
	(void)vec_push(&d->parked_ops, recorded);
}

void device_unpark(struct replay_device *d)
{
	while (d->parked_stores.n)
		d->runtime->store_put(d->runtime_device,
				      d->parked_stores.items[--d->parked_stores.n]);
	while (d->parked_ops.n)
		d->runtime->op_release(d->runtime_device, d->parked_ops.items[--d->parked_ops.n]);
}

void device_unpark_lost(struct replay_device *d)
{
	int rc;

	if (!d->lost || d->hung || !(d->parked_stores.n || d->parked_ops.n))
		return;
	rc = d->runtime->drain(d->runtime_device, d->replay->options.drain_ns, NULL);
	if (!rc || rc == RC_END)
		device_unpark(d);
}

int device_drain(struct replay_device *d, uint64_t bound_ns, struct error *err)
{
	int rc;

	if (d->lost)
		return error_set(err, RC_END, "the device is lost");
	rc = d->runtime->drain(d->runtime_device, bound_ns ? bound_ns : d->replay->options.drain_ns,
			       err);
	if (rc)
		return rc;
	d->outstanding = 0;
	d->once = 0;
	if (d->parked_stores.n || d->parked_ops.n)
		device_unpark(d);
	return 0;
}

int device_flush(struct replay_device *d, struct error *err)
{
	return d->replay->options.flush ? d->runtime->flush(d->runtime_device, err) : 0;
}

void device_own(const struct replay_device *d, enum replay_own what)
{
	if (d->replay->options.own)
		d->replay->options.own(what);
}

/* ---- the end of a device ---- */

void device_kill(struct replay_device *d, bool lost, const char *why)
{
	char text[REPLAY_REASON_MAX + 64];

	d->lost |= lost;
	if (d->dead)
		return;
	snprintf(d->dead_text, sizeof(d->dead_text), "%.190s", why);
	d->dead = d->dead_text;
	snprintf(text, sizeof(text), "nothing more is counted on device %u: %s", d->number,
		 d->dead_text);
	record_note(d->replay, SPOOL_NOTE_DISABLED, text);
}

bool device_check_lost(struct replay_device *d, int code, const struct error *err)
{
	if (code != RC_END)
		return false;
	device_kill(d, true, err->message);
	return true;
}
