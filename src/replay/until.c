/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a kernel is known well enough (--until): mean and spread of every counter, for what is alike
 * in kernel, grid and block and for each pass apart. A pass is known once half the 95 % interval of
 * each of its counters is small enough against its mean; dispatches then take the other passes, and
 * none when all are known.
 *
 * Ending when the numbers look good favours numbers that look good by chance. Against that stand a
 * least number of dispatches, looks that become rarer as numbers grow (30, 45, 68, ...), and that
 * two looks in a row have to be good. What was seen in none of the dispatches counted so far
 * remains unknown.
 */
#include "replay/engine.h"

#include <stdlib.h>
#include <string.h>

#define LEAST      30   /* dispatches of one kind and pass, for the first look */
#define GOOD_LOOKS 2    /* in a row */
#define KINDS_MAX  4096 /* of one device; those that come later are always counted */

static uint32_t counters_of(const struct replay_device *d, uint32_t at)
{
	return plan_counted(d->replay->plan, d->whole.items[at], NULL)->n_counters;
}

static struct kind *kind_new(struct replay_device *d, struct kernel *k, const uint32_t grid[3],
			     const uint32_t block[3])
{
	size_t n_counters = 0, most = 0;
	struct kind *kind;

	if (d->n_kinds >= KINDS_MAX)
		return NULL;
	for (uint32_t i = 0; i < d->whole.n; i++) {
		n_counters += counters_of(d, i);
		most = counters_of(d, i) > most ? counters_of(d, i) : most;
	}
	if (!vec_reserve(&d->unit_sums, most))
		return NULL;
	kind = calloc(1, sizeof(*kind) + d->whole.n * sizeof(*kind->passes) +
				 n_counters * sizeof(*kind->moments));
	if (!kind)
		return NULL;
	kind->passes = (struct kind_pass *)(kind + 1);
	kind->moments = (struct moments *)(kind->passes + d->whole.n);
	for (uint32_t i = 0; i < d->whole.n; i++)
		kind->passes[i].look = LEAST;
	memcpy(kind->grid, grid, sizeof(kind->grid));
	memcpy(kind->block, block, sizeof(kind->block));
	kind->open = (uint32_t)d->whole.n;
	kind->next = k->kinds;
	k->kinds = kind;
	d->n_kinds++;
	return kind;
}

/* The one that came last is in front. NULL: not followed. */
static struct kind *kind_of(struct replay_device *d, struct kernel *k, const uint32_t grid[3],
			    const uint32_t block[3])
{
	for (struct kind **at = &k->kinds; *at; at = &(*at)->next) {
		struct kind *kind = *at;

		if (memcmp(kind->grid, grid, sizeof(kind->grid)) != 0 ||
		    memcmp(kind->block, block, sizeof(kind->block)) != 0)
			continue;
		*at = kind->next;
		kind->next = k->kinds;
		k->kinds = kind;
		return kind;
	}
	return kind_new(d, k, grid, block);
}

bool until_known(struct replay_device *d, const struct runtime_op *op, struct kernel *k)
{
	struct kind *kind;

	if (!d->replay->options.until || !d->whole.n)
		return false;
	kind = kind_of(d, k, op->grid, op->block);
	if (!kind || kind->open)
		return false;
	record_left(d, kind);
	return true;
}

uint32_t until_next(struct replay_device *d, const struct runtime_op *op, struct kernel *k,
		    uint32_t at)
{
	struct kind *kind = d->replay->options.until ? kind_of(d, k, op->grid, op->block) : NULL;

	while (kind && kind->open && kind->passes[at].known)
		at = (at + 1) % (uint32_t)d->whole.n;
	return at;
}

/* ---- what was counted ---- */

/* Student's t for 95 % and n samples, by its expansion around the normal distribution: right to 4
 * digits from LEAST on, and without a mathematical library in the program. */
static double quantile(uint64_t n)
{
	const double z = 1.959963985, f = (double)(n - 1);

	return z + (z * z * z + z) / (4 * f) +
	       (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * f * f);
}

