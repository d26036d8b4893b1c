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
	e->variables = calloc(n + 1, sizeof(*e->variables));
	if (!e->variables)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "RETALLY_PASS=", 13) &&
		    strncmp(environ[i], "RETALLY_PASSES=", 15) &&
		    strncmp(environ[i], "RETALLY_PAD=", 12))
			e->variables[kept++] = environ[i];
	e->n_own = kept;
	return 0;
}

void child_environment_hide(struct child_environment *e,
			    bool (*hides)(const void *context, const char *entry),
			    const void *context)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->n_own; i++)
		if (!hides(context, e->variables[i]))
			e->variables[kept++] = e->variables[i];
	e->n_own = kept;
}

static bool child_is_replaced(const char *entry, const char *const *extras, size_t n)
{
	size_t name = strcspn(entry, "=") + 1;

	for (size_t i = 0; i < n; i++)
		if (!strncmp(entry, extras[i], name))
			return true;
	return false;
}

#define CHILD_PAD      "RETALLY_PAD="
#define CHILD_PAD_ROOM 64 /* by which later passes may need more */

/* As long in every pass: a process manager's variables hold port numbers and process ids. */
static int child_pad(struct child_environment *e, size_t bytes, struct error *err)
{
	size_t fill;

	free(e->pad);
	if (!e->room)
		e->room = bytes + CHILD_PAD_ROOM;
	fill = e->room > bytes ? e->room - bytes : 0;
	e->pad = malloc(sizeof(CHILD_PAD) + fill);
	if (!e->pad)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	memcpy(e->pad, CHILD_PAD, sizeof(CHILD_PAD) - 1);
	memset(e->pad + sizeof(CHILD_PAD) - 1, '-', fill);
	e->pad[sizeof(CHILD_PAD) - 1 + fill] = '\0';
	return 0;
}

int child_environment_set(struct child_environment *e, uint32_t pass, uint32_t passes,
			  const char *const *extras, size_t n_extras, struct error *err)
{
	size_t kept = 0, bytes = 0;

	free(e->list);
	e->list = calloc(e->n_own + n_extras + 4, sizeof(*e->list));
	if (!e->list)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	snprintf(e->pass, sizeof(e->pass), "RETALLY_PASS=%04u", pass);
	snprintf(e->passes, sizeof(e->passes), "RETALLY_PASSES=%04u", passes);
	for (size_t i = 0; i < e->n_own; i++)
		if (!child_is_replaced(e->variables[i], extras, n_extras))
			e->list[kept++] = e->variables[i];
	for (size_t i = 0; i < n_extras; i++) {
		e->list[kept++] = (char *)(uintptr_t)extras[i];
		bytes += strlen(extras[i]);
	}
	e->list[kept++] = e->pass;
	e->list[kept++] = e->passes;
	if (!n_extras)
		return 0;
	if (child_pad(e, bytes, err))
		return RC_NO_MEMORY;
	e->list[kept] = e->pad;
	return 0;
}

void child_environment_release(struct child_environment *e)
{
	free(e->variables);
	free(e->list);
	free(e->pad);
	memset(e, 0, sizeof(*e));
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
	if (c->pmi >= 0 && dup2(c->pmi, c->pmi_number) < 0)
		child_fail(c, errno);
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
