/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the calls of programs do, behind the table that tools may change (api.c): checks, then a
 * command for a queue.
 */
#include "simdev/device.h"

#include <stdlib.h>
#include <string.h>

atomic_uint sim_open_devices, sim_held_counters;

int sim_device_state(struct sim_device *d)
{
	int lost = atomic_load(&d->lost);

	if (lost == SIM_FAULT)
		return sim_fail(SIM_FAULT, "a kernel left the memory of device %u", d->number);
	return lost ? sim_fail(lost, "device %u is lost", d->number) : SIM_OK;
}

/* A call that may wait, or that changes what queues use: not from a callback. */
static int may_wait(const char *name)
{
	return sim_in_callback() ? sim_fail(SIM_NOT_PERMITTED, "%s: not from a callback", name)
				 : SIM_OK;
}

static int open_with(uint32_t number, const struct sim_config *config,
		     struct sim_device **device_out)
{
	struct sim_device *d;
	int rc = may_wait("sim_open");

	if (rc)
		return rc;
	if (!config || config->size != sizeof(*config))
		return sim_fail(SIM_INVALID, "struct sim_config is of another version");
	if (number >= config->devices)
		return sim_fail(SIM_INVALID, "there is no device %u of %u", number,
				config->devices);
	if (config->noise > 1000)
		return sim_fail(SIM_INVALID, "a noise of %u in 1000", config->noise);
	d = calloc(1, sizeof(*d));
	if (!d)
		return sim_fail(SIM_NO_MEMORY, "no memory for a device");
	d->config = *config;
	d->number = number;
	rc = sim_memory_init(d);
	if (rc) {
		free(d);
		return rc;
	}
	pthread_mutex_init(&d->memory_lock, NULL);
	pthread_mutex_init(&d->queue_list_lock, NULL);
	pthread_mutex_init(&d->counter_lock, NULL);
	atomic_fetch_add(&sim_open_devices, 1);
	*device_out = d;
	return SIM_OK;
}

static int open_device(uint32_t number, struct sim_device **device_out)
{
	struct sim_config config;
	int rc = sim_config_read(&config);

	return rc ? rc : open_with(number, &config, device_out);
}

static int close_device(struct sim_device *d)
{
	int rc = may_wait("sim_close");

	if (rc)
		return rc;
	atomic_store(&d->closing, true);
	/* All first: they may wait for each other. */
	sim_device_wait(d);
	for (uint32_t i = 0; i < d->n_queues; i++)
		sim_queue_end(d->queues[i]);
	for (uint32_t i = 0; i < d->n_queues; i++) {
		pthread_cond_destroy(&d->queues[i]->filled);
		pthread_cond_destroy(&d->queues[i]->progressed);
		pthread_mutex_destroy(&d->queues[i]->lock);
		free(d->queues[i]);
	}
	sim_counters_release(d);
	sim_memory_release(d);
	sim_pages_free(d->units, (uint64_t)d->units_room * sizeof(*d->units));
	pthread_mutex_destroy(&d->memory_lock);
	pthread_mutex_destroy(&d->queue_list_lock);
	pthread_mutex_destroy(&d->counter_lock);
	free(d);
	atomic_fetch_sub(&sim_open_devices, 1);
	return SIM_OK;
}

/* ---- memory ---- */

static int device_malloc(struct sim_device *d, uint64_t bytes, uint64_t *address_out)
{
	int rc = may_wait("sim_malloc");

	if (!rc)
		rc = sim_device_state(d);
	return rc ? rc : sim_region_get(d, &d->own, bytes, address_out);
}

static int device_malloc_shared(struct sim_device *d, uint64_t bytes, void **pointer_out)
{
	int rc = may_wait("sim_malloc_shared");

	if (!rc)
		rc = sim_device_state(d);
	return rc ? rc : sim_memory_shared(d, bytes, pointer_out);
}

static int device_free(struct sim_device *d, uint64_t address)
{
	int rc = may_wait("sim_free");

	if (rc)
		return rc;
	sim_device_wait(d); /* a lost device has its memory to give back as well */
	return sim_region_put(d, sim_memory_is_device(d, address) ? &d->own : &d->shared, address,
			      NULL);
}

