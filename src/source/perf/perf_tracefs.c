/* SPDX-License-Identifier: Apache-2.0 */
/* Tracepoint numbers and inheritable uprobes, through a tracefs that need not be mounted. */
#include "source/perf/perf_tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* From <linux/mount.h>, which older systems lack. */
#define TRACEFS_FSOPEN_CLOEXEC  1u
#define TRACEFS_FSMOUNT_CLOEXEC 1u
#define TRACEFS_CMD_CREATE      6u

#define GROUP_PREFIX "retally_"

static int open_mounted(const char *path)
{
	struct statfs fs;
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	/* The folder exists on every machine; only a mounted one has the file system behind it. */
	if (fstatfs(fd, &fs) || (fs.f_type != TRACEFS_MAGIC && fs.f_type != DEBUGFS_MAGIC)) {
		close(fd);
		errno = ENOENT;
		return -1;
	}
	return fd;
}

int perf_tracefs_open(int *dir_out, struct error *err)
{
	int fs, dir = open_mounted("/sys/kernel/tracing"), saved;

	if (dir >= 0 && faccessat(dir, "events", R_OK | X_OK, AT_EACCESS)) {
		close(dir);
		return error_set(err, RC_PERMISSION,
				 "/sys/kernel/tracing may not be read by this user: run as root");
	}
	if (dir < 0) {
		fs = (int)syscall(SYS_fsopen, "tracefs", TRACEFS_FSOPEN_CLOEXEC);
		saved = errno;
		if (fs >= 0) {
			if (!syscall(SYS_fsconfig, fs, TRACEFS_CMD_CREATE, NULL, NULL, 0))
				dir = (int)syscall(SYS_fsmount, fs, TRACEFS_FSMOUNT_CLOEXEC, 0);
			saved = errno;
			close(fs);
		}
		if (dir < 0 && (saved == EPERM || saved == EACCES))
			return error_set(
				err, RC_PERMISSION,
				"tracepoints and uprobes need tracefs, which is not mounted on "
				"/sys/kernel/tracing: run as root");
		if (dir < 0)
			return error_set_errno(
				err, RC_UNSUPPORTED, saved,
				"tracepoints and uprobes need tracefs, which this kernel "
				"or container does not give");
	}
	*dir_out = dir;
	return 0;
}

static int read_small(int dir, const char *path, char *text, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -1;
	text[n] = '\0';
	return 0;
}

int perf_tracefs_id(int dir, const char *name, uint64_t *id_out, struct error *err)
{
	char path[PERF_NAME_SIZE + 32], text[32];
	const char *colon = strchr(name, ':');

	if (!colon)
		return error_set(err, RC_INVALID, "'%s' is not SUBSYSTEM:NAME", name);
	snprintf(path, sizeof(path), "events/%.*s/%s/id", (int)(colon - name), name, colon + 1);
	if (read_small(dir, path, text, sizeof(text)))
		return errno == ENOENT
			       ? error_set(err, RC_NOT_FOUND, "this kernel has no tracepoint '%s'",
					   name)
			       : error_set_errno(err, RC_PERMISSION, errno,
						 "cannot read the number of tracepoint '%s'", name);
	*id_out = strtoull(text, NULL, 10);
	return 0;
}

static int command(int dir, const char *text)
{
	/* O_APPEND: without it the kernel removes every uprobe of the machine first. */
	int fd = openat(dir, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	ssize_t n;
	int saved;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	saved = errno;
	close(fd);
	errno = saved;
	return n < 0 ? -1 : 0;
}

int perf_tracefs_add_uprobe(int dir, const char *name, const struct perf_config *c,
			    uint64_t *id_out, struct error *err)
{
	char text[PERF_OBJECT_SIZE + PERF_NAME_SIZE + 64], full[PERF_NAME_SIZE];
	char link[64];
	const char *object = c->object;
	int fd, rc = 0, tries;

	/* By descriptor: a path with a space in it could not be written otherwise. */
	fd = open(object, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot open '%s' for a uprobe", object);
	if (strpbrk(object, " \t\n\\\"'#")) {
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)getpid(), fd);
		object = link;
	}
	snprintf(text, sizeof(text), "%c:" GROUP_PREFIX "%d/%s %s:0x%llx\n",
		 c->uretprobe ? 'r' : 'p', (int)getpid(), name, object,
		 (unsigned long long)c->offset);
	for (tries = 0; command(dir, text); tries++) {
		if (errno != EEXIST || tries) {
			rc = error_set_errno(err, errno == ENOENT ? RC_UNSUPPORTED : 0, errno,
					     "the kernel refuses a uprobe at offset 0x%llx of '%s'",
					     (unsigned long long)c->offset, c->object);
			goto out;
		}
		perf_tracefs_remove_uprobe(dir, name);
	}
	snprintf(full, sizeof(full), GROUP_PREFIX "%d:%s", (int)getpid(), name);
	rc = perf_tracefs_id(dir, full, id_out, err);
	if (rc)
		perf_tracefs_remove_uprobe(dir, name);
out:
	close(fd);
	return rc;
}

void perf_tracefs_remove_uprobe(int dir, const char *name)
{
	char text[PERF_NAME_SIZE + 64];

	snprintf(text, sizeof(text), "-:" GROUP_PREFIX "%d/%s\n", (int)getpid(), name);
	(void)command(dir, text);
}

/* One line of uprobe_events: "p:retally_123/p1_c0 /usr/bin/xz:0x...". */
static void sweep_line(int dir, const char *line)
{
	char text[PERF_NAME_SIZE + 8];
	const char *group = strchr(line, ':');
	char *end;
	long pid;
	size_t n;

	if (!group || strncmp(group + 1, GROUP_PREFIX, strlen(GROUP_PREFIX)))
		return;
	group++;
	pid = strtol(group + strlen(GROUP_PREFIX), &end, 10);
	n = strcspn(group, " ");
	if (*end != '/' || pid <= 0 || n > PERF_NAME_SIZE ||
	    (pid != getpid() && (!kill((pid_t)pid, 0) || errno != ESRCH)))
		return;
	snprintf(text, sizeof(text), "-:%.*s\n", (int)n, group);
	(void)command(dir, text);
}

void perf_tracefs_sweep(int dir)
{
	char buffer[8192];
	size_t used = 0;
	ssize_t n;
	int fd = openat(dir, "uprobe_events", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while ((n = read(fd, buffer + used, sizeof(buffer) - 1 - used)) > 0) {
		char *line = buffer, *end;

		used += (size_t)n;
		buffer[used] = '\0';
		while ((end = strchr(line, '\n'))) {
			*end = '\0';
			sweep_line(dir, line);
			line = end + 1;
		}
		used = strlen(line);
		if (used == sizeof(buffer) - 1)
			break; /* not a line of ours */
		memmove(buffer, line, used);
	}
	close(fd);
}
