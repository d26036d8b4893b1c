/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor process: runs the passes of a launch one after the other, writes what they
 * measured, and tells the caller of run_program about it through the channel.
 */
#ifndef RETALLY_LAUNCH_SUPERVISOR_H
#define RETALLY_LAUNCH_SUPERVISOR_H

#include "launch/child.h"
#include "launch/inbox.h"
#include "launch/input.h"
#include "launch/manager.h"
#include "launch/output.h"
#include "launch/program.h"
#include "launch/record.h"
#include "launch/run.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pass_result;

/* What the caller prepared; all of it outlives the supervisor. */
struct supervisor_job {
	const struct run_options *options;
	const struct plan *plan;
	const struct program *program;
	struct spool_writer *spool;
	const char *launch;
	int folder;                          /* the run directory, open */
	const struct manager_choice *choice; /* of a rank of a parallel job, for several passes */
	/* After a signal that ends a run the caller goes as soon as the program has: launchers kill
	 * what is still there. What is left to do is done without it. */
	bool leave_at_once;
	const char *directory; /* path of the run directory */
	int32_t rank;          /* or SPOOL_RANK_NONE */
	bool meet_at_end; /* the ranks meet after the only pass, for what rank 0 says of them */
	const char *host; /* name of this machine */
	struct pmix_service *pmix; /* started by the caller, NULL: not needed */
	/* Numbers, in the order they run; 0: the program alone, nothing is counted from outside. */
	const uint32_t *passes;
	const struct in_place *in_place; /* variables of the program, or NULL */
	/* Where the program's regions are counted in each pass, or NULL: the run directory, and the
	 * settings but for the pass. */
	const char *region_directory;
	struct replay_settings region_settings;
	uint32_t n_passes;
	pid_t caller;
	int channel;    /* the supervisor's end */
	int signals;    /* signalfd of inbox_signals() */
	bool closed[3]; /* standard descriptors that were closed when we started */
	sigset_t mask;  /* as the program shall find it */
	struct sigaction on_child;
};

struct supervisor {
	const struct supervisor_job *job;
	struct child_environment environment;
	struct in_place regions; /* variables of the pass */
	struct inbox inbox;
	struct input input;
	struct output output;
	struct record record;
	struct manager manager;
	uint32_t n_passes; /* fewer than the job's when the ranks did not meet */
	uint32_t begun, completed;
	bool started;        /* the program was executed once */
	bool caller_gone;    /* killed: end everything */
	bool given_away;     /* our copies of the program's streams were dropped */
	bool no_aslr_failed; /* refused; the passes go on without */
	int interrupts;      /* signals so far that end a run */
	uint64_t declined;   /* hash of the last RUN_FINDING_NOT_COUNTED that the caller was told */
	int stop_signal;     /* the first of them */
	bool stop_outside;   /* it came while no program was running */
	bool told_end;       /* the caller was told how the run ended: it may be gone */
	struct progress *progress; /* how the passes so far ended */
	uint64_t first_wall_ns;
};

/* In a fresh fork of the caller, with the signals of inbox_signals() blocked and the process a
 * child of it. */
void supervisor_run(const struct supervisor_job *job) __attribute__((noreturn));
/* A finding: to the caller and into the spool. Cut to fit one line. */
void supervisor_find(struct supervisor *s, enum run_finding_kind kind, uint32_t pass,
		     const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* To be called when the program has ended and before anything is written or waited for, and, with
 * NULL, when a signal came while none was running: where job->leave_at_once asks for it and the run
 * was interrupted, the caller is told how the run ended, and goes. */
void supervisor_leave(struct supervisor *s, const struct pass_result *r);

#endif
