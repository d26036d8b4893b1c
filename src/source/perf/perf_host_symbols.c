/* SPDX-License-Identifier: Apache-2.0 */
/* Looks symbols up in ELF files: .symtab where there is one, .dynsym otherwise, debug files as
 * well. */
#include "source/perf/perf_host_symbols.h"

#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUG_FOLDER "/usr/lib/debug/.build-id"
#define NEAR         3

struct object {
	const char *path;
	int fd;
	Elf *elf;
	char build_id[PERF_BUILD_ID_SIZE];
	bool has_symtab; /* its own, or that of a debug file */
};

struct match {
	GElf_Sym symbol;
	size_t n; /* different places with that name and the best binding so far */
	int rank; /* global 2, weak 1, local 0 */
	bool is_ifunc, is_thread_local;
};

struct near_name {
	char name[128];
	size_t distance;
};

struct lookup {
	const char *wanted;
	enum perf_symbol_kind kind;
	struct match match;
	struct near_name near[NEAR];
	/* Set by perf_symbol_list instead of wanted. */
	VEC(GElf_Sym) listed;
	VEC(const char *) names;
	bool failed;
};

static int object_open(struct object *o, const char *path, struct error *err)
{
	memset(o, 0, sizeof(*o));
	o->path = path;
	o->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (o->fd < 0)
		return error_set_errno(err, 0, errno, "cannot read '%s'", path);
	elf_version(EV_CURRENT);
	o->elf = elf_begin(o->fd, ELF_C_READ_MMAP, NULL);
	if (!o->elf || elf_kind(o->elf) != ELF_K_ELF) {
		elf_end(o->elf);
		close(o->fd);
		return error_set(err, RC_INVALID, "'%s' is not an ELF file", path);
	}
	return 0;
}

static void object_close(struct object *o)
{
	elf_end(o->elf);
	close(o->fd);
}

static void find_build_id(struct object *o)
{
	size_t n = 0;

	if (elf_getphdrnum(o->elf, &n))
		return;
	for (size_t i = 0; i < n && i < INT_MAX; i++) {
		GElf_Phdr p;
		GElf_Nhdr note;
		Elf_Data *data;
		size_t at = 0, next, name, content;

		if (!gelf_getphdr(o->elf, (int)i, &p) || p.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(o->elf, (int64_t)p.p_offset, (size_t)p.p_filesz,
					    p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		while (data && (next = gelf_getnote(data, at, &note, &name, &content)) > 0) {
			const unsigned char *bytes = (const unsigned char *)data->d_buf + content;

			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			    !memcmp((const char *)data->d_buf + name, "GNU", 4) &&
			    note.n_descsz <= (PERF_BUILD_ID_SIZE - 1) / 2) {
				for (size_t k = 0; k < note.n_descsz; k++)
					snprintf(o->build_id + 2 * k, 3, "%02x", bytes[k]);
				return;
			}
			at = next;
		}
	}
}

/* Edit distance, given up beyond limit. */
static size_t distance(const char *a, const char *b, size_t limit)
{
	size_t row[130], na = strlen(a), nb = strlen(b);

	if (na >= 128 || nb >= 128 || (na > nb ? na - nb : nb - na) > limit)
		return limit + 1;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0], best = ++row[0];

		for (size_t j = 1; j <= nb; j++) {
			size_t cost = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < cost)
				cost = row[j] + 1;
			if (row[j - 1] + 1 < cost)
				cost = row[j - 1] + 1;
			row[j] = cost;
			if (cost < best)
				best = cost;
		}
		if (best > limit)
			return limit + 1;
	}
	return row[nb];
}

