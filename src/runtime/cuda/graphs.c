/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judging graphs, when they are made executable or are changed, node by node: what cannot be done
 * again declines the whole graph, for its nodes cannot be launched one by one.
 */
#include "runtime/cuda/calls.h"
#include "runtime/cuda/functions.h"
#include "runtime/cuda/graph_table.h"
#include "runtime/cuda/launch.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MOST  (1u << 20) /* of a graph with those inside it */
#define INSIDE_MOST 16         /* graphs inside each other */

/* ---- judging ---- */

struct judging {
	struct cuda_context *context;
	size_t left;    /* nodes that may still come */
	unsigned depth; /* graphs inside each other */
	struct words *words, *modules;
};

/* The driver shows parameters as they were given: one by one, or packed. */
static const char *judge_parameters(const struct cuda_function *f, const struct cu_kernel_node *k,
				    struct words *words)
{
	const void *packed;
	size_t size;

	if (!k->arguments && k->extra) {
		if (!cuda_extra_buffer(k->extra, &packed, &size))
			return "a graph with a kernel whose packed parameters cannot be read";
		words_add_bytes(words, packed, size);
		return NULL;
	}
	if (!f->known || (f->n && !k->arguments))
		return "a graph with a kernel whose parameters are not known";
	for (unsigned i = 0; i < f->n; i++)
		words_add_bytes(words, k->arguments[i], f->parameters[i].size);
	return NULL;
}

/* A kernel that may change the parameters of this node: the next pass would find them changed. */
static const char *judge_updates(struct CUgraphNode_st *node)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct cu_attribute a = {0};
	cu_result result;

	if (!node || !d->node_attribute)
		return NULL;
	result = d->node_attribute(node, CU_ATTRIBUTE_UPDATABLE_NODE, &a.value);
	/* Older drivers have no such nodes. */
	if (result && result != CU_INVALID_VALUE && result != CU_NOT_SUPPORTED)
		return "a graph whose kernels cannot be told";
	return !result && a.value.flag ? "a graph with nodes that kernels can change" : NULL;
}

static bool is_of_another(const struct cuda_context *c, const struct CUctx_st *context)
{
	for (unsigned i = 0; i < cuda_session.n_contexts; i++)
		if (cuda_session.contexts[i].context == context)
			return context != c->context;
	return false;
}

static const char *judge_kernel(const struct judging *j, const struct cu_kernel_node *k)
{
	struct cuda_context *c = j->context;
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
	if (is_of_another(c, k->context))
		return "a graph with kernels of several contexts";
	/* With that its module's variables are known, which the graph may write. */
	f = cuda_functions_get(c, k->function ? k->function : (struct CUfunc_st *)k->kernel, name);
	if (f && f->module)
		cuda_module_refresh(f->module);
	if (f && cuda_function_talks(f))
		return "a graph with a collective (NCCL, NVSHMEM)";
	if (!f || !f->module || cuda_function_why_not(f))
		return "a graph with a kernel whose module is not known";
	words_add(j->modules, (uintptr_t)f->module);
	for (const struct cuda_variable *v = cuda_module_variables(f->module); v; v = v->next)
		words_add(j->words, v->address);
	return judge_parameters(f, k, j->words);
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
static const char *judge_copy(const struct judging *j, const struct cu_copy_3d *k)
{
	if (!is_of_device(k, &k->from) || !is_of_device(k, &k->to))
		return "a graph with a copy that is not between memories of the device";
	words_add(j->words, k->from.device);
	words_add(j->words, k->to.device);
	return NULL;
}

static const char *judge_graph(struct judging *j, struct CUgraph_st *graph);

static const char *judge_inside(struct judging *j, struct CUgraphNode_st *node)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct CUgraph_st *inside = NULL;
	const char *why;

	if (!d->graph_inside || d->graph_inside(node, &inside) || !inside)
		return "a graph with a graph inside that cannot be told";
	if (j->depth == INSIDE_MOST)
		return "a graph with more than 16 graphs inside each other";
	j->depth++;
	why = judge_graph(j, inside);
	j->depth--;
	return why;
}

