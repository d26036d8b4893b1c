/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of programs whose dispatches were replayed in place, from hand-made spools; names of
 * kernels; and that what was not collected is no 0 anywhere. */
#include "../test.h"
#include "golden.h"
#include "report/kernel_name.h"
#include "report/report.h"
#include "report/summary.h"
#include "run_dir.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define SCALE "_ZN2ns5scaleIfEEvPT_i"

static char *report(struct run_dir *d, const struct report_options *o)
{
	struct error err = {0};
	struct store *s;
	char *text = NULL, *clean;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	if (store_open(&s, d->path, &err) || report_write(s, o, f, &err))
		fail_msg("%s", err.message);
	fclose(f);
	store_close(s);
	clean = text_without(text, d->path, "DIR");
	free(text);
	return clean;
}

static void expect(struct run_dir *d, struct report_options o, const char *golden)
{
	char *text = report(d, &o);

	expect_golden(golden, text);
	free(text);
}

/* The command's spool: the program ran once. */
static void add_plain_run(struct run_dir *d)
{
	struct spool_writer w;

	run_dir_spool(d, &w, "command", -1);
	add_begin(&w, 0, 3);
	add_end(&w, 0, 0, 0, 0);
	finish(&w);
}

/* Three dispatches of scale and one of add in a window, two repeats of two passes; scale's second
 * dispatch varies and lacks a counter; a range; what was declined. Pass 3 counted nothing. */
static void make_replay_run(struct run_dir *d)
{
	struct spool_writer w;

	run_dir_init(d, small_plan());
	run_dir_write_run_json(d);
	add_plain_run(d);
	run_dir_spool(d, &w, "inside", -1);
	add_begin(&w, 0, 3);
	add_kernel(&w, 1, SCALE);
	add_kernel(&w, 2, "add");
	add_kernel(&w, 3, "solve");
	for (uint32_t attempt = 1; attempt <= 2; attempt++) {
		for (uint32_t pass = 1; pass <= 2; pass++) {
			const struct plan_pass *p = &small_plan()->passes[pass - 1];

			for (uint64_t n = 0; n < 4; n++) {
				uint32_t flags = SPOOL_DISPATCH_REPLAYED;
				struct spool_sample s[3];

				for (uint32_t i = 0; i < p->n_counters; i++)
					s[i] = SAMPLE_U(p->counters[i],
							1000 * (n + 1) + 10 * p->counters[i] +
								2 * (attempt - 1));
				if (n == 1) {
					flags |= SPOOL_DISPATCH_VARYING;
					s[1].status = SAMPLE_NOT_COLLECTED;
				}
				add_replayed(&w, pass, n, n == 3 ? 2 : 1, SPOOL_UNIT_DISPATCH,
					     attempt, flags);
				add_samples(&w, pass, n, s, p->n_counters);
			}
		}
	}
	add_replayed(&w, 1, 0, 3, SPOOL_UNIT_RANGE, 1, SPOOL_DISPATCH_REPLAYED);
	add_window(&w,
		   &(struct spool_window){.dispatches = 4,
					  .transfers = 1,
					  .passes = 4,
					  .begin_ns = 1000,
					  .end_ns = 5001000,
					  .save_ns = 100000,
					  .restore_ns = 200000,
					  .check_ns = 50000,
					  .program_ns = 2000000,
					  .run_ns = 1600000,
					  .live_ns = 500000,
					  .reach_bytes = 1 << 20,
					  .saved_bytes = 1 << 20,
					  .restored_bytes = 4096,
					  .spared_bytes = 3 << 20},
		   "clFinish");
	for (int i = 0; i < 2; i++)
		add_window(&w,
			   &(struct spool_window){.window = 1,
						  .dispatches = 1,
						  .begin_ns = 1000,
						  .end_ns = 21000,
						  .live_ns = 20000},
			   "clEnqueueReadBuffer");
	add_decline(&w, 1, 1, SPOOL_INSTEAD_NOTHING, "wrote outside its reach");
	add_decline(&w, 0, 12, SPOOL_INSTEAD_ONE_PASS, "does not drain");
	add_end(&w, 0, 0, 0, 0);
	finish(&w);
}

static void test_report(void **state)
{
	static const char *const pattern[] = {"exact:add"}, *const full[] = {"scale<float>"};
	struct report_options o = {.format = TABLE_TEXT};
	struct run_dir d;

	(void)state;
	if (!dlopen("libstdc++.so.6", RTLD_NOW))
		skip_because("no libstdc++ to demangle with");
	make_replay_run(&d);
	expect(&d, o, "report/replay.txt");
	expect(&d, (struct report_options){.format = TABLE_JSON, .names = KERNEL_NAME_SHORT},
	       "report/replay.json");
	expect(&d, (struct report_options){.format = TABLE_CSV, .names = KERNEL_NAME_MANGLED},
	       "report/replay.csv");
	expect(&d, (struct report_options){.by = REPORT_BY_DISPATCH},
	       "report/replay-by-dispatch.txt");
	expect(&d, (struct report_options){.by = REPORT_BY_DISPATCH, .layout = REPORT_LONG},
	       "report/replay-by-dispatch-long.txt");
	expect(&d,
	       (struct report_options){
		       .by = REPORT_BY_DISPATCH, .layout = REPORT_WIDE, .format = TABLE_CSV},
	       "report/replay-by-dispatch-wide.csv");
	expect(&d, (struct report_options){.by = REPORT_BY_WINDOW}, "report/replay-by-window.txt");
	expect(&d, (struct report_options){.by = REPORT_BY_WINDOW, .format = TABLE_CSV},
	       "report/replay-by-window.csv");
	expect(&d, (struct report_options){.by = REPORT_BY_REASON, .format = TABLE_CSV},
	       "report/replay-by-reason.csv");
	o = (struct report_options){
		.by = REPORT_BY_DISPATCH, .format = TABLE_CSV, .kernels = pattern, .n_kernels = 1};
	expect(&d, o, "report/replay-add.csv");
	o = (struct report_options){.by = REPORT_BY_REASON, .kernels = full, .n_kernels = 1};
	expect(&d, o, "report/replay-by-reason.txt");
	run_dir_remove(&d);
}

