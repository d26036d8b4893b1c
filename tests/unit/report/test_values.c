/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeded random run directories, added up by the report and by a plain reference that keeps every
 * sample in memory: they must agree, whatever the order in which spools arrive.
 */
#include "../test.h"
#include "report/report.h"
#include "run_dir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SEEDS   40
#define KERNELS 4
#define RANKS   3

static uint64_t random_state;
static uint32_t pick(uint32_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % below;
}

/* What the reference knows of one kernel (by number; 0 is "process"). */
struct reference {
	uint64_t rows;
	uint64_t n[5], sum[5], min[5], max[5];
	/* ipc: rows of pass 1 that have both of its counters */
	uint64_t ipc_n;
	double ipc_cycles, ipc_instructions, ipc_sum, ipc_min, ipc_max;
};

static void add_reference(struct reference *r, uint32_t pass, const struct spool_sample *s,
			  uint32_t n)
{
	bool have[5] = {false};
	uint64_t value[5] = {0};

	r->rows++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = s[i].counter;

		if (s[i].status != SAMPLE_OK)
			continue;
		have[c] = true;
		value[c] = s[i].value.u64;
		if (!r->n[c] || value[c] < r->min[c])
			r->min[c] = value[c];
		if (!r->n[c] || value[c] > r->max[c])
			r->max[c] = value[c];
		r->n[c]++;
		r->sum[c] += value[c];
	}
	if (pass == 1 && have[CYCLES] && have[INSTRUCTIONS]) {
		double ipc = (double)value[INSTRUCTIONS] / (double)value[CYCLES];

		r->ipc_min = !r->ipc_n || ipc < r->ipc_min ? ipc : r->ipc_min;
		r->ipc_max = !r->ipc_n || ipc > r->ipc_max ? ipc : r->ipc_max;
		r->ipc_n++;
		r->ipc_sum += ipc;
		r->ipc_cycles += (double)value[CYCLES];
		r->ipc_instructions += (double)value[INSTRUCTIONS];
	}
}

static void random_pass(struct spool_writer *w, uint32_t pass, struct reference *refs)
{
	const struct plan_pass *p = &small_plan()->passes[pass - 1];
	uint32_t n = pick(20);

	add_begin(w, pass, 3);
	for (uint32_t d = 0; d < n; d++) {
		uint32_t kernel = 1 + pick(KERNELS), used = 0;
		struct spool_sample s[3];

		for (uint32_t i = 0; i < p->n_counters; i++) {
			if (!pick(10)) /* no sample */
				continue;
			s[used] = SAMPLE_U(p->counters[i], 1 + pick(1u << (1 + pick(30))));
			if (!pick(8))
				s[used].status = (uint8_t)(1 + pick(5));
			used++;
		}
		add_dispatch(w, pass, d, kernel, SPOOL_UNIT_DISPATCH);
		if (used)
			add_samples(w, pass, d, s, used);
		add_reference(&refs[kernel], pass, s, used);
	}
	if (pick(4))
		add_end(w, pass, (int)pick(2), 0, 0);
}

/* Writes the same directory for the same seed, its spools created in the order given. */
static void random_dir(struct run_dir *d, uint64_t seed, bool backwards, struct reference *refs)
{
	run_dir_init(d, small_plan());
	for (uint32_t i = 0; i < RANKS; i++) {
		uint32_t rank = backwards ? RANKS - 1 - i : i;
		struct spool_writer w;
		char name[16];

		random_state = seed * 1000 + rank;
		snprintf(name, sizeof(name), "r%u", rank);
		d->next_start = 5000 + rank;
		run_dir_spool(d, &w, name, (int32_t)rank);
		for (uint32_t k = 1; k <= KERNELS; k++) {
			char kernel[16];

			snprintf(kernel, sizeof(kernel), "kernel%u", k);
			add_kernel(&w, k, kernel);
		}
		for (uint32_t pass = 1; pass <= 3; pass++) {
			for (uint32_t times = pick(3); times > 0; times--)
				random_pass(&w, pass, refs);
		}
		finish(&w);
	}
}

static void expect_close(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("%.17g is not %.17g", got, want);
}

static void check_value(const struct value *v, const struct reference *r, enum expr_ratio ratio)
{
	if (v->is_metric && v->index == 1)
		return; /* split: not of rows */
	if (v->is_metric) {
		assert_int_equal(v->n, r->ipc_n);
		assert_int_equal(v->present, r->ipc_n > 0);
		if (!v->present)
			return;
		expect_close(number_f64(v->value), ratio == EXPR_MEAN_OF_RATIOS
							   ? r->ipc_sum / (double)r->ipc_n
							   : r->ipc_instructions / r->ipc_cycles);
		if (v->has_spread) {
			expect_close(number_f64(v->min), r->ipc_min);
			expect_close(number_f64(v->max), r->ipc_max);
		}
		return;
	}
	assert_int_equal(v->n, r->n[v->index]);
	assert_int_equal(v->present, r->n[v->index] > 0);
	if (!v->present) {
		assert_true(*v->reason != '\0');
		assert_string_not_equal(v->status, "ok");
		return;
	}
	assert_int_equal(v->sum.u64, r->sum[v->index]);
	assert_int_equal(v->min.u64, r->min[v->index]);
	assert_int_equal(v->max.u64, r->max[v->index]);
	expect_close(number_f64(v->value), (double)r->sum[v->index] / (double)r->n[v->index]);
}

static char *csv(struct run_dir *d, enum report_by by)
{
	struct report_options o = {.format = TABLE_CSV, .by = by};
	struct error err = {0};
	struct store *s;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (store_open(&s, d->path, &err) || report_write(s, &o, f, &err))
		fail_msg("%s", err.message);
	fclose(f);
	store_close(s);
	return text;
}

static void test_against_reference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++) {
		struct reference refs[KERNELS + 1] = {0};
		struct values_options o = {.by = VALUES_BY_KERNEL,
					   .ratio = seed > SEEDS ? EXPR_MEAN_OF_RATIOS
								 : EXPR_RATIO_OF_SUMS};
		const struct value_group *groups;
		struct error err = {0};
		struct run_dir d;
		struct values *v;
		struct store *s;
		size_t n, want = 0;

		random_dir(&d, seed, false, refs);
		if (store_open(&s, d.path, &err) || values_collect(&v, s, &o, &err))
			fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
		groups = values_groups(v, &n);
		for (uint32_t k = 1; k <= KERNELS; k++)
			want += refs[k].rows > 0;
		if (want)
			assert_int_equal(n, want);
		for (size_t g = 0; want && g < n; g++) {
			const struct reference *r = &refs[groups[g].name[6] - '0'];

			assert_int_equal(groups[g].rows, r->rows);
			assert_int_equal(groups[g].n, 7);
			for (size_t i = 0; i < groups[g].n; i++)
				check_value(&groups[g].values[i], r, o.ratio);
		}
		values_free(v);
		store_close(s);
		run_dir_remove(&d);
	}
}

static void test_order_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
		struct reference unused[KERNELS + 1] = {0};
		struct run_dir a, b;

		random_dir(&a, seed, false, unused);
		random_dir(&b, seed, true, unused);
		for (int by = REPORT_BY_KERNEL; by <= REPORT_BY_RANK; by++) {
			char *x = csv(&a, (enum report_by)by), *y = csv(&b, (enum report_by)by);

			assert_string_equal(x, y);
			free(x);
			free(y);
		}
		run_dir_remove(&a);
		run_dir_remove(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_reference),
		cmocka_unit_test(test_order_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
