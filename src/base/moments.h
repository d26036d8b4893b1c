/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mean and spread of numbers that come one by one (Welford): on both sides of a run, so inline and
 * without a library.
 */
#ifndef RETALLY_BASE_MOMENTS_H
#define RETALLY_BASE_MOMENTS_H

#include <stdint.h>

struct moments { /* zero-initialise */
	uint64_t n;
	double mean, squares; /* squares: of the differences from the mean, summed */
};

static inline void moments_add(struct moments *m, double x)
{
	double d = x - m->mean;

	m->n++;
	m->mean += d / (double)m->n;
	m->squares += d * (x - m->mean);
}

/* Of a sample: n - 1; 0 below two. */
static inline double moments_variance(const struct moments *m)
{
	return m->n > 1 ? m->squares / (double)(m->n - 1) : 0;
}

#endif
