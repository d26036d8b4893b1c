/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's calls. Three kinds: work for the device that can be done again (launches, copies
 * within the device and to it, fills) is described to the engine; whatever lets the host see or
 * change the device's state is a boundary, announced before the call; the rest is only noted. Each
 * ends in the call that the program made, with the arguments it gave and the result it gets.
 */
#include "runtime/sim/internal.h"
#include "runtime/sim/pool.h"

#include <string.h>

/* Set while this thread is in the engine: calls that come from there are not the program's. */
static _Thread_local bool in_engine;

static bool enter(void)
{
	if (in_engine)
		return false;
	atomic_fetch_add(&rt.inside, 1);
	if (!atomic_load(&rt.attached)) {
		atomic_fetch_sub(&rt.inside, 1);
		return false;
	}
	return in_engine = true;
}

static void leave(void)
{
	in_engine = false;
	atomic_fetch_sub(&rt.inside, 1);
}

static struct rt_device *device_of(struct sim_device *native)
{
	return *rt.tools->device_data(native);
}

static struct rt_queue *queue_of(struct sim_queue *native)
{
	return *rt.tools->queue_data(native);
}

/* In a callback of the device nobody may wait for the device. */
static void boundary(struct rt_device *d, const char *why)
{
	if (!d || !enter())
		return;
	if (rt.tools->in_callback())
		replay_boundary_no_wait(d->engine, why);
	else
		replay_boundary(d->engine, why);
	leave();
}

/* ---- devices ---- */

static void device_opened(uint32_t number, struct sim_device *native)
{
	struct error err = {0};
	struct rt_device *d;

	if (!enter())
		return;
	d = sim_pool_get(sizeof(*d));
	if (d) {
		memset(d, 0, sizeof(*d));
		d->native = (struct sim_tool_device){.device = native, .tools = rt.tools};
		pthread_mutex_init(&d->lock, NULL);
		if (replay_device_add(rt.replay, &rt.runtime, d, rt.source, &d->native, number,
				      rt.why, &d->engine, &err)) {
			pthread_mutex_destroy(&d->lock);
			sim_pool_put(d, sizeof(*d));
			d = NULL;
		}
	}
	/* A device that the engine cannot take is the program's alone. */
	if (d) {
		pthread_mutex_lock(&rt.lock);
		d->next = rt.devices;
		rt.devices = d;
		pthread_mutex_unlock(&rt.lock);
		*rt.tools->device_data(native) = d;
	}
	leave();
}

static int hook_open(uint32_t number, struct sim_device **device_out)
{
	int rc = rt.next.open(number, device_out);

	if (!rc)
		device_opened(number, *device_out);
	return rc;
}

static int hook_open_with(uint32_t number, const struct sim_config *config,
			  struct sim_device **device_out)
{
	int rc = rt.next.open_with(number, config, device_out);

	if (!rc)
		device_opened(number, *device_out);
	return rc;
}

/* The engine keeps its record of the device; it finds it closed from now on. */
static int hook_close(struct sim_device *native)
{
	struct rt_device *d = device_of(native);

	if (!d || rt.tools->in_callback())
		return rt.next.close(native);
	boundary(d, "sim_close");
	if (enter()) {
		for (uint32_t i = 0; i < d->n_memories; i++)
			if (d->memories[i].engine)
				replay_memory_remove(d->engine, d->memories[i].engine);
		stores_release(d);
		leave();
	}
	pthread_mutex_lock(&d->lock);
	d->n_memories = 0;
	for (struct rt_queue *q = d->queues; q; q = q->next)
		q->native = NULL;
	pthread_mutex_unlock(&d->lock);
	d->native.device = NULL;
	return rt.next.close(native);
}

/* ---- memory ---- */

