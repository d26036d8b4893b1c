/* SPDX-License-Identifier: Apache-2.0 */
/* Judging graphs: see graphs.h. */
#include "runtime/cuda/graphs.h"

#include "base/vec.h"
#include "runtime/cuda/calls.h"
#include "runtime/cuda/functions.h"
#include "runtime/cuda/pageable.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX 1024

/* What its nodes name: parameters of kernels, addresses of variables, of fills and copies. */
struct words {
	bool unknown; /* not all of them were found */
	VEC(uint64_t) all;
};
struct graph {
	struct graph *next;
	struct CUgraphExec_st *exec;
	bool for_device;     /* kernels may launch it */
	const char *why_not; /* NULL: it can be replayed */
	struct words words;
};
static struct {
	pthread_mutex_t lock;
	struct graph *list;
	unsigned n_for_device;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what is known of executable graphs ---- */

static struct graph *find(const struct CUgraphExec_st *exec)
{
	struct graph *g = table.list;

	while (g && g->exec != exec)
		g = g->next;
	return g;
}

/* Takes the words. */
static void remember(struct CUgraphExec_st *exec, bool for_device, const char *why_not,
		     struct words *words)
{
	struct words old = *words;
	struct graph *g;

	pthread_mutex_lock(&table.lock);
	g = find(exec);
	if (!g && (g = calloc(1, sizeof(*g)))) {
		g->next = table.list;
		g->exec = exec;
		table.list = g;
	}
	if (g) {
		table.n_for_device += for_device;
		table.n_for_device -= g->for_device;
		g->for_device = for_device;
		g->why_not = why_not;
		old = g->words;
		g->words = *words;
	}
	pthread_mutex_unlock(&table.lock);
	vec_release(&old.all);
}

static void forget(const struct CUgraphExec_st *exec)
{
	struct graph **p = &table.list, *gone;

	pthread_mutex_lock(&table.lock);
	while (*p && (*p)->exec != exec)
		p = &(*p)->next;
	gone = *p;
	if (gone) {
		*p = gone->next;
		table.n_for_device -= gone->for_device;
		vec_release(&gone->words.all);
	}
	pthread_mutex_unlock(&table.lock);
	free(gone);
}

/* It was changed to something that was judged, NULL: nothing that forbids replay. What it named
 * before it may name still. Takes the words. */
static void change(const struct CUgraphExec_st *exec, const char *why_not, struct words *words)
{
	struct graph *g;

	pthread_mutex_lock(&table.lock);
	g = find(exec);
	if (g && why_not)
		g->why_not = why_not;
	if (g) {
		g->words.unknown |= words->unknown;
		vec_for_each (&words->all, w)
			g->words.unknown |= !vec_push(&g->words.all, *w);
	}
	pthread_mutex_unlock(&table.lock);
	vec_release(&words->all);
}

bool cuda_graph_scan(const struct CUgraphExec_st *exec, memories_visitor *visit, void *data)
{
	const struct graph *g;
	bool known;

	pthread_mutex_lock(&table.lock);
	g = find(exec);
	known = g && !g->words.unknown;
	if (known)
		memories_scan(&cuda_session.memories, g->words.all.items,
			      g->words.all.n * sizeof(uint64_t), visit, data);
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
	g = find(exec);
	if (g)
		pageable = g->words.unknown ||
			   cuda_pageable_scan(c, g->words.all.items,
					      g->words.all.n * sizeof(uint64_t), NULL);
	pthread_mutex_unlock(&table.lock);
	return pageable;
}

const char *cuda_graph_why_not(const struct CUgraphExec_st *exec)
{
	const char *why = "a graph that was not seen being made";
	const struct graph *g;

	pthread_mutex_lock(&table.lock);
	g = find(exec);
	if (g)
		why = g->why_not;
	/* Its kernels may launch such a graph, of which nobody could say when it ends. */
	if (!why && table.n_for_device)
		why = "the program has a graph that kernels can launch";
	pthread_mutex_unlock(&table.lock);
	return why;
}

/* ---- judging ---- */

static void add_word(struct words *words, uint64_t word)
{
	words->unknown |= !vec_push(&words->all, word);
}

static void add_kernel(struct words *words, const struct cuda_function *f,
		       const struct cu_kernel_node *k)
{
	words->unknown |= f->n && !k->arguments;
	for (unsigned i = 0; i < f->n && !words->unknown; i++)
		for (uint32_t at = 0; at + sizeof(uint64_t) <= f->parameters[i].size;
		     at += sizeof(uint64_t)) {
			uint64_t word;

			memcpy(&word, (const char *)k->arguments[i] + at, sizeof(word));
			add_word(words, word);
		}
	for (const struct cuda_variable *v = cuda_module_variables(f->module); v; v = v->next)
		add_word(words, v->address);
}

static const char *judge_kernel(struct cuda_context *c, const struct cu_kernel_node *k,
				struct words *words)
{
	const struct cuda_driver *d = &cuda_session.driver;
	const struct cuda_function *f;
	const char *name = NULL;

