/* SPDX-License-Identifier: Apache-2.0 */
/* Merging run directories: whether they belong together, and what OUT says about itself. */
#include "store/merge.h"

#include "base/json.h"
#include "base/str.h"
#include "store/merge_files.h"
#include "store/merge_spools.h"
#include "wire/plan.h"
#include "wire/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MERGE_RUN_MAX (16u << 20)

/* One run directory as it describes itself. */
struct source {
	const char *dir;
	struct arena arena;
	bool has_plan, has_run;
	struct plan plan;
	char *plan_text, *run_text; /* as in the files; malloc'ed */
	size_t plan_size, run_size;
	const struct json_value *run; /* NULL unless has_run */
	const char *collection;       /* of run.json, or NULL */
	struct error why_no_plan, why_no_run;
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while merging");
}

static const char *run_string(const struct source *s, const char *key)
{
	const struct json_value *v = s->run ? json_member(s->run, key) : NULL;

	return v && v->type == JSON_STRING ? v->text : NULL;
}

/* Reads what is there; what is missing or damaged is told by has_plan and has_run. */
static int source_read(struct source *s, struct error *err)
{
	char *path = arena_printf(&s->arena, "%s/plan.json", s->dir);
	struct json_value *root;
	int rc;

	if (!path)
		return no_memory(err);
	rc = merge_read(path, PLAN_FILE_SIZE_MAX, &s->plan_text, &s->plan_size, &s->why_no_plan);
	if (!rc)
		rc = plan_decode(&s->plan, path, s->plan_text, s->plan_size, &s->why_no_plan);
	s->has_plan = !rc;
	path = arena_printf(&s->arena, "%s/run.json", s->dir);
	if (!path || rc == RC_NO_MEMORY)
		return no_memory(err);
	rc = merge_read(path, MERGE_RUN_MAX, &s->run_text, &s->run_size, &s->why_no_run);
	if (!rc)
		rc = json_parse(&s->arena, path, s->run_text, s->run_size, &root, &s->why_no_run);
	if (!rc && root->type != JSON_OBJECT)
		rc = error_set(&s->why_no_run, RC_CORRUPT, "%s:1: not an object", path);
	s->has_run = !rc;
	if (s->has_run)
		s->run = root;
	s->collection = run_string(s, "collection");
	return rc == RC_NO_MEMORY ? no_memory(err) : 0;
}

static void source_release(struct source *s)
{
	if (s->has_plan)
		plan_release(&s->plan);
	arena_release(&s->arena);
	free(s->plan_text);
	free(s->run_text);
}

static bool is_folder(const char *dir, const char *name)
{
	struct str path = STR_INIT;
	struct stat st;
	bool is;

	str_addf(&path, "%s/%s", dir, name);
	is = !str_is_failed(&path) && !stat(str_text(&path), &st) && S_ISDIR(st.st_mode);
	str_release(&path);
	return is;
}

static int source_open(struct source *s, const char *dir, struct error *err)
{
	struct stat st;
	int rc;

	*s = (struct source){.dir = dir};
	if (stat(dir, &st))
		return error_set_errno(err, errno == ENOENT ? RC_NOT_FOUND : 0, errno,
				       "cannot open run directory '%s'", dir);
	rc = source_read(s, err);
	if (!rc && !s->has_plan && !s->has_run && !is_folder(dir, "spool"))
		rc = error_set(err, RC_INVALID,
			       "'%s' is no run directory: it has no plan.json, run.json or spool",
			       dir);
	return rc;
}

/* ---- do they belong together ---- */

/* "a b c", cut to fit. */
static void describe_command(const struct source *s, char *text, size_t size)
{
	const struct json_value *v = s->run ? json_member(s->run, "command") : NULL;
	struct str all = STR_INIT;

	if (!v && s->run)
		v = json_member(s->run, "argv");
	for (v = v && v->type == JSON_ARRAY ? v->child : NULL; v; v = v->next)
		str_addf(&all, "%s%s", all.size ? " " : "", v->text ? v->text : "");
	snprintf(text, size, all.size < size ? "%s" : "%.80s...", str_text(&all));
	str_release(&all);
}

static int refuse_plan(const struct source *a, const struct source *b, struct error *err)
{
	return error_set(err, RC_MISMATCH,
			 "'%.80s' and '%.80s' differ in the plan: '%.60s' (%.12s) and '%.60s' "
			 "(%.12s)",
			 a->dir, b->dir, a->plan.selection, a->plan.hash, b->plan.selection,
			 b->plan.hash);
}

