/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of output names: one table of placeholders, one left-to-right walk. */
#define LOG_DOMAIN "path"
#include "base/path_template.h"

#include "base/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_INDEX_MAX 100000

enum path_item {
	PATH_HOST,
	PATH_PID,
	PATH_RANK,
	PATH_JOB,
	PATH_NID,
	PATH_TIME,
	PATH_TAG,
	PATH_INDEX,
	PATH_PERCENT,
	PATH_ENV,
};

struct path_spelling {
	const char *text; /* behind the first '%' */
	enum path_item item;
};

/* Long spellings first: '%pid%' must not be read as '%p' and 'id%'. */
static const struct path_spelling spellings[] = {
	{"hostname%", PATH_HOST}, {"launch_time%", PATH_TIME},
	{"rank%", PATH_RANK},     {"pid%", PATH_PID},
	{"job%", PATH_JOB},       {"nid%", PATH_NID},
	{"tag%", PATH_TAG},       {"env{", PATH_ENV},
	{"q{", PATH_ENV},         {"h", PATH_HOST},
	{"p", PATH_PID},          {"r", PATH_RANK},
	{"j", PATH_JOB},          {"t", PATH_TIME},
	{"i", PATH_INDEX},        {"%", PATH_PERCENT},
};

struct path_walk {
	const char *template;
	const struct path_values *values;
	struct str *out;
	unsigned index; /* value of %i */
	bool has_index;
	bool is_quiet; /* warnings were given in an earlier round */
	struct error *err;
};

static int path_fail(struct path_walk *w, const char *what, const char *at, size_t n)
{
	return error_set(w->err, RC_INVALID, "output name '%.200s': %s '%.*s'", w->template, what,
			 (int)n, at);
}

static const struct path_spelling *path_find(const char *behind)
{
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		if (!strncmp(behind, spellings[i].text, strlen(spellings[i].text)))
			return &spellings[i];
	return NULL;
}

static void path_add_component(struct str *out, const char *text)
{
	for (; text && *text; text++)
		str_add_char(out, *text == '/' ? '_' : *text);
}

static int path_add_rank(struct path_walk *w)
{
	if (w->values->rank < 0)
		return error_set(
			w->err, RC_INVALID,
			"output name '%.200s': the rank is not known; set RETALLY_RANK, or "
			"use %%nid%% for the rank if there is one and else the process id",
			w->template);
	str_addf(w->out, "%" PRId64, w->values->rank);
	return 0;
}