	if (k->function && d->function_name && d->function_name(&name, k->function))
		name = NULL;
	if (!name && d->kernel_name &&
	    d->kernel_name(&name, k->kernel ? k->kernel : (struct CUkern_st *)k->function))
		name = NULL;
	if (!name)
		return "a graph whose kernels have no names";
	/* With that its module's variables are known, which the graph may write. */
	f = cuda_functions_get(c, k->function ? k->function : (struct CUfunc_st *)k->kernel, name);
	if (f && f->module)
		cuda_module_refresh(f->module);
	if (f && cuda_function_talks(f))
		return "a graph with a collective (NCCL, NVSHMEM)";
	if (!f || !f->module || cuda_function_why_not(f))
		return "a graph with a kernel whose module is not known";
	if (!f->known)
		return "a graph with a kernel whose parameters are not known";
	add_kernel(words, f, k);
	return NULL;
}

/* All of the rows and slices lie in one memory that only the device uses. */
static bool is_of_device(const struct cu_copy_3d *k, const struct cu_copy_side *s)
{
	size_t pitch = s->pitch ? s->pitch : k->width_bytes, rows = s->height ? s->height : 1;
	size_t end = ((s->z + k->depth - 1) * rows + s->y + k->height - 1) * pitch + s->x_bytes +
		     k->width_bytes;
	struct program_memory m;

	return (s->memory_type == CU_MEMORY_DEVICE || s->memory_type == CU_MEMORY_UNIFIED) &&
	       memories_find(&cuda_session.memories, s->device, &m) &&
	       (m.kind == MEMORY_DEVICE || m.kind == MEMORY_VARIABLE) &&
	       end <= m.address + m.size - s->device;
}

/* A copy with the host at one end would be seen by it, or see what it does, in each pass. */
static const char *judge_copy(struct CUgraphNode_st *node, struct words *words)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct cu_copy_3d k;

	if (d->copy_node && !d->copy_node(node, &k) && is_of_device(&k, &k.from) &&
	    is_of_device(&k, &k.to)) {
		add_word(words, k.from.device);
		add_word(words, k.to.device);
		return NULL;
	}
	return "a graph with a copy that is not between memories of the device";
}

static const char *judge_node(struct cuda_context *c, struct CUgraphNode_st *node,
			      struct words *words)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct cu_kernel_node kernel;
	struct cu_set_node set;
	int type = -1;

	if (d->node_type(node, &type))
		type = -1;
	switch (type) {
	case CU_NODE_KERNEL:
		if (!d->kernel_node || d->kernel_node(node, &kernel))
			return "a graph whose kernels cannot be told";
		return judge_kernel(c, &kernel, words);
	case CU_NODE_MEMCPY:
		return judge_copy(node, words);
	case CU_NODE_MEMSET:
		if (d->set_node && !d->set_node(node, &set))
			add_word(words, set.to);
		else
			words->unknown = true;
		return NULL;
	case CU_NODE_EMPTY:
		return NULL;
	case CU_NODE_HOST:
		return "a graph with a host function";
	case CU_NODE_GRAPH:
		return "a graph with a graph inside";
	case CU_NODE_EVENT_WAIT:
	case CU_NODE_EVENT_RECORD:
		return "a graph with events";
	case CU_NODE_SEMAPHORE_SIGNAL:
	case CU_NODE_SEMAPHORE_WAIT:
		return "a graph with semaphores of another API";
	case CU_NODE_ALLOCATE:
	case CU_NODE_FREE:
		return "a graph that takes or frees memory";
	case CU_NODE_WORDS:
		return "a graph that waits for or writes single words";
	case CU_NODE_CONDITIONAL:
		return "a graph with conditional nodes";
	default:
		return "a graph with nodes of an unknown kind";
	}
}

