/* SPDX-License-Identifier: Apache-2.0 */
/* One PMI session, several programs. */
#define LOG_DOMAIN "pmi"
#include "launch/pmi_relay.h"

#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The longest prefix is "p9999."; the program is told of keys shorter by that much. */
#define RELAY_PREFIX_MAX 6

/* ---- opening ---- */

/* The next message of the launcher, waiting a while. 1 or not. */
static int relay_wait(struct pmi_link *l, const char **message, struct error *err)
{
	for (int waited = 0;;) {
		struct pollfd p = {.fd = l->fd, .events = POLLIN};
		int rc = pmi_link_take(l, message, err);

		if (rc)
			return rc;
		if (l->fd < 0 || waited >= PMI_RELAY_WAIT_MS)
			return error_set(err, RC_IO, "the launcher's PMI gave no answer");
		waited += 50;
		if (poll(&p, 1, 50) > 0)
			pmi_link_read(l);
	}
}

static int relay_connect(const char *port, struct error *err)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
	const char *colon = strrchr(port, ':');
	char host[256];
	int fd = -1, rc;

	if (!colon || (size_t)(colon - port) >= sizeof(host))
		return error_set(err, RC_INVALID, "PMI_PORT='%.100s' is not HOST:PORT", port);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - port), port);
	rc = getaddrinfo(host, colon + 1, &hints, &found);
	if (rc)
		return error_set(err, RC_INVALID, "PMI_PORT='%.100s': %s", port, gai_strerror(rc));
	for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen)) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	return fd >= 0 ? fd : error_set(err, RC_IO, "PMI_PORT='%.100s': cannot connect", port);
}

/* What simple PMI of MPICH does with PMI_PORT: `initack`, answered by itself and by three lines of
 * `cmd=set`. */
static int relay_greet(struct pmi_relay *r, const char *id, struct error *err)
{
	char text[64];
	int rc;

	snprintf(text, sizeof(text), "cmd=initack pmiid=%.20s", id && *id ? id : "0");
	rc = pmi_link_put(&r->up, text, err);
	for (int i = 0; !rc && i < 4; i++) {
		const char *m;

		rc = relay_wait(&r->up, &m, err);
		if (rc < 0)
			return rc;
		rc = 0;
		if (i == 0 && !pmi_is(m, "initack"))
			return error_set(err, RC_INVALID, "PMI_PORT: '%.80s' is not PMI", m);
		if (i && !pmi_get(m, false, "size", r->size, sizeof(r->size)))
			pmi_get(m, false, "rank", r->rank, sizeof(r->rank));
	}
	if (!rc && (!r->size[0] || !r->rank[0]))
		rc = error_set(err, RC_INVALID, "PMI_PORT: the launcher told no rank and size");
	return rc;
}

int pmi_relay_open(struct pmi_relay *r, const char *fd, const char *port, const char *id,
		   struct error *err)
{
	char *end = NULL;
	long number;
	int rc = 0, socket_type;
	socklen_t n = sizeof(socket_type);

	memset(r, 0, sizeof(*r));
	pmi_link_init(&r->up, -1);
	pmi_link_init(&r->down, -1);
	if (fd && *fd) {
		errno = 0;
		number = strtol(fd, &end, 10);
		if (errno || *end || !isdigit((unsigned char)*fd) || number > 1 << 20 ||
		    getsockopt((int)number, SOL_SOCKET, SO_TYPE, &socket_type, &n) ||
		    socket_type != SOCK_STREAM)
			return error_set(err, RC_INVALID, "PMI_FD='%.20s' is no open socket", fd);
		fcntl((int)number, F_SETFD, FD_CLOEXEC);
		pmi_link_init(&r->up, (int)number);
		return 0;
	}
	if (!port || !*port)
		return error_set(err, RC_INVALID, "neither PMI_FD nor PMI_PORT is set");
	rc = relay_connect(port, err);
	if (rc < 0)
		return rc;
	pmi_link_init(&r->up, rc);
	rc = relay_greet(r, id, err);
	if (rc)
		pmi_relay_release(r);
	return rc;
}

/* ---- one pass ---- */

void pmi_relay_begin(struct pmi_relay *r, int down, unsigned index, bool last)
{
	pmi_link_release(&r->down);
	pmi_link_init(&r->down, down);
	r->began = r->ended = r->aborted = r->inside = false;
	r->first = index == 0;
	r->last = last;
	r->prefix[0] = '\0';
	if (index)
		snprintf(r->prefix, sizeof(r->prefix), "p%u.", index % 10000);
}

static int relay_to_launcher(struct pmi_relay *r, const char *m, struct error *err)
{
	char *copy;
	int rc;

	if (!r->prefix[0])
		return pmi_link_put(&r->up, m, err);
	copy = pmi_with_prefix(m, r->v2, r->prefix);
	if (!copy)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = pmi_link_put(&r->up, copy, err);
	free(copy);
	return rc;
}

