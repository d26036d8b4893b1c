/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that end a run, in a rank of a parallel job, for the process that the launcher started.
 *
 * Under a launcher a program that does not handle SIGINT is dead the moment it is sent it, with
 * that status; hydra and srun send SIGKILL to what is left a few milliseconds later. A process that
 * takes the signal, sees to its program and then dies of it loses that race, and the job ends with
 * another status than the launcher's usual one. So INT, TERM and HUP have their default action
 * here, too, as long as the program leaves them to it: it is looked at (/proc/PID/status) soon
 * after its start and then about once a second. The supervisor sees that this process is gone and
 * does what is left.
 *
 * A program that begins to handle a signal between two looks is sent it together with us, and
 * handles it; this process dies of it.
 *
 * A handler mostly does a little and then lets the signal end its process (those that LLVM installs
 * in every program that comes to load it, for example). So the end of the program is waited for
 * here as well as in the supervisor, by its pidfd: if it died of a signal that was sent to us, too,
 * or is sent to us next, we die of it at once.
 *
 * `together` is for a launcher that kills the others once it sees the first rank dead (hydra): the
 * ranks then end at the same moment, which the supervisors agree on (manager_leave()), and from the
 * first pass on the signals are left closed until then.
 */
#ifndef RETALLY_LAUNCH_EXPOSED_H
#define RETALLY_LAUNCH_EXPOSED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct exposed {
	bool wanted;      /* all zero: does nothing */
	bool together;    /* see above */
	sigset_t blocked; /* signals of the caller's own mask: not for us to open */
	pid_t program;    /* 0: none runs */
	int end;          /* pidfd of it, 0: none */
	sigset_t sent;    /* to us while it ran */
	uint64_t look_ns; /* CLOCK_MONOTONIC, when to look next */
	uint64_t interval_ns;
};

/* A program begins (pid) or has ended (0). */
void exposed_program(struct exposed *e, pid_t pid, uint64_t now_ns);
/* For poll(2): readable when the program has ended, then exposed_ended() is to be called; -1: none.
 */
int exposed_end_fd(const struct exposed *e);
void exposed_ended(struct exposed *e);
/* This process was sent a signal. May die of it. */
void exposed_sent(struct exposed *e, int signal);
/* From now on signals have their default action. */
void exposed_open(const struct exposed *e);
/* The signal that a process died of which nobody has waited for, of its /proc/PID/stat; 0: of none,
 * or it lives, or the text does not say. */
int exposed_read_end(const char *stat);
/* Looks when it is time to. */
void exposed_look(struct exposed *e, uint64_t now_ns);
/* For poll(2): milliseconds until the next look, -1: none is due. */
int exposed_timeout(const struct exposed *e, uint64_t now_ns);
/* Which of INT, TERM and HUP the program leaves to their default action, of the text of its
 * /proc/PID/status. */
void exposed_read(const char *status, sigset_t *left_out);
/* Until this signal has its default action in the process; half a second at most. False: it
 * has not. */
bool exposed_wait(pid_t pid, int signal);

#endif
