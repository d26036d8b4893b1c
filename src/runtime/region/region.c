/* SPDX-License-Identifier: Apache-2.0 */
/* The marks: which region begins and ends where, in each thread, and what it counted. */
#include "runtime/region/region.h"

#include "runtime/region/region_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct region_state region;
static __thread struct region_thread *self;

uint64_t region_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const struct plan_pass *region_pass(uint32_t pass)
{
	return &region.options.plan->passes[pass - 1];
}

size_t region_shared_size(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (sizeof(struct region_shared) + page - 1) / page * page;
}

/* Memory of our own: the program's allocator goes on as it would without us. */
static void *map_memory(size_t size, int kind)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* ---- threads ---- */

static void thread_ended(void *data)
{
	struct region_thread *t = data;
	bool listed = region_take_lock();

	self = NULL;
	for (struct region_thread **at = &region.threads; listed && *at; at = &(*at)->next)
		if (*at == t) {
			*at = t->next;
			break;
		}
	if (!listed) /* never seen; then it stays */
		return;
	region_give_lock();
	region_set_close(&t->set);
	munmap(t, t->size);
}

struct region_thread *region_self(void)
{
	return self;
}

static struct region_thread *thread_make(void)
{
	uint32_t room = region.room;
	size_t readings = (size_t)room * (REGION_DEPTH_MAX + 1) * sizeof(struct region_reading);
	size_t size = sizeof(struct region_thread) + readings + room * sizeof(struct spool_sample);
	struct region_thread *t = map_memory(size, MAP_PRIVATE);

	if (!t)
		return NULL;
	t->size = size;
	t->room = room;
	t->end = (struct region_reading *)(t + 1);
	t->begin = t->end + room;
	t->samples = (struct spool_sample *)(t->begin + (size_t)room * REGION_DEPTH_MAX);
	t->is_first = (pid_t)syscall(SYS_gettid) == region.pid;
	if (!t->is_first) {
		if (!region.has_key || !region_take_lock()) {
			munmap(t, size);
			return NULL;
		}
		t->next = region.threads;
		region.threads = t;
		region_give_lock();
		t->number = __atomic_add_fetch(&region.next_thread, 1, __ATOMIC_RELAXED);
		pthread_setspecific(region.key, t);
	}
	self = t;
	return t;
}

/* The counters of a thread that is not the first. */
static struct region_set *thread_set(struct region_thread *t, uint32_t pass)
{
	struct error err = {0};

	if (t->set.pass == pass)
		return &t->set;
	region_set_close(&t->set);
	if (region_set_open(&t->set, region.options.plan, pass, 0, region.options.least_fd, 0,
			    &err))
		return NULL;
	region_set_switch(&t->set, true);
	return &t->set;
}

/* ---- begin and end ---- */

/* Lets a mark in. errno is the program's from here to leave. */
static struct region_thread *enter(int *saved)
{
	struct region_thread *t = self;

	*saved = errno;
	/* The pid: a child of the program shares our state, one of vfork even our memory. */
	if (!__atomic_load_n(&region.active, __ATOMIC_ACQUIRE) || getpid() != region.pid)
		return NULL;
	if (!__atomic_load_n(&region.used, __ATOMIC_ACQUIRE)) {
		if (region.options.use && !region.options.use()) {
			__atomic_store_n(&region.active, false, __ATOMIC_RELEASE);
			return NULL;
		}
		__atomic_store_n(&region.used, true, __ATOMIC_RELEASE);
	}
	__atomic_add_fetch(&region.inside, 1, __ATOMIC_SEQ_CST);
	if (!t)
		t = thread_make();
	if (t && t->busy) {
		__atomic_add_fetch(&region.interrupted, 1, __ATOMIC_RELAXED);
		t = NULL;
	}
	if (!t || !__atomic_load_n(&region.active, __ATOMIC_SEQ_CST)) {
		__atomic_sub_fetch(&region.inside, 1, __ATOMIC_RELEASE);
		errno = *saved;
		return NULL;
	}
	t->busy = true;
	return t;
}

