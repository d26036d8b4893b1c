// SPDX-License-Identifier: Apache-2.0
// Ways to launch: see traps.cu.
//   nvcc -O2 -arch=native -o traps_launches traps_launches.cu -lcuda
#include "traps.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void step(float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = a[i] * 0.75f + i % 7;
}
// All blocks together: what one wrote another reads after the barrier.
__global__ void together(float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		b[i] = a[i] * 0.5f + 1;
	cg::this_grid().sync();
	if (i < n)
		a[i] += b[n - 1 - i];
}
// Blocks of a cluster read each other's shared memory.
__global__ void neighbours(float *a, int n)
{
#if __CUDA_ARCH__ >= 900
	__shared__ float mine[256];
	cg::cluster_group cluster = cg::this_cluster();
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	mine[threadIdx.x] = i < n ? a[i] : 0;
	cluster.sync();
	float other = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x];
	cluster.sync();
	if (i < n)
		a[i] = a[i] * 0.5f + other;
#endif
}
// Begins before the kernel before it has ended, and waits for that one's memory.
__global__ void dependent(float *a, int n)
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = a[i] * 0.25f + 3;
#if __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
#endif
}
// Reaches nothing by parameters: it has none.
__device__ unsigned counted_alone[64];
__global__ void alone()
{
	atomicAdd(&counted_alone[threadIdx.x & 63], threadIdx.x + 1);
}
// By its name it is NCCL's, which is never replayed.
__global__ void ncclDevKernel_pretended(float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = a[i] * 0.5f + 2;
}

static CUfunction function_of(const void *kernel)
{
	cudaFunction_t f;
	CK(cudaGetFuncBySymbol(&f, kernel));
	return (CUfunction)f;
}
// A launch whose parameters are one block of bytes.
static void launch_packed(float *a, int n, cudaStream_t stream)
{
	struct {
		float *a;
		int n;
	} block = {a, n};
	size_t size = sizeof(a) + sizeof(n);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			 CU_LAUNCH_PARAM_END};
	CU(cuLaunchKernel(function_of((const void *)step), (n + 255) / 256, 1, 1, 256, 1, 1, 0,
			  (CUstream)stream, nullptr, extra));
}

static void case_packed()
{
	float *a = filled(N, 1);
	for (int i = 0; i < 5; i++)
		launch_packed(a, N, 0);
	CK(cudaDeviceSynchronize());
	show("packed", device_sum(a, N * 4));
	CK(cudaFree(a));
}
static void run_graph(const char *name, cudaGraph_t graph, float *a, float *b)
{
	cudaGraphExec_t exec;
	CK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		CK(cudaGraphLaunch(exec, 0));
	CK(cudaDeviceSynchronize());
	show(name, device_sum(a, N * 4) ^ device_sum(b, N * 4));
	CK(cudaGraphExecDestroy(exec));
	CK(cudaGraphDestroy(graph));
	CK(cudaFree(a));
	CK(cudaFree(b));
}
static void case_graph_large() // more nodes than fit a small list, with copies of the device
{
	float *a = filled(N, 1), *b = filled(N, 2);
	cudaStream_t s;
	cudaGraph_t graph;
	CK(cudaStreamCreate(&s));
	CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 1000; i++) {
		step<<<4, 256, 0, s>>>(a + i * 16, 1000);
		CK(cudaMemcpyAsync(b + i * 8, a + i * 4, 4096, cudaMemcpyDeviceToDevice, s));
	}
	CK(cudaStreamEndCapture(s, &graph));
	CK(cudaStreamDestroy(s));
	run_graph("graph large", graph, a, b);
}
static void case_graph_packed()
{
	float *a = filled(N, 1), *b = filled(N, 2);
	cudaStream_t s;
	cudaGraph_t graph;
	CK(cudaStreamCreate(&s));
	CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 3; i++) {
		launch_packed(a, N, s);
		step<<<GRID, 0, s>>>(b, N);
	}
	CK(cudaStreamEndCapture(s, &graph));
	CK(cudaStreamDestroy(s));
	run_graph("graph packed", graph, a, b);
}
static void case_graph_child()
{
	float *a = filled(N, 1), *b = filled(N, 2);
	cudaGraph_t graph, child;
	cudaGraphNode_t first, second;
	cudaStream_t s;
	CK(cudaStreamCreate(&s));
	CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	step<<<GRID, 0, s>>>(a, N);
	step<<<GRID, 0, s>>>(b, N);
	CK(cudaStreamEndCapture(s, &child));
	CK(cudaStreamDestroy(s));
	CK(cudaGraphCreate(&graph, 0));
	CK(cudaGraphAddChildGraphNode(&first, graph, nullptr, 0, child));
	CK(cudaGraphAddChildGraphNode(&second, graph, &first, 1, child));
	CK(cudaGraphDestroy(child));
	run_graph("graph child", graph, a, b);
}
static void case_cooperative()
{
	int n = 8192;
	float *a = filled(n, 1), *b = filled(n, 2);
	void *arguments[] = {&a, &b, &n};
	for (int i = 0; i < 4; i++)
		CK(cudaLaunchCooperativeKernel((const void *)together, dim3(32), dim3(256),
					       arguments, 0, 0));
	CK(cudaDeviceSynchronize());
	show("cooperative", device_sum(a, n * 4) ^ device_sum(b, n * 4));
	CK(cudaFree(a));
	CK(cudaFree(b));
}
static void run_with(const char *name, cudaLaunchAttribute attribute, void (*kernel)(float *, int), int times)
{
	float *a = filled(N, 1);
	cudaLaunchConfig_t how = {};
	how.gridDim = dim3(N / 256);
	how.blockDim = dim3(256);
	how.attrs = &attribute;
	how.numAttrs = 1;
	for (int i = 0; i < times; i++)
		CK(cudaLaunchKernelEx(&how, kernel, a, N));
	CK(cudaDeviceSynchronize());
	show(name, device_sum(a, N * 4));
	CK(cudaFree(a));
}
static void case_clusters()
{
	cudaLaunchAttribute pairs = {};
	pairs.id = cudaLaunchAttributeClusterDimension;
	pairs.val.clusterDim.x = 2;
	pairs.val.clusterDim.y = pairs.val.clusterDim.z = 1;
	run_with("clusters", pairs, neighbours, 5);
}
static void case_dependent()
{
	cudaLaunchAttribute early = {};
	early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	early.val.programmaticStreamSerializationAllowed = 1;
	run_with("dependent", early, dependent, 8);
}
static void case_alone()
{
	unsigned x[64];
	for (int i = 0; i < 5; i++)
		alone<<<4, 128>>>();
	CK(cudaMemcpyFromSymbol(x, counted_alone, sizeof(x)));
	show("alone", sum_bytes(x, sizeof(x)));
}
static void case_collective() // never replayed, and launched often enough for all passes
{
	float *a = filled(N, 1);
	for (int i = 0; i < 40; i++) {
		ncclDevKernel_pretended<<<GRID>>>(a, N);
		step<<<GRID>>>(a, N);
		if (i % 4 == 3)
			CK(cudaDeviceSynchronize());
	}
	show("collective", device_sum(a, N * 4));
	CK(cudaFree(a));
}

int main(int argc, char **argv)
{
	static const trap cases[] = {
		{"packed", case_packed},
		{"graph_large", case_graph_large},
		{"graph_packed", case_graph_packed},
		{"graph_child", case_graph_child},
		{"cooperative", case_cooperative},
		{"clusters", case_clusters},
		{"dependent", case_dependent},
		{"alone", case_alone},
		{"collective", case_collective},
	};
	return trap_main(argc, argv, cases);
}
