/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of a rank in a parallel job: that all are ready, what the program gets, how it ended. */
#define LOG_DOMAIN "manager"
#include "launch/manager_internal.h"
#include "launch/pmix_environment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void manager_add_extra(struct manager *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void manager_add_extra(struct manager *m, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	str_add_bytes(&m->extras, text, strlen(text) + 1);
}

/* Of our own local rank, out of what our node's first rank got from its server. */
static int manager_take_variables(struct manager *m, const struct star_news *round,
				  struct error *err)
{
	const char *mine = star_host(m->star, m->choice.rank), *v;
	const unsigned char *part;
	size_t at = 0, n, k = 0;
	int local = 0, leader = -1;

	for (int i = 0; i < m->choice.rank; i++)
		if (!strcmp(star_host(m->star, i), mine)) {
			leader = leader < 0 ? i : leader;
			local++;
		}
	leader = leader < 0 ? m->choice.rank : leader;
	for (int i = 0; star_part(round, &at, &part, &n); i++) {
		if (i != leader || n <= MANAGER_VOTE_SIZE)
			continue;
		while ((v = pmix_service_variable((const char *)part + MANAGER_VOTE_SIZE,
						  n - MANAGER_VOTE_SIZE, local, &k)))
			str_add_bytes(&m->extras, v, strlen(v) + 1);
	}
	if (!k)
		return error_set(err, RC_ERROR, "rank %d's PMIx server gave no variables", leader);
	v = pmix_environment_direct();
	if (v)
		str_add_bytes(&m->extras, v, strlen(v) + 1);
	return 0;
}

/* The round that says that every rank is ready. Each part is a vote, and what follows it. */
static int manager_agree(struct manager *m, unsigned index, bool ready, const char *variables,
			 size_t size, struct star_news *news, struct error *err)
{
	struct manager_vote vote = {.go_on = ready,
				    .reason = ready ? MANAGER_REASON_NONE : MANAGER_REASON_DISABLED,
				    .position = index};
	unsigned char packed[MANAGER_VOTE_SIZE];
	struct str bytes = STR_INIT;
	const unsigned char *part;
	size_t at = 0, n;
	int rc, i = 0;

	manager_vote_pack(&vote, packed);
	str_add_bytes(&bytes, (const char *)packed, sizeof(packed));
	if (ready && size)
		str_add_bytes(&bytes, variables, size);
	if (!ready)
		str_add_bytes(&bytes, m->pump.message, strlen(m->pump.message));
	rc = str_is_failed(&bytes)
		     ? error_set(err, RC_NO_MEMORY, "out of memory")
		     : manager_round(m, MANAGER_ROUND_BEGIN, bytes.text, bytes.size, 0, news, err);
	str_release(&bytes);
	for (; !rc && star_part(news, &at, &part, &n); i++) {
		struct manager_vote v;

		if (n >= MANAGER_VOTE_SIZE && manager_vote_unpack(part, MANAGER_VOTE_SIZE, &v) &&
		    v.go_on && v.position == index)
			continue;
		rc = error_set(err, RC_ERROR, "rank %d is not ready: %.*s", i,
			       n > MANAGER_VOTE_SIZE ? (int)(n - MANAGER_VOTE_SIZE) : 0,
			       (const char *)part + MANAGER_VOTE_SIZE);
	}
	if (!rc && i != m->choice.size)
		rc = error_set(err, RC_ERROR, "a round of the star is damaged");
	return rc;
}

