/* SPDX-License-Identifier: Apache-2.0 */
/* From fork to exec. */
#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

int child_environment_init(struct child_environment *e, struct error *err)
{
	size_t n = 0, kept = 0;

	memset(e, 0, sizeof(*e));
	while (environ && environ[n])
		n++;
	e->variables = calloc(n + 3, sizeof(*e->variables));
	if (!e->variables)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "RETALLY_PASS=", 13) &&
		    strncmp(environ[i], "RETALLY_PASSES=", 15))
			e->variables[kept++] = environ[i];
	e->variables[kept++] = e->pass;
	e->variables[kept] = e->passes;
	return 0;
}

void child_environment_set(struct child_environment *e, uint32_t pass, uint32_t passes)
{
	snprintf(e->pass, sizeof(e->pass), "RETALLY_PASS=%04u", pass);
	snprintf(e->passes, sizeof(e->passes), "RETALLY_PASSES=%04u", passes);
}

void child_environment_release(struct child_environment *e)
{
	free(e->variables);
	e->variables = NULL;
}

static void child_fail(const struct child *c, int error) __attribute__((noreturn));
static void child_fail(const struct child *c, int error)
{
	ssize_t n;

	do
		n = write(c->failure, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	_exit(127);
}

void child_run(const struct child *c)
{
	char go;
	ssize_t n;

	/* Should the supervisor be killed: the program's first process goes by this, the others by
	 * the caller's hand. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != c->supervisor)
		_exit(127);
	do
		n = read(c->go, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	for (int i = 0; i < 3; i++) {
		if (c->closed[i])
			close(i);
		else if (c->streams[i] >= 0 && dup2(c->streams[i], i) < 0)
			child_fail(c, errno);
	}
	if (c->folder >= 0 && fchdir(c->folder))
		child_fail(c, errno);
	if (c->no_aslr) {
		/* The supervisor tried it: a refusal was reported already. */
		int now = personality(0xffffffff);

		if (now >= 0)
			personality((unsigned long)now | ADDR_NO_RANDOMIZE);
	}
	sigaction(SIGCHLD, &c->on_child, NULL);
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
	program_execute(c->program, c->environment, c->folder >= 0);
	child_fail(c, errno);
}
