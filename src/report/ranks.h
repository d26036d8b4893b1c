/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a collection. Where passes were dealt over the ranks, a counter was measured by some
 * of them only, and a sum over those is no sum over the job: values carry the set of their ranks,
 * and the report marks those that not all ranks stand behind.
 */
#ifndef RETALLY_REPORT_RANKS_H
#define RETALLY_REPORT_RANKS_H

#include "base/vec.h"
#include "store/store.h"

#include <stdint.h>

struct ranks {
	VEC(int32_t) known; /* ascending: those that ran a pass */
	size_t size;        /* of the job, or as many as are known; 0: nobody knows a rank */
};
int ranks_init(struct ranks *r, const struct store *s, struct error *err);
/* Bit of a rank in a set of ranks_words words; SIZE_MAX: unknown. */
size_t ranks_index(const struct ranks *r, int32_t rank);
size_t ranks_words(const struct ranks *r);
/* Appends "0, 2, 4-7" and returns how many these are. */
uint32_t ranks_list(const struct ranks *r, const uint64_t *set, struct str *out);
void ranks_release(struct ranks *r);

/* How many processes ran each pass, which passes nobody ran, and what would close the gap; each
 * sentence ends a line. Nothing when a single process ran all there is. */
void coverage_of_store(const struct store *s, struct str *out);

#endif
