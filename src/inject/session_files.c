/* SPDX-License-Identifier: Apache-2.0 */
/* The run directory of a program that was started without the command. */
#include "inject/session.h"
#include "wire/collection.h"
#include "wire/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int session_name_files(struct session_paths *p, const char *directory, const char *launch,
		       const char *host, int rank, struct error *err)
{
	char rank_text[16] = "-";
	size_t n = sizeof(p->spool);

	if (snprintf(p->directory, sizeof(p->directory), "%s", directory) >=
	    (int)sizeof(p->directory))
		return error_set(err, RC_INVALID, "the path of the output directory is too long");
	if (rank != SPOOL_RANK_NONE)
		snprintf(rank_text, sizeof(rank_text), "%d", rank);
	snprintf(p->plan, n, "%s/plan.json", directory);
	if (snprintf(p->spool, n, "%s/spool/%s.%s.%s.%d.rts", directory, launch, host, rank_text,
		     (int)getpid()) >= (int)n ||
	    snprintf(p->resume, n, "%s/spool/%s.%d.resume", directory, launch, (int)getpid()) >=
		    (int)n ||
	    snprintf(p->stdin_copy, n, "%s/spool/%s.%d.stdin", directory, launch, (int)getpid()) >=
		    (int)n ||
	    snprintf(p->output, n, "%s/output/%s", directory, launch) >= (int)n)
		return error_set(err, RC_INVALID, "the path of the output directory is too long");
	return 0;
}

static int session_make_folder(const char *path, struct error *err)
{
	if (mkdir(path, 0777) && errno != EEXIST)
		return error_set_errno(err, 0, errno, "cannot make the directory '%s'", path);
	return 0;
}

/* Reads a chunk; short only at the end. */
static ssize_t session_read_chunk(int fd, char *bytes, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, bytes + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

/* Copies or compares; 1 when they are the same, 0 when they differ or the copy was made, negative
 * with errno. */
static int session_walk_files(int from, int to, bool copy)
{
	char a[8192], b[8192];

	for (;;) {
		ssize_t n = session_read_chunk(from, a, sizeof(a));

		if (n < 0)
			return -1;
		if (copy) {
			if (!n)
				return 0;
			if (write(to, a, (size_t)n) != n)
				return -1;
			continue;
		}
		if (session_read_chunk(to, b, sizeof(b)) != n || memcmp(a, b, (size_t)n))
			return 0;
		if (!n)
			return 1;
	}
}

/* plan.json: a name nobody else has, then a link, so that of two starts at once one wins whole. */
static int session_copy_plan(const struct session_paths *p, int from, struct error *err)
{
	char temporary[SESSION_PATH_SIZE + 32];
	int to, rc = 0;

	snprintf(temporary, sizeof(temporary), "%s.%d.new", p->plan, (int)getpid());
	to = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (to < 0)
		return error_set_errno(err, 0, errno, "cannot create '%s'", temporary);
	if (session_walk_files(from, to, true) || fsync(to))
		rc = error_set_errno(err, 0, errno, "cannot write '%s'", temporary);
	close(to);
	if (!rc && link(temporary, p->plan) && errno != EEXIST && rename(temporary, p->plan))
		rc = error_set_errno(err, 0, errno, "cannot create '%s'", p->plan);
	unlink(temporary);
	return rc;
}

int session_make_directory(const struct session_paths *p, const char *plan_path, struct error *err)
{
	char folder[SESSION_PATH_SIZE];
	int from, there, rc = session_make_folder(p->directory, err);

	for (int i = 0; !rc && i < 2; i++) {
		snprintf(folder, sizeof(folder), "%s/%s", p->directory, i ? "output" : "spool");
		rc = session_make_folder(folder, err);
	}
	if (rc)
		return rc;
	from = open(plan_path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return error_set_errno(err, 0, errno, "cannot open '%s'", plan_path);
	there = open(p->plan, O_RDONLY | O_CLOEXEC);
	if (there < 0 && errno == ENOENT) {
		rc = session_copy_plan(p, from, err);
		there = rc ? -1 : open(p->plan, O_RDONLY | O_CLOEXEC);
		lseek(from, 0, SEEK_SET);
	}
	if (!rc && there < 0)
		rc = error_set_errno(err, 0, errno, "cannot open '%s'", p->plan);
	/* The text of a plan is canonical: the same plan is the same bytes. */
	if (!rc && session_walk_files(from, there, false) != 1)
		rc = error_set(
			err, RC_MISMATCH,
			"'%s' is of another plan than '%s'; set RETALLY_OUT to another directory",
			p->plan, plan_path);
	if (there >= 0)
		close(there);
	close(from);
	return rc;
}

int session_check_collection(const struct session_paths *p, const char *plan_hash,
			     char *const *argv, struct error *err)
{
	char folder[SESSION_PATH_SIZE], path[SESSION_PATH_SIZE + 256], id[HASH_TEXT_SIZE];
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	snprintf(folder, sizeof(folder), "%s/spool", p->directory);
	if (collection_id(plan_hash, (const char *const *)argv, "", id))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	dir = opendir(folder);
	while (!rc && dir && (entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);
		struct error unreadable = {0};
		struct spool_reader r;

		if (n < 4 || strcmp(entry->d_name + n - 4, ".rts"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (spool_open(&r, path, &unreadable))
			continue; /* reports will say so */
		if (strncmp(r.header.collection, id, sizeof(id)))
			rc = error_set(
				err, RC_MISMATCH,
				"'%s' holds runs of another command or with other arguments; set "
				"RETALLY_OUT to another directory",
				p->directory);
		spool_close_reader(&r);
	}
	if (dir)
		closedir(dir);
	return rc;
}
