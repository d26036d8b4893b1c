/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counted executions of a window: memory back to the start, counters programmed, every
 * operation launched again, counts read. All passes 1 to P, and as often again as --repeat says.
 *
 * The device is ours alone meanwhile. Whatever goes wrong, memory ends as the window's own run left
 * it: what hangs is helped along (the launches that it may be waiting for, then the contents that
 * it may be waiting for), and copies that failed are done again. Only when that fails, too, the
 * device is given up, with a note that says what it means.
 */
#include "replay/engine.h"

#include <stdio.h>

/* Each at least one bound of a drain: the kernel did end in the window's own run, and to give up
 * means wrong memory. */
#define PUT_BACK_TRIES 10
#define LAST_RESORT    2

struct runner {
	struct replay_device *d;
	size_t next;  /* operation not launched yet */
	bool begun;   /* pass_begin succeeded, pass_end is due */
	bool running; /* a transfer may be, beside what is counted */
};

static bool drains_around(const struct replay_device *d)
{
	return device_drains_around(d, d->window.units);
}

static int drain(struct replay_device *d, struct error *err)
{
	return device_drain(d, 0, err);
}

/* The counters of the device are gone for good: not the device itself. */
static int from_source(struct replay_device *d, int rc)
{
	if (rc == RC_END)
		d->source_gone = true;
	return rc;
}

static struct source_unit unit_of(const struct window_op *op, uint32_t index)
{
	return (struct source_unit){
		.index = index, .queue = op->queue, .queue_native = op->queue_native};
}

static int launch(struct runner *r, struct window_op *op, struct error *err)
{
	r->next++;
	return r->d->runtime->launch(r->d->runtime_device, op->recorded, err);
}

/* One unit of the source around one dispatch. Where the launch waits for its kernel, only transfers
 * are drained before it. */
static int run_counted(struct runner *r, struct window_op *op, uint32_t index, struct error *err)
{
	struct replay_device *d = r->d;
	struct source_unit unit = unit_of(op, index);
	bool drained = drains_around(d);
	int rc = (drained && r->next) || r->running ? drain(d, err) : 0;

	r->running = false;
	rc = rc ? rc : device_flush(d, err);
	if (!rc)
		rc = from_source(d, d->source->unit_begin(d->source_device, &unit, err));
	rc = rc ? rc : launch(r, op, err);
	if (!rc && drained)
		rc = drain(d, err);
	return rc ? rc : from_source(d, d->source->unit_end(d->source_device, &unit, err));
}

/* All operations of the window in their order. In range mode they are one unit. one_by_one: no
 * queue beside another. */
static int run_ops(struct runner *r, bool counted, bool one_by_one, struct error *err)
{
	struct replay_device *d = r->d;
	struct window *w = &d->window;
	bool one_unit = d->mode == REPLAY_MODE_RANGE;
	bool ordered = (d->runtime->capabilities & RUNTIME_LAUNCH_KEEPS_ORDER) != 0 &&
		       !one_by_one &&
		       (!counted || one_unit || (d->source->capabilities & SOURCE_OVERLAP));
	struct source_unit unit = unit_of(&w->ops.items[0], 0);
	uint32_t index = 0;
	int rc = 0;

	r->next = 0;
	r->running = false;
	if (counted && one_unit)
		rc = device_flush(d, err);
	if (!rc && counted && one_unit)
		rc = from_source(d, d->source->unit_begin(d->source_device, &unit, err));
	for (size_t i = 0; i < w->ops.n && !rc; i++) {
		struct window_op *op = &w->ops.items[i];

		if (i && !ordered && op->queue != w->ops.items[i - 1].queue)
			rc = drain(d, err);
		if (rc)
			break;
		if (counted && op->kernel && !one_unit)
			rc = run_counted(r, op, index++, err);
		else
			rc = launch(r, op, err);
		r->running |= !op->kernel && (d->source->capabilities & SOURCE_NEEDS_DRAIN);
	}
	if (!rc && counted && one_unit && (d->source->capabilities & SOURCE_NEEDS_DRAIN))
		rc = drain(d, err);
	if (!rc && counted && one_unit)
		rc = from_source(d, d->source->unit_end(d->source_device, &unit, err));
	return rc ? rc : drain(d, err);
}

