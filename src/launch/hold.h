/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holding a fresh process where its libraries are mapped and none of their code has run, so that
 * breakpoint counters can be placed: ptrace from the exec to the loader's hook, then let go. Driven
 * by the statuses that waitpid gives, so that the supervisor stays responsive. Supported on x86-64
 * and aarch64. The process is not traced any more once hold_release was called; a context switch or
 * two and one page fault are all that it could count of it.
 */
#ifndef RETALLY_LAUNCH_HOLD_H
#define RETALLY_LAUNCH_HOLD_H

#include "base/error.h"
#include "launch/loader.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum hold_state {
	HOLD_NONE = 0,
	HOLD_EXEC,  /* waits for the exec */
	HOLD_STOP,  /* waits for the breakpoint */
	HOLD_STEP,  /* steps over it */
	HOLD_READY, /* the process stands where it should */
};
enum hold_result {
	HOLD_NOT_OURS, /* the status is not about the hold: handle it as usual */
	HOLD_GO_ON,    /* handled */
	HOLD_REACHED,  /* now: place the counters, then hold_release */
	HOLD_FAILED,   /* given up; the process was let go and runs; err says why */
};
struct hold {
	enum hold_state state;
	pid_t pid;
	struct loader_stop stop;
	long saved; /* the word under the breakpoint */
};

/* Attaches to a child that waits before its exec. RC_PERMISSION or RC_UNSUPPORTED say why it cannot
 * be done; the child is as before then. */
int hold_begin(struct hold *h, pid_t pid, struct error *err);
/* A status of waitpid for h->pid with WIFSTOPPED. */
enum hold_result hold_step(struct hold *h, int status, struct error *err);
/* Lets the process run untraced. Safe in any state. */
void hold_release(struct hold *h);

#endif
