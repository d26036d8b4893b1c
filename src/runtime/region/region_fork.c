/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaying a region by fork. A child is a copy of the process as it is at the begin of the region:
 * the same memory at the same addresses. It copies its pages before it counts, starts the OpenMP
 * threads anew, raises the filter against side effects, executes the region, leaves its counts in
 * shared memory and is gone. The program itself executes the region last.
 *
 * The child is made by the clone system call without an exit signal: the program's SIGCHLD, wait
 * and atfork handlers never hear of it. Only a process with one thread is copied, so that nobody
 * else can hold a lock of the C library.
 */
#include "runtime/region/region_guard.h"
#include "runtime/region/region_internal.h"
#include "runtime/region/region_memory.h"
#include "runtime/region/region_openmp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS \
	1000 /* the parent looks after the child; each look is a wake-up that counters see */

static struct {
	struct spool_window window; /* of the region that is open */
	int workers;                /* OpenMP threads to start in every pass */
	uint64_t bytes;             /* of one copy */
	sigset_t mask;              /* the program's */
} replay;

/* ---- the child ---- */

void region_child_exit(enum region_child_state state)
{
	__atomic_store_n(&region.shared->state, (int32_t)state, __ATOMIC_SEQ_CST);
	for (;;)
		syscall(SYS_exit_group, 0);
}

static void on_forbidden_call(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	region.shared->number = info->si_syscall;
	region_child_exit(REGION_CHILD_REFUSED);
}

/* The handlers of the program were registered before, and would come after: they never do. */
static void on_exit_called(int status, void *nothing)
{
	(void)status;
	(void)nothing;
	if (region.in_child)
		region_child_exit(REGION_CHILD_EXITS);
}

/* Should memory run out, this process is the one to go. */
static void child_offer_itself(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4) {
		/* then not */
	}
	close(fd);
}

static void child_prepare(const struct region_set *set, pid_t parent, void *robust_list)
{
	static int readable[REGION_GUARD_READABLE_MAX];
	struct sigaction action = {.sa_sigaction = on_forbidden_call, .sa_flags = SA_SIGINFO};
	const struct rlimit no_core = {0, 0};
	uint32_t n = 0;
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		region_child_exit(REGION_CHILD_FAILED);
	region.pid = getpid();
	region.in_child = true;
	syscall(SYS_set_robust_list, robust_list, 3 * sizeof(long));
	setrlimit(RLIMIT_CORE, &no_core);
	child_offer_itself();
	region_memory_prefault();
	for (uint32_t i = 0; i < set->device->n_events && n < REGION_GUARD_READABLE_MAX - 1; i++)
		if (set->device->events[i].fd >= 0)
			readable[n++] = set->device->events[i].fd;
	if (set->device->reference_fd >= 0)
		readable[n++] = set->device->reference_fd;
	on_exit(on_exit_called, NULL);
	sigfillset(&action.sa_mask);
	sigaction(SIGSYS, &action, NULL);
	sigdelset(&replay.mask, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &replay.mask, NULL);
	error = region_guard_raise(readable, n);
	if (error) {
		region.shared->number = error;
		region_child_exit(REGION_CHILD_FAILED);
	}
	region_openmp_warm(replay.workers);
	region.shared->ready_ns = region_now();
	__atomic_store_n(&region.shared->state, REGION_CHILD_RUNS, __ATOMIC_SEQ_CST);
}

/* ---- the parent, while the child runs ---- */

