/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting dispatches while the program runs them, one pass each: all of them with --replay none,
 * and those that cannot be replayed. Counts are read when the device is idle anyway. A pass stays
 * open meanwhile and takes whatever fits: in strict mode only what belongs into that pass,
 * otherwise everything.
 */
#include "base/hash.h"
#include "base/str.h"
#include "replay/engine.h"

/* 0: none stands alone. Parts that different dispatches gave would be torn values. */
static uint32_t next_pass(struct replay_device *d, const struct runtime_op *op, struct kernel *k)
{
	const struct replay_options *o = &d->replay->options;
	uint64_t n = k->live_n, key[3] = {o->seed, k->hash, n};

	if (!d->whole.n)
		return 0;
	n = o->random ? hash64(key, sizeof(key)) : o->offset + n;
	return d->whole.items[until_next(d, op, k, (uint32_t)(n % d->whole.n))];
}

/* One dispatch at a time, and the device idle before it. */
static bool needs_drain(const struct replay_device *d)
{
	return (d->source->capabilities & (SOURCE_NEEDS_DRAIN | SOURCE_SERIALISES)) != 0;
}

static bool needs_trial(const struct replay_device *d, const struct kernel *k)
{
	return (d->source->capabilities & SOURCE_SERIALISES) && !k->ends;
}

/* Another process may want the counters while the program goes on. */
static bool is_shared(const struct replay_device *d)
{
	return d->source->is_shared && d->source->is_shared(d->source_device);
}

/* With one pass there is nothing to change between dispatches, so it stays open until the program
 * looks at the device: where the counters must be drained around each, too. */
static bool keeps_open(const struct replay_device *d)
{
	return d->passes.n == 1 && !(d->source->capabilities & SOURCE_SERIALISES) && !is_shared(d);
}

static uint32_t choose_room(struct replay_device *d)
{
	uint32_t most = d->most_units < REPLAY_LIVE_KEPT ? d->most_units : REPLAY_LIVE_KEPT;
	uint32_t least = 8;

	if (!needs_drain(d))
		return REPLAY_LIVE_ROOM;
	if (!keeps_open(d))
		return 1;
	if (d->live.room_next > least)
		least = d->live.room_next;
	return least < most ? least : most;
}

/* A launch may wait for its kernel once a dispatch of it was seen to end while the program waited,
 * and only if the host cannot be what it waits for. Where the counters do not need that nothing is
 * told apart: a pass of such units cannot stay open while anything else is launched. */
static enum source_units units_of(struct replay_device *d, const struct runtime_op *op,
				  const struct kernel *k, uint32_t pass, bool held)
{
	enum source_units units = device_units(d, op, k);

	if (units == SOURCE_UNITS_ANY || !d->source->needs_waiting(d->source_device, pass))
		return SOURCE_UNITS_ANY;
	return k->ends && op->n_reach && !held ? units : SOURCE_UNITS_KERNELS;
}

/* Whether the open pass can take the operation. */
static bool has_place(const struct replay_device *d, const struct runtime_op *op, uint32_t pass,
		      enum source_units units, bool strict)
{
	const struct live *l = &d->live;

	if (units != l->units_are || l->held)
		return false;
	if (l->units.n >= l->room || (strict && l->pass != pass))
		return false;
	return (d->source->capabilities & SOURCE_OVERLAP) || !l->units.n || needs_drain(d) ||
	       l->units.items[l->units.n - 1].op.queue == op->queue;
}

/* The open pass is over before this operation; false: it cannot be waited for. */
static bool make_way(struct replay_device *d, const struct runtime_op *op, const char **why_out)
{
	struct error err = {0};
	int rc;

	if ((op->flags & RUNTIME_OP_NO_WAIT_BEFORE) || d->outstanding || d->once) {
		*why_out = "what was counted before it cannot be waited for";
		return false;
	}
	rc = device_drain(d, 0, &err);
	if (!rc) {
		live_close(d);
		return !d->dead;
	}
	if (!device_check_lost(d, rc, &err) && rc == RC_TIMEOUT) {
		live_learn_stuck(d);
		d->outstanding++;
	}
	live_drop(d, rc == RC_TIMEOUT ? "does not drain" : err.message);
	*why_out = "the device does not drain before it";
	return false;
}

static bool open_pass(struct replay_device *d, uint32_t pass, enum source_units units,
		      const char **why_out)
{
	struct error err = {0};
	uint32_t room = choose_room(d);
	int rc;

	device_expect(d, pass, units);
	rc = d->source->pass_begin(d->source_device, pass, room, &err);
	if (rc) {
		*why_out = "the source could not begin a pass";
		if (rc == RC_END)
			device_kill(d, false, err.message);
		return false;
	}
	d->live.open = true;
	d->live.units_are = units;
	d->live.pass = pass;
	d->live.room = room;
	return true;
}

bool live_may_hold(struct replay_device *d, const struct runtime_op *op)
{
	if (!needs_drain(d) || (d->source->capabilities & SOURCE_SERIALISES) || !d->whole.n ||
	    (op->flags & RUNTIME_OP_NO_WAIT_BEFORE) || is_shared(d) ||
	    device_drain(d, REPLAY_GLANCE_NS, NULL))
		return false;
	live_close(d);
	return !d->dead;
}

