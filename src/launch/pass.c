/* SPDX-License-Identifier: Apache-2.0 */
/* Running one pass. */
#include "launch/pass.h"

#include "launch/channel.h"
#include "launch/hold.h"
#include "launch/tree.h"
#include "source/perf/perf_device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASS_SECOND    (1000ull * 1000 * 1000)
#define PASS_KILL_TIME (5 * PASS_SECOND) /* for killed processes to go */
#define PASS_KILL_TICK (10ull * 1000 * 1000)

struct pass {
	struct supervisor *s;
	struct pass_result *result;
	uint32_t number;
	bool first;
	pid_t pid;
	bool go;     /* the child was let go */
	bool alive;  /* the program's first process was not reaped yet */
	bool empty;  /* no process of the pass is left */
	int failure; /* reading end of the child's report, -1 when it was read */
	struct hold hold;
	struct perf_device device;
	bool counting;
	uint64_t limit_at;   /* time limit, 0: none */
	uint64_t stopped_at; /* the program is stopped since, 0: it is not */
	uint64_t drain_until;
	bool killing;
	uint64_t kill_until;
};

uint64_t pass_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * PASS_SECOND + (uint64_t)t.tv_nsec;
}

static void pass_kill(struct pass *p)
{
	if (p->killing)
		return;
	p->killing = true;
	p->kill_until = pass_now_ns() + PASS_KILL_TIME;
}

/* ---- start ---- */

static int pass_fork(struct pass *p, const int streams[3], int folder, int *go_out)
{
	struct supervisor *s = p->s;
	const struct supervisor_job *job = s->job;
	int go[2] = {-1, -1}, failure[2] = {-1, -1}, input;
	struct error *err = &p->result->why;
	pid_t supervisor;

	input = input_begin_pass(&s->input, p->first, err);
	if (input == -2)
		return -1;
	if (pipe2(go, O_CLOEXEC) || pipe2(failure, O_CLOEXEC)) {
		error_set_errno(err, 0, errno, "cannot make a pipe");
		goto fail;
	}
	supervisor = getpid();
	p->pid = fork();
	if (p->pid < 0) {
		error_set_errno(err, 0, errno, "cannot start a process");
		goto fail;
	}
	if (!p->pid) {
		struct child c = {
			.program = job->program,
			.environment = s->environment.list,
			.supervisor = supervisor,
			.go = go[0],
			.failure = failure[1],
			.streams = {input, streams[1], streams[2]},
			.closed = {job->closed[0], job->closed[1], job->closed[2]},
			.folder = folder,
			.pmi = s->manager.child_end,
			.pmi_number = s->manager.number,
			.no_aslr = job->options->no_aslr && !s->no_aslr_failed,
			.mask = job->mask,
			.on_child = job->on_child,
		};

		close(go[1]); /* or its own copy would keep the pipe open */
		child_run(&c);
	}
	p->alive = true;
	manager_forked(&s->manager);
	p->failure = failure[0];
	*go_out = go[1];
	close(go[0]);
	close(failure[1]);
	if (input >= 0)
		close(input);
	return 0;
fail:
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (failure[i] >= 0)
			close(failure[i]);
	}
	if (input >= 0)
		close(input);
	input_end_pass(&s->input);
	return -1;
}

/* The counters, while the child waits. What cannot be had is a finding, never a reason not to run.
 */
static void pass_open_counters(struct pass *p)
{
	const struct supervisor_job *job = p->s->job;
	struct error err = {0};

	if (!p->number) /* counted from inside */
		return;
	if (job->program->cannot_count[0]) {
		supervisor_find(p->s, RUN_FINDING_NOT_COUNTED, p->number, "%s",
				job->program->cannot_count);
		return;
	}
	if (perf_device_open(&p->device, job->plan, p->number, p->pid, PERF_ON_EXEC | PERF_INHERIT,
			     &err)) {
		supervisor_find(p->s, RUN_FINDING_NOT_COUNTED, p->number, "%s", err.message);
		return;
	}
	p->counting = true;
	if (perf_device_needs_addresses(job->plan, p->number) && hold_begin(&p->hold, p->pid, &err))
		supervisor_find(p->s, RUN_FINDING_NOT_COUNTED, p->number, "%s", err.message);
}

/* Our copies of the program's pipes would keep whoever is at their other ends from seeing that the
 * program closed them. Regular files do no harm; stderr stays for messages. */
static void pass_give_away(struct supervisor *s)
{
	int null;

	if (s->given_away)
		return;
	s->given_away = true;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	close(null);
}

/* ---- while it runs ---- */