static void leave(struct region_thread *t, int saved)
{
	t->busy = false;
	__atomic_sub_fetch(&region.inside, 1, __ATOMIC_RELEASE);
	errno = saved;
}

static void switch_off(struct region_thread *t, struct region_entry *e)
{
	if (region.options.mode == REGION_TURNS)
		region_turn_over(t, e);
	else if (e->switches && e->set)
		region_set_switch(e->set, false);
	e->switches = false;
}

/* Entries from `depth` on were left without an end. */
static void drop_to(struct region_thread *t, uint32_t depth)
{
	while (t->depth > depth) {
		struct region_entry *e = &t->open[--t->depth];

		if (e->is_child)
			region_child_exit(REGION_CHILD_LEFT);
		switch_off(t, e);
		__atomic_add_fetch(&region.left[e->kernel], 1, __ATOMIC_RELAXED);
	}
}

/* A region of the same name that began at the same place with a frame no deeper than this one
 * cannot be open any more: an exception or longjmp has left it. (Recursion is deeper.) */
static void drop_left(struct region_thread *t, uint32_t kernel, uintptr_t site, uintptr_t frame)
{
	for (uint32_t i = 0; i < t->depth; i++)
		if (t->open[i].kernel == kernel && t->open[i].site == site &&
		    t->open[i].frame <= frame) {
			t->overflow = 0;
			drop_to(t, i);
			return;
		}
}

/* Which counters: those of the region around it, or what the mode says. */
static void choose_counters(struct region_thread *t, struct region_entry *e)
{
	struct region_info *info = &region.info[e->kernel - 1];
	uint32_t passes = region.options.plan->n_passes;

	if (t->depth > 1) {
		e->set = t->open[t->depth - 2].set;
		e->pass = t->open[t->depth - 2].pass;
		e->is_replayed = t->open[t->depth - 2].is_replayed;
		return;
	}
	if (region.in_child) /* a thread of the region: its counters are in the region's */
		return;
	if (region.options.mode == REGION_NOTHING) {
		region_decline(e->kernel, SPOOL_INSTEAD_NOTHING, region.options.why);
	} else if (region.options.mode == REGION_TURNS) {
		region_turn(t, e);
	} else if (region.options.mode == REGION_LIVE) {
		e->pass = region.options.pass;
		e->set = t->is_first ? &region.process : thread_set(t, e->pass);
	} else if (t->is_first) {
		region_replay(e);
	} else {
		uint64_t n = __atomic_fetch_add(&info->instances, 1, __ATOMIC_RELAXED);

		e->pass = (uint32_t)(n % passes) + 1;
		e->set = thread_set(t, e->pass);
		region_decline(e->kernel, SPOOL_INSTEAD_ONE_PASS,
			       "it is not in the program's first thread");
	}
	if (!e->is_child && e->set && (!e->set->pass || !region_set_is_ours(e->set)))
		e->set = NULL;
}

