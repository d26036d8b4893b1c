/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a window: opened by a dispatch, filled while the program runs, ended before anything
 * by which the host could see or change the device, then replayed or given up with a reason.
 */
#include "replay/engine.h"

#include <stdio.h>

static bool may_wait(const struct replay_device *d, const struct runtime_op *op)
{
	return !(op->flags & RUNTIME_OP_NO_WAIT_BEFORE) && !d->outstanding && !d->once;
}

/* Undrainable work may have ended meanwhile. */
static void poll(struct replay_device *d, const struct runtime_op *op)
{
	if ((d->outstanding || d->once) && !(op->flags & RUNTIME_OP_NO_WAIT_BEFORE))
		(void)device_drain(d, REPLAY_GLANCE_NS, NULL);
}

/* ---- opening and filling ---- */

static bool is_watched(const struct replay_device *d, const struct runtime_op *op,
		       const struct kernel *k)
{
	return k->suspect || (k->slow && verify_wants(d, op, k));
}

static void open_window(struct replay_device *d, const struct runtime_op *op,
			const struct kernel *k)
{
	struct window *w = &d->window;

	w->open = true;
	w->checking = NULL;
	w->varying = w->no_restore = w->learning = w->unchecked = false;
	w->alone = is_watched(d, op, k);
	w->units = k ? device_units(d, op, k) : SOURCE_UNITS_ANY;
	w->kernel_bytes = 0;
	w->generation = ++d->generation;
	w->intrusions = atomic_load(&d->intrusions);
	w->account = (struct spool_window){.device = d->number, .begin_ns = replay_now()};
}

/* Begins the reach check of an operation, which needs an idle device. In an open window that wait
 * is short, and in vain the operation is recorded without a check. */
static int begin_check(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		       bool opened, struct error *err)
{
	struct window *w = &d->window;
	uint64_t bound = d->replay->options.drain_ns, begin;
	int rc;

	if (!verify_wants(d, op, k) || !may_wait(d, op))
		return 0;
	device_not_busy(d);
	begin = replay_now();
	rc = device_drain(d, opened || bound < REPLAY_CHECK_NS ? bound : REPLAY_CHECK_NS, err);
	w->account.check_ns += replay_now() - begin;
	if (rc == RC_TIMEOUT && !opened) {
		w->unchecked = true;
		return 0;
	}
	if (rc)
		return rc;
	if (!device_busy(d))
		return error_set(err, RC_BUSY, "another thread launched without waiting");
	/* Where the window ends before the next operation anyway, the program need not wait now. */
	w->check_later = w->alone || d->mode == REPLAY_MODE_KERNEL;
	device_own(d, REPLAY_OWN_BEGINS);
	rc = verify_begin(d, op, k, err);
	device_own(d, REPLAY_OWN_ENDS);
	return rc;
}

static void close_empty(struct replay_device *d)
{
	/* An ordered save may be under way. */
	snapshot_forget(d, (d->runtime->capabilities & RUNTIME_ORDERED_SAVE) != 0);
	d->window.open = false;
}

static const char *must_end_before(struct replay_device *d, const struct runtime_op *op,
				   const struct kernel *k)
{
	const struct window *w = &d->window;
	uint32_t most = d->mode == REPLAY_MODE_KERNEL ? 1 : d->replay->options.window;

	if (most > d->most_units)
		most = d->most_units;
	if (d->mode == REPLAY_MODE_RANGE)
		return NULL;
	if (!k)
		return d->mode == REPLAY_MODE_KERNEL || w->alone ? "next operation" : NULL;
	if (w->account.dispatches >= most)
		return most == 1 ? "next operation" : "full";
	if (w->alone || is_watched(d, op, k))
		return "a kernel that is watched";
	if (device_units(d, op, k) != w->units)
		return "dispatches of another kind";
	return NULL;
}

