/* SPDX-License-Identifier: Apache-2.0 */
/* Preparing the environment for --fixed-seed. */
#include "cli/fixed_seed.h"

#include "base/elf_probe.h"
#include "base/str.h"
#include "cli/setup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libretally-seed.so"
/* With --seed given, separate launches (--pass K) show the same time, too. */
#define FIRST_SECOND 1000000000

/* Beside libretally.so. */
static int find_library(char path_out[PATH_MAX], struct error *err)
{
	char beside[PATH_MAX];
	char *slash;

	if (snprintf(beside, sizeof(beside) - sizeof(LIBRARY), "%s", setup_library()) <
	    PATH_MAX - (int)sizeof(LIBRARY)) {
		slash = strrchr(beside, '/');
		strcpy(slash ? slash + 1 : beside, LIBRARY);
		if (realpath(beside, path_out) && !strpbrk(path_out, " :"))
			return 0;
	}
	return error_set(err, RC_NOT_FOUND,
			 "there is no '" LIBRARY "' beside '%s' (without blanks and colons in its "
			 "path), which --fixed-seed needs",
			 setup_library());
}

static int set_environment(const char *library, uint64_t seed, int64_t second, struct error *err)
{
	const char *before = getenv("LD_PRELOAD");
	struct str preload = STR_INIT, settings = STR_INIT;
	int rc = 0;

	str_addf(&preload, "%s%s%s", library, before && *before ? ":" : "", before ? before : "");
	str_addf(&settings, "%llu:%lld", (unsigned long long)seed, (long long)second);
	if (str_is_failed(&preload) || str_is_failed(&settings) ||
	    setenv("LD_PRELOAD", str_text(&preload), 1) ||
	    setenv("RETALLY_FIXED_SEED", str_text(&settings), 1))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	str_release(&preload);
	str_release(&settings);
	return rc;
}

int fixed_seed_prepare(const struct options *o, const char *path, bool in_place, bool has_launcher,
		       struct error *err)
{
	char library[PATH_MAX], why[160];
	int rc;

	if (in_place)
		return error_set(err, RC_INVALID,
				 "--fixed-seed is for --replay application: here the program runs "
				 "once, and its passes are replayed with the same numbers anyway");
	if (has_launcher)
		return error_set(err, RC_INVALID,
				 "--fixed-seed does not reach the ranks of a launcher; use the "
				 "seed option of the program");
	rc = find_library(library, err);
	if (rc)
		return rc;
	if (path && !elf_can_preload(path, why, sizeof(why)))
		fprintf(stderr,
			"retally: --fixed-seed does not reach '%s': %s; whether its passes did the "
			"same work is in the report\n",
			path, why);
	return set_environment(library, o->has_seed ? o->seed : 1,
			       o->has_seed ? FIRST_SECOND : (int64_t)time(NULL), err);
}
