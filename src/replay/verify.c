/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reach check: what an operation can write is guessed from its arguments, so all memories that
 * it should not touch are hashed before it is launched and when it has ended, those that other
 * operations of its window reach as well. The device is idle before and after, and nothing else is
 * launched in between; the window stays open. Memories that the host can write at any time, that
 * nothing can write or that cannot be read are left out.
 *
 * Waiting for a kernel that the program has just launched can be wrong: it may wait for something
 * that the program does next. So that wait is short. In vain, the check is made when the window
 * ends, if nothing is launched before; else it is forgotten, and the kernel's next window is its
 * own.
 */
#include "replay/engine.h"

static bool looked_at(const struct replay_device *d, const struct replay_memory *m)
{
	uint32_t left_out = RUNTIME_MEMORY_HOST | RUNTIME_MEMORY_CONSTANT;

	if (!(m->m.flags & RUNTIME_MEMORY_HASHED))
		left_out |= RUNTIME_MEMORY_UNSAVABLE;
	return m->reached != d->checks && !atomic_load_explicit(&m->gone, memory_order_relaxed) &&
	       !(m->m.flags & left_out);
}

bool verify_wants(const struct replay_device *d, const struct runtime_op *op,
		  const struct kernel *k)
{
	const struct window *w = &d->window;
	enum replay_verify verify = d->replay->options.verify;

	if (verify == REPLAY_VERIFY_NEVER || !k || (op->flags & RUNTIME_OP_REACH_EXACT) ||
	    k->wide || (w->open && w->unchecked))
		return false;
	if (verify == REPLAY_VERIFY_ALWAYS || k->checks < REPLAY_ALWAYS)
		return true;
	/* Of a window of the sample the first instance of each kernel. */
	return d->windows % REPLAY_SAMPLE == 0 && (!w->open || k->mark != w->generation);
}

int verify_begin(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		 struct error *err)
{
	struct window *w = &d->window;
	uint64_t begin = replay_now();
	int rc = 0;

	d->checks++;
	reach_mark_check(d, op, k);
	for (struct replay_memory *m = d->memories; m && !rc; m = m->next) {
		/* Known from the check of the operation just before. */
		if (!looked_at(d, m) ||
		    (m->hash_mark == w->generation && m->hash_at == d->operations))
			continue;
		rc = d->runtime->hash(d->runtime_device, &m->m, &m->hash, err);
		m->hash_mark = rc ? 0 : w->generation;
		m->hash_at = d->operations;
	}
	w->check_at = d->operations;
	w->checking = rc ? NULL : k;
	w->learning |= k->checks < REPLAY_ALWAYS;
	w->account.check_ns += replay_now() - begin;
	return rc;
}

int verify_end(struct replay_device *d, struct error *err)
{
	struct window *w = &d->window;
	uint64_t begin = replay_now(), hash;
	struct kernel *k = w->checking;
	int rc = 0;

	w->checking = NULL;
	if (!k)
		return 0;
	for (struct replay_memory *m = d->memories; m && !rc; m = m->next) {
		if (!looked_at(d, m) || m->hash_mark != w->generation || m->hash_at != w->check_at)
			continue;
		rc = d->runtime->hash(d->runtime_device, &m->m, &hash, err);
		if (!rc && hash != m->hash)
			rc = 1;
		m->hash_at++;
	}
	k->wide |= rc == 1;
	k->checks += !rc;
	w->account.check_ns += replay_now() - begin;
	return rc;
}

void verify_forget(struct replay_device *d)
{
	if (!d->window.checking)
		return;
	d->window.checking->slow = true;
	d->window.checking = NULL;
	d->window.unchecked = true;
}

/* Whether the device became idle and is ours alone. */
static int settle(struct replay_device *d, struct error *err)
{
	uint64_t bound = d->replay->options.drain_ns;
	uint64_t begin = replay_now();
	int rc;

	device_not_busy(d);
	rc = device_drain(d, bound < REPLAY_CHECK_NS ? bound : REPLAY_CHECK_NS, err);
	d->window.account.check_ns += replay_now() - begin;
	if (!rc && !device_busy(d)) {
		/* The window is lost already; see window_end. */
		d->window.checking = NULL;
		return RC_BUSY;
	}
	return rc;
}

void verify_after(struct replay_device *d, bool launched)
{
	struct window *w = &d->window;
	struct error err = {0};
	int rc;

	if (!launched) {
		w->checking = NULL;
		return;
	}
	if (w->check_later)
		return;
	rc = settle(d, &err);
	if (rc == RC_TIMEOUT || rc == RC_BUSY)
		return;
	device_own(d, REPLAY_OWN_BEGINS);
	rc = rc ? rc : verify_end(d, &err);
	device_own(d, REPLAY_OWN_ENDS);
	if (!rc)
		return;
	device_check_lost(d, rc, &err);
	window_drop(d, rc == 1 ? "wrote outside its reach" : err.message, rc != 1);
}
