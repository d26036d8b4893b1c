/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a run directory. As text: the program, the plan and what was collected of it; the
 * values of each group; the passes; findings; what is missing with the command that collects it. As
 * JSON: all of that in one object. As CSV: the values, one a line. As arrays (TABLE_ARRAYS): a page
 * of HTML that shows all of it and the single dispatches (docs/report.md), by kernel only.
 */
#ifndef RETALLY_REPORT_REPORT_H
#define RETALLY_REPORT_REPORT_H

#include "model/catalog.h"
#include "report/kernel_name.h"
#include "report/table.h"
#include "report/values.h"

enum report_by {
	REPORT_BY_KERNEL,
	REPORT_BY_DISPATCH,
	REPORT_BY_PASS,
	REPORT_BY_RANK,
	REPORT_BY_WINDOW, /* of replayed dispatches: what they cost */
	REPORT_BY_REASON  /* why dispatches were declined */
};
enum report_layout { /* of REPORT_BY_DISPATCH */
	REPORT_AUTO, /* text of at most 8 values: wide; else long */
	REPORT_WIDE, /* a row a dispatch, values in columns */
	REPORT_LONG  /* a row a value of each execution */
};
struct report_options {
	enum report_by by;
	enum report_layout layout;
	enum table_format format;
	bool base_units;
	enum kernel_name_style names;
	/* Patterns of -k (base/pattern.h), for names as stored and demangled: a kernel is shown
	 * when one without '!' matches, or there is none such, and none with '!' does. */
	const char *const *kernels;
	size_t n_kernels;
	/* Names to show, separated by commas; both NULL: everything. A set is given as its metrics.
	 */
	const char *metrics;
	const char *counters;
	enum expr_ratio ratio; /* of metrics over several dispatches (docs/expressions.md) */
	/* For the page, which takes slots and rooflines from it; NULL: not known, because ... */
	struct catalog *chip;
	const char *no_chip;
};
/* RC_INVALID names an unknown metric or counter, or a bad pattern; RC_NOT_FOUND when no kernel
 * matches; RC_IO when f could not be written. */
int report_write(struct store *s, const struct report_options *o, FILE *f, struct error *err);
/* The kernels that these patterns take, by index in store_kernels, for the caller to free; NULL
 * without a pattern: all. Errors as above. */
int report_choose_kernels(struct store *s, const char *const *patterns, size_t n,
			  bool **kernels_out, struct error *err);

#endif
