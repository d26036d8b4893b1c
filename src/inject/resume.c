/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saving how the program was started, and starting it so again. The file is one flat block with
 * offsets, so that the end of a pass can use it as it lies there.
 */
#include "inject/resume.h"

#include "base/hash.h"
#include "base/str.h"
#include "inject/resume_format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static struct resume the_resume;

/* ---- saving ---- */

static void resume_capture_process(struct resume_fixed *f)
{
	struct sigaction action;

	f->umask = umask(0);
	umask((mode_t)f->umask);
	for (int s = 1; s < RESUME_SIGNALS; s++)
		if (!sigaction(s, NULL, &action) && action.sa_handler == SIG_IGN)
			f->ignored |= (uint64_t)1 << (s - 1);
	for (int i = 0; i < RESUME_LIMITS; i++)
		if (getrlimit((__rlimit_resource_t)i, &f->limits[i]))
			f->limits[i].rlim_cur = f->limits[i].rlim_max = RLIM_INFINITY;
	errno = 0;
	f->nice = getpriority(PRIO_PROCESS, 0);
	f->policy = sched_getscheduler(0);
	sched_getparam(0, &f->sched);
	f->has_affinity = sched_getaffinity(0, sizeof(f->affinity), &f->affinity) == 0;
	for (int i = 0; i < 3; i++) {
		struct itimerval timer;

		if (!getitimer((__itimer_which_t)i, &timer) &&
		    (timer.it_value.tv_sec || timer.it_value.tv_usec))
			f->timers |= 1u << i;
	}
	f->personality = personality(0xffffffff);
	prctl(PR_GET_CHILD_SUBREAPER, &f->subreaper, 0, 0, 0);
	prctl(PR_GET_PDEATHSIG, &f->death_signal, 0, 0, 0);
	prctl(PR_GET_NAME, f->comm, 0, 0, 0);
	f->comm[sizeof(f->comm) - 1] = '\0';
	getresuid(&f->uid[0], &f->uid[1], &f->uid[2]);
	getresgid(&f->gid[0], &f->gid[1], &f->gid[2]);
}

static int resume_capture_files(struct resume_fixed *f, struct error *err)
{
	struct stat st;
	off_t at;

	if (stat("/", &st))
		return error_set_errno(err, 0, errno, "cannot inspect '/'");
	f->root_dev = st.st_dev;
	f->root_ino = st.st_ino;
	if (stat("/proc/thread-self/exe", &st))
		return error_set_errno(err, RC_UNSUPPORTED, errno, "cannot inspect /proc/self/exe");
	f->exe_dev = st.st_dev;
	f->exe_ino = st.st_ino;
	if (fstat(STDIN_FILENO, &st))
		return 0; /* closed: RESUME_STDIN_OTHER */
	f->stdin_dev = st.st_dev;
	f->stdin_ino = st.st_ino;
	at = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (S_ISREG(st.st_mode) && at >= 0) {
		f->stdin_kind = RESUME_STDIN_FILE;
		f->stdin_offset = at;
	} else if (S_ISFIFO(st.st_mode)) {
		f->stdin_kind = RESUME_STDIN_PIPE;
	} else {
		f->stdin_interactive = S_ISSOCK(st.st_mode) || isatty(STDIN_FILENO);
	}
	return 0;
}

/* Numbers of the open descriptors, ascending, as int after int. */
static int resume_capture_fds(struct str *fds, struct error *err)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int *list, n, last = -1;

	if (!dir)
		return error_set_errno(err, 0, errno, "cannot read /proc/self/fd");
	while ((entry = readdir(dir))) {
		int fd = entry->d_name[0] == '.' ? -1 : atoi(entry->d_name);

		if (fd >= 0 && fd != dirfd(dir))
			str_add_bytes(fds, &fd, sizeof(fd));
	}
	closedir(dir);
	/* proc lists them in order; sort all the same, the gaps depend on it. */
	list = (int *)(void *)fds->text;
	n = (int)(fds->size / sizeof(int));
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && list[k - 1] > list[k]; k--) {
			last = list[k];
			list[k] = list[k - 1];
			list[k - 1] = last;
		}
	return 0;
}

