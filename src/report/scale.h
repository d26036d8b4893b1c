/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for people: a value and its unit become a few digits with a prefix, 1234567 cycles are
 * "1.235" and "M cycles". One scale is picked for a row, so that value, smallest and largest
 * compare at a glance. The digits never depend on the locale.
 */
#ifndef RETALLY_REPORT_SCALE_H
#define RETALLY_REPORT_SCALE_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* A count, exact up to 2^64 - 1, or a real number. */
struct number {
	bool is_f64;
	uint64_t u64;
	double f64;
};
#define NUMBER_U64(v) ((struct number){.u64 = (v)})
#define NUMBER_F64(v) ((struct number){.is_f64 = true, .f64 = (v)})
double number_f64(struct number n);

struct scale {
	double divisor;
	char unit[48]; /* with the prefix, "M cycles" */
	bool exact;    /* divisor is 1 and whole numbers keep all their digits */
};
/* For values of about this size. base: no prefix, all digits. */
struct scale scale_pick(struct number n, const char *unit, bool base);
/* Appends the scaled number, without its unit. */
void scale_print(const struct scale *s, struct number n, struct str *out);
/* Appends all digits: a count as it is, a real number so that it reads back the same. */
void number_print(struct number n, struct str *out);
/* Appends a share as a percentage with two digits or, from 100 %, all of its whole ones: "3.6 %",
 * "180 %". */
void share_print(double share, struct str *out);

#endif
