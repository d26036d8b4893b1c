/* SPDX-License-Identifier: Apache-2.0 */
/* perf counters on the threads of a device, pass by pass, kept open in between. */
#include "source/perf/perf_threads_device.h"

#include "base/vec.h"
#include "replay/runtime.h"
#include "source/perf/perf_abi.h"
#include "source/perf/perf_address.h"
#include "source/perf/perf_tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 1024u
#define EVENTS_MAX  256u /* counters of one pass */
#define HIGH_FD     720  /* out of the way of the program's own small numbers */

/* A counter of a pass, once for all threads. */
struct event {
	uint32_t counter;
	struct perf_event_attr attr;
	uint64_t group;  /* 0: alone */
	uint32_t leader; /* index of the first of its group */
	int status;      /* of all its samples when it cannot be opened: enum sample_status */
	bool registered; /* a uprobe of ours */
};
/* The descriptors of one pass on one thread, one per event, -1: not open. */
struct thread {
	int32_t tid;
	bool seen;
	int *fds;
};
struct pass {
	bool prepared;
	bool gave_up; /* said once why an event is not counted */
	uint32_t n_events;
	struct event *events;
	VEC(struct thread) threads;
	uint64_t used; /* when it was last begun, for the choice of which to close */
};
struct reading {
	uint64_t value, enabled, running;
};
struct unit {
	struct reading *sums; /* one per event */
	uint8_t *status;
};
struct threads_device {
	const struct plan *plan;
	const struct runtime_threads *runtime;
	struct pass *passes;
	uint32_t n_passes;
	uint32_t most; /* counters of any pass */
	uint32_t open_fds, fds_limit;
	int tracefs;
	uint64_t clock;
	/* of the pass under way */
	uint32_t pass; /* from 1; 0: none */
	uint32_t n_units, units_room;
	struct unit *units;
	struct reading *sums; /* of all units, units_room * most */
	uint8_t *statuses;
	bool counting;
	int32_t tids[THREADS_MAX];
};

/* ---- preparing a pass ---- */

static void prepare_event(struct threads_device *d, uint32_t pass, struct event *e)
{
	const struct plan_counter *k = &d->plan->counters[e->counter];
	struct error why = {0};
	struct perf_config c;
	uint64_t id = 0, address;
	char name[64];
	int rc = perf_config_decode(&c, k->config, &why);

	if (!rc)
		rc = perf_config_attr(&c, &e->attr, &why);
	if (!rc && (c.kind == PERF_KIND_TRACEPOINT || c.kind == PERF_KIND_UPROBE)) {
		if (d->tracefs < 0)
			rc = perf_tracefs_open(&d->tracefs, &why);
		snprintf(name, sizeof(name), "t%u_c%u", pass, e->counter);
		if (!rc && c.kind == PERF_KIND_TRACEPOINT)
			rc = perf_tracefs_id(d->tracefs, c.name, &id, &why);
		else if (!rc)
			rc = perf_tracefs_add_uprobe(d->tracefs, name, &c, &id, &why);
		e->registered = !rc && c.kind == PERF_KIND_UPROBE;
		e->attr.config = id;
	}
	if (!rc && c.kind == PERF_KIND_BREAKPOINT) {
		rc = perf_address_find(getpid(), &c, &address, &why);
		e->attr.bp_addr = rc ? 0 : address;
	}
	e->group = rc ? 0 : perf_attr_group(&e->attr);
	e->status = rc ? SAMPLE_NOT_COLLECTED : SAMPLE_OK;
}

static int prepare(struct threads_device *d, uint32_t number, struct error *err)
{
	const struct plan_pass *p = &d->plan->passes[number - 1];
	struct pass *pass = &d->passes[number - 1];

	if (pass->prepared)
		return 0;
	pass->events = calloc(p->n_counters ? p->n_counters : 1, sizeof(*pass->events));
	if (!pass->events)
		return error_set(err, RC_NO_MEMORY, "no memory for the counters of pass %u",
				 number);
	for (uint32_t i = 0; i < p->n_counters; i++) {
		struct event *e = &pass->events[pass->n_events];

		if (strcmp(d->plan->counters[p->counters[i]].source, "perf") != 0)
			continue;
		e->counter = p->counters[i];
		e->leader = pass->n_events++;
		prepare_event(d, number, e);
		for (uint32_t k = 0; k < e->leader && e->group; k++)
			if (pass->events[k].group == e->group) {
				e->leader = pass->events[k].leader;
				break;
			}
	}
	pass->prepared = true;
	return 0;
}

