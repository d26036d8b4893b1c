/* SPDX-License-Identifier: Apache-2.0 */
/* Running launchers: the choice before and the check after. */
#include "cli/run_launcher.h"

#include "base/vec.h"
#include "cli/setup.h"
#include "launch/launcher.h"
#include "store/store.h"
#include "wire/identity.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int run_launcher_wanted(const struct options *o, bool *wanted_out, struct error *err)
{
	const char *how = o->launcher ? o->launcher : "auto";

	*wanted_out = !strcmp(how, "yes") ||
		      (!strcmp(how, "auto") && launcher_starts(o->argv) && !identity_in_mpi_rank());
	if (strcmp(how, "yes") != 0 && strcmp(how, "auto") != 0 && strcmp(how, "no") != 0)
		return error_set(err, RC_INVALID, "--launcher: '%.40s' is not auto, yes or no",
				 how);
	return 0;
}

int run_launcher_init(struct run_launcher *l, const struct options *o, char *seed, size_t size,
		      struct error *err)
{
	static char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return error_set_errno(err, 0, errno, "cannot find the path of this command");
	self[n] = '\0';
	snprintf(seed, size, "%llu", (unsigned long long)o->seed);
	*l = (struct run_launcher){.command = self,
				   .library = setup_library(),
				   .distribute = o->distribute,
				   .seed = o->has_seed ? seed : NULL};
	return 0;
}

void run_launcher_name_output(const char *application, char *text, size_t size)
{
	const char *base = strrchr(application, '/');
	size_t n = 0;

	for (base = base ? base + 1 : application; *base && n + 12 < size; base++) {
		text[n++] = *base;
		if (*base == '%')
			text[n++] = '%';
	}
	snprintf(text + n, size - n, ".retally");
}

/* Ranks that ended pass K, and how many the job has (0: unknown). */
static size_t count_ranks(const struct store_run *runs, size_t n, uint32_t pass, int32_t *size_out)
{
	VEC(int32_t) seen = {0};
	size_t count;

	*size_out = 0;
	for (size_t i = 0; i < n; i++) {
		bool known = runs[i].pass != pass;

		vec_for_each (&seen, rank)
			known = known || *rank == runs[i].spool->rank;
		if (known || !vec_push(&seen, runs[i].spool->rank))
			continue;
		if (runs[i].spool->ranks > *size_out)
			*size_out = runs[i].spool->ranks;
	}
	count = seen.n;
	vec_release(&seen);
	return count;
}

bool run_launcher_check(const struct run_outcome *outcome, const struct plan *plan)
{
	const struct store_run *runs;
	struct store *store;
	bool complete = true;
	size_t n;

	if (!outcome->directory || store_open(&store, outcome->directory, NULL))
		return false;
	runs = store_runs(store, &n);
	for (uint32_t k = 1; k <= plan->n_passes; k++) {
		int32_t size;
		size_t ranks = count_ranks(runs, n, k, &size);

		if (outcome->pass ? outcome->pass != k : k > outcome->passes_completed)
			continue;
		if (!ranks)
			fprintf(stderr,
				"retally: pass %u: no rank was counted: a static program, or a "
				"launcher that does not hand on LD_PRELOAD and RETALLY_LAUNCHER* "
				"(Open MPI on other nodes: -x); `mpirun ... retally run ... -- "
				"PROGRAM` works there\n",
				k);
		else if ((int32_t)ranks < size)
			fprintf(stderr, "retally: pass %u: %zu of %d ranks were counted\n", k,
				ranks, size);
		complete = complete && ranks && (int32_t)ranks >= size;
		if (!ranks && !outcome->pass)
			break; /* the others would say the same */
	}
	store_close(store);
	return complete;
}
