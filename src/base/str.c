/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte string. */
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool str_reserve(struct str *s, size_t more)
{
	size_t need, cap;
	char *p;

	if (s->failed)
		return false;
	if (more > (size_t)-1 / 2 - s->size) {
		s->failed = true;
		return false;
	}
	need = s->size + more + 1;
	if (need <= s->capacity)
		return true;
	cap = s->capacity ? s->capacity : 64;
	while (cap < need)
		cap *= 2;
	p = realloc(s->text, cap);
	if (!p) {
		s->failed = true;
		return false;
	}
	s->text = p;
	s->capacity = cap;
	return true;
}

void str_add_bytes(struct str *s, const void *bytes, size_t n)
{
	if (!str_reserve(s, n))
		return;
	if (n)
		memcpy(s->text + s->size, bytes, n);
	s->size += n;
	s->text[s->size] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_add_bytes(s, text, strlen(text));
}

void str_add_char(struct str *s, char c)
{
	str_add_bytes(s, &c, 1);
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !str_reserve(s, (size_t)n)) {
		s->failed = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(s->text + s->size, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->size += (size_t)n;
}

void str_add_hex(struct str *s, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *b = bytes;

	if (!str_reserve(s, 2 * n))
		return;
	for (size_t i = 0; i < n; i++) {
		s->text[s->size++] = digits[b[i] >> 4];
		s->text[s->size++] = digits[b[i] & 15];
	}
	s->text[s->size] = '\0';
}

bool str_is_failed(const struct str *s)
{
	return s->failed;
}

const char *str_text(const struct str *s)
{
	return s->text ? s->text : "";
}

char *str_take(struct str *s)
{
	char *text = NULL;

	if (!s->failed) {
		str_add_bytes(s, "", 0);
		text = s->text;
		s->text = NULL;
	}
	str_release(s);
	return text;
}

void str_tame(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++) {
		if ((*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7f)
			*c = '?';
		else if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) /* the same, of ISO 6429 */
			c[0] = c[1] = '?';
	}
}

void str_tame_line(char *text)
{
	str_tame(text);
	for (; *text; text++)
		if (*text == '\n' || *text == '\t')
			*text = ' ';
}

size_t str_utf8_length(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	uint32_t c;

	if (len == 1)
		return 1;
	if (!len || len > n || s[0] > 0xf4)
		return 0;
	c = s[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : len;
}

void str_add_csv(struct str *s, const char *text)
{
	bool quoted = text[strcspn(text, ",\"\r\n")];
	size_t n = strlen(text), len;

	if (quoted)
		str_add_char(s, '"');
	for (size_t i = 0; i < n; i += len) {
		len = str_utf8_length(text + i, n - i);
		if (text[i] == '"')
			str_add_char(s, '"');
		if (len)
			str_add_bytes(s, text + i, len);
		else
			str_add(s, STR_REPLACEMENT);
		len += !len;
	}
	if (quoted)
		str_add_char(s, '"');
}

void str_clear(struct str *s)
{
	s->size = 0;
	s->failed = false;
	if (s->text)
		s->text[0] = '\0';
}

void str_release(struct str *s)
{
	free(s->text);
	*s = STR_INIT;
}
