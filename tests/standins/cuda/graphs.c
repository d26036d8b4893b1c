/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of the stand-in driver: made by capture, run as their nodes in order. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

cu_result cuStreamIsCapturing(struct CUstream_st *stream, int *status)
{
	struct {
		struct CUstream_st *stream;
		int *status;
	} p = {stream, status};
	struct CUstream_st *s;

	BEGIN(cuStreamIsCapturing);
	s = stream_of(stream);
	if (!s)
		END(ERROR_INVALID_HANDLE);
	*status = s->capture != NULL;
	END(CU_OK);
}

cu_result cuStreamBeginCapture_v2(struct CUstream_st *stream, int mode)
{
	struct {
		struct CUstream_st *stream;
		int mode;
	} p = {stream, mode};
	struct CUstream_st *s;

	BEGIN(cuStreamBeginCapture_v2);
	s = stream_of(stream);
	if (!s || s->is_default || s->capture)
		END(ERROR_CAPTURE_UNSUPPORTED);
	s->capture = calloc(1, sizeof(*s->capture));
	gpu.captures++;
	END(s->capture ? CU_OK : CU_OUT_OF_MEMORY);
}

cu_result cuStreamEndCapture(struct CUstream_st *stream, struct CUgraph_st **graph)
{
	struct {
		struct CUstream_st *stream;
		struct CUgraph_st **graph;
	} p = {stream, graph};
	struct CUstream_st *s;

	BEGIN(cuStreamEndCapture);
	s = stream_of(stream);
	if (!s || !s->capture)
		END(CU_INVALID_VALUE);
	*graph = s->capture;
	s->capture = NULL;
	gpu.captures--;
	END(CU_OK);
}

cu_result cuGraphCreate(struct CUgraph_st **graph, unsigned flags)
{
	struct {
		struct CUgraph_st **graph;
		unsigned flags;
	} p = {graph, flags};

	BEGIN_PLAIN(cuGraphCreate);
	*graph = calloc(1, sizeof(**graph));
	END(*graph ? CU_OK : CU_OUT_OF_MEMORY);
}

struct CUgraphNode_st *gpu_node_add(struct CUgraph_st *graph)
{
	struct CUgraphNode_st *node = calloc(1, sizeof(*node));

	if (graph->n == graph->room) {
		graph->room = graph->room ? 2 * graph->room : 64;
		graph->nodes = realloc(graph->nodes, graph->room * sizeof(node));
	}
	if (!node || !graph->nodes)
		abort();
	graph->nodes[graph->n++] = node;
	return node;
}

static void nodes_free(struct CUgraph_st *graph)
{
	for (unsigned i = 0; i < graph->n; i++) {
		if (graph->nodes[i]->inside) {
			nodes_free(graph->nodes[i]->inside);
			free(graph->nodes[i]->inside);
		}
		free(graph->nodes[i]);
	}
	free(graph->nodes);
	*graph = (struct CUgraph_st){0};
}

/* Graphs inside are copied, too. The copies are called by the originals. */
static void nodes_copy(struct CUgraph_st *to, const struct CUgraph_st *from)
{
	for (unsigned i = 0; i < from->n; i++) {
		struct CUgraphNode_st *node = gpu_node_add(to);

		*node = *from->nodes[i];
		node->origin = from->nodes[i];
		if (!node->inside)
			continue;
		node->inside = calloc(1, sizeof(*node->inside));
		if (!node->inside)
			abort();
		nodes_copy(node->inside, from->nodes[i]->inside);
	}
}

static struct CUgraphNode_st *node_called(const struct CUgraph_st *graph,
					  const struct CUgraphNode_st *node)
{
	struct CUgraphNode_st *found = NULL;

	for (unsigned i = 0; i < graph->n && !found; i++)
		found = graph->nodes[i]->origin == node ? graph->nodes[i]
			: graph->nodes[i]->inside       ? node_called(graph->nodes[i]->inside, node)
							: NULL;
	return found;
}

static bool is_same_shape(const struct CUgraph_st *a, const struct CUgraph_st *b)
{
	bool same = a->n == b->n;

	for (unsigned i = 0; same && i < a->n; i++)
		same = a->nodes[i]->type == b->nodes[i]->type &&
		       !a->nodes[i]->inside == !b->nodes[i]->inside &&
		       (!a->nodes[i]->inside ||
			is_same_shape(a->nodes[i]->inside, b->nodes[i]->inside));
	return same;
}

