/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libpmix calls in a thread of its own. All that its calls do is to queue what happened, for
 * the main thread to take.
 */
#define LOG_DOMAIN "pmix"
#include "launch/pmix_server_internal.h"
#include "launch/pmix_upstream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void upcall_queue(struct pmix_upcall *u)
{
	uint64_t one = 1;

	pthread_mutex_lock(&pmix_server.lock);
	*pmix_server.last = u;
	pmix_server.last = &u->next;
	pthread_mutex_unlock(&pmix_server.lock);
	while (write(pmix_server.wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

struct pmix_upcall *pmix_upcall_take(void)
{
	struct pmix_upcall *u;

	pthread_mutex_lock(&pmix_server.lock);
	u = pmix_server.first;
	if (u) {
		pmix_server.first = u->next;
		if (!pmix_server.first)
			pmix_server.last = &pmix_server.first;
		u->next = NULL;
	}
	pthread_mutex_unlock(&pmix_server.lock);
	return u;
}

void pmix_upcall_free(struct pmix_upcall *u)
{
	if (!u)
		return;
	free(u->bytes);
	free(u);
}

static bool upcall_is_rank(const struct pmix_abi_proc *proc)
{
	return proc && proc->rank < (uint32_t)pmix_server.job.size;
}

/* PMIX_ABI_DONE and no call of `done`: what calls us answers the client then. */
static int upcall_note(const struct pmix_abi_proc *proc, bool connected, bool finalized)
{
	pthread_mutex_lock(&pmix_server.lock);
	if (upcall_is_rank(proc)) {
		pmix_server.clients[proc->rank].connected |= connected;
		pmix_server.clients[proc->rank].finalized |= finalized;
	}
	pthread_mutex_unlock(&pmix_server.lock);
	return PMIX_ABI_DONE;
}

static int on_connected(const struct pmix_abi_proc *proc, void *object, pmix_abi_op_done *done,
			void *data)
{
	(void)object;
	(void)done;
	(void)data;
	return upcall_note(proc, true, false);
}

static int on_finalized(const struct pmix_abi_proc *proc, void *object, pmix_abi_op_done *done,
			void *data)
{
	(void)object;
	(void)done;
	(void)data;
	return upcall_note(proc, false, true);
}

/* Events of ranks that are lost at the same time may be one, with the first as its source. */
void pmix_upcall_lost(size_t handler, int status, const struct pmix_abi_proc *source,
		      struct pmix_abi_info *info, size_t n_info, struct pmix_abi_info *results,
		      size_t n_results, pmix_abi_event_done *done, void *data)
{
	struct pmix_upcall *u = NULL;
	bool vanished = false;

	(void)handler;
	(void)status;
	(void)info;
	(void)n_info;
	(void)results;
	(void)n_results;
	pthread_mutex_lock(&pmix_server.lock);
	if (upcall_is_rank(source))
		vanished = pmix_server.clients[source->rank].connected &&
			   !pmix_server.clients[source->rank].finalized;
	pthread_mutex_unlock(&pmix_server.lock);
	if (vanished)
		u = calloc(1, sizeof(*u));
	if (u) {
		u->type = PMIX_MESSAGE_LOST;
		u->rank = (int)source->rank;
		upcall_queue(u);
	}
	if (done)
		done(PMIX_ABI_SUCCESS, NULL, 0, NULL, NULL, data);
}

static int on_abort(const struct pmix_abi_proc *proc, void *object, int status, const char *text,
		    struct pmix_abi_proc *procs, size_t n_procs, pmix_abi_op_done *done, void *data)
{
	struct pmix_upcall *u = calloc(1, sizeof(*u));

	(void)object;
	(void)procs;
	(void)n_procs;
	if (u) {
		u->type = PMIX_MESSAGE_ABORT;
		u->rank = (int)proc->rank;
		u->status = status;
		u->bytes = strndup(text ? text : "", 150);
		u->n = u->bytes ? strlen(u->bytes) + 1 : 0;
		upcall_queue(u);
	}
	/* The program waits for `done` before it exits. The launcher is to hear of its abort before
	 * it sees an exit, and then ends the program; should it not, its supervisor will. */
	if (pmix_server.upstream >= 0)
		pmix_upstream_tell(pmix_server.upstream, status);
	else if (done)
		done(PMIX_ABI_SUCCESS, data);
	return PMIX_ABI_SUCCESS;
}

/* Whether a fence is of processes of this node alone; false with *whole_out: of the whole job. */
static bool fence_is_local(const struct pmix_abi_proc *procs, size_t n, bool *whole_out)
{
	const struct pmix_job *job = &pmix_server.job;
	size_t here = 0;

	*whole_out = (n == 1 && procs[0].rank == PMIX_ABI_RANK_WILDCARD) || n == (size_t)job->size;
	for (size_t i = 0; i < n; i++)
		if (procs[i].rank < (uint32_t)job->size && job->nodes[procs[i].rank] == job->node)
			here++;
	return here == n || (*whole_out && job->n_nodes == 1);
}

static int on_fence(const struct pmix_abi_proc *procs, size_t n_procs,
		    const struct pmix_abi_info *info, size_t n_info, char *bytes, size_t n,
		    pmix_abi_modex_done *done, void *data)
{
	struct pmix_upcall *u;
	bool whole;

	(void)info;
	(void)n_info;
	if (fence_is_local(procs, n_procs, &whole)) {
		done(PMIX_ABI_SUCCESS, bytes, n, data, free, bytes);
		return PMIX_ABI_SUCCESS;
	}
	u = whole ? calloc(1, sizeof(*u)) : NULL;
	if (!u) {
		free(bytes);
		return whole ? PMIX_ABI_ERROR : PMIX_ABI_NOT_SUPPORTED;
	}
	u->type = PMIX_MESSAGE_FENCE;
	u->bytes = bytes;
	u->n = n;
	u->done = done;
	u->data = data;
	upcall_queue(u);
	return PMIX_ABI_SUCCESS;
}

static int on_modex(const struct pmix_abi_proc *proc, const struct pmix_abi_info *info,
		    size_t n_info, pmix_abi_modex_done *done, void *data)
{
	(void)proc;
	(void)info;
	(void)n_info;
	/* What a process published with global scope came with the fence. */
	if (done)
		done(PMIX_ABI_NOT_FOUND, NULL, 0, data, NULL, NULL);
	return PMIX_ABI_SUCCESS;
}

/* Nothing to do, but without it the library refuses "register cleanup", by which Open MPI 5 has
 * its shared-memory segments removed. */
static int on_job_control(const struct pmix_abi_proc *from, const struct pmix_abi_proc *targets,
			  size_t n_targets, const struct pmix_abi_info *directives,
			  size_t n_directives, pmix_abi_info_done *done, void *data)
{
	(void)from;
	(void)targets;
	(void)n_targets;
	(void)directives;
	(void)n_directives;
	(void)done;
	(void)data;
	return PMIX_ABI_DONE;
}

struct pmix_abi_module *pmix_upcall_module(void)
{
	static struct pmix_abi_module module = {
		.client_connected = on_connected,
		.client_finalized = on_finalized,
		.abort = on_abort,
		.fence = on_fence,
		.direct_modex = on_modex,
		.job_control = on_job_control,
	};

	return &module;
}
