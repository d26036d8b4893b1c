/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that are averages and ratios (PLAN_COUNTER_MEAN), in a group of counters that a vendor's
 * library spread over two passes: the values come with the last, and nothing is missing from the
 * first. From hand-made spools.
 */
#include "../test.h"
#include "golden.h"
#include "report/report.h"
#include "report/summary.h"
#include "run_dir.h"

#include <stdio.h>
#include <stdlib.h>

#define BUSY   "sm__throughput.avg.pct_of_peak_sustained_elapsed"
#define ACTIVE "sm__cycles_active.avg"
#define READ   "dram__bytes_read.sum"

static struct plan_counter counters[] = {
	{BUSY, "cuda", "", "%", PLAN_COUNTER_MEAN, ""},
	{ACTIVE, "cuda", "", "cycles", PLAN_COUNTER_MEAN, ""},
	{READ, "cuda", "", "bytes", 0, ""},
};
static const uint32_t all[] = {0, 1, 2}, first[] = {0}, last_two[] = {1, 2};
static struct plan_pass passes[] = {
	{0, NULL, "part 1 of 2", "0/1/2"},
	{3, all, "part 2 of 2", "0/2/2"},
};
static struct plan_metric metrics[] = {
	{"busy_share", "Share of the peak", "", "`" BUSY "` / 100", 1, first, 2},
	{"read_per_cycle", "Bytes read per cycle", "bytes", "`" READ "` / `" ACTIVE "`", 2,
	 last_two, 2},
};
static struct plan plan = {.chip = "GH100",
			   .selection = "--set default",
			   .lower_bound = 2,
			   .n_counters = 3,
			   .counters = counters,
			   .n_passes = 2,
			   .passes = passes,
			   .n_metrics = 2,
			   .metrics = metrics};

static struct spool_sample real(uint32_t counter, uint16_t instance, double value)
{
	return (struct spool_sample){.counter = counter,
				     .instance = instance,
				     .kind = SAMPLE_F64,
				     .value = {.f64 = value}};
}

/* Two dispatches of one kernel, one of another; the throughput of the second is above 100 %. */
static void make_run(struct run_dir *d, bool counted)
{
	static const double busy[] = {50, 112.5, 12.25}, active[] = {1000, 3000, 500},
			    bytes[] = {4000, 8000, 16};
	struct spool_writer w;

	run_dir_init(d, &plan);
	run_dir_write_run_json(d);
	run_dir_spool(d, &w, "inside", -1);
	add_begin(&w, 0, 2);
	add_kernel(&w, 1, "scale");
	add_kernel(&w, 2, "add");
	for (uint32_t n = 0; counted && n < 3; n++) {
		struct spool_sample s[] = {real(0, SPOOL_INSTANCE_ALL, busy[n]),
					   real(1, SPOOL_INSTANCE_ALL, active[n]),
					   real(2, SPOOL_INSTANCE_ALL, bytes[n])};

		add_replayed(&w, 2, n, n == 2 ? 2 : 1, SPOOL_UNIT_DISPATCH, 1,
			     SPOOL_DISPATCH_REPLAYED);
		add_samples(&w, 2, n, s, 3);
	}
	add_end(&w, 0, 0, 0, 0);
	finish(&w);
}

static char *report(struct run_dir *d, enum table_format format)
{
	struct report_options o = {.format = format};
	struct error err = {0};
	struct store *s;
	char *text = NULL, *clean;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	if (store_open(&s, d->path, &err) || report_write(s, &o, f, &err))
		fail_msg("%s", err.message);
	fclose(f);
	store_close(s);
	clean = text_without(text, d->path, "DIR");
	free(text);
	return clean;
}

static char *summary(struct run_dir *d)
{
	struct error err = {0};
	char *text = NULL, *clean;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(summary_write(d->path, f, NULL, &err), 0);
	fclose(f);
	clean = text_without(text, d->path, "DIR");
	free(text);
	return clean;
}

static void test_report(void **state)
{
	static const char *const names[] = {"report/means.txt", "report/means.csv",
					    "report/means.json"};
	struct run_dir d;
	char *text;

	(void)state;
	make_run(&d, true);
	for (int i = 0; i < 3; i++) {
		text = report(&d, (enum table_format)i);
		expect_golden(names[i], text);
		assert_null(strstr(text, "162.5")); /* 50 + 112.5 */
		assert_null(strstr(text, "not run"));
		assert_null(strstr(text, "--pass"));
		free(text);
	}
	text = summary(&d);
	assert_non_null(strstr(text, "2 of 2 passes, 3 of 3 counters, 2 of 2 metrics"));
	assert_null(strstr(text, "--pass"));
	free(text);
	run_dir_remove(&d);
}