/* ---- threads ---- */

static void close_thread(struct threads_device *d, const struct pass *p, struct thread *t)
{
	for (uint32_t i = 0; i < p->n_events; i++)
		if (t->fds[i] >= 0) {
			close(t->fds[i]);
			d->open_fds--;
		}
	free(t->fds);
	t->fds = NULL;
}

static void close_pass(struct threads_device *d, struct pass *p)
{
	vec_for_each (&p->threads, t)
		close_thread(d, p, t);
	vec_clear(&p->threads);
}

/* Descriptors are few: the pass that was not used for the longest time gives its own away. */
static bool make_room(struct threads_device *d, const struct pass *keep, uint32_t want)
{
	while (d->open_fds + want > d->fds_limit) {
		struct pass *oldest = NULL;

		for (uint32_t i = 0; i < d->n_passes; i++) {
			struct pass *p = &d->passes[i];

			if (p != keep && p->threads.n && (!oldest || p->used < oldest->used))
				oldest = p;
		}
		if (!oldest)
			return false;
		close_pass(d, oldest);
	}
	return true;
}

static int open_high(struct perf_event_attr *attr, int32_t tid, int group)
{
	int fd = perf_open(attr, tid, -1, group), high, error;

	if (fd < 0 || fd >= HIGH_FD)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	error = errno;
	if (high >= 0)
		close(fd);
	errno = error;
	return high >= 0 ? high : fd;
}

static int open_thread(struct threads_device *d, struct pass *p, int32_t tid, struct error *err)
{
	struct thread t = {.tid = tid, .seen = true};
	uint32_t failed = 0;
	int error = 0;

	if (!make_room(d, p, p->n_events))
		return error_set(err, RC_NO_SPACE,
				 "too few descriptors for %u counters on every thread (ulimit -n)",
				 p->n_events);
	t.fds = malloc((p->n_events ? p->n_events : 1) * sizeof(*t.fds));
	if (!t.fds || !vec_reserve(&p->threads, p->threads.n + 1)) {
		free(t.fds);
		return error_set(err, RC_NO_MEMORY, "no memory for the counters of a thread");
	}
	for (uint32_t i = 0; i < p->n_events; i++) {
		struct event *e = &p->events[i];
		struct perf_event_attr attr = e->attr;
		bool leads = e->leader == i;

		t.fds[i] = -1;
		if (e->status != SAMPLE_OK)
			continue;
		/* Members follow their leader; they must be enabled for it to be fit-checked. */
		attr.disabled = leads;
		attr.pinned = leads && e->group;
		if (!leads && t.fds[e->leader] < 0)
			continue;
		t.fds[i] = open_high(&attr, tid, leads ? -1 : t.fds[e->leader]);
		if (t.fds[i] >= 0) {
			d->open_fds++;
			continue;
		}
		error = errno;
		failed++;
	}
	if (failed && error == ESRCH) { /* it has ended since it was listed */
		close_thread(d, p, &t);
		return 0;
	}
	p->threads.items[p->threads.n++] = t;
	/* Without the rest of the threads the sum would be wrong: no sample, not a small one. */
	for (uint32_t i = 0; i < p->n_events && failed; i++)
		if (t.fds[i] < 0 && p->events[i].status == SAMPLE_OK)
			p->events[i].status = SAMPLE_NOT_COLLECTED;
	return 0;
}

static int follow_threads(struct threads_device *d, struct pass *p, struct error *err)
{
	int32_t *tids = d->tids;
	uint32_t n = d->runtime->list(d->runtime->data, tids, THREADS_MAX), kept = 0;
	int rc = 0;

	if (n > THREADS_MAX)
		return error_set(err, RC_NO_SPACE, "the device has more than %u threads",
				 THREADS_MAX);
	if (!n)
		tids[n++] = (int32_t)syscall(SYS_gettid);
	vec_for_each (&p->threads, t)
		t->seen = false;
	for (uint32_t i = 0; i < n && !rc; i++) {
		bool known = false;

		vec_for_each (&p->threads, t)
			if (t->tid == tids[i])
				known = t->seen = true;
		if (!known)
			rc = open_thread(d, p, tids[i], err);
	}
	for (size_t i = 0; i < p->threads.n; i++) {
		struct thread *t = &p->threads.items[i];

		if (t->seen)
			p->threads.items[kept++] = *t;
		else
			close_thread(d, p, t);
	}
	p->threads.n = kept;
	return rc;
}

