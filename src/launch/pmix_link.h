/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between a supervisor and the PMIx server process of its node, over a stream socket: both
 * are the same binary, so the struct is the format. A payload of strings is a list of NUL-ended
 * texts.
 */
#ifndef RETALLY_LAUNCH_PMIX_LINK_H
#define RETALLY_LAUNCH_PMIX_LINK_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMIX_LINK_MAX (256u << 20) /* bytes of a message */

enum pmix_message_type {
	/* supervisor to server */
	PMIX_MESSAGE_OPEN = 1,   /* a = size, b = this node's first rank; strings: job name, path of
				  * the program, host of each rank */
	PMIX_MESSAGE_BEGIN,      /* a = index of the pass */
	PMIX_MESSAGE_FENCE_DONE, /* a = 0 or an enum pmix_abi_status; the bytes of all nodes */
	PMIX_MESSAGE_END,        /* the processes of the pass are gone */
	/* server to supervisor */
	PMIX_MESSAGE_OPENED = 32, /* a = major, b = minor version; strings: the library's path */
	PMIX_MESSAGE_BEGUN,       /* strings: for each local rank its variables, then "" */
	PMIX_MESSAGE_FENCE,       /* what this node has to give */
	PMIX_MESSAGE_ABORT,       /* a = rank, b = status; string: text */
	PMIX_MESSAGE_LOST,        /* a = rank: its connection is gone and it has not finalized */
	PMIX_MESSAGE_UNFINISHED,  /* before ENDED: a = how many ranks of this node did not finalize,
				   * b = the first of them */
	PMIX_MESSAGE_ENDED,
	PMIX_MESSAGE_FAILED, /* a = enum rc; string: a sentence. Nothing follows. */
};
struct pmix_message {
	uint32_t type;
	uint32_t size; /* of the payload */
	int32_t a, b;
};

struct pmix_link {
	int fd; /* -1: closed */
	struct str in;
	size_t used; /* bytes at the front that were taken */
};

/* Writes one message. timeout_ms as of poll(2), for the whole of it. False when the other side is
 * gone or takes nothing. Never raises SIGPIPE. */
bool pmix_link_send(struct pmix_link *l, const struct pmix_message *m, const void *payload,
		    int timeout_ms);
/* Takes what has come. 1: a message, its payload valid until the next call; 0: none is complete;
 * -1: the other side is gone, or sends nonsense. Does not block. */
int pmix_link_receive(struct pmix_link *l, struct pmix_message *m, const char **payload_out);
/* The same, but waits; 0: not in time. */
int pmix_link_wait(struct pmix_link *l, struct pmix_message *m, const char **payload_out,
		   int timeout_ms);
void pmix_link_close(struct pmix_link *l);

/* The next text of a payload of strings: starts with *at = 0. NULL at the end. */
const char *pmix_link_string(const char *payload, size_t size, size_t *at);

#endif
