/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the program's executable graphs. A launch of one is one dispatch, replayed as a
 * whole, when all that it holds can be done again; graphs.c judges that when a graph is made
 * executable or is changed, and keeps it here. Safe for threads.
 */
#ifndef RETALLY_RUNTIME_CUDA_GRAPH_TABLE_H
#define RETALLY_RUNTIME_CUDA_GRAPH_TABLE_H

#include "runtime/cuda/session.h"
#include "runtime/cuda/words.h"

/* Of one graph. */
struct graph_judgement {
	const char *why_not;  /* static; NULL: it can be replayed */
	struct words words;   /* parameters of kernels, addresses of variables, fills and copies */
	struct words modules; /* struct cuda_module *: of its kernels */
};

/* It was made, by kernels' launches too if for_device, with c current. Takes the judgement. */
void cuda_graph_remember(const struct CUgraphExec_st *exec, const struct cuda_context *c,
			 bool for_device, struct graph_judgement *judgement);
/* All of it was changed. Takes the judgement. */
void cuda_graph_replace(const struct CUgraphExec_st *exec, struct graph_judgement *judgement);
/* A part of it was changed to what was judged; the rest is as before, and what that part named may
 * be named by others, too. Takes the judgement. */
void cuda_graph_add(const struct CUgraphExec_st *exec, struct graph_judgement *judgement);
void cuda_graph_forget(const struct CUgraphExec_st *exec);
/* Something was done that may have changed any of them: those that there are and will be run once,
 * for this reason (static). */
void cuda_graphs_doubt(const char *why);

/* Asks for the variables of its modules whose names were learnt since, with the context current.
 * Why it must run exactly once, static; NULL: all is known. late_out: what was launched before can
 * have written one that is known only now. */
const char *cuda_graph_refresh(const struct CUgraphExec_st *exec, bool *late_out);
/* Calls visit for each memory that a parameter of its nodes or a variable of its kernels' modules
 * names. False: they are not all known, so anything may be reached. */
bool cuda_graph_scan(const struct CUgraphExec_st *exec, memories_visitor *visit, void *data);
/* One of them is memory of the host that was not registered, or may be; see pageable.h. */
bool cuda_graph_is_pageable(struct cuda_context *c, const struct CUgraphExec_st *exec);
/* Why the graph, launched in this context, must run exactly once, static; NULL: it can be replayed.
 */
const char *cuda_graph_why_not(const struct CUgraphExec_st *exec, const struct cuda_context *c);

#endif
