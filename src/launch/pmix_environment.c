/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's variables. */
#include "launch/pmix_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const prefixes[] = {
	"PMIX_",
	"PMI_",
	"PRTE_",
	"SLURM_PMIX",
	"OMPI_MCA_orte_",
	"OMPI_MCA_ess",
	"OMPI_MCA_pmix",
	"OMPI_MCA_plm",
	"OMPI_MCA_ras",
	"OMPI_MCA_schizo",
	"OMPI_MCA_initial_wdir",
};

bool pmix_environment_is_launchers(const char *entry)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(entry, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

void pmix_environment_clean(void)
{
	for (char **e = environ; e && *e;) {
		char *name;

		if (!pmix_environment_is_launchers(*e)) {
			e++;
			continue;
		}
		name = strndup(*e, strcspn(*e, "="));
		if (!name || unsetenv(name)) {
			free(name);
			return;
		}
		free(name);
		e = environ; /* the list moved */
	}
}

const char *pmix_environment_direct(void)
{
	return getenv("SLURM_STEP_ID") ? NULL : "JSM_JSRUN_PORT=0";
}
