/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How `retally run` runs the program: once per pass (application mode), or once with the passes
 * replayed inside it. Options that only one of them has are refused with the other.
 */
#ifndef RETALLY_CLI_REPLAY_CHOICE_H
#define RETALLY_CLI_REPLAY_CHOICE_H

#include "base/str.h"
#include "cli/options.h"
#include "launch/in_place.h"
#include "wire/plan.h"

#include <limits.h>

struct replay_choice {
	bool application;          /* asked for by name */
	bool in_place;             /* decided: run.settings hold */
	const char *only_in_place; /* an option that was given and has no meaning otherwise */
	struct run_in_place run;
	char library[PATH_MAX];
	struct str filters; /* canonical */
};

/* What the options say by themselves. RC_INVALID with one sentence. */
int replay_choice_read(struct replay_choice *c, const struct options *o, struct error *err);
/* With the plan known: `auto` becomes one of the two. RC_INVALID; RC_NOT_FOUND when libretally.so
 * is nowhere. */
int replay_choice_decide(struct replay_choice *c, const struct options *o, const struct plan *plan,
			 struct error *err);
void replay_choice_release(struct replay_choice *c);

#endif
