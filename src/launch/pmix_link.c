/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over the socket between supervisor and PMIx server. */
#include "launch/pmix_link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int64_t link_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for events. False: not in time. */
static bool link_poll(int fd, short events, int64_t until_ms)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = events};
		int64_t left = until_ms < 0 ? -1 : until_ms - link_now_ms();
		int n;

		if (until_ms >= 0 && left < 0)
			left = 0;
		n = poll(&p, 1, (int)left);
		if (n > 0)
			return true;
		if (n == 0 || errno != EINTR)
			return false;
	}
}

static bool link_write(int fd, const char *bytes, size_t n, int64_t until_ms)
{
	while (n) {
		ssize_t k = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno != EAGAIN)
			return false;
		if (k < 0) {
			if (!link_poll(fd, POLLOUT, until_ms))
				return false;
			continue;
		}
		bytes += k;
		n -= (size_t)k;
	}
	return true;
}

bool pmix_link_send(struct pmix_link *l, const struct pmix_message *m, const void *payload,
		    int timeout_ms)
{
	int64_t until = timeout_ms < 0 ? -1 : link_now_ms() + timeout_ms;

	return l->fd >= 0 && m->size <= PMIX_LINK_MAX &&
	       link_write(l->fd, (const char *)m, sizeof(*m), until) &&
	       link_write(l->fd, payload, m->size, until);
}

/* One whole message out of the buffer. */
static int link_take(struct pmix_link *l, struct pmix_message *m, const char **payload_out)
{
	size_t left = l->in.size - l->used;

	if (left < sizeof(*m))
		return 0;
	memcpy(m, l->in.text + l->used, sizeof(*m));
	if (m->size > PMIX_LINK_MAX)
		return -1;
	if (left - sizeof(*m) < m->size)
		return 0;
	*payload_out = l->in.text + l->used + sizeof(*m);
	l->used += sizeof(*m) + m->size;
	return 1;
}

int pmix_link_receive(struct pmix_link *l, struct pmix_message *m, const char **payload_out)
{
	char chunk[16384];
	int rc;

	if (l->fd < 0)
		return -1;
	rc = link_take(l, m, payload_out);
	if (rc)
		return rc;
	if (l->used) { /* what the caller had is not valid any more */
		memmove(l->in.text, l->in.text + l->used, l->in.size - l->used);
		l->in.size -= l->used;
		l->used = 0;
	}
	for (;;) {
		ssize_t n = recv(l->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			return -1;
		str_add_bytes(&l->in, chunk, (size_t)n);
		if (str_is_failed(&l->in))
			return -1;
		rc = link_take(l, m, payload_out);
		if (rc)
			return rc;
	}
}

int pmix_link_wait(struct pmix_link *l, struct pmix_message *m, const char **payload_out,
		   int timeout_ms)
{
	int64_t until = timeout_ms < 0 ? -1 : link_now_ms() + timeout_ms;

	for (;;) {
		int rc = pmix_link_receive(l, m, payload_out);

		if (rc)
			return rc;
		if (!link_poll(l->fd, POLLIN, until))
			return 0;
	}
}

void pmix_link_close(struct pmix_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	l->used = 0;
	str_release(&l->in);
}

const char *pmix_link_string(const char *payload, size_t size, size_t *at)
{
	const char *text = payload + *at, *end;

	if (*at >= size)
		return NULL;
	end = memchr(text, 0, size - *at);
	if (!end)
		return NULL;
	*at += (size_t)(end - text) + 1;
	return text;
}
