/* SPDX-License-Identifier: Apache-2.0 */
/* Around every launch of the program: is it wanted, and is it recorded, counted live or left alone?
 */
#include "replay/engine.h"

/* The filters -s and -c, over the dispatches that pass -k and --range. */
static bool in_range_of_filter(struct replay_device *d)
{
	const struct replay_options *o = &d->replay->options;
	uint64_t n = d->matched++;

	return n >= o->skip && (!o->count || n - o->skip < o->count);
}

/* Why the dispatch must not be recorded; NULL: nothing against it. */
static const char *against(const struct runtime_op *op, const struct kernel *k)
{
	if (op->flags & RUNTIME_OP_NEVER_REPLAY)
		return op->why ? op->why : "it must run exactly once";
	if (k->undrainable)
		return "does not drain";
	if (k->given_up)
		return k->given_up;
	if (!op->recorded)
		return op->why ? op->why : "it cannot be recorded";
	return NULL;
}

/* One pass while the program runs it, or nothing. */
static enum replay_verdict count_live(struct replay_device *d, const struct runtime_op *op,
				      struct kernel *k, uint64_t ordinal, const char *reason,
				      bool held)
{
	unsigned how = (reason ? 0 : LIVE_STRICT) | (held ? LIVE_HELD : 0);
	const char *why = NULL;

	if (!d->dead && live_begin(d, op, k, ordinal, how, &why)) {
		if (reason)
			d->live.units.items[d->live.units.n - 1].reason =
				record_decline(d, k, reason, SPOOL_INSTEAD_ONE_PASS, 0);
		return REPLAY_COUNTED;
	}
	live_stand_aside(d, op);
	record_decline(d, k, reason ? reason : why ? why : d->dead, SPOOL_INSTEAD_NOTHING, 1);
	return REPLAY_LIVE;
}

static enum replay_verdict decide_dispatch(struct replay_device *d, const struct runtime_op *op,
					   struct kernel *k, uint64_t ordinal)
{
	struct error err = {0};
	const char *reason;
	bool held;

	if (op->flags & RUNTIME_OP_LEAVE_ALONE) {
		window_drop(d, op->why, true);
		live_drop(d, op->why);
		record_decline(d, k, op->why, SPOOL_INSTEAD_NOTHING, 1);
		return REPLAY_LIVE;
	}
	if (d->mode == REPLAY_MODE_NONE && !k->undrainable) {
		window_stand_aside(d, op, k);
		if (!until_known(d, op, k))
			return count_live(d, op, k, ordinal, NULL, false);
		live_stand_aside(d, op);
		return REPLAY_LIVE;
	}
	reason = against(op, k);
	if (!reason && !window_take(d, op, k, ordinal, &err)) {
		d->before_is_taken = true;
		return REPLAY_RECORDED;
	}
	window_stand_aside(d, op, k);
	/* A kernel that never ends must not run beside an open window. */
	if (k->undrainable && d->window.open) {
		if (op->flags & RUNTIME_OP_NO_WAIT_BEFORE)
			window_drop(d, "a kernel that does not drain came while it was open", true);
		else
			window_end(d, "a kernel that does not drain");
	}
	held = k->undrainable && live_may_hold(d, op);
	d->outstanding += k->undrainable;
	d->once += (op->flags & RUNTIME_OP_NEVER_REPLAY) != 0;
	return count_live(d, op, k, ordinal, reason ? reason : err.message, held);
}

static enum replay_verdict decide_transfer(struct replay_device *d, const struct runtime_op *op)
{
	struct error err = {0};

	if (!d->window.open)
		return REPLAY_LIVE;
	if (op->recorded && !window_take(d, op, NULL, 0, &err)) {
		d->before_is_taken = true;
		return REPLAY_RECORDED;
	}
	window_stand_aside(d, op, NULL);
	return REPLAY_LIVE;
}

bool decide_wanted(struct replay_device *d, const struct runtime_op *op, struct kernel **kernel_out,
		   uint64_t *ordinal_out)
{
	struct replay *r = d->replay;
	struct kernel *k = kernel_find(d, op->kernel);

	*ordinal_out = atomic_fetch_add_explicit(&r->ordinals, 1, memory_order_relaxed);
	*kernel_out = k;
	if (!k)
		record_decline(d, NULL, "out of memory", SPOOL_INSTEAD_NOTHING, 1);
	return k && k->wanted && !replay_outside(r) && in_range_of_filter(d);
}

static enum replay_verdict decide(struct replay_device *d, const struct runtime_op *op)
{
	struct replay *r = d->replay;
	struct kernel *k;
	uint64_t ordinal;
	bool wanted;

	if (atomic_load_explicit(&r->disabled, memory_order_relaxed)) {
		window_drop(d, "collection was stopped", true);
		live_drop(d, "collection was stopped");
		return REPLAY_LIVE;
	}
	live_let_go(d, op);
	if (op->kind != RUNTIME_DISPATCH)
		return d->dead ? REPLAY_LIVE : decide_transfer(d, op);
	wanted = decide_wanted(d, op, &k, &ordinal);
	if (!wanted || (d->mode == REPLAY_MODE_RANGE && !d->range)) {
		window_stand_aside(d, op, k);
		live_stand_aside(d, op);
		return REPLAY_LIVE;
	}
	if (d->dead) {
		record_decline(d, k, d->dead, SPOOL_INSTEAD_NOTHING, 1);
		return REPLAY_LIVE;
	}
	return decide_dispatch(d, op, k, ordinal);
}

