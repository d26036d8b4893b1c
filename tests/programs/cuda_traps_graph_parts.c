/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of graphs by what their nodes are given, of graphs that are changed after they were made,
 * and of many nodes and many graphs. */
#include "cuda_traps.h"

#include <stdlib.h>
#include <string.h>

static struct CUgraph_st *capture_end(void)
{
	struct CUgraph_st *g;

	works(cuStreamEndCapture(q, &g));
	return g;
}

static struct CUgraphExec_st *make(struct CUgraph_st *g)
{
	struct CUgraphExec_st *exec;

	works(cuGraphInstantiateWithFlags(&exec, g, 0));
	return exec;
}

static void launch_packed(const char *name, void *bytes, size_t size)
{
	void *extra[] = {CU_EXTRA_SIZE, &size, CU_EXTRA_POINTER, bytes, CU_EXTRA_END};

	works(cuLaunchKernel(function(name), 20, 1, 1, 256, 1, 1, 0, q, NULL, extra));
}

static void end(struct CUgraphExec_st *exec, struct CUgraph_st *g)
{
	works(cuStreamSynchronize(q));
	works(cuGraphExecDestroy(exec));
	works(cuGraphDestroy(g));
}

/* A graph of one update, `levels` graphs deep. */
static struct CUgraph_st *nested(cu_ptr *x, int levels)
{
	struct CUgraph_st *inside, *g;

	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", x, &n);
	for (g = capture_end(); levels; levels--) {
		struct standin_node params = {.type = CU_NODE_GRAPH};
		struct CUgraphNode_st *node;

		inside = g;
		params.of.graph = inside;
		works(cuGraphCreate(&g, 0));
		works(cuGraphAddNode(&node, g, NULL, 0, &params));
		works(cuGraphDestroy(inside)); /* the node has a copy */
	}
	return g;
}

/* One node of each kind that can be done again, and graphs inside each other. */
void graph_whole(void)
{
	struct standin_node params = {.type = CU_NODE_GRAPH};
	struct CUgraphNode_st *node;
	struct CUgraphExec_st *exec;
	struct CUgraph_st *g;

	params.of.graph = nested(&c, 2);
	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", &a, &n);
	works(cuMemsetD8Async(b, 0, 1024, q));
	launch(q, "histogram", &a, &b, &n);
	works(cuMemcpyDtoDAsync_v2(b + 2048, a, 4096, q));
	g = capture_end();
	works(cuGraphAddNode(&node, g, NULL, 0, &params));
	exec = make(g);
	for (int i = 0; i < 3; i++)
		works(cuGraphLaunch(exec, q));
	end(exec, g);
	works(cuGraphDestroy(params.of.graph));
}

/* Parameters in one buffer, of launches and of nodes: what they name is the device's, then the
 * host's. Only by name. */
void graph_packed(void)
{
	struct {
		cu_ptr a;
		unsigned n;
	} update = {a, n};
	struct {
		cu_ptr flag, a;
	} answer;
	struct CUgraph_st *g;
	struct CUgraphExec_st *exec;
	unsigned *pinned;

	works(cuMemAllocHost_v2((void **)&pinned, 64));
	answer.flag = (cu_ptr)(uintptr_t)pinned;
	answer.a = a;
	launch_packed("update", &update, sizeof(update));
	works(cuStreamBeginCapture_v2(q, 0));
	launch_packed("update", &update, sizeof(update));
	launch(q, "histogram", &a, &b, &n);
	g = capture_end();
	exec = make(g);
	for (int i = 0; i < 3; i++)
		works(cuGraphLaunch(exec, q));
	end(exec, g);
	works(cuStreamBeginCapture_v2(q, 0));
	launch_packed("answer", &answer, sizeof(answer));
	launch(q, "update", &a, &n);
	g = capture_end();
	exec = make(g);
	works(cuGraphLaunch(exec, q));
	end(exec, g);
	works(cuStreamBeginCapture_v2(q, 0));
	works(cuMemsetD32Async(answer.flag + 4, 7, 4, q));
	launch(q, "update", &a, &n);
	g = capture_end();
	exec = make(g);
	works(cuGraphLaunch(exec, q));
	end(exec, g);
	show("pinned", *pinned);
	works(cuMemFreeHost(pinned));
}