static void offer_near(struct lookup *l, const char *name)
{
	size_t limit = 1 + strlen(l->wanted) / 3, d, i;

	if (l->near[NEAR - 1].name[0] && l->near[NEAR - 1].distance <= limit)
		limit = l->near[NEAR - 1].distance;
	d = distance(l->wanted, name, limit);
	if (d > limit)
		return;
	for (i = 0; i < NEAR; i++)
		if (l->near[i].name[0] && !strcmp(l->near[i].name, name))
			return;
	for (i = 0; i < NEAR; i++)
		if (!l->near[i].name[0] || d < l->near[i].distance)
			break;
	if (i == NEAR)
		return;
	memmove(&l->near[i + 1], &l->near[i], (NEAR - 1 - i) * sizeof(l->near[0]));
	snprintf(l->near[i].name, sizeof(l->near[i].name), "%s", name);
	l->near[i].distance = d;
}

static void offer_symbol(struct lookup *l, const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info);
	int rank = bind == STB_LOCAL ? 0 : bind == STB_WEAK ? 1 : 2;
	bool fits;

	if (symbol->st_shndx == SHN_UNDEF || !name || !name[0])
		return;
	fits = l->kind == PERF_SYMBOL_FUNCTION ? type == STT_FUNC || type == STT_GNU_IFUNC
					       : type == STT_OBJECT || type == STT_TLS;
	/* Assembly code often leaves the type out. */
	if (type == STT_NOTYPE && l->wanted && rank > 0 && !strcmp(name, l->wanted))
		fits = true;
	if (!fits)
		return;
	if (!l->wanted) {
		if (type != STT_GNU_IFUNC && type != STT_TLS &&
		    (!vec_push(&l->listed, *symbol) || !vec_push(&l->names, name)))
			l->failed = true;
		return;
	}
	if (strcmp(name, l->wanted)) {
		offer_near(l, name);
		return;
	}
	if (l->match.n && rank < l->match.rank)
		return;
	if (l->match.n && rank == l->match.rank) {
		if (symbol->st_value != l->match.symbol.st_value)
			l->match.n++;
		return;
	}
	l->match = (struct match){*symbol, 1, rank, type == STT_GNU_IFUNC, type == STT_TLS};
}

/* Walks the symbol tables of type `want` in elf. Versioned symbols that are not the default are
 * left out: memcpy is memcpy@@GLIBC_2.14. True when there was such a table. */
static bool walk(Elf *elf, GElf_Word want, struct lookup *l)
{
	Elf_Scn *section = NULL, *other = NULL;
	Elf_Data *versions = NULL;
	bool found = false;

	if (want == SHT_DYNSYM) {
		while ((other = elf_nextscn(elf, other))) {
			GElf_Shdr h;

			if (gelf_getshdr(other, &h) && h.sh_type == SHT_GNU_versym)
				versions = elf_getdata(other, NULL);
		}
	}
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr h;
		Elf_Data *data;
		size_t n;

		if (!gelf_getshdr(section, &h) || h.sh_type != want || !h.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		if (!data)
			continue;
		found = true;
		n = (size_t)(h.sh_size / h.sh_entsize);
		for (size_t i = 0; i < n && i < INT_MAX; i++) {
			GElf_Sym symbol;
			GElf_Versym version;

			if (!gelf_getsym(data, (int)i, &symbol))
				break;
			if (versions && gelf_getversym(versions, (int)i, &version) &&
			    (version & 0x8000))
				continue;
			offer_symbol(l, &symbol, elf_strptr(elf, h.sh_link, symbol.st_name));
		}
	}
	return found;
}

static bool walk_debug_file(struct object *o, struct lookup *l)
{
	char path[sizeof(DEBUG_FOLDER) + PERF_BUILD_ID_SIZE + 16];
	struct object debug;
	bool found = false;

	if (strlen(o->build_id) < 4 || l->wanted == NULL)
		return false;
	snprintf(path, sizeof(path), DEBUG_FOLDER "/%.2s/%s.debug", o->build_id, o->build_id + 2);
	if (access(path, R_OK) || object_open(&debug, path, NULL))
		return false;
	found = walk(debug.elf, SHT_SYMTAB, l);
	object_close(&debug);
	return found;
}

