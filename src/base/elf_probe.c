/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a program load a preloaded library? The kernel and ld.so decide by the ELF class, the
 * interpreter and set-id bits, so these are looked at and nothing else.
 */
#include "base/elf_probe.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ELF_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define ELF_MACHINE EM_PPC64
#elif defined(__riscv)
#define ELF_MACHINE EM_RISCV
#else
#define ELF_MACHINE EM_NONE
#endif

#define ELF_HEADERS_MAX 512
#define ELF_DYNAMIC_MAX 4096
#define ELF_SCANNED_MAX (64u << 20)
#define ELF_SCRIPTS_MAX 4 /* as deep as the kernel goes */

static bool elf_no(char *reason, size_t size, const char *text)
{
	snprintf(reason, size, "%s", text);
	return false;
}

static bool elf_read(int fd, void *bytes, size_t n, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, bytes, n, (off_t)offset) == (ssize_t)n;
}

/* Set-id: ld.so ignores the preload when the kernel says AT_SECURE. */
static bool elf_is_secure(int fd, char *reason, size_t size)
{
	struct stat st;
	char capability[1];

	if (fstat(fd, &st))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		return !elf_no(reason, size, "it is set-user-id, so the loader ignores LD_PRELOAD");
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid())
		return !elf_no(reason, size,
			       "it is set-group-id, so the loader ignores LD_PRELOAD");
	/* ERANGE: it has some, and they do not fit into one byte. */
	if (getuid() != 0 &&
	    (fgetxattr(fd, "security.capability", capability, 1) > 0 || errno == ERANGE))
		return !elf_no(reason, size,
			       "it has file capabilities, so the loader ignores LD_PRELOAD");
	return false;
}

static bool elf_check_interpreter(int fd, const Elf64_Phdr *ph, char *reason, size_t size)
{
	char interpreter[256] = "";
	const char *base;

	if (ph->p_filesz < 2 || ph->p_filesz > sizeof(interpreter) ||
	    !elf_read(fd, interpreter, (size_t)ph->p_filesz, ph->p_offset) ||
	    interpreter[ph->p_filesz - 1])
		return elf_no(reason, size, "its interpreter has no valid name");
	base = strrchr(interpreter, '/');
	base = base ? base + 1 : interpreter;
	if (!strncmp(base, "ld-musl", 7))
		return elf_no(reason, size, "it uses musl instead of the GNU C library");
	if (!strncmp(base, "linker", 6))
		return elf_no(reason, size, "it is made for Android");
	if (strncmp(base, "ld-linux", 8) && strncmp(base, "ld64", 4) && strncmp(base, "ld.so", 5) &&
	    strncmp(base, "ld-", 3)) {
		snprintf(reason, size, "its interpreter '%.100s' is not that of the GNU C library",
			 interpreter);
		return false;
	}
	return true;
}

static bool elf_check(int fd, char *reason, size_t size)
{
	Elf64_Ehdr eh;
	bool dynamic = false;

	if (!elf_read(fd, &eh, sizeof(eh), 0) || memcmp(eh.e_ident, ELFMAG, SELFMAG))
		return elf_no(reason, size, "it is not an ELF file");
	if (eh.e_ident[EI_CLASS] != ELFCLASS64)
		return elf_no(reason, size, "it is a 32-bit program");
	if (ELF_MACHINE != EM_NONE && eh.e_machine != ELF_MACHINE)
		return elf_no(reason, size, "it is made for another processor");
	if (eh.e_phentsize != sizeof(Elf64_Phdr) || eh.e_phnum > ELF_HEADERS_MAX)
		return elf_no(reason, size, "it is not an ELF file that can be understood");
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		Elf64_Phdr ph;

		if (!elf_read(fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)))
			return elf_no(reason, size, "it is not a whole ELF file");
		if (ph.p_type == PT_INTERP)
			return elf_check_interpreter(fd, &ph, reason, size);
		dynamic |= ph.p_type == PT_DYNAMIC;
	}
	return elf_no(reason, size,
		      dynamic ? "it is statically linked (static-pie) and loads no libraries"
			      : "it is statically linked and loads no libraries");
}

/* The interpreter of a script's first line, NULL-terminated within line. */
static char *elf_script_interpreter(char *line)
{
	char *p = line + 2, *end;

	p += strspn(p, " \t");
	end = p + strcspn(p, " \t\r\n");
	*end = '\0';
	return *p ? p : NULL;
}

