/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: recursive descent, bounded depth, hostile input. */
#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Looking for a duplicate key is linear; our own files have a few dozen keys in an object. */
#define JSON_MEMBERS_MAX 1024

struct json_parser {
	struct arena *arena;
	const char *name;
	const char *at, *end;
	int line;
	struct error *err;
};

static int json_fail(struct json_parser *p, const char *what)
{
	return error_set(p->err, RC_INVALID, "%s:%d: %s", p->name, p->line, what);
}

static void json_skip_space(struct json_parser *p)
{
	for (; p->at < p->end; p->at++) {
		if (*p->at == '\n')
			p->line++;
		else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r')
			break;
	}
}

static int json_hex4(struct json_parser *p, unsigned *out)
{
	*out = 0;
	if (p->end - p->at < 4)
		return json_fail(p, "short \\u escape");
	for (int i = 0; i < 4; i++) {
		char c = *p->at++;
		unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
			     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
			     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
						    : 16;
		if (d > 15)
			return json_fail(p, "bad \\u escape");
		*out = *out << 4 | d;
	}
	return 0;
}

static char *json_put_utf8(char *o, unsigned c)
{
	if (c < 0x80) {
		*o++ = (char)c;
	} else if (c < 0x800) {
		*o++ = (char)(0xc0 | c >> 6);
		*o++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*o++ = (char)(0xe0 | c >> 12);
		*o++ = (char)(0x80 | (c >> 6 & 63));
		*o++ = (char)(0x80 | (c & 63));
	} else {
		*o++ = (char)(0xf0 | c >> 18);
		*o++ = (char)(0x80 | (c >> 12 & 63));
		*o++ = (char)(0x80 | (c >> 6 & 63));
		*o++ = (char)(0x80 | (c & 63));
	}
	return o;
}

static int json_parse_escape(struct json_parser *p, char **o)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	unsigned c, low;
	const char *f;
	char e;

	if (p->at == p->end)
		return json_fail(p, "string without end");
	e = *p->at++;
	f = e ? strchr(from, e) : NULL;
	if (f) {
		*(*o)++ = to[f - from];
		return 0;
	}
	if (e != 'u')
		return json_fail(p, "unknown escape in string");
	if (json_hex4(p, &c))
		return RC_INVALID;
	if (c >= 0xd800 && c < 0xdc00) {
		if (p->end - p->at < 6 || p->at[0] != '\\' || p->at[1] != 'u')
			return json_fail(p, "half a surrogate pair");
		p->at += 2;
		if (json_hex4(p, &low))
			return RC_INVALID;
		if (low < 0xdc00 || low > 0xdfff)
			return json_fail(p, "half a surrogate pair");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (!c || (c >= 0xdc00 && c < 0xe000)) {
		return json_fail(p, "character not allowed in string");
	}
	*o = json_put_utf8(*o, c);
	return 0;
}

static int json_parse_string(struct json_parser *p, const char **out)
{
	const char *q;
	char *text, *o;

	p->at++; /* the quote */
	for (q = p->at; q < p->end && *q != '"'; q++)
		if (*q == '\\')
			q++;
	if (q >= p->end)
		return json_fail(p, "string without end");
	text = o = arena_alloc(p->arena, (size_t)(q - p->at) + 1);
	if (!text)
		return error_set(p->err, RC_NO_MEMORY, "%s: out of memory", p->name);
	while (p->at < q) {
		unsigned char c = (unsigned char)*p->at++;

		if (c == '\\') {
			int rc = json_parse_escape(p, &o);

			if (rc)
				return rc;
		} else if (c < 0x20) {
			return json_fail(p, "control character in string");
		} else {
			*o++ = (char)c;
		}
	}
	if (p->at != q)
		return json_fail(p, "string without end");
	p->at++;
	*o = '\0';
	*out = text;
	return 0;
}

static size_t json_digits(const char *s, const char *end)
{
	size_t n = 0;

	while (s + n < end && s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

static int json_parse_number(struct json_parser *p, struct json_value *v)
{
	const char *s = p->at;
	size_t n;

	if (s < p->end && *s == '-')
		s++;
	n = json_digits(s, p->end);
	if (!n || (n > 1 && *s == '0'))
		return json_fail(p, "not a JSON value");
	s += n;
	if (s < p->end && *s == '.') {
		n = json_digits(++s, p->end);
		if (!n)
			return json_fail(p, "bad number");
		s += n;
	}
	if (s < p->end && (*s == 'e' || *s == 'E')) {
		s++;
		if (s < p->end && (*s == '+' || *s == '-'))
			s++;
		n = json_digits(s, p->end);
		if (!n)
			return json_fail(p, "bad number");
		s += n;
	}
	v->type = JSON_NUMBER;
	v->text = arena_strndup(p->arena, p->at, (size_t)(s - p->at));
	p->at = s;
	return v->text ? 0 : error_set(p->err, RC_NO_MEMORY, "%s: out of memory", p->name);
}

static bool json_word(struct json_parser *p, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n))
		return false;
	p->at += n;
	return true;
}

static int json_parse_value(struct json_parser *p, int depth, struct json_value **out);

