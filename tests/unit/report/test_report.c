/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reports against golden files, filters, and what is said when there is nothing to say. */
#include "../test.h"
#include "golden.h"
#include "report/report.h"
#include "report/summary.h"
#include "run_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Pass 2 twice, pass 3 not at all. */
static void make_process_run(struct run_dir *d)
{
	struct spool_writer w;

	run_dir_init(d, small_plan());
	run_dir_write_run_json(d);
	run_dir_spool(d, &w, "a", -1);
	add_small_pass(&w, 1, 1234567);
	add_small_pass(&w, 2, 1234567);
	finish(&w);
	run_dir_spool(d, &w, "b", -1);
	add_small_pass(&w, 2, 1239999);
	add_note(&w, 2, SPOOL_NOTE_FINDING,
		 "the program wrote another number of bytes to its standard output than in the "
		 "first "
		 "pass, so counters of this pass may not be comparable with those of the others");
	finish(&w);
}

static void test_process(void **state)
{
	struct run_dir d;

	(void)state;
	make_process_run(&d);
	expect(&d, (struct report_options){.format = TABLE_TEXT}, "report/process.txt");
	expect(&d, (struct report_options){.format = TABLE_TEXT, .base_units = true},
	       "report/process-base.txt");
	expect(&d, (struct report_options){.format = TABLE_CSV}, "report/process.csv");
	expect(&d, (struct report_options){.format = TABLE_JSON}, "report/process.json");
	expect(&d, (struct report_options){.format = TABLE_TEXT, .by = REPORT_BY_PASS},
	       "report/process-by-pass.txt");
	expect(&d, (struct report_options){.format = TABLE_CSV, .by = REPORT_BY_DISPATCH},
	       "report/process-by-dispatch.csv");
	run_dir_remove(&d);
}

/* Two ranks, two kernels, all passes; one kernel's steps are declined, one cycle count multiplexed,
 * and rank 1 is killed in pass 3. */
static void make_kernel_run(struct run_dir *d)
{
	static const char *const names[] = {"add(float*, int)", "scale"};

	run_dir_init(d, small_plan());
	run_dir_write_run_json(d);
	for (int32_t rank = 0; rank < 2; rank++) {
		struct spool_writer w;

		run_dir_spool(d, &w, rank ? "r1" : "r0", rank);
		for (uint32_t k = 1; k <= 2; k++)
			add_kernel(&w, k, names[k - 1]);
		for (uint32_t pass = 1; pass <= 3; pass++) {
			const struct plan_pass *p = &small_plan()->passes[pass - 1];

			add_begin(&w, pass, 3);
			for (uint64_t n = 0; n < 4; n++) {
				struct spool_sample s[3];
				uint32_t kernel = n % 2 ? 2 : 1;

				for (uint32_t i = 0; i < p->n_counters; i++)
					s[i] = SAMPLE_U(p->counters[i],
							100 * (n + 1) + 10 * p->counters[i] +
								(uint64_t)rank);
				if (pass == 2 && kernel == 2)
					s[1].status = SAMPLE_DECLINED;
				if (pass == 1 && n == 0 && rank == 0)
					s[0].status = SAMPLE_MULTIPLEXED;
				add_dispatch(&w, pass, n, kernel, SPOOL_UNIT_DISPATCH);
				add_samples(&w, pass, n, s, p->n_counters);
			}
			if (pass == 2)
				add_note(&w, 2, SPOOL_NOTE_DECLINED,
					 "scale is a cooperative launch over two devices");
			if (pass < 3 || rank == 0)
				add_end(&w, pass, 0, 0, 0);
			else
				add_end(&w, pass, -1, 11, SPOOL_PASS_OUTPUT_DIFFERS);
		}
		finish(&w);
	}
}

static void test_kernels(void **state)
{
	static const char *const add[] = {"add"}, *const not_add[] = {"!add"},
				 *const no[] = {"zzz"};
	struct report_options o = {.format = TABLE_TEXT};
	struct error err = {0};
	struct run_dir d;
	struct store *s;

	(void)state;
	make_kernel_run(&d);
	expect(&d, o, "report/kernels.txt");
	expect(&d, (struct report_options){.format = TABLE_CSV, .by = REPORT_BY_RANK},
	       "report/kernels-by-rank.csv");
	expect(&d, (struct report_options){.format = TABLE_TEXT, .by = REPORT_BY_DISPATCH},
	       "report/kernels-by-dispatch.txt");
	o = (struct report_options){.format = TABLE_CSV,
				    .kernels = add,
				    .n_kernels = 1,
				    .metrics = "ipc",
				    .counters = "cycles,"};
	expect(&d, o, "report/kernels-filtered.csv");
	o.kernels = not_add;
	o.counters = NULL;
	expect(&d, o, "report/kernels-excluded.csv");
	assert_int_equal(store_open(&s, d.path, &err), 0);
	o.kernels = no;
	assert_int_equal(report_write(s, &o, stdout, &err), RC_NOT_FOUND);
	assert_string_equal(err.message,
			    "no kernel matches 'zzz'; there are add(float*, int), scale");
	o.n_kernels = 0;
	o.metrics = "ipc,nonsense";
	assert_int_equal(report_write(s, &o, stdout, &err), RC_INVALID);
	assert_string_equal(err.message, "no metric 'nonsense' in this run");
	store_close(s);
	run_dir_remove(&d);
}

static void test_nothing_collected(void **state)
{
	struct run_dir d;

	(void)state;
	run_dir_init(&d, small_plan());
	expect(&d, (struct report_options){.format = TABLE_TEXT}, "report/nothing.txt");
	expect(&d, (struct report_options){.format = TABLE_CSV}, "report/nothing.csv");
	run_dir_remove(&d);
}

static void test_summary(void **state)
{
	struct run_dir d;
	struct error err = {0};
	bool complete = true;
	char *text = NULL, *clean;
	size_t size = 0, lines = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	make_process_run(&d);
	assert_int_equal(summary_write(d.path, f, &complete, &err), 0);
	assert_false(complete);
	fclose(f);
	clean = text_without(text, d.path, "DIR");
	expect_golden("report/summary.txt", clean);
	for (const char *c = clean; *c; c++)
		lines += *c == '\n';
	assert_true(lines <= 15);
	free(text);
	free(clean);
	run_dir_remove(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_nothing_collected),
		cmocka_unit_test(test_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
