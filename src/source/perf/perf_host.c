/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine can count: blocks with their slots and counters by name, for the catalogue. */
#include "source/perf/perf_host.h"

#include "source/perf/perf_breakpoint.h"
#include "source/perf/perf_host_names.h"
#include "source/perf/perf_host_slots.h"
#include "source/perf/perf_host_symbols.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#define WATCH_BLOCK "breakpoint" /* the same four registers for code and data */
#else
#define WATCH_BLOCK "watchpoint"
#endif
#define OWN_SLOTS 8 /* tried for a PMU of its own: none that counts a process has more */

/* RETALLY_PERF_SLOTS=BLOCK=N,...: SLOTS_UNLIMITED when the block is not named. */
static int slot_cap(const char *block, uint32_t *cap_out, struct error *err)
{
	const char *at = getenv("RETALLY_PERF_SLOTS");

	*cap_out = SLOTS_UNLIMITED;
	while (at && *at) {
		size_t n = strcspn(at, "=,");
		char *end;
		unsigned long value;

		if (at[n] != '=')
			return error_set(err, RC_INVALID,
					 "RETALLY_PERF_SLOTS: '%.*s' is not BLOCK=N", (int)n, at);
		value = strtoul(at + n + 1, &end, 10);
		if (end == at + n + 1 || (*end && *end != ',') || !value || value > 1024)
			return error_set(
				err, RC_INVALID,
				"RETALLY_PERF_SLOTS: the slots of '%.*s' are not a number from 1 "
				"to 1024",
				(int)n, at);
		if (strlen(block) == n && !memcmp(block, at, n))
			*cap_out = (uint32_t)value;
		at = *end ? end + 1 : end;
	}
	return 0;
}

static int add_block(struct catalog *c, const char *name, uint32_t slots, const char *reference,
		     uint32_t *index_out, struct error *err)
{
	struct block b = {.name = name,
			  .slots = slots,
			  .instances = 1,
			  .scope = "thread",
			  .reference = reference,
			  .confidence = "measured"};
	uint32_t cap;
	int rc = slot_cap(name, &cap, err);

	if (rc)
		return rc;
	if (cap < slots) {
		b.slots = cap;
		b.reference = "RETALLY_PERF_SLOTS";
		b.confidence = "set by the user";
	}
	if (b.slots == SLOTS_UNLIMITED) {
		*index_out = BLOCK_NONE;
		return 0;
	}
	return catalog_add_block(c, &b, index_out, err);
}

/* ---- the CPU's own PMU ---- */

static void generic_attr(const char *name, bool user_only, struct perf_event_attr *attr)
{
	struct perf_config config = {.kind = PERF_KIND_TYPE, .exclude_kernel = user_only};

	for (size_t i = 0; i < perf_generics_n; i++) {
		if (strcmp(perf_generics[i].name, name))
			continue;
		config.type = perf_generics[i].type;
		config.config = perf_generics[i].config;
	}
	(void)perf_config_attr(&config, attr, NULL); /* fails for PMUs by name only */
}

/* Events that some CPUs count in a counter of their own, beside the general ones. */
static const char *const fixed_names[] = {"instructions", "cycles", "ref-cycles"};
#define N_FIXED (sizeof(fixed_names) / sizeof(*fixed_names))

/* What was found once on this machine; the command is one thread. */
static struct {
	bool known;
	uint32_t general;
	uint32_t n_fixed;
	bool fixed[N_FIXED];
	int error; /* errno when there is no general counter */
} cpu;

static void explore_cpu(const struct perf_rights *rights)
{
	/* The rarest event first: it has no counter of its own on any CPU known. */
	static const char *const candidates[] = {"branch-misses", "cache-misses", "branches",
						 "instructions", "cycles"};
	struct perf_event_attr base, extra;
	uint32_t n;
	int error;

	if (cpu.known)
		return;
	cpu.known = true;
	for (size_t i = 0; i < sizeof(candidates) / sizeof(*candidates) && !cpu.general; i++) {
		generic_attr(candidates[i], rights->user_only, &base);
		cpu.general = perf_slots_find(&perf_kernel_real, &base, NULL, NULL, &error);
		if (!cpu.general && !cpu.error)
			cpu.error = error;
	}
	for (size_t i = 0; i < N_FIXED && cpu.general; i++) {
		generic_attr(fixed_names[i], rights->user_only, &extra);
		if (!memcmp(&extra, &base, sizeof(base)))
			continue;
		n = perf_slots_find(&perf_kernel_real, &base, &extra, NULL, &error);
		cpu.fixed[i] = n == cpu.general;
		cpu.n_fixed += cpu.fixed[i];
	}
}