static int json_parse_members(struct json_parser *p, int depth, struct json_value *v)
{
	char close = v->type == JSON_OBJECT ? '}' : ']';
	struct json_value **tail = &v->child;
	const char *key = NULL;
	int rc;

	p->at++;
	json_skip_space(p);
	if (p->at < p->end && *p->at == close) {
		p->at++;
		return 0;
	}
	for (;;) {
		json_skip_space(p);
		if (v->type == JSON_OBJECT) {
			if (p->at == p->end || *p->at != '"')
				return json_fail(p, "expected a key in quotes");
			rc = json_parse_string(p, &key);
			if (rc)
				return rc;
			if (v->n == JSON_MEMBERS_MAX)
				return json_fail(p, "too many keys in one object");
			if (json_member(v, key))
				return json_fail(p, "the same key twice");
			json_skip_space(p);
			if (p->at == p->end || *p->at != ':')
				return json_fail(p, "expected ':' after the key");
			p->at++;
		}
		rc = json_parse_value(p, depth + 1, tail);
		if (rc)
			return rc;
		(*tail)->key = key;
		tail = &(*tail)->next;
		v->n++;
		json_skip_space(p);
		if (p->at == p->end)
			return json_fail(p, "unexpected end of file");
		if (*p->at == close) {
			p->at++;
			return 0;
		}
		if (*p->at != ',')
			return json_fail(p, "expected ',' or the closing bracket");
		p->at++;
	}
}

static int json_parse_value(struct json_parser *p, int depth, struct json_value **out)
{
	struct json_value *v;

	json_skip_space(p);
	if (depth > JSON_DEPTH_MAX)
		return json_fail(p, "nested too deeply");
	if (p->at == p->end)
		return json_fail(p, "unexpected end of file");
	v = arena_alloc(p->arena, sizeof(*v));
	if (!v)
		return error_set(p->err, RC_NO_MEMORY, "%s: out of memory", p->name);
	v->line = p->line;
	*out = v;
	switch (*p->at) {
	case '{':
		v->type = JSON_OBJECT;
		return json_parse_members(p, depth, v);
	case '[':
		v->type = JSON_ARRAY;
		return json_parse_members(p, depth, v);
	case '"':
		v->type = JSON_STRING;
		return json_parse_string(p, &v->text);
	default:
		break;
	}
	if (json_word(p, "null")) {
		v->type = JSON_NULL;
		return 0;
	}
	v->type = JSON_BOOL;
	if (json_word(p, "true")) {
		v->boolean = true;
		return 0;
	}
	if (json_word(p, "false"))
		return 0;
	return json_parse_number(p, v);
}

int json_parse(struct arena *arena, const char *name, const char *text, size_t size,
	       struct json_value **root_out, struct error *err)
{
	struct json_parser p = {.arena = arena,
				.name = name,
				.at = text,
				.end = text + size,
				.line = 1,
				.err = err};
	int rc = json_parse_value(&p, 0, root_out);

	if (rc)
		return rc;
	json_skip_space(&p);
	if (p.at != p.end)
		return json_fail(&p, "text after the end of the document");
	return 0;
}

const struct json_value *json_member(const struct json_value *object, const char *key)
{
	if (!object || object->type != JSON_OBJECT)
		return NULL;
	for (const struct json_value *c = object->child; c; c = c->next)
		if (!strcmp(c->key, key))
			return c;
	return NULL;
}

static int json_typed_member(const struct json_value *object, const char *name, const char *key,
			     enum json_type type, const char *type_name,
			     const struct json_value **out, struct error *err)
{
	*out = json_member(object, key);
	if (!*out)
		return error_set(err, RC_INVALID, "%s:%d: '%s' is missing", name,
				 object ? object->line : 0, key);
	if ((*out)->type != type)
		return error_set(err, RC_INVALID, "%s:%d: '%s' is not %s", name, (*out)->line, key,
				 type_name);
	return 0;
}

int json_read_string(const struct json_value *object, const char *name, const char *key,
		     const char **value_out, struct error *err)
{
	const struct json_value *v;
	int rc = json_typed_member(object, name, key, JSON_STRING, "a string", &v, err);

	if (!rc)
		*value_out = v->text;
	return rc;
}

int json_to_uint(const struct json_value *v, const char *name, uint64_t max, uint64_t *value_out,
		 struct error *err)
{
	char *end = NULL;

	errno = 0;
	if (v->type == JSON_NUMBER && v->text[0] != '-') {
		*value_out = strtoull(v->text, &end, 10);
		if (!*end && !errno && *value_out <= max)
			return 0;
	}
	return error_set(err, RC_INVALID, "%s:%d: '%s' is not a whole number from 0 to %llu", name,
			 v->line, v->key ? v->key : "item", (unsigned long long)max);
}

int json_read_uint(const struct json_value *object, const char *name, const char *key, uint64_t max,
		   uint64_t *value_out, struct error *err)
{
	const struct json_value *v;
	int rc = json_typed_member(object, name, key, JSON_NUMBER, "a number", &v, err);

	return rc ? rc : json_to_uint(v, name, max, value_out, err);
}

int json_read_bool(const struct json_value *object, const char *name, const char *key,
		   bool *value_out, struct error *err)
{
	const struct json_value *v;
	int rc = json_typed_member(object, name, key, JSON_BOOL, "true or false", &v, err);

	if (!rc)
		*value_out = v->boolean;
	return rc;
}

int json_read_array(const struct json_value *object, const char *name, const char *key,
		    const struct json_value **value_out, struct error *err)
{
	return json_typed_member(object, name, key, JSON_ARRAY, "an array", value_out, err);
}
