/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child of the PMIx server for one pass: libpmix, the namespace of the pass, and messages
 * between its ranks and the supervisor until the pass ends.
 */
#define LOG_DOMAIN "pmix"
#include "base/log.h"
#include "launch/pmix_server.h"
#include "launch/pmix_server_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void pass_check(const char *what, int status)
{
	char text[200];

	if (status == PMIX_ABI_SUCCESS || status == PMIX_ABI_DONE)
		return;
	snprintf(text, sizeof(text), "libpmix: %s failed: %.100s", what,
		 pmix_server.api.PMIx_Error_string(status));
	pmix_server_fail(RC_ERROR, text);
}

static void on_step(int status, void *data)
{
	(void)data;
	pthread_mutex_lock(&pmix_server.lock);
	pmix_server.step_done = true;
	pmix_server.step_status = status;
	pthread_cond_signal(&pmix_server.changed);
	pthread_mutex_unlock(&pmix_server.lock);
}

static void pass_step_begin(void)
{
	pthread_mutex_lock(&pmix_server.lock);
	pmix_server.step_done = false;
	pthread_mutex_unlock(&pmix_server.lock);
}

/* Waits for on_step when the call said that it will come. */
static void pass_step_end(const char *what, int status)
{
	struct timespec until;
	int rc = 0;

	if (status == PMIX_ABI_SUCCESS) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += PMIX_SERVER_STEP_MS / 1000;
		pthread_mutex_lock(&pmix_server.lock);
		while (!pmix_server.step_done && rc != ETIMEDOUT)
			rc = pthread_cond_timedwait(&pmix_server.changed, &pmix_server.lock,
						    &until);
		status = pmix_server.step_status;
		rc = pmix_server.step_done ? 0 : ETIMEDOUT;
		pthread_mutex_unlock(&pmix_server.lock);
	}
	if (rc) {
		char text[100];

		snprintf(text, sizeof(text), "libpmix: %s did not end within %d s", what,
			 PMIX_SERVER_STEP_MS / 1000);
		pmix_server_fail(RC_ERROR, text);
	}
	pass_check(what, status);
}

static struct pmix_abi_proc pass_proc(int rank)
{
	struct pmix_abi_proc p = {.rank = (uint32_t)rank};

	memcpy(p.space, pmix_server.space, sizeof(p.space));
	return p;
}

static void pass_open_library(void)
{
	static struct pmix_abi_info info[2] = {
		{.key = PMIX_ABI_KEY_SERVER_TMPDIR, .value.type = PMIX_ABI_STRING},
		{.key = PMIX_ABI_KEY_HOSTNAME, .value.type = PMIX_ABI_STRING},
	};
	struct error err = {0};
	int lost = PMIX_ABI_LOST_CONNECTION;

	if (pmix_api_open(&pmix_server.api, pmix_server.program[0] ? pmix_server.program : NULL,
			  &err))
		pmix_server_fail(err.code, err.message);
	info[0].value.data.string = pmix_server.folder;
	info[1].value.data.string = pmix_server.job.hosts[pmix_server.job.local[0]];
	pass_check("PMIx_server_init",
		   pmix_server.api.PMIx_server_init(pmix_upcall_module(), info, 2));
	if (pmix_server.api.PMIx_Register_event_handler(&lost, 1, NULL, 0, pmix_upcall_lost, NULL,
							NULL) < 0)
		log_info("libpmix does not tell of ranks that vanish");
}

/* The variables of each local rank. */
static void pass_environments(struct str *out)
{
	for (int i = 0; i < pmix_server.job.n_local; i++) {
		struct pmix_abi_proc p = pass_proc(pmix_server.job.local[i]);
		char **variables = calloc(1, sizeof(*variables));

		pass_check("PMIx_server_setup_fork",
			   pmix_server.api.PMIx_server_setup_fork(&p, &variables));
		for (char **v = variables; v && *v; v++) {
			str_add_bytes(out, *v, strlen(*v) + 1);
			free(*v);
		}
		free(variables);
		str_add_char(out, '\0');
	}
}

static void pass_begin(int index)
{
	struct pmix_job_info info;
	struct str out = STR_INIT;
	struct error err = {0};

	/* As wide in every pass: the size of the environment moves the stack. */
	memset(pmix_server.space, 0, sizeof(pmix_server.space));
	snprintf(pmix_server.space, sizeof(pmix_server.space), "%s.%04d", pmix_server.name, index);
	/* Its own: the library removes it when a client asks for cleanup. */
	snprintf(pmix_server.pass_folder, sizeof(pmix_server.pass_folder), "%s/%04d",
		 pmix_server.folder, index);
	if (mkdir(pmix_server.pass_folder, 0700)) {
		error_set_errno(&err, RC_IO, errno, "cannot make '%s'", pmix_server.pass_folder);
		pmix_server_fail(err.code, err.message);
	}
	if (pmix_job_describe(&pmix_server.job, &pmix_server.api, pmix_server.space,
			      pmix_server.pass_folder, &info, &err))
		pmix_server_fail(err.code, err.message);
	pass_step_begin();
	pass_step_end("PMIx_server_register_nspace",
		      pmix_server.api.PMIx_server_register_nspace(
			      pmix_server.space, pmix_server.job.n_local, info.items, info.n,
			      on_step, NULL));
	pmix_job_info_release(&info);
	for (int i = 0; i < pmix_server.job.n_local; i++) {
		struct pmix_abi_proc p = pass_proc(pmix_server.job.local[i]);

		pass_step_begin();
		pass_step_end("PMIx_server_register_client",
			      pmix_server.api.PMIx_server_register_client(&p, geteuid(), getegid(),
									  NULL, on_step, NULL));
	}
	pass_environments(&out);
	if (str_is_failed(&out))
		pmix_server_fail(RC_NO_MEMORY, "out of memory");
	pmix_server_reply(PMIX_MESSAGE_BEGUN, index, 0, out.text, out.size);
	str_release(&out);
}

