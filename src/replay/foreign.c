/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatches that the vendor's own library replays: it saves memory, puts it back and launches;
 * here it is decided whether, the counters of each execution are programmed and read, and all is
 * recorded as a window of one dispatch. The replay lock of the device is held from begin to end, by
 * the thread that submits.
 */
#include "replay/engine.h"

static struct source_unit unit_of(const struct replay_device *d)
{
	const struct window_op *op = &d->window.ops.items[0];

	return (struct source_unit){.queue = op->queue, .queue_native = op->queue_native};
}

static void forget(struct replay_device *d)
{
	struct window *w = &d->window;

	vec_clear(&w->ops);
	vec_clear(&w->results);
	vec_clear(&w->samples);
}

/* What only our own replay can do right is not left to anybody. */
static const char *against(const struct replay_device *d, const struct runtime_op *op)
{
	if (d->dead)
		return d->dead;
	if (op->flags & RUNTIME_OP_NEVER_REPLAY)
		return op->why ? op->why : "it must run exactly once";
	return d->passes.n ? NULL : "no counter of the plan is counted on this device";
}

static bool open_it(struct replay_device *d, const struct runtime_op *op)
{
	struct window *w = &d->window;
	struct kernel *k;
	uint64_t ordinal;
	const char *why;

	if (atomic_load(&d->replay->disabled) || !decide_wanted(d, op, &k, &ordinal))
		return false;
	why = against(d, op);
	if (!why && !vec_reserve(&w->ops, 1))
		why = "out of memory";
	if (why) {
		record_decline(d, k, why, SPOOL_INSTEAD_NOTHING, 1);
		return false;
	}
	forget(d);
	w->ops.items[w->ops.n++] = window_op_of(op, k, ordinal);
	w->account = (struct spool_window){
		.device = d->number, .dispatches = 1, .begin_ns = replay_now()};
	w->varying = w->no_restore = false;
	return true;
}

uint32_t replay_foreign_begin(struct replay_device *d, const struct runtime_op *op)
{
	if (device_is_mine(d))
		return 0;
	if (!device_enter(d, true)) {
		atomic_fetch_add(&d->unlocked_dispatches, 1);
		device_intruder_leaves(d);
		return 0;
	}
	if (open_it(d, op))
		return (uint32_t)d->passes.n * d->replay->options.repeat;
	device_leave(d);
	return 0;
}

int replay_foreign_pass_begin(struct replay_device *d, uint32_t n, struct error *err)
{
	uint32_t pass = d->passes.items[n % d->passes.n];
	struct source_unit unit = {0};
	int rc;

	if (!device_is_mine(d) || !d->window.ops.n)
		return error_set(err, RC_INVALID,
				 "a pass of it began on another thread than its submission");
	unit = unit_of(d);
	rc = d->source->pass_begin(d->source_device, pass, 1, err);
	if (rc)
		return rc;
	rc = d->source->unit_begin(d->source_device, &unit, err);
	if (rc)
		d->source->pass_abort(d->source_device);
	return rc;
}

int replay_foreign_pass_end(struct replay_device *d, uint32_t n, struct error *err)
{
	uint32_t pass = d->passes.items[n % d->passes.n];
	struct source_unit unit = {0};
	int rc;

	if (!device_is_mine(d) || !d->window.ops.n)
		return error_set(err, RC_INVALID,
				 "a pass of it ended on another thread than its submission");
	unit = unit_of(d);
	rc = d->source->unit_end(d->source_device, &unit, err);
	rc = rc ? rc : d->source->pass_end(d->source_device, err);
	if (rc)
		d->source->pass_abort(d->source_device);
	else
		rc = passes_read_unit(d, 0, 0, pass, (uint32_t)(n / d->passes.n) + 1, err);
	d->window.account.passes += !rc;
	return rc;
}

void replay_foreign_end(struct replay_device *d, const char *why)
{
	struct window *w = &d->window;

	if (!device_is_mine(d) || !w->ops.n)
		return;
	w->account.end_ns = replay_now();
	w->account.run_ns = w->account.end_ns - w->account.begin_ns;
	if (why) {
		w->account.passes = 0;
		record_decline(d, w->ops.items[0].kernel, why, SPOOL_INSTEAD_NOTHING, 1);
	}
	record_window(d, !why, why ? why : "replayed by the vendor's library");
	forget(d);
	device_leave(d);
}
