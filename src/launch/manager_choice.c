/* SPDX-License-Identifier: Apache-2.0 */
/* Which process manager a rank's program gets. */
#include "launch/manager_choice.h"

#include "launch/pmix_environment.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define OTHER_WAYS                                                                                 \
	"--distribute rank (passes dealt over the ranks), --pass K (one pass in each launch) and " \
	"`retally run ... -- LAUNCHER ...` (around the launcher) work here"

int manager_mode_parse(const char *text, enum manager_mode *mode, struct error *err)
{
	static const char *const names[] = {"auto", "relay", "server", "none"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i])) {
			*mode = (enum manager_mode)i;
			return 0;
		}
	return error_set(err, RC_INVALID, "--mpi: '%s' is not auto, relay, server or none", text);
}

static const char *choice_value(identity_get *get, void *context, const char *name)
{
	const char *value = get(context, name);

	return value && *value ? value : NULL;
}

static bool choice_is(identity_get *get, void *context, const char *name, long wanted)
{
	const char *value = choice_value(get, context, name);

	return value && wanted >= 0 && strtol(value, NULL, 10) == wanted;
}

/* Slurm's words hold for a step of its own only; below another launcher they are the batch step's,
 * whose size is another one. */
static bool choice_one_host(const struct manager_choice *c, identity_get *get, void *context)
{
	return c->size == 1 || choice_is(get, context, "MPI_LOCALNRANKS", c->size) ||
	       choice_is(get, context, "OMPI_COMM_WORLD_LOCAL_SIZE", c->size) ||
	       (choice_is(get, context, "SLURM_STEP_NUM_NODES", 1) &&
		choice_is(get, context, "SLURM_STEP_NUM_TASKS", c->size) &&
		choice_is(get, context, "SLURM_PROCID", c->rank));
}

/* What meeting takes. */
static int choice_check_place(const struct manager_choice *c, const char *from, bool port,
			      struct error *err)
{
	if (c->rank == SPOOL_RANK_NONE)
		return error_set(err, RC_UNSUPPORTED,
				 "this is a process of an MPI job (%s) and its rank is not known: "
				 "several passes are not possible then; set RETALLY_RANK and "
				 "RETALLY_SIZE in each process. " OTHER_WAYS,
				 from);
	if (c->size == SPOOL_RANK_NONE && !port)
		return error_set(
			err, RC_UNSUPPORTED,
			"this is rank %d of an MPI job (%s) and the number of ranks is not "
			"known: several passes are not possible then; set RETALLY_RANK and "
			"RETALLY_SIZE in each process. " OTHER_WAYS,
			c->rank, from);
	if (!c->job[0] && c->size != 1)
		return error_set(
			err, RC_UNSUPPORTED,
			"this is rank %d of an MPI job (%s) and nothing names its launch: "
			"set RETALLY_JOB to a text that is the same in all ranks and in no "
			"other launch. " OTHER_WAYS,
			c->rank, from);
	return 0;
}

static int choice_refuse(const struct manager_choice *c, const char *from, struct error *err)
{
	return error_set(err, RC_UNSUPPORTED,
			 "this is rank %d of an MPI job (%s) whose process manager is none that a "
			 "program can be run under several times (PMI_FD, PMI_PORT, "
			 "PMIX_NAMESPACE): --mpi server offers the program one of our own, --mpi "
			 "none is for a program that does not use MPI. " OTHER_WAYS,
			 c->rank, from);
}

/* Whose rank it is where no process manager shows itself: one under which Open MPI is started. */
static bool choice_is_pmix_launcher(const char *from)
{
	return !strncmp(from, "OMPI_", 5) || !strncmp(from, "JSM_", 4) ||
	       !strncmp(from, "PMIX_", 5);
}