static int refuse_collection(const struct source *a, const struct source *b, struct error *err)
{
	const char *fa = run_string(a, "filters"), *fb = run_string(b, "filters");
	const char *pa = run_string(a, "plan"), *pb = run_string(b, "plan");
	char ca[100], cb[100];

	describe_command(a, ca, sizeof(ca));
	describe_command(b, cb, sizeof(cb));
	if (strcmp(ca, cb) != 0)
		return error_set(err, RC_MISMATCH,
				 "'%.80s' and '%.80s' differ in the command: '%s' and '%s'", a->dir,
				 b->dir, ca, cb);
	if (pa && pb && strcmp(pa, pb) != 0)
		return error_set(err, RC_MISMATCH,
				 "'%.80s' and '%.80s' differ in the plan: %.12s and %.12s", a->dir,
				 b->dir, pa, pb);
	if (fa && fb && strcmp(fa, fb) != 0)
		return error_set(err, RC_MISMATCH,
				 "'%.80s' and '%.80s' differ in the filters: '%.80s' and '%.80s'",
				 a->dir, b->dir, fa, fb);
	return error_set(err, RC_MISMATCH,
			 "'%.80s' and '%.80s' are of different collections (%.12s and %.12s), in "
			 "the arguments of the command",
			 a->dir, b->dir, a->collection, b->collection);
}

/* The plan and collection of all of them; reference_out: a source that has the plan. */
static int agree(const struct source *sources, size_t n, const struct source **reference_out,
		 char *collection, size_t size, struct error *err)
{
	const struct source *with_plan = NULL, *with_run = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct source *s = &sources[i];

		if (s->has_plan && with_plan && strcmp(s->plan.hash, with_plan->plan.hash) != 0)
			return refuse_plan(with_plan, s, err);
		if (s->collection && with_run && strcmp(s->collection, with_run->collection) != 0)
			return refuse_collection(with_run, s, err);
		if (s->has_plan && !with_plan)
			with_plan = s;
		if (s->collection && !with_run)
			with_run = s;
	}
	*reference_out = with_plan;
	if (!with_plan)
		return error_set(err, RC_CORRUPT, "no plan to merge with: %s",
				 sources[0].why_no_plan.message);
	collection[0] = '\0';
	if (with_run)
		snprintf(collection, size, "%s", with_run->collection);
	for (size_t i = 0; i < n && !collection[0]; i++) {
		int rc = merge_find_collection(sources[i].dir, with_plan->plan.hash, collection,
					       size, err);

		if (rc)
			return rc;
	}
	return 0;
}

/* ---- OUT ---- */

/* Nothing that looks like somebody else's directory is filled with our files. */
static int check_foreign(const char *out, struct error *err)
{
	DIR *folder = opendir(out);
	struct dirent *entry;
	char found[64] = "";

	if (!folder)
		return error_set_errno(err, 0, errno, "cannot open '%s'", out);
	while (!found[0] && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "spool") != 0)
			snprintf(found, sizeof(found), "%.60s", entry->d_name);
	}
	closedir(folder);
	return found[0] ? error_set(err, RC_EXISTS,
				    "'%s' is no run directory of retally (it holds '%s'); choose "
				    "another one with -o",
				    out, found)
			: 0;
}

