/* SPDX-License-Identifier: Apache-2.0 */
/* Data files as trees: libyaml's event parser with bounds, and typed access with file:line:column.
 */
#include "model/catalog_load_yaml.h"

#include "model/expr_node.h"
#include "model/nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

struct builder {
	struct arena *arena;
	const char *name;
	yaml_parser_t parser;
	struct yaml_value *open[YAML_DEPTH_MAX]; /* mappings and lists around the next value */
	struct yaml_value *last[YAML_DEPTH_MAX]; /* their last children */
	const char *key;                         /* read, waits for its value */
	uint32_t key_line, key_column;
	int depth;
	size_t n_values;
	struct yaml_value *root;
	bool done;
	bool stopped; /* go_on said no */
	bool (*go_on)(const struct yaml_value *first, void *data);
	void *data;
	struct error *err;
};

__attribute__((format(printf, 5, 0))) static int fail_at(const char *name, uint32_t line,
							 uint32_t column, struct error *err,
							 const char *fmt, va_list ap)
{
	char text[ERROR_MESSAGE_SIZE];

	vsnprintf(text, sizeof(text), fmt, ap);
	return error_set(err, RC_INVALID, "%.200s:%u:%u: %s", name, line, column, text);
}

int yaml_error(const struct yaml_value *v, const char *name, struct error *err, const char *fmt,
	       ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = fail_at(name, v->line, v->column, err, fmt, ap);
	va_end(ap);
	return rc;
}

int yaml_key_error(const struct yaml_value *v, const char *name, struct error *err, const char *fmt,
		   ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = fail_at(name, v->key ? v->key_line : v->line, v->key ? v->key_column : v->column, err,
		     fmt, ap);
	va_end(ap);
	return rc;
}

static uint32_t line_of(const yaml_mark_t *m)
{
	return (uint32_t)m->line + 1;
}

static uint32_t column_of(const yaml_mark_t *m)
{
	return (uint32_t)m->column + 1;
}

__attribute__((format(printf, 3, 4))) static int fail(struct builder *b, const yaml_mark_t *at,
						      const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = fail_at(b->name, line_of(at), column_of(at), b->err, fmt, ap);
	va_end(ap);
	return rc;
}

static int out_of_memory(struct builder *b)
{
	return error_set(b->err, RC_NO_MEMORY, "%s: out of memory", b->name);
}

/* ---- building ---- */

/* A value is complete; the first pair of the top mapping decides whether to go on. */
static void value_done(struct builder *b)
{
	if (!b->depth)
		b->done = true;
	else if (b->depth == 1 && b->root->kind == YAML_MAPPING && b->root->n == 1 && b->go_on &&
		 !b->go_on(b->root->child, b->data))
		b->stopped = true;
}

static int add_value(struct builder *b, struct yaml_value *v, const yaml_mark_t *at)
{
	struct yaml_value *parent;

	if (++b->n_values > YAML_VALUES_MAX)
		return fail(b, at, "more than %d values", YAML_VALUES_MAX);
	v->line = line_of(at);
	v->column = column_of(at);
	if (!b->depth) {
		if (b->root)
			return fail(b, at, "a second document");
		b->root = v;
		return 0;
	}
	parent = b->open[b->depth - 1];
	if (parent->kind == YAML_MAPPING) {
		v->key = b->key;
		v->key_line = b->key_line;
		v->key_column = b->key_column;
		b->key = NULL;
	}
	if (b->last[b->depth - 1])
		b->last[b->depth - 1]->next = v;
	else
		parent->child = v;
	b->last[b->depth - 1] = v;
	parent->n++;
	return 0;
}

static int add_key(struct builder *b, const yaml_event_t *e, const char *text)
{
	const struct yaml_value *parent = b->open[b->depth - 1];

	for (const struct yaml_value *v = parent->child; v; v = v->next)
		if (!strcmp(v->key, text))
			return fail(b, &e->start_mark, "'%.60s' is given twice, first in line %u",
				    text, v->key_line);
	if (parent->n >= 64)
		return fail(b, &e->start_mark, "a mapping of more than 64 keys");
	b->key = text;
	b->key_line = line_of(&e->start_mark);
	b->key_column = column_of(&e->start_mark);
	return 0;
}

static int add_scalar(struct builder *b, const yaml_event_t *e)
{
	const char *text = (const char *)e->data.scalar.value;
	struct yaml_value *v;
	char *copy;
	int rc;

	if (e->data.scalar.anchor)
		return fail(b, &e->start_mark, "anchors ('&') are not supported in data files");
	if (e->data.scalar.tag)
		return fail(b, &e->start_mark, "tags ('!') are not supported in data files");
	if (memchr(text, '\0', e->data.scalar.length))
		return fail(b, &e->start_mark, "a NUL character");
	copy = arena_strndup(b->arena, text, e->data.scalar.length);
	if (!copy)
		return out_of_memory(b);
	if (b->depth && b->open[b->depth - 1]->kind == YAML_MAPPING && !b->key)
		return add_key(b, e, copy);
	v = arena_alloc(b->arena, sizeof(*v));
	if (!v)
		return out_of_memory(b);
	v->kind = YAML_TEXT;
	v->text = copy;
	rc = add_value(b, v, &e->start_mark);
	if (!rc)
		value_done(b);
	return rc;
}

