/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of graphs, which are one launch with much inside, and of kernels that wait for others
 * elsewhere, alone or in a graph. */
#include "cuda_traps.h"

#include <string.h>

void graph(void)
{
	struct CUgraph_st *g;
	struct CUgraphExec_st *exec;

	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", &a, &n);
	works(cuMemsetD8Async(b, 0, 1024, q));
	launch(q, "histogram", &a, &b, &n);
	works(cuStreamEndCapture(q, &g));
	works(cuGraphInstantiateWithFlags(&exec, g, 0));
	for (int i = 0; i < 4; i++)
		works(cuGraphLaunch(exec, q));
	launch(q, "update", &b, &n);
	works(cuStreamSynchronize(q));
	works(cuGraphExecDestroy(exec));
	works(cuGraphDestroy(g));
}

/* A stream is captured that has work to do. */
void capture(void)
{
	struct CUgraph_st *g;
	struct CUgraphExec_st *e;

	for (int i = 0; i < 3; i++) {
		launch(q, "update", &a, &n);
		works(cuStreamBeginCapture_v2(q, 0));
		launch(q, "update", &b, &n);
		launch(q2, "update", &c, &n);
		works(cuStreamEndCapture(q, &g));
		works(cuGraphInstantiateWithFlags(&e, g, 0));
		works(cuGraphLaunch(e, q));
		works(cuStreamSynchronize(q));
		works(cuGraphExecDestroy(e));
		works(cuGraphDestroy(g));
	}
}

/* A variable that no plain launch ever told of, and a copy on the device. */
void graph_only(void)
{
	static const char image[] =
		"standin-module\nkernel globals\nglobal total 4\nglobal table 1024\n";
	struct CUgraph_st *g;
	struct CUgraphExec_st *exec;
	struct CUmod_st *m;
	struct CUfunc_st *f;
	cu_ptr table;

	works(cuModuleLoadData(&m, image));
	works(cuModuleGetFunction(&f, m, "globals"));
	works(cuStreamBeginCapture_v2(q, 0));
	works(cuLaunchKernel(f, 20, 1, 1, 256, 1, 1, 0, q, (void *[]){&a, &n}, NULL));
	works(cuMemcpyDtoDAsync_v2(b, a, BYTES / 2, q));
	launch(q, "update", &a, &n);
	works(cuStreamEndCapture(q, &g));
	works(cuGraphInstantiateWithFlags(&exec, g, 0));
	for (int i = 0; i < 3; i++)
		works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));
	works(cuModuleGetGlobal_v2(&table, NULL, m, "table"));
	show("graph table", hash(table, 1024));
	works(cuGraphExecDestroy(exec));
	works(cuGraphDestroy(g));
	works(cuModuleUnload(m));
}

static void count(void *data)
{
	++*(unsigned *)data;
}

static void launch_once(struct CUgraph_st *g, unsigned flags)
{
	struct CUgraphExec_st *exec;

	works(cuGraphInstantiateWithFlags(&exec, g, flags));
	works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));
	works(cuGraphExecDestroy(exec));
}

/* A kernel, and something that cannot be done again. */
static void with_node(int type, struct CUgraph_st *inside, struct CUevent_st *event)
{
	struct standin_node params = {.type = type};
	struct CUgraphNode_st *node;
	struct CUgraph_st *g;

	if (inside)
		params.of.graph = inside;
	if (event)
		params.of.event = event;
	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", &a, &n);
	works(cuStreamEndCapture(q, &g));
	works(cuGraphAddNode(&node, g, NULL, 0, &params));
	launch_once(g, 0);
	works(cuGraphDestroy(g));
}

/* The same from calls that are captured. */
static void captured(void (*calls)(void *data), void *data)
{
	struct CUgraph_st *g;

	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", &a, &n);
	calls(data);
	works(cuStreamEndCapture(q, &g));
	launch_once(g, 0);
	works(cuGraphDestroy(g));
}

