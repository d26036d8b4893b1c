/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds, aborts and losses over a star that has met. */
#define LOG_DOMAIN "star"
#include "base/log.h"
#include "launch/star_internal.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum star_frame_type {
	STAR_FRAME_GIVE = 1, /* to rank 0: our part of a round */
	STAR_FRAME_ALL,      /* from rank 0: a round is complete; the parts, each with its size */
	STAR_FRAME_ABORT,    /* status, then the text */
	STAR_FRAME_LOST,     /* from rank 0: the text */
	STAR_FRAME_BYE,
};
struct star_frame {    /* little-endian */
	uint32_t size; /* of what follows */
	uint16_t type, kind;
	uint32_t rank; /* whose part, abort or loss */
	int32_t status;
};
_Static_assert(sizeof(struct star_frame) == 16, "wire format");

/* ---- buffers ---- */

static bool star_buffer_add(struct star_buffer *b, const void *bytes, size_t n)
{
	if (b->done && b->done == b->n)
		b->done = b->n = 0;
	if (b->n + n > b->capacity) {
		size_t capacity = b->capacity ? b->capacity : 4096;
		unsigned char *grown;

		while (capacity < b->n + n)
			capacity *= 2;
		grown = realloc(b->bytes, capacity);
		if (!grown)
			return false;
		b->bytes = grown;
		b->capacity = capacity;
	}
	if (n)
		memcpy(b->bytes + b->n, bytes, n);
	b->n += n;
	return true;
}

static void star_buffer_use(struct star_buffer *b, size_t n)
{
	b->done += n;
	if (b->done == b->n) {
		b->done = b->n = 0;
	} else if (b->done > b->capacity / 2) {
		memmove(b->bytes, b->bytes + b->done, b->n - b->done);
		b->n -= b->done;
		b->done = 0;
	}
}

static struct star_frame star_frame_make(enum star_frame_type type, unsigned kind, int rank,
					 int status, size_t size)
{
	return (struct star_frame){.size = htole32((uint32_t)size),
				   .type = htole16((uint16_t)type),
				   .kind = htole16((uint16_t)kind),
				   .rank = htole32((uint32_t)rank),
				   .status = (int32_t)htole32((uint32_t)status)};
}

/* ---- sending ---- */

static void star_watch(struct star *s, struct star_peer *p)
{
	bool wants = p->out.n > p->out.done;
	struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP | (wants ? (uint32_t)EPOLLOUT : 0),
				.data.ptr = p};

	if (p->fd >= 0 && wants != p->waits_to_write) {
		epoll_ctl(s->epoll, EPOLL_CTL_MOD, p->fd, &e);
		p->waits_to_write = wants;
	}
}

