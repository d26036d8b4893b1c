/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between an MPI process and its process manager, PMI-1 and PMI-2, over a stream
 * socket. PMI-1: one line of `name=value` words, the first of them `cmd=`. PMI-2: six characters
 * with the length, then `name=value;` with ";;" for a semicolon. A PMI-2 client begins with a PMI-1
 * line (`cmd=init pmi_version=2`), and the answer to it decides what follows, hence `v2` is the
 * owner's to set.
 * Source: "PMI Version 2 wire protocol" on the MPICH wiki, and what MPICH 4.0 and Slurm 22.05 send.
 *
 * Both sides are hostile input: sizes are bounded, NUL bytes refused. Nothing blocks.
 */
#ifndef RETALLY_LAUNCH_PMI_WIRE_H
#define RETALLY_LAUNCH_PMI_WIRE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define PMI_MESSAGE_MAX (256u << 10)

struct pmi_link {
	int fd;  /* -1: closed */
	bool v2; /* framing of both directions */
	char *in, *out;
	size_t in_size, in_capacity, out_size, out_capacity;
	char *message; /* the last one taken */
};
/* Takes the descriptor; it is closed by release. Its blocking mode is left alone. */
void pmi_link_init(struct pmi_link *l, int fd);
void pmi_link_release(struct pmi_link *l);
/* Reads what is there. False: the other side closed, or failed; fd is closed and -1 then. */
bool pmi_link_read(struct pmi_link *l);
/* The next whole message without its framing, valid until the next call. 1, or 0: none is whole
 * yet, or RC_INVALID: this is no PMI. */
int pmi_link_take(struct pmi_link *l, const char **message_out, struct error *err);
/* Frames and queues a message, and sends what can be sent. RC_NO_MEMORY, or RC_INVALID when it is
 * too long. A closed link swallows it. */
int pmi_link_put(struct pmi_link *l, const char *message, struct error *err);
void pmi_link_flush(struct pmi_link *l);
bool pmi_link_wants_to_write(const struct pmi_link *l);

/* `cmd=NAME` and nothing longer. */
bool pmi_is(const char *message, const char *name);
/* Copies the value of a name into buffer. False when it is not there or does not fit. */
bool pmi_get(const char *message, bool v2, const char *name, char *buffer, size_t size);
/* A copy with `prefix` in front of the key, unless the key belongs to the process manager (names
 * that begin with PMI_, and the job attributes of PMI-2). Owned by the caller; NULL: out of memory.
 */
char *pmi_with_prefix(const char *message, bool v2, const char *prefix);

#endif
