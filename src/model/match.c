/* SPDX-License-Identifier: Apache-2.0 */
/* Matching of two sequences; the rules are in the header. */
#include "model/match.h"

#include "base/vec.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct place {
	uint64_t key;
	size_t at;
};
struct near_pair {
	double distance;
	size_t a, b;
};
struct matcher {
	const struct match_item *a, *b;
	size_t n_a, n_b, n_anchors;
	struct match_pair *of_b;
	size_t *of_a;                      /* MATCH_ALONE while free */
	struct place *by_key_a, *by_key_b; /* sorted */
	size_t *left_a, *left_b;           /* of one stretch */
	uint64_t *forward, *backward; /* scores of the longest stretch, at most MATCH_CELLS_MAX */
};

static int no_memory(struct error *err)
{
	return error_set(err, RC_NO_MEMORY, "out of memory while matching dispatches");
}

const char *match_how_name(enum match_how how)
{
	static const char *const names[] = {"not matched", "exact", "aligned", "nearest"};

	return names[how];
}

double match_distance(const double *a, const double *b, size_t n_anchors)
{
	double most = -1;

	for (size_t i = 0; a && b && i < n_anchors; i++) {
		double scale = fmax(fabs(a[i]), fabs(b[i]));
		double d = scale > 0 ? fabs(a[i] - b[i]) / scale : 0;

		if (isfinite(a[i]) && isfinite(b[i]) && d > most)
			most = d;
	}
	return most;
}

static void pair_up(struct matcher *m, size_t a, size_t b, enum match_how how, double confidence)
{
	m->of_a[a] = b;
	m->of_b[b] = (struct match_pair){.other = a, .how = how, .confidence = confidence};
}

/* ---- exact ---- */
static int compare_places(const void *x, const void *y)
{
	const struct place *p = x, *q = y;

	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	return p->at < q->at ? -1 : p->at > q->at;
}

static struct place *sort_places(const struct match_item *items, size_t n)
{
	struct place *p = malloc((n + 1) * sizeof(*p));

	for (size_t i = 0; p && i < n; i++)
		p[i] = (struct place){items[i].key, i};
	if (p && n)
		qsort(p, n, sizeof(*p), compare_places);
	return p;
}

static size_t run_length(const struct place *p, size_t n, size_t from)
{
	size_t end = from;

	while (end < n && p[end].key == p[from].key)
		end++;
	return end - from;
}

static void match_exact(struct matcher *m)
{
	size_t i = 0, k = 0;

	while (i < m->n_a && k < m->n_b) {
		size_t in_a = run_length(m->by_key_a, m->n_a, i);
		size_t in_b = run_length(m->by_key_b, m->n_b, k);

		if (m->by_key_a[i].key < m->by_key_b[k].key) {
			i += in_a;
			continue;
		}
		if (m->by_key_a[i].key > m->by_key_b[k].key) {
			k += in_b;
			continue;
		}
		for (size_t n = 0; in_a == in_b && n < in_a; n++)
			pair_up(m, m->by_key_a[i + n].at, m->by_key_b[k + n].at, MATCH_EXACT, 1);
		i += in_a;
		k += in_b;
	}
}

/* ---- aligned ---- */

/* Pairs come first, then pairs of equal anchors. */
static uint64_t weight(const struct matcher *m, size_t a, size_t b)
{
	if (m->a[a].key != m->b[b].key)
		return 0;
	return ((uint64_t)1 << 32) +
	       (match_distance(m->a[a].anchors, m->b[b].anchors, m->n_anchors) == 0);
}

static uint64_t largest(uint64_t x, uint64_t y)
{
	return x > y ? x : y;
}

/* forward[i][k]: the best score of the first i and k of the stretch; backward: of what follows. */
static void fill_scores(struct matcher *m, size_t n, size_t o)
{
	size_t row = o + 1;

	for (size_t i = 0; i <= n; i++) {
		for (size_t k = 0; k <= o; k++) {
			uint64_t best = 0, w = 0;

			if (i)
				best = m->forward[(i - 1) * row + k];
			if (k)
				best = largest(best, m->forward[i * row + k - 1]);
			if (i && k)
				w = weight(m, m->left_a[i - 1], m->left_b[k - 1]);
			if (w)
				best = largest(best, m->forward[(i - 1) * row + k - 1] + w);
			m->forward[i * row + k] = best;
		}
	}
	for (size_t i = n + 1; i-- > 0;) {
		for (size_t k = o + 1; k-- > 0;) {
			uint64_t best = 0, w = 0;

			if (i < n)
				best = m->backward[(i + 1) * row + k];
			if (k < o)
				best = largest(best, m->backward[i * row + k + 1]);
			if (i < n && k < o)
				w = weight(m, m->left_a[i], m->left_b[k]);
			if (w)
				best = largest(best, m->backward[(i + 1) * row + k + 1] + w);
			m->backward[i * row + k] = best;
		}
	}
}

