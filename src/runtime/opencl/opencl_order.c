/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the commands of a window have an order. A window is replayed one operation after the
 * other, as they were enqueued. That is what the program did if any two operations that touch the
 * same memory are ordered by a queue, an event or a barrier. If two are not, they may even wait for
 * each other (a flag in memory), and one after the other they would never end: so the
 * second one is launched without waiting for anything, and neither is replayed.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

static void include(uint64_t *before, const struct device *d, uint32_t i)
{
	for (size_t w = 0; w < OPENCL_EPOCH / 64; w++)
		before[w] |= d->epoch[i].before[w];
	before[i / 64] |= UINT64_C(1) << (i % 64);
}

/* What surely ends before a command that is enqueued now. all: the command itself waits for
 * everything in its queue. */
static void collect(uint64_t *before, const struct queue *q, uint32_t n_wait,
		    struct vendor_event *const *wait, bool all)
{
	const struct device *d = q->device;

	for (uint32_t k = 0; k < n_wait; k++)
		for (uint32_t i = d->n_epoch; i-- > 0;)
			if (d->epoch[i].event == wait[k]) {
				include(before, d, i);
				break;
			}
	for (uint32_t i = d->n_epoch; i-- > 0;) {
		if (d->epoch[i].queue != q)
			continue;
		if (q->out_of_order && !all && !d->epoch[i].barrier)
			continue;
		include(before, d, i);
		/* The earlier ones are before that one. */
		if (!q->out_of_order || d->epoch[i].barrier)
			break;
	}
}

static bool share(const struct epoch_op *op, struct memory *const *memories, uint32_t n)
{
	if (op->many)
		return true;
	for (uint32_t i = 0; i < op->n_memories; i++)
		for (uint32_t k = 0; k < n; k++)
			if (op->memories[i] == memories[k])
				return true;
	return false;
}

bool order_is_clear(struct queue *q, uint32_t n_wait, struct vendor_event *const *wait,
		    struct memory *const *memories, uint32_t n_memories)
{
	struct device *d = q->device;
	uint64_t before[OPENCL_EPOCH / 64] = {0};
	bool clear;

	pthread_mutex_lock(&d->order);
	clear = d->n_epoch < OPENCL_EPOCH;
	if (clear)
		collect(before, q, n_wait, wait, false);
	for (uint32_t i = 0; i < d->n_epoch && clear; i++)
		if (!(before[i / 64] >> (i % 64) & 1) && share(&d->epoch[i], memories, n_memories))
			clear = false;
	pthread_mutex_unlock(&d->order);
	return clear;
}

static void note(struct queue *q, uint32_t n_wait, struct vendor_event *const *wait,
		 struct memory *const *memories, uint32_t n_memories, struct vendor_event *event,
		 bool all, bool barrier)
{
	struct device *d = q->device;
	struct epoch_op *op;

	pthread_mutex_lock(&d->order);
	for (uint32_t i = 0; i < d->n_epoch && event; i++)
		if (d->epoch[i].event == event) /* the handle of one that is gone */
			d->epoch[i].event = NULL;
	if (d->n_epoch < OPENCL_EPOCH) {
		op = &d->epoch[d->n_epoch];
		memset(op->before, 0, sizeof(op->before));
		collect(op->before, q, n_wait, wait, all);
		op->queue = q;
		op->event = event;
		op->barrier = barrier;
		op->many = n_memories > sizeof(op->memories) / sizeof(*op->memories);
		op->n_memories = op->many ? 0 : n_memories;
		if (op->n_memories)
			memcpy((void *)op->memories, (const void *)memories,
			       n_memories * sizeof(*memories));
		d->n_epoch++;
	}
	pthread_mutex_unlock(&d->order);
}

void order_note(struct queue *q, uint32_t n_wait, struct vendor_event *const *wait,
		struct memory *const *memories, uint32_t n_memories, struct vendor_event *event)
{
	note(q, n_wait, wait, memories, n_memories, event, false, false);
}

void order_mark(struct queue *q, uint32_t n_wait, struct vendor_event *const *wait, bool barrier,
		struct vendor_event *event)
{
	note(q, n_wait, wait, NULL, 0, event, !n_wait, barrier && !n_wait);
}

void order_forget(struct device *d)
{
	pthread_mutex_lock(&d->order);
	d->n_epoch = 0;
	pthread_mutex_unlock(&d->order);
}

void order_forget_event(const struct vendor_event *e)
{
	for (uint32_t k = 0; k < layer.n_devices; k++) {
		struct device *d = &layer.devices[k];

		if (!d->replay || !d->n_epoch)
			continue;
		pthread_mutex_lock(&d->order);
		for (uint32_t i = 0; i < d->n_epoch; i++)
			if (d->epoch[i].event == e)
				d->epoch[i].event = NULL;
		pthread_mutex_unlock(&d->order);
	}
}