void live_let_go(struct replay_device *d, const struct runtime_op *op)
{
	if (!d->live.held)
		return;
	if (!(op->flags & RUNTIME_OP_NO_WAIT_BEFORE) && !device_drain(d, REPLAY_GLANCE_NS, NULL))
		live_close(d);
	else
		d->live.beside = true;
}

void live_stand_aside(struct replay_device *d, const struct runtime_op *op)
{
	const char *why;

	if (d->live.open && d->live.units_are == SOURCE_UNITS_WAITED)
		(void)make_way(d, op, &why);
}

/* The counters of one dispatch that is about to be launched. */
static bool begin_unit(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		       uint64_t ordinal, uint32_t pass, enum source_units units, bool held,
		       const char **why_out)
{
	struct live *l = &d->live;
	struct source_unit unit = {.queue = op->queue, .queue_native = op->queue_native};
	struct live_unit *u;
	struct error err = {0};
	int rc;

	if (!l->open && !open_pass(d, pass, units, why_out)) {
		k->live_n++; /* one that cannot begin does not hold up the others */
		return false;
	}
	unit.index = (uint32_t)l->units.n;
	if (needs_drain(d) && device_flush(d, &err)) {
		live_drop(d, err.message);
		*why_out = "the caches could not be emptied";
		return false;
	}
	rc = d->source->unit_begin(d->source_device, &unit, &err);
	if (rc) {
		live_drop(d, err.message);
		if (rc == RC_END)
			device_kill(d, false, err.message);
		*why_out = "the source could not begin to count";
		return false;
	}
	u = &l->units.items[l->units.n++];
	*u = (struct live_unit){.op = window_op_of(op, k, ordinal)};
	k->live_n++;
	l->unit_open = true;
	l->held = held;
	l->beside = false;
	return true;
}

static bool is_in(const struct plan_pass *p, uint32_t counter)
{
	for (uint32_t i = 0; i < p->n_counters; i++)
		if (p->counters[i] == counter)
			return true;
	return false;
}

static bool stands_alone(const struct replay_device *d, uint32_t counter)
{
	for (size_t i = 0; i < d->whole.n; i++)
		if (is_in(plan_counted(d->replay->plan, d->whole.items[i], NULL), counter))
			return true;
	return false;
}

/* Once a device: what no dispatch counted live can have a value of. */
static void tell_replay_only(struct replay_device *d)
{
	const struct plan *plan = d->replay->plan;
	struct str text = STR_INIT;
	size_t n = 0;

	if (d->told_replay_only || d->n_alone == d->passes.n)
		return;
	d->told_replay_only = true;
	str_add(&text, "counters that take several passes by themselves are not collected of "
		       "dispatches that are not replayed:");
	for (uint32_t c = 0; c < plan->n_counters; c++) {
		bool here = false;

		for (size_t i = 0; !here && i < d->passes.n; i++)
			here = is_in(&plan->passes[d->passes.items[i] - 1], c);
		if (here && !stands_alone(d, c))
			str_addf(&text, "%s %s", n++ ? "," : "", plan->counters[c].name);
	}
	if (n && !str_is_failed(&text))
		record_note(d->replay, SPOOL_NOTE_FINDING, str_text(&text));
	str_release(&text);
}

bool live_begin(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		uint64_t ordinal, unsigned how, const char **why_out)
{
	bool strict = how & LIVE_STRICT, held = how & LIVE_HELD;
	struct live *l = &d->live;
	uint32_t pass = next_pass(d, op, k);
	enum source_units units = pass ? units_of(d, op, k, pass, held) : SOURCE_UNITS_ANY;
	bool begun;

	tell_replay_only(d);
	if (!pass) {
		*why_out = "its counters take several passes together, which only replay gives";
		return false;
	}
	if (needs_drain(d) && !held &&
	    (k->undrainable || d->outstanding || (op->flags & RUNTIME_OP_NO_WAIT_BEFORE))) {
		*why_out = "the source counts only what can be waited for";
		return false;
	}
	if (l->open && !has_place(d, op, pass, units, strict) && !make_way(d, op, why_out))
		return false;
	if (needs_drain(d) && !held && device_drain(d, 0, NULL)) {
		*why_out = "the device does not drain before it";
		d->outstanding++;
		return false;
	}
	if (needs_trial(d, k)) {
		l->trying = k;
		*why_out = "it is seen first whether it ends by itself";
		return false;
	}
	if (!vec_reserve(&l->units, l->units.n + 1)) {
		*why_out = "out of memory";
		return false;
	}
	/* Where the counters want it so, the device is drained now. */
	if (needs_drain(d))
		device_own(d, REPLAY_OWN_BEGINS);
	begun = begin_unit(d, op, k, ordinal, pass, units, held, why_out);
	if (needs_drain(d))
		device_own(d, REPLAY_OWN_ENDS);
	return begun;
}