static struct cu_copy_3d row(cu_ptr to, cu_ptr from, size_t bytes)
{
	return (struct cu_copy_3d){.from = {.memory_type = CU_MEMORY_UNIFIED, .device = from},
				   .to = {.memory_type = CU_MEMORY_UNIFIED, .device = to},
				   .width_bytes = bytes,
				   .height = 1,
				   .depth = 1};
}

/* A graph of an update of a, a fill of b and a copy to it, and of an update inside. */
static struct CUgraph_st *four(struct CUgraphNode_st *nodes[4])
{
	struct standin_node params = {.type = CU_NODE_GRAPH};
	struct CUgraphNode_st *node;
	struct CUgraph_st *g;
	size_t n_nodes = 4;

	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", &a, &n);
	works(cuMemsetD32Async(b, 7, 64, q));
	works(cuMemcpyDtoDAsync_v2(b + 256, a, 256, q));
	g = capture_end();
	params.of.graph = nested(&a, 0);
	works(cuGraphAddNode(&node, g, NULL, 0, &params));
	works(cuGraphDestroy(params.of.graph));
	works(cuGraphGetNodes(g, nodes, &n_nodes));
	return g;
}

/* By the call of that kind of node, or by the one for all kinds. */
static bool by_one_call;
static struct CUctx_st *current;

static void change_kernel(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
			  struct cu_kernel_node *kernel)
{
	struct cu_node_params any = {.type = CU_NODE_KERNEL, .of = {.kernel = *kernel}};

	works(by_one_call ? cuGraphExecNodeSetParams(exec, node, &any)
			  : cuGraphExecKernelNodeSetParams_v2(exec, node, kernel));
}

static void change_fill(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
			struct cu_set_node *fill)
{
	struct cu_node_params any = {.type = CU_NODE_MEMSET, .of = {.fill = *fill}};

	works(by_one_call ? cuGraphExecNodeSetParams(exec, node, &any)
			  : cuGraphExecMemsetNodeSetParams(exec, node, fill, current));
}

static void change_copy(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
			struct cu_copy_3d *copy)
{
	struct cu_node_params any = {.type = CU_NODE_MEMCPY, .of = {.copy = {.box = *copy}}};

	works(by_one_call ? cuGraphExecNodeSetParams(exec, node, &any)
			  : cuGraphExecMemcpyNodeSetParams(exec, node, copy, current));
}

static void change_inside(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
			  struct CUgraph_st *inside)
{
	struct cu_node_params any = {.type = CU_NODE_GRAPH, .of = {.graph = inside}};

	works(by_one_call ? cuGraphExecNodeSetParams(exec, node, &any)
			  : cuGraphExecChildGraphNodeSetParams(exec, node, inside));
}

static void change_event(struct CUgraphExec_st *exec, struct CUgraphNode_st *node,
			 struct CUevent_st *event)
{
	struct cu_node_params any = {.type = CU_NODE_EVENT_RECORD};

	works(by_one_call ? cuGraphExecNodeSetParams(exec, node, &any)
			  : cuGraphExecEventRecordNodeSetEvent(exec, node, event));
}

/* Each part of an executable graph is changed between two launches that nothing else comes between:
 * to what can be done again, then to what cannot. */
