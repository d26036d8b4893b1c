/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spools of a run directory: which files there are, who wrote them, and in which order they are
 * taken. The order follows what the headers say, so that neither the directory's order nor the
 * order in which files were copied there can be seen in a result.
 */
#include "store/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare_found(const void *a, const void *b)
{
	const struct found_spool *x = a, *y = b;
	int c;

	if (!x->unreadable != !y->unreadable)
		return x->unreadable ? 1 : -1;
	if (x->unreadable)
		return strcmp(x->file, y->file);
	if (x->header.start_ns != y->header.start_ns)
		return x->header.start_ns < y->header.start_ns ? -1 : 1;
	c = strcmp(x->header.host, y->header.host);
	if (!c && x->header.rank != y->header.rank)
		c = x->header.rank < y->header.rank ? -1 : 1;
	if (!c && x->header.pid != y->header.pid)
		c = x->header.pid < y->header.pid ? -1 : 1;
	if (!c)
		c = strcmp(x->header.launch, y->header.launch);
	return c ? c : strcmp(x->file, y->file);
}

/* The header alone: a spool may be large, and most of them are known already. */
static int read_header(struct store *s, struct found_spool *f, const char *path)
{
	struct error why = {0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;

	if (fd < 0 || fstat(fd, &st)) {
		rc = error_set_errno(&why, 0, errno, "%s: cannot be read", f->file);
	} else if (!S_ISREG(st.st_mode)) {
		rc = error_set(&why, RC_INVALID, "%s: not a regular file", f->file);
	} else {
		f->size = (uint64_t)st.st_size;
		f->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		rc = spool_read_header(fd, f->file, &f->header, &why);
	}
	if (fd >= 0)
		close(fd);
	if (!rc) {
		hash_text(&f->header, sizeof(f->header), f->header_hash);
		return 0;
	}
	f->unreadable = arena_strdup(&s->arena, why.message);
	return f->unreadable ? 0 : RC_NO_MEMORY;
}

static int find_one(struct store *s, const char *file, struct error *err)
{
	struct found_spool f = {.file = file};
	char *path = arena_printf(&s->arena, "%s/%s", s->dir, file);

	if (!path || read_header(s, &f, path) || !vec_push(&s->found, f))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	return 0;
}

int find_spools(struct store *s, struct error *err)
{
	char *path = arena_printf(&s->arena, "%s/spool", s->dir);
	struct dirent *entry;
	DIR *folder;
	int rc = 0;

	if (!path)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	folder = opendir(path);
	if (!folder)
		return errno == ENOENT ? 0
				       : error_set_errno(err, 0, errno, "cannot read '%s'", path);
	while (!rc && (entry = readdir(folder))) {
		size_t n = strlen(entry->d_name);
		char *file;

		if (n < 5 || strcmp(entry->d_name + n - 4, ".rts") != 0)
			continue;
		file = arena_printf(&s->arena, "spool/%s", entry->d_name);
		rc = file ? find_one(s, file, err) : error_set(err, RC_NO_MEMORY, "out of memory");
	}
	closedir(folder);
	if (s->found.n)
		qsort(s->found.items, s->found.n, sizeof(*s->found.items), compare_found);
	return rc;
}

const char *find_collection(const struct store *s)
{
	if (s->info.collection && *s->info.collection)
		return s->info.collection;
	vec_for_each (&s->found, f) {
		if (!f->unreadable && !strcmp(f->header.plan_hash, s->plan.hash))
			return f->header.collection;
	}
	return "";
}
