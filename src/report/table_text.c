/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned text. Widths count characters, not bytes; what moves the cursor was replaced before. */
#include "config.h"

#include "report/table_text.h"

#include <stdlib.h>
#include <string.h>
#if HAVE_SMARTCOLS
#include <libsmartcols.h>
#endif

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void trim_line(struct str *out)
{
	while (out->size && out->text[out->size - 1] == ' ')
		out->text[--out->size] = '\0';
}

static void add_line(const struct grid *g, const size_t *width, const char *const *cells,
		     struct str *out)
{
	for (size_t c = 0; c < g->n_columns; c++) {
		size_t pad = width[c] - characters(cells[c]);

		if (c)
			str_add(out, "  ");
		for (size_t i = 0; g->right[c] && i < pad; i++)
			str_add_char(out, ' ');
		str_add(out, cells[c]);
		for (size_t i = 0; !g->right[c] && i < pad; i++)
			str_add_char(out, ' ');
	}
	if (!out->failed)
		trim_line(out);
	str_add_char(out, '\n');
}

void grid_print_plain(const struct grid *g, struct str *out)
{
	size_t *width = calloc(g->n_columns ? g->n_columns : 1, sizeof(*width));

	if (!width) {
		out->failed = true;
		return;
	}
	for (size_t c = 0; c < g->n_columns; c++) {
		width[c] = characters(g->headers[c]);
		for (size_t r = 0; r < g->n_rows; r++) {
			size_t n = characters(g->cells[r * g->n_columns + c]);

			if (n > width[c])
				width[c] = n;
		}
	}
	add_line(g, width, g->headers, out);
	for (size_t r = 0; r < g->n_rows; r++)
		add_line(g, width, &g->cells[r * g->n_columns], out);
	free(width);
}

#if HAVE_SMARTCOLS
static bool fill(struct libscols_table *tb, const struct grid *g)
{
	for (size_t c = 0; c < g->n_columns; c++) {
		if (!scols_table_new_column(tb, g->headers[c], 0, g->right[c] ? SCOLS_FL_RIGHT : 0))
			return false;
	}
	for (size_t r = 0; r < g->n_rows; r++) {
		struct libscols_line *line = scols_table_new_line(tb, NULL);

		for (size_t c = 0; line && c < g->n_columns; c++) {
			if (scols_line_set_data(line, c, g->cells[r * g->n_columns + c]) != 0)
				return false;
		}
		if (!line)
			return false;
	}
	return true;
}

/* libsmartcols escapes what the locale cannot print; a report is the same in every locale. */
static bool is_ascii(const struct grid *g)
{
	for (size_t i = 0; i < g->n_rows * g->n_columns; i++) {
		for (const char *c = g->cells[i]; *c; c++) {
			if ((unsigned char)*c >= 0x80)
				return false;
		}
	}
	return true;
}

bool grid_print_smartcols(const struct grid *g, struct str *out)
{
	struct libscols_table *tb = g->n_rows && is_ascii(g) ? scols_new_table() : NULL;
	char *text = NULL;
	bool good = false;

	if (!tb)
		return false;
	scols_table_set_column_separator(tb, "  ");
	scols_table_enable_nowrap(tb, 1);
	scols_table_set_termforce(tb, SCOLS_TERMFORCE_NEVER);
	if (fill(tb, g) && scols_print_table_to_string(tb, &text) == 0 && text) {
		for (char *line = text, *end; *line; line = *end ? end + 1 : end) {
			end = line + strcspn(line, "\n");
			str_add_bytes(out, line, (size_t)(end - line));
			if (!out->failed)
				trim_line(out);
			str_add_char(out, '\n');
		}
		good = true;
	}
	free(text);
	scols_unref_table(tb);
	return good;
}
#else
bool grid_print_smartcols(const struct grid *g, struct str *out)
{
	(void)g;
	(void)out;
	return false;
}
#endif
