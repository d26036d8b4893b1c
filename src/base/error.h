/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One error object for the whole of retally. The function that detects a failure fills it with one
 * complete sentence (lower case, no full stop, subject in single quotes, file and line where there
 * is one); callers may put context in front, and only the command prints it.
 */
#ifndef RETALLY_BASE_ERROR_H
#define RETALLY_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

/* Return codes: 0 or one of these. Each is one that a caller can act on. */
enum rc {
	RC_OK = 0,
	RC_ERROR = -1,        /* anything that has no code of its own */
	RC_NO_MEMORY = -2,    /* allocation failed */
	RC_IO = -3,           /* a system call on a file or descriptor failed */
	RC_NO_SPACE = -4,     /* ENOSPC, EDQUOT */
	RC_INVALID = -5,      /* bad input from the user: flag, name, file, variable */
	RC_CORRUPT = -6,      /* a file of ours is damaged */
	RC_NOT_FOUND = -7,    /* no such name */
	RC_EXISTS = -8,       /* would overwrite */
	RC_PERMISSION = -9,   /* EPERM, EACCES, perf_event_paranoid */
	RC_UNSUPPORTED = -10, /* this machine, kernel or library cannot do it */
	RC_NO_SLOT = -11,     /* a selection does not fit into the counter slots */
	RC_MISMATCH = -12,    /* another plan, collection or version */
	RC_END = -13,         /* end of a stream; a device or peer is gone for good */
	RC_TIMEOUT = -14,     /* a bounded wait was not enough */
	RC_BUSY = -15,        /* somebody else has it */
};

#define ERROR_MESSAGE_SIZE 512

/* Caller-owned, on the stack; zero-initialise. May be passed as NULL wherever a function takes one.
 */
struct error {
	int code; /* enum rc; 0 means no error */
	char message[ERROR_MESSAGE_SIZE];
};

/* Fills err (when not NULL) and returns code, so that `return error_set(...)` reads well. */
int error_set(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with ": " and strerror(errno_value) appended; maps ENOSPC, EACCES, ENOMEM... to codes
 * when code is 0. */
int error_set_errno(struct error *err, int code, int errno_value, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Puts context in front of the message: "context: message". Returns err->code. */
int error_prefix(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Name of a code for logs and JSON, for example "no-space". Never NULL. */
const char *error_code_name(int code);

#endif
