/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reach check: what the operations of a window can write is guessed from their arguments, so
 * the memories that they should not touch are hashed before the window's own run and after it.
 * Memories that the host can write at any time, that nothing can write or that cannot be read are
 * left out; so is what some later operation of the window reaches, or one beside the window.
 */
#include "replay/engine.h"

static bool looked_at(const struct replay_memory *m)
{
	return !m->gone && !(m->m.flags & (RUNTIME_MEMORY_UNSAVABLE | RUNTIME_MEMORY_HOST |
					   RUNTIME_MEMORY_CONSTANT));
}

/* Before the first operation of a window marks its reach: what it reaches is hashed in vain only
 * for the memories of that operation, so the caller marks those first. */
int verify_begin(struct replay_device *d, struct error *err)
{
	struct window *w = &d->window;
	uint64_t begin = replay_now();
	int rc = 0;

	for (struct replay_memory *m = d->memories; m && !rc; m = m->next) {
		if (!looked_at(m) || m->mark == w->generation)
			continue;
		rc = d->runtime->hash(d->runtime_device, &m->m, &m->hash, err);
		m->hash_mark = w->generation;
	}
	w->checking = !rc;
	w->account.check_ns += replay_now() - begin;
	return rc;
}

void verify_spare(struct replay_device *d, struct replay_memory *m)
{
	(void)d;
	m->hash_mark = 0;
}

int verify_end(struct replay_device *d, struct error *err)
{
	struct window *w = &d->window;
	uint64_t begin = replay_now(), hash;
	int rc = 0;

	if (!w->checking)
		return 0;
	for (struct replay_memory *m = d->memories; m && !rc; m = m->next) {
		if (!looked_at(m) || m->mark == w->generation || m->hash_mark != w->generation)
			continue;
		rc = d->runtime->hash(d->runtime_device, &m->m, &hash, err);
		if (!rc && hash != m->hash)
			rc = 1;
	}
	w->account.check_ns += replay_now() - begin;
	return rc;
}
