/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command line for the PMIx server alone, for tests: plays the supervisors of all ranks of a job,
 * on one node or on several made-up ones, and runs a program once per pass. A pass that a rank
 * leaves badly is ended for all ranks after a moment, as supervisors do.
 *
 *   pmix_driver [-n RANKS] [-N NODES] [-P PASSES] [-s SIGNAL] [-w SECONDS] PROGRAM ARGS
 *
 * -s sends the server a signal before the second pass, -w is the time limit of a pass. Writes
 * "pass K rank R exit S", "... signal S" and "pass K aborted by R status S" to stderr. Exits with
 * the abort's status, else with that of the first rank that failed (128 + signal), 124 for a time
 * limit, 125 when the server failed.
 */
#include "launch/pmix_environment.h"
#include "launch/pmix_service.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS_MAX 64
#define GRACE_MS  1000 /* for the other ranks, after one that failed */

struct node {
	struct pmix_service service;
	struct str fence; /* what it gave */
	bool fenced;
	const char *variables;
	size_t size;
	struct driver *driver;
};
static struct driver {
	int ranks, nodes, passes;
	char hosts[RANKS_MAX][32];
	const char *host_list[RANKS_MAX];
	struct node node[RANKS_MAX];
	pid_t children[RANKS_MAX];
	int alive;
	int status; /* to exit with */
	int64_t kill_at;
} driver;

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void driver_fail(const char *text) __attribute__((noreturn));
static void driver_fail(const char *text)
{
	fprintf(stderr, "pmix_driver: %s\n", text);
	for (int i = 0; i < driver.ranks; i++)
		if (driver.children[i] > 0)
			kill(driver.children[i], SIGKILL);
	while (driver.alive > 0 && wait(NULL) > 0)
		driver.alive--;
	for (int i = 0; i < driver.nodes; i++) {
		if (driver.node[i].service.pid)
			kill(driver.node[i].service.pid, SIGCONT);
		pmix_service_stop(&driver.node[i].service);
	}
	exit(125);
}

static void end_soon(int status)
{
	if (!driver.status)
		driver.status = status;
	if (!driver.kill_at)
		driver.kill_at = now_ms() + GRACE_MS;
}

/* The exchange: when all nodes gave their part, each gets all. */
static int on_fence(void *data, const void *bytes, size_t n, struct error *err)
{
	struct node *mine = data;
	struct str all = STR_INIT;

	if (mine->fenced)
		return error_set(err, RC_INVALID, "a node is in two fences");
	mine->fenced = true;
	str_clear(&mine->fence);
	str_add_bytes(&mine->fence, bytes, n);
	for (int i = 0; i < driver.nodes; i++) {
		if (!driver.node[i].fenced)
			goto out;
		str_add_bytes(&all, driver.node[i].fence.text, driver.node[i].fence.size);
	}
	for (int i = 0; i < driver.nodes; i++) {
		driver.node[i].fenced = false;
		if (pmix_service_fence_done(&driver.node[i].service, 0, all.text, all.size, err))
			break;
	}
out:
	str_release(&all);
	return err->code;
}

static void start_rank(int rank, int pass, char **argv)
{
	const struct node *node = &driver.node[rank % driver.nodes];
	const char *direct = pmix_environment_direct(), *v;
	pid_t parent = getpid();
	char text[24];
	size_t at = 0;

	driver.children[rank] = fork();
	if (driver.children[rank] < 0)
		driver_fail("cannot start a process");
	driver.alive++;
	if (driver.children[rank])
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	pmix_environment_clean();
	while ((v = pmix_service_variable(node->variables, node->size, rank / driver.nodes, &at)))
		putenv(strdup(v));
	if (direct)
		putenv(strdup(direct));
	snprintf(text, sizeof(text), "%04d", pass);
	setenv("RETALLY_PASS", text, 1);
	execvp(argv[0], argv);
	fprintf(stderr, "pmix_driver: cannot execute '%s'\n", argv[0]);
	_exit(127);
}

static void reap(int pass)
{
	int status, rank = 0;
	pid_t pid;

	for (int i = 0; i < driver.ranks; i++) {
		if (driver.children[i] <= 0)
			continue;
		pid = waitpid(driver.children[i], &status, WNOHANG);
		if (pid <= 0)
			continue;
		rank = i;
		driver.children[i] = 0;
		driver.alive--;
		if (WIFSIGNALED(status))
			fprintf(stderr, "pass %d rank %d signal %d\n", pass, rank,
				WTERMSIG(status));
		else
			fprintf(stderr, "pass %d rank %d exit %d\n", pass, rank,
				WEXITSTATUS(status));
		if (status)
			end_soon(WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						     : WEXITSTATUS(status));
	}
}