static int manager_open_child(struct manager *m, unsigned index, bool last, struct error *err)
{
	int ends[2];

	if (m->number < 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_set_errno(err, 0, errno, "cannot make a socket pair");
	m->child_end = ends[1];
	manager_add_extra(m, "PMI_FD=%d", m->number);
	if (m->choice.relay) {
		pmi_relay_begin(&m->relay, ends[0], index, last);
		if (m->relay.size[0]) {
			manager_add_extra(m, "PMI_RANK=%s", m->relay.rank);
			manager_add_extra(m, "PMI_SIZE=%s", m->relay.size);
		}
	} else {
		pmi_server_begin(&m->server, ends[0], index);
		manager_add_extra(m, "PMI_RANK=%d", m->choice.rank);
		manager_add_extra(m, "PMI_SIZE=%d", m->choice.size);
	}
	return 0;
}

int manager_begin(struct manager *m, unsigned index, bool last, struct error *err)
{
	struct star_news news = {0};
	const char *variables = NULL;
	bool ready = !m->pump.code;
	size_t size = 0;
	int rc = 0;

	str_clear(&m->extras);
	if (m->standing == MANAGER_TIMED_OUT)
		m->standing = MANAGER_RUNS;
	if (m->pmix && ready) {
		ready = !pmix_service_begin(m->pmix, index, &variables, &size, &m->pump);
		m->pmix_begun = ready;
	}
	if (m->star)
		rc = manager_agree(m, index, ready, variables, size, &news, err);
	if (rc)
		return rc;
	if (m->choice.pmix && m->star)
		rc = manager_take_variables(m, &news, err);
	if (!rc)
		rc = manager_open_child(m, index, last, err);
	/* An empty part for the first fence, so that it does not wait for a rank without server. */
	if (!rc && m->choice.pmix && m->several_nodes && !m->pmix && !index)
		rc = star_send(m->star, STAR_PMIX, "", 0, err);
	if (rc) /* the others have begun */
		manager_abort(m, 1, err->message);
	return rc;
}

const char *manager_extra(const struct manager *m, size_t *at)
{
	return pmix_link_string(str_text(&m->extras), m->extras.size, at);
}

void manager_forked(struct manager *m)
{
	if (m->child_end >= 0)
		close(m->child_end);
	m->child_end = -1;
}

enum manager_standing manager_verdict(struct manager *m, uint64_t now_ns, uint64_t *at_out)
{
	*at_out = 0;
	manager_check_vanished(m);
	if (m->vanished_ns && m->standing == MANAGER_RUNS) {
		*at_out = m->vanished_ns + MANAGER_GRACE_NS;
		return MANAGER_RUNS;
	}
	/* Worlds of their own: none ends because of another one. */
	if (m->standing == MANAGER_RUNS ||
	    (m->standing == MANAGER_ENDED && !m->choice.relay && !m->choice.pmi && !m->choice.pmix))
		return MANAGER_RUNS;
	if (m->standing == MANAGER_TIMED_OUT)
		return MANAGER_TIMED_OUT;
	if (now_ns >= m->ended_ns + MANAGER_GRACE_NS)
		return MANAGER_ENDED;
	*at_out = m->ended_ns + MANAGER_GRACE_NS;
	return MANAGER_RUNS;
}

static void manager_describe_end(const struct manager *m, int exit_code, int signal, char *text,
				 size_t size)
{
	if (m->relay.aborted || m->server.aborted)
		snprintf(text, size, "its program ended the job (status %d)", exit_code);
	else if (signal)
		snprintf(text, size, "its program died of signal %d (SIG%s)", signal,
			 sigabbrev_np(signal) ? sigabbrev_np(signal) : "?");
	else
		snprintf(text, size, "its program exited with status %d", exit_code);
}

/* Whether the end of the program lets the job go on. */
static bool manager_judge(struct manager *m, bool well)
{
	bool fine = true;

	if (m->relay_open)
		fine = pmi_relay_end(&m->relay, well) && fine;
	if (m->server_open)
		fine = pmi_server_end(&m->server, well) && fine;
	if (!m->choice.pmix)
		return fine;
	/* The server does not tell who finalized; under mpirun every such end is the job's. With
	 * both offered the PMI-1 server knows, if it was used. */
	if (m->server_open && m->server.began)
		return fine;
	return well && fine;
}

void manager_ended(struct manager *m, int exit_code, int signal, bool by_us)
{
	char text[120];

	if (!m->star || by_us || (!exit_code && !signal))
		return;
	manager_pump(m); /* an abort may be on its way */
	manager_describe_end(m, exit_code, signal, text, sizeof(text));
	if (!manager_judge(m, false))
		manager_abort(m, signal ? 128 + signal : exit_code, text);
}

bool manager_end(struct manager *m, int exit_code, int signal)
{
	bool well = !exit_code && !signal;

	manager_forked(m);
	manager_pump(m);
	if (well && m->relay_open && m->relay.began && !m->relay.ended && !m->relay.aborted)
		manager_vanished(m, m->choice.rank);
	/* A second time nothing has changed: the links are closed. */
	if (!manager_judge(m, well) && m->standing != MANAGER_TIMED_OUT)
		manager_abort(m, signal ? 128 + signal : exit_code, "its program ended the job");
	return m->standing != MANAGER_ENDED;
}
