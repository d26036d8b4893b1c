/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --fixed-seed: puts libretally-seed.so (inject/seed.c) and its settings into the environment that
 * the passes of application replay inherit, so that a program that seeds itself from the time or
 * from random bytes does the same work in each. Says on stderr where that cannot be done.
 */
#ifndef RETALLY_CLI_FIXED_SEED_H
#define RETALLY_CLI_FIXED_SEED_H

#include "base/error.h"
#include "cli/options.h"

#include <stdbool.h>

/* Call before anything of the run is started. path: the program's file, in_place: passes are
 * replayed within one execution; has_launcher: the program is a launcher. RC_INVALID where the
 * option makes no sense. */
int fixed_seed_prepare(const struct options *o, const char *path, bool in_place, bool has_launcher,
		       struct error *err);

#endif
