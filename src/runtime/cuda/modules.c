/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of modules: see modules.h. */
#include "runtime/cuda/modules.h"

#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX (1u << 20)

/* Variables that NVSHMEM puts into each module whose kernels call it; in constant memory. */
#define NVSHMEM_PREFIX "nvshmemi_"

struct name {
	struct name *next;
	char text[];
};
struct cuda_module {
	struct cuda_module *next;
	struct cuda_context *context;
	struct CUmod_st *module;
	struct cuda_variable *_Atomic variables;
	const struct name *_Atomic asked; /* this and those behind it */
	_Atomic bool known, talks, late, forgotten;
	char why[128]; /* it was not known; written once, before known is read as false */
};
static struct {
	pthread_mutex_t lock; /* never held over a call of the driver */

	struct cuda_module *modules;
	struct name
		*_Atomic names; /* of variables in any module seen so far; only added in front */
	struct map known_names;
	_Atomic bool unread; /* an image or a name is missing */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- modules ---- */

static bool add_variable_locked(struct cuda_module *m, cu_ptr address, size_t size)
{
	struct program_memory memory = {.address = address,
					.size = size,
					.kind = MEMORY_VARIABLE,
					.owner = m->context->number,
					.module = (uint64_t)(uintptr_t)m->module},
			      there;
	struct cuda_variable *v;

	for (v = m->variables; v; v = v->next)
		if (v->address == address)
			return true;
	/* Managed variables are seen as allocations already. */
	if (!memories_find(&cuda_session.memories, address, &there) &&
	    !memories_add(&cuda_session.memories, &memory))
		return false;
	v = malloc(sizeof(*v));
	if (!v)
		return false;
	v->address = address;
	v->next = m->variables;
	m->variables = v; /* read without the lock: whole from here on */
	m->late = m->known;
	return true;
}

/* Several threads may ask for the same module at once, and find the same. */
static bool add_variable(struct cuda_module *m, cu_ptr address, size_t size)
{
	bool added;

	pthread_mutex_lock(&table.lock);
	added = add_variable_locked(m, address, size);
	pthread_mutex_unlock(&table.lock);
	return added;
}

static void not_known(struct cuda_module *m, const char *what)
{
	pthread_mutex_lock(&table.lock);
	if (!m->why[0])
		snprintf(m->why, sizeof(m->why), "its module's variables are not known: %s", what);
	m->known = false;
	pthread_mutex_unlock(&table.lock);
}

/* Asks for the names from the first to the last that was asked for. What fails is tried again the
 * next time. */
static void ask(struct cuda_module *m)
{
	const struct cuda_driver *d = &cuda_session.driver;
	const struct name *first = table.names, *last = m->asked;

	/* Another thread may have asked for more meanwhile: then `last` is in front of `first`. */
	for (const struct name *n = first; n && n != last; n = n->next) {
		cu_ptr address = 0;
		size_t size = 0;
		cu_result result = d->module_global(&address, &size, m->module, n->text);

		if (result == CU_NOT_FOUND)
			continue;
		if (result) {
			not_known(m, cuda_driver_error(d, result));
			return;
		}
		if (!strncmp(n->text, NVSHMEM_PREFIX, strlen(NVSHMEM_PREFIX))) {
			m->talks = true;
		} else if (!add_variable(m, address, size)) {
			not_known(m, "out of memory");
			return;
		}
	}
	m->asked = first;
	m->known = true;
}

void cuda_module_refresh(struct cuda_module *m)
{
	if (!m->known || m->asked != table.names)
		ask(m);
}

struct cuda_module *cuda_modules_get(struct cuda_context *c, struct CUmod_st *module)
{
	struct cuda_module *m;

