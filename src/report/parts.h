/* SPDX-License-Identifier: Apache-2.0 */
/* The parts a report is made of. */
#ifndef RETALLY_REPORT_PARTS_H
#define RETALLY_REPORT_PARTS_H

#include "report/columns.h"
#include "report/report.h"
#include "store/match.h"

#define REPORT_WIDTH         100
#define REPORT_TEXT_ROWS_MAX 1000 /* of dispatches */

/* ---- values_table.c: the rows of a report by kernel, pass or rank ---- */
/* json: NULL unless the values are part of a larger document. Text: a table a group. */
int values_table(struct store *s, const struct values *v, const struct report_options *o, FILE *f,
		 struct json_writer *json, struct error *err);
/* ---- dispatches.c: the rows of a report by dispatch, written while they are read ---- */
int dispatches_table(struct store *s, const struct values_options *vo,
		     const struct report_options *o, FILE *f, struct json_writer *json,
		     struct error *err);
/* The cells of COLUMNS_DISPATCH and COLUMNS_LAUNCH. */
void dispatch_add(struct table *t, struct store *s, const struct values_options *vo,
		  const struct store_row *r, const struct store_spool *spool, bool is_text);
void dispatch_add_launch(struct table *t, const struct store_row *r, bool has_duration,
			 uint64_t ns);
/* The cells of COLUMNS_MATCH: of this row, or the lowest of its dispatch. */
void dispatch_add_match(struct table *t, const struct store_match *m, bool of_row, bool is_text);
/* ---- wide.c: one row a dispatch, its values in columns ---- */
int dispatches_wide(struct store *s, const struct values_options *vo,
		    const struct report_options *o, FILE *f, struct json_writer *json,
		    struct error *err);
/* Few enough values for that to be the layout of a text. */
bool dispatches_fit_wide(const struct plan *plan, const struct values_options *vo);
/* ---- kernels.c: one row a kernel or range: how often, how long, what is to be known of it ---- */
int kernels_table(struct store *s, const struct values *v, const struct report_options *o, FILE *f,
		  struct json_writer *json, struct error *err);
bool kernels_has_rows(const struct values *v);
/* ---- replays.c: windows by size and ending call, what was declined, what it cost ---- */
int windows_table(struct store *s, const struct report_options *o, FILE *f,
		  struct json_writer *json, struct error *err);
/* names as in struct values_options. */
int declined_table(struct store *s, const struct values_options *vo, const struct report_options *o,
		   FILE *f, struct json_writer *json, struct error *err);
/* Lines for the head of the text; an object for the document. */
void text_replay(const struct store *s, struct str *out);
void json_replay(const struct store *s, struct json_writer *w);
/* ---- matching.c: dispatches of one execution found in the others ---- */
/* Lines for the head of the text, where executions were compared; an object for the document. */
void text_matching(struct store *s, const struct values_options *vo, struct str *out);
void json_matching(struct store *s, const struct values_options *vo, struct json_writer *w);
/* Of a kernel, how many dispatches not all executions have. */
uint64_t unmatched_of(const struct store *s, uint32_t kernel);
/* ---- ranks.c ---- */
/* One row for each rank (process without one: for each host): its passes, executions, ends. */
int ranks_table(const struct store *s, const struct report_options *o, FILE *f,
		struct json_writer *json, struct error *err);
/* ---- text_parts.c: the rest of the text ---- */
/* Program, plan, coverage, anchors; how ratios were taken when not as usual. */
void text_head(const struct store *s, const struct values *v, enum expr_ratio ratio,
	       struct str *out);
/* One row a pass, means over its executions. */
int passes_table(const struct store *s, const struct report_options *o, FILE *f,
		 struct json_writer *json, struct error *err);
struct collected { /* complete passes, counters with a value, executions of the program, files */
	uint32_t passes, counters;
	size_t executions, spools;
};
struct collected collected_of(const struct store *s);
void text_findings(const struct store *s, struct str *out);
void text_missing(const struct store *s, struct str *out);
/* Appends text, broken at blanks to the report's width; lines after the first are indented. */
void text_wrapped(struct str *out, const char *text, unsigned indent);
/* ---- json_parts.c: the rest of the document ---- */
void json_head(const struct store *s, const struct report_options *o, struct json_writer *w);
void json_tail(const struct store *s, struct json_writer *w);

const char *report_by_name(enum report_by by);
const char *unit_name(uint32_t unit); /* "process", "kernel", "range" */
/* "0", "1", "SIGKILL", "timed out", "no end": how an execution ended. */
void run_end_text(const struct store_run *r, struct str *out);

#endif
