/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a merge reads and makes. What it makes appears whole or not at all: it is written
 * under a temporary name and renamed, so that neither a kill nor a full disk leaves half a file
 * under a name that counts.
 */
#ifndef RETALLY_STORE_MERGE_FILES_H
#define RETALLY_STORE_MERGE_FILES_H

#include "base/error.h"

#include <stddef.h>

/* Names that a killed merge may leave behind; the next one removes them. */
#define MERGE_TEMPORARY ".tmp-merge-"

/* A whole file of at most `max` bytes, malloc'ed, with a NUL behind. RC_NOT_FOUND. */
int merge_read(const char *path, size_t max, char **bytes_out, size_t *size_out, struct error *err);
/* Replaces or creates NAME below the open directory `folder` by these bytes. */
int merge_write(int folder, const char *name, const void *bytes, size_t n, struct error *err);
/* Replaces or creates NAME by the file that is open as `from` and that nobody changes any more: as
 * a clone where the file system makes them, else as a second name of it, else as a copy. NAME is no
 * name of it yet. */
int merge_place(int from, int folder, const char *name, struct error *err);
/* As memcmp, of the bytes of two open files; a beginning of the other is the lesser one. */
int merge_compare(int a, int b);

#endif