static int relay_from_program(struct pmi_relay *r, const char *m, struct error *err)
{
	log_trace("program: %s", m);
	/* The lines of a spawn are no words for us. */
	if (!r->down.v2 && (r->inside || !strncmp(m, "mcmd=", 5))) {
		r->spawned = r->spawned || !strcmp(m, "mcmd=spawn");
		r->inside = strcmp(m, "endcmd") != 0;
		return pmi_link_put(&r->up, m, err);
	}
	if (pmi_is(m, "init")) {
		r->began = true;
		if (!r->init_reply)
			return pmi_link_put(&r->up, m, err);
		/* The answer to init is in the framing of PMI-1. */
		r->down.v2 = false;
		if (pmi_link_put(&r->down, r->init_reply, err))
			return RC_NO_MEMORY;
		r->down.v2 = r->v2;
		return 0;
	}
	if (pmi_is(m, "fullinit") && r->fullinit_reply)
		return pmi_link_put(&r->down, r->fullinit_reply, err);
	if (pmi_is(m, "finalize")) {
		r->ended = true;
		if (!r->last)
			return pmi_link_put(
				&r->down,
				r->v2 ? "cmd=finalize-response;rc=0;" : "cmd=finalize_ack", err);
		r->up_ended = true;
	} else if (pmi_is(m, "abort")) {
		r->aborted = true;
	} else if (pmi_is(m, "spawn") || pmi_is(m, "job-spawn")) {
		r->spawned = true;
	}
	return relay_to_launcher(r, m, err);
}

/* The longest key the program may use is shorter by our prefix. */
static int relay_maxes(struct pmi_relay *r, const char *m, struct error *err)
{
	char kvs[16], key[16], value[16], text[128];
	int n;

	if (!pmi_get(m, false, "kvsname_max", kvs, sizeof(kvs)) ||
	    !pmi_get(m, false, "keylen_max", key, sizeof(key)) ||
	    !pmi_get(m, false, "vallen_max", value, sizeof(value)))
		return pmi_link_put(&r->down, m, err);
	n = atoi(key);
	snprintf(text, sizeof(text), "cmd=maxes kvsname_max=%s keylen_max=%d vallen_max=%s", kvs,
		 n > 2 * RELAY_PREFIX_MAX ? n - RELAY_PREFIX_MAX : n, value);
	return pmi_link_put(&r->down, text, err);
}

static int relay_from_launcher(struct pmi_relay *r, const char *m, struct error *err)
{
	char version[8] = "";
	int rc;

	log_trace("launcher: %s", m);
	if (!r->up.v2 && pmi_is(m, "response_to_init")) {
		free(r->init_reply);
		r->init_reply = strdup(m);
		r->up_began = true;
		rc = pmi_link_put(&r->down, m, err);
		pmi_get(m, false, "pmi_version", version, sizeof(version));
		r->v2 = r->up.v2 = r->down.v2 = !strcmp(version, "2");
		return rc;
	}
	if (pmi_is(m, "fullinit-response") && !r->fullinit_reply)
		r->fullinit_reply = strdup(m);
	if (!r->v2 && pmi_is(m, "maxes"))
		return relay_maxes(r, m, err);
	return pmi_link_put(&r->down, m, err);
}

static int relay_drain(struct pmi_relay *r, struct pmi_link *l,
		       int (*handle)(struct pmi_relay *, const char *, struct error *),
		       struct error *err)
{
	const char *m;
	int rc;

	while ((rc = pmi_link_take(l, &m, err)) > 0) {
		rc = handle(r, m, err);
		if (rc)
			return rc;
	}
	return rc;
}

int pmi_relay_pump(struct pmi_relay *r, struct error *err)
{
	int rc;

	pmi_link_flush(&r->up);
	pmi_link_flush(&r->down);
	if (r->up.fd >= 0)
		pmi_link_read(&r->up);
	rc = relay_drain(r, &r->up, relay_from_launcher, err);
	if (rc) {
		error_prefix(err, "from the launcher");
		return rc;
	}
	if (r->down.fd >= 0)
		pmi_link_read(&r->down);
	rc = relay_drain(r, &r->down, relay_from_program, err);
	if (!rc)
		return 0;
	pmi_link_release(&r->down);
	error_prefix(err, "from the program");
	return rc;
}

bool pmi_relay_end(struct pmi_relay *r, bool exited_well)
{
	/* What it sent last: an abort, for example. */
	pmi_relay_pump(r, NULL);
	pmi_link_release(&r->down);
	return !r->aborted && (!r->began || r->ended || exited_well);
}

void pmi_relay_finish(struct pmi_relay *r)
{
	const char *m = "";

	if (r->up.fd < 0 || !r->up_began || r->up_ended)
		return;
	r->up_ended = true;
	if (pmi_link_put(&r->up, r->v2 ? "cmd=finalize;" : "cmd=finalize", NULL))
		return;
	/* Answers that the program did not wait for may come first. */
	while (relay_wait(&r->up, &m, NULL) > 0)
		if (pmi_is(m, r->v2 ? "finalize-response" : "finalize_ack"))
			return;
}

void pmi_relay_release(struct pmi_relay *r)
{
	pmi_link_release(&r->up);
	pmi_link_release(&r->down);
	free(r->init_reply);
	free(r->fullinit_reply);
	r->init_reply = r->fullinit_reply = NULL;
}