/* ---- reading ---- */

int passes_read_unit(struct replay_device *d, size_t op_index, uint32_t unit, uint32_t pass,
		     uint32_t attempt, struct error *err)
{
	struct window *w = &d->window;
	struct window_op *op = &w->ops.items[op_index];
	struct unit_result u = {.pass = pass,
				.attempt = attempt,
				.op = (uint32_t)op_index,
				.first_sample = w->samples.n};
	int rc;

	if (!vec_reserve(&w->samples, w->samples.n + d->room) ||
	    !vec_reserve(&w->results, w->results.n + 1))
		return error_set(err, RC_NO_MEMORY, "out of memory for samples");
	rc = d->source->read(d->source_device, unit, w->samples.items + w->samples.n, d->room,
			     &u.n_samples, &u.enabled_ns, &u.running_ns, err);
	if (rc)
		return from_source(d, rc);
	if (u.n_samples > d->room)
		return error_set(err, RC_ERROR, "source '%s' gave more samples than it announced",
				 d->source->name);
	if (d->runtime->times &&
	    d->runtime->times(d->runtime_device, op->recorded, &u.begin_ns, &u.end_ns, NULL))
		u.begin_ns = u.end_ns = 0;
	w->samples.n += u.n_samples;
	w->results.items[w->results.n++] = u;
	return 0;
}

static int read_units(struct replay_device *d, uint32_t pass, uint32_t attempt, struct error *err)
{
	struct window *w = &d->window;
	uint32_t unit = 0;
	int rc = 0;

	if (d->mode == REPLAY_MODE_RANGE)
		return passes_read_unit(d, 0, 0, pass, attempt, err);
	for (size_t i = 0; i < w->ops.n && !rc; i++)
		if (w->ops.items[i].kernel)
			rc = passes_read_unit(d, i, unit++, pass, attempt, err);
	return rc;
}

static int run_pass(struct runner *r, uint32_t pass, uint32_t attempt, struct error *err)
{
	struct replay_device *d = r->d;
	struct window *w = &d->window;
	uint32_t units = d->mode == REPLAY_MODE_RANGE ? 1 : w->account.dispatches;
	uint64_t begin, programmed, ran;
	int rc = snapshot_restore_start(d, err);

	if (rc)
		return rc;
	begin = replay_now();
	device_expect(d, pass, w->units);
	rc = from_source(d, d->source->pass_begin(d->source_device, pass, units, err));
	if (rc)
		return rc;
	r->begun = true;
	programmed = replay_now();
	rc = run_ops(r, true, false, err);
	ran = replay_now();
	if (!rc) {
		r->begun = false;
		rc = from_source(d, d->source->pass_end(d->source_device, err));
		if (rc)
			d->source->pass_abort(d->source_device);
	}
	rc = rc ? rc : read_units(d, pass, attempt, err);
	w->account.program_ns += programmed - begin + (replay_now() - ran);
	w->account.run_ns += ran - programmed;
	w->account.passes += !rc;
	return rc;
}

/* ---- after an error ---- */

/* The device idle again, whatever was running on it. The last resort writes under a running kernel,
 * so it waits until a slow one would have ended. */
static int settle(struct runner *r, bool last_resort, struct error *err)
{
	struct replay_device *d = r->d;
	struct window *w = &d->window;
	int rc = drain(d, err);

	if (rc != RC_TIMEOUT)
		return rc;
	/* A kernel may wait for a later one of the window. */
	while (r->next < w->ops.n)
		if (launch(r, &w->ops.items[r->next], err))
			break;
	rc = drain(d, err);
	if (rc != RC_TIMEOUT || !last_resort)
		return rc;
	/* Or for contents that the host wrote while the window's own run was waiting. */
	(void)snapshot_restore_end(d, true, err);
	return drain(d, err);
}