/* ---- queues ---- */

static int queue_create(struct sim_device *d, struct sim_queue **queue_out)
{
	int rc = may_wait("sim_queue_create");

	if (!rc)
		rc = sim_device_state(d);
	return rc ? rc : sim_queue_make(d, queue_out);
}

static int queue_destroy(struct sim_queue *q)
{
	int rc = may_wait("sim_queue_destroy");

	if (!rc)
		sim_queue_end(q);
	return rc;
}

static uint32_t at_least_one(uint32_t n)
{
	return n ? n : 1;
}

int sim_launch_with(struct sim_queue *q, const struct sim_launch *launch,
		    void (*done)(void *data, uint64_t begin_ns, uint64_t end_ns), void *data)
{
	struct sim_command c = {.kind = SIM_COMMAND_KERNEL};
	struct sim_device *d = q->device;
	const struct sim_kernel *k = launch ? sim_kernel_find(launch->kernel) : NULL;
	uint64_t n;
	int rc = sim_device_state(d);

	if (rc)
		return rc;
	if (!k)
		return sim_fail(SIM_INVALID, "there is no kernel '%.80s'",
				launch && launch->kernel ? launch->kernel : "");
	if (launch->n_arguments != k->info.n_arguments)
		return sim_fail(SIM_INVALID, "kernel '%s' takes %u arguments, not %u", k->info.name,
				k->info.n_arguments, launch->n_arguments);
	n = atomic_fetch_add(&d->launches, 1) + 1;
	if (n == d->config.fail_launch)
		return sim_fail(SIM_IO, "launch %llu failed", (unsigned long long)n);
	c.u.kernel.kernel = k;
	c.u.kernel.done = done;
	c.u.kernel.data = data;
	for (int i = 0; i < 3; i++) {
		c.u.kernel.grid[i] = at_least_one(launch->grid[i]);
		c.u.kernel.block[i] = at_least_one(launch->block[i]);
	}
	if (launch->n_arguments)
		memcpy(c.u.kernel.arguments, launch->arguments,
		       launch->n_arguments * sizeof(uint64_t));
	return sim_queue_put(q, &c);
}

static int launch_kernel(struct sim_queue *q, const struct sim_launch *launch)
{
	return sim_launch_with(q, launch, NULL, NULL);
}

static int check_range(struct sim_device *d, uint64_t address, uint64_t bytes)
{
	int rc = sim_device_state(d);

	if (!rc && !sim_memory_at(d, address, bytes, false))
		rc = sim_fail(SIM_INVALID, "0x%llx with %llu bytes is not within an allocation",
			      (unsigned long long)address, (unsigned long long)bytes);
	return rc;
}

static int copy_in(struct sim_queue *q, uint64_t to, const void *from, uint64_t bytes)
{
	struct sim_command c = {.kind = SIM_COMMAND_COPY, .u.copy = {.to = to, .bytes = bytes}};
	int rc = check_range(q->device, to, bytes);

	if (rc || !bytes)
		return rc;
	c.u.copy.staged = sim_pages(bytes);
	if (!c.u.copy.staged)
		return sim_fail(SIM_NO_MEMORY, "no memory for a transfer of %llu bytes",
				(unsigned long long)bytes);
	memcpy(c.u.copy.staged, from, bytes);
	rc = sim_queue_put(q, &c);
	if (rc)
		sim_pages_free(c.u.copy.staged, bytes);
	return rc;
}

static int copy_out(struct sim_queue *q, void *to, uint64_t from, uint64_t bytes)
{
	struct sim_command c = {
		.kind = SIM_COMMAND_COPY,
		.u.copy = {.to = (uint64_t)(uintptr_t)to, .from = from, .bytes = bytes}};
	int rc = may_wait("sim_copy_out");

	if (!rc)
		rc = check_range(q->device, from, bytes);
	return rc || !bytes ? rc : sim_queue_put(q, &c);
}

