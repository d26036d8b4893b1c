/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting one pass of this process and recording it. A pass may span several images (a shell
 * script that ends with exec): each image adds what the ones before it left in the spool as a carry
 * record.
 */
#include "inject/session.h"

#include "inject/say.h"
#include "runtime/region/region.h"
#include "source/perf/perf_device.h"
#include "wire/collection.h"
#include "wire/spool.h"
#include "wire/spool_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
	const struct session_paths *paths;
	struct plan plan;
	struct perf_device perf;
	struct spool_writer spool;
	bool counting;   /* perf is open */
	bool recording;  /* spool is open */
	bool range;      /* regions are replayed, and the process is not counted */
	bool is_first;   /* this image began the pass */
	bool is_carried; /* base came from an image before this one */
	uint32_t pass;
	uint64_t begin_ns;            /* CLOCK_MONOTONIC, of the pass */
	uint64_t user_ns, system_ns;  /* at the begin of the pass: exec does not reset them */
	struct spool_sample *samples; /* one per counter of the pass */
	struct spool_sample *base;    /* what earlier images of this pass counted */
	uint32_t n_base;
	uint64_t base_enabled_ns, base_running_ns;
} session;

static uint64_t session_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t session_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

static void session_cpu_time(uint64_t *user_ns, uint64_t *system_ns)
{
	struct rusage self = {0}, children = {0};

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	*user_ns = session_ns(&self.ru_utime) + session_ns(&children.ru_utime);
	*system_ns = session_ns(&self.ru_stime) + session_ns(&children.ru_stime);
}

/* Of this image; getrusage knows only the largest of all passes. */
static uint64_t session_peak_bytes(void)
{
	int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	char text[2048], *p;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, "\nVmHWM:");
	return p ? strtoull(p + 7, NULL, 10) * 1024 : 0;
}

bool session_is_open(void)
{
	return session.recording;
}

static void session_append(enum spool_type type, const void *a, size_t na, const void *b, size_t nb)
{
	struct error err = {0};

	if (!session.recording || session.spool.failed)
		return;
	if (spool_append_checked(&session.spool, type, a, na, b, nb, &err))
		say("nothing more is recorded because %s", err.message);
}

void session_note(uint32_t kind, const char *fmt, ...)
{
	struct spool_note note = {.pass = session.pass, .kind = kind};
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(text) - 1)
		n = (int)sizeof(text) - 1;
	if (n > 0)
		session_append(SPOOL_NOTE, &note, sizeof(note), text, (size_t)n);
}

/* ---- begin ---- */

/* Takes over what the last carry record of this pass says. */
static int session_take_record(void *context, const struct spool_record *record, struct error *err)
{
	const struct spool_carry *carry = record->payload;
	const struct spool_pass_begin *begin = record->payload;

	(void)context;
	(void)err;
	if (record->type == SPOOL_PASS_BEGIN && begin->pass == session.pass)
		session.begin_ns = begin->time_ns;
	if (record->type != SPOOL_CARRY || carry->pass != session.pass ||
	    carry->n > session.plan.passes[session.pass - 1].n_counters)
		return 0;
	session.user_ns = carry->user_begin_ns;
	session.system_ns = carry->system_begin_ns;
	session.base_enabled_ns = carry->enabled_ns;
	session.base_running_ns = carry->running_ns;
	session.n_base = carry->n;
	memcpy(session.base, carry + 1, carry->n * sizeof(*session.base));
	session.is_carried = carry->n > 0;
	return 0;
}

static int session_open_spool(const struct session_start *start, bool create, struct error *err)
{
	struct spool_header h = {.rank = start->rank,
				 .size = start->size,
				 .local_rank = start->local_rank,
				 .pid = getpid(),
				 .start_ns = session_now(CLOCK_REALTIME)};
	int rc;

	if (!create)
		return spool_resume(&session.spool, start->paths->spool, start->state->launch,
				    session_take_record, NULL, err);
	if (collection_id(session.plan.hash, start->argv, "", h.collection))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	memcpy(h.launch, start->state->launch, sizeof(h.launch));
	memcpy(h.plan_hash, session.plan.hash, sizeof(h.plan_hash));
	snprintf(h.host, sizeof(h.host), "%s", start->host);
	rc = spool_create(&session.spool, start->paths->spool, &h, err);
	return rc;
}

static void session_raise_fd(int *fd, int least)
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

/* Out of the way: a shell that says `exec 3>file` would otherwise close one of ours. */
static int session_least_fd(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < 1024)
		return limit.rlim_cur > 128 ? (int)limit.rlim_cur - 128 : 0;
	return 900;
}

static void session_raise_fds(void)
{
	int least = session_least_fd();

	for (uint32_t i = 0; i < session.perf.n_events; i++)
		session_raise_fd(&session.perf.events[i].fd, least);
	session_raise_fd(&session.perf.reference_fd, least);
	session_raise_fd(&session.perf.tracefs, least);
}

