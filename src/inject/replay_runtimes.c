/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes, the sources that count on their devices, and the entries by which vendors call us. */
#include "inject/replay_runtimes.h"

#include "inject/regions.h"
#include "inject/replay_session.h"
#include "inject/say.h"
#include "runtime/cuda/cuda_runtime.h"
#include "runtime/hsa/hsa_runtime.h"
#include "runtime/hsa/sdk_engine.h"
#include "runtime/opencl/opencl.h"
#include "runtime/region/region.h"
#include "runtime/sim/runtime_sim.h"
#include "source/perf/perf_threads_device.h"
#include "source/rocm/rocm_device.h"
#include "source/rocm/rocm_tool.h"
#include "source/sim/sim_device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define ENTRY __attribute__((visibility("default")))

/* Whether the plan has counters of this source: of the others nothing is to be had there. */
static bool is_wanted(const char *source)
{
	const struct plan *plan = replay_session_plan();

	for (uint32_t i = 0; i < plan->n_counters; i++) {
		if (!strcmp(plan->counters[i].source, source))
			return true;
	}
	return false;
}

static void mark_range(void *data, const char *name, bool begins)
{
	(void)data;
	replay_session_mark(name, begins);
}

/* ---- sim ---- */

int retally_sim_tool(const struct sim_tools *tools, struct sim_api *api);

/* By the simulated device's library, at the program's first call of it, with RETALLY_SIM_TOOL. */
ENTRY int retally_sim_tool(const struct sim_tools *tools, struct sim_api *api)
{
	bool wanted;
	struct error err = {0};
	int rc;

	if (!replay_session_use())
		return RC_UNSUPPORTED;
	wanted = is_wanted("sim");
	rc = runtime_sim_attach(replay_session_engine(), tools, api,
				wanted ? source_sim(NULL) : NULL,
				"no counter of the plan is of source sim", NULL, &err);
	if (rc)
		say("%s; dispatches of the simulated device run uncounted", err.message);
	return rc;
}

/* ---- CUDA ---- */

int InitializeInjection(void);

static void say_cuda(void *data, const char *text)
{
	(void)data;
	say("%s", text);
}

/* For the report and the summary at the end of the run. */
static void note_disabled(const char *why, const char *what)
{
	struct spool_note note = {.kind = SPOOL_NOTE_DISABLED};
	char text[640];
	int n = snprintf(text, sizeof(text), "%.550s; %.50s run uncounted", why, what);

	if (replay_session_append(NULL, SPOOL_NOTE, &note, sizeof(note), text, (size_t)n, NULL))
		say("%s", text);
}

/* By the CUDA driver, while it is initialised, with CUDA_INJECTION64_PATH. The driver takes 0 for a
 * failure of its own; the program must not see that. */
ENTRY int InitializeInjection(void)
{
	static atomic_bool called; /* seen to come twice, in ranks of MPICH */
	struct error err = {0};

	if (atomic_exchange(&called, true))
		return 1;
	if (!replay_session_engine() || !is_wanted("cuda") || !replay_session_use())
		return 1;
	if (runtime_cuda_attach(replay_session_engine(), say_cuda, mark_range, NULL, &err))
		note_disabled(err.message, "CUDA kernels");
	return 1;
}

/* ---- AMD ---- */

struct rocp_configure_result *rocprofiler_configure(uint32_t version, const char *text,
						    uint32_t priority, struct rocp_client_id *id);

static void say_rocm(void *data, const char *text)
{
	(void)data;
	say("%s; AMD GPUs run uncounted", text);
}

/* The same for the report, too: of a library that was set up in this process. */
static void note_rocm(void *data, const char *text)
{
	(void)data;
	if (replay_session_use())
		note_disabled(text, "AMD GPUs");
	else
		say_rocm(NULL, text);
}

static void tell_rocm(void *data, const char *text)
{
	(void)data;
	say("%s", text);
}

static void say_hsa(const char *text)
{
	say_rocm(NULL, text);
}

static struct runtime_hsa_options hsa_options(void)
{
	return (struct runtime_hsa_options){
		.source = &source_rocm,
		.use = replay_session_use,
		.say = say_hsa,
		.alone = replay_session_settings()->mode == REPLAY_SETTINGS_KERNEL,
	};
}

