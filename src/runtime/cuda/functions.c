/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel functions and modules: see functions.h. */
#include "runtime/cuda/functions.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

struct entry {
	struct entry *_Atomic next;
	struct cuda_function f;
};
struct module_entry {
	struct module_entry *next;
	struct cuda_context *context;
	struct cuda_module m;
};
struct name {
	struct name *next;
	char text[];
};
static struct {
	pthread_mutex_t lock;

	struct entry *_Atomic buckets[BUCKETS]; /* read without the lock; entries are never freed */
	struct entry *forgotten;                /* kept: another thread may still look at them */
	struct module_entry *modules;
	struct name *names; /* of variables in any module seen so far */
	struct map known_names;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Names that collectives have: their kernels wait for each other across devices and processes. */
static const char *const collectives[] = {"ncclKernel", "ncclDevKernel", "nvshmem", "nccl_",
					  "ncclDev"};

/* Variables that NVSHMEM puts into each module whose kernels call it; in constant memory. */
#define NVSHMEM_PREFIX "nvshmemi_"

static size_t bucket_of(const struct CUfunc_st *function)
{
	return (size_t)(((uintptr_t)function >> 4) * 0x9e3779b97f4a7c15u >> 52) % BUCKETS;
}

static struct entry *find(const struct cuda_context *c, const struct CUfunc_st *function)
{
	for (struct entry *e = table.buckets[bucket_of(function)]; e; e = e->next)
		if (e->f.function == function && e->f.context == c)
			return e;
	return NULL;
}

/* The kernels of CUDA's runtime are CUkernel handles that pass for functions. */
static int parameter(struct CUfunc_st *function, size_t i, size_t *offset, size_t *size)
{
	const struct cuda_driver *d = &cuda_session.driver;
	int result = -1;

	if (d->function_parameter)
		result = d->function_parameter(function, i, offset, size);
	if (result && d->kernel_parameter)
		result = d->kernel_parameter((struct CUkern_st *)function, i, offset, size);
	return result;
}

static void parameters(struct cuda_function *f)
{
	size_t offset, size;
	unsigned room = 0;

	if (!cuda_session.driver.function_parameter && !cuda_session.driver.kernel_parameter)
		return;
	for (f->n = 0; !parameter(f->function, f->n, &offset, &size); f->n++) {
		if (f->n == room) {
			struct cuda_parameter *p;

			room = room ? 2 * room : 16;
			p = realloc(f->parameters, room * sizeof(*p));
			if (!p)
				return;
			f->parameters = p;
		}
		if (offset + size > 64u << 10)
			return;
		f->parameters[f->n] = (struct cuda_parameter){(uint32_t)offset, (uint32_t)size};
		if (offset + size > f->bytes)
			f->bytes = (uint32_t)(offset + size);
	}
	f->known = true;
}

static uint32_t attribute(const struct cuda_context *c, struct CUfunc_st *function, int which)
{
	const struct cuda_driver *d = &cuda_session.driver;
	int value = 0;

	if (d->function_attribute(&value, which, function) &&
	    (!d->kernel_attribute ||
	     d->kernel_attribute(&value, which, (struct CUkern_st *)function, c->ordinal)))
		return 0;
	return value > 0 ? (uint32_t)value : 0;
}

static struct CUmod_st *module_of(struct CUfunc_st *function)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct CUmod_st *module = NULL;
	struct CUfunc_st *real = NULL;

	if (!d->function_module)
		return NULL;
	if (d->kernel_function && !d->kernel_function(&real, (struct CUkern_st *)function) &&
	    real && !d->function_module(&module, real))
		return module;
	return d->function_module(&module, function) ? NULL : module;
}

/* The variables of a module: every name seen in any cubin is asked for in this one. */
static const struct cuda_module *module_get(struct cuda_context *c, struct CUmod_st *module)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct module_entry *e;
	const struct name *names;

	pthread_mutex_lock(&table.lock);
	for (e = table.modules; e; e = e->next)
		if (e->context == c && e->m.module == module)
			break;
	names = table.names;
	pthread_mutex_unlock(&table.lock);
	if (e)
		return &e->m;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->context = c;
	e->m.module = module;
	/* Names are only ever added in front, so the list from here on does not change. */
	for (const struct name *n = names; n; n = n->next) {
		struct program_memory memory = {.kind = MEMORY_VARIABLE,
						.owner = c->number,
						.module = (uint64_t)(uintptr_t)module},
				      there;
		cu_ptr *globals, address;
		size_t size;

		if (d->module_global(&address, &size, module, n->text))
			continue;
		if (!strncmp(n->text, NVSHMEM_PREFIX, strlen(NVSHMEM_PREFIX))) {
			e->m.talks = true;
			continue;
		}
		memory.address = address;
		memory.size = size;
		globals = realloc(e->m.globals, (e->m.n_globals + 1) * sizeof(*globals));
		if (!globals)
			continue;
		e->m.globals = globals;
		globals[e->m.n_globals++] = address;
		/* Managed variables are seen as allocations already. */
		if (!memories_find(&cuda_session.memories, address, &there))
			memories_add(&cuda_session.memories, &memory);
	}
	pthread_mutex_lock(&table.lock);
	e->next = table.modules;
	table.modules = e;
	pthread_mutex_unlock(&table.lock);
	return &e->m;
}

