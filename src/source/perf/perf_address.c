/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where an object is mapped, and checks that it is the build that the plan was made for. */
#include "source/perf/perf_address.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define BASES_MAX 16
#define LINE_MAX_ (PERF_OBJECT_SIZE * 4 + 128) /* the kernel writes a newline in a path as \012 */

struct mapping {
	uint64_t start, end, offset;
	char perms[8];
	unsigned major, minor;
	uint64_t inode;
	const char *path;
};

struct search {
	const struct perf_config *config;
	struct stat object;
	bool has_object;
	uint64_t bases[BASES_MAX];
	size_t n_bases;
	bool mapped; /* the object was seen */
	uint64_t base, address;
};

static bool parse_line(const char *line, struct mapping *m)
{
	unsigned long long start, end, offset, inode;
	int path = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, m->perms, &offset,
		   &m->major, &m->minor, &inode, &path) < 7 ||
	    !path)
		return false;
	m->start = start;
	m->end = end;
	m->offset = offset;
	m->inode = inode;
	m->path = line + path;
	return true;
}

static bool is_object(const struct search *s, const struct mapping *m)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(m->path), object = strlen(s->config->object);

	if (!m->inode)
		return false;
	/* The device number of stat differs from that of maps on some file systems (btrfs,
	 * overlay), and the path differs under symbolic links: either is enough. */
	if (s->has_object && m->inode == s->object.st_ino && m->major == major(s->object.st_dev) &&
	    m->minor == minor(s->object.st_dev))
		return true;
	if (n == object + sizeof(deleted) - 1 && !strcmp(m->path + object, deleted))
		n = object;
	return n == object && !memcmp(m->path, s->config->object, n);
}

/* Mappings come in ascending order. True when the address was found. */
static bool look_at(struct search *s, const struct mapping *m)
{
	const struct perf_config *c = s->config;
	bool ours = is_object(s, m);

	if (ours) {
		s->mapped = true;
		/* A program may map a file several times; the copy that was loaded is the one whose
		 * base plus offset lands where code (or data) of it is. */
		if (m->offset == 0 && s->n_bases < BASES_MAX)
			s->bases[s->n_bases++] = m->start;
	}
	for (size_t i = 0; i < s->n_bases; i++) {
		uint64_t address = s->bases[i] + c->offset;

		if (address < m->start || address >= m->end)
			continue;
		if (c->bp_type == HW_BREAKPOINT_X ? !ours || m->perms[2] != 'x'
						  : !ours && m->inode) /* .bss is anonymous */
			continue;
		s->base = s->bases[i];
		s->address = address;
		return true;
	}
	return false;
}

static int scan_maps(int fd, struct search *s)
{
	char buffer[LINE_MAX_];
	size_t used = 0;
	ssize_t n;

	while ((n = read(fd, buffer + used, sizeof(buffer) - 1 - used)) != 0) {
		char *line = buffer, *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		used += (size_t)n;
		buffer[used] = '\0';
		while ((end = strchr(line, '\n'))) {
			struct mapping m;

			*end = '\0';
			if (parse_line(line, &m) && look_at(s, &m))
				return 0;
			line = end + 1;
		}
		used -= (size_t)(line - buffer);
		if (used == sizeof(buffer) - 1)
			used = 0; /* a path longer than any object of a plan */
		memmove(buffer, line, used);
	}
	return 0;
}

/* The build id in the note segments of a 64-bit object in memory. False when it cannot be read. */
static bool read_build_id(int memory, uint64_t base, char id_out[PERF_BUILD_ID_SIZE])
{
	Elf64_Ehdr header;
	Elf64_Phdr program;
	uint64_t first = UINT64_MAX;
	union {
		Elf64_Nhdr note;
		unsigned char bytes[1024];
	} notes;

	if (pread(memory, &header, sizeof(header), (off_t)base) != (ssize_t)sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(program))
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		size_t size, at = 0;
		uint64_t place = base + header.e_phoff + i * sizeof(program);

		if (pread(memory, &program, sizeof(program), (off_t)place) !=
		    (ssize_t)sizeof(program))
			return false;
		if (program.p_type == PT_LOAD && first == UINT64_MAX)
			first = program.p_vaddr & ~(uint64_t)0xfff;
		if (program.p_type != PT_NOTE || program.p_filesz > sizeof(notes))
			continue;
		/* PT_NOTE may stand before the first PT_LOAD; notes lie in the first page at their
		 * file offset in either case. */
		size = (size_t)program.p_filesz;
		place = first == UINT64_MAX ? base + program.p_offset
					    : base + program.p_vaddr - first;
		if (pread(memory, notes.bytes, size, (off_t)place) != (ssize_t)size)
			continue;
		while (size - at >= sizeof(Elf64_Nhdr)) {
			Elf64_Nhdr note;
			size_t name, content;

			memcpy(&note, notes.bytes + at, sizeof(note));
			name = at + sizeof(note);
			content = name + ((note.n_namesz + 3u) & ~(size_t)3);
			if (note.n_namesz > size || note.n_descsz > size || content > size ||
			    note.n_descsz > size - content)
				break;
			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			    !memcmp(notes.bytes + name, "GNU", 4) &&
			    note.n_descsz <= (PERF_BUILD_ID_SIZE - 1) / 2) {
				for (size_t k = 0; k < note.n_descsz; k++)
					snprintf(id_out + 2 * k, 3, "%02x",
						 notes.bytes[content + k]);
				return true;
			}
			at = content + ((note.n_descsz + 3u) & ~(size_t)3);
			if (at > size)
				break;
		}
	}
	return false;
}

int perf_address_find(pid_t pid, const struct perf_config *c, uint64_t *address_out,
		      struct error *err)
{
	struct search s = {.config = c};
	char path[64], id[PERF_BUILD_ID_SIZE] = "";
	int fd, rc;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	else
		snprintf(path, sizeof(path), "/proc/self/maps");
	s.has_object = !stat(c->object, &s.object);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot open '%s'", path);
	rc = scan_maps(fd, &s);
	close(fd);
	if (rc)
		return error_set_errno(err, 0, -rc, "cannot read '%s'", path);
	if (!s.address)
		return error_set(
			err, RC_NOT_FOUND,
			s.mapped ? "offset 0x%llx of '%s' lies in no mapping of the right kind"
				 : "offset 0x%llx of '%s': the object was not loaded when the "
				   "program started; uprobe:FUNCTION@OBJECT counts in what is "
				   "loaded later",
			(unsigned long long)c->offset, c->object);
	if (c->build_id[0]) {
		snprintf(path + strlen(path) - strlen("maps"), sizeof("mem"), "mem");
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			bool known = read_build_id(fd, s.base, id);

			close(fd);
			if (known && strcmp(id, c->build_id))
				return error_set(
					err, RC_MISMATCH,
					"'%s' is another build (%.12s) than the plan was made for "
					"(%.12s): plan again",
					c->object, id, c->build_id);
		}
	}
	*address_out = s.address;
	return 0;
}
