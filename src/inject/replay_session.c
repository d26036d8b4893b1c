/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, plan, engine and spool of a process whose dispatches are replayed in place. */
#include "inject/replay_session.h"

#include "base/pattern.h"
#include "inject/guard.h"
#include "inject/regions.h"
#include "inject/replay_runtimes.h"
#include "inject/say.h"
#include "inject/state.h"
#include "runtime/region/region.h"
#include "wire/identity.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define REPLAY_SPOOLS_MAX 1000 /* images of one process that each had a device */

_Static_assert((int)REPLAY_SETTINGS_KERNEL == (int)REPLAY_MODE_KERNEL &&
		       (int)REPLAY_SETTINGS_WINDOW == (int)REPLAY_MODE_WINDOW &&
		       (int)REPLAY_SETTINGS_RANGE == (int)REPLAY_MODE_RANGE &&
		       (int)REPLAY_SETTINGS_NONE == (int)REPLAY_MODE_NONE &&
		       (int)REPLAY_SETTINGS_ALWAYS == (int)REPLAY_VERIFY_ALWAYS &&
		       (int)REPLAY_SETTINGS_NEVER == (int)REPLAY_VERIFY_NEVER,
	       "the same numbers on both sides");

enum use {
	USE_NOT_YET,
	USE_YES,
	USE_OVER, /* ended, failed, or a child of a process that had a device */
};

static struct {
	bool started;
	struct arena arena;
	struct replay_settings settings;
	struct pattern *patterns, *ranges;
	struct plan plan;
	struct replay *engine;
	struct identity identity;
	char *directory;
	pthread_mutex_t use_lock;    /* the first use; taken before append_lock */
	pthread_mutex_t append_lock; /* the spool */
	_Atomic(int) use;            /* enum use */
	atomic_flag ending;
	_Atomic(uint32_t) marking; /* threads in replay_session_mark */
	_Atomic(bool) marks_over;
	int pid; /* of the process that uses it */
	struct spool_writer spool;
	bool failed; /* an append failed, and it was said */
	uint64_t begin_ns;
	int quick_status;
} session = {.use_lock = PTHREAD_MUTEX_INITIALIZER,
	     .append_lock = PTHREAD_MUTEX_INITIALIZER,
	     .ending = ATOMIC_FLAG_INIT,
	     .spool = {.fd = -1}};

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct replay *replay_session_engine(void)
{
	return session.engine;
}
const struct plan *replay_session_plan(void)
{
	return &session.plan;
}
const struct replay_settings *replay_session_settings(void)
{
	return &session.settings;
}
bool replay_session_wants_marks(void)
{
	return session.engine &&
	       (session.settings.mode == REPLAY_SETTINGS_RANGE || session.settings.n_ranges);
}
const void *replay_session_map(void)
{
	return atomic_load(&session.use) == USE_YES ? session.spool.map : NULL;
}

/* ---- records ---- */

int replay_session_append(void *unused, enum spool_type type, const void *a, size_t na,
			  const void *b, size_t nb, struct error *err)
{
	struct error why = {0};
	struct guard guard;
	bool guarded;
	int rc;

	(void)unused;
	if (!err) /* said below, whoever asked */
		err = &why;
	if (atomic_load(&session.use) != USE_YES || region_is_copy())
		return error_set(err, RC_END, "the spool of this process is not open");
	pthread_mutex_lock(&session.append_lock);
	if (session.spool.fd < 0) {
		pthread_mutex_unlock(&session.append_lock);
		return error_set(err, RC_END, "the spool of this process is closed");
	}
	/* Only a full window is written with a system call that can raise a signal. */
	guarded = (size_t)(session.spool.end - session.spool.at) < na + nb + 64;
	if (guarded)
		guard_enter(&guard);
	rc = spool_append_checked(&session.spool, type, a, na, b, nb, err);
	if (guarded)
		guard_leave(&guard);
	if (rc && rc != RC_INVALID && !session.failed) {
		session.failed = true;
		say("nothing more is recorded: %s", err->message);
	}
	pthread_mutex_unlock(&session.append_lock);
	return rc;
}

static uint64_t time_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

/* System calls and memory that is there only. */
static void record_end(int status)
{
	struct spool_pass_end end = {.exit_code = status & 0xff, .time_ns = now(CLOCK_MONOTONIC)};
	struct rusage usage = {0};
	struct error err = {0};

	getrusage(RUSAGE_SELF, &usage);
	end.wall_ns = end.time_ns - session.begin_ns;
	end.user_ns = time_ns(&usage.ru_utime);
	end.system_ns = time_ns(&usage.ru_stime);
	end.max_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
	replay_session_append(NULL, SPOOL_PASS_END, &end, sizeof(end), NULL, 0, &err);
}

/* ---- the end ---- */

static void close_spool(void)
{
	struct error err = {0};
	struct guard guard;

	pthread_mutex_lock(&session.append_lock);
	guard_enter(&guard);
	if (session.spool.fd >= 0 && spool_close(&session.spool, &err) && !session.failed)
		say("%s", err.message);
	guard_leave(&guard);
	session.spool.fd = -1;
	atomic_store(&session.use, USE_OVER);
	pthread_mutex_unlock(&session.append_lock);
}

