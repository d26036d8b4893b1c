/* SPDX-License-Identifier: Apache-2.0 */
/* --until: when a kernel is left uncounted, what is recorded of that, and whether the estimates
 * made of what was counted until then are as good as they claim. */
#include "../test.h"
#include "base/hash.h"
#include "fake.h"
#include "model/estimate.h"

#define PASSES 3
#define LEAST  45 /* dispatches of a pass: two looks, at 30 and 45 */

static int64_t worth(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	(void)f;
	(void)args;
	return (int64_t)value;
}
static const struct fake_kernel steady = {"steady", worth}, moving = {"moving", worth};

static uint64_t draw(uint64_t seed, uint64_t i)
{
	uint64_t key[] = {seed, i};

	return hash64(key, sizeof(key));
}

static uint64_t value_of(uint64_t seed, uint64_t i) /* 1000, 20 % up and down */
{
	return 800 + draw(seed, i) % 401;
}

/* The program waits after each, so that counts are read at once. */
static enum replay_verdict launch(struct fake *f, const struct fake_kernel *k, int a,
				  uint64_t value, uint32_t wider)
{
	struct fake_launch l = {
		.kernel = k, .n_args = 1, .args = {a}, .value = value, .wider = wider};
	enum replay_verdict v = fake_launch(f, &l);

	fake_sync(f, "finish");
	return v;
}

static uint64_t left_of(const struct fake *f, uint32_t kernel, uint32_t grid)
{
	uint64_t n = 0;

	vec_for_each (&f->left, l)
		n += l->kernel == kernel && l->grid[0] == grid ? l->count : 0;
	return n;
}

static void begin(struct fake *f, uint32_t until, uint64_t seed, bool random, int *a)
{
	struct replay_options o = {
		.mode = REPLAY_MODE_NONE, .until = until, .random = random, .seed = seed};

	fake_init(f, PASSES);
	fake_start(f, &o);
	*a = fake_alloc(f, 8, 0, NULL);
}

static void end(struct fake *f)
{
	fake_stop(f);
	assert_int_equal(f->declines.n, 0);
}

/* What never changes is known after the least number of dispatches of each pass. */
static void stops_at_the_least(void **state)
{
	(void)state;
	for (int random = 0; random < 2; random++) {
		struct fake f;
		int a;

		begin(&f, 10000, 3, random, &a);
		for (int i = 0; i < 400; i++)
			launch(&f, &steady, a, 7, 0);
		end(&f);
		assert_int_equal(f.records.n, PASSES * LEAST);
		assert_int_equal(left_of(&f, 1, 1), 400 - PASSES * LEAST);
		assert_int_equal(f.left.items[0].counted, PASSES * LEAST);
		assert_int_equal(f.left.items[0].precision, 10000);
		fake_release(&f);
	}
}

/* What changes takes longer, the longer the more is wanted; without the option nothing is left out.
 */
static void varying_takes_longer(void **state)
{
	static const uint32_t wanted[] = {50000, 20000, 10000, 0};
	size_t before = 0;

	(void)state;
	for (int w = 0; w < 4; w++) {
		struct fake f;
		int a;

		begin(&f, wanted[w], 1, true, &a);
		for (uint64_t i = 0; i < 4000; i++)
			launch(&f, &moving, a, value_of(9, i), 0);
		end(&f);
		if (w == 0)
			assert_int_equal(f.records.n, PASSES * LEAST);
		else
			assert_true(f.records.n > before);
		before = f.records.n;
		assert_int_equal(f.records.n + left_of(&f, 1, 1), 4000);
		fake_release(&f);
	}
	assert_int_equal(before, 4000);
}

