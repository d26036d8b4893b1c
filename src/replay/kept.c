/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels can write by their arguments and do not write is learned, and not saved again and
 * again: a memory that two windows found unchanged keeps its saved contents. They serve the next
 * window that reaches it, as long as it is certain that nothing wrote to the memory meanwhile: the
 * runtime remembers writes, and nothing was launched past the windows that may write later. So this
 * is no guess: a memory that is written after all is saved as before, and begins to learn anew.
 * Only for runtimes with RUNTIME_TRACKS_WRITES.
 */
#include "replay/engine.h"

#include <string.h>

#define LEARNED 2u  /* windows that must have found it unchanged */
#define UNUSED  64u /* windows after which contents that no window wanted are let go */

static uint64_t strays(struct replay_device *d)
{
	return atomic_load(&d->strays) + atomic_load(&d->intrusions);
}

void kept_forget(struct replay_device *d, struct replay_memory *m)
{
	if (!m->kept)
		return;
	d->kept_bytes -= m->m.size;
	/* With the device lost as well: putting a store away touches no device. */
	d->runtime->store_put(d->runtime_device, m->kept);
	m->kept = NULL;
}

bool kept_forget_all(struct replay_device *d)
{
	bool any = d->kept_bytes > 0;

	for (struct replay_memory *m = d->memories; m && d->kept_bytes; m = m->next)
		kept_forget(d, m);
	return any;
}

/* Whether something may have written to it since the last question. */
static bool is_written(struct replay_device *d, struct replay_memory *m)
{
	size_t words = (m->m.size / d->chunk + 64) / 64 + 1;
	uint64_t all = 0;

	if (!vec_reserve(&d->scratch, words))
		return true;
	memset(d->scratch.items, 0, words * sizeof(uint64_t));
	if (d->runtime->changed(d->runtime_device, &m->m, d->chunk, d->scratch.items, NULL))
		return true;
	for (size_t i = 0; i < words; i++)
		all |= d->scratch.items[i];
	return all != 0;
}

void *kept_take(struct replay_device *d, struct replay_memory *m)
{
	void *store = m->kept;

	if (!store)
		return NULL;
	if (m->kept_strays != strays(d) || is_written(d, m)) {
		kept_forget(d, m);
		m->unchanged = 0;
		return NULL;
	}
	m->kept = NULL;
	d->kept_bytes -= m->m.size;
	return store;
}

/* Neither the window's own run nor a pass wrote to it, not even what was there before. */
static bool is_untouched(struct replay_device *d, const struct segment *s)
{
	if (!s->tracked || !s->memory->whole || s->touched || s->n_changed)
		return false;
	for (uint32_t i = 0; i < (s->n_chunks + 63) / 64; i++)
		if (s->dirty[i])
			return false;
	return !is_written(d, s->memory);
}

void kept_learn(struct replay_device *d)
{
	if (!(d->runtime->capabilities & RUNTIME_TRACKS_WRITES))
		return;
	vec_for_each (&d->window.segments, s) {
		struct replay_memory *m = s->memory;

		if (!is_untouched(d, s)) {
			m->unchanged = 0;
			continue;
		}
		if (++m->unchanged < LEARNED)
			continue;
		m->kept = s->start;
		m->kept_strays = strays(d);
		m->kept_window = d->windows;
		d->kept_bytes += m->m.size;
		s->start = NULL;
	}
	if (d->windows % UNUSED)
		return;
	for (struct replay_memory *m = d->memories; m && d->kept_bytes; m = m->next)
		if (d->windows - m->kept_window >= UNUSED)
			kept_forget(d, m);
}
