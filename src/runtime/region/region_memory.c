/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/self/maps, line by line, and what follows from it. */
#include "runtime/region/region_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_SWAPPED (1ull << 62)
#define PAGEMAP_CHUNK   2048 /* pages looked up at once */

struct map {
	uintptr_t begin, end;
	bool writes, is_shared;
	const char *name; /* "" when it has none */
};

struct maps {
	int fd;
	size_t used, at; /* bytes in buffer, start of the next line */
	bool done;
	char buffer[16384];
};

/* One walk at a time; too large for a stack that may be small. */
static struct maps maps;

static bool maps_open(void)
{
	maps.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	maps.used = maps.at = 0;
	maps.done = false;
	return maps.fd >= 0;
}

static void maps_fill(void)
{
	ssize_t n;

	memmove(maps.buffer, maps.buffer + maps.at, maps.used - maps.at);
	maps.used -= maps.at;
	maps.at = 0;
	do
		n = read(maps.fd, maps.buffer + maps.used, sizeof(maps.buffer) - 1 - maps.used);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		maps.done = true;
	else
		maps.used += (size_t)n;
}

/* The next line, or NULL. A name longer than the buffer is cut. */
static char *maps_line(void)
{
	for (;;) {
		char *line = maps.buffer + maps.at;
		char *end = memchr(line, '\n', maps.used - maps.at);

		if (!end && !maps.done && maps.used - maps.at < sizeof(maps.buffer) - 1) {
			maps_fill();
			continue;
		}
		if (!end)
			return NULL;
		*end = '\0';
		maps.at = (size_t)(end - maps.buffer) + 1;
		return line;
	}
}

static bool maps_next(struct map *m)
{
	char *line = maps_line(), *p;

	if (!line)
		return false;
	m->begin = strtoull(line, &p, 16);
	m->end = *p == '-' ? strtoull(p + 1, &p, 16) : 0;
	if (*p != ' ' || strlen(p) < 5)
		return false;
	m->writes = p[2] == 'w';
	m->is_shared = p[4] == 's';
	/* permissions, offset, device, inode, name */
	for (int field = 0; field < 4 && *p; field++) {
		p += strspn(p, " ");
		p += strcspn(p, " ");
	}
	m->name = p + strspn(p, " ");
	return true;
}

static bool is_own(const struct map *m, const struct region_range *own, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (m->begin >= (uintptr_t)own[i].at &&
		    m->end <= (uintptr_t)own[i].at + own[i].size)
			return true;
	return false;
}

bool region_memory_is_private(const struct region_range *own, size_t n, char *reason_out,
			      size_t size)
{
	bool is_private = true;
	struct map m;

	if (!maps_open()) {
		snprintf(reason_out, size, "/proc/self/maps cannot be read");
		return false;
	}
	while (is_private && maps_next(&m)) {
		if (!m.writes || !m.is_shared || is_own(&m, own, n))
			continue;
		is_private = false;
		snprintf(reason_out, size,
			 "the program has writable shared memory ('%.200s'), which a copy of the "
			 "process would change",
			 !strncmp(m.name, "/dev/zero", 9) ? "anonymous" : m.name);
	}
	close(maps.fd);
	return is_private;
}

static void touch(uintptr_t begin, size_t bytes, size_t page)
{
	/* EINVAL: before Linux 5.14. */
	if (madvise((void *)begin, bytes, MADV_POPULATE_WRITE) && errno != EINVAL)
		return;
	/* The kernel copies through addresses of its own. Where a hypervisor keeps page tables, the
	 * first touch of each page by the program itself costs several microseconds, which no
	 * counter of the kernel shows. This thread is alone. */
	for (size_t i = 0; i < bytes; i += page) {
		volatile char *p = (volatile char *)(begin + i);

		*p = *p;
	}
}

static void prefault_map(int pagemap, const struct map *m, size_t page)
{
	static uint64_t entries[PAGEMAP_CHUNK];

	for (uintptr_t at = m->begin; at < m->end;) {
		size_t n = (m->end - at) / page, i = 0;
		ssize_t got;

		if (n > PAGEMAP_CHUNK)
			n = PAGEMAP_CHUNK;
		got = pread(pagemap, entries, n * sizeof(*entries),
			    (off_t)(at / page * sizeof(*entries)));
		if (got <= 0)
			return;
		n = (size_t)got / sizeof(*entries);
		while (i < n) {
			size_t first = i;

			while (i < n && (entries[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)))
				i++;
			if (i > first)
				touch(at + first * page, (i - first) * page, page);
			else
				i++;
		}
		if (!n)
			return;
		at += n * page;
	}
}

void region_memory_prefault(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	struct map m;

	if (pagemap < 0)
		return;
	if (maps_open()) {
		while (maps_next(&m))
			if (m.writes && !m.is_shared)
				prefault_map(pagemap, &m, page);
		close(maps.fd);
	}
	close(pagemap);
}

/* A number behind a name in a file of /proc, in KiB. */
static uint64_t read_kib(const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096], *p;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, name);
	return p ? strtoull(p + strlen(name), NULL, 10) : 0;
}

bool region_memory_fits(uint64_t *bytes_out, char *reason_out, size_t size)
{
	uint64_t wanted = read_kib("/proc/self/status", "RssAnon:");
	uint64_t there = read_kib("/proc/meminfo", "MemAvailable:");

	*bytes_out = wanted * 1024;
	if (!there || wanted <= there / 10 * 9)
		return true;
	snprintf(reason_out, size,
		 "a copy of the process needs %llu MiB, and %llu MiB of memory are free",
		 (unsigned long long)(wanted / 1024), (unsigned long long)(there / 1024));
	return false;
}
