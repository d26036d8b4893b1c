/* SPDX-License-Identifier: Apache-2.0 */
/* Framing of PMI-1 and PMI-2. */
#include "launch/pmi_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PMI_LENGTH_DIGITS 6

void pmi_link_init(struct pmi_link *l, int fd)
{
	memset(l, 0, sizeof(*l));
	l->fd = fd;
}

static void pmi_link_shut(struct pmi_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	l->out_size = 0;
}

void pmi_link_release(struct pmi_link *l)
{
	pmi_link_shut(l);
	free(l->in);
	free(l->out);
	free(l->message);
	pmi_link_init(l, -1);
}

static bool pmi_grow(char **bytes, size_t *capacity, size_t wanted)
{
	size_t n = *capacity ? *capacity : 1024;
	char *grown;

	if (wanted <= *capacity)
		return true;
	while (n < wanted)
		n *= 2;
	grown = realloc(*bytes, n);
	if (!grown)
		return false;
	*bytes = grown;
	*capacity = n;
	return true;
}

bool pmi_link_read(struct pmi_link *l)
{
	while (l->fd >= 0) {
		ssize_t n;

		/* No more than one longest message ahead of what was taken. */
		if (l->in_size >= PMI_MESSAGE_MAX + 64)
			return true;
		if (!pmi_grow(&l->in, &l->in_capacity, l->in_size + 4096))
			break;
		n = recv(l->fd, l->in + l->in_size, 4096, MSG_DONTWAIT);
		if (n > 0) {
			l->in_size += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		break;
	}
	pmi_link_shut(l);
	return false;
}

/* Where the message starts and how long it is. 1, 0: not whole, or a code. */
static int pmi_find(const struct pmi_link *l, size_t *start, size_t *size, size_t *used,
		    struct error *err)
{
	const char *end;
	size_t n = 0;

	if (!l->v2) {
		end = l->in_size ? memchr(l->in, '\n', l->in_size) : NULL;
		if (!end && l->in_size > PMI_MESSAGE_MAX)
			return error_set(err, RC_INVALID, "PMI: a line is longer than %u bytes",
					 PMI_MESSAGE_MAX);
		if (!end)
			return 0;
		*start = 0;
		*size = (size_t)(end - l->in);
		*used = *size + 1;
		return 1;
	}
	if (l->in_size < PMI_LENGTH_DIGITS)
		return 0;
	for (int i = 0; i < PMI_LENGTH_DIGITS; i++) {
		char c = l->in[i];

		/* Padded with spaces on the left. */
		if (c >= '0' && c <= '9')
			n = n * 10 + (size_t)(c - '0');
		else if (c != ' ' || n)
			return error_set(err, RC_INVALID, "PMI-2: a length holds '\\x%02x'",
					 (unsigned char)c);
	}
	if (n > PMI_MESSAGE_MAX)
		return error_set(err, RC_INVALID, "PMI-2: a message of %zu bytes is too long", n);
	if (l->in_size < PMI_LENGTH_DIGITS + n)
		return 0;
	*start = PMI_LENGTH_DIGITS;
	*size = n;
	*used = PMI_LENGTH_DIGITS + n;
	return 1;
}

int pmi_link_take(struct pmi_link *l, const char **message_out, struct error *err)
{
	size_t start = 0, size = 0, used = 0;
	int rc = pmi_find(l, &start, &size, &used, err);

	if (rc <= 0)
		return rc;
	if (memchr(l->in + start, '\0', size))
		return error_set(err, RC_INVALID, "PMI: a message holds a NUL byte");
	free(l->message);
	l->message = malloc(size + 1);
	if (!l->message)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	memcpy(l->message, l->in + start, size);
	l->message[size] = '\0';
	memmove(l->in, l->in + used, l->in_size - used);
	l->in_size -= used;
	*message_out = l->message;
	return 1;
}

void pmi_link_flush(struct pmi_link *l)
{
	while (l->fd >= 0 && l->out_size) {
		ssize_t n = send(l->fd, l->out, l->out_size, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			/* Gone. What it sent before can still be read. */
			l->out_size = 0;
			return;
		}
		memmove(l->out, l->out + n, l->out_size - (size_t)n);
		l->out_size -= (size_t)n;
	}
}

int pmi_link_put(struct pmi_link *l, const char *message, struct error *err)
{
	size_t n = strlen(message);
	char length[PMI_LENGTH_DIGITS + 1];

	if (l->fd < 0)
		return 0;
	if (n > PMI_MESSAGE_MAX)
		return error_set(err, RC_INVALID, "PMI: a message of %zu bytes is too long", n);
	if (!pmi_grow(&l->out, &l->out_capacity, l->out_size + n + PMI_LENGTH_DIGITS + 1))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	if (l->v2) {
		snprintf(length, sizeof(length), "%6u", (unsigned)n % 1000000u);
		memcpy(l->out + l->out_size, length, PMI_LENGTH_DIGITS);
		l->out_size += PMI_LENGTH_DIGITS;
	}
	memcpy(l->out + l->out_size, message, n);
	l->out_size += n;
	if (!l->v2)
		l->out[l->out_size++] = '\n';
	pmi_link_flush(l);
	return 0;
}

bool pmi_link_wants_to_write(const struct pmi_link *l)
{
	return l->fd >= 0 && l->out_size;
}

/* ---- inside a message ---- */

/* The value of a name: after "name=" at the start of a word. NULL when it is not there. */
static const char *pmi_find_value(const char *message, bool v2, const char *name)
{
	size_t n = strlen(name);
	const char *separators = v2 ? ";" : " ";

	for (const char *at = message; *at;) {
		at += strspn(at, separators);
		if (!strncmp(at, name, n) && at[n] == '=')
			return at + n + 1;
		at += strcspn(at, separators);
	}
	return NULL;
}

bool pmi_is(const char *message, const char *name)
{
	size_t n = strlen(name);
	char after;

	if (strncmp(message, "cmd=", 4) || strncmp(message + 4, name, n))
		return false;
	after = message[4 + n];
	return !after || after == ' ' || after == ';';
}

bool pmi_get(const char *message, bool v2, const char *name, char *buffer, size_t size)
{
	const char *value = pmi_find_value(message, v2, name);
	size_t n = 0;

	if (!value)
		return false;
	for (; *value; value++) {
		if (v2 && *value == ';') {
			if (value[1] != ';')
				break;
			value++;
		} else if (!v2 && *value == ' ') {
			break;
		}
		if (n + 1 >= size)
			return false;
		buffer[n++] = *value;
	}
	buffer[n] = '\0';
	return true;
}

/* Does the key belong to the process manager? */
static bool pmi_key_is_reserved(const char *key, bool v2)
{
	static const char *const attributes[] = {"universeSize",    "hasNameServ", "physTopology",
						 "localRanksCount", "localRanks",  "appNum"};
	size_t n = strcspn(key, v2 ? ";" : " ");

	if (!strncmp(key, "PMI_", 4))
		return true;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		if (n == strlen(attributes[i]) && !strncmp(key, attributes[i], n))
			return true;
	return false;
}

char *pmi_with_prefix(const char *message, bool v2, const char *prefix)
{
	const char *key = pmi_find_value(message, v2, "key");
	char *copy = NULL;

	if (!key || pmi_key_is_reserved(key, v2))
		return strdup(message);
	if (asprintf(&copy, "%.*s%s%s", (int)(key - message), message, prefix, key) < 0)
		return NULL;
	return copy;
}