static int copy(struct sim_queue *q, uint64_t to, uint64_t from, uint64_t bytes)
{
	struct sim_command c = {.kind = SIM_COMMAND_COPY,
				.u.copy = {.to = to, .from = from, .bytes = bytes}};
	int rc = check_range(q->device, to, bytes);

	if (!rc)
		rc = check_range(q->device, from, bytes);
	return rc || !bytes ? rc : sim_queue_put(q, &c);
}

static int fill(struct sim_queue *q, uint64_t to, uint8_t value, uint64_t bytes)
{
	struct sim_command c = {.kind = SIM_COMMAND_FILL,
				.u.fill = {.to = to, .bytes = bytes, .value = value}};
	int rc = check_range(q->device, to, bytes);

	return rc || !bytes ? rc : sim_queue_put(q, &c);
}

static int queue_callback(struct sim_queue *q, void (*function)(void *data), void *data)
{
	struct sim_command c = {.kind = SIM_COMMAND_CALLBACK,
				.u.callback = {.function = function, .data = data}};

	return function ? sim_queue_put(q, &c) : sim_fail(SIM_INVALID, "no function");
}

/* ---- events: places in queues; changed only by the program's own threads, which must not do so at
 * the same time ---- */

static int event_create(struct sim_device *d, struct sim_event **event_out)
{
	struct sim_event *e = calloc(1, sizeof(*e));

	if (!e)
		return sim_fail(SIM_NO_MEMORY, "no memory for an event");
	e->device = d;
	*event_out = e;
	return SIM_OK;
}

static int event_destroy(struct sim_event *e)
{
	free(e);
	return SIM_OK;
}

static int event_record(struct sim_event *e, struct sim_queue *q)
{
	e->place = sim_queue_place(q);
	e->queue = q;
	return SIM_OK;
}

static int queue_wait_event(struct sim_queue *q, struct sim_event *e)
{
	struct sim_command c = {.kind = SIM_COMMAND_WAIT,
				.u.wait = {.other = e->queue, .place = e->place}};

	return e->queue && e->queue != q ? sim_queue_put(q, &c) : SIM_OK;
}

static int is_reached(struct sim_queue *q, uint64_t place)
{
	bool reached;

	pthread_mutex_lock(&q->lock);
	reached = q->completed >= place;
	pthread_mutex_unlock(&q->lock);
	return reached ? sim_device_state(q->device) : SIM_NOT_READY;
}

static int event_query(struct sim_event *e)
{
	return e->queue ? is_reached(e->queue, e->place) : SIM_OK;
}

static int event_wait(struct sim_event *e)
{
	int rc = may_wait("sim_event_wait");

	if (!rc && e->queue)
		rc = sim_queue_until(e->queue, e->place, 0);
	return rc ? rc : sim_device_state(e->device);
}

static int queue_query(struct sim_queue *q)
{
	return is_reached(q, sim_queue_place(q));
}

static int queue_wait(struct sim_queue *q)
{
	int rc = may_wait("sim_queue_wait");

	if (!rc)
		rc = sim_queue_until(q, sim_queue_place(q), 0);
	return rc ? rc : sim_device_state(q->device);
}

static int wait_device(struct sim_device *d)
{
	int rc = may_wait("sim_wait");

	return rc ? rc : sim_device_wait(d);
}

const struct sim_api sim_functions = {
	.open = open_device,
	.open_with = open_with,
	.close = close_device,
	.malloc = device_malloc,
	.malloc_shared = device_malloc_shared,
	.free = device_free,
	.queue_create = queue_create,
	.queue_destroy = queue_destroy,
	.launch = launch_kernel,
	.copy_in = copy_in,
	.copy_out = copy_out,
	.copy = copy,
	.fill = fill,
	.queue_callback = queue_callback,
	.event_create = event_create,
	.event_destroy = event_destroy,
	.event_record = event_record,
	.queue_wait_event = queue_wait_event,
	.event_query = event_query,
	.event_wait = event_wait,
	.queue_query = queue_query,
	.queue_wait = queue_wait,
	.wait = wait_device,
};