static void walk_object(struct object *o, struct lookup *l)
{
	o->has_symtab = walk(o->elf, SHT_SYMTAB, l);
	if (!l->match.n || !l->wanted)
		if (!o->has_symtab || l->wanted)
			(void)walk(o->elf, SHT_DYNSYM, l);
	if (!l->match.n && !o->has_symtab && walk_debug_file(o, l))
		o->has_symtab = true;
}

/* From a symbol's virtual address to a place in the file. */
static int fill_place(const struct object *o, const struct lookup *l, struct perf_place *out,
		      struct error *err)
{
	uint64_t value = l->match.symbol.st_value, first = UINT64_MAX;
	bool inside = false;
	size_t n = 0;

	if (l->match.is_ifunc)
		return error_set(
			err, RC_UNSUPPORTED,
			"'%s' of '%s' is an indirect function (IFUNC): the loader picks one of "
			"several implementations when the program starts; name the "
			"implementation, or a function that calls it",
			l->wanted, o->path);
	if (l->match.is_thread_local)
		return error_set(
			err, RC_UNSUPPORTED,
			"'%s' of '%s' is thread-local: it has another address in every thread",
			l->wanted, o->path);
	if (l->match.n > 1)
		return error_set(err, RC_INVALID, "'%s' is the name of %zu symbols of '%s'",
				 l->wanted, l->match.n, o->path);
	memset(out, 0, sizeof(*out));
	out->file_offset = UINT64_MAX;
	out->size = l->match.symbol.st_size;
	if (strlen(o->path) >= sizeof(out->object))
		return error_set(err, RC_INVALID, "the path '%.64s...' is too long", o->path);
	memcpy(out->object, o->path, strlen(o->path) + 1);
	memcpy(out->build_id, o->build_id, sizeof(out->build_id));
	if (elf_getphdrnum(o->elf, &n))
		n = 0;
	for (size_t i = 0; i < n && i < INT_MAX; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(o->elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		if (first == UINT64_MAX) {
			/* The loader maps whole pages; file offset 0 is where maps shows offset 0.
			 */
			first = p.p_vaddr - p.p_offset;
			if (p.p_offset >= 4096)
				break;
		}
		if (value < p.p_vaddr || value - p.p_vaddr >= p.p_memsz)
			continue;
		if (l->kind == PERF_SYMBOL_FUNCTION && !(p.p_flags & PF_X))
			continue;
		inside = true;
		out->load_offset = value - first;
		if (value - p.p_vaddr < p.p_filesz)
			out->file_offset = value - p.p_vaddr + p.p_offset;
	}
	if (!inside)
		return error_set(err, RC_UNSUPPORTED, "'%s' lies in no loaded segment of '%s'",
				 l->wanted, o->path);
	return 0;
}

static bool is_named(const char *path, const char *object)
{
	const char *base = strrchr(path, '/'), *rest;
	size_t n = strlen(object);

	if (!strcmp(path, object))
		return true;
	base = base ? base + 1 : path;
	if (strncmp(base, object, n))
		return false;
	rest = base + n;
	return !*rest || !strncmp(rest, ".so", 3) || !strncmp(rest, "-", 1) ||
	       !strncmp(rest, ".", 1);
}

static int not_found(const struct lookup *l, const struct object *o, const char *script,
		     const char *object, struct error *err)
{
	char near[NEAR * 112] = "", of[300] = "";
	size_t used = 0;

	for (int i = 0; i < NEAR && l->near[i].name[0]; i++)
		used += (size_t)snprintf(near + used, sizeof(near) - used, "%s'%.100s'",
					 i ? ", " : "; near: ", l->near[i].name);
	if (script)
		snprintf(of, sizeof(of), " (the interpreter of script '%.200s')", script);
	return error_set(err, RC_NOT_FOUND, "no %s '%s' in '%s'%s%s%s%s",
			 l->kind == PERF_SYMBOL_FUNCTION ? "function" : "variable", l->wanted,
			 o->path, of, object ? "" : " or its libraries",
			 o->has_symtab ? "" : "; it is stripped, only its exported names are known",
			 near);
}

/* Looks into one file: 0 when found (place filled), RC_END when it does not have the symbol. */
static int find_in(const char *path, struct lookup *l, struct object *first,
		   struct perf_place *place_out, struct error *err)
{
	struct object o;
	int rc = object_open(&o, path, err);