/* Opens OUT and OUT/spool, and keeps other merges away. */
static int open_target(struct merge_target *t, struct error *err)
{
	if (mkdir(t->dir, 0777) && errno != EEXIST)
		return error_set_errno(err, 0, errno, "cannot make '%s'", t->dir);
	t->fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->fd < 0)
		return error_set_errno(err, 0, errno, "cannot open '%s'", t->dir);
	/* Where directories cannot be locked (some network file systems), two merges at once still
	 * write whole files. */
	if (flock(t->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return error_set(err, RC_EXISTS, "another merge is writing to '%s'", t->dir);
	if (mkdirat(t->fd, "spool", 0777) && errno != EEXIST)
		return error_set_errno(err, 0, errno, "cannot make '%s/spool'", t->dir);
	t->spools = openat(t->fd, "spool", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->spools < 0)
		return error_set_errno(err, 0, errno, "cannot open '%s/spool'", t->dir);
	return 0;
}

/* What a killed merge was writing. */
static void remove_temporaries(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		if (!strncmp(entry->d_name, MERGE_TEMPORARY, sizeof(MERGE_TEMPORARY) - 1))
			unlinkat(folder, entry->d_name, 0);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

/* The run.json that was made first, then the smaller one: independent of the order of the inputs.
 */
static const struct source *choose_run(const struct source *sources, size_t n)
{
	const struct source *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct source *s = &sources[i];
		const char *mine = run_string(s, "created"), *its;
		int c;

		if (!s->has_run || !s->collection)
			continue;
		if (!best) {
			best = s;
			continue;
		}
		its = run_string(best, "created");
		c = strcmp(mine ? mine : "", its ? its : "");
		if (c < 0 || (!c && strcmp(s->run_text, best->run_text) < 0))
			best = s;
	}
	return best;
}

static int write_description(const struct merge_target *t, const struct source *sources, size_t n,
			     const struct source *reference, struct error *err)
{
	const struct source *run = choose_run(sources, n);
	bool have_out = !strcmp(sources[0].dir, t->dir);
	int rc = 0;

	if (!have_out || !sources[0].has_plan)
		rc = merge_write(t->fd, "plan.json", reference->plan_text, reference->plan_size,
				 err);
	if (!rc && run && !(have_out && run == &sources[0]))
		rc = merge_write(t->fd, "run.json", run->run_text, run->run_size, err);
	return rc ? error_prefix(err, "%s", t->dir) : 0;
}

static bool is_same_directory(const char *dir, int fd)
{
	struct stat a, b;

	return !stat(dir, &a) && !fstat(fd, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int merge_one(const struct merge_target *t, const struct source *s, struct error *err)
{
	int rc = 0;

	if (is_same_directory(s->dir, t->fd))
		return 0;
	if (!s->has_plan)
		rc = merge_problem(t->outcome, err,
				   "%s; spools of '%s' were taken by what they say of themselves",
				   s->why_no_plan.message, s->dir);
	if (!rc && !s->has_run && s->why_no_run.code != RC_NOT_FOUND)
		rc = merge_problem(t->outcome, err, "%s; left out", s->why_no_run.message);
	return rc ? rc : merge_spools(t, s->dir, err);
}

static int merge_all(struct merge_target *t, const struct source *sources, size_t n,
		     struct error *err)
{
	const struct source *reference = NULL;
	char collection[SPOOL_ID_SIZE];
	int rc = agree(sources, n, &reference, collection, sizeof(collection), err);

	if (!rc)
		rc = open_target(t, err);
	if (rc)
		return rc;
	t->collection = collection;
	t->plan_hash = reference->plan.hash;
	remove_temporaries(t->fd);
	remove_temporaries(t->spools);
	rc = merge_find_aliases(t, err);
	if (!rc)
		rc = write_description(t, sources, n, reference, err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = merge_one(t, &sources[i], err);
	for (size_t i = 0; !rc && i < n; i++) {
		if (!is_same_directory(sources[i].dir, t->fd))
			rc = merge_name_missing(t, sources[i].dir, err);
	}
	/* The inputs may be deleted next. */
	if (!rc && t->outcome->copied + t->outcome->replaced && syncfs(t->fd) && errno == EIO)
		rc = error_set_errno(err, 0, errno, "'%s' could not be written to the disk",
				     t->dir);
	return rc;
}

int merge_directories(const char *const *dirs, size_t n, const char *out,
		      struct merge_outcome *outcome, struct error *err)
{
	struct spool_memory memory = {0};
	struct merge_target t = {
		.dir = out, .fd = -1, .spools = -1, .outcome = outcome, .memory = &memory};
	struct source *sources = calloc(n + 1, sizeof(*sources));
	size_t opened = 0;
	struct stat st;
	int rc = 0;

	*outcome = (struct merge_outcome){0};
	if (!sources)
		return no_memory(err);
	/* OUT comes first: what is there already is what the others must agree with. */
	if (!stat(out, &st)) {
		sources[0] = (struct source){.dir = out};
		rc = source_read(&sources[opened++], err);
		if (!rc && !sources[0].has_plan && !sources[0].has_run) {
			rc = check_foreign(out, err);
			source_release(&sources[--opened]);
		}
	}
	for (size_t i = 0; !rc && i < n; i++)
		rc = source_open(&sources[opened++], dirs[i], err);
	if (!rc)
		rc = merge_all(&t, sources, opened, err);
	while (opened)
		source_release(&sources[--opened]);
	free(sources);
	merge_release_aliases(&t);
	spool_memory_release(&memory);
	if (t.spools >= 0)
		close(t.spools);
	if (t.fd >= 0)
		close(t.fd);
	return rc;
}

void merge_outcome_release(struct merge_outcome *o)
{
	vec_for_each (&o->problems, p)
		free(*p);
	vec_release(&o->problems);
}
