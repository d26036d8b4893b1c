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
	e->graph.n = graph->n;
	for (unsigned i = 0; i < graph->n; i++) {
		e->graph.nodes[i] = malloc(sizeof(*e->graph.nodes[i]));
		if (!e->graph.nodes[i])
			abort();
		*e->graph.nodes[i] = *graph->nodes[i];
	}
	*exec = e;
	END(CU_OK);
}

cu_result cuGraphLaunch(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
	struct cu_graph_launch_params p = {exec, stream};
	struct CUstream_st *s;

	BEGIN(cuGraphLaunch);
	s = stream_of(stream);
	if (!s || !exec)
		END(ERROR_INVALID_HANDLE);
	standin_count(call.injected ? "replayed graphs" : "graphs", 1);
	for (unsigned i = 0; i < exec->graph.n; i++) {
		struct gpu_command *c = gpu_command_new(COMMAND_SET);

		*c = exec->graph.nodes[i]->command;
		if (c->kind == COMMAND_RECORD)
			c->generation = ++c->event->recorded;
		gpu_enqueue(s, c);
	}
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
