/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether passes did the same work, and what follows for values put together from several: kernels
 * that do the same in each pass, other work, or are in one pass only; repeats; a share over 100 %
 * from two passes with its cause, and the same metric from one pass; estimates where each dispatch
 * was counted in one pass.
 */
#include "../test.h"
#include "model/estimate.h"
#include "report/anchors.h"
#include "report/values.h"
#include "run_dir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	ANCHOR,
	HITS,
	REQUESTS
};
enum {
	SAME = 1,
	OTHER,
	ONCE
};
static struct plan_counter counters[] = {
	{"anchor", "sim", "SEQ", "count", PLAN_COUNTER_ANCHOR, ""},
	{"hits", "sim", "L2", "count", 0, ""},
	{"requests", "sim", "L2", "count", 0, ""},
};
static const uint32_t with_hits[] = {ANCHOR, HITS}, with_requests[] = {ANCHOR, REQUESTS},
		      with_both[] = {ANCHOR, HITS, REQUESTS}, of_rate[] = {HITS, REQUESTS};
static struct plan_pass two_passes[] = {{2, with_hits, "", ""}, {2, with_requests, "", ""}};
static struct plan_pass whole_passes[] = {{3, with_both, "", ""}, {2, with_requests, "", ""}};
static struct plan_metric split_metric[] = {
	{"hit_rate", "", "%", "100 * hits / requests", 2, of_rate, 0}};
static struct plan_metric whole_metric[] = {
	{"hit_rate", "", "%", "100 * hits / requests", 2, of_rate, 1}};
static struct plan split_plan = {.chip = "sim",
				 .selection = "-m hit_rate",
				 .lower_bound = 2,
				 .n_counters = 3,
				 .counters = counters,
				 .n_passes = 2,
				 .passes = two_passes,
				 .n_metrics = 1,
				 .metrics = split_metric};
static struct plan whole_plan = {.chip = "sim",
				 .selection = "-m hit_rate",
				 .lower_bound = 2,
				 .n_counters = 3,
				 .counters = counters,
				 .n_passes = 2,
				 .passes = whole_passes,
				 .n_metrics = 1,
				 .metrics = whole_metric};

/* Each of four dispatches does `work` times as much in this pass. */
static void add_kernel_rows(struct spool_writer *w, const struct plan *plan, uint32_t pass,
			    uint32_t kernel, uint64_t work)
{
	const struct plan_pass *p = &plan->passes[pass - 1];
	const uint64_t each[] = {1000, 90, 100};

	for (uint32_t i = 0; i < 4; i++) {
		uint64_t dispatch = kernel * 4 + i;
		struct spool_sample s[3];

		for (uint32_t c = 0; c < p->n_counters; c++)
			s[c] = SAMPLE_U(p->counters[c], each[p->counters[c]] * work * (i + 1));
		add_dispatch(w, pass, dispatch, kernel, SPOOL_UNIT_DISPATCH);
		add_samples(w, pass, dispatch, s, p->n_counters);
	}
}

static void make_run(struct run_dir *d, struct plan *plan)
{
	struct spool_writer w;

	run_dir_init(d, plan);
	run_dir_spool(d, &w, "a", 0);
	add_kernel(&w, SAME, "same");
	add_kernel(&w, OTHER, "other");
	add_kernel(&w, ONCE, "once");
	for (uint32_t pass = 1; pass <= 2; pass++) {
		add_begin(&w, pass, 2);
		add_kernel_rows(&w, plan, pass, SAME, 3);
		add_kernel_rows(&w, plan, pass, OTHER, pass == 1 ? 2 : 1);
		if (pass == 1)
			add_kernel_rows(&w, plan, pass, ONCE, 1);
		add_end(&w, pass, 0, 0, 0);
	}
	finish(&w);
}

static struct store *open_run(struct run_dir *d)
{
	struct error err = {0};
	struct store *s;

	if (store_open(&s, d->path, &err))
		fail_msg("%s", err.message);
	return s;
}

