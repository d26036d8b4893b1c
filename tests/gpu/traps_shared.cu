// SPDX-License-Identifier: Apache-2.0
// Memory that others may use at any time, or that CUDA did not give: see traps.cu.
//   nvcc -O2 -arch=native -o traps_shared traps_shared.cu -lcuda
#include "traps.h"

#include <unistd.h>

static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes)
{
	CUmemAccessDesc access = {};
	CUdeviceptr at;
	access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	CU(cuMemAddressReserve(&at, bytes, 0, 0, 0));
	CU(cuMemMap(at, bytes, 0, handle, 0));
	CU(cuMemSetAccess(at, bytes, &access, 1));
	return at;
}
static void unmap(CUdeviceptr at, size_t bytes)
{
	CU(cuMemUnmap(at, bytes));
	CU(cuMemAddressFree(at, bytes));
}
static CUmemGenericAllocationHandle create(size_t *bytes)
{
	CUmemAllocationProp how = {};
	CUmemGenericAllocationHandle handle;
	size_t grain;
	CK(cudaFree(nullptr));
	how.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	how.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	how.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	CU(cuMemGetAllocationGranularity(&grain, &how, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	*bytes = (N * 4 + grain - 1) / grain * grain;
	CU(cuMemCreate(&handle, *bytes, &how, 0));
	return handle;
}
static void case_mapped_own() // could be exported and is not: as any other memory
{
	size_t bytes;
	CUmemGenericAllocationHandle handle = create(&bytes);
	CUdeviceptr at = map(handle, bytes);
	CU(cuMemsetD32(at, 0x3f800000, N));
	for (int i = 0; i < 4; i++)
		inplace<<<GRID>>>((float *)at, N);
	CK(cudaDeviceSynchronize());
	show("mapped own", device_sum((void *)at, N * 4));
	unmap(at, bytes);
	CU(cuMemRelease(handle));
}
static void case_mapped_twice() // exported, and imported at another address: what one writes the other sees
{
	size_t bytes;
	CUmemGenericAllocationHandle handle = create(&bytes), again;
	CUdeviceptr at = map(handle, bytes), other;
	int file;
	CU(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	CU(cuMemImportFromShareableHandle(&again, (void *)(uintptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	close(file);
	other = map(again, bytes);
	CU(cuMemsetD32(at, 0x3f800000, N));
	for (int i = 0; i < 4; i++) {
		inplace<<<GRID>>>((float *)at, N);
		inplace<<<GRID>>>((float *)other, N / 2);
	}
	CK(cudaDeviceSynchronize());
	show("mapped twice", device_sum((void *)at, N * 4) ^ device_sum((void *)other, N * 2));
	unmap(at, bytes);
	unmap(other, bytes);
	CU(cuMemRelease(handle));
	CU(cuMemRelease(again));
}
static void case_exported() // its handle was given away: from then on somebody may use it
{
	float *a = filled(N, 1), *b = filled(N, 2);
	cudaIpcMemHandle_t handle;
	for (int i = 0; i < 3; i++)
		inplace<<<GRID>>>(a, N);
	CK(cudaIpcGetMemHandle(&handle, a));
	for (int i = 0; i < 3; i++) {
		inplace<<<GRID>>>(a, N);
		inplace<<<GRID>>>(b, N);
	}
	CK(cudaDeviceSynchronize());
	show("exported", device_sum(a, N * 4) ^ device_sum(b, N * 4));
	CK(cudaFree(a));
	CK(cudaFree(b));
}
static void case_pageable() // memory of malloc, where the GPU can use that
{
	int can = 0;
	CK(cudaDeviceGetAttribute(&can, cudaDevAttrPageableMemoryAccess, 0));
	float *a = can ? (float *)malloc(N * 4) : filled(N, 0);
	std::vector<float> x(N);
	for (int i = 0; i < N; i++)
		x[i] = i % 977;
	if (can)
		memcpy(a, x.data(), N * 4);
	fprintf(stderr, "the GPU can%s use pageable memory\n", can ? "" : "not");
	for (int i = 0; i < 3; i++) {
		inplace<<<GRID>>>(a, N);
		CK(cudaDeviceSynchronize());
		if (can)
			a[i] += 1000; // the host writes between launches
	}
	show("pageable", can ? sum_bytes(a, N * 4) : device_sum(a, N * 4));
	if (can)
		free(a);
	else
		CK(cudaFree(a));
}

int main(int argc, char **argv)
{
	static const trap cases[] = {
		{"mapped_own", case_mapped_own},
		{"mapped_twice", case_mapped_twice},
		{"exported", case_exported},
		{"pageable", case_pageable},
	};
	return trap_main(argc, argv, cases);
}
