/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues with interceptors, with the properties of ROCr's that matter to a tool:
 *
 *  - the program's ring is not the hardware's; ringing its doorbell calls the handler registered
 *    last, with one packet, on the ringing thread, under the queue's lock;
 *  - the writer calls the handler registered before that one, the last puts packets into the
 *    hardware's ring, all or none; what does not fit waits in an overflow list, and no further
 *    packet is looked at until there is room;
 *  - a doorbell of any intercept queue rung inside a handler is rung later, on the event thread.
 */
#include "hsa_standin.h"

#include <stdlib.h>
#include <string.h>

#define MAX_HANDLERS 8

struct intercept {
	struct queue *queue;    /* the program's side */
	struct queue *hardware; /* a queue with a processor */
	pthread_mutex_t lock;
	struct {
		hsa_packet_handler handler;
		void *data;
	} handlers[MAX_HANDLERS];
	unsigned n_handlers;
	uint64_t next; /* packet of the program's ring to look at */
	struct hsa_packet *overflow;
	size_t n_overflow;
	uint32_t wake_asked;
	bool dying;
};

/* Where in a chain of handlers this thread is. */
static _Thread_local struct {
	struct intercept *in;
	uint64_t index;
	unsigned handler;
} cursor;

/* How many were put into the hardware's ring: all, or what fits of more than it ever holds. */
static size_t submit(struct intercept *in, const struct hsa_packet *packets, size_t n)
{
	struct queue *hw = in->hardware;
	size_t size = hw->public.size;
	size_t used = __atomic_load_n(&hw->write, __ATOMIC_RELAXED) -
		      __atomic_load_n(&hw->read, __ATOMIC_ACQUIRE);
	size_t room = size - used, put = n;
	if (n >= size)
		put = room;
	else if (n > room)
		put = 0;
	for (size_t i = 0; i < put; i++) {
		uint64_t at = hw->write + i;
		struct hsa_packet *slot = (struct hsa_packet *)hw->public.base + (at & (size - 1));
		memcpy((char *)slot + 2, (const char *)&packets[i] + 2, sizeof *slot - 2);
		__atomic_store_n(&slot->header, packets[i].header, __ATOMIC_RELEASE);
	}
	if (put) {
		__atomic_add_fetch(&hw->write, put, __ATOMIC_RELEASE);
		t0_hsa_signal_store_screlease(hw->public.doorbell, (int64_t)hw->write - 1);
	}
	return put;
}

static void last_handler(const void *packets, uint64_t n, uint64_t index, void *data,
			 hsa_packet_writer writer)
{
	struct intercept *in = data;
	const struct hsa_packet *p = packets;
	(void)index, (void)writer;
	for (uint64_t i = 0; i < n; i++)
		if ((p[i].header & HSA_PACKET_KIND_MASK) == HSA_PACKET_INVALID)
			t0_abort("an interceptor wrote a packet without a valid header");
	/* Order is kept: behind what waits already. */
	size_t put = in->n_overflow ? 0 : submit(in, p, n);
	if (put == n)
		return;
	struct hsa_packet *more = realloc(in->overflow, (in->n_overflow + n - put) * sizeof *p);
	if (!more)
		t0_abort("no memory");
	memcpy(more + in->n_overflow, p + put, (n - put) * sizeof *p);
	in->overflow = more;
	in->n_overflow += n - put;
}

static void writer(const void *packets, uint64_t n)
{
	if (!cursor.in)
		t0_abort("an interceptor's writer was called outside its handler");
	if (!cursor.handler)
		t0_abort("the last interceptor's writer was called");
	unsigned was = cursor.handler;
	cursor.handler--;
	cursor.in->handlers[cursor.handler].handler(
		packets, n, cursor.index, cursor.in->handlers[cursor.handler].data, writer);
	cursor.handler = was;
}

static bool drain_overflow(struct intercept *in)
{
	if (!in->n_overflow)
		return true;
	size_t put = submit(in, in->overflow, in->n_overflow);
	memmove(in->overflow, in->overflow + put, (in->n_overflow - put) * sizeof *in->overflow);
	in->n_overflow -= put;
	return !in->n_overflow;
}

