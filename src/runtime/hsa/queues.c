/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's queues: an interceptor of ours above the SDK's on each, and what it does with
 * packets. It runs on the thread that rang the doorbell, with a lock of the queue held, and gets
 * the packets that were submitted one after the other.
 */
#include "runtime/hsa/events.h"
#include "runtime/hsa/record.h"
#include "runtime/hsa/submit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OPENING_MS 60000

/* ---- devices ---- */

/* Pools of an agent, by their flags. */
struct pools {
	uint64_t coarse, fine, kernarg;
};

static uint32_t on_pool(uint64_t pool, void *data)
{
	const struct hsa_amd_table *a = &hsa_session.amd;
	struct pools *p = data;
	uint32_t segment = 0, flags = 0;
	bool allowed = false;

	if (a->hsa_amd_memory_pool_get_info(pool, HSA_POOL_SEGMENT, &segment) ||
	    segment != HSA_SEGMENT_GLOBAL ||
	    a->hsa_amd_memory_pool_get_info(pool, HSA_POOL_GLOBAL_FLAGS, &flags) ||
	    a->hsa_amd_memory_pool_get_info(pool, HSA_POOL_ALLOC_ALLOWED, &allowed) || !allowed)
		return HSA_OK;
	if (flags & HSA_POOL_KERNARG)
		p->kernarg = p->kernarg ? p->kernarg : pool;
	else if (flags & HSA_POOL_COARSE_GRAINED)
		p->coarse = p->coarse ? p->coarse : pool;
	else
		p->fine = p->fine ? p->fine : pool;
	return HSA_OK;
}

static uint32_t on_agent(uint64_t agent, void *data)
{
	const struct hsa_core_table *c = &hsa_session.core;
	struct hsa_session *s = data;
	struct pools p = {0};
	uint32_t kind = HSA_KIND_CPU;

	if (c->hsa_agent_get_info(agent, HSA_AGENT_DEVICE, &kind))
		return HSA_OK;
	if (kind == HSA_KIND_GPU) {
		if (s->n_agents < HSA_DEVICES_MAX)
			s->agents[s->n_agents++] = agent;
		return HSA_OK;
	}
	if (kind != HSA_KIND_CPU || s->kernarg_pool)
		return HSA_OK;
	(void)s->amd.hsa_amd_agent_iterate_memory_pools(agent, on_pool, &p);
	s->kernarg_pool = p.kernarg;
	s->host_pool = p.coarse ? p.coarse : p.fine ? p.fine : p.kernarg;
	return HSA_OK;
}

static void open_device(struct hsa_device *d)
{
	struct hsa_session *s = &hsa_session;
	const struct rocm_agent *agent = rocm_tool_agent(d->native.node);
	struct replay_device *engine = NULL;
	struct pools p = {0};
	struct error err = {0};

	hsa_events_meet();
	if (agent)
		d->number = agent->number;
	(void)s->amd.hsa_amd_agent_iterate_memory_pools(d->agent, on_pool, &p);
	d->device_pool = p.coarse;
	if (replay_device_add(s->replay, &hsa_runtime, d, s->options.source, &d->native, d->number,
			      s->options.why, &engine, &err))
		s->options.say(err.message);
	atomic_store(&d->engine, engine);
}

/* The slot of the agent; *mine_out: this thread is the one to open it. NULL: no more room. */
static struct hsa_device *slot_of(uint64_t agent, uint32_t node, bool *mine_out)
{
	struct hsa_session *s = &hsa_session;
	struct hsa_device *d;

	pthread_mutex_lock(&s->lock);
	d = hsa_device_find(agent);
	*mine_out = !d && s->n_devices < HSA_DEVICES_MAX;
	if (*mine_out) {
		d = &s->devices[s->n_devices];
		d->agent = agent;
		d->number = s->n_devices;
		d->native.node = node;
		pthread_mutex_init(&d->lock, NULL);
		atomic_store(&s->n_devices, s->n_devices + 1);
	}
	pthread_mutex_unlock(&s->lock);
	return d;
}

/* The device of a GPU, opened when its first queue is made; NULL: it is none, or nothing can be
 * recorded. */
static struct hsa_device *device_of(uint64_t agent)
{
	struct hsa_session *s = &hsa_session;
	struct timespec pause = {0, 1000000};
	struct hsa_device *d = hsa_device_find(agent);
	uint32_t kind = HSA_KIND_CPU, node = 0;
	bool mine = false;

