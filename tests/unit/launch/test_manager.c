/* SPDX-License-Identifier: Apache-2.0 */
/* Several passes in the ranks of a job: which process manager is chosen from which environment,
 * what follows from the ranks' votes, the program's environment, and whole jobs of forked ranks
 * whose program is played by the test. */
#include "../fake_environment.h"
#include "../test.h"
#include "launch/child.h"
#include "launch/manager.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NONE SPOOL_RANK_NONE

/* ---- choice ---- */

static const struct {
	const char *environment, *job;
	bool socket;
	enum manager_mode mode;
	const char *wanted; /* letters: m meet, r relay, 1 PMI-1, x PMIx, h one host,
			     * t ranks end together */
	const char *error;  /* a part of it */
	int vanished, unfinished;
} choices[] = {
	{"HOME=/root", "", false, MANAGER_AUTO, "", NULL, 0, 0},
	{"PMI_FD=7 PMI_RANK=1 PMI_SIZE=4 MPI_LOCALNRANKS=4 MPI_LOCALRANKID=1", "j", true,
	 MANAGER_AUTO, "mrht", NULL, 137, 0},
	{"PMI_FD=7 PMI_RANK=1 PMI_SIZE=4 MPI_LOCALNRANKS=2 MPI_LOCALRANKID=1", "j", true,
	 MANAGER_AUTO, "mrt", NULL, 137, 0},
	{"PMI_PORT=h:1 PMI_ID=1 MPI_LOCALRANKID=1", "j", false, MANAGER_AUTO, "mrt", NULL, 137, 0},
	{"PMI_FD=7 PMI_RANK=1 PMI_SIZE=4", "j", true, MANAGER_SERVER, "m1x", NULL, 0, 0},
	{"PMI_FD=7 PMI_RANK=1 PMI_SIZE=4", "j", true, MANAGER_NONE, "m", NULL, 0, 0},
	{"PMI_FD=7 PMI_RANK=1 PMI_SIZE=4", "", true, MANAGER_NONE, "", NULL, 0, 0},
	/* mpirun, also below a launcher whose socket is not ours any more. */
	{"PMIX_NAMESPACE=n PMIX_RANK=1 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "
	 "OMPI_COMM_WORLD_LOCAL_SIZE=2 PMI_FD=7 MPI_LOCALRANKID=0",
	 "j", false, MANAGER_AUTO, "mxh", NULL, 1, 1},
	{"PMIX_NAMESPACE=n PMIX_RANK=1 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 "
	 "SLURM_STEP_NUM_NODES=1",
	 "j", false, MANAGER_AUTO, "mxh", NULL, 137, 0},
	/* Slurm's nodes are the batch step's here. */
	{"PMIX_NAMESPACE=n PMIX_RANK=1 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "
	 "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_STEP_NUM_NODES=1",
	 "j", false, MANAGER_AUTO, "mx", NULL, 1, 1},
	/* Slurm's pmi2 does not mind who finalizes. */
	{"PMI_FD=7 PMI_RANK=1 PMI_SIZE=4 SLURM_PROCID=1", "j", true, MANAGER_AUTO, "mr", NULL, 0,
	 0},
	/* Singletons keep step where their launch has a name, and one rank needs none. */
	{"SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2", "j", false, MANAGER_AUTO, "m", NULL, 0, 0},
	{"SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2", "j", false, MANAGER_SERVER, "m1x", NULL, 0, 0},
	{"RETALLY_RANK=1 RETALLY_SIZE=2", "", false, MANAGER_AUTO, "", NULL, 0, 0},
	{"PMI_FD=7 PMI_RANK=0 PMI_SIZE=1", "", true, MANAGER_AUTO, "mrh", NULL, 0, 0},
	/* What cannot be. */
	{"PMI_FD=7 PMI_RANK=0 PMI_SIZE=2", "", true, MANAGER_AUTO, NULL, "RETALLY_JOB", 0, 0},
	{"PMIX_NAMESPACE=n PMIX_RANK=0", "j", false, MANAGER_AUTO, NULL, "number of ranks", 0, 0},
	{"PMIX_NAMESPACE=n", "j", false, MANAGER_AUTO, NULL, "its rank is not known", 0, 0},
	{"PALS_RANKID=0", "j", false, MANAGER_AUTO, NULL, "--mpi server", 0, 0},
	{"HOME=/root", "", false, MANAGER_RELAY, NULL, "no PMI", 0, 0},
	{"HOME=/root", "", false, MANAGER_SERVER, NULL, "no rank of a job", 0, 0},
};