void live_after(struct replay_device *d, bool launched)
{
	struct live *l = &d->live;
	struct live_unit *u = &l->units.items[l->units.n - 1];
	struct source_unit unit = {.index = (uint32_t)(l->units.n - 1),
				   .queue = u->op.queue,
				   .queue_native = u->op.queue_native};
	struct error err = {0};
	bool own;
	int rc = 0;

	l->unit_open = false;
	u->failed = !launched;
	if (l->held && launched)
		return;
	l->held = false;
	if (needs_drain(d) && (device_drains_around(d, l->units_are) ||
			       (d->source->capabilities & SOURCE_SERIALISES))) {
		rc = device_drain(d, 0, &err);
		u->op.kernel->ends |= !rc && launched;
	}
	own = !rc && needs_drain(d);
	if (own)
		device_own(d, REPLAY_OWN_BEGINS);
	if (!rc)
		rc = d->source->unit_end(d->source_device, &unit, &err);
	if (!rc && needs_drain(d) && !keeps_open(d))
		live_close(d);
	if (own)
		device_own(d, REPLAY_OWN_ENDS);
	if (!rc)
		return;
	if (rc == RC_TIMEOUT) {
		u->op.kernel->undrainable = true;
		d->outstanding++;
	} else if (rc == RC_END) {
		device_kill(d, d->lost, err.message);
	}
	live_drop(d, rc == RC_TIMEOUT ? "does not drain" : err.message);
}

void live_tried(struct replay_device *d, bool launched)
{
	uint64_t bound = d->replay->options.drain_ns;
	struct kernel *k = d->live.trying;
	struct error err = {0};
	int rc;

	d->live.trying = NULL;
	if (!launched)
		return;
	rc = device_drain(d, bound < REPLAY_CHECK_NS ? bound : REPLAY_CHECK_NS, &err);
	k->ends = !rc;
	if (rc == RC_TIMEOUT) {
		k->undrainable = true;
		d->outstanding++;
	} else if (rc) {
		device_check_lost(d, rc, &err);
	}
}

/* Reads one unit and records it. */
static int take_unit(struct replay_device *d, uint32_t index, struct error *err)
{
	struct live_unit *u = &d->live.units.items[index];
	uint64_t enabled = 0, running = 0;
	uint32_t n = 0, pass = 0;
	int rc;

	if (u->failed)
		return 0;
	if (!vec_reserve(&d->window.samples, d->room))
		return error_set(err, RC_NO_MEMORY, "out of memory for samples");
	rc = d->source->read(d->source_device, index, d->window.samples.items, d->room, &n,
			     &enabled, &running, err);
	if (rc)
		return rc;
	if (n > d->room)
		return error_set(err, RC_ERROR, "source '%s' gave more samples than it announced",
				 d->source->name);
	plan_counted(d->replay->plan, d->live.pass, &pass);
	record_live(d, &u->op, pass, d->window.samples.items, n, enabled, running);
	until_take(d, &u->op, d->live.pass, d->window.samples.items, n);
	if (u->reason)
		record_decline(d, u->op.kernel, u->reason, SPOOL_INSTEAD_ONE_PASS, 1);
	return 0;
}

static void close_pass(struct replay_device *d)
{
	struct live *l = &d->live;
	struct source_unit unit = {0}; /* the first, and the only one, that is held */
	struct error err = {0};
	uint32_t i = 0;
	int rc = 0;

	if (l->held && l->beside) {
		live_drop(d, "does not drain, and other work ran beside it");
		return;
	}
	/* Room costs: as much as was used, more when it was not enough. */
	l->room_next = (uint32_t)l->units.n * (l->units.n == l->room ? 2 : 1);
	if (l->held)
		rc = d->source->unit_end(d->source_device, &unit, &err);
	l->held = false;
	rc = rc ? rc : d->source->pass_end(d->source_device, &err);
	for (; i < l->units.n && !rc; i++)
		rc = take_unit(d, i, &err);
	if (rc) {
		/* Those that were read are good. */
		for (i = i ? i - 1 : 0; i < l->units.n; i++)
			record_decline(d, l->units.items[i].op.kernel, err.message,
				       SPOOL_INSTEAD_NOTHING, 1);
		d->source->pass_abort(d->source_device);
	}
	if (rc == RC_END)
		device_kill(d, false, err.message);
	l->open = false;
	vec_clear(&l->units);
}

void live_close(struct replay_device *d)
{
	if (!d->live.open)
		return;
	device_own(d, REPLAY_OWN_BEGINS);
	close_pass(d);
	device_own(d, REPLAY_OWN_ENDS);
}

void live_drop(struct replay_device *d, const char *why)
{
	struct live *l = &d->live;

	if (!l->open)
		return;
	d->source->pass_abort(d->source_device);
	vec_for_each (&l->units, u) {
		if (!u->failed)
			record_decline(d, u->op.kernel, why, SPOOL_INSTEAD_NOTHING, 1);
	}
	l->open = l->unit_open = l->held = false;
	vec_clear(&l->units);
}

void live_learn_stuck(struct replay_device *d)
{
	vec_for_each (&d->live.units, u) {
		u->op.kernel->undrainable = true;
	}
}
