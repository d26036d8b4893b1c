// SPDX-License-Identifier: Apache-2.0
// MPI ranks that share a GPU: kernels, and an all-reduce of what they computed. Rank 0 prints every step.
//   nvcc -O2 -ccbin mpicxx -o ranks ranks.cu
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <mpi.h>

#define CK(x)                                                                            \
	do {                                                                             \
		cudaError_t result_ = (x);                                               \
		if (result_ != cudaSuccess) {                                            \
			fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(result_));    \
			MPI_Abort(MPI_COMM_WORLD, 1);                                    \
		}                                                                        \
	} while (0)

__global__ void step(float *a, int n, int rank)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = a[i] * 0.5f + (float)(i % 7 + rank);
}
__global__ void total(const float *a, int n, unsigned *sum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(sum, (unsigned)a[i]);
}

int main(int argc, char **argv)
{
	int rank, size, n = 1 << 18, steps = argc > 1 ? atoi(argv[1]) : 6;
	float *a;
	unsigned *sum, mine, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	CK(cudaMalloc(&a, n * 4));
	CK(cudaMalloc(&sum, 4));
	CK(cudaMemset(a, 0, n * 4));
	for (int i = 0; i < steps; i++) {
		CK(cudaMemset(sum, 0, 4));
		for (int k = 0; k < 5; k++)
			step<<<n / 256, 256>>>(a, n, rank);
		total<<<n / 256, 256>>>(a, n, sum);
		CK(cudaMemcpy(&mine, sum, 4, cudaMemcpyDeviceToHost));
		MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
		if (!rank)
			printf("step %d: %u\n", i, all);
	}
	MPI_Finalize();
	return 0;
}