static void test_choice(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		char *environment = strdup(choices[i].environment), got[8] = "";
		struct manager_choice c;
		struct identity id;
		struct error err = {0};
		int rc;

		identity_read_from(&id, fake_get, environment);
		rc = manager_choose(choices[i].mode, &id, choices[i].job, choices[i].socket,
				    fake_get, environment, &c, &err);
		if (choices[i].error) {
			if (rc != RC_UNSUPPORTED || !strstr(err.message, choices[i].error))
				fail_msg("%s: %d '%s'", environment, rc, err.message);
		} else {
			snprintf(got, sizeof(got), "%s%s%s%s%s%s", c.meet ? "m" : "",
				 c.relay ? "r" : "", c.pmi ? "1" : "", c.pmix ? "x" : "",
				 c.meet && c.one_host ? "h" : "", c.together ? "t" : "");
			if (rc || strcmp(got, choices[i].wanted) != 0)
				fail_msg("%s: %d '%s', not '%s'", environment, rc, got,
					 choices[i].wanted);
			assert_int_equal(c.vanished, choices[i].vanished);
			assert_int_equal(c.unfinished, choices[i].unfinished);
		}
		free(environment);
	}
}

static void test_mode(void **state)
{
	enum manager_mode mode;
	struct error err = {0};

	(void)state;
	assert_int_equal(manager_mode_parse("server", &mode, &err), 0);
	assert_int_equal(mode, MANAGER_SERVER);
	assert_int_equal(manager_mode_parse("some", &mode, &err), RC_INVALID);
	assert_non_null(strstr(err.message, "'some'"));
}

/* ---- votes ---- */

static struct star_news round_of(struct str *bytes, const struct manager_vote *votes, int n)
{
	for (int i = 0; i < n; i++) {
		unsigned char packed[MANAGER_VOTE_SIZE];
		unsigned char size[4] = {MANAGER_VOTE_SIZE, 0, 0, 0};

		manager_vote_pack(&votes[i], packed);
		str_add_bytes(bytes, size, sizeof(size));
		str_add_bytes(bytes, packed, sizeof(packed));
	}
	return (struct star_news){.bytes = (const unsigned char *)bytes->text, .size = bytes->size};
}

static void test_votes(void **state)
{
	struct manager_vote yes = {.go_on = true, .position = 1, .completed = 1, .wall_ns = 5};
	struct manager_vote votes[3] = {yes, yes, yes};
	struct manager_verdict v;
	struct str bytes = STR_INIT;
	struct star_news round;
	char text[200];

	(void)state;
	votes[1].wall_ns = 9;
	round = round_of(&bytes, votes, 3);
	manager_round_judge(&round, 0, 3, &yes, &v);
	assert_true(v.go_on);
	assert_int_equal(v.wall_ns, 9);
	/* One part too few. */
	manager_round_judge(&round, 0, 4, &yes, &v);
	assert_false(v.go_on);
	str_clear(&bytes);
	votes[2] = (struct manager_vote){
		.reason = MANAGER_REASON_FAILED, .status = 139, .position = 1};
	round = round_of(&bytes, votes, 3);
	manager_round_judge(&round, 0, 3, &yes, &v);
	assert_false(v.go_on);
	assert_string_equal(v.why, "the program of rank 2 died of signal 11");
	manager_round_results(&round, 3, text, sizeof(text));
	assert_string_equal(text, "rank 2 completed 0 of the 1 passes that others completed");
	/* Of another pass, and no vote at all. */
	str_clear(&bytes);
	votes[2] = yes;
	votes[2].position = 2;
	round = round_of(&bytes, votes, 3);
	manager_round_judge(&round, 0, 3, &yes, &v);
	assert_false(v.go_on);
	memset(bytes.text + 4, 0xff, 8);
	manager_round_judge(&round, 1, 3, &yes, &v);
	assert_string_equal(v.why, "rank 0 is not at the same pass, and 1 more likewise");
	/* The last pass is nobody's fault. */
	str_clear(&bytes);
	for (int i = 0; i < 3; i++)
		votes[i] = (struct manager_vote){.reason = MANAGER_REASON_LAST, .position = 1};
	round = round_of(&bytes, votes, 3);
	manager_round_judge(&round, 0, 3, votes, &v);
	assert_false(v.go_on);
	assert_string_equal(v.why, "");
	manager_round_results(&round, 3, text, sizeof(text));
	assert_string_equal(text, "");
	str_release(&bytes);
}

