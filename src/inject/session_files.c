/* SPDX-License-Identifier: Apache-2.0 */
/* The run directory of a program that was started without the command. */
#include "config.h"

#include "base/json.h"
#include "inject/session.h"
#include "wire/collection.h"
#include "wire/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SESSION_RUN_MAX (1 << 20) /* bytes of a run.json that is read */

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

/* Opens path.PID.new for session_publish. */
static int session_draft(const char *path, char *draft, size_t size, struct error *err)
{
	int fd;

	snprintf(draft, size, "%s.%d.new", path, (int)getpid());
	fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		error_set_errno(err, 0, errno, "cannot create '%s'", draft);
	return fd;
}

/* A link, so that of two starts at once one wins whole. Closes fd and removes the draft. */
static int session_publish(int fd, const char *draft, const char *path, bool is_written,
			   struct error *err)
{
	int rc = 0;

	if (!is_written)
		rc = error_set_errno(err, 0, errno, "cannot write '%s'", draft);
	if (close(fd) && !rc && errno != EINTR)
		rc = error_set_errno(err, 0, errno, "cannot write '%s'", draft);
	if (!rc && link(draft, path) && errno != EEXIST && rename(draft, path))
		rc = error_set_errno(err, 0, errno, "cannot create '%s'", path);
	unlink(draft);
	return rc;
}

static int session_copy_plan(const struct session_paths *p, int from, struct error *err)
{
	char draft[SESSION_PATH_SIZE + 32];
	int to = session_draft(p->plan, draft, sizeof(draft), err);

	if (to < 0)
		return err->code;
	return session_publish(to, draft, p->plan, !session_walk_files(from, to, true), err);
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

static int session_another(const struct session_paths *p, struct error *err)
{
	return error_set(err, RC_MISMATCH,
			 "'%s' holds runs of another command or with other arguments; set "
			 "RETALLY_OUT to another directory",
			 p->directory);
}

/* What run.json says; RC_NOT_FOUND when there is none. */
static int session_check_run(const struct session_paths *p, const char *id, struct error *err)
{
	char path[SESSION_PATH_SIZE], *text = NULL;
	const char *collection = NULL;
	struct arena arena = {0};
	struct json_value *root;
	struct stat st;
	ssize_t n = -1;
	int fd, rc;

	snprintf(path, sizeof(path), "%s/run.json", p->directory);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return error_set_errno(err, errno == ENOENT ? RC_NOT_FOUND : 0, errno,
				       "cannot open '%s'", path);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= SESSION_RUN_MAX)
		text = arena_alloc(&arena, (size_t)st.st_size + 1);
	if (text)
		n = session_read_chunk(fd, text, (size_t)st.st_size);
	close(fd);
	if (n < 0)
		rc = error_set(err, RC_IO, "cannot read '%s'", path);
	else
		rc = json_parse(&arena, path, text, (size_t)n, &root, err);
	if (!rc)
		rc = json_read_string(root, path, "collection", &collection, err);
	if (!rc && strcmp(collection, id))
		rc = session_another(p, err);
	arena_release(&arena);
	return rc;
}

/* A directory without run.json: what its spools say. */
static int session_check_spools(const struct session_paths *p, const char *id, struct error *err)
{
	char folder[SESSION_PATH_SIZE], path[SESSION_PATH_SIZE + 256];
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	snprintf(folder, sizeof(folder), "%s/spool", p->directory);
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
		if (strcmp(r.header.collection, id))
			rc = session_another(p, err);
		spool_close_reader(&r);
	}
	if (dir)
		closedir(dir);
	return rc;
}

int session_check_collection(const struct session_paths *p, const char *plan_hash,
			     char *const *argv, struct error *err)
{
	char id[HASH_TEXT_SIZE];
	int rc;

	if (collection_id(plan_hash, (const char *const *)argv, "", id))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = session_check_run(p, id, err);
	if (rc != RC_NOT_FOUND)
		return rc;
	*err = (struct error){0};
	return session_check_spools(p, id, err);
}

static void session_add_string(struct json_writer *w, const char *key, const char *value)
{
	json_key(w, key);
	json_string(w, value);
}

int session_describe(const struct session_paths *p, const struct plan *plan, char *const *argv,
		     const char *host, struct error *err)
{
	char path[SESSION_PATH_SIZE], draft[SESSION_PATH_SIZE + 32], cwd[4096] = "", when[32] = "";
	char id[HASH_TEXT_SIZE] = "", exe[4096] = "";
	time_t now = time(NULL);
	struct str text = STR_INIT;
	struct json_writer w;
	struct tm tm;
	int fd, rc;

	snprintf(path, sizeof(path), "%s/run.json", p->directory);
	if (!access(path, F_OK))
		return 0; /* of the same collection: see session_check_collection */
	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (!getcwd(cwd, sizeof(cwd)) || readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return error_set_errno(err, 0, errno, "cannot find the program or its directory");
	collection_id(plan->hash, (const char *const *)argv, "", id);
	json_writer_init(&w, &text, false);
	json_begin_object(&w);
	session_add_string(&w, "format", "retally run");
	json_key(&w, "version");
	json_uint(&w, 1);
	session_add_string(&w, "retally", RETALLY_VERSION);
	session_add_string(&w, "collection", id);
	session_add_string(&w, "plan", plan->hash);
	json_key(&w, "passes");
	json_uint(&w, plan->n_passes);
	session_add_string(&w, "selection", plan->selection);
	session_add_string(&w, "filters", "");
	json_key(&w, "command");
	json_begin_array(&w);
	for (; *argv; argv++)
		json_string(&w, *argv);
	json_end_array(&w);
	session_add_string(&w, "program", exe);
	session_add_string(&w, "directory", cwd);
	session_add_string(&w, "options", "in process");
	session_add_string(&w, "created", when);
	session_add_string(&w, "host", host);
	json_end_object(&w);
	str_add_char(&text, '\n');
	fd = str_is_failed(&text) ? -1 : session_draft(path, draft, sizeof(draft), err);
	if (str_is_failed(&text))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	else if (fd < 0)
		rc = err->code;
	else
		rc = session_publish(fd, draft, path,
				     write(fd, text.text, text.size) == (ssize_t)text.size, err);
	str_release(&text);
	return rc;
}
