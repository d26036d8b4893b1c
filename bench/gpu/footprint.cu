// SPDX-License-Identifier: Apache-2.0
// A kernel that could write 60 GB and writes 4 KB: what replaying it costs. Prints a checksum and the loop's time.
//   nvcc -O2 -arch=native -o footprint footprint.cu        ./footprint GIB ROUNDS [sync]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CK(x)                                                                            \
	do {                                                                             \
		cudaError_t result_ = (x);                                               \
		if (result_ != cudaSuccess) {                                            \
			fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(result_));    \
			return 1;                                                        \
		}                                                                        \
	} while (0)

__global__ void fill(unsigned *a, size_t n)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		a[i] = (unsigned)(i * 2654435761u);
}
__global__ void touch(unsigned *a, size_t at)
{
	a[at + threadIdx.x] = a[at + threadIdx.x] * 3 + 1;
}

int main(int argc, char **argv)
{
	size_t n = (argc > 1 ? strtoull(argv[1], nullptr, 0) : 60) << 28;
	int rounds = argc > 2 ? atoi(argv[2]) : 10;
	bool sync = argc > 3 && !strcmp(argv[3], "sync");
	unsigned *a, part[1024], sum = 0;

	CK(cudaMalloc(&a, n * 4));
	fill<<<4096, 256>>>(a, n);
	CK(cudaDeviceSynchronize());
	auto t = std::chrono::steady_clock::now();
	for (int i = 0; i < rounds; i++) {
		touch<<<1, 1024>>>(a, n / 2);
		if (sync)
			CK(cudaDeviceSynchronize());
	}
	CK(cudaDeviceSynchronize());
	double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count();
	CK(cudaMemcpy(part, a + n / 2, 4096, cudaMemcpyDeviceToHost));
	for (unsigned v : part)
		sum = sum * 31 + v;
	printf("sum %u\n", sum);
	fprintf(stderr, "loop_ms %.3f\n", ms);
	return 0;
}
