/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a spool and what its process noted, counted while it is read: one finding per
 * kind of problem with its first example, one per distinct note. A made-up file cannot make it
 * grow: kinds are few and notes are capped.
 */
#ifndef RETALLY_STORE_PROBLEMS_H
#define RETALLY_STORE_PROBLEMS_H

#include "store/internal.h"

enum problem {
	PROBLEM_DAMAGE,
	PROBLEM_REFUSED,
	PROBLEM_TORN,
	PROBLEM_PASS,
	PROBLEM_PASSES,
	PROBLEM_END,
	PROBLEM_KERNEL,
	PROBLEM_KERNEL_TWICE,
	PROBLEM_UNIT,
	PROBLEM_COUNTER,
	PROBLEM_NOT_IN_PASS,
	PROBLEM_VALUE,
	PROBLEM_NO_DISPATCH,
	PROBLEM_TWICE,
	PROBLEM_COUNT
};
#define PROBLEM_NOTES_MAX 1000
struct problem_note {
	uint32_t kind, pass;
	uint64_t n, hash;
	char *text;
};
struct problems {
	struct {
		uint64_t n;
		char first[ERROR_MESSAGE_SIZE];
	} problem[PROBLEM_COUNT];
	VEC(struct problem_note) notes;
	uint64_t notes_left_out;
};

void problems_add(struct problems *p, enum problem kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void problems_add_note(struct problems *p, uint32_t kind, uint32_t pass, const char *text,
		       size_t n);
/* As rows of table finding, problems with the file's name in front. */
int problems_write(struct problems *p, sqlite3 *db, int64_t spool, const char *file,
		   struct error *err);
void problems_release(struct problems *p);

#endif
