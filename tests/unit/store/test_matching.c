/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatches of several executions in a run directory. The reference is the program itself: seeded
 * random ones whose first pass runs everything, and whose later passes skip dispatches and launch
 * kernels of their own. Each dispatch has its own anchor, so what belongs together is known.
 */
#include "../test.h"
#include "run_dir.h"
#include "store/match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SEEDS   60
#define STEPS_N 24
#define RANKS   2

static uint64_t random_state;
static uint32_t pick(uint32_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % below;
}

/* Rows as they come out: what the test wants to know of each. */
struct seen {
	uint32_t pass, lane, kernel;
	int32_t rank;
	uint64_t cycles; /* identity: the anchor of the dispatch */
	struct store_match match;
};
struct rows {
	struct store *s;
	struct seen items[2048];
	size_t n;
};

static int take(void *data, const struct store_row *r, struct error *err)
{
	struct rows *rows = data;
	struct seen *x = &rows->items[rows->n++];

	(void)err;
	assert_true(rows->n < 2048);
	x->pass = r->run->pass;
	x->rank = r->run->spool->rank;
	x->kernel = r->kernel;
	x->cycles = r->values[0].value.u64;
	store_match(rows->s, r, &x->match);
	return 0;
}

static void read_rows(struct run_dir *d, struct rows *rows)
{
	struct store_scan all = {.pass = STORE_ALL_PASSES};
	struct error err = {0};

	rows->n = 0;
	if (store_open(&rows->s, d->path, &err))
		fail_msg("%s", err.message);
	assert_int_equal(store_match_load(rows->s, &err), 0);
	assert_int_equal(store_scan(rows->s, &all, take, rows, &err), 0);
}

static void add_one(struct spool_writer *w, uint32_t pass, uint64_t dispatch, uint32_t kernel,
		    uint64_t cycles)
{
	struct spool_sample s[] = {SAMPLE_U(CYCLES, cycles)};

	add_dispatch(w, pass, dispatch, kernel, SPOOL_UNIT_DISPATCH);
	add_samples(w, pass, dispatch, s, 1);
}

/* One execution of a random program; the program depends on seed and rank alone. */
static size_t random_execution(struct spool_writer *w, uint64_t seed, int32_t rank, uint32_t pass)
{
	uint32_t kernels[STEPS_N], n;
	size_t written = 0;

	random_state = seed * 31 + (uint64_t)rank;
	n = 3 + pick(STEPS_N - 3); /* ranks differ in number */
	for (uint32_t i = 0; i < n; i++)
		kernels[i] = 1 + pick(3);
	random_state = seed * 977 + (uint64_t)rank * 7 + pass;
	for (uint32_t k = 1; k <= 3; k++) {
		char name[32];

		snprintf(name, sizeof(name), "void work<%u>(int*)", k);
		add_kernel(w, k, name);
	}
	add_kernel(w, 9, pass == 2 ? "only_in_2" : "only_in_3");
	add_begin(w, pass, 3);
	for (uint32_t i = 0; i < n; i++) {
		if (pass > 1 && !pick(6))
			add_one(w, pass, written++, 9, 1000000 * pass + i);
		if (pass == 1 || pick(5))
			add_one(w, pass, written++, kernels[i], 1000 + i);
	}
	add_end(w, pass, 0, 0, 0);
	return written;
}

static void check_truth(const struct rows *rows, size_t *incomplete_out)
{
	size_t incomplete = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct seen *x = &rows->items[i];
		uint32_t executions = 0;
		bool first = true;

		for (size_t k = 0; k < rows->n; k++) {
			const struct seen *y = &rows->items[k];
			bool same = x->rank == y->rank && x->cycles == y->cycles;

			assert_int_equal(same, x->match.lane == y->match.lane &&
						       x->match.logical == y->match.logical);
			executions += same;
			first = first && !(same && k < i);
		}
		assert_true(x->match.compared);
		assert_int_equal(x->match.executions, executions);
		assert_int_equal(x->match.of_executions, 3);
		assert_int_equal(x->match.how == MATCH_NONE, first);
		assert_true((x->match.confidence > 0) == !first);
		incomplete += first && executions < 3;
	}
	*incomplete_out = incomplete;
}

