/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bringing retally.db up to date. It is never written in place: a copy under a temporary name takes
 * what is new, with the journal off, and is renamed over the old one when it is whole. So a reader
 * always sees a whole file, and an import that was killed costs nothing but its own time. Where the
 * directory cannot be written, or another import is under way, a private temporary database is
 * used.
 *
 * SQLite's own locks are off (they fail on some cluster file systems): the file under its final
 * name never changes, and the one under the temporary name is guarded by flock.
 */
#include "store/internal.h"
#include "store/window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define VFS "unix-none"

enum change {
	CHANGE_NONE,
	CHANGE_NEW,
	CHANGE_REPLACED,
	CHANGE_BACK /* was missing and is the same as before */
};
struct known_spool {
	int64_t id;
	const char *file;
	uint64_t size;
	int64_t mtime_ns;
	const char *header_hash;
	bool missing, seen;
};
struct update {
	VEC(struct known_spool) known;
	VEC(enum change) change; /* parallel to found */
	bool fits;               /* the old database can be built upon */
	bool gone;               /* it has values of spools that are not there to be read again */
	bool needed;
};

static int open_database(const char *path, int flags, sqlite3 **db_out, struct error *err)
{
	const char *vfs = *path ? VFS : NULL;
	struct stat st;
	int rc = 0;

	*db_out = NULL;
	/* SQLite would wait for the other end of a pipe. */
	if (*path && !stat(path, &st) && !S_ISREG(st.st_mode))
		return error_set(err, RC_INVALID, "'%s' is not a regular file", path);
	if (sqlite3_open_v2(path, db_out, flags | SQLITE_OPEN_NOMUTEX, vfs) != SQLITE_OK) {
		rc = sql_error(*db_out, err);
		sqlite3_close(*db_out);
		*db_out = NULL;
	}
	return rc;
}

static bool is_sound(sqlite3 *db)
{
	sqlite3_stmt *q = NULL;
	bool sound = !sql_prepare(db, "PRAGMA quick_check(1)", &q, NULL) &&
		     sql_step(q, NULL) == 1 && !strcmp(sql_column_text(q, 0), "ok");

	sqlite3_finalize(q);
	return sound;
}

static int read_known(struct store *s, sqlite3 *db, struct update *u, struct error *err)
{
	sqlite3_stmt *q = NULL;
	int rc = sql_prepare(db,
			     "SELECT spool, file, size, mtime_ns, header_hash, missing FROM spool"
			     " ORDER BY file",
			     &q, err);

	if (rc)
		return rc;
	while ((rc = sql_step(q, err)) > 0) {
		struct known_spool k = {
			.id = sqlite3_column_int64(q, 0),
			.file = arena_strdup(&s->arena, sql_column_text(q, 1)),
			.size = (uint64_t)sqlite3_column_int64(q, 2),
			.mtime_ns = sqlite3_column_int64(q, 3),
			.header_hash = arena_strdup(&s->arena, sql_column_text(q, 4)),
			.missing = sqlite3_column_int(q, 5),
		};

		if (!k.file || !k.header_hash || !vec_push(&u->known, k)) {
			rc = error_set(err, RC_NO_MEMORY, "out of memory");
			break;
		}
	}
	sqlite3_finalize(q);
	return rc;
}

static struct known_spool *find_known(struct update *u, const char *file)
{
	size_t low = 0, high = u->known.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = strcmp(u->known.items[middle].file, file);

		if (!c)
			return &u->known.items[middle];
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Compares what is on disk with what the database knows. */
static int compare(struct store *s, struct update *u, struct error *err)
{
	vec_clear(&u->change);
	u->needed = !u->fits;
	u->gone = false;
	vec_for_each (&u->known, k)
		k->seen = false;
	vec_for_each (&s->found, f) {
		struct known_spool *k = find_known(u, f->file);
		enum change c = CHANGE_NEW;

		if (k && f->unreadable && *k->header_hash) {
			c = CHANGE_NONE; /* not seen: as if the file were gone */
		} else if (k) {
			bool same = k->size == f->size && k->mtime_ns == f->mtime_ns &&
				    !strcmp(k->header_hash, f->header_hash);

			k->seen = true;
			c = !same ? CHANGE_REPLACED : k->missing ? CHANGE_BACK : CHANGE_NONE;
		}
		if (c != CHANGE_NONE)
			u->needed = true;
		if (!vec_push(&u->change, c))
			return error_set(err, RC_NO_MEMORY, "out of memory");
	}
	vec_for_each (&u->known, k) {
		u->gone = u->gone || !k->seen;
		if (!k->seen && !k->missing)
			u->needed = true;
	}
	return 0;
}

static int apply_changes(struct store *s, struct update *u, sqlite3 *db, const char *collection,
			 struct error *err)
{
	struct window window;
	int rc = window_init(&window, db, &s->plan, err);

	for (size_t i = 0; !rc && i < u->known.n; i++) {
		if (!u->known.items[i].seen)
			rc = sql_executef(db, err,
					  "UPDATE spool SET missing = 1 WHERE spool = %lld",
					  (long long)u->known.items[i].id);
	}
	for (size_t i = 0; !rc && i < s->found.n; i++) {
		const struct found_spool *f = &s->found.items[i];
		const struct known_spool *k = find_known(u, f->file);

		if (u->change.items[i] == CHANGE_NONE)
			continue;
		if (k && u->change.items[i] == CHANGE_BACK) {
			rc = sql_executef(db, err,
					  "UPDATE spool SET missing = 0 WHERE spool = %lld",
					  (long long)k->id);
			continue;
		}
		if (k)
			rc = ingest_forget(db, k->id, s->plan.n_passes, err);
		if (!rc)
			rc = ingest_spool(&window, s->dir, f, collection, err);
	}
	window_release(&window);
	return rc;
}

static int copy_database(sqlite3 *from, sqlite3 *to, struct error *err)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");

