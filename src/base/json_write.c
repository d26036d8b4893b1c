/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_writer_init(struct json_writer *w, struct str *out, bool compact)
{
	*w = (struct json_writer){.out = out, .compact = compact};
}

static void json_new_line(struct json_writer *w)
{
	if (w->compact)
		return;
	str_add_char(w->out, '\n');
	for (int i = 0; i < w->depth; i++)
		str_add(w->out, "  ");
}

/* Separator and indent in front of a value or key. */
static void json_before(struct json_writer *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (!w->depth)
		return;
	if (w->has_items[w->depth])
		str_add_char(w->out, ',');
	w->has_items[w->depth] = true;
	json_new_line(w);
}

bool json_is_utf8(const char *text)
{
	size_t n = strlen(text), len;

	for (size_t i = 0; i < n; i += len) {
		len = str_utf8_length(text + i, n - i);
		if (!len)
			return false;
	}
	return true;
}

static void json_quote(struct json_writer *w, const char *text)
{
	struct str *out = w->out;
	const unsigned char *s = (const unsigned char *)text;
	size_t n = strlen(text), len;

	str_add_char(out, '"');
	for (size_t i = 0; i < n; i += len) {
		len = str_utf8_length(text + i, n - i);
		if (!len) {
			str_add(out, STR_REPLACEMENT);
			len = 1;
		} else if (s[i] == '"' || s[i] == '\\') {
			str_addf(out, "\\%c", s[i]);
		} else if (s[i] == '\n') {
			str_add(out, "\\n");
		} else if (s[i] == '\t') {
			str_add(out, "\\t");
		} else if (s[i] < 0x20 || s[i] == 0x7f ||
			   (w->in_html && (s[i] == '<' || s[i] == '>' || s[i] == '&'))) {
			str_addf(out, "\\u%04x", s[i]);
		} else {
			str_add_bytes(out, s + i, len);
		}
	}
	str_add_char(out, '"');
}

void json_key(struct json_writer *w, const char *key)
{
	json_before(w);
	json_quote(w, key);
	str_add(w->out, w->compact ? ":" : ": ");
	w->after_key = true;
}

static void json_begin(struct json_writer *w, char c)
{
	json_before(w);
	str_add_char(w->out, c);
	if (w->depth < JSON_DEPTH_MAX)
		w->depth++;
	else
		w->out->failed = true;
	w->has_items[w->depth] = false;
}

static void json_end(struct json_writer *w, char c)
{
	bool any = w->has_items[w->depth];

	w->depth--;
	if (any)
		json_new_line(w);
	str_add_char(w->out, c);
}

void json_begin_object(struct json_writer *w)
{
	json_begin(w, '{');
}

void json_end_object(struct json_writer *w)
{
	json_end(w, '}');
}

void json_begin_array(struct json_writer *w)
{
	json_begin(w, '[');
}

void json_end_array(struct json_writer *w)
{
	json_end(w, ']');
}

void json_string(struct json_writer *w, const char *value)
{
	json_before(w);
	if (value)
		json_quote(w, value);
	else
		str_add(w->out, "null");
}

void json_uint(struct json_writer *w, uint64_t value)
{
	json_before(w);
	str_addf(w->out, "%llu", (unsigned long long)value);
}

void json_int(struct json_writer *w, int64_t value)
{
	json_before(w);
	str_addf(w->out, "%lld", (long long)value);
}

void json_double(struct json_writer *w, double value)
{
	char text[40];

	json_before(w);
	if (!isfinite(value)) {
		str_add(w->out, "null");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	for (char *c = text; *c; c++)
		if (*c == ',')
			*c = '.'; /* a locale with a decimal comma */
	str_add(w->out, text);
}

void json_bool(struct json_writer *w, bool value)
{
	json_before(w);
	str_add(w->out, value ? "true" : "false");
}

void json_text(struct json_writer *w, const char *json, size_t n)
{
	json_before(w);
	str_add_bytes(w->out, json, n);
}

void json_null(struct json_writer *w)
{
	json_before(w);
	str_add(w->out, "null");
}