/* What the nodes do becomes that of the other graph's, in their order; who they are stays. */
static void nodes_take(struct CUgraph_st *to, const struct CUgraph_st *from)
{
	for (unsigned i = 0; i < to->n; i++) {
		to->nodes[i]->command = from->nodes[i]->command;
		if (to->nodes[i]->inside)
			nodes_take(to->nodes[i]->inside, from->nodes[i]->inside);
	}
}

cu_result cuGraphDestroy(struct CUgraph_st *graph)
{
	struct {
		struct CUgraph_st *graph;
	} p = {graph};

	BEGIN_PLAIN(cuGraphDestroy);
	if (!graph)
		END(ERROR_INVALID_HANDLE);
	nodes_free(graph);
	free(graph);
	END(CU_OK);
}

cu_result cuGraphGetNodes(struct CUgraph_st *graph, struct CUgraphNode_st **nodes, size_t *n)
{
	struct {
		struct CUgraph_st *graph;
		struct CUgraphNode_st **nodes;
		size_t *n;
	} p = {graph, nodes, n};
	unsigned more;

	BEGIN_PLAIN(cuGraphGetNodes);
	if (!graph)
		END(ERROR_INVALID_HANDLE);
	for (size_t i = 0; nodes && i < *n; i++)
		nodes[i] = i < graph->n ? graph->nodes[i] : NULL;
	if (!nodes || *n > graph->n)
		*n = graph->n;
	if (!nodes && call.injected && standin_fault("nodes", &more))
		*n = more;
	END(CU_OK);
}

cu_result cuGraphNodeGetType(struct CUgraphNode_st *node, int *type)
{
	struct {
		struct CUgraphNode_st *node;
		int *type;
	} p = {node, type};

	BEGIN_PLAIN(cuGraphNodeGetType);
	if (!node)
		END(ERROR_INVALID_HANDLE);
	*type = node->type;
	END(CU_OK);
}

/* As a library gives it out. */
static struct CUkern_st *handle_of(struct CUfunc_st *function)
{
	if (!function->handle) {
		function->handle = malloc(sizeof(*function));
		if (!function->handle)
			abort();
		*function->handle = *function;
		function->handle->real = function;
	}
	return (struct CUkern_st *)(void *)function->handle;
}

cu_result cuGraphKernelNodeGetParams_v2(struct CUgraphNode_st *node, struct cu_kernel_node *params)
{
	struct {
		struct CUgraphNode_st *node;
		struct cu_kernel_node *params;
	} p = {node, params};
	struct gpu_launch *l;

	BEGIN_PLAIN(cuGraphKernelNodeGetParams_v2);
	if (!node || node->type != CU_NODE_KERNEL)
		END(CU_INVALID_VALUE);
	l = &node->command.launch;
	*params = (struct cu_kernel_node){.context = l->function->module->context};
	if (call.injected && standin_fault("handles", NULL))
		params->kernel = handle_of(l->function);
	else
		params->function = l->function;
	if (l->packed) {
		node->extra[0] = CU_EXTRA_SIZE;
		node->extra[1] = &l->packed;
		node->extra[2] = CU_EXTRA_POINTER;
		node->extra[3] = l->arguments;
		node->extra[4] = CU_EXTRA_END;
		params->extra = node->extra;
		if (call.injected && standin_fault("extra-key", NULL)) {
			node->extra[4] = (void *)3;
			node->extra[6] = CU_EXTRA_END;
		}
	} else {
		params->arguments = node->arguments;
		for (unsigned i = 0; i < l->function->kernel->n; i++)
			node->arguments[i] =
				l->arguments + gpu_kernel_offset(l->function->kernel, i);
	}
	memcpy(params->grid, node->command.launch.grid, sizeof(params->grid));
	memcpy(params->block, node->command.launch.block, sizeof(params->block));
	END(CU_OK);
}

