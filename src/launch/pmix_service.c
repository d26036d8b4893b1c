/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's side of the PMIx server. */
#define LOG_DOMAIN "pmix"
#include "launch/pmix_service.h"

#include "base/log.h"
#include "launch/pmix_server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int pmix_service_start(struct pmix_service *s, struct error *err)
{
	int ends[2];

	*s = (struct pmix_service){.link.fd = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_set_errno(err, 0, errno, "cannot make a socket pair");
	s->pid = fork();
	if (s->pid < 0) {
		s->pid = 0;
		close(ends[0]);
		close(ends[1]);
		return error_set_errno(err, 0, errno, "cannot start a process");
	}
	if (!s->pid)
		pmix_server_run(ends[1]);
	close(ends[1]);
	s->link.fd = ends[0];
	return 0;
}

static int service_lost(struct pmix_service *s, struct error *err, const char *why)
{
	pmix_link_close(&s->link);
	return error_set(err, RC_ERROR, "the PMIx server %s", why);
}

static int service_failed(struct pmix_service *s, const struct pmix_message *m, const char *payload,
			  struct error *err)
{
	size_t at = 0;
	const char *text = pmix_link_string(payload, m->size, &at);

	error_set(err, m->a < 0 ? m->a : RC_ERROR, "%s", text ? text : "the PMIx server failed");
	pmix_link_close(&s->link);
	return m->a < 0 ? m->a : RC_ERROR;
}

/* Sends, and waits for the answer of this type. What comes in between belongs to processes that are
 * gone: an abort is told when it comes, a fence is of no use any more. */
static int service_ask(struct pmix_service *s, const struct pmix_message *ask, const void *bytes,
		       enum pmix_message_type answer, struct pmix_message *m,
		       const char **payload_out, struct error *err)
{
	if (!pmix_link_send(&s->link, ask, bytes, PMIX_SERVICE_WAIT_MS))
		return service_lost(s, err, "is gone");
	for (;;) {
		int rc = pmix_link_wait(&s->link, m, payload_out, PMIX_SERVICE_WAIT_MS);

		if (rc < 0)
			return service_lost(s, err, "is gone");
		if (rc == 0)
			return service_lost(s, err, "does not answer");
		if (m->type == PMIX_MESSAGE_FAILED)
			return service_failed(s, m, *payload_out, err);
		if (m->type == (uint32_t)answer)
			return 0;
		if (m->type == PMIX_MESSAGE_UNFINISHED) {
			s->unfinished = m->a;
			s->first_unfinished = m->b;
			continue;
		}
		log_debug("message %u of an ended pass is dropped", m->type);
	}
}

int pmix_service_open(struct pmix_service *s, const struct pmix_service_job *job, struct error *err)
{
	struct pmix_message m = {.type = PMIX_MESSAGE_OPEN, .a = job->size, .b = job->rank};
	struct str payload = STR_INIT;
	const char *program = job->program ? job->program : "", *answer;
	int rc;

	s->exchange = job->exchange;
	str_add_bytes(&payload, job->name, strnlen(job->name, 100));
	str_add_char(&payload, '\0');
	str_add_bytes(&payload, program, strlen(program) + 1);
	for (int i = 0; i < job->size; i++)
		str_add_bytes(&payload, job->hosts[i], strlen(job->hosts[i]) + 1);
	if (str_is_failed(&payload))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	m.size = (uint32_t)payload.size;
	rc = service_ask(s, &m, payload.text, PMIX_MESSAGE_OPENED, &m, &answer, err);
	str_release(&payload);
	if (rc)
		return rc;
	s->major = (unsigned)m.a;
	s->minor = (unsigned)m.b;
	snprintf(s->library, sizeof(s->library), "%.*s", (int)m.size, answer);
	return 0;
}

int pmix_service_begin(struct pmix_service *s, unsigned index, const char **variables_out,
		       size_t *size_out, struct error *err)
{
	struct pmix_message m = {.type = PMIX_MESSAGE_BEGIN, .a = (int)index};
	int rc = service_ask(s, &m, NULL, PMIX_MESSAGE_BEGUN, &m, variables_out, err);

	if (rc)
		return rc;
	*size_out = m.size;
	s->unfinished = 0;
	s->in_pass = true;
	return 0;
}

int pmix_service_fd(const struct pmix_service *s)
{
	return s->link.fd;
}

static enum pmix_event service_tell_lost(struct pmix_service *s, struct pmix_news *news,
					 const char *text)
{
	snprintf(news->text, sizeof(news->text), "%s", text);
	pmix_link_close(&s->link);
	return PMIX_LOST;
}

enum pmix_event pmix_service_pump(struct pmix_service *s, struct pmix_news *news)
{
	struct pmix_message m;
	struct error err = {0};
	const char *payload;
	int rc;

	memset(news, 0, sizeof(*news));
	if (s->link.fd < 0)
		return PMIX_NOTHING;
	while ((rc = pmix_link_receive(&s->link, &m, &payload)) > 0) {
		size_t at = 0;
		const char *text;

		if (m.type == PMIX_MESSAGE_FAILED) {
			service_failed(s, &m, payload, &err);
			return service_tell_lost(s, news, err.message);
		}
		if (m.type == PMIX_MESSAGE_ABORT) {
			text = pmix_link_string(payload, m.size, &at);
			news->rank = m.a;
			news->status = m.b;
			snprintf(news->text, sizeof(news->text), "%s", text ? text : "");
			return PMIX_ABORTED;
		}
		if (m.type == PMIX_MESSAGE_LOST) {
			news->rank = m.a;
			return PMIX_VANISHED;
		}
		if (m.type != PMIX_MESSAGE_FENCE)
			return service_tell_lost(s, news, "the PMIx server sent nonsense");
		if (!s->exchange.fence)
			rc = error_set(&err, RC_UNSUPPORTED,
				       "a fence across nodes, and nothing joins them");
		else
			rc = s->exchange.fence(s->exchange.data, payload, m.size, &err);
		if (rc)
			return service_tell_lost(s, news, err.message);
	}
	return rc < 0 ? service_tell_lost(s, news, "the PMIx server is gone") : PMIX_NOTHING;
}

int pmix_service_fence_done(struct pmix_service *s, int status, const void *bytes, size_t n,
			    struct error *err)
{
	struct pmix_message m = {.type = PMIX_MESSAGE_FENCE_DONE, .size = (uint32_t)n, .a = status};

	if (n > PMIX_LINK_MAX)
		return error_set(err, RC_INVALID, "a fence is larger than %u bytes", PMIX_LINK_MAX);
	if (!pmix_link_send(&s->link, &m, bytes, PMIX_SERVICE_WAIT_MS))
		return service_lost(s, err, "takes no answer to a fence");
	return 0;
}

int pmix_service_end(struct pmix_service *s, struct error *err)
{
	struct pmix_message m = {.type = PMIX_MESSAGE_END};
	const char *payload;

	if (!s->in_pass)
		return 0;
	s->in_pass = false;
	return service_ask(s, &m, NULL, PMIX_MESSAGE_ENDED, &m, &payload, err);
}

void pmix_service_close(struct pmix_service *s)
{
	pmix_link_close(&s->link);
}

void pmix_service_stop(struct pmix_service *s)
{
	const struct timespec tick = {.tv_nsec = 5 * 1000 * 1000};
	int waited = 0;

	pmix_link_close(&s->link);
	if (!s->pid)
		return;
	while (waitpid(s->pid, NULL, WNOHANG) == 0) {
		if (waited++ == PMIX_SERVICE_WAIT_MS / 5)
			kill(s->pid, SIGKILL);
		nanosleep(&tick, NULL);
	}
	s->pid = 0;
}

const char *pmix_service_variable(const char *variables, size_t size, int i, size_t *at)
{
	const char *text;

	if (!*at) {
		while (i > 0 && (text = pmix_link_string(variables, size, at)))
			i -= !*text;
		if (i)
			return NULL;
	}
	text = pmix_link_string(variables, size, at);
	return text && *text ? text : NULL;
}