static void session_record_begin(const struct session_start *start)
{
	/* Pass 0: the program's own execution, with passes in it. */
	struct spool_pass_begin begin = {.pass = session.range ? 0 : session.pass,
					 .passes = start->state->passes,
					 .pid = (uint32_t)getpid(),
					 .attempt = 1};
	struct spool_carry carry = {.pass = session.pass};

	if (session.range)
		carry.pass = 0;
	session_cpu_time(&session.user_ns, &session.system_ns);
	session.begin_ns = begin.time_ns = session_now(CLOCK_MONOTONIC);
	carry.user_begin_ns = session.user_ns;
	carry.system_begin_ns = session.system_ns;
	session_append(SPOOL_PASS_BEGIN, &begin, sizeof(begin), "process", strlen("process"));
	/* Without counts: the begin times, should this image be replaced without a word. */
	session_append(SPOOL_CARRY, &carry, sizeof(carry), NULL, 0);
}

static int session_append_region(void *data, enum spool_type type, const void *a, size_t na,
				 const void *b, size_t nb, struct error *err)
{
	(void)data;
	session_append(type, a, na, b, nb);
	return session.spool.failed ? error_set(err, RC_IO, "the spool cannot grow") : 0;
}

static const void *session_spool_map(void)
{
	return session.spool.map;
}

/* Regions of the program, if it marks any. They are of use to no image that follows an exec. */
static void session_open_regions(void)
{
	struct region_options options = {.mode = session.range ? REGION_RANGE : REGION_LIVE,
					 .plan = &session.plan,
					 .pass = session.range ? 0 : session.pass,
					 .process = session.range ? NULL : &session.perf,
					 .append = session_append_region,
					 .own_map = session_spool_map,
					 .own_map_size = SPOOL_LOG_AT,
					 .least_fd = session_least_fd()};
	struct error err = {0};

	if (region_open(&options, &err))
		session_note(SPOOL_NOTE_DECLINED, "regions are not counted: %s", err.message);
}

int session_count(const struct session_start *start, struct error *err)
{
	int rc;

	if (session.is_first)
		session_record_begin(start);
	if (session.range) {
		session_open_regions();
		return 0;
	}
	rc = perf_device_open(&session.perf, &session.plan, session.pass, getpid(), PERF_INHERIT,
			      err);
	if (rc)
		return rc;
	session.counting = true;
	session_raise_fds();
	rc = perf_device_enable(&session.perf, err);
	if (!rc && perf_device_needs_addresses(&session.plan, session.pass)) {
		struct error inner = {0};

		if (perf_device_open_addresses(&session.perf, &inner))
			session_note(SPOOL_NOTE_DECLINED, "%s", inner.message);
		session_raise_fds();
	}
	if (!rc)
		session_open_regions();
	return rc;
}

int session_open(const struct session_start *start, struct error *err)
{
	const struct state *s = start->state;
	uint32_t n;
	int rc;

	session.paths = start->paths;
	session.pass = s->pass;
	session.range = s->range;
	session.is_first = s->phase == STATE_BEGIN;
	session.spool.fd = -1;
	rc = plan_read_file(&session.plan, start->paths->plan, err);
	if (rc)
		return rc;
	if (session.plan.n_passes != s->passes)
		return error_set(err, RC_MISMATCH, "'%s' has %u passes instead of %u",
				 start->paths->plan, session.plan.n_passes, s->passes);
	n = session.plan.passes[s->pass - 1].n_counters;
	session.samples = calloc(n ? n : 1, sizeof(*session.samples));
	session.base = calloc(n ? n : 1, sizeof(*session.base));
	if (!session.samples || !session.base)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = session_open_spool(start, session.is_first && (s->pass == 1 || !s->replay), err);
	session.recording = !rc;
	return rc;
}

/* ---- end ---- */

/* A program may close descriptors it does not know, and get the same number for a file of its own.
 */
static bool session_owns_event(int fd)
{
	char path[40], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	return !strcmp(target, "anon_inode:[perf_event]");
}

static struct spool_sample *session_find(struct spool_sample *samples, uint32_t n, uint32_t counter)
{
	for (uint32_t i = 0; i < n; i++)
		if (samples[i].counter == counter)
			return &samples[i];
	return NULL;
}

/* Breakpoints: an image that does not map their object cannot execute it, and adds nothing. */
static bool session_is_late(uint32_t counter)
{
	for (uint32_t i = 0; i < session.perf.n_events; i++)
		if (session.perf.events[i].counter == counter)
			return session.perf.events[i].late;
	return false;
}

