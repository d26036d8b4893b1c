/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and opening libpmix. */
#include "launch/pmix_api.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PMIX_LIBRARY "libpmix.so.2" /* of OpenPMIx 3, 4, 5 and 6 */

/* ---- what the program says ---- */

struct pmix_elf {
	const unsigned char *bytes;
	size_t size;
};

static const void *pmix_elf_at(const struct pmix_elf *e, uint64_t at, uint64_t n)
{
	return at <= e->size && n <= e->size - at ? e->bytes + at : NULL;
}

/* File offset of an address of the dynamic section; false: in no segment. */
static bool pmix_elf_offset(const struct pmix_elf *e, const ElfW(Ehdr) * header, uint64_t address,
			    uint64_t *offset_out)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		const ElfW(Phdr) *p = pmix_elf_at(
			e, header->e_phoff + (uint64_t)i * sizeof(ElfW(Phdr)), sizeof(*p));

		if (!p)
			return false;
		if (p->p_type == PT_LOAD && address >= p->p_vaddr &&
		    address - p->p_vaddr < p->p_filesz) {
			*offset_out = address - p->p_vaddr + p->p_offset;
			return true;
		}
	}
	return false;
}

static void pmix_elf_add(const char *path, const char *origin, char *text, size_t size)
{
	size_t used = strlen(text);

	if (used && used + 1 < size)
		text[used++] = ':';
	while (*path && used + 1 < size) {
		size_t skip = !strncmp(path, "$ORIGIN", 7)     ? 7
			      : !strncmp(path, "${ORIGIN}", 9) ? 9
							       : 0;

		if (skip) {
			used += (size_t)snprintf(text + used, size - used, "%s", origin);
			if (used >= size)
				used = size - 1;
			path += skip;
		} else {
			text[used++] = *path++;
		}
	}
	text[used < size ? used : size - 1] = '\0';
}

static void pmix_elf_run_path(const struct pmix_elf *e, const char *origin, char *text, size_t size)
{
	const ElfW(Ehdr) *header = pmix_elf_at(e, 0, sizeof(*header));
	const ElfW(Phdr) *dynamic = NULL;
	uint64_t strings = 0, n;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phoff % 8)
		return;
	for (unsigned i = 0; i < header->e_phnum && !dynamic; i++) {
		const ElfW(Phdr) *p = pmix_elf_at(
			e, header->e_phoff + (uint64_t)i * sizeof(ElfW(Phdr)), sizeof(*p));

		if (!p)
			return;
		if (p->p_type == PT_DYNAMIC)
			dynamic = p;
	}
	if (!dynamic || dynamic->p_offset % 8 ||
	    !pmix_elf_at(e, dynamic->p_offset, dynamic->p_filesz))
		return;
	n = dynamic->p_filesz / sizeof(ElfW(Dyn));
	for (int round = 0; round < 2; round++) {
		const ElfW(Dyn) *d = pmix_elf_at(e, dynamic->p_offset, dynamic->p_filesz);

		for (uint64_t i = 0; i < n && d[i].d_tag != DT_NULL; i++) {
			const char *path;

			if (!round && d[i].d_tag == DT_STRTAB &&
			    !pmix_elf_offset(e, header, d[i].d_un.d_ptr, &strings))
				return;
			if (!round || (d[i].d_tag != DT_RUNPATH && d[i].d_tag != DT_RPATH))
				continue;
			path = pmix_elf_at(e, strings + d[i].d_un.d_val, 1);
			if (strings && path &&
			    memchr(path, 0,
				   e->size - (size_t)((const unsigned char *)path - e->bytes)))
				pmix_elf_add(path, origin, text, size);
		}
	}
}

void pmix_api_run_path(const char *program, char *text, size_t size)
{
	struct pmix_elf e = {0};
	char origin[512];
	struct stat st;
	void *map;
	int fd = open(program, O_RDONLY | O_CLOEXEC);

	text[0] = '\0';
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			e.bytes = map;
			e.size = (size_t)st.st_size;
			snprintf(origin, sizeof(origin), "%.500s", program);
			if (strrchr(origin, '/'))
				*strrchr(origin, '/') = '\0';
			pmix_elf_run_path(&e, origin, text, size);
			munmap(map, e.size);
		}
	}
	close(fd);
}

