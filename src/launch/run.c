/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's side of a run: prepares directory, spool and program, starts the supervisor, passes
 * signals and stops on in both directions, collects what it reports, and cleans up after it should
 * it be killed.
 */
#include "launch/run.h"

#include "base/elf_probe.h"
#include "base/str.h"
#include "launch/channel.h"
#include "launch/directory.h"
#include "launch/exposed.h"
#include "launch/inbox.h"
#include "launch/job.h"
#include "launch/launcher.h"
#include "launch/manager_choice.h"
#include "launch/pass.h"
#include "launch/pmix_service.h"
#include "launch/program.h"
#include "launch/supervisor.h"
#include "launch/tree.h"
#include "wire/collection.h"
#include "wire/identity.h"
#include "wire/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_TICK_MS    250
#define RUN_KILL_TRIES 500 /* times 10 ms */

/* What has to be put back. */
struct run_process {
	sigset_t mask;
	struct sigaction on_child;
	bool closed[3];
	int signals; /* signalfd */
	int subreaper;
};

struct run {
	const struct run_options *options;
	struct run_outcome *outcome;
	struct run_process process;
	struct tree before; /* children that were there before us */
	pid_t supervisor;
	int channel;
	uint32_t pass, position; /* the running one; 0: none */
	uint64_t begin_ns, pass_begin_ns;
	bool ended; /* the supervisor said so */
	struct exposed exposed;
	struct channel_message refused; /* type 0: none */
};

/* ---- preparation ---- */

/* A descriptor of ours, or of the caller's later on, must never be taken for a standard stream
 * because that one was closed. The placeholders stay. */
static void run_guard_streams(struct run_process *p)
{
	for (int i = 0; i < 3; i++) {
		p->closed[i] = fcntl(i, F_GETFD) < 0 && errno == EBADF;
		if (p->closed[i] && open("/dev/null", i ? O_WRONLY : O_RDONLY) < 0)
			return;
	}
}

static int run_take_signals(struct run_process *p, struct error *err)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t taken;

	inbox_signals(&taken);
	sigprocmask(SIG_BLOCK, &taken, &p->mask);
	/* Ignored, it would let children vanish without a status. */
	sigaction(SIGCHLD, &plain, &p->on_child);
	prctl(PR_GET_CHILD_SUBREAPER, &p->subreaper);
	prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
	p->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->signals < 0)
		return error_set_errno(err, 0, errno, "cannot receive signals");
	return 0;
}

