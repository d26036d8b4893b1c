/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of one pass: what was left behind by the pass before, the begin, the end, and the step
 * to the next one.
 *
 * The end is reached on many ways (return, exit, quick_exit, _exit, the last thread), maybe on two
 * at once and maybe within a signal handler; the first one does the work, and the work is system
 * calls.
 */
#include "base/elf_probe.h"
#include "inject/inject.h"
#include "inject/orphans.h"
#include "inject/output.h"
#include "inject/resume.h"
#include "inject/say.h"
#include "inject/session.h"
#include "wire/identity.h"
#include "wire/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASS_ORPHAN_WAIT 5 /* seconds; RETALLY_ORPHAN_WAIT */

static struct {
	struct state state;
	struct session_paths paths;
	bool active;    /* this process owned a pass when it was set up; see pass_is_owner */
	int ending;     /* tid of the thread that ends the pass */
	int restricted; /* the program limits its system calls: none of ours may follow */
	int tracer;     /* pid of the process that traced this one at the begin; 0: none */
	int stdin_copy; /* fd 0 of the start, when it can be rewound; -1 */
	struct stat stdin_file; /* of stdin_copy */
} the_pass = {.stdin_copy = -1};

bool pass_is_owner(void)
{
	return the_pass.active && !__atomic_load_n(&the_pass.restricted, __ATOMIC_ACQUIRE) &&
	       getpid() == the_pass.state.pid;
}

/* No pass may follow. Says why, in the report and to the user. */
static void pass_disable(const char *why)
{
	session_note(SPOOL_NOTE_DISABLED, "disabled because %s", why);
	if (the_pass.state.replay && the_pass.state.pass < the_pass.state.passes)
		say("%s: pass %u of %u is the last one (results so far are in '%s')", why,
		    the_pass.state.pass, the_pass.state.passes, the_pass.paths.directory);
	else
		say("%s", why);
	the_pass.state.replay = false;
	unlink(the_pass.paths.resume);
	unlink(the_pass.paths.stdin_copy);
}

bool pass_restrict(void)
{
	int no = 0;

	if (!pass_is_owner() || !__atomic_compare_exchange_n(&the_pass.restricted, &no, 1, false,
							     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	pass_disable("the program limits its own system calls (seccomp), which can end it in any "
		     "of ours: this pass has no end");
	return true;
}

void pass_unrestrict(void)
{
	__atomic_store_n(&the_pass.restricted, 0, __ATOMIC_RELEASE);
}

/* Pid of the process that traces this one, 0: none. */
static int pass_tracer(void)
{
	static const char key[] = "\nTracerPid:\t";
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC), pid = 0;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *at;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, key);
	for (at = at ? at + sizeof(key) - 1 : ""; *at >= '0' && *at <= '9'; at++)
		pid = pid * 10 + (*at - '0');
	return pid;
}

/* ---- begin ---- */

static const char *pass_get(void *context, const char *name)
{
	return state_variable(context, name);
}

static bool pass_owns_stdin_copy(void)
{
	struct stat st;

	return the_pass.stdin_copy >= 0 && !fstat(the_pass.stdin_copy, &st) &&
	       st.st_dev == the_pass.stdin_file.st_dev && st.st_ino == the_pass.stdin_file.st_ino;
}

/* A forked child is none of ours, and must not keep the user's files and pipes open. */
static void pass_forked(void)
{
	if (!the_pass.active)
		return;
	the_pass.active = false;
	session_abandon();
	say_abandon();
	if (pass_owns_stdin_copy())
		close(the_pass.stdin_copy);
	the_pass.stdin_copy = -1;
}

/* The status is that of the first pass that failed; the other handlers and the destructors of all
 * libraries have run by now, because this one was there before them. */
static void pass_at_exit(int status, void *unused)
{
	int code;

	(void)unused;
	if (!pass_is_owner())
		return;
	/* Exactly what libc would do next, without waiting for a stream that another thread reads
	 * from, as fflush(NULL) would. Only here: _exit leaves the buffers as they are. */
	fcloseall();
	code = pass_end(status & 0xff);
	if (code != (status & 0xff))
		syscall(SYS_exit_group, code);
}

static int pass_quick_status;

void pass_set_quick_status(int status)
{
	pass_quick_status = status & 0xff;
}

static void pass_at_quick_exit(void)
{
	int code;

	if (!pass_is_owner())
		return;
	code = pass_end(pass_quick_status);
	if (code != pass_quick_status)
		syscall(SYS_exit_group, code);
}