static uint32_t find_kernel(struct store *s, const char *name)
{
	const struct store_kernel *k;
	size_t n;

	k = store_kernels(s, &n);
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(k[i].name, name))
			return (uint32_t)i;
	}
	fail_msg("no kernel %s", name);
	return 0;
}

static bool near(double x, double y)
{
	return fabs(x - y) < 1e-9;
}

static void test_labels(void **state)
{
	struct anchor_spread x;
	struct anchors *a;
	struct str text = STR_INIT;
	struct run_dir d;
	struct store *s;

	(void)state;
	make_run(&d, &split_plan);
	s = open_run(&d);
	assert_int_equal(anchors_collect(&a, s, NULL, NULL), 0);
	x = anchors_of_kernel(a, find_kernel(s, "same"));
	assert_int_equal(x.sameness, SAMENESS_DETERMINISTIC);
	assert_int_equal(x.compared, 4);
	assert_true(near(x.largest, 0) && near(x.between, 0) && x.within < 0);
	x = anchors_of_kernel(a, find_kernel(s, "other"));
	assert_int_equal(x.sameness, SAMENESS_VARYING);
	assert_true(near(x.largest, 2.0 / 3) && near(x.typical, 2.0 / 3));
	assert_true(near(x.between, sqrt(2) / 3)); /* of 2 and 1: 0.707 of a mean of 1.5 */
	sameness_text(a, find_kernel(s, "other"), &text);
	assert_string_equal(str_text(&text), "varying 67 % (anchor)");
	x = anchors_of_kernel(a, find_kernel(s, "once"));
	assert_int_equal(x.sameness, SAMENESS_INCOMPARABLE);
	assert_int_equal(x.compared, 0);
	assert_int_equal(x.rows, 4);
	str_release(&text);
	anchors_free(a);
	store_close(s);
	run_dir_remove(&d);
}

static const struct value *hit_rate(const struct values *v, uint32_t kernel)
{
	const struct value_group *g;
	size_t n;

	g = values_groups(v, &n);
	for (size_t i = 0; i < n; i++) {
		if (g[i].kernel == kernel)
			return &g[i].values[0];
	}
	fail_msg("no group");
	return NULL;
}

static void test_over_100(void **state)
{
	struct plan *const plans[] = {&split_plan, &whole_plan};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct values_options o = {0};
		const struct value *x;
		struct values *v;
		struct run_dir d;
		struct store *s;

		make_run(&d, plans[i]);
		s = open_run(&d);
		assert_int_equal(values_collect(&v, s, &o, NULL), 0);
		x = hit_rate(v, find_kernel(s, "other"));
		assert_true(x->present);
		if (!i) { /* shown as it is, with the cause and the error */
			assert_true(near(x->value.f64, 180));
			assert_string_equal(x->status, "split");
			assert_non_null(strstr(x->reason, "over 100 %: these passes did not do the "
							  "same work"));
			assert_non_null(strstr(x->reason, "67 %"));
			assert_true(near(x->error, 2.0 / 3));
		} else {
			assert_true(near(x->value.f64, 90));
			assert_string_equal(x->reason, "");
			assert_true(x->error < 0);
		}
		x = hit_rate(v, find_kernel(s, "same"));
		assert_true(near(x->value.f64, 90));
		assert_true(i ? x->error < 0 : near(x->error, 0));
		values_free(v);
		store_close(s);
		run_dir_remove(&d);
	}
}

