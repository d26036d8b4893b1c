/* SPDX-License-Identifier: Apache-2.0 */
/* Which way regions are counted in, and who has marks. */
#include "inject/regions.h"

#include "base/elf_probe.h"
#include "inject/replay_session.h"
#include "inject/say.h"
#include "runtime/region/region.h"
#include "wire/spool_format.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#define MARK "retally_region_begin"

static const char only_one_pass[] =
	"the process is not run again where kernels are replayed: regions are counted in one pass "
	"each, in turn";
static const char no_counters[] =
	"no counter of the plan is of source perf, which counts regions of the process; "
	"--replay range counts kernels between marks";

/* Options of regions that are opened at the first mark. */
static struct region_options waiting;
static atomic_bool is_waiting;

static bool counts_processes(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_counters; i++)
		if (!strcmp(plan->counters[i].source, "perf"))
			return true;
	return false;
}

/* Whether an object that is mapped asks for the function by which marks are found, which only ours
 * offers. Its strings are read where the loader has them. */
static int look(struct dl_phdr_info *info, size_t size, void *found)
{
	const char *strings = NULL;
	size_t n = 0;
	bool offers = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_DYNAMIC)
			continue;
		for (const ElfW(Dyn) *d = (const void *)(info->dlpi_addr + p->p_vaddr);
		     d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_STRTAB) /* the loader has made it an address, mostly */
				strings = (const char *)(d->d_un.d_ptr < info->dlpi_addr
								 ? info->dlpi_addr + d->d_un.d_ptr
								 : d->d_un.d_ptr);
			if (d->d_tag == DT_STRSZ)
				n = d->d_un.d_val;
		}
	}
	if (!strings || !n || !memmem(strings, n, MARK, sizeof(MARK)))
		return 0;
	/* Ours: it has this file's function in it. */
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr, here = (uintptr_t)look;

		offers |= p->p_type == PT_LOAD && here >= begin && here - begin < p->p_memsz;
	}
	*(bool *)found |= !offers;
	return *(bool *)found;
}

static bool has_marks(void)
{
	bool found = false;

	dl_iterate_phdr(look, &found);
	/* As from Fortran, which asks for it by name. */
	return found || elf_names_symbol("/proc/self/exe", MARK);
}

int regions_attach(bool regions_only, struct error *err)
{
	const struct replay_settings *s = replay_session_settings();
	const struct plan *plan = replay_session_plan();
	struct region_options o = {.mode = s->pass ? REGION_LIVE : REGION_RANGE,
				   .plan = plan,
				   .pass = s->pass,
				   .append = replay_session_append,
				   .use = replay_session_use,
				   .own_map = replay_session_map,
				   .own_map_size = SPOOL_LOG_AT,
				   .least_fd = 700};
	bool counted = counts_processes(plan);
	struct error inner = {0};

	if (s->mode == REPLAY_SETTINGS_RANGE || regions_only)
		return counted ? region_open(&o, err) : 0;
	o.mode = counted ? REGION_TURNS : REGION_NOTHING;
	o.random = s->random;
	o.seed = s->seed;
	o.offset = s->offset;
	if (!counted)
		o.why = no_counters;
	else if (plan->n_passes > 1 && !s->pass && s->mode != REPLAY_SETTINGS_NONE)
		o.why = only_one_pass;
	if (counted && has_marks()) {
		/* Kernels are counted all the same. */
		if (region_open(&o, &inner))
			say("regions are not counted: %s", inner.message);
		return 0;
	}
	o.is_late = counted;
	waiting = o;
	atomic_store(&is_waiting, true);
	return 0;
}

void regions_meet_mark(void)
{
	struct error err = {0};

	if (!atomic_load_explicit(&is_waiting, memory_order_relaxed) ||
	    !atomic_exchange(&is_waiting, false))
		return;
	if (region_open(&waiting, &err))
		say("regions are not counted: %s", err.message);
}

void regions_own(enum replay_own what)
{
	switch (what) {
	case REPLAY_OWN_BEGINS:
		region_pause();
		break;
	case REPLAY_OWN_ENDS:
		region_resume();
		break;
	case REPLAY_OWN_QUEUED:
		region_contains();
		break;
	}
}
