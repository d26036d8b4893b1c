/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From samples to a statement about everything: the mean over a finite population that is divided
 * into strata (kernel and grid: what is alike), of which some of each was measured. The interval is
 * that of stratified sampling with the finite-population correction and Student's t, with the
 * degrees of freedom of Satterthwaite. Strata with a single sample are taken together for their
 * variance (collapsed strata), which makes the interval rather too wide than too narrow.
 *
 * Nothing is filled in: strata without a sample stay out of the value and are told as missing, and
 * where no interval can be given there is none, with the reason. Pure; no allocation.
 */
#ifndef RETALLY_MODEL_ESTIMATE_H
#define RETALLY_MODEL_ESTIMATE_H

#include "base/moments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stratum {
	uint64_t population; /* at least sample.n; else that is taken */
	struct moments sample;
};
struct estimate {
	bool present;      /* any sample at all */
	bool has_interval; /* else why says the reason */
	double value;      /* mean over the population of the strata with samples */
	double error;      /* its standard error; 0 when everything was measured */
	double low, high;
	double freedom; /* degrees of freedom; 0 when everything was measured */
	uint64_t n, population;
	uint64_t missing; /* of the population, in strata without a sample */
	const char *why;  /* static; "" with an interval */
};
/* confidence: 0.95. */
void estimate_mean(const struct stratum *strata, size_t n, double confidence, struct estimate *out);

/* The two-sided quantile of Student's t: 1.96 for 0.95 and many degrees of freedom. */
double student_quantile(double confidence, double freedom);

#endif
