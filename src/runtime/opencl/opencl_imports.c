/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces functions in the import slots of an object (the ELF specification calls them the global
 * offset table), found through its relocations. Unlike a symbol that is preloaded, this touches
 * only the objects that are chosen: a vendor's library keeps calling its own functions.
 */
#include "runtime/opencl/opencl_imports.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#define SLOT_LAZY  R_X86_64_JUMP_SLOT
#define SLOT_BOUND R_X86_64_GLOB_DAT
#define SLOT_DATA  R_X86_64_64
#elif defined(__aarch64__)
#define SLOT_LAZY  R_AARCH64_JUMP_SLOT
#define SLOT_BOUND R_AARCH64_GLOB_DAT
#define SLOT_DATA  R_AARCH64_ABS64
#endif

#ifdef SLOT_LAZY
struct object {
	uintptr_t base;
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Rela *tables[2];
	size_t sizes[2];              /* bytes */
	uintptr_t sealed, sealed_end; /* made read-only after relocation; 0: nothing */
	uintptr_t writable[8], ends[8];
	uint32_t n_writable;
	bool opened; /* the sealed part can be written */
};

/* ld.so adds the base to the addresses in this table, except where it keeps the table read-only. */
static uintptr_t table_address(const struct object *o, const Elf64_Dyn *d)
{
	return d->d_un.d_ptr < o->base ? o->base + d->d_un.d_ptr : d->d_un.d_ptr;
}

static void read_dynamic(struct object *o, const Elf64_Dyn *d)
{
	for (; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = (const Elf64_Sym *)table_address(o, d);
			break;
		case DT_STRTAB:
			o->strings = (const char *)table_address(o, d);
			break;
		case DT_JMPREL:
			o->tables[0] = (const Elf64_Rela *)table_address(o, d);
			break;
		case DT_PLTRELSZ:
			o->sizes[0] = d->d_un.d_val;
			break;
		case DT_RELA:
			o->tables[1] = (const Elf64_Rela *)table_address(o, d);
			break;
		case DT_RELASZ:
			o->sizes[1] = d->d_un.d_val;
			break;
		default:
			break;
		}
	}
}

/* False: it has no table of imports. */
static bool read_object(struct object *o, const struct dl_phdr_info *info)
{
	uintptr_t page = getauxval(AT_PAGESZ);
	const Elf64_Dyn *dynamic = NULL;

	*o = (struct object){.base = info->dlpi_addr};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];
		uintptr_t begin = o->base + p->p_vaddr, end = begin + p->p_memsz;

		if (p->p_type == PT_DYNAMIC) {
			dynamic = (const Elf64_Dyn *)begin;
		} else if (p->p_type == PT_GNU_RELRO && page) {
			o->sealed = begin & ~(page - 1);
			o->sealed_end = end & ~(page - 1);
		} else if (p->p_type == PT_LOAD && p->p_flags & PF_W &&
			   o->n_writable < sizeof(o->ends) / sizeof(*o->ends)) {
			o->writable[o->n_writable] = begin;
			o->ends[o->n_writable++] = end;
		}
	}
	if (!dynamic)
		return false;
	read_dynamic(o, dynamic);
	return o->symbols && o->strings;
}

static bool is_writable(struct object *o, uintptr_t slot)
{
	bool found = false;

	for (uint32_t i = 0; i < o->n_writable; i++)
		found = found || (slot >= o->writable[i] && slot + sizeof(void *) <= o->ends[i]);
	if (!found || slot % sizeof(void *))
		return false;
	if (slot < o->sealed || slot >= o->sealed_end || o->opened)
		return true;
	o->opened = !mprotect((void *)o->sealed, o->sealed_end - o->sealed, PROT_READ | PROT_WRITE);
	return o->opened;
}

static uint32_t replace(struct object *o, const Elf64_Rela *r, size_t n, imports_choose *choose)
{
	uint32_t replaced = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t type = ELF64_R_TYPE(r[i].r_info);
		const Elf64_Sym *symbol = &o->symbols[ELF64_R_SYM(r[i].r_info)];
		uintptr_t at = o->base + r[i].r_offset;
		void *original = NULL, *ours;

		if ((type != SLOT_LAZY && type != SLOT_BOUND && type != SLOT_DATA) ||
		    !ELF64_R_SYM(r[i].r_info) || r[i].r_addend)
			continue;
		ours = choose(o->strings + symbol->st_name, &original);
		/* One that is not bound yet points into the object itself. */
		if (!ours || (type != SLOT_LAZY && *(void **)at != original) || !is_writable(o, at))
			continue;
		__atomic_store_n((void **)at, ours, __ATOMIC_RELEASE);
		replaced++;
	}
	return replaced;
}

uint32_t imports_replace(const struct dl_phdr_info *object, imports_choose *choose)
{
	uint32_t replaced = 0;
	struct object o;

	if (!read_object(&o, object))
		return 0;
	for (int i = 0; i < 2; i++)
		if (o.tables[i])
			replaced +=
				replace(&o, o.tables[i], o.sizes[i] / sizeof(Elf64_Rela), choose);
	if (o.opened)
		mprotect((void *)o.sealed, o.sealed_end - o.sealed, PROT_READ);
	return replaced;
}
#else
uint32_t imports_replace(const struct dl_phdr_info *object, imports_choose *choose)
{
	(void)object;
	(void)choose;
	return 0;
}
#endif
