/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launch of which launcher is this process a part of: a text that is the same in all ranks
 * of one launch and differs between launches, for what the ranks must agree on without talking.
 *
 * The first of these that is set: RETALLY_JOB; PMIX_NAMESPACE (Open MPI 5, srun --mpi=pmix);
 * OMPI_MCA_ess_base_jobid (Open MPI 4); PALS_APID; FLUX_JOB_ID; JSM_JSRUN_JOBID;
 * SLURM_JOB_ID with SLURM_STEP_ID. hydra has no such variable: there it is the address of mpiexec
 * on the command line of its proxy. Otherwise nothing is known; a batch job's id alone is not
 * taken, because one job may launch many times.
 */
#ifndef RETALLY_LAUNCH_JOB_H
#define RETALLY_LAUNCH_JOB_H

#include "wire/identity.h"

#include <stdbool.h>
#include <stddef.h>

#define JOB_NAME_SIZE 192

/* Fills name with the text, or "" when unknown. False then. */
bool job_name(char name[JOB_NAME_SIZE]);
/* The same from another environment; `proxy` is the text for hydra's proxy, "" for none. */
bool job_name_from(char name[JOB_NAME_SIZE], identity_get *get, void *context, const char *proxy);

#endif
