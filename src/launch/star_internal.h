/* SPDX-License-Identifier: Apache-2.0 */
/* What the star's two halves share: meeting (star_meet.c) and rounds (star.c). */
#ifndef RETALLY_LAUNCH_STAR_INTERNAL_H
#define RETALLY_LAUNCH_STAR_INTERNAL_H

#include "launch/star.h"

#define STAR_HOST_SIZE 64

struct star_buffer {
	unsigned char *bytes;
	size_t n, capacity;
	size_t done; /* bytes at the front that were used up */
};
struct star_peer {
	int fd;   /* -1: gone */
	int rank; /* on rank 0 that of the peer; elsewhere the peer is 0 */
	bool said_bye, told_lost;
	bool waits_to_write; /* registered for EPOLLOUT */
	struct star_buffer in, out;
};
struct star_round {
	bool sent; /* we joined it */
	/* On rank 0: what each rank gave; NULL: nothing yet. */
	unsigned char **parts;
	uint32_t *sizes;
	int n_parts;
};
struct star {
	int rank, size;
	int epoll;
	int wake; /* eventfd: something is to be pumped although no socket is ready */
	char (*hosts)[STAR_HOST_SIZE];
	struct star_peer *peers; /* rank 0: size - 1 of them, of rank i + 1; elsewhere one */
	int n_peers;
	struct star_round rounds[STAR_KINDS];
	/* Finished rounds and bad news not told yet, as frames. */
	struct star_buffer news;
	unsigned char *told; /* what the last star_news points to */
};

/* Connects all peers: fds and ranks are filled, sockets are blocking still. */
int star_meet(struct star *s, const struct star_request *request, struct error *err);

#endif
