/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a program once per pass (application mode), or once with its passes replayed in place
 * (launch/in_place.h): the one entry that the command uses. It makes or joins the run directory,
 * starts a supervisor process, and returns when the program's passes are over and their records are
 * in the spool.
 *
 * Two processes of ours take part: the caller, which shells and batch systems see and signal, and
 * the supervisor, its child and the program's parent, which opens counters, waits and writes. Each
 * watches the other: whichever is killed, even by SIGKILL, the one that is left ends the program
 * and all its descendants.
 *
 * The first pass of a run is the program's own: it gets our stdin, stdout and stderr as they are
 * (only a stdin pipe is passed on by the supervisor when there are more passes, because they need
 * the same bytes), it has no time limit, and it is never killed by us while we are alive. The later
 * ones get the same stdin from the same offset (a terminal cannot be repeated: they read
 * /dev/null), write to DIR/output/LAUNCH/pass-K.stdout and .stderr, and have a time limit.
 *
 * Not thread-safe: signal mask, child reaping and PR_SET_CHILD_SUBREAPER belong to the whole
 * process; all are put back before the return. Standard descriptors that were closed are /dev/null
 * afterwards. Children that the caller had before are left alone.
 */
#ifndef RETALLY_LAUNCH_RUN_H
#define RETALLY_LAUNCH_RUN_H

#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"
#include "launch/distribute.h"
#include "launch/in_place.h"
#include "launch/manager_choice.h"
#include "wire/plan.h"

#include <stdbool.h>
#include <stdint.h>

#define RUN_STATUS_FAILED         125 /* retally itself failed; the program may not have run */
#define RUN_STATUS_CANNOT_EXECUTE 126
#define RUN_STATUS_NOT_FOUND      127

#define RUN_PASS_TIMEOUT_DEFAULT 10.0 /* times the first pass, plus the grace */
#define RUN_PASS_GRACE_DEFAULT   10.0 /* seconds */
#define RUN_ORPHAN_WAIT_DEFAULT  5.0  /* seconds */

/* argv is a launcher (launch/launcher.h): its ranks are counted, each with a record of its own; the
 * launcher is not counted. */
struct run_launcher {
	const char *command, *library; /* paths of retally and of libretally.so */
	const char *application;       /* what the ranks run, for people */
	const char *distribute, *seed; /* each rank chooses its pass: one launch; else NULL */
};

/* Zero-initialise and fill what matters. Strings and argv must outlive the call. */
struct run_options {
	char *const *argv;   /* program and arguments, NULL-terminated; searched like execvp */
	const char *output;  /* -o template; NULL: PROGRAM.retally in the current folder */
	const char *filters; /* canonical text of the run's filters, part of the collection id;
			      * NULL: none */
	uint32_t pass;       /* 0: every pass of the plan; K: only pass K */
	uint32_t of_total;   /* P of --pass K/P: refuse unless the plan has P passes; 0: any */
	struct distribute distribute; /* unit not 0: it chooses the pass, `pass` must be 0 */
	/* Not NULL: the program runs once and `pass` (0: all) is replayed within it. */
	const struct run_in_place *in_place;
	/* libretally.so, absolute: it counts the marked regions of a program that is run once a
	 * pass, when its file shows that it has marks. NULL: they are not counted. */
	const char *region_library;
	const char *join;  /* id of the collection that `output` holds and whose command is another
			    * than argv, which a launcher started; NULL: that of argv */
	const char *given; /* further options for a launch like this one, as words of a shell with a
			    * blank in front of each; NULL: none */
	const struct run_launcher *launcher; /* NULL: argv is the program */
	bool no_aslr;                        /* the same addresses in every pass */
	bool chdir_per_pass; /* later passes run in DIR/cwd/LAUNCH/pass-K, a fresh empty folder:
			      * relative file names of the arguments are not found there */
	bool keep_going;     /* run the other passes after one that failed */
	double pass_timeout; /* limit of later passes as a multiple of the first one's time;
			      * 0: RUN_PASS_TIMEOUT_DEFAULT */
	double pass_grace;   /* and seconds on top of that, 0: RUN_PASS_GRACE_DEFAULT */
	double orphan_wait;  /* seconds a pass waits, after the program's end, for processes it left
			      * behind; 0: RUN_ORPHAN_WAIT_DEFAULT */
	enum manager_mode mpi; /* in a rank of a parallel job, for several passes */
	double mpi_wait;       /* seconds for all ranks to meet; 0: MANAGER_WAIT_DEFAULT */
	/* The program's stdin and stdout are its own: after the start both of ours are /dev/null,
	 * so that whoever is at the other end of a pipe sees the program close it. true: leave them
	 * (a caller that goes on to use them). */
	bool keep_streams;
	/* Called in this process at the start of each pass and about four times a second while it
	 * runs. May be NULL. `pass` is the plan's number, `position` counts the passes of this run
	 * from 1 to `n`. */
	void (*progress)(void *data, uint32_t pass, uint32_t position, uint32_t n,
			 double elapsed_seconds);
	void *progress_data;
};

