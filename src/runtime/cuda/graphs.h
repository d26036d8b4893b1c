/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: a launch of one is one dispatch, replayed as a whole, when all that it holds can be done
 * again. That is judged when it is made executable or is updated, node by node; what cannot be
 * done again declines the whole graph, for its nodes cannot be launched one by one.
 */
#ifndef RETALLY_RUNTIME_CUDA_GRAPHS_H
#define RETALLY_RUNTIME_CUDA_GRAPHS_H

#include "runtime/cuda/session.h"

/* Calls visit for each memory that a parameter of its nodes or a variable of its kernels' modules
 * names. False: they are not all known, so anything may be reached. */
bool cuda_graph_scan(const struct CUgraphExec_st *exec, memories_visitor *visit, void *data);
/* One of them is memory of the host that was not registered, or may be; see pageable.h. */
bool cuda_graph_is_pageable(struct cuda_context *c, const struct CUgraphExec_st *exec);
/* Why the graph must run exactly once, static; NULL: it can be replayed. */
const char *cuda_graph_why_not(const struct CUgraphExec_st *exec);

#endif