struct window_op window_op_of(const struct runtime_op *op, struct kernel *k, uint64_t ordinal)
{
	return (struct window_op){.kernel = k,
				  .ordinal = ordinal,
				  .queue = op->queue,
				  .queue_native = op->queue_native,
				  .grid = {op->grid[0], op->grid[1], op->grid[2]},
				  .block = {op->block[0], op->block[1], op->block[2]},
				  .registers = op->registers,
				  .shared_bytes = op->shared_bytes};
}

static int push(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		uint64_t ordinal, struct error *err)
{
	struct window *w = &d->window;
	struct window_op *at;

	if (!vec_reserve(&w->ops, w->ops.n + 1))
		return error_set(err, RC_NO_MEMORY, "out of memory for a window");
	at = &w->ops.items[w->ops.n++];
	*at = window_op_of(op, k, ordinal);
	at->recorded = op->recorded;
	if (k) {
		w->account.dispatches++;
		k->mark = w->generation;
	} else {
		w->account.transfers++;
	}
	return 0;
}

/* Saves what the operation can write and is not saved yet. */
static int save(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		struct error *err)
{
	bool ordered = (d->runtime->capabilities & RUNTIME_ORDERED_SAVE) != 0;
	int rc = 0;

	if (reach_is_saved(d, op, k)) {
		reach_mark(d, op, k);
		return 0;
	}
	if (!ordered && !may_wait(d, op))
		return error_set(err, RC_BUSY,
				 "it may wait for the program, and what it writes "
				 "can only be saved on an idle device");
	device_not_busy(d);
	if (!ordered)
		rc = device_drain(d, 0, err);
	if (rc)
		return rc;
	reach_mark(d, op, k);
	if (!device_busy(d))
		return error_set(err, RC_BUSY, "another thread launched without waiting");
	device_own(d, ordered ? REPLAY_OWN_QUEUED : REPLAY_OWN_BEGINS);
	rc = reach_save(d, op, k, err);
	if (!ordered)
		device_own(d, REPLAY_OWN_ENDS);
	return rc;
}

static void learn_stuck(struct replay_device *d);

static int take(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		uint64_t ordinal, struct error *err)
{
	bool opened = !d->window.open;
	int rc;

	if (opened)
		open_window(d, op, k);
	rc = begin_check(d, op, k, opened, err);
	rc = rc ? rc : save(d, op, k, err);
	rc = rc ? rc : push(d, op, k, ordinal, err);
	if (rc)
		d->window.checking = NULL;
	if (rc == RC_TIMEOUT) {
		/* Whatever it is: it is not waited for again and again. */
		if (!opened) {
			learn_stuck(d);
			window_drop(d, "does not drain", true);
		}
		d->outstanding++;
		rc = error_set(err, rc, "the device does not drain before it");
	}
	if (rc && !d->window.ops.n && d->window.open)
		close_empty(d);
	return rc;
}

/* The window may just have been ended: in vain, if the device does not drain. What is launched
 * beside something that may be waiting for it must not be recorded: its START would be saved in the
 * middle of what they do together, and alone it might wait for ever. */
static int may_open(struct replay_device *d, const struct kernel *k, struct error *err)
{
	if (d->dead)
		return error_set(err, RC_NOT_FOUND, "%s", d->dead);
	if (d->outstanding)
		return error_set(err, RC_BUSY, "runs beside a kernel that does not drain");
	if (!d->window.open && !k)
		return error_set(err, RC_NOT_FOUND, "no window");
	return 0;
}

int window_take(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		uint64_t ordinal, struct error *err)
{
	struct window *w = &d->window;
	const char *why;
	int rc = reach_check(d, op, k, err);

	if (rc)
		return rc;
	poll(d, op);
	if (d->outstanding && k)
		return error_set(err, RC_BUSY, "runs beside a kernel that does not drain");
	why = w->open ? must_end_before(d, op, k) : NULL;
	if (why && may_wait(d, op))
		window_end(d, why);
	verify_forget(d);
	rc = may_open(d, k, err);
	rc = rc ? rc : take(d, op, k, ordinal, err);
	if ((rc == RC_NO_SPACE || rc == RC_NO_MEMORY) && w->open && w->ops.n && may_wait(d, op)) {
		window_end(d, "no room to save more");
		rc = may_open(d, k, err);
		rc = rc ? rc : take(d, op, k, ordinal, err);
	}
	return device_check_lost(d, rc, err) ? RC_END : rc;
}

