/* SPDX-License-Identifier: Apache-2.0 */
/* The table of launchers and their variables, and how it is read. */
#define LOG_DOMAIN "identity"
#include "wire/identity.h"

#include "base/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct identity_launcher {
	const char *rank, *size, *local_rank; /* NULL: it has no such variable */
	bool is_mpi;                          /* its rank variable means an MPI launch */
};

/* In order of trust. PBS has no row of its own: it gives a task number to pbsdsh's children only
 * (PBS_TASKNUM, from 1), and the ranks of a launcher started on top of it would all inherit the
 * same one. */
static const struct identity_launcher launchers[] = {
	{"RETALLY_RANK", "RETALLY_SIZE", "RETALLY_LOCAL_RANK", false},
	{"PALS_RANKID", NULL, "PALS_LOCAL_RANKID", true}, /* HPE PALS, with PBS Pro */
	{"PMIX_RANK", NULL, NULL, true},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", true},
	{"PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", true},
	{"PMI_RANK", NULL, "MPI_LOCALRANKID", true}, /* hydra: MPICH, Intel MPI */
	{"PMI_ID", NULL, "MPI_LOCALRANKID", true},   /* hydra -pmi-port */
	{"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", true},
	{"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", true},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", true},
	/* The step's size: SLURM_NTASKS may be that of the allocation. */
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", false},
	{"SLURM_PROCID", "SLURM_NTASKS", NULL, false},
};
#define N_LAUNCHERS (sizeof(launchers) / sizeof(launchers[0]))

/* Besides the ranks: marks of a process manager that waits for this process. */
static const char *const mpi_marks[] = {"PMIX_NAMESPACE", "PMI_FD", "PMI_PORT", "MPI_LOCALRANKID"};

static const char *const job_variables[] = {"RETALLY_JOB", "SLURM_JOB_ID", "PBS_JOBID",
					    "LSB_JOBID",   "FLUX_JOB_ID",  "COBALT_JOBID"};

static const char *identity_value(identity_get *get, void *context, const char *name)
{
	const char *value = name ? get(context, name) : NULL;

	return value && *value ? value : NULL;
}

static const char *told; /* of this variable last: whoever asks again has heard it */
static bool quiet;

void identity_warn_no_more(void)
{
	quiet = true;
}

/* A number from 0, or SPOOL_RANK_NONE when the variable is not set or holds something else. */
static int32_t identity_number(identity_get *get, void *context, const char *name, bool warn)
{
	const char *value = identity_value(get, context, name);
	char *end;
	long n;

	if (!value)
		return SPOOL_RANK_NONE;
	errno = 0;
	n = strtol(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !*end && !errno && n <= INT32_MAX)
		return (int32_t)n;
	if (warn && !quiet && told != name)
		log_warn("%s='%.40s' is not a number from 0 to %d and is ignored", name, value,
			 INT32_MAX);
	if (warn)
		told = name;
	return SPOOL_RANK_NONE;
}

/* Size and local rank, from `first` on and then from every launcher that agrees on the rank. */
static void identity_read_place(struct identity *id, size_t first, identity_get *get, void *context)
{
	for (size_t i = first; i < N_LAUNCHERS; i++) {
		const struct identity_launcher *l = &launchers[i];
		int32_t size, local;

		if (identity_number(get, context, l->rank, false) != id->rank)
			continue;
		size = id->size_from ? SPOOL_RANK_NONE
				     : identity_number(get, context, l->size, true);
		if (size != SPOOL_RANK_NONE && size <= id->rank) {
			if (!quiet)
				log_warn("%s=%d does not go with %s=%d and is ignored", l->size,
					 size, id->rank_from, id->rank);
		} else if (size != SPOOL_RANK_NONE) {
			id->size = size;
			id->size_from = l->size;
		}
		local = id->local_rank_from ? SPOOL_RANK_NONE
					    : identity_number(get, context, l->local_rank, true);
		if (local != SPOOL_RANK_NONE) {
			id->local_rank = local;
			id->local_rank_from = l->local_rank;
		}
	}
}

void identity_read_from(struct identity *id, identity_get *get, void *context)
{
	const char *warned = "";

	*id = (struct identity){
		.host = "unknown",
		.rank = SPOOL_RANK_NONE,
		.size = SPOOL_RANK_NONE,
		.local_rank = SPOOL_RANK_NONE,
	};
	for (size_t i = 0; i < N_LAUNCHERS; i++) {
		/* A name that stands in two rows is complained about once. */
		id->rank = identity_number(get, context, launchers[i].rank,
					   strcmp(warned, launchers[i].rank) != 0);
		warned = launchers[i].rank;
		if (id->rank != SPOOL_RANK_NONE) {
			id->rank_from = launchers[i].rank;
			identity_read_place(id, i, get, context);
			break;
		}
	}
	for (size_t i = 0; i < sizeof(job_variables) / sizeof(job_variables[0]); i++) {
		const char *job = identity_value(get, context, job_variables[i]);

		if (job) {
			snprintf(id->job, sizeof(id->job), "%s", job);
			id->job_from = job_variables[i];
			break;
		}
	}
}

static const char *identity_getenv(void *context, const char *name)
{
	(void)context;
	return getenv(name);
}

void identity_read(struct identity *id)
{
	char host[256] = "";

	identity_read_from(id, identity_getenv, NULL);
	if (gethostname(host, sizeof(host) - 1) || !*host || *host == '.')
		return;
	host[strcspn(host, ".")] = '\0';
	snprintf(id->host, sizeof(id->host), "%.*s", SPOOL_HOST_SIZE - 1, host);
}

const char *identity_in_mpi_rank_from(identity_get *get, void *context)
{
	for (size_t i = 0; i < N_LAUNCHERS; i++)
		if (launchers[i].is_mpi && identity_value(get, context, launchers[i].rank))
			return launchers[i].rank;
	for (size_t i = 0; i < sizeof(mpi_marks) / sizeof(mpi_marks[0]); i++)
		if (identity_value(get, context, mpi_marks[i]))
			return mpi_marks[i];
	return NULL;
}

const char *identity_in_mpi_rank(void)
{
	return identity_in_mpi_rank_from(identity_getenv, NULL);
}
