/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the caller of run_program and the supervisor, over a socket pair that keeps
 * message boundaries. Its end of file is how each side notices that the other is gone. Both sides
 * are the same binary, so the struct is the format.
 */
#ifndef RETALLY_LAUNCH_CHANNEL_H
#define RETALLY_LAUNCH_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

enum channel_type {
	/* caller to supervisor */
	CHANNEL_SIGNAL = 1, /* a = signal, b = si_code: the caller was sent it */
	/* supervisor to caller */
	CHANNEL_PASS_BEGIN = 16, /* pass, a = position */
	CHANNEL_STARTED,         /* the program was executed */
	CHANNEL_PROGRAM, /* a = process id of this pass's program; 0: signals may end the caller */
	CHANNEL_NOT_EXECUTED, /* a = errno */
	CHANNEL_STOPPED,      /* a = process id: the program stopped by Ctrl-Z; so should we */
	CHANNEL_PASS_END,     /* pass, a = exit code, b = signal, flags = 1: completed, time */
	CHANNEL_FINDING,      /* pass, a = enum run_finding_kind, text */
	CHANNEL_END,          /* a = exit status, b = signal, flags = enum channel_end_flag */
};
enum channel_end_flag {
	CHANNEL_END_INTERRUPTED = 1 << 0,
	CHANNEL_END_LEAVE = 1 << 1, /* the caller shall go at once: run_outcome.left */
};

struct channel_message {
	uint32_t type;
	uint32_t pass;
	int32_t a, b;
	uint32_t flags;
	uint32_t pad;
	uint64_t time_ns;
	char text[456];
};

/* Both ends are close-on-exec. 0, or -1 with errno. */
int channel_open(int fds_out[2]);
/* False when the other side is gone. Never raises SIGPIPE. */
bool channel_send(int fd, const struct channel_message *m);
/* 1: a message; 0: none is waiting; -1: the other side is gone. Does not block. */
int channel_receive(int fd, struct channel_message *m);

#endif
