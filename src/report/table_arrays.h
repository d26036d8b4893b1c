/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table column by column, as the page has it: a column whose cells are all the same is one value,
 * which most of a dispatch's are, and the numbers of the others stand in one array. That is half of
 * the text of rows, and a browser makes no object for each row. All of it is in memory until it is
 * written: about 10 bytes a cell that differs. Used by table.c only.
 */
#ifndef RETALLY_REPORT_TABLE_ARRAYS_H
#define RETALLY_REPORT_TABLE_ARRAYS_H

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vec.h"
#include "report/scale.h"

struct array_column {
	struct str cells; /* JSON, a comma behind each; while all are the same: the first */
	size_t first;     /* bytes of the first one */
	bool varies;
};
struct table_arrays {
	struct array_column *columns;
	size_t n, rows;
	struct str cell;    /* being written */
	struct arena arena; /* the different strings, and their index */
	struct map index;
	VEC(const char *) different;
	bool failed; /* out of memory */
};

bool table_arrays_init(struct table_arrays *a, size_t n);
void table_arrays_release(struct table_arrays *a);
/* The cell of a column in the row being made; NULL text is a cell without a value. */
void table_arrays_string(struct table_arrays *a, size_t column, const char *text);
void table_arrays_number(struct table_arrays *a, size_t column, struct number n);
void table_arrays_bool(struct table_arrays *a, size_t column, bool v);
void table_arrays_end_row(struct table_arrays *a);
/* As the members "all" or "cells" of an object; then the column is empty. */
void table_arrays_write(struct table_arrays *a, size_t column, struct json_writer *w);
/* The members "n" and "strings". */
void table_arrays_write_end(struct table_arrays *a, struct json_writer *w);

#endif
