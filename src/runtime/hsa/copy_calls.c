/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and fills. They end the windows and are not recorded. Those that do not wait get a signal
 * of ours, which the program's follows at once: the device is not idle before they are over, so no
 * memory is saved or put back beside them.
 */
#include "runtime/hsa/flights.h"

static void boundary(const char *why)
{
	if (hsa_enter()) {
		hsa_boundary(why);
		hsa_leave();
	}
}

/* ---- those that wait: the device is held meanwhile, or a window of another thread that begins
 * now would save or put back what they write ---- */

struct holding {
	bool ours;
	struct replay_device *engine;
	struct runtime_op op;
};

static struct replay_device *engine_at(const void *address)
{
	struct hsa_device *d;
	struct program_memory m;

	if (!memories_find(&hsa_session.memories, (uint64_t)(uintptr_t)address, &m))
		return NULL;
	d = hsa_device_find(m.owner);
	return d ? atomic_load(&d->engine) : NULL;
}

static void hold(struct holding *h, const void *to, const void *from, const char *why)
{
	*h = (struct holding){.op = {.kind = RUNTIME_TRANSFER, .kernel = ""}};
	if (!hsa_enter())
		return;
	h->ours = true;
	hsa_boundary(why);
	h->engine = engine_at(to);
	if (!h->engine && from)
		h->engine = engine_at(from);
	if (h->engine)
		(void)replay_before(h->engine, &h->op);
}

static uint32_t release(struct holding *h, uint32_t status)
{
	if (h->engine)
		replay_after(h->engine, &h->op, !status);
	if (h->ours)
		hsa_leave();
	return status;
}

static uint32_t my_copy(void *to, const void *from, size_t bytes)
{
	struct holding h;

	hold(&h, to, from, "hsa_memory_copy");
	return release(&h, hsa_session.core.hsa_memory_copy(to, from, bytes));
}

static uint32_t my_fill(void *address, uint32_t value, size_t words)
{
	struct holding h;

	hold(&h, address, NULL, "hsa_amd_memory_fill");
	return release(&h, hsa_session.amd.hsa_amd_memory_fill(address, value, words));
}

/* ---- those that do not wait ---- */

struct copying {
	bool ours; /* the calls are ours to make */
	struct hsa_flight *flight;
	struct replay_device *engine; /* held meanwhile */
	struct runtime_op op;
};

/* One device is held, so that no window begins there before the copy is known to be under way. */
static void copy_begin(struct copying *c, uint64_t to_agent, uint64_t from_agent,
		       uint64_t *completion, const char *why)
{
	struct hsa_device *d = hsa_device_find(to_agent);

	*c = (struct copying){.op = {.kind = RUNTIME_TRANSFER, .kernel = ""}};
	if (!hsa_enter())
		return;
	c->ours = true;
	hsa_boundary(why);
	d = d ? d : hsa_device_find(from_agent);
	c->engine = d ? atomic_load(&d->engine) : NULL;
	if (c->engine)
		(void)replay_before(c->engine, &c->op);
	c->flight = hsa_flight_new(*completion, NULL);
	if (!c->flight) {
		replay_disable(hsa_session.replay, "no signal could be made for a copy");
		return;
	}
	*completion = c->flight->signal;
}

static uint32_t copy_end(struct copying *c, uint32_t status, uint64_t to_agent, uint64_t from_agent)
{
	unsigned n = atomic_load(&hsa_session.n_devices);

	if (!c->ours)
		return status;
	for (unsigned i = 0; i < n && c->flight && !status; i++) {
		struct hsa_device *d = &hsa_session.devices[i];

		if (d->agent == to_agent || d->agent == from_agent)
			hsa_flight_track(d, c->flight);
	}
	if (c->flight && !status)
		hsa_flight_forward(c->flight);
	hsa_flight_unref(c->flight);
	if (c->engine)
		replay_after(c->engine, &c->op, !status);
	hsa_leave();
	return status;
}

static uint32_t my_async_copy(void *to, uint64_t to_agent, const void *from, uint64_t from_agent,
			      size_t bytes, uint32_t n_deps, const uint64_t *deps,
			      uint64_t completion)
{
	struct copying c;

	copy_begin(&c, to_agent, from_agent, &completion, "hsa_amd_memory_async_copy");
	return copy_end(&c,
			hsa_session.amd.hsa_amd_memory_async_copy(to, to_agent, from, from_agent,
								  bytes, n_deps, deps, completion),
			to_agent, from_agent);
}

static uint32_t my_async_copy_on_engine(void *to, uint64_t to_agent, const void *from,
					uint64_t from_agent, size_t bytes, uint32_t n_deps,
					const uint64_t *deps, uint64_t completion, uint32_t engine,
					bool force)
{
	struct copying c;

	copy_begin(&c, to_agent, from_agent, &completion, "hsa_amd_memory_async_copy_on_engine");
	return copy_end(&c,
			hsa_session.amd.hsa_amd_memory_async_copy_on_engine(
				to, to_agent, from, from_agent, bytes, n_deps, deps, completion,
				engine, force),
			to_agent, from_agent);
}

static uint32_t my_async_copy_rect(const struct hsa_pitched *to, const struct hsa_dim3 *to_offset,
				   const struct hsa_pitched *from,
				   const struct hsa_dim3 *from_offset, const struct hsa_dim3 *range,
				   uint64_t agent, uint32_t direction, uint32_t n_deps,
				   const uint64_t *deps, uint64_t completion)
{
	struct copying c;

	copy_begin(&c, agent, agent, &completion, "hsa_amd_memory_async_copy_rect");
	return copy_end(&c,
			hsa_session.amd.hsa_amd_memory_async_copy_rect(
				to, to_offset, from, from_offset, range, agent, direction, n_deps,
				deps, completion),
			agent, agent);
}

static uint32_t my_prefetch(void *address, size_t bytes, uint64_t agent, uint32_t n_deps,
			    const uint64_t *deps, uint64_t completion)
{
	struct copying c;

	copy_begin(&c, agent, agent, &completion, "hsa_amd_svm_prefetch_async");
	return copy_end(&c,
			hsa_session.amd.hsa_amd_svm_prefetch_async(address, bytes, agent, n_deps,
								   deps, completion),
			agent, agent);
}

static uint32_t my_copy_time(uint64_t signal, struct hsa_dispatch_time *time_out)
{
	boundary("hsa_amd_profiling_get_async_copy_time");
	return hsa_session.amd.hsa_amd_profiling_get_async_copy_time(signal, time_out);
}

void hsa_patch_copies(struct hsa_core_table *core, struct hsa_amd_table *amd)
{
	core->hsa_memory_copy = my_copy;
	amd->hsa_amd_memory_fill = my_fill;
	amd->hsa_amd_memory_async_copy = my_async_copy;
	amd->hsa_amd_memory_async_copy_on_engine = my_async_copy_on_engine;
	amd->hsa_amd_profiling_get_async_copy_time = my_copy_time;
	if (HSA_TABLE_HAS(amd, hsa_amd_memory_async_copy_rect))
		amd->hsa_amd_memory_async_copy_rect = my_async_copy_rect;
	if (HSA_TABLE_HAS(amd, hsa_amd_svm_prefetch_async))
		amd->hsa_amd_svm_prefetch_async = my_prefetch;
}
