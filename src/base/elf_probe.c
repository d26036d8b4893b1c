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