static void path_add_time(struct path_walk *w)
{
	struct tm tm;

	/* UTC: ranks in different time zones agree. */
	if (gmtime_r(&w->values->start, &tm))
		str_addf(w->out, "%04d%02d%02dT%02d%02d%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
			 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* at: the '%'; name: behind the brace. Moves *end_out behind the placeholder. */
static int path_add_env(struct path_walk *w, const char *at, const char *name, bool is_long,
			const char **end_out)
{
	size_t n = strcspn(name, "}");
	const char *value;
	char text[256];

	if (!name[n])
		return path_fail(w, "no '}' after", at, (size_t)(name - at));
	if (is_long && name[n + 1] != '%')
		return path_fail(w, "no '%' after", at, (size_t)(name - at) + n + 1);
	*end_out = name + n + (is_long ? 2 : 1);
	if (!n || n >= sizeof(text) || memchr(name, '=', n))
		return path_fail(w, "no name of a variable in", at, (size_t)(*end_out - at));
	memcpy(text, name, n);
	text[n] = '\0';
	value = w->values->get_env ? w->values->get_env(w->values->context, text) : getenv(text);
	if (value)
		str_add(w->out, value);
	else if (!w->is_quiet)
		log_warn("output name '%.200s': the variable '%s' is not set", w->template, text);
	return 0;
}

static int path_add_item(struct path_walk *w, enum path_item item)
{
	const struct path_values *v = w->values;

	switch (item) {
	case PATH_HOST:
		path_add_component(w->out, v->host ? v->host : "unknown");
		return 0;
	case PATH_PID:
		str_addf(w->out, "%" PRId64, v->pid);
		return 0;
	case PATH_RANK:
		return path_add_rank(w);
	case PATH_NID:
		str_addf(w->out, "%" PRId64, v->rank < 0 ? v->pid : v->rank);
		return 0;
	case PATH_JOB:
		if ((!v->job || !*v->job) && !w->is_quiet)
			log_warn("output name '%.200s': the job id is not known", w->template);
		path_add_component(w->out, v->job);
		return 0;
	case PATH_TIME:
		path_add_time(w);
		return 0;
	case PATH_TAG:
		path_add_component(w->out, v->tag);
		return 0;
	case PATH_INDEX:
		w->has_index = true;
		str_addf(w->out, "%u", w->index);
		return 0;
	case PATH_PERCENT:
		str_add_char(w->out, '%');
		return 0;
	case PATH_ENV:
		break;
	}
	return RC_ERROR; /* PATH_ENV needs its text, see path_walk */
}

static int path_walk(struct path_walk *w)
{
	const char *at = w->template;
	int rc = 0;

	while (!rc && *at) {
		const struct path_spelling *s;
		const char *behind = at + 1;

		if (*at != '%') {
			str_add_char(w->out, *at++);
			continue;
		}
		s = path_find(behind);
		if (!s)
			return path_fail(
				w,
				"use %% for a per cent sign, %h %p %r %j %t %i %q{VAR} or %nid%; "
				"unknown placeholder",
				at, *behind ? 2 : 1);
		behind += strlen(s->text);
		if (s->item == PATH_ENV)
			rc = path_add_env(w, at, behind, *s->text == 'e', &behind);
		else
			rc = path_add_item(w, s->item);
		at = behind;
	}
	return rc;
}

static bool path_exists(const struct path_values *values, const char *path)
{
	struct stat st;

	return values->exists ? values->exists(values->context, path) : !lstat(path, &st);
}

int path_template_expand(const char *template, const struct path_values *values, struct str *out,
			 struct error *err)
{
	struct str path = STR_INIT;
	struct path_walk w = {
		.template = template, .values = values, .out = &path, .index = 1, .err = err};
	int rc;

	if (strlen(template) >= PATH_TEMPLATE_SIZE_MAX)
		return error_set(err, RC_INVALID, "output name: longer than %d bytes",
				 PATH_TEMPLATE_SIZE_MAX - 1);
	for (;;) {
		rc = path_walk(&w);
		if (rc || str_is_failed(&path) || !w.has_index ||
		    path.size >= PATH_TEMPLATE_SIZE_MAX || !path_exists(values, path.text))
			break;
		if (w.index++ == PATH_INDEX_MAX) {
			rc = error_set(err, RC_EXISTS,
				       "output name '%.200s': no number up to %d is free", template,
				       PATH_INDEX_MAX);
			break;
		}
		w.is_quiet = true;
		str_clear(&path);
	}
	if (!rc && str_is_failed(&path))
		rc = error_set(err, RC_NO_MEMORY, "output name: out of memory");
	if (!rc && !path.size)
		rc = error_set(err, RC_INVALID, "output name '%.200s': nothing is left of it",
			       template);
	if (!rc && path.size >= PATH_TEMPLATE_SIZE_MAX)
		rc = error_set(err, RC_INVALID, "output name '%.200s': longer than %d bytes",
			       template, PATH_TEMPLATE_SIZE_MAX - 1);
	if (!rc)
		str_add_bytes(out, path.text, path.size);
	str_release(&path);
	return rc;
}

bool path_template_is_per_process(const char *template)
{
	for (const char *at = strchr(template, '%'); at; at = strchr(at, '%')) {
		const struct path_spelling *s = path_find(++at);

		if (!s)
			continue;
		if (s->item == PATH_PID || s->item == PATH_RANK || s->item == PATH_NID ||
		    s->item == PATH_INDEX || s->item == PATH_ENV)
			return true;
		at += strlen(s->text);
	}
	return false;
}
