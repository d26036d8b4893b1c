/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program of a rank needs so that it can run once per pass inside one launch: which
 * process manager its MPI talks to, and whether the supervisors of the launch meet (launch/star.h).
 * A pure decision over the environment; launch/manager.h does it.
 *
 * An MPI library cannot begin twice under the launcher's own process manager: MPICH's socket is
 * shut down by MPI_Finalize, Open MPI's slot of the rank is taken. Hence, for `auto`:
 *
 *   PMI_FD (an open socket) or PMI_PORT   relay of PMI-1 and PMI-2 (pmi_relay.h): hydra, srun
 *                                         --mpi=pmi2
 *   PMIX_NAMESPACE, or the rank is known from Open MPI or jsrun   a PMIx server of ours
 *                                         (pmix_service.h): mpirun, srun --mpi=pmix
 *   a rank of Slurm or RETALLY_RANK alone   nothing: each process is a world of its own, as without
 *                                         us; the ranks keep step if their launch has a name
 *   a rank of another MPI launcher        refused with the ways that work
 *
 * `relay` and `none` insist; `server` offers a PMI-1 and a PMIx server of ours at the same time,
 * and so makes one world of all ranks wherever rank and size are known.
 */
#ifndef RETALLY_LAUNCH_MANAGER_CHOICE_H
#define RETALLY_LAUNCH_MANAGER_CHOICE_H

#include "base/error.h"
#include "launch/job.h"
#include "wire/identity.h"

#include <stdbool.h>

enum manager_mode {
	MANAGER_AUTO = 0,
	MANAGER_RELAY,
	MANAGER_SERVER,
	MANAGER_NONE,
};

struct manager_choice {
	bool meet;     /* the supervisors of all ranks meet and keep step */
	bool relay;    /* PMI of the launcher, relayed */
	bool pmi;      /* a PMI-1 server of ours */
	bool pmix;     /* a PMIx server of ours */
	bool one_host; /* all ranks are known to be on this machine */
	/* Of a program that began MPI, exited with 0 and never finalized: the launcher ends a job
	 * in which others still run with `vanished`, one in which all did so with `unfinished`; as
	 * of an exit, 0: it does not mind. */
	int vanished, unfinished;
	/* The launcher kills the ranks of a node once it sees the first of them dead of a signal:
	 * after an interrupt they are to end at the same moment. */
	bool together;
	int32_t rank, size; /* size SPOOL_RANK_NONE: PMI_PORT will tell */
	char job[JOB_NAME_SIZE];
};

/* auto, relay, server or none. RC_INVALID with one sentence. */
int manager_mode_parse(const char *text, enum manager_mode *mode_out, struct error *err);
/* For a run of several passes. `job` names the launch ("": unknown); `socket` says that PMI_FD is
 * an open socket. All fields false: no rank, or one that needs nothing. RC_UNSUPPORTED: several
 * passes are not possible, with the ways that are. */
int manager_choose(enum manager_mode mode, const struct identity *identity, const char *job,
		   bool socket, identity_get *get, void *context, struct manager_choice *choice_out,
		   struct error *err);
/* The same for this process. */
int manager_choose_here(enum manager_mode mode, const struct identity *identity,
			struct manager_choice *choice_out, struct error *err);
/* Whether a program with a server of ours may see this variable of the launcher's; `entry` as in
 * the environment. */
bool manager_hides(const struct manager_choice *choice, const char *entry);

#endif
