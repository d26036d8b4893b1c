/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a run directory, and what it says about itself. */
#include "base/json.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN_JSON_SIZE_MAX (16u << 20)
#define RUN_JSON_VERSION  1 /* the newest we know: launch/directory.c writes it */

/* NULL and no error when the file does not exist. */
static int read_text(struct arena *arena, const char *path, char **text_out, size_t *size_out,
		     struct error *err)
{
	size_t size = 0;
	struct stat st;
	ssize_t n = 1;
	int fd, rc = 0;
	char *text;

	*text_out = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0
				       : error_set_errno(err, 0, errno, "cannot read '%s'", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > RUN_JSON_SIZE_MAX) {
		close(fd);
		return error_set(err, RC_CORRUPT, "'%s' is not a file of at most 16 MiB", path);
	}
	text = arena_alloc(arena, (size_t)st.st_size + 1);
	while (text && n > 0 && size < (size_t)st.st_size) {
		n = read(fd, text + size, (size_t)st.st_size - size);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			size += (size_t)n;
	}
	if (!text)
		rc = error_set(err, RC_NO_MEMORY, "out of memory while reading '%s'", path);
	else if (n < 0)
		rc = error_set_errno(err, 0, errno, "cannot read '%s'", path);
	close(fd);
	*text_out = text;
	*size_out = size;
	return rc;
}

/* Members of run.json are optional: other versions, and runs without the command, have fewer. */
static const char *optional_string(const struct json_value *root, const char *key)
{
	const struct json_value *v = json_member(root, key);

	return v && v->type == JSON_STRING ? v->text : NULL;
}

static int read_strings(struct arena *arena, const struct json_value *array, size_t *n_out,
			const char *const **strings_out)
{
	const char **list;
	size_t n = 0;

	if (!array || array->type != JSON_ARRAY)
		return 0;
	list = arena_array(arena, array->n + 1, sizeof(*list));
	if (!list)
		return RC_NO_MEMORY;
	for (const struct json_value *v = array->child; v; v = v->next) {
		if (v->type == JSON_STRING)
			list[n++] = v->text;
	}
	*n_out = n;
	*strings_out = list;
	return 0;
}

/* What is wrong with run.json is no reason to hide the counts beside it: RC_CORRUPT says so. */
static int parse_run_json(struct store *s, const char *path, char *text, size_t size,
			  struct json_value **root_out, struct error *err)
{
	uint64_t version;
	int rc = json_parse(&s->arena, path, text, size, root_out, err);

	if (rc)
		return rc;
	if ((*root_out)->type != JSON_OBJECT)
		return error_set(err, RC_CORRUPT, "%s:1: not an object", path);
	if (!json_member(*root_out, "version"))
		return 0;
	rc = json_read_uint(*root_out, path, "version", RUN_JSON_VERSION, &version, err);
	return rc ? error_set(err, RC_CORRUPT, "%s", err->message) : 0;
}

static int read_run_json(struct store *s, struct error *err)
{
	char *path = arena_printf(&s->arena, "%s/run.json", s->dir), *text = NULL;
	const char *const *spools = NULL;
	const struct json_value *argv;
	size_t size = 0, n = 0;
	struct json_value *root;
	const char *slash;
	int rc;

	if (!path)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	rc = read_text(&s->arena, path, &text, &size, err);
	if (!rc && !text)
		return 0;
	if (!rc)
		rc = parse_run_json(s, path, text, size, &root, err);
	if (rc == RC_NO_MEMORY)
		return rc;
	if (rc) {
		s->no_run_json =
			arena_printf(&s->arena, "run.json is not used, the command is unknown: %s",
				     err->message);
		*err = (struct error){0};
		return s->no_run_json ? 0 : error_set(err, RC_NO_MEMORY, "out of memory");
	}
	s->info.cwd = optional_string(root, "cwd");
	s->info.options = optional_string(root, "options");
	s->info.filters = optional_string(root, "filters");
	s->info.host = optional_string(root, "host");
	s->info.created = optional_string(root, "created");
	s->info.collection = optional_string(root, "collection");
	argv = json_member(root, "argv");
	rc = read_strings(&s->arena, argv ? argv : json_member(root, "command"), &s->info.argc,
			  &s->info.argv);
	if (!rc)
		rc = read_strings(&s->arena, json_member(root, "spools"), &n, &spools);
	for (size_t i = 0; !rc && i < n; i++) {
		if (!vec_push(&s->expected, spools[i]))
			rc = RC_NO_MEMORY;
	}
	if (rc)
		return error_set(err, rc, "out of memory while reading '%s'", path);
	s->info.program = optional_string(root, "application"); /* below a launcher */
	if (!s->info.program && s->info.argc)
		s->info.program = s->info.argv[0];
	if (s->info.program) {
		slash = strrchr(s->info.program, '/');
		if (slash && slash[1])
			s->info.program = slash + 1;
	}
	return 0;
}

static int index_plan(struct store *s, struct error *err)
{
	const struct plan *p = &s->plan;
	size_t n;

	s->pass_offset = arena_array(&s->arena, p->n_passes + 1, sizeof(*s->pass_offset));
	s->pass_has_run = arena_array(&s->arena, p->n_passes + 1, sizeof(*s->pass_has_run));
	if (!s->pass_offset || !s->pass_has_run)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	for (uint32_t k = 0; k < p->n_passes; k++)
		s->pass_offset[k + 1] = s->pass_offset[k] + p->passes[k].n_counters;
	n = s->pass_offset[p->n_passes];
	s->counts = arena_array(&s->arena, n ? n : 1, sizeof(*s->counts));
	return s->counts ? 0 : error_set(err, RC_NO_MEMORY, "out of memory");
}

