/* SPDX-License-Identifier: Apache-2.0 */
/* The star and the process manager of a rank, over the passes of a launch. */
#define LOG_DOMAIN "manager"
#include "base/hash.h"
#include "base/log.h"
#include "launch/manager_internal.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The program's PMI descriptor has a number as wide in every pass, out of the way of the low ones,
 * which a program may expect to be given next. */
#define MANAGER_FD_FROM 100

uint64_t manager_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool manager_is_open(const struct manager *m)
{
	return m->star || m->relay_open;
}

/* ---- the job ends ---- */

void manager_job_ended(struct manager *m, int status, const char *fmt, ...)
{
	va_list ap;

	if (m->standing == MANAGER_ENDED)
		return;
	m->standing = MANAGER_ENDED;
	m->ended_ns = manager_now();
	m->job_status = status > 0 && status < 256 ? status : 1;
	va_start(ap, fmt);
	vsnprintf(m->text, sizeof(m->text), fmt, ap);
	va_end(ap);
	log_info("%s", m->text);
}

void manager_abort(struct manager *m, int status, const char *text)
{
	if (m->told || !m->star)
		return;
	m->left_badly = true;
	if (m->standing == MANAGER_ENDED)
		return;
	m->told = true;
	manager_job_ended(m, status, "%s", text);
	star_abort(m->star, m->job_status, text);
}

/* An abort with this status says that a pass met its limit. */
#define MANAGER_STATUS_TIMED_OUT (-1)

void manager_time_out(struct manager *m)
{
	if (!m->star || m->standing != MANAGER_RUNS)
		return;
	m->standing = MANAGER_TIMED_OUT;
	m->ended_ns = manager_now();
	star_abort(m->star, MANAGER_STATUS_TIMED_OUT, "a pass met its time limit");
}

/* ---- waiting ---- */

static void manager_handle_star(struct manager *m, enum star_event event,
				const struct star_news *news)
{
	struct error err = {0};
	struct str all = STR_INIT;
	const unsigned char *part;
	size_t at = 0, n;

	if (event == STAR_ABORTED && news->status == MANAGER_STATUS_TIMED_OUT) {
		if (m->standing == MANAGER_RUNS) {
			m->standing = MANAGER_TIMED_OUT;
			m->ended_ns = manager_now();
			snprintf(m->text, sizeof(m->text), "rank %d met the time limit",
				 news->rank);
		}
		return;
	}
	if (event == STAR_ABORTED) {
		manager_job_ended(m, news->status, "rank %d: %s", news->rank, news->text);
		return;
	}
	if (event == STAR_LOST) {
		/* Whoever takes a process away without a word uses SIGKILL. */
		manager_job_ended(m, 128 + 9, "rank %d is gone: %s", news->rank, news->text);
		return;
	}
	if (news->kind == STAR_PMI && m->server_open) {
		if (pmi_server_round(&m->server, news, &err))
			manager_abort(m, 1, err.message);
	} else if (news->kind == STAR_PMIX && m->choice.pmix) {
		if (m->pmix) {
			while (star_part(news, &at, &part, &n))
				str_add_bytes(&all, (const char *)part, n);
			if (pmix_service_fence_done(m->pmix, str_is_failed(&all) ? -1 : 0,
						    str_text(&all), all.size, &err))
				manager_abort(m, 1, err.message);
			str_release(&all);
		} else if (star_send(m->star, STAR_PMIX, "", 0, &err)) {
			/* The next fence must not wait for us. */
			log_debug("%s", err.message);
		}
	} else {
		manager_rounds_keep(&m->rounds, news);
	}
}

void manager_vanished(struct manager *m, int rank)
{
	if (!m->choice.vanished || m->vanished_ns || !m->star)
		return;
	m->vanished_ns = manager_now();
	m->vanished_rank = rank;
}

/* Others still run: in the launcher's way, after its grace. */
void manager_check_vanished(struct manager *m)
{
	char text[80];

	if (!m->vanished_ns || m->standing != MANAGER_RUNS ||
	    manager_now() < m->vanished_ns + MANAGER_GRACE_NS)
		return;
	snprintf(text, sizeof(text), "the program of rank %d ended without MPI_Finalize",
		 m->vanished_rank);
	manager_abort(m, m->choice.vanished, text);
}