static const char *judge_node(struct judging *j, struct CUgraphNode_st *node)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct cu_kernel_node kernel;
	struct cu_copy_3d copy;
	struct cu_set_node set;
	const char *why;
	int type;

	if (d->node_type(node, &type))
		return "a graph with nodes whose kind cannot be told";
	switch (type) {
	case CU_NODE_KERNEL:
		if (!d->kernel_node || d->kernel_node(node, &kernel))
			return "a graph whose kernels cannot be told";
		why = judge_updates(node);
		return why ? why : judge_kernel(j, &kernel);
	case CU_NODE_MEMCPY:
		if (!d->copy_node || d->copy_node(node, &copy))
			return "a graph whose copies cannot be told";
		return judge_copy(j, &copy);
	case CU_NODE_MEMSET:
		if (!d->set_node || d->set_node(node, &set))
			return "a graph whose fills cannot be told";
		words_add(j->words, set.to);
		return NULL;
	case CU_NODE_GRAPH:
		return judge_inside(j, node);
	case CU_NODE_EMPTY:
		return NULL;
	case CU_NODE_HOST:
		return "a graph with a host function";
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

static const char *judge_graph(struct judging *j, struct CUgraph_st *graph)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct CUgraphNode_st **nodes;
	const char *why = NULL;
	size_t n = 0, room;

	if (d->graph_nodes(graph, NULL, &n))
		return "a graph whose nodes cannot be listed";
	if (n > j->left)
		return "a graph of more than 1048576 nodes";
	if (!n)
		return NULL;
	j->left -= room = n;
	nodes = malloc(n * sizeof(struct CUgraphNode_st *));
	if (!nodes)
		return "a graph whose nodes do not fit into memory";
	if (d->graph_nodes(graph, nodes, &n) || n > room)
		why = "a graph whose nodes cannot be listed";
	for (size_t i = 0; i < n && !why; i++)
		why = judge_node(j, nodes[i]);
	free(nodes);
	return why;
}

static struct judging judging_begin(struct cuda_context *c, struct graph_judgement *out)
{
	*out = (struct graph_judgement){0};
	return (struct judging){
		.context = c, .left = NODES_MOST, .words = &out->words, .modules = &out->modules};
}

static struct graph_judgement judge(struct cuda_context *c, struct CUgraph_st *graph)
{
	struct graph_judgement out;
	struct judging j = judging_begin(c, &out);

	out.why_not = judge_graph(&j, graph);
	return out;
}

/* ---- calls ---- */

static void instantiated(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_instantiate_params *p = data->params;
	const char *name = data->function;
	struct graph_judgement judgement;
	unsigned long long flags = 0;

	if (cuda_result(data) || !p->graph_out)
		return;
	if (!strncmp(name, "cuGraphInstantiateWithFlags", 27))
		flags = p->how.flags;
	else if (!strncmp(name, "cuGraphInstantiateWithParams", 28) && p->how.flags_at)
		flags = *p->how.flags_at;
	judgement = judge(c, p->graph);
	cuda_graph_remember(*p->graph_out, c, flags & CU_GRAPH_FOR_DEVICE, &judgement);
}

static void destroyed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_graph_launch_params *p = data->params;

	cuda_boundary(c, data->function);
	cuda_graph_forget(p->graph);
}

/* The window ends before: what it has recorded would be another graph. An update that is refused
 * changes nothing. */
static void updated(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_update_params *p = data->params;
	struct graph_judgement judgement;

	if (cuda_result(data))
		return;
	judgement = judge(c, p->graph);
	cuda_graph_replace(p->exec, &judgement);
}

/* Of one node, which was judged already when the graph was made. */
static void kernel_changed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_node_params *p = data->params;
	struct graph_judgement judgement;
	struct judging j = judging_begin(c, &judgement);
	struct cu_kernel_node kernel = {0};

	if (cuda_result(data))
		return;
	/* The first version has no kernel and no context. */
	memcpy(&kernel, p->of.kernel,
	       strcmp(data->function, "cuGraphExecKernelNodeSetParams")
		       ? sizeof(kernel)
		       : offsetof(struct cu_kernel_node, kernel));
	judgement.why_not = judge_kernel(&j, &kernel);
	cuda_graph_add(p->exec, &judgement);
}

