/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, reads and closes the perf counters of one pass for a process, from outside or for itself.
 */
#include "source/perf/perf_device.h"

#include "source/perf/perf_abi.h"
#include "source/perf/perf_address.h"
#include "source/perf/perf_breakpoint.h"
#include "source/perf/perf_tracefs.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct plan_counter *counter_of(const struct perf_device *d,
					     const struct perf_device_event *e)
{
	return &d->plan->counters[e->counter];
}

__attribute__((format(printf, 3, 4))) static void
refuse(struct perf_device *d, struct perf_device_event *e, const char *fmt, ...)
{
	char reason[ERROR_MESSAGE_SIZE];
	va_list ap;

	e->status = SAMPLE_NOT_COLLECTED;
	if (d->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	snprintf(d->why, sizeof(d->why), "'%s': %.*s", counter_of(d, e)->name,
		 (int)sizeof(d->why) - 64, reason);
}

static const char *open_reason(int error, const struct perf_event_attr *attr)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this machine has no such event";
	case EACCES:
	case EPERM:
		return "not permitted (see /proc/sys/kernel/perf_event_paranoid, or run as root)";
	case EMFILE:
		return "too many open files (ulimit -n)";
	case ENOSPC:
		return attr->type == PERF_TYPE_BREAKPOINT ? "all hardware breakpoints are in use"
							  : "no counter is free";
	case EINVAL:
		return "the kernel refuses it: it does not fit beside the other events of the "
		       "pass, or "
		       "cannot count one process";
	case ESRCH:
		return "the process has ended";
	default:
		return strerror(error);
	}
}

static void open_event(struct perf_device *d, struct perf_device_event *e, uint32_t leader,
		       struct perf_event_attr *attr)
{
	uint32_t index = (uint32_t)(e - d->events);
	bool is_leader = leader == index;

	attr->inherit = (d->flags & PERF_INHERIT) != 0;
	e->hardware = perf_attr_group(attr) != 0;
	attr->pinned = is_leader && e->hardware && !(d->flags & PERF_GIVES_WAY);
	if (!e->late && is_leader) {
		attr->disabled = 1;
		attr->enable_on_exec = (d->flags & PERF_ON_EXEC) != 0;
	}
	/* In a program that a child executes the address is another's. Before Linux 5.13 the kernel
	 * cannot be told to stop there, and the count would be nonsense in silence. */
	if (e->late && attr->inherit)
		attr->remove_on_exec = 1;
	e->leader = (int)leader;
	e->fd = perf_open(attr, (int)d->pid, -1, is_leader ? -1 : d->events[leader].fd);
	if (e->fd >= 0)
		return;
	if (errno == EINVAL && attr->remove_on_exec) {
		attr->remove_on_exec = 0;
		e->fd = perf_open(attr, (int)d->pid, -1, -1);
		if (e->fd >= 0) {
			close(e->fd);
			e->fd = -1;
			refuse(d, e,
			       "needs Linux 5.13: an older kernel counts the address in programs "
			       "that children execute as well; use uprobe:");
			return;
		}
	}
	refuse(d, e, "%s", open_reason(errno, attr));
}

static void uprobe_name(const struct perf_device *d, const struct perf_device_event *e,
			char name_out[64])
{
	snprintf(name_out, 64, "p%u_c%u_s%u", d->pass, e->counter, d->serial);
}

/* A number from tracefs into attr->config. */
static int look_up(struct perf_device *d, struct perf_device_event *e, const struct perf_config *c,
		   struct perf_event_attr *attr, struct error *err)
{
	static bool swept;
	char name[64];
	uint64_t id = 0;
	int rc;

	if (d->tracefs < 0) {
		rc = perf_tracefs_open(&d->tracefs, err);
		if (rc)
			return rc;
		/* Once: another set of this process may be about to use what it has just added. */
		if (!__atomic_exchange_n(&swept, true, __ATOMIC_RELAXED))
			perf_tracefs_sweep(d->tracefs);
	}
	if (c->kind == PERF_KIND_TRACEPOINT) {
		rc = perf_tracefs_id(d->tracefs, c->name, &id, err);
	} else {
		uprobe_name(d, e, name);
		rc = perf_tracefs_add_uprobe(d->tracefs, name, c, &id, err);
		e->registered = !rc;
	}
	attr->config = id;
	return rc;
}

