/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which dispatch of one execution is which of another: two sequences of keys, matched in three
 * steps. Each pair carries how it was found and how sure that is.
 *
 *  exact    A key (kernel, grid, block, device) that both have equally often: n-th with n-th.
 *           Confidence 1.
 *  aligned  What is left between those, aligned: the most pairs of equal keys that do not cross;
 *           among these alignments the one with the most pairs of equal anchors. Confidence 1/k
 *           when k answers (partners, or none) are as good for this one. Where the stretch is too
 *           long for that (MATCH_CELLS_MAX), k is the difference in number of this key, plus 1.
 *  nearest  What is left of the same kernel and device, whatever its grid: the nearest anchors, at
 *           most MATCH_NEAREST apart. Confidence 1/2k with k partners so near.
 *
 * Nothing is matched across these rules: what has no partner stays alone. The same input gives the
 * same pairs. Pure; no I/O.
 */
#ifndef RETALLY_MODEL_MATCH_H
#define RETALLY_MODEL_MATCH_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define MATCH_NEAREST   0.1 /* relative distance of anchors */
#define MATCH_CELLS_MAX (1u << 21)
#define MATCH_ALONE     SIZE_MAX

enum match_how {
	MATCH_NONE = 0,
	MATCH_EXACT = 1,
	MATCH_ALIGNED = 2,
	MATCH_BY_ANCHOR = 3
};
struct match_item {
	uint64_t key;          /* equal exactly when kernel, grid, block and device are */
	uint64_t kernel;       /* equal exactly when kernel and device are */
	const double *anchors; /* NaN where not counted; NULL: none */
};
struct match_pair {
	size_t other; /* in a; MATCH_ALONE */
	enum match_how how;
	double confidence; /* 0 when alone */
};

/* Fills of_b[n_b]. Fails only with RC_NO_MEMORY. */
int match_sequences(const struct match_item *a, size_t n_a, const struct match_item *b, size_t n_b,
		    size_t n_anchors, struct match_pair *of_b, struct error *err);
/* The largest relative difference of anchors that both have; negative when they share none. */
double match_distance(const double *a, const double *b, size_t n_anchors);
/* "exact", "aligned", "nearest", "not matched". */
const char *match_how_name(enum match_how how);

#endif
