/* SPDX-License-Identifier: Apache-2.0 */
/* The PMI-1 server. */
#define LOG_DOMAIN "pmi"
#include "launch/pmi_server.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What MPICH's client has room for (PMIU_MAXLINE is 1024). */
#define SERVER_KVSNAME_MAX 64
#define SERVER_KEY_MAX     64
#define SERVER_VALUE_MAX   1024
#define SERVER_LINE_MAX    1000

void pmi_server_mapping(const char *(*host)(const void *context, int rank), const void *context,
			int size, struct str *out)
{
	int *node = calloc((size_t)size, sizeof(*node)), nodes = 0;

	if (!node) {
		out->failed = true;
		return;
	}
	for (int i = 0; i < size; i++) {
		int same = -1;

		/* The host of the rank before is the likely one. */
		if (i && !strcmp(host(context, i), host(context, i - 1)))
			same = i - 1;
		for (int j = 0; j < i && same < 0; j++)
			if (!strcmp(host(context, i), host(context, j)))
				same = j;
		node[i] = same < 0 ? nodes++ : node[same];
	}
	str_add(out, "(vector");
	for (int i = 0; i < size;) {
		int run = 1, blocks = 1;

		while (i + run < size && node[i + run] == node[i])
			run++;
		/* Further nodes, each the next one, with as many ranks. */
		for (int at = i + run; at + run <= size; at += run) {
			bool same = true;

			for (int k = 0; k < run; k++)
				same = same && node[at + k] == node[i] + blocks;
			if (!same || (at + run < size && node[at + run] == node[at]))
				break;
			blocks++;
		}
		str_addf(out, ",(%d,%d,%d)", node[i], blocks, run);
		i += run * blocks;
	}
	str_add(out, ")");
	free(node);
}

static const char *server_host(const void *context, int rank)
{
	return star_host(context, rank);
}

int pmi_server_init(struct pmi_server *s, struct star *star, struct error *err)
{
	memset(s, 0, sizeof(*s));
	s->star = star;
	pmi_link_init(&s->down, -1);
	pmi_server_mapping(server_host, star, star_size(star), &s->mapping);
	return str_is_failed(&s->mapping) ? error_set(err, RC_NO_MEMORY, "out of memory") : 0;
}

static void server_forget(struct pmi_server *s)
{
	map_release(&s->keys);
	vec_for_each (&s->values, v)
		free(*v);
	vec_release(&s->values);
	str_clear(&s->pending);
}

void pmi_server_begin(struct pmi_server *s, int down, unsigned index)
{
	pmi_link_release(&s->down);
	pmi_link_init(&s->down, down);
	server_forget(s);
	s->index = index;
	s->began = s->ended = s->aborted = s->in_barrier = false;
	s->abort_status = 0;
}

static int server_store(struct pmi_server *s, const char *key, size_t nk, const char *value,
			size_t nv, struct error *err)
{
	char *entry = malloc(nk + nv + 2);
	size_t at = s->values.n;

	if (!entry || !vec_push(&s->values, entry)) {
		free(entry);
		return error_set(err, RC_NO_MEMORY, "out of memory");
	}
	memcpy(entry, key, nk);
	entry[nk] = '\0';
	memcpy(entry + nk + 1, value, nv);
	entry[nk + nv + 1] = '\0';
	if (!map_set(&s->keys, entry, at))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	return 0;
}

static const char *server_find(const struct pmi_server *s, const char *key)
{
	size_t at;

	/* The longest value fits the client's line, or is not told: it then asks the hosts. */
	if (!strcmp(key, "PMI_process_mapping"))
		return s->mapping.size < SERVER_LINE_MAX - 64 ? str_text(&s->mapping) : NULL;
	if (!map_get(&s->keys, key, &at))
		return NULL;
	return s->values.items[at] + strlen(s->values.items[at]) + 1;
}

static int server_put(struct pmi_server *s, const char *m, struct error *err)
{
	char key[SERVER_KEY_MAX + 1], value[SERVER_VALUE_MAX + 1];

	if (!pmi_get(m, false, "key", key, sizeof(key)) || !key[0] ||
	    !pmi_get(m, false, "value", value, sizeof(value)))
		return pmi_link_put(&s->down, "cmd=put_result rc=-1 msg=bad_key_or_value", err);
	str_addf(&s->pending, "%s %s\n", key, value);
	if (str_is_failed(&s->pending))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	return pmi_link_put(&s->down, "cmd=put_result rc=0 msg=success", err);
}

static int server_get(struct pmi_server *s, const char *m, struct error *err)
{
	char key[SERVER_KEY_MAX + 1], reply[SERVER_VALUE_MAX + 128];
	const char *value = NULL;

	if (pmi_get(m, false, "key", key, sizeof(key)))
		value = server_find(s, key);
	else
		snprintf(key, sizeof(key), "?");
	if (value)
		snprintf(reply, sizeof(reply), "cmd=get_result rc=0 msg=success value=%s", value);
	else
		snprintf(reply, sizeof(reply),
			 "cmd=get_result rc=-1 msg=key_%s_not_found value=unknown", key);
	return pmi_link_put(&s->down, reply, err);
}

