/* SPDX-License-Identifier: Apache-2.0 */
/* Finding, holding and executing the program. */
#include "launch/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

/* 0 when path is a file that may be executed, else the errno execve would give. */
static int program_try(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return errno;
	return 0;
}

/* The search of execvp: a permission problem in one folder is reported only when no other folder
 * has the program. */
static int program_search(const char *name, char **path_out)
{
	const char *path = getenv("PATH");
	int first_errno = ENOENT;

	if (!path)
		path = _PATH_DEFPATH;
	for (;;) {
		size_t n = strcspn(path, ":");
		char *candidate = NULL;
		int rc;

		if (asprintf(&candidate, "%.*s%s%s", (int)n, path, n ? "/" : "", name) < 0)
			return ENOMEM;
		rc = program_try(candidate);
		if (!rc) {
			*path_out = candidate;
			return 0;
		}
		free(candidate);
		if (rc == EACCES)
			first_errno = EACCES;
		path += n;
		if (!*path)
			return first_errno;
		path++;
	}
}

static void program_examine(struct program *p, const struct stat *st)
{
	bool root = geteuid() == 0, gains;
	struct statvfs fs;
	unsigned char capability[sizeof(struct vfs_ns_cap_data)];

	/* Where nothing can be gained by an exec, nothing is taken away either. */
	gains = prctl(PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L) != 1 &&
		(statvfs(p->path, &fs) || !(fs.f_flag & ST_NOSUID));
	if (gains && (st->st_mode & S_ISUID) && st->st_uid != geteuid())
		snprintf(p->cannot_count, sizeof(p->cannot_count),
			 "'%s' is set-user-id: the kernel removes the counters when it starts",
			 p->argv[0]);
	else if (gains && (st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP) &&
		 st->st_gid != getegid())
		snprintf(p->cannot_count, sizeof(p->cannot_count),
			 "'%s' is set-group-id: the kernel removes the counters when it starts",
			 p->argv[0]);
	else if (gains && !root &&
		 getxattr(p->path, "security.capability", capability, sizeof(capability)) > 0)
		snprintf(p->cannot_count, sizeof(p->cannot_count),
			 "'%s' has file capabilities: the kernel removes the counters when it "
			 "starts",
			 p->argv[0]);
	else if (!root && faccessat(AT_FDCWD, p->path, R_OK, AT_EACCESS))
		snprintf(p->cannot_count, sizeof(p->cannot_count),
			 "'%s' may be executed but not read: the kernel removes the counters when "
			 "it starts",
			 p->argv[0]);
}

int program_find(struct program *p, char *const *argv, struct error *err)
{
	char start[2];
	struct stat st;
	int rc, fd;

	memset(p, 0, sizeof(*p));
	p->argv = argv;
	p->fd = -1;
	if (!argv[0] || !argv[0][0])
		return error_set(err, RC_NOT_FOUND, "no program to run");
	if (strchr(argv[0], '/')) {
		rc = program_try(argv[0]);
		p->path = strdup(argv[0]);
		if (!p->path)
			return error_set(err, RC_NO_MEMORY, "out of memory");
	} else {
		rc = program_search(argv[0], &p->path);
	}
	if (rc == ENOMEM) {
		return error_set(err, RC_NO_MEMORY, "out of memory");
	} else if (rc) {
		program_release(p);
		if ((rc == ENOENT || rc == ENOTDIR) && !strchr(argv[0], '/'))
			return error_set(err, RC_NOT_FOUND, "'%s' was not found in PATH", argv[0]);
		return error_set_errno(err,
				       rc == ENOENT || rc == ENOTDIR ? RC_NOT_FOUND : RC_PERMISSION,
				       rc, "cannot execute '%s'", argv[0]);
	}
	if (p->path[0] == '/') {
		p->absolute = strdup(p->path);
	} else {
		char *cwd = getcwd(NULL, 0);

		if (!cwd || asprintf(&p->absolute, "%s/%s", cwd, p->path) < 0)
			p->absolute = strdup(p->path);
		free(cwd);
	}
	p->fd = open(p->path, O_PATH | O_CLOEXEC);
	if (!p->absolute || p->fd < 0 || fstat(p->fd, &st)) {
		rc = errno;
		program_release(p);
		return error_set_errno(err, RC_PERMISSION, rc, "cannot open '%s'", argv[0]);
	}
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0) {
		p->is_script = read(fd, start, 2) == 2 && start[0] == '#' && start[1] == '!';
		close(fd);
	}
	program_examine(p, &st);
	return 0;
}

void program_execute(const struct program *p, char *const *envp, bool moved)
{
	const char *path = moved ? p->absolute : p->path;
	int first_errno = ENOENT;
	struct stat st;

	/* By its path first: then /proc/self/exe, AT_EXECFN and $0 are what they are without us. */
	if (!stat(path, &st) && st.st_dev == p->dev && st.st_ino == p->ino) {
		execve(path, p->argv, envp);
		first_errno = errno;
	}
	if (first_errno == ENOENT || first_errno == EACCES) {
		/* An interpreter opens the script through /dev/fd/N, so N has to stay open. */
		if (p->is_script)
			fcntl(p->fd, F_SETFD, 0);
		syscall(SYS_execveat, p->fd, "", p->argv, envp, AT_EMPTY_PATH);
		if (first_errno == ENOENT)
			first_errno = errno;
	}
	if (first_errno == ENOEXEC) {
		/* execvp and every shell give a file without #! to the shell. */
		size_t n = 0;
		char **argv;

		while (p->argv[n])
			n++;
		argv = calloc(n + 2, sizeof(*argv));
		if (argv) {
			static char shell[] = _PATH_BSHELL;

			argv[0] = shell;
			argv[1] = strdup(path);
			for (size_t i = 1; i < n; i++)
				argv[i + 1] = p->argv[i];
			execve(_PATH_BSHELL, argv, envp);
		}
	}
	errno = first_errno;
}

void program_release(struct program *p)
{
	free(p->path);
	free(p->absolute);
	p->path = p->absolute = NULL;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}
