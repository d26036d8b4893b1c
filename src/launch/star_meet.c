/* SPDX-License-Identifier: Apache-2.0 */
/* How the supervisors of a launch find and recognise each other. */
#define LOG_DOMAIN "star"
#include "base/hash.h"
#include "base/log.h"
#include "base/str.h"
#include "launch/star_auth.h"
#include "launch/star_internal.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MEET_MAGIC     0x6c746572u /* "retl" */
#define MEET_TICK_MS   20
#define MEET_ONE_NS    (2000ull * 1000 * 1000) /* for one connection to show itself */
#define MEET_FILE_MAX  8192
#define MEET_ADDRESSES 16

/* What a meeting file says. */
struct meet_place {
	char host[STAR_HOST_SIZE];
	unsigned char key[STAR_KEY_SIZE];
	struct sockaddr_in at[MEET_ADDRESSES];
	int n;
};
/* The handshake, little-endian, without padding. */
struct meet_challenge {
	uint32_t magic, version;
	unsigned char nonce[16];
};
struct meet_answer {
	uint32_t rank, size;
	unsigned char nonce[16];
	char host[STAR_HOST_SIZE];
	uint64_t tag;
};
struct meet_welcome {
	uint32_t accepted, pad;
	uint64_t tag;
};
_Static_assert(sizeof(struct meet_challenge) == 24 && sizeof(struct meet_answer) == 96 &&
		       sizeof(struct meet_welcome) == 16,
	       "wire format");
/* What the tags are over. */
struct meet_proof {
	char who[8];
	unsigned char hub_nonce[16], spoke_nonce[16];
	uint32_t rank, size;
	char host[STAR_HOST_SIZE];
};

struct meet {
	const struct star_request *request;
	char name[48]; /* of the file */
	uint64_t deadline;
};

static uint64_t meet_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int meet_check(const struct meet *m, struct error *err)
{
	if (m->request->give_up && m->request->give_up(m->request->context))
		return error_set(err, RC_END, "interrupted while waiting for the other ranks");
	if (meet_now() >= m->deadline)
		return error_set(err, RC_NOT_FOUND, "not in time");
	return 0;
}

static int meet_tick(const struct meet *m, int fd, short events, struct error *err)
{
	struct pollfd p = {.fd = fd, .events = events};

	poll(&p, 1, MEET_TICK_MS);
	return meet_check(m, err);
}

static int meet_read(const struct meet *m, int fd, void *bytes, size_t n, uint64_t until,
		     struct error *err)
{
	unsigned char *p = bytes;
	int rc;