/* An inherited event on a uprobe names the process it was made for, and the kernel exchanges the
 * events of related processes when it switches between them instead of unloading both (Linux 6.18,
 * perf_event_context_sched_out). When one of them ends, the breakpoints are taken out of the memory
 * of the process that is named, which may be the other, still running one: parallel processes lose
 * counts. With an event for the whole machine open beside it the kernel leaves all breakpoints in.
 * It is never enabled, counts nothing, and costs other processes a trap where they run the same
 * function of the same file. Where it cannot be had counts are as they were. */
static void keep_uprobe(struct perf_device_event *e, const struct perf_event_attr *attr)
{
	struct perf_event_attr all = *attr;
	int cpu = sched_getcpu();

	all.inherit = 0;
	all.pinned = 0;
	all.enable_on_exec = 0;
	all.disabled = 1;
	e->keeper = perf_open(&all, -1, cpu < 0 ? 0 : cpu, -1);
}

/* The dummy event is enabled and inherited like the others but always runs. A pinned group that
 * loses its counters inside one thread stops without a trace in its own times; it shows against
 * this one. */
static void open_reference(struct perf_device *d)
{
	struct perf_config c = {.kind = PERF_KIND_TYPE,
				.type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_DUMMY,
				.exclude_kernel = true};
	struct perf_event_attr attr;

	if (perf_config_attr(&c, &attr, NULL))
		return;
	attr.inherit = 1;
	attr.disabled = 1;
	attr.enable_on_exec = (d->flags & PERF_ON_EXEC) != 0;
	d->reference_fd = perf_open(&attr, (int)d->pid, -1, -1);
}

int perf_device_open(struct perf_device *d, const struct plan *plan, uint32_t pass, pid_t pid,
		     unsigned flags, struct error *err)
{
	const struct plan_pass *p;
	struct group {
		uint64_t key;
		uint32_t leader;
	} *groups = NULL;
	uint32_t n_groups = 0;
	static unsigned serial;

	memset(d, 0, sizeof(*d));
	d->plan = plan;
	d->pass = pass;
	d->pid = pid;
	d->flags = flags;
	d->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
	d->reference_fd = -1;
	d->tracefs = -1;
	if (!pass || pass > plan->n_passes)
		return error_set(err, RC_INVALID, "the plan has %u passes; there is no pass %u",
				 plan->n_passes, pass);
	p = &plan->passes[pass - 1];
	d->events = calloc(p->n_counters ? p->n_counters : 1, sizeof(*d->events));
	groups = calloc(p->n_counters ? p->n_counters : 1, sizeof(*groups));
	if (!d->events || !groups) {
		free(groups);
		perf_device_close(d);
		return error_set(err, RC_NO_MEMORY, "no memory for the counters of pass %u", pass);
	}
	for (uint32_t i = 0; i < p->n_counters; i++) {
		const struct plan_counter *k = &plan->counters[p->counters[i]];
		struct perf_device_event *e = &d->events[d->n_events];
		struct perf_event_attr attr;
		struct perf_config c;
		struct error why = {0};
		uint32_t g = 0;
		uint64_t key;

		if (strcmp(k->source, "perf"))
			continue;
		e->counter = p->counters[i];
		e->fd = e->keeper = -1;
		e->leader = (int)d->n_events++;
		if (perf_config_decode(&c, k->config, &why) || perf_config_attr(&c, &attr, &why)) {
			refuse(d, e, "%s", why.message);
			continue;
		}
		if (c.kind == PERF_KIND_BREAKPOINT) {
			e->late = true;
			e->status = SAMPLE_NOT_COLLECTED;
			continue;
		}
		if ((c.kind == PERF_KIND_TRACEPOINT || c.kind == PERF_KIND_UPROBE) &&
		    look_up(d, e, &c, &attr, &why)) {
			refuse(d, e, "%s", why.message);
			continue;
		}
		key = perf_attr_group(&attr);
		while (g < n_groups && groups[g].key != key)
			g++;
		if (key && g < n_groups) {
			open_event(d, e, groups[g].leader, &attr);
			continue;
		}
		if (key && (flags & PERF_INHERIT) && d->reference_fd < 0)
			open_reference(d);
		open_event(d, e, (uint32_t)e->leader, &attr);
		if (e->registered && e->fd >= 0)
			keep_uprobe(e, &attr);
		if (key && e->fd >= 0) {
			groups[n_groups].key = key;
			groups[n_groups++].leader = (uint32_t)e->leader;
		}
	}
	free(groups);
	return 0;
}

