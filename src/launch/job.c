/* SPDX-License-Identifier: Apache-2.0 */
/* What names a launch. */
#include "launch/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOB_ANCESTORS 32

static const char *const job_variables[][2] = {
	{"RETALLY_JOB", NULL},
	{"PMIX_NAMESPACE", NULL},
	{"OMPI_MCA_ess_base_jobid", NULL},
	{"PALS_APID", NULL},
	{"FLUX_JOB_ID", NULL},
	{"JSM_JSRUN_JOBID", NULL},
	{"SLURM_JOB_ID", "SLURM_STEP_ID"},
};

static const char *job_value(identity_get *get, void *context, const char *name)
{
	const char *value = get(context, name);

	return value && *value ? value : NULL;
}

/* In a Slurm step of its own a rank has Slurm's rank; below another launcher Slurm's variables are
 * those of the batch step, the same for every launch in it. */
static bool job_is_slurm(identity_get *get, void *context)
{
	const char *mine, *slurm;
	char rank[16];

	mine = job_value(get, context, "PMI_RANK");
	if (!mine)
		return true;
	snprintf(rank, sizeof(rank), "%s", mine); /* get may use one buffer */
	if (job_value(get, context, "MPI_LOCALRANKID"))
		return false;
	slurm = job_value(get, context, "SLURM_PROCID");
	return slurm && !strcmp(slurm, rank);
}

bool job_name_from(char name[JOB_NAME_SIZE], identity_get *get, void *context, const char *proxy)
{
	name[0] = '\0';
	for (size_t i = 0; i < sizeof(job_variables) / sizeof(job_variables[0]); i++) {
		const char *const *v = job_variables[i];
		const char *value = job_value(get, context, v[0]);
		int n;

		if (!value || (v[1] && !job_is_slurm(get, context)))
			continue;
		/* The call above may have used get's buffer. */
		value = job_value(get, context, v[0]);
		n = snprintf(name, JOB_NAME_SIZE, "%s=%.80s", v[0], value ? value : "");
		if (!v[1])
			return true;
		value = job_value(get, context, v[1]);
		if (value) {
			snprintf(name + n, JOB_NAME_SIZE - (size_t)n, " %s=%.40s", v[1], value);
			return true;
		}
		name[0] = '\0';
	}
	if (proxy[0])
		snprintf(name, JOB_NAME_SIZE, "%s", proxy);
	return name[0] != '\0';
}

static const char *job_getenv(void *context, const char *name)
{
	(void)context;
	return getenv(name);
}

/* Parent and start time (clock ticks since boot) of a process, and its name. */
static bool job_process(int pid, char name[32], int *parent_out, unsigned long long *start_out)
{
	char path[64], line[512], *open_at, *close_at;
	FILE *f;
	bool read;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	read = fgets(line, sizeof(line), f) != NULL;
	fclose(f);
	open_at = read ? strchr(line, '(') : NULL;
	close_at = read ? strrchr(line, ')') : NULL;
	if (!open_at || !close_at || close_at < open_at)
		return false;
	snprintf(name, 32, "%.*s", (int)(close_at - open_at - 1), open_at + 1);
	return sscanf(close_at + 1,
		      " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		      "%*d %llu",
		      parent_out, start_out) == 2;
}

/* The word after `option` on the command line of a process. */
static bool job_argument(int pid, const char *option, char *value, size_t size)
{
	char path[64], line[4096];
	size_t n, at = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	while (at < n && strcmp(line + at, option))
		at += strlen(line + at) + 1;
	at += strlen(option) + 1;
	if (at >= n)
		return false;
	snprintf(value, size, "%s", line + at);
	return true;
}

/* What names the launch of the hydra proxy above us, "" when there is none. Every proxy of a launch
 * has mpiexec's address on its command line (hydra's pmiserv, `--control-port`). */
static void job_proxy(char proxy[JOB_NAME_SIZE])
{
	const char *here = getenv("MPI_LOCALNRANKS"), *all = getenv("PMI_SIZE");
	int pid = getpid(), parent = 0;
	unsigned long long start = 0;
	char name[32], port[128];

	proxy[0] = '\0';
	if (!here)
		return;
	for (int i = 0; i < JOB_ANCESTORS && pid > 1; i++, pid = parent) {
		if (!job_process(pid, name, &parent, &start))
			return;
		if (strncmp(name, "hydra_pmi_proxy", 15))
			continue;
		if (job_argument(pid, "--control-port", port, sizeof(port)))
			snprintf(proxy, JOB_NAME_SIZE, "hydra %s", port);
		else if (all && !strcmp(here, all))
			snprintf(proxy, JOB_NAME_SIZE, "hydra %d %llu", pid, start);
		return;
	}
}

bool job_name(char name[JOB_NAME_SIZE])
{
	char proxy[JOB_NAME_SIZE];

	job_proxy(proxy);
	return job_name_from(name, job_getenv, NULL, proxy);
}
