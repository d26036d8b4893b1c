/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database that is not built upon - damaged, altered, of another version of retally or of another
 * plan - is made again from the spools. What it has of spools that cannot be read any more would be
 * lost: without any spool it is refused and left as it is, else it is kept beside the new one.
 */
#include "store/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 100

/* The spools in the list of the old one that are not there, or cannot be read. */
struct gone {
	size_t n;
	const char *first;
	bool unknown; /* the list cannot be read, or not to its end */
};

static bool is_there(const struct store *s, const char *name)
{
	vec_for_each (&s->found, file) {
		if (!strcmp(file->file, name))
			return !file->unreadable;
	}
	return false;
}

static int find_gone(struct store *s, sqlite3 *old, struct gone *out, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = old ? sql_prepare(old, "SELECT file FROM spool ORDER BY file", &q, NULL)
		     : RC_CORRUPT;

	while (!rc && (rc = sql_step(q, NULL)) > 0) {
		rc = 0;
		if (is_there(s, sql_column_text(q, 0)) || out->n++)
			continue;
		out->first = arena_strdup(&s->arena, sql_column_text(q, 0));
		if (!out->first)
			break;
	}
	sqlite3_finalize(q);
	if (out->n && !out->first)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	out->unknown = rc < 0;
	return 0;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* Gives the file another name, PATH.SUFFIX or PATH.SUFFIX.N, where no other file has it. NULL in
 * `kept_out` and no error: nothing can be written here, so that it is not replaced either. */
static int give_name(struct store *s, const char *path, const char *suffix, const char **kept_out,
		     struct error *err)
{
	*kept_out = NULL;
	for (int i = 1; i < NAMES_MAX; i++) {
		const char *name = i == 1 ? arena_printf(&s->arena, "%s.%s", path, suffix)
					  : arena_printf(&s->arena, "%s.%s.%d", path, suffix, i);

		if (!name)
			return error_set(err, RC_NO_MEMORY, "out of memory");
		if (!link(path, name) || (errno == EEXIST && is_same_file(path, name))) {
			*kept_out = name;
			return 0;
		}
		if (errno == EEXIST)
			continue;
		if (errno == EACCES || errno == EROFS)
			return 0;
		/* Some file systems have no second names, and some systems forbid them. */
		if (access(name, F_OK) && errno == ENOENT && !rename(path, name)) {
			*kept_out = name;
			return 0;
		}
		return errno == EACCES || errno == EROFS || errno == EPERM
			       ? 0
			       : error_set_errno(err, 0, errno,
						 "retally.db is damaged or of another version and "
						 "cannot be kept as '%s'",
						 name);
	}
	return error_set(err, RC_EXISTS,
			 "'%s' is damaged or of another version and cannot be kept: all names from "
			 "'%s.%s' on are in use",
			 path, path, suffix);
}

static int say_kept(struct store *s, const struct gone *gone, const char *version, const char *kept,
		    struct error *err)
{
	struct store_finding f = {.kind = SPOOL_NOTE_FINDING, .n = 1};
	const char *slash = kept ? strrchr(kept, '/') : NULL;
	struct str text = STR_INIT;

	str_add(&text, "retally.db ");
	if (version)
		str_addf(&text, "of another version (%s)", version);
	else
		str_add(&text, "that is damaged");
	str_add(&text, " was made again from the spools; ");
	if (gone->unknown)
		str_add(&text,
			"values of spools whose files are gone, if it has any, are only in ");
	else
		str_addf(&text, "values of %zu of them ('%s'), whose files are gone, are only in ",
			 gone->n, gone->first);
	str_add(&text, "the old one, kept as ");
	str_add(&text, slash ? slash + 1 : "retally.db");
	f.text = str_is_failed(&text) ? NULL : arena_strdup(&s->arena, str_text(&text));
	str_release(&text);
	return f.text && vec_push(&s->findings, f) ? 0
						   : error_set(err, RC_NO_MEMORY, "out of memory");
}

int keep_old_database(struct store *s, sqlite3 *old, const char *path, struct error *err)
{
	struct gone gone = {0};
	const char *kept;
	char version[16];
	struct stat st;
	bool other;
	int rc;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	if (!s->found.n)
		return error_set(err, RC_INVALID,
				 "'%s' is damaged, of another plan or of another version, and there"
				 " are no spools to make it again: it is left as it is",
				 path);
	rc = find_gone(s, old, &gone, err);
	if (rc || (!gone.n && !gone.unknown))
		return rc;
	other = old && schema_is_other_version(old, &s->plan, find_collection(s), version,
					       sizeof(version));
	rc = give_name(s, path, other ? version : "damaged", &kept, err);
	return rc ? rc : say_kept(s, &gone, other ? version : NULL, kept, err);
}
