/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PMIx server: a process that stays, and for each pass a child of it that has libpmix and talks
 * to the supervisor over the same socket, while the first one waits for it. A fresh process for
 * each pass, because with one libpmix for all of them (4.2.2) ranks of a later pass hung in
 * MPI_Init after passes that did not finalize. The cause was not proven; with a fresh process it
 * was not seen.
 *
 * libpmix calls us in a thread of its own; all that its calls do is to queue what happened.
 */
#define LOG_DOMAIN "pmix"
#include "launch/pmix_server.h"

#include "base/log.h"
#include "launch/pmix_environment.h"
#include "launch/pmix_job.h"
#include "launch/pmix_link.h"
#include "launch/pmix_upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What libpmix told us, on its way to the main thread. */
struct server_upcall {
	struct server_upcall *next;
	enum pmix_message_type type; /* FENCE, ABORT or LOST */
	char *bytes;                 /* owned */
	size_t n;
	int rank, status;
	pmix_abi_modex_done *done; /* of a fence */
	void *data;
};

static struct server {
	struct pmix_link link;
	struct pmix_api api;
	struct pmix_job job;
	int upstream;     /* pmix_upstream.h; -1: the launcher needs no word */
	char name[128];   /* of the launch */
	char folder[256]; /* of the pass's server; "" while there is none */
	char space[PMIX_ABI_NAMESPACE_SIZE];
	char program[512];
	char pass_folder[300];
	struct server_upcall *fence; /* given to the supervisor, not answered yet */
	int wake;                    /* eventfd: the queue is not empty */
	pthread_mutex_t lock;        /* of the rest */
	pthread_cond_t changed;
	struct server_upcall *first, **last;
	struct server_client {
		bool connected, finalized;
	} * clients; /* by rank */
	bool step_done;
	int step_status;
} server;

/* ---- in libpmix's thread ---- */

