/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of a launch, one after the other. */
#include "launch/supervisor.h"

#include "base/hash.h"
#include "base/str.h"
#include "launch/channel.h"
#include "launch/exposed.h"
#include "launch/leftovers.h"
#include "launch/pass.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUPERVISOR_LEAVE_MS 500

void supervisor_find(struct supervisor *s, enum run_finding_kind kind, uint32_t pass,
		     const char *fmt, ...)
{
	struct channel_message m = {.type = CHANNEL_FINDING, .pass = pass, .a = (int32_t)kind};
	enum spool_note_kind note = SPOOL_NOTE_FINDING;
	bool repeated = false;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m.text, sizeof(m.text), fmt, ap);
	va_end(ap);
	str_tame(m.text);
	if (kind == RUN_FINDING_DISABLED) {
		note = SPOOL_NOTE_DISABLED;
	} else if (kind == RUN_FINDING_NOT_COUNTED) {
		/* The same in every pass: said once, recorded each time. */
		uint64_t hash = hash64(m.text, strlen(m.text));

		repeated = s->declined == hash;
		s->declined = hash;
		note = SPOOL_NOTE_DECLINED;
	}
	if (!repeated)
		channel_send(s->job->channel, &m);
	record_note(&s->record, pass, note, m.text);
}

static bool supervisor_hides(const void *context, const char *entry)
{
	return manager_hides(context, entry);
}

static enum manager_idle supervisor_idle(void *context, uint64_t until_ns)
{
	return pass_idle(context, until_ns);
}

/* How the launch stands after the passes so far. */
struct progress {
	int exit_status, signal; /* of the first pass that failed */
	bool failed;
	struct pass_result first; /* what the first pass ended with */
};

