/* SPDX-License-Identifier: Apache-2.0 */
/* Making or joining a run directory. */
#include "config.h"

#include "launch/directory.h"

#include "base/json.h"
#include "base/path_template.h"
#include "base/str.h"
#include "launch/star.h"
#include "wire/collection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define DIRECTORY_VERSION   1
#define DIRECTORY_FILE_MAX  (16u << 20) /* of a run.json that is read */
#define DIRECTORY_TEMPORARY ".tmp-"

/* ---- the path ---- */

static int directory_expand(const struct directory_request *q, char **path_out, struct error *err)
{
	const char *base = strrchr(q->argv[0], '/');
	struct path_values values = {
		.host = q->identity->host,
		.pid = getpid(),
		.rank = q->identity->rank < 0 ? PATH_TEMPLATE_RANK_UNKNOWN : q->identity->rank,
		.job = q->identity->job,
		.start = time(NULL),
	};
	struct str path = STR_INIT;
	int rc = 0;

	base = base && base[1] ? base + 1 : q->argv[0];
	values.tag = base;
	if (q->output) {
		rc = path_template_expand(q->output, &values, &path, err);
		if (!rc && !path.size)
			rc = error_set(err, RC_INVALID, "-o '%s' names no directory", q->output);
	} else {
		str_addf(&path, "%s.retally", base);
	}
	if (!rc && str_is_failed(&path))
		rc = error_set(err, RC_NO_MEMORY, "out of memory");
	if (rc)
		str_release(&path);
	else
		*path_out = str_take(&path);
	return rc;
}

/* mkdir -p. */
static int directory_make(char *path, struct error *err)
{
	for (char *p = path + 1;; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0777) && errno != EEXIST) {
			int e = errno;
			struct stat st;

			/* A folder above that exists may say EROFS or EACCES instead. */
			if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
				error_set_errno(err, 0, e, "cannot make the run directory '%s'",
						path);
				*p = c;
				return err ? err->code : RC_IO;
			}
		}
		*p = c;
		if (!c)
			return 0;
	}
}

/* ---- files ---- */