static void put_back(struct runner *r)
{
	struct replay_device *d = r->d;
	struct error err = {0};
	char text[REPLAY_REASON_MAX];
	bool differs = true;
	int rc = RC_ERROR;

	if (r->begun)
		d->source->pass_abort(d->source_device);
	r->begun = false;
	for (int i = 0; i < PUT_BACK_TRIES && (rc || differs); i++) {
		rc = settle(r, i >= LAST_RESORT, &err);
		rc = rc ? rc : snapshot_restore_end(d, true, &err);
		rc = rc ? rc : drain(d, &err);
		rc = rc ? rc : snapshot_check(d, &differs, &err);
		if (rc == RC_END)
			break;
	}
	if (!rc && !differs)
		return;
	if (device_check_lost(d, rc, &err))
		return;
	snprintf(text, sizeof(text),
		 "memory could not be put back after a pass, the program's results may be wrong: "
		 "%.90s",
		 rc ? err.message : "it still differs");
	d->hung = rc == RC_TIMEOUT;
	device_kill(d, d->hung, text);
}

/* ---- all of them ---- */

static bool check_each(const struct replay_device *d)
{
	const struct window *w = &d->window;

	if (d->replay->options.verify != REPLAY_VERIFY_FIRST)
		return d->replay->options.verify == REPLAY_VERIFY_ALWAYS;
	if (d->windows % REPLAY_SAMPLE == 0)
		return true;
	for (size_t i = 0; i < w->ops.n; i++)
		if (w->ops.items[i].kernel && w->ops.items[i].kernel->windows < REPLAY_ALWAYS)
			return true;
	return false;
}

/* Whether the window must show, with a bound, that it ends one dispatch at a time: before launches
 * that wait for their kernels without one. From the same memory it then does so again. */
static bool needs_trial(const struct replay_device *d)
{
	const struct window *w = &d->window;

	if (w->units != SOURCE_UNITS_WAITED || !d->source->expect)
		return false;
	for (size_t i = 0; i < w->ops.n; i++) {
		const struct window_op *op = &w->ops.items[i];

		if (op->queue != w->ops.items[0].queue ||
		    (op->kernel && op->kernel->windows < REPLAY_ALWAYS))
			return true;
	}
	return false;
}

/* Once more, uncounted. */
static int run_uncounted(struct runner *r, bool one_by_one, struct error *err)
{
	uint64_t begin;
	int rc = snapshot_restore_start(r->d, err);

	begin = replay_now();
	rc = rc ? rc : run_ops(r, false, one_by_one, err);
	r->d->window.account.run_ns += replay_now() - begin;
	return rc;
}

static int run_all(struct replay_device *d, struct error *err)
{
	struct window *w = &d->window;
	struct runner r = {.d = d};
	uint32_t repeat = d->replay->options.repeat;
	bool each = check_each(d), trial = needs_trial(d), differs;
	int rc = 0;

	vec_clear(&w->results);
	vec_clear(&w->samples);
	w->varying = false;
	w->no_restore = !snapshot_needs_restore(d);
	if (trial || (d->source->capabilities & SOURCE_WANTS_WARM_UP))
		rc = run_uncounted(&r, trial, err);
	if (!rc && trial && each)
		rc = snapshot_check(d, &differs, err);
	for (uint32_t a = 1; a <= repeat && !rc; a++)
		for (size_t p = 0; p < d->passes.n && !rc; p++) {
			bool last = a == repeat && p + 1 == d->passes.n;

			rc = run_pass(&r, d->passes.items[p], a, err);
			if (!rc && (each || last))
				rc = snapshot_check(d, &differs, err);
			if (!rc && last && differs)
				rc = snapshot_restore_end(d, false, err);
			if (!rc && last && differs)
				rc = drain(d, err);
		}
	w->no_restore &= !w->varying;
	if (rc)
		put_back(&r);
	return rc;
}

int passes_run(struct replay_device *d, struct error *err)
{
	int rc;

	if (d->source->series)
		d->source->series(d->source_device, true);
	rc = run_all(d, err);
	if (d->source->series)
		d->source->series(d->source_device, false);
	return rc;
}