static void copy_changed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_node_params *p = data->params;
	struct graph_judgement judgement;
	struct judging j = judging_begin(c, &judgement);

	if (cuda_result(data))
		return;
	judgement.why_not = judge_copy(&j, p->of.copy);
	cuda_graph_add(p->exec, &judgement);
}

static void fill_changed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_node_params *p = data->params;
	struct graph_judgement judgement;
	struct judging j = judging_begin(c, &judgement);

	if (cuda_result(data))
		return;
	words_add(j.words, p->of.fill->to);
	cuda_graph_add(p->exec, &judgement);
}

static void inside_changed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_node_params *p = data->params;
	struct graph_judgement judgement;

	if (cuda_result(data))
		return;
	judgement = judge(c, p->of.graph);
	cuda_graph_add(p->exec, &judgement);
}

static void node_changed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_node_params *p = data->params;
	struct graph_judgement judgement = {
		.why_not = "a graph with nodes that were changed after it was made"};

	(void)c;
	if (!cuda_result(data))
		cuda_graph_add(p->exec, &judgement);
}

/* One call for nodes of all kinds. */
static void any_changed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_exec_node_params *p = data->params;
	struct graph_judgement judgement;
	struct judging j = judging_begin(c, &judgement);

	if (cuda_result(data))
		return;
	switch (p->of.any->type) {
	case CU_NODE_KERNEL:
		judgement.why_not = judge_kernel(&j, &p->of.any->of.kernel);
		break;
	case CU_NODE_MEMCPY:
		judgement.why_not = judge_copy(&j, &p->of.any->of.copy.box);
		break;
	case CU_NODE_MEMSET:
		words_add(j.words, p->of.any->of.fill.to);
		break;
	case CU_NODE_GRAPH:
		judgement.why_not = judge_graph(&j, p->of.any->of.graph);
		break;
	default:
		node_changed(c, data);
		return;
	}
	cuda_graph_add(p->exec, &judgement);
}

void cuda_call_graphs_unknown(struct cuda_context *c, const struct cupti_callback_data *data)
{
	(void)c;
	(void)data;
	cuda_graphs_doubt("a call that is not known may have changed graphs");
}

/* Switching nodes of an executable graph on and off leaves it within what was judged. */
const struct cuda_call_entry cuda_graph_calls[] = {
	{"cuGraphInstantiate", NULL, instantiated},
	{"cuGraphInstantiate_v2", NULL, instantiated},
	{"cuGraphInstantiateWithFlags", NULL, instantiated},
	{"cuGraphInstantiateWithParams", NULL, instantiated},
	{"cuGraphExecDestroy", destroyed, NULL},
	{"cuGraphExecUpdate", cuda_call_boundary, updated},
	{"cuGraphExecUpdate_v2", cuda_call_boundary, updated},
	{"cuGraphNodeSetEnabled", cuda_call_boundary, NULL},
	{"cuGraphExecKernelNodeSetParams", cuda_call_boundary, kernel_changed},
	{"cuGraphExecKernelNodeSetParams_v2", cuda_call_boundary, kernel_changed},
	{"cuGraphExecMemcpyNodeSetParams", cuda_call_boundary, copy_changed},
	{"cuGraphExecMemsetNodeSetParams", cuda_call_boundary, fill_changed},
	{"cuGraphExecChildGraphNodeSetParams", cuda_call_boundary, inside_changed},
	{"cuGraphExecNodeSetParams", cuda_call_boundary, any_changed},
	{"cuGraphExecHostNodeSetParams", cuda_call_boundary, node_changed},
	{"cuGraphExecEventRecordNodeSetEvent", cuda_call_boundary, node_changed},
	{"cuGraphExecEventWaitNodeSetEvent", cuda_call_boundary, node_changed},
	{"cuGraphExecExternalSemaphoresSignalNodeSetParams", cuda_call_boundary, node_changed},
	{"cuGraphExecExternalSemaphoresWaitNodeSetParams", cuda_call_boundary, node_changed},
	{"cuGraphExecBatchMemOpNodeSetParams", cuda_call_boundary, node_changed},
};
const size_t cuda_n_graph_calls = sizeof(cuda_graph_calls) / sizeof(*cuda_graph_calls);