static int cpu_block(struct catalog *c, const struct perf_rights *rights, const struct perf_name *n,
		     bool plain, uint32_t *index_out, struct error *err)
{
	const char *name = "cpu";

	explore_cpu(rights);
	for (size_t i = 0; i < N_FIXED; i++)
		if (plain && n->generic && cpu.fixed[i] &&
		    !strcmp(n->generic->name, fixed_names[i]))
			name = "cpu-fixed";
	*index_out = catalog_find_block(c, name);
	if (*index_out != UINT32_MAX)
		return 0;
	return add_block(c, name, name[3] ? cpu.n_fixed : cpu.general,
			 "found by opening groups of events and running them", index_out, err);
}

/* ---- breakpoints ---- */

static struct {
	bool known[2];
	int rc[2];
	uint32_t slots[2];
	char why[2][200];
} debug; /* [0]: code, [1]: data */

static void explore_breakpoints(bool data)
{
	struct error err = {0};

	if (debug.known[data])
		return;
	debug.known[data] = true;
	debug.rc[data] = perf_breakpoint_try(data ? 0 : PERF_BREAKPOINTS_TRIED_MAX,
					     data ? PERF_BREAKPOINTS_TRIED_MAX : 0,
					     &debug.slots[data], &err);
	if (debug.rc[data] == RC_NO_SLOT) /* the end of the slots, as it should be */
		debug.rc[data] = debug.slots[data] ? 0 : RC_NO_SLOT;
	snprintf(debug.why[data], sizeof(debug.why[data]), "%.199s", err.message);
}

/* Where breakpoints are accepted but never fire, executions are counted by uprobe for who may. Such
 * counters keep the block of breakpoints and the four slots a pass that x86 has: a plan is the same
 * on every machine, and the time that uprobes cost (1 to 50 us a hit) is bounded in each pass. */
#define STAND_IN_SLOTS 4

static int settle_breakpoint(const char *name, const struct perf_rights *rights,
			     struct perf_name *n, struct error *err)
{
	bool data = n->config.bp_type != HW_BREAKPOINT_X;
	size_t used = strlen(n->help);

	explore_breakpoints(data);
	if (!debug.rc[data])
		return 0;
	if (data || debug.rc[0] != RC_UNSUPPORTED || !rights->privileged ||
	    n->file_offset == UINT64_MAX)
		return error_set(err, debug.rc[data], "'%s': %s%s", name, debug.why[data],
				 !data && debug.rc[0] == RC_UNSUPPORTED && !rights->privileged
					 ? "; root can count it, by uprobe"
					 : "");
	n->config.kind = PERF_KIND_UPROBE;
	n->config.type = n->config.bp_type = n->config.bp_len = 0;
	n->config.exclude_kernel = false;
	n->config.offset = n->file_offset;
	n->stands_in = true;
	snprintf(n->help + used, sizeof(n->help) - used,
		 ", by uprobe (hardware breakpoints never fire here)");
	return 0;
}

/* ---- one counter ---- */

static int find_block(struct catalog *c, const struct perf_rights *rights,
		      const struct perf_name *n, const struct perf_event_attr *attr, bool plain,
		      uint32_t *index_out, struct error *err)
{
	const char *name = NULL;
	uint32_t slots = SLOTS_UNLIMITED;
	int error;

	switch (n->config.kind) {
	case PERF_KIND_BREAKPOINT:
		name = n->config.bp_type == HW_BREAKPOINT_X ? "breakpoint" : WATCH_BLOCK;
		slots = debug.slots[n->config.bp_type != HW_BREAKPOINT_X];
		break;
	case PERF_KIND_UPROBE:
		name = n->stands_in ? "breakpoint" : "uprobe";
		slots = n->stands_in ? STAND_IN_SLOTS : SLOTS_UNLIMITED;
		break;
	case PERF_KIND_TRACEPOINT:
		name = "tracepoint";
		break;
	case PERF_KIND_TYPE:
	case PERF_KIND_PMU:
		if (perf_attr_group(attr) == PERF_TYPE_RAW)
			return cpu_block(c, rights, n, plain, index_out, err);
		name = n->config.kind == PERF_KIND_PMU ? n->config.name : "software";
		if (n->config.kind == PERF_KIND_PMU && strcmp(name, "msr"))
			slots = OWN_SLOTS;
		break;
	}
	*index_out = catalog_find_block(c, name);
	if (*index_out != UINT32_MAX)
		return 0;
	if (slots == OWN_SLOTS && n->config.kind == PERF_KIND_PMU) {
		slots = perf_slots_find(&perf_kernel_real, attr, NULL, NULL, &error);
		if (!slots)
			return error_set_errno(err, RC_UNSUPPORTED, error,
					       "PMU '%s' cannot count a process", name);
	}
	return add_block(c, name, slots,
			 n->stands_in
				 ? "uprobes stand in for breakpoints, as many a pass as x86 has"
				 : "found by opening events",
			 index_out, err);
}

