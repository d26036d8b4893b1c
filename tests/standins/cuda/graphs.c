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

static void nodes_free(struct CUgraph_st *graph)
{
	for (unsigned i = 0; i < graph->n; i++)
		free(graph->nodes[i]);
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

	BEGIN_PLAIN(cuGraphGetNodes);
	if (!graph)
		END(ERROR_INVALID_HANDLE);
	for (unsigned i = 0; nodes && i < graph->n && i < *n; i++)
		nodes[i] = graph->nodes[i];
	*n = graph->n;
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

cu_result cuGraphKernelNodeGetParams_v2(struct CUgraphNode_st *node, struct cu_kernel_node *params)
{
	struct {
		struct CUgraphNode_st *node;
		struct cu_kernel_node *params;
	} p = {node, params};

	BEGIN_PLAIN(cuGraphKernelNodeGetParams_v2);
	if (!node || node->type != CU_NODE_KERNEL)
		END(CU_INVALID_VALUE);
	*params =
		(struct cu_kernel_node){.function = node->command.launch.function,
					.context = node->command.launch.function->module->context};
	params->arguments = node->arguments;
	for (unsigned i = 0; i < params->function->kernel->n; i++)
		node->arguments[i] = node->command.launch.arguments +
				     gpu_kernel_offset(params->function->kernel, i);
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
	if (!graph || graph->n == GPU_NODES || params->type <= CU_NODE_HOST)
		END(CU_INVALID_VALUE);
	made = calloc(1, sizeof(*made));
	if (!made)
		abort();
	made->type = params->type;
	made->command.kind = COMMAND_NOTHING;
	if (params->type == CU_NODE_GRAPH)
		made->inside = params->of.graph;
	if (params->type == CU_NODE_EVENT_RECORD) {
		made->command.kind = COMMAND_RECORD;
		made->command.event = params->of.event;
	}
	graph->nodes[graph->n++] = made;
	*node = made;
	END(CU_OK);
}

static void nodes_copy(struct CUgraphExec_st *e, const struct CUgraph_st *graph)
{
	e->graph.n = graph->n;
	for (unsigned i = 0; i < graph->n; i++) {
		e->graph.nodes[i] = malloc(sizeof(*e->graph.nodes[i]));
		if (!e->graph.nodes[i])
			abort();
		*e->graph.nodes[i] = *graph->nodes[i];
	}
}

/* What it found different is not told. */
cu_result cuGraphExecUpdate_v2(struct CUgraphExec_st *exec, struct CUgraph_st *graph, void *found)
{
	struct {
		struct CUgraphExec_st *exec;
		struct CUgraph_st *graph;
		void *found;
	} p = {exec, graph, found};
	bool same;

	BEGIN(cuGraphExecUpdate_v2);
	same = exec && graph && exec->graph.n == graph->n;
	for (unsigned i = 0; same && i < graph->n; i++)
		same = graph->nodes[i]->type == exec->graph.nodes[i]->type;
	if (!same)
		END(CU_INVALID_VALUE);
	nodes_free(&exec->graph);
	nodes_copy(exec, graph);
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
	nodes_copy(e, graph);
	*exec = e;
	END(CU_OK);
}

static void enqueue_all(struct CUstream_st *s, const struct CUgraph_st *graph)
{
	for (unsigned i = 0; i < graph->n; i++) {
		struct gpu_command *c;

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
