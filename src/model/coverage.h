/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a distributed collection has and lacks: how many processes ran each pass, which passes
 * nobody ran, and how many more processes would probably close the gap.
 */
#ifndef RETALLY_MODEL_COVERAGE_H
#define RETALLY_MODEL_COVERAGE_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Passes with no sample. */
uint32_t coverage_missing(const uint32_t *samples, uint32_t n_passes);
/* Expected number of further random draws until each of `missing` passes of n_passes came up: the
 * coupon collector's sum of n_passes / k for k from 1 to missing. */
double coverage_expected_draws(uint32_t n_passes, uint32_t missing);
/* Draws after which all of them came up with this probability (0 < p < 1), by the union bound, so
 * never fewer than needed. */
double coverage_draws_for(uint32_t n_passes, uint32_t missing, double p);
/* Sentences, each ended by a newline: "passes 1-3: 2 samples each, 4: 1 sample, missing: 5" and
 * what would close the gap. `samples` counts, per pass, the processes that ran it to its end. */
void coverage_describe(const uint32_t *samples, uint32_t n_passes, bool random, struct str *out);

#endif