enum run_finding_kind {
	RUN_FINDING_OUTPUT_DIFFERS = 1, /* stdout or stderr is not that of the first pass */
	RUN_FINDING_STATUS_DIFFERS,     /* a later pass ended in another way than the first */
	RUN_FINDING_TIMED_OUT,          /* a later pass was killed at its limit */
	RUN_FINDING_NOT_COUNTED, /* counters that could not be opened or placed, set-user-id */
	RUN_FINDING_LEFTOVERS,   /* /dev/shm objects left by a pass */
	RUN_FINDING_ORPHANS,     /* processes that outlived the program */
	RUN_FINDING_DISABLED,    /* collection stopped: the directory is full or broken */
	RUN_FINDING_NOTE,        /* anything else worth a line */
};
struct run_finding {
	enum run_finding_kind kind;
	uint32_t pass; /* the plan's number; 0: no particular one */
	char *text;    /* one sentence, owned by the outcome */
};

struct run_outcome {
	int exit_status;    /* what the command should exit with, also when run_program failed */
	int signal;         /* not 0: die of this signal instead (run_die_of_signal) */
	int32_t rank, size; /* in the job, or SPOOL_RANK_NONE (wire/spool.h) */
	uint32_t pass;      /* the only one of this run, also when --distribute chose it; 0: all */
	uint32_t passes_wanted;
	uint32_t passes_completed; /* ended by themselves, whatever their status; counts are stored
				    */
	uint32_t passes_failed;    /* nonzero status, signal, time limit */
	bool started;              /* the program was executed at least once */
	bool interrupted;          /* a signal ended the run before its last pass */
	bool left; /* so it did, in a parallel job: the supervisor still writes what there is,
		    * nothing is to be waited for or summed up, only to end by `signal` */
	char launch[HASH_TEXT_SIZE];
	char *directory;      /* owned; NULL when it was not made */
	char *spool;          /* owned; path of the file with the records, or NULL */
	double first_seconds; /* wall time of the first pass, and of all of them */
	double total_seconds;
	VEC(struct run_finding) findings; /* in the order they came up */
};

/* Runs it. 0 when the program ran (whatever its status); otherwise a code and one sentence, and
 * outcome->exit_status is 125, 126 or 127. outcome may be released in either case; it is filled
 * from scratch. The plan must have been encoded or decoded (its hash is used). */
int run_program(const struct run_options *options, const struct plan *plan,
		struct run_outcome *outcome_out, struct error *err);
void run_outcome_release(struct run_outcome *o);

/* Ends this process by the signal, as the program ended, without a core file of our own. Returns
 * only when the signal cannot kill (the status to exit with is 128 + signal then). */
void run_die_of_signal(int signal);

#endif
