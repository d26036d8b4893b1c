/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls by which the program looks at signals: before each of them windows end, so that the
 * signals that were held back are delivered. In a loop that polls this costs one load.
 */
#include "runtime/hsa/session.h"
#include "source/rocm/rocm_tool.h"

static void look(const char *why)
{
	/* A window is being ended: nobody has to wait for that here. This may be the thread that
	 * calls the handlers of signals, the SDK's as well, which the passes need; and the program
	 * sees its signals when they are delivered. */
	if (rocm_tool_is_counting())
		return;
	if (hsa_enter()) {
		hsa_boundary(why);
		hsa_leave();
	}
}

static int64_t my_load_relaxed(uint64_t signal)
{
	look("hsa_signal_load");
	return hsa_session.core.hsa_signal_load_relaxed(signal);
}

static int64_t my_load_scacquire(uint64_t signal)
{
	look("hsa_signal_load");
	return hsa_session.core.hsa_signal_load_scacquire(signal);
}

static int64_t my_wait_relaxed(uint64_t signal, uint32_t condition, int64_t value, uint64_t timeout,
			       uint32_t how)
{
	look("hsa_signal_wait");
	return hsa_session.core.hsa_signal_wait_relaxed(signal, condition, value, timeout, how);
}

static int64_t my_wait_scacquire(uint64_t signal, uint32_t condition, int64_t value,
				 uint64_t timeout, uint32_t how)
{
	look("hsa_signal_wait");
	return hsa_session.core.hsa_signal_wait_scacquire(signal, condition, value, timeout, how);
}

static int64_t my_exchange_relaxed(uint64_t signal, int64_t value)
{
	look("hsa_signal_exchange");
	return hsa_session.core.hsa_signal_exchange_relaxed(signal, value);
}

static int64_t my_exchange_scacquire(uint64_t signal, int64_t value)
{
	look("hsa_signal_exchange");
	return hsa_session.core.hsa_signal_exchange_scacquire(signal, value);
}

static int64_t my_exchange_screlease(uint64_t signal, int64_t value)
{
	look("hsa_signal_exchange");
	return hsa_session.core.hsa_signal_exchange_screlease(signal, value);
}

static int64_t my_exchange_both(uint64_t signal, int64_t value)
{
	look("hsa_signal_exchange");
	return hsa_session.core.hsa_signal_exchange_scacq_screl(signal, value);
}

static uint32_t my_destroy(uint64_t signal)
{
	look("hsa_signal_destroy");
	return hsa_session.core.hsa_signal_destroy(signal);
}

static uint32_t my_wait_any(uint32_t n, uint64_t *signals, uint32_t *conditions, int64_t *values,
			    uint64_t timeout, uint32_t how, int64_t *value_out)
{
	look("hsa_amd_signal_wait_any");
	return hsa_session.amd.hsa_amd_signal_wait_any(n, signals, conditions, values, timeout, how,
						       value_out);
}

/* The same arguments as wait_any, all of them. */
typedef uint32_t wait_all(uint32_t n, uint64_t *signals, uint32_t *conditions, int64_t *values,
			  uint64_t timeout, uint32_t how, int64_t *values_out);

static uint32_t my_wait_all(uint32_t n, uint64_t *signals, uint32_t *conditions, int64_t *values,
			    uint64_t timeout, uint32_t how, int64_t *values_out)
{
	look("hsa_amd_signal_wait_all");
	return ((wait_all *)(void (*)(void))hsa_session.amd.hsa_amd_signal_wait_all)(
		n, signals, conditions, values, timeout, how, values_out);
}

static uint32_t my_async_handler(uint64_t signal, uint32_t condition, int64_t value,
				 hsa_signal_handler handler, void *data)
{
	look("hsa_amd_signal_async_handler");
	return hsa_session.amd.hsa_amd_signal_async_handler(signal, condition, value, handler,
							    data);
}

static uint32_t my_dispatch_time(uint64_t agent, uint64_t signal,
				 struct hsa_dispatch_time *time_out)
{
	look("hsa_amd_profiling_get_dispatch_time");
	return hsa_session.amd.hsa_amd_profiling_get_dispatch_time(agent, signal, time_out);
}

void hsa_patch_waits(struct hsa_core_table *core, struct hsa_amd_table *amd)
{
	core->hsa_signal_load_relaxed = my_load_relaxed;
	core->hsa_signal_load_scacquire = my_load_scacquire;
	core->hsa_signal_wait_relaxed = my_wait_relaxed;
	core->hsa_signal_wait_scacquire = my_wait_scacquire;
	core->hsa_signal_exchange_relaxed = my_exchange_relaxed;
	core->hsa_signal_exchange_scacquire = my_exchange_scacquire;
	core->hsa_signal_exchange_screlease = my_exchange_screlease;
	core->hsa_signal_exchange_scacq_screl = my_exchange_both;
	core->hsa_signal_destroy = my_destroy;
	amd->hsa_amd_signal_wait_any = my_wait_any;
	if (HSA_TABLE_HAS(amd, hsa_amd_signal_wait_all) && amd->hsa_amd_signal_wait_all)
		amd->hsa_amd_signal_wait_all = (void (*)(void))my_wait_all;
	amd->hsa_amd_signal_async_handler = my_async_handler;
	amd->hsa_amd_profiling_get_dispatch_time = my_dispatch_time;
}
