/* SPDX-License-Identifier: Apache-2.0 */
/* Tables by columns: see table_arrays.h. */
#include "report/table_arrays.h"

#include <stdlib.h>
#include <string.h>

bool table_arrays_init(struct table_arrays *a, size_t n)
{
	*a = (struct table_arrays){.columns = calloc(n, sizeof(*a->columns)), .n = n};
	return a->columns;
}

void table_arrays_release(struct table_arrays *a)
{
	for (size_t c = 0; c < a->n; c++)
		str_release(&a->columns[c].cells);
	free(a->columns);
	str_release(&a->cell);
	map_release(&a->index);
	vec_release(&a->different);
	arena_release(&a->arena);
	*a = (struct table_arrays){0};
}

/* Puts what is in a->cell behind the cells that the column has. */
static void add(struct table_arrays *a, size_t column)
{
	struct array_column *c = &a->columns[column];

	str_add_char(&a->cell, ',');
	if (!a->rows) {
		c->first = a->cell.size;
	} else if (!c->varies && c->first == a->cell.size && !a->cell.failed &&
		   !memcmp(c->cells.text, a->cell.text, c->first)) {
		str_clear(&a->cell);
		return;
	} else if (!c->varies) {
		char *first = c->cells.failed ? NULL : strndup(c->cells.text, c->first);

		for (size_t i = 1; first && i < a->rows; i++)
			str_add_bytes(&c->cells, first, c->first);
		a->failed = a->failed || !first;
		free(first);
		c->varies = true;
	}
	str_add_bytes(&c->cells, a->cell.text ? a->cell.text : "", a->cell.size);
	a->failed = a->failed || a->cell.failed || c->cells.failed;
	str_clear(&a->cell);
}

/* The number of a string among the different ones. */
static size_t index_of(struct table_arrays *a, const char *text)
{
	const char *kept;
	size_t i = a->different.n;

	if (map_get(&a->index, text, &i))
		return i;
	kept = arena_strdup(&a->arena, text);
	if (!kept || !vec_push(&a->different, kept) || !map_set(&a->index, kept, i))
		a->failed = true;
	return i;
}

void table_arrays_string(struct table_arrays *a, size_t column, const char *text)
{
	struct json_writer w;

	json_writer_init(&w, &a->cell, true);
	if (text)
		json_uint(&w, index_of(a, text));
	else
		json_null(&w);
	add(a, column);
}

void table_arrays_number(struct table_arrays *a, size_t column, struct number n)
{
	struct json_writer w;

	json_writer_init(&w, &a->cell, true);
	if (n.is_f64)
		json_double(&w, n.f64);
	else
		json_uint(&w, n.u64);
	add(a, column);
}

void table_arrays_bool(struct table_arrays *a, size_t column, bool v)
{
	struct json_writer w;

	json_writer_init(&w, &a->cell, true);
	json_bool(&w, v);
	add(a, column);
}

void table_arrays_end_row(struct table_arrays *a)
{
	a->rows++;
}

void table_arrays_write(struct table_arrays *a, size_t column, struct json_writer *w)
{
	struct array_column *c = &a->columns[column];
	const char *text = str_text(&c->cells);

	if (a->failed)
		return;
	if (c->varies) {
		json_key(w, "cells");
		json_begin_array(w);
		json_text(w, text, c->cells.size - 1);
		json_end_array(w);
	} else {
		json_key(w, "all");
		json_text(w, a->rows ? text : "null,", (a->rows ? c->first : 5) - 1);
	}
	str_release(&c->cells);
}

void table_arrays_write_end(struct table_arrays *a, struct json_writer *w)
{
	json_key(w, "n");
	json_uint(w, a->rows);
	json_key(w, "strings");
	json_begin_array(w);
	vec_for_each (&a->different, text)
		json_string(w, *text);
	json_end_array(w);
}
