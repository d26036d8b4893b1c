// SPDX-License-Identifier: Apache-2.0
// What the programs of traps share: checks, sums, memory with contents, and the choice of a case.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

#define CK(x)                                                            \
	do {                                                             \
		cudaError_t result_ = (x);                               \
		if (result_ != cudaSuccess) {                            \
			printf("%s:%d %s: %s\n", __FILE__, __LINE__, #x, \
			       cudaGetErrorString(result_));             \
			exit(1);                                         \
		}                                                        \
	} while (0)

#define CU(x)                                                                      \
	do {                                                                       \
		CUresult result_ = (x);                                            \
		if (result_ != CUDA_SUCCESS) {                                     \
			printf("%s:%d %s: %d\n", __FILE__, __LINE__, #x, result_); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

static const int N = 1 << 16;
#define GRID (N + 255) / 256, 256

__global__ void inplace(float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = a[i] * 1.5f + 1;
}
static uint64_t sum_bytes(const void *p, size_t n)
{
	uint64_t h = 1469598103934665603u;
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211u;
	return h;
}
static uint64_t device_sum(const void *p, size_t n)
{
	std::vector<unsigned char> host(n);
	CK(cudaMemcpy(host.data(), p, n, cudaMemcpyDeviceToHost));
	return sum_bytes(host.data(), n);
}
static void show(const char *name, uint64_t value)
{
	printf("%-18s %016llx\n", name, (unsigned long long)value);
	fflush(stdout);
}
static float *filled(int n, float from)
{
	std::vector<float> x(n);
	float *p;
	for (int i = 0; i < n; i++)
		x[i] = from + i % 977;
	CK(cudaMalloc(&p, n * sizeof(float)));
	CK(cudaMemcpy(p, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	return p;
}

struct trap {
	const char *name;
	void (*run)();
};
// PROGRAM: all cases; PROGRAM list: their names; PROGRAM NAME: that one
template <size_t n> int trap_main(int argc, char **argv, const trap (&cases)[n])
{
	for (auto &c : cases)
		if (argc > 1 && !strcmp(argv[1], "list"))
			printf("%s\n", c.name);
		else if (argc < 2 || !strcmp(argv[1], c.name))
			c.run();
	return 0;
}
