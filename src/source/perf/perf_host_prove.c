/* SPDX-License-Identifier: Apache-2.0 */
/* Proves before the program starts that every pass of a plan schedules on this machine. */
#include "source/perf/perf_breakpoint.h"
#include "source/perf/perf_device.h"
#include "source/perf/perf_host.h"
#include "source/perf/perf_host_slots.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <unistd.h>

static bool watchdog_is_on(void)
{
	char c = '0';
	int fd = open("/proc/sys/kernel/nmi_watchdog", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, &c, 1) != 1)
			c = '0';
		close(fd);
	}
	return c == '1';
}

struct group {
	uint64_t key;
	size_t n;
	struct perf_event_attr attrs[PERF_SLOTS_MAX];
	const char *names[PERF_SLOTS_MAX];
};

static int prove_group(const struct group *g, uint32_t pass, struct error *err)
{
	size_t at, smaller;
	int error, ignored;
	enum perf_fit fit = perf_group_fit(&perf_kernel_real, g->attrs, g->n, &at, &error);

	if (fit == PERF_FIT_RUNS)
		return 0;
	if (fit == PERF_FIT_REFUSED && (error == EACCES || error == EPERM))
		return error_set(
			err, RC_PERMISSION,
			"pass %u: counter '%s' is not permitted (perf_event_paranoid, or a "
			"container's seccomp filter)",
			pass, g->names[at]);
	if (fit == PERF_FIT_REFUSED)
		return error_set_errno(
			err, error == EINVAL || error == ENOSPC ? RC_NO_SLOT : RC_UNSUPPORTED,
			error, "pass %u: counter '%s' does not fit beside the %zu before it", pass,
			g->names[at], at);
	/* Accepted but starved: somebody holds counters. Find how many of ours still run. */
	for (smaller = g->n - 1; smaller; smaller--)
		if (perf_group_fit(&perf_kernel_real, g->attrs, smaller, &at, &ignored) ==
		    PERF_FIT_RUNS)
			break;
	if (smaller + 1 == g->n && watchdog_is_on())
		return error_set(
			err, RC_NO_SLOT,
			"pass %u: counter '%s' does not run: the NMI watchdog holds one counter; "
			"'sysctl kernel.nmi_watchdog=0' frees it",
			pass, g->names[smaller]);
	return error_set(
		err, RC_NO_SLOT,
		"pass %u: only %zu of %zu hardware counters run together ('%s' does not): another "
		"user of the counters holds the rest, or the events exclude each other",
		pass, smaller, g->n, g->names[smaller]);
}

/* Everything that needs no slot, or is registered elsewhere, by opening it as a run will. */
static int prove_open(const struct plan *plan, uint32_t pass, struct error *err)
{
	struct perf_device d;
	int rc = perf_device_open(&d, plan, pass, 0, 0, err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < d.n_events && !rc; i++)
		if (d.events[i].fd < 0 && !d.events[i].late)
			rc = error_set(err, RC_UNSUPPORTED, "pass %u: %s", pass,
				       d.why[0] ? d.why : "a counter cannot be opened");
	perf_device_close(&d);
	return rc;
}

int perf_host_prove(const struct plan *plan, struct error *err)
{
	for (uint32_t pass = 1; pass <= plan->n_passes; pass++) {
		const struct plan_pass *p = &plan->passes[pass - 1];
		struct group group = {0};
		uint64_t done = 0;
		uint32_t code = 0, data = 0;
		int rc;

		/* One PMU after the other; `done` is the largest group number proven so far. */
		for (;;) {
			group.key = 0;
			group.n = 0;
			code = data = 0;
			for (uint32_t i = 0; i < p->n_counters; i++) {
				const struct plan_counter *k = &plan->counters[p->counters[i]];
				struct perf_event_attr attr;
				struct perf_config c;
				uint64_t key;

				if (strcmp(k->source, "perf"))
					continue;
				rc = perf_config_decode(&c, k->config, err);
				if (!rc)
					rc = perf_config_attr(&c, &attr, err);
				if (rc) {
					error_prefix(err, "pass %u, counter '%s'", pass, k->name);
					return rc;
				}
				if (c.kind == PERF_KIND_BREAKPOINT)
					*(c.bp_type == HW_BREAKPOINT_X ? &code : &data) += 1;
				key = perf_attr_group(&attr);
				if (key <= done || (group.key && key > group.key))
					continue;
				if (key != group.key) {
					group.key = key;
					group.n = 0;
				}
				if (group.n == PERF_SLOTS_MAX)
					return error_set(
						err, RC_NO_SLOT,
						"pass %u has more than %d events of one PMU", pass,
						PERF_SLOTS_MAX);
				group.names[group.n] = k->name;
				group.attrs[group.n++] = attr;
			}
			if (!group.key)
				break;
			rc = prove_group(&group, pass, err);
			if (rc)
				return rc;
			done = group.key;
		}
		if (code + data) {
			rc = perf_breakpoint_try(code, data, NULL, err);
			if (rc) {
				error_prefix(err, "pass %u", pass);
				return rc;
			}
		}
		rc = prove_open(plan, pass, err);
		if (rc)
			return rc;
	}
	return 0;
}