cu_result cuGraphMemcpyNodeGetParams(struct CUgraphNode_st *node, struct cu_copy_3d *params)
{
	struct {
		struct CUgraphNode_st *node;
		struct cu_copy_3d *params;
	} p = {node, params};
	const struct gpu_command *c;

	BEGIN_PLAIN(cuGraphMemcpyNodeGetParams);
	if (!node || node->type != CU_NODE_MEMCPY)
		END(CU_INVALID_VALUE);
	c = &node->command;
	*params = c->box;
	if (c->kind == COMMAND_COPY)
		*params = (struct cu_copy_3d){
			.from = {.memory_type = CU_MEMORY_UNIFIED, .device = c->from},
			.to = {.memory_type = CU_MEMORY_UNIFIED, .device = c->to},
			.width_bytes = c->n,
			.height = 1,
			.depth = 1};
	END(CU_OK);
}

cu_result cuGraphMemsetNodeGetParams(struct CUgraphNode_st *node, struct cu_set_node *params)
{
	struct {
		struct CUgraphNode_st *node;
		struct cu_set_node *params;
	} p = {node, params};

	BEGIN_PLAIN(cuGraphMemsetNodeGetParams);
	if (!node || node->type != CU_NODE_MEMSET)
		END(CU_INVALID_VALUE);
	*params = (struct cu_set_node){.to = node->command.to,
				       .value = node->command.value,
				       .element = node->command.width,
				       .width = node->command.n,
				       .height = 1};
	END(CU_OK);
}

/* Of what is added so, only graphs and events are carried out. */
cu_result cuGraphAddNode(struct CUgraphNode_st **node, struct CUgraph_st *graph,
			 struct CUgraphNode_st **before, size_t n, struct standin_node *params)
{
	struct {
		struct CUgraphNode_st **node;
		struct CUgraph_st *graph;
		struct CUgraphNode_st **before;
		size_t n;
		struct standin_node *params;
	} p = {node, graph, before, n, params};
	struct CUgraphNode_st *made;

	BEGIN_PLAIN(cuGraphAddNode);
	if (!graph || params->type <= CU_NODE_HOST)
		END(CU_INVALID_VALUE);
	made = gpu_node_add(graph);
	made->type = params->type;
	made->command.kind = COMMAND_NOTHING;
	if (params->type == CU_NODE_GRAPH) {
		made->inside = calloc(1, sizeof(*made->inside));
		if (!made->inside)
			abort();
		nodes_copy(made->inside, params->of.graph);
	}
	if (params->type == CU_NODE_EVENT_RECORD) {
		made->command.kind = COMMAND_RECORD;
		made->command.event = params->of.event;
	}
	*node = made;
	END(CU_OK);
}

cu_result cuGraphChildGraphNodeGetGraph(struct CUgraphNode_st *node, struct CUgraph_st **graph)
{
	struct {
		struct CUgraphNode_st *node;
		struct CUgraph_st **graph;
	} p = {node, graph};

	BEGIN_PLAIN(cuGraphChildGraphNodeGetGraph);
	if (!node || node->type != CU_NODE_GRAPH)
		END(CU_INVALID_VALUE);
	*graph = node->inside;
	END(CU_OK);
}

/* Only whether kernels may change the node. */
cu_result cuGraphKernelNodeGetAttribute(struct CUgraphNode_st *node, int attribute, void *value)
{
	struct {
		struct CUgraphNode_st *node;
		int attribute;
		void *value;
	} p = {node, attribute, value};

	BEGIN_PLAIN(cuGraphKernelNodeGetAttribute);
	if (!node || node->type != CU_NODE_KERNEL || attribute != CU_ATTRIBUTE_UPDATABLE_NODE)
		END(CU_INVALID_VALUE);
	memset(value, 0, sizeof(struct cu_attribute) - offsetof(struct cu_attribute, value));
	*(int *)value = node->updatable;
	END(CU_OK);
}

cu_result cuGraphKernelNodeSetAttribute(struct CUgraphNode_st *node, int attribute,
					const void *value)
{
	struct {
		struct CUgraphNode_st *node;
		int attribute;
		const void *value;
	} p = {node, attribute, value};

	BEGIN_PLAIN(cuGraphKernelNodeSetAttribute);
	if (!node || node->type != CU_NODE_KERNEL || attribute != CU_ATTRIBUTE_UPDATABLE_NODE)
		END(CU_INVALID_VALUE);
	node->updatable = *(const int *)value;
	END(CU_OK);
}