static void server_queue(struct server_upcall *u)
{
	uint64_t one = 1;

	pthread_mutex_lock(&server.lock);
	*server.last = u;
	server.last = &u->next;
	pthread_mutex_unlock(&server.lock);
	while (write(server.wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void server_free(void *bytes)
{
	free(bytes);
}

static bool server_is_rank(const struct pmix_abi_proc *proc)
{
	return proc && proc->rank < (uint32_t)server.job.size;
}

/* PMIX_ABI_DONE and no call of `done`: what calls us answers the client then. */
static int on_connected(const struct pmix_abi_proc *proc, void *object, pmix_abi_op_done *done,
			void *data)
{
	(void)object;
	(void)done;
	(void)data;
	pthread_mutex_lock(&server.lock);
	if (server_is_rank(proc))
		server.clients[proc->rank].connected = true;
	pthread_mutex_unlock(&server.lock);
	return PMIX_ABI_DONE;
}

static int on_finalized(const struct pmix_abi_proc *proc, void *object, pmix_abi_op_done *done,
			void *data)
{
	(void)object;
	(void)done;
	(void)data;
	pthread_mutex_lock(&server.lock);
	if (server_is_rank(proc))
		server.clients[proc->rank].finalized = true;
	pthread_mutex_unlock(&server.lock);
	return PMIX_ABI_DONE;
}

/* Events of ranks that are lost at the same time may be one, with the first as its source. */
static void on_lost(size_t handler, int status, const struct pmix_abi_proc *source,
		    struct pmix_abi_info *info, size_t n_info, struct pmix_abi_info *results,
		    size_t n_results, pmix_abi_event_done *done, void *data)
{
	struct server_upcall *u = NULL;
	bool vanished = false;

	(void)handler;
	(void)status;
	(void)info;
	(void)n_info;
	(void)results;
	(void)n_results;
	pthread_mutex_lock(&server.lock);
	if (server_is_rank(source))
		vanished = server.clients[source->rank].connected &&
			   !server.clients[source->rank].finalized;
	pthread_mutex_unlock(&server.lock);
	if (vanished)
		u = calloc(1, sizeof(*u));
	if (u) {
		u->type = PMIX_MESSAGE_LOST;
		u->rank = (int)source->rank;
		server_queue(u);
	}
	if (done)
		done(PMIX_ABI_SUCCESS, NULL, 0, NULL, NULL, data);
}

static int on_abort(const struct pmix_abi_proc *proc, void *object, int status, const char *text,
		    struct pmix_abi_proc *procs, size_t n_procs, pmix_abi_op_done *done, void *data)
{
	struct server_upcall *u = calloc(1, sizeof(*u));

	(void)object;
	(void)procs;
	(void)n_procs;
	if (u) {
		u->type = PMIX_MESSAGE_ABORT;
		u->rank = (int)proc->rank;
		u->status = status;
		u->bytes = strndup(text ? text : "", 150);
		u->n = u->bytes ? strlen(u->bytes) + 1 : 0;
		server_queue(u);
	}
	/* The program waits for `done` before it exits. The launcher is to hear of its abort before
	 * it sees an exit, and then ends the program; should it not, its supervisor will. */
	if (server.upstream >= 0)
		pmix_upstream_tell(server.upstream, status);
	else if (done)
		done(PMIX_ABI_SUCCESS, data);
	return PMIX_ABI_SUCCESS;
}

/* Whether a fence is of processes of this node alone; false with *whole_out: of the whole job. */
static bool fence_is_local(const struct pmix_abi_proc *procs, size_t n, bool *whole_out)
{
	const struct pmix_job *job = &server.job;
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
	struct server_upcall *u;
	bool whole;

	(void)info;
	(void)n_info;
	if (fence_is_local(procs, n_procs, &whole)) {
		done(PMIX_ABI_SUCCESS, bytes, n, data, server_free, bytes);
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
	server_queue(u);
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

static void on_step(int status, void *data)
{
	(void)data;
	pthread_mutex_lock(&server.lock);
	server.step_done = true;
	server.step_status = status;
	pthread_cond_signal(&server.changed);
	pthread_mutex_unlock(&server.lock);
}

/* ---- main thread ---- */

static int server_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

static void server_remove(char *folder)
{
	if (folder[0])
		nftw(folder, server_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	folder[0] = '\0';
}

static void server_exit(int status) __attribute__((noreturn));
static void server_exit(int status)
{
	server_remove(server.folder);
	_exit(status);
}

static void server_fail(int code, const char *text) __attribute__((noreturn));
static void server_fail(int code, const char *text)
{
	struct pmix_message m = {
		.type = PMIX_MESSAGE_FAILED, .size = (uint32_t)strlen(text) + 1, .a = code};

	pmix_link_send(&server.link, &m, text, 1000);
	server_exit(1);
}

static void server_reply(enum pmix_message_type type, int a, int b, const void *payload, size_t n)
{
	struct pmix_message m = {.type = (uint32_t)type, .size = (uint32_t)n, .a = a, .b = b};

	/* No limit: a supervisor that was stopped takes it when it is continued. */
	if (!pmix_link_send(&server.link, &m, payload, -1))
		server_exit(0);
}

static void server_check(const char *what, int status)
{
	char text[200];

	if (status == PMIX_ABI_SUCCESS || status == PMIX_ABI_DONE)
		return;
	snprintf(text, sizeof(text), "libpmix: %s failed: %.100s", what,
		 server.api.PMIx_Error_string(status));
	server_fail(RC_ERROR, text);
}

static void server_step_begin(void)
{
	pthread_mutex_lock(&server.lock);
	server.step_done = false;
	pthread_mutex_unlock(&server.lock);
}

/* Waits for on_step when the call said that it will come. */
static void server_step_end(const char *what, int status)
{
	struct timespec until;
	int rc = 0;

	if (status == PMIX_ABI_SUCCESS) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += PMIX_SERVER_STEP_MS / 1000;
		pthread_mutex_lock(&server.lock);
		while (!server.step_done && rc != ETIMEDOUT)
			rc = pthread_cond_timedwait(&server.changed, &server.lock, &until);
		status = server.step_status;
		rc = server.step_done ? 0 : ETIMEDOUT;
		pthread_mutex_unlock(&server.lock);
	}
	if (rc) {
		char text[100];

		snprintf(text, sizeof(text), "libpmix: %s did not end within %d s", what,
			 PMIX_SERVER_STEP_MS / 1000);
		server_fail(RC_ERROR, text);
	}
	server_check(what, status);
}

static struct pmix_abi_proc server_proc(int rank)
{
	struct pmix_abi_proc p = {.rank = (uint32_t)rank};

	memcpy(p.space, server.space, sizeof(p.space));
	return p;
}

static void server_open_library(void)
{
	static struct pmix_abi_module module = {
		.client_connected = on_connected,
		.client_finalized = on_finalized,
		.abort = on_abort,
		.fence = on_fence,
		.direct_modex = on_modex,
		.job_control = on_job_control,
	};
	static struct pmix_abi_info info[2] = {
		{.key = PMIX_ABI_KEY_SERVER_TMPDIR, .value.type = PMIX_ABI_STRING},
		{.key = PMIX_ABI_KEY_HOSTNAME, .value.type = PMIX_ABI_STRING},
	};
	struct error err = {0};
	int lost = PMIX_ABI_LOST_CONNECTION;

	if (pmix_api_open(&server.api, server.program[0] ? server.program : NULL, &err))
		server_fail(err.code, err.message);
	info[0].value.data.string = server.folder;
	info[1].value.data.string = server.job.hosts[server.job.local[0]];
	server_check("PMIx_server_init", server.api.PMIx_server_init(&module, info, 2));
	if (server.api.PMIx_Register_event_handler(&lost, 1, NULL, 0, on_lost, NULL, NULL) < 0)
		log_info("libpmix does not tell of ranks that vanish");
}

/* The variables of each local rank. */
static void server_environments(struct str *out)
{
	for (int i = 0; i < server.job.n_local; i++) {
		struct pmix_abi_proc p = server_proc(server.job.local[i]);
		char **variables = calloc(1, sizeof(*variables));

		server_check("PMIx_server_setup_fork",
			     server.api.PMIx_server_setup_fork(&p, &variables));
		for (char **v = variables; v && *v; v++) {
			str_add_bytes(out, *v, strlen(*v) + 1);
			free(*v);
		}
		free(variables);
		str_add_char(out, '\0');
	}
}

static void server_begin(int index)
{
	struct pmix_job_info info;
	struct str out = STR_INIT;
	struct error err = {0};

	/* As wide in every pass: the size of the environment moves the stack. */
	memset(server.space, 0, sizeof(server.space));
	snprintf(server.space, sizeof(server.space), "%s.%04d", server.name, index);
	/* Its own: the library removes it when a client asks for cleanup. */
	snprintf(server.pass_folder, sizeof(server.pass_folder), "%s/%04d", server.folder, index);
	if (mkdir(server.pass_folder, 0700)) {
		error_set_errno(&err, RC_IO, errno, "cannot make '%s'", server.pass_folder);
		server_fail(err.code, err.message);
	}
	if (pmix_job_describe(&server.job, &server.api, server.space, server.pass_folder, &info,
			      &err))
		server_fail(err.code, err.message);
	server_step_begin();
	server_step_end("PMIx_server_register_nspace",
			server.api.PMIx_server_register_nspace(server.space, server.job.n_local,
							       info.items, info.n, on_step, NULL));
	pmix_job_info_release(&info);
	for (int i = 0; i < server.job.n_local; i++) {
		struct pmix_abi_proc p = server_proc(server.job.local[i]);

		server_step_begin();
		server_step_end("PMIx_server_register_client",
				server.api.PMIx_server_register_client(&p, geteuid(), getegid(),
								       NULL, on_step, NULL));
	}
	server_environments(&out);
	if (str_is_failed(&out))
		server_fail(RC_NO_MEMORY, "out of memory");
	server_reply(PMIX_MESSAGE_BEGUN, index, 0, out.text, out.size);
	str_release(&out);
}

static void server_upcall_free(struct server_upcall *u)
{
	if (!u)
		return;
	free(u->bytes);
	free(u);
}

static struct server_upcall *server_take(void)
{
	struct server_upcall *u;

	pthread_mutex_lock(&server.lock);
	u = server.first;
	if (u) {
		server.first = u->next;
		if (!server.first)
			server.last = &server.first;
		u->next = NULL;
	}
	pthread_mutex_unlock(&server.lock);
	return u;
}

static void server_end(void)
{
	struct server_upcall *u;

	/* The clients that were waiting are gone. Before the namespace: the library still knows
	 * what the fence belongs to. */
	if (server.fence)
		server.fence->done(PMIX_ABI_ERROR, NULL, 0, server.fence->data, NULL, NULL);
	server_upcall_free(server.fence);
	server.fence = NULL;
	while ((u = server_take())) {
		if (u->done)
			u->done(PMIX_ABI_ERROR, NULL, 0, u->data, NULL, NULL);
		server_upcall_free(u);
	}
	for (int i = 0; i < server.job.n_local; i++) {
		struct pmix_abi_proc p = server_proc(server.job.local[i]);

		server_step_begin();
		server.api.PMIx_server_deregister_client(&p, on_step, NULL);
		server_step_end("PMIx_server_deregister_client", PMIX_ABI_SUCCESS);
	}
	server_step_begin();
	server.api.PMIx_server_deregister_nspace(server.space, on_step, NULL);
	server_step_end("PMIx_server_deregister_nspace", PMIX_ABI_SUCCESS);
}

/* The processes of the pass are gone: who of them did not finalize. */
static void server_tell_unfinished(void)
{
	int n = 0, first = -1;

	pthread_mutex_lock(&server.lock);
	for (int i = 0; i < server.job.size; i++) {
		if (!server.clients[i].connected || server.clients[i].finalized)
			continue;
		n++;
		first = first < 0 ? i : first;
	}
	pthread_mutex_unlock(&server.lock);
	if (n)
		server_reply(PMIX_MESSAGE_UNFINISHED, n, first, NULL, 0);
}

static void server_fence_done(const struct pmix_message *m, const char *payload)
{
	struct server_upcall *u = server.fence;
	char *copy;

	if (!u)
		return; /* of a pass that has ended meanwhile */
	copy = malloc(m->size + 1u);
	if (!copy)
		server_fail(RC_NO_MEMORY, "out of memory");
	server.fence = NULL;
	memcpy(copy, payload, m->size);
	u->done(m->a, copy, m->size, u->data, server_free, copy);
	server_upcall_free(u);
}

/* What libpmix told, to the supervisor; one fence at a time. */
static void server_drain(void)
{
	struct server_upcall *u;
	uint64_t count;

	while (read(server.wake, &count, sizeof(count)) < 0 && errno == EINTR)
		;
	while (!server.fence && (u = server_take())) {
		if (u->type == PMIX_MESSAGE_FENCE) {
			server.fence = u;
			server_reply(PMIX_MESSAGE_FENCE, 0, 0, u->bytes, u->n);
		} else {
			server_reply(u->type, u->rank, u->status, u->bytes, u->n);
			server_upcall_free(u);
		}
	}
}

/* Until the pass ends. False: the supervisor is gone. */
static bool server_loop(void)
{
	struct pmix_message m;
	const char *payload;
	int rc;

	for (;;) {
		struct pollfd polls[2] = {{.fd = server.link.fd, .events = POLLIN},
					  {.fd = server.wake, .events = POLLIN}};

		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			server_fail(RC_IO, "the PMIx server cannot wait");
		server_drain();
		while ((rc = pmix_link_receive(&server.link, &m, &payload)) > 0) {
			if (m.type == PMIX_MESSAGE_END)
				return true;
			if (m.type != PMIX_MESSAGE_FENCE_DONE)
				server_fail(RC_INVALID, "the PMIx server got a wrong message");
			server_fence_done(&m, payload);
			server_drain();
		}
		if (rc < 0)
			return false;
	}
}

/* ---- the children ---- */

#define SERVER_CHILD_LEFT 2 /* exit status: the supervisor is gone */

static void child_probe(int unused)
{
	struct error err = {0};

	(void)unused;
	if (pmix_api_open(&server.api, server.program[0] ? server.program : NULL, &err))
		server_fail(err.code, err.message);
	log_info("'%s', OpenPMIx %u.%u, serves %d of %d ranks", server.api.path, server.api.major,
		 server.api.minor, server.job.n_local, server.job.size);
	server_reply(PMIX_MESSAGE_OPENED, (int)server.api.major, (int)server.api.minor,
		     server.api.path, strlen(server.api.path) + 1);
}

static void child_pass(int index)
{
	pthread_condattr_t monotonic;
	bool ended;

	pthread_mutex_init(&server.lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&server.changed, &monotonic);
	server.last = &server.first;
	server.clients = calloc((size_t)server.job.size, sizeof(*server.clients));
	if (!server.clients)
		server_fail(RC_NO_MEMORY, "out of memory");
	server.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server.wake < 0)
		server_fail(RC_IO, "the PMIx server cannot wait");
	server_open_library();
	server_begin(index);
	ended = server_loop();
	/* Should the library get stuck in ending: the clock ends us. */
	alarm(PMIX_SERVER_STEP_MS / 1000);
	if (ended)
		server_tell_unfinished();
	server_end();
	server.api.PMIx_server_finalize();
	_exit(ended ? 0 : SERVER_CHILD_LEFT);
}

static void server_in_child(void (*work)(int), int index)
{
	pid_t parent = getpid(), pid = fork();
	char text[100];
	int status = 0;

	if (pid < 0)
		server_fail(RC_ERROR, "the PMIx server cannot start a process");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(SERVER_CHILD_LEFT);
		work(index);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	server_remove(server.folder);
	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text), "the PMIx server died of signal %d", WTERMSIG(status));
		server_fail(RC_ERROR, text);
	}
	if (status)
		server_exit(1); /* it said why, or there is nobody to tell */
}

/* ---- the process that stays ---- */

static void server_open(const struct pmix_message *m, const char *payload)
{
	size_t at = 0;
	const char *name = pmix_link_string(payload, m->size, &at);
	const char *program = pmix_link_string(payload, m->size, &at), **hosts;
	struct error err = {0};
	int n = 0;

	if (m->a < 1 || !name || !program || server.job.size)
		server_fail(RC_INVALID, "the PMIx server was opened wrongly");
	hosts = calloc((size_t)m->a, sizeof(*hosts));
	while (hosts && n < m->a && (hosts[n] = pmix_link_string(payload, m->size, &at)))
		n++;
	if (n != m->a || pmix_job_init(&server.job, hosts, n, m->b, &err))
		server_fail(RC_INVALID, err.code ? err.message : "a host name is missing");
	free(hosts);
	server.upstream = pmix_upstream_is_wanted() ? pmix_upstream_start() : -1;
	pmix_environment_clean();
	/* No key service is needed: only processes of our user connect. */
	setenv("PMIX_MCA_psec", "native", 1);
	snprintf(server.name, sizeof(server.name), "%s", name);
	if (strlen(program) < sizeof(server.program))
		memcpy(server.program, program, strlen(program) + 1);
	server_in_child(child_probe, 0);
}

static void server_pass(int index)
{
	const char *base = getenv("TMPDIR");
	struct error err = {0};

	if (!server.job.size)
		server_fail(RC_INVALID, "a pass was begun before the PMIx server was opened");
	snprintf(server.folder, sizeof(server.folder), "%.200s/retally-pmix.XXXXXX",
		 base && *base && strlen(base) < 200 ? base : "/tmp");
	if (!mkdtemp(server.folder)) {
		error_set_errno(&err, RC_IO, errno, "cannot make '%s'", server.folder);
		server.folder[0] = '\0';
		server_fail(err.code, err.message);
	}
	server_in_child(child_pass, index);
	server_reply(PMIX_MESSAGE_ENDED, 0, 0, NULL, 0);
}

/* Alone with the socket: nothing of the run's descriptors may stay open because of us, and what is
 * meant for the program or for the supervisor must not end us before they are done. */
static void server_isolate(int socket)
{
	static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
				      SIGUSR1, SIGUSR2, SIGTSTP, SIGTTOU, SIGTTIN};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;
	int null;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		sigaction(ignored[i], &ignore, NULL);
	sigaction(SIGALRM, &plain, NULL);
	sigaction(SIGCHLD, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A launcher that kills a job kills its process group: the folder would stay. We go by
	 * ourselves, by the end of file. */
	setpgid(0, 0);
	prctl(PR_SET_NAME, "retally-pmix");
	server.link.fd = fcntl(socket, F_DUPFD_CLOEXEC, 3);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (server.link.fd < 0 || null < 0)
		_exit(1);
	dup2(null, 0);
	dup2(null, 1);
	dup2(server.link.fd, 3);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	server.link.fd = 3;
	close_range(4, ~0u, 0);
}

void pmix_server_run(int socket)
{
	struct pmix_message m;
	const char *payload;

	server_isolate(socket);
	while (pmix_link_wait(&server.link, &m, &payload, -1) > 0) {
		if (m.type == PMIX_MESSAGE_OPEN)
			server_open(&m, payload);
		else if (m.type == PMIX_MESSAGE_BEGIN)
			server_pass(m.a);
		else if (m.type != PMIX_MESSAGE_FENCE_DONE) /* late: of a pass that has ended */
			server_fail(RC_INVALID, "the PMIx server got a wrong message");
	}
	server_exit(0);
}
