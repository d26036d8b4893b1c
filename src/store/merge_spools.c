/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bringing spools together. Each is read once, and judged by its records, whose checksums are
 * looked at; then OUT gets it without another copy in memory, and where it can without any
 * (merge_files.h).
 */
#include "store/merge_spools.h"

#include "base/str.h"
#include "store/merge_files.h"
#include "store/sql.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MERGE_SPOOL_MAX ((size_t)1 << 40)

/* One version of a spool, with fd -1 until it is open. */
struct version {
	int fd;
	struct stat st;
	char *bytes; /* of one that is damaged or not closed; malloc'ed. NULL: the file's */
	size_t size;
	struct spool_header header;
	bool closed;    /* the process came to its end */
	bool damaged;   /* and not just torn */
	size_t records; /* whole ones before the end, the tear or the damage */
	struct error why;
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while merging");
}

int merge_problem(struct merge_outcome *o, struct error *err, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n >= 0 && vec_push(&o->problems, text))
		return 0;
	if (n >= 0)
		free(text);
	return no_memory(err);
}

/* ---- versions ---- */

static void version_release(struct version *v)
{
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
	free(v->bytes);
	v->bytes = NULL;
}

static void version_judge(struct version *v, struct spool_reader *r)
{
	struct spool_record record;
	int got;

	v->header = r->header;
	v->records = 0;
	while ((got = spool_next(r, &record, &v->why)) > 0)
		v->records++;
	v->damaged = got < 0;
	v->closed = r->closed;
	spool_close_reader(r);
}

/* Opens a file and fills v from its records. RC_NOT_FOUND; RC_CORRUPT or RC_MISMATCH when not even
 * the header can be used: then v has the open file all the same. */
static int version_open(struct version *v, const char *path, struct spool_memory *memory,
			struct error *err)
{
	struct spool_reader r;
	int rc;

	*v = (struct version){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
	if (v->fd < 0)
		return error_set_errno(err, errno == ENOENT ? RC_NOT_FOUND : 0, errno,
				       "cannot read '%s'", path);
	if (fstat(v->fd, &v->st))
		return error_set_errno(err, 0, errno, "cannot inspect '%s'", path);
	rc = spool_open_fd(&r, v->fd, path, memory, err);
	if (!rc)
		version_judge(v, &r);
	return rc;
}

static bool version_is_same_file(const struct version *a, const struct version *b)
{
	return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
}

/* A total order, so that the result does not depend on which version came first. */
static int version_compare(const struct version *a, const struct version *b)
{
	if (a->closed != b->closed)
		return a->closed ? 1 : -1;
	if (a->records != b->records)
		return a->records > b->records ? 1 : -1;
	if (a->damaged != b->damaged)
		return a->damaged ? -1 : 1;
	if (a->st.st_size != b->st.st_size)
		return a->st.st_size > b->st.st_size ? 1 : -1;
	return merge_compare(a->fd, b->fd);
}

/* Whether all records of `less` are the first ones of `more`. */
static bool version_begins(const struct version *less, const struct version *more)
{
	struct spool_record x, y;
	struct spool_reader a, b;
	bool same = true;

	if (spool_open_fd(&a, less->fd, "", NULL, NULL))
		return false;
	if (spool_open_fd(&b, more->fd, "", NULL, NULL)) {
		spool_close_reader(&a);
		return false;
	}
	while (same && spool_next(&a, &x, NULL) > 0)
		same = spool_next(&b, &y, NULL) > 0 && x.type == y.type && x.size == y.size &&
		       !memcmp(x.payload, y.payload, x.size);
	spool_close_reader(&a);
	spool_close_reader(&b);
	return same;
}

/* The name that launch/directory.h and the injected object give: the identity of a spool. */
static int canonical_name(const struct spool_header *h, char **name_out, struct error *err)
{
	char rank[16] = "-";

	if (h->rank >= 0)
		snprintf(rank, sizeof(rank), "%d", h->rank);
	if (asprintf(name_out, "%s.%s.%s.%d.rts", h->launch, h->host, rank, h->pid) < 0) {
		*name_out = NULL;
		return no_memory(err);
	}
	for (char *c = *name_out; *c; c++) {
		if (*c == '/')
			*c = '_';
	}
	if (**name_out == '.') /* no name of ours begins so, and it would be hidden */
		**name_out = '_';
	return 0;
}

/* ---- one spool ---- */

/* The version to be merged. A process may still be writing to one that is not closed: then two
 * copies differ, RC_MISMATCH. What is judged is what OUT gets. */
static int read_input(const struct merge_target *t, const char *path, struct version *v,
		      struct error *err)
{
	struct spool_reader r;
	char *again = NULL;
	size_t size;
	int rc = version_open(v, path, t->memory, err);