static void manager_pump_pmix(struct manager *m)
{
	struct pmix_news news;
	enum pmix_event event;

	while ((event = pmix_service_pump(m->pmix, &news)) != PMIX_NOTHING) {
		if (event == PMIX_LOST) {
			manager_abort(m, 1, news.text);
			return;
		}
		if (event == PMIX_VANISHED) {
			manager_vanished(m, news.rank);
			continue;
		}
		/* The rank's own supervisor will see its program end with the status; this is for
		 * one that does not get that far. */
		m->pmix_abort.is = true;
		m->pmix_abort.rank = news.rank;
		m->pmix_abort.status = news.status;
		if (m->standing == MANAGER_RUNS) {
			char text[160];

			snprintf(text, sizeof(text), "rank %d ended the job with status %d",
				 news.rank, news.status);
			star_abort(m->star, news.status & 255 ? news.status & 255 : 1, text);
			manager_job_ended(m, news.status & 255, "%s", text);
		}
	}
}

void manager_pump(struct manager *m)
{
	struct error err = {0};
	struct star_news news;
	enum star_event event;

	if (m->star)
		while ((event = star_pump(m->star, &news)) != STAR_NOTHING)
			manager_handle_star(m, event, &news);
	if (m->relay_open && pmi_relay_pump(&m->relay, &err) && !m->pump.code)
		m->pump = err;
	if (m->server_open && pmi_server_pump(&m->server, &err) && !m->pump.code)
		m->pump = err;
	if (m->server_open && m->server.aborted) {
		char text[80];

		/* MPICH's program now waits for its process manager to end it. */
		snprintf(text, sizeof(text), "its program ended the job with status %d",
			 m->server.abort_status);
		manager_abort(m, m->server.abort_status, text);
	}
	if (m->pmix)
		manager_pump_pmix(m);
	manager_check_vanished(m);
}

static int manager_poll_link(const struct pmi_link *l, struct pollfd *p)
{
	if (l->fd < 0)
		return 0;
	*p = (struct pollfd){.fd = l->fd,
			     .events =
				     (short)(POLLIN | (pmi_link_wants_to_write(l) ? POLLOUT : 0))};
	return 1;
}

int manager_polls(const struct manager *m, struct pollfd *polls)
{
	int n = 0;

	if (m->star)
		polls[n++] = (struct pollfd){.fd = star_fd(m->star), .events = POLLIN};
	if (m->relay_open) {
		n += manager_poll_link(&m->relay.up, polls + n);
		n += manager_poll_link(&m->relay.down, polls + n);
	}
	if (m->server_open)
		n += manager_poll_link(&m->server.down, polls + n);
	if (m->pmix && pmix_service_fd(m->pmix) >= 0)
		polls[n++] = (struct pollfd){.fd = pmix_service_fd(m->pmix), .events = POLLIN};
	return n;
}

int manager_round(struct manager *m, enum star_kind kind, const void *bytes, size_t n,
		  uint64_t until, struct star_news *news, struct error *err)
{
	enum manager_idle idle = MANAGER_STAY;
	uint64_t hurry = 0;
	int rc;

	if (m->standing == MANAGER_ENDED)
		return error_set(err, RC_ERROR, "%s", m->text);
	rc = star_send(m->star, kind, bytes, n, err);
	if (rc)
		return rc;
	for (;;) {
		uint64_t now = manager_now(), next;

		manager_pump(m);
		if (manager_rounds_take(&m->rounds, kind, news))
			return 0;
		if (m->standing == MANAGER_ENDED)
			return error_set(err, RC_ERROR, "%s", m->text);
		if (idle == MANAGER_LEAVE)
			return error_set(err, RC_END, "the run is to be left");
		if (idle == MANAGER_HURRY && !hurry)
			hurry = now + MANAGER_HURRY_NS;
		if (hurry && now >= hurry)
			return error_set(err, RC_END, "interrupted");
		if (until && now >= until)
			return error_set(err, RC_NOT_FOUND, "the other ranks were not met in time");
		next = until;
		if (hurry && (!next || hurry < next))
			next = hurry;
		if (!next || next > now + 1000000000u)
			next = now + 1000000000u;
		idle = m->request.owner.idle(m->request.owner.context, next);
	}
}

/* ---- open ---- */

static bool manager_give_up(void *context)
{
	const struct manager *m = context;

	return m->request.owner.idle(m->request.owner.context, 1) != MANAGER_STAY;
}