/* ---- counting ---- */

static struct pass *current(struct threads_device *d)
{
	return d->pass ? &d->passes[d->pass - 1] : NULL;
}

/* Each leader alone: the members are enabled, and follow it. */
static int switch_all(struct pass *p, unsigned long request, struct error *err)
{
	vec_for_each (&p->threads, t)
		for (uint32_t i = 0; i < p->n_events; i++)
			if (t->fds[i] >= 0 && p->events[i].leader == i &&
			    ioctl(t->fds[i], request, 0))
				return error_set_errno(err, 0, errno,
						       "a counter of a thread cannot be switched");
	return 0;
}

static int threads_open(void **device_out, const struct plan *plan, const char *runtime,
			void *native, uint32_t device, struct error *err)
{
	const struct runtime_threads *threads = native;
	struct threads_device *d;
	struct rlimit limit;

	if (strcmp(runtime, "opencl") != 0 || !threads || !threads->list)
		return error_set(err, RC_UNSUPPORTED,
				 "perf counts threads of this process, and device %u has none",
				 device);
	d = calloc(1, sizeof(*d));
	if (d)
		d->passes = calloc(plan->n_passes ? plan->n_passes : 1, sizeof(*d->passes));
	if (!d || !d->passes) {
		free(d);
		return error_set(err, RC_NO_MEMORY, "no memory for the counters of device %u",
				 device);
	}
	d->plan = plan;
	d->runtime = threads;
	d->n_passes = plan->n_passes;
	d->tracefs = -1;
	for (uint32_t i = 0; i < plan->n_passes; i++)
		if (plan->passes[i].n_counters > d->most)
			d->most = plan->passes[i].n_counters;
	/* At most a third of what the program may open. */
	d->fds_limit = getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > 30000
			       ? 10000
			       : (uint32_t)limit.rlim_cur / 3;
	*device_out = d;
	return 0;
}

static int threads_pass_begin(void *device, uint32_t pass, uint32_t n_units, struct error *err)
{
	struct threads_device *d = device;
	struct pass *p;
	int rc;

	if (!pass || pass > d->n_passes)
		return error_set(err, RC_INVALID, "the plan has %u passes; there is no pass %u",
				 d->n_passes, pass);
	p = &d->passes[pass - 1];
	if (n_units > d->units_room) {
		size_t n = (size_t)n_units * (d->most ? d->most : 1);
		struct unit *units = calloc(n_units, sizeof(*units));
		struct reading *sums = calloc(n, sizeof(*sums));
		uint8_t *statuses = calloc(n, 1);

		if (!units || !sums || !statuses) {
			free(units);
			free(sums);
			free(statuses);
			return error_set(err, RC_NO_MEMORY, "no memory for the counts of %u units",
					 n_units);
		}
		free(d->units);
		free(d->sums);
		free(d->statuses);
		d->units = units;
		d->sums = sums;
		d->statuses = statuses;
		d->units_room = n_units;
	}
	rc = prepare(d, pass, err);
	if (!rc)
		rc = follow_threads(d, p, err);
	if (rc)
		return rc;
	p->used = ++d->clock;
	d->pass = pass;
	d->n_units = 0;
	return 0;
}

static bool read_one(int fd, struct reading *r)
{
	ssize_t n;

	do
		n = read(fd, r, sizeof(*r));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*r);
}

/* Adds what the counters say now, or takes it away: a unit is the difference of two readings, so
 * that nothing has to be set to zero in between. */
static void add_readings(struct threads_device *d, struct pass *p, struct unit *u, bool begin)
{
	for (uint32_t i = 0; i < p->n_events; i++) {
		if (begin) {
			u->sums[i] = (struct reading){0};
			u->status[i] = (uint8_t)p->events[i].status;
		}
		vec_for_each (&p->threads, t) {
			struct reading r = {0};
			struct reading *sum = &u->sums[i];

			if (t->fds[i] < 0)
				continue;
			/* Nothing to read: a pinned group that got no counters. */
			if (!read_one(t->fds[i], &r)) {
				u->status[i] = SAMPLE_NOT_COLLECTED;
				continue;
			}
			sum->value += begin ? -r.value : r.value;
			sum->enabled += begin ? -r.enabled : r.enabled;
			sum->running += begin ? -r.running : r.running;
		}
	}
	(void)d;
}

