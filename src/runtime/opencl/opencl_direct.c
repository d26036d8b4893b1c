/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs whose OpenCL library loads no layers: a vendor's own library, an old loader, one without
 * OPENCL_LAYERS in its environment. From the preloaded object, before the program runs, their calls
 * of OpenCL's functions are led to the layer's, in the import slots of the program and of the
 * libraries it was linked with; the layer then calls the library's. For what the program opens
 * itself, its calls of dlsym come by here. The library itself is never changed.
 *
 * A loader that will load the layer is left alone, and who came first is asked in layer_take: no
 * dispatch is seen twice.
 */
#include "runtime/opencl/opencl_imports.h"
#include "runtime/opencl/opencl_internal.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define LOADER_BYTES (4u << 20)               /* a library that is larger is a vendor's */
#define OBJECTS      1024u                    /* that are looked at */
#define SIGN         "clEnqueueNDRangeKernel" /* who has it is an OpenCL library or a loader */

#define NO_LIBRARY UINTPTR_MAX /* 0 is the base of a program at a fixed address */

typedef void *find_symbol(void *, const char *);

static struct {
	pthread_mutex_t one; /* held for functions of libc only */
	bool is_listed;      /* OPENCL_LAYERS names this object */
	struct opencl_dispatch theirs;
	const struct opencl_dispatch *ours; /* NULL: no library was taken */
	uint32_t n_objects;
	uintptr_t objects[OBJECTS]; /* their bases */
} direct = {.one = PTHREAD_MUTEX_INITIALIZER};

static const char *const names[OPENCL_N_ENTRIES] = {
#define ENTRY_NAME(name) #name,
	OPENCL_ENTRIES(ENTRY_NAME)};

static uint32_t entry_index(const char *name)
{
	uint32_t i = 0;

	if (name[0] != 'c' || name[1] != 'l')
		return OPENCL_N_ENTRIES;
	while (i < OPENCL_N_ENTRIES && strcmp(names[i], name) != 0)
		i++;
	return i;
}

/* ---- the library ---- */

struct scan {
	uintptr_t base;
	bool has_layers;
};

static int scan_object(struct dl_phdr_info *info, size_t size, void *data)
{
	static const char variable[] = "OPENCL_LAYERS";
	struct scan *s = data;

	(void)size;
	if (info->dlpi_addr != s->base)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_R && !(p->p_flags & PF_W) &&
		    p->p_filesz <= LOADER_BYTES &&
		    memmem((const void *)(s->base + p->p_vaddr), p->p_filesz, variable,
			   sizeof(variable)))
			s->has_layers = true;
	}
	return 1;
}

static bool loads_this_layer(uintptr_t library)
{
	struct scan s = {.base = library};

	if (direct.is_listed)
		dl_iterate_phdr(scan_object, &s);
	return s.has_layers;
}

/* Takes the OpenCL library that is found through the handle, if any, to stay, unless it will load
 * the layer or the layer is in use. Returns its base, also then, or NO_LIBRARY. */
