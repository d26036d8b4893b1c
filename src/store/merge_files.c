/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a merge: see merge_files.h. */
#include "store/merge_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536

int merge_read(const char *path, size_t max, char **bytes_out, size_t *size_out, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t size = 0, done = 0;
	char *bytes = NULL;
	struct stat st;
	ssize_t n = 0;
	int rc = 0;

	*bytes_out = NULL;
	*size_out = 0;
	if (fd < 0)
		return error_set_errno(err, errno == ENOENT ? RC_NOT_FOUND : 0, errno,
				       "cannot read '%s'", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > max) {
		rc = error_set(err, RC_CORRUPT, "'%s' is not a regular file of a sensible size",
			       path);
	} else {
		size = (size_t)st.st_size;
		bytes = malloc(size + 1);
		if (!bytes)
			rc = error_set(err, RC_NO_MEMORY, "out of memory while merging");
	}
	while (!rc && done < size && (n = read(fd, bytes + done, size - done))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = error_set_errno(err, 0, errno, "cannot read '%s'", path);
		else
			done += (size_t)n;
	}
	close(fd);
	if (rc) {
		free(bytes);
		return rc;
	}
	bytes[done] = '\0';
	*bytes_out = bytes;
	*size_out = done;
	return 0;
}

static void temporary_name(char name_out[64])
{
	snprintf(name_out, 64, MERGE_TEMPORARY "%d", (int)getpid());
}

static int open_temporary(int folder, const char *temporary)
{
	return openat(folder, temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
}

/* 0 or an errno. */
static int write_all(int fd, const char *from, size_t n)
{
	while (n) {
		ssize_t done = write(fd, from, n < INT_MAX ? n : INT_MAX);

		if (done < 0 && errno != EINTR)
			return errno;
		if (done > 0) {
			from += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* failed: 0 or an errno. */
static int end_temporary(int folder, const char *temporary, const char *name, int failed,
			 struct error *err)
{
	if (!failed && renameat(folder, temporary, folder, name))
		failed = errno;
	if (!failed)
		return 0;
	unlinkat(folder, temporary, 0);
	return error_set_errno(err, 0, failed, "cannot write '%s'", name);
}

int merge_write(int folder, const char *name, const void *bytes, size_t n, struct error *err)
{
	char temporary[64];
	int fd, failed;

	temporary_name(temporary);
	fd = open_temporary(folder, temporary);
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot write '%s'", name);
	failed = write_all(fd, bytes, n);
	if (close(fd) && !failed)
		failed = errno;
	return end_temporary(folder, temporary, name, failed, err);
}

/* The rest of `from`, from where both files are, through this process. 0 or an errno. */
static int copy_pieces(int from, int to)
{
	char piece[PIECE];

	for (;;) {
		ssize_t n = read(from, piece, sizeof(piece));
		int failed;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : 0;
		failed = write_all(to, piece, (size_t)n);
		if (failed)
			return failed;
	}
}

/* All of `from`, within the kernel where it can. 0 or an errno. */
static int copy_bytes(int from, int to)
{
	if (lseek(from, 0, SEEK_SET) < 0)
		return errno;
	for (;;) {
		ssize_t n = copy_file_range(from, NULL, to, NULL, 1u << 30, 0);

		if (n > 0 || (n < 0 && errno == EINTR))
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
			return errno;
		/* Not between these file systems, or by that kernel, and some that cannot say 0
		 * at once. */
		return copy_pieces(from, to);
	}
}

/* A second name of the file, so that nothing is copied. */
static bool share(int fd, int folder, const char *temporary)
{
	char path[64];
	struct stat st;

	/* Others' files stay out: they can write to them, and take back leave to read them. */
	if (fstat(fd, &st) || st.st_uid != geteuid())
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	unlinkat(folder, temporary, 0);
	return !linkat(AT_FDCWD, path, folder, temporary, AT_SYMLINK_FOLLOW);
}

int merge_place(int from, int folder, const char *name, struct error *err)
{
	char temporary[64];
	int fd, failed = 0;

	temporary_name(temporary);
	fd = open_temporary(folder, temporary);
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot write '%s'", name);
	if (ioctl(fd, FICLONE, from) && !share(from, folder, temporary)) {
		close(fd); /* perhaps without a name by now */
		fd = open_temporary(folder, temporary);
		failed = fd < 0 ? errno : copy_bytes(from, fd);
	}
	if (fd >= 0 && close(fd) && !failed)
		failed = errno;
	return end_temporary(folder, temporary, name, failed, err);
}

int merge_compare(int a, int b)
{
	char x[PIECE], y[PIECE];

	for (off_t at = 0;;) {
		ssize_t n = pread(a, x, sizeof(x), at), m = pread(b, y, sizeof(y), at);
		ssize_t both = n < m ? n : m;
		int c;

		if (both < 0) /* what cannot be read comes first */
			return n < 0 && m < 0 ? 0 : n < 0 ? -1 : 1;
		c = memcmp(x, y, (size_t)both);
		if (c)
			return c;
		if (!both)
			return n < m ? -1 : n > m;
		at += both;
	}
}