	if (rc || v->closed)
		return rc;
	rc = merge_read(path, MERGE_SPOOL_MAX, &v->bytes, &v->size, err);
	if (!rc)
		rc = spool_open_bytes(&r, path, v->bytes, v->size, err);
	if (!rc) {
		version_judge(v, &r);
		rc = merge_read(path, MERGE_SPOOL_MAX, &again, &size, err);
	}
	if (!rc && (size != v->size || memcmp(again, v->bytes, size)))
		rc = error_set(err, RC_MISMATCH,
			       "%s: is still being written; merge again when its process has ended",
			       path);
	free(again);
	return rc;
}

static int place_version(const struct merge_target *t, const char *name, const struct version *v,
			 struct error *err)
{
	return v->bytes ? merge_write(t->spools, name, v->bytes, v->size, err)
			: merge_place(v->fd, t->spools, name, err);
}

/* Keeps the better one of what OUT has under this name and of mine. */
static int choose_version(const struct merge_target *t, const char *path, const char *where,
			  const char *name, const struct version *there, bool is_readable,
			  const struct version *mine, struct error *err)
{
	bool kept = is_readable && version_compare(there, mine) >= 0;
	bool is_part = !is_readable || version_begins(kept ? mine : there, kept ? there : mine);
	int rc = kept ? 0 : place_version(t, name, mine, err);

	t->outcome->known += kept;
	t->outcome->replaced += !kept && !rc;
	if (!rc && !is_part)
		rc = merge_problem(t->outcome, err,
				   "%s: holds other records than '%s', which is of the same "
				   "launch, host, rank and pid; the one with %zu records "
				   "was kept, not the one with %zu",
				   path, where, kept ? there->records : mine->records,
				   kept ? mine->records : there->records);
	return rc;
}

static int put_version(const struct merge_target *t, const char *path, const char *name,
		       const struct version *mine, struct error *err)
{
	struct version there = {.fd = -1};
	char *where = NULL;
	int rc;

	if (asprintf(&where, "%s/spool/%s", t->dir, name) < 0)
		return no_memory(err);
	rc = version_open(&there, where, t->memory, err);
	if (rc == RC_NOT_FOUND) {
		*err = (struct error){0};
		rc = place_version(t, name, mine, err);
		t->outcome->copied += !rc;
	} else if (there.fd >= 0) {
		bool is_readable = !rc;

		*err = (struct error){0};
		rc = 0;
		if (version_is_same_file(&there, mine) || !merge_compare(there.fd, mine->fd))
			t->outcome->known++;
		else
			rc = choose_version(t, path, where, name, &there, is_readable, mine, err);
	}
	version_release(&there);
	free(where);
	return rc;
}

/* Where OUT has the spool of this canonical name, or is to have it. */
static const char *name_in_out(const struct merge_target *t, const char *canonical)
{
	vec_for_each (&t->aliases, a) {
		if (!strcmp(a->canonical, canonical))
			return a->name;
	}
	return canonical;
}

static int merge_spool(const struct merge_target *t, const char *path, struct error *err)
{
	struct version v = {.fd = -1};
	struct error why = {0};
	char *name = NULL;
	int rc = read_input(t, path, &v, &why);

	if (rc == RC_NO_MEMORY)
		rc = no_memory(err);
	else if (rc)
		rc = merge_problem(t->outcome, err, "%s; left out", why.message);
	else if (strcmp(v.header.plan_hash, t->plan_hash) != 0)
		rc = merge_problem(t->outcome, err,
				   "%s: was made with another plan (%.12s, here %.12s); left out",
				   path, v.header.plan_hash, t->plan_hash);
	else if (strcmp(v.header.collection, t->collection) != 0)
		rc = merge_problem(t->outcome, err,
				   "%s: is of another command or other filters (collection %.12s, "
				   "here %.12s); left out",
				   path, v.header.collection, t->collection);
	else {
		rc = canonical_name(&v.header, &name, err);
		if (!rc)
			rc = put_version(t, path, name_in_out(t, name), &v, err);
		if (!rc && v.damaged)
			rc = merge_problem(t->outcome, err, "%s; what precedes it is used",
					   v.why.message);
	}
	free(name);
	version_release(&v);
	return rc;
}

/* ---- a directory ---- */

static int is_spool(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 4 && entry->d_name[0] != '.' && !strcmp(entry->d_name + n - 4, ".rts");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Calls each for every spool of DIR, in one order. */
static int for_each_spool(const char *dir,
			  int (*each)(void *data, const char *path, struct error *), void *data,
			  struct error *err)
{
	struct dirent **names = NULL;
	struct str folder = STR_INIT;
	int n, rc = 0;

	str_addf(&folder, "%s/spool", dir);
	if (str_is_failed(&folder))
		return no_memory(err);
	n = scandir(str_text(&folder), &names, is_spool, by_name);
	if (n < 0 && errno != ENOENT)
		rc = error_set_errno(err, 0, errno, "cannot read '%s'", str_text(&folder));
	for (int i = 0; i < n; i++) {
		struct str path = STR_INIT;

		str_addf(&path, "%s/%s", str_text(&folder), names[i]->d_name);
		if (!rc)
			rc = str_is_failed(&path) ? no_memory(err)
						  : each(data, str_text(&path), err);
		str_release(&path);
		free(names[i]);
	}
	free(names);
	str_release(&folder);
	return rc;
}

static int each_merge(void *data, const char *path, struct error *err)
{
	return merge_spool(data, path, err);
}

int merge_spools(const struct merge_target *t, const char *dir, struct error *err)
{
	return for_each_spool(dir, each_merge, (void *)(uintptr_t)t, err);
}

struct finder {
	const char *plan_hash;
	char *id;
	size_t size;
};

/* False: no spool. */
static bool header_of(const char *path, struct spool_header *header_out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool is_read = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		       !spool_read_header(fd, path, header_out, NULL);

	if (fd >= 0)
		close(fd);
	return is_read;
}

static int each_find(void *data, const char *path, struct error *err)
{
	const struct finder *f = data;
	struct spool_header h;

	(void)err;
	if (!f->id[0] && header_of(path, &h) && !strcmp(h.plan_hash, f->plan_hash))
		snprintf(f->id, f->size, "%s", h.collection);
	return 0;
}

int merge_find_collection(const char *dir, const char *plan_hash, char *id_out, size_t size,
			  struct error *err)
{
	struct finder f = {.plan_hash = plan_hash, .id = id_out, .size = size};

	id_out[0] = '\0';
	return for_each_spool(dir, each_find, &f, err);
}

static int each_alias(void *data, const char *path, struct error *err)
{
	struct merge_target *t = data;
	struct merge_alias a = {0};
	struct spool_header h;
	int rc;

	if (!header_of(path, &h))
		return 0;
	rc = canonical_name(&h, &a.canonical, err);
	if (!rc && strcmp(strrchr(path, '/') + 1, a.canonical) != 0) {
		a.name = strdup(strrchr(path, '/') + 1);
		if (a.name && vec_push(&t->aliases, a))
			return 0;
		rc = no_memory(err);
	}
	free(a.canonical);
	free(a.name);
	return rc;
}

int merge_find_aliases(struct merge_target *t, struct error *err)
{
	return for_each_spool(t->dir, each_alias, t, err);
}

void merge_release_aliases(struct merge_target *t)
{
	vec_for_each (&t->aliases, a) {
		free(a->canonical);
		free(a->name);
	}
	vec_release(&t->aliases);
}

/* ---- spools that are gone ---- */

static int name_if_missing(const struct merge_target *t, const char *dir, const char *file,
			   struct error *err)
{
	const char *base = strrchr(file, '/');
	struct str path = STR_INIT;
	bool there;

	base = base ? base + 1 : file;
	str_addf(&path, "%s/spool/%s", dir, base);
	if (str_is_failed(&path))
		return no_memory(err);
	there = !access(str_text(&path), F_OK) || !faccessat(t->spools, base, F_OK, 0);
	str_release(&path);
	return there ? 0
		     : merge_problem(t->outcome, err,
				     "%s/spool/%s: the file is gone; its values are only in "
				     "'%s/retally.db' and were not merged",
				     dir, base, dir);
}

int merge_name_missing(const struct merge_target *t, const char *dir, struct error *err)
{
	struct str path = STR_INIT;
	sqlite3_stmt *q = NULL;
	sqlite3 *db = NULL;
	int rc = 0;

	str_addf(&path, "%s/retally.db", dir);
	/* A database that cannot be read says nothing, and is made again from the spools. */
	if (!str_is_failed(&path) &&
	    sqlite3_open_v2(str_text(&path), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
			    "unix-none") == SQLITE_OK &&
	    !sql_prepare(db, "SELECT file FROM spool WHERE state < 3 ORDER BY file", &q, NULL)) {
		while (!rc && sql_step(q, NULL) > 0)
			rc = name_if_missing(t, dir, sql_column_text(q, 0), err);
	}
	sqlite3_finalize(q);
	sqlite3_close(db);
	str_release(&path);
	return rc;
}