/* DIR/cwd/LAUNCH/pass-K, made. -1 with errno. */
static int supervisor_folder(const struct supervisor_job *job, uint32_t pass)
{
	char name[24];
	int parent = job->folder, fd = -1;
	const char *parts[3] = {"cwd", job->launch, name};

	snprintf(name, sizeof(name), "pass-%u", pass);
	for (int i = 0; i < 3; i++) {
		int saved;

		if (mkdirat(parent, parts[i], 0777) && errno != EEXIST)
			fd = -1;
		else
			fd = openat(parent, parts[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		saved = errno;
		if (parent != job->folder)
			close(parent);
		errno = saved;
		if (fd < 0)
			return -1;
		parent = fd;
	}
	return fd;
}

static uint64_t supervisor_limit(const struct supervisor *s)
{
	double factor = s->job->options->pass_timeout, grace = s->job->options->pass_grace;
	double ns = (factor > 0 ? factor : RUN_PASS_TIMEOUT_DEFAULT) * (double)s->first_wall_ns +
		    (grace > 0 ? grace : RUN_PASS_GRACE_DEFAULT) * 1e9;

	return ns < 1e18 ? (uint64_t)ns : 0;
}

static void supervisor_describe_end(const struct pass_result *r, char *text, size_t size)
{
	if (r->signal)
		snprintf(text, size, "died of signal %d (SIG%s)", r->signal,
			 sigabbrev_np(r->signal) ? sigabbrev_np(r->signal) : "?");
	else
		snprintf(text, size, "exited with status %d", r->exit_code);
}

/* The status of the run, if this is the first pass that failed. */
static void supervisor_judge(struct supervisor *s, const struct pass_result *r)
{
	struct progress *progress = s->progress;

	if (progress->failed || (!r->exit_code && !r->signal) || r->timed_out)
		return;
	progress->failed = true;
	progress->exit_status = r->exit_code;
	progress->signal = r->signal;
	/* Ended by us because another rank ended the job: as that one did. */
	if (r->job_ended) {
		progress->exit_status = s->manager.job_status;
		progress->signal = progress->exit_status > 128 ? progress->exit_status - 128 : 0;
	}
	/* Killed by us because of a second Ctrl-C: that is what it died of. */
	if (r->cut_short && s->stop_signal)
		progress->signal = s->stop_signal;
	if (progress->signal)
		progress->exit_status = 128 + progress->signal;
}

/* How the run ended, to the caller; once. */
static void supervisor_tell_end(struct supervisor *s, uint32_t flags)
{
	const struct progress *progress = s->progress;
	struct channel_message end = {.type = CHANNEL_END,
				      .a = progress->exit_status,
				      .b = progress->signal,
				      .flags = flags};

	if (s->told_end)
		return;
	s->told_end = true;
	if (s->stop_outside && !progress->failed) {
		end.b = s->stop_signal;
		end.a = 128 + s->stop_signal;
	}
	if (s->interrupts)
		end.flags |= CHANNEL_END_INTERRUPTED;
	channel_send(s->job->channel, &end);
}

/* The caller ends by the same signal as the program did, together with those of the other ranks. */
static bool supervisor_end_with_others(struct supervisor *s)
{
	struct channel_message expose = {.type = CHANNEL_PROGRAM};
	struct pollfd p = {.fd = s->job->channel};
	pid_t caller = getppid();
	int signal = s->progress->signal;

	if (s->stop_outside && !s->progress->failed)
		signal = s->stop_signal;
	if (s->caller_gone || !signal || !s->manager.choice.together)
		return false;
	channel_send(s->job->channel, &expose);
	if (!exposed_wait(caller, signal) || !manager_leave(&s->manager, caller, signal))
		return false;
	/* Whoever sends it may be late. */
	if (poll(&p, 1, SUPERVISOR_LEAVE_MS) <= 0)
		return false;
	s->told_end = true;
	return true;
}

void supervisor_leave(struct supervisor *s, const struct pass_result *r)
{
	int null;

	if (!s->job->leave_at_once || s->told_end)
		return;
	/* The program may have died of the signal before we were told that it was sent to us. */
	if (!s->interrupts &&
	    (!r || r->job_ended || !inbox_ends(r->signal) || s->job->options->keep_going))
		return;
	if (r)
		supervisor_judge(s, r);
	if (s->job->rank <= 0)
		dprintf(STDERR_FILENO,
			"retally: interrupted: the passes until now are in '%s', see `retally "
			"report`\n",
			s->job->directory);
	if (!supervisor_end_with_others(s))
		supervisor_tell_end(s, CHANNEL_END_INTERRUPTED | CHANNEL_END_LEAVE);
	/* Launchers wait for the end of file of their ranks' streams. */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close(null);
}

/* Findings about one pass's end, its flags, its records. */
static void supervisor_record(struct supervisor *s, uint32_t pass, bool first,
			      const struct pass_result *r, uint32_t flags)
{
	struct progress *progress = s->progress;
	struct channel_message m = {.type = CHANNEL_PASS_END, .pass = pass};
	bool ours = r->timed_out || r->cut_short; /* ended by us: not the program's own status */

	if (first) {
		s->first_wall_ns = r->times.end_ns - r->times.begin_ns;
		progress->first = *r;
	} else if (!ours && (r->exit_code != progress->first.exit_code ||
			     r->signal != progress->first.signal)) {
		char now[64], then[64];

		supervisor_describe_end(r, now, sizeof(now));
		supervisor_describe_end(&progress->first, then, sizeof(then));
		supervisor_find(s, RUN_FINDING_STATUS_DIFFERS, pass,
				"pass %u %s, the first pass %s", pass, now, then);
	}
	if (r->timed_out)
		supervisor_find(s, RUN_FINDING_TIMED_OUT, pass,
				"pass %u was ended after %.1f s: the first pass took %.1f s "
				"(--pass-timeout sets the limit)",
				pass, (double)(r->times.end_ns - r->times.begin_ns) / 1e9,
				(double)s->first_wall_ns / 1e9);
	/* What was counted until then is no count of the pass. */
	for (uint32_t i = 0; r->timed_out && i < r->n_samples; i++)
		if (r->samples[i].status == SAMPLE_OK || r->samples[i].status == SAMPLE_MULTIPLEXED)
			r->samples[i].status = SAMPLE_INCOMPLETE;
	if (pass)
		record_samples(&s->record, pass, &r->times, r->samples, r->n_samples, r->enabled_ns,
			       r->running_ns);
	record_pass_end(&s->record, pass, r->exit_code, r->signal, flags, &r->times);
	m.a = r->exit_code;
	m.b = r->signal;
	m.flags = !ours && !s->record.failed;
	m.time_ns = r->times.end_ns - r->times.begin_ns;
	s->completed += m.flags;
	channel_send(s->job->channel, &m);
	supervisor_judge(s, r);
}

/* What the pass left in /dev/shm; removed when another pass follows. */
static void supervisor_leftovers(struct supervisor *s, const struct leftovers *before,
				 uint32_t pass, bool another)
{
	struct leftovers after = {0}, left = {0};
	char names[200];

	if (!leftovers_list(&after, LEFTOVERS_FOLDER) &&
	    !leftovers_since(&left, LEFTOVERS_FOLDER, before, &after) && left.items.n) {
		leftovers_describe(&left, names, sizeof(names));
		if (another)
			leftovers_remove(&left, LEFTOVERS_FOLDER);
		supervisor_find(s, RUN_FINDING_LEFTOVERS, pass,
				"pass %u left shared memory behind: %s%s", pass, names,
				another ? "; removed before the next pass" : "");
	}
	leftovers_release(&after);
	leftovers_release(&left);
}

static int supervisor_begin_regions(struct supervisor *s, uint32_t pass, struct error *err)
{
	const struct supervisor_job *job = s->job;
	struct replay_settings settings = job->region_settings;

	settings.pass = pass;
	/* Each pass is a start of its own: so dispatches of the passes are matched as those of
	 * separate runs, not taken for processes of one. */
	snprintf(settings.launch, sizeof(settings.launch), "%.24s%04x", job->region_settings.launch,
		 pass & 0xffff);
	in_place_release(&s->regions);
	return in_place_init_regions(&s->regions, &settings, job->options->region_library,
				     job->region_directory, err);
}

/* The program's environment, and whatever the ranks do together before a pass. 0; otherwise the
 * pass is not to be run, and err says why. */
static int supervisor_begin(struct supervisor *s, uint32_t index, struct error *err)
{
	const struct supervisor_job *job = s->job;
	VEC(const char *) extras = {0};
	const char *v;
	size_t at = 0;
	int rc = 0;

	if (manager_is_open(&s->manager)) {
		rc = manager_begin(&s->manager, index, index + 1 == s->n_passes, err);
		if (rc && index == 0 && rc != RC_END && !s->manager.told) {
			/* The program's own pass is run all the same. */
			supervisor_find(s, RUN_FINDING_NOTE, 0,
					"only the first pass was run: %.300s", err->message);
			manager_go_alone(&s->manager);
			s->n_passes = 1;
			rc = manager_is_open(&s->manager) ? manager_begin(&s->manager, 0, true, err)
							  : 0;
		}
	}
	if (!rc && index == 0 && manager_is_open(&s->manager))
		child_environment_hide(&s->environment, supervisor_hides, &s->manager.choice);
	for (size_t i = 0; !rc && job->in_place && i < job->in_place->n; i++)
		if (!vec_push(&extras, job->in_place->variables[i]))
			rc = error_set(err, RC_NO_MEMORY, "out of memory");
	if (!rc && job->region_directory)
		rc = supervisor_begin_regions(s, job->passes[index], err);
	for (size_t i = 0; !rc && i < s->regions.n; i++)
		if (!vec_push(&extras, s->regions.variables[i]))
			rc = error_set(err, RC_NO_MEMORY, "out of memory");
	while (!rc && (v = manager_extra(&s->manager, &at)))
		if (!vec_push(&extras, v))
			rc = error_set(err, RC_NO_MEMORY, "out of memory");
	if (!rc)
		rc = child_environment_set(&s->environment, job->passes[index], job->plan->n_passes,
					   extras.items, extras.n, err);
	vec_release(&extras);
	return rc;
}

/* What this rank makes of its pass, for the others. */
static struct manager_vote supervisor_vote(const struct supervisor *s, const struct pass_result *r,
					   bool last)
{
	struct manager_vote v = {
		.position = s->begun,
		.completed = s->completed,
		.wanted = s->job->n_passes,
		.wall_ns = r->times.end_ns - r->times.begin_ns,
		.status = r->signal ? 128 + r->signal : r->exit_code,
	};

	if (r->timed_out)
		v.reason = MANAGER_REASON_TIMED_OUT;
	else if (s->interrupts || s->caller_gone)
		v.reason = MANAGER_REASON_INTERRUPTED;
	else if (r->orphans_remain)
		v.reason = MANAGER_REASON_ORPHANS;
	else if (s->record.failed)
		v.reason = MANAGER_REASON_DISABLED;
	else if (!r->job_goes_on || ((r->exit_code || r->signal) && !s->job->options->keep_going))
		v.reason = MANAGER_REASON_FAILED;
	else if (last)
		v.reason = MANAGER_REASON_LAST;
	v.go_on = v.reason == MANAGER_REASON_NONE;
	return v;
}

/* The decision, with the other ranks where there are some. Why not is said by rank 0, for the ranks
 * that cannot speak for themselves. */
static bool supervisor_decide(struct supervisor *s, uint32_t pass, const struct pass_result *r,
			      bool last)
{
	struct manager_vote vote = supervisor_vote(s, r, last);
	struct manager_verdict verdict = {.go_on = vote.go_on};

	if (!s->manager.star)
		return vote.go_on;
	if (r->job_ended)
		supervisor_find(s, RUN_FINDING_NOTE, pass, "pass %u was ended with the job: %s",
				pass, s->manager.text);
	if (s->caller_gone && !s->told_end)
		manager_abort(&s->manager, 128 + SIGKILL, "its retally was killed");
	manager_decide(&s->manager, &vote, &verdict);
	if (verdict.wall_ns > s->first_wall_ns && s->begun == 1)
		s->first_wall_ns = verdict.wall_ns;
	if (vote.go_on && s->interrupts)
		verdict.go_on = false;
	if (!verdict.go_on && verdict.why[0] && !r->job_ended && !s->manager.choice.rank && !last)
		supervisor_find(s, RUN_FINDING_NOTE, pass, "no further pass was run: %s",
				verdict.why);
	return verdict.go_on;
}

/* One pass with all that belongs to it. False: no further pass. */
static bool supervisor_pass(struct supervisor *s, uint32_t index)
{
	const struct supervisor_job *job = s->job;
	uint32_t pass = job->passes[index];
	bool first = index == 0, last, several = s->n_passes > 1;
	struct channel_message m = {
		.type = CHANNEL_PASS_BEGIN, .pass = pass, .a = (int32_t)index + 1};
	struct leftovers before = {0};
	struct pass_result r = {0};
	struct error err = {0};
	int streams[3] = {-1, -1, -1}, folder = -1;
	bool go_on = false;
	char text[256];
	uint32_t flags = 0;

	if (!first &&
	    output_begin_pass(&s->output, job->folder, job->launch, pass, streams + 1, &err)) {
		supervisor_find(s, RUN_FINDING_DISABLED, pass, "pass %u was not run: %s", pass,
				err.message);
		return false;
	}
	if (!first && job->options->chdir_per_pass) {
		folder = supervisor_folder(job, pass);
		if (folder < 0) {
			supervisor_find(s, RUN_FINDING_DISABLED, pass,
					"pass %u was not run: cannot make its folder: %s", pass,
					strerror(errno));
			goto out;
		}
	}
	/* Before any rank of this machine begins. */
	if (several)
		leftovers_list(&before, LEFTOVERS_FOLDER);
	if (supervisor_begin(s, index, &err)) {
		if (err.code != RC_END)
			supervisor_find(s, RUN_FINDING_DISABLED, pass,
					"pass %u was not run: %.300s", pass, err.message);
		goto out;
	}
	s->begun++;
	last = index + 1 == s->n_passes;
	several = s->n_passes > 1;
	channel_send(job->channel, &m);
	pass_run(s, pass, first, streams, folder, first ? 0 : supervisor_limit(s), &r);
	if (r.not_run || r.exec_errno) {
		manager_abort(&s->manager, 127, "its program could not be executed");
		if (first) {
			m = (struct channel_message){
				.type = CHANNEL_NOT_EXECUTED, .a = r.exec_errno, .b = r.why.code};
			snprintf(m.text, sizeof(m.text), "%.400s", r.why.message);
			channel_send(job->channel, &m);
		} else {
			supervisor_find(s, RUN_FINDING_DISABLED, pass,
					"pass %u was not run: %.300s", pass,
					r.not_run ? r.why.message : strerror(r.exec_errno));
		}
		goto out;
	}
	if (first)
		output_end_first(&s->output, pass);
	else if (output_end_pass(&s->output, pass, text, sizeof(text)) && !r.timed_out &&
		 !r.cut_short) {
		flags |= SPOOL_PASS_OUTPUT_DIFFERS;
		supervisor_find(s, RUN_FINDING_OUTPUT_DIFFERS, pass, "%s", text);
	}
	flags |= r.timed_out ? SPOOL_PASS_TIMED_OUT : 0;
	flags |= r.timed_out || r.cut_short || r.orphans_remain ? SPOOL_PASS_INCOMPLETE : 0;
	supervisor_record(s, pass, first, &r, flags);
	go_on = supervisor_decide(s, pass, &r, last);
	if (r.orphans_remain && !last)
		supervisor_find(s, RUN_FINDING_ORPHANS, pass,
				"no further pass was run, because it would meet these processes");
	/* Of all ranks of this machine, all of which have ended; by one of them. */
	if (several && !s->caller_gone && (!s->manager.star || s->manager.leader))
		supervisor_leftovers(s, &before, pass, go_on);
out:
	if (folder >= 0)
		close(folder);
	leftovers_release(&before);
	pass_result_release(&r);
	return go_on;
}

static void supervisor_try_no_aslr(struct supervisor *s)
{
	int now = personality(0xffffffff);

	if (!s->job->options->no_aslr)
		return;
	if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0) {
		s->no_aslr_failed = true;
		supervisor_find(s, RUN_FINDING_NOTE, 0,
				"--no-aslr had no effect: personality(2) is not allowed here (%s)",
				strerror(errno));
		return;
	}
	personality((unsigned long)now);
}

/* The ranks of a parallel job meet. False: the run was left meanwhile. */
static bool supervisor_meet(struct supervisor *s)
{
	const struct supervisor_job *job = s->job;
	const struct manager_request request = {
		.choice = job->choice,
		.host = job->host,
		.folder = job->folder,
		.program = job->program->absolute,
		.wait_seconds = job->options->mpi_wait,
		.pmix = job->pmix,
		.owner = {.idle = supervisor_idle, .context = s},
	};
	struct error err = {0};
	int rc;

	if (!job->choice || !job->choice->meet || job->meet_at_end)
		return true;
	rc = manager_open(&s->manager, &request, &err);
	if (rc == RC_END || s->interrupts || s->caller_gone)
		return false;
	if (!rc)
		return true;
	if (!job->choice->relay && !job->choice->pmi && !job->choice->pmix) {
		supervisor_find(s, RUN_FINDING_NOTE, 0, "the ranks do not keep step: %.300s",
				err.message);
		return true;
	}
	supervisor_find(s, RUN_FINDING_NOTE, 0,
			"only the first pass was run: %.300s (--mpi-wait sets the time)",
			err.message);
	s->n_passes = 1;
	return true;
}

/* Each rank ran its one pass (--distribute) without waiting for anybody; now for a moment, so that
 * rank 0 does not speak of ranks that are just finishing. */
static void supervisor_meet_late(struct supervisor *s)
{
	const struct supervisor_job *job = s->job;
	struct manager_request request = {
		.choice = job->choice,
		.host = job->host,
		.folder = job->folder,
		.owner = {.idle = supervisor_idle, .context = s},
	};
	struct error err = {0};

	if (!job->meet_at_end || !s->completed || s->interrupts || s->caller_gone)
		return;
	/* Rank 0 may have been and gone. */
	request.wait_seconds = job->choice->rank ? 3.0 : 5.0;
	if (manager_open(&s->manager, &request, &err) && !job->choice->rank)
		supervisor_find(s, RUN_FINDING_NOTE, 0,
				"other ranks were still running when this was written");
}

/* After the last pass, with the records written: rank 0 waits for the others', and speaks for them.
 */
static void supervisor_collect(struct supervisor *s)
{
	struct manager_vote vote = {.go_on = true,
				    .position = s->begun,
				    .completed = s->completed,
				    .wanted = s->job->n_passes};
	char text[300];
	int status;

	status = manager_unfinished(&s->manager, text, sizeof(text));
	if (status && !s->progress->failed) {
		s->progress->failed = true;
		s->progress->exit_status = status;
		supervisor_find(s, RUN_FINDING_NOTE, 0, "%s", text);
	}
	manager_results(&s->manager, &vote, text, sizeof(text));
	if (text[0])
		supervisor_find(s, RUN_FINDING_NOTE, 0, "%s", text);
	if (s->caller_gone && !s->told_end)
		manager_abort(&s->manager, 128 + SIGKILL, "its retally was killed");
	manager_finish(&s->manager);
}

void supervisor_run(const struct supervisor_job *job)
{
	static struct supervisor s;
	struct progress progress = {0};
	struct error err = {0};
	sigset_t writing;

	s.job = job;
	s.progress = &progress;
	s.n_passes = job->n_passes;
	s.manager = (struct manager){.number = -1, .child_end = -1};
	s.record.spool = job->spool;
	/* A pipe nobody reads and a file size limit are errors to handle, not ends. Blocked and not
	 * ignored: the program's own disposition must stay what it is. */
	sigemptyset(&writing);
	sigaddset(&writing, SIGPIPE);
	sigaddset(&writing, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &writing, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
	prctl(PR_SET_NAME, "retally-passes");
	/* Were we stopped while the caller is killed: wake up and clean. */
	prctl(PR_SET_PDEATHSIG, SIGCONT);

	if (child_environment_init(&s.environment, &err) ||
	    input_init(&s.input, job->closed[0], job->n_passes > 1, job->folder, &err)) {
		struct channel_message m = {.type = CHANNEL_NOT_EXECUTED, .b = err.code};

		snprintf(m.text, sizeof(m.text), "%.400s", err.message);
		channel_send(job->channel, &m);
		goto out;
	}
	output_init(&s.output, job->closed);
	supervisor_try_no_aslr(&s);
	if (supervisor_meet(&s))
		for (uint32_t i = 0; i < s.n_passes; i++)
			if (!supervisor_pass(&s, i))
				break;
	if (s.record.failed)
		supervisor_find(&s, RUN_FINDING_DISABLED, 0,
				"collection stopped, what was written before is kept: %.300s",
				s.record.why.message);
	if (spool_close(job->spool, &err) && !s.record.failed)
		supervisor_find(&s, RUN_FINDING_DISABLED, 0, "%.400s", err.message);
	supervisor_meet_late(&s);
	supervisor_collect(&s);
	supervisor_tell_end(&s, 0);
out:
	manager_release(&s.manager);
	input_release(&s.input);
	output_release(&s.output);
	child_environment_release(&s.environment);
	in_place_release(&s.regions);
	_exit(0);
}