bool until_is_near(const struct moments *m, double precision)
{
	double t = quantile(m->n), bound = precision * m->mean;

	if (m->n < LEAST)
		return false;
	return t * t * moments_variance(m) / (double)m->n <= bound * bound;
}

/* A counter that never had a value keeps nobody waiting. */
static bool pass_is_known(const struct replay_device *d, const struct plan_pass *p,
			  const struct moments *moments)
{
	const struct replay *r = d->replay;

	for (uint32_t i = 0; i < p->n_counters; i++) {
		double precision = r->options.until / 1e6;

		if (r->divided[p->counters[i]])
			precision /= 2;
		if (moments[i].n && !until_is_near(&moments[i], precision))
			return false;
	}
	return true;
}

static uint32_t position_of(const struct plan_pass *p, uint32_t counter, uint32_t guess)
{
	if (guess < p->n_counters && p->counters[guess] == counter)
		return guess;
	for (guess = 0; guess < p->n_counters && p->counters[guess] != counter;)
		guess++;
	return guess;
}

/* The instances of a counter are added up; one without a value leaves the sum without one. */
static void add_unit(struct replay_device *d, const struct plan_pass *p, struct moments *moments,
		     const struct spool_sample *samples, uint32_t n)
{
	struct unit_sum *sums = d->unit_sums.items;
	uint32_t at = 0;

	memset(sums, 0, p->n_counters * sizeof(*sums));
	for (uint32_t i = 0; i < n; i++) {
		const struct spool_sample *s = &samples[i];

		at = position_of(p, s->counter, at);
		if (at == p->n_counters)
			continue;
		sums[at].any = true;
		sums[at].bad |= s->status != SAMPLE_OK;
		sums[at].sum += s->kind == SAMPLE_F64 ? s->value.f64 : (double)s->value.u64;
	}
	for (uint32_t i = 0; i < p->n_counters; i++)
		if (sums[i].any && !sums[i].bad)
			moments_add(&moments[i], sums[i].sum);
}

void until_take(struct replay_device *d, const struct window_op *op, uint32_t pass,
		const struct spool_sample *samples, uint32_t n)
{
	const struct plan_pass *p = plan_counted(d->replay->plan, pass, NULL);
	struct moments *moments;
	struct kind_pass *own;
	struct kind *kind;
	uint32_t at = 0;

	if (!d->replay->options.until || d->mode != REPLAY_MODE_NONE)
		return;
	kind = kind_of(d, op->kernel, op->grid, op->block);
	if (!kind || !kind->open)
		return;
	moments = kind->moments;
	for (; at < d->whole.n && d->whole.items[at] != pass; at++)
		moments += counters_of(d, at);
	if (at == d->whole.n)
		return;
	own = &kind->passes[at];
	own->n++;
	kind->counted++;
	add_unit(d, p, moments, samples, n);
	if (own->known || own->n < own->look)
		return;
	own->look += (own->look + 1) / 2;
	own->good = pass_is_known(d, p, moments) ? own->good + 1 : 0;
	own->known = own->good >= GOOD_LOOKS;
	kind->open -= own->known;
}

/* Of a ratio of two counts the error may be that of both together. */
int until_open(struct replay *r, struct error *err)
{
	const struct plan *plan = r->plan;

	if (!r->options.until)
		return 0;
	r->divided = calloc(plan->n_counters + 1, sizeof(*r->divided));
	if (!r->divided)
		return error_set(err, RC_NO_MEMORY, "out of memory for the replay engine");
	for (uint32_t m = 0; m < plan->n_metrics; m++)
		for (uint32_t i = 0; i < plan->metrics[m].n_counters; i++)
			r->divided[plan->metrics[m].counters[i]] |= plan->metrics[m].n_counters > 1;
	return 0;
}

void until_release(struct kernel *k)
{
	struct kind *kind = k->kinds, *next;

	for (; kind; kind = next) {
		next = kind->next;
		free(kind);
	}
	k->kinds = NULL;
}
