/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank's part in a parallel job that runs its program several times in one launch: the star that
 * joins the supervisors, and the process manager that the program's MPI talks to (manager_choice.h
 * says which). The supervisor calls, in this order:
 *
 *   open                            the ranks meet
 *   begin, child.., ended, end      for each pass: `begin` returns when all ranks are ready
 *   decide                          after each pass: returns when all ranks have ended it
 *   results, finish, release
 *
 * While the program runs, its owner polls what manager_polls gives, calls manager_pump, and looks
 * at manager_verdict: another rank may have ended the job or met the time limit of the pass.
 *
 * open, begin, decide, results and finish wait for other ranks or for the launcher; while they do
 * so they call the owner's `idle`, which serves whatever else there is. None holds up a rank whose
 * owner wants to leave, and a rank that is gone ends every wait. Not thread-safe.
 */
#ifndef RETALLY_LAUNCH_MANAGER_H
#define RETALLY_LAUNCH_MANAGER_H

#include "base/error.h"
#include "launch/manager_choice.h"
#include "launch/manager_round.h"
#include "launch/pmi_relay.h"
#include "launch/pmi_server.h"
#include "launch/pmix_service.h"
#include "launch/star.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#define MANAGER_POLLS        5
#define MANAGER_WAIT_DEFAULT 30.0 /* seconds for all ranks to meet */
/* The launcher ends a job in its own way when it can; we do when it has not by then. */
#define MANAGER_GRACE_NS  (1000ull * 1000 * 1000)
#define MANAGER_HURRY_NS  (2000ull * 1000 * 1000)  /* an interrupted rank waits no longer */
#define MANAGER_RESULT_NS (10000ull * 1000 * 1000) /* for the other ranks at the very end */

enum manager_idle {
	MANAGER_STAY,
	MANAGER_HURRY, /* a signal came: wait a little only */
	MANAGER_LEAVE,
};

struct manager_owner {
	/* Waits until something is to be served, or `until` (CLOCK_MONOTONIC, ns); polls the
	 * manager as well. */
	enum manager_idle (*idle)(void *context, uint64_t until_ns);
	void *context;
};

struct manager_request {
	const struct manager_choice *choice;
	const char *host;          /* name of this machine */
	int folder;                /* the run directory, open */
	const char *program;       /* its path */
	double wait_seconds;       /* for all ranks to meet; 0: MANAGER_WAIT_DEFAULT */
	struct pmix_service *pmix; /* started by the caller; NULL when not chosen */
	struct manager_owner owner;
};

/* How the job stands, for the program that runs now. */
enum manager_standing {
	MANAGER_RUNS,
	MANAGER_TIMED_OUT, /* another rank met the pass's time limit: end the program now */
	MANAGER_ENDED, /* another rank ended the job, or is gone; after MANAGER_GRACE_NS end it */
};

struct manager {
	struct manager_request request;
	struct manager_choice choice;
	struct star *star; /* NULL: alone */
	struct pmi_relay relay;
	struct pmi_server server;
	struct pmix_service *pmix; /* of this node's first rank, NULL elsewhere */
	bool relay_open, server_open, pmix_begun;
	bool leader; /* the first rank of its node */
	bool several_nodes;
	int number;        /* of the program's PMI descriptor, -1: it gets none */
	int child_end;     /* to become it */
	struct str extras; /* variables for the program, NUL-ended */
	struct manager_rounds rounds;
	enum manager_standing standing;
	uint64_t ended_ns;    /* since when it is not MANAGER_RUNS */
	int job_status;       /* as of an exit: 128 + signal for a signal; of who ended the job */
	uint64_t vanished_ns; /* since when a rank is gone that never finalized; 0: none is */
	int vanished_rank;
	int unfinished; /* ranks of this node that never finalized, in the last pass that had any */
	int first_unfinished;
	bool told;       /* we ended it ourselves */
	bool left_badly; /* the launcher must see it: no finish */
	struct pmix_abort {
		bool is;
		int rank, status;
	} pmix_abort;
	struct error pump; /* why the program's PMI connection was closed, once */
	char text[256];    /* what ended the job */
};

/* 0: the ranks have met. RC_END: the owner left. Anything else: they have not, as manager_go_alone.
 */
int manager_open(struct manager *m, const struct manager_request *request, struct error *err);
/* The program has something of ours in its environment. */
bool manager_is_open(const struct manager *m);
/* No other rank any more: the first pass is the only one possible, under the launcher's own process
 * manager. To be called before it has begun. */
void manager_go_alone(struct manager *m);

/* All ranks begin pass `index` (from 0). Any failure, here or of another rank: nobody runs it. */
int manager_begin(struct manager *m, unsigned index, bool last, struct error *err);
/* For the child of this pass: its PMI socket (to become descriptor manager.number; -1: none) and
 * the variables it gets, until the next manager_begin. */
const char *manager_extra(const struct manager *m, size_t *at);
/* After the fork. */
void manager_forked(struct manager *m);

int manager_polls(const struct manager *m, struct pollfd *polls);
void manager_pump(struct manager *m);
/* What to do with the running program at this moment; *at_out: when to look again (0: never). */
enum manager_standing manager_verdict(struct manager *m, uint64_t now_ns, uint64_t *at_out);
/* Our program met the time limit: it ends everywhere. */
void manager_time_out(struct manager *m);
/* The program's first process ended. When the job cannot go on after that, the others are told. */
void manager_ended(struct manager *m, int exit_code, int signal, bool by_us);
/* All processes of the pass are gone. False: the job ends (manager.text). */
bool manager_end(struct manager *m, int exit_code, int signal);

/* What all ranks make of the pass. vote: ours. False in verdict->go_on: no further pass, why. */
void manager_decide(struct manager *m, const struct manager_vote *vote,
		    struct manager_verdict *verdict_out);
/* The launcher's usual status for ranks of this node that ended without MPI_Finalize, with a
 * sentence; 0: there are none, or it does not mind. */
int manager_unfinished(const struct manager *m, char *text, size_t size);
/* This rank ends the job, for a reason of ours. */
void manager_abort(struct manager *m, int status, const char *text);
/* This rank's program ended by a signal that ends the run; `process` is what the launcher started,
 * and leaves `signal` to its default action. Under hydra it waits for the other ranks, a second at
 * most, and all processes of a node are sent their signals at once. False: nobody sends it. */
bool manager_leave(struct manager *m, pid_t process, int signal);
/* After the last pass, records written: collects what the ranks did, bounded. Rank 0 gets a
 * sentence about those that did less, or "". */
void manager_results(struct manager *m, const struct manager_vote *vote, char *text, size_t size);
/* Ends the session with the launcher, when that is ours to do, and leaves the star. */
void manager_finish(struct manager *m);
void manager_release(struct manager *m);

#endif
