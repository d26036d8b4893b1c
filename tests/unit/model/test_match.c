/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching against a reference that tries every alignment of short random sequences, and the cases
 * that matter by name: other kernels in another pass, a skipped dispatch, names that differ in
 * template arguments only, different counts, long sequences.
 */
#include "../test.h"
#include "model/match.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define SEEDS   4000
#define ITEMS   7
#define ANCHORS 2

static uint64_t random_state;
static uint32_t pick(uint32_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % below;
}

struct sequence {
	struct match_item items[ITEMS];
	double anchors[ITEMS][ANCHORS];
	size_t n;
};

static void random_sequence(struct sequence *s, uint32_t keys)
{
	s->n = pick(ITEMS + 1);
	for (size_t i = 0; i < s->n; i++) {
		s->items[i].key = 1 + pick(keys);
		s->items[i].kernel = s->items[i].key % 2;
		s->anchors[i][0] = pick(4) ? 100.0 + 5 * pick(4) : (double)NAN;
		s->anchors[i][1] = pick(2) ? (double)NAN : 50.0 + pick(2);
		s->items[i].anchors = s->anchors[i];
	}
}

/* ---- the reference ---- */
struct reference {
	const struct sequence *a, *b;
	size_t of_b[ITEMS]; /* exact pairs, MATCH_ALONE */
	bool taken[ITEMS];  /* of a */
	/* of one stretch */
	size_t trial[ITEMS];
	uint64_t best;
	bool answers[ITEMS][ITEMS + 1]; /* [b][a], and none */
};

static size_t nth_of_key(const struct sequence *s, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < at; i++)
		n += s->items[i].key == s->items[at].key;
	return n;
}

static size_t count_of_key(const struct sequence *s, uint64_t key)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->items[i].key == key;
	return n;
}

static void reference_exact(struct reference *r)
{
	for (size_t k = 0; k < r->b->n; k++) {
		uint64_t key = r->b->items[k].key;

		r->of_b[k] = MATCH_ALONE;
		if (count_of_key(r->a, key) != count_of_key(r->b, key))
			continue;
		for (size_t i = 0; i < r->a->n; i++) {
			if (r->a->items[i].key == key &&
			    nth_of_key(r->a, i) == nth_of_key(r->b, k)) {
				r->of_b[k] = i;
				r->taken[i] = true;
			}
		}
	}
}

static bool exact_cross(const struct reference *r)
{
	for (size_t k = 0; k < r->b->n; k++) {
		for (size_t l = k + 1; l < r->b->n; l++) {
			if (r->of_b[k] != MATCH_ALONE && r->of_b[l] != MATCH_ALONE &&
			    r->of_b[k] > r->of_b[l])
				return true;
		}
	}
	return false;
}

static uint64_t pair_score(const struct reference *r, size_t i, size_t k)
{
	bool shared = false, same = true;

	for (size_t n = 0; n < ANCHORS; n++) {
		double x = r->a->anchors[i][n], y = r->b->anchors[k][n];

		if (isnan(x) || isnan(y))
			continue;
		shared = true;
		same = same && !(x < y) && !(x > y);
	}
	return 1000 + (uint64_t)(shared && same);
}

/* Tries everything for b[k] and what follows, below to_b; partners from a[from] on. */
static void try_all(struct reference *r, size_t k, size_t from_b, size_t to_b, size_t from,
		    size_t to_a, uint64_t score)
{
	if (k == to_b) {
		if (score < r->best)
			return;
		if (score > r->best)
			memset(r->answers, 0, sizeof(r->answers));
		r->best = score;
		for (size_t l = from_b; l < to_b; l++)
			r->answers[l][r->trial[l] == MATCH_ALONE ? ITEMS : r->trial[l]] = true;
		return;
	}
	r->trial[k] = MATCH_ALONE;
	try_all(r, k + 1, from_b, to_b, from, to_a, score);
	for (size_t i = from; r->of_b[k] == MATCH_ALONE && i < to_a; i++) {
		if (r->taken[i] || r->a->items[i].key != r->b->items[k].key)
			continue;
		r->trial[k] = i;
		try_all(r, k + 1, from_b, to_b, i + 1, to_a, score + pair_score(r, i, k));
	}
}