static void serve(int pass)
{
	struct pollfd polls[RANKS_MAX];
	struct pmix_news news;
	enum pmix_event e;

	for (int i = 0; i < driver.nodes; i++)
		polls[i] = (struct pollfd){.fd = pmix_service_fd(&driver.node[i].service),
					   .events = POLLIN};
	poll(polls, (nfds_t)driver.nodes, 5);
	for (int i = 0; i < driver.nodes; i++) {
		while ((e = pmix_service_pump(&driver.node[i].service, &news)) != PMIX_NOTHING) {
			if (e == PMIX_LOST)
				driver_fail(news.text);
			if (e == PMIX_VANISHED)
				continue; /* what it ended with is told when it is reaped */
			fprintf(stderr, "pass %d aborted by %d status %d\n", pass, news.rank,
				news.status);
			driver.status = news.status ? news.status : 1;
			end_soon(driver.status);
		}
	}
}

static void run_pass(int pass, double limit, char **argv)
{
	int64_t limit_at = limit > 0 ? now_ms() + (int64_t)(limit * 1000) : 0;
	struct error err = {0};

	driver.kill_at = 0;
	for (int i = 0; i < driver.nodes; i++)
		if (pmix_service_begin(&driver.node[i].service, (unsigned)pass - 1,
				       &driver.node[i].variables, &driver.node[i].size, &err))
			driver_fail(err.message);
	for (int i = 0; i < driver.ranks; i++)
		start_rank(i, pass, argv);
	while (driver.alive) {
		serve(pass);
		reap(pass);
		if (limit_at && now_ms() > limit_at) {
			fprintf(stderr, "pass %d timed out\n", pass);
			driver.status = 124;
			driver.kill_at = now_ms() - 1;
			limit_at = 0;
		}
		if (driver.kill_at && now_ms() > driver.kill_at)
			for (int i = 0; i < driver.ranks; i++)
				if (driver.children[i] > 0)
					kill(driver.children[i], SIGKILL);
	}
	serve(pass); /* an abort may come after the end of who made it */
	for (int i = 0; i < driver.nodes; i++) {
		driver.node[i].fenced = false;
		if (pmix_service_end(&driver.node[i].service, &err))
			driver_fail(err.message);
	}
}

static void open_nodes(const char *program)
{
	struct error err = {0};
	char name[64];

	snprintf(name, sizeof(name), "driver-%d", (int)getpid());
	gethostname(driver.hosts[0], sizeof(driver.hosts[0]) - 1);
	for (int i = 0; i < driver.ranks; i++) {
		if (driver.nodes > 1)
			snprintf(driver.hosts[i], sizeof(driver.hosts[i]), "node%d",
				 i % driver.nodes);
		else if (i)
			memcpy(driver.hosts[i], driver.hosts[0], sizeof(driver.hosts[i]));
		driver.host_list[i] = driver.hosts[i];
	}
	for (int i = 0; i < driver.nodes; i++)
		if (pmix_service_start(&driver.node[i].service, &err))
			driver_fail(err.message);
	for (int i = 0; i < driver.nodes; i++) {
		struct pmix_service_job job = {.name = name,
					       .program = program,
					       .hosts = driver.host_list,
					       .size = driver.ranks,
					       .rank = i,
					       .exchange = {on_fence, &driver.node[i]}};

		if (pmix_service_open(&driver.node[i].service, &job, &err))
			driver_fail(err.message);
	}
	fprintf(stderr, "library %s version %u.%u\n", driver.node[0].service.library,
		driver.node[0].service.major, driver.node[0].service.minor);
}

int main(int argc, char **argv)
{
	double limit = 0;
	int c, signal = 0;

	driver.ranks = 4;
	driver.nodes = driver.passes = 1;
	while ((c = getopt(argc, argv, "+n:N:P:s:w:")) != -1) {
		if (c == 'n')
			driver.ranks = atoi(optarg);
		else if (c == 'N')
			driver.nodes = atoi(optarg);
		else if (c == 'P')
			driver.passes = atoi(optarg);
		else if (c == 's')
			signal = atoi(optarg);
		else if (c == 'w')
			limit = strtod(optarg, NULL);
		else
			return 2;
	}
	if (optind == argc || driver.ranks < 1 || driver.ranks > RANKS_MAX || driver.nodes < 1 ||
	    driver.nodes > driver.ranks)
		return 2;
	open_nodes(argv[optind]);
	for (int pass = 1; pass <= driver.passes && !driver.status; pass++) {
		if (signal && pass == 2)
			kill(driver.node[0].service.pid, signal);
		run_pass(pass, limit, argv + optind);
	}
	for (int i = 0; i < driver.nodes; i++)
		pmix_service_stop(&driver.node[i].service);
	return driver.status;
}
