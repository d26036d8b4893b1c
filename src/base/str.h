/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte string. STR_INIT needs no clean-up until something was added. On allocation
 * failure the string becomes *failed* and stays so: later additions do nothing, str_take returns
 * NULL; check once at the end with str_is_failed. Not thread-safe.
 */
#ifndef RETALLY_BASE_STR_H
#define RETALLY_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct str {
	char *text; /* NUL-terminated when not NULL; owned */
	size_t size;
	size_t capacity;
	bool failed;
};

#define STR_INIT ((struct str){0})

void str_add(struct str *s, const char *text);
void str_add_bytes(struct str *s, const void *bytes, size_t n);
void str_add_char(struct str *s, char c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_add_hex(struct str *s, const void *bytes, size_t n);
bool str_is_failed(const struct str *s);
/* "" when empty. Valid until the next addition. */
const char *str_text(const struct str *s);
/* Hands the text (never NULL unless failed) to the caller, who frees it; s is empty afterwards. */
char *str_take(struct str *s);
/* Control characters but newline and tab become '?': names come from files, programs and command
 * lines, and no escape sequence of theirs shall reach a terminal. */
void str_tame(char *text);
/* The same for what is one line: newlines and tabs become blanks. */
void str_tame_line(char *text);
/* Length of the valid UTF-8 sequence that begins text (at most n bytes, n > 0), 0 when it is none.
 */
size_t str_utf8_length(const char *text, size_t n);
/* What stands for a byte that is no UTF-8 in formats that have to be. */
#define STR_REPLACEMENT "\xef\xbf\xbd"
/* Adds one field of a CSV file (RFC 4180, UTF-8), in quotes where it needs them. */
void str_add_csv(struct str *s, const char *text);
void str_clear(struct str *s);   /* keeps the memory */
void str_release(struct str *s); /* frees it */

#endif