void graph_changed(void)
{
	struct standin_node params = {.type = CU_NODE_EVENT_RECORD};
	struct cu_kernel_node kernel = {.grid = {20, 1, 1}, .block = {256, 1, 1}};
	struct cu_set_node fill = {
		.to = b + 64, .value = 9, .element = 4, .width = 200, .height = 1};
	struct CUgraphNode_st *nodes[4], *others[4], *node;
	struct CUgraph_st *g, *other, *inside, *host;
	struct CUgraphExec_st *exec;
	struct CUevent_st *event;
	struct cu_copy_3d copy;
	unsigned *pinned;
	cu_ptr flag;

	works(cuCtxGetCurrent(&current));
	works(cuMemAllocHost_v2((void **)&pinned, 4096));
	flag = (cu_ptr)(uintptr_t)pinned;
	g = four(nodes);
	inside = nested(&c, 0);

	/* Replayed: nine launches. */
	exec = make(g);
	works(cuGraphLaunch(exec, q));
	kernel.function = function("histogram");
	kernel.arguments = (void *[]){&a, &b, &n};
	change_kernel(exec, nodes[0], &kernel);
	works(cuGraphLaunch(exec, q));
	change_fill(exec, nodes[1], &fill);
	works(cuGraphLaunch(exec, q));
	copy = row(b + 512, a, 128);
	change_copy(exec, nodes[2], &copy);
	works(cuGraphLaunch(exec, q));
	change_inside(exec, nodes[3], inside);
	works(cuGraphLaunch(exec, q));
	works(cuGraphNodeSetEnabled(exec, nodes[0], 0));
	works(cuGraphLaunch(exec, q));
	works(cuGraphNodeSetEnabled(exec, nodes[0], 1));
	works(cuGraphLaunch(exec, q));
	if (cuGraphExecUpdate_v2(exec, inside, NULL) != 910) /* not of the same shape */
		exit(1);
	works(cuGraphLaunch(exec, q));
	other = four(others);
	works(cuGraphExecUpdate_v2(exec, other, NULL));
	works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));

	/* Not replayed: a launch each, after one of an update to what can be. */
	kernel.function = function("answer");
	kernel.arguments = (void *[]){&flag, &a};
	change_kernel(exec, nodes[0], &kernel);
	works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));
	works(cuGraphExecUpdate_v2(exec, other, NULL));
	works(cuGraphLaunch(exec, q)); /* replayed */
	fill.to = flag + 1024;
	change_fill(exec, nodes[1], &fill);
	works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));
	works(cuGraphExecUpdate_v2(exec, other, NULL));
	copy = row(flag + 2048, a, 128);
	change_copy(exec, nodes[2], &copy);
	works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));
	works(cuGraphExecUpdate_v2(exec, other, NULL));
	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "ncclDevKernel_update", &b, &n);
	host = capture_end();
	change_inside(exec, nodes[3], host);
	works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));
	works(cuGraphExecUpdate_v2(exec, other, NULL));
	works(cuGraphLaunch(exec, q)); /* replayed */
	end(exec, g);

	works(cuEventCreate(&event, 2));
	params.of.event = event;
	works(cuGraphAddNode(&node, other, NULL, 0, &params));
	exec = make(other);
	change_event(exec, node, event);
	works(cuGraphLaunch(exec, q));
	end(exec, other);
	works(cuEventDestroy_v2(event));
	works(cuGraphDestroy(inside));
	works(cuGraphDestroy(host));
	show("pinned", hash_bytes((unsigned char *)pinned, 4096));
	works(cuMemFreeHost(pinned));
}

void graph_changed_too(void)
{
	by_one_call = true;
	graph_changed();
}

/* A call that no list knows changes one. Only by name: no graph is replayed after it. */
void graph_doubted(void)
{
	struct CUgraph_st *g = nested(&a, 0);
	struct CUgraphExec_st *exec = make(g);

	works(cuGraphLaunch(exec, q)); /* replayed */
	works(cuGraphExecStandin(exec));
	works(cuGraphLaunch(exec, q));
	works(cuGraphExecDestroy(exec));
	exec = make(g);
	works(cuGraphLaunch(exec, q));
	end(exec, g);
}

/* Graphs inside each other, as deep as they are followed and one more; a kernel's node that kernels
 * may change; graphs that are made or launched where another context is current. Only by name. */
void graph_contexts(void)
{
	struct CUgraphExec_st *exec, *made_there;
	struct CUgraph_st *g;
	struct CUgraphNode_st *node;
	struct CUctx_st *here, *other;
	size_t one = 1;
	int yes = 1;

	for (int levels = 16; levels <= 17; levels++) {
		g = nested(&b, levels);
		exec = make(g);
		works(cuGraphLaunch(exec, q));
		end(exec, g);
	}
	g = nested(&b, 0);
	works(cuGraphGetNodes(g, &node, &one));
	works(cuGraphKernelNodeSetAttribute(node, CU_ATTRIBUTE_UPDATABLE_NODE, &yes));
	exec = make(g);
	works(cuGraphLaunch(exec, q));
	end(exec, g);

	g = nested(&b, 0);
	exec = make(g);
	works(cuCtxGetCurrent(&here));
	works(cuCtxCreate_v2(&other, 0, 0));
	made_there = make(g);
	works(cuGraphLaunch(exec, NULL));
	works(cuGraphLaunch(made_there, NULL));
	works(cuCtxSynchronize());
	works(cuGraphExecDestroy(made_there));
	works(cuCtxDestroy_v2(other));
	works(cuCtxSetCurrent(here));
	end(exec, g);
}

