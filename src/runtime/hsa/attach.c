/* SPDX-License-Identifier: Apache-2.0 */
/* The session of the HSA runtime: attached to the tables, its devices, its end. */
#include "runtime/hsa/events.h"
#include "runtime/hsa/record.h"
#include "runtime/hsa/stores.h"
#include "runtime/hsa/submit.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct hsa_session hsa_session = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.memories = {.lock = PTHREAD_RWLOCK_INITIALIZER},
	.users = 1, /* the hsa_init that we are attached in */
};
_Thread_local struct hsa_here hsa_here __attribute__((tls_model("initial-exec")));

/* ---- for all ---- */

bool hsa_enter(void)
{
	atomic_fetch_add(&hsa_session.inside, 1);
	if (!atomic_load(&hsa_session.off))
		return true;
	hsa_leave();
	return false;
}

void hsa_leave(void)
{
	atomic_fetch_sub(&hsa_session.inside, 1);
}

struct hsa_device *hsa_device_find(uint64_t agent)
{
	unsigned n = atomic_load(&hsa_session.n_devices);

	for (unsigned i = 0; i < n; i++)
		if (hsa_session.devices[i].agent == agent)
			return &hsa_session.devices[i];
	return NULL;
}

void hsa_boundary(const char *why)
{
	unsigned n = atomic_load_explicit(&hsa_session.n_devices, memory_order_acquire);

	if (hsa_here.events)
		return;
	for (unsigned i = 0; i < n; i++) {
		struct replay_device *engine = atomic_load(&hsa_session.devices[i].engine);

		if (engine)
			replay_boundary(engine, why);
	}
}

int hsa_fail(uint32_t status, const char *what, struct error *err)
{
	const char *text = NULL;
	int code = status == HSA_OUT_OF_RESOURCES || status == HSA_INVALID_ALLOCATION ? RC_NO_MEMORY
		   : status == HSA_NOT_INITIALIZED || status == HSA_FATAL ||
				   status == HSA_MEMORY_FAULT || status == HSA_APERTURE_VIOLATION
			   ? RC_END
			   : RC_ERROR;

	if (atomic_load(&hsa_session.closed) || hsa_session.core.hsa_status_string(status, &text) ||
	    !text)
		text = "an error of the HSA runtime";
	return error_set(err, code, "%s: %.200s (0x%x)", what, text, status);
}

static int drain(void *device, uint64_t bound_ns, struct error *err)
{
	if (atomic_load(&hsa_session.closed))
		return error_set(err, RC_END, "the program shut the HSA runtime down");
	if (hsa_flights_wait(device, bound_ns))
		return 0;
	return error_set(err, RC_TIMEOUT, "the device did not become idle within %.1f s",
			 (double)bound_ns / 1e9);
}

const struct runtime hsa_runtime = {
	.name = "hsa",
	.size = sizeof(struct runtime),
	.capabilities = RUNTIME_DEVICE_STORE | RUNTIME_LAUNCH_KEEPS_ORDER,
	.drain = drain,
	.store_get = hsa_store_get,
	.store_put = hsa_store_put,
	.save = hsa_store_save,
	.restore = hsa_store_restore,
	.compare = hsa_store_compare,
	.hash = hsa_store_hash,
	.launch = hsa_record_launch,
	.times = hsa_record_times,
	.op_release = hsa_record_release,
	.op_parked = hsa_record_parked,
};

/* ---- attaching ---- */

static int check_tables(const struct hsa_api_table *t, struct error *err)
{
	const struct hsa_core_table *c = t->core;
	const struct hsa_amd_table *a = t->amd;

	if (t->version.major == HSA_API_TABLE_MAJOR && c && a &&
	    c->version.major == HSA_CORE_TABLE_MAJOR && a->version.major == HSA_AMD_TABLE_MAJOR &&
	    HSA_TABLE_HAS(c, hsa_executable_iterate_agent_symbols) &&
	    HSA_TABLE_HAS(a, hsa_amd_queue_intercept_register))
		return 0;
	return error_set(
		err, RC_UNSUPPORTED,
		"this HSA runtime's tables are of version %u, %u and %u, which is not known",
		t->version.major, c ? c->version.major : 0, a ? a->version.major : 0);
}

int runtime_hsa_attach(struct replay *replay, void **tables, uint64_t n,
		       const struct runtime_hsa_options *options, struct error *err)
{
	struct hsa_session *s = &hsa_session;
	struct hsa_api_table *t = n ? tables[0] : NULL;
	size_t bytes;
	int rc;

	if (!t || atomic_load(&s->attached))
		return error_set(err, RC_EXISTS, "the HSA runtime is intercepted already");
	rc = check_tables(t, err);
	if (rc)
		return rc;
	s->replay = replay;
	s->options = *options;
	bytes = t->core->version.minor;
	memcpy(&s->core, t->core, bytes < sizeof(s->core) ? bytes : sizeof(s->core));
	bytes = t->amd->version.minor;
	memcpy(&s->amd, t->amd, bytes < sizeof(s->amd) ? bytes : sizeof(s->amd));
	atomic_store(&s->attached, true);
	rocm_tool_change_by(hsa_events_turn);
	hsa_patch_queues(t->core, t->amd);
	hsa_patch_waits(t->core, t->amd);
	hsa_patch_memory(t->core, t->amd);
	hsa_patch_copies(t->core, t->amd);
	return 0;
}

/* ---- the end ---- */

bool runtime_hsa_detach(void)
{
	struct timespec pause = {0, 1000000};

	if (!atomic_load(&hsa_session.attached) && !atomic_load(&hsa_session.sdk_replays))
		return true;
	if (!atomic_load(&hsa_session.off))
		hsa_boundary("exit");
	atomic_store(&hsa_session.off, true);
	for (int i = 0; atomic_load(&hsa_session.inside) && i < 1000; i++)
		nanosleep(&pause, NULL);
	return !atomic_load(&hsa_session.inside);
}

void runtime_hsa_release(void)
{
	struct hsa_session *s = &hsa_session;

	if (!atomic_load(&s->attached))
		return;
	for (unsigned i = 0; i < atomic_load(&s->n_devices); i++) {
		hsa_submit_close(&s->devices[i]);
		hsa_store_trim(&s->devices[i], true);
		(void)hsa_flights_wait(&s->devices[i], 1000000);
	}
	for (struct hsa_tap *t = s->taps; t; t = t->next)
		hsa_submit_forget(t);
	hsa_record_give_back();
	hsa_events_release();
	hsa_flights_release();
}

void runtime_hsa_abandon(void)
{
	atomic_store(&hsa_session.off, true);
	atomic_store(&hsa_session.closed, true);
}
