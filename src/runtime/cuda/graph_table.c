/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: see graph_table.h. */
#include "runtime/cuda/graph_table.h"

#include "runtime/cuda/pageable.h"

#include <stdlib.h>
#include <string.h>

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

static void release(struct graph_judgement *j)
{
	words_release(&j->words);
	words_release(&j->modules);
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
	release(judgement);
}

void cuda_graph_replace(const struct CUgraphExec_st *exec, struct graph_judgement *judgement)
{
	struct graph *g;

	pthread_mutex_lock(&table.lock);
	g = *place(exec);
	if (g)
		exchange(&g->judgement, judgement);
	pthread_mutex_unlock(&table.lock);
	release(judgement);
}

void cuda_graph_add(const struct CUgraphExec_st *exec, struct graph_judgement *judgement)
{
	struct graph *g;

	pthread_mutex_lock(&table.lock);
	g = *place(exec);
	if (g && judgement->why_not)
		g->judgement.why_not = judgement->why_not;
	if (g) {
		words_add_all(&g->judgement.words, &judgement->words);
		words_add_all(&g->judgement.modules, &judgement->modules);
	}
	pthread_mutex_unlock(&table.lock);
	release(judgement);
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
		release(&gone->judgement);
	free(gone);
}

void cuda_graphs_doubt(const char *why)
{
	pthread_mutex_lock(&table.lock);
	table.doubt = why;
	pthread_mutex_unlock(&table.lock);
}

/* A copy: the driver is asked without the lock. NULL: none, or not all are known. */
static uint64_t *modules_of(const struct CUgraphExec_st *exec, size_t *n_out, bool *known_out)
{
	uint64_t *copy = NULL;
	const struct graph *g;

	pthread_mutex_lock(&table.lock);
	g = *place(exec);
	*n_out = g ? g->judgement.modules.room : 0;
	*known_out = !g || !g->judgement.modules.unknown;
	if (*n_out) {
		copy = malloc(*n_out * sizeof(*copy));
		*known_out &= copy != NULL;
	}
	if (copy)
		memcpy(copy, g->judgement.modules.slots, *n_out * sizeof(*copy));
	pthread_mutex_unlock(&table.lock);
	return copy;
}

const char *cuda_graph_refresh(const struct CUgraphExec_st *exec, bool *late_out)
{
	bool known;
	size_t n;
	uint64_t *modules = modules_of(exec, &n, &known);
	const char *why = known ? NULL : "a graph whose modules do not fit into memory";

	*late_out = false;
	for (size_t i = 0; modules && i < n; i++) {
		struct cuda_module *m = (struct cuda_module *)(uintptr_t)modules[i];

		if (!m)
			continue;
		cuda_module_refresh(m);
		*late_out |= cuda_module_was_late(m);
		if (cuda_module_why_not(m))
			why = "a graph with a kernel whose module is not known";
	}
	free(modules);
	return *late_out ? "a graph with a variable that was found late" : why;
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
