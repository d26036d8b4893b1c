/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues of the model device: a ring of 64-byte packets that wraps, and one thread as its packet
 * processor. A kernel runs on that thread or, if the seed says so, on one of its own while the next
 * packets without the barrier bit are processed already.
 */
#include "hsa_standin.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUEUE_LIVE 0x0a0e0e0eu
#define QUEUE_DEAD 0xdeadbeefu
#define MAX_FLYING 4

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue *all[256];
static unsigned n_all;

struct queue *queue_of(const struct hsa_queue *public, const char *who)
{
	struct queue *q = (struct queue *)(uintptr_t) public;
	if (!q || q->magic != QUEUE_LIVE)
		t0_abort("%s: %p is no queue%s", who, (const void *)public,
			 q && q->magic == QUEUE_DEAD ? ", it was destroyed" : "");
	return q;
}

unsigned queues_live(void)
{
	return __atomic_load_n(&n_all, __ATOMIC_RELAXED);
}

bool queues_busy(void)
{
	bool busy = false;
	pthread_mutex_lock(&list_lock);
	for (unsigned i = 0; i < n_all; i++) {
		struct queue *q = all[i];
		if (__atomic_load_n(&q->read, __ATOMIC_ACQUIRE) <
			    __atomic_load_n(&q->write, __ATOMIC_ACQUIRE) ||
		    __atomic_load_n(&q->in_flight, __ATOMIC_ACQUIRE))
			busy = true;
	}
	pthread_mutex_unlock(&list_lock);
	return busy;
}