static void check_stretch(struct reference *r, size_t from_a, size_t to_a, size_t from_b,
			  size_t to_b, const struct match_pair *got)
{
	uint64_t score = 0;

	r->best = 0;
	memset(r->answers, 0, sizeof(r->answers));
	try_all(r, from_b, from_b, to_b, from_a, to_a, 0);
	for (size_t k = from_b; k < to_b; k++) {
		size_t n = 0;

		if (got[k].how != MATCH_ALIGNED)
			continue;
		for (size_t i = 0; i <= ITEMS; i++)
			n += r->answers[k][i];
		assert_true(r->answers[k][got[k].other]);
		assert_true(fabs(got[k].confidence - 1.0 / (double)n) < 1e-12);
		score += pair_score(r, got[k].other, k);
	}
	assert_int_equal(score, r->best);
}

/* The nearest pair of all, again and again. */
static void check_nearest(const struct reference *r, const struct match_pair *got)
{
	bool used_a[ITEMS] = {false}, used_b[ITEMS] = {false};

	for (size_t k = 0; k < r->b->n; k++) {
		if (got[k].how == MATCH_EXACT || got[k].how == MATCH_ALIGNED) {
			used_a[got[k].other] = true;
			used_b[k] = true;
		}
	}
	for (;;) {
		size_t best_a = 0, best_b = 0;
		double best = MATCH_NEAREST * 2;

		for (size_t k = 0; k < r->b->n; k++) {
			for (size_t i = 0; i < r->a->n; i++) {
				double d =
					match_distance(r->a->anchors[i], r->b->anchors[k], ANCHORS);

				if (used_a[i] || used_b[k] || d < 0 || d > MATCH_NEAREST ||
				    r->a->items[i].kernel != r->b->items[k].kernel || d >= best)
					continue;
				best = d;
				best_a = i;
				best_b = k;
			}
		}
		if (best > MATCH_NEAREST)
			break;
		assert_int_equal(got[best_b].how, MATCH_BY_ANCHOR);
		assert_int_equal(got[best_b].other, best_a);
		assert_true(got[best_b].confidence > 0 && got[best_b].confidence <= 0.5);
		used_a[best_a] = used_b[best_b] = true;
	}
	for (size_t k = 0; k < r->b->n; k++) {
		assert_int_equal(got[k].how != MATCH_NONE, used_b[k]);
		assert_int_equal(got[k].other == MATCH_ALONE, !used_b[k]);
	}
}

static void test_random(void **state)
{
	size_t straight = 0, aligned = 0, nearest = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sequence a, b;
		struct match_pair got[ITEMS + 1];
		struct reference r = {.a = &a, .b = &b};
		size_t from_a = 0, from_b = 0;
		uint32_t keys = 1 + (uint32_t)(seed % 5);

		random_state = seed;
		random_sequence(&a, keys);
		random_sequence(&b, keys);
		assert_int_equal(match_sequences(a.items, a.n, b.items, b.n, ANCHORS, got, NULL),
				 0);
		reference_exact(&r);
		for (size_t k = 0; k < b.n; k++) {
			assert_int_equal(got[k].how == MATCH_EXACT, r.of_b[k] != MATCH_ALONE);
			if (r.of_b[k] != MATCH_ALONE)
				assert_int_equal(got[k].other, r.of_b[k]);
			aligned += got[k].how == MATCH_ALIGNED;
			nearest += got[k].how == MATCH_BY_ANCHOR;
		}
		check_nearest(&r, got);
		if (exact_cross(&r))
			continue;
		straight++;
		for (size_t k = 0; k <= b.n; k++) {
			if (k < b.n && r.of_b[k] == MATCH_ALONE)
				continue;
			check_stretch(&r, from_a, k < b.n ? r.of_b[k] : a.n, from_b, k, got);
			from_a = k < b.n ? r.of_b[k] + 1 : 0;
			from_b = k + 1;
		}
	}
	assert_true(straight > SEEDS / 2 && aligned > 500 && nearest > 200);
}

