/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of perf events: from what the user writes to a configuration, and what the kernel and the
 * user's rights say about it. Command side only.
 */
#ifndef RETALLY_SOURCE_PERF_HOST_NAMES_H
#define RETALLY_SOURCE_PERF_HOST_NAMES_H

#include "source/perf/perf_abi.h"

/* What a process of this user may count. */
struct perf_rights {
	int paranoid;    /* /proc/sys/kernel/perf_event_paranoid; -2 when it cannot be read */
	bool privileged; /* root, CAP_PERFMON or CAP_SYS_ADMIN */
	bool user_only;  /* the kernel's part must be excluded */
	bool nothing;    /* paranoid 3 (Debian, Android): no event at all */
};
void perf_rights_read(struct perf_rights *r_out);

/* Events that every kernel knows by number. */
struct perf_generic {
	const char *name;
	uint32_t type; /* PERF_TYPE_HARDWARE, _SOFTWARE or _HW_CACHE */
	uint64_t config;
	const char *unit;
	const char *help;
	bool kernel_side; /* happens inside the kernel: reads 0 when the kernel is excluded */
};
extern const struct perf_generic perf_generics[];
extern const size_t perf_generics_n;

struct perf_name {
	struct perf_config config;
	const char *unit; /* static */
	char help[160];
	const struct perf_generic *generic; /* NULL: not one of them */
	uint64_t file_offset; /* of a breakpoint's place, UINT64_MAX: not in the file */
	bool stands_in;       /* a uprobe in the place of a breakpoint */
};

/* Parses name; resolves symbols in program (may be NULL). Codes as perf_host_add_counter; whether
 * the event really opens is for the caller to find out. */
int perf_name_parse(const char *name, const char *program, const struct perf_rights *rights,
		    struct perf_name *out, struct error *err);

/* pmu/event,term=value/ through sysfs: fills c->config..2 and, where the event has them, unit and
 * scale. RC_NOT_FOUND names what the PMU has. */
int perf_sysfs_parse(const char *pmu, const char *terms, struct perf_config *c, struct error *err);
/* The same in any folder with the layout of sysfs (for tests). */
int perf_sysfs_parse_at(const char *devices, const char *pmu, const char *terms,
			struct perf_config *c, struct error *err);
/* True when the PMU counts whole CPUs only, so that no process can be told apart. */
bool perf_sysfs_is_wide(const char *pmu);
/* Calls found(PMU, event) for every event of every PMU, sorted. */
void perf_sysfs_events(void (*found)(const char *pmu, const char *event, void *data), void *data);

/* Through libpfm4, when built with it; RC_NOT_FOUND otherwise. */
int perf_pfm_parse(const char *name, struct perf_name *out, struct error *err);

#endif
