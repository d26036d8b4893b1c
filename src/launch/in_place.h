/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaying in place: the program runs once, as it would without us, with libretally.so loaded into
 * it and told what to do by variables of the environment. The supervisor opens no counters; what is
 * measured comes in spools that the processes of the program write. Regions are counted the same
 * way beside the supervisor's counters, when it runs the program once a pass.
 *
 *   RETALLY_REPLAY   settings and ids (wire/replay_settings.h)
 *   RETALLY_PLAN     DIR/plan.json      RETALLY_OUT   DIR, both absolute
 *   LD_PRELOAD, OPENCL_LAYERS, RETALLY_SIM_TOOL   libretally.so, in front of what was there
 */
#ifndef RETALLY_LAUNCH_IN_PLACE_H
#define RETALLY_LAUNCH_IN_PLACE_H

#include "base/error.h"
#include "base/str.h"
#include "wire/replay_settings.h"

#include <stddef.h>

struct run_in_place {
	/* Ids, the pass, and the chosen seed and offset are run_program's to fill. */
	struct replay_settings settings;
	bool has_seed;       /* settings.seed was given */
	const char *library; /* libretally.so, absolute */
};

#define IN_PLACE_VARIABLES 12
struct in_place {
	char *variables[IN_PLACE_VARIABLES]; /* "NAME=value", owned */
	size_t n;
};

/* directory: the run directory, which exists. */
int in_place_init(struct in_place *p, const struct replay_settings *settings, const char *library,
		  const char *directory, struct error *err);
/* The variables for one pass of application replay, by which the library counts the program's
 * marked regions in that pass (settings.pass) as they run; devices are left alone. */
int in_place_init_regions(struct in_place *p, const struct replay_settings *settings,
			  const char *library, const char *directory, struct error *err);
void in_place_release(struct in_place *p);
/* The options that ask for this, as words of a shell, each with a blank in front. */
void in_place_describe(const struct run_in_place *r, struct str *out);

#endif