static int manager_meet(struct manager *m, struct error *err)
{
	struct star_request q = {
		.rank = m->choice.rank,
		.size = m->choice.size,
		.folder = m->request.folder,
		.job = m->choice.job,
		.host = m->request.host,
		.one_host = m->choice.one_host,
		.wait_seconds = m->request.wait_seconds > 0 ? m->request.wait_seconds
							    : MANAGER_WAIT_DEFAULT,
		.give_up = manager_give_up,
		.context = m,
	};
	const char *mine;
	int rc = star_open(&m->star, &q, err);

	if (rc)
		return rc;
	mine = star_host(m->star, m->choice.rank);
	m->leader = true;
	for (int i = 0; i < m->choice.size; i++) {
		bool here = !strcmp(star_host(m->star, i), mine);

		m->several_nodes = m->several_nodes || !here;
		if (here && i < m->choice.rank)
			m->leader = false;
	}
	return 0;
}

static int manager_give_fence(void *data, const void *bytes, size_t n, struct error *err)
{
	struct manager *m = data;

	return star_send(m->star, STAR_PMIX, bytes, n, err);
}

static int manager_open_pmix(struct manager *m, struct error *err)
{
	struct pmix_service_job job = {
		.name = m->choice.job,
		.program = m->request.program,
		.size = m->choice.size,
		.rank = m->choice.rank,
		.exchange = {.fence = manager_give_fence, .data = m},
	};
	char name[8 + HASH_TEXT_SIZE] = "retally-";
	const char **hosts;
	int rc;

	if (!m->request.pmix)
		return error_set(err, RC_ERROR, "the PMIx server was not started");
	if (!m->leader) {
		pmix_service_close(m->request.pmix);
		return 0;
	}
	/* A namespace is a word. */
	hash_text(job.name, strlen(job.name), name + 8);
	name[24] = '\0';
	job.name = name;
	hosts = calloc((size_t)job.size, sizeof(*hosts));
	if (!hosts)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (int i = 0; i < job.size; i++)
		hosts[i] = star_host(m->star, i);
	job.hosts = hosts;
	rc = pmix_service_open(m->request.pmix, &job, err);
	free(hosts);
	if (!rc)
		m->pmix = m->request.pmix;
	return rc;
}

static int manager_open_relay(struct manager *m, struct error *err)
{
	const char *fd = getenv("PMI_FD");
	int rc = pmi_relay_open(&m->relay, fd, getenv("PMI_PORT"), getenv("PMI_ID"), err);

	m->relay_open = !rc;
	if (rc || !m->relay.size[0])
		return rc;
	m->choice.rank = atoi(m->relay.rank);
	m->choice.size = atoi(m->relay.size);
	m->choice.one_host = m->choice.one_host || m->choice.size == 1;
	if (m->choice.size < 1 || m->choice.rank < 0 || m->choice.rank >= m->choice.size)
		return error_set(err, RC_INVALID, "PMI_PORT: rank %s of %s is no place",
				 m->relay.rank, m->relay.size);
	return 0;
}

/* A placeholder keeps the number free. */
static void manager_take_number(struct manager *m)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	m->number = fcntl(null, F_DUPFD_CLOEXEC, MANAGER_FD_FROM);
	if (m->number < 0)
		m->number = fcntl(null, F_DUPFD_CLOEXEC, 10);
	close(null);
}

int manager_open(struct manager *m, const struct manager_request *request, struct error *err)
{
	bool port;
	int rc = 0;

	*m = (struct manager){
		.request = *request, .choice = *request->choice, .number = -1, .child_end = -1};
	/* The one connection to PMI_PORT can be made once, and says who we are. */
	port = m->choice.relay && m->choice.size == SPOOL_RANK_NONE;
	if (port)
		rc = manager_open_relay(m, err);
	if (!rc)
		rc = manager_meet(m, err);
	if (!rc && m->choice.relay && !port)
		rc = manager_open_relay(m, err);
	if (!rc && m->choice.pmi) {
		rc = pmi_server_init(&m->server, m->star, err);
		m->server_open = !rc;
	}
	if (!rc && (m->choice.relay || m->choice.pmi)) {
		manager_take_number(m);
		if (m->number < 0)
			rc = error_set(err, RC_ERROR, "no descriptor is free");
	}
	/* What only this rank lacks is told in the first round, not by not coming to it. */
	if (!rc && m->choice.pmix && manager_open_pmix(m, &m->pump))
		m->pmix = NULL;
	if (rc && rc != RC_END)
		manager_go_alone(m);
	return rc;
}

void manager_go_alone(struct manager *m)
{
	/* Our connection to PMI_PORT is the only one there can be: the program goes on through it.
	 */
	bool keep = m->relay_open && m->relay.size[0] && m->relay.up.fd >= 0;
	struct pmi_relay relay = m->relay;

	if (keep)
		m->relay_open = false;
	manager_release(m);
	m->standing = MANAGER_RUNS;
	m->pump.code = 0;
	if (!keep)
		return;
	m->relay = relay;
	m->relay_open = true;
	manager_take_number(m);
}

