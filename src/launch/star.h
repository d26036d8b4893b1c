/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The star: the supervisors of a launch, one per rank, joined over TCP around that of rank 0. It
 * carries *rounds*: every rank gives some bytes, and when all have, every rank gets all of them in
 * rank order. Barriers, the key exchange of a PMI server and the decision to run another pass are
 * rounds; besides them there is only *abort*, which reaches everybody at once, and the loss of a
 * rank, which is one.
 *
 * Meeting: rank 0 listens on a port the kernel picks and writes address, port and a fresh 128-bit
 * secret into DIR/.star-HASH (mode 0600, HASH of the launch's name), which the others read; it is
 * removed when all are there. Who connects must show, by a keyed hash over a challenge, that it
 * knows the secret, and so must rank 0. All of it has a time limit. Where all ranks are on one host
 * only the loopback address is bound.
 *
 * After star_open nothing blocks: wait for star_fd() to be readable, call star_pump until
 * STAR_NOTHING. There is one round at a time of each kind, and rounds of different kinds are
 * independent. Not thread-safe.
 */
#ifndef RETALLY_LAUNCH_STAR_H
#define RETALLY_LAUNCH_STAR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum star_kind {
	STAR_HELLO = 0,  /* taken by star_open: the host names */
	STAR_DECIDE = 1, /* between passes */
	STAR_PMI = 2,    /* barrier and keys of the PMI-1 server */
	STAR_PMIX = 3,   /* and of the PMIx server */
	STAR_KINDS = 8,  /* the others are free */
};
/* Of the file with the secret, while the ranks meet. */
#define STAR_SECRET_PREFIX ".star-"
#define STAR_ROUND_MAX     (64u << 20) /* bytes of a round, all ranks together */

struct star_request {
	int rank, size;
	int folder;          /* the run directory, open */
	const char *job;     /* name of the launch (launch/job.h); must not be "" */
	const char *host;    /* name of this machine */
	bool one_host;       /* all ranks are known to be on this machine */
	double wait_seconds; /* for all ranks to come */
	/* Asked now and then while waiting: true gives up. May be NULL. */
	bool (*give_up)(void *context);
	void *context;
};

struct star;

/* Meets the others. RC_NOT_FOUND: not all came in time (names one that did not, on rank 0); RC_END:
 * give_up said so; RC_EXISTS: another launch of that name is meeting here. */
int star_open(struct star **star_out, const struct star_request *request, struct error *err);
/* Says good-bye (nobody takes it for a loss) and frees. NULL is fine. */
void star_close(struct star *s);

int star_rank(const struct star *s);
int star_size(const struct star *s);
/* Host name of a rank. */
const char *star_host(const struct star *s, int rank);

int star_fd(const struct star *s);

/* Joins the next round of this kind. RC_INVALID while the last one is not over, RC_END when the
 * star is lost. */
int star_send(struct star *s, enum star_kind kind, const void *bytes, size_t n, struct error *err);
/* Tells everybody that this rank ends the job with this status. */
void star_abort(struct star *s, int status, const char *text);

enum star_event {
	STAR_NOTHING,
	STAR_ROUND,   /* kind, parts */
	STAR_ABORTED, /* rank, status, text: by star_abort of another rank */
	STAR_LOST,    /* rank, text: it is gone without a word; told once for each */
};
struct star_news {
	enum star_kind kind;
	int rank;
	int status;
	char text[160];
	/* One part per rank, see star_part; valid until the next call of star_pump. */
	const unsigned char *bytes;
	size_t size;
};
enum star_event star_pump(struct star *s, struct star_news *news_out);
/* The parts in rank order: start with *at = 0. False at the end. */
bool star_part(const struct star_news *news, size_t *at, const unsigned char **bytes_out,
	       size_t *n_out);

#endif