static void pass_end(void)
{
	struct pmix_upcall *u;

	/* The clients that were waiting are gone. Before the namespace: the library still knows
	 * what the fence belongs to. */
	if (pmix_server.fence)
		pmix_server.fence->done(PMIX_ABI_ERROR, NULL, 0, pmix_server.fence->data, NULL,
					NULL);
	pmix_upcall_free(pmix_server.fence);
	pmix_server.fence = NULL;
	while ((u = pmix_upcall_take())) {
		if (u->done)
			u->done(PMIX_ABI_ERROR, NULL, 0, u->data, NULL, NULL);
		pmix_upcall_free(u);
	}
	for (int i = 0; i < pmix_server.job.n_local; i++) {
		struct pmix_abi_proc p = pass_proc(pmix_server.job.local[i]);

		pass_step_begin();
		pmix_server.api.PMIx_server_deregister_client(&p, on_step, NULL);
		pass_step_end("PMIx_server_deregister_client", PMIX_ABI_SUCCESS);
	}
	pass_step_begin();
	pmix_server.api.PMIx_server_deregister_nspace(pmix_server.space, on_step, NULL);
	pass_step_end("PMIx_server_deregister_nspace", PMIX_ABI_SUCCESS);
}

/* The processes of the pass are gone: who of them did not finalize. */
static void pass_tell_unfinished(void)
{
	int n = 0, first = -1;

	pthread_mutex_lock(&pmix_server.lock);
	for (int i = 0; i < pmix_server.job.size; i++) {
		if (!pmix_server.clients[i].connected || pmix_server.clients[i].finalized)
			continue;
		n++;
		first = first < 0 ? i : first;
	}
	pthread_mutex_unlock(&pmix_server.lock);
	if (n)
		pmix_server_reply(PMIX_MESSAGE_UNFINISHED, n, first, NULL, 0);
}

static void pass_fence_done(const struct pmix_message *m, const char *payload)
{
	struct pmix_upcall *u = pmix_server.fence;
	char *copy;

	if (!u)
		return; /* of a pass that has ended meanwhile */
	copy = malloc(m->size + 1u);
	if (!copy)
		pmix_server_fail(RC_NO_MEMORY, "out of memory");
	pmix_server.fence = NULL;
	memcpy(copy, payload, m->size);
	u->done(m->a, copy, m->size, u->data, free, copy);
	pmix_upcall_free(u);
}

/* What libpmix told, to the supervisor; one fence at a time. */
static void pass_drain(void)
{
	struct pmix_upcall *u;
	uint64_t count;

	while (read(pmix_server.wake, &count, sizeof(count)) < 0 && errno == EINTR)
		;
	while (!pmix_server.fence && (u = pmix_upcall_take())) {
		if (u->type == PMIX_MESSAGE_FENCE) {
			pmix_server.fence = u;
			pmix_server_reply(PMIX_MESSAGE_FENCE, 0, 0, u->bytes, u->n);
		} else {
			pmix_server_reply(u->type, u->rank, u->status, u->bytes, u->n);
			pmix_upcall_free(u);
		}
	}
}

/* Until the pass ends. False: the supervisor is gone. */
static bool pass_loop(void)
{
	struct pmix_message m;
	const char *payload;
	int rc;

	for (;;) {
		struct pollfd polls[2] = {{.fd = pmix_server.link.fd, .events = POLLIN},
					  {.fd = pmix_server.wake, .events = POLLIN}};

		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			pmix_server_fail(RC_IO, "the PMIx server cannot wait");
		pass_drain();
		while ((rc = pmix_link_receive(&pmix_server.link, &m, &payload)) > 0) {
			if (m.type == PMIX_MESSAGE_END)
				return true;
			if (m.type != PMIX_MESSAGE_FENCE_DONE)
				pmix_server_fail(RC_INVALID, "the PMIx server got a wrong message");
			pass_fence_done(&m, payload);
			pass_drain();
		}
		if (rc < 0)
			return false;
	}
}

/* The library is stuck in its start, which nothing else bounds. */
static void pass_is_stuck(int signal)
{
	(void)signal;
	_exit(PMIX_PASS_STUCK);
}

void pmix_pass_run(int index)
{
	pthread_condattr_t monotonic;
	bool ended;

	pthread_mutex_init(&pmix_server.lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&pmix_server.changed, &monotonic);
	pmix_server.last = &pmix_server.first;
	pmix_server.clients = calloc((size_t)pmix_server.job.size, sizeof(*pmix_server.clients));
	if (!pmix_server.clients)
		pmix_server_fail(RC_NO_MEMORY, "out of memory");
	pmix_server.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pmix_server.wake < 0)
		pmix_server_fail(RC_IO, "the PMIx server cannot wait");
	signal(SIGALRM, pass_is_stuck);
	alarm(PMIX_SERVER_STEP_MS / 1000);
	pass_open_library();
	alarm(0);
	signal(SIGALRM, SIG_DFL);
	pass_begin(index);
	ended = pass_loop();
	/* Should the library get stuck in ending: the clock ends us. */
	alarm(PMIX_SERVER_STEP_MS / 1000);
	if (ended)
		pass_tell_unfinished();
	pass_end();
	pmix_server.api.PMIx_server_finalize();
	_exit(ended ? 0 : PMIX_PASS_LEFT);
}
