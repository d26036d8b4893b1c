/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The known name nearest to a mistyped one, for "did you mean". Offer every candidate, then ask;
 * ties go to the first one offered, so the answer depends on the order of definition alone. No
 * allocation.
 */
#ifndef RETALLY_MODEL_NEAREST_H
#define RETALLY_MODEL_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

struct nearest {
	const char *wanted;
	const char *best; /* NULL: nothing is near */
	size_t distance;
	bool contains; /* best only contains the wanted text */
};

void nearest_init(struct nearest *n, const char *wanted);
void nearest_offer(struct nearest *n, const char *candidate);
/* "; did you mean 'X'?" or "", into text_out; returns text_out. */
const char *nearest_hint(const struct nearest *n, char *text_out, size_t size);

#endif