/* Kernels, and grids of one, are left out each for itself. */
static void each_kind_for_itself(void **state)
{
	struct fake f;
	uint64_t n[3] = {0};
	int a;

	(void)state;
	begin(&f, 10000, 0, false, &a);
	for (uint64_t i = 0; i < 200; i++) {
		n[0] += launch(&f, &steady, a, 7, 0) == REPLAY_COUNTED;
		n[1] += launch(&f, &moving, a, value_of(2, i), 0) == REPLAY_COUNTED;
	}
	assert_int_equal(n[0], PASSES * LEAST);
	assert_int_equal(n[1], 200);
	for (uint64_t i = 0; i < 10; i++)
		n[2] += launch(&f, &steady, a, 7, 5) == REPLAY_COUNTED;
	assert_int_equal(n[2], 10);
	end(&f);
	assert_int_equal(left_of(&f, 1, 1), 200 - PASSES * LEAST);
	assert_int_equal(left_of(&f, 1, 6), 0);
	fake_release(&f);
}

/* Counters of a metric of several have to be known twice as well. */
static void metrics_count(void **state)
{
	static uint32_t both[] = {0, 1};
	struct plan_metric metric = {"m", "m", "", "c0 / c1", 2, both, 1};
	size_t n[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct replay_options o = {.mode = REPLAY_MODE_NONE, .until = 20000};
		struct fake f;
		int a;

		fake_init(&f, 1);
		f.plan.n_metrics = i;
		f.plan.metrics = &metric;
		fake_start(&f, &o);
		a = fake_alloc(&f, 8, 0, NULL);
		for (uint64_t k = 0; k < 4000; k++)
			launch(&f, &moving, a, value_of(4, k), 0);
		end(&f);
		n[i] = f.records.n;
		fake_release(&f);
	}
	assert_true(n[1] > 2 * n[0]);
}

/* A dispatch whose counts could not be read tells nothing, and is no sample. */
static void failures_are_no_samples(void **state)
{
	struct fake f;
	uint64_t declined = 0;
	int a;

	(void)state;
	begin(&f, 10000, 0, false, &a);
	f.failures[FAKE_READ] = (struct fake_failure){.after = 5, .times = 10, .code = RC_ERROR};
	for (int i = 0; i < 400; i++)
		launch(&f, &steady, a, 7, 0);
	fake_stop(&f);
	vec_for_each (&f.declines, x)
		declined += x->count;
	assert_int_equal(declined, 10);
	assert_int_equal(f.records.n, PASSES * LEAST);
	assert_int_equal(left_of(&f, 1, 1), 400 - 10 - PASSES * LEAST);
	fake_release(&f);
}

/* Ending where the numbers look good must not make the intervals wrong: 1000 seeded runs, each of
 * 900 dispatches, estimated from what was counted before the rest was left out. */
static void intervals_stay_honest(void **state)
{
	const int runs = 1000;
	int inside = 0, near = 0, stopped = 0;

	(void)state;
	for (int run = 0; run < runs; run++) {
		struct stratum all = {.population = 900};
		struct estimate e;
		double truth = 0;
		struct fake f;
		int a;

		begin(&f, 20000, (uint64_t)run, true, &a);
		for (uint64_t i = 0; i < all.population; i++) {
			uint64_t value = value_of((uint64_t)run + 1000000, i);

			truth += (double)value / (double)all.population;
			launch(&f, &moving, a, value, 0);
		}
		end(&f);
		for (size_t i = 0; i < f.records.n; i++) {
			if (f.records.items[i].dispatch.pass == 1)
				moments_add(&all.sample, (double)f.records.items[i].work);
		}
		stopped += f.left.n > 0;
		estimate_mean(&all, 1, 0.95, &e);
		assert_true(e.has_interval);
		inside += e.low <= truth && truth <= e.high;
		near += e.value - truth <= 0.02 * truth && truth - e.value <= 0.02 * truth;
		fake_release(&f);
	}
	print_message(
		"# ended early in %d of %d runs; truth within the interval in %d, within 2 %% in "
		"%d\n",
		stopped, runs, inside, near);
	assert_true(stopped > runs * 9 / 10);
	assert_in_range(inside, runs * 93 / 100, runs * 97 / 100);
	assert_true(near >= runs * 95 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stops_at_the_least),      cmocka_unit_test(varying_takes_longer),
		cmocka_unit_test(each_kind_for_itself),    cmocka_unit_test(metrics_count),
		cmocka_unit_test(failures_are_no_samples), cmocka_unit_test(intervals_stay_honest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
