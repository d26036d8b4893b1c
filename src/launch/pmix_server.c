/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMIx server: a process that stays, and for each pass a child of it that has libpmix and talks
 * to the supervisor over the same socket, while the first one waits for it. A fresh process for
 * each pass, because with one libpmix for all of them (4.2.2) ranks of a later pass hung in
 * MPI_Init after passes that did not finalize. The cause was not proven; with a fresh process it
 * was not seen.
 *
 * libpmix calls us in a thread of its own; all that its calls do is to queue what happened.
 */
#define LOG_DOMAIN "pmix"
#include "launch/pmix_server.h"

#include "base/log.h"
#include "launch/pmix_environment.h"
#include "launch/pmix_server_internal.h"
#include "launch/pmix_upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct pmix_server pmix_server;

static int server_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

static void server_remove(char *folder)
{
	if (folder[0])
		nftw(folder, server_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	folder[0] = '\0';
}

void pmix_server_exit(int status)
{
	server_remove(pmix_server.folder);
	_exit(status);
}

void pmix_server_fail(int code, const char *text)
{
	struct pmix_message m = {
		.type = PMIX_MESSAGE_FAILED, .size = (uint32_t)strlen(text) + 1, .a = code};

	pmix_link_send(&pmix_server.link, &m, text, 1000);
	pmix_server_exit(1);
}

void pmix_server_reply(enum pmix_message_type type, int a, int b, const void *payload, size_t n)
{
	struct pmix_message m = {.type = (uint32_t)type, .size = (uint32_t)n, .a = a, .b = b};

	/* No limit: a supervisor that was stopped takes it when it is continued. */
	if (!pmix_link_send(&pmix_server.link, &m, payload, -1))
		pmix_server_exit(0);
}

/* ---- the children ---- */

static void child_probe(int unused)
{
	struct error err = {0};

	(void)unused;
	if (pmix_api_open(&pmix_server.api, pmix_server.program[0] ? pmix_server.program : NULL,
			  &err))
		pmix_server_fail(err.code, err.message);
	log_info("'%s', OpenPMIx %u.%u, serves %d of %d ranks", pmix_server.api.path,
		 pmix_server.api.major, pmix_server.api.minor, pmix_server.job.n_local,
		 pmix_server.job.size);
	pmix_server_reply(PMIX_MESSAGE_OPENED, (int)pmix_server.api.major,
			  (int)pmix_server.api.minor, pmix_server.api.path,
			  strlen(pmix_server.api.path) + 1);
}

/* False: it was stuck before it began. */
static bool server_in_child(void (*work)(int), int index)
{
	pid_t parent = getpid(), pid = fork();
	char text[100];
	int status = 0;

	if (pid < 0)
		pmix_server_fail(RC_ERROR, "the PMIx server cannot start a process");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(PMIX_PASS_LEFT);
		work(index);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	server_remove(pmix_server.folder);
	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text), "the PMIx server died of signal %d", WTERMSIG(status));
		pmix_server_fail(RC_ERROR, text);
	}
	if (WEXITSTATUS(status) == PMIX_PASS_STUCK)
		return false;
	if (status)
		pmix_server_exit(1); /* it said why, or there is nobody to tell */
	return true;
}

/* ---- the process that stays ---- */

static void server_open(const struct pmix_message *m, const char *payload)
{
	size_t at = 0;
	const char *name = pmix_link_string(payload, m->size, &at);
	const char *program = pmix_link_string(payload, m->size, &at), **hosts;
	struct error err = {0};
	int n = 0;

	if (m->a < 1 || !name || !program || pmix_server.job.size)
		pmix_server_fail(RC_INVALID, "the PMIx server was opened wrongly");
	hosts = calloc((size_t)m->a, sizeof(*hosts));
	while (hosts && n < m->a && (hosts[n] = pmix_link_string(payload, m->size, &at)))
		n++;
	if (n != m->a || pmix_job_init(&pmix_server.job, hosts, n, m->b, &err))
		pmix_server_fail(RC_INVALID, err.code ? err.message : "a host name is missing");
	free(hosts);
	pmix_server.upstream = pmix_upstream_is_wanted() ? pmix_upstream_start() : -1;
	pmix_environment_clean();
	/* No key service is needed: only processes of our user connect. */
	setenv("PMIX_MCA_psec", "native", 1);
	snprintf(pmix_server.name, sizeof(pmix_server.name), "%s", name);
	if (strlen(program) < sizeof(pmix_server.program))
		memcpy(pmix_server.program, program, strlen(program) + 1);
	server_in_child(child_probe, 0);
}

static void server_make_folder(void)
{
	const char *base = getenv("TMPDIR");
	struct error err = {0};

	snprintf(pmix_server.folder, sizeof(pmix_server.folder), "%.200s/retally-pmix.XXXXXX",
		 base && *base && strlen(base) < 200 ? base : "/tmp");
	if (mkdtemp(pmix_server.folder))
		return;
	error_set_errno(&err, RC_IO, errno, "cannot make '%s'", pmix_server.folder);
	pmix_server.folder[0] = '\0';
	pmix_server_fail(err.code, err.message);
}

static void server_pass(int index)
{
	char text[100];

	if (!pmix_server.job.size)
		pmix_server_fail(RC_INVALID, "a pass was begun before the PMIx server was opened");
	server_make_folder();
	if (!server_in_child(pmix_pass_run, index)) {
		log_info("libpmix was stuck in its start; once more in a fresh process");
		server_make_folder();
		if (!server_in_child(pmix_pass_run, index)) {
			snprintf(text, sizeof(text),
				 "libpmix: PMIx_server_init did not end within %d s, twice",
				 PMIX_SERVER_STEP_MS / 1000);
			pmix_server_fail(RC_ERROR, text);
		}
	}
	pmix_server_reply(PMIX_MESSAGE_ENDED, 0, 0, NULL, 0);
}

/* Alone with the socket: nothing of the run's descriptors may stay open because of us, and what is
 * meant for the program or for the supervisor must not end us before they are done. */
static void server_isolate(int socket)
{
	static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
				      SIGUSR1, SIGUSR2, SIGTSTP, SIGTTOU, SIGTTIN};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;
	int null;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		sigaction(ignored[i], &ignore, NULL);
	sigaction(SIGALRM, &plain, NULL);
	sigaction(SIGCHLD, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A launcher that kills a job kills its process group: the folder would stay. We go by
	 * ourselves, by the end of file. */
	setpgid(0, 0);
	prctl(PR_SET_NAME, "retally-pmix");
	pmix_server.link.fd = fcntl(socket, F_DUPFD_CLOEXEC, 3);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (pmix_server.link.fd < 0 || null < 0)
		_exit(1);
	dup2(null, 0);
	dup2(null, 1);
	dup2(pmix_server.link.fd, 3);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	pmix_server.link.fd = 3;
	close_range(4, ~0u, 0);
}

void pmix_server_run(int socket)
{
	struct pmix_message m;
	const char *payload;

	server_isolate(socket);
	while (pmix_link_wait(&pmix_server.link, &m, &payload, -1) > 0) {
		if (m.type == PMIX_MESSAGE_OPEN)
			server_open(&m, payload);
		else if (m.type == PMIX_MESSAGE_BEGIN)
			server_pass(m.a);
		else if (m.type != PMIX_MESSAGE_FENCE_DONE) /* late: of a pass that has ended */
			pmix_server_fail(RC_INVALID, "the PMIx server got a wrong message");
	}
	pmix_server_exit(0);
}