static const struct value *find(const struct value_group *g, bool is_metric, uint32_t index)
{
	for (size_t i = 0; i < g->n; i++) {
		if (g->values[i].is_metric == is_metric && g->values[i].index == index)
			return &g->values[i];
	}
	fail_msg("value %u is not there", index);
	return NULL;
}

static void test_values(void **state)
{
	struct values_options o = {0};
	const struct value_group *groups;
	const struct value *v;
	struct error err = {0};
	struct values *values;
	struct run_dir d;
	struct store *s;
	size_t n;

	(void)state;
	make_run(&d, true);
	assert_int_equal(store_open(&s, d.path, &err), 0);
	assert_true(store_pass_is_part(s, 1));
	assert_false(store_pass_is_part(s, 2));
	assert_false(store_pass_is_part(s, 0));
	assert_false(store_pass_is_part(s, 3));
	assert_true(store_pass_has_run(s, 1));
	assert_int_equal(values_collect(&values, s, &o, &err), 0);
	groups = values_groups(values, &n);
	assert_int_equal(n, 2);
	assert_string_equal(groups[1].name, "scale");
	v = find(&groups[1], false, 0);
	assert_false(v->has_sum);
	assert_int_equal(v->n, 2);
	assert_true(number_f64(v->value) == 81.25);
	assert_true(number_f64(v->min) == 50 && number_f64(v->max) == 112.5);
	v = find(&groups[1], false, 2);
	assert_true(v->has_sum && number_f64(v->sum) == 12000);
	/* Two dispatches, so sums would give 1.625. */
	assert_true(number_f64(find(&groups[1], true, 0)->value) == 0.8125);
	assert_true(number_f64(find(&groups[1], true, 1)->value) == 6000.0 / 2000.0);
	values_free(values);
	store_close(s);
	run_dir_remove(&d);
}

/* Single instances of an average are averaged too; those of a count add up. */
static void test_instances(void **state)
{
	struct spool_sample s[] = {real(0, 0, 10), real(0, 1, 20),
				   real(0, 2, 60), real(1, SPOOL_INSTANCE_ALL, 5),
				   real(2, 0, 10), real(2, 1, 20)};
	struct values_options o = {0};
	const struct value_group *groups;
	struct error err = {0};
	struct spool_writer w;
	struct values *values;
	struct run_dir d;
	struct store *store;
	size_t n;

	(void)state;
	run_dir_init(&d, &plan);
	run_dir_spool(&d, &w, "a", -1);
	add_begin(&w, 0, 2);
	add_kernel(&w, 1, "k");
	add_replayed(&w, 2, 0, 1, SPOOL_UNIT_DISPATCH, 1, SPOOL_DISPATCH_REPLAYED);
	add_samples(&w, 2, 0, s, 6);
	finish(&w);
	assert_int_equal(store_open(&store, d.path, &err), 0);
	assert_int_equal(values_collect(&values, store, &o, &err), 0);
	groups = values_groups(values, &n);
	assert_int_equal(n, 1);
	assert_true(number_f64(find(&groups[0], false, 0)->value) == 30);
	assert_true(number_f64(find(&groups[0], false, 2)->value) == 30);
	values_free(values);
	store_close(store);
	run_dir_remove(&d);
}

/* A part cannot be collected alone: the command is of the whole plan, and there is one. */
static void test_not_run(void **state)
{
	struct error err = {0};
	struct str command = STR_INIT;
	struct run_dir d;
	struct store *s;
	char *text;

	(void)state;
	make_run(&d, false);
	assert_int_equal(store_open(&s, d.path, &err), 0);
	assert_false(store_pass_has_run(s, 1));
	store_pass_command(s, 2, &command);
	assert_non_null(strstr(str_text(&command), "retally run"));
	assert_null(strstr(str_text(&command), "--pass"));
	str_release(&command);
	store_close(s);
	text = report(&d, TABLE_JSON);
	assert_non_null(strstr(text, "\"missing_passes\":"));
	assert_null(strstr(text, "\"pass\":1"));
	assert_null(strstr(text, "\"pass\": 1"));
	free(text);
	run_dir_remove(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_instances),
		cmocka_unit_test(test_not_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
