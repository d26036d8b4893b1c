/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several run directories of one collection into one: any subset of passes, ranks and hosts, in any
 * order and grouping, with the same rows at the end. OUT becomes a run directory like any other:
 * plan.json, run.json (of all of them the one that was made first) and every spool: a clone where
 * the file system makes them, a second name of a closed one of the same user on the same file
 * system (in which a process may yet go on after an exec), else a copy. What is in OUT already
 * stays and takes part; OUT may be one of the inputs, which are never changed.
 *
 * A spool is known by launch, host, rank and pid, whatever its file is called: given twice, or
 * again after a merge that was killed, it is one. Of two versions of it (a torn copy, one of a
 * process that still ran) the more complete one is kept. Each file appears whole or not at all, so
 * a killed merge is continued by giving the same command again. retally.db is not touched: whoever
 * opens OUT next brings it up to date.
 */
#ifndef RETALLY_STORE_MERGE_H
#define RETALLY_STORE_MERGE_H

#include "base/error.h"
#include "base/vec.h"

#include <stddef.h>

struct merge_outcome {
	size_t copied;        /* spools new in OUT */
	size_t replaced;      /* a more complete version of a spool that was there */
	size_t known;         /* were there already */
	VEC(char *) problems; /* what could not be merged, or only in part: one sentence each */
};

/* RC_MISMATCH, before anything is written, when a directory is of another collection: with what
 * differs. RC_NOT_FOUND, RC_INVALID: an input that is no run directory. RC_EXISTS: OUT is another
 * kind of directory, or another merge works on it. Damaged and missing spools are no error but
 * problems. The outcome may be released in any case. */
int merge_directories(const char *const *dirs, size_t n, const char *out,
		      struct merge_outcome *outcome_out, struct error *err);
void merge_outcome_release(struct merge_outcome *o);

#endif
