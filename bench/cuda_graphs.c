/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What graphs cost, on the stand-in driver: making one of N nodes executable and launching it, for
 * a program that `retally run` watches or not, and launching one of M that there are.
 *
 *   export LD_LIBRARY_PATH=build/tests/standins/cuda
 *   build/bench/bench_cuda_graphs; build/src/cli/retally run --source cuda ... --
 * build/bench/bench_cuda_graphs
 */
#include "functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char image[] = "standin-module\nkernel update\nglobal total 4\nglobal table 1024\n";

static void check(cu_result result, int line)
{
	if (result)
		exit(fprintf(stderr, "bench_cuda_graphs: line %d: error %d\n", line, result) > 0);
}
#define works(call) check(call, __LINE__)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* the machine may be busy */
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct CUgraph_st *graph(struct CUfunc_st *f, struct CUstream_st *q, cu_ptr a,
				unsigned nodes)
{
	struct CUgraph_st *g;
	unsigned n = 1;

	works(cuStreamBeginCapture_v2(q, 0));
	for (unsigned i = 0; i < nodes; i++) {
		cu_ptr at = a + i * 4;

		works(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, q, (void *[]){&at, &n}, NULL));
	}
	works(cuStreamEndCapture(q, &g));
	return g;
}

static void of_nodes(struct CUfunc_st *f, struct CUstream_st *q, cu_ptr a, unsigned nodes)
{
	struct CUgraph_st *g = graph(f, q, a, nodes);
	struct CUgraphExec_st *exec;
	double begun = now(), made, launched;

	works(cuGraphInstantiateWithFlags(&exec, g, 0));
	made = now();
	works(cuGraphLaunch(exec, q));
	launched = now();
	works(cuStreamSynchronize(q));
	works(cuGraphExecDestroy(exec));
	works(cuGraphDestroy(g));
	printf("%8u nodes: made executable in %8.3f ms, launched in %8.3f ms\n", nodes,
	       made - begun, launched - made);
}

static void of_graphs(struct CUfunc_st *f, struct CUstream_st *q, cu_ptr a, unsigned n)
{
	struct CUgraph_st *g = graph(f, q, a, 1);
	struct CUgraphExec_st **execs = calloc(n, sizeof(struct CUgraphExec_st *));
	unsigned launches = 0;
	double begun;

	if (!execs)
		exit(1);
	for (unsigned i = 0; i < n; i++)
		works(cuGraphInstantiateWithFlags(&execs[i], g, 0));
	begun = now();
	for (unsigned i = 0; i < n; i += n / 100, launches++)
		works(cuGraphLaunch(execs[i], q));
	printf("%8u graphs: one launched in %8.3f us\n", n, (now() - begun) * 1e3 / launches);
	works(cuStreamSynchronize(q));
	for (unsigned i = 0; i < n; i++)
		works(cuGraphExecDestroy(execs[i]));
	works(cuGraphDestroy(g));
	free(execs);
}

int main(void)
{
	struct CUctx_st *context;
	struct CUstream_st *q;
	struct CUmod_st *m;
	struct CUfunc_st *f;
	cu_ptr a;

	works(cuInit(0));
	works(cuDevicePrimaryCtxRetain(&context, 0));
	works(cuCtxSetCurrent(context));
	works(cuModuleLoadData(&m, image));
	works(cuModuleGetFunction(&f, m, "update"));
	works(cuStreamCreate(&q, 1));
	works(cuMemAlloc_v2(&a, 1 << 20));
	of_graphs(f, q, a, 100); /* the counters are taken with the first launch */
	for (unsigned n = 100; n <= 100000; n *= 10)
		of_nodes(f, q, a, n);
	for (unsigned n = 100; n <= 10000; n *= 10)
		of_graphs(f, q, a, n);
	return 0;
}
