/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which signals the supervisor passes on to the program, and which reached it already.
 *
 * A terminal, `timeout`, Slurm and hydra signal a whole process group or every process of a rank:
 * the program is among them. A signal sent to the one process id that people know, the caller's,
 * is meant for the program too but does not reach it. The two are told apart by the supervisor, in
 * the same group as both: when it was sent the signal as well, it was for all; when only the caller
 * was, the supervisor passes it on. The two copies do not arrive at one time, hence the short wait.
 *
 * Pure bookkeeping: no system calls; times are the caller's.
 */
#ifndef RETALLY_LAUNCH_INBOX_H
#define RETALLY_LAUNCH_INBOX_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define INBOX_SIGNALS 32                     /* the standard ones; others are not passed on */
#define INBOX_WAIT_NS (20ull * 1000 * 1000)  /* between the two copies of a group's signal */
#define INBOX_KEEP_NS (200ull * 1000 * 1000) /* how long an unmatched own copy is remembered */

struct inbox {
	struct {
		uint64_t relayed_ns; /* the caller's copy waits for ours since; 0: none */
		uint64_t own_ns;     /* ours waits for the caller's; 0: none */
		int32_t code;        /* si_code of the caller's copy */
	} of[INBOX_SIGNALS];
};
/* What has to be done now about one signal. */
struct inbox_event {
	int signal;
	bool direct; /* only the caller was sent it: pass it on */
	bool kernel; /* from the terminal */
};

/* Signals the caller and the supervisor take, blocked, through signalfd. */
void inbox_signals(sigset_t *set_out);
/* Whether it is one of those that end a run: INT, TERM, HUP, QUIT. */
bool inbox_ends(int signal);
/* The supervisor itself was sent a signal. True: *event is one to act on. */
bool inbox_own(struct inbox *b, int signal, int code, uint64_t now_ns, struct inbox_event *event);
/* The caller says that it was sent one. True as above. */
bool inbox_relayed(struct inbox *b, int signal, int code, uint64_t now_ns,
		   struct inbox_event *event);
/* A relayed signal whose wait is over. True as above; call until false. */
bool inbox_due(struct inbox *b, uint64_t now_ns, struct inbox_event *event);
/* When to call inbox_due next; 0: nothing waits. */
uint64_t inbox_deadline(const struct inbox *b);

#endif
