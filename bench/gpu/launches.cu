// SPDX-License-Identifier: Apache-2.0
// What a launch costs the program: N launches of an empty kernel, ns each, the best of five rounds.
//   nvcc -O2 -arch=native -o launches launches.cu
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void nothing(int *p)
{
	(void)p;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100000;
	double best = 1e30;
	nothing<<<1, 1>>>(nullptr);
	cudaDeviceSynchronize();
	for (int round = 0; round < 5; round++) {
		double ns = 0;
		for (int i = 0; i < n / 1000; i++) { // the queue must not be full
			auto t = std::chrono::steady_clock::now();
			for (int k = 0; k < 1000; k++)
				nothing<<<1, 1>>>(nullptr);
			ns += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - t)
				      .count();
			cudaDeviceSynchronize();
		}
		if (ns / n < best)
			best = ns / n;
	}
	printf("%.0f ns a launch\n", best);
	return 0;
}