static uint32_t resume_add_list(struct str *s, char *const *list)
{
	uint32_t n = 0;

	for (; list[n]; n++)
		str_add_bytes(s, list[n], strlen(list[n]) + 1);
	return n;
}

static int resume_write_file(const char *path, const struct str *s, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), rc = 0;
	size_t done = 0;

	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot create '%s'", path);
	while (done < s->size) {
		ssize_t n = write(fd, s->text + done, s->size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = error_set_errno(err, 0, n ? errno : ENOSPC, "cannot write '%s'", path);
			break;
		}
		done += (size_t)n;
	}
	if (close(fd) && !rc && errno != EINTR)
		rc = error_set_errno(err, 0, errno, "cannot write '%s'", path);
	if (rc)
		unlink(path);
	return rc;
}

int resume_save(const char *path, char *const *argv, char *const *envp_new, const sigset_t *mask,
		struct error *err)
{
	struct resume_fixed f = {.magic = RESUME_MAGIC, .stdin_kind = RESUME_STDIN_OTHER};
	struct str s = STR_INIT, fds = STR_INIT;
	char exe[4096], cwd[4096];
	ssize_t n;
	int rc;

	resume_capture_process(&f);
	f.mask = *mask;
	rc = resume_capture_files(&f, err);
	if (!rc)
		rc = resume_capture_fds(&fds, err);
	if (rc)
		goto out;
	n = readlink("/proc/thread-self/exe", exe, sizeof(exe) - 1);
	if (n < 0 || !getcwd(cwd, sizeof(cwd))) {
		rc = error_set_errno(err, 0, errno, "cannot read the program's path or directory");
		goto out;
	}
	exe[n] = '\0';
	f.n_fds = (uint32_t)(fds.size / sizeof(int));
	str_add_bytes(&s, &f, sizeof(f));
	str_add_bytes(&s, fds.text, fds.size);
	str_add_bytes(&s, exe, strlen(exe) + 1);
	str_add_bytes(&s, cwd, strlen(cwd) + 1);
	f.n_argv = resume_add_list(&s, argv);
	f.n_envp = resume_add_list(&s, envp_new);
	if (str_is_failed(&s) || str_is_failed(&fds)) {
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
		goto out;
	}
	f.size = s.size;
	memcpy(s.text, &f, sizeof(f));
	f.checksum = hash64(s.text, s.size);
	memcpy(s.text, &f, sizeof(f));
	rc = resume_write_file(path, &s, err);
out:
	str_release(&s);
	str_release(&fds);
	return rc;
}

/* ---- opening ---- */

/* Whether the strings that the head promises are there, each with its end. */
static bool resume_index(struct resume *r)
{
	const char *p = (const char *)(r->fixed + 1), *end = (const char *)r->fixed + r->size;
	uint64_t strings = 2 + (uint64_t)r->fixed->n_argv + r->fixed->n_envp;

	if (r->fixed->n_fds > (uint64_t)(end - p) / sizeof(int))
		return false;
	r->fds = (const int *)(const void *)p;
	p += r->fixed->n_fds * sizeof(int);
	r->exe = p;
	for (uint64_t i = 0; i < strings; i++) {
		const char *zero = memchr(p, 0, (size_t)(end - p));

		if (!zero)
			return false;
		p = zero + 1;
		if (i == 0)
			r->cwd = p;
		else if (i == 1)
			r->argv = p;
		else if (i == 1 + (uint64_t)r->fixed->n_argv)
			r->envp = p;
	}
	if (!r->fixed->n_argv)
		r->envp = r->argv;
	return p == end;
}