static int open_value(struct builder *b, const yaml_event_t *e, enum yaml_kind kind,
		      const void *anchor, const void *tag)
{
	struct yaml_value *v;
	int rc;

	if (anchor)
		return fail(b, &e->start_mark, "anchors ('&') are not supported in data files");
	if (tag)
		return fail(b, &e->start_mark, "tags ('!') are not supported in data files");
	if (b->depth && b->open[b->depth - 1]->kind == YAML_MAPPING && !b->key)
		return fail(b, &e->start_mark, "a key is a plain text");
	if (b->depth == YAML_DEPTH_MAX)
		return fail(b, &e->start_mark, "nested deeper than %d", YAML_DEPTH_MAX);
	v = arena_alloc(b->arena, sizeof(*v));
	if (!v)
		return out_of_memory(b);
	v->kind = kind;
	rc = add_value(b, v, &e->start_mark);
	if (rc)
		return rc;
	b->open[b->depth] = v;
	b->last[b->depth++] = NULL;
	return 0;
}

static int add_event(struct builder *b, const yaml_event_t *e)
{
	switch ((int)e->type) {
	case YAML_SCALAR_EVENT:
		return add_scalar(b, e);
	case YAML_SEQUENCE_START_EVENT:
		return open_value(b, e, YAML_LIST, e->data.sequence_start.anchor,
				  e->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return open_value(b, e, YAML_MAPPING, e->data.mapping_start.anchor,
				  e->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		value_done(b);
		return 0;
	case YAML_ALIAS_EVENT:
		return fail(b, &e->start_mark,
			    "aliases ('*') are not supported in data files; put "
			    "a text that starts with '*' in quotes");
	case YAML_DOCUMENT_START_EVENT:
		return b->done ? fail(b, &e->start_mark, "a second document") : 0;
	default:
		return 0;
	}
}

static int parser_failed(struct builder *b)
{
	const yaml_parser_t *p = &b->parser;

	if (p->error == YAML_MEMORY_ERROR)
		return out_of_memory(b);
	if (p->error == YAML_READER_ERROR)
		return error_set(b->err, RC_INVALID, "%.200s: byte %zu: %s", b->name,
				 p->problem_offset, p->problem ? p->problem : "not UTF-8");
	return fail(b, &p->problem_mark, "%s%s%s", p->problem ? p->problem : "not YAML",
		    p->context ? " " : "", p->context ? p->context : "");
}

int yaml_parse(struct arena *arena, const char *name, const char *text, size_t size,
	       bool (*go_on)(const struct yaml_value *first, void *data), void *data,
	       struct yaml_value **root_out, struct error *err)
{
	struct builder b = {.arena = arena, .name = name, .go_on = go_on, .data = data, .err = err};
	bool end = false;
	yaml_event_t e;
	int rc = 0;

	*root_out = NULL;
	if (size > YAML_FILE_SIZE_MAX)
		return error_set(err, RC_INVALID, "%s: more than %u bytes", name,
				 YAML_FILE_SIZE_MAX);
	if (!yaml_parser_initialize(&b.parser))
		return out_of_memory(&b);
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, size);
	while (!rc && !end && !b.stopped) {
		if (!yaml_parser_parse(&b.parser, &e)) {
			rc = parser_failed(&b);
			break;
		}
		end = e.type == YAML_STREAM_END_EVENT;
		rc = add_event(&b, &e);
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&b.parser);
	if (rc || b.stopped)
		return rc;
	if (!b.root)
		return error_set(err, RC_INVALID, "%s:1:1: the file is empty", name);
	if (b.root->kind != YAML_MAPPING)
		return yaml_error(b.root, name, err, "the file is no mapping of keys to values");
	*root_out = b.root;
	return 0;
}

int yaml_read_file(const char *path, char **text_out, size_t *size_out, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would block */
	char *text = NULL;
	size_t size = 0;
	struct stat st;
	ssize_t n = 0;
	int rc = 0;

	*text_out = NULL;
	*size_out = 0;
	if (fd < 0)
		return error_set_errno(err, 0, errno, "cannot open '%s'", path);
	if (fstat(fd, &st)) {
		rc = error_set_errno(err, 0, errno, "cannot read '%s'", path);
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > (off_t)YAML_FILE_SIZE_MAX) {
		rc = error_set(err, RC_INVALID, "%s: not a file of at most %u bytes", path,
			       YAML_FILE_SIZE_MAX);
		goto out;
	}
	text = malloc((size_t)st.st_size + 1);
	if (!text) {
		rc = error_set(err, RC_NO_MEMORY, "%s: out of memory", path);
		goto out;
	}
	while (size < (size_t)st.st_size &&
	       (n = read(fd, text + size, (size_t)st.st_size - size)) > 0)
		size += (size_t)n;
	if (n < 0)
		rc = error_set_errno(err, 0, errno, "cannot read '%s'", path);
out:
	close(fd);
	if (rc) {
		free(text);
		text = NULL;
	}
	*text_out = text;
	*size_out = size;
	return rc;
}

/* ---- reading ---- */

int yaml_check_keys(const struct yaml_value *v, const char *name, const char *what,
		    const char *const *keys, struct error *err)
{
	struct nearest n;
	char hint[160];

	if (v->kind != YAML_MAPPING)
		return yaml_error(v, name, err, "%s is a mapping of keys to values", what);
	for (const struct yaml_value *m = v->child; m; m = m->next) {
		bool known = false;

		for (size_t i = 0; keys[i]; i++)
			known = known || !strcmp(m->key, keys[i] + (keys[i][0] == '!'));
		if (known)
			continue;
		nearest_init(&n, m->key);
		for (size_t i = 0; keys[i]; i++)
			nearest_offer(&n, keys[i] + (keys[i][0] == '!'));
		return yaml_key_error(m, name, err, "unknown key '%.60s' in %s%s", m->key, what,
				      nearest_hint(&n, hint, sizeof(hint)));
	}
	for (size_t i = 0; keys[i]; i++)
		if (keys[i][0] == '!' && !yaml_member(v, keys[i] + 1))
			return yaml_error(v, name, err, "%s without the key '%s'", what,
					  keys[i] + 1);
	return 0;
}

const struct yaml_value *yaml_member(const struct yaml_value *v, const char *key)
{
	for (const struct yaml_value *m = v->child; m; m = m->next)
		if (!strcmp(m->key, key))
			return m;
	return NULL;
}

int yaml_text(const struct yaml_value *v, const char *name, const char *key, const char **value_out,
	      struct error *err)
{
	const struct yaml_value *m = yaml_member(v, key);

	if (!m)
		return 0;
	if (m->kind != YAML_TEXT)
		return yaml_error(m, name, err, "'%s' is a text", key);
	*value_out = m->text;
	return 0;
}

int yaml_uint(const struct yaml_value *v, const char *name, const char *key, uint32_t min,
	      uint32_t max, uint32_t *value_out, struct error *err)
{
	const struct yaml_value *m = yaml_member(v, key);
	unsigned long number = 0;

	if (!m)
		return 0;
	if (m->kind == YAML_TEXT && *m->text && strlen(m->text) < 11 &&
	    strspn(m->text, "0123456789") == strlen(m->text))
		number = strtoul(m->text, NULL, 10);
	else
		number = (unsigned long)max + 1;
	if (number < min || number > max)
		return yaml_error(m, name, err, "'%s' is a whole number from %u to %u", key, min,
				  max);
	*value_out = (uint32_t)number;
	return 0;
}

int yaml_bool(const struct yaml_value *v, const char *name, const char *key, bool *value_out,
	      struct error *err)
{
	const struct yaml_value *m = yaml_member(v, key);

	if (!m)
		return 0;
	if (m->kind != YAML_TEXT || (strcmp(m->text, "true") && strcmp(m->text, "false")))
		return yaml_error(m, name, err, "'%s' is true or false", key);
	*value_out = !strcmp(m->text, "true");
	return 0;
}

int yaml_number(const struct yaml_value *v, const char *name, const char *key, double *value_out,
		struct error *err)
{
	const struct yaml_value *m = yaml_member(v, key);

	if (!m)
		return 0;
	if (m->kind != YAML_TEXT || !*m->text ||
	    strspn(m->text, "0123456789.eE+-") != strlen(m->text) ||
	    !expr_number(m->text, value_out))
		return yaml_error(m, name, err, "'%s' is a number", key);
	return 0;
}

int yaml_list(const struct yaml_value *v, const char *name, const char *key, enum yaml_kind kind,
	      const struct yaml_value **list_out, struct error *err)
{
	const struct yaml_value *m = yaml_member(v, key);

	*list_out = m;
	if (!m)
		return 0;
	if (m->kind != YAML_LIST)
		return yaml_error(m, name, err, "'%s' is a list", key);
	for (const struct yaml_value *item = m->child; item; item = item->next)
		if (item->kind != kind)
			return yaml_error(item, name, err, "'%s' is a list of %s", key,
					  kind == YAML_TEXT ? "texts" : "mappings");
	return 0;
}