static uintptr_t take_library(void *handle)
{
	void **entries = (void **)(void *)&direct.theirs;
	void *function = dlsym(handle, SIGN);
	struct link_map *map = NULL;
	Dl_info info;

	if (!function || !dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return NO_LIBRARY;
	/* No name: the program itself, whose calls have no slots. */
	if (direct.ours || !*map->l_name || loads_this_layer(map->l_addr))
		return map->l_addr;
	/* Not before the program runs: there it stays anyway, and dlopen would run the constructors
	 * of libc that are due, with no environment. */
	if (handle != RTLD_DEFAULT && !dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
		return map->l_addr;
	for (uint32_t i = 0; i < OPENCL_N_ENTRIES; i++)
		entries[i] = dlsym(handle, names[i]);
	direct.ours = layer_take(&direct.theirs, OPENCL_N_ENTRIES);
	return map->l_addr;
}

/* ---- the program's own look-ups ---- */

#if defined(__x86_64__) || defined(__aarch64__)
/* What stands in front of dlsym. What that finds for RTLD_NEXT and RTLD_DEFAULT depends on who
 * calls, so for these it has to be left to, as if it had been called from there. */
extern find_symbol *direct_next;
find_symbol *direct_next = dlsym;
find_symbol direct_find, direct_enter;

__asm__(".text\n"
	".p2align 4\n"
	".hidden direct_enter\n"
	".globl direct_enter\n"
	".type direct_enter, %function\n"
	"direct_enter:\n"
#ifdef __x86_64__
	"	endbr64\n"
	"	lea 1(%rdi), %rax\n"
	"	cmp $1, %rax\n" /* -1 and 0: the two */
	"	jbe 1f\n"
	"	jmp direct_find\n"
	"1:	jmp *direct_next(%rip)\n"
#else
	"	hint #34\n" /* bti c */
	"	add x9, x0, #1\n"
	"	cmp x9, #1\n"
	"	b.ls 1f\n"
	"	b direct_find\n"
	"1:	adrp x9, direct_next\n"
	"	ldr x9, [x9, :lo12:direct_next]\n"
	"	br x9\n"
#endif
	".size direct_enter, . - direct_enter\n");
#define ENTER ((void *)(uintptr_t)direct_enter)
#else
#define ENTER NULL
#endif

static void *entry_of(const struct opencl_dispatch *table, uint32_t i)
{
	return ((void *const *)(const void *)table)[i];
}

static void *choose(const char *name, void **original_out)
{
	uint32_t i;

	if (!strcmp(name, "dlsym")) {
		*original_out = (void *)(uintptr_t)dlsym;
		return ENTER;
	}
	i = direct.ours ? entry_index(name) : OPENCL_N_ENTRIES;
	if (i == OPENCL_N_ENTRIES)
		return NULL;
	*original_out = entry_of(&direct.theirs, i);
	return entry_of(direct.ours, i);
}

/* ---- the slots ---- */

static bool is_new(uintptr_t base)
{
	for (uint32_t i = 0; i < direct.n_objects; i++)
		if (direct.objects[i] == base)
			return false;
	if (direct.n_objects == OBJECTS)
		return false;
	direct.objects[direct.n_objects++] = base;
	return true;
}

static int replace_in_all(struct dl_phdr_info *info, size_t size, void *library)
{
	(void)size;
	if (is_new(info->dlpi_addr) && info->dlpi_addr != *(const uintptr_t *)library)
		imports_replace(info, choose);
	return 0;
}

static int replace_in_one(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	if (info->dlpi_addr != *(const uintptr_t *)base)
		return 0;
	imports_replace(info, choose);
	return 1;
}

/* What the program opened is treated as what it was linked with. Its relocation is over: the
 * program has the handle. */
static void look_at(void *handle)
{
	struct link_map *map = NULL;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map || !is_new(map->l_addr))
		return;
	if (take_library(handle) != map->l_addr)
		dl_iterate_phdr(replace_in_one, &map->l_addr);
}

void *direct_find(void *handle, const char *name)
{
	void *found = dlsym(handle, name);
	uint32_t i;

	if (!found || !layer_is_on())
		return found;
	pthread_mutex_lock(&direct.one);
	look_at(handle);
	i = direct.ours ? entry_index(name) : OPENCL_N_ENTRIES;
	if (i < OPENCL_N_ENTRIES && entry_of(&direct.theirs, i) == found &&
	    entry_of(direct.ours, i))
		found = entry_of(direct.ours, i);
	pthread_mutex_unlock(&direct.one);
	dlerror(); /* the program's look-up succeeded, whatever ours did */
	return found;
}

void runtime_opencl_take_calls(const char *layers)
{
	uintptr_t library;
	Dl_info self;

	if (!layer_is_on() || !dladdr((void *)(uintptr_t)runtime_opencl_take_calls, &self) ||
	    !is_new((uintptr_t)self.dli_fbase))
		return;
	direct.is_listed = layers && strstr(layers, self.dli_fname);
	library = take_library(RTLD_DEFAULT);
	/* A program linked with a loader that will load the layer. */
	if (library != NO_LIBRARY && !direct.ours)
		return;
	dl_iterate_phdr(replace_in_all, &library);
}