static void landed(struct queue *q)
{
	__atomic_sub_fetch(&q->in_flight, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, &q->in_flight, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void wait_flying(struct queue *q, uint32_t most)
{
	uint32_t n;
	while ((n = __atomic_load_n(&q->in_flight, __ATOMIC_ACQUIRE)) > most) {
		struct timespec t = {.tv_nsec = 1000000};
		syscall(SYS_futex, &q->in_flight, FUTEX_WAIT_PRIVATE, n, &t, NULL, 0);
	}
}

/* ---- kernels ---- */

struct flight {
	struct queue *queue;
	struct hsa_kernel_packet packet;
};

static void count(struct agent *a, const struct hsa_kernel_packet *p,
		  const struct kernel_call *call)
{
	uint64_t groups = 1, per_group = 1, items = 1;
	for (int i = 0; i < 3; i++) {
		uint64_t w = p->workgroup[i] ? p->workgroup[i] : 1, g = p->grid[i] ? p->grid[i] : 1;
		groups *= (g + w - 1) / w;
		per_group *= w;
		items *= g;
	}
	pthread_mutex_lock(&a->lock);
	a->counts.dispatches++;
	a->counts.groups += groups;
	a->counts.waves += groups * ((per_group + 63) / 64);
	a->counts.items += items;
	a->counts.bytes_read += call->bytes_read;
	a->counts.bytes_written += call->bytes_written;
	pthread_mutex_unlock(&a->lock);
}

static void run_kernel(struct queue *q, const struct hsa_kernel_packet *p)
{
	struct kernel_call call = {.packet = p, .agent = q->agent, .stop = &q->stop};
	const struct kernel_type *type = code_find(p->kernel_object, &call.executable);
	if (!type)
		t0_abort("a packet with kernel object %#llx: no such kernel is loaded",
			 (unsigned long long)p->kernel_object);
	for (int i = 0; i < 3; i++)
		if (!p->workgroup[i] || !p->grid[i])
			t0_abort("a packet of %s with a size of 0", type->name);
	if (type->kernarg_bytes)
		memory_at(p->kernarg, type->kernarg_bytes, "the arguments of a kernel");
	uint64_t start = t0_now();
	if (t0_config()->kernel_us)
		t0_sleep_us(t0_random(t0_config()->kernel_us + 1));
	if (t0_fails(T0_HANG)) {
		t0_say("%s hangs", type->name);
		while (!q->stop)
			t0_sleep_us(1000);
		return;
	}
	type->run(&call);
	count(q->agent, p, &call);
	signal_complete(p->completion, start, t0_now());
}

static void *fly(void *data)
{
	struct flight *f = data;
	run_kernel(f->queue, &f->packet);
	landed(f->queue);
	free(f);
	return NULL;
}

static void kernel_packet(struct queue *q, const struct hsa_kernel_packet *p)
{
	struct flight *f;
	pthread_t thread;
	if (t0_random(4) || !(f = malloc(sizeof *f))) {
		run_kernel(q, p);
		return;
	}
	wait_flying(q, MAX_FLYING - 1);
	f->queue = q;
	f->packet = *p;
	__atomic_add_fetch(&q->in_flight, 1, __ATOMIC_ACQ_REL);
	if (pthread_create(&thread, NULL, fly, f)) {
		landed(q);
		free(f);
		run_kernel(q, p);
		return;
	}
	pthread_detach(thread);
}

/* ---- other packets ---- */

static void barrier_packet(struct queue *q, const struct hsa_barrier_packet *p, bool all_of_them)
{
	uint64_t start = t0_now();
	bool any = false, one = false;
	do {
		for (int i = 0; i < 5; i++) {
			if (!p->dependency[i])
				continue;
			any = true;
			struct signal *s = signal_of(p->dependency[i], "a barrier packet");
			if (all_of_them)
				signal_wait(s, HSA_EQ, 0, &q->stop);
			else if (signal_holds(s, HSA_EQ, 0))
				one = true;
		}
		if (all_of_them || !any || one)
			break;
		t0_sleep_us(20);
	} while (!q->stop);
	if (!q->stop)
		signal_complete(p->completion, start, t0_now());
}

static void vendor_packet(struct queue *q, const void *packet)
{
	const struct hsa_barrier_value_packet *b = packet;
	const struct t0_vendor_packet *v = packet;
	uint64_t start = t0_now();
	if (b->format == HSA_VENDOR_BARRIER_VALUE) {
		struct signal *s = signal_of(b->signal, "a barrier-value packet");
		while (!q->stop) {
			int64_t is = __atomic_load_n(&s->body.value, __ATOMIC_ACQUIRE) & b->mask;
			if (b->condition == HSA_EQ   ? is == b->value
			    : b->condition == HSA_NE ? is != b->value
			    : b->condition == HSA_LT ? is < b->value
						     : is >= b->value)
				break;
			t0_sleep_us(20);
		}
	} else if (v->format == HSA_VENDOR_PM4 && v->magic == T0_VENDOR_MAGIC) {
		pthread_mutex_lock(&q->agent->lock);
		if (v->op == T0_COUNT_START)
			q->agent->counts = (struct t0_counts){0};
		else
			*v->out = q->agent->counts;
		pthread_mutex_unlock(&q->agent->lock);
	} else {
		t0_abort("a vendor packet of format %u in the ring", b->format);
	}
	signal_complete(v->completion, start, t0_now());
}

static void process(struct queue *q, const struct hsa_packet *p)
{
	uint16_t kind = p->header & HSA_PACKET_KIND_MASK;
	/* Packets other than dispatches end after what was before them, too. */
	if (p->header & HSA_PACKET_BARRIER)
		wait_flying(q, 0);
	switch (kind) {
	case HSA_PACKET_KERNEL:
		kernel_packet(q, (const struct hsa_kernel_packet *)(const void *)p);
		break;
	case HSA_PACKET_BARRIER_AND:
	case HSA_PACKET_BARRIER_OR:
		barrier_packet(q, (const struct hsa_barrier_packet *)(const void *)p,
			       kind == HSA_PACKET_BARRIER_AND);
		break;
	case HSA_PACKET_VENDOR:
		vendor_packet(q, p);
		break;
	default:
		t0_abort("a packet of kind %u", kind);
	}
}

static void *processor(void *data)
{
	struct queue *q = data;
	struct signal *bell = signal_of(q->public.doorbell, "a queue");
	while (!q->stop) {
		uint32_t seq = __atomic_load_n(&bell->seq, __ATOMIC_ACQUIRE);
		struct hsa_packet *slot =
			(struct hsa_packet *)q->public.base + (q->read & (q->public.size - 1));
		uint16_t header = __atomic_load_n(&slot->header, __ATOMIC_ACQUIRE);
		/* The doorbell says up to where; a packet written but not rung is none yet. */
		int64_t rung = __atomic_load_n(&bell->body.value, __ATOMIC_ACQUIRE);
		if ((header & HSA_PACKET_KIND_MASK) == HSA_PACKET_INVALID ||
		    rung < (int64_t)q->read) {
			struct timespec t = {.tv_nsec = 2000000};
			syscall(SYS_futex, &bell->seq, FUTEX_WAIT_PRIVATE, seq, &t, NULL, 0);
			continue;
		}
		struct hsa_packet packet = *slot;
		/* Whoever still looks at it finds garbage: the slot is the processor's. */
		memset((char *)slot + 2, 0xbd, sizeof *slot - 2);
		__atomic_store_n(&slot->header, HSA_PACKET_INVALID, __ATOMIC_RELEASE);
		process(q, &packet);
		q->packets++;
		__atomic_add_fetch(&q->read, 1, __ATOMIC_RELEASE);
		struct queue *behind = __atomic_load_n(&q->behind, __ATOMIC_ACQUIRE);
		if (behind)
			intercept_room(behind);
	}
	return NULL;
}

/* ---- life ---- */

struct queue *queue_new(struct agent *agent, uint32_t size, hsa_queue_callback callback, void *data)
{
	static uint64_t ids;
	struct queue *q = aligned_alloc(64, (sizeof *q + 63) / 64 * 64);
	if (!q)
		return NULL;
	memset(q, 0, sizeof *q);
	q->public.base = aligned_alloc(4096, (size_t)size * 64 < 4096 ? 4096 : (size_t)size * 64);
	if (!q->public.base) {
		free(q);
		return NULL;
	}
	memset(q->public.base, 0xbd, (size_t)size * 64);
	for (uint32_t i = 0; i < size; i++)
		((struct hsa_packet *)q->public.base)[i].header = HSA_PACKET_INVALID;
	q->magic = QUEUE_LIVE;
	q->public.type = HSA_QUEUE_MULTI;
	q->public.features = 1;
	q->public.size = size;
	q->public.id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
	q->agent = agent;
	q->callback = callback;
	q->data = data;
	q->public.doorbell = signal_new(-1, q);
	return q;
}

static bool enlist(struct queue *q)
{
	pthread_mutex_lock(&list_lock);
	bool room = n_all < sizeof all / sizeof *all;
	if (room)
		all[n_all++] = q;
	pthread_mutex_unlock(&list_lock);
	return room;
}

void queue_delete(struct queue *q)
{
	pthread_mutex_lock(&list_lock);
	for (unsigned i = 0; i < n_all; i++)
		if (all[i] == q)
			all[i] = all[--n_all];
	pthread_mutex_unlock(&list_lock);
	q->stop = true;
	signal_changed(signal_of(q->public.doorbell, "a queue"));
	if (q->has_thread)
		pthread_join(q->thread, NULL);
	wait_flying(q, 0);
	signal_delete(q->public.doorbell);
	/* The structs stay: late use is found, and they are few. */
	q->magic = QUEUE_DEAD;
}

uint32_t t0_hsa_queue_create(uint64_t handle, uint32_t size, uint32_t type,
			     hsa_queue_callback callback, void *data, uint32_t private_bytes,
			     uint32_t group_bytes, struct hsa_queue **queue_out)
{
	(void)private_bytes, (void)group_bytes;
	struct agent *agent = agent_of(handle);
	if (!agent || !agent->gpu)
		return HSA_INVALID_AGENT;
	if (!queue_out || !size || size & (size - 1) || size > 1u << 17)
		return HSA_INVALID_ARGUMENT;
	struct queue *q = queue_new(agent, size, callback, data);
	if (!q)
		return HSA_OUT_OF_RESOURCES;
	q->public.type = type;
	if (!enlist(q) || pthread_create(&q->thread, NULL, processor, q)) {
		queue_delete(q);
		return HSA_OUT_OF_RESOURCES;
	}
	q->has_thread = true;
	*queue_out = &q->public;
	return HSA_OK;
}

uint32_t t0_hsa_soft_queue_create(uint64_t region, uint32_t size, uint32_t type, uint32_t features,
				  uint64_t doorbell, struct hsa_queue **queue_out)
{
	(void)region, (void)size, (void)type, (void)features, (void)doorbell, (void)queue_out;
	return HSA_NOT_SUPPORTED;
}

uint32_t t0_hsa_queue_destroy(struct hsa_queue *public)
{
	if (!public)
		return HSA_INVALID_ARGUMENT;
	struct queue *q = queue_of(public, "hsa_queue_destroy");
	if (q->intercept)
		intercept_delete(q->intercept);
	else
		queue_delete(q);
	return HSA_OK;
}

uint32_t t0_hsa_queue_inactivate(struct hsa_queue *public)
{
	queue_of(public, "hsa_queue_inactivate")->stop = true;
	return HSA_OK;
}

/* ---- indices ---- */

#define LOAD(name, index)                                                             \
	uint64_t t0_##name(const struct hsa_queue *q)                                 \
	{                                                                             \
		return __atomic_load_n(&queue_of(q, #name)->index, __ATOMIC_ACQUIRE); \
	}
LOAD(hsa_queue_load_read_index_scacquire, read)
LOAD(hsa_queue_load_read_index_relaxed, read)
LOAD(hsa_queue_load_write_index_scacquire, write)
LOAD(hsa_queue_load_write_index_relaxed, write)
#define STORE(name)                                                                \
	void t0_##name(const struct hsa_queue *q, uint64_t v)                      \
	{                                                                          \
		__atomic_store_n(&queue_of(q, #name)->write, v, __ATOMIC_RELEASE); \
	}
STORE(hsa_queue_store_write_index_relaxed)
STORE(hsa_queue_store_write_index_screlease)
#define ADD(name)                                                                           \
	uint64_t t0_##name(const struct hsa_queue *q, uint64_t v)                           \
	{                                                                                   \
		return __atomic_fetch_add(&queue_of(q, #name)->write, v, __ATOMIC_ACQ_REL); \
	}
ADD(hsa_queue_add_write_index_scacq_screl)
ADD(hsa_queue_add_write_index_scacquire)
ADD(hsa_queue_add_write_index_relaxed)
ADD(hsa_queue_add_write_index_screlease)
#define CAS(name)                                                                            \
	uint64_t t0_##name(const struct hsa_queue *q, uint64_t expected, uint64_t v)         \
	{                                                                                    \
		__atomic_compare_exchange_n(&queue_of(q, #name)->write, &expected, v, false, \
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);             \
		return expected;                                                             \
	}
CAS(hsa_queue_cas_write_index_scacq_screl)
CAS(hsa_queue_cas_write_index_scacquire)
CAS(hsa_queue_cas_write_index_relaxed)
CAS(hsa_queue_cas_write_index_screlease)

/* ---- times ---- */

uint32_t t0_hsa_amd_profiling_set_profiler_enabled(struct hsa_queue *q, int enable)
{
	(void)enable;
	queue_of(q, "hsa_amd_profiling_set_profiler_enabled");
	return HSA_OK;
}

uint32_t t0_hsa_amd_profiling_async_copy_enable(bool enable)
{
	(void)enable;
	return HSA_OK;
}

uint32_t t0_hsa_amd_profiling_get_dispatch_time(uint64_t agent, uint64_t signal,
						struct hsa_dispatch_time *time_out)
{
	if (!agent_of(agent))
		return HSA_INVALID_AGENT;
	const struct signal *s = signal_of(signal, "hsa_amd_profiling_get_dispatch_time");
	time_out->start = s->body.start_ts;
	time_out->end = s->body.end_ts;
	return HSA_OK;
}

uint32_t t0_hsa_amd_profiling_get_async_copy_time(uint64_t signal,
						  struct hsa_dispatch_time *time_out)
{
	const struct signal *s = signal_of(signal, "hsa_amd_profiling_get_async_copy_time");
	time_out->start = s->body.start_ts;
	time_out->end = s->body.end_ts;
	return HSA_OK;
}

uint32_t t0_hsa_amd_profiling_convert_tick_to_system_domain(uint64_t agent, uint64_t tick,
							    uint64_t *system_out)
{
	*system_out = tick;
	return agent_of(agent) ? HSA_OK : HSA_INVALID_AGENT;
}