/* ---- the program's environment ---- */

static size_t bytes_of(char *const *list)
{
	size_t n = 0;

	for (; *list; list++)
		n += strlen(*list) + 1;
	return n;
}

static const char *value_of(char *const *list, const char *name)
{
	size_t n = strlen(name);

	for (; *list; list++)
		if (!strncmp(*list, name, n) && (*list)[n] == '=')
			return *list + n + 1;
	return NULL;
}

static bool hides(const void *context, const char *entry)
{
	return manager_hides(context, entry);
}

static void test_environment(void **state)
{
	const char *first[] = {"PMI_FD=100", "PMIX_SERVER_URI=tcp://1:80"};
	const char *later[] = {"PMI_FD=100", "PMIX_SERVER_URI=tcp://1:65535"};
	struct manager_choice servers = {.pmi = true, .pmix = true}, relay = {.relay = true};
	struct child_environment e;
	struct error err = {0};
	size_t size;

	(void)state;
	setenv("PMIX_NAMESPACE", "of-the-launcher", 1);
	setenv("PMI_FD", "7", 1);
	setenv("PMI_RANK", "3", 1);
	assert_int_equal(child_environment_init(&e, &err), 0);
	child_environment_hide(&e, hides, &servers);
	assert_int_equal(child_environment_set(&e, 1, 2, first, 2, &err), 0);
	assert_null(value_of(e.list, "PMIX_NAMESPACE"));
	assert_null(value_of(e.list, "PMI_RANK"));
	assert_string_equal(value_of(e.list, "PMI_FD"), "100");
	assert_string_equal(value_of(e.list, "RETALLY_PASS"), "0001");
	size = bytes_of(e.list);
	assert_int_equal(child_environment_set(&e, 2, 2, later, 2, &err), 0);
	assert_int_equal(bytes_of(e.list), size);
	child_environment_release(&e);
	/* A relay changes the socket alone. */
	assert_int_equal(child_environment_init(&e, &err), 0);
	child_environment_hide(&e, hides, &relay);
	assert_int_equal(child_environment_set(&e, 1, 2, first, 1, &err), 0);
	assert_string_equal(value_of(e.list, "PMI_RANK"), "3");
	assert_string_equal(value_of(e.list, "PMI_FD"), "100");
	assert_string_equal(value_of(e.list, "PMIX_NAMESPACE"), "of-the-launcher");
	child_environment_release(&e);
	/* Without a job nothing is added. */
	assert_int_equal(child_environment_init(&e, &err), 0);
	assert_int_equal(child_environment_set(&e, 1, 2, NULL, 0, &err), 0);
	assert_null(value_of(e.list, "RETALLY_PAD"));
	assert_string_equal(value_of(e.list, "PMI_FD"), "7");
	child_environment_release(&e);
	unsetenv("PMIX_NAMESPACE");
	unsetenv("PMI_FD");
	unsetenv("PMI_RANK");
}

/* ---- whole jobs ---- */

#define RANKS 3
static int folder;
static char folder_name[] = "/tmp/retally-manager.XXXXXX";

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static enum manager_idle idle(void *context, uint64_t until)
{
	struct pollfd polls[MANAGER_POLLS];
	uint64_t now = now_ns();
	struct manager *m = context;
	int n = manager_polls(m, polls);

	poll(polls, (nfds_t)n, until > now ? (int)((until - now) / 1000000) + 1 : 0);
	manager_pump(m);
	return MANAGER_STAY;
}

static int open_rank(struct manager *m, struct manager_choice *c, int rank, struct error *err)
{
	struct manager_request q = {.choice = c,
				    .host = "here",
				    .folder = folder,
				    .wait_seconds = 60,
				    .owner = {idle, m}};

	c->meet = c->one_host = true;
	c->rank = rank;
	c->size = RANKS;
	snprintf(c->job, sizeof(c->job), "a job");
	return manager_open(m, &q, err);
}