static int server_command(struct pmi_server *s, const char *m, struct error *err)
{
	char text[128], number[16];

	log_trace("program: %s", m);
	if (pmi_is(m, "init")) {
		s->began = true;
		/* Whatever version it asks for: it is told the one there is. */
		return pmi_link_put(
			&s->down, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0", err);
	}
	if (pmi_is(m, "get_maxes")) {
		snprintf(text, sizeof(text), "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d",
			 SERVER_KVSNAME_MAX, SERVER_KEY_MAX, SERVER_VALUE_MAX);
		return pmi_link_put(&s->down, text, err);
	}
	if (pmi_is(m, "get_appnum"))
		return pmi_link_put(&s->down, "cmd=appnum appnum=0", err);
	if (pmi_is(m, "get_my_kvsname")) {
		snprintf(text, sizeof(text), "cmd=my_kvsname kvsname=retally_%u", s->index);
		return pmi_link_put(&s->down, text, err);
	}
	if (pmi_is(m, "get_universe_size")) {
		snprintf(text, sizeof(text), "cmd=universe_size size=%d", star_size(s->star));
		return pmi_link_put(&s->down, text, err);
	}
	if (pmi_is(m, "put"))
		return server_put(s, m, err);
	if (pmi_is(m, "get"))
		return server_get(s, m, err);
	if (pmi_is(m, "barrier_in")) {
		int rc;

		if (s->in_barrier)
			return error_set(err, RC_INVALID, "a second barrier within one");
		rc = star_send(s->star, STAR_PMI, str_text(&s->pending), s->pending.size, err);
		s->in_barrier = !rc;
		str_clear(&s->pending);
		return rc;
	}
	if (pmi_is(m, "finalize")) {
		s->ended = true;
		return pmi_link_put(&s->down, "cmd=finalize_ack", err);
	}
	if (pmi_is(m, "abort")) {
		s->aborted = true;
		s->abort_status =
			pmi_get(m, false, "exitcode", number, sizeof(number)) ? atoi(number) : 1;
		return 0;
	}
	if (!strncmp(m, "mcmd=spawn", 10) || pmi_is(m, "spawn"))
		return pmi_link_put(&s->down, "cmd=spawn_result rc=-1 msg=not_supported", err);
	if (pmi_is(m, "publish_name") || pmi_is(m, "unpublish_name") || pmi_is(m, "lookup_name")) {
		snprintf(text, sizeof(text), "cmd=%.*s_result rc=-1 msg=not_supported",
			 (int)strcspn(m + 4, "_"), m + 4);
		return pmi_link_put(&s->down, text, err);
	}
	/* The lines of a spawn, and what nobody knows: no client waits for an answer to them. */
	log_debug("no answer to PMI '%.80s'", m);
	return 0;
}

int pmi_server_pump(struct pmi_server *s, struct error *err)
{
	const char *m;
	int rc;

	if (s->down.fd < 0)
		return 0;
	pmi_link_flush(&s->down);
	pmi_link_read(&s->down);
	while ((rc = pmi_link_take(&s->down, &m, err)) > 0) {
		rc = server_command(s, m, err);
		if (rc)
			break;
	}
	if (!rc)
		return 0;
	pmi_link_release(&s->down);
	error_prefix(err, "from the program");
	return rc;
}

/* "key value\n" of one rank. */
static int server_merge(struct pmi_server *s, const char *bytes, size_t n, struct error *err)
{
	while (n) {
		const char *end = memchr(bytes, '\n', n), *space;
		size_t line;
		int rc;

		line = end ? (size_t)(end - bytes) : n;
		space = memchr(bytes, ' ', line);
		if (!end || !space)
			return error_set(err, RC_INVALID, "keys of another rank are damaged");
		rc = server_store(s, bytes, (size_t)(space - bytes), space + 1,
				  (size_t)(end - space - 1), err);
		if (rc)
			return rc;
		bytes += line + 1;
		n -= line + 1;
	}
	return 0;
}

int pmi_server_round(struct pmi_server *s, const struct star_news *news, struct error *err)
{
	const unsigned char *part;
	size_t at = 0, n;

	while (star_part(news, &at, &part, &n)) {
		int rc = server_merge(s, (const char *)part, n, err);

		if (rc)
			return rc;
	}
	if (!s->in_barrier)
		return 0;
	s->in_barrier = false;
	return pmi_link_put(&s->down, "cmd=barrier_out", err);
}

bool pmi_server_end(struct pmi_server *s, bool exited_well)
{
	pmi_server_pump(s, NULL);
	pmi_link_release(&s->down);
	return !s->aborted && (!s->began || s->ended || exited_well);
}

void pmi_server_release(struct pmi_server *s)
{
	pmi_link_release(&s->down);
	server_forget(s);
	str_release(&s->pending);
	str_release(&s->mapping);
}