static int directory_write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Creates name with this text unless it exists. *existed_out says which. The file appears whole. */
static int directory_write_once(const struct directory *d, const char *name, const char *launch,
				const struct str *text, bool *existed_out, struct error *err)
{
	char temporary[128];
	int fd, rc = 0, saved;

	*existed_out = false;
	if (!faccessat(d->fd, name, F_OK, 0)) {
		*existed_out = true;
		return 0;
	}
	snprintf(temporary, sizeof(temporary), DIRECTORY_TEMPORARY "%s-%d-%s", launch,
		 (int)getpid(), name);
	fd = openat(d->fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot write into '%s'", d->path);
	if (directory_write_all(fd, text->text, text->size)) {
		saved = errno;
		close(fd);
		unlinkat(d->fd, temporary, 0);
		return error_set_errno(err, 0, saved, "cannot write '%s/%s'", d->path, name);
	}
	if (close(fd)) {
		saved = errno;
		unlinkat(d->fd, temporary, 0);
		return error_set_errno(err, 0, saved, "cannot write '%s/%s'", d->path, name);
	}
	if (linkat(d->fd, temporary, d->fd, name, 0)) {
		/* No hard links (FAT, some FUSE): a rename that does not replace does the same. */
		if (errno != EEXIST)
			rc = renameat2(d->fd, temporary, d->fd, name, RENAME_NOREPLACE);
		else
			rc = -1;
		saved = errno;
		if (rc && saved == EEXIST)
			*existed_out = true;
		else if (rc)
			error_set_errno(err, 0, saved, "cannot create '%s/%s'", d->path, name);
		rc = rc && !*existed_out ? (err ? err->code : RC_IO) : 0;
	}
	unlinkat(d->fd, temporary, 0);
	return rc;
}

static int directory_read(const struct directory *d, const char *name, struct arena *arena,
			  char **text_out, size_t *size_out, struct error *err)
{
	struct stat st;
	size_t done = 0;
	char *text;
	int fd = openat(d->fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0 || fstat(fd, &st)) {
		int saved = errno;

		if (fd >= 0)
			close(fd);
		return error_set_errno(err, 0, saved, "cannot read '%s/%s'", d->path, name);
	}
	text = S_ISREG(st.st_mode) && st.st_size <= DIRECTORY_FILE_MAX
		       ? arena_alloc(arena, (size_t)st.st_size + 1)
		       : NULL;
	while (text && done < (size_t)st.st_size) {
		ssize_t n = read(fd, text + done, (size_t)st.st_size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	close(fd);
	if (!text || done != (size_t)st.st_size)
		return error_set(err, RC_CORRUPT, "'%s/%s' cannot be read as a file of retally",
				 d->path, name);
	*text_out = text;
	*size_out = done;
	return 0;
}

/* ---- run.json ---- */

/* A digest of the environment: whether two runs had the same, without storing anybody's secrets. */
static void directory_environment(struct json_writer *w)
{
	struct str all = STR_INIT;
	char hash[HASH_TEXT_SIZE] = "";
	size_t n = 0;

	for (char **e = environ; e && *e; e++, n++) {
		str_add(&all, *e);
		str_add_char(&all, 0);
	}
	if (!str_is_failed(&all))
		hash_text(all.text ? all.text : "", all.size, hash);
	str_release(&all);
	json_key(w, "environment");
	json_begin_object(w);
	json_key(w, "variables");
	json_uint(w, n);
	json_key(w, "hash");
	json_string(w, hash);
	json_end_object(w);
}

static void directory_machine(struct json_writer *w, const struct directory_request *q)
{
	char line[256], cpu[256] = "";
	struct utsname u;
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && !cpu[0] && fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		if (!strncmp(line, "model name", 10) && value) {
			value += 1 + strspn(value + 1, " \t");
			value[strcspn(value, "\n")] = 0;
			snprintf(cpu, sizeof(cpu), "%s", value);
		}
	}
	if (f)
		fclose(f);
	json_key(w, "machine");
	json_begin_object(w);
	json_key(w, "host");
	json_string(w, q->identity->host);
	if (!uname(&u)) {
		json_key(w, "kernel");
		json_string(w, u.release);
		json_key(w, "architecture");
		json_string(w, u.machine);
	}
	json_key(w, "cpu");
	json_string(w, cpu);
	json_key(w, "cpus");
	json_int(w, sysconf(_SC_NPROCESSORS_ONLN));
	json_end_object(w);
}

static int directory_describe(const struct directory *d, const struct directory_request *q,
			      struct str *out, struct error *err)
{
	char when[32] = "", *cwd = getcwd(NULL, 0);
	time_t now = time(NULL);
	struct json_writer w;
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_writer_init(&w, out, false);
	json_begin_object(&w);
	json_key(&w, "format");
	json_string(&w, "retally run");
	json_key(&w, "version");
	json_uint(&w, DIRECTORY_VERSION);
	json_key(&w, "retally");
	json_string(&w, RETALLY_VERSION);
	json_key(&w, "collection");
	json_string(&w, d->collection);
	json_key(&w, "plan");
	json_string(&w, q->plan->hash);
	json_key(&w, "passes");
	json_uint(&w, q->plan->n_passes);
	json_key(&w, "selection");
	json_string(&w, q->plan->selection);
	json_key(&w, "filters");
	json_string(&w, q->filters ? q->filters : "");
	json_key(&w, "command");
	json_begin_array(&w);
	for (char *const *a = q->argv; *a; a++)
		json_string(&w, *a);
	json_end_array(&w);
	json_key(&w, "program");
	json_string(&w, q->program);
	if (q->application) {
		json_key(&w, "application");
		json_string(&w, q->application);
	}
	json_key(&w, "directory");
	json_string(&w, cwd);
	json_key(&w, "options");
	json_string(&w, q->options ? q->options : "");
	json_key(&w, "created");
	json_string(&w, when);
	directory_machine(&w, q);
	directory_environment(&w);
	json_end_object(&w);
	str_add_char(out, '\n');
	free(cwd);
	return str_is_failed(out) ? error_set(err, RC_NO_MEMORY, "out of memory") : 0;
}

/* "a b c", cut to fit. */
static void directory_join_words(const struct json_value *array, char *const *argv, char *buffer,
				 size_t size)
{
	const struct json_value *v = array ? array->child : NULL;
	size_t used = 0;

	buffer[0] = 0;
	for (;;) {
		const char *word = argv ? *argv : v ? v->text : NULL;
		int n;

		if (!word)
			return;
		n = snprintf(buffer + used, size - used, "%s%s", used ? " " : "", word);
		if (n < 0 || (size_t)n >= size - used) {
			snprintf(buffer + size - 4, 4, "...");
			return;
		}
		used += (size_t)n;
		if (argv)
			argv++;
		else
			v = v->next;
	}
}

static bool directory_same_words(const struct json_value *array, char *const *argv)
{
	const struct json_value *v = array->child;

	for (; v && *argv; v = v->next, argv++)
		if (!v->text || strcmp(v->text, *argv))
			return false;
	return !v && !*argv;
}

/* Compares an existing run.json with what we want to add to it. */
static int directory_check(const struct directory *d, const struct directory_request *q,
			   struct error *err)
{
	const struct json_value *command;
	const char *collection, *plan, *filters, *selection, *format;
	char there[120], here[120], name[256];
	struct arena arena = {0};
	struct json_value *root;
	uint64_t version;
	size_t size;
	char *text;
	int rc = directory_read(d, "run.json", &arena, &text, &size, err);

	snprintf(name, sizeof(name), "%.240s/run.json", d->path);
	if (!rc)
		rc = json_parse(&arena, name, text, size, &root, err);
	if (!rc)
		rc = json_read_string(root, name, "format", &format, err);
	if (!rc)
		rc = json_read_uint(root, name, "version", 1000000, &version, err);
	if (!rc && (strcmp(format, "retally run") || version > DIRECTORY_VERSION))
		rc = error_set(err, RC_MISMATCH,
			       "'%s' was written by another version of retally (format %llu)", name,
			       (unsigned long long)version);
	if (!rc)
		rc = json_read_string(root, name, "collection", &collection, err);
	if (!rc)
		rc = json_read_string(root, name, "plan", &plan, err);
	if (!rc)
		rc = json_read_string(root, name, "filters", &filters, err);
	if (!rc)
		rc = json_read_string(root, name, "selection", &selection, err);
	if (!rc)
		rc = json_read_array(root, name, "command", &command, err);
	if (rc || !strcmp(collection, d->collection))
		goto out;
	if (q->join) {
		rc = error_set(err, RC_MISMATCH,
			       "'%.100s' holds the collection %.12s, not %.12s (--join)", d->path,
			       collection, d->collection);
	} else if (!directory_same_words(command, q->argv)) {
		directory_join_words(command, NULL, there, sizeof(there));
		directory_join_words(NULL, q->argv, here, sizeof(here));
		rc = error_set(err, RC_MISMATCH,
			       "'%.100s' holds runs of another command: '%s' there, '%s' now; "
			       "choose another directory with -o",
			       d->path, there, here);
	} else if (strcmp(plan, q->plan->hash)) {
		rc = error_set(err, RC_MISMATCH,
			       "'%.100s' holds runs of another plan: '%.80s' (%.12s) there, "
			       "'%.80s' (%.12s) now; choose another directory with -o",
			       d->path, selection, plan, q->plan->selection, q->plan->hash);
	} else {
		rc = error_set(err, RC_MISMATCH,
			       "'%.100s' holds runs with other filters: '%.100s' there, '%.100s' "
			       "now; choose another directory with -o",
			       d->path, filters, q->filters ? q->filters : "");
	}
out:
	arena_release(&arena);
	return rc;
}

/* The plan file: written, or found to be the same. */
static int directory_plan(const struct directory *d, const struct directory_request *q,
			  struct error *err)
{
	struct plan copy = *q->plan, there = {0};
	struct str text = STR_INIT;
	struct arena arena = {0};
	char name[256], *old;
	bool existed = false;
	size_t size;
	int rc = plan_encode(&copy, &text, err);

	if (!rc)
		rc = directory_write_once(d, "plan.json", q->launch, &text, &existed, err);
	if (rc || !existed)
		goto out;
	rc = directory_read(d, "plan.json", &arena, &old, &size, err);
	snprintf(name, sizeof(name), "%.240s/plan.json", d->path);
	if (!rc)
		rc = plan_decode(&there, name, old, size, err);
	if (!rc && strcmp(there.hash, copy.hash))
		rc = error_set(err, RC_MISMATCH,
			       "'%s' is another plan (%.12s) than this one (%.12s); choose another "
			       "directory with -o",
			       name, there.hash, copy.hash);
	plan_release(&there);
out:
	arena_release(&arena);
	str_release(&text);
	return rc;
}

/* What other ranks of the same launch put there: files that are not whole yet, the star's secret.
 */
static bool directory_is_passing(const char *name)
{
	return !strncmp(name, DIRECTORY_TEMPORARY, sizeof(DIRECTORY_TEMPORARY) - 1) ||
	       !strncmp(name, STAR_SECRET_PREFIX, sizeof(STAR_SECRET_PREFIX) - 1);
}

/* An existing folder that is neither empty nor ours is left alone. Other ranks may be making it
 * ours meanwhile, run.json first. */
static int directory_check_foreign(const struct directory *d, struct error *err)
{
	static const char *const ours[] = {".",     "..",     "run.json", "plan.json",
					   "spool", "output", "cwd",      "retally.db"};
	char found[64] = "";
	struct dirent *entry;
	DIR *folder = NULL;
	int fd;

	if (!faccessat(d->fd, "run.json", F_OK, 0))
		return 0;
	fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		folder = fdopendir(fd);
	while (folder && !found[0] && (entry = readdir(folder))) {
		bool known = directory_is_passing(entry->d_name);

		for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			known = known || !strcmp(entry->d_name, ours[i]);
		if (!known)
			snprintf(found, sizeof(found), "%.60s", entry->d_name);
	}
	if (folder)
		closedir(folder);
	if (found[0] && faccessat(d->fd, "run.json", F_OK, 0))
		return error_set(err, RC_EXISTS,
				 "'%s' is no run directory of retally (it holds '%s'); choose "
				 "another one with -o",
				 d->path, found);
	return 0;
}

/* ---- entry ---- */

int directory_open(struct directory *d, const struct directory_request *q, struct error *err)
{
	struct str text = STR_INIT;
	bool existed = false;
	int rc;

	memset(d, 0, sizeof(*d));
	d->fd = -1;
	rc = collection_id(q->plan->hash, (const char *const *)q->argv,
			   q->filters ? q->filters : "", d->collection);
	if (rc)
		return error_set(err, rc, "out of memory");
	if (q->join)
		snprintf(d->collection, sizeof(d->collection), "%s", q->join);
	rc = directory_expand(q, &d->path, err);
	if (!rc)
		rc = directory_make(d->path, err);
	if (rc)
		goto out;
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0) {
		rc = error_set_errno(err, 0, errno, "cannot open the run directory '%s'", d->path);
		goto out;
	}
	rc = directory_check_foreign(d, err);
	if (!rc && q->join && faccessat(d->fd, "run.json", F_OK, 0))
		rc = error_set(err, RC_NOT_FOUND, "'%s' holds no collection that could be joined",
			       d->path);
	if (!rc)
		rc = directory_describe(d, q, &text, err);
	if (!rc)
		rc = directory_write_once(d, "run.json", q->launch, &text, &existed, err);
	d->joined = existed;
	if (!rc && existed)
		rc = directory_check(d, q, err);
	if (!rc)
		rc = directory_plan(d, q, err);
	if (!rc && mkdirat(d->fd, "spool", 0777) && errno != EEXIST)
		rc = error_set_errno(err, 0, errno, "cannot make '%s/spool'", d->path);
out:
	str_release(&text);
	if (rc)
		directory_release(d);
	return rc;
}

char *directory_spool_path(const struct directory *d, const char *launch,
			   const struct identity *identity, int pid)
{
	char *path = NULL, rank[16] = "-", host[SPOOL_HOST_SIZE];

	if (identity->rank >= 0)
		snprintf(rank, sizeof(rank), "%d", identity->rank);
	snprintf(host, sizeof(host), "%s", identity->host);
	for (char *p = host; *p; p++)
		if (*p == '/')
			*p = '_';
	if (asprintf(&path, "%s/spool/%s.%s.%s.%d.rts", d->path, launch, host, rank, pid) < 0)
		return NULL;
	return path;
}

void directory_release(struct directory *d)
{
	free(d->path);
	d->path = NULL;
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}