static struct region_entry *begin(struct region_thread *t, const char *name, uintptr_t site,
				  uintptr_t frame)
{
	struct region_entry *e;
	uint32_t kernel = 0;

	if (region_take_lock()) {
		kernel = region_find_name(name, true);
		region_give_lock();
	}
	drop_left(t, kernel, site, frame);
	if (__atomic_load_n(&region.stopped, __ATOMIC_RELAXED))
		return NULL;
	if (t->overflow || t->depth == REGION_DEPTH_MAX) {
		t->overflow++;
		__atomic_add_fetch(&region.too_deep, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	e = &t->open[t->depth++];
	*e = (struct region_entry){.kernel = kernel, .site = site, .frame = frame};
	if (!kernel) {
		__atomic_add_fetch(&region.too_many, 1, __ATOMIC_RELAXED);
		return e;
	}
	/* Before the passes: the same number in all of them. */
	e->ordinal = __atomic_fetch_add(&region.next_ordinal, 1, __ATOMIC_RELAXED);
	choose_counters(t, e);
	return e;
}

void region_begin(const char *name, const void *site, const void *frame)
{
	int saved;
	struct region_thread *t = enter(&saved);
	struct region_entry *e;

	if (!t)
		return;
	e = begin(t, name ? name : "(null)", (uintptr_t)site, (uintptr_t)frame);
	if (e) {
		e->begin_ns = region_now();
		e->paused_ns = region_turns_paused(t);
		if (e->set)
			region_set_read(e->set, t->begin + (size_t)(e - t->open) * t->room);
	}
	leave(t, saved);
}

static void finish(struct region_thread *t, struct region_entry *e, uint64_t end_ns)
{
	struct region_result r = {.ordinal = e->ordinal,
				  .begin_ns = e->begin_ns,
				  .end_ns = end_ns,
				  .kernel = e->kernel};
	uint64_t paused_ns;

	if (!e->set)
		return;
	region_set_delta(e->set, t->begin + (size_t)(e - t->open) * t->room, t->end, t->samples,
			 &r.n, &r.enabled_ns, &r.running_ns);
	if (region.in_child) {
		region_log(&r, t->samples);
		if (e->is_child)
			region_child_exit(REGION_CHILD_DONE);
		return;
	}
	for (uint32_t i = 0; i < r.n && !region.why[0]; i++)
		if (t->samples[i].status == SAMPLE_NOT_COLLECTED && e->set->device->why[0])
			memcpy(region.why, e->set->device->why, sizeof(region.why) - 1);
	/* Our own work is no time of the region. */
	paused_ns = region_turns_paused(t);
	if (paused_ns > e->paused_ns)
		r.end_ns -= paused_ns - e->paused_ns;
	switch_off(t, e);
	if (__atomic_load_n(&region.unsure, __ATOMIC_RELAXED))
		return;
	__atomic_fetch_add(&region.info[e->kernel - 1].counted, 1, __ATOMIC_RELAXED);
	region_write(&r, t->samples, e->pass, t->number,
		     e->is_replayed ? SPOOL_DISPATCH_REPLAYED : 0);
	if (!(e - t->open) && t->is_first && region.options.mode == REGION_RANGE)
		region_replay_over(e, end_ns);
}

static void end(struct region_thread *t, const char *name, uint64_t end_ns)
{
	uint32_t kernel = 0, i = t->depth;

	if (t->overflow) {
		t->overflow--;
		return;
	}
	if (region_take_lock()) {
		kernel = region_find_name(name, false);
		region_give_lock();
	}
	while (i > 0 && t->open[i - 1].kernel != kernel)
		i--;
	if (!i) {
		if (!__atomic_load_n(&region.stopped, __ATOMIC_RELAXED))
			__atomic_add_fetch(&region.stray[kernel], 1, __ATOMIC_RELAXED);
		return;
	}
	drop_to(t, i);
	finish(t, &t->open[i - 1], end_ns);
	t->depth = i - 1;
}

void region_end(const char *name, const void *site, const void *frame)
{
	int saved;
	struct region_thread *t = enter(&saved);
	struct region_entry *top = t && t->depth ? &t->open[t->depth - 1] : NULL;

	(void)site;
	(void)frame;
	if (!t)
		return;
	/* First of all; the regions around this one have the same counters. */
	if (top && top->set) {
		if (region.in_child || region_set_is_ours(top->set))
			region_set_read(top->set, t->end);
		else
			memset(t->end, 0, t->room * sizeof(*t->end));
	}
	end(t, name ? name : "(null)", region_now());
	leave(t, saved);
}

/* ---- open and close ---- */

static int open_sets(const struct region_options *o, struct error *err)
{
	int rc = 0;

	if (o->mode == REGION_LIVE && o->process) {
		region_set_borrow(&region.process, o->process);
	} else if (o->mode == REGION_LIVE) {
		rc = region_set_open(&region.process, o->plan, o->pass, 0, o->least_fd, 0, err);
		if (!rc)
			region_set_switch(&region.process, true);
	} else if (o->mode == REGION_TURNS) {
		region.sets = map_memory(o->plan->n_passes * sizeof(*region.sets), MAP_PRIVATE);
		rc = region.sets ? region_turns_open(err)
				 : error_set(err, RC_NO_MEMORY, "out of memory");
	} else if (o->mode == REGION_RANGE) {
		region.sets = map_memory(o->plan->n_passes * sizeof(*region.sets), MAP_PRIVATE);
		if (!region.sets)
			return error_set(err, RC_NO_MEMORY, "out of memory");
		/* Breakpoints are few: those of a pass are placed when it runs. */
		for (uint32_t i = 1; !rc && i <= o->plan->n_passes; i++)
			if (!perf_device_needs_addresses(o->plan, i))
				rc = region_set_open(&region.sets[i - 1], o->plan, i, 0,
						     o->least_fd, 0, err);
	}
	return rc;
}

int region_open(const struct region_options *options, struct error *err)
{
	int rc;

	if (region.active)
		return error_set(err, RC_EXISTS, "regions are counted already");
	if (region.pid) /* opened and closed before */
		memset(&region, 0, sizeof(region));
	region.options = *options;
	if (!region.options.limit_ns)
		region.options.limit_ns = REGION_LIMIT_NS;
	if (!region.options.stall_ns)
		region.options.stall_ns = REGION_STALL_NS;
	region.pid = getpid();
	region.next_ordinal = REGION_FIRST_ORDINAL;
	for (uint32_t i = 0; i < options->plan->n_passes; i++)
		if (options->plan->passes[i].n_counters >= region.room)
			region.room = options->plan->passes[i].n_counters + 1;
	if (!region.room)
		region.room = 1;
	region.shared = map_memory(region_shared_size(), MAP_SHARED);
	if (!region.shared)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = open_sets(options, err);
	if (rc) {
		munmap(region.shared, region_shared_size());
		region.shared = NULL;
		return rc;
	}
	region.has_key = !pthread_key_create(&region.key, thread_ended);
	__atomic_store_n(&region.active, true, __ATOMIC_RELEASE);
	return 0;
}

bool region_is_open(void)
{
	return region.active && getpid() == region.pid;
}

bool region_stop(void)
{
	return region_is_open() && !region_is_copy() &&
	       !__atomic_exchange_n(&region.stopped, true, __ATOMIC_RELAXED);
}

bool region_is_copy(void)
{
	return region.in_child;
}

void region_close(void)
{
	struct timespec pause = {0, 1000000};

	if (!region_is_open() || region_is_copy())
		return;
	region_write_end();
	/* Nobody appends from here on. */
	if (region_take_lock()) {
		__atomic_store_n(&region.active, false, __ATOMIC_SEQ_CST);
		region_give_lock();
	}
	__atomic_store_n(&region.active, false, __ATOMIC_SEQ_CST);
	/* Whoever is in a mark goes on to read counters. When one stays (this is a signal handler
	 * over a mark), they are left to the end of the process. */
	for (int i = 0; __atomic_load_n(&region.inside, __ATOMIC_SEQ_CST) && i < 100; i++)
		nanosleep(&pause, NULL);
	if (__atomic_load_n(&region.inside, __ATOMIC_SEQ_CST))
		return;
	for (uint32_t i = 0; region.sets && i < region.options.plan->n_passes; i++)
		region_set_retire(&region.sets[i]);
	region_set_retire(&region.process);
	for (struct region_thread *t = region.threads; t; t = t->next)
		region_set_retire(&t->set);
}

void region_abandon(void)
{
	if (!region.active)
		return;
	region.active = false;
	for (uint32_t i = 0; region.sets && i < region.options.plan->n_passes; i++)
		region_set_abandon(&region.sets[i]);
	if (region.process.pass)
		region_set_abandon(&region.process);
	if (self)
		region_set_abandon(&self->set);
}
