/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that the driver was not told of: see pageable.h. */
#include "runtime/cuda/pageable.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOWEST  0x10000ull        /* nothing is mapped below */
#define HIGHEST 0x7fffffffffffull /* of the program's addresses on x86-64 */
#define PAGE    4096ull
#define FOUND   8

const char cuda_pageable_why[] = "memory of the host that was not registered (HMM or ATS)";

enum {
	REACH_UNKNOWN,
	REACH_NO,
	REACH_YES
};

bool cuda_pageable_is_reached(struct cuda_context *c)
{
	int value = 0;
	cu_result result;

	if (c->reaches_pageable == REACH_UNKNOWN) {
		result = cuda_session.driver.device_attribute(&value, CU_DEVICE_REACHES_PAGEABLE,
							      c->ordinal);
		/* A driver that does not know the question has none. */
		c->reaches_pageable =
			result == CU_INVALID_VALUE || (!result && !value) ? REACH_NO : REACH_YES;
	}
	return c->reaches_pageable == REACH_YES;
}

/* ---- what the program has mapped ---- */

struct range {
	uint64_t start, end;
};
/* Ranges that were found: what took their place since is taken for such memory, too, which costs
 * values only. */
static struct {
	pthread_mutex_t lock;
	struct range ranges[FOUND];
	unsigned next;
} found = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool was_found(uint64_t address)
{
	bool yes = false;

	pthread_mutex_lock(&found.lock);
	for (unsigned i = 0; i < FOUND && !yes; i++)
		yes = found.ranges[i].start <= address && address < found.ranges[i].end;
	pthread_mutex_unlock(&found.lock);
	return yes;
}

static void remember(struct range r)
{
	pthread_mutex_lock(&found.lock);
	found.ranges[found.next++ % FOUND] = r;
	pthread_mutex_unlock(&found.lock);
}

/* A line of /proc/self/maps: "start-end perms ...". */
static bool parse(const char *line, struct range *out, bool *writable_out)
{
	uint64_t *number = &out->start;

	*out = (struct range){0};
	for (; *line && *line != ' '; line++) {
		if (*line == '-') {
			if (number == &out->end)
				return false;
			number = &out->end;
		} else if (*line >= '0' && *line <= '9') {
			*number = *number * 16 + (uint64_t)(*line - '0');
		} else if (*line >= 'a' && *line <= 'f') {
			*number = *number * 16 + (uint64_t)(*line - 'a' + 10);
		} else {
			return false;
		}
	}
	*writable_out = line[0] && line[1] && line[2] == 'w';
	return number == &out->end && *line;
}

/* True: it is in writable memory, or that cannot be told. */
static bool is_writable(uint64_t address)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool writable = false, writes, begun = true;
	char buffer[4096], line[64];
	size_t length = 0;
	struct range r;
	ssize_t n;

	if (fd < 0)
		return true;
	/* Of each line only the beginning is wanted. */
	while ((n = read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
		for (ssize_t i = 0; i < n; i++) {
			if (buffer[i] != '\n') {
				if (begun && length < sizeof(line) - 1)
					line[length++] = buffer[i];
				else
					begun = false;
				continue;
			}
			line[length] = 0;
			length = 0;
			begun = true;
			if (!parse(line, &r, &writes) || address >= r.end)
				continue;
			writable = writes && address >= r.start;
			if (writable)
				remember(r);
			close(fd);
			return writable;
		}
	}
	close(fd);
	return n < 0;
}

static bool is_pageable(uint64_t address)
{
	int before = errno;
	bool is = was_found(address);
	unsigned char in_core;

	/* Cheap, and enough for nearly every number that is no address. Nothing is touched. */
	if (!is && (!mincore((void *)(uintptr_t)(address & ~(PAGE - 1)), PAGE, &in_core) ||
		    errno != ENOMEM))
		is = is_writable(address);
	errno = before;
	return is;
}

/* ---- words ---- */

static bool is_one_parameter(const struct cuda_function *f, size_t at)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->parameters[i].offset <= at)
			if (at + sizeof(uint64_t) <=
			    f->parameters[i].offset + f->parameters[i].size)
				return true;
	return false;
}

static uint64_t word_at(const void *bytes, size_t at)
{
	uint64_t word;

	memcpy(&word, (const char *)bytes + at, sizeof(word));
	return word;
}

/* The end of a memory into which another word points: a pair of iterators. */
static bool is_end(uint64_t word, const void *bytes, size_t n)
{
	struct program_memory m;

	if (!memories_find(&cuda_session.memories, word - 1, &m) || m.address + m.size != word)
		return false;
	for (size_t at = 0; at + sizeof(word) <= n; at += sizeof(word))
		if (word_at(bytes, at) - m.address < m.size)
			return true;
	return false;
}

bool cuda_pageable_scan(struct cuda_context *c, const void *bytes, size_t n,
			const struct cuda_function *f)
{
	struct program_memory m;

	if (!cuda_pageable_is_reached(c))
		return false;
	for (size_t at = 0; at + sizeof(uint64_t) <= n; at += sizeof(uint64_t)) {
		uint64_t word = word_at(bytes, at);

		if (word < LOWEST || word > HIGHEST || (f && f->known && !is_one_parameter(f, at)))
			continue;
		if (!memories_find(&cuda_session.memories, word, &m) && !is_end(word, bytes, n) &&
		    is_pageable(word))
			return true;
	}
	return false;
}
