/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One description of a table for people and programs: columns with stable ids, rows of typed cells.
 * As text it is aligned, with prefixes on numbers; as CSV (RFC 4180) it has one header line with
 * the ids, base units and a point in every locale; as JSON it is an array of objects. A cell
 * without a value is '-' in text, empty in CSV and null in JSON. Arrays are JSON for programs of
 * our own (the HTML page): columns {"id", "header", "unit", "type"} with an array "cells", or "all"
 * where all cells are the same; then "n", the number of rows, and "strings", into which the cells
 * of string columns are indices.
 *
 * CSV and JSON rows are written as they come; text and arrays wait for the end.
 */
#ifndef RETALLY_REPORT_TABLE_H
#define RETALLY_REPORT_TABLE_H

#include "base/error.h"
#include "base/json.h"
#include "report/scale.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_SCHEMA_VERSION 1

enum table_format {
	TABLE_TEXT,
	TABLE_CSV,
	TABLE_JSON,
	TABLE_ARRAYS
};
enum table_type {
	TABLE_STRING,
	TABLE_NUMBER,
	TABLE_BOOL
};
enum table_flag {
	TABLE_RIGHT = 1 << 0,  /* align; numbers always do */
	TABLE_SCALED = 1 << 1, /* a number in the unit of the row's TABLE_UNIT cell */
	TABLE_UNIT = 1 << 2, /* the row's unit; in text with the prefix of the first scaled cell */
	TABLE_ONLY_DATA = 1 << 3,  /* not in text */
	TABLE_ONLY_TEXT = 1 << 4,  /* not in CSV and JSON */
	TABLE_HIDE_EMPTY = 1 << 5, /* left out of the text when no row has it */
};
struct table_column {
	const char *id;     /* of CSV and JSON; never changes */
	const char *header; /* of text; NULL: the id */
	const char *unit;   /* of a number without TABLE_SCALED, or NULL */
	enum table_type type;
	unsigned flags; /* enum table_flag */
};
struct table_options {
	enum table_format format;
	bool base_units; /* no prefixes in text */
	FILE *out;
	/* TABLE_JSON: writes an array as the next value there, whose text goes to `out` and is
	 * cleared whenever it grows. NULL: a document {"version": 1, "rows": [...]}. TABLE_ARRAYS
	 * needs one, and writes an object. */
	struct json_writer *json;
	const char *indent; /* in front of every line of text, or NULL */
};
struct table;

/* The columns must outlive the table. */
int table_begin(struct table **table_out, const struct table_column *columns, size_t n,
		const struct table_options *options, struct error *err);
/* The cells of a row, in the order of the columns, those of other formats included. */
void table_add_string(struct table *t, const char *text); /* NULL or "": no value */
void table_add_number(struct table *t, struct number n);
void table_add_u64(struct table *t, uint64_t v);
void table_add_bool(struct table *t, bool v);
void table_add_none(struct table *t);
void table_end_row(struct table *t);
/* Writes what waits and frees the table. RC_IO when anything could not be written; RC_NO_MEMORY. */
int table_end(struct table *t, struct error *err);

#endif