/* Index of the first memory that ends behind the address. */
static uint32_t memory_place(const struct rt_device *d, uint64_t address)
{
	uint32_t low = 0, high = d->n_memories;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (d->memories[middle].m.address + d->memories[middle].m.size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool memory_make_room(struct rt_device *d)
{
	uint32_t room = d->memories_room ? 2 * d->memories_room : 64;
	struct rt_memory *memories;

	if (d->n_memories < d->memories_room)
		return true;
	memories = sim_pool_get(room * sizeof(*memories));
	if (!memories)
		return false;
	if (d->n_memories)
		memcpy(memories, d->memories, d->n_memories * sizeof(*memories));
	sim_pool_put(d->memories, d->memories_room * sizeof(*memories));
	d->memories = memories;
	d->memories_room = room;
	return true;
}

/* What is not in the list is memory that nothing is known about: an operation that names it is not
 * recorded. */
static void memory_add(struct rt_device *d, uint64_t address, uint64_t bytes, uint32_t flags)
{
	struct rt_memory new = {.m = {.address = address, .size = bytes, .flags = flags}};
	uint32_t i;

	if (!enter())
		return;
	new.engine = replay_memory_add(d->engine, &new.m);
	pthread_mutex_lock(&d->lock);
	if (new.engine && memory_make_room(d)) {
		i = memory_place(d, address);
		memmove(d->memories + i + 1, d->memories + i,
			(d->n_memories - i) * sizeof(*d->memories));
		d->memories[i] = new;
		d->n_memories++;
		new.engine = NULL;
	}
	pthread_mutex_unlock(&d->lock);
	if (new.engine)
		replay_memory_remove(d->engine, new.engine);
	leave();
}

static int hook_malloc(struct sim_device *native, uint64_t bytes, uint64_t *address_out)
{
	struct rt_device *d = device_of(native);
	int rc;

	boundary(d, "sim_malloc");
	rc = rt.next.malloc(native, bytes, address_out);
	if (!rc && d)
		memory_add(d, *address_out, bytes, 0);
	return rc;
}

static int hook_malloc_shared(struct sim_device *native, uint64_t bytes, void **pointer_out)
{
	struct rt_device *d = device_of(native);
	int rc;

	boundary(d, "sim_malloc_shared");
	rc = rt.next.malloc_shared(native, bytes, pointer_out);
	if (!rc && d)
		memory_add(d, (uint64_t)(uintptr_t)*pointer_out, bytes, RUNTIME_MEMORY_HOST);
	return rc;
}

static int hook_free(struct sim_device *native, uint64_t address)
{
	struct rt_device *d = device_of(native);
	struct replay_memory *gone = NULL;
	uint32_t i;

	if (!d || rt.tools->in_callback())
		return rt.next.free(native, address);
	boundary(d, "sim_free");
	pthread_mutex_lock(&d->lock);
	i = memory_place(d, address);
	if (i < d->n_memories && d->memories[i].m.address == address) {
		gone = d->memories[i].engine;
		d->n_memories--;
		memmove(d->memories + i, d->memories + i + 1,
			(d->n_memories - i) * sizeof(*d->memories));
	}
	pthread_mutex_unlock(&d->lock);
	if (gone && enter()) {
		replay_memory_remove(d->engine, gone);
		leave();
	}
	return rt.next.free(native, address);
}

/* ---- queues and events ---- */

static int hook_queue_create(struct sim_device *native, struct sim_queue **queue_out)
{
	struct rt_device *d = device_of(native);
	int rc = rt.next.queue_create(native, queue_out);
	struct rt_queue *q = !rc && d ? sim_pool_get(sizeof(*q)) : NULL;

	if (!q && !rc && d && enter()) {
		/* Work that the engine does not see would change memory behind its back. */
		replay_disable(rt.replay, "no memory to follow a queue of the simulated device");
		leave();
	}
	if (!q)
		return rc;
	*q = (struct rt_queue){.device = d, .native = *queue_out};
	pthread_mutex_lock(&d->lock);
	q->number = d->n_queues++;
	q->next = d->queues;
	d->queues = q;
	pthread_mutex_unlock(&d->lock);
	*rt.tools->queue_data(*queue_out) = q;
	return rc;
}

static int hook_queue_destroy(struct sim_queue *native)
{
	struct rt_queue *q = queue_of(native);
	struct rt_record *last;

	if (!q || rt.tools->in_callback())
		return rt.next.queue_destroy(native);
	boundary(q->device, "sim_queue_destroy");
	pthread_mutex_lock(&q->device->lock);
	last = q->last;
	q->last = NULL;
	q->native = NULL;
	waits_release(&q->pending);
	pthread_mutex_unlock(&q->device->lock);
	rt_record_unref(last);
	return rt.next.queue_destroy(native);
}

static int hook_event_create(struct sim_device *native, struct sim_event **event_out)
{
	int rc = rt.next.event_create(native, event_out);
	struct rt_event *ours = !rc && device_of(native) ? sim_pool_get(sizeof(*ours)) : NULL;

	if (ours) {
		*ours = (struct rt_event){0};
		*rt.tools->event_data(*event_out) = ours;
	}
	return rc;
}

static int hook_event_record(struct sim_event *e, struct sim_queue *native)
{
	int rc = rt.next.event_record(e, native);
	struct rt_queue *q = queue_of(native);
	struct rt_event *ours = *rt.tools->event_data(e);

	if (rc || !q || !ours)
		return rc;
	pthread_mutex_lock(&q->device->lock);
	waits_clear(&ours->reached);
	waits_copy(&ours->reached, &q->pending);
	if (q->last)
		waits_add(&ours->reached, q->last);
	pthread_mutex_unlock(&q->device->lock);
	return rc;
}

static int hook_queue_wait_event(struct sim_queue *native, struct sim_event *e)
{
	int rc = rt.next.queue_wait_event(native, e);
	struct rt_queue *q = queue_of(native);
	struct rt_event *ours = *rt.tools->event_data(e);

	if (rc || !q)
		return rc;
	pthread_mutex_lock(&q->device->lock);
	if (ours)
		waits_copy(&q->pending, &ours->reached);
	else
		/* There was no memory to follow the event: what comes after it cannot be put in
		 * order again, so nothing of this queue is recorded any more. */
		q->pending.failed = true;
	pthread_mutex_unlock(&q->device->lock);
	return rc;
}

static int hook_event_destroy(struct sim_event *e)
{
	struct rt_event *ours = *rt.tools->event_data(e);

	/* Its device's lock is not at hand; nobody else may use an event that is destroyed. */
	if (ours) {
		waits_release(&ours->reached);
		sim_pool_put(ours, sizeof(*ours));
	}
	return rt.next.event_destroy(e);
}

/* ---- work for the device ---- */

struct work {
	struct rt_device *device;
	struct rt_queue *queue;
	struct runtime_op op;
	struct runtime_reach reach[SIM_ARGUMENTS_MAX];
	struct rt_record *record; /* NULL: cannot be done again */
	enum replay_verdict verdict;
};

/* Adds a part of memory to what the operation reaches: [at, +bytes), or all of the memory that `at`
 * lies in when bytes is 0. Two parts of one memory become one. */
static bool work_reach(struct work *w, uint64_t at, uint64_t bytes, uint32_t access)
{
	struct rt_device *d = w->device;
	struct runtime_reach new = {.access = access};
	struct rt_memory *m = NULL;
	uint32_t i;

	pthread_mutex_lock(&d->lock);
	i = memory_place(d, at);
	if (i < d->n_memories && at >= d->memories[i].m.address) {
		m = &d->memories[i];
		new.memory = m->engine;
		new.offset = bytes ? at - m->m.address : 0;
		new.size = bytes ? bytes : m->m.size;
		if (m->m.flags & RUNTIME_MEMORY_HOST)
			w->op.flags |= RUNTIME_OP_NO_WAIT_BEFORE;
		if (new.size > m->m.size - new.offset) /* the call will be refused */
			m = NULL;
	}
	pthread_mutex_unlock(&d->lock);
	if (!m)
		return false;
	for (i = 0; i < w->op.n_reach; i++) {
		struct runtime_reach *old = &w->reach[i];
		uint64_t end = old->offset + old->size;

		if (old->memory != new.memory)
			continue;
		if (new.offset + new.size > end)
			end = new.offset + new.size;
		if (new.offset < old->offset)
			old->offset = new.offset;
		old->size = end - old->offset;
		old->access &= new.access;
		return true;
	}
	w->reach[w->op.n_reach++] = new;
	return true;
}

static void work_init(struct work *w, struct rt_queue *q, enum runtime_op_kind kind)
{
	*w = (struct work){.device = q->device, .queue = q};
	w->op.kind = kind;
	w->op.queue = q->number;
	w->op.queue_native = q->native;
	w->op.reach = w->reach;
	if (rt.tools->in_callback())
		w->op.flags |= RUNTIME_OP_NO_WAIT_BEFORE;
}

/* The engine decides; recorded: everything about it is known. */
static void work_before(struct work *w, enum rt_kind kind, bool recorded)
{
	struct rt_record *r = recorded ? w->record : NULL;

	if (r) {
		r->kind = kind;
		pthread_mutex_lock(&w->device->lock);
		waits_copy(&r->waits, &w->queue->pending);
		pthread_mutex_unlock(&w->device->lock);
		if (r->waits.failed)
			r = NULL;
	}
	w->op.recorded = r;
	w->verdict = replay_before(w->device->engine, &w->op);
	for (uint32_t i = 0; i < w->op.n_reach; i++)
		saves_precede(w->device, w->queue->native, replay_memory_of(w->reach[i].memory),
			      !(w->op.flags & RUNTIME_OP_NO_WAIT_BEFORE));
}

/* The record of what was launched is from now on the last of its queue. */
static void work_after(struct work *w, bool launched)
{
	bool taken = w->verdict == REPLAY_RECORDED;
	struct rt_record *old = NULL;
	uint64_t place;

	if (taken && launched) {
		place = rt.tools->queue_place(w->op.queue_native);
		rt_record_ref(w->record);
		pthread_mutex_lock(&w->device->lock);
		w->record->place = place;
		old = w->queue->last;
		w->queue->last = w->record;
		/* The next one comes after this one, which came after them. */
		waits_clear(&w->queue->pending);
		pthread_mutex_unlock(&w->device->lock);
	}
	replay_after(w->device->engine, &w->op, launched);
	rt_record_unref(old);
	if (!taken)
		rt_record_unref(w->record);
}

static int hook_launch(struct sim_queue *native, const struct sim_launch *launch)
{
	static const uint32_t access[] = {
		[SIM_ARGUMENT_READ] = RUNTIME_ONLY_READS,
		[SIM_ARGUMENT_WRITE] = RUNTIME_ONLY_WRITES,
		[SIM_ARGUMENT_UPDATE] = RUNTIME_MAY_READ_WRITE,
		[SIM_ARGUMENT_SIGNAL] = RUNTIME_ONLY_READS,
	};
	struct rt_queue *q = queue_of(native);
	const struct sim_kernel_info *info = launch ? rt.tools->kernel(launch->kernel) : NULL;
	bool known = true;
	struct work w;
	int rc;

	/* A launch that the library refuses is none. */
	if (!q || !info || launch->n_arguments != info->n_arguments || !enter())
		return rt.next.launch(native, launch);
	work_init(&w, q, RUNTIME_DISPATCH);
	w.op.kernel = info->name;
	for (int i = 0; i < 3; i++) {
		w.op.grid[i] = launch->grid[i] ? launch->grid[i] : 1;
		w.op.block[i] = launch->block[i] ? launch->block[i] : 1;
	}
	for (uint32_t i = 0; i < info->n_arguments; i++)
		if (info->arguments[i] != SIM_ARGUMENT_NUMBER)
			known &=
				work_reach(&w, launch->arguments[i], 0, access[info->arguments[i]]);
	if (rt.options.exact_reach && info->stays)
		w.op.flags |= RUNTIME_OP_REACH_EXACT;
	w.record = rt_record_new(q, RT_KERNEL);
	if (w.record) {
		w.record->launch = *launch;
		w.record->launch.kernel = info->name;
		w.record->launch.arguments = w.record->arguments;
		if (launch->n_arguments)
			memcpy(w.record->arguments, launch->arguments,
			       launch->n_arguments * sizeof(uint64_t));
	}
	work_before(&w, RT_KERNEL, known && w.record);
	if (w.verdict == REPLAY_RECORDED) {
		/* The same launch, but we hear when it is over. */
		rt_record_ref(w.record);
		rc = rt.tools->launch(native, launch, rt_record_done, w.record);
		if (rc)
			rt_record_unref(w.record);
	} else {
		rc = rt.next.launch(native, launch);
	}
	work_after(&w, !rc);
	leave();
	return rc;
}

static int hook_copy_in(struct sim_queue *native, uint64_t to, const void *from, uint64_t bytes)
{
	struct rt_queue *q = queue_of(native);
	struct work w;
	bool known;
	int rc;

	if (!q || !bytes || !enter())
		return rt.next.copy_in(native, to, from, bytes);
	work_init(&w, q, RUNTIME_TRANSFER);
	w.op.flags |= RUNTIME_OP_REACH_EXACT;
	known = work_reach(&w, to, bytes, RUNTIME_ONLY_WRITES);
	w.record = known ? rt_record_new(q, RT_COPY_IN) : NULL;
	if (w.record) {
		w.record->to = to;
		w.record->bytes = bytes;
		w.record->source = sim_pool_get(bytes);
		/* The program may change it as soon as its call returns. */
		if (w.record->source)
			memcpy(w.record->source, from, bytes);
		else
			known = false;
	}
	work_before(&w, RT_COPY_IN, known && w.record);
	rc = rt.next.copy_in(native, to, from, bytes);
	work_after(&w, !rc);
	leave();
	return rc;
}

static int hook_copy(struct sim_queue *native, uint64_t to, uint64_t from, uint64_t bytes)
{
	struct rt_queue *q = queue_of(native);
	struct work w;
	bool known;
	int rc;

	if (!q || !bytes || !enter())
		return rt.next.copy(native, to, from, bytes);
	work_init(&w, q, RUNTIME_TRANSFER);
	w.op.flags |= RUNTIME_OP_REACH_EXACT;
	known = work_reach(&w, to, bytes, RUNTIME_ONLY_WRITES);
	known = work_reach(&w, from, bytes, RUNTIME_ONLY_READS) && known; /* both, in any case */
	w.record = known ? rt_record_new(q, RT_COPY) : NULL;
	if (w.record) {
		w.record->to = to;
		w.record->from = from;
		w.record->bytes = bytes;
	}
	work_before(&w, RT_COPY, known && w.record);
	rc = rt.next.copy(native, to, from, bytes);
	work_after(&w, !rc);
	leave();
	return rc;
}

static int hook_fill(struct sim_queue *native, uint64_t to, uint8_t value, uint64_t bytes)
{
	struct rt_queue *q = queue_of(native);
	struct work w;
	bool known;
	int rc;

	if (!q || !bytes || !enter())
		return rt.next.fill(native, to, value, bytes);
	work_init(&w, q, RUNTIME_TRANSFER);
	w.op.flags |= RUNTIME_OP_REACH_EXACT;
	known = work_reach(&w, to, bytes, RUNTIME_ONLY_WRITES);
	w.record = known ? rt_record_new(q, RT_FILL) : NULL;
	if (w.record) {
		w.record->to = to;
		w.record->value = value;
		w.record->bytes = bytes;
	}
	work_before(&w, RT_FILL, known && w.record);
	rc = rt.next.fill(native, to, value, bytes);
	work_after(&w, !rc);
	leave();
	return rc;
}

/* ---- boundaries ---- */

static struct rt_device *device_of_queue(struct sim_queue *native)
{
	struct rt_queue *q = queue_of(native);

	return q ? q->device : NULL;
}

static int hook_copy_out(struct sim_queue *native, void *to, uint64_t from, uint64_t bytes)
{
	boundary(device_of_queue(native), "sim_copy_out");
	return rt.next.copy_out(native, to, from, bytes);
}

/* Not while the engine waits for its own work: it would wait for the callback, too, and what that
 * launches would wait for the engine. */
static int hook_queue_callback(struct sim_queue *native, void (*function)(void *data), void *data)
{
	struct rt_queue *q = queue_of(native);
	struct work w;
	int rc;

	boundary(device_of_queue(native), "sim_queue_callback");
	if (!q || !enter())
		return rt.next.queue_callback(native, function, data);
	work_init(&w, q, RUNTIME_TRANSFER);
	w.op.flags |= RUNTIME_OP_REACH_EXACT;
	(void)replay_before(w.device->engine, &w.op);
	rc = rt.next.queue_callback(native, function, data);
	replay_after(w.device->engine, &w.op, !rc);
	leave();
	return rc;
}

static struct rt_device *device_of_event(struct sim_event *e)
{
	return device_of(rt.tools->event_device(e));
}

static int hook_event_query(struct sim_event *e)
{
	boundary(device_of_event(e), "sim_event_query");
	return rt.next.event_query(e);
}

static int hook_event_wait(struct sim_event *e)
{
	boundary(device_of_event(e), "sim_event_wait");
	return rt.next.event_wait(e);
}

static int hook_queue_query(struct sim_queue *native)
{
	boundary(device_of_queue(native), "sim_queue_query");
	return rt.next.queue_query(native);
}

static int hook_queue_wait(struct sim_queue *native)
{
	boundary(device_of_queue(native), "sim_queue_wait");
	return rt.next.queue_wait(native);
}

static int hook_wait(struct sim_device *native)
{
	boundary(device_of(native), "sim_wait");
	return rt.next.wait(native);
}

void hooks_fill(struct sim_api *api)
{
	api->open = hook_open;
	api->open_with = hook_open_with;
	api->close = hook_close;
	api->malloc = hook_malloc;
	api->malloc_shared = hook_malloc_shared;
	api->free = hook_free;
	api->queue_create = hook_queue_create;
	api->queue_destroy = hook_queue_destroy;
	api->launch = hook_launch;
	api->copy_in = hook_copy_in;
	api->copy_out = hook_copy_out;
	api->copy = hook_copy;
	api->fill = hook_fill;
	api->queue_callback = hook_queue_callback;
	api->event_create = hook_event_create;
	api->event_destroy = hook_event_destroy;
	api->event_record = hook_event_record;
	api->queue_wait_event = hook_queue_wait_event;
	api->event_query = hook_event_query;
	api->event_wait = hook_event_wait;
	api->queue_query = hook_queue_query;
	api->queue_wait = hook_queue_wait;
	api->wait = hook_wait;
}