static void call_host(void *data)
{
	works(cuLaunchHostFunc(q, count, data));
}

static void copy_out(void *data)
{
	works(cuMemcpyDtoHAsync_v2(data, a, 64, q));
}

static void answer_host(void *data)
{
	launch(q, "answer", &data, &a);
}

static void reduce(void *data)
{
	(void)data;
	launch(q, "ncclDevKernel_update", &b, &n);
}

/* An executable graph gets other kernels: a collective among them. */
static void updated_to_collective(void)
{
	struct CUgraph_st *before, *after;
	struct CUgraphExec_st *exec;

	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", &b, &n);
	works(cuStreamEndCapture(q, &before));
	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "ncclDevKernel_update", &b, &n);
	works(cuStreamEndCapture(q, &after));
	works(cuGraphInstantiateWithFlags(&exec, before, 0));
	works(cuGraphLaunch(exec, q)); /* replayed */
	works(cuGraphExecUpdate_v2(exec, after, NULL));
	works(cuGraphLaunch(exec, q));
	works(cuStreamSynchronize(q));
	works(cuGraphExecDestroy(exec));
	works(cuGraphDestroy(before));
	works(cuGraphDestroy(after));
}

/* One of each kind that is launched once and not again. Only by name. */
void graph_kinds(void)
{
	static const int others[] = {CU_NODE_SEMAPHORE_SIGNAL, CU_NODE_ALLOCATE, CU_NODE_WORDS,
				     CU_NODE_CONDITIONAL, 99};
	unsigned times = 0, *pinned;
	struct CUgraph_st *inside, *g;
	struct CUevent_st *event;

	works(cuMemAllocHost_v2((void **)&pinned, 64));
	works(cuEventCreate(&event, 2));
	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", &c, &n);
	works(cuStreamEndCapture(q, &inside));
	with_node(CU_NODE_GRAPH, inside, NULL); /* replayed */
	with_node(CU_NODE_EVENT_RECORD, NULL, event);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		with_node(others[i], NULL, NULL);
	captured(call_host, &times);
	captured(copy_out, pinned);
	captured(answer_host, pinned);
	captured(reduce, NULL);
	updated_to_collective();
	works(cuStreamBeginCapture_v2(q, 0));
	launch(q, "update", &a, &n);
	works(cuStreamEndCapture(q, &g));
	launch_once(g, CU_GRAPH_FOR_DEVICE);
	launch_once(g, 0); /* replayed: the other is gone */
	works(cuGraphDestroy(g));
	works(cuGraphDestroy(inside));
	works(cuEventDestroy_v2(event));
	show("host", times);
	show("copied out", hash_bytes((unsigned char *)pinned, 64));
	works(cuMemFreeHost(pinned));
}

/* Names and ways to launch by which kernels are told that wait for others elsewhere; a module with
 * NVSHMEM's state, whose kernels have names of their own. Only by name. */
void collectives(void)
{
	static const char image[] =
		"standin-module\nkernel add\nconstant nvshmemi_device_state_d 64\n";
	struct CUmod_st *m;
	struct CUfunc_st *f;
	struct standin_launch several = {.function = function("update"),
					 .grid = {20, 1, 1},
					 .block = {256, 1, 1},
					 .stream = q,
					 .list = (void *[]){&a, &n}};

	launch(q, "ncclDevKernel_update", &a, &n);
	launch(q, "ncclKernel_AllReduce_RING_LL", &b, &n);
	launch(q, "nvshmemi_transfer_rma", &c, &n);
	works(cuModuleLoadData(&m, image));
	works(cuModuleGetFunction(&f, m, "add"));
	works(cuLaunchKernel(f, 20, 1, 1, 256, 1, 1, 0, q, (void *[]){&a, &b, &c, &n}, NULL));
	works(cuLaunchCooperativeKernelMultiDevice(&several, 1, 0));
	launch(q, "update", &a, &n);
}
