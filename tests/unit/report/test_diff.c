/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs side by side: a change of a kernel whose passes agree is a change, the same change where
 * passes differ by more is none, where nothing was compared there is no verdict, and what only one
 * run has is told.
 */
#include "../test.h"
#include "report/diff.h"
#include "run_dir.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	ANCHOR,
	HITS
};
static struct plan_counter counters[] = {
	{"anchor", "sim", "SEQ", "count", PLAN_COUNTER_ANCHOR, ""},
	{"hits", "sim", "L2", "count", 0, ""},
};
static const uint32_t first[] = {ANCHOR, HITS}, second[] = {ANCHOR};
static struct plan_pass passes[] = {{2, first, "", ""}, {1, second, "", ""}};
static struct plan plan = {.chip = "sim",
			   .selection = "-e hits",
			   .lower_bound = 2,
			   .n_counters = 2,
			   .counters = counters,
			   .n_passes = 2,
			   .passes = passes};

static void add_row(struct spool_writer *w, uint32_t pass, uint64_t dispatch, uint32_t kernel,
		    uint64_t anchor, uint64_t hits)
{
	struct spool_sample s[] = {SAMPLE_U(ANCHOR, anchor), SAMPLE_U(HITS, hits)};

	add_dispatch(w, pass, dispatch, kernel, SPOOL_UNIT_DISPATCH);
	add_samples(w, pass, dispatch, s, pass == 1 ? 2 : 1);
}

/* steady: the same in both passes; shaky: a fifth more in pass 2; once: pass 1 only. */
static struct store *make(struct run_dir *d, uint64_t hits, const char *extra)
{
	struct error err = {0};
	struct spool_writer w;
	struct store *s;

	run_dir_init(d, &plan);
	run_dir_spool(d, &w, "a", 0);
	add_kernel(&w, 1, "steady");
	add_kernel(&w, 2, "shaky");
	add_kernel(&w, 3, "once");
	add_kernel(&w, 4, extra);
	for (uint32_t pass = 1; pass <= 2; pass++) {
		add_begin(&w, pass, 2);
		add_row(&w, pass, 0, 1, 1000, hits);
		add_row(&w, pass, 1, 2, pass == 1 ? 1000 : 1200, hits);
		if (pass == 1)
			add_row(&w, pass, 2, 3, 1000, hits);
		add_row(&w, pass, 3, 4, 7, 7);
		add_end(&w, pass, 0, 0, 0);
	}
	finish(&w);
	if (store_open(&s, d->path, &err))
		fail_msg("%s", err.message);
	return s;
}

static char *diff(struct store *a, struct store *b, enum table_format format, size_t *moved)
{
	struct report_options o = {.format = format};
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(diff_write(a, b, &o, f, moved, NULL), 0);
	fclose(f);
	return text;
}

static void test_verdicts(void **state)
{
	struct run_dir x, y;
	struct store *a = make(&x, 100, "only_a"), *b = make(&y, 110, "only_b");
	size_t moved = 0;
	char *text;

	(void)state;
	text = diff(a, b, TABLE_CSV, &moved);
	assert_int_equal(moved, 1);
	assert_non_null(strstr(text, "steady,kernel,counter,hits,100,110,count,10,0.1,0,moved"));
	assert_non_null(strstr(text, "shaky,kernel,counter,hits,100,110,count,10,0.1,"));
	assert_non_null(strstr(text, ",within spread"));
	assert_non_null(
		strstr(text, "once,kernel,counter,hits,100,110,count,10,0.1,,spread unknown"));
	assert_non_null(strstr(text, "only_a,kernel,counter,hits,7,,count,,,,only in A"));
	assert_non_null(strstr(text, "only_b,kernel,counter,hits,,7,count,,,,only in B"));
	free(text);
	text = diff(a, b, TABLE_TEXT, &moved);
	assert_non_null(strstr(text, "steady"));
	assert_null(strstr(text, "shaky"));
	assert_non_null(strstr(text, "1 moved beyond their spread, 3 did not; of 2 the spread is "
				     "unknown; 2 only in A, 2 only in B"));
	free(text);
	text = diff(a, a, TABLE_JSON, &moved);
	assert_int_equal(moved, 0);
	free(text);
	store_close(a);
	store_close(b);
	run_dir_remove(&x);
	run_dir_remove(&y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts)};

	return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
