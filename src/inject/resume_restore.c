/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting back, right before the next pass, what exec would hand down from the pass before. System
 * calls only: this runs while other threads of the program may still live and hold any lock.
 */
#include "inject/resume.h"
#include "inject/resume_format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

static void resume_leave(char *left, size_t size, const char *what)
{
	size_t n = strlen(left);

	if (n + strlen(what) + 3 > size)
		return;
	if (n) {
		memcpy(left + n, ", ", 2);
		n += 2;
	}
	memcpy(left + n, what, strlen(what) + 1);
}

/* What a program can give up for good; a later pass would not be the same run. */
static int resume_check_rights(const struct resume_fixed *f, struct error *err)
{
	uid_t uid[3];
	gid_t gid[3];
	struct stat st;

	getresuid(&uid[0], &uid[1], &uid[2]);
	getresgid(&gid[0], &gid[1], &gid[2]);
	if (memcmp(uid, f->uid, sizeof(uid)) || memcmp(gid, f->gid, sizeof(gid)))
		return error_set(err, RC_PERMISSION,
				 "the program changed its user or group, so it cannot be started "
				 "again as it was");
	if (stat("/", &st) || st.st_dev != f->root_dev || st.st_ino != f->root_ino)
		return error_set(err, RC_PERMISSION,
				 "the program changed its root directory, so it cannot be started "
				 "again as it was");
	return 0;
}

static void resume_restore_signals(const struct resume_fixed *f)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, now;

	/* Blocked by now, and exec resets handlers by itself; what is ignored would stay so. */
	for (int s = 1; s < RESUME_SIGNALS; s++) {
		bool ignored = f->ignored >> (s - 1) & 1;

		if (s == SIGKILL || s == SIGSTOP || sigaction(s, NULL, &now))
			continue;
		action.sa_handler = ignored ? SIG_IGN : SIG_DFL;
		if (now.sa_handler != action.sa_handler)
			sigaction(s, &action, NULL);
	}
	for (int i = 0; i < 3; i++) {
		struct itimerval off = {{0, 0}, {0, 0}};

		/* One that was already running at the start goes on: it is the caller's. */
		if (!(f->timers & 1u << i))
			setitimer((__itimer_which_t)i, &off, NULL);
	}
}

static void resume_restore_limits(const struct resume_fixed *f, char *left, size_t size)
{
	bool lowered = false;

	for (int i = 0; i < RESUME_LIMITS; i++) {
		struct rlimit now, want = f->limits[i];

		if (getrlimit((__rlimit_resource_t)i, &now) ||
		    (now.rlim_cur == want.rlim_cur && now.rlim_max == want.rlim_max))
			continue;
		if (!setrlimit((__rlimit_resource_t)i, &want))
			continue;
		lowered = true;
		want.rlim_max = now.rlim_max;
		if (want.rlim_cur > want.rlim_max)
			want.rlim_cur = want.rlim_max;
		setrlimit((__rlimit_resource_t)i, &want);
	}
	if (lowered)
		resume_leave(left, size, "a lowered hard limit");
	if (sched_getscheduler(0) != f->policy && sched_setscheduler(0, f->policy, &f->sched))
		resume_leave(left, size, "the scheduling policy");
	if (getpriority(PRIO_PROCESS, 0) != f->nice && setpriority(PRIO_PROCESS, 0, f->nice))
		resume_leave(left, size, "a raised nice value");
	if (f->has_affinity && sched_setaffinity(0, sizeof(f->affinity), &f->affinity))
		resume_leave(left, size, "the CPU affinity");
}

/* fd 0 as in the beginning: at the same place of the same file. */
static int resume_restore_stdin(const struct resume_fixed *f, int copy, const char *spool,
				struct error *err)
{
	struct stat st;
	int fd;

	if (f->stdin_kind == RESUME_STDIN_PIPE || f->stdin_interactive) {
		/* Nobody sees the questions of later passes, so nobody could answer them. */
		if (f->stdin_interactive)
			spool = "/dev/null";
		fd = open(spool, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return error_set_errno(err, 0, errno,
					       "the copy of standard input, '%s', is not there",
					       spool);
		if (fd == STDIN_FILENO)
			fcntl(fd, F_SETFD, 0);
		else if (dup2(fd, STDIN_FILENO) >= 0)
			close(fd);
		return 0;
	}
	if (f->stdin_kind != RESUME_STDIN_FILE)
		return 0;
	if (fstat(STDIN_FILENO, &st) || st.st_dev != f->stdin_dev || st.st_ino != f->stdin_ino) {
		/* The program closed or replaced it. */
		if (copy < 0 || fstat(copy, &st) || st.st_dev != f->stdin_dev ||
		    st.st_ino != f->stdin_ino || dup2(copy, STDIN_FILENO) < 0)
			return error_set(err, RC_IO, "the program closed standard input");
	}
	fcntl(STDIN_FILENO, F_SETFD, 0);
	if (lseek(STDIN_FILENO, (off_t)f->stdin_offset, SEEK_SET) < 0)
		return error_set_errno(err, 0, errno, "cannot rewind standard input");
	return 0;
}

int resume_restore(const struct resume *r, int stdin_copy, const char *stdin_spool, char *left,
		   size_t left_size, struct error *err)
{
	const struct resume_fixed *f = r->fixed;
	sigset_t all;
	int rc;

	left[0] = '\0';
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	rc = resume_check_rights(f, err);
	if (rc)
		return rc;
	if (chdir(r->cwd))
		return error_set_errno(err, 0, errno, "cannot go back to '%s'", r->cwd);
	rc = resume_restore_stdin(f, stdin_copy, stdin_spool, err);
	if (rc)
		return rc;
	umask((mode_t)f->umask);
	resume_restore_signals(f);
	resume_restore_limits(f, left, left_size);
	prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)f->subreaper, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, (unsigned long)f->death_signal, 0, 0, 0);
	if (f->personality >= 0)
		personality((unsigned long)f->personality);
	return 0;
}

/* Marks first..last close-on-exec. */
static void resume_close_range(unsigned first, unsigned last)
{
	static int works = 1;
	struct rlimit limit;

	if (first > last)
		return;
#ifdef SYS_close_range
	if (works && !syscall(SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC))
		return;
#endif
	works = 0; /* Linux before 5.11 */
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < last)
		last = limit.rlim_cur < 65536 ? (unsigned)limit.rlim_cur : 65536;
	for (unsigned fd = first; fd <= last && fd <= 65536; fd++)
		fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

void resume_close_others(const struct resume *r, int keep)
{
	unsigned next = 3;

	for (uint32_t i = 0; i < r->fixed->n_fds; i++) {
		if (r->fds[i] < (int)next)
			continue;
		resume_close_range(next, (unsigned)r->fds[i] - 1);
		next = (unsigned)r->fds[i] + 1;
	}
	resume_close_range(next, ~0u);
	if (keep >= 0)
		fcntl(keep, F_SETFD, 0);
}