	if (rc)
		return rc;
	find_build_id(&o);
	walk_object(&o, l);
	if (!first->path) {
		first->path = path;
		first->has_symtab = o.has_symtab;
	}
	rc = l->match.n ? fill_place(&o, l, place_out, err) : RC_END;
	object_close(&o);
	return rc;
}

int perf_symbol_find(const char *program, const char *symbol, const char *object,
		     enum perf_symbol_kind kind, struct perf_place *place_out, struct error *err)
{
	struct arena arena = {0};
	struct lookup l = {.wanted = symbol, .kind = kind};
	struct object first = {0};
	const char *path, *script = NULL, **libraries = NULL;
	char *real;
	size_t n = 0;
	int rc;

	if (object && object[0] == '/') {
		real = realpath(object, NULL);
		if (!real)
			return error_set_errno(err, 0, errno, "cannot resolve '%s'", object);
		rc = find_in(real, &l, &first, place_out, err);
		if (rc == RC_END)
			rc = not_found(&l, &first, NULL, object, err);
		free(real);
		return rc;
	}
	if (!program)
		return error_set(err, RC_INVALID,
				 "'%s' can only be looked up in a program: name one", symbol);
	rc = perf_program_resolve(&arena, program, &path, &script, err);
	if (rc)
		goto out;
	rc = RC_END;
	if (!object || is_named(path, object))
		rc = find_in(path, &l, &first, place_out, err);
	if (rc == RC_END) {
		rc = perf_program_libraries(&arena, path, &libraries, &n, err);
		if (rc)
			goto out;
		rc = RC_END;
	}
	for (size_t i = 0; i < n && rc == RC_END; i++)
		if (!object || is_named(libraries[i], object))
			rc = find_in(libraries[i], &l, &first, place_out, err);
	if (rc == RC_END && !first.path)
		rc = error_set(err, RC_NOT_FOUND, "'%s' has no library '%s'", path, object);
	else if (rc == RC_END)
		rc = not_found(&l, &first, script, object, err);
out:
	arena_release(&arena);
	return rc;
}

static int by_address(const void *a, const void *b, void *data)
{
	const struct lookup *l = data;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	uint64_t x = l->listed.items[i].st_value, y = l->listed.items[j].st_value;

	if (x != y)
		return x < y ? -1 : 1;
	return strcmp(l->names.items[i], l->names.items[j]);
}

int perf_symbol_list(const char *program, enum perf_symbol_kind kind,
		     void (*found)(const char *name, void *data), void *data, struct error *err)
{
	struct arena arena = {0};
	struct lookup l = {.kind = kind};
	struct object o;
	const char *path, *script, *last = "";
	size_t *order = NULL;
	int rc = perf_program_resolve(&arena, program, &path, &script, err);

	if (rc)
		goto out;
	rc = object_open(&o, path, err);
	if (rc)
		goto out;
	walk_object(&o, &l);
	order = calloc(l.names.n ? l.names.n : 1, sizeof(*order));
	if (l.failed || !order) {
		rc = error_set(err, RC_NO_MEMORY, "no memory for the symbols of '%s'", path);
	} else {
		for (size_t i = 0; i < l.names.n; i++)
			order[i] = i;
		qsort_r(order, l.names.n, sizeof(*order), by_address, &l);
		for (size_t i = 0; i < l.names.n; i++) {
			const char *name = l.names.items[order[i]];

			if (strcmp(name, last))
				found(name, data);
			last = name;
		}
	}
	object_close(&o);
out:
	free(order);
	vec_release(&l.listed);
	vec_release(&l.names);
	arena_release(&arena);
	return rc;
}
