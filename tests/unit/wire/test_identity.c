/* SPDX-License-Identifier: Apache-2.0 */
/* Identity: what each launcher's environment says, also where several contradict each other. */
#include "../fake_environment.h"
#include "../test.h"
#include "wire/identity.h"

#include <stdlib.h>

#define NONE SPOOL_RANK_NONE

static const struct {
	const char *what;
	const char *environment;
	int32_t rank, size, local_rank;
	const char *rank_from, *size_from, *local_rank_from;
	const char *job, *job_from;
	const char *mpi; /* what identity_in_mpi_rank says */
} cases[] = {
	{"a plain shell", "HOME=/root", NONE, NONE, NONE, NULL, NULL, NULL, "", NULL, NULL},
	{"Open MPI 4",
	 "PMIX_RANK=3 PMIX_NAMESPACE=x OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 "
	 "OMPI_COMM_WORLD_LOCAL_RANK=1",
	 3, 8, 1, "PMIX_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "", NULL,
	 "PMIX_RANK"},
	{"hydra", "PMI_RANK=2 PMI_SIZE=4 PMI_FD=9 MPI_LOCALRANKID=0", 2, 4, 0, "PMI_RANK",
	 "PMI_SIZE", "MPI_LOCALRANKID", "", NULL, "PMI_RANK"},
	{"hydra without a rank: the local rank is not taken for it",
	 "PMI_PORT=h:1 MPI_LOCALRANKID=0", NONE, NONE, NONE, NULL, NULL, NULL, "", NULL,
	 "PMI_PORT"},
	{"hydra -pmi-port", "PMI_PORT=h:1 PMI_ID=1 MPI_LOCALRANKID=0", 1, NONE, 0, "PMI_ID", NULL,
	 "MPI_LOCALRANKID", "", NULL, "PMI_ID"},
	{"srun --mpi=pmix",
	 "PMIX_RANK=5 SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=6 SLURM_NTASKS=9 SLURM_LOCALID=2 "
	 "SLURM_JOB_ID=77",
	 5, 6, 2, "PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "77", "SLURM_JOB_ID",
	 "PMIX_RANK"},
	{"srun --mpi=none", "SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_LOCALID=1", 1, 2, 1,
	 "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "", NULL, NULL},
	{"mpirun inside one Slurm step: Slurm's rank is everybody's",
	 "SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_LOCALID=0 OMPI_COMM_WORLD_RANK=2 "
	 "OMPI_COMM_WORLD_SIZE=4",
	 2, 4, NONE, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, "", NULL,
	 "OMPI_COMM_WORLD_RANK"},
	{"PBS with PALS",
	 "PBS_JOBID=12.server PALS_RANKID=1 PALS_LOCAL_RANKID=0 PMI_RANK=1 PMI_SIZE=2", 1, 2, 0,
	 "PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_RANKID", "12.server", "PBS_JOBID", "PALS_RANKID"},
	{"pbsdsh gives task numbers, not ranks", "PBS_JOBID=1 PBS_TASKNUM=2", NONE, NONE, NONE,
	 NULL, NULL, NULL, "1", "PBS_JOBID", NULL},
	{"Flux", "FLUX_TASK_RANK=0 FLUX_JOB_SIZE=2 FLUX_TASK_LOCAL_ID=0 FLUX_JOB_ID=f1", 0, 2, 0,
	 "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", "f1", "FLUX_JOB_ID",
	 "FLUX_TASK_RANK"},
	{"jsrun", "JSM_NAMESPACE_RANK=1 JSM_NAMESPACE_SIZE=2 JSM_NAMESPACE_LOCAL_RANK=1", 1, 2, 1,
	 "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", "", NULL,
	 "JSM_NAMESPACE_RANK"},
	{"MVAPICH", "MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2 MV2_COMM_WORLD_LOCAL_RANK=1", 1, 2,
	 1, "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", "", NULL,
	 "MV2_COMM_WORLD_RANK"},
	{"the user knows best", "RETALLY_RANK=9 RETALLY_SIZE=10 RETALLY_JOB=j PMIX_RANK=1", 9, 10,
	 NONE, "RETALLY_RANK", "RETALLY_SIZE", NULL, "j", "RETALLY_JOB", "PMIX_RANK"},
	{"a bad number is passed over", "RETALLY_RANK=two PMI_RANK=2 PMI_SIZE=-4", 2, NONE, NONE,
	 "PMI_RANK", NULL, NULL, "", NULL, "PMI_RANK"},
	{"so are one that is too large, one with a tail and an empty one",
	 "PMIX_RANK=2147483648 OMPI_COMM_WORLD_RANK=1x PMI_RANK= SLURM_PROCID=2147483647",
	 INT32_MAX, NONE, NONE, "SLURM_PROCID", NULL, NULL, "", NULL, "PMIX_RANK"},
	{"signs and spaces are no number", "PMI_RANK=+1 SLURM_PROCID=0x1", NONE, NONE, NONE, NULL,
	 NULL, NULL, "", NULL, "PMI_RANK"},
	{"a size that the rank does not fit into", "PMI_RANK=4 PMI_SIZE=4 PMI_LOCAL_RANK=0", 4,
	 NONE, 0, "PMI_RANK", NULL, "PMI_LOCAL_RANK", "", NULL, "PMI_RANK"},
	{"rank 0 of a launcher is not unknown", "PMI_RANK=0 PMI_SIZE=1", 0, 1, NONE, "PMI_RANK",
	 "PMI_SIZE", NULL, "", NULL, "PMI_RANK"},
};

static void assert_same_name(const char *got, const char *want, const char *what)
{
	if ((got == NULL) != (want == NULL) || (got && strcmp(got, want)))
		fail_msg("%s: got %s, wanted %s", what, got ? got : "nothing",
			 want ? want : "nothing");
}

static void test_launchers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct identity id;
		/* the fake only reads it */
		void *environment = (void *)(uintptr_t)cases[i].environment;

		identity_read_from(&id, fake_get, environment);
		if (id.rank != cases[i].rank || id.size != cases[i].size ||
		    id.local_rank != cases[i].local_rank)
			fail_msg("%s: rank %d size %d local rank %d", cases[i].what, id.rank,
				 id.size, id.local_rank);
		assert_same_name(id.rank_from, cases[i].rank_from, cases[i].what);
		assert_same_name(id.size_from, cases[i].size_from, cases[i].what);
		assert_same_name(id.local_rank_from, cases[i].local_rank_from, cases[i].what);
		assert_same_name(id.job, cases[i].job, cases[i].what);
		assert_same_name(id.job_from, cases[i].job_from, cases[i].what);
		assert_same_name(identity_in_mpi_rank_from(fake_get, environment), cases[i].mpi,
				 cases[i].what);
		assert_string_equal(id.host, "unknown");
	}
}

static void test_real_environment(void **state)
{
	struct identity id;

	(void)state;
	assert_int_equal(setenv("RETALLY_RANK", "12", 1), 0);
	identity_read(&id);
	assert_int_equal(id.rank, 12);
	assert_string_equal(id.rank_from, "RETALLY_RANK");
	assert_true(*id.host);
	assert_null(strchr(id.host, '.'));
	assert_int_equal(setenv("JSM_NAMESPACE_RANK", "0", 1), 0);
	assert_non_null(identity_in_mpi_rank());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launchers),
		cmocka_unit_test(test_real_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
