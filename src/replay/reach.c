/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operation can reach, its effect on the open window, and saving it. A kernel that was seen
 * writing outside its reach reaches every memory of the device from then on.
 */
#include "replay/engine.h"

/* Calls visit for everything that the operation reaches; stops at a code. */
typedef int visit_reach(struct replay_device *d, const struct runtime_reach *r,
			const struct runtime_op *op, struct error *err);

static int each_reach(struct replay_device *d, const struct runtime_op *op, const struct kernel *k,
		      visit_reach *visit, struct error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < op->n_reach && !rc; i++)
		rc = visit(d, &op->reach[i], op, err);
	if (!k || !k->wide)
		return rc;
	for (struct replay_memory *m = d->memories; m && !rc; m = m->next) {
		struct runtime_reach all = {.memory = m, .size = m->m.size};

		if (!atomic_load_explicit(&m->gone, memory_order_relaxed))
			rc = visit(d, &all, op, err);
	}
	return rc;
}

static bool only_read(const struct runtime_reach *r)
{
	return (r->access & RUNTIME_ONLY_READS) || (r->memory->m.flags & RUNTIME_MEMORY_CONSTANT);
}

static int look(struct replay_device *d, const struct runtime_reach *r, const struct runtime_op *op,
		struct error *err)
{
	const struct replay_memory *m = r->memory;

	(void)d;
	(void)op;
	if (!m)
		return error_set(err, RC_NO_MEMORY, "it reaches memory that could not be recorded");
	/* Also when it is only read: a kernel that waited for a flag there would wait again, and
	 * the host may have cleared it. */
	if (m->m.flags & RUNTIME_MEMORY_HOST)
		return error_set(err, RC_UNSUPPORTED,
				 "it reaches memory that the host may use at any time");
	if (only_read(r) || !(m->m.flags & RUNTIME_MEMORY_UNSAVABLE))
		return 0;
	return error_set(err, RC_UNSUPPORTED, "%s",
			 m->m.why ? m->m.why : "it reaches memory that cannot be saved");
}

int reach_check(struct replay_device *d, const struct runtime_op *op, const struct kernel *k,
		struct error *err)
{
	return each_reach(d, op, k, look, err);
}

static int used_by_others(struct replay_device *d, const struct runtime_reach *r,
			  const struct runtime_op *op, struct error *err)
{
	const uint32_t theirs =
		RUNTIME_MEMORY_HOST | RUNTIME_MEMORY_MANAGED | RUNTIME_MEMORY_UNSAVABLE;

	(void)d;
	(void)op;
	(void)err;
	return !r->memory || (r->memory->m.flags & theirs);
}

bool reach_is_private(struct replay_device *d, const struct runtime_op *op, const struct kernel *k)
{
	return !each_reach(d, op, k, used_by_others, NULL);
}

static int unsaved(struct replay_device *d, const struct runtime_reach *r,
		   const struct runtime_op *op, struct error *err)
{
	(void)op;
	(void)err;
	return !only_read(r) && (r->memory->mark != d->window.generation ||
				 !snapshot_has(d, r->memory, r->offset, r->size));
}

bool reach_is_saved(struct replay_device *d, const struct runtime_op *op, const struct kernel *k)
{
	return !each_reach(d, op, k, unsaved, NULL);
}

static int mark(struct replay_device *d, const struct runtime_reach *r, const struct runtime_op *op,
		struct error *err)
{
	struct replay_memory *m = r->memory;
	bool only_writes = r->access == RUNTIME_ONLY_WRITES;

	(void)err;
	if (op->kind == RUNTIME_DISPATCH)
		d->window.kernel_bytes += m->m.size;
	if (m->mark == d->window.generation) {
		m->only_writes &= only_writes;
		return 0;
	}
	m->mark = d->window.generation;
	m->only_writes = only_writes;
	m->segments = 0;
	m->whole = false;
	d->window.account.reach_bytes += m->m.size;
	return 0;
}

void reach_mark(struct replay_device *d, const struct runtime_op *op, const struct kernel *k)
{
	(void)each_reach(d, op, k, mark, NULL);
}

static int mark_check(struct replay_device *d, const struct runtime_reach *r,
		      const struct runtime_op *op, struct error *err)
{
	(void)op;
	(void)err;
	r->memory->reached = d->checks;
	return 0;
}

void reach_mark_check(struct replay_device *d, const struct runtime_op *op, const struct kernel *k)
{
	(void)each_reach(d, op, k, mark_check, NULL);
}

static int save(struct replay_device *d, const struct runtime_reach *r, const struct runtime_op *op,
		struct error *err)
{
	return only_read(r) ? 0 : snapshot_save(d, r->memory, r->offset, r->size, op, err);
}

int reach_save(struct replay_device *d, const struct runtime_op *op, const struct kernel *k,
	       struct error *err)
{
	uint64_t begin = replay_now();
	int rc = each_reach(d, op, k, save, err);

	d->window.account.save_ns += replay_now() - begin;
	return rc;
}

static int touches(struct replay_device *d, const struct runtime_reach *r,
		   const struct runtime_op *op, struct error *err)
{
	(void)op;
	(void)err;
	return !r->memory || (!only_read(r) && r->memory->mark == d->window.generation);
}

bool reach_touches_window(struct replay_device *d, const struct runtime_op *op,
			  const struct kernel *k)
{
	/* Without a list anything may be reached. */
	if (!op->n_reach && !(op->flags & RUNTIME_OP_REACH_EXACT))
		return true;
	return each_reach(d, op, k, touches, NULL) != 0;
}