/* What it found different is not told. */
cu_result cuGraphExecUpdate_v2(struct CUgraphExec_st *exec, struct CUgraph_st *graph, void *found)
{
	struct {
		struct CUgraphExec_st *exec;
		struct CUgraph_st *graph;
		void *found;
	} p = {exec, graph, found};

	BEGIN(cuGraphExecUpdate_v2);
	if (!exec || !graph)
		END(CU_INVALID_VALUE);
	if (!is_same_shape(&exec->graph, graph))
		END(ERROR_UPDATE_FAILURE);
	nodes_take(&exec->graph, graph);
	END(CU_OK);
}

cu_result cuGraphInstantiateWithFlags(struct CUgraphExec_st **exec, struct CUgraph_st *graph,
				      uint64_t flags)
{
	struct {
		struct CUgraphExec_st **exec;
		struct CUgraph_st *graph;
		uint64_t flags;
	} p = {exec, graph, flags};
	struct CUgraphExec_st *e;

	BEGIN(cuGraphInstantiateWithFlags);
	e = calloc(1, sizeof(*e));
	if (!e || !graph)
		END(ERROR_INVALID_HANDLE);
	nodes_copy(&e->graph, graph);
	*exec = e;
	END(CU_OK);
}

static void enqueue_all(struct CUstream_st *s, const struct CUgraph_st *graph)
{
	for (unsigned i = 0; i < graph->n; i++) {
		struct gpu_command *c;

		if (graph->nodes[i]->off)
			continue;
		if (graph->nodes[i]->inside) {
			enqueue_all(s, graph->nodes[i]->inside);
			continue;
		}
		c = gpu_command_new(COMMAND_SET);
		*c = graph->nodes[i]->command;
		if (c->kind == COMMAND_RECORD)
			c->generation = ++c->event->recorded;
		gpu_enqueue(s, c);
	}
}

cu_result cuGraphLaunch(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
	struct cu_graph_launch_params p = {exec, stream};
	struct CUstream_st *s;

	BEGIN(cuGraphLaunch);
	s = stream_of(stream);
	if (!s || !exec)
		END(ERROR_INVALID_HANDLE);
	if (call.injected)
		gpu_peer_turn();
	standin_count(call.injected ? "replayed graphs" : "graphs", 1);
	enqueue_all(s, &exec->graph);
	END(CU_OK);
}

cu_result cuGraphExecDestroy(struct CUgraphExec_st *exec)
{
	struct {
		struct CUgraphExec_st *exec;
	} p = {exec};

	BEGIN(cuGraphExecDestroy);
	if (!exec)
		END(ERROR_INVALID_HANDLE);
	nodes_free(&exec->graph);
	free(exec);
	END(CU_OK);
}

/* ---- changing executable graphs ---- */

static cu_result change_kernel(struct CUgraphNode_st *mine, const struct cu_kernel_node *params)
{
	struct gpu_launch *l = mine ? &mine->command.launch : NULL;

	if (!mine || mine->type != CU_NODE_KERNEL)
		return CU_INVALID_VALUE;
	l->function = params->function;
	memcpy(l->grid, params->grid, sizeof(l->grid));
	memcpy(l->block, params->block, sizeof(l->block));
	return gpu_launch_arguments(l, params->arguments, params->extra) ? CU_OK : CU_INVALID_VALUE;
}

static cu_result change_copy(struct CUgraphNode_st *mine, const struct cu_copy_3d *params)
{
	if (!mine || mine->command.kind != COMMAND_COPY || params->height != 1 ||
	    params->depth != 1)
		return CU_INVALID_VALUE;
	mine->command.to = params->to.device + params->to.x_bytes;
	mine->command.from = params->from.device + params->from.x_bytes;
	mine->command.n = params->width_bytes;
	return CU_OK;
}

static cu_result change_fill(struct CUgraphNode_st *mine, const struct cu_set_node *params)
{
	if (!mine || mine->type != CU_NODE_MEMSET || params->height != 1)
		return CU_INVALID_VALUE;
	mine->command.to = params->to;
	mine->command.value = params->value;
	mine->command.width = params->element;
	mine->command.n = params->width;
	return CU_OK;
}

static cu_result change_inside(struct CUgraphNode_st *mine, const struct CUgraph_st *graph)
{
	if (!mine || !mine->inside || !graph || !is_same_shape(mine->inside, graph))
		return CU_INVALID_VALUE;
	nodes_take(mine->inside, graph);
	return CU_OK;
}