const struct cuda_function *cuda_functions_get(struct cuda_context *c, struct CUfunc_st *function,
					       const char *name)
{
	struct CUmod_st *module;
	struct entry *e, *other;

	e = find(c, function);
	if (e)
		return &e->f;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->f.wanted = replay_matches(cuda_session.replay, name ? name : "?");
	e->f.function = function;
	e->f.context = c;
	/* Lazy loading: the module's variables exist once the function is loaded. */
	if (cuda_session.driver.function_load)
		cuda_session.driver.function_load(function);
	parameters(&e->f);
	e->f.registers = attribute(c, function, CU_FUNCTION_REGISTERS);
	e->f.shared_bytes = attribute(c, function, CU_FUNCTION_SHARED_BYTES);
	module = module_of(function);
	e->f.module = module ? module_get(c, module) : NULL;
	for (size_t i = 0; name && i < sizeof(collectives) / sizeof(*collectives); i++)
		if (strstr(name, collectives[i])) {
			e->f.never = true;
			e->f.why = "a collective (NCCL, NVSHMEM)";
		}
	if (e->f.module && e->f.module->talks) {
		e->f.never = true;
		e->f.why = "its module uses NVSHMEM";
	}
	pthread_mutex_lock(&table.lock);
	other = find(c, function); /* another thread was faster: keep its */
	if (!other) {
		e->next = table.buckets[bucket_of(function)];
		table.buckets[bucket_of(function)] = e; /* whole from here on */
	}
	pthread_mutex_unlock(&table.lock);
	if (other) {
		free(e->f.parameters);
		free(e);
		e = other;
	}
	return &e->f;
}

void cuda_functions_forget(void)
{
	pthread_mutex_lock(&table.lock);
	for (size_t i = 0; i < BUCKETS; i++)
		while (table.buckets[i]) {
			struct entry *e = table.buckets[i];

			table.buckets[i] = e->next;
			e->next = table.forgotten;
			table.forgotten = e;
		}
	for (struct module_entry *e = table.modules; e; e = e->next)
		e->m.module = NULL; /* matches no module from now on */
	pthread_mutex_unlock(&table.lock);
}

static void learn_name(const char *text, size_t length)
{
	struct name *n = malloc(sizeof(*n) + length + 1);
	size_t there;

	if (!n)
		return;
	memcpy(n->text, text, length);
	n->text[length] = 0;
	pthread_mutex_lock(&table.lock);
	if (!map_get(&table.known_names, n->text, &there) && table.known_names.n < 65536 &&
	    map_set(&table.known_names, n->text, 0)) {
		n->next = table.names;
		table.names = n;
		n = NULL;
	}
	pthread_mutex_unlock(&table.lock);
	free(n);
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

static void elf_symbols(const char *image, size_t size, uint64_t table_at, unsigned n_sections,
			const struct elf_section *names, const struct elf_section *symbols)
{
	struct elf_section strings, in;
	struct elf_symbol s;

	if (symbols->link >= n_sections ||
	    !elf_section(image, size, table_at, symbols->link, &strings) || strings.type == 8)
		return;
	for (uint64_t at = 0; at + sizeof(s) <= symbols->size; at += sizeof(s)) {
		size_t length;

		if (!elf_read(image, size, symbols->offset + at, &s, sizeof(s)))
			return;
		if ((s.info & 15) != 1 || !s.size || s.section >= n_sections ||
		    !elf_section(image, size, table_at, s.section, &in) || s.name >= strings.size ||
		    (!elf_has_prefix(image, names, in.name, ".nv.global") &&
		     !elf_has_prefix(image, &strings, s.name, NVSHMEM_PREFIX)))
			continue;
		length = strnlen(image + strings.offset + s.name, strings.size - s.name);
		if (length && length < strings.size - s.name && length < 4096)
			learn_name(image + strings.offset + s.name, length);
	}
}

void cuda_modules_learn(const void *cubin, size_t size)
{
	const char *image = cubin;
	struct elf_section names, s;
	uint64_t table_at;
	uint16_t n, entry, names_index;

	if (!image || size < 64 || memcmp(image, "\177ELF\2\1", 6))
		return;
	memcpy(&table_at, image + 40, 8);
	memcpy(&entry, image + 58, 2);
	memcpy(&n, image + 60, 2);
	memcpy(&names_index, image + 62, 2);
	if (entry != sizeof(s) || names_index >= n ||
	    !elf_section(image, size, table_at, names_index, &names) || names.type == 8)
		return;
	for (unsigned i = 0; i < n; i++)
		if (elf_section(image, size, table_at, i, &s) && s.type == 2)
			elf_symbols(image, size, table_at, n, &names, &s);
}
