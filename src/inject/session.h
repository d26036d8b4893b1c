/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass of one process, from inside: the plan, the counters, the spool. The process that owns
 * the passes has exactly one session; everything here belongs to it alone, in all its threads, and
 * does nothing in a forked child.
 *
 * Nothing here allocates or locks after session_count, so that a pass can end within a signal
 * handler.
 */
#ifndef RETALLY_INJECT_SESSION_H
#define RETALLY_INJECT_SESSION_H

#include "base/error.h"
#include "inject/state.h"
#include "wire/plan.h"

#include <stdbool.h>

#define SESSION_PATH_SIZE 4352

struct session_paths {
	char directory[SESSION_PATH_SIZE - 256]; /* absolute */
	char plan[SESSION_PATH_SIZE];
	char spool[SESSION_PATH_SIZE];
	char resume[SESSION_PATH_SIZE];
	char stdin_copy[SESSION_PATH_SIZE];
	char output[SESSION_PATH_SIZE]; /* folder of this launch */
};

/* Names of this launch's files below directory. rank may be SPOOL_RANK_NONE. */
int session_name_files(struct session_paths *p, const char *directory, const char *launch,
		       const char *host, int rank, struct error *err);

/* Makes or joins the run directory: its folders, and plan.json as a copy of plan_path, which must
 * be the same plan when there is one. */
int session_make_directory(const struct session_paths *p, const char *plan_path, struct error *err);

/* RC_MISMATCH when a spool in the directory is of another plan, command or filters. */
int session_check_collection(const struct session_paths *p, const char *plan_hash,
			     char *const *argv, struct error *err);

/* Writes run.json, unless there is one: what is collected here, for reports and for those who add
 * to it. The members that src/launch/directory.h names; what only the command knows is left out. */
int session_describe(const struct session_paths *p, const struct plan *plan, char *const *argv,
		     const char *host, struct error *err);

struct session_start {
	const struct session_paths *paths; /* must outlive the session */
	const struct state *state;
	const char *const *argv; /* as the program was started, NULL-terminated */
	const char *host;
	int rank, size, local_rank; /* or SPOOL_RANK_NONE */
};
/* Loads the plan and opens the spool: made for the first pass, continued later. Notes can be
 * written. */
int session_open(const struct session_start *start, struct error *err);
/* Opens the counters, and counts from here on. */
int session_count(const struct session_start *start, struct error *err);

/* A sentence for the report; kind is an enum spool_note_kind. Quietly nothing when the spool is
 * shut. */
void session_note(uint32_t kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts what was counted so far where a later image of this process finds it: for an exec. */
void session_carry(void);
/* Reads the counters and writes the end of the pass. The spool stays open for notes. */
void session_end(int exit_code);
/* Closes the spool; with reopen, notes can be written again afterwards. */
void session_close(void);
int session_reopen(struct error *err);
/* In a forked child: lets go of everything without touching what the parent uses. */
void session_abandon(void);
bool session_is_open(void);

#endif