static void work(struct intercept *in)
{
	struct queue *q = in->queue;
	pthread_mutex_lock(&in->lock);
	__atomic_store_n(&in->wake_asked, 0, __ATOMIC_RELEASE);
	bool go_on = !in->dying && drain_overflow(in);
	cursor.in = in;
	while (go_on && in->next < __atomic_load_n(&q->write, __ATOMIC_ACQUIRE)) {
		struct hsa_packet *slot =
			(struct hsa_packet *)q->public.base + (in->next & (q->public.size - 1));
		uint16_t header = __atomic_load_n(&slot->header, __ATOMIC_ACQUIRE);
		if ((header & HSA_PACKET_KIND_MASK) == HSA_PACKET_INVALID)
			break;
		cursor.handler = in->n_handlers - 1;
		cursor.index = in->next;
		in->handlers[cursor.handler].handler(slot, 1, in->next,
						     in->handlers[cursor.handler].data, writer);
		memset((char *)slot + 2, 0xbd, sizeof *slot - 2);
		__atomic_store_n(&slot->header, HSA_PACKET_INVALID, __ATOMIC_RELEASE);
		in->next++;
		go_on = !in->n_overflow;
		__atomic_store_n(&q->read, in->next, __ATOMIC_RELEASE);
	}
	cursor.in = NULL;
	pthread_mutex_unlock(&in->lock);
}

static void work_later(void *data)
{
	struct intercept *in = data;
	if (!in->dying)
		work(in);
}

void intercept_doorbell(struct queue *q, int64_t value)
{
	(void)value;
	if (cursor.in) {
		event_thread_call(work_later, q->intercept);
		return;
	}
	work(q->intercept);
}

void intercept_room(struct queue *q)
{
	struct intercept *in = q->intercept;
	/* Read without the lock: the processor must not wait for a handler. A wake too many is
	 * harmless, one too few is made up for by the next packet or the retry below. */
	if (__atomic_load_n(&in->n_overflow, __ATOMIC_RELAXED) &&
	    !__atomic_exchange_n(&in->wake_asked, 1, __ATOMIC_ACQ_REL))
		event_thread_call(work_later, in);
}

uint32_t t0_hsa_amd_queue_intercept_create(uint64_t handle, uint32_t size, uint32_t type,
					   hsa_queue_callback callback, void *data,
					   uint32_t private_bytes, uint32_t group_bytes,
					   struct hsa_queue **queue_out)
{
	struct hsa_queue *hardware;
	if (size < 4)
		size = 4;
	uint32_t status = t0_hsa_queue_create(handle, size, type, callback, data, private_bytes,
					      group_bytes, &hardware);
	if (status != HSA_OK)
		return status;
	struct intercept *in = calloc(1, sizeof *in);
	struct queue *q = queue_new(agent_of(handle), size, callback, data);
	if (!in || !q)
		t0_abort("no memory");
	q->public.type = type;
	q->intercept = in;
	in->queue = q;
	in->hardware = queue_of(hardware, "hsa_amd_queue_intercept_create");
	pthread_mutex_init(&in->lock, NULL);
	in->handlers[in->n_handlers].handler = last_handler;
	in->handlers[in->n_handlers++].data = in;
	__atomic_store_n(&in->hardware->behind, q, __ATOMIC_RELEASE);
	*queue_out = &q->public;
	return HSA_OK;
}

uint32_t t0_hsa_amd_queue_intercept_register(struct hsa_queue *public, hsa_packet_handler handler,
					     void *data)
{
	struct queue *q = queue_of(public, "hsa_amd_queue_intercept_register");
	struct intercept *in = q->intercept;
	if (!in)
		return HSA_INVALID_QUEUE;
	pthread_mutex_lock(&in->lock);
	uint32_t status = HSA_OUT_OF_RESOURCES;
	if (in->n_handlers < MAX_HANDLERS) {
		in->handlers[in->n_handlers].handler = handler;
		in->handlers[in->n_handlers++].data = data;
		status = HSA_OK;
	}
	pthread_mutex_unlock(&in->lock);
	return status;
}

void intercept_delete(struct intercept *in)
{
	struct queue *q = in->queue;
	pthread_mutex_lock(&in->lock);
	in->dying = true;
	pthread_mutex_unlock(&in->lock);
	__atomic_store_n(&in->hardware->behind, NULL, __ATOMIC_RELEASE);
	queue_delete(in->hardware);
	queue_delete(q);
	/* in stays: a late call on the event thread looks at `dying`. */
}

uint32_t t0_hsa_amd_runtime_queue_create_register(void (*callback)(const struct hsa_queue *queue,
								   uint64_t agent, void *data),
						  void *data)
{
	(void)callback, (void)data; /* this runtime has no queues of its own */
	return HSA_OK;
}
