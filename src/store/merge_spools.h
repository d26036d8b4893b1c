/* SPDX-License-Identifier: Apache-2.0 */
/* The spools of a merge: which of two versions is the better one, and what is wrong with them. */
#ifndef RETALLY_STORE_MERGE_SPOOLS_H
#define RETALLY_STORE_MERGE_SPOOLS_H

#include "store/merge.h"
#include "wire/spool.h"

#include <stdbool.h>

/* A spool of OUT whose file is not called as its header says. */
struct merge_alias {
	char *canonical, *name; /* malloc'ed */
};
struct merge_target {
	const char *dir;        /* OUT */
	int fd;                 /* OUT, open */
	int spools;             /* OUT/spool, open */
	const char *collection; /* id and plan that every spool must have */
	const char *plan_hash;
	struct merge_outcome *outcome;
	struct spool_memory *memory; /* to read spools into, one after another */
	VEC(struct merge_alias) aliases;
};

/* A sentence for the outcome. RC_NO_MEMORY. */
int merge_problem(struct merge_outcome *o, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Finds OUT's aliases. */
int merge_find_aliases(struct merge_target *t, struct error *err);
void merge_release_aliases(struct merge_target *t);
/* Gives OUT each spool of DIR/spool that it lacks. Only a failure to write is an error. */
int merge_spools(const struct merge_target *t, const char *dir, struct error *err);
/* The collection that the spools of DIR made with this plan have, "" when there are none. */
int merge_find_collection(const char *dir, const char *plan_hash, char *id_out, size_t size,
			  struct error *err);
/* Spools that DIR/retally.db knows and nobody has any more become problems. */
int merge_name_missing(const struct merge_target *t, const char *dir, struct error *err);

#endif
