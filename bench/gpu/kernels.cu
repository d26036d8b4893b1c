// SPDX-License-Identifier: Apache-2.0
// Three kernels in turn, for timing profilers: a stream (no reuse), an update in place, a histogram
// with atomics. Prints a checksum and the time of the loop.
// The histogram's 2 KB lie in as many places as PLACES says, one a round in turn: where they lie decides which slices of
// the L2 do the atomics, and with it how long they take.
//   nvcc -O2 -arch=native -o kernels kernels.cu        ./kernels ELEMENTS ROUNDS [PLACES]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CK(x)                                                                            \
	do {                                                                             \
		cudaError_t result_ = (x);                                               \
		if (result_ != cudaSuccess) {                                            \
			fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(result_));    \
			return 1;                                                        \
		}                                                                        \
	} while (0)

__global__ void triad(const float *x, const float *y, float *z, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i < n)
		z[i] = x[i] + 3.0f * y[i];
}
__global__ void relax(float *x, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i < n)
		x[i] = 0.99f * x[i] + 0.5f;
}
__global__ void bins(const float *z, unsigned *count, size_t n)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&count[(unsigned)z[i] % 512], 1u);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1 << 20;
	int rounds = argc > 2 ? atoi(argv[2]) : 10;
	size_t places = argc > 3 ? strtoull(argv[3], nullptr, 0) : 1, stride = 512 * 37;
	unsigned blocks = (unsigned)((n + 255) / 256);
	std::vector<float> host(n);
	std::vector<unsigned> count((places - 1) * stride + 512);
	float *x, *y, *z;
	unsigned *c, long_sum = 0;

	for (size_t i = 0; i < n; i++)
		host[i] = (float)(i % 1013);
	CK(cudaMalloc(&x, n * 4));
	CK(cudaMalloc(&y, n * 4));
	CK(cudaMalloc(&z, n * 4));
	CK(cudaMalloc(&c, count.size() * 4));
	CK(cudaMemcpy(x, host.data(), n * 4, cudaMemcpyHostToDevice));
	CK(cudaMemcpy(y, host.data(), n * 4, cudaMemcpyHostToDevice));
	CK(cudaMemset(c, 0, count.size() * 4));
	CK(cudaDeviceSynchronize());
	auto t = std::chrono::steady_clock::now();
	for (int i = 0; i < rounds; i++) {
		triad<<<blocks, 256>>>(x, y, z, n);
		relax<<<blocks, 256>>>(x, n);
		bins<<<blocks, 256>>>(z, c + i % places * stride, n);
	}
	CK(cudaDeviceSynchronize());
	double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count();
	CK(cudaMemcpy(count.data(), c, count.size() * 4, cudaMemcpyDeviceToHost));
	CK(cudaMemcpy(host.data(), x, n * 4, cudaMemcpyDeviceToHost));
	double sum = 0;
	for (float v : host)
		sum += v;
	for (unsigned v : count)
		long_sum = long_sum * 31 + v;
	printf("sum %.6f bins %u\n", sum, long_sum);
	fprintf(stderr, "loop_ms %.3f\n", ms);
	return 0;
}
