/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forked child on its way to becoming the program: waits for the word to go, puts everything
 * back as the program would find it without us, and executes. The environment differs from ours in
 * RETALLY_PASS and RETALLY_PASSES, both four digits wide in every pass, because the size of the
 * environment moves the stack; in a rank of an MPI job also in what names its process manager, and
 * RETALLY_PAD makes up for the length of that.
 */
#ifndef RETALLY_LAUNCH_CHILD_H
#define RETALLY_LAUNCH_CHILD_H

#include "base/error.h"
#include "launch/program.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct child_environment {
	char **variables; /* NULL-terminated */
	size_t n_own;     /* at the front of them: from our environment */
	char **list;      /* of the pass; what the program gets */
	char *pad;        /* "RETALLY_PAD=----", NULL while there are no extras */
	size_t room;      /* for extras and padding together */
	char pass[24], passes[24];
};
int child_environment_init(struct child_environment *e, struct error *err);
/* What the program must not see: called once, before the first pass. */
void child_environment_hide(struct child_environment *e,
			    bool (*hides)(const void *context, const char *entry),
			    const void *context);
/* extras: "NAME=value" texts that last until the next call; they replace ours of the same name. */
int child_environment_set(struct child_environment *e, uint32_t pass, uint32_t passes,
			  const char *const *extras, size_t n_extras, struct error *err);
void child_environment_release(struct child_environment *e);

struct child {
	const struct program *program;
	char *const *environment;
	pid_t supervisor;
	int go;              /* one byte: execute; end of file: do not */
	int failure;         /* close-on-exec: errno goes there when it fails, nothing otherwise */
	int streams[3];      /* to become 0, 1, 2; -1: as they are */
	bool closed[3];      /* were closed when we started */
	int folder;          /* working directory, -1: ours */
	int pmi, pmi_number; /* a socket, to become that descriptor; -1: none */
	bool no_aslr;
	sigset_t mask; /* what the program shall find */
	struct sigaction on_child;
};
/* Call it in the child; it does not return. */
void child_run(const struct child *c) __attribute__((noreturn));

#endif