/* Runs body as every rank but 0 in a process of its own and as rank 0 here; each returns 0 or what
 * went wrong. */
static void run_job(int (*body)(int rank))
{
	pid_t pids[RANKS];

	for (int i = 1; i < RANKS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i]) {
			alarm(100);
			_exit(body(i));
		}
	}
	assert_int_equal(body(0), 0);
	for (int i = 1; i < RANKS; i++) {
		int status = -1;

		waitpid(pids[i], &status, 0);
		assert_int_equal(status, 0);
	}
}

/* The program: says a line of PMI-1 and waits for an answer that begins so. */
static int talk(struct manager *m, int fd, const char *line, const char *answer)
{
	char text[256];

	if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		return -1;
	for (int i = 0; i < 400; i++) {
		ssize_t n;

		idle(m, now_ns() + 50000000);
		n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
		if (n <= 0)
			continue;
		text[n] = '\0';
		return strstr(text, answer) ? 0 : -1;
	}
	return -1;
}

static struct manager_vote vote_of(unsigned position, enum manager_reason reason)
{
	return (struct manager_vote){.go_on = !reason,
				     .reason = reason,
				     .position = position,
				     .completed = position,
				     .wanted = 2,
				     .wall_ns = position};
}

static int passes_body(int rank)
{
	struct manager_choice c = {.pmi = true};
	struct manager_vote vote;
	struct manager_verdict verdict;
	struct manager m;
	struct error err = {0};
	char line[80], text[200], wanted[32];

	if (open_rank(&m, &c, rank, &err))
		return 1;
	for (unsigned i = 0; i < 2; i++) {
		size_t at = 0;
		int fd;

		if (manager_begin(&m, i, i == 1, &err))
			return 2;
		fd = fcntl(m.child_end, F_DUPFD_CLOEXEC, 0);
		manager_forked(&m);
		snprintf(wanted, sizeof(wanted), "PMI_FD=%d", m.number);
		if (m.number < 100 || strcmp(manager_extra(&m, &at), wanted) != 0)
			return 3;
		/* Keys of this pass, seen by all. */
		snprintf(line, sizeof(line), "cmd=put kvsname=k key=r%d value=%u-%d\n", rank, i,
			 rank);
		if (talk(&m, fd, "cmd=init pmi_version=1 pmi_subversion=1\n", "rc=0") ||
		    talk(&m, fd, line, "rc=0") || talk(&m, fd, "cmd=barrier_in\n", "barrier_out"))
			return 4;
		snprintf(line, sizeof(line), "cmd=get kvsname=k key=r%d\n", (rank + 1) % RANKS);
		snprintf(wanted, sizeof(wanted), "value=%u-%d", i, (rank + 1) % RANKS);
		if (talk(&m, fd, line, wanted) || talk(&m, fd, "cmd=finalize\n", "finalize_ack"))
			return 5;
		close(fd);
		manager_ended(&m, 0, 0, false);
		if (!manager_end(&m, 0, 0))
			return 6;
		vote = vote_of(i + 1, i ? MANAGER_REASON_LAST : MANAGER_REASON_NONE);
		vote.wall_ns += (uint64_t)rank;
		manager_decide(&m, &vote, &verdict);
		if (verdict.go_on != (i == 0) || verdict.wall_ns != i + RANKS)
			return 7;
	}
	vote.completed -= rank == 2;
	manager_results(&m, &vote, text, sizeof(text));
	if (strcmp(text, rank ? "" : "rank 2 completed 1 of the 2 passes that others completed") !=
	    0)
		return 8;
	manager_finish(&m);
	manager_release(&m);
	return 0;
}

static void test_passes(void **state)
{
	(void)state;
	run_job(passes_body);
}

/* Until the job ends, and then for the moment that the launcher is given. */
static int wait_for(struct manager *m, enum manager_standing wanted)
{
	for (int i = 0; i < 400; i++) {
		uint64_t at;

		if (manager_verdict(m, now_ns(), &at) == wanted)
			return 0;
		idle(m, at ? at : now_ns() + 50000000);
	}
	return -1;
}

