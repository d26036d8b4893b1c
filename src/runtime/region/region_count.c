/* SPDX-License-Identifier: Apache-2.0 */
/* Counters read at both ends of a region. */
#include "runtime/region/region_count.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void raise_fd(int *fd, int least)
{
	int high;

	if (*fd < 0 || *fd >= least)
		return;
	high = fcntl(*fd, F_DUPFD_CLOEXEC, least);
	if (high < 0)
		return;
	close(*fd);
	*fd = high;
}

static void raise_fds(struct perf_device *d, int least)
{
	for (uint32_t i = 0; i < d->n_events; i++)
		raise_fd(&d->events[i].fd, least);
	raise_fd(&d->reference_fd, least);
	raise_fd(&d->tracefs, least);
}

static void find_probe(struct region_set *s)
{
	s->probe = -1;
	for (uint32_t i = 0; i < s->device->n_events && s->probe < 0; i++)
		s->probe = s->device->events[i].fd;
	s->probe_id = 0;
	if (s->probe >= 0 && ioctl(s->probe, PERF_EVENT_IOC_ID, &s->probe_id))
		s->probe = -1;
}

int region_set_open(struct region_set *s, const struct plan *plan, uint32_t pass, pid_t tid,
		    int least_fd, unsigned flags, struct error *err)
{
	struct error late = {0};
	int rc;

	memset(s, 0, sizeof(*s));
	rc = perf_device_open(&s->own, plan, pass, tid ? tid : (pid_t)gettid(),
			      flags | PERF_INHERIT, err);
	if (rc)
		return rc;
	s->pass = pass;
	s->device = &s->own;
	s->late = perf_device_needs_addresses(plan, pass);
	if (s->late && perf_device_open_addresses(&s->own, &late) && !s->own.why[0])
		memcpy(s->own.why, late.message, sizeof(s->own.why) - 1);
	raise_fds(&s->own, least_fd);
	find_probe(s);
	return 0;
}

void region_set_borrow(struct region_set *s, struct perf_device *device)
{
	memset(s, 0, sizeof(*s));
	s->pass = device->pass;
	s->device = device;
	find_probe(s);
}

void region_set_switch(struct region_set *s, bool on)
{
	struct error err = {0};

	if (!s->pass || !region_set_is_ours(s))
		return;
	if (on)
		perf_device_enable(s->device, &err);
	else
		perf_device_disable(s->device, &err);
}

void region_set_close(struct region_set *s)
{
	if (s->pass && s->device == &s->own) {
		if (!region_set_is_ours(s)) { /* the numbers may be the program's by now */
			for (uint32_t i = 0; i < s->own.n_events; i++)
				s->own.events[i].fd = -1;
			s->own.reference_fd = -1;
			s->own.tracefs = -1;
		}
		perf_device_close(&s->own);
	}
	s->pass = 0;
}

void region_set_retire(struct region_set *s)
{
	if (!s->pass || s->device != &s->own)
		return;
	for (uint32_t i = 0; i < s->own.n_events; i++)
		if (s->own.events[i].registered) {
			region_set_close(s);
			return;
		}
}

void region_set_abandon(struct region_set *s)
{
	struct perf_device *d = s->device;

	if (!s->pass || d != &s->own || !region_set_is_ours(s))
		return;
	for (uint32_t i = 0; i < d->n_events; i++)
		if (d->events[i].fd >= 0)
			close(d->events[i].fd);
	if (d->reference_fd >= 0)
		close(d->reference_fd);
	if (d->tracefs >= 0)
		close(d->tracefs);
	s->pass = 0;
}

bool region_set_is_ours(const struct region_set *s)
{
	uint64_t id = 0;

	return s->probe < 0 || (!ioctl(s->probe, PERF_EVENT_IOC_ID, &id) && id == s->probe_id);
}

uint32_t region_set_room(const struct region_set *s)
{
	return s->device->n_events + 1;
}

static void read_one(int fd, struct region_reading *r)
{
	uint64_t numbers[3];
	ssize_t n;

	r->valid = false;
	if (fd < 0)
		return;
	do
		n = read(fd, numbers, sizeof(numbers));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(numbers))
		return;
	*r = (struct region_reading){numbers[0], numbers[1], numbers[2], true};
}

void region_set_read(const struct region_set *s, struct region_reading *readings_out)
{
	const struct perf_device *d = s->device;

	for (uint32_t i = 0; i < d->n_events; i++)
		read_one(d->events[i].fd, &readings_out[i]);
	read_one(d->reference_fd, &readings_out[d->n_events]);
}

/* As perf_device_read judges a whole process. The slack is for times that are taken one after the
 * other. */
static bool is_whole(uint64_t enabled, uint64_t all)
{
	return enabled + enabled / 1000 + 20000 >= all;
}

void region_set_delta(const struct region_set *s, const struct region_reading *begin,
		      const struct region_reading *end, struct spool_sample *samples_out,
		      uint32_t *n_out, uint64_t *enabled_ns_out, uint64_t *running_ns_out)
{
	const struct perf_device *d = s->device;
	const struct region_reading *reference[2] = {&begin[d->n_events], &end[d->n_events]};
	uint64_t least_enabled = 0, least_running = 0, all = 0;
	bool has_least = false;

	if (reference[0]->valid && reference[1]->valid)
		all = reference[1]->enabled - reference[0]->enabled;
	for (uint32_t i = 0; i < d->n_events; i++) {
		const struct perf_device_event *e = &d->events[i];
		struct spool_sample *sample = &samples_out[i];
		uint64_t enabled, running;

		memset(sample, 0, sizeof(*sample));
		sample->counter = e->counter;
		sample->instance = SPOOL_INSTANCE_ALL;
		sample->kind = SAMPLE_U64;
		sample->status = e->fd < 0 && e->status ? (uint8_t)e->status : SAMPLE_NOT_COLLECTED;
		if (!begin[i].valid || !end[i].valid)
			continue;
		enabled = end[i].enabled - begin[i].enabled;
		running = end[i].running - begin[i].running;
		if (!running) /* held by another user of the counters, or never on */
			continue;
		sample->status = SAMPLE_OK;
		sample->value.u64 = end[i].value - begin[i].value;
		if (e->hardware && all && !is_whole(enabled, all))
			enabled = all;
		if (running < enabled)
			sample->status = SAMPLE_MULTIPLEXED;
		if (!has_least || running < least_running) {
			least_running = running;
			least_enabled = enabled;
			has_least = true;
		}
	}
	*n_out = d->n_events;
	*enabled_ns_out = least_enabled;
	*running_ns_out = least_running;
}
