/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance between names: insertions, deletions, replacements and swaps; case counts for
 * little. */
#include "model/nearest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_COMPARED 96
#define STEP              4 /* one edit; a difference in case alone is 1 */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][NAME_MAX_COMPARED + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= nb; j++)
		above[j] = before[j] = j * STEP;
	for (size_t i = 1; i <= na; i++) {
		row[0] = i * STEP;
		for (size_t j = 1; j <= nb; j++) {
			size_t replace = a[i - 1] == b[j - 1]                 ? 0
					 : lower(a[i - 1]) == lower(b[j - 1]) ? 1
									      : STEP;

			row[j] = least(above[j - 1] + replace, least(above[j], row[j - 1]) + STEP);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				row[j] = least(row[j], before[j - 2] + STEP);
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[nb];
}

void nearest_init(struct nearest *n, const char *wanted)
{
	*n = (struct nearest){.wanted = wanted};
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t na = strlen(n->wanted), nb = strlen(candidate), d;

	if (!na || na > NAME_MAX_COMPARED || nb > NAME_MAX_COMPARED)
		return;
	d = distance(n->wanted, na, candidate, nb);
	/* a third of the letters may be wrong, at least one and in short names no more */
	if (d <= STEP * (na < 3 ? 1 : 1 + na / 3) && d < STEP * na) {
		if (!n->best || n->contains || d < n->distance) {
			n->best = candidate;
			n->distance = d;
			n->contains = false;
		}
	} else if (!n->best && na >= 3 && strcasestr(candidate, n->wanted)) {
		n->best = candidate;
		n->contains = true;
	}
}

const char *nearest_hint(const struct nearest *n, char *text_out, size_t size)
{
	if (n->best)
		snprintf(text_out, size, "; did you mean '%s'?", n->best);
	else
		text_out[0] = '\0';
	return text_out;
}
