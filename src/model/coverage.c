/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage of passes by processes. */
#include "model/coverage.h"

#include <math.h>

#define COVERAGE_CONFIDENCE 0.95

uint32_t coverage_missing(const uint32_t *samples, uint32_t n_passes)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < n_passes; i++)
		missing += !samples[i];
	return missing;
}

double coverage_expected_draws(uint32_t n_passes, uint32_t missing)
{
	double sum = 0;

	for (uint32_t k = 1; k <= missing; k++)
		sum += (double)n_passes / k;
	return sum;
}

double coverage_draws_for(uint32_t n_passes, uint32_t missing, double p)
{
	if (!missing)
		return 0;
	if (n_passes == 1)
		return 1;
	/* missing * (1 - 1/P)^draws <= 1 - p */
	return ceil(log(missing / (1 - p)) / -log1p(-1.0 / n_passes));
}

/* "1-3, 5" of the passes for which samples is `count`. */
static void coverage_ranges(const uint32_t *samples, uint32_t n_passes, uint32_t count,
			    struct str *out)
{
	const char *comma = "";

	for (uint32_t i = 0; i < n_passes; i++) {
		uint32_t last = i;

		if (samples[i] != count)
			continue;
		while (last + 1 < n_passes && samples[last + 1] == count)
			last++;
		if (last == i)
			str_addf(out, "%s%u", comma, i + 1);
		else
			str_addf(out, "%s%u-%u", comma, i + 1, last + 1);
		comma = ", ";
		i = last;
	}
}

void coverage_describe(const uint32_t *samples, uint32_t n_passes, bool random, struct str *out)
{
	uint32_t missing = coverage_missing(samples, n_passes), most = 0;
	const char *separator = "";

	for (uint32_t i = 0; i < n_passes; i++)
		most = samples[i] > most ? samples[i] : most;
	if (most)
		str_addf(out, "samples of the %u passes: ", n_passes);
	for (uint32_t next, count = most; count; count = next) {
		str_addf(out, "%s%u of pass ", separator, count);
		coverage_ranges(samples, n_passes, count, out);
		separator = "; ";
		next = 0;
		for (uint32_t i = 0; i < n_passes; i++)
			if (samples[i] < count && samples[i] > next)
				next = samples[i];
	}
	if (most)
		str_add(out, "\n");
	if (!missing)
		return;
	str_addf(out, "missing: pass ");
	coverage_ranges(samples, n_passes, 0, out);
	if (random)
		str_addf(out,
			 "; about %.0f more random processes would collect %s (%.0f with 95 %% "
			 "certainty)\n",
			 ceil(coverage_expected_draws(n_passes, missing)),
			 missing == 1 ? "it" : "them",
			 coverage_draws_for(n_passes, missing, COVERAGE_CONFIDENCE));
	else
		str_addf(out,
			 "; %u more %s, with --pass, would collect %s, or one launch of %u ranks "
			 "with --distribute rank\n",
			 missing, missing == 1 ? "process" : "processes",
			 missing == 1 ? "it" : "them", n_passes);
}