/* What this image counted plus what its predecessors did; n_out samples in session.samples. */
static void session_read(uint32_t *n_out, uint64_t *enabled_ns, uint64_t *running_ns)
{
	const struct plan_pass *pass = &session.plan.passes[session.pass - 1];
	struct error err = {0};
	uint32_t n = 0, lost = 0;

	*enabled_ns = *running_ns = 0;
	for (uint32_t i = 0; session.counting && i < session.perf.n_events; i++) {
		struct perf_device_event *e = &session.perf.events[i];

		if (e->fd >= 0 && !session_owns_event(e->fd)) {
			e->fd = -1;
			e->status = SAMPLE_NOT_COLLECTED;
			lost++;
		}
	}
	if (session.counting && session.perf.reference_fd >= 0 &&
	    !session_owns_event(session.perf.reference_fd))
		session.perf.reference_fd = -1;
	if (lost)
		session_note(
			SPOOL_NOTE_DECLINED,
			"the program closed the descriptors of %u counters, so they have no value",
			lost);
	if (session.counting &&
	    perf_device_read(&session.perf, session.samples, &n, enabled_ns, running_ns, &err)) {
		session_note(SPOOL_NOTE_DECLINED, "%s", err.message);
		n = 0;
	}
	for (uint32_t i = 0; i < pass->n_counters && n < pass->n_counters; i++)
		if (!session_find(session.samples, n, pass->counters[i]))
			session.samples[n++] =
				(struct spool_sample){.counter = pass->counters[i],
						      .instance = SPOOL_INSTANCE_ALL,
						      .status = SAMPLE_NOT_COLLECTED};
	for (uint32_t i = 0; i < session.n_base; i++) {
		struct spool_sample *b = &session.base[i];
		struct spool_sample *s = session_find(session.samples, n, b->counter);

		if (!s || (b->status == SAMPLE_NOT_COLLECTED && session_is_late(b->counter)))
			continue;
		if (s->status == SAMPLE_NOT_COLLECTED && session_is_late(b->counter)) {
			*s = *b;
			continue;
		}
		if (s->status == SAMPLE_OK)
			s->status = b->status;
		if (s->status == SAMPLE_NOT_COLLECTED)
			s->value.u64 = 0;
		else if (s->kind == SAMPLE_F64)
			s->value.f64 += b->value.f64;
		else
			s->value.u64 += b->value.u64;
	}
	*enabled_ns += session.base_enabled_ns;
	*running_ns += session.base_running_ns;
	*n_out = n;
}

void session_carry(void)
{
	struct spool_carry carry = {.pass = session.pass,
				    .user_begin_ns = session.user_ns,
				    .system_begin_ns = session.system_ns};

	if (!session.recording)
		return;
	region_close();
	if (session.range)
		return;
	session_read(&carry.n, &carry.enabled_ns, &carry.running_ns);
	session_append(SPOOL_CARRY, &carry, sizeof(carry), session.samples,
		       carry.n * sizeof(*session.samples));
}

void session_end(int exit_code)
{
	struct spool_pass_end end = {.pass = session.range ? 0 : session.pass,
				     .exit_code = exit_code};
	struct spool_dispatch process = {.unit = SPOOL_UNIT_PROCESS, .pass = session.pass};
	struct spool_samples samples = {.pass = session.pass};
	struct error err = {0};

	if (!session.recording)
		return;
	region_close();
	if (session.counting)
		perf_device_disable(&session.perf, &err);
	end.time_ns = session_now(CLOCK_MONOTONIC);
	session_read(&samples.n, &samples.enabled_ns, &samples.running_ns);
	session_cpu_time(&end.user_ns, &end.system_ns);
	end.user_ns -= session.user_ns;
	end.system_ns -= session.system_ns;
	end.wall_ns = end.time_ns - session.begin_ns;
	end.max_rss_bytes = session_peak_bytes();
	process.begin_ns = session.begin_ns;
	process.end_ns = end.time_ns;
	for (uint32_t i = 0; i < samples.n; i++)
		if (session.samples[i].status == SAMPLE_NOT_COLLECTED && session.perf.why[0]) {
			session_note(SPOOL_NOTE_DECLINED, "%s", session.perf.why);
			break;
		}
	if (!session.range) {
		session_append(SPOOL_DISPATCH, &process, sizeof(process), NULL, 0);
		session_append(SPOOL_SAMPLES, &samples, sizeof(samples), session.samples,
			       samples.n * sizeof(*session.samples));
	}
	session_append(SPOOL_PASS_END, &end, sizeof(end), NULL, 0);
	/* Uprobes stay in the kernel until they are taken out. It frees memory, so not without
	 * need. */
	for (uint32_t i = 0; session.counting && i < session.perf.n_events; i++)
		if (session.perf.events[i].registered) {
			perf_device_close(&session.perf);
			session.counting = false;
		}
}

void session_close(void)
{
	struct error err = {0};

	if (session.recording && spool_close(&session.spool, &err))
		say("%s", err.message);
	session.recording = false;
}

int session_reopen(struct error *err)
{
	int rc = spool_resume(&session.spool, session.paths->spool, NULL, NULL, NULL, err);

	session.recording = !rc;
	return rc;
}

void session_abandon(void)
{
	struct perf_device *d = &session.perf;

	region_abandon();
	for (uint32_t i = 0; session.counting && i < d->n_events; i++)
		if (d->events[i].fd >= 0 && session_owns_event(d->events[i].fd))
			close(d->events[i].fd);
	if (session.counting && d->reference_fd >= 0 && session_owns_event(d->reference_fd))
		close(d->reference_fd);
	/* tracefs, a directory, goes with the next exec; nobody waits for its end. */
	session.counting = false;
	if (session.recording)
		spool_abandon(&session.spool);
	session.recording = false;
}