/* In the program's first call of the HSA runtime. */
static void take_hsa(void *data, void **tables, uint64_t n)
{
	struct runtime_hsa_options options = hsa_options();
	struct error err = {0};

	(void)data;
	if (!replay_session_engine())
		return;
	if (runtime_hsa_attach(replay_session_engine(), tables, n, &options, &err))
		say_rocm(NULL, err.message);
}

/* --engine sdk: the library replays itself. */
static void take_sdk(void *data)
{
	struct runtime_hsa_options options = hsa_options();

	(void)data;
	runtime_sdk_open(replay_session_engine(), &options);
}

static void follow_sdk(void *data, const struct rocp_tracing_record *record,
		       union rocp_user_data *user_data)
{
	(void)data;
	runtime_sdk_record(record, user_data);
}

/* By rocprofiler-sdk, when the program first uses a runtime of ROCm, with ROCP_TOOL_LIBRARIES or
 * because this object is preloaded. */
ENTRY struct rocp_configure_result *rocprofiler_configure(uint32_t version, const char *text,
							  uint32_t priority,
							  struct rocp_client_id *id)
{
	bool sdk =
		replay_session_engine() && replay_session_settings()->engine == REPLAY_SETTINGS_SDK;
	const struct rocm_tool_hooks hooks = {
		.tables = take_hsa,
		.range = replay_session_wants_marks() ? mark_range : NULL,
		.replay = sdk ? follow_sdk : NULL,
		.ready = take_sdk,
		.say = note_rocm,
		.tell = tell_rocm,
	};
	struct rocp_configure_result *result = NULL;
	struct error err = {0};
	int rc;

	(void)priority;
	if (!replay_session_engine() || !is_wanted("rocm"))
		return NULL;
	rc = rocm_tool_configure(version, text, id, &hooks, &result, &err);
	if (rc && rc != RC_EXISTS)
		note_rocm(NULL, err.message);
	return result;
}

/* ---- OpenCL ---- */

/* Marks around kernels of a device are ranges of the device: counted as regions of the process as
 * well, each would be in the report twice, of two kinds under one name. What has no kernels in it
 * is no region either, for the copy of a process in which a region is replayed has no device. */
static void give_marks_to_device(void)
{
	static const char text[] = "marks are ranges of the OpenCL device from its first context "
				   "on: what they enclose beside its kernels is not counted";
	const struct spool_note note = {.kind = SPOOL_NOTE_FINDING};

	if (replay_session_settings()->mode != REPLAY_SETTINGS_RANGE)
		return;
	if (region_stop() && replay_session_append(NULL, SPOOL_NOTE, &note, sizeof(note), text,
						   sizeof(text) - 1, NULL))
		say("%s", text);
}

/* Of the sources so far only perf counts on such a device: on the threads that do its work. */
static const struct source *choose_opencl(void *data, const struct runtime_opencl_device *device,
					  const char **why_out)
{
	(void)data;
	if (!replay_session_use())
		*why_out = "nothing can be recorded";
	else if (!device->is_cpu)
		*why_out = "no source counts on this OpenCL device, which is no CPU";
	else if (!is_wanted("perf"))
		*why_out = "no counter of the plan is of source perf, which counts on CPUs";
	else {
		give_marks_to_device();
		return &source_perf_threads;
	}
	return NULL;
}

/* ---- all ---- */

int replay_runtimes_attach(struct replay *engine, bool regions_only, struct error *err)
{
	int rc = regions_attach(regions_only, err);

	/* In application mode the process is counted from outside: nothing of it may run twice. */
	if (rc || regions_only)
		return rc;
	return runtime_opencl_attach(
		engine,
		&(struct runtime_opencl_options){.choose = choose_opencl,
						 .threads = region_started_threads},
		err);
}

void replay_runtimes_take_calls(const char *opencl_layers)
{
	/* Of the sources so far only perf counts there: other programs are left as they are. */
	if (replay_session_engine() && is_wanted("perf"))
		runtime_opencl_take_calls(opencl_layers);
}

bool replay_runtimes_detach(void)
{
	bool hsa, sim;

	runtime_cuda_detach();
	runtime_opencl_detach();
	/* both, whatever the first says */
	hsa = runtime_hsa_detach();
	sim = runtime_sim_detach();
	return hsa && sim;
}

void replay_runtimes_release(void)
{
	runtime_hsa_release();
	runtime_sim_release();
}

void replay_runtimes_abandon(void)
{
	runtime_cuda_abandon();
	runtime_hsa_abandon();
	runtime_sim_abandon();
}
