/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: see graph_table.h. */
#include "runtime/cuda/graph_table.h"

#include "runtime/cuda/pageable.h"

#include <stdlib.h>

#define BUCKETS 4096

struct graph {
	struct graph *next;
	const struct CUgraphExec_st *exec;
	const struct cuda_context *context;
	bool for_device; /* kernels may launch it */
	struct graph_judgement judgement;
};
static struct {
	pthread_mutex_t lock;
	struct graph *buckets[BUCKETS];
	unsigned n_for_device;
	const char *doubt;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Where the graph hangs, or where its bucket ends. */
static struct graph **place(const struct CUgraphExec_st *exec)
{
	struct graph **p = &table.buckets[(uintptr_t)exec * 0x9e3779b97f4a7c15u >> 52];

	while (*p && (*p)->exec != exec)
		p = &(*p)->next;
	return p;
}

/* Swaps, so that what was there is released without the lock. */
static void exchange(struct graph_judgement *a, struct graph_judgement *b)
{
	struct graph_judgement kept = *a;

	*a = *b;
	*b = kept;
}

void cuda_graph_remember(const struct CUgraphExec_st *exec, const struct cuda_context *c,
			 bool for_device, struct graph_judgement *judgement)
{
	struct graph **p, *g;

	pthread_mutex_lock(&table.lock);
	p = place(exec);
	if (!*p)
		*p = calloc(1, sizeof(**p));
	g = *p;
	if (g) {
		table.n_for_device += for_device;
		table.n_for_device -= g->for_device;
		g->exec = exec;
		g->context = c;
		g->for_device = for_device;
		exchange(&g->judgement, judgement);
	}
	pthread_mutex_unlock(&table.lock);
	words_release(&judgement->words);
}

void cuda_graph_replace(const struct CUgraphExec_st *exec, struct graph_judgement *judgement)
{
	struct graph *g;

	pthread_mutex_lock(&table.lock);
	g = *place(exec);
	if (g)
		exchange(&g->judgement, judgement);
	pthread_mutex_unlock(&table.lock);
	words_release(&judgement->words);
}

void cuda_graph_add(const struct CUgraphExec_st *exec, struct graph_judgement *judgement)
{
	struct graph *g;

	pthread_mutex_lock(&table.lock);
	g = *place(exec);
	if (g && judgement->why_not)
		g->judgement.why_not = judgement->why_not;
	if (g)
		words_add_all(&g->judgement.words, &judgement->words);
	pthread_mutex_unlock(&table.lock);
	words_release(&judgement->words);
}

void cuda_graph_forget(const struct CUgraphExec_st *exec)
{
	struct graph **p, *gone;

	pthread_mutex_lock(&table.lock);
	p = place(exec);
	gone = *p;
	if (gone) {
		*p = gone->next;
		table.n_for_device -= gone->for_device;
	}
	pthread_mutex_unlock(&table.lock);
	if (gone)
		words_release(&gone->judgement.words);
	free(gone);
}

void cuda_graphs_doubt(const char *why)
{
	pthread_mutex_lock(&table.lock);
	table.doubt = why;
	pthread_mutex_unlock(&table.lock);
}

bool cuda_graph_scan(const struct CUgraphExec_st *exec, memories_visitor *visit, void *data)
{
	const struct graph *g;
	bool known;

	pthread_mutex_lock(&table.lock);
	g = *place(exec);
	known = g && !g->judgement.words.unknown;
	if (known) /* free slots are 0, at which no memory lies */
		memories_scan(&cuda_session.memories, g->judgement.words.slots,
			      g->judgement.words.room * sizeof(uint64_t), visit, data);
	pthread_mutex_unlock(&table.lock);
	return known;
}

bool cuda_graph_is_pageable(struct cuda_context *c, const struct CUgraphExec_st *exec)
{
	const struct graph *g;
	bool pageable = false;

	if (!cuda_pageable_is_reached(c))
		return false;
	pthread_mutex_lock(&table.lock);
	g = *place(exec);
	if (g)
		pageable = g->judgement.words.unknown ||
			   cuda_pageable_scan(c, g->judgement.words.slots,
					      g->judgement.words.room * sizeof(uint64_t), NULL);
	pthread_mutex_unlock(&table.lock);
	return pageable;
}

const char *cuda_graph_why_not(const struct CUgraphExec_st *exec, const struct cuda_context *c)
{
	const char *why = "a graph that was not seen being made";
	const struct graph *g;

	pthread_mutex_lock(&table.lock);
	g = *place(exec);
	if (g)
		why = g->context == c ? g->judgement.why_not
				      : "a graph that was made in another context";
	if (!why)
		why = table.doubt;
	/* Its kernels may launch such a graph, of which nobody could say when it ends. */
	if (!why && table.n_for_device)
		why = "the program has a graph that kernels can launch";
	pthread_mutex_unlock(&table.lock);
	return why;
}