/* Processor time of a process, as its clock tells. */
static uint64_t cpu_time(pid_t pid)
{
	clockid_t clock = (clockid_t)((~(unsigned)pid << 3) | 2);
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A signal that ends most programs waits for the program's handler. */
static bool program_is_called(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (sigismember(&pending, ends[i]) && !sigismember(&replay.mask, ends[i]))
			return true;
	return false;
}

/* Waits for the end of the child, bounded. NULL, or why it was not waited for longer. */
static const char *wait_for_child(pid_t pid, int pidfd, uint64_t limit_ns, int *status_out)
{
	const uint64_t begin = region_now();
	uint64_t last = 0, moved = begin;
	const char *why = NULL;

	for (;;) {
		struct pollfd p = {.fd = pidfd, .events = POLLIN};
		uint64_t now, used;

		if (pidfd >= 0)
			poll(&p, 1, TICK_MS);
		else
			poll(NULL, 0, 1);
		if (waitpid(pid, status_out, (int)__WCLONE | WNOHANG) == pid)
			return NULL;
		now = region_now();
		used = cpu_time(pid);
		if (used > last + 1000000) {
			last = used;
			moved = now;
		}
		if (now - begin > limit_ns)
			why = "a copy of it did not end in time";
		else if (now - moved > region.options.stall_ns)
			why = "a copy of it makes no progress: it waits for another thread, a "
			      "signal or a time";
		else if (program_is_called())
			why = "a signal waits for the program";
		if (!why)
			continue;
		kill(pid, SIGKILL);
		while (waitpid(pid, status_out, (int)__WCLONE) < 0 && errno == EINTR)
			;
		return why;
	}
}

/* What became of the child: true when its counts are good. */
static bool judge(int status, char *reason_out, size_t size)
{
	const struct region_shared *s = region.shared;
	char name[64];

	switch (__atomic_load_n(&s->state, __ATOMIC_SEQ_CST)) {
	case REGION_CHILD_DONE:
		return true;
	case REGION_CHILD_REFUSED:
		region_guard_name(s->number, name, sizeof(name));
		snprintf(reason_out, size,
			 "it makes the system call %s, which must not be done twice", name);
		return false;
	case REGION_CHILD_LEFT:
		snprintf(reason_out, size, "it was left without its end");
		return false;
	case REGION_CHILD_EXITS:
		snprintf(reason_out, size, "it ends the process");
		return false;
	case REGION_CHILD_FAILED:
		snprintf(reason_out, size, "its system calls cannot be filtered here (seccomp: %s)",
			 strerror(s->number));
		return false;
	default:
		break;
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		snprintf(reason_out, size,
			 "it makes a system call that must not be done twice, with SIGSYS blocked");
	else if (WIFSIGNALED(status))
		snprintf(reason_out, size, "a copy of it was killed by signal %d",
			 WTERMSIG(status));
	else
		snprintf(reason_out, size, "it ends the process");
	return false;
}

/* The records of what a child counted. The log was written by a copy of the program, which may
 * have written anywhere: it is checked like input. */
static void take_log(uint32_t pass)
{
	const struct region_shared *s = region.shared;
	size_t at = 0, used = s->used;
	uint32_t most = region_pass(pass)->n_counters;

	while (used <= sizeof(s->log) && used - at >= sizeof(struct region_result)) {
		const struct region_result *r = (const void *)(s->log + at);
		size_t bytes = sizeof(*r) + (size_t)r->n * sizeof(struct spool_sample);

		if (r->n > most || bytes > used - at || r->kernel > s->n_names)
			break;
		region_write(r, (const void *)(r + 1), pass, 0, SPOOL_DISPATCH_REPLAYED);
		replay.window.run_ns += r->end_ns - r->begin_ns;
		at += bytes;
	}
	if (s->lost)
		region_note(SPOOL_NOTE_DECLINED,
			    "a replayed region encloses too many others: %u of them have no values "
			    "in pass %u",
			    s->lost, pass);
}

/* ---- the passes ---- */

static bool is_handled(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) &&
	       ((action.sa_flags & SA_SIGINFO) ||
		(action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN));
}

/* Replaying in a signal handler could take longer than the time to the next signal: the program
 * would never get further. A handler has its signal blocked. */
static bool may_be_in_handler(char *reason_out, size_t size)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&mask, i) == 1 && is_handled(i)) {
			snprintf(reason_out, size,
				 "it begins in a signal handler, or with signal %d blocked", i);
			return true;
		}
	return false;
}

/* Signals that the program handles wait until the passes are over; the others act as ever, and if
 * the program ends by one, the child goes with it. */
static void hold_signals(void)
{
	sigset_t held;

	pthread_sigmask(SIG_BLOCK, NULL, &replay.mask);
	held = replay.mask;
	for (int i = 1; i < NSIG; i++)
		if (is_handled(i))
			sigaddset(&held, i);
	pthread_sigmask(SIG_SETMASK, &held, NULL);
}

/* The counters of a pass, ready to be switched on. NULL when there are none. */
static struct region_set *set_of(uint32_t pass)
{
	struct region_set *set = &region.sets[pass - 1];
	struct error err = {0};

	if (!set->pass &&
	    region_set_open(set, region.options.plan, pass, 0, region.options.least_fd, 0, &err))
		return NULL;
	return region_set_is_ours(set) ? set : NULL;
}

static void put_back(struct region_set *set)
{
	region_set_switch(set, false);
	if (set->late) /* breakpoints are few; the next pass needs them */
		region_set_close(set);
}

/* One pass in a child. True in the child, which returns into the region. False in the parent; then
 * *good_out says whether it was counted, else why. */
