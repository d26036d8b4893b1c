/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the auxiliary vector and the dynamic loader's symbols of another process. */
#include "launch/loader.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define LOADER_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define LOADER_MACHINE EM_AARCH64
#else
#define LOADER_MACHINE EM_NONE
#endif

/* The e_machine of the running image; the first bytes of /proc/PID/exe. */
static int loader_check_machine(pid_t pid, struct error *err)
{
	char path[40];
	Elf64_Ehdr header;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, &header, sizeof(header));
		close(fd);
	}
	if (n != (ssize_t)sizeof(header))
		return error_set(err, RC_IO, "the program's file cannot be read");
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_machine != LOADER_MACHINE)
		return error_set(err, RC_UNSUPPORTED,
				 "the program is not for this processor's 64-bit mode");
	return 0;
}

static int loader_read_auxv(pid_t pid, uint64_t *base_out, uint64_t *entry_out, struct error *err)
{
	char path[40];
	Elf64_auxv_t pairs[64];
	ssize_t n = -1;
	int fd;

	*base_out = *entry_out = 0;
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, pairs, sizeof(pairs));
		close(fd);
	}
	if (n <= 0)
		return error_set_errno(err, RC_IO, errno, "cannot read %s", path);
	for (size_t i = 0; i < (size_t)n / sizeof(pairs[0]); i++) {
		if (pairs[i].a_type == AT_BASE)
			*base_out = pairs[i].a_un.a_val;
		else if (pairs[i].a_type == AT_ENTRY)
			*entry_out = pairs[i].a_un.a_val;
	}
	if (!*entry_out)
		return error_set(err, RC_IO, "%s has no entry point", path);
	return 0;
}

/* Opens the file that is mapped at address. */
static int loader_open_mapped(pid_t pid, uint64_t address)
{
	char *line = NULL, path[40];
	size_t capacity = 0;
	int fd = -1;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return -1;
	while (fd < 0 && getline(&line, &capacity, maps) > 0) {
		char *name = strchr(line, '/');
		char *full = NULL;

		if (strtoull(line, NULL, 16) != address || !name)
			continue;
		name[strcspn(name, "\n")] = 0;
		if (asprintf(&full, "/proc/%d/root%s", (int)pid, name) > 0) {
			fd = open(full, O_RDONLY | O_CLOEXEC);
			free(full);
		}
		break;
	}
	free(line);
	fclose(maps);
	return fd;
}

/* Looks two names up in the dynamic symbols of an ELF file; 0 for one that is not there. The file
 * is the system's loader, but nothing outside of it is read whatever it says. */
static void loader_symbols(const unsigned char *file, size_t size, uint64_t *state_hook,
			   uint64_t *debug)
{
	const Elf64_Ehdr *e = (const void *)file;

	*state_hook = *debug = 0;
	if (size < sizeof(*e) || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_shentsize != sizeof(Elf64_Shdr) ||
	    e->e_shoff % 8 || e->e_shoff > size ||
	    (size - e->e_shoff) / sizeof(Elf64_Shdr) < e->e_shnum)
		return;
	for (size_t i = 0; i < e->e_shnum; i++) {
		const Elf64_Shdr *sections = (const void *)(file + e->e_shoff);
		const Elf64_Shdr *table = &sections[i], *names;
		const Elf64_Sym *symbols;

		if (table->sh_type != SHT_DYNSYM || table->sh_link >= e->e_shnum)
			continue;
		names = &sections[table->sh_link];
		if (table->sh_offset % 8 || table->sh_offset > size ||
		    size - table->sh_offset < table->sh_size || names->sh_offset > size ||
		    size - names->sh_offset < names->sh_size)
			return;
		symbols = (const void *)(file + table->sh_offset);
		for (size_t k = 0; k < table->sh_size / sizeof(*symbols); k++) {
			const char *name = (const char *)file + names->sh_offset;
			size_t left;

			if (symbols[k].st_name >= names->sh_size)
				continue;
			name += symbols[k].st_name;
			left = (size_t)(names->sh_size - symbols[k].st_name);
			if (left > sizeof("_dl_debug_state") - 1 &&
			    !strncmp(name, "_dl_debug_state", left))
				*state_hook = symbols[k].st_value;
			else if (left > sizeof("_r_debug") - 1 && !strncmp(name, "_r_debug", left))
				*debug = symbols[k].st_value;
		}
		return;
	}
}

int loader_find_stop(pid_t pid, struct loader_stop *stop_out, struct error *err)
{
	uint64_t base, entry, hook = 0, debug = 0;
	struct stat st;
	void *file;
	int rc, fd;

	memset(stop_out, 0, sizeof(*stop_out));
	rc = loader_check_machine(pid, err);
	if (!rc)
		rc = loader_read_auxv(pid, &base, &entry, err);
	if (rc)
		return rc;
	stop_out->address = entry;
	if (!base)
		return 0; /* static: everything is mapped, and its own start code comes first */
	fd = loader_open_mapped(pid, base);
	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			loader_symbols(file, (size_t)st.st_size, &hook, &debug);
			munmap(file, (size_t)st.st_size);
		}
	}
	if (fd >= 0)
		close(fd);
	if (!hook) {
		stop_out->late = true;
		return 0;
	}
	/* Loaders are linked at 0, so the base is the offset of all their addresses. */
	stop_out->address = base + hook;
	if (debug)
		stop_out->state = base + debug + offsetof(struct r_debug, r_state);
	return 0;
}
