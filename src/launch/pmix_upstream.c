/* SPDX-License-Identifier: Apache-2.0 */
/* A client of the launcher's PMIx server, for one call. */
#define LOG_DOMAIN "pmix"
#include "launch/pmix_upstream.h"

#include "base/log.h"
#include "launch/pmix_api.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* By then we have ended the job ourselves (MANAGER_GRACE_NS). */
#define UPSTREAM_SECONDS 4

bool pmix_upstream_is_wanted(void)
{
	const char *space = getenv("PMIX_NAMESPACE");

	/* mpirun within a step of Slurm has names of its own. */
	return space && !strncmp(space, "slurm.pmix.", 11);
}

static void upstream_wait(int from) __attribute__((noreturn));
static void upstream_wait(int from)
{
	struct pmix_api api;
	struct pmix_abi_proc me;
	struct error err = {0};
	int status, rc;
	ssize_t n;

	/* The supervisor sees the end of the server by the end of file. */
	if (from != 3 && dup2(from, 3) != 3)
		_exit(1);
	close_range(4, ~0u, 0);
	prctl(PR_SET_NAME, "retally-abort");
	do
		n = read(3, &status, sizeof(status));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(status))
		_exit(0);
	alarm(UPSTREAM_SECONDS);
	if (pmix_api_open(&api, NULL, &err)) {
		log_info("%s", err.message);
		_exit(1);
	}
	rc = api.PMIx_Init(&me, NULL, 0);
	if (rc == PMIX_ABI_SUCCESS)
		rc = api.PMIx_Abort(status, "MPI_Abort", NULL, 0);
	if (rc != PMIX_ABI_SUCCESS)
		log_info("the launcher's PMIx server was not told of an abort: %s",
			 api.PMIx_Error_string(rc));
	_exit(0);
}

int pmix_upstream_start(void)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -1;
	/* The reader waits, the writer never does. */
	fcntl(ends[0], F_SETFL, 0);
	pid = fork();
	if (!pid)
		upstream_wait(ends[0]);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return -1;
	}
	return ends[1];
}

void pmix_upstream_tell(int upstream, int status)
{
	while (write(upstream, &status, sizeof(status)) < 0 && errno == EINTR)
		;
}