bool perf_device_needs_addresses(const struct plan *plan, uint32_t pass)
{
	const struct plan_pass *p;

	if (!pass || pass > plan->n_passes)
		return false;
	p = &plan->passes[pass - 1];
	for (uint32_t i = 0; i < p->n_counters; i++) {
		const struct plan_counter *k = &plan->counters[p->counters[i]];
		struct perf_config c;

		if (!strcmp(k->source, "perf") && !perf_config_decode(&c, k->config, NULL) &&
		    c.kind == PERF_KIND_BREAKPOINT)
			return true;
	}
	return false;
}

int perf_device_open_addresses(struct perf_device *d, struct error *err)
{
	enum {
		UNTRIED,
		WORKS,
		SILENT
	} code = UNTRIED, data = UNTRIED;

	if (!d->events)
		return error_set(err, RC_ERROR, "the counters of the pass are not open");
	for (uint32_t i = 0; i < d->n_events; i++) {
		struct perf_device_event *e = &d->events[i];
		struct perf_event_attr attr;
		struct perf_config c;
		struct error why = {0};
		uint64_t address;
		bool is_code;

		if (!e->late || e->fd >= 0)
			continue;
		if (perf_config_decode(&c, counter_of(d, e)->config, &why) ||
		    perf_address_find(d->pid, &c, &address, &why) ||
		    perf_config_attr(&c, &attr, &why)) {
			refuse(d, e, "%s", why.message);
			continue;
		}
		is_code = c.bp_type == HW_BREAKPOINT_X;
		if ((is_code ? code : data) == UNTRIED) {
			/* Only a wrong count is a verdict; a full or forbidden one shows when the
			 * real event is opened. */
			int rc = perf_breakpoint_try(is_code, !is_code, NULL, &why);

			*(is_code ? &code : &data) = rc == RC_UNSUPPORTED ? SILENT : WORKS;
		}
		if ((is_code ? code : data) == SILENT) {
			refuse(d, e, "%s",
			       why.message[0]
				       ? why.message
				       : "this machine does not trigger hardware breakpoints");
			continue;
		}
		attr.bp_addr = address;
		open_event(d, e, i, &attr);
	}
	return 0;
}

static int switch_all(struct perf_device *d, unsigned long request, struct error *err)
{
	for (uint32_t i = 0; i < d->n_events; i++) {
		struct perf_device_event *e = &d->events[i];

		/* The members of a group follow their leader. */
		if (e->fd >= 0 && e->leader == (int)i && ioctl(e->fd, request, 0))
			return error_set_errno(err, 0, errno, "cannot switch counter '%s'",
					       counter_of(d, e)->name);
	}
	return 0;
}

/* The reference is on for less time than what is compared with it, never for more. */
int perf_device_enable(struct perf_device *d, struct error *err)
{
	int rc = switch_all(d, PERF_EVENT_IOC_ENABLE, err);

	if (d->reference_fd >= 0)
		(void)ioctl(d->reference_fd, PERF_EVENT_IOC_ENABLE, 0);
	return rc;
}

int perf_device_disable(struct perf_device *d, struct error *err)
{
	if (d->reference_fd >= 0)
		(void)ioctl(d->reference_fd, PERF_EVENT_IOC_DISABLE, 0);
	return switch_all(d, PERF_EVENT_IOC_DISABLE, err);
}