static int explain_open(const char *name, const struct perf_name *n,
			const struct perf_event_attr *attr, int error, struct error *err)
{
	bool hardware = perf_attr_group(attr) == PERF_TYPE_RAW;

	switch (error) {
	case EACCES:
	case EPERM:
		return error_set(err, RC_PERMISSION,
				 "'%s': the kernel does not permit it: perf_event_paranoid, or a "
				 "container's "
				 "seccomp filter (see 'retally doctor')",
				 name);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		if (hardware && cpu.known && !cpu.general)
			return error_set(
				err, RC_UNSUPPORTED,
				"'%s': this machine gives no hardware counters (a virtual machine "
				"without a PMU?)",
				name);
		return error_set(err, RC_UNSUPPORTED, "'%s': this machine does not count it%s",
				 name, n->config.kind == PERF_KIND_PMU ? " for a process" : "");
	default:
		return error_set_errno(err, RC_UNSUPPORTED, error, "'%s' cannot be opened", name);
	}
}

static int add_counter(struct catalog *c, const char *name, const char *program,
		       const struct perf_rights *rights, uint32_t *index_out, struct error *err)
{
	struct perf_name n;
	struct perf_event_attr attr;
	struct counter k = {0};
	char text[PERF_TEXT_SIZE];
	int rc, fd;

	*index_out = catalog_find_counter(c, name);
	if (*index_out != UINT32_MAX)
		return 0;
	rc = perf_name_parse(name, program, rights, &n, err);
	if (!rc && n.config.kind == PERF_KIND_BREAKPOINT)
		rc = settle_breakpoint(name, rights, &n, err);
	if (!rc)
		rc = perf_config_attr(&n.config, &attr, err);
	if (rc)
		return rc;
	if (n.config.kind == PERF_KIND_TYPE || n.config.kind == PERF_KIND_PMU) {
		if (perf_attr_group(&attr) == PERF_TYPE_RAW)
			explore_cpu(rights);
		attr.disabled = 1;
		fd = perf_open(&attr, 0, -1, -1);
		if (fd < 0 && errno == EINVAL && attr.exclude_kernel &&
		    n.config.kind == PERF_KIND_PMU && !rights->user_only)
			return error_set(err, RC_UNSUPPORTED,
					 "'%s': PMU '%s' cannot leave the kernel out", name,
					 n.config.name);
		if (fd < 0)
			return explain_open(name, &n, &attr, errno, err);
		close(fd);
	}
	rc = perf_config_encode(&n.config, text, err);
	if (rc) {
		error_prefix(err, "'%s'", name);
		return rc;
	}
	rc = find_block(c, rights, &n, &attr, !strchr(name, ':'), &k.block, err);
	if (rc)
		return rc;
	k.name = name;
	k.unit = n.unit;
	k.help = n.help;
	k.source = "perf";
	k.event = text; /* the same configuration is one hardware event */
	k.instance = -1;
	k.level = UINT32_MAX;
	k.config = text;
	return catalog_add_counter(c, &k, index_out, err);
}

int perf_host_add_counter(struct catalog *c, const char *name, const char *program,
			  uint32_t *index_out, struct error *err)
{
	struct perf_rights rights;

	perf_rights_read(&rights);
	return add_counter(c, name, program, &rights, index_out, err);
}

/* ---- all of them ---- */

struct filling {
	struct catalog *c;
	const struct perf_rights *rights;
	int rc;
	struct error *err;
};

/* What this machine or user cannot count is left out: asking for it by name explains why. */
static void fill_one(struct filling *f, const char *name)
{
	struct error why = {0};
	uint32_t index;
	int rc;

	if (f->rc)
		return;
	rc = add_counter(f->c, name, NULL, f->rights, &index, &why);
	if (rc == RC_NO_MEMORY || rc == RC_INVALID || rc == RC_EXISTS)
		f->rc = error_set(f->err, rc, "%s", why.message);
}

static void fill_event(const char *pmu, const char *event, void *data)
{
	char name[2 * PERF_NAME_SIZE];
	struct filling *f = data;

	if (strlen(pmu) + strlen(event) + 3 > sizeof(name) || perf_sysfs_is_wide(pmu))
		return;
	snprintf(name, sizeof(name), "%s/%s/", pmu, event);
	fill_one(f, name);
}

int perf_host_fill(struct catalog *c, const char *program, struct error *err)
{
	struct perf_rights rights;
	struct filling f = {.c = c, .rights = &rights, .err = err};
	uint32_t index;

	(void)program; /* its symbols are too many to list; they are added by name */
	perf_rights_read(&rights);
	for (size_t i = 0; i < perf_generics_n; i++)
		if (perf_generics[i].help[0]) /* an alias has none */
			fill_one(&f, perf_generics[i].name);
	perf_sysfs_events(fill_event, &f);
	if (f.rc)
		return f.rc;
	/* Blocks that counters by name will need, so that lists show them. */
	for (int data = 0; data < 2; data++) {
		const char *name = data ? WATCH_BLOCK : "breakpoint";

		explore_breakpoints(data);
		if (debug.rc[data] || catalog_find_block(c, name) != UINT32_MAX)
			continue;
		f.rc = add_block(c, name, debug.slots[data], "found by opening events", &index,
				 err);
		if (f.rc)
			return f.rc;
	}
	return 0;
}