/* ---- opening ---- */

static bool pmix_api_try(struct pmix_api *api, const char *file, int flags)
{
	struct link_map *map = NULL;

	/* Global: its plugins, opened by it, take its symbols from there. */
	api->library = dlopen(file, RTLD_NOW | RTLD_GLOBAL | flags);
	if (!api->library)
		return false;
	snprintf(api->path, sizeof(api->path), "%s",
		 dlinfo(api->library, RTLD_DI_LINKMAP, &map) || !map ? file : map->l_name);
	return true;
}

/* FOLDER/libpmix.so.2 for each folder of a list. */
static bool pmix_api_try_folders(struct pmix_api *api, const char *folders, const char *below)
{
	char file[1024];

	while (*folders) {
		size_t n = strcspn(folders, ":");

		if (n && n < 700) {
			snprintf(file, sizeof(file), "%.*s/%s%s", (int)n, folders, below,
				 PMIX_LIBRARY);
			if (!access(file, R_OK) && pmix_api_try(api, file, 0))
				return true;
		}
		folders += n + (folders[n] == ':');
	}
	return false;
}

/* Of the mpirun in PATH, the installation it belongs to. */
static bool pmix_api_try_mpirun(struct pmix_api *api)
{
	const char *path = getenv("PATH");
	char file[1024], real[4096];

	for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
		snprintf(file, sizeof(file), "%.*s/mpirun", (int)strcspn(path, ":"), path);
		if (access(file, X_OK) || !realpath(file, real))
			continue;
		*strrchr(real, '/') = '\0';
		return pmix_api_try_folders(api, real, "../lib/") ||
		       pmix_api_try_folders(api, real, "../lib64/");
	}
	return false;
}

static bool pmix_api_search(struct pmix_api *api, const char *program)
{
	const char *prefix = getenv("OPAL_PREFIX");
	char folders[4096] = "";

	if (pmix_api_try(api, PMIX_LIBRARY, RTLD_NOLOAD))
		return true;
	if (program)
		pmix_api_run_path(program, folders, sizeof(folders));
	return pmix_api_try_folders(api, folders, "") || pmix_api_try(api, PMIX_LIBRARY, 0) ||
	       (prefix && pmix_api_try_folders(api, prefix, "lib/")) || pmix_api_try_mpirun(api) ||
	       pmix_api_try(api, "libpmix.so", 0);
}

int pmix_api_open(struct pmix_api *api, const char *program, struct error *err)
{
	const char *file = getenv("RETALLY_PMIX"), *version;

	*api = (struct pmix_api){0};
	if (file && *file) {
		if (!pmix_api_try(api, file, 0))
			return error_set(err, RC_NOT_FOUND, "RETALLY_PMIX: cannot open '%s': %s",
					 file, dlerror());
	} else if (!pmix_api_search(api, program)) {
		return error_set(err, RC_NOT_FOUND,
				 "libpmix (" PMIX_LIBRARY ") was not found; install OpenPMIx or "
				 "set RETALLY_PMIX to the file");
	}
#define X(symbol, result, parameters)                                                             \
	*(void **)&api->symbol = dlsym(api->library, #symbol);                                    \
	if (!api->symbol)                                                                         \
		return error_set(err, RC_UNSUPPORTED, "'%s' is too old: it has no %s", api->path, \
				 #symbol);
	PMIX_ABI_SYMBOLS(X)
#undef X
	version = api->PMIx_Get_version();
	version += version ? strcspn(version, "0123456789") : 0;
	if (!version || sscanf(version, "%u.%u", &api->major, &api->minor) != 2)
		return error_set(err, RC_UNSUPPORTED, "'%s' does not tell its version", api->path);
	if (api->major < 4 || (api->major == 4 && api->minor < 2))
		return error_set(err, RC_UNSUPPORTED,
				 "'%s' is OpenPMIx %u.%u; 4.2 or later is needed", api->path,
				 api->major, api->minor);
	return 0;
}