cu_result cuGraphExecKernelNodeSetParams_v2(struct CUgraphExec_st *exec,
					    struct CUgraphNode_st *node,
					    const struct cu_kernel_node *params)
{
	struct cu_exec_node_params p = {exec, node, {.kernel = params}};

	BEGIN(cuGraphExecKernelNodeSetParams_v2);
	END(change_kernel(exec ? node_called(&exec->graph, node) : NULL, params));
}

cu_result cuGraphExecMemcpyNodeSetParams(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
					 const struct cu_copy_3d *params, struct CUctx_st *context)
{
	struct {
		struct cu_exec_node_params node;
		struct CUctx_st *context;
	} p = {{exec, node, {.copy = params}}, context};

	BEGIN(cuGraphExecMemcpyNodeSetParams);
	END(change_copy(exec ? node_called(&exec->graph, node) : NULL, params));
}

cu_result cuGraphExecMemsetNodeSetParams(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
					 const struct cu_set_node *params, struct CUctx_st *context)
{
	struct {
		struct cu_exec_node_params node;
		struct CUctx_st *context;
	} p = {{exec, node, {.fill = params}}, context};

	BEGIN(cuGraphExecMemsetNodeSetParams);
	END(change_fill(exec ? node_called(&exec->graph, node) : NULL, params));
}

cu_result cuGraphExecChildGraphNodeSetParams(struct CUgraphExec_st *exec,
					     struct CUgraphNode_st *node, struct CUgraph_st *graph)
{
	struct cu_exec_node_params p = {exec, node, {.graph = graph}};

	BEGIN(cuGraphExecChildGraphNodeSetParams);
	END(change_inside(exec ? node_called(&exec->graph, node) : NULL, graph));
}

cu_result cuGraphExecEventRecordNodeSetEvent(struct CUgraphExec_st *exec,
					     struct CUgraphNode_st *node, struct CUevent_st *event)
{
	struct {
		struct CUgraphExec_st *exec;
		struct CUgraphNode_st *node;
		struct CUevent_st *event;
	} p = {exec, node, event};
	struct CUgraphNode_st *mine;

	BEGIN(cuGraphExecEventRecordNodeSetEvent);
	mine = exec ? node_called(&exec->graph, node) : NULL;
	if (!mine || mine->type != CU_NODE_EVENT_RECORD)
		END(CU_INVALID_VALUE);
	mine->command.event = event;
	END(CU_OK);
}

cu_result cuGraphExecNodeSetParams(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
				   const struct cu_node_params *params)
{
	struct cu_exec_node_params p = {exec, node, {.any = params}};
	struct CUgraphNode_st *mine;

	BEGIN(cuGraphExecNodeSetParams);
	mine = exec ? node_called(&exec->graph, node) : NULL;
	if (!mine || mine->type != params->type)
		END(CU_INVALID_VALUE);
	switch (params->type) {
	case CU_NODE_KERNEL:
		END(change_kernel(mine, &params->of.kernel));
	case CU_NODE_MEMCPY:
		END(change_copy(mine, &params->of.copy.box));
	case CU_NODE_MEMSET:
		END(change_fill(mine, &params->of.fill));
	case CU_NODE_GRAPH:
		END(change_inside(mine, params->of.graph));
	default: /* nothing of it is carried out */
		END(CU_OK);
	}
}

cu_result cuGraphNodeSetEnabled(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
				unsigned on)
{
	struct {
		struct CUgraphExec_st *exec;
		struct CUgraphNode_st *node;
		unsigned on;
	} p = {exec, node, on};
	struct CUgraphNode_st *mine;

	BEGIN(cuGraphNodeSetEnabled);
	mine = exec ? node_called(&exec->graph, node) : NULL;
	if (!mine || mine->type > CU_NODE_MEMSET)
		END(CU_INVALID_VALUE);
	mine->off = !on;
	END(CU_OK);
}

cu_result cuGraphExecStandin(struct CUgraphExec_st *exec)
{
	struct {
		struct CUgraphExec_st *exec;
	} p = {exec};

	BEGIN(cuGraphExecStandin);
	for (unsigned i = 0; i < exec->graph.n; i++)
		exec->graph.nodes[i]->off = true;
	END(CU_OK);
}