static void pass_read_failure(struct pass *p)
{
	int error = 0;
	ssize_t n;

	if (p->failure < 0)
		return;
	do
		n = read(p->failure, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(p->failure);
	p->failure = -1;
	if (n == (ssize_t)sizeof(error)) {
		p->result->exec_errno = error ? error : EIO;
	} else if (p->go && !p->s->started) {
		struct channel_message m = {.type = CHANNEL_STARTED, .pass = p->number};

		p->s->started = true;
		channel_send(p->s->job->channel, &m);
	}
}

static void pass_place_addresses(struct pass *p)
{
	struct error err = {0};

	if (perf_device_open_addresses(&p->device, &err))
		supervisor_find(p->s, RUN_FINDING_NOT_COUNTED, p->number, "%s", err.message);
	if (p->hold.stop.late)
		supervisor_find(p->s, RUN_FINDING_NOT_COUNTED, p->number,
				"breakpoints were placed after the constructors of the libraries: "
				"the dynamic loader has no hook for debuggers");
	hold_release(&p->hold);
}

static void pass_signal_caller(const struct pass *p, int signal)
{
	pid_t caller = p->s->job->caller;

	if (getppid() == caller)
		kill(caller, signal);
}

/* The program stopped: so does the caller, in the same way, so that a shell sees its job stop. From
 * here, because signals of one process arrive in the order in which they are sent: a program that
 * is continued at once cannot leave the caller stopped. Only Ctrl-Z is the caller's to do: it may
 * be ignored, or the group orphaned. */
static void pass_stop_caller(const struct pass *p, int signal)
{
	struct channel_message m = {
		.type = CHANNEL_STOPPED, .pass = p->number, .a = (int32_t)p->pid};

	if (signal == SIGTSTP)
		channel_send(p->s->job->channel, &m);
	else
		pass_signal_caller(p, SIGSTOP);
}

static void pass_stopped(struct pass *p, int status)
{
	struct error err = {0};

	switch (hold_step(&p->hold, status, &err)) {
	case HOLD_GO_ON:
		return;
	case HOLD_REACHED:
		pass_place_addresses(p);
		return;
	case HOLD_FAILED:
		supervisor_find(p->s, RUN_FINDING_NOT_COUNTED, p->number, "%s", err.message);
		return;
	case HOLD_NOT_OURS:
		break;
	}
	if (!p->stopped_at) {
		p->stopped_at = pass_now_ns();
		pass_stop_caller(p, WSTOPSIG(status));
	}
}

/* Also when a stopped program ended. Whoever continued it need not know of the caller. */
static void pass_continued(struct pass *p)
{
	if (!p->stopped_at)
		return;
	if (p->limit_at)
		p->limit_at += pass_now_ns() - p->stopped_at;
	p->stopped_at = 0;
	pass_signal_caller(p, SIGCONT);
}

static uint64_t pass_time_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * PASS_SECOND + (uint64_t)t->tv_usec * 1000;
}

static void pass_ended(struct pass *p, int status, const struct rusage *usage)
{
	struct record_times *t = &p->result->times;
	double wait = p->s->job->options->orphan_wait;

	p->alive = false;
	p->hold.state = HOLD_NONE;
	pass_continued(p);
	t->end_ns = pass_now_ns();
	t->user_ns = pass_time_ns(&usage->ru_utime);
	t->system_ns = pass_time_ns(&usage->ru_stime);
	t->max_rss_bytes = (uint64_t)usage->ru_maxrss * 1024;
	p->result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	p->result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	p->drain_until = t->end_ns + (uint64_t)((wait > 0 ? wait : RUN_ORPHAN_WAIT_DEFAULT) *
						(double)PASS_SECOND);
	pass_read_failure(p);
	manager_ended(&p->s->manager, p->result->exit_code, p->result->signal,
		      p->result->timed_out || p->result->job_ended);
}

static void pass_reap(struct pass *p)
{
	struct rusage usage;
	int status;
	pid_t pid;

	for (;;) {
		pid = wait4(-1, &status, WNOHANG | WUNTRACED | WCONTINUED, &usage);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			break;
		if (pid != p->pid)
			continue; /* an orphan, now reaped */
		if (WIFSTOPPED(status))
			pass_stopped(p, status);
		else if (WIFCONTINUED(status))
			pass_continued(p);
		else
			pass_ended(p, status, &usage);
	}
	p->empty = pid < 0 && errno == ECHILD;
}

static void pass_signal(struct pass *p, const struct inbox_event *e)
{
	struct supervisor *s = p->s;
	bool ends = inbox_ends(e->signal);
	/* A group's signal has not reached a program that is in a group of its own; the terminal
	 * would not have reached it without us either. */
	bool pass_on = e->direct || (!e->kernel && p->alive && getpgid(p->pid) != getpgrp());

	if (e->signal == SIGCONT) {
		if (p->alive && tree_state(p->pid) == 'T')
			kill(p->pid, SIGCONT);
		return;
	}
	if (pass_on && p->alive)
		kill(p->pid, e->signal);
	if (!ends)
		return;
	if (!s->interrupts++) {
		s->stop_signal = e->signal;
		s->stop_outside = !p->alive;
	}
	if (!p->alive)
		p->drain_until = pass_now_ns();
	else if (s->interrupts > 1 && !p->first) {
		p->result->cut_short = true;
		pass_kill(p);
	}
}

