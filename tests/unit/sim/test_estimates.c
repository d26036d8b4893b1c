/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates against what the simulated device really did: every dispatch is counted, so the truth
 * is known; then passes are dealt over the dispatches as --distribute dispatch:random deals them,
 * in 1000 seeded runs, and the 95 % intervals have to contain the truth in 93 to 97 % of them.
 */
#include "base/hash.h"
#include "model/estimate.h"
#include "tests/unit/sim/sim_test.h"

#include <math.h>
#include <stdlib.h>

#define DISPATCHES 360
#define STRATA     6 /* two kernels, three grids */
#define COUNTERS   3
#define RUNS       1000
#define PASSES     4
#define ITEMS      1000

struct population {
	double value[DISPATCHES][COUNTERS];
	uint32_t stratum[DISPATCHES];
	uint64_t of[STRATA];
	double truth[COUNTERS];
};

static double read_counter(const struct sim_tools *t, struct sim_device *d, uint32_t unit,
			   uint32_t id, uint32_t instances)
{
	double sum = 0;

	for (uint32_t i = 0; i < instances; i++) {
		struct sim_reading r;

		works(t->counters_read(d, unit, id, i, 1, &r));
		sum += (double)(r.end - r.begin);
	}
	return sum;
}

/* SEQ_ITERATIONS of "walk" depend on its data, which each walk changes; cycles are noisy. */
static void measure(struct population *p)
{
	static const uint32_t ids[COUNTERS] = {6, 7, 8};
	static const uint32_t sizes[] = {ITEMS / 4, ITEMS / 2, ITEMS};
	const struct sim_tools *t = sim_test_tools();
	struct sim_config config;
	struct sim_device *d;
	struct sim_queue *q;
	uint64_t a = 0, b = 0, data[ITEMS];

	*p = (struct population){0};
	sim_config_default(&config);
	config.noise = 200;
	d = sim_test_open(&config);
	works(sim_queue_create(d, &q));
	works(sim_malloc(d, sizeof(data), &a));
	works(sim_malloc(d, sizeof(data), &b));
	works(t->counters_acquire(d));
	works(t->counters_program(d, ids, COUNTERS, DISPATCHES));
	for (uint32_t i = 0; i < DISPATCHES; i++) {
		uint32_t n = sizes[i / 2 % 3];

		for (uint32_t k = 0; k < ITEMS; k++)
			data[k] = hash64(&(uint32_t[]){i, k}, 2 * sizeof(uint32_t));
		works(sim_copy_in(q, a, data, sizeof(data)));
		works(sim_wait(d));
		works(t->counters_start(d, q, i));
		if (i % 2)
			works(enqueue(q, "walk", n, a, b, n));
		else
			works(enqueue(q, "update", n, a, n));
		works(t->counters_stop(d, q, i));
		p->stratum[i] = i % 2 * 3 + i / 2 % 3;
		p->of[p->stratum[i]]++;
	}
	works(sim_wait(d));
	for (uint32_t i = 0; i < DISPATCHES; i++) {
		for (uint32_t c = 0; c < COUNTERS; c++) {
			p->value[i][c] = read_counter(t, d, i, ids[c], 2);
			p->truth[c] += p->value[i][c] / DISPATCHES;
		}
	}
	t->counters_release(d);
	works(sim_close(d));
}

static void sample(const struct population *p, uint64_t seed, uint32_t counter,
		   struct stratum strata[STRATA])
{
	for (uint32_t s = 0; s < STRATA; s++)
		strata[s] = (struct stratum){.population = p->of[s]};
	for (uint32_t i = 0; i < DISPATCHES; i++) {
		uint64_t key[] = {seed, i % 2, i / 2}; /* as replay/live.c draws */

		if (hash64(key, sizeof(key)) % PASSES == 0)
			moments_add(&strata[p->stratum[i]].sample, p->value[i][counter]);
	}
}

static void test_intervals_contain_the_truth(void **state)
{
	static struct population p;

	(void)state;
	measure(&p);
	for (uint32_t c = 0; c < COUNTERS; c++) {
		size_t inside = 0;

		for (uint64_t seed = 1; seed <= RUNS; seed++) {
			struct stratum strata[STRATA];
			struct estimate e;

			sample(&p, seed, c, strata);
			estimate_mean(strata, STRATA, 0.95, &e);
			assert_true(e.present && e.has_interval);
			assert_int_equal(e.population, DISPATCHES);
			inside += e.low <= p.truth[c] && p.truth[c] <= e.high;
		}
		print_message("# counter %u: truth within the interval in %zu of %d runs\n", c,
			      inside, RUNS);
		assert_in_range(inside, RUNS * 93 / 100, RUNS * 97 / 100);
	}
}

/* Everything measured: the value is the truth, and the interval is that point. */
static void test_whole_population(void **state)
{
	struct stratum strata[2] = {{.population = 3}, {.population = 2}};
	struct estimate e;

	(void)state;
	for (int i = 0; i < 3; i++)
		moments_add(&strata[0].sample, 10 + i);
	for (int i = 0; i < 2; i++)
		moments_add(&strata[1].sample, 100 + i);
	estimate_mean(strata, 2, 0.95, &e);
	assert_true(fabs(e.value - 234.0 / 5) < 1e-9);
	assert_true(e.has_interval && fabs(e.high - e.low) < 1e-12 && fabs(e.error) < 1e-12);
}

static void test_what_is_missing(void **state)
{
	struct stratum strata[3] = {{.population = 30}, {.population = 20}, {.population = 7}};
	struct estimate e;

	(void)state;
	estimate_mean(strata, 3, 0.95, &e);
	assert_false(e.present);
	assert_int_equal(e.missing, 57);
	moments_add(&strata[0].sample, 5);
	estimate_mean(strata, 3, 0.95, &e);
	assert_true(e.present && !e.has_interval && *e.why);
	assert_int_equal(e.missing, 27);
	moments_add(&strata[1].sample, 8); /* two single ones: taken together */
	estimate_mean(strata, 3, 0.95, &e);
	assert_true(e.has_interval && e.low < e.value && e.value < e.high);
	assert_true(fabs(e.value - (30 * 5 + 20 * 8) / 50.0) < 1e-9);
	assert_int_equal(e.missing, 7);
}

/* From the tables of any textbook. */
static void test_quantiles(void **state)
{
	static const double table[][3] = {
		{0.95, 1, 12.7062},  {0.95, 2, 4.30265}, {0.95, 5, 2.57058},  {0.95, 30, 2.04227},
		{0.99, 10, 3.16927}, {0.9, 3, 2.35336},  {0.95, 1e6, 1.95996}};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		assert_true(fabs(student_quantile(table[i][0], table[i][1]) - table[i][2]) < 1e-4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_whole_population),
		cmocka_unit_test(test_what_is_missing),
		cmocka_unit_test(test_intervals_contain_the_truth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