void window_stand_aside(struct replay_device *d, const struct runtime_op *op,
			const struct kernel *k)
{
	if (!d->window.open)
		return;
	if (!reach_touches_window(d, op, k)) {
		verify_forget(d);
		return;
	}
	if (may_wait(d, op))
		window_end(d, "an operation outside the window");
	else
		window_drop(d, "an operation that was not recorded touched its memory", true);
}

void window_untake(struct replay_device *d)
{
	struct window *w = &d->window;
	struct window_op *op;

	if (!w->open || !w->ops.n)
		return;
	op = &w->ops.items[--w->ops.n];
	d->runtime->op_release(d->runtime_device, op->recorded);
	if (op->kernel)
		w->account.dispatches--;
	else
		w->account.transfers--;
	/* An ordered save may be under way. */
	if (!w->account.dispatches)
		window_drop(d, NULL, true);
}

/* ---- the end ---- */

static void release_ops(struct replay_device *d, bool parked)
{
	vec_for_each (&d->window.ops, op) {
		if (parked)
			device_park_op(d, op->recorded);
		else
			d->runtime->op_release(d->runtime_device, op->recorded);
	}
	vec_clear(&d->window.ops);
}

static void finish(struct replay_device *d, bool parked)
{
	release_ops(d, parked);
	snapshot_forget(d, parked);
	d->window.open = false;
	d->windows++;
	device_settle_phase(d);
}

void window_drop(struct replay_device *d, const char *why, bool parked)
{
	struct window *w = &d->window;

	if (!w->open)
		return;
	w->account.passes = 0;
	w->checking = NULL;
	atomic_fetch_add(&d->strays, 1); /* its operations may run on */
	w->account.end_ns = replay_now();
	if (why && w->account.dispatches) {
		vec_for_each (&w->ops, op) {
			if (op->kernel)
				record_decline(d, op->kernel, why, SPOOL_INSTEAD_NOTHING, 1);
		}
		record_window(d, false, why);
	}
	finish(d, parked);
}

/* One of the window's kernels does not end by itself: known when there is one, else each is tried
 * alone when it comes again. */
static void learn_stuck(struct replay_device *d)
{
	struct window *w = &d->window;
	struct kernel *first = NULL;
	bool several = false;

	vec_for_each (&w->ops, op) {
		if (!op->kernel)
			continue;
		first = first ? first : op->kernel;
		several |= op->kernel != first;
	}
	vec_for_each (&w->ops, op) {
		if (!op->kernel)
			continue;
		op->kernel->suspect = several;
		op->kernel->undrainable |= !several;
	}
}

/* Gives the window up because something failed; after a few times its kernels are left alone. */
static void fail(struct replay_device *d, const char *why)
{
	char reason[REPLAY_REASON_MAX];
	const char *kept;

	snprintf(reason, sizeof(reason), "%.190s", why);
	vec_for_each (&d->window.ops, op) {
		struct kernel *k = op->kernel;

		/* once a window, not once a dispatch */
		if (!k || k->mark != d->window.generation)
			continue;
		k->mark = 0;
		if (++k->troubles < REPLAY_TROUBLES || k->given_up)
			continue;
		kept = record_decline(d, k, reason, SPOOL_INSTEAD_NOTHING, 0);
		k->given_up = kept ? kept : "replaying it failed again and again";
	}
	window_drop(d, reason, d->lost);
}

static void note_live_times(struct replay_device *d)
{
	if (!d->runtime->times)
		return;
	vec_for_each (&d->window.ops, op) {
		if (d->runtime->times(d->runtime_device, op->recorded, &op->live_begin_ns,
				      &op->live_end_ns, NULL))
			op->live_begin_ns = op->live_end_ns = 0;
	}
}

