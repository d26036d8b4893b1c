/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the program was started, kept in DIR/spool/LAUNCH.resume while its passes run: executable,
 * arguments, environment, directory, and what exec leaves in place (umask, signals, limits,
 * priority, affinity, timers, open descriptors, position of standard input). Written once, before
 * any code of the program has run; read again by whichever image of the process ends a pass. The
 * file holds the environment, so only its owner may read it, and it is removed when the last pass
 * begins.
 *
 * resume_restore and resume_exec run at the end of a pass, maybe within a signal handler's _exit:
 * no allocation, no stdio, no locks.
 */
#ifndef RETALLY_INJECT_RESUME_H
#define RETALLY_INJECT_RESUME_H

#include "base/error.h"
#include "inject/state.h"

#include <signal.h>
#include <sys/types.h>

enum resume_stdin {
	RESUME_STDIN_OTHER =
		0, /* device, closed: left alone; terminal, socket: /dev/null from pass 2 on */
	RESUME_STDIN_FILE = 1, /* seekable: rewound to stdin_offset */
	RESUME_STDIN_PIPE = 2, /* kept in DIR/spool/LAUNCH.stdin while pass 1 reads it */
};

struct resume;

/* Writes path from this process as it is, but with this signal mask. envp_new is the environment
 * that every pass gets: it holds one RETALLY_STATE and one RETALLY_PASS, replaced by resume_exec.
 */
int resume_save(const char *path, char *const *argv, char *const *envp_new, const sigset_t *mask,
		struct error *err);
/* Maps path. The object lives in static memory: one at a time. */
int resume_open(struct resume **r_out, const char *path, struct error *err);
void resume_close(struct resume *r);
/* The arguments as a NULL-terminated list; the list is the caller's to free, the strings are r's.
 */
int resume_list_argv(const struct resume *r, const char ***argv_out, struct error *err);
bool resume_has_fd(const struct resume *r, int fd);
/* Standard input was a terminal or a socket. */
bool resume_is_interactive(const struct resume *r);
enum resume_stdin resume_stdin(const struct resume *r);
/* Name of the process in ps(1) and /proc/PID/comm, which an exec by another path would change. */
const char *resume_comm(const struct resume *r);
/* Puts back what survives an exec. RC_PERMISSION when the program gave up what cannot be taken back
 * (user, root directory): it must not be executed again. What could not be put back but does no
 * harm is named in `left`, "" when nothing. The signals stay blocked. */
int resume_restore(const struct resume *r, int stdin_copy, const char *stdin_spool, char *left,
		   size_t left_size, struct error *err);
/* Executes the program for state->pass. Returns only on failure. */
int resume_exec(const struct resume *r, const struct state *state, struct error *err);
/* Descriptors from 3 on that the program was not started with are closed at the next exec. keep
 * (-1: none) stays open across it. */
void resume_close_others(const struct resume *r, int keep);

#endif