struct reading {
	uint64_t value, enabled, running;
};

/* True when a full reading came. */
static bool read_one(int fd, struct reading *r, ssize_t *n_out)
{
	do
		*n_out = read(fd, r, sizeof(*r));
	while (*n_out < 0 && errno == EINTR);
	return *n_out == (ssize_t)sizeof(*r);
}

/* Whether a hardware group was on for the whole life of the process tree. The stamps are taken
 * under one lock per task, so that only rounding is allowed for. */
static bool is_whole(const struct reading *r, const struct reading *reference)
{
	return r->enabled + r->enabled / 1000 + 20000 >= reference->enabled;
}

int perf_device_read(struct perf_device *d, struct spool_sample *samples_out, uint32_t *n_out,
		     uint64_t *enabled_ns_out, uint64_t *running_ns_out, struct error *err)
{
	struct reading reference = {0}, least = {0};
	bool has_reference, has_least = false;
	ssize_t n;

	if (!d->events)
		return error_set(err, RC_ERROR, "the counters of the pass are not open");
	has_reference = d->reference_fd >= 0 && read_one(d->reference_fd, &reference, &n);
	for (uint32_t i = 0; i < d->n_events; i++) {
		struct perf_device_event *e = &d->events[i];
		struct spool_sample *s = &samples_out[i];
		struct reading r = {0};

		memset(s, 0, sizeof(*s));
		s->counter = e->counter;
		s->instance = SPOOL_INSTANCE_ALL;
		s->status = SAMPLE_NOT_COLLECTED;
		s->kind = SAMPLE_U64;
		if (e->fd < 0) {
			s->status = e->status ? (uint8_t)e->status : SAMPLE_NOT_COLLECTED;
			continue;
		}
		if (!read_one(e->fd, &r, &n)) {
			if (n == 0)
				refuse(d, e,
				       "the group does not fit into the counters that are free (a "
				       "pinned group that the kernel gave up)");
			else
				refuse(d, e, "cannot be read: %s",
				       n < 0 ? strerror(errno) : "short");
			continue;
		}
		if (!r.running) {
			/* A pinned group that was given up reads as one that was never on, once the
			 * process has ended; the reference tells them apart. */
			if (r.enabled || (e->hardware && reference.enabled))
				refuse(d, e,
				       "got no counter: another user of the counters (the NMI "
				       "watchdog, a "
				       "profiler) holds them");
			else
				refuse(d, e, "was never switched on");
		} else {
			s->status = SAMPLE_OK;
			s->value.u64 = r.value;
			/* The times then say which share of the process tree was counted. */
			if (has_reference && e->hardware && !is_whole(&r, &reference))
				r.enabled = reference.enabled;
			if (r.running < r.enabled)
				s->status = SAMPLE_MULTIPLEXED;
		}
		if (!has_least || r.running < least.running) {
			least = r;
			has_least = true;
		}
	}
	*n_out = d->n_events;
	*enabled_ns_out = least.enabled;
	*running_ns_out = least.running;
	return 0;
}

void perf_device_close(struct perf_device *d)
{
	if (!d->plan) /* zeroed: the descriptors are not ours */
		return;
	for (uint32_t i = 0; i < d->n_events; i++) {
		if (d->events[i].fd >= 0)
			close(d->events[i].fd);
		if (d->events[i].keeper >= 0)
			close(d->events[i].keeper);
		d->events[i].fd = d->events[i].keeper = -1;
	}
	for (uint32_t i = 0; i < d->n_events; i++) {
		char name[64];

		if (!d->events[i].registered)
			continue;
		uprobe_name(d, &d->events[i], name);
		perf_tracefs_remove_uprobe(d->tracefs, name);
	}
	if (d->reference_fd >= 0)
		close(d->reference_fd);
	if (d->tracefs >= 0)
		close(d->tracefs);
	free(d->events);
	memset(d, 0, sizeof(*d));
	d->reference_fd = d->tracefs = -1;
}