/* ---- between passes and at the end ---- */

static void manager_end_pmix(struct manager *m)
{
	struct error err = {0};

	if (!m->pmix || !m->pmix_begun)
		return;
	m->pmix_begun = false;
	if (pmix_service_end(m->pmix, &err) && !m->pump.code)
		m->pump = err; /* told in the next round */
	/* Those that we ended had no time to. */
	if (m->pmix->unfinished && m->standing == MANAGER_RUNS) {
		m->unfinished = m->pmix->unfinished;
		m->first_unfinished = m->pmix->first_unfinished;
	}
}

void manager_decide(struct manager *m, const struct manager_vote *vote,
		    struct manager_verdict *verdict)
{
	unsigned char packed[MANAGER_VOTE_SIZE];
	struct manager_vote mine = *vote;
	struct star_news news;
	struct error err = {0};

	*verdict = (struct manager_verdict){.wall_ns = vote->wall_ns};
	if (!m->star)
		return;
	if (m->relay.spawned && mine.go_on) {
		mine.go_on = false;
		mine.reason = MANAGER_REASON_SPAWNED;
	}
	manager_vote_pack(&mine, packed);
	if (manager_round(m, STAR_DECIDE, packed, sizeof(packed), 0, &news, &err)) {
		snprintf(verdict->why, sizeof(verdict->why), "%.190s", err.message);
		if (err.code == RC_END)
			manager_abort(m, 128 + 15, "its run is being left");
	} else {
		manager_round_judge(&news, m->choice.rank, m->choice.size, &mine, verdict);
		if (m->relay.spawned && !verdict->why[0])
			snprintf(verdict->why, sizeof(verdict->why),
				 "the program started further MPI processes");
	}
	m->vanished_ns = 0;
	manager_end_pmix(m);
}

int manager_unfinished(const struct manager *m, char *text, size_t size)
{
	char others[32] = "";

	if (!m->unfinished || !m->choice.unfinished)
		return 0;
	if (m->unfinished > 1)
		snprintf(others, sizeof(others), " and of %d more", m->unfinished - 1);
	snprintf(text, size,
		 "the program of rank %d%s ended without MPI_Finalize, which is an error under "
		 "mpirun: its status is %d",
		 m->first_unfinished, others, m->choice.unfinished);
	return m->choice.unfinished;
}

void manager_results(struct manager *m, const struct manager_vote *vote, char *text, size_t size)
{
	unsigned char packed[MANAGER_VOTE_SIZE];
	struct star_news news;
	struct error err = {0};

	text[0] = '\0';
	if (!m->star || m->standing == MANAGER_ENDED)
		return;
	manager_vote_pack(vote, packed);
	if (manager_round(m, MANAGER_ROUND_RESULT, packed, sizeof(packed),
			  manager_now() + MANAGER_RESULT_NS, &news, &err)) {
		if (!m->choice.rank)
			snprintf(text, size, "the other ranks' results are not all there: %s",
				 err.message);
		return;
	}
	if (!m->choice.rank)
		manager_round_results(&news, m->choice.size, text, size);
}

void manager_finish(struct manager *m)
{
	if (m->relay_open && !m->left_badly && m->standing != MANAGER_ENDED)
		pmi_relay_finish(&m->relay);
	if (m->star) {
		struct star_news news;

		/* What is unread at the end would take back what was sent. */
		while (star_pump(m->star, &news) != STAR_NOTHING)
			;
	}
	star_close(m->star);
	m->star = NULL;
}

void manager_release(struct manager *m)
{
	manager_forked(m);
	manager_end_pmix(m);
	if (m->relay_open) {
		/* Where the program is to have the launcher's own descriptor after all. */
		if (m->relay.up.fd >= 0 && !m->relay.size[0]) {
			fcntl(m->relay.up.fd, F_SETFD, 0);
			m->relay.up.fd = -1;
		}
		pmi_relay_release(&m->relay);
	}
	if (m->server_open)
		pmi_server_release(&m->server);
	m->relay_open = m->server_open = false;
	if (m->number >= 0)
		close(m->number);
	m->number = -1;
	star_close(m->star);
	m->star = NULL;
	m->pmix = NULL;
	str_release(&m->extras);
	manager_rounds_release(&m->rounds);
}
