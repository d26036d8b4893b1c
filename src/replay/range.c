/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges that the program marked, for all devices. They nest and are begun and ended by any thread:
 * a dispatch belongs to the one that was begun last of those that have not ended. Their names are
 * kept in a stack of the engine; its lock is never held while a device is entered.
 */
#include "replay/engine.h"

#include <stdio.h>
#include <string.h>

static bool in_use(const struct replay *r)
{
	return (r->options.mode == REPLAY_MODE_RANGE || r->options.only_in_ranges) &&
	       !atomic_load(&r->abandoned);
}

bool replay_outside(const struct replay *r)
{
	return r->options.only_in_ranges && !atomic_load(&r->n_ranges);
}

bool range_current(struct replay *r, char name_out[REPLAY_RANGE_NAME])
{
	bool is = false;

	pthread_mutex_lock(&r->range_lock);
	if (r->n_ranges) {
		is = true;
		snprintf(
			name_out, REPLAY_RANGE_NAME, "%s",
			r->ranges[(r->n_ranges < REPLAY_RANGES ? r->n_ranges : REPLAY_RANGES) - 1]);
	}
	pthread_mutex_unlock(&r->range_lock);
	return is;
}

static void tell_devices(struct replay *r)
{
	char name[REPLAY_RANGE_NAME];
	bool is = range_current(r, name);

	if (r->options.mode != REPLAY_MODE_RANGE)
		return;
	for (struct replay_device *d = atomic_load(&r->devices); d; d = d->next) {
		if (d->runtime->enter && !d->runtime->enter(d->runtime_device))
			continue;
		replay_range(d, is ? name : NULL);
		if (d->runtime->leave)
			d->runtime->leave(d->runtime_device);
	}
}

void replay_range_begin(struct replay *r, const char *name)
{
	if (!in_use(r))
		return;
	pthread_mutex_lock(&r->range_lock);
	/* What is too deep belongs to the deepest that has a place. */
	if (r->n_ranges < REPLAY_RANGES)
		snprintf(r->ranges[r->n_ranges], REPLAY_RANGE_NAME, "%s", name ? name : "(null)");
	r->n_ranges++;
	pthread_mutex_unlock(&r->range_lock);
	tell_devices(r);
}

void replay_range_end(struct replay *r, const char *name)
{
	char wanted[REPLAY_RANGE_NAME];
	uint32_t i;

	if (!in_use(r))
		return;
	snprintf(wanted, sizeof(wanted), "%s", name ? name : "(null)");
	pthread_mutex_lock(&r->range_lock);
	if (r->n_ranges > REPLAY_RANGES) {
		r->n_ranges--;
	} else {
		for (i = r->n_ranges; i && strcmp(r->ranges[i - 1], wanted); i--)
			;
		/* One without a begin ends nothing; of several open ones others stay open. */
		if (i) {
			memmove(r->ranges[i - 1], r->ranges[i],
				(r->n_ranges - i) * sizeof(r->ranges[0]));
			r->n_ranges--;
		}
	}
	pthread_mutex_unlock(&r->range_lock);
	tell_devices(r);
}