static void run_give_back_signals(struct run_process *p)
{
	if (p->signals >= 0) {
		struct signalfd_siginfo info;

		/* What the program was ended by is no reason for us to die before the summary. */
		while (read(p->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
			;
		close(p->signals);
	}
	prctl(PR_SET_CHILD_SUBREAPER, (long)p->subreaper, 0L, 0L, 0L);
	sigaction(SIGCHLD, &p->on_child, NULL);
	sigprocmask(SIG_SETMASK, &p->mask, NULL);
}

static int run_check_passes(const struct run_options *o, const struct plan *plan, struct error *err)
{
	if (!plan->n_passes)
		return error_set(err, RC_INVALID, "the plan has no passes: nothing to collect");
	if (o->of_total && o->of_total != plan->n_passes)
		return error_set(err, RC_INVALID,
				 "--pass %u/%u: the plan of this selection has %u pass%s, not %u",
				 o->pass, o->of_total, plan->n_passes,
				 plan->n_passes == 1 ? "" : "es", o->of_total);
	if (o->pass > plan->n_passes)
		return error_set(err, RC_INVALID,
				 "--pass %u: the plan of this selection has %u pass%s", o->pass,
				 plan->n_passes, plan->n_passes == 1 ? "" : "es");
	return 0;
}

static int run_create_spool(struct spool_writer *spool, const struct directory *directory,
			    const struct plan *plan, const struct identity *identity,
			    struct run_outcome *outcome, struct error *err)
{
	struct spool_header header = {0};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(header.collection, sizeof(header.collection), "%s", directory->collection);
	snprintf(header.launch, sizeof(header.launch), "%s", outcome->launch);
	snprintf(header.plan_hash, sizeof(header.plan_hash), "%s", plan->hash);
	snprintf(header.host, sizeof(header.host), "%s", identity->host);
	header.rank = identity->rank;
	header.size = identity->size;
	header.local_rank = identity->local_rank;
	header.pid = (int32_t)getpid();
	header.start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	outcome->spool = directory_spool_path(directory, outcome->launch, identity, (int)getpid());
	if (!outcome->spool)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	return spool_create(spool, outcome->spool, &header, err);
}

/* ---- while the supervisor works ---- */

static void run_add_finding(struct run *r, enum run_finding_kind kind, uint32_t pass,
			    const char *text)
{
	struct run_finding f = {.kind = kind, .pass = pass, .text = strdup(text)};

	if (f.text && !vec_push(&r->outcome->findings, f))
		free(f.text);
}

/* The program stopped by Ctrl-Z: so do we, if that can stop us. What continues us continues it, and
 * the other way round (launch/pass.c). */
static void run_stop(pid_t program)
{
	static const struct timespec now;
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	/* Blocked, so it waits; a SIGCONT from here on takes it away again. */
	raise(SIGTSTP);
	if (tree_state(program) != 'T') { /* it goes on already, and ours may have come before */
		sigtimedwait(&stop, NULL, &now);
		return;
	}
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* stops here, unless it is ignored or orphaned */
	sigprocmask(SIG_BLOCK, &stop, NULL);
}

static void run_handle(struct run *r, const struct channel_message *m)
{
	struct run_outcome *o = r->outcome;

	switch ((enum channel_type)m->type) {
	case CHANNEL_PASS_BEGIN:
		r->pass = m->pass;
		r->position = (uint32_t)m->a;
		r->pass_begin_ns = pass_now_ns();
		if (r->options->progress)
			r->options->progress(r->options->progress_data, r->pass, r->position,
					     o->passes_wanted, 0.0);
		break;
	case CHANNEL_STARTED:
		o->started = true;
		break;
	case CHANNEL_PROGRAM:
		if (m->a)
			exposed_program(&r->exposed, m->a, pass_now_ns());
		else
			exposed_open(&r->exposed);
		break;
	case CHANNEL_NOT_EXECUTED:
		r->refused = *m;
		break;
	case CHANNEL_STOPPED:
		run_stop(m->a);
		break;
	case CHANNEL_PASS_END:
		if (r->position == 1)
			o->first_seconds = (double)m->time_ns / 1e9;
		o->passes_completed += m->flags & 1;
		if (m->a || m->b || !(m->flags & 1))
			o->passes_failed++;
		r->pass = 0;
		exposed_program(&r->exposed, 0, 0);
		break;
	case CHANNEL_FINDING:
		run_add_finding(r, (enum run_finding_kind)m->a, m->pass, m->text);
		break;
	case CHANNEL_END:
		r->ended = true;
		o->exit_status = m->a;
		o->signal = m->b;
		o->interrupted = m->flags & CHANNEL_END_INTERRUPTED;
		o->left = m->flags & CHANNEL_END_LEAVE;
		break;
	case CHANNEL_SIGNAL:
	default:
		break;
	}
}

static void run_read_signals(struct run *r)
{
	struct signalfd_siginfo info;

	while (read(r->process.signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		struct channel_message m = {
			.type = CHANNEL_SIGNAL, .a = (int32_t)info.ssi_signo, .b = info.ssi_code};

		if (info.ssi_signo == (uint32_t)SIGCHLD || info.ssi_signo == (uint32_t)SIGTSTP)
			continue; /* the channel tells when the supervisor ends or stops */
		if (info.ssi_signo == (uint32_t)SIGCONT && info.ssi_pid == (uint32_t)r->supervisor)
			continue; /* the program went on before us */
		exposed_sent(&r->exposed, (int)info.ssi_signo);
		channel_send(r->channel, &m);
	}
}

/* Until the supervisor closes the channel, which the kernel does for it if it is killed. */
static void run_loop(struct run *r)
{
	for (;;) {
		struct pollfd polls[3] = {
			{.fd = r->channel, .events = POLLIN},
			{.fd = r->process.signals, .events = POLLIN},
			{.fd = exposed_end_fd(&r->exposed), .events = POLLIN},
		};
		struct channel_message m;
		int wait = exposed_timeout(&r->exposed, pass_now_ns()), n, rc;

		if (r->options->progress && (wait < 0 || wait > RUN_TICK_MS))
			wait = RUN_TICK_MS;
		n = poll(polls, 3, wait);
		exposed_look(&r->exposed, pass_now_ns());

		if (polls[1].revents && n > 0)
			run_read_signals(r);
		if (polls[2].revents && n > 0)
			exposed_ended(&r->exposed);
		while ((rc = channel_receive(r->channel, &m)) > 0)
			run_handle(r, &m);
		if (rc < 0 || r->outcome->left)
			return;
		if (n == 0 && r->pass && r->options->progress)
			r->options->progress(r->options->progress_data, r->pass, r->position,
					     r->outcome->passes_wanted,
					     (double)(pass_now_ns() - r->pass_begin_ns) / 1e9);
	}
}

/* The supervisor was killed: nothing it started may stay. */
static void run_clean_up(struct run *r)
{
	const struct timespec tick = {.tv_nsec = 10 * 1000 * 1000};

	for (int i = 0; i < RUN_KILL_TRIES; i++) {
		int left = tree_kill(getpid(), &r->before);

		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (left <= 0)
			return;
		nanosleep(&tick, NULL);
	}
}

static int run_finish(struct run *r, struct error *err)
{
	struct run_outcome *o = r->outcome;
	const struct channel_message *m = &r->refused;
	int status = 0;

	while (!o->left && waitpid(r->supervisor, &status, 0) < 0 && errno == EINTR)
		;
	o->total_seconds = (double)(pass_now_ns() - r->begin_ns) / 1e9;
	if (m->type) {
		if (!m->a)
			return error_set(err, m->b ? m->b : RC_ERROR, "%s", m->text);
		o->exit_status = m->a == ENOENT || m->a == ENOTDIR ? RUN_STATUS_NOT_FOUND
								   : RUN_STATUS_CANNOT_EXECUTE;
		return error_set_errno(
			err, o->exit_status == RUN_STATUS_NOT_FOUND ? RC_NOT_FOUND : RC_PERMISSION,
			m->a, "cannot execute '%s'", r->options->argv[0]);
	}
	if (r->ended)
		return 0;
	run_clean_up(r);
	o->exit_status = RUN_STATUS_FAILED;
	o->signal = 0;
	if (WIFSIGNALED(status))
		return error_set(err, RC_ERROR,
				 "the supervisor of the passes was killed by signal %d in pass %u; "
				 "the program was ended, %u finished passes are kept",
				 WTERMSIG(status), r->pass, o->passes_completed);
	return error_set(err, RC_ERROR, "the supervisor of the passes ended with status %d",
			 WEXITSTATUS(status));
}

static void run_give_streams_away(const struct run_options *options)
{
	int null;

	if (options->keep_streams)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	fflush(stdout);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	close(null);
}

static int run_supervised(struct run *r, struct supervisor_job *job, struct error *err)
{
	int ends[2], rc;

	if (channel_open(ends))
		return error_set_errno(err, 0, errno, "cannot make a socket pair");
	/* Before the scan: it is not to be ended with what the passes leave. */
	if (job->pmix && pmix_service_start(job->pmix, err)) {
		close(ends[0]);
		close(ends[1]);
		return err->code;
	}
	tree_scan(&r->before, getpid(), NULL);
	fflush(stdout);
	r->begin_ns = pass_now_ns();
	job->caller = getpid();
	r->supervisor = fork();
	if (r->supervisor < 0) {
		close(ends[0]);
		close(ends[1]);
		if (job->pmix)
			pmix_service_stop(job->pmix);
		return error_set_errno(err, 0, errno, "cannot start a process");
	}
	if (!r->supervisor) {
		close(ends[0]);
		job->channel = ends[1];
		supervisor_run(job);
	}
	close(ends[1]);
	r->channel = ends[0];
	run_give_streams_away(r->options);
	r->exposed.wanted = job->leave_at_once;
	r->exposed.blocked = r->process.mask;
	exposed_open(&r->exposed);
	r->exposed.together = job->choice && job->choice->together && !job->meet_at_end;
	run_loop(r);
	close(r->channel);
	rc = run_finish(r, err);
	if (job->pmix && r->outcome->left)
		pmix_service_close(job->pmix); /* it goes with the supervisor */
	else if (job->pmix)
		pmix_service_stop(job->pmix);
	return rc;
}

/* As words of a shell, each with a blank in front. */
static void run_describe_options(const struct run_options *o, struct str *text)
{
	const struct distribute *d = &o->distribute;

	if (o->launcher && o->launcher->distribute) { /* what the ranks do */
		str_addf(text, "%s --distribute %s%s%s", o->no_aslr ? " --no-aslr" : "",
			 o->launcher->distribute, o->launcher->seed ? " --seed " : "",
			 o->launcher->seed ? o->launcher->seed : "");
		return;
	}
	str_addf(text, "%s%s%s%s%s", o->no_aslr ? " --no-aslr" : "",
		 o->chdir_per_pass ? " --chdir-per-pass" : "", o->keep_going ? " --keep-going" : "",
		 d->unit == DISTRIBUTE_RANK      ? " --distribute rank"
		 : d->unit == DISTRIBUTE_PROCESS ? " --distribute process"
						 : "",
		 d->unit && d->random ? ":random" : "");
	str_add(text, o->given ? o->given : "");
	if (d->has_seed && !o->in_place) /* its own is the same */
		str_addf(text, " --seed %llu", (unsigned long long)d->seed);
	if (o->in_place)
		in_place_describe(o->in_place, text);
}

/* Regions of a program that is run once a pass. A program that cannot load the library, or has no
 * marks, is run as it is. */
static void run_set_regions(struct supervisor_job *job, const struct directory *directory,
			    const char *launch)
{
	const struct run_options *o = job->options;
	struct replay_settings *s = &job->region_settings;
	char why_not[256];

	if (!o->region_library || o->in_place || o->launcher ||
	    !elf_names_symbol(job->program->absolute, "retally_region_begin") ||
	    !elf_can_preload(job->program->absolute, why_not, sizeof(why_not)))
		return;
	*s = (struct replay_settings){.mode = REPLAY_SETTINGS_RANGE, .repeat = 1};
	snprintf(s->launch, sizeof(s->launch), "%s", launch);
	snprintf(s->collection, sizeof(s->collection), "%s", directory->collection);
	job->region_directory = directory->path;
}

/* The settings of this launch: its ids, and for --distribute dispatch where each process begins. */
static int run_set_in_place(const struct run_options *o, const struct plan *plan,
			    const struct directory *directory, const char *launch,
			    const struct identity *identity, struct in_place *out,
			    struct error *err)
{
	struct replay_settings s = o->in_place->settings;
	struct distribute d = {.unit = DISTRIBUTE_DISPATCH,
			       .random = s.random,
			       .has_seed = o->in_place->has_seed,
			       .seed = s.seed};
	char job[JOB_NAME_SIZE];

	job_name(job);
	if (s.mode == REPLAY_SETTINGS_NONE)
		distribute_dispatches(&d, identity->rank, job, plan->n_passes, &s.seed, &s.offset);
	s.pass = o->pass;
	snprintf(s.launch, sizeof(s.launch), "%s", launch);
	snprintf(s.collection, sizeof(s.collection), "%s", directory->collection);
	return in_place_init(out, &s, o->in_place->library, directory->path, err);
}

/* The pass that --distribute gives to this process. */
static int run_deal(struct run_options *o, const struct plan *plan, const struct identity *identity,
		    struct error *err)
{
	char job[JOB_NAME_SIZE];

	if (!o->distribute.unit)
		return 0;
	if (o->pass)
		return error_set(
			err, RC_INVALID,
			"--pass chooses a pass and so does --distribute: give one of them");
	job_name(job);
	return distribute_pass(&o->distribute, identity->rank, job, plan->n_passes, &o->pass, err);
}

/* ---- a launcher ---- */

/* The same passes without counters: the ranks have them. */
static int run_empty_plan(const struct plan *plan, struct plan *empty_out, struct error *err)
{
	*empty_out = *plan;
	empty_out->passes = calloc(plan->n_passes, sizeof(*empty_out->passes));
	if (!empty_out->passes)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (uint32_t i = 0; i < plan->n_passes; i++) {
		empty_out->passes[i] = plan->passes[i];
		empty_out->passes[i].n_counters = 0;
	}
	return 0;
}

static int run_begin_launcher(const struct run_options *o, const struct directory *d,
			      struct run_outcome *outcome, struct program *program,
			      struct error *err)
{
	const struct run_launcher *l = o->launcher;

	/* What is recorded of the launcher itself is nobody's execution of a pass. */
	unlink(outcome->spool);
	program->cannot_count[0] = '\0';
	return launcher_prepare(&(struct launcher_request){.command = l->command,
							   .library = l->library,
							   .directory = d->path,
							   .collection = d->collection,
							   .distribute = l->distribute,
							   .seed = l->seed},
				err);
}

/* What was found about the launches goes into the report, as a spool of notes. */
static void run_note_findings(const struct directory *d, const struct plan *plan,
			      const struct identity *identity, struct run_outcome *o)
{
	struct spool_writer spool;

	free(o->spool);
	o->spool = NULL;
	if (!o->findings.n || run_create_spool(&spool, d, plan, identity, o, NULL))
		return;
	vec_for_each (&o->findings, f) {
		struct spool_note note = {.pass = f->pass, .kind = SPOOL_NOTE_FINDING};

		spool_append_checked(&spool, SPOOL_NOTE, &note, sizeof(note), f->text,
				     strlen(f->text), NULL);
	}
	spool_close(&spool, NULL);
}

int run_program(const struct run_options *asked, const struct plan *plan,
		struct run_outcome *outcome, struct error *err)
{
	struct run_options chosen = *asked;
	const struct run_options *options = &chosen;
	struct run r = {.options = options, .outcome = outcome, .channel = -1};
	struct directory directory = {.fd = -1};
	struct spool_writer spool = {.fd = -1};
	struct program program = {.fd = -1};
	struct identity identity;
	uint32_t *passes = NULL;
	struct plan empty = {0};
	struct supervisor_job job = {0};
	struct manager_choice choice = {0};
	struct pmix_service pmix;
	struct in_place in_place = {0};
	struct str given = STR_INIT;
	bool have_spool = false;
	int rc;

	memset(outcome, 0, sizeof(*outcome));
	outcome->exit_status = RUN_STATUS_FAILED;
	r.process.signals = -1;
	launch_id(outcome->launch);
	identity_read(&identity);
	outcome->rank = identity.rank;
	outcome->size = identity.size;
	run_guard_streams(&r.process);
	run_describe_options(options, &given);
	rc = run_check_passes(options, plan, err);
	if (!rc)
		rc = run_deal(&chosen, plan, &identity, err);
	outcome->pass = chosen.pass;
	/* A single pass leaves the launcher's process manager to the program. */
	if (!rc && !chosen.pass && plan->n_passes > 1 && !chosen.in_place)
		rc = manager_choose_here(chosen.mpi, &identity, &choice, err);
	else if (!rc && chosen.distribute.unit == DISTRIBUTE_RANK)
		rc = manager_choose_here(MANAGER_NONE, &identity, &choice, err);
	if (rc)
		goto out;
	rc = program_find(&program, options->argv, err);
	if (rc) {
		outcome->exit_status = rc == RC_NOT_FOUND    ? RUN_STATUS_NOT_FOUND
				       : rc == RC_PERMISSION ? RUN_STATUS_CANNOT_EXECUTE
							     : RUN_STATUS_FAILED;
		goto out;
	}
	rc = directory_open(
		&directory,
		&(struct directory_request){
			.output = options->output,
			.argv = options->argv,
			.program = program.absolute,
			.application = options->launcher ? options->launcher->application : NULL,
			.plan = plan,
			.filters = options->filters,
			.options = given.size ? str_text(&given) + 1 : "",
			.launch = outcome->launch,
			.join = options->join,
			.identity = &identity,
		},
		err);
	if (rc)
		goto out;
	outcome->directory = strdup(directory.path);
	rc = run_create_spool(&spool, &directory, plan, &identity, outcome, err);
	if (rc)
		goto out;
	have_spool = true;
	if (options->launcher) {
		rc = run_empty_plan(plan, &empty, err);
		if (!rc)
			rc = run_begin_launcher(options, &directory, outcome, &program, err);
		if (rc)
			goto out;
	}
	if (options->in_place)
		rc = run_set_in_place(options, plan, &directory, outcome->launch, &identity,
				      &in_place, err);
	if (rc)
		goto out;
	outcome->passes_wanted = options->pass || options->in_place ? 1 : plan->n_passes;
	passes = calloc(outcome->passes_wanted, sizeof(*passes));
	if (!passes) {
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
		goto out;
	}
	for (uint32_t i = 0; i < outcome->passes_wanted; i++)
		passes[i] = options->in_place ? 0 : options->pass ? options->pass : i + 1;
	rc = run_take_signals(&r.process, err);
	if (!rc) {
		job = (struct supervisor_job){
			.options = options,
			.plan = options->launcher ? &empty : plan,
			.program = &program,
			.spool = &spool,
			.launch = outcome->launch,
			.folder = directory.fd,
			.choice = choice.meet ? &choice : NULL,
			.directory = directory.path,
			.rank = identity.rank,
			.leave_at_once = identity.rank != SPOOL_RANK_NONE,
			.meet_at_end = choice.meet && chosen.pass,
			.host = identity.host,
			.pmix = choice.pmix ? &pmix : NULL,
			.passes = passes,
			.in_place = options->in_place ? &in_place : NULL,
			.n_passes = outcome->passes_wanted,
			.signals = r.process.signals,
			.mask = r.process.mask,
			.on_child = r.process.on_child,
		};
		memcpy(job.closed, r.process.closed, sizeof(job.closed));
		run_set_regions(&job, &directory, outcome->launch);
		rc = run_supervised(&r, &job, err);
	}
	run_give_back_signals(&r.process);
out:
	if (have_spool)
		spool_abandon(&spool); /* the supervisor closed it */
	if (have_spool && options->launcher) {
		launcher_end(options->launcher->library);
		run_note_findings(&directory, plan, &identity, outcome);
	}
	free(empty.passes);
	tree_release(&r.before);
	in_place_release(&in_place);
	str_release(&given);
	free(passes);
	program_release(&program);
	directory_release(&directory);
	return rc;
}

void run_outcome_release(struct run_outcome *o)
{
	vec_for_each (&o->findings, f)
		free(f->text);
	vec_release(&o->findings);
	free(o->directory);
	free(o->spool);
	o->directory = o->spool = NULL;
}

void run_die_of_signal(int signal)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	struct rlimit none = {0, 0};
	sigset_t set;

	/* The core file, if any, is the program's; a core_pattern with a pipe ignores the limit. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
	sigaction(signal, &plain, NULL);
	raise(signal);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal);
}
