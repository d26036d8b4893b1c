/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON, both ways. The writer streams into a struct str (two-space indent; one key order, one
 * number format: same input, same bytes, whatever the locale). The reader builds a tree in an arena
 * and treats its input as hostile: depth at most 64, no trailing garbage, strict UTF-8 escapes,
 * duplicate keys refused. Used for plan.json and run.json; libc only.
 */
#ifndef RETALLY_BASE_JSON_H
#define RETALLY_BASE_JSON_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- writing ---- */
#define JSON_DEPTH_MAX 64
struct json_writer {
	struct str *out;
	int depth;
	bool compact; /* no newlines or indent */
	bool in_html; /* set after init: '<', '>' and '&' are escaped, so that the text can stand in
		       * a <script> of a page whatever its strings hold */
	bool has_items[JSON_DEPTH_MAX + 1]; /* something was written at this depth */
	bool after_key;
};
void json_writer_init(struct json_writer *w, struct str *out, bool compact);
/* A key, inside an object; the next call writes its value. */
void json_key(struct json_writer *w, const char *key);
void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);
void json_string(struct json_writer *w,
		 const char *value); /* NULL writes null; bad UTF-8 becomes U+FFFD */
/* Whether json_string would write exactly this text. */
bool json_is_utf8(const char *text);
void json_uint(struct json_writer *w, uint64_t value);
void json_int(struct json_writer *w, int64_t value);
void json_double(struct json_writer *w,
		 double value); /* shortest that reads back; NaN and inf write null */
void json_bool(struct json_writer *w, bool value);
void json_null(struct json_writer *w);
/* Values that are JSON already, with commas between them where they are several in an array. */
void json_text(struct json_writer *w, const char *json, size_t n);

/* ---- reading ---- */
enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};
struct json_value {
	enum json_type type;
	int line;         /* 1-based, for messages */
	const char *key;  /* when it is a member of an object */
	const char *text; /* string (decoded, no NUL inside), or the number as written */
	bool boolean;
	size_t n;                 /* children */
	struct json_value *child; /* first child */
	struct json_value *next;  /* next sibling */
};
/* Parses text[0..size); everything lives in arena. `name` (the file) goes into error messages. */
int json_parse(struct arena *arena, const char *name, const char *text, size_t size,
	       struct json_value **root_out, struct error *err);
/* Member of an object, or NULL. */
const struct json_value *json_member(const struct json_value *object, const char *key);
/* Typed reads of a member: RC_INVALID with "NAME:LINE: ..." when missing or of another type. */
int json_read_string(const struct json_value *object, const char *name, const char *key,
		     const char **value_out, struct error *err);
int json_read_uint(const struct json_value *object, const char *name, const char *key, uint64_t max,
		   uint64_t *value_out, struct error *err);
int json_read_bool(const struct json_value *object, const char *name, const char *key,
		   bool *value_out, struct error *err);
int json_read_array(const struct json_value *object, const char *name, const char *key,
		    const struct json_value **value_out, struct error *err);
/* The value itself as an unsigned number at most max. */
int json_to_uint(const struct json_value *v, const char *name, uint64_t max, uint64_t *value_out,
		 struct error *err);

#endif