/* Before pass 2 and later the process is ours: until the program runs again, or not at all. */
static int pass_between(const struct resume *r, char *const *envp, struct error *err)
{
	const struct state *s = &the_pass.state;
	uint32_t seconds = PASS_ORPHAN_WAIT;
	const char *differs;
	struct orphans o;

	state_parse_number(state_variable(envp, INJECT_WAIT_VARIABLE), INJECT_WAIT_MAX, &seconds);
	orphans_wait(s, seconds, &o);
	if (o.n)
		session_note(SPOOL_NOTE_FINDING,
			     "%d processes outlived pass %u (one of them: '%s', pid %d); they were "
			     "counted up to its end",
			     o.n, s->pass - 1, o.name, o.pid);
	if (o.left)
		return error_set(
			err, RC_ERROR,
			"%d processes that pass %u started still ran %u seconds after its end "
			"(one of them: '%s', pid %d), and passes must not overlap",
			o.left, s->pass - 1, seconds, o.name, o.pid);
	/* Whoever waits for children of the pass before would be surprised by one. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	differs = output_differs(&the_pass.paths, s->pass - 1);
	if (differs)
		session_note(SPOOL_NOTE_FINDING, "%s of pass %u is not that of pass 2", differs,
			     s->pass - 1);
	return output_redirect(&the_pass.paths, r, s->pass, err);
}

static void pass_keep_stdin(const struct resume *r, char *value)
{
	struct error err = {0};

	if (resume_stdin(r) == RESUME_STDIN_FILE) {
		/* The program may close it; its position is to be put back then, too. */
		the_pass.stdin_copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 890);
		if (the_pass.stdin_copy < 0)
			the_pass.stdin_copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 64);
		if (the_pass.stdin_copy >= 0)
			fstat(the_pass.stdin_copy, &the_pass.stdin_file);
	}
	if (resume_stdin(r) == RESUME_STDIN_PIPE && the_pass.state.phase == STATE_BEGIN &&
	    the_pass.state.pass == 1 && stdin_keep(&the_pass.paths, value, &err))
		pass_disable(err.message);
}

/* With the spool open and, when this image begins the pass, the file that says how to start the
 * next. */
static int pass_prepare(struct session_start *start, const struct resume *r, char *value,
			char *const *envp, struct error *err)
{
	const struct state *s = &the_pass.state;
	int rc = session_open(start, err);

	if (rc)
		return rc;
	if (s->phase == STATE_BEGIN) {
		prctl(PR_SET_NAME, resume_comm(r), 0, 0, 0);
		if (s->pass > 1 && s->replay)
			rc = pass_between(r, envp, err);
	}
	if (rc)
		return rc;
	if (r && s->replay && s->pass < s->passes)
		pass_keep_stdin(r, value);
	else
		unlink(the_pass.paths.resume);
	rc = session_count(start, err);
	return rc;
}

static int pass_set_up(char *value, char *const *envp, struct error *err)
{
	struct state *s = &the_pass.state;
	const char *directory = state_variable(envp, "RETALLY_OUT");
	struct session_start start = {.paths = &the_pass.paths, .state = s};
	struct identity identity = {0}, here = {0};
	const char **argv = NULL;
	struct resume *r = NULL;
	int rc;

	identity_warn_no_more();
	identity_read(&here); /* for the host; libc may not have the environment yet */
	identity_read_from(&identity, pass_get, (void *)(uintptr_t)envp);
	start.host = here.host;
	start.rank = identity.rank;
	start.size = identity.size;
	start.local_rank = identity.local_rank;
	if (!directory || *directory != '/')
		return error_set(err, RC_INVALID, "RETALLY_OUT was changed while the program ran");
	rc = session_name_files(&the_pass.paths, directory, s->launch, start.host, start.rank, err);
	/* The last image of the last pass needs neither, and the file is gone by then. */
	if (!rc && (s->phase == STATE_BEGIN || (s->replay && s->pass < s->passes)))
		rc = resume_open(&r, the_pass.paths.resume, err);
	if (!rc && r)
		rc = resume_list_argv(r, &argv, err);
	if (!rc) {
		start.argv = argv;
		rc = pass_prepare(&start, r, value, envp, err);
	}
	free((void *)argv);
	if (r)
		resume_close(r);
	return rc;
}

/* The user's stderr, for what we have to say while the program's goes to a file; many programs
 * close theirs at the end. */
static void pass_keep_stderr(const struct state *state)
{
	int fd = state->stderr_fd;

	if (fd >= 0) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	} else if (state->pass == 1 && state->passes > 1) {
		fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 880);
		if (fd < 0)
			fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 64);
	}
	say_set_fd(fd);
}