static const char *judge(struct cuda_context *c, struct CUgraph_st *graph, struct words *words)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct CUgraphNode_st *nodes[NODES_MAX];
	const char *why = NULL;
	size_t n = NODES_MAX;

	if (d->graph_nodes(graph, NULL, &n))
		return "a graph whose nodes cannot be listed";
	if (n > NODES_MAX)
		return "a graph of more than 1024 nodes";
	if (d->graph_nodes(graph, nodes, &n))
		return "a graph whose nodes cannot be listed";
	for (size_t i = 0; i < n && !why; i++)
		why = judge_node(c, nodes[i], words);
	return why;
}

/* ---- calls ---- */

static void instantiated(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_instantiate_params *p = data->params;
	const char *name = data->function;
	unsigned long long flags = 0;
	struct words words = {0};
	const char *why;

	if (cuda_result(data) || !p->graph_out)
		return;
	if (!strncmp(name, "cuGraphInstantiateWithFlags", 27))
		flags = p->how.flags;
	else if (!strncmp(name, "cuGraphInstantiateWithParams", 28) && p->how.flags_at)
		flags = *p->how.flags_at;
	why = judge(c, p->graph, &words);
	remember(*p->graph_out, flags & CU_GRAPH_FOR_DEVICE, why, &words);
}

static void destroyed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_graph_launch_params *p = data->params;

	cuda_boundary(c, data->function);
	forget(p->graph);
}

/* The window ends before: what it has recorded would be another graph. */
static void updated(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_update_params *p = data->params;
	struct words words = {0};
	const char *why;

	if (cuda_result(data))
		return;
	why = judge(c, p->graph, &words);
	change(p->exec, why, &words);
}

static void kernel_changed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_node_params *p = data->params;
	struct words words = {0};
	const char *why;

	if (cuda_result(data))
		return;
	why = judge_kernel(c, p->kernel, &words);
	change(p->exec, why, &words);
}

static void node_changed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_node_params *p = data->params;
	struct words none = {0};

	(void)c;
	if (!cuda_result(data))
		change(p->exec, "a graph with nodes that were changed after it was made", &none);
}

const struct cuda_call_entry cuda_graph_calls[] = {
	{"cuGraphInstantiate", NULL, instantiated},
	{"cuGraphInstantiate_v2", NULL, instantiated},
	{"cuGraphInstantiateWithFlags", NULL, instantiated},
	{"cuGraphInstantiateWithParams", NULL, instantiated},
	{"cuGraphExecDestroy", destroyed, NULL},
	{"cuGraphExecUpdate", cuda_call_boundary, updated},
	{"cuGraphExecUpdate_v2", cuda_call_boundary, updated},
	{"cuGraphExecKernelNodeSetParams_v2", cuda_call_boundary, kernel_changed},
	{"cuGraphExecKernelNodeSetParams", cuda_call_boundary, node_changed},
	{"cuGraphExecMemcpyNodeSetParams", cuda_call_boundary, node_changed},
	{"cuGraphExecMemsetNodeSetParams", cuda_call_boundary, node_changed},
	{"cuGraphExecNodeSetParams", cuda_call_boundary, node_changed},
};
const size_t cuda_n_graph_calls = sizeof(cuda_graph_calls) / sizeof(*cuda_graph_calls);