	if (!d) {
		if (s->core.hsa_agent_get_info(agent, HSA_AGENT_DEVICE, &kind) ||
		    kind != HSA_KIND_GPU ||
		    s->core.hsa_agent_get_info(agent, HSA_AGENT_DRIVER_NODE, &node) ||
		    !s->options.use())
			return NULL;
		d = slot_of(agent, node, &mine);
	}
	if (d && mine) {
		if (!atomic_exchange(&s->looked, true))
			(void)s->core.hsa_iterate_agents(on_agent, s);
		open_device(d);
		atomic_store(&d->opened, true);
		if (!atomic_exchange(&s->watched, true))
			hsa_watch_start();
	}
	/* Another thread opens it: what is launched meanwhile belongs to it, too. */
	for (int i = 0; d && !atomic_load(&d->opened) && i < OPENING_MS; i++)
		nanosleep(&pause, NULL);
	return d;
}

/* ---- packets ---- */

/* With a signal of ours, so that the device's idleness can be known; the program's follows at
 * once. NULL: there is none, and nothing may be recorded any more. */
static struct hsa_flight *fly(struct hsa_tap *tap, struct hsa_kernel_packet *p, bool hold)
{
	struct hsa_flight *f = hsa_flight_new(p->completion, tap);

	if (!f) {
		replay_disable(hsa_session.replay, "no signal could be made for a dispatch");
		return NULL;
	}
	p->completion = f->signal;
	hsa_flight_track(tap->device, f);
	if (!hold)
		hsa_flight_forward(f);
	hsa_submit_throttle(tap, f);
	return f;
}

static void pass_over(struct hsa_tap *tap, struct hsa_kernel_packet *p, hsa_packet_writer writer)
{
	hsa_flight_unref(fly(tap, p, false));
	hsa_write(writer, p, 1);
}

static void on_kernel(struct hsa_tap *tap, const void *packet, hsa_packet_writer writer)
{
	struct replay_device *engine = atomic_load(&tap->device->engine);
	const struct rocm_kernel *kernel;
	struct hsa_kernel_packet p;
	struct runtime_op op;
	struct hsa_op *rec;
	enum replay_verdict verdict;

	memcpy(&p, packet, sizeof(p));
	kernel = rocm_tool_kernel(p.kernel_object);
	if ((replay_outside(hsa_session.replay) ||
	     !replay_matches(hsa_session.replay, kernel ? kernel->name : "?")) &&
	    replay_pass_over(engine)) {
		pass_over(tap, &p, writer);
		replay_passed(engine);
		return;
	}
	hsa_record_describe(tap, &p, kernel, &op);
	if (hsa_here.events)
		op.flags |= RUNTIME_OP_NO_WAIT_BEFORE;
	rec = op.recorded;
	verdict = replay_before(engine, &op);
	if (verdict == REPLAY_RECORDED)
		rec->live = fly(tap, &p, true);
	else
		hsa_flight_unref(fly(tap, &p, false));
	hsa_write(writer, &p, 1);
	replay_after(engine, &op, true);
	if (verdict != REPLAY_RECORDED)
		hsa_record_free(rec);
	/* Here, and not at the next operation: the program does not see its signal before. */
	if (hsa_session.options.alone && !hsa_here.events)
		replay_boundary(engine, "each for itself");
}

/* Whether it only orders the packets of its queue. */
static bool only_orders(const void *packet)
{
	struct hsa_barrier_packet p;

	memcpy(&p, packet, sizeof(p));
	if ((p.header & HSA_PACKET_KIND_MASK) != HSA_PACKET_BARRIER_AND || p.completion)
		return false;
	for (unsigned i = 0; i < sizeof(p.dependency) / sizeof(*p.dependency); i++)
		if (p.dependency[i])
			return false;
	return true;
}

static void on_packet(struct hsa_tap *tap, const void *packet, hsa_packet_writer writer)
{
	uint16_t header;

	memcpy(&header, packet, sizeof(header));
	if ((header & HSA_PACKET_KIND_MASK) == HSA_PACKET_KERNEL) {
		on_kernel(tap, packet, writer);
		return;
	}
	/* It tells somebody that kernels before it are over, or waits for one whose signal is held
	 * back. */
	if (!only_orders(packet))
		hsa_boundary("a packet with a signal");
	hsa_write(writer, packet, 1);
}