void replay_session_mark(const char *name, bool begins)
{
	if (!replay_session_takes_range(name))
		return;
	atomic_fetch_add(&session.marking, 1);
	if (session.engine && !atomic_load(&session.marks_over) &&
	    (atomic_load(&session.use) != USE_YES || session.pid == getpid())) {
		if (begins)
			replay_range_begin(session.engine, name);
		else
			replay_range_end(session.engine, name);
	}
	atomic_fetch_sub(&session.marking, 1);
}

/* No thread is in a mark any more; false: one stays, which may be waiting for a device. */
static bool end_marks(void)
{
	struct timespec pause = {0, 1000000};

	atomic_store(&session.marks_over, true);
	for (int i = 0; atomic_load(&session.marking) && i < 100; i++)
		nanosleep(&pause, NULL);
	return !atomic_load(&session.marking);
}

/* A normal end: the program's own handlers that were registered after the first device came up have
 * run, the vendor's library still works. */
static void end(int status)
{
	struct replay *engine = session.engine;
	bool marks_left;

	if (atomic_load(&session.use) != USE_YES || session.pid != getpid() ||
	    atomic_flag_test_and_set(&session.ending))
		return;
	region_close();
	marks_left = end_marks();
	/* A thread that will not leave the engine keeps it: what it holds is lost with it. */
	if (replay_runtimes_detach() && marks_left) {
		session.engine = NULL;
		replay_close(engine);
		replay_runtimes_release();
	}
	record_end(status);
	close_spool();
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	end(status);
}

static void at_quick_exit_(void)
{
	end(session.quick_status);
}

void replay_session_set_quick_status(int status)
{
	if (session.started && session.pid == getpid())
		session.quick_status = status;
}

void replay_session_stop(int status)
{
	if (!session.started || session.pid != getpid() || atomic_load(&session.use) != USE_YES ||
	    atomic_flag_test_and_set(&session.ending))
		return;
	/* Somebody writes now, maybe the thread that this handler interrupts. */
	if (pthread_mutex_trylock(&session.append_lock))
		return;
	pthread_mutex_unlock(&session.append_lock);
	region_close();
	record_end(status);
}

static void forked(void)
{
	region_abandon(); /* counted by its parent */
	if (atomic_load(&session.use) == USE_NOT_YET)
		return; /* the child may have a device of its own */
	atomic_store(&session.use, USE_OVER);
	if (!session.engine)
		return;
	replay_runtimes_abandon();
	replay_abandon(session.engine);
	session.engine = NULL;
	if (session.spool.fd >= 0)
		spool_abandon(&session.spool);
	session.spool.fd = -1;
}

/* ---- the first device ---- */

static int name_spool(char *path, size_t size, int image)
{
	char rank[16] = "-", more[16] = "";
	int n;

	if (session.identity.rank != SPOOL_RANK_NONE)
		snprintf(rank, sizeof(rank), "%d", session.identity.rank);
	if (image > 1)
		snprintf(more, sizeof(more), "-%d", image);
	n = snprintf(path, size, "%s/spool/%s.%s.%s.%d%s.rts", session.directory,
		     session.settings.launch, session.identity.host, rank, (int)getpid(), more);
	return n < (int)size ? 0 : RC_INVALID;
}

static int open_spool(struct error *err)
{
	struct spool_header h = {.rank = session.identity.rank,
				 .size = session.identity.size,
				 .local_rank = session.identity.local_rank,
				 .pid = getpid(),
				 .start_ns = now(CLOCK_REALTIME)};
	char path[4352];
	int rc = RC_EXISTS;

	memcpy(h.collection, session.settings.collection, sizeof(h.collection));
	memcpy(h.launch, session.settings.launch, sizeof(h.launch));
	memcpy(h.plan_hash, session.plan.hash, sizeof(h.plan_hash));
	memcpy(h.host, session.identity.host, sizeof(h.host));
	/* The same process before an exec may have one. */
	for (int image = 1; rc == RC_EXISTS && image <= REPLAY_SPOOLS_MAX; image++) {
		*err = (struct error){0};
		if (name_spool(path, sizeof(path), image))
			return error_set(err, RC_INVALID,
					 "the path of the output directory is too long");
		rc = spool_create(&session.spool, path, &h, err);
	}
	return rc;
}

static int begin(struct error *err)
{
	struct spool_pass_begin first = {
		.passes = session.plan.n_passes, .pid = (uint32_t)getpid(), .attempt = 1};
	static bool watched;
	struct guard guard;
	int rc;

	guard_enter(&guard);
	rc = open_spool(err);
	guard_leave(&guard);
	if (rc)
		return rc;
	session.pid = getpid();
	session.begin_ns = first.time_ns = now(CLOCK_MONOTONIC);
	atomic_store(&session.use, USE_YES);
	rc = replay_session_append(NULL, SPOOL_PASS_BEGIN, &first, sizeof(first), "process",
				   strlen("process"), err);
	/* Now, not at the start: handlers run in reverse order, and this one has to be before those
	 * by which the vendor's library goes away. */
	if (!rc && !watched) {
		watched = true;
		on_exit(at_exit, NULL);
		at_quick_exit(at_quick_exit_);
	}
	return rc;
}

