/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as a page: one file that needs nothing else. html/ has what is the same in every
 * report (page.html, style.css and the scripts); the build puts them together and names their
 * hashes in the page's content security policy, so that nothing else can run. What is written here
 * is one JSON document inside the page: the one of --format json, its tables as arrays, with more
 * members. Names in it may be anything: '<', '>' and '&' are escaped (base/json.h), and the scripts
 * never make HTML of text.
 */
#ifndef RETALLY_REPORT_HTML_H
#define RETALLY_REPORT_HTML_H

#include "report/report.h"

/* What a page holds of single dispatches: more of them, or more values, are left out, and the page
 * says so. */
#define HTML_ROWS_MAX  400000u
#define HTML_CELLS_MAX 6000000u

/* The page up to its document, and after it. */
int html_begin(FILE *f, struct error *err);
int html_end(FILE *f, struct error *err);
/* The members that only a page has: where it was run, the plan with its blocks, passes, dispatches,
 * the roofline. o->format is TABLE_ARRAYS. */
int html_members(struct store *s, const struct values *v, const struct values_options *vo,
		 const struct report_options *o, FILE *f, struct json_writer *w, struct error *err);
/* html_plan.c: counters, metrics, passes and blocks of the plan, as the member "design". */
void html_plan(const struct plan *plan, const struct report_options *o, struct json_writer *w);
/* roofline.c: as the member "roofline"; docs/report.md says what is in it. */
int html_roofline(const struct plan *plan, const struct values *v, const struct report_options *o,
		  struct json_writer *w, struct error *err);

/* Made by the build from html/ (html/embed.c). */
extern const unsigned char html_head[], html_tail[];
extern const size_t html_head_size, html_tail_size;

#endif
