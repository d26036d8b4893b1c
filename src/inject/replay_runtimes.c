/* SPDX-License-Identifier: Apache-2.0 */
/* Runtimes, the sources that count on their devices, and the entries by which vendors call us. */
#include "inject/replay_runtimes.h"

#include "inject/replay_session.h"
#include "inject/say.h"
#include "runtime/sim/runtime_sim.h"
#include "source/sim/sim_device.h"

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

/* ---- all ---- */

int replay_runtimes_attach(struct replay *engine, struct error *err)
{
	(void)engine;
	(void)err;
	return 0;
}

bool replay_runtimes_detach(void)
{
	return runtime_sim_detach();
}

void replay_runtimes_release(void)
{
	runtime_sim_release();
}

void replay_runtimes_abandon(void)
{
	runtime_sim_abandon();
}
