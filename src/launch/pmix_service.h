/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PMIx server of our own for the program (Open MPI), as the supervisors use it: the first
 * supervisor of each node has one, and hands the variables of every rank of its node to the other
 * supervisors. libpmix starts threads, so the server is a process of its own.
 *
 *   start            forks the process; before the supervisor, so that it is no child of that and
 *                    never takes part in the reaping of a pass
 *   open             once the hosts of all ranks are known: loads libpmix
 *   begin, pump.., end   for each pass
 *   close            in the process that used it
 *   stop             in the process that started it
 *
 * Nothing blocks but open, begin, end and stop, which are bounded by PMIX_SERVICE_WAIT_MS: a server
 * that is stuck is an error of the pass, never a hang. During the pass, poll pmix_service_fd and
 * call pmix_service_pump until PMIX_NOTHING. Not thread-safe.
 */
#ifndef RETALLY_LAUNCH_PMIX_SERVICE_H
#define RETALLY_LAUNCH_PMIX_SERVICE_H

#include "base/error.h"
#include "launch/pmix_link.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PMIX_SERVICE_WAIT_MS 30000

/* How fences of several nodes are exchanged; a job on one node needs none. */
struct pmix_exchange {
	/* This node gives these bytes; it must not wait. When all nodes gave theirs, the owner
	 * calls pmix_service_fence_done with all of them, in any order, one after the other. */
	int (*fence)(void *data, const void *bytes, size_t n, struct error *err);
	void *data;
};

struct pmix_service {
	pid_t pid; /* 0: not started by this process */
	struct pmix_link link;
	struct pmix_exchange exchange;
	unsigned major, minor; /* of OpenPMIx, from open on */
	char library[512];     /* its path */
	bool in_pass;
	int unfinished; /* ranks of this node that began and never finalized, in the last pass */
	int first_unfinished;
};

struct pmix_service_job {
	const char *name;         /* of the launch: the same on all nodes, 100 bytes at most */
	const char *program;      /* path; its own libpmix is preferred. May be NULL. */
	const char *const *hosts; /* of each rank */
	int size;
	int rank; /* ours */
	struct pmix_exchange exchange;
};

enum pmix_event {
	PMIX_NOTHING,
	PMIX_ABORTED,  /* rank, status, text: a process called PMIx_Abort, as MPI_Abort does */
	PMIX_VANISHED, /* rank: its connection is gone, and it has not finalized */
	PMIX_LOST,     /* text: the server is gone; end the pass */
};
struct pmix_news {
	int rank, status;
	char text[512];
};

int pmix_service_start(struct pmix_service *s, struct error *err);
/* RC_NOT_FOUND, RC_UNSUPPORTED: as pmix_api_open, run by the server. */
int pmix_service_open(struct pmix_service *s, const struct pmix_service_job *job,
		      struct error *err);
/* A pass begins; index counts from 0, the same on all nodes. variables_out: for each rank of this
 * node, ascending, its NUL-ended "NAME=value" texts, then an empty one; valid until the next call.
 */
int pmix_service_begin(struct pmix_service *s, unsigned index, const char **variables_out,
		       size_t *size_out, struct error *err);
int pmix_service_fd(const struct pmix_service *s);
enum pmix_event pmix_service_pump(struct pmix_service *s, struct pmix_news *news_out);
/* All nodes gave their part of a fence. status 0, or negative: it failed. */
int pmix_service_fence_done(struct pmix_service *s, int status, const void *bytes, size_t n,
			    struct error *err);
/* All processes of the pass are gone, on this node. */
int pmix_service_end(struct pmix_service *s, struct error *err);
void pmix_service_close(struct pmix_service *s);
/* Closes and waits for the process, which goes by itself when all copies of the link are closed,
 * and is killed when it does not. */
void pmix_service_stop(struct pmix_service *s);

/* The variables of the i-th local rank in the list of pmix_service_begin: starts with *at = 0,
 * "NAME=value" each, NULL after the last. */
const char *pmix_service_variable(const char *variables, size_t size, int i, size_t *at);

#endif
