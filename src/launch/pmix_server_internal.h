/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the PMIx server share: pmix_server.c, the process that stays; pmix_pass.c, its
 * child for a pass; pmix_upcall.c, what libpmix calls there in a thread of its own. Each process
 * has one server.
 */
#ifndef RETALLY_LAUNCH_PMIX_SERVER_INTERNAL_H
#define RETALLY_LAUNCH_PMIX_SERVER_INTERNAL_H

#include "launch/pmix_api.h"
#include "launch/pmix_job.h"
#include "launch/pmix_link.h"

#include <pthread.h>

/* What libpmix told us, on its way to the main thread. */
struct pmix_upcall {
	struct pmix_upcall *next;
	enum pmix_message_type type; /* FENCE, ABORT or LOST */
	char *bytes;                 /* owned */
	size_t n;
	int rank, status;
	pmix_abi_modex_done *done; /* of a fence */
	void *data;
};

struct pmix_server {
	struct pmix_link link;
	struct pmix_api api;
	struct pmix_job job;
	int upstream;     /* pmix_upstream.h; -1: the launcher needs no word */
	char name[128];   /* of the launch */
	char folder[256]; /* of the pass's server; "" while there is none */
	char space[PMIX_ABI_NAMESPACE_SIZE];
	char program[512];
	char pass_folder[300];
	struct pmix_upcall *fence; /* given to the supervisor, not answered yet */
	int wake;                  /* eventfd: the queue is not empty */
	pthread_mutex_t lock;      /* of the rest */
	pthread_cond_t changed;
	struct pmix_upcall *first, **last;
	struct pmix_server_client {
		bool connected, finalized;
	} * clients; /* by rank */
	bool step_done;
	int step_status;
};
extern struct pmix_server pmix_server;

/* ---- pmix_server.c ---- */
/* Ends this process; the folder of the pass goes with it. */
void pmix_server_exit(int status) __attribute__((noreturn));
/* Tells the supervisor why, and ends this process. */
void pmix_server_fail(int code, const char *text) __attribute__((noreturn));
/* A message to the supervisor. Ends this process when it is gone. */
void pmix_server_reply(enum pmix_message_type type, int a, int b, const void *payload, size_t n);

/* ---- pmix_pass.c ---- */
/* Exit status: the supervisor is gone; the library did not start, and nothing was told. */
#define PMIX_PASS_LEFT  2
#define PMIX_PASS_STUCK 3
/* The whole life of the child of pass `index`; does not return. */
void pmix_pass_run(int index);

/* ---- pmix_upcall.c ---- */
/* The entries for PMIx_server_init, and the handler of lost connections. They only queue. */
struct pmix_abi_module *pmix_upcall_module(void);
void pmix_upcall_lost(size_t handler, int status, const struct pmix_abi_proc *source,
		      struct pmix_abi_info *info, size_t n_info, struct pmix_abi_info *results,
		      size_t n_results, pmix_abi_event_done *done, void *data);
/* The oldest in the queue, for the caller to free; NULL: none. From any thread. */
struct pmix_upcall *pmix_upcall_take(void);
void pmix_upcall_free(struct pmix_upcall *u);

#endif