/* "ABA" against "ACA": letters are keys and kernels. */
static void match_text(const char *a, const char *b, struct match_pair *got)
{
	struct match_item x[32], y[32];

	for (size_t i = 0; a[i]; i++)
		x[i] = (struct match_item){.key = (uint64_t)a[i], .kernel = (uint64_t)a[i]};
	for (size_t i = 0; b[i]; i++)
		y[i] = (struct match_item){.key = (uint64_t)b[i], .kernel = (uint64_t)b[i]};
	assert_int_equal(match_sequences(x, strlen(a), y, strlen(b), 0, got, NULL), 0);
}

static void test_other_kernels(void **state)
{
	struct match_pair got[32];

	(void)state;
	match_text("ABA", "ACA", got);
	assert_int_equal(got[0].other, 0);
	assert_int_equal(got[0].how, MATCH_EXACT);
	assert_int_equal(got[1].other, MATCH_ALONE);
	assert_int_equal(got[1].how, MATCH_NONE);
	assert_int_equal(got[2].other, 2);
	match_text("", "AB", got);
	assert_int_equal(got[1].other, MATCH_ALONE);
	match_text("AB", "", got);
}

static void test_skipped(void **state)
{
	struct match_pair got[32];

	(void)state;
	/* What stands between tells which one was skipped. */
	match_text("AxAyAz", "AxyAz", got);
	assert_int_equal(got[0].other, 0);
	assert_int_equal(got[3].other, 4);
	assert_int_equal(got[3].how, MATCH_ALIGNED);
	assert_true(got[0].confidence > 0.99 && got[3].confidence > 0.99);
	/* Nothing tells: each of them may be one of two. */
	match_text("AAA", "AA", got);
	assert_int_equal(got[0].how, MATCH_ALIGNED);
	assert_true(fabs(got[0].confidence - 0.5) < 1e-12);
	assert_true(fabs(got[1].confidence - 0.5) < 1e-12);
}

static void test_anchor_tells(void **state)
{
	const double anchors[] = {10, 20, 30}, other[] = {10, 30};
	struct match_item a[3], b[2];
	struct match_pair got[2];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		a[i] = (struct match_item){1, 1, &anchors[i]};
	for (size_t i = 0; i < 2; i++)
		b[i] = (struct match_item){1, 1, &other[i]};
	assert_int_equal(match_sequences(a, 3, b, 2, 1, got, NULL), 0);
	assert_int_equal(got[0].other, 0);
	assert_int_equal(got[1].other, 2);
	assert_true(got[1].confidence > 0.99);
	/* Another grid: the key differs, the kernel and its anchors do not. */
	b[1].key = 2;
	assert_int_equal(match_sequences(a, 3, b, 2, 1, got, NULL), 0);
	assert_int_equal(got[1].how, MATCH_BY_ANCHOR);
	assert_int_equal(got[1].other, 2);
	/* Far from every anchor: alone. */
	const double far = 300;
	b[1].anchors = &far;
	assert_int_equal(match_sequences(a, 3, b, 2, 1, got, NULL), 0);
	assert_int_equal(got[1].how, MATCH_NONE);
}

static void test_long(void **state)
{
	enum {
		N = 6000,
		SKIPPED = 2500
	};
	struct match_item *a = calloc(N, sizeof(*a)), *b = calloc(N, sizeof(*b));
	struct match_pair *got = calloc(N, sizeof(*got));
	double *anchors = calloc(N, sizeof(*anchors));

	(void)state;
	assert_true(a && b && got && anchors);
	for (size_t i = 0; i < N; i++) {
		anchors[i] = (double)(i * 7919 % 10007);
		a[i] = (struct match_item){1, 1, &anchors[i]};
		if (i != SKIPPED)
			b[i - (i > SKIPPED)] = a[i];
	}
	assert_int_equal(match_sequences(a, N, b, N - 1, 1, got, NULL), 0);
	for (size_t i = 0; i < N - 1; i++) {
		assert_int_equal(got[i].other, i + (i >= SKIPPED));
		assert_true(fabs(got[i].confidence - 0.5) < 1e-12);
	}
	free(a);
	free(b);
	free(got);
	free(anchors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),  cmocka_unit_test(test_other_kernels),
		cmocka_unit_test(test_skipped), cmocka_unit_test(test_anchor_tells),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