static void star_flush(struct star *s, struct star_peer *p)
{
	while (p->fd >= 0 && p->out.n > p->out.done) {
		ssize_t n = send(p->fd, p->out.bytes + p->out.done, p->out.n - p->out.done,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break; /* would block, or gone: reading will tell */
		star_buffer_use(&p->out, (size_t)n);
	}
	star_watch(s, p);
}

static void star_peer_send(struct star *s, struct star_peer *p, const struct star_frame *f,
			   const void *bytes, size_t n)
{
	if (p->fd < 0)
		return;
	if (!star_buffer_add(&p->out, f, sizeof(*f)) || !star_buffer_add(&p->out, bytes, n))
		log_error("out of memory: a message to rank %d is lost", p->rank);
	star_flush(s, p);
}

static void star_news_add(struct star *s, const struct star_frame *f, const void *bytes, size_t n)
{
	uint64_t one = 1;

	if (!star_buffer_add(&s->news, f, sizeof(*f)) || !star_buffer_add(&s->news, bytes, n))
		log_error("out of memory: news of the star are lost");
	while (write(s->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* To every peer but one (NULL: to all). */
static void star_spread(struct star *s, const struct star_peer *except, const struct star_frame *f,
			const void *bytes, size_t n)
{
	for (int i = 0; i < s->n_peers; i++)
		if (&s->peers[i] != except)
			star_peer_send(s, &s->peers[i], f, bytes, n);
}

/* ---- rounds on rank 0 ---- */

static void star_complete(struct star *s, unsigned kind)
{
	struct star_round *r = &s->rounds[kind];
	struct star_buffer all = {0};
	struct star_frame f;

	for (int i = 0; i < s->size; i++) {
		uint32_t n = htole32(r->sizes[i]);

		if (!star_buffer_add(&all, &n, sizeof(n)) ||
		    !star_buffer_add(&all, r->parts[i], r->sizes[i]))
			log_error("out of memory: a round of the star is lost");
		free(r->parts[i]);
		r->parts[i] = NULL;
	}
	r->n_parts = 0;
	f = star_frame_make(STAR_FRAME_ALL, kind, 0, 0, all.n);
	star_spread(s, NULL, &f, all.bytes, all.n);
	star_news_add(s, &f, all.bytes, all.n);
	free(all.bytes);
}

static int star_take_part(struct star *s, unsigned kind, int rank, const void *bytes, size_t n,
			  struct error *err)
{
	struct star_round *r = &s->rounds[kind];
	size_t total = n;
	unsigned char *copy;

	if (r->parts[rank])
		return error_set(err, RC_INVALID, "rank %d gave two parts to one round", rank);
	for (int i = 0; i < s->size; i++)
		total += r->parts[i] ? r->sizes[i] : 0;
	if (total > STAR_ROUND_MAX)
		return error_set(err, RC_INVALID, "a round is larger than %u bytes",
				 STAR_ROUND_MAX);
	copy = malloc(n + 1);
	if (!copy)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	if (n)
		memcpy(copy, bytes, n);
	r->parts[rank] = copy;
	r->sizes[rank] = (uint32_t)n;
	if (++r->n_parts == s->size)
		star_complete(s, kind);
	return 0;
}

int star_send(struct star *s, enum star_kind kind, const void *bytes, size_t n, struct error *err)
{
	struct star_round *r = &s->rounds[kind];
	struct star_frame f = star_frame_make(STAR_FRAME_GIVE, kind, s->rank, 0, n);

	if (r->sent)
		return error_set(err, RC_INVALID, "the last round of this kind is not over");
	if (n > STAR_ROUND_MAX)
		return error_set(err, RC_INVALID, "a round is larger than %u bytes",
				 STAR_ROUND_MAX);
	r->sent = true;
	if (!s->rank)
		return star_take_part(s, kind, 0, bytes, n, err);
	if (s->peers[0].fd < 0)
		return error_set(err, RC_END, "rank 0 is gone");
	star_peer_send(s, &s->peers[0], &f, bytes, n);
	return 0;
}

void star_abort(struct star *s, int status, const char *text)
{
	size_t n = strnlen(text, sizeof(((struct star_news *)0)->text) - 1);
	struct star_frame f = star_frame_make(STAR_FRAME_ABORT, 0, s->rank, status, n);

	star_spread(s, NULL, &f, text, n);
}

/* ---- receiving ---- */

static void star_lose(struct star *s, struct star_peer *p, const char *why)
{
	struct star_frame f;
	char text[160];
	int n;

	if (p->fd >= 0) {
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, p->fd, NULL);
		close(p->fd);
		p->fd = -1;
	}
	if (p->said_bye || p->told_lost)
		return;
	p->told_lost = true;
	n = snprintf(text, sizeof(text), "%s", why);
	f = star_frame_make(STAR_FRAME_LOST, 0, p->rank, 0, (size_t)n);
	star_news_add(s, &f, text, (size_t)n);
	if (!s->rank)
		star_spread(s, p, &f, text, (size_t)n);
}

/* One whole frame of a peer. */
static int star_receive(struct star *s, struct star_peer *p, const struct star_frame *f,
			const unsigned char *bytes, size_t n, struct error *err)
{
	unsigned kind = le16toh(f->kind);

	switch ((enum star_frame_type)le16toh(f->type)) {
	case STAR_FRAME_GIVE:
		if (s->rank || kind >= STAR_KINDS || le32toh(f->rank) != (uint32_t)p->rank)
			break;
		return star_take_part(s, kind, p->rank, bytes, n, err);
	case STAR_FRAME_ALL:
		if (!s->rank || kind >= STAR_KINDS || !s->rounds[kind].sent)
			break;
		star_news_add(s, f, bytes, n);
		return 0;
	case STAR_FRAME_ABORT:
		if (!s->rank && le32toh(f->rank) != (uint32_t)p->rank)
			break;
		star_news_add(s, f, bytes, n);
		if (!s->rank)
			star_spread(s, p, f, bytes, n);
		return 0;
	case STAR_FRAME_LOST:
		if (!s->rank)
			break;
		star_news_add(s, f, bytes, n);
		return 0;
	case STAR_FRAME_BYE:
		p->said_bye = true;
		return 0;
	}
	return error_set(err, RC_INVALID, "a message it may not send");
}

static void star_read(struct star *s, struct star_peer *p)
{
	unsigned char chunk[16384];
	struct error err = {0};
	bool closed = false;

	for (;;) {
		ssize_t n = recv(p->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		closed = n == 0 || (n < 0 && errno != EAGAIN);
		if (n <= 0)
			break;
		if (!star_buffer_add(&p->in, chunk, (size_t)n)) {
			star_lose(s, p, "out of memory");
			return;
		}
	}
	while (p->in.n - p->in.done >= sizeof(struct star_frame)) {
		struct star_frame f;
		size_t n;

		memcpy(&f, p->in.bytes + p->in.done, sizeof(f));
		n = le32toh(f.size);
		if (n > STAR_ROUND_MAX + 4 * (size_t)s->size) {
			star_lose(s, p, "it sent no message of ours");
			return;
		}
		if (p->in.n - p->in.done < sizeof(f) + n)
			break;
		if (star_receive(s, p, &f, p->in.bytes + p->in.done + sizeof(f), n, &err)) {
			star_lose(s, p, err.message);
			return;
		}
		star_buffer_use(&p->in, sizeof(f) + n);
	}
	if (closed)
		star_lose(s, p, "its supervisor is gone");
}

static void star_serve(struct star *s)
{
	struct epoll_event events[32];
	int n = epoll_wait(s->epoll, events, 32, 0);

	for (int i = 0; i < n; i++) {
		struct star_peer *p = events[i].data.ptr;

		if (!p || p->fd < 0)
			continue;
		if (events[i].events & EPOLLOUT)
			star_flush(s, p);
		if (p->fd >= 0 && (events[i].events & ~(uint32_t)EPOLLOUT))
			star_read(s, p);
	}
}

enum star_event star_pump(struct star *s, struct star_news *news)
{
	struct star_frame f;
	enum star_event event = STAR_NOTHING;
	uint64_t count;
	size_t n;

	star_serve(s);
	memset(news, 0, sizeof(*news));
	if (s->news.n - s->news.done < sizeof(f)) {
		while (read(s->wake, &count, sizeof(count)) < 0 && errno == EINTR)
			;
		return STAR_NOTHING;
	}
	memcpy(&f, s->news.bytes + s->news.done, sizeof(f));
	n = le32toh(f.size);
	free(s->told);
	s->told = malloc(n + 1);
	if (s->told && n)
		memcpy(s->told, s->news.bytes + s->news.done + sizeof(f), n);
	star_buffer_use(&s->news, sizeof(f) + n);
	news->rank = (int)le32toh(f.rank);
	news->status = (int)le32toh((uint32_t)f.status);
	if (le16toh(f.type) == STAR_FRAME_ALL) {
		news->kind = (enum star_kind)le16toh(f.kind);
		s->rounds[news->kind].sent = false;
		news->bytes = s->told;
		news->size = s->told ? n : 0;
		return STAR_ROUND;
	}
	event = le16toh(f.type) == STAR_FRAME_ABORT ? STAR_ABORTED : STAR_LOST;
	if (s->told)
		snprintf(news->text, sizeof(news->text), "%.*s", (int)(n < 159 ? n : 159),
			 (const char *)s->told);
	return event;
}

bool star_part(const struct star_news *news, size_t *at, const unsigned char **bytes_out,
	       size_t *n_out)
{
	uint32_t n;

	if (news->size - *at < sizeof(n))
		return false;
	memcpy(&n, news->bytes + *at, sizeof(n));
	n = le32toh(n);
	if (news->size - *at - sizeof(n) < n)
		return false;
	*bytes_out = news->bytes + *at + sizeof(n);
	*n_out = n;
	*at += sizeof(n) + n;
	return true;
}

/* ---- life ---- */

static int star_init(struct star *s, const struct star_request *q, struct error *err)
{
	s->rank = q->rank;
	s->size = q->size;
	s->n_peers = q->rank ? 1 : q->size - 1;
	s->hosts = calloc((size_t)s->size, sizeof(*s->hosts));
	s->peers = calloc((size_t)s->n_peers + 1, sizeof(*s->peers));
	for (int k = 0; k < STAR_KINDS; k++) {
		s->rounds[k].parts = calloc((size_t)s->size, sizeof(*s->rounds[k].parts));
		s->rounds[k].sizes = calloc((size_t)s->size, sizeof(*s->rounds[k].sizes));
		if (!s->rounds[k].parts || !s->rounds[k].sizes)
			return error_set(err, RC_NO_MEMORY, "out of memory");
	}
	if (!s->hosts || !s->peers)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (int i = 0; i < s->n_peers; i++) {
		s->peers[i].fd = -1;
		s->peers[i].rank = q->rank ? 0 : i + 1;
	}
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->epoll < 0 || s->wake < 0)
		return error_set_errno(err, 0, errno, "cannot make a poll set");
	return 0;
}

int star_open(struct star **star_out, const struct star_request *q, struct error *err)
{
	struct star *s;
	struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP};
	int rc;

	*star_out = NULL;
	if (q->rank < 0 || q->size < 1 || q->rank >= q->size || !q->job[0])
		return error_set(err, RC_INVALID, "rank %d of %d of launch '%s' is no place",
				 q->rank, q->size, q->job);
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	s->epoll = s->wake = -1;
	rc = star_init(s, q, err);
	if (!rc)
		rc = star_meet(s, q, err);
	for (int i = 0; !rc && i < s->n_peers; i++) {
		e.data.ptr = &s->peers[i];
		if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->peers[i].fd, &e))
			rc = error_set_errno(err, 0, errno, "cannot poll a connection");
	}
	e = (struct epoll_event){.events = EPOLLIN};
	if (!rc && epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wake, &e))
		rc = error_set_errno(err, 0, errno, "cannot poll an event");
	if (rc) {
		star_close(s);
		return rc;
	}
	*star_out = s;
	return 0;
}

void star_close(struct star *s)
{
	struct star_frame bye;

	if (!s)
		return;
	bye = star_frame_make(STAR_FRAME_BYE, 0, s->rank, 0, 0);
	for (int i = 0; s->peers && i < s->n_peers; i++) {
		struct star_peer *p = &s->peers[i];

		if (p->fd >= 0) {
			star_peer_send(s, p, &bye, NULL, 0);
			close(p->fd);
		}
		free(p->in.bytes);
		free(p->out.bytes);
	}
	for (int k = 0; k < STAR_KINDS; k++) {
		for (int i = 0; s->rounds[k].parts && i < s->size; i++)
			free(s->rounds[k].parts[i]);
		free(s->rounds[k].parts);
		free(s->rounds[k].sizes);
	}
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->wake >= 0)
		close(s->wake);
	free(s->peers);
	free(s->hosts);
	free(s->news.bytes);
	free(s->told);
	free(s);
}

int star_rank(const struct star *s)
{
	return s->rank;
}
int star_size(const struct star *s)
{
	return s->size;
}
int star_fd(const struct star *s)
{
	return s->epoll;
}

const char *star_host(const struct star *s, int rank)
{
	return rank >= 0 && rank < s->size ? s->hosts[rank] : "";
}
