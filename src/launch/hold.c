/* SPDX-License-Identifier: Apache-2.0 */
/* ptrace up to the end of library loading. */
#include "launch/hold.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#if defined(__x86_64__)
/* int3; the processor reports the address after it. */
#define HOLD_SUPPORTED  1
#define HOLD_CODE       0xccL
#define HOLD_CODE_MASK  0xffL
#define HOLD_PC_ADVANCE 1
#elif defined(__aarch64__)
/* brk #0; the processor reports its own address. */
#define HOLD_SUPPORTED  1
#define HOLD_CODE       0xd4200000L
#define HOLD_CODE_MASK  0xffffffffL
#define HOLD_PC_ADVANCE 0
#else
#define HOLD_SUPPORTED 0
#endif

#if HOLD_SUPPORTED

static void *hold_address(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static bool hold_get_pc(const struct hold *h, uint64_t *pc_out)
{
	struct user_regs_struct regs;
	struct iovec v = {.iov_base = &regs, .iov_len = sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, h->pid, hold_address(NT_PRSTATUS), &v))
		return false;
#if defined(__x86_64__)
	*pc_out = regs.rip;
#else
	*pc_out = regs.pc;
#endif
	return true;
}

static bool hold_set_pc(const struct hold *h, uint64_t pc)
{
	struct user_regs_struct regs;
	struct iovec v = {.iov_base = &regs, .iov_len = sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, h->pid, hold_address(NT_PRSTATUS), &v))
		return false;
#if defined(__x86_64__)
	regs.rip = pc;
#else
	regs.pc = pc;
#endif
	return !ptrace(PTRACE_SETREGSET, h->pid, hold_address(NT_PRSTATUS), &v);
}

static bool hold_peek(const struct hold *h, uint64_t address, long *word_out)
{
	errno = 0;
	*word_out = ptrace(PTRACE_PEEKTEXT, h->pid, hold_address(address), NULL);
	return !errno;
}

static bool hold_plant(struct hold *h)
{
	return hold_peek(h, h->stop.address, &h->saved) &&
	       !ptrace(PTRACE_POKETEXT, h->pid, hold_address(h->stop.address),
		       hold_address((uint64_t)((h->saved & ~HOLD_CODE_MASK) | HOLD_CODE)));
}

static bool hold_restore(const struct hold *h)
{
	return !ptrace(PTRACE_POKETEXT, h->pid, hold_address(h->stop.address),
		       hold_address((uint64_t)h->saved));
}

static bool hold_resume(const struct hold *h, enum __ptrace_request how, int signal)
{
	return !ptrace(how, h->pid, NULL, hold_address((uint64_t)signal));
}

static enum hold_result hold_fail(struct hold *h, struct error *err, const char *what)
{
	error_set_errno(err, RC_UNSUPPORTED, errno,
			"the program could not be held at its start: %s", what);
	hold_release(h);
	return HOLD_FAILED;
}

/* At the breakpoint: is everything mapped? */
static bool hold_is_consistent(const struct hold *h)
{
	long word;

	if (!h->stop.state)
		return true;
	/* r_state is an int in the low half of the word on both (little-endian) machines. */
	return hold_peek(h, h->stop.state, &word) && (int)(word & 0xffffffffL) == RT_CONSISTENT;
}

int hold_begin(struct hold *h, pid_t pid, struct error *err)
{
	memset(h, 0, sizeof(*h));
	h->pid = pid;
	/* SEIZE: unlike TRACEME and ATTACH it sends no signal and stops nothing by itself. */
	if (ptrace(PTRACE_SEIZE, pid, NULL, hold_address((uint64_t)(PTRACE_O_TRACEEXEC)))) {
		if (errno == EPERM || errno == EACCES)
			return error_set(err, RC_PERMISSION,
					 "breakpoint counters need ptrace, which is not allowed "
					 "here (see kernel.yama.ptrace_scope, or the container's "
					 "seccomp profile)");
		return error_set_errno(err, RC_UNSUPPORTED, errno,
				       "breakpoint counters need ptrace, which failed");
	}
	h->state = HOLD_EXEC;
	return 0;
}

static enum hold_result hold_at_trap(struct hold *h, struct error *err)
{
	if (!hold_restore(h) || !hold_set_pc(h, h->stop.address))
		return hold_fail(h, err, "restore");
	if (hold_is_consistent(h)) {
		h->state = HOLD_READY;
		return HOLD_REACHED;
	}
	h->state = HOLD_STEP;
	return hold_resume(h, PTRACE_SINGLESTEP, 0) ? HOLD_GO_ON : hold_fail(h, err, "step");
}

enum hold_result hold_step(struct hold *h, int status, struct error *err)
{
	int event = status >> 16, signal = WSTOPSIG(status);
	uint64_t pc = 0;

	if (h->state == HOLD_NONE)
		return HOLD_NOT_OURS;
	if (event == PTRACE_EVENT_EXEC) {
		if (h->state != HOLD_EXEC) {
			/* Executed again, before its libraries were mapped: start over. */
			h->state = HOLD_EXEC;
		}
		if (loader_find_stop(h->pid, &h->stop, err)) {
			hold_release(h);
			return HOLD_FAILED;
		}
		if (!hold_plant(h))
			return hold_fail(h, err, "breakpoint");
		h->state = HOLD_STOP;
		return hold_resume(h, PTRACE_CONT, 0) ? HOLD_GO_ON : hold_fail(h, err, "continue");
	}
	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
		/* Group stop (Ctrl-Z): leave it stopped, and say so. */
		ptrace(PTRACE_LISTEN, h->pid, NULL, NULL);
		return HOLD_NOT_OURS;
	}
	if (event)
		return hold_resume(h, PTRACE_CONT, 0) ? HOLD_GO_ON : hold_fail(h, err, "continue");
	if (signal == SIGTRAP && h->state == HOLD_STEP) {
		if (!hold_plant(h))
			return hold_fail(h, err, "breakpoint");
		h->state = HOLD_STOP;
		return hold_resume(h, PTRACE_CONT, 0) ? HOLD_GO_ON : hold_fail(h, err, "continue");
	}
	if (signal == SIGTRAP && h->state == HOLD_STOP && hold_get_pc(h, &pc) &&
	    pc == h->stop.address + HOLD_PC_ADVANCE)
		return hold_at_trap(h, err);
	/* A signal on its way to the process: deliver it. */
	return hold_resume(h, h->state == HOLD_STEP ? PTRACE_SINGLESTEP : PTRACE_CONT, signal)
		       ? HOLD_GO_ON
		       : hold_fail(h, err, "signal");
}

void hold_release(struct hold *h)
{
	int saved = errno;

	if (h->state == HOLD_STOP)
		hold_restore(h);
	if (h->state != HOLD_NONE)
		ptrace(PTRACE_DETACH, h->pid, NULL, NULL);
	h->state = HOLD_NONE;
	errno = saved;
}

#else /* another processor */

int hold_begin(struct hold *h, pid_t pid, struct error *err)
{
	memset(h, 0, sizeof(*h));
	h->pid = pid;
	return error_set(err, RC_UNSUPPORTED,
			 "breakpoint counters are not supported on this processor");
}

enum hold_result hold_step(struct hold *h, int status, struct error *err)
{
	(void)h;
	(void)status;
	(void)err;
	return HOLD_NOT_OURS;
}

void hold_release(struct hold *h)
{
	h->state = HOLD_NONE;
}

#endif
