/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard input for every pass. All passes have to read the same bytes.
 *
 * - One pass only: stdin is left alone.
 * - A regular file: the first pass gets it as it is; the later ones a descriptor of their own from
 *   the offset where the first one started, so what follows us in the shell finds the file where
 *   the first pass left it.
 * - A pipe: the supervisor passes on what comes, at once, through a pipe of its own, and keeps a
 *   copy in an unlinked file. A later pass is fed the copy, and what it wants beyond that is read
 *   on live. Up to one pipe buffer may have been read that no pass wanted.
 * - A terminal, a socket, a device: cannot be repeated. The first pass gets it as it is, the later
 *   ones get /dev/null.
 * - Closed: closed in all passes.
 */
#ifndef RETALLY_LAUNCH_INPUT_H
#define RETALLY_LAUNCH_INPUT_H

#include "base/error.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum input_kind {
	INPUT_KEEP, /* every pass gets what we have */
	INPUT_FILE,
	INPUT_PIPE,
	INPUT_ONCE, /* the first pass only */
};
#define INPUT_POLLS 2

struct input {
	enum input_kind kind;
	int source;    /* our own descriptor of stdin (INPUT_FILE, INPUT_PIPE), else -1 */
	off_t start;   /* INPUT_FILE */
	int copy;      /* INPUT_PIPE: the unlinked file */
	uint64_t kept; /* bytes in it */
	bool ended;    /* the source reached its end */
	bool broken;   /* the copy could not be written: no later pass is possible */

	int feed;        /* writing end of the current pass's pipe, -1: none or closed */
	uint64_t copied; /* of the copy, given to the current pass */
	size_t held, given;
	char chunk[65536];
};

/* `closed` says that descriptor 0 was closed when we started. `folder` is where the copy goes (an
 * open directory); when it refuses, memory is used. Takes a duplicate of descriptor 0. */
int input_init(struct input *in, bool closed, bool several_passes, int folder, struct error *err);
/* The descriptor to become the child's stdin; the caller closes it after fork. -1: keep what is
 * there. -2: cannot (err). */
int input_begin_pass(struct input *in, bool first, struct error *err);
/* Fills up to INPUT_POLLS entries; returns how many. Call input_pump after each poll. */
int input_polls(const struct input *in, struct pollfd *polls);
void input_pump(struct input *in);
void input_end_pass(struct input *in);
void input_release(struct input *in);

#endif