static int abort_body(int rank)
{
	struct manager_choice c = {.pmi = true};
	struct manager_vote vote = vote_of(1, MANAGER_REASON_NONE);
	struct manager_verdict verdict;
	struct manager m;
	struct error err = {0};

	if (open_rank(&m, &c, rank, &err) || manager_begin(&m, 0, false, &err))
		return 1;
	/* MPICH's MPI_Abort says this and waits to be ended. */
	if (rank == 1 && write(m.child_end, "cmd=abort exitcode=7\n", 21) != 21)
		return 2;
	if (wait_for(&m, MANAGER_ENDED) || m.job_status != 7)
		return 3;
	if (manager_end(&m, -1, SIGKILL))
		return 4;
	manager_decide(&m, &vote, &verdict);
	if (verdict.go_on || !strstr(verdict.why, "status 7"))
		return 5;
	manager_finish(&m);
	manager_release(&m);
	return 0;
}

static void test_abort(void **state)
{
	(void)state;
	run_job(abort_body);
}

static int timeout_body(int rank)
{
	struct manager_choice c = {.pmi = true};
	struct manager_vote vote = vote_of(1, MANAGER_REASON_TIMED_OUT);
	struct manager_verdict verdict;
	struct manager m;
	struct error err = {0};

	if (open_rank(&m, &c, rank, &err) || manager_begin(&m, 0, false, &err))
		return 1;
	if (rank == 1)
		manager_time_out(&m);
	if (wait_for(&m, MANAGER_TIMED_OUT))
		return 2;
	/* Killed by us: no reason to end the job. */
	manager_ended(&m, -1, SIGKILL, true);
	if (!manager_end(&m, -1, SIGKILL))
		return 3;
	manager_decide(&m, &vote, &verdict);
	if (verdict.go_on || !strstr(verdict.why, "met the time limit"))
		return 4;
	manager_finish(&m);
	manager_release(&m);
	return 0;
}

static void test_timeout(void **state)
{
	(void)state;
	run_job(timeout_body);
}

/* A rank that vanishes ends the job where there is one world, and the keeping of step elsewhere. */
static int lost_body(int rank, bool world)
{
	struct manager_choice c = {.pmi = world};
	struct manager_vote vote = vote_of(1, MANAGER_REASON_NONE);
	struct manager_verdict verdict;
	struct manager m;
	struct error err = {0};
	uint64_t at;

	if (open_rank(&m, &c, rank, &err) || manager_begin(&m, 0, false, &err))
		return 1;
	if (rank == 1)
		_exit(0);
	if (world && (wait_for(&m, MANAGER_ENDED) || m.job_status != 128 + SIGKILL))
		return 2;
	manager_decide(&m, &vote, &verdict);
	if (verdict.go_on || !strstr(verdict.why, "rank 1 is gone"))
		return 3;
	if (!world && manager_verdict(&m, now_ns() + 2 * MANAGER_GRACE_NS, &at) != MANAGER_RUNS)
		return 4;
	manager_finish(&m);
	manager_release(&m);
	return 0;
}

static int lost_world_body(int rank)
{
	return lost_body(rank, true);
}

static int lost_step_body(int rank)
{
	return lost_body(rank, false);
}

static void test_lost(void **state)
{
	(void)state;
	run_job(lost_world_body);
	run_job(lost_step_body);
}

/* What one rank lacks is told to all before any of them begins. */
static int not_ready_body(int rank)
{
	struct manager_choice c = {.pmix = true};
	struct manager m;
	struct error err = {0};

	if (open_rank(&m, &c, rank, &err))
		return 1;
	if (!manager_begin(&m, 0, false, &err) || !strstr(err.message, "rank 0 is not ready"))
		return 2;
	manager_go_alone(&m);
	return manager_is_open(&m) ? 3 : 0;
}

static void test_not_ready(void **state)
{
	(void)state;
	run_job(not_ready_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),    cmocka_unit_test(test_mode),
		cmocka_unit_test(test_votes),     cmocka_unit_test(test_environment),
		cmocka_unit_test(test_passes),    cmocka_unit_test(test_abort),
		cmocka_unit_test(test_timeout),   cmocka_unit_test(test_lost),
		cmocka_unit_test(test_not_ready),
	};
	int rc;

	if (!mkdtemp(folder_name))
		return 1;
	folder = open(folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	close(folder);
	rmdir(folder_name);
	return rc;
}