static void on_packets(const void *packets, uint64_t n, uint64_t index, void *data,
		       hsa_packet_writer writer)
{
	struct hsa_here before = hsa_here;
	struct hsa_tap *tap = data;

	(void)index;
	if (!atomic_load(&tap->device->engine) || !hsa_enter()) {
		hsa_write(writer, packets, n);
		return;
	}
	hsa_here.writer = writer;
	hsa_here.tap = tap;
	atomic_fetch_add_explicit(&hsa_session.activity, 1, memory_order_relaxed);
	for (uint64_t i = 0; i < n; i++)
		on_packet(tap, (const char *)packets + i * sizeof(struct hsa_packet), writer);
	hsa_here.writer = before.writer;
	hsa_here.tap = before.tap;
	hsa_leave();
}

/* ---- the program's calls ---- */

static void tap_queue(struct hsa_device *d, struct hsa_queue *queue, uint32_t type)
{
	struct hsa_session *s = &hsa_session;
	struct hsa_tap *tap = calloc(1, sizeof(*tap));

	if (!tap) {
		replay_disable(s->replay, "there is no memory for a queue");
		return;
	}
	tap->device = d;
	tap->queue = queue;
	tap->size = queue->size;
	tap->cooperative = type == HSA_QUEUE_COOPERATIVE;
	pthread_mutex_lock(&s->lock);
	tap->number = ++s->n_queues;
	tap->next = s->taps;
	s->taps = tap;
	pthread_mutex_unlock(&s->lock);
	if (s->amd.hsa_amd_queue_intercept_register(queue, on_packets, tap)) {
		atomic_store(&tap->gone, true);
		s->options.say("a queue cannot be intercepted; its dispatches are not seen");
	}
}

static uint32_t my_queue_create(uint64_t agent, uint32_t size, uint32_t type,
				hsa_queue_callback callback, void *data, uint32_t private_bytes,
				uint32_t group_bytes, struct hsa_queue **queue_out)
{
	struct hsa_device *d;
	uint32_t status;

	if (!hsa_enter())
		return hsa_session.core.hsa_queue_create(agent, size, type, callback, data,
							 private_bytes, group_bytes, queue_out);
	status = hsa_session.core.hsa_queue_create(agent, size, type, callback, data, private_bytes,
						   group_bytes, queue_out);
	if (!status && (d = device_of(agent)))
		tap_queue(d, *queue_out, type);
	hsa_leave();
	return status;
}

static uint32_t my_queue_destroy(struct hsa_queue *queue)
{
	struct hsa_tap *found = NULL;
	uint32_t status;

	if (!hsa_enter())
		return hsa_session.core.hsa_queue_destroy(queue);
	hsa_boundary("hsa_queue_destroy");
	pthread_mutex_lock(&hsa_session.lock);
	for (struct hsa_tap *t = hsa_session.taps; t && !found; t = t->next)
		if (t->queue == queue && !atomic_load(&t->gone))
			found = t;
	pthread_mutex_unlock(&hsa_session.lock);
	status = hsa_session.core.hsa_queue_destroy(queue);
	if (found && !status) {
		atomic_store(&found->gone, true);
		hsa_flights_forget(found->device, found);
		hsa_submit_forget(found);
	}
	hsa_leave();
	return status;
}

static uint32_t my_init(void)
{
	uint32_t status = hsa_session.core.hsa_init();

	if (!status)
		atomic_fetch_add(&hsa_session.users, 1);
	return status;
}

/* The last one takes everything away: before it nothing of ours may be left. */
static uint32_t my_shut_down(void)
{
	if (atomic_fetch_sub(&hsa_session.users, 1) == 1 && !atomic_load(&hsa_session.off)) {
		if (runtime_hsa_detach())
			runtime_hsa_release();
		atomic_store(&hsa_session.closed, true);
	}
	return hsa_session.core.hsa_shut_down();
}

void hsa_patch_queues(struct hsa_core_table *core, struct hsa_amd_table *amd)
{
	(void)amd;
	core->hsa_init = my_init;
	core->hsa_shut_down = my_shut_down;
	core->hsa_queue_create = my_queue_create;
	core->hsa_queue_destroy = my_queue_destroy;
}