static bool run_pass(uint32_t pass, uint64_t limit_ns, bool *good_out, char *reason_out,
		     size_t size)
{
	struct region_shared *s = region.shared;
	struct region_set *set = set_of(pass);
	uint64_t begin, forked;
	void *robust_list = NULL;
	size_t robust_size = 0;
	pid_t parent = getpid(), pid;
	const char *why;
	int status = 0, pidfd = -1;

	*good_out = false;
	if (!set) {
		snprintf(reason_out, size, "the counters of pass %u are gone", pass);
		return false;
	}
	s->state = REGION_CHILD_STARTS;
	s->used = s->lost = 0;
	s->ready_ns = 0;
	s->number = 0;
	syscall(SYS_get_robust_list, 0, &robust_list, &robust_size);
	begin = region_now();
	region_set_switch(set, true);
	forked = region_now();
	pid = (pid_t)syscall(SYS_clone, CLONE_PIDFD, NULL, &pidfd, NULL, 0);
	if (!pid) {
		child_prepare(set, parent, robust_list);
		return true;
	}
	if (pid < 0) {
		snprintf(reason_out, size, "the process cannot be copied: %s", strerror(errno));
		put_back(set);
		return false;
	}
	why = wait_for_child(pid, pidfd, limit_ns, &status);
	if (pidfd >= 0)
		close(pidfd);
	if (why)
		snprintf(reason_out, size, "%s", why);
	else
		*good_out = judge(status, reason_out, size);
	if (s->ready_ns > forked)
		replay.window.save_ns += s->ready_ns - forked;
	replay.window.program_ns += forked - begin;
	if (*good_out) {
		take_log(pass);
		replay.window.passes++;
		replay.window.saved_bytes += replay.bytes;
	}
	begin = region_now();
	put_back(set);
	replay.window.program_ns += region_now() - begin;
	return false;
}

/* Whether the process can be copied at all, now. */
static bool can_fork(char *reason_out, size_t size)
{
	const struct region_range own[] = {
		{region.shared, region_shared_size()},
		{region.options.own_map ? region.options.own_map() : NULL,
		 region.options.own_map_size},
	};

	return !may_be_in_handler(reason_out, size) &&
	       region_openmp_pause(&replay.workers, reason_out, size) &&
	       region_memory_fits(&replay.bytes, reason_out, size) &&
	       region_memory_is_private(own, sizeof(own) / sizeof(*own), reason_out, size);
}

static void decline(struct region_entry *e, const char *reason)
{
	struct region_info *info = &region.info[e->kernel - 1];

	region_decline(e->kernel, SPOOL_INSTEAD_ONE_PASS, reason);
	if (++info->refusals >= REGION_REFUSALS_MAX && !info->given_up) {
		info->given_up = true;
		region_note(SPOOL_NOTE_DECLINED, "region '%s' is not replayed any more: %s",
			    region.shared->names[e->kernel - 1].text, reason);
	}
}

void region_replay(struct region_entry *e)
{
	struct region_info *info = &region.info[e->kernel - 1];
	uint32_t passes = region.options.plan->n_passes, pass = 1;
	char reason[REGION_REASON_SIZE] = "";
	uint64_t n = info->instances++;
	uint64_t limit = region.options.limit_ns;
	bool good = true;

	if (info->live_ns > limit / 10)
		limit = info->live_ns * 10;
	memset(&replay.window, 0, sizeof(replay.window));
	replay.window.begin_ns = region_now();
	replay.window.dispatches = 1;
	replay.workers = 0;
	e->is_replayed = true;
	if (info->given_up) {
		region_decline(e->kernel, SPOOL_INSTEAD_ONE_PASS,
			       "it was declined before, see the notes");
		good = e->is_replayed = false;
	} else if (passes > 1) {
		good = can_fork(reason, sizeof(reason));
		hold_signals();
		for (; good && pass < passes; pass++) {
			if (run_pass(pass, limit, &good, reason, sizeof(reason))) {
				e->is_child = true;
				e->pass = pass;
				e->set = &region.sets[pass - 1];
				return;
			}
			if (!good)
				break;
		}
		if (good)
			region_memory_prefault();
		region_openmp_warm(replay.workers);
		pthread_sigmask(SIG_SETMASK, &replay.mask, NULL);
		if (!good) {
			decline(e, reason);
			e->is_replayed = false;
		} else {
			info->refusals = 0;
		}
	}
	replay.window.reach_bytes = replay.bytes;
	/* The program's own execution: the last pass, or, declined, the one that failed or, in
	 * turn, each. */
	e->pass = good ? passes : pass > 1 ? pass : (uint32_t)(n % passes) + 1;
	e->set = set_of(e->pass);
	e->switches = e->set != NULL;
	if (e->set)
		region_set_switch(e->set, true);
}

void region_replay_over(const struct region_entry *e, uint64_t end_ns)
{
	struct region_info *info = &region.info[e->kernel - 1];
	uint64_t live = end_ns - e->begin_ns;

	if (live > info->live_ns)
		info->live_ns = live;
	if (e->set && e->set->late)
		region_set_close(e->set);
	if (!e->is_replayed)
		return;
	replay.window.window = region.next_window++;
	replay.window.passes++;
	replay.window.run_ns += live;
	replay.window.live_ns = live;
	replay.window.end_ns = end_ns;
	region_write_window(&replay.window);
}
