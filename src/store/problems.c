/* SPDX-License-Identifier: Apache-2.0 */
/* Counting problems and notes. */
#include "store/problems.h"

#include "base/hash.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void problems_add(struct problems *p, enum problem kind, const char *fmt, ...)
{
	va_list ap;

	if (p->problem[kind].n++)
		return;
	va_start(ap, fmt);
	vsnprintf(p->problem[kind].first, sizeof(p->problem[kind].first), fmt, ap);
	va_end(ap);
}

void problems_add_note(struct problems *p, uint32_t kind, uint32_t pass, const char *text, size_t n)
{
	struct problem_note note = {.kind = kind, .pass = pass, .n = 1, .hash = hash64(text, n)};

	vec_for_each (&p->notes, old) {
		if (old->hash == note.hash && old->kind == kind && old->pass == pass) {
			old->n++;
			return;
		}
	}
	if (p->notes.n == PROBLEM_NOTES_MAX) {
		p->notes_left_out++;
		return;
	}
	note.text = malloc(n + 1);
	if (!note.text) {
		p->notes_left_out++;
		return;
	}
	for (size_t i = 0; i < n; i++)
		note.text[i] = text[i] ? text[i] : '?';
	note.text[n] = '\0';
	if (!vec_push(&p->notes, note)) {
		free(note.text);
		p->notes_left_out++;
	}
}

static int write_one(sqlite3_stmt *s, int64_t spool, bool from_program, uint32_t kind,
		     uint32_t pass, uint64_t n, const char *text, struct error *err)
{
	sqlite3_bind_int64(s, 1, spool);
	sqlite3_bind_int64(s, 2, from_program);
	sqlite3_bind_int64(s, 3, kind);
	sqlite3_bind_int64(s, 4, pass);
	sqlite3_bind_int64(s, 5, n < INT64_MAX ? (int64_t)n : INT64_MAX);
	sql_bind_text(s, 6, text);
	return sql_run(s, err);
}

int problems_write(struct problems *p, sqlite3 *db, int64_t spool, const char *file,
		   struct error *err)
{
	struct str text = STR_INIT;
	sqlite3_stmt *s = NULL;
	int rc = sql_prepare(db, "INSERT INTO finding VALUES(?, ?, ?, ?, ?, ?)", &s, err);

	for (int i = 0; !rc && i < PROBLEM_COUNT; i++) {
		const char *first = p->problem[i].first;
		uint64_t n = p->problem[i].n;

		if (!n)
			continue;
		str_clear(&text);
		/* The reader of spools names the file itself. */
		if (!strstr(first, file))
			str_addf(&text, "%s: ", file);
		str_add(&text, first);
		if (n > 1)
			str_addf(&text, " (and %llu more like it)", (unsigned long long)(n - 1));
		rc = str_is_failed(&text) ? error_set(err, RC_NO_MEMORY, "out of memory")
					  : write_one(s, spool, false, SPOOL_NOTE_FINDING, 0, 1,
						      str_text(&text), err);
	}
	for (size_t i = 0; !rc && i < p->notes.n; i++) {
		const struct problem_note *note = &p->notes.items[i];

		rc = write_one(s, spool, true, note->kind, note->pass, note->n, note->text, err);
	}
	if (!rc && p->notes_left_out) {
		str_clear(&text);
		str_addf(&text, "%s: %llu more notes are left out", file,
			 (unsigned long long)p->notes_left_out);
		rc = write_one(s, spool, false, SPOOL_NOTE_FINDING, 0, 1, str_text(&text), err);
	}
	sqlite3_finalize(s);
	str_release(&text);
	return rc;
}

void problems_release(struct problems *p)
{
	vec_for_each (&p->notes, note)
		free(note->text);
	vec_release(&p->notes);
}
