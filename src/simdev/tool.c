/* SPDX-License-Identifier: Apache-2.0 */
/* The functions for tools. */
#include "simdev/device.h"

#include <stddef.h>

static void **device_data(struct sim_device *d)
{
	return &d->tool_data;
}

static void **queue_data(struct sim_queue *q)
{
	return &q->tool_data;
}

static void **event_data(struct sim_event *e)
{
	return &e->tool_data;
}

static struct sim_device *event_device(struct sim_event *e)
{
	return e->device;
}

static const struct sim_kernel_info *kernel(const char *name)
{
	const struct sim_kernel *k = sim_kernel_find(name);

	return k ? &k->info : NULL;
}

static void stats(struct sim_device *d, struct sim_stats *s)
{
	*s = (struct sim_stats){
		.executions = atomic_load(&d->executions),
		.operations = atomic_load(&d->operations),
		.programmings = atomic_load(&d->programmings),
		.tool_copies = atomic_load(&d->tool_copies),
	};
	pthread_mutex_lock(&d->memory_lock);
	s->memory_used = d->own.used + d->shared.used;
	s->tool_memory_used = d->tools.used;
	pthread_mutex_unlock(&d->memory_lock);
}

static int queue_wait_place(struct sim_queue *q, struct sim_queue *other, uint64_t place)
{
	struct sim_command c = {.kind = SIM_COMMAND_WAIT,
				.u.wait = {.other = other, .place = place}};

	return q == other ? SIM_OK : sim_queue_put(q, &c);
}

static int queue_reach(struct sim_queue *q, uint64_t place, uint64_t bound_ns)
{
	return sim_queue_until(q, place, sim_now_ns() + bound_ns);
}

static int tool_malloc(struct sim_device *d, uint64_t bytes, uint64_t *address_out)
{
	int rc = sim_device_state(d);

	if (!rc)
		rc = sim_region_get(d, &d->tools, bytes, address_out);
	if (!rc)
		sim_check_taken(bytes);
	return rc;
}

static int tool_free(struct sim_device *d, uint64_t address)
{
	uint64_t bytes = 0;
	int rc = sim_region_put(d, &d->tools, address, &bytes);

	if (!rc)
		sim_check_given(bytes);
	return rc;
}

static int tool_copy(struct sim_device *d, struct sim_queue *q, uint64_t to, uint64_t from,
		     uint64_t bytes, atomic_int *failed)
{
	struct sim_command c = {
		.kind = SIM_COMMAND_COPY,
		.u.copy = {.to = to, .from = from, .bytes = bytes, .tool = true, .failed = failed}};
	int rc = sim_device_state(d);

	if (rc || !bytes)
		return rc;
	return q ? sim_queue_put(q, &c)
		 : sim_tool_copy_now(d, to, from, bytes, sim_device_is_busy(d));
}

static const void *look(struct sim_device *d, uint64_t address, uint64_t bytes)
{
	return sim_memory_at(d, address, bytes, false);
}

const struct sim_tools sim_tools = {
	.size = sizeof(sim_tools),
	/* .next is filled by api.c: an initialiser cannot copy it */
	.device_data = device_data,
	.queue_data = queue_data,
	.event_data = event_data,
	.event_device = event_device,
	.in_callback = sim_in_callback,
	.error_text = sim_error_text,
	.kernel = kernel,
	.stats = stats,
	.left = sim_check_left,
	.drain = sim_device_drain,
	.launch = sim_launch_with,
	.queue_place = sim_queue_place,
	.queue_wait_place = queue_wait_place,
	.queue_reach = queue_reach,
	.tool_malloc = tool_malloc,
	.tool_free = tool_free,
	.copy = tool_copy,
	.look = look,
	.track = sim_memory_track,
	.tracked = sim_memory_tracked,
	.blocks = sim_table_blocks,
	.counters = sim_table_counters,
	.counters_acquire = sim_counters_acquire,
	.counters_release = sim_counters_release,
	.counters_program = sim_counters_program,
	.counters_start = sim_counters_start,
	.counters_stop = sim_counters_stop,
	.counters_read = sim_counters_read,
};
