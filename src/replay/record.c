/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine measured, as records of the spool; declined dispatches are added up between
 * windows. */
#include "base/hash.h"
#include "replay/engine.h"

#include <stdlib.h>
#include <string.h>

/* The first failure ends collection: it is seen by every device at its next launch or boundary.
 * Record lock held. */
static void append(struct replay *r, enum spool_type type, const void *a, size_t na, const void *b,
		   size_t nb)
{
	if (r->append_failed)
		return;
	if (r->append(r->append_data, type, a, na, b, nb, NULL)) {
		r->append_failed = true;
		atomic_store(&r->disabled, true);
	}
}

static void append_kernel(struct replay *r, struct kernel *k)
{
	struct spool_kernel record;

	if (k->written)
		return;
	record = (struct spool_kernel){.kernel = k->id};
	append(r, SPOOL_KERNEL, &record, sizeof(record), k->name, strlen(k->name));
	k->written = true;
}

static struct spool_dispatch dispatch_of(const struct replay_device *d, const struct window_op *op,
					 uint32_t pass)
{
	return (struct spool_dispatch){.dispatch = op->ordinal,
				       .kernel = op->kernel->id,
				       .unit = SPOOL_UNIT_DISPATCH,
				       .pass = pass,
				       .device = d->number,
				       .grid = {op->grid[0], op->grid[1], op->grid[2]},
				       .block = {op->block[0], op->block[1], op->block[2]},
				       .queue = op->queue,
				       .registers = op->registers,
				       .shared_bytes = op->shared_bytes,
				       .attempt = 1};
}

static void append_samples(struct replay *r, uint32_t pass, uint64_t ordinal,
			   const struct spool_sample *samples, uint32_t n, uint64_t enabled_ns,
			   uint64_t running_ns)
{
	struct spool_samples head = {.pass = pass,
				     .n = n,
				     .dispatch = ordinal,
				     .enabled_ns = enabled_ns,
				     .running_ns = running_ns};

	append(r, SPOOL_SAMPLES, &head, sizeof(head), samples, n * sizeof(*samples));
}

/* ---- windows ---- */

static void append_program_run(struct replay_device *d)
{
	vec_for_each (&d->window.ops, op) {
		struct spool_dispatch record;

		if (!op->kernel)
			continue;
		append_kernel(d->replay, op->kernel);
		record = dispatch_of(d, op, 0);
		record.begin_ns = op->live_begin_ns;
		record.end_ns = op->live_end_ns;
		append(d->replay, SPOOL_DISPATCH, &record, sizeof(record), NULL, 0);
	}
}

static void append_results(struct replay_device *d)
{
	struct window *w = &d->window;
	bool range = d->mode == REPLAY_MODE_RANGE;
	uint64_t ordinal = 0;
	uint32_t flags = SPOOL_DISPATCH_REPLAYED;

	flags |= w->varying ? SPOOL_DISPATCH_VARYING : 0;
	flags |= w->no_restore ? SPOOL_DISPATCH_NO_RESTORE : 0;
	if (range) {
		append_kernel(d->replay, d->range);
		ordinal = atomic_fetch_add(&d->replay->ordinals, 1);
	}
	vec_for_each (&w->results, u) {
		const struct window_op *op = &w->ops.items[u->op];
		struct spool_dispatch record;

		if (range)
			record = (struct spool_dispatch){.dispatch = ordinal,
							 .kernel = d->range->id,
							 .unit = SPOOL_UNIT_RANGE,
							 .pass = u->pass,
							 .device = d->number,
							 .queue = op->queue};
		else
			record = dispatch_of(d, op, u->pass);
		record.begin_ns = u->begin_ns;
		record.end_ns = u->end_ns;
		record.attempt = u->attempt;
		record.flags = flags;
		append(d->replay, SPOOL_DISPATCH, &record, sizeof(record), NULL, 0);
		append_samples(d->replay, u->pass, record.dispatch,
			       w->samples.items + u->first_sample, u->n_samples, u->enabled_ns,
			       u->running_ns);
	}
}

void record_window(struct replay_device *d, bool counted, const char *why)
{
	struct replay *r = d->replay;
	struct window *w = &d->window;

	pthread_mutex_lock(&r->record_lock);
	append_program_run(d);
	if (counted)
		append_results(d);
	w->account.window = atomic_fetch_add(&r->window_ordinals, 1);
	append(r, SPOOL_WINDOW, &w->account, sizeof(w->account), why, strlen(why));
	pthread_mutex_unlock(&r->record_lock);
	if (d->undeclared)
		record_declines_flush(d);
}