static void succeed(struct replay_device *d, const char *why)
{
	struct window *w = &d->window;

	w->account.end_ns = replay_now();
	vec_for_each (&w->ops, op) {
		struct kernel *k = op->kernel;

		if (!k || k->mark != w->generation)
			continue;
		k->mark = 0;
		k->suspect = false;
		k->troubles = 0;
		d->sums.kernels += !k->counted;
		k->counted = true;
		w->learning |= k->windows++ < REPLAY_ALWAYS;
	}
	record_window(d, true, why);
	kept_learn(d);
	/* What is watched costs more than it will. */
	if (w->alone || w->learning) {
		finish(d, false);
		return;
	}
	d->sums.windows++;
	d->sums.dispatches += w->account.dispatches;
	d->sums.executions += w->account.passes;
	d->sums.live_ns += w->account.live_ns;
	d->sums.run_ns += w->account.run_ns;
	d->sums.program_ns += w->account.program_ns;
	d->sums.memory_ns += w->account.save_ns + w->account.restore_ns + w->account.check_ns;
	d->sums.window_bytes += w->account.reach_bytes;
	d->sums.kernel_bytes += w->kernel_bytes;
	finish(d, false);
}

static void choose_mode(struct replay_device *d)
{
	static const enum replay_mode modes[] = {[COST_KERNEL] = REPLAY_MODE_KERNEL,
						 [COST_WINDOW] = REPLAY_MODE_WINDOW,
						 [COST_NONE] = REPLAY_MODE_NONE};
	char why[256];
	enum cost_choice choice;

	if (d->decided)
		return;
	choice = cost_choose(&d->sums, (uint32_t)d->passes.n, why, sizeof(why));
	if (choice == COST_WAIT)
		return;
	if (choice == COST_NONE && d->n_alone < d->passes.n) {
		/* Spread over dispatches, parts that only mean something together would be lost. */
		choice = COST_WINDOW;
		snprintf(why, sizeof(why),
			 "auto: window; passes are not spread over dispatches, because some "
			 "belong together");
	}
	d->mode = modes[choice];
	d->decided = true;
	record_note(d->replay, SPOOL_NOTE_FINDING, why);
}

/* The device is drained and ours. */
static void replay(struct replay_device *d, const char *why)
{
	struct error err = {0};
	int rc = verify_end(d, &err);

	if (rc == 1) {
		window_drop(d, "wrote outside its reach", false);
		return;
	}
	note_live_times(d);
	rc = rc ? rc : snapshot_end(d, &err);
	rc = rc ? rc : passes_run(d, &err);
	if (!rc) {
		succeed(d, why);
		choose_mode(d);
		return;
	}
	if (rc == RC_TIMEOUT)
		learn_stuck(d);
	if (rc == RC_END)
		device_kill(d, !d->source_gone, err.message);
	fail(d, rc == RC_TIMEOUT ? "does not drain when it is replayed" : err.message);
}

void window_end(struct replay_device *d, const char *why)
{
	struct window *w = &d->window;
	struct error err = {0};
	int rc;

	if (!w->open)
		return;
	if (d->dead || atomic_load(&d->replay->disabled)) {
		window_drop(d, d->dead ? d->dead : "collection was stopped", true);
		return;
	}
	device_not_busy(d);
	rc = device_drain(d, 0, &err);
	w->account.live_ns = replay_now() - w->account.begin_ns;
	if (rc == RC_TIMEOUT) {
		learn_stuck(d);
		window_drop(d, "does not drain", true);
		d->outstanding++;
		return;
	}
	if (rc) {
		device_check_lost(d, rc, &err);
		window_drop(d, err.message, true);
		return;
	}
	device_own(d, REPLAY_OWN_BEGINS);
	live_close(d);
	if (!w->account.dispatches)
		window_drop(d, NULL, false);
	else if (!device_busy(d))
		window_drop(d, "another thread launched work that could not wait", false);
	else
		replay(d, why);
	device_own(d, REPLAY_OWN_ENDS);
}