static void expect_summary(struct run_dir *d, const char *golden)
{
	struct error err = {0};
	char *text = NULL, *clean;
	size_t size = 0, lines = 0;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(summary_write(d->path, f, NULL, &err), 0);
	fclose(f);
	clean = text_without(text, d->path, "DIR");
	expect_golden(golden, clean);
	for (const char *c = clean; *c; c++)
		lines += *c == '\n';
	assert_true(lines <= 15);
	free(text);
	free(clean);
}

static void test_summary(void **state)
{
	struct run_dir d;

	(void)state;
	make_replay_run(&d);
	expect_summary(&d, "report/replay-summary.txt");
	run_dir_remove(&d);
	run_dir_init(&d, small_plan());
	run_dir_write_run_json(&d);
	add_plain_run(&d);
	expect_summary(&d, "report/replay-none-summary.txt");
	run_dir_remove(&d);
}

/* Every kind of value that is none: in SQL, CSV and JSON. */
static void test_never_zero(void **state)
{
	static const uint8_t bad[] = {SAMPLE_NOT_COLLECTED, SAMPLE_OVERFLOWED, SAMPLE_MULTIPLEXED,
				      SAMPLE_NOT_MATCHED, SAMPLE_DECLINED};
	struct report_options o = {.by = REPORT_BY_DISPATCH, .format = TABLE_CSV};
	struct spool_writer w;
	struct run_dir d;
	sqlite3_stmt *q = NULL;
	sqlite3 *db = NULL;
	char path[400], *text;
	int rows = 0;

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "a", -1);
	add_begin(&w, 0, 3);
	add_kernel(&w, 1, "k");
	for (uint32_t i = 0; i < sizeof(bad); i++) {
		struct spool_sample s[3] = {SAMPLE_U(CYCLES, 0), SAMPLE_U(INSTRUCTIONS, 0)};

		/* branches: no sample at all */
		s[0].status = s[1].status = bad[i];
		add_replayed(&w, 1, i, 1, SPOOL_UNIT_DISPATCH, 1, SPOOL_DISPATCH_REPLAYED);
		add_samples(&w, 1, i, s, 2);
	}
	add_replayed(&w, 1, 99, 1, SPOOL_UNIT_DISPATCH, 1, 0); /* no samples record */
	add_end(&w, 0, 0, 0, 0);
	finish(&w);
	for (int json = 0; json < 2; json++) {
		o.format = json ? TABLE_JSON : TABLE_CSV;
		text = report(&d, &o);
		assert_null(strstr(text, json ? "\"value\":0" : ",0,count"));
		assert_null(strstr(text, json ? "\"value\": 0" : ",0,cycles"));
		assert_null(strstr(text, ",ok,"));
		assert_non_null(strstr(text, "overflowed"));
		free(text);
	}
	o.by = REPORT_BY_KERNEL;
	o.format = TABLE_CSV;
	text = report(&d, &o);
	assert_null(strstr(text, ",ok,"));
	free(text);
	snprintf(path, sizeof(path), "%s/retally.db", d.path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT cycles, instructions, branches FROM pass_1",
					    -1, &q, NULL),
			 SQLITE_OK);
	for (; sqlite3_step(q) == SQLITE_ROW; rows++) {
		for (int c = 0; c < 3; c++)
			assert_int_equal(sqlite3_column_type(q, c), SQLITE_NULL);
	}
	assert_int_equal(rows, sizeof(bad) + 1);
	sqlite3_finalize(q);
	sqlite3_close(db);
	run_dir_remove(&d);
}

static void test_names(void **state)
{
	static const char *const cases[][2] = {
		{"void ns::scale<float>(float*, int)", "scale"},
		{"add(float*, int)", "add"},
		{"void (anonymous namespace)::step<(Kind)1, int>(int)", "step"},
		{"(anonymous namespace)::Functor::operator()(int) const", "operator()"},
		{"std::ostream& a::operator<< <int>(std::ostream&, int)", "operator<<"},
		{"void f<&(g(int))>(A<B<int> >, C)", "f"},
		{"main::{lambda(int)#1}::operator()(int) const", "operator()"},
		{"plain", "plain"},
		{"<<<", "<<<"},
		{"", ""},
	};
	struct arena arena = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(kernel_name_shorten(&arena, cases[i][0]), cases[i][1]);
	assert_string_equal(kernel_name_show(&arena, SCALE, KERNEL_NAME_MANGLED), SCALE);
	assert_string_equal(kernel_name_show(&arena, "_Z", KERNEL_NAME_FULL), "_Z");
	assert_string_equal(kernel_name_show(&arena, "vec_add", KERNEL_NAME_SHORT), "vec_add");
	if (dlopen("libstdc++.so.6", RTLD_NOW)) {
		assert_string_equal(kernel_name_show(&arena, SCALE, KERNEL_NAME_FULL),
				    "void ns::scale<float>(float*, int)");
		assert_string_equal(kernel_name_show(&arena, SCALE, KERNEL_NAME_SHORT), "scale");
		assert_string_equal(kernel_name_show(&arena, SCALE ".kd", KERNEL_NAME_SHORT),
				    "scale");
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_never_zero),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
