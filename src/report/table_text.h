/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned text from a grid of cells, in two makes with the same result: our own and libsmartcols'.
 */
#ifndef RETALLY_REPORT_TABLE_TEXT_H
#define RETALLY_REPORT_TABLE_TEXT_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct grid {
	size_t n_columns, n_rows;
	const char *const *headers;
	const bool *right;        /* [column] */
	const char *const *cells; /* [row * n_columns + column], never NULL */
};
/* Two spaces between columns, no blanks at the end of a line. */
void grid_print_plain(const struct grid *g, struct str *out);
/* False when libsmartcols is not there, failed, or would not print the cells the same in every
 * locale: nothing was added then. */
bool grid_print_smartcols(const struct grid *g, struct str *out);

#endif
