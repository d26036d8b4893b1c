/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a perf counter travels in a plan: struct perf_config as one line of text, in
 * plan_counter.config. The command writes it, the device half reads it. libc only; no allocation;
 * thread-safe.
 *
 *   type=1 config=2 exclude_kernel=1                     a kernel event type by number
 *   pmu=msr config=0                                     a PMU by name: its number differs by
 * machine tracepoint=sched:sched_switch                        by name: its number differs by boot
 *   type=5 bp_type=x bp_len=8 object=/usr/lib/x.so offset=0x1234 build_id=0a1b...
 *   uprobe=entry object=/usr/bin/xz offset=0x1234 build_id=0a1b...
 *
 * Keys come in this order, each at most once, one space between them; numbers are decimal or 0x and
 * lower-case hex. In `object` and in names every byte that is not printable ASCII, the space and
 * '%' are written %XX. What is zero or empty is left out. The reader is strict: anything else is
 * RC_INVALID.
 *
 * `offset` of a breakpoint counts from where the object's first loadable segment (file offset 0) is
 * mapped; `offset` of a uprobe is a file offset.
 */
#ifndef RETALLY_SOURCE_PERF_ABI_H
#define RETALLY_SOURCE_PERF_ABI_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_NAME_SIZE     128
#define PERF_OBJECT_SIZE   1024
#define PERF_BUILD_ID_SIZE 65   /* up to 32 bytes in hex and a NUL */
#define PERF_TEXT_SIZE     4096 /* room for any config as text */

enum perf_kind {
	PERF_KIND_TYPE,       /* `type` is the kernel's number */
	PERF_KIND_PMU,        /* `name` is a folder of /sys/bus/event_source/devices */
	PERF_KIND_TRACEPOINT, /* `name` is SUBSYSTEM:NAME */
	PERF_KIND_BREAKPOINT, /* type=5 */
	PERF_KIND_UPROBE,
};

struct perf_config {
	enum perf_kind kind;
	uint32_t type;
	char name[PERF_NAME_SIZE];
	uint64_t config, config1, config2;
	uint32_t bp_type; /* HW_BREAKPOINT_X, or _R and _W */
	uint32_t bp_len;  /* bytes */
	bool uretprobe;
	bool exclude_kernel, exclude_user;
	char object[PERF_OBJECT_SIZE]; /* absolute path */
	uint64_t offset;
	char build_id[PERF_BUILD_ID_SIZE]; /* "" when the object has none */
};

/* Writes the text form into text_out. RC_INVALID when the config is not one that can be read back.
 */
int perf_config_encode(const struct perf_config *c, char text_out[PERF_TEXT_SIZE],
		       struct error *err);
int perf_config_decode(struct perf_config *c_out, const char *text, struct error *err);

/* Fills attr for counting (read_format has the times; not inherited, not disabled, bp_addr 0).
 * Looks up the number of a PMU in sysfs: RC_UNSUPPORTED when this machine has none of that name.
 * Tracepoints and uprobes need a number from tracefs (perf_tracefs.h): attr->config is 0 for them.
 */
int perf_config_attr(const struct perf_config *c, struct perf_event_attr *attr_out,
		     struct error *err);
/* Events with the same number other than 0 take counters of one hardware PMU and may form a group;
 * software events, tracepoints and breakpoints: 0. */
uint64_t perf_attr_group(const struct perf_event_attr *attr);
/* The kernel's number of a PMU, or -1. */
int perf_pmu_type(const char *name);
/* perf_event_open(2), close-on-exec. -1 and errno on failure. */
int perf_open(struct perf_event_attr *attr, int pid, int cpu, int group_fd);

#endif
