/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions beside the replay of devices: each is counted once, as the program runs, in one pass;
 * passes take turns. While the engine is at work of its own the counters are off, so that a region
 * contains what the program did and not its repetitions.
 *
 * The counters of the first thread are inherited by all threads that start later, those of a device
 * as well. So they are off whichever thread replays. Those of another thread are off while that
 * thread itself replays, and if a device's threads were started in it, as those of the process are.
 */
#include "base/hash.h"
#include "runtime/region/region_internal.h"

#include <sys/stat.h>
#include <unistd.h>

static __thread uint32_t depth;   /* of region_pause in this thread */
static __thread bool process_off; /* and what it has to undo */
static __thread bool own_off;

static bool is_mode(void)
{
	return __atomic_load_n(&region.active, __ATOMIC_ACQUIRE) &&
	       region.options.mode == REGION_TURNS && getpid() == region.pid;
}

/* ---- pauses; with the lock ---- */

static void turn_off(struct region_pause *p, struct region_set *set)
{
	if (p->depth++)
		return;
	p->since = region_now();
	if (set)
		region_set_switch(set, false);
}

static void turn_on(struct region_pause *p, struct region_set *set)
{
	if (--p->depth)
		return;
	p->total_ns += region_now() - p->since;
	if (set)
		region_set_switch(set, true);
}

/* ---- counters ---- */

static int open_pass(struct region_set *set, uint32_t pass, struct error *err)
{
	return region_set_open(set, region.options.plan, pass, region.pid, region.options.least_fd,
			       PERF_GIVES_WAY, err);
}

int region_turns_open(struct error *err)
{
	const struct region_options *o = &region.options;
	int rc = 0;

	/* Breakpoints are few: those of a pass are placed when it runs. */
	for (uint32_t i = 1; !rc && i <= o->plan->n_passes; i++)
		if ((!o->pass || o->pass == i) && !perf_device_needs_addresses(o->plan, i))
			rc = open_pass(&region.sets[i - 1], i, err);
	return rc;
}

/* Threads that are there already are not counted by what is opened now. A directory has two links,
 * and one more for each one in it. */
static bool is_alone(void)
{
	struct stat st;

	return !stat("/proc/self/task", &st) && st.st_nlink <= 3;
}

/* The counters of the first thread in this pass. NULL: there are none, *why_out says why. */
static struct region_set *set_of(uint32_t pass, const char **why_out)
{
	struct region_set *set = &region.sets[pass - 1];
	struct error err = {0};

	*why_out = "the counters of its pass are gone";
	if (!set->pass && !is_alone()) {
		*why_out = "breakpoints of its pass are placed when it begins, and other threads "
			   "ran already, which would not be counted";
		return NULL;
	}
	if (!set->pass && open_pass(set, pass, &err))
		return NULL;
	return region_set_is_ours(set) ? set : NULL;
}

/* The counters of another thread. */
static struct region_set *set_of_thread(struct region_thread *t, uint32_t pass)
{
	struct error err = {0};

	if (t->set.pass == pass)
		return &t->set;
	if (!region_take_lock())
		return NULL;
	t->has_device = false;
	if (t->with_process) /* what the others will not find any more is over for it */
		turn_on(&t->pause, NULL);
	t->with_process = false;
	region_give_lock();
	region_set_close(&t->set);
	if (region_set_open(&t->set, region.options.plan, pass, 0, region.options.least_fd,
			    PERF_GIVES_WAY, &err))
		return NULL;
	region_set_switch(&t->set, true);
	return &t->set;
}

/* ---- turns ---- */

static uint32_t choose_pass(uint32_t kernel, uint64_t n)
{
	const struct region_options *o = &region.options;
	uint64_t key[3] = {o->seed, region.shared->names[kernel - 1].id, n};

	if (o->pass)
		return o->pass;
	n = o->random ? hash64(key, sizeof(key)) : o->offset + n;
	return (uint32_t)(n % o->plan->n_passes) + 1;
}

void region_turn(struct region_thread *t, struct region_entry *e)
{
	const char *why = "the counters of its thread cannot be opened";
	uint64_t n = __atomic_fetch_add(&region.info[e->kernel - 1].instances, 1, __ATOMIC_RELAXED);

	e->pass = choose_pass(e->kernel, n);
	e->set = t->is_first ? set_of(e->pass, &why) : set_of_thread(t, e->pass);
	if (!e->set) {
		region_decline(e->kernel, SPOOL_INSTEAD_NOTHING, why);
		return;
	}
	if (region.options.why)
		region_decline(e->kernel, SPOOL_INSTEAD_ONE_PASS, region.options.why);
	if (!t->is_first)
		return;
	if (!region_take_lock()) {
		e->set = NULL;
		return;
	}
	region.turn = e->set;
	e->switches = true;
	if (!region.pause.depth)
		region_set_switch(e->set, true);
	region_give_lock();
}

