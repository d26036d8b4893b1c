/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns that several tables of the report have: the same ids, types and headers in each, so that
 * a program finds them by one name whichever table it reads. What a row of a value ends with is the
 * same in the tables of groups (values_table.c) and of single dispatches (dispatches.c).
 */
#ifndef RETALLY_REPORT_COLUMNS_H
#define RETALLY_REPORT_COLUMNS_H

#include "report/table.h"

/* clang-format off */
/* What was measured, and what that is: a kernel, a range or the process. */
#define COLUMN_SCOPE {"scope", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA}
#define COLUMNS_KERNEL {"kernel", NULL, NULL, TABLE_STRING, 0}, COLUMN_SCOPE
/* A dispatch and its process. */
#define COLUMNS_DISPATCH                                           \
	COLUMNS_KERNEL,                                            \
	{"dispatch", NULL, NULL, TABLE_NUMBER, 0},                 \
	{"host", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA},       \
	{"rank", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},       \
	{"pid", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},        \
	{"launch", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA}
/* How it was launched. */
#define COLUMNS_LAUNCH                                             \
	{"device", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},     \
	{"begin_ns", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},   \
	{"duration_ns", "duration", "ns", TABLE_NUMBER, 0},        \
	{"grid", NULL, NULL, TABLE_STRING, TABLE_HIDE_EMPTY},      \
	{"block", NULL, NULL, TABLE_STRING, TABLE_HIDE_EMPTY},     \
	{"registers", "regs", NULL, TABLE_NUMBER, TABLE_HIDE_EMPTY}, \
	{"shared_bytes", "shared", "bytes", TABLE_NUMBER, TABLE_HIDE_EMPTY}
/* A counter or metric, and its value. */
#define COLUMN_KIND  {"kind", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA}
#define COLUMN_NAME  {"name", NULL, NULL, TABLE_STRING, 0}
#define COLUMN_UNIT  {"unit", NULL, NULL, TABLE_STRING, TABLE_UNIT}
#define COLUMNS_VALUE                                              \
	{"value", NULL, NULL, TABLE_NUMBER, TABLE_SCALED},         \
	COLUMN_UNIT
#define COLUMNS_STATUS                                             \
	{"status", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA},     \
	{"reason", NULL, NULL, TABLE_STRING, TABLE_ONLY_DATA}
#define COLUMNS_FLAGS                                              \
	{"replayed", NULL, NULL, TABLE_BOOL, TABLE_ONLY_DATA},     \
	{"varying", NULL, NULL, TABLE_BOOL, TABLE_ONLY_DATA}
/* Where executions of the program are compared: how the dispatch was found in them, and how sure. */
#define COLUMNS_MATCH                                              \
	{"logical", NULL, NULL, TABLE_NUMBER, TABLE_ONLY_DATA},    \
	{"matched", NULL, NULL, TABLE_STRING, TABLE_HIDE_EMPTY},   \
	{"confidence", NULL, NULL, TABLE_NUMBER, TABLE_HIDE_EMPTY}
#define COLUMN_NOTE  {"note", NULL, NULL, TABLE_STRING, TABLE_ONLY_TEXT | TABLE_HIDE_EMPTY}
/* clang-format on */

#endif