	pthread_mutex_lock(&table.lock);
	for (m = table.modules; m; m = m->next)
		if (m->context == c && m->module == module && !m->forgotten)
			break;
	if (!m && (m = calloc(1, sizeof(*m)))) {
		m->context = c;
		m->module = module;
		m->next = table.modules;
		table.modules = m;
	}
	pthread_mutex_unlock(&table.lock);
	if (m)
		cuda_module_refresh(m);
	return m;
}

const struct cuda_variable *cuda_module_variables(const struct cuda_module *m)
{
	return m->variables;
}

bool cuda_module_talks(const struct cuda_module *m)
{
	return m->talks;
}

const char *cuda_module_why_not(const struct cuda_module *m)
{
	if (table.unread)
		return "a module's image could not be read: variables are not known";
	if (!m)
		return "its module's variables are not known";
	return m->known ? NULL : m->why;
}

bool cuda_module_was_late(struct cuda_module *m)
{
	return m->late && atomic_exchange(&m->late, false);
}

void cuda_modules_forget(void)
{
	pthread_mutex_lock(&table.lock);
	for (struct cuda_module *m = table.modules; m; m = m->next)
		m->forgotten = true; /* matches no module from now on */
	pthread_mutex_unlock(&table.lock);
}

/* ---- names ---- */

static bool learn_name(const char *text, size_t length)
{
	struct name *n = malloc(sizeof(*n) + length + 1);
	size_t there;
	bool known;

	if (!n)
		return false;
	memcpy(n->text, text, length);
	n->text[length] = 0;
	pthread_mutex_lock(&table.lock);
	known = map_get(&table.known_names, n->text, &there);
	if (!known && table.known_names.n < NAMES_MAX && map_set(&table.known_names, n->text, 0)) {
		n->next = table.names;
		table.names = n;
		known = true;
		n = NULL;
	}
	pthread_mutex_unlock(&table.lock);
	free(n);
	return known;
}

/* 64-bit little-endian ELF, read by hand and with bounds: sections, and of the symbol table the
 * objects that lie in a section named .nv.global or .nv.global.init, and NVSHMEM's anywhere. */
struct elf_section {
	uint32_t name, type;
	uint64_t flags, address, offset, size;
	uint32_t link, info;
	uint64_t align, entry;
};
struct elf_symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, size;
};
#define ELF_ABSOLUTE 0xfff1 /* in no section */
_Static_assert(sizeof(struct elf_section) == 64, "ELF");
_Static_assert(sizeof(struct elf_symbol) == 24, "ELF");

static bool elf_read(const void *image, size_t size, uint64_t at, void *out, size_t n)
{
	if (at > size || n > size - at)
		return false;
	memcpy(out, (const char *)image + at, n);
	return true;
}

static bool elf_section(const void *image, size_t size, uint64_t table_at, unsigned i,
			struct elf_section *out)
{
	return elf_read(image, size, table_at + (uint64_t)i * sizeof(*out), out, sizeof(*out)) &&
	       (out->type == 8 || (out->offset <= size && out->size <= size - out->offset));
}

static bool elf_has_prefix(const char *image, const struct elf_section *strings, uint32_t name,
			   const char *prefix)
{
	size_t n = strlen(prefix);

	return name < strings->size && strings->size - name > n &&
	       !memcmp(image + strings->offset + name, prefix, n);
}

static bool elf_symbols(const char *image, size_t size, uint64_t table_at, unsigned n_sections,
			const struct elf_section *names, const struct elf_section *symbols)
{
	struct elf_section strings, in;
	struct elf_symbol s;
	bool good = true;

	if (symbols->link >= n_sections ||
	    !elf_section(image, size, table_at, symbols->link, &strings) || strings.type == 8)
		return false;
	for (uint64_t at = 0; at + sizeof(s) <= symbols->size && good; at += sizeof(s)) {
		size_t length;

		if (!elf_read(image, size, symbols->offset + at, &s, sizeof(s)))
			return false;
		if ((s.info & 15) != 1 || !s.size || s.section == ELF_ABSOLUTE)
			continue;
		if (s.section >= n_sections ||
		    !elf_section(image, size, table_at, s.section, &in) || s.name >= strings.size)
			return false;
		if (!elf_has_prefix(image, names, in.name, ".nv.global") &&
		    !elf_has_prefix(image, &strings, s.name, NVSHMEM_PREFIX))
			continue;
		length = strnlen(image + strings.offset + s.name, strings.size - s.name);
		good = length && length < strings.size - s.name &&
		       learn_name(image + strings.offset + s.name, length);
	}
	return good;
}

static bool elf_learn(const char *image, size_t size)
{
	struct elf_section names, s;
	uint64_t table_at;
	uint16_t n, entry, names_index;
	bool good = true;

	if (!image || size < 64 || memcmp(image, "\177ELF\2\1", 6))
		return false;
	memcpy(&table_at, image + 40, 8);
	memcpy(&entry, image + 58, 2);
	memcpy(&n, image + 60, 2);
	memcpy(&names_index, image + 62, 2);
	if (entry != sizeof(s) || names_index >= n ||
	    !elf_section(image, size, table_at, names_index, &names) || names.type == 8)
		return false;
	for (unsigned i = 0; i < n && good; i++) {
		good = elf_section(image, size, table_at, i, &s);
		if (good && s.type == 2)
			good = elf_symbols(image, size, table_at, n, &names, &s);
	}
	return good;
}

void cuda_modules_learn(const void *cubin, size_t size)
{
	if (!elf_learn(cubin, size))
		table.unread = true;
}
