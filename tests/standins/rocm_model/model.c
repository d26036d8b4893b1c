/* SPDX-License-Identifier: Apache-2.0 */
/* The plug-in's interface and its packet processors: model.h. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct hsakmt_model model;

/* Version 0.4 of the interface. Addresses are the device's. */
struct queue_info {
	uint64_t ring, write, read;
	uint64_t *doorbell; /* unused */
	uint32_t bytes, kind;
};
enum queue_kind {
	QUEUE_SDMA = 1,
	QUEUE_AQL = 2,
};
struct functions {
	uint32_t major, minor;
	struct hsakmt_model *(*create)(void);
	void (*destroy)(struct hsakmt_model *m);
	void (*set_global_aperture)(struct hsakmt_model *m, void *base, uint64_t size);
	void (*alloced_memory)(struct hsakmt_model *m, void *base, uint64_t size, uint32_t flags);
	void (*freed_memory)(struct hsakmt_model *m, void *base, uint64_t size);
	void (*set_notify_event)(struct hsakmt_model *m, void (*callback)(void *data), void *data);
	void (*set_wait_event)(struct hsakmt_model *m,
			       void (*callback)(void *data, uint64_t address, uint64_t age),
			       void *data);
	struct hsakmt_queue *(*register_queue)(struct hsakmt_model *m, struct queue_info *info);
	void (*set_set_event)(struct hsakmt_model *m, void (*set)(void *data, unsigned event),
			      void *data);
	void (*destroy_queue)(struct hsakmt_model *m, struct hsakmt_queue *q);
};