static int read_plan(struct store *s, struct error *err)
{
	char *path = arena_printf(&s->arena, "%s/plan.json", s->dir);
	struct stat st;

	if (!path)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	if (stat(s->dir, &st) != 0)
		return error_set_errno(err, errno == ENOENT ? RC_NOT_FOUND : 0, errno,
				       "cannot open run directory '%s'", s->dir);
	if (stat(path, &st) != 0 && errno == ENOENT)
		return error_set(err, RC_NOT_FOUND,
				 "'%s' is not a run directory: it has no plan.json", s->dir);
	return plan_read_file(&s->plan, path, err);
}

int store_open(struct store **store_out, const char *dir, struct error *err)
{
	struct store *s = calloc(1, sizeof(*s));
	size_t n;
	int rc;

	*store_out = NULL;
	if (!s)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	s->dir = strdup(dir);
	if (!s->dir) {
		free(s);
		return error_set(err, RC_NO_MEMORY, "out of memory");
	}
	for (n = strlen(s->dir); n > 1 && s->dir[n - 1] == '/'; n--)
		s->dir[n - 1] = '\0';
	s->info.dir = s->dir;
	rc = read_plan(s, err);
	if (!rc)
		rc = index_plan(s, err);
	if (!rc)
		rc = read_run_json(s, err);
	if (!rc)
		rc = find_spools(s, err);
	if (!rc)
		rc = update_database(s, err);
	if (!rc && s->no_run_json) {
		struct store_finding f = {
			.kind = SPOOL_NOTE_FINDING, .n = 1, .text = s->no_run_json};

		if (!vec_push(&s->findings, f))
			rc = error_set(err, RC_NO_MEMORY, "out of memory");
	}
	if (!rc && !s->info.program) {
		vec_for_each (&s->kernels, k) {
			if (k->unit == SPOOL_UNIT_PROCESS && !s->info.program)
				s->info.program = k->name;
		}
	}
	if (rc)
		store_close(s);
	else
		*store_out = s;
	return rc;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	vec_release(&s->expected);
	vec_release(&s->found);
	vec_release(&s->spools);
	vec_release(&s->kernels);
	vec_release(&s->runs);
	vec_release(&s->findings);
	vec_release(&s->windows);
	vec_release(&s->declined);
	vec_release(&s->left);
	match_free(s->matches);
	plan_release(&s->plan);
	arena_release(&s->arena);
	free(s->dir);
	free(s);
}

const struct plan *store_plan(const struct store *s)
{
	return &s->plan;
}
const struct store_info *store_info(const struct store *s)
{
	return &s->info;
}
const struct store_spool *store_spools(const struct store *s, size_t *n_out)
{
	*n_out = s->spools.n;
	return s->spools.items;
}
const struct store_kernel *store_kernels(const struct store *s, size_t *n_out)
{
	*n_out = s->kernels.n;
	return s->kernels.items;
}
const struct store_run *store_runs(const struct store *s, size_t *n_out)
{
	*n_out = s->runs.n;
	return s->runs.items;
}
const struct store_finding *store_findings(const struct store *s, size_t *n_out)
{
	*n_out = s->findings.n;
	return s->findings.items;
}
const struct store_window *store_windows(const struct store *s, size_t *n_out)
{
	*n_out = s->windows.n;
	return s->windows.items;
}
const struct store_declined *store_declined(const struct store *s, size_t *n_out)
{
	*n_out = s->declined.n;
	return s->declined.items;
}

const struct store_left *store_left(const struct store *s, size_t *n_out)
{
	*n_out = s->left.n;
	return s->left.items;
}
bool store_is_in_place(const struct store *s)
{
	return s->pass_has_run[0];
}
bool store_pass_is_part(const struct store *s, uint32_t pass)
{
	uint32_t k = pass;

	if (!pass || pass > s->plan.n_passes || s->plan.passes[pass - 1].n_counters)
		return false;
	while (k < s->plan.n_passes && !s->plan.passes[k].n_counters)
		k++;
	return k < s->plan.n_passes;
}
bool store_pass_has_run(const struct store *s, uint32_t pass)
{
	return pass <= s->plan.n_passes && s->pass_has_run[pass];
}

/* Neither its time limit, nor the end of retally, nor somebody's SIGKILL, which no program sends
 * itself, cut it off. Replays in place are whole one by one. */
static bool run_is_whole(const struct store_run *r)
{
	return r->in_place ||
	       (r->ended && !(r->flags & SPOOL_PASS_TIMED_OUT) && r->signal != SIGKILL);
}

bool store_pass_is_complete(const struct store *s, uint32_t pass)
{
	if (!store_pass_has_run(s, pass))
		return false;
	vec_for_each (&s->runs, cut) {
		bool again = false;

		if (cut->pass != pass || run_is_whole(cut))
			continue;
		vec_for_each (&s->runs, r)
			again = again || (r->pass == pass && run_is_whole(r) &&
					  r->spool->rank == cut->spool->rank);
		if (!again)
			return false;
	}
	return true;
}

uint64_t store_sample_count(const struct store *s, uint32_t pass, uint32_t counter,
			    enum sample_status status)
{
	const struct plan_pass *p;

	if (!pass || pass > s->plan.n_passes || status > SAMPLE_STATUS_MAX)
		return 0;
	p = &s->plan.passes[pass - 1];
	for (uint32_t i = 0; i < p->n_counters; i++) {
		if (p->counters[i] == counter)
			return s->counts[s->pass_offset[pass - 1] + i][status];
	}
	return 0;
}
