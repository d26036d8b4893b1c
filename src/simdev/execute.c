/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the thread of a queue does with a command, and the failures that were asked for. Once the
 * device is lost, commands are taken out of the queues and do nothing, so that nobody waits for
 * ever.
 */
#include "simdev/device.h"

#include <string.h>

static _Thread_local bool in_callback __attribute__((tls_model("initial-exec")));

bool sim_in_callback(void)
{
	return in_callback;
}

static bool is_lost(struct sim_device *d)
{
	return atomic_load(&d->lost) != 0;
}

static void lose(struct sim_device *d, int why)
{
	int none = 0;

	atomic_compare_exchange_strong(&d->lost, &none, why);
}

/* Counts an operation; false when the device does not do it any more. */
static bool operate(struct sim_device *d)
{
	uint64_t n = atomic_fetch_add(&d->operations, 1) + 1;

	if (d->config.lost_after && n > d->config.lost_after)
		lose(d, SIM_LOST);
	return !is_lost(d);
}

static bool fails(uint64_t n, uint64_t first, uint64_t times)
{
	return first && n >= first && n - first < times;
}

/* Host pointers are what they are; addresses of the device are looked up. */
static void *place_of(struct sim_device *d, uint64_t address, uint64_t bytes, bool write)
{
	void *p = sim_memory_at(d, address, bytes, write);

	return p || sim_memory_is_device(d, address) ? p : (void *)(uintptr_t)address;
}

/* As a device's engine for copies writes: in words, each at once. */
static void move(void *to, const void *from, uint64_t bytes, bool beside)
{
	uint32_t *target = to;
	const uint32_t *source = from;

	if (!beside || ((uintptr_t)to | (uintptr_t)from | bytes) % sizeof(*target)) {
		memmove(to, from, bytes);
		return;
	}
	for (uint64_t i = 0; i < bytes / sizeof(*target); i++)
		__atomic_store_n(&target[i], __atomic_load_n(&source[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

int sim_tool_copy_now(struct sim_device *d, uint64_t to, uint64_t from, uint64_t bytes, bool beside)
{
	uint64_t n = atomic_fetch_add(&d->tool_copies, 1) + 1;
	void *target = place_of(d, to, bytes, false); /* tracking is of the program's writes */
	const void *source = place_of(d, from, bytes, false);

	if (!target || !source)
		return sim_fail(SIM_INVALID, "a copy of %llu bytes leaves an allocation",
				(unsigned long long)bytes);
	if (fails(n, d->config.fail_copy, d->config.fail_copy_times)) {
		move(target, source, bytes / 2, beside);
		return sim_fail(SIM_IO, "copy %llu ended after half of %llu bytes",
				(unsigned long long)n, (unsigned long long)bytes);
	}
	move(target, source, bytes, beside);
	return SIM_OK;
}

static void execute_copy(struct sim_queue *q, struct sim_command *c)
{
	struct sim_device *d = q->device;
	uint64_t bytes = c->u.copy.bytes;
	int rc = SIM_OK;

	if (c->u.copy.tool) {
		rc = is_lost(d) ? SIM_LOST
				: sim_tool_copy_now(d, c->u.copy.to, c->u.copy.from, bytes, false);
	} else if (operate(d)) {
		void *to = place_of(d, c->u.copy.to, bytes, true);
		const void *from = c->u.copy.staged ? c->u.copy.staged
						    : place_of(d, c->u.copy.from, bytes, false);

		if (to && from)
			memmove(to, from, bytes);
		else
			lose(d, SIM_FAULT);
	}
	if (c->u.copy.staged)
		sim_pages_free(c->u.copy.staged, bytes);
	if (rc && c->u.copy.failed)
		atomic_store(c->u.copy.failed, 1);
}

static void execute_fill(struct sim_queue *q, const struct sim_command *c)
{
	void *to;

	if (!operate(q->device))
		return;
	to = sim_memory_at(q->device, c->u.fill.to, c->u.fill.bytes, true);
	if (to)
		memset(to, c->u.fill.value, c->u.fill.bytes);
	else
		lose(q->device, SIM_FAULT);
}

static void hang(struct sim_run *r, uint64_t for_ns)
{
	uint64_t until = for_ns ? sim_now_ns() + for_ns : 0;

	while (sim_run_may_wait(r) && (!until || sim_now_ns() < until))
		;
}

static void execute_kernel(struct sim_queue *q, const struct sim_command *c)
{
	struct sim_device *d = q->device;
	const uint32_t *grid = c->u.kernel.grid, *block = c->u.kernel.block;
	struct sim_run r = {
		.device = d,
		.a = c->u.kernel.arguments,
		.groups = (uint64_t)grid[0] * grid[1] * grid[2],
		.items = (uint64_t)block[0] * block[1] * block[2],
	};
	uint64_t begin = sim_now_ns(), n;

	n = atomic_fetch_add(&d->executions, 1) + 1;
	if (n == d->config.hang_at)
		hang(&r, d->config.hang_ns);
	if (is_lost(d))
		return;
	r.work.share[0].dispatches = 1;
	for (uint64_t s = 0; s < SIM_SHARES; s++) {
		uint64_t groups = r.groups / SIM_SHARES + (s < r.groups % SIM_SHARES);

		r.work.share[s].groups = groups;
		r.work.share[s].items = groups * r.items;
	}
	c->u.kernel.kernel->run(&r);
	if (r.fault) {
		lose(d, SIM_FAULT);
		return;
	}
	while (d->config.kernel_ns && sim_now_ns() - begin < d->config.kernel_ns)
		;
	sim_counters_add(d, q->unit, &r.work);
	if (c->u.kernel.done)
		c->u.kernel.done(c->u.kernel.data, begin, sim_now_ns());
}

void sim_execute(struct sim_queue *q, struct sim_command *c)
{
	switch (c->kind) {
	case SIM_COMMAND_KERNEL:
		if (operate(q->device)) {
			execute_kernel(q, c);
			if (!is_lost(q->device))
				break;
		}
		if (c->u.kernel.done)
			c->u.kernel.done(c->u.kernel.data, 0, 0);
		break;
	case SIM_COMMAND_COPY:
		execute_copy(q, c);
		break;
	case SIM_COMMAND_FILL:
		execute_fill(q, c);
		break;
	case SIM_COMMAND_WAIT:
		sim_queue_until(c->u.wait.other, c->u.wait.place, 0);
		break;
	case SIM_COMMAND_CALLBACK:
		in_callback = true;
		c->u.callback.function(c->u.callback.data);
		in_callback = false;
		break;
	case SIM_COMMAND_START:
		q->unit = c->u.unit;
		break;
	case SIM_COMMAND_STOP:
		q->unit = SIM_UNIT_NONE;
		break;
	}
}