	if (b)
		sqlite3_backup_step(b, -1);
	if (!b || sqlite3_backup_finish(b) != SQLITE_OK)
		return sql_error(to, err);
	return 0;
}

/* Fills an empty database: the old one's content, if it fits, and what is new. */
static int fill_database(struct store *s, struct update *u, sqlite3 *old, sqlite3 *db,
			 struct error *err)
{
	const char *collection = find_collection(s);
	int rc = sql_execute(db,
			     "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
			     "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
			     "PRAGMA cache_size = -8192; PRAGMA temp_store = FILE",
			     err);

	if (!rc && u->fits)
		rc = copy_database(old, db, err);
	if (!rc)
		rc = sql_execute(db, "BEGIN", err);
	if (!rc && !u->fits)
		rc = schema_create(db, &s->plan, collection, err);
	if (!rc)
		rc = apply_changes(s, u, db, collection, err);
	if (!rc)
		rc = match_make(s, db, err);
	return rc ? rc : sql_execute(db, "COMMIT", err);
}

/* The temporary name, locked and empty. Another import may rename the file between our open and our
 * lock: then what we hold is its finished database, so look again. Returns the descriptor. */
static int lock_temporary(const char *path, struct error *err)
{
	for (int attempt = 0; attempt < 100; attempt++) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
		struct stat mine, there;

		if (fd < 0)
			return error_set_errno(err, 0, errno, "cannot write '%s'", path);
		if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
			close(fd);
			return error_set(err, RC_EXISTS, "another import is writing '%s'", path);
		}
		if (fstat(fd, &mine) == 0 && stat(path, &there) == 0 &&
		    mine.st_ino == there.st_ino && mine.st_dev == there.st_dev) {
			if (ftruncate(fd, 0) == 0)
				return fd;
			error_set_errno(err, 0, errno, "cannot write '%s'", path);
			close(fd);
			return err ? err->code : RC_IO;
		}
		close(fd);
	}
	return error_set(err, RC_IO, "'%s' keeps changing under another import", path);
}

static int replace_database(struct store *s, struct update *u, sqlite3 *old, const char *path,
			    struct error *err)
{
	const char *temporary = arena_printf(&s->arena, "%s.new", path);
	sqlite3 *db = NULL;
	int fd, rc;

	if (!temporary)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	fd = lock_temporary(temporary, err);
	if (fd < 0)
		return fd;
	rc = open_database(temporary, SQLITE_OPEN_READWRITE, &db, err);
	if (!rc)
		rc = fill_database(s, u, old, db, err);
	sqlite3_close(db);
	if (!rc && rename(temporary, path) != 0)
		rc = error_set_errno(err, 0, errno, "cannot rename '%s' to '%s'", temporary, path);
	if (rc)
		unlink(temporary);
	close(fd);
	return rc;
}

static int use_private_database(struct store *s, struct update *u, sqlite3 *old,
				const struct error *why, struct error *err)
{
	struct store_finding f = {.kind = SPOOL_NOTE_FINDING, .n = 1};
	int rc = open_database("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &s->db, err);

	if (!rc)
		rc = fill_database(s, u, old, s->db, err);
	if (rc)
		return rc;
	s->info.temporary = true;
	f.text = arena_printf(&s->arena,
			      "retally.db was not updated, a temporary database was used: %s",
			      why->message);
	if (!f.text || !vec_push(&s->findings, f))
		return error_set(err, RC_NO_MEMORY, "out of memory");
	return 0;
}

/* One attempt; build_upon false ignores the old database. */
static int update_once(struct store *s, const char *path, bool build_upon, struct error *err)
{
	struct update u = {0};
	struct error why = {0};
	sqlite3 *old = NULL;
	int rc;

	if (!open_database(path, SQLITE_OPEN_READONLY, &old, NULL) && build_upon)
		u.fits = schema_fits(old, &s->plan, find_collection(s));
	rc = u.fits ? read_known(s, old, &u, err) : 0;
	if (!rc)
		rc = compare(s, &u, err);
	/* A copy of what cannot be made again is a copy of something whole. */
	if (!rc && u.fits && u.needed && u.gone && !is_sound(old)) {
		u.fits = false;
		vec_clear(&u.known);
		rc = compare(s, &u, err);
	}
	if (!rc && !u.fits)
		rc = keep_old_database(s, old, path, err);
	if (!rc && !u.needed) {
		s->db = old;
		old = NULL;
	} else if (!rc) {
		rc = replace_database(s, &u, old, path, &why);
		if (!rc)
			rc = open_database(path, SQLITE_OPEN_READONLY, &s->db, err);
		else if (rc != RC_NO_MEMORY && rc != RC_CORRUPT)
			rc = use_private_database(s, &u, old, &why, err);
		else
			error_set(err, rc, "%s", why.message);
	}
	sqlite3_close(old);
	vec_release(&u.known);
	vec_release(&u.change);
	return rc ? rc : load_tables(s, err);
}

int update_database(struct store *s, struct error *err)
{
	const char *path = arena_printf(&s->arena, "%s/retally.db", s->dir);
	int rc;

	if (!path)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = update_once(s, path, true, err);
	if (rc == RC_CORRUPT) { /* the database, not a spool: all of it can be made again */
		sqlite3_close(s->db);
		s->db = NULL;
		vec_clear(&s->findings);
		rc = update_once(s, path, false, err);
	}
	return rc;
}
