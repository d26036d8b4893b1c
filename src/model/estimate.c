/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates of stratified samples, and the distribution they need. */
#include "model/estimate.h"

#include <math.h>

/* ---- Student's t ---- */

/* Regularised incomplete beta function, by its continued fraction (Lentz). */
static double beta_part(double a, double b, double x)
{
	int sign;
	double front, f = 1, c = 1, d = 0;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	if (x > (a + 1) / (a + b + 2))
		return 1 - beta_part(b, a, 1 - x);
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
		    b * log1p(-x)) /
		a;
	for (int i = 0; i <= 400; i++) {
		double m = (double)(i / 2), term, change;

		if (!i)
			term = 1;
		else if (i % 2)
			term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		else
			term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 + term * d;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		c = 1 + term / c;
		c = fabs(c) < 1e-300 ? 1e-300 : c;
		change = c * d;
		f *= change;
		if (fabs(change - 1) < 1e-14)
			break;
	}
	return front * (f - 1);
}

/* Share of the distribution within -t and t. */
static double student_within(double t, double freedom)
{
	return 1 - beta_part(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_quantile(double confidence, double freedom)
{
	double low = 0, high = 1;

	if (!(confidence > 0 && confidence < 1) || !(freedom > 0))
		return (double)NAN;
	while (high < 1e12 && student_within(high, freedom) < confidence)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = (low + high) / 2;

		if (student_within(middle, freedom) < confidence)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* ---- strata ---- */
static double population_of(const struct stratum *s)
{
	return (double)(s->population > s->sample.n ? s->population : s->sample.n);
}

static bool is_whole(const struct stratum *s)
{
	return s->population <= s->sample.n;
}

void estimate_mean(const struct stratum *strata, size_t n, double confidence, struct estimate *out)
{
	struct moments singles = {0};
	double covered = 0, variance = 0, terms = 0, t;

	*out = (struct estimate){.why = ""};
	for (size_t i = 0; i < n; i++) {
		const struct stratum *s = &strata[i];

		out->n += s->sample.n;
		out->population += (uint64_t)population_of(s);
		if (!s->sample.n) {
			out->missing += s->population;
			continue;
		}
		covered += population_of(s);
		if (s->sample.n == 1 && !is_whole(s))
			moments_add(&singles, s->sample.mean);
	}
	if (!out->n) {
		out->why = "no sample";
		return;
	}
	out->present = true;
	for (size_t i = 0; i < n; i++) {
		const struct stratum *s = &strata[i];
		double share = population_of(s) / covered, part, freedom;

		if (!s->sample.n)
			continue;
		out->value += share * s->sample.mean;
		if (is_whole(s))
			continue;
		part = s->sample.n > 1 ? moments_variance(&s->sample) : moments_variance(&singles);
		freedom = (double)(s->sample.n > 1 ? s->sample.n - 1 : 1);
		part *= share * share * (1 - (double)s->sample.n / population_of(s)) /
			(double)s->sample.n;
		variance += part;
		terms += part * part / freedom;
	}
	if (singles.n == 1) {
		out->why = "a single sample of its kind, which says nothing of the others";
		return;
	}
	out->has_interval = true;
	out->error = sqrt(variance);
	out->low = out->high = out->value;
	if (variance > 0) {
		out->freedom = variance * variance / terms;
		t = student_quantile(confidence, out->freedom);
		out->low -= t * out->error;
		out->high += t * out->error;
	}
}