/* Repeats in place: 4 and 6 within each pass, and passes that agree in the mean. */
static void test_repeats(void **state)
{
	struct anchor_spread x;
	struct spool_writer w;
	struct anchors *a;
	struct run_dir d;
	struct store *s;

	(void)state;
	run_dir_init(&d, &split_plan);
	run_dir_spool(&d, &w, "a", 0);
	add_kernel(&w, SAME, "same");
	add_begin(&w, 0, 2);
	for (uint32_t pass = 1; pass <= 2; pass++) {
		for (uint32_t attempt = 1; attempt <= 2; attempt++) {
			struct spool_sample sample[] = {SAMPLE_U(ANCHOR, attempt == 1 ? 4 : 6)};

			add_replayed(&w, pass, 0, SAME, SPOOL_UNIT_DISPATCH, attempt,
				     SPOOL_DISPATCH_REPLAYED);
			add_samples(&w, pass, 0, sample, 1);
		}
	}
	add_end(&w, 0, 0, 0, 0);
	finish(&w);
	s = open_run(&d);
	assert_int_equal(anchors_collect(&a, s, NULL, NULL), 0);
	x = anchors_of_kernel(a, find_kernel(s, "same"));
	assert_true(near(x.within, sqrt(2) / 5) && near(x.between, 0));
	assert_int_equal(x.sameness, SAMENESS_VARYING);
	anchors_free(a);
	store_close(s);
	run_dir_remove(&d);
}

/* Forty dispatches counted live, every other one in pass 1: estimates for all forty, against the
 * textbook's formulas for a mean and for a ratio. */
static void test_sampled(void **state)
{
	double mean = 0, square = 0, hits = 0, requests = 0, residual = 0, t, error;
	struct values_options o = {0};
	const struct value_group *g;
	const struct value *x;
	struct spool_writer w;
	struct values *v;
	struct run_dir d;
	struct store *s;
	size_t n;

	(void)state;
	run_dir_init(&d, &whole_plan);
	run_dir_spool(&d, &w, "a", 0);
	add_kernel(&w, SAME, "same");
	add_begin(&w, 0, 2);
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t h = 50 + i * 7919 % 41, r = 100 + i * 104729 % 29;
		struct spool_sample whole[] = {SAMPLE_U(ANCHOR, 5), SAMPLE_U(HITS, h),
					       SAMPLE_U(REQUESTS, r)};

		add_replayed(&w, 1 + i % 2, i, SAME, SPOOL_UNIT_DISPATCH, 1, 0);
		if (i % 2) {
			whole[1] = whole[2];
			add_samples(&w, 2, i, whole, 2);
			continue;
		}
		add_samples(&w, 1, i, whole, 3);
		hits += (double)h;
		requests += (double)r;
	}
	add_end(&w, 0, 0, 0, 0);
	finish(&w);
	mean = hits / 20;
	for (uint32_t i = 0; i < 40; i += 2) {
		double h = 50 + i * 7919 % 41, r = 100 + i * 104729 % 29;

		square += (h - mean) * (h - mean);
		residual += (h - hits / requests * r) * (h - hits / requests * r);
	}
	t = student_quantile(0.95, 19);
	s = open_run(&d);
	assert_int_equal(values_collect(&v, s, &o, NULL), 0);
	g = values_groups(v, &n);
	assert_int_equal(n, 1);
	x = &g->values[0]; /* hit_rate */
	assert_true(x->has_estimate && x->estimate.has_interval);
	assert_true(near(x->estimate.value, 100 * hits / requests));
	error = 100 * sqrt((1 - 0.5) / 20 * residual / 19) / (requests / 20);
	assert_true(fabs(x->estimate.high - x->estimate.low - 2 * t * error) < 1e-6);
	x = &g->values[1 + HITS];
	assert_true(x->has_estimate && x->estimate.has_interval);
	assert_int_equal(x->estimate.n, 20);
	assert_int_equal(x->estimate.population, 40);
	error = sqrt((1 - 0.5) / 20 * square / 19);
	assert_true(near(x->estimate.value, mean));
	assert_true(near(x->estimate.high - x->estimate.low, 2 * t * error));
	assert_false(g->values[1 + ANCHOR].has_estimate); /* counted in both passes: of all */
	values_free(v);
	store_close(s);
	run_dir_remove(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_over_100),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_sampled),
	};

	return cmocka_run_group_tests_name("anchors", tests, NULL, NULL);
}