/* How many answers for left_b[k] are part of a best alignment: partners, and having none. */
static size_t count_answers(const struct matcher *m, size_t n, size_t o, size_t k)
{
	uint64_t best = m->forward[n * (o + 1) + o];
	size_t row = o + 1, answers = 0;
	bool alone = false;

	for (size_t i = 0; i <= n; i++) {
		alone = alone || m->forward[i * row + k] + m->backward[i * row + k + 1] == best;
		if (i < n) {
			uint64_t w = weight(m, m->left_a[i], m->left_b[k]);

			answers += w && m->forward[i * row + k] + w +
							m->backward[(i + 1) * row + k + 1] ==
						best;
		}
	}
	return answers + alone;
}

static void align_whole(struct matcher *m, size_t n, size_t o)
{
	size_t row = o + 1, i = 0, k = 0;

	fill_scores(m, n, o);
	while (i < n && k < o) {
		uint64_t w = weight(m, m->left_a[i], m->left_b[k]);
		uint64_t here = m->backward[i * row + k];

		if (w && m->backward[(i + 1) * row + k + 1] + w == here) {
			pair_up(m, m->left_a[i], m->left_b[k], MATCH_ALIGNED,
				1.0 / (double)count_answers(m, n, o, k));
			i++;
			k++;
		} else if (m->backward[(i + 1) * row + k] == here) {
			i++;
		} else {
			k++;
		}
	}
}

static size_t count_key(const struct place *sorted, size_t n, uint64_t key)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && sorted[low].key == key ? run_length(sorted, n, low) : 0;
}

/* Of a stretch that is too long: the most that can be said of any n-th with n-th. */
static double long_confidence(const struct matcher *m, uint64_t key)
{
	size_t in_a = count_key(m->by_key_a, m->n_a, key);
	size_t in_b = count_key(m->by_key_b, m->n_b, key);

	return 1.0 / (double)(1 + (in_a > in_b ? in_a - in_b : in_b - in_a));
}

/* Heads that are equal to their anchors are pairs of a best alignment, and so are tails; what is
 * between is aligned if it is short enough now, else paired n-th with n-th. */
static void align_long(struct matcher *m, size_t n, size_t o)
{
	const uint64_t most = ((uint64_t)1 << 32) + 1;
	size_t *all_a = m->left_a, *all_b = m->left_b;
	size_t head = 0, tail = 0;

	while (head < n && head < o && weight(m, all_a[head], all_b[head]) == most)
		head++;
	while (head + tail < n && head + tail < o &&
	       weight(m, all_a[n - 1 - tail], all_b[o - 1 - tail]) == most)
		tail++;
	for (size_t i = 0; i < head; i++)
		pair_up(m, all_a[i], all_b[i], MATCH_ALIGNED,
			long_confidence(m, m->a[all_a[i]].key));
	for (size_t i = 1; i <= tail; i++)
		pair_up(m, all_a[n - i], all_b[o - i], MATCH_ALIGNED,
			long_confidence(m, m->a[all_a[n - i]].key));
	m->left_a += head;
	m->left_b += head;
	n -= head + tail;
	o -= head + tail;
	if (n && o && n + 1 <= MATCH_CELLS_MAX / (o + 1)) {
		align_whole(m, n, o);
		for (size_t k = 0; k < o; k++) {
			struct match_pair *p = &m->of_b[m->left_b[k]];

			if (p->how)
				p->confidence = long_confidence(m, m->b[m->left_b[k]].key);
		}
	} else {
		for (size_t i = 0, k = 0; i < n && k < o;) { /* in step while keys agree */
			uint64_t key = m->a[m->left_a[i]].key;

			if (key == m->b[m->left_b[k]].key)
				pair_up(m, m->left_a[i++], m->left_b[k++], MATCH_ALIGNED,
					long_confidence(m, key));
			else if (n - i > o - k)
				i++;
			else
				k++;
		}
	}
	m->left_a = all_a;
	m->left_b = all_b;
}

static void align_stretch(struct matcher *m, size_t from_a, size_t to_a, size_t from_b, size_t to_b)
{
	size_t n = 0, o = 0;

	for (size_t i = from_a; i < to_a; i++) {
		if (m->of_a[i] == MATCH_ALONE)
			m->left_a[n++] = i;
	}
	for (size_t k = from_b; k < to_b; k++) {
		if (m->of_b[k].other == MATCH_ALONE)
			m->left_b[o++] = k;
	}
	if (!n || !o)
		return;
	if (n + 1 <= MATCH_CELLS_MAX / (o + 1))
		align_whole(m, n, o);
	else
		align_long(m, n, o);
}

/* The longest rising run of exact pairs is the backbone; stretches are what is between. Those that
 * cross it stay pairs and bound nothing. */