int resume_open(struct resume **r_out, const char *path, struct error *err)
{
	struct resume *r = &the_resume;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct resume_fixed *f;
	uint64_t checksum;
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st)) {
		error_set_errno(err, 0, errno, "cannot open '%s'", path);
		if (fd >= 0)
			close(fd);
		return err ? err->code : RC_IO;
	}
	if (st.st_size < (off_t)sizeof(*r->fixed) || st.st_uid != geteuid() || (st.st_mode & 077)) {
		close(fd);
		return error_set(err, RC_CORRUPT, "'%s' is not a file that retally wrote", path);
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return error_set_errno(err, 0, errno, "cannot map '%s'", path);
	f = map;
	checksum = f->checksum;
	f->checksum = 0;
	*r = (struct resume){.fixed = f, .size = (size_t)st.st_size};
	if (memcmp(f->magic, RESUME_MAGIC, sizeof(f->magic)) || f->size != (uint64_t)st.st_size ||
	    hash64(map, (size_t)st.st_size) != checksum || !resume_index(r)) {
		munmap(map, (size_t)st.st_size);
		return error_set(err, RC_CORRUPT, "'%s' is damaged", path);
	}
	*r_out = r;
	return 0;
}

void resume_close(struct resume *r)
{
	if (r->fixed)
		munmap(r->fixed, r->size);
	*r = (struct resume){0};
}

int resume_list_argv(const struct resume *r, const char ***argv_out, struct error *err)
{
	const char **argv = calloc((size_t)r->fixed->n_argv + 1, sizeof(*argv)), *text = r->argv;

	if (!argv)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (uint32_t i = 0; i < r->fixed->n_argv; i++, text += strlen(text) + 1)
		argv[i] = text;
	*argv_out = argv;
	return 0;
}

bool resume_has_fd(const struct resume *r, int fd)
{
	for (uint32_t i = 0; i < r->fixed->n_fds; i++)
		if (r->fds[i] == fd)
			return true;
	return false;
}

bool resume_is_interactive(const struct resume *r)
{
	return r->fixed->stdin_interactive;
}

enum resume_stdin resume_stdin(const struct resume *r)
{
	return (enum resume_stdin)r->fixed->stdin_kind;
}

const char *resume_comm(const struct resume *r)
{
	return r->fixed->comm;
}

/* ---- executing ---- */

/* The path, when it still leads to the program that was started; else the program itself, which
 * exists as long as it runs, even when its file was removed or replaced. */
static const char *resume_path(const struct resume *r, struct error *err)
{
	struct stat st;

	if (!stat(r->exe, &st) && st.st_dev == r->fixed->exe_dev && st.st_ino == r->fixed->exe_ino)
		return r->exe;
	if (!stat("/proc/thread-self/exe", &st) && st.st_dev == r->fixed->exe_dev &&
	    st.st_ino == r->fixed->exe_ino)
		return "/proc/thread-self/exe";
	error_set(err, RC_NOT_FOUND, "'%s' was removed or replaced while the program ran", r->exe);
	return NULL;
}

static const char *resume_next(const char *text)
{
	return text + strlen(text) + 1;
}

int resume_exec(const struct resume *r, const struct state *state, struct error *err)
{
	static char state_text[STATE_TEXT_SIZE], pass_text[32];
	size_t n_argv = r->fixed->n_argv, n_envp = r->fixed->n_envp;
	const char **lists, **envp, *text = r->argv, *path = resume_path(r, err);
	size_t size = (n_argv + n_envp + 2) * sizeof(*lists);
	int saved;

	if (!path)
		return RC_NOT_FOUND;
	lists = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (lists == MAP_FAILED)
		return error_set_errno(err, 0, errno, "no memory for the arguments");
	state_format(state, state_text, pass_text);
	envp = lists + n_argv + 1;
	for (size_t i = 0; i < n_argv; i++, text = resume_next(text))
		lists[i] = text;
	for (size_t i = 0; i < n_envp; i++, text = resume_next(text))
		envp[i] = !strncmp(text, "RETALLY_STATE=", 14)  ? state_text
			  : !strncmp(text, "RETALLY_PASS=", 13) ? pass_text
								: text;
	sigprocmask(SIG_SETMASK, &r->fixed->mask, NULL);
	syscall(SYS_execve, path, lists, envp);
	saved = errno;
	munmap(lists, size);
	return error_set_errno(err, 0, saved, "cannot execute '%s' again", path);
}