void pass_begin(const struct state *state, char *value, char *const *envp)
{
	bool is_ours = state->replay && state->pass > 1 && state->phase == STATE_BEGIN;
	struct error err = {0};

	the_pass.state = *state;
	if (state->phase == STATE_BEGIN && state->replay)
		pass_keep_stderr(state);
	state_set_phase(value, STATE_RUN);
	the_pass.tracer = pass_tracer();
	if (pass_set_up(value, envp, &err)) {
		session_note(SPOOL_NOTE_DISABLED, "disabled because %s", err.message);
		if (is_ours) {
			say("%s: pass %u of %u and later were not run (results so far are in '%s')",
			    err.message, state->pass, state->passes, the_pass.paths.directory);
			unlink(the_pass.paths.resume);
			unlink(the_pass.paths.stdin_copy);
			session_close();
			syscall(SYS_exit_group, state->exit_code);
		}
		say("%s; the program runs without being counted", err.message);
		session_close();
		return;
	}
	the_pass.active = true;
	on_exit(pass_at_exit, NULL);
	at_quick_exit(pass_at_quick_exit);
	pthread_atfork(NULL, NULL, pass_forked);
}

/* ---- end ---- */

/* Executes the program for the next pass. Returns when that cannot be done. */
static void pass_step(int code)
{
	struct state next = the_pass.state;
	struct error err = {0};
	struct resume *r;
	char left[128];
	int tracer = pass_tracer();

	/* An exec stops a traced process, for a tracer that need not expect one. */
	if (tracer && tracer != the_pass.tracer) {
		pass_disable(
			"the program is traced by now (ptrace), so it cannot be executed again");
		return;
	}
	if (resume_open(&r, the_pass.paths.resume, &err)) {
		if (err.code == RC_PERMISSION)
			error_set(&err, RC_PERMISSION,
				  "the program changed its user or gave up rights, so it cannot be "
				  "started again as it was");
		pass_disable(err.message);
		return;
	}
	if (resume_restore(r, pass_owns_stdin_copy() ? the_pass.stdin_copy : -1,
			   the_pass.paths.stdin_copy, left, sizeof(left), &err)) {
		pass_disable(err.message);
		return;
	}
	if (left[0])
		session_note(SPOOL_NOTE_FINDING, "what could not be put back before pass %u: %s",
			     next.pass + 1, left);
	if (resume_stdin(r) == RESUME_STDIN_OTHER && next.pass == 1 && resume_is_interactive(r))
		session_note(SPOOL_NOTE_FINDING, "standard input cannot be repeated (a terminal or "
						 "socket): passes from 2 on read end of file");
	next.pass++;
	next.phase = STATE_BEGIN;
	next.exit_code = code;
	next.stderr_fd = say_fd();
	session_close();
	resume_close_others(r, next.stderr_fd);
	resume_exec(r, &next, &err);
	if (session_reopen(&err) == 0)
		pass_disable(err.message);
	else
		say("%s", err.message);
}

/* Another thread is on its way to the next pass, which ends this one. */
static void pass_wait_for_end(void)
{
	struct timespec pause = {0, 10000000};

	for (int i = 0; i < 1000; i++)
		nanosleep(&pause, NULL);
}

int pass_end(int status)
{
	int me = (int)syscall(SYS_gettid), nobody = 0, code;
	const char *differs;
	sigset_t all, old;

	if (!pass_is_owner())
		return status;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!__atomic_compare_exchange_n(&the_pass.ending, &nobody, me, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		if (nobody != me)
			pass_wait_for_end();
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		return status;
	}
	code = the_pass.state.exit_code ? the_pass.state.exit_code : status;
	session_end(status);
	if (the_pass.state.replay && the_pass.state.pass < the_pass.state.passes) {
		pass_step(code);
	} else if (the_pass.state.replay) {
		differs = output_differs(&the_pass.paths, the_pass.state.pass);
		if (differs)
			session_note(SPOOL_NOTE_FINDING, "%s of pass %u is not that of pass 2",
				     differs, the_pass.state.pass);
		unlink(the_pass.paths.stdin_copy);
	}
	session_close();
	the_pass.active = false;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return code;
}

void pass_exec(const char *path, char *const *envp)
{
	char reason[256];

	if (!pass_is_owner() || !session_is_open())
		return;
	session_carry();
	if (!state_variable(envp, STATE_VARIABLE) || !state_variable(envp, "LD_PRELOAD"))
		session_note(SPOOL_NOTE_FINDING,
			     "the program executed '%s' without RETALLY_STATE or LD_PRELOAD in its "
			     "environment: what follows is not counted, and no pass follows",
			     path ? path : "?");
	else if (path && !elf_can_preload(path, reason, sizeof(reason)))
		session_note(SPOOL_NOTE_FINDING,
			     "the program executed '%s', which cannot load libretally (%s): what "
			     "follows is not counted, and no pass follows",
			     path, reason);
}
