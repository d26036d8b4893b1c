/* SPDX-License-Identifier: Apache-2.0 */
/* Dealing passes over ranks: every pass once in a cycle, seeds that fix it, the words; and what
 * names a launch. */
#include "../fake_environment.h"
#include "../test.h"
#include "launch/distribute.h"
#include "launch/job.h"

#include <stdio.h>

static struct distribute parsed(const char *text)
{
	struct distribute d = {0};
	struct error err = {0};

	assert_int_equal(distribute_parse(text, &d, &err), 0);
	return d;
}

static uint32_t dealt(const struct distribute *d, int32_t rank, const char *job, uint32_t n)
{
	struct error err = {0};
	uint32_t pass = 0;

	assert_int_equal(distribute_pass(d, rank, job, n, &pass, &err), 0);
	assert_in_range(pass, 1, n);
	return pass;
}

static void test_words(void **state)
{
	static const char *const bad[] = {
		"",     "ranks",   "rank:",     "rank:x", "process:random:1",
		"RANK", ":cyclic", "dispatches"};
	struct distribute d;
	struct error err;

	(void)state;
	d = parsed("rank");
	assert_int_equal(d.unit, DISTRIBUTE_RANK);
	assert_false(d.random);
	d = parsed("process:random");
	assert_int_equal(d.unit, DISTRIBUTE_PROCESS);
	assert_true(d.random);
	assert_false(parsed("rank:cyclic").random);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err = (struct error){0};
		assert_int_equal(distribute_parse(bad[i], &d, &err), RC_INVALID);
		assert_non_null(strstr(err.message, "--distribute"));
	}
	d = parsed("dispatch:random");
	assert_int_equal(d.unit, DISTRIBUTE_DISPATCH);
	assert_true(d.random);
}

static void test_cyclic(void **state)
{
	static const char *const jobs[] = {"", "a", "PMIX_NAMESPACE=prterun-vm-1@1"};
	struct distribute d = parsed("rank");

	(void)state;
	for (size_t j = 0; j < 3; j++)
		for (uint32_t n = 1; n < 20; n++) {
			uint32_t seen = 0;

			for (int32_t rank = 100; rank < 100 + (int32_t)n; rank++)
				seen |= 1u << dealt(&d, rank, jobs[j], n);
			assert_int_equal(seen, (1u << (n + 1)) - 2);
			for (int32_t rank = 0; rank < 3; rank++)
				assert_int_equal(dealt(&d, rank, jobs[j], n) % n + 1,
						 dealt(&d, rank + 1, jobs[j], n));
		}
}

/* Launches of other names start elsewhere: 100 of them leave none of 7 passes to rank 0 alone. */
static void test_offset_moves(void **state)
{
	struct distribute d = parsed("rank"), seeded = d;
	unsigned seen = 0, seen_seeded = 0;

	(void)state;
	seeded.has_seed = true;
	for (unsigned i = 0; i < 100; i++) {
		char job[16];

		snprintf(job, sizeof(job), "job %u", i);
		seen |= 1u << dealt(&d, 0, job, 7);
		seeded.seed = i;
		seen_seeded |= 1u << dealt(&seeded, 0, "any", 7);
		assert_int_equal(dealt(&seeded, 3, job, 7), dealt(&seeded, 3, "other", 7));
	}
	assert_int_equal(seen, 0xfe);
	assert_int_equal(seen_seeded, 0xfe);
}

/* Random: a seed fixes it, ranks are independent, and no pass is preferred: a chi-square test with
 * fixed seeds, so that it is the same each time. */
static void test_random(void **state)
{
	enum {
		PASSES = 13,
		RANKS = 13000
	};
	static const uint32_t promised[] = {1, 7, 5, 9, 6, 1};
	struct distribute d = parsed("process:random");
	unsigned counts[PASSES + 1] = {0};
	double chi = 0;

	(void)state;
	d.has_seed = true;
	d.seed = 1;
	for (int32_t rank = 0; rank < RANKS; rank++) {
		uint32_t pass = dealt(&d, rank, "a", PASSES);

		assert_int_equal(pass, dealt(&d, rank, "b", PASSES));
		counts[pass]++;
	}
	for (int i = 1; i <= PASSES; i++)
		chi += (counts[i] - 1000.0) * (counts[i] - 1000.0) / 1000.0;
	assert_true(chi < 32.9); /* 12 degrees of freedom, 0.1 % */
	/* These are promised to stay: a seed in a script means the same in every version. */
	d.seed = 42;
	for (int32_t rank = 0; rank < 6; rank++)
		assert_int_equal(dealt(&d, rank, "", 10), promised[rank]);
	assert_int_equal(promised[0], dealt(&d, SPOOL_RANK_NONE, "", 10));
}

/* Without a seed and a rank each process draws: 200 of them do not all get one pass. */
static void test_drawn(void **state)
{
	static const char *const texts[] = {"process", "process:random"};

	(void)state;
	for (int t = 0; t < 2; t++) {
		struct distribute d = parsed(texts[t]);
		unsigned seen = 0;

		for (int i = 0; i < 200; i++)
			seen |= 1u << dealt(&d, SPOOL_RANK_NONE, "", 4);
		assert_int_equal(seen, 0x1e);
	}
}

static void test_unknown_rank(void **state)
{
	struct distribute d = parsed("rank:random");
	struct error err = {0};
	uint32_t pass;

	(void)state;
	assert_int_equal(distribute_pass(&d, SPOOL_RANK_NONE, "", 4, &pass, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "--distribute process"));
}

static void test_job(void **state)
{
	static const struct {
		char environment[160];
		const char *proxy, *wanted;
	} cases[] = {
		{"HOME=/", "", ""},
		{"SLURM_JOB_ID=7 SLURM_STEP_ID=2 SLURM_PROCID=1", "",
		 "SLURM_JOB_ID=7 SLURM_STEP_ID=2"},
		{"SLURM_JOB_ID=7 SLURM_PROCID=1", "", ""},
		{"SLURM_JOB_ID=7 SLURM_STEP_ID=2 PMI_RANK=1 SLURM_PROCID=1", "",
		 "SLURM_JOB_ID=7 SLURM_STEP_ID=2"},
		{"SLURM_JOB_ID=7 SLURM_STEP_ID=2 PMI_RANK=1 SLURM_PROCID=0", "", ""},
		{"SLURM_JOB_ID=7 SLURM_STEP_ID=2 PMI_RANK=0 SLURM_PROCID=0 MPI_LOCALRANKID=0",
		 "hydra 1 2", "hydra 1 2"},
		{"PMIX_NAMESPACE=x@1 SLURM_JOB_ID=7 SLURM_STEP_ID=2", "hydra 1 2",
		 "PMIX_NAMESPACE=x@1"},
		{"OMPI_MCA_ess_base_jobid=5 PBS_JOBID=1", "", "OMPI_MCA_ess_base_jobid=5"},
		{"RETALLY_JOB=me PMIX_NAMESPACE=x", "", "RETALLY_JOB=me"},
		{"PBS_JOBID=1", "", ""},
	};
	char name[JOB_NAME_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char environment[160];

		memcpy(environment, cases[i].environment, sizeof(environment));
		assert_int_equal(job_name_from(name, fake_get, environment, cases[i].proxy),
				 *cases[i].wanted != '\0');
		assert_string_equal(name, cases[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),        cmocka_unit_test(test_cyclic),
		cmocka_unit_test(test_offset_moves), cmocka_unit_test(test_random),
		cmocka_unit_test(test_drawn),        cmocka_unit_test(test_unknown_rank),
		cmocka_unit_test(test_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