static int match_aligned(struct matcher *m, struct error *err)
{
	size_t *last = malloc((m->n_a + 1) * sizeof(*last)); /* [length - 1]: a that ends it */
	size_t *before = malloc((m->n_a + 1) * sizeof(*before));
	size_t n = 0, at, to_a = m->n_a, to_b = m->n_b;

	if (!last || !before) {
		free(last);
		free(before);
		return no_memory(err);
	}
	for (size_t i = 0; i < m->n_a; i++) {
		size_t low = 0, high = n;

		if (m->of_a[i] == MATCH_ALONE)
			continue;
		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (m->of_a[last[middle]] < m->of_a[i])
				low = middle + 1;
			else
				high = middle;
		}
		before[i] = low ? last[low - 1] : MATCH_ALONE;
		last[low] = i;
		n += low == n;
	}
	at = n ? last[n - 1] : MATCH_ALONE;
	for (;;) {
		bool bounded = at != MATCH_ALONE;
		size_t back = bounded ? m->of_a[at] : 0;

		align_stretch(m, bounded ? at + 1 : 0, to_a, bounded ? back + 1 : 0, to_b);
		if (!bounded)
			break;
		to_a = at;
		to_b = back;
		at = before[at];
	}
	free(last);
	free(before);
	return 0;
}

/* ---- nearest ---- */
static int compare_near(const void *x, const void *y)
{
	const struct near_pair *p = x, *q = y;

	if (p->distance < q->distance || p->distance > q->distance)
		return p->distance < q->distance ? -1 : 1;
	if (p->b != q->b)
		return p->b < q->b ? -1 : 1;
	return p->a < q->a ? -1 : p->a > q->a;
}

static int match_nearest(struct matcher *m, struct error *err)
{
	VEC(struct near_pair) pairs = {0};
	size_t *as_near = calloc(m->n_b + 1, sizeof(*as_near));
	size_t n = 0, o = 0;
	int rc = as_near ? 0 : no_memory(err);

	for (size_t i = 0; i < m->n_a; i++) {
		if (m->of_a[i] == MATCH_ALONE)
			m->left_a[n++] = i;
	}
	for (size_t k = 0; k < m->n_b; k++) {
		if (m->of_b[k].other == MATCH_ALONE)
			m->left_b[o++] = k;
	}
	/* With more than that left, the executions did other work: nothing is near. */
	if (!n || !o || n > MATCH_CELLS_MAX / o)
		n = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		for (size_t k = 0; !rc && k < o; k++) {
			const struct match_item *x = &m->a[m->left_a[i]], *y = &m->b[m->left_b[k]];
			struct near_pair p = {-1, m->left_a[i], m->left_b[k]};

			if (x->kernel == y->kernel)
				p.distance = match_distance(x->anchors, y->anchors, m->n_anchors);
			if (p.distance < 0 || p.distance > MATCH_NEAREST)
				continue;
			as_near[p.b]++;
			if (!vec_push(&pairs, p))
				rc = no_memory(err);
		}
	}
	if (!rc && pairs.n)
		qsort(pairs.items, pairs.n, sizeof(*pairs.items), compare_near);
	for (size_t i = 0; !rc && i < pairs.n; i++) {
		const struct near_pair *p = &pairs.items[i];

		if (m->of_a[p->a] == MATCH_ALONE && m->of_b[p->b].other == MATCH_ALONE)
			pair_up(m, p->a, p->b, MATCH_BY_ANCHOR, 0.5 / (double)as_near[p->b]);
	}
	vec_release(&pairs);
	free(as_near);
	return rc;
}

int match_sequences(const struct match_item *a, size_t n_a, const struct match_item *b, size_t n_b,
		    size_t n_anchors, struct match_pair *of_b, struct error *err)
{
	struct matcher m = {
		.a = a, .b = b, .n_a = n_a, .n_b = n_b, .n_anchors = n_anchors, .of_b = of_b};
	size_t alone = 0, alone_a = 0, cells;
	int rc = 0;

	for (size_t k = 0; k < n_b; k++)
		of_b[k] = (struct match_pair){.other = MATCH_ALONE};
	m.of_a = malloc((n_a + 1) * sizeof(*m.of_a));
	m.by_key_a = sort_places(a, n_a);
	m.by_key_b = sort_places(b, n_b);
	if (!m.of_a || !m.by_key_a || !m.by_key_b)
		rc = no_memory(err);
	for (size_t i = 0; !rc && i < n_a; i++)
		m.of_a[i] = MATCH_ALONE;
	if (!rc)
		match_exact(&m);
	for (size_t k = 0; k < n_b; k++)
		alone += of_b[k].other == MATCH_ALONE;
	for (size_t i = 0; !rc && i < n_a; i++)
		alone_a += m.of_a[i] == MATCH_ALONE;
	cells = alone_a + 1 <= MATCH_CELLS_MAX / (alone + 1) ? (alone_a + 1) * (alone + 1)
							     : MATCH_CELLS_MAX;
	if (!rc && alone) {
		m.left_a = malloc((n_a + 1) * sizeof(*m.left_a));
		m.left_b = malloc((n_b + 1) * sizeof(*m.left_b));
		m.forward = malloc(cells * sizeof(*m.forward));
		m.backward = malloc(cells * sizeof(*m.backward));
		if (!m.left_a || !m.left_b || !m.forward || !m.backward)
			rc = no_memory(err);
		if (!rc)
			rc = match_aligned(&m, err);
		if (!rc)
			rc = match_nearest(&m, err);
	}
	free(m.of_a);
	free(m.by_key_a);
	free(m.by_key_b);
	free(m.left_a);
	free(m.left_b);
	free(m.forward);
	free(m.backward);
	return rc;
}