void region_turn_over(struct region_thread *t, struct region_entry *e)
{
	struct region_set *set = region.turn;
	bool locked;

	if (!e->switches || !t->is_first || !set)
		return;
	locked = region_take_lock();
	region_set_switch(set, false);
	region.turn = NULL;
	if (locked)
		region_give_lock();
	if (set->late) /* the next pass needs them */
		region_set_close(set);
}

uint64_t region_turns_paused(struct region_thread *t)
{
	const struct region_pause *p = t->is_first ? &region.pause : &t->pause;
	uint64_t ns;

	if (region.options.mode != REGION_TURNS || !region_take_lock())
		return 0;
	ns = p->total_ns + (p->depth ? region_now() - p->since : 0);
	region_give_lock();
	return ns;
}

/* ---- of the process; with the lock ---- */

static void process_turns_off(void)
{
	turn_off(&region.pause, region.turn);
	for (struct region_thread *t = region.threads; region.pause.depth == 1 && t; t = t->next)
		if (t->has_device) {
			turn_off(&t->pause, &t->set);
			t->with_process = true;
		}
	if (region.pause.depth == 1 && region.turn)
		region.paused++;
}

static void process_turns_on(void)
{
	uint64_t before = region.pause.total_ns;

	turn_on(&region.pause, region.turn);
	if (region.turn)
		region.paused_ns += region.pause.total_ns - before;
	for (struct region_thread *t = region.threads; !region.pause.depth && t; t = t->next)
		if (t->with_process) {
			turn_on(&t->pause, &t->set);
			t->with_process = false;
		}
}

/* What is open now contains more than it may, or less. */
static void lose(void)
{
	__atomic_store_n(&region.unsure, true, __ATOMIC_RELAXED);
}

void region_pause(void)
{
	struct region_thread *t = region_self();

	if (depth++ || !is_mode())
		return;
	if (!region_take_lock()) {
		lose();
		return;
	}
	process_turns_off();
	process_off = true;
	own_off = t && !t->is_first && t->set.pass;
	if (own_off)
		turn_off(&t->pause, &t->set);
	region_give_lock();
}

void region_resume(void)
{
	struct region_thread *t = region_self();

	if (--depth || !process_off)
		return;
	process_off = false;
	if (!region_take_lock()) {
		lose();
		return;
	}
	process_turns_on();
	if (own_off && t)
		turn_on(&t->pause, &t->set);
	own_off = false;
	region_give_lock();
}

void region_contains(void)
{
	if (!is_mode() || !region_take_lock())
		return;
	region.contained += region.turn != NULL;
	for (const struct region_thread *t = region.threads; !region.turn && t; t = t->next)
		if (t->has_device) {
			region.contained++;
			break;
		}
	region_give_lock();
}

void region_started_threads(void)
{
	struct region_thread *t = region_self();

	if (!t || t->is_first || !is_mode() || !region_take_lock())
		return;
	t->has_device = t->set.pass != 0;
	region_give_lock();
}

/* ---- the end ---- */

static void write_missing(region_note_function *note)
{
	const struct region_options *o = &region.options;

	for (uint32_t i = 0; !o->pass && i < region.shared->n_names; i++) {
		const struct region_name *name = &region.shared->names[i];
		uint64_t n = __atomic_load_n(&region.info[i].counted, __ATOMIC_RELAXED);

		if (n && n < o->plan->n_passes)
			note(SPOOL_NOTE_FINDING,
			     "region '%.*s' ended %llu times, which gives no more than so many of "
			     "the %u passes: --replay application runs it in each",
			     (int)name->length, name->text, (unsigned long long)n,
			     o->plan->n_passes);
	}
}

void region_turns_write(region_note_function *note)
{
	if (region.options.mode != REGION_TURNS)
		return;
	write_missing(note);
	if (region.options.is_late && region.used)
		note(SPOOL_NOTE_FINDING,
		     "the marks of regions are in a library that was opened later: threads that "
		     "ran before the first mark are not counted in regions");
	if (region.unsure)
		note(SPOOL_NOTE_DECLINED, "replays could not be kept out of the regions any more, "
					  "so those that ended later have no values");
	if (region.paused)
		note(SPOOL_NOTE_DETAIL,
		     "regions of the first thread were off %llu times, %.3f ms in all, for work of "
		     "our own on devices: what other threads did meanwhile is not in them",
		     (unsigned long long)region.paused, (double)region.paused_ns / 1e6);
	if (region.contained)
		note(SPOOL_NOTE_DETAIL,
		     "regions contain %llu saves of memory, which are carried out among the "
		     "program's own commands",
		     (unsigned long long)region.contained);
}