bool elf_can_preload(const char *path, char *reason_out, size_t size)
{
	char line[256], name[256];
	const char *at = path;

	if (size)
		reason_out[0] = '\0';
	for (int depth = 0; depth < ELF_SCRIPTS_MAX; depth++) {
		int fd = open(at, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		ssize_t n;
		bool can;
		char *next;

		if (fd < 0) {
			/* Executable but not readable: the kernel can, we cannot tell. */
			snprintf(reason_out, size, "it cannot be read: %s", strerror(errno));
			return false;
		}
		n = pread(fd, line, sizeof(line) - 1, 0);
		line[n > 0 ? n : 0] = '\0';
		if (strncmp(line, "#!", 2)) {
			can = !elf_is_secure(fd, reason_out, size) &&
			      elf_check(fd, reason_out, size);
			close(fd);
			return can;
		}
		close(fd);
		next = elf_script_interpreter(line);
		if (!next)
			return elf_no(reason_out, size, "its first line names no interpreter");
		snprintf(name, sizeof(name), "%s", next);
		at = name;
	}
	return elf_no(reason_out, size, "its interpreters lead to each other");
}

/* ---- the names of dynamic symbols ---- */

/* Where in the file an address of the loaded program comes from; false: nowhere. */
static bool elf_offset_of(int fd, const Elf64_Ehdr *eh, uint64_t address, uint64_t *offset_out)
{
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph;

		if (!elf_read(fd, &ph, sizeof(ph), eh->e_phoff + i * sizeof(ph)))
			return false;
		if (ph.p_type != PT_LOAD || address < ph.p_vaddr ||
		    address - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset_out = ph.p_offset + (address - ph.p_vaddr);
		return true;
	}
	return false;
}

/* The string table that the dynamic section names. */
static bool elf_strings(int fd, const Elf64_Ehdr *eh, uint64_t *offset_out, uint64_t *size_out)
{
	uint64_t address = 0;

	*size_out = 0;
	for (unsigned i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph;

		if (!elf_read(fd, &ph, sizeof(ph), eh->e_phoff + i * sizeof(ph)))
			return false;
		if (ph.p_type != PT_DYNAMIC)
			continue;
		for (uint64_t k = 0; k < ph.p_filesz / sizeof(Elf64_Dyn) && k < ELF_DYNAMIC_MAX;
		     k++) {
			Elf64_Dyn d;

			if (!elf_read(fd, &d, sizeof(d), ph.p_offset + k * sizeof(d)) ||
			    d.d_tag == DT_NULL)
				break;
			if (d.d_tag == DT_STRTAB)
				address = d.d_un.d_ptr;
			if (d.d_tag == DT_STRSZ)
				*size_out = d.d_un.d_val;
		}
	}
	return address && *size_out && elf_offset_of(fd, eh, address, offset_out);
}

/* Whether the bytes [offset, +size) of the file hold the text as a string of its own. */
static bool elf_holds(int fd, uint64_t offset, uint64_t size, const char *text)
{
	size_t n = strlen(text) + 1, got = n + 1;
	bool found = false;
	char block[16384];

	/* Blocks overlap, so that no text is cut. It begins behind a zero. */
	for (uint64_t at = 0; at + n < size && got > n && !found; at += got - n) {
		size_t want = size - at < sizeof(block) ? (size_t)(size - at) : sizeof(block);
		ssize_t r = pread(fd, block, want, (off_t)(offset + at));

		got = r > 0 ? (size_t)r : 0;
		for (const char *p = block, *end = block + got; !found && end - p > (ssize_t)n;
		     p++) {
			p = memchr(p, '\0', (size_t)(end - p) - n);
			if (!p)
				break;
			found = !memcmp(p + 1, text, n);
		}
	}
	return found;
}

bool elf_names_symbol(const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uint64_t offset = 0, size = 0;
	bool found = false;
	struct stat st;
	Elf64_Ehdr eh;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && elf_read(fd, &eh, sizeof(eh), 0) &&
	    !memcmp(eh.e_ident, ELFMAG, SELFMAG) && eh.e_ident[EI_CLASS] == ELFCLASS64 &&
	    eh.e_phentsize == sizeof(Elf64_Phdr) && eh.e_phnum <= ELF_HEADERS_MAX &&
	    elf_strings(fd, &eh, &offset, &size) && offset <= INT64_MAX && size <= INT64_MAX) {
		found = elf_holds(fd, offset, size, name);
		/* Asked for by name while the program runs, as from Fortran: among its constants.
		 */
		if (!found && elf_holds(fd, offset, size, "dlsym"))
			found = elf_holds(fd, 0,
					  st.st_size < ELF_SCANNED_MAX ? (uint64_t)st.st_size
								       : ELF_SCANNED_MAX,
					  name);
	}
	close(fd);
	return found;
}