void record_live(struct replay_device *d, const struct window_op *op, uint32_t pass,
		 const struct spool_sample *samples, uint32_t n, uint64_t enabled_ns,
		 uint64_t running_ns)
{
	struct replay *r = d->replay;
	struct spool_dispatch record = dispatch_of(d, op, pass);

	pthread_mutex_lock(&r->record_lock);
	append_kernel(r, op->kernel);
	append(r, SPOOL_DISPATCH, &record, sizeof(record), NULL, 0);
	append_samples(r, pass, op->ordinal, samples, n, enabled_ns, running_ns);
	pthread_mutex_unlock(&r->record_lock);
}

/* ---- notes and declines ---- */

void record_note(struct replay *r, enum spool_note_kind kind, const char *text)
{
	struct spool_note note = {.kind = kind};

	pthread_mutex_lock(&r->record_lock);
	append(r, SPOOL_NOTE, &note, sizeof(note), text, strlen(text));
	pthread_mutex_unlock(&r->record_lock);
}

/* A program may be killed: what is declined is written early at first, then in portions. Readers
 * add up. */
static void declare(struct replay_device *d, uint64_t count)
{
	d->undeclared += count;
	if (d->undeclared < d->declare_at || !d->undeclared)
		return;
	if (d->declare_at < REPLAY_DECLARE)
		d->declare_at = d->declare_at ? 2 * d->declare_at : 1;
	record_declines_flush(d);
}

void record_left(struct replay_device *d, struct kind *kind)
{
	kind->unwritten++;
	declare(d, 1);
}

/* Record lock held. */
static void append_left(struct replay_device *d, struct kernel *k, struct kind *kind)
{
	struct spool_left record = {.count = kind->unwritten,
				    .counted = kind->counted,
				    .kernel = k->id,
				    .device = d->number,
				    .precision = d->replay->options.until};

	memcpy(record.grid, kind->grid, sizeof(record.grid));
	memcpy(record.block, kind->block, sizeof(record.block));
	append_kernel(d->replay, k);
	append(d->replay, SPOOL_LEFT, &record, sizeof(record), NULL, 0);
	kind->unwritten = 0;
}

const char *record_decline(struct replay_device *d, struct kernel *k, const char *reason,
			   enum spool_instead instead, uint64_t count)
{
	uint64_t hash = hash64(reason, strlen(reason));
	struct decline *x = NULL;

	vec_for_each (&d->declines, it) {
		if (it->hash != hash || it->kernel != k || it->instead != instead)
			continue;
		it->count += count;
		reason = it->reason;
		declare(d, count);
		return reason;
	}
	/* Too many to keep apart: a source that words every failure in another way. */
	if (d->declines.n >= REPLAY_REASONS && strcmp(reason, "other reasons"))
		return record_decline(d, NULL, "other reasons", instead, count);
	if (!vec_reserve(&d->declines, d->declines.n + 1))
		return NULL;
	x = &d->declines.items[d->declines.n];
	*x = (struct decline){.kernel = k, .hash = hash, .instead = instead, .count = count};
	x->reason = strdup(reason);
	if (!x->reason)
		return NULL;
	d->declines.n++;
	reason = x->reason;
	declare(d, count);
	return reason;
}

void record_declines_flush(struct replay_device *d)
{
	struct replay *r = d->replay;
	uint64_t unlocked = atomic_exchange(&d->unlocked_dispatches, 0);

	d->undeclared = 0;
	if (unlocked)
		record_decline(d, NULL, "launched while another thread had the device",
			       SPOOL_INSTEAD_NOTHING, unlocked);
	pthread_mutex_lock(&r->record_lock);
	vec_for_each (&d->declines, x) {
		struct spool_decline record = {.count = x->count,
					       .kernel = x->kernel ? x->kernel->id : 0,
					       .device = d->number,
					       .instead = x->instead};

		if (!x->count)
			continue;
		if (x->kernel)
			append_kernel(r, x->kernel);
		append(r, SPOOL_DECLINE, &record, sizeof(record), x->reason, strlen(x->reason));
		x->count = 0;
	}
	for (size_t i = 0; d->n_kinds && i < d->kernels.capacity; i++) {
		for (struct kind *x = d->kernels.items[i] ? d->kernels.items[i]->kinds : NULL; x;
		     x = x->next)
			if (x->unwritten)
				append_left(d, d->kernels.items[i], x);
	}
	pthread_mutex_unlock(&r->record_lock);
}