static int threads_unit_begin(void *device, const struct source_unit *unit, struct error *err)
{
	struct threads_device *d = device;
	struct pass *p = current(d);
	struct unit *u;

	if (!p || unit->index >= d->units_room)
		return error_set(err, RC_ERROR, "no pass is under way");
	u = &d->units[unit->index];
	u->sums = d->sums + (size_t)unit->index * d->most;
	u->status = d->statuses + (size_t)unit->index * d->most;
	add_readings(d, p, u, true);
	d->counting = true;
	return switch_all(p, PERF_EVENT_IOC_ENABLE, err);
}

static int threads_unit_end(void *device, const struct source_unit *unit, struct error *err)
{
	struct threads_device *d = device;
	struct pass *p = current(d);
	int rc;

	if (!p || unit->index >= d->units_room)
		return error_set(err, RC_ERROR, "no pass is under way");
	rc = switch_all(p, PERF_EVENT_IOC_DISABLE, err);
	d->counting = false;
	add_readings(d, p, &d->units[unit->index], false);
	if (unit->index >= d->n_units)
		d->n_units = unit->index + 1;
	return rc;
}

static int threads_pass_end(void *device, struct error *err)
{
	(void)device;
	(void)err;
	return 0;
}

static int threads_read(void *device, uint32_t unit, struct spool_sample *samples_out,
			uint32_t room, uint32_t *n_out, uint64_t *enabled_ns_out,
			uint64_t *running_ns_out, struct error *err)
{
	struct threads_device *d = device;
	struct pass *p = current(d);
	bool first = true;

	*n_out = p ? p->n_events : 0;
	*enabled_ns_out = *running_ns_out = 0;
	if (!p || unit >= d->n_units)
		return error_set(err, RC_ERROR, "unit %u was not counted", unit);
	if (room < p->n_events)
		return error_set(err, RC_NO_SPACE, "room for %u samples of %u", room, p->n_events);
	for (uint32_t i = 0; i < p->n_events; i++) {
		const struct reading *r = &d->units[unit].sums[i];
		struct spool_sample *s = &samples_out[i];

		memset(s, 0, sizeof(*s));
		s->counter = p->events[i].counter;
		s->instance = SPOOL_INSTANCE_ALL;
		s->kind = SAMPLE_U64;
		s->status = d->units[unit].status[i];
		if (s->status != SAMPLE_OK)
			continue;
		s->value.u64 = r->value;
		/* Enabled and never on a counter although its threads ran: no count. A thread that
		 * slept throughout has neither time. */
		if (r->enabled && !r->running)
			s->status = SAMPLE_NOT_COLLECTED;
		else if (r->running < r->enabled)
			s->status = SAMPLE_MULTIPLEXED;
		if (first || r->running < *running_ns_out) {
			*enabled_ns_out = r->enabled;
			*running_ns_out = r->running;
			first = false;
		}
	}
	return 0;
}

static uint32_t threads_room(void *device)
{
	return ((struct threads_device *)device)->most;
}

static void threads_pass_abort(void *device)
{
	struct threads_device *d = device;
	struct pass *p = current(d);

	if (p && d->counting)
		(void)switch_all(p, PERF_EVENT_IOC_DISABLE, NULL);
	d->counting = false;
	d->pass = 0;
	d->n_units = 0;
}

static void threads_close(void *device)
{
	struct threads_device *d = device;

	for (uint32_t i = 0; i < d->n_passes; i++) {
		struct pass *p = &d->passes[i];

		close_pass(d, p);
		vec_release(&p->threads);
		for (uint32_t k = 0; k < p->n_events; k++) {
			char name[64];

			snprintf(name, sizeof(name), "t%u_c%u", i + 1, p->events[k].counter);
			if (p->events[k].registered)
				perf_tracefs_remove_uprobe(d->tracefs, name);
		}
		free(p->events);
	}
	if (d->tracefs >= 0)
		close(d->tracefs);
	free(d->passes);
	free(d->units);
	free(d->sums);
	free(d->statuses);
	free(d);
}

const struct source source_perf_threads = {
	.name = "perf",
	.size = sizeof(struct source),
	.capabilities = SOURCE_NEEDS_DRAIN | SOURCE_WANTS_WARM_UP,
	.device_open = threads_open,
	.pass_begin = threads_pass_begin,
	.unit_begin = threads_unit_begin,
	.unit_end = threads_unit_end,
	.pass_end = threads_pass_end,
	.read = threads_read,
	.room = threads_room,
	.pass_abort = threads_pass_abort,
	.device_close = threads_close,
};
