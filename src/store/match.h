/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which dispatch of an execution of the program is which of its other executions: other launches,
 * and the passes of application replay. Executions are compared within a lane: one rank, and where
 * a rank (or a job without ranks) has several processes, the n-th of them by start. Ranks are never
 * matched with each other. What a lane with one execution has needs no match.
 *
 * The pairs are in the tables execution and dispatch_match of retally.db, made anew whenever spools
 * have changed, so they do not depend on the order in which spools came.
 */
#ifndef RETALLY_STORE_MATCH_H
#define RETALLY_STORE_MATCH_H

#include "model/match.h"
#include "store/store.h"

struct store_match {
	bool compared;      /* its lane has several executions; else the rest is 0 but logical */
	uint32_t lane;      /* 0 unless compared */
	uint64_t logical;   /* number of the dispatch, the same in all executions of the lane */
	enum match_how how; /* MATCH_NONE: only this execution has it, or it is the first of them */
	double confidence;  /* 0 for MATCH_NONE */
	uint32_t executions, of_executions; /* of the lane: that have it, and all */
	double lowest; /* confidence of all the pairs of this dispatch; 1 when there are none */
};
struct store_matching {                      /* all lanes together */
	uint32_t lanes, executions;          /* with several executions */
	uint64_t dispatches;                 /* different ones */
	uint64_t pairs[MATCH_BY_ANCHOR + 1]; /* by how; [MATCH_NONE]: not used */
	uint64_t incomplete; /* dispatches that not every execution of their lane has */
	uint64_t alone;      /* of these, the ones that a single execution has */
	double lowest;       /* confidence of any pair; 1 without */
};
/* Dispatches of one kernel that not every execution has. */
struct store_unmatched {
	uint32_t kernel; /* index into store_kernels */
	uint64_t n, of;
};

/* Reads the pairs once; store_match and the others answer nothing before. */
int store_match_load(struct store *s, struct error *err);
/* Of a row of a scan. */
void store_match(const struct store *s, const struct store_row *r, struct store_match *out);
const struct store_matching *store_matching(const struct store *s);
/* Of the kernels that have any, in the order of kernels. */
const struct store_unmatched *store_unmatched(const struct store *s, size_t *n_out);

#endif