/* What launchers do was tried: Open MPI's mpirun, hydra, Slurm's two plugins. */
static void choice_unfinished(struct manager_choice *c, enum manager_mode mode, bool relay,
			      identity_get *get, void *context)
{
	if (mode == MANAGER_SERVER)
		return;
	if (relay && choice_value(get, context, "MPI_LOCALRANKID")) {
		c->vanished = 128 + SIGKILL;
	} else if (!relay && choice_value(get, context, "OMPI_COMM_WORLD_RANK")) {
		c->vanished = c->unfinished = 1;
	} else if (!relay && choice_value(get, context, "PMIX_NAMESPACE")) {
		c->vanished = 128 + SIGKILL;
	}
}

int manager_choose(enum manager_mode mode, const struct identity *id, const char *job, bool socket,
		   identity_get *get, void *context, struct manager_choice *c, struct error *err)
{
	const char *from = identity_in_mpi_rank_from(get, context);
	bool port = choice_value(get, context, "PMI_PORT") != NULL;
	bool relay = socket || port;

	*c = (struct manager_choice){.rank = id->rank, .size = id->size};
	snprintf(c->job, sizeof(c->job), "%s", job);
	c->one_host = choice_one_host(c, get, context);
	c->together = choice_value(get, context, "MPI_LOCALRANKID") && /* hydra */
		      !choice_value(get, context, "OMPI_COMM_WORLD_RANK");
	if (mode == MANAGER_RELAY && !relay)
		return error_set(err, RC_UNSUPPORTED,
				 "--mpi relay: the launcher offers this process no PMI (PMI_FD is "
				 "no open socket and PMI_PORT is not set)");
	if (mode == MANAGER_SERVER && id->rank == SPOOL_RANK_NONE && !from)
		return error_set(err, RC_UNSUPPORTED,
				 "--mpi server: this process is no rank of a job (nothing says its "
				 "rank; RETALLY_RANK and RETALLY_SIZE can)");
	/* Worlds of their own, which keep step where that is possible. */
	if (mode == MANAGER_NONE || (mode == MANAGER_AUTO && !from)) {
		c->meet = c->rank != SPOOL_RANK_NONE && c->size > 1 && c->job[0];
		return 0;
	}
	if (!from)
		from = id->rank_from;
	choice_unfinished(c, mode, relay, get, context);
	if (mode != MANAGER_SERVER && relay)
		c->relay = true;
	else if (mode == MANAGER_SERVER)
		c->pmi = c->pmix = true;
	else if (choice_value(get, context, "PMIX_NAMESPACE") || choice_is_pmix_launcher(from))
		c->pmix = true;
	else
		return choice_refuse(c, from, err);
	c->meet = true;
	if (!c->job[0] && c->size == 1)
		snprintf(c->job, sizeof(c->job), "one rank");
	return choice_check_place(c, from, c->relay && !socket, err);
}

static const char *choice_getenv(void *context, const char *name)
{
	(void)context;
	return getenv(name);
}

int manager_choose_here(enum manager_mode mode, const struct identity *identity,
			struct manager_choice *choice, struct error *err)
{
	const char *fd = getenv("PMI_FD");
	char job[JOB_NAME_SIZE], *end = NULL;
	int type;
	socklen_t n = sizeof(type);
	long number = fd ? strtol(fd, &end, 10) : -1;

	job_name(job);
	return manager_choose(mode, identity, job,
			      number >= 0 && !*end && number < 1 << 20 &&
				      !getsockopt((int)number, SOL_SOCKET, SO_TYPE, &type, &n),
			      choice_getenv, NULL, choice, err);
}

static bool choice_names(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(entry, name, n) && entry[n] == '=';
}

bool manager_hides(const struct manager_choice *c, const char *entry)
{
	if (c->pmi || c->pmix)
		return pmix_environment_is_launchers(entry);
	if (c->relay)
		return choice_names(entry, "PMI_FD") || choice_names(entry, "PMI_PORT") ||
		       choice_names(entry, "PMI_ID");
	return false;
}
