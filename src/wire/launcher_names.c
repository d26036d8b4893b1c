/* SPDX-License-Identifier: Apache-2.0 */
/* The two lists; file names as in Debian's packages and the makers' manuals. */
#include "wire/launcher_names.h"

#include <stddef.h>
#include <string.h>

static const char *const commands[] = {
	"mpirun",         "mpiexec",      "mpiexec.hydra",
	"mpirun.openmpi", "mpirun.mpich", "mpiexec.openmpi",
	"mpiexec.mpich",  "orterun",      "prterun",
	"prun",           "srun",         "aprun",
	"jsrun",          "ibrun",        "palsrun",
};
static const char *const helpers[] = {
	"hydra_pmi_proxy",
	"hydra_bstrap_proxy",
	"hydra_nameserver",
	"orted",
	"prte",
	"prted",
	"slurmstepd",
	"flux",
	"retally",
};

static bool is_in(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

bool launcher_is_command(const char *name)
{
	return is_in(commands, sizeof(commands) / sizeof(*commands), name);
}

bool launcher_is_own(const char *name)
{
	return launcher_is_command(name) ||
	       is_in(helpers, sizeof(helpers) / sizeof(*helpers), name);
}
