/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of a rank below a launcher. It knows itself by a variable that tells the rank,
 * which the launcher's own processes do not have, and by ours, which end here: the command and the
 * program below it do not see them any more, so nothing is counted twice.
 */
#include "inject/rank.h"

#include "inject/state.h"
#include "wire/identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEPARATOR '\037' /* as in launch/launcher.c */

static const char *rank_get(void *context, const char *name)
{
	return state_variable(context, name);
}

bool rank_is_wanted(char *const *envp)
{
	const char *command = state_variable(envp, "RETALLY_LAUNCHER");

	return command && *command;
}

/* A Slurm step has no variable of an MPI launch with --mpi=none, and the step that the launcher
 * itself was started in has SLURM_PROCID as well: a rank is in another step than that. */
static bool rank_is_slurm_task(char *const *envp)
{
	const char *job = state_variable(envp, "SLURM_JOB_ID");
	const char *step = state_variable(envp, "SLURM_STEP_ID");
	const char *outer = state_variable(envp, "RETALLY_LAUNCHER_STEP");
	char here[128];

	if (!state_variable(envp, "SLURM_PROCID") || !step || !outer)
		return false;
	snprintf(here, sizeof(here), "%.60s.%.60s", job ? job : "", step);
	return strcmp(here, outer) != 0;
}

bool rank_is_here(char *const *envp)
{
	return identity_in_mpi_rank_from(rank_get, (void *)(uintptr_t)envp) ||
	       rank_is_slurm_task(envp);
}

static bool rank_hides(const char *entry)
{
	static const char *const ours[] = {
		"RETALLY_LAUNCHER=", "RETALLY_LAUNCHER_ARGS=", "RETALLY_LAUNCHER_STEP=",
		"RETALLY_PASS=", "RETALLY_PASSES="};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (!strncmp(entry, ours[i], strlen(ours[i])))
			return true;
	}
	return false;
}

/* What the launcher was started with, without what was put there for us: the library is the first
 * word of LD_PRELOAD. */
static char **rank_environment(char *const *envp, struct error *err)
{
	size_t n = 0, kept = 0;
	char **list;

	while (envp[n])
		n++;
	list = calloc(n + 1, sizeof(*list));
	if (!list) {
		error_set(err, RC_NO_MEMORY, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const char *rest;
		char *entry = envp[i];

		if (rank_hides(entry))
			continue;
		if (!strncmp(entry, "LD_PRELOAD=", 11)) {
			rest = strpbrk(entry + 11, ": ");
			if (!rest)
				continue;
			entry = malloc(strlen(rest) + 12);
			if (!entry) {
				error_set(err, RC_NO_MEMORY, "out of memory");
				return NULL; /* the exec failed, and so little is not worth more */
			}
			snprintf(entry, strlen(rest) + 12, "LD_PRELOAD=%s", rest + 1);
		}
		list[kept++] = entry;
	}
	return list;
}

/* The words of the command, then the program's own. */
static char **rank_arguments(char *const *argv, char *const *envp, const char *name,
			     struct error *err)
{
	const char *command = state_variable(envp, "RETALLY_LAUNCHER");
	const char *words = state_variable(envp, "RETALLY_LAUNCHER_ARGS");
	const char *pass = state_variable(envp, "RETALLY_PASS");
	char *copy = words ? strdup(words) : NULL, **list, *word;
	size_t n = 1, argc = 0, at = 0;

	if (!copy) {
		error_set(err, RC_INVALID, "RETALLY_LAUNCHER_ARGS is missing");
		return NULL;
	}
	while (argv[argc])
		argc++;
	for (const char *c = copy; *c; c++)
		n += *c == SEPARATOR;
	list = calloc(n + argc + 5, sizeof(*list));
	if (!list) {
		error_set(err, RC_NO_MEMORY, "out of memory");
		return NULL;
	}
	list[at++] = (char *)(uintptr_t)command;
	for (word = copy; word;) {
		char *end = strchr(word, SEPARATOR);

		if (end)
			*end++ = '\0';
		list[at++] = word;
		word = end;
	}
	if (!strcmp(list[at - 1], "--pass")) {
		if (!pass) {
			error_set(err, RC_INVALID, "RETALLY_PASS is missing");
			return NULL;
		}
		list[at++] = (char *)(uintptr_t)pass;
	}
	list[at++] = (char *)(uintptr_t) "--";
	/* A name without a folder was looked up by the launcher, in its own way. */
	list[at++] = argc && strchr(argv[0], '/') ? argv[0] : (char *)(uintptr_t)name;
	for (size_t i = 1; i < argc; i++)
		list[at++] = argv[i];
	return list;
}

int rank_execute(char *const *argv, char *const *envp, const char *name, struct error *err)
{
	char **arguments = rank_arguments(argv, envp, name, err);
	char **environment = arguments ? rank_environment(envp, err) : NULL;

	if (!environment)
		return err->code;
	syscall(SYS_execve, arguments[0], arguments, environment);
	error_set_errno(err, 0, errno, "cannot execute '%s'", arguments[0]);
	return err->code;
}