void model_fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("model GPU: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

void *model_at(uint64_t address)
{
	return address < model.size ? model.aperture + address : (void *)(uintptr_t)address;
}

uint64_t model_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void model_set_event(uint32_t event)
{
	model.set_event(model.set_event_data, event);
}

/* ---- AQL ---- */

static int64_t value_of(uint64_t signal)
{
	struct hsa_signal_body *s = model_at(signal);
	return __atomic_load_n(&s->value, __ATOMIC_ACQUIRE);
}

/* Whoever sees the value may destroy the signal, so all of it is read before. The event is set
 * also without a mailbox: libhsakmt's model mode gives its events none, and who sleeps until the
 * end of a packet would sleep for ever. */
static void complete(uint64_t signal, uint64_t start, uint64_t end)
{
	struct hsa_signal_body *s;
	uint64_t mailbox;
	uint32_t event;
	if (!signal)
		return;
	s = model_at(signal);
	mailbox = s->mailbox;
	event = s->event;
	s->start_ts = start;
	s->end_ts = end;
	__atomic_fetch_sub(&s->value, 1, __ATOMIC_SEQ_CST);
	if (mailbox)
		__atomic_store_n((uint64_t *)model_at(mailbox), event, __ATOMIC_RELEASE);
	if (event)
		model_set_event(event);
}

static void wait_for_all(const struct hsa_barrier_packet *p, const struct hsakmt_queue *q)
{
	for (unsigned i = 0; i < 5; i++)
		while (p->dependency[i] && value_of(p->dependency[i]) && !q->stop)
			t0_sleep_us(5);
}

static void wait_for_any(const struct hsa_barrier_packet *p, const struct hsakmt_queue *q)
{
	bool some = false;
	while (!q->stop) {
		for (unsigned i = 0; i < 5; i++) {
			some |= p->dependency[i] != 0;
			if (p->dependency[i] && !value_of(p->dependency[i]))
				return;
		}
		if (!some)
			return;
		t0_sleep_us(5);
	}
}

static void wait_for_value(const struct hsa_barrier_value_packet *p, const struct hsakmt_queue *q)
{
	while (!q->stop) {
		int64_t v = value_of(p->signal) & p->mask;
		if (p->condition == HSA_EQ   ? v == p->value
		    : p->condition == HSA_NE ? v != p->value
		    : p->condition == HSA_LT ? v < p->value
					     : v >= p->value)
			return;
		t0_sleep_us(5);
	}
}

/* Command buffers come inside of a packet: behind the header word, 4 words of PM4 that call them.
 */
static void vendor(const uint32_t *words, const struct hsakmt_queue *q)
{
	uint8_t format = words[0] >> 16 & 0xff;
	if (format == HSA_VENDOR_PM4)
		model_pm4(words + 1, 4);
	else if (format == HSA_VENDOR_BARRIER_VALUE)
		wait_for_value((const void *)words, q);
	else
		model_fail("a vendor packet of format %u", format);
}

static void execute(const void *packet, struct hsakmt_queue *q)
{
	uint16_t header = *(const uint16_t *)packet;
	switch (header & HSA_PACKET_KIND_MASK) {
	case HSA_PACKET_KERNEL:
		model_dispatch(packet, &q->stop);
		break;
	case HSA_PACKET_BARRIER_AND:
		wait_for_all(packet, q);
		break;
	case HSA_PACKET_BARRIER_OR:
		wait_for_any(packet, q);
		break;
	case HSA_PACKET_VENDOR:
		vendor(packet, q);
		break;
	default:
		model_fail("a packet of kind %u", (unsigned)(header & HSA_PACKET_KIND_MASK));
	}
}

static void *aql(void *queue)
{
	struct hsakmt_queue *q = queue;
	uint64_t n = q->bytes / sizeof(struct hsa_packet), *write = model_at(q->write);
	char *ring = model_at(q->ring);
	for (uint64_t index = 0; !q->stop;) {
		struct hsa_packet *p = (void *)(ring + index % n * sizeof *p);
		uint16_t header = HSA_PACKET_INVALID;
		if (index < __atomic_load_n(write, __ATOMIC_ACQUIRE))
			header = __atomic_load_n(&p->header, __ATOMIC_ACQUIRE);
		if ((header & HSA_PACKET_KIND_MASK) == HSA_PACKET_INVALID) {
			t0_sleep_us(10);
			continue;
		}
		uint64_t start = model_now();
		/* the program may take the slot as soon as it is free */
		union {
			struct hsa_packet any;
			struct hsa_barrier_packet barrier;
		} copy = {.any = *p};
		execute(&copy, q);
		__atomic_store_n(&p->header, HSA_PACKET_INVALID, __ATOMIC_RELEASE);
		__atomic_store_n((uint64_t *)model_at(q->read), ++index, __ATOMIC_RELEASE);
		complete(copy.barrier.completion, start, model_now());
	}
	return NULL;
}

/* ---- the interface ---- */

static struct hsakmt_model *create(void)
{
	return &model;
}

static void set_global_aperture(struct hsakmt_model *m, void *base, uint64_t size)
{
	m->aperture = base;
	m->size = size;
}

static void set_set_event(struct hsakmt_model *m, void (*set)(void *data, unsigned event),
			  void *data)
{
	m->set_event = set;
	m->set_event_data = data;
}

static struct hsakmt_queue *register_queue(struct hsakmt_model *m, struct queue_info *info)
{
	struct hsakmt_queue *q = calloc(1, sizeof *q);
	if (!q)
		model_fail("no memory");
	*q = (struct hsakmt_queue){.model = m,
				   .ring = info->ring,
				   .write = info->write,
				   .read = info->read,
				   .bytes = info->bytes};
	if (pthread_create(&q->thread, NULL, info->kind == QUEUE_AQL ? aql : model_sdma, q))
		model_fail("no thread for a queue");
	return q;
}

static void destroy_queue(struct hsakmt_model *m, struct hsakmt_queue *q)
{
	(void)m;
	q->stop = true;
	pthread_join(q->thread, NULL);
	free(q);
}

static void nothing(struct hsakmt_model *m)
{
	(void)m;
}
static void memory_comes(struct hsakmt_model *m, void *base, uint64_t size, uint32_t flags)
{
	(void)m, (void)base, (void)size, (void)flags;
}
static void memory_goes(struct hsakmt_model *m, void *base, uint64_t size)
{
	(void)m, (void)base, (void)size;
}
static void no_notice(struct hsakmt_model *m, void (*callback)(void *data), void *data)
{
	(void)m, (void)callback, (void)data;
}
static void no_waiting(struct hsakmt_model *m,
		       void (*callback)(void *data, uint64_t address, uint64_t age), void *data)
{
	(void)m, (void)callback, (void)data;
}

__attribute__((visibility("default"))) const struct functions *get_hsakmt_model_functions(void);
const struct functions *get_hsakmt_model_functions(void)
{
	static const struct functions f = {
		.minor = 4,
		.create = create,
		.destroy = nothing,
		.set_global_aperture = set_global_aperture,
		.alloced_memory = memory_comes,
		.freed_memory = memory_goes,
		.set_notify_event = no_notice,
		.set_wait_event = no_waiting,
		.register_queue = register_queue,
		.set_set_event = set_set_event,
		.destroy_queue = destroy_queue,
	};
	return &f;
}
