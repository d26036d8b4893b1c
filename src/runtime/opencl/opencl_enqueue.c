/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is common to all commands that the program enqueues and the engine hears of: what they
 * reach, why one must not be replayed, and that saves are put in front of it without the program's
 * thread waiting.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

__thread struct command *command_now;
__thread bool in_callback;

void reach_add(struct reach *r, struct device *d, struct memory *m, uint64_t offset, uint64_t size,
	       uint32_t access)
{
	struct memory *root = memory_root(m);
	uint32_t i = device_index(root->context, d);
	struct runtime_reach *item;

	if (atomic_load(&root->mapped))
		r->why = "reaches memory that the host has mapped";
	if (i == UINT32_MAX || !root->replay[i]) {
		r->why = "reaches memory that is not followed";
		return;
	}
	for (uint32_t k = 0; k < r->n; k++) {
		item = &r->items[k];
		if (item->memory != root->replay[i])
			continue;
		/* Twice the same: all of it, in any way. */
		item->offset = 0;
		item->size = replay_memory_of(root->replay[i])->size;
		item->access = RUNTIME_MAY_READ_WRITE;
		return;
	}
	if (r->n == REACH_ROOM) {
		r->why = "reaches more memory objects than are followed";
		return;
	}
	r->memories[r->n_memories++] = root;
	r->items[r->n++] = (struct runtime_reach){root->replay[i], offset, size, access};
}

const char *command_why(const struct queue *q, const struct reach *r)
{
	const char *opaque = atomic_load(&layer.opaque);

	if (in_callback)
		return "launched from an event callback";
	if (atomic_load(&layer.user_events))
		return "launched while a user event was not set";
	if (q->context->failed_event)
		return "a user event was set to an error";
	if (q->context->device_queue)
		return "kernels may enqueue kernels (a queue on the device)";
	return opaque ? opaque : r->why;
}

void command_begin(struct command *c, struct runtime_op *op, const struct reach *r, const char *why)
{
	struct queue *q = c->queue;
	struct device *d = q->device;
	bool held = in_callback || atomic_load(&layer.user_events);

	op->queue = q->number;
	op->queue_native = q->object.handle;
	op->n_reach = r->n;
	op->reach = r->items;
	op->why = why;
	if (why)
		op->flags |= RUNTIME_OP_NEVER_REPLAY;
	if (held)
		op->flags |= RUNTIME_OP_NO_WAIT_BEFORE;
	/* The devices of a context share its memory. */
	for (uint32_t i = 0; i < q->context->n_devices && q->context->n_devices > 1; i++)
		if (q->context->devices[i] != d)
			rules_apply("another device of the context", q->context->devices[i]);
	if (!held && !order_is_clear(q, c->n_wait, c->wait, r->memories, r->n_memories)) {
		if (d->n_epoch >= OPENCL_EPOCH) {
			rules_apply("many commands", d);
		} else {
			/* The other command may be waiting for this one: nothing may be waited
			 * for here, and the two are not replayed one after the other. */
			op->flags |= RUNTIME_OP_NEVER_REPLAY | RUNTIME_OP_NO_WAIT_BEFORE;
			if (!op->why)
				op->why = "not in order with another command on its memory";
		}
	}
	command_now = c;
	c->taken = replay_before(d->replay, op) == REPLAY_RECORDED;
	command_now = NULL;
	atomic_store(&q->used, true);
	atomic_fetch_add(&d->enqueues, 1);
	if (!c->n_saves || !q->out_of_order)
		return;
	c->merged = pool_get((c->n_wait + c->n_saves) * sizeof(*c->merged));
	if (!c->merged) {
		/* Without memory the order is kept by waiting. */
		layer.next.clWaitForEvents(c->n_saves, c->saves);
		return;
	}
	if (c->n_wait)
		memcpy((void *)c->merged, (const void *)c->wait, c->n_wait * sizeof(*c->wait));
	memcpy((void *)(c->merged + c->n_wait), (const void *)c->saves,
	       c->n_saves * sizeof(*c->saves));
}

uint32_t command_n_wait(const struct command *c)
{
	return c->merged ? c->n_wait + c->n_saves : c->n_wait;
}

struct vendor_event *const *command_wait(const struct command *c)
{
	return c->merged ? c->merged : c->wait;
}

void command_end(struct command *c, struct runtime_op *op, const struct reach *r, bool launched,
		 struct vendor_event *const *event)
{
	replay_after(c->queue->device->replay, op, launched);
	if (!c->taken && op->recorded)
		record_free(op->recorded);
	for (uint32_t i = 0; i < c->n_saves; i++)
		layer.next.clReleaseEvent(c->saves[i]);
	pool_put((void *)c->saves);
	pool_put((void *)c->merged);
	if (launched && !c->blocking)
		order_note(c->queue, c->n_wait, c->wait, r->memories, r->n_memories,
			   event ? *event : NULL);
}
