/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a device by name: what was learned of each, and whether it is wanted at all. */
#include "base/hash.h"
#include "replay/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kernel **slot_of(struct replay_device *d, const char *name, uint64_t hash)
{
	size_t mask = d->kernels.capacity - 1, i = hash & mask;

	while (d->kernels.items[i] &&
	       (d->kernels.items[i]->hash != hash || strcmp(d->kernels.items[i]->name, name)))
		i = (i + 1) & mask;
	return &d->kernels.items[i];
}

static bool make_room(struct replay_device *d)
{
	struct kernel **old = d->kernels.items;
	size_t had = d->kernels.capacity, want = had ? had * 2 : 64;

	if (d->n_kernels * 2 < had)
		return true;
	d->kernels.items = calloc(want, sizeof(struct kernel *));
	if (!d->kernels.items) {
		d->kernels.items = old;
		return false;
	}
	d->kernels.capacity = want;
	for (size_t i = 0; i < had; i++)
		if (old[i])
			*slot_of(d, old[i]->name, old[i]->hash) = old[i];
	free(old);
	return true;
}

struct kernel *kernel_find(struct replay_device *d, const char *name)
{
	struct replay_options *o = &d->replay->options;
	struct kernel *k, **slot;
	uint64_t hash;

	if (!name)
		name = "(unnamed)";
	if (d->last && !strcmp(d->last->name, name))
		return d->last;
	hash = hash64(name, strlen(name));
	if (!make_room(d))
		return NULL;
	slot = slot_of(d, name, hash);
	if (!*slot) {
		k = calloc(1, sizeof(*k));
		if (!k)
			return NULL;
		k->name = strdup(name);
		if (!k->name) {
			free(k);
			return NULL;
		}
		k->hash = hash;
		k->id = atomic_fetch_add(&d->replay->kernel_ids, 1) + 1;
		k->wanted = !o->match || o->match(o->match_data, name);
		*slot = k;
		d->n_kernels++;
	}
	return d->last = *slot;
}

void kernels_note_unwanted(struct replay_device *d)
{
	char text[512];
	size_t n, shown = 0;

	n = (size_t)snprintf(text, sizeof(text),
			     "the filters take none of the kernels that were launched on device %u",
			     d->number);
	for (size_t i = 0; i < d->kernels.capacity; i++) {
		const struct kernel *k = d->kernels.items[i];

		if (k && k->wanted)
			return;
		if (k && shown < 8 && n < 400)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %.60s",
					      shown++ ? "," : ":", k->name);
	}
	if (shown < d->n_kernels)
		snprintf(text + n, sizeof(text) - n, " and %zu more", d->n_kernels - shown);
	if (d->n_kernels)
		record_note(d->replay, SPOOL_NOTE_FINDING, text);
}

void kernels_release(struct replay_device *d)
{
	for (size_t i = 0; i < d->kernels.capacity; i++) {
		if (!d->kernels.items[i])
			continue;
		until_release(d->kernels.items[i]);
		free(d->kernels.items[i]->name);
		free(d->kernels.items[i]);
	}
	free(d->kernels.items);
	d->kernels.items = NULL;
	d->kernels.capacity = 0;
	d->last = NULL;
}