static void test_random_programs(void **state)
{
	static struct rows rows;
	size_t aligned = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		bool one_spool = seed % 2, backwards = seed % 3;
		struct run_dir d;
		size_t written = 0, incomplete, of_kernels = 0, n;
		const struct store_unmatched *u;

		run_dir_init(&d, small_plan());
		for (int32_t rank = 0; rank < RANKS; rank++) {
			struct spool_writer w;

			for (uint32_t i = 0; i < 3; i++) { /* passes arrive in any order */
				uint32_t pass = one_spool || !backwards ? i + 1 : 3 - i;
				char name[32];

				snprintf(name, sizeof(name), "r%d-%u", rank, i);
				if (!i || !one_spool)
					run_dir_spool(&d, &w, name, rank);
				written += random_execution(&w, seed, rank, pass);
				if (i == 2 || !one_spool)
					finish(&w);
			}
		}
		read_rows(&d, &rows);
		assert_int_equal(rows.n, written); /* nothing is dropped */
		check_truth(&rows, &incomplete);
		assert_int_equal(store_matching(rows.s)->incomplete, incomplete);
		assert_int_equal(store_matching(rows.s)->executions, 3 * RANKS);
		u = store_unmatched(rows.s, &n);
		for (size_t i = 0; i < n; i++)
			of_kernels += u[i].n;
		assert_int_equal(of_kernels, incomplete);
		aligned += store_matching(rows.s)->pairs[MATCH_ALIGNED];
		store_close(rows.s);
		run_dir_remove(&d);
	}
	assert_true(aligned > 100);
}

/* Two kernels whose names differ in a template argument only are two kernels. */
static void test_template_names(void **state)
{
	static struct rows rows;
	struct spool_writer w;
	struct run_dir d;

	(void)state;
	run_dir_init(&d, small_plan());
	for (uint32_t pass = 1; pass <= 2; pass++) {
		run_dir_spool(&d, &w, pass == 1 ? "a" : "b", 0);
		add_kernel(&w, 1, "_Z4workILi1EEvPi");
		add_kernel(&w, 2, "_Z4workILi2EEvPi");
		add_begin(&w, pass, 3);
		add_one(&w, pass, 0, pass, 500);     /* <1> then <2>; in pass 2 */
		add_one(&w, pass, 1, 3 - pass, 500); /* the other way round */
		add_end(&w, pass, 0, 0, 0);
		finish(&w);
	}
	read_rows(&d, &rows);
	assert_int_equal(rows.n, 4);
	for (size_t i = 0; i < 4; i++) {
		for (size_t k = 0; k < 4; k++)
			assert_int_equal(rows.items[i].match.logical == rows.items[k].match.logical,
					 rows.items[i].kernel == rows.items[k].kernel);
	}
	assert_int_equal(store_matching(rows.s)->incomplete, 0);
	store_close(rows.s);
	run_dir_remove(&d);
}

/* What a later spool brings changes the pairs; one execution alone has none. */
static void test_more_comes(void **state)
{
	static struct rows rows;
	struct spool_writer w;
	struct run_dir d;

	(void)state;
	run_dir_init(&d, small_plan());
	run_dir_spool(&d, &w, "a", 1);
	random_execution(&w, 5, 1, 1);
	finish(&w);
	read_rows(&d, &rows);
	assert_false(rows.items[0].match.compared);
	assert_int_equal(store_matching(rows.s)->executions, 0);
	store_close(rows.s);
	run_dir_spool(&d, &w, "b", 1);
	random_execution(&w, 5, 1, 2);
	finish(&w);
	run_dir_spool(&d, &w, "c", 0); /* of another rank: no part of it */
	random_execution(&w, 5, 0, 1);
	finish(&w);
	read_rows(&d, &rows);
	assert_int_equal(store_matching(rows.s)->executions, 2);
	for (size_t i = 0; i < rows.n; i++)
		assert_int_equal(rows.items[i].match.compared, rows.items[i].rank == 1);
	store_close(rows.s);
	run_dir_remove(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_template_names),
		cmocka_unit_test(test_more_comes),
	};

	return cmocka_run_group_tests_name("matching", tests, NULL, NULL);
}
