/* SPDX-License-Identifier: Apache-2.0 */
/* The engine as a whole: opened, stopped, closed, forgotten after fork. */
#include "replay/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t replay_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fill_defaults(struct replay_options *o)
{
	o->window = o->window ? o->window : REPLAY_WINDOW;
	o->repeat = o->repeat ? o->repeat : 1;
	o->drain_ns = o->drain_ns ? o->drain_ns : REPLAY_DRAIN_NS;
	o->chunk = o->chunk ? o->chunk : REPLAY_CHUNK;
}

int replay_open(struct replay **replay_out, const struct replay_options *options,
		const struct plan *plan, replay_append *append, void *append_data,
		struct error *err)
{
	struct replay *r;
	int rc;

	*replay_out = NULL;
	if (options->only_pass > plan->n_passes)
		return error_set(err, RC_INVALID, "there is no pass %u: the plan has %u",
				 options->only_pass, plan->n_passes);
	if (options->chunk % 64)
		return error_set(err, RC_INVALID, "the chunk size is not a multiple of 64");
	r = calloc(1, sizeof(*r));
	if (!r)
		return error_set(err, RC_NO_MEMORY, "out of memory for the replay engine");
	r->options = *options;
	fill_defaults(&r->options);
	r->plan = plan;
	r->append = append;
	r->append_data = append_data;
	rc = until_open(r, err);
	if (rc) {
		free(r);
		return rc;
	}
	rc = pthread_mutex_init(&r->range_lock, NULL);
	if (!rc)
		rc = pthread_mutex_init(&r->record_lock, NULL);
	if (rc) {
		free(r->divided);
		free(r);
		return error_set_errno(err, 0, rc, "cannot make a lock for the replay engine");
	}
	*replay_out = r;
	return 0;
}

void replay_boundary_all(struct replay *r, const char *why)
{
	for (struct replay_device *d = atomic_load(&r->devices); d; d = d->next)
		replay_boundary(d, why);
}

bool replay_with_lock(struct replay_device *d, void (*work)(void *data), void *data)
{
	if (!device_enter(d, true)) {
		device_intruder_leaves(d);
		return false;
	}
	work(data);
	device_leave(d);
	return true;
}

void replay_disable(struct replay *r, const char *reason)
{
	char text[REPLAY_REASON_MAX + 64];

	if (atomic_exchange(&r->disabled, true))
		return;
	snprintf(text, sizeof(text), "disabled because %.200s", reason);
	for (struct replay_device *d = atomic_load(&r->devices); d; d = d->next) {
		if (device_is_mine(d))
			continue;
		if (!device_enter(d, true)) {
			device_intruder_leaves(d);
			continue;
		}
		window_drop(d, "collection was stopped", true);
		live_drop(d, "collection was stopped");
		record_declines_flush(d);
		device_settle_phase(d);
		device_leave(d);
	}
	record_note(r, SPOOL_NOTE_DISABLED, text);
}

void replay_note(struct replay *r, const char *text)
{
	record_note(r, SPOOL_NOTE_FINDING, text);
}

void replay_note_detail(struct replay *r, const char *text)
{
	record_note(r, SPOOL_NOTE_DETAIL, text);
}

bool replay_disabled(const struct replay *r)
{
	return atomic_load(&r->disabled);
}

static void free_device(struct replay_device *d)
{
	struct replay_memory *m, *next;

	for (m = d->memories; m; m = next) {
		next = m->next;
		free(m);
	}
	for (size_t i = 0; i < d->spare.n; i++)
		free(d->spare.items[i]);
	vec_for_each (&d->declines, x) {
		free(x->reason);
	}
	kernels_release(d);
	vec_release(&d->passes);
	vec_release(&d->whole);
	vec_release(&d->spare);
	vec_release(&d->parked_stores);
	vec_release(&d->parked_ops);
	vec_release(&d->window.ops);
	vec_release(&d->window.segments);
	vec_release(&d->window.bits);
	vec_release(&d->window.results);
	vec_release(&d->window.samples);
	vec_release(&d->live.units);
	vec_release(&d->declines);
	vec_release(&d->scratch);
	vec_release(&d->unit_sums);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

#define CLOSE_TRIES 4

static void close_device(struct replay_device *d)
{
	int rc = RC_ERROR;

	/* After a timeout this is the last chance to give back what was parked. */
	device_unpark_lost(d);
	/* What the device may still be writing to is not given back. */
	for (int i = 0; i < CLOSE_TRIES && rc && (d->parked_stores.n || d->parked_ops.n); i++) {
		rc = device_drain(d, 0, NULL);
		if (rc == RC_TIMEOUT)
			break;
	}
	kept_forget_all(d);
	live_drop(d, "does not end before the program does");
	record_declines_flush(d);
	kernels_note_unwanted(d);
	if (d->source_device)
		d->source->device_close(d->source_device);
	free_device(d);
}

void replay_close(struct replay *r)
{
	struct replay_device *d, *next;

	if (!r)
		return;
	if (!atomic_load(&r->abandoned))
		replay_boundary_all(r, "exit");
	for (d = atomic_load(&r->devices); d; d = next) {
		next = d->next;
		if (atomic_load(&r->abandoned))
			free_device(d);
		else
			close_device(d);
	}
	pthread_mutex_destroy(&r->record_lock);
	pthread_mutex_destroy(&r->range_lock);
	free(r->divided);
	free(r);
}

void replay_abandon(struct replay *r)
{
	if (!r)
		return;
	atomic_store(&r->abandoned, true);
	atomic_store(&r->disabled, true);
}
