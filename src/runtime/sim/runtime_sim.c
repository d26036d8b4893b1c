/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attaching and detaching: the only state of this runtime, and how it gets between a program and
 * the device's library. A runtime of another vendor begins like this one: check the library's
 * version, remember its own functions, put ours into its table.
 */
#include "runtime/sim/internal.h"
#include "runtime/sim/pool.h"

#include <time.h>

#define DETACH_WAITS   1000u
#define DETACH_WAIT_NS 1000000L

struct rt rt = {.lock = PTHREAD_MUTEX_INITIALIZER};

int runtime_sim_attach(struct replay *replay, const struct sim_tools *tools, struct sim_api *api,
		       const struct source *source, const char *why,
		       const struct runtime_sim_options *options, struct error *err)
{
	if (atomic_load(&rt.attached))
		return error_set(err, RC_EXISTS, "the simulated device is being watched already");
	if (!tools || tools->size != sizeof(*tools))
		return error_set(err, RC_MISMATCH,
				 "libretallysim.so is of another version: its functions for tools "
				 "take %u bytes, not %zu",
				 tools ? tools->size : 0, sizeof(*tools));
	rt.tools = tools;
	rt.next = tools->next;
	rt.replay = replay;
	rt.source = source;
	rt.why = why;
	rt.options = options ? *options : (struct runtime_sim_options){0};
	runtime_fill(&rt.runtime, &rt.options);
	hooks_fill(api);
	atomic_store(&rt.attached, true);
	return 0;
}

bool runtime_sim_detach(void)
{
	const struct timespec wait = {.tv_nsec = DETACH_WAIT_NS};

	atomic_store(&rt.attached, false);
	for (unsigned i = 0; atomic_load(&rt.inside) && i < DETACH_WAITS; i++)
		nanosleep(&wait, NULL);
	return !atomic_load(&rt.inside);
}

void runtime_sim_release(void)
{
	struct rt_device *d;

	pthread_mutex_lock(&rt.lock);
	d = rt.devices;
	rt.devices = NULL;
	pthread_mutex_unlock(&rt.lock);
	for (; d; d = d->next) {
		for (struct rt_queue *q = d->queues; q; q = q->next) {
			rt_record_unref(q->last);
			q->last = NULL;
			waits_release(&q->pending);
		}
		/* What still runs gives a record back when it is over. */
		if (d->native.device &&
		    rt.tools->drain(d->native.device, DETACH_WAIT_NS) == SIM_TIMEOUT)
			return;
		stores_release(d);
	}
	sim_pool_release();
}

void runtime_sim_left(struct runtime_sim_left *left_out)
{
	*left_out = (struct runtime_sim_left){.stores = atomic_load(&rt.n_stores),
					      .records = atomic_load(&rt.n_records)};
}

void runtime_sim_abandon(void)
{
	atomic_store(&rt.attached, false);
}