/* Only by name, as is the next: nothing but large. */
void graph_large(void)
{
	struct CUgraph_st *g;
	struct CUgraphExec_st *exec;
	unsigned few = 64, *pinned;

	works(cuStreamBeginCapture_v2(q, 0));
	for (unsigned i = 0; i < 3000; i++) {
		cu_ptr at = a + i % 64 * 256;

		launch(q, "update", &at, &few);
	}
	g = capture_end();
	exec = make(g);
	for (int i = 0; i < 3; i++)
		works(cuGraphLaunch(exec, q));
	end(exec, g);

	/* What the first of many names is not forgotten. */
	works(cuMemAllocHost_v2((void **)&pinned, 64));
	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "answer", &pinned, &a);
	for (unsigned i = 0; i < 100; i++) {
		cu_ptr at = a + i * 4;

		launch(q, "update", &at, &few);
	}
	g = capture_end();
	exec = make(g);
	works(cuGraphLaunch(exec, q));
	end(exec, g);
	show("pinned", *pinned);
	works(cuMemFreeHost(pinned));
}

/* More graphs than a list would like; each is found again, and each that is gone is not. */
void graph_many(void)
{
	static struct CUgraphExec_st *execs[10000];
	struct CUgraph_st *g = nested(&a, 0);

	for (int i = 0; i < 10000; i++)
		execs[i] = make(g);
	for (int i = 0; i < 10000; i += 2)
		works(cuGraphExecDestroy(execs[i]));
	for (int i = 1; i < 10000; i += 1000)
		works(cuGraphLaunch(execs[i], q));
	works(cuStreamSynchronize(q));
	for (int i = 1; i < 10000; i += 2)
		works(cuGraphExecDestroy(execs[i]));
	works(cuGraphDestroy(g));
}

/* A kernel without parameters, launched with no list. Between two launches a module is loaded that
 * has nothing to do with it. */
void graph_bare(void)
{
	static const char image[] = "standin-module\nkernel tally\nglobal total 4\n";
	struct CUgraphExec_st *exec;
	struct CUgraph_st *g;
	struct CUmod_st *m, *other;
	struct CUfunc_st *f;
	cu_ptr total;

	works(cuModuleLoadData(&m, image));
	works(cuModuleGetFunction(&f, m, "tally"));
	works(cuStreamBeginCapture_v2(q, 0));
	works(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, q, NULL, NULL));
	g = capture_end();
	exec = make(g);
	works(cuGraphLaunch(exec, q));
	works(cuModuleLoadData(&other, "standin-module\nkernel update\n"));
	works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));
	works(cuModuleGetGlobal_v2(&total, NULL, m, "total"));
	show("graph total", hash(total, 4));
	end(exec, g);
	works(cuModuleUnload(other));
	works(cuModuleUnload(m));
}

/* Variables of a graph's module that are seen only once another module with such names is loaded.
 */
void graph_late(void)
{
	static const char image[] = "standin-module\nkernel globals\n"
				    "hidden late_total 4\nhidden late_table 1024\n";
	static const char named[] = "standin-module\nkernel update\n"
				    "global late_total 4\nglobal late_table 1024\n";
	struct CUmod_st *m, *other;
	struct CUgraphExec_st *exec;
	struct CUgraph_st *g;
	struct CUfunc_st *f;
	cu_ptr there;

	works(cuModuleLoadData(&m, image));
	works(cuModuleGetFunction(&f, m, "globals"));
	works(cuStreamBeginCapture_v2(q, 0));
	works(cuLaunchKernel(f, 20, 1, 1, 256, 1, 1, 0, q, (void *[]){&a, &n}, NULL));
	g = capture_end();
	exec = make(g);
	works(cuGraphLaunch(exec, q));
	works(cuModuleLoadData(&other, named));
	for (int i = 0; i < 2; i++) {
		works(cuGraphLaunch(exec, q));
		works(cuStreamSynchronize(q));
	}
	works(cuModuleGetGlobal_v2(&there, NULL, m, "late_table"));
	show("late table of a graph", hash(there, 1024));
	end(exec, g);
}