/* An operation that no window knows: what it writes, and when, is not known either. Of a transfer
 * that says what it reaches it is. */
static void note_stray(struct replay_device *d, const struct runtime_op *op)
{
	bool known = op->kind == RUNTIME_TRANSFER && op->n_reach;

	for (uint32_t i = 0; i < op->n_reach; i++) {
		known &= op->reach[i].memory != NULL;
		if (op->reach[i].memory && !(op->reach[i].access & RUNTIME_ONLY_READS))
			kept_forget(d, op->reach[i].memory);
	}
	if (!known)
		atomic_fetch_add(&d->strays, 1);
}

enum replay_verdict replay_before(struct replay_device *d, const struct runtime_op *op)
{
	enum replay_verdict verdict;

	if (device_is_mine(d)) {
		d->nested++;
		atomic_fetch_add(&d->strays, 1);
		return REPLAY_LIVE;
	}
	if (!device_enter(d, !(op->flags & RUNTIME_OP_NO_WAIT_BEFORE))) {
		if (op->kind == RUNTIME_DISPATCH)
			atomic_fetch_add(&d->unlocked_dispatches, 1);
		return REPLAY_LIVE;
	}
	d->before_is_taken = false;
	d->operations++;
	verdict = decide(d, op);
	if (verdict != REPLAY_RECORDED)
		note_stray(d, op);
	device_settle_phase(d);
	return verdict;
}

bool replay_matches(const struct replay *r, const char *kernel)
{
	return !r->options.match || r->options.match(r->options.match_data, kernel);
}

/* Counted as an intruder for as long as the launch takes: a window that another thread opens and
 * ends meanwhile is not replayed beside it. */
bool replay_pass_over(struct replay_device *d)
{
	atomic_fetch_add(&d->intruding, 1);
	if (atomic_load(&d->phase) != PHASE_IDLE) {
		atomic_fetch_sub(&d->intruding, 1);
		return false;
	}
	atomic_fetch_add(&d->strays, 1);
	atomic_fetch_add_explicit(&d->replay->ordinals, 1, memory_order_relaxed);
	return true;
}

void replay_passed(struct replay_device *d)
{
	device_intruder_leaves(d);
}

void replay_after(struct replay_device *d, const struct runtime_op *op, bool launched)
{
	(void)op;
	if (!device_is_mine(d)) {
		device_intruder_leaves(d);
		return;
	}
	if (d->nested) {
		d->nested--;
		return;
	}
	if (d->before_is_taken && d->window.checking)
		verify_after(d, launched);
	if (d->before_is_taken && !launched)
		window_untake(d);
	if (d->live.unit_open)
		live_after(d, launched);
	if (d->live.trying)
		live_tried(d, launched);
	device_settle_phase(d);
	device_leave(d);
}

/* ---- boundaries ---- */

#define LOOK_NS 1000000u

/* Live counting and what may still run, without a window. */
static void close_rest(struct replay_device *d)
{
	struct error err = {0};
	/* What does not end by itself is only looked at: for as long as an idle device takes to
	 * answer. */
	int rc = device_drain(d, d->outstanding ? LOOK_NS : 0, &err);

	if (!rc) {
		live_close(d);
		return;
	}
	if (device_check_lost(d, rc, &err) || rc != RC_TIMEOUT) {
		live_drop(d, err.message);
		return;
	}
	if (d->outstanding)
		return;
	live_learn_stuck(d);
	live_drop(d, "does not drain");
	d->outstanding++;
}

static void boundary(struct replay_device *d, const char *why)
{
	if (d->window.open)
		window_end(d, why);
	if (d->live.open || d->outstanding || d->once)
		close_rest(d);
	device_settle_phase(d);
}

static void at_boundary(struct replay_device *d, const char *why, bool wait)
{
	if (atomic_load_explicit(&d->phase, memory_order_acquire) == PHASE_IDLE)
		return;
	if (device_is_mine(d))
		return;
	if (!device_enter(d, wait)) {
		device_intruder_leaves(d);
		return;
	}
	boundary(d, why);
	device_leave(d);
}

void replay_boundary(struct replay_device *d, const char *why)
{
	at_boundary(d, why, true);
}

void replay_boundary_no_wait(struct replay_device *d, const char *why)
{
	at_boundary(d, why, false);
}

void replay_range(struct replay_device *d, const char *name)
{
	if (d->mode != REPLAY_MODE_RANGE || device_is_mine(d))
		return;
	if (!device_enter(d, true)) {
		device_intruder_leaves(d);
		return;
	}
	boundary(d, name ? "range begins" : "range ends");
	d->range = name ? kernel_find(d, name) : NULL;
	device_leave(d);
}