	while (n) {
		ssize_t k = recv(fd, p, n, MSG_DONTWAIT);

		if (k > 0) {
			p += k;
			n -= (size_t)k;
			continue;
		}
		if (k == 0 || (errno != EAGAIN && errno != EINTR))
			return error_set(err, RC_IO, "the connection was closed");
		if (meet_now() >= until)
			return error_set(err, RC_IO, "the other side said nothing");
		rc = meet_tick(m, fd, POLLIN, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int meet_write(const struct meet *m, int fd, const void *bytes, size_t n, struct error *err)
{
	const unsigned char *p = bytes;
	int rc;

	while (n) {
		ssize_t k = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (k > 0) {
			p += k;
			n -= (size_t)k;
			continue;
		}
		if (k == 0 || (errno != EAGAIN && errno != EINTR))
			return error_set(err, RC_IO, "the connection was closed");
		rc = meet_tick(m, fd, POLLOUT, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int meet_random(void *bytes, size_t n, struct error *err)
{
	if (getrandom(bytes, n, 0) != (ssize_t)n)
		return error_set_errno(err, RC_UNSUPPORTED, errno, "no random numbers");
	return 0;
}

static uint64_t meet_tag(const struct meet_place *place, const char *who,
			 const struct meet_challenge *c, const struct meet_answer *a)
{
	struct meet_proof proof = {.rank = a->rank, .size = a->size};

	snprintf(proof.who, sizeof(proof.who), "%s", who);
	memcpy(proof.hub_nonce, c->nonce, sizeof(proof.hub_nonce));
	memcpy(proof.spoke_nonce, a->nonce, sizeof(proof.spoke_nonce));
	memcpy(proof.host, a->host, sizeof(proof.host));
	return htole64(star_auth_tag(place->key, &proof, sizeof(proof)));
}

static void meet_no_delay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	/* A host that dies says nothing. */
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

/* ---- the file ---- */

static int meet_file_read(const struct meet *m, struct meet_place *place)
{
	char text[MEET_FILE_MAX], address[64], hex[2 * STAR_KEY_SIZE + 1];
	int fd = openat(m->request->folder, m->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	ssize_t n = -1;
	unsigned port;

	memset(place, 0, sizeof(*place));
	/* Of nobody else: another user's file would let him into the job. */
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid())
		n = read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	if (sscanf(text, "retally star 1\nhost %63[^\n]\nkey %32[0-9a-f]\n", place->host, hex) !=
		    2 ||
	    strlen(hex) != sizeof(hex) - 1)
		return -1;
	for (size_t i = 0; i < STAR_KEY_SIZE; i++) {
		unsigned byte;

		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return -1;
		place->key[i] = (unsigned char)byte;
	}
	for (char *at = strstr(text, "\nat "); at && place->n < MEET_ADDRESSES;
	     at = strstr(at + 1, "\nat ")) {
		struct sockaddr_in *a = &place->at[place->n];

		if (sscanf(at, "\nat %63s %5u\n", address, &port) != 2 || !port || port > 65535 ||
		    inet_pton(AF_INET, address, &a->sin_addr) != 1)
			continue;
		a->sin_family = AF_INET;
		a->sin_port = htons((uint16_t)port);
		place->n++;
	}
	return place->n ? 0 : -1;
}

/* The addresses of this host under which others may reach the port. */
static void meet_add_addresses(struct str *text, uint16_t port, bool one_host)
{
	struct ifaddrs *all = NULL;
	int n = 1;

	if (!one_host && !getifaddrs(&all))
		for (struct ifaddrs *i = all; i && n < MEET_ADDRESSES; i = i->ifa_next) {
			char address[INET_ADDRSTRLEN];
			struct sockaddr_in a;

			if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET ||
			    (i->ifa_flags & IFF_LOOPBACK) || !(i->ifa_flags & IFF_UP))
				continue;
			memcpy(&a, i->ifa_addr, sizeof(a));
			if (!inet_ntop(AF_INET, &a.sin_addr, address, sizeof(address)))
				continue;
			str_addf(text, "at %s %u\n", address, port);
			n++;
		}
	if (all)
		freeifaddrs(all);
	str_addf(text, "at 127.0.0.1 %u\n", port);
}

static int meet_connect(const struct meet *m, const struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	socklen_t n = sizeof(error);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	struct sockaddr generic;

	if (fd < 0)
		return -1;
	memcpy(&generic, a, sizeof(generic));
	if (connect(fd, &generic, sizeof(generic)) && errno != EINPROGRESS)
		goto fail;
	for (int i = 0; i < 50; i++)
		if (poll(&p, 1, MEET_TICK_MS) == 1 || meet_check(m, NULL))
			break;
	if (!p.revents || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) || error)
		goto fail;
	meet_no_delay(fd);
	return fd;
fail:
	close(fd);
	return -1;
}

/* Whether somebody still listens where an old file points to. */
static bool meet_is_stale(const struct meet *m)
{
	struct meet_place place;

	if (meet_file_read(m, &place))
		return true;
	for (int i = 0; i < place.n; i++) {
		int fd = meet_connect(m, &place.at[i]);

		if (fd >= 0) {
			close(fd);
			return false;
		}
	}
	return true;
}

static int meet_file_write(const struct meet *m, const struct str *text, struct error *err)
{
	int folder = m->request->folder, fd, rc;
	char temporary[80];
	ssize_t n;

	snprintf(temporary, sizeof(temporary), "%s.%d", m->name, (int)getpid());
	unlinkat(folder, temporary, 0);
	fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot write into the run directory");
	n = write(fd, text->text, text->size);
	if (close(fd) || n != (ssize_t)text->size) {
		unlinkat(folder, temporary, 0);
		return error_set_errno(err, RC_IO, errno, "cannot write into the run directory");
	}
	for (int i = 0;; i++) {
		rc = linkat(folder, temporary, folder, m->name, 0);
		if (rc && errno != EEXIST)
			rc = renameat2(folder, temporary, folder, m->name, RENAME_NOREPLACE);
		if (!rc || errno != EEXIST || i == 3)
			break;
		if (!meet_is_stale(m)) {
			unlinkat(folder, temporary, 0);
			return error_set(err, RC_EXISTS,
					 "another launch of this name meets in this run directory "
					 "at this moment; set RETALLY_JOB to a name of its own");
		}
		unlinkat(folder, m->name, 0);
	}
	if (rc)
		error_set_errno(err, 0, errno, "cannot write into the run directory");
	unlinkat(folder, temporary, 0);
	return rc ? (err ? err->code : RC_IO) : 0;
}

/* ---- rank 0 ---- */

static int meet_listen(const struct meet *m, uint16_t *port_out, struct error *err)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t n = sizeof(a);
	struct sockaddr generic;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	a.sin_addr.s_addr = htonl(m->request->one_host ? INADDR_LOOPBACK : INADDR_ANY);
	memcpy(&generic, &a, sizeof(generic));
	if (fd < 0 || bind(fd, &generic, sizeof(generic)) || listen(fd, m->request->size) ||
	    getsockname(fd, &generic, &n)) {
		error_set_errno(err, RC_UNSUPPORTED, errno, "cannot listen on a TCP port");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	memcpy(&a, &generic, sizeof(a));
	*port_out = ntohs(a.sin_port);
	return fd;
}

/* Whether a rank that was welcomed has left: it did not see our welcome in time, or gave up. */
static bool meet_has_left(const struct star_peer *peer)
{
	struct pollfd p = {.fd = peer->fd, .events = POLLRDHUP};

	return peer->fd >= 0 && poll(&p, 1, 0) == 1;
}

/* Those who left may come again: until then they are missing. Returns how many. */
static int meet_forget_left(struct star *s)
{
	int n = 0;

	for (int i = 0; i < s->n_peers; i++) {
		if (!meet_has_left(&s->peers[i]))
			continue;
		log_debug("rank %d left before all had met", i + 1);
		close(s->peers[i].fd);
		s->peers[i].fd = -1;
		n++;
	}
	return n;
}

/* One connection: is it a rank we wait for? Anything else is closed and forgotten. 1: it takes the
 * place of its own earlier connection. */
static int meet_welcome(struct star *s, const struct meet *m, const struct meet_place *place,
			int fd, struct error *err)
{
	struct meet_challenge c = {.magic = htole32(MEET_MAGIC), .version = htole32(1)};
	struct meet_answer a;
	struct meet_welcome w = {.accepted = htole32(1)};
	struct star_peer *peer;
	bool again;
	uint32_t rank;
	int rc = meet_random(c.nonce, sizeof(c.nonce), err);

	if (!rc)
		rc = meet_write(m, fd, &c, sizeof(c), err);
	if (!rc)
		rc = meet_read(m, fd, &a, sizeof(a), meet_now() + MEET_ONE_NS, err);
	if (rc)
		return rc;
	rank = le32toh(a.rank);
	if (a.tag != meet_tag(place, "spoke", &c, &a))
		return error_set(err, RC_PERMISSION, "it does not know the secret");
	if (le32toh(a.size) != (uint32_t)s->size || !rank || rank >= (uint32_t)s->size)
		return error_set(err, RC_INVALID, "it is rank %u of %u", rank, le32toh(a.size));
	peer = &s->peers[rank - 1];
	again = meet_has_left(peer);
	if (peer->fd >= 0 && !again)
		return error_set(err, RC_EXISTS, "rank %u is there already", rank);
	w.tag = meet_tag(place, "hub", &c, &a);
	rc = meet_write(m, fd, &w, sizeof(w), err);
	if (rc)
		return rc;
	meet_no_delay(fd);
	if (again)
		close(peer->fd);
	peer->fd = fd;
	memcpy(s->hosts[rank], a.host, STAR_HOST_SIZE);
	s->hosts[rank][STAR_HOST_SIZE - 1] = '\0';
	return again;
}

static int meet_gather(struct star *s, const struct meet *m, const struct meet_place *place,
		       int listener, struct error *err)
{
	int missing = s->size - 1, rc;

	while (missing) {
		struct error why = {0};
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			rc = meet_welcome(s, m, place, fd, &why);
			if (rc >= 0) {
				missing -= !rc;
				missing = missing ? missing : meet_forget_left(s);
				continue;
			}
			log_debug("a connection was refused: %s", why.message);
			close(fd);
			rc = meet_check(m, err);
		} else {
			rc = meet_tick(m, listener, POLLIN, err);
		}
		if (rc == RC_NOT_FOUND) {
			int first = 0;

			while (s->peers[first].fd >= 0)
				first++;
			return error_set(err, RC_NOT_FOUND,
					 "rank %d%s not met within %.0f s: every rank must be "
					 "started as `retally run` with the same run directory",
					 first + 1, missing > 1 ? " and others were" : " was",
					 m->request->wait_seconds);
		}
		if (rc)
			return rc;
	}
	for (int i = 0; i < s->n_peers; i++) {
		rc = meet_write(m, s->peers[i].fd, s->hosts, (size_t)s->size * STAR_HOST_SIZE, err);
		if (rc) {
			error_prefix(err, "rank %d", i + 1);
			return rc;
		}
	}
	return 0;
}

static int meet_as_hub(struct star *s, const struct meet *m, struct error *err)
{
	struct meet_place place = {0};
	struct str text = STR_INIT;
	uint16_t port = 0;
	int listener, rc;

	listener = meet_listen(m, &port, err);
	if (listener < 0)
		return RC_UNSUPPORTED;
	rc = meet_random(place.key, sizeof(place.key), err);
	str_addf(&text, "retally star 1\nhost %s\nkey ", m->request->host);
	str_add_hex(&text, place.key, sizeof(place.key));
	str_add(&text, "\n");
	meet_add_addresses(&text, port, m->request->one_host);
	if (!rc && str_is_failed(&text))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	if (!rc)
		rc = meet_file_write(m, &text, err);
	if (!rc) {
		rc = meet_gather(s, m, &place, listener, err);
		unlinkat(m->request->folder, m->name, 0);
	}
	close(listener);
	str_release(&text);
	return rc;
}

/* ---- the others ---- */

/* Shows ourselves to who answered. */
static int meet_introduce(struct star *s, const struct meet *m, const struct meet_place *place,
			  int fd, struct error *err)
{
	/* Rank 0 takes one after the other, so this takes longer than one. */
	uint64_t until = meet_now() + 3 * MEET_ONE_NS;
	struct meet_challenge c;
	struct meet_welcome w;
	struct meet_answer a = {.rank = htole32((uint32_t)s->rank),
				.size = htole32((uint32_t)s->size)};
	int rc = meet_read(m, fd, &c, sizeof(c), until, err);

	if (!rc && (c.magic != htole32(MEET_MAGIC) || c.version != htole32(1)))
		rc = error_set(err, RC_MISMATCH, "something else answered");
	if (!rc)
		rc = meet_random(a.nonce, sizeof(a.nonce), err);
	if (rc)
		return rc;
	snprintf(a.host, sizeof(a.host), "%s", m->request->host);
	a.tag = meet_tag(place, "spoke", &c, &a);
	rc = meet_write(m, fd, &a, sizeof(a), err);
	if (!rc)
		rc = meet_read(m, fd, &w, sizeof(w), meet_now() + 3 * MEET_ONE_NS, err);
	if (!rc && (w.accepted != htole32(1) || w.tag != meet_tag(place, "hub", &c, &a)))
		rc = error_set(err, RC_PERMISSION, "rank 0 does not know the secret");
	return rc;
}

static int meet_as_spoke(struct star *s, const struct meet *m, struct error *err)
{
	struct meet_place place;
	bool seen = false;
	int rc;

	for (;;) {
		struct error why = {0};

		if (!meet_file_read(m, &place)) {
			bool same = !strcmp(place.host, m->request->host);

			seen = true;
			/* Loopback stands last in the file: it is tried first at home, never
			 * elsewhere. */
			for (int i = 0; i < place.n; i++) {
				int k = same ? place.n - 1 - i : i, fd;

				if (!same && place.at[k].sin_addr.s_addr == htonl(INADDR_LOOPBACK))
					continue;
				fd = meet_connect(m, &place.at[k]);
				if (fd < 0)
					continue;
				rc = meet_introduce(s, m, &place, fd, &why);
				if (!rc) {
					s->peers[0].fd = fd;
					return meet_read(m, fd, s->hosts,
							 (size_t)s->size * STAR_HOST_SIZE,
							 m->deadline, err);
				}
				log_debug("rank 0 was not met: %s", why.message);
				close(fd);
			}
		}
		rc = meet_tick(m, -1, 0, err);
		if (rc == RC_NOT_FOUND)
			return error_set(err, rc, "rank 0 was not met within %.0f s: %s",
					 m->request->wait_seconds,
					 seen ? "it could not be reached over TCP"
					      : "every rank must be started as `retally run` with "
						"the same run directory");
		if (rc)
			return rc;
	}
}

int star_meet(struct star *s, const struct star_request *q, struct error *err)
{
	struct meet m = {.request = q};
	char hash[HASH_TEXT_SIZE];
	int rc;

	m.deadline = meet_now() + (uint64_t)(q->wait_seconds * 1e9);
	hash_text(q->job, strlen(q->job), hash);
	snprintf(m.name, sizeof(m.name), STAR_SECRET_PREFIX "%.32s", hash);
	snprintf(s->hosts[s->rank], STAR_HOST_SIZE, "%s", q->host);
	if (s->size == 1)
		return 0;
	rc = s->rank ? meet_as_spoke(s, &m, err) : meet_as_hub(s, &m, err);
	for (int i = 0; i < s->size; i++)
		s->hosts[i][STAR_HOST_SIZE - 1] = '\0';
	return rc;
}