bool replay_session_use(void)
{
	struct error err = {0};

	if (!session.engine)
		return false;
	if (atomic_load(&session.use) == USE_NOT_YET) {
		pthread_mutex_lock(&session.use_lock);
		if (atomic_load(&session.use) == USE_NOT_YET && begin(&err)) {
			say("%s; dispatches run uncounted", err.message);
			close_spool();
		}
		pthread_mutex_unlock(&session.use_lock);
	}
	return atomic_load(&session.use) == USE_YES;
}

/* ---- the start ---- */

/* As in a report: one that includes has to match, when there is any, and none that excludes. */
static bool match_name(const struct pattern *patterns, size_t n, const char *name)
{
	bool any_include = false, included = false;

	for (size_t i = 0; i < n; i++) {
		const struct pattern *p = &patterns[i];
		bool matches = pattern_matches(p, name);

		/* pattern_matches already turns an excluding pattern around. */
		if (p->exclude && !matches)
			return false;
		if (!p->exclude) {
			any_include = true;
			included = included || matches;
		}
	}
	return included || !any_include;
}

static bool match_kernel(void *data, const char *kernel)
{
	(void)data;
	return match_name(session.patterns, session.settings.n_patterns, kernel);
}

bool replay_session_takes_range(const char *name)
{
	return match_name(session.ranges, session.settings.n_ranges, name ? name : "");
}

static int open_engine(struct error *err)
{
	const struct replay_settings *s = &session.settings;
	struct replay_options o = {
		.mode = (enum replay_mode)s->mode,
		.verify = (enum replay_verify)s->verify,
		.window = s->window,
		.max_snapshot = s->max_snapshot,
		.repeat = s->repeat,
		.match = s->n_patterns ? match_kernel : NULL,
		.only_in_ranges = s->n_ranges != 0,
		.skip = s->skip,
		.count = s->count,
		.random = s->random,
		.seed = s->seed,
		.offset = s->offset,
		.until = s->until,
		.only_pass = s->pass,
		.flush = s->cache == REPLAY_SETTINGS_FLUSH,
		.own = regions_own,
	};

	return replay_open(&session.engine, &o, &session.plan, replay_session_append, NULL, err);
}

static int read_patterns(struct pattern **patterns_out, const char *const *texts, size_t n,
			 struct error *err)
{
	int rc = 0;

	*patterns_out = arena_array(&session.arena, n + 1, sizeof(**patterns_out));
	if (!*patterns_out)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (size_t i = 0; !rc && i < n; i++)
		rc = pattern_init(&(*patterns_out)[i], texts[i], err);
	return rc;
}

static int set_up(char *const *envp, const char *text, struct error *err)
{
	const char *plan = state_variable(envp, "RETALLY_PLAN");
	const char *directory = state_variable(envp, "RETALLY_OUT");
	int rc = replay_settings_parse(&session.settings, &session.arena, text, err);

	if (rc)
		return rc;
	if (!plan || !*plan || !directory || *directory != '/')
		return error_set(err, RC_INVALID,
				 REPLAY_SETTINGS_VARIABLE
				 " needs RETALLY_PLAN and the absolute path RETALLY_OUT beside it");
	session.directory = arena_strdup(&session.arena, directory);
	if (!session.directory)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = read_patterns(&session.patterns, session.settings.patterns,
			   session.settings.n_patterns, err);
	if (!rc)
		rc = read_patterns(&session.ranges, session.settings.ranges,
				   session.settings.n_ranges, err);
	if (!rc)
		rc = plan_read_file(&session.plan, plan, err);
	if (!rc)
		rc = open_engine(err);
	if (!rc)
		rc = replay_runtimes_attach(
			session.engine, state_variable(envp, REPLAY_SETTINGS_REGIONS_ONLY) != NULL,
			err);
	return rc;
}

static const char *get(void *context, const char *name)
{
	return state_variable(context, name);
}

bool replay_session_start(char *const *envp, bool is_launcher)
{
	const char *text = state_variable(envp, REPLAY_SETTINGS_VARIABLE);
	struct identity here = {0};
	struct error err = {0};

	if (!text || strncmp(text, "mode=", strlen("mode=")) != 0)
		return false;
	if (is_launcher)
		return true;
	identity_read(&here); /* for the host; libc may not have the environment yet */
	identity_read_from(&session.identity, get, (void *)(uintptr_t)envp);
	memcpy(session.identity.host, here.host, sizeof(here.host));
	if (set_up(envp, text, &err)) {
		say("%s; dispatches run uncounted", err.message);
		session.engine = NULL;
		return true;
	}
	session.started = true;
	pthread_atfork(NULL, NULL, forked);
	return true;
}