static void pass_read_signals(struct pass *p)
{
	struct signalfd_siginfo info;
	struct inbox_event e;

	while (read(p->s->job->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (inbox_own(&p->s->inbox, (int)info.ssi_signo, info.ssi_code, pass_now_ns(), &e))
			pass_signal(p, &e);
}

static void pass_read_channel(struct pass *p)
{
	struct channel_message m;
	struct inbox_event e;
	int rc;

	while ((rc = channel_receive(p->s->job->channel, &m)) > 0)
		if (m.type == CHANNEL_SIGNAL &&
		    inbox_relayed(&p->s->inbox, m.a, m.b, pass_now_ns(), &e))
			pass_signal(p, &e);
	if (rc < 0)
		p->s->caller_gone = true;
}

/* What the other ranks say: the end of the job or of the pass. Returns when to look again. */
static uint64_t pass_job(struct pass *p, uint64_t now)
{
	uint64_t at = 0;
	enum manager_standing standing = manager_verdict(&p->s->manager, now, &at);

	if (standing == MANAGER_RUNS || p->killing || !p->alive)
		return p->alive ? at : 0;
	if (standing == MANAGER_TIMED_OUT)
		p->result->timed_out = true;
	else
		p->result->job_ended = p->result->cut_short = true;
	pass_kill(p);
	return 0;
}

/* What the clock says. Returns when to look again, 0: when something happens. */
static uint64_t pass_clock(struct pass *p)
{
	uint64_t now = pass_now_ns(), next = 0;
	struct inbox_event e;
	uint64_t times[4];

	while (inbox_due(&p->s->inbox, now, &e))
		pass_signal(p, &e);
	if (p->s->caller_gone && !p->killing) {
		p->result->cut_short = true;
		pass_kill(p);
	}
	if (p->alive && p->limit_at && !p->stopped_at && now >= p->limit_at && !p->killing) {
		p->result->timed_out = true;
		manager_time_out(&p->s->manager);
		pass_kill(p);
	}
	times[3] = pass_job(p, now);
	if (!p->alive && !p->first && now >= p->drain_until)
		pass_kill(p);
	if (p->killing) {
		tree_kill(getpid(), NULL);
		return now + PASS_KILL_TICK;
	}
	times[0] = inbox_deadline(&p->s->inbox);
	times[1] = p->alive && !p->stopped_at ? p->limit_at : 0;
	times[2] = p->alive ? 0 : p->drain_until;
	for (int i = 0; i < 4; i++)
		if (times[i] && (!next || times[i] < next))
			next = times[i];
	return next;
}

static void pass_wait(struct pass *p, uint64_t until)
{
	struct pollfd polls[3 + INPUT_POLLS + MANAGER_POLLS];
	struct timespec timeout, *t = NULL;
	nfds_t n = 0, inputs;

	polls[n++] = (struct pollfd){.fd = p->s->job->signals, .events = POLLIN};
	polls[n++] = (struct pollfd){.fd = p->s->job->channel, .events = POLLIN};
	polls[n++] = (struct pollfd){.fd = p->failure, .events = POLLIN};
	n += (nfds_t)input_polls(&p->s->input, polls + n);
	inputs = n;
	n += (nfds_t)manager_polls(&p->s->manager, polls + n);
	if (p->s->caller_gone)
		polls[1].fd = -1; /* always ready from now on */
	if (until) {
		uint64_t now = pass_now_ns(), left = until > now ? until - now : 0;

		timeout.tv_sec = (time_t)(left / PASS_SECOND);
		timeout.tv_nsec = (long)(left % PASS_SECOND);
		t = &timeout;
	}
	if (ppoll(polls, n, t, NULL) <= 0)
		return;
	if (polls[0].revents)
		pass_read_signals(p);
	if (polls[1].revents)
		pass_read_channel(p);
	if (polls[2].revents)
		pass_read_failure(p);
	if (inputs > 3)
		input_pump(&p->s->input);
	if (n > inputs)
		manager_pump(&p->s->manager);
}

enum manager_idle pass_idle(struct supervisor *s, uint64_t until_ns)
{
	struct pass p = {.s = s, .failure = -1};
	struct inbox_event e;
	uint64_t due = inbox_deadline(&s->inbox);

	if (!s->caller_gone)
		pass_wait(&p, due && due < until_ns ? due : until_ns);
	while (inbox_due(&s->inbox, pass_now_ns(), &e))
		pass_signal(&p, &e);
	supervisor_leave(s, NULL);
	return s->caller_gone ? MANAGER_LEAVE : s->interrupts ? MANAGER_HURRY : MANAGER_STAY;
}

static void pass_loop(struct pass *p)
{
	for (;;) {
		uint64_t until;

		pass_reap(p);
		if (p->empty)
			return;
		until = pass_clock(p);
		if (p->killing && pass_now_ns() >= p->kill_until)
			return; /* in the kernel, for example on a dead file server */
		if (!p->alive && p->first && !p->killing && pass_now_ns() >= p->drain_until) {
			p->result->orphans_remain = true;
			return;
		}
		pass_wait(p, until);
	}
}

/* ---- end ---- */

/* Every perf counter of the pass as not collected. */
static void pass_fill_missing(struct pass *p)
{
	const struct plan *plan = p->s->job->plan;
	const struct plan_pass *pass = &plan->passes[p->number - 1];
	struct pass_result *r = p->result;

	r->n_samples = 0;
	for (uint32_t i = 0; i < pass->n_counters; i++) {
		uint32_t counter = pass->counters[i];

		if (strcmp(plan->counters[counter].source, "perf"))
			continue;
		r->samples[r->n_samples++] = (struct spool_sample){
			.counter = counter,
			.instance = SPOOL_INSTANCE_ALL,
			.status = SAMPLE_NOT_COLLECTED,
		};
	}
}

static void pass_read_counters(struct pass *p)
{
	const struct plan_pass *pass;
	struct pass_result *r = p->result;
	struct error err = {0};

	if (!p->number)
		return;
	pass = &p->s->job->plan->passes[p->number - 1];
	r->samples = calloc(pass->n_counters + 1, sizeof(*r->samples));
	if (!r->samples)
		return;
	if (!p->counting) {
		pass_fill_missing(p);
		return;
	}
	if (perf_device_read(&p->device, r->samples, &r->n_samples, &r->enabled_ns, &r->running_ns,
			     &err)) {
		pass_fill_missing(p);
		supervisor_find(p->s, RUN_FINDING_NOT_COUNTED, p->number, "%s", err.message);
	}
	if (p->device.why[0])
		supervisor_find(p->s, RUN_FINDING_NOT_COUNTED, p->number, "%s", p->device.why);
	perf_device_close(&p->device);
}

void pass_run(struct supervisor *s, uint32_t pass, bool first, const int streams[3], int folder,
	      uint64_t limit_ns, struct pass_result *result_out)
{
	struct pass p = {
		.s = s, .result = result_out, .number = pass, .first = first, .failure = -1};
	int go = -1;

	memset(result_out, 0, sizeof(*result_out));
	if (pass_fork(&p, streams, folder, &go)) {
		result_out->not_run = true;
		return;
	}
	pass_open_counters(&p);
	if (first)
		pass_give_away(s);
	result_out->times.begin_ns = pass_now_ns();
	p.limit_at = limit_ns ? result_out->times.begin_ns + limit_ns : 0;
	record_pass_begin(&s->record, pass, s->job->plan->n_passes, result_out->times.begin_ns,
			  (int32_t)p.pid);
	if (s->record.failed) {
		result_out->not_run = true;
		result_out->why = s->record.why;
	} else {
		p.go = true;
		while (write(go, "", 1) < 0 && errno == EINTR)
			;
	}
	close(go);
	if (s->job->leave_at_once && p.go)
		channel_send(s->job->channel,
			     &(struct channel_message){.type = CHANNEL_PROGRAM, .a = p.pid});
	pass_loop(&p);
	supervisor_leave(s, result_out);
	result_out->job_goes_on =
		manager_end(&s->manager, result_out->exit_code, result_out->signal);
	input_end_pass(&s->input);
	if (p.failure >= 0)
		close(p.failure);
	if (p.alive) { /* killed, but it does not go */
		result_out->times.end_ns = pass_now_ns();
		result_out->signal = SIGKILL;
	}
	pass_read_counters(&p);
	if (p.result->orphans_remain) {
		struct tree t = {0};
		char names[200];

		tree_scan(&t, getpid(), NULL);
		tree_describe(&t, names, sizeof(names));
		supervisor_find(s, RUN_FINDING_ORPHANS, pass,
				"processes outlived the program and were left running: %s; their "
				"further work is not counted",
				names);
		tree_release(&t);
	} else if (p.killing && !result_out->timed_out && !result_out->cut_short) {
		supervisor_find(s, RUN_FINDING_ORPHANS, pass,
				"processes outlived the program and were ended before the next "
				"pass");
	}
}

void pass_result_release(struct pass_result *r)
{
	free(r->samples);
	r->samples = NULL;
}
