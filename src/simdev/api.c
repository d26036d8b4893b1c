/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exported functions: each goes through one table, which a tool may change before the first
 * call does anything. After that the table is constant, so calls need no lock.
 */
#include "simdev/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct sim_api table;
static struct sim_tools tools;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sim_tool_entry *linked; /* by sim_install_tool */
static bool started;

static void say(const char *path, const char *what)
{
	if (getenv("RETALLY_SIM_VERBOSE"))
		fprintf(stderr, "retallysim: tool '%s' is left out: %s\n", path, what);
}

static void enter(sim_tool_entry *entry, const char *path)
{
	struct sim_api changed = sim_functions;
	int rc = entry(&tools, &changed);

	if (!rc)
		table = changed;
	else
		say(path, sim_result_name(rc));
}

static void start(void)
{
	const char *path = getenv("RETALLY_SIM_TOOL");
	sim_tool_entry *entry = linked;
	void *object;

	table = sim_functions;
	tools = sim_tools;
	tools.next = sim_functions;
	started = true;
	if (!entry && path && *path) {
		object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		*(void **)(void *)&entry = object ? dlsym(object, SIM_TOOL_SYMBOL) : NULL;
		if (!entry)
			say(path, object ? "it has no " SIM_TOOL_SYMBOL : dlerror());
	}
	if (entry)
		enter(entry, path ? path : "linked");
}

static const struct sim_api *api(void)
{
	pthread_once(&once, start);
	return &table;
}

int sim_install_tool(sim_tool_entry *entry)
{
	if (atomic_load(&sim_open_devices))
		return sim_fail(SIM_BUSY, "a device is open");
	linked = entry;
	if (!started) {
		pthread_once(&once, start);
		return SIM_OK;
	}
	table = sim_functions;
	if (entry)
		enter(entry, "linked");
	return SIM_OK;
}

/* clang-format off */
int sim_open(uint32_t number, struct sim_device **device_out)
{ return api()->open(number, device_out); }
int sim_open_with(uint32_t number, const struct sim_config *config, struct sim_device **device_out)
{ return api()->open_with(number, config, device_out); }
int sim_close(struct sim_device *d)
{ return d ? api()->close(d) : SIM_OK; }
int sim_malloc(struct sim_device *d, uint64_t bytes, uint64_t *address_out)
{ return api()->malloc(d, bytes, address_out); }
int sim_malloc_shared(struct sim_device *d, uint64_t bytes, void **pointer_out)
{ return api()->malloc_shared(d, bytes, pointer_out); }
int sim_free(struct sim_device *d, uint64_t address)
{ return api()->free(d, address); }
int sim_queue_create(struct sim_device *d, struct sim_queue **queue_out)
{ return api()->queue_create(d, queue_out); }
int sim_queue_destroy(struct sim_queue *q)
{ return q ? api()->queue_destroy(q) : SIM_OK; }
int sim_launch(struct sim_queue *q, const struct sim_launch *launch)
{ return api()->launch(q, launch); }
int sim_copy_in(struct sim_queue *q, uint64_t to, const void *from, uint64_t bytes)
{ return api()->copy_in(q, to, from, bytes); }
int sim_copy_out(struct sim_queue *q, void *to, uint64_t from, uint64_t bytes)
{ return api()->copy_out(q, to, from, bytes); }
int sim_copy(struct sim_queue *q, uint64_t to, uint64_t from, uint64_t bytes)
{ return api()->copy(q, to, from, bytes); }
int sim_fill(struct sim_queue *q, uint64_t to, uint8_t value, uint64_t bytes)
{ return api()->fill(q, to, value, bytes); }
int sim_queue_callback(struct sim_queue *q, void (*function)(void *data), void *data)
{ return api()->queue_callback(q, function, data); }
int sim_event_create(struct sim_device *d, struct sim_event **event_out)
{ return api()->event_create(d, event_out); }
int sim_event_destroy(struct sim_event *e)
{ return e ? api()->event_destroy(e) : SIM_OK; }
int sim_event_record(struct sim_event *e, struct sim_queue *q)
{ return api()->event_record(e, q); }
int sim_queue_wait_event(struct sim_queue *q, struct sim_event *e)
{ return api()->queue_wait_event(q, e); }
int sim_event_query(struct sim_event *e)
{ return api()->event_query(e); }
int sim_event_wait(struct sim_event *e)
{ return api()->event_wait(e); }
int sim_queue_query(struct sim_queue *q)
{ return api()->queue_query(q); }
int sim_queue_wait(struct sim_queue *q)
{ return api()->queue_wait(q); }
int sim_wait(struct sim_device *d)
{ return api()->wait(d); }
/* clang-format on */

int sim_device_count(uint32_t *n_out)
{
	struct sim_config config;
	int rc = sim_config_read(&config);

	if (!rc)
		*n_out = config.devices;
	return rc;
}
