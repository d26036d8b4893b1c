// SPDX-License-Identifier: Apache-2.0
// What a replay can get wrong, one case each: every case prints a checksum of what it computed. The
// output must be the same with and without retally, in every mode (run.sh compares).
//   nvcc -O2 -arch=native -o traps traps.cu -lcuda
#include "traps.h"

#include <chrono>
#include <thread>

__device__ unsigned counter_global;
__device__ float table_global[256];
__managed__ int managed_global;

__global__ void histogram(const float *a, unsigned *h, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(&h[(unsigned)a[i] & 255], 1u);
}
struct node {
	float *data;
	node *next;
};
__global__ void chain(node *first, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	for (node *k = first; k; k = k->next)
		if (i < n)
			k->data[i] += k->data[i] * 0.5f + 1;
}
__global__ void count_global(const float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		atomicAdd(&counter_global, (unsigned)a[i] & 3);
		if (i < 256)
			table_global[i] += a[i];
	}
	if (i == 0)
		managed_global++;
}
__global__ void append(unsigned *n, int *list, int room)
{
	unsigned at = atomicAdd(n, 1u);
	if (at < (unsigned)room)
		list[at] = 1;
}
__global__ void once(int *done, float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && !done[i]) {
		for (int k = 0; k < 100; k++)
			a[i] = a[i] * 1.01f + 0.5f;
		done[i] = 1;
	}
}
__global__ void spin(volatile int *flag, int *out)
{
	while (!*flag)
		;
	*out += 41;
}
__global__ void answer(volatile int *flag, const float *a)
{
	*flag = (int)a[0] + 1;
	__threadfence_system();
}
__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + b[i];
}

__global__ void surface_inplace(cudaSurfaceObject_t s, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x < w && y < h) {
		unsigned v = surf2Dread<unsigned>(s, x * 4, y);
		surf2Dwrite(v * 3 + (unsigned)(x + y), s, x * 4, y);
	}
}
__global__ void surface_named(const cudaSurfaceObject_t *s, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x < w && y < h) {
		unsigned v = surf2Dread<unsigned>(*s, x * 4, y);
		surf2Dwrite(v * 5 + 1u, *s, x * 4, y);
	}
}
__global__ void surface_deep(cudaSurfaceObject_t s, int w, int h, int d)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
	if (x < w && y < h && z < d) {
		uint2 v = surf3Dread<uint2>(s, x * 8, y, z);
		surf3Dwrite(make_uint2(v.x * 3 + z, v.y ^ v.x), s, x * 8, y, z);
	}
}
__global__ void texture_add(cudaTextureObject_t t, float *a, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x < w && y < h)
		a[y * w + x] = a[y * w + x] * 0.5f + tex2D<float>(t, x + 0.5f, y + 0.5f);
}

static void case_inplace()
{
	float *a = filled(N, 1);
	for (int i = 0; i < 7; i++)
		inplace<<<GRID>>>(a, N);
	show("inplace", device_sum(a, N * 4));
	CK(cudaFree(a));
}
static void case_atomics()
{
	float *a = filled(N, 3);
	unsigned *h;
	CK(cudaMalloc(&h, 1024));
	CK(cudaMemsetAsync(h, 0, 1024));
	for (int i = 0; i < 5; i++)
		histogram<<<GRID>>>(a, h, N);
	show("atomics", device_sum(h, 1024));
	CK(cudaFree(a));
	CK(cudaFree(h));
}
static void case_chain() // memory that no argument points to
{
	float *x = filled(N, 1), *y = filled(N, 5);
	node *nodes, host[2];
	CK(cudaMalloc(&nodes, sizeof(host)));
	host[0] = {x, nodes + 1};
	host[1] = {y, nullptr};
	CK(cudaMemcpy(nodes, host, sizeof(host), cudaMemcpyHostToDevice));
	for (int i = 0; i < 4; i++)
		chain<<<GRID>>>(nodes, N);
	CK(cudaDeviceSynchronize());
	for (int i = 0; i < 4; i++) {
		chain<<<GRID>>>(nodes, N);
		CK(cudaDeviceSynchronize());
	}
	show("chain x", device_sum(x, N * 4));
	show("chain y", device_sum(y, N * 4));
	CK(cudaFree(x));
	CK(cudaFree(y));
	CK(cudaFree(nodes));
}
static void case_managed()
{
	float *a;
	CK(cudaMallocManaged(&a, N * 4));
	for (int i = 0; i < N; i++)
		a[i] = i % 31;
	for (int i = 0; i < 3; i++) {
		inplace<<<GRID>>>(a, N);
		CK(cudaDeviceSynchronize());
		a[i] += 1000; // the host writes between launches
	}
	show("managed", sum_bytes(a, N * 4));
	CK(cudaFree(a));
}
static void case_globals()
{
	float *a = filled(N, 2), table[256];
	unsigned n;
	for (int i = 0; i < 3; i++)
		count_global<<<GRID>>>(a, N);
	CK(cudaDeviceSynchronize());
	CK(cudaMemcpyFromSymbol(&n, counter_global, 4));
	CK(cudaMemcpyFromSymbol(table, table_global, sizeof(table)));
	show("global counter", n);
	show("global table", sum_bytes(table, sizeof(table)));
	show("global managed", managed_global);
	CK(cudaFree(a));
}
static void case_append()
{
	unsigned *n, host;
	int *list;
	CK(cudaMalloc(&n, 4));
	CK(cudaMalloc(&list, N * 4));
	CK(cudaMemsetAsync(n, 0, 4));
	CK(cudaMemsetAsync(list, 0, N * 4));
	for (int i = 0; i < 3; i++)
		append<<<40, 256>>>(n, list, N);
	CK(cudaMemcpy(&host, n, 4, cudaMemcpyDeviceToHost));
	show("append n", host);
	show("append list", device_sum(list, N * 4));
	CK(cudaFree(n));
	CK(cudaFree(list));
}
static void case_once()
{
	float *a = filled(N, 1);
	int *done;
	CK(cudaMalloc(&done, N * 4));
	CK(cudaMemset(done, 0, N * 4));
	once<<<GRID>>>(done, a, N);
	once<<<GRID>>>(done, a, N);
	show("once", device_sum(a, N * 4));
	CK(cudaFree(a));
	CK(cudaFree(done));
}
static void case_mapped() // the kernel answers through memory that the host polls
{
	float *a = filled(N, 6);
	int *flag, *on_device;
	CK(cudaHostAlloc(&flag, 64, cudaHostAllocMapped));
	*flag = 0;
	CK(cudaHostGetDevicePointer(&on_device, flag, 0));
	answer<<<1, 1>>>(on_device, a);
	while (!*(volatile int *)flag)
		std::this_thread::yield();
	show("mapped", *flag);
	CK(cudaDeviceSynchronize());
	show("mapped after", *flag);
	CK(cudaFree(a));
	CK(cudaFreeHost(flag));
}
static void case_spin() // and waits for the host
{
	int *flag, *on_device, *out, value;
	CK(cudaHostAlloc(&flag, 64, cudaHostAllocMapped));
	*flag = 0;
	CK(cudaHostGetDevicePointer(&on_device, flag, 0));
	CK(cudaMalloc(&out, 4));
	CK(cudaMemset(out, 0, 4));
	for (int i = 0; i < 3; i++) {
		*(volatile int *)flag = 0;
		spin<<<1, 1>>>(on_device, out);
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
		*(volatile int *)flag = 1;
		CK(cudaDeviceSynchronize());
	}
	CK(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
	show("spin", value);
	CK(cudaFree(out));
	CK(cudaFreeHost(flag));
}
static void case_graph()
{
	float *a = filled(N, 1);
	unsigned *h;
	cudaStream_t s;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	CK(cudaMalloc(&h, 1024));
	CK(cudaStreamCreate(&s));
	CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	inplace<<<GRID, 0, s>>>(a, N);
	CK(cudaMemsetAsync(h, 0, 1024, s));
	histogram<<<GRID, 0, s>>>(a, h, N);
	CK(cudaStreamEndCapture(s, &graph));
	CK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 4; i++)
		CK(cudaGraphLaunch(exec, s));
	CK(cudaStreamSynchronize(s));
	show("graph a", device_sum(a, N * 4));
	show("graph h", device_sum(h, 1024));
	CK(cudaGraphExecDestroy(exec));
	CK(cudaGraphDestroy(graph));
	CK(cudaStreamDestroy(s));
	CK(cudaFree(a));
	CK(cudaFree(h));
}
static void case_async_alloc()
{
	cudaStream_t s;
	uint64_t sum = 0;
	CK(cudaStreamCreate(&s));
	for (int i = 0; i < 5; i++) {
		float *a;
		CK(cudaMallocAsync(&a, N * 4, s));
		CK(cudaMemsetAsync(a, 0, N * 4, s));
		inplace<<<GRID, 0, s>>>(a, N);
		inplace<<<GRID, 0, s>>>(a, N);
		CK(cudaStreamSynchronize(s));
		sum = sum * 31 + device_sum(a, N * 4);
		CK(cudaFreeAsync(a, s));
	}
	CK(cudaStreamSynchronize(s));
	show("async alloc", sum);
	CK(cudaStreamDestroy(s));
}
static void case_streams() // two that depend on each other through events
{
	float *a = filled(N, 1), *b = filled(N, 2), *c = filled(N, 0);
	cudaStream_t s, t;
	cudaEvent_t e, f;
	CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	CK(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
	for (int i = 0; i < 4; i++) {
		inplace<<<GRID, 0, s>>>(a, N);
		CK(cudaEventRecord(e, s));
		CK(cudaStreamWaitEvent(t, e, 0));
		add<<<GRID, 0, t>>>(a, b, c, N);
		inplace<<<GRID, 0, t>>>(b, N);
		CK(cudaEventRecord(f, t));
		CK(cudaStreamWaitEvent(s, f, 0));
	}
	CK(cudaStreamSynchronize(s));
	CK(cudaStreamSynchronize(t));
	show("streams", device_sum(c, N * 4) ^ device_sum(b, N * 4));
	CK(cudaStreamDestroy(s));
	CK(cudaStreamDestroy(t));
	CK(cudaFree(a));
	CK(cudaFree(b));
	CK(cudaFree(c));
}
static void CUDART_CB called(void *data)
{
	++*(int *)data;
}
static void case_callback()
{
	float *a = filled(N, 1);
	int n = 0;
	for (int i = 0; i < 3; i++) {
		inplace<<<GRID>>>(a, N);
		CK(cudaLaunchHostFunc(0, called, &n));
		inplace<<<GRID>>>(a, N);
	}
	CK(cudaDeviceSynchronize());
	show("callback n", n);
	show("callback", device_sum(a, N * 4));
	CK(cudaFree(a));
}
static void case_copies() // device-side operations between launches
{
	float *a = filled(N, 1), *b = filled(N, 9);
	std::vector<float> host(1024, 3.5f);
	for (int i = 0; i < 3; i++) {
		inplace<<<GRID>>>(a, N);
		CK(cudaMemcpyAsync(b, a, N * 2, cudaMemcpyDeviceToDevice));
		CK(cudaMemcpyAsync(a + 100, host.data(), 4096, cudaMemcpyHostToDevice));
		host[i] = (float)i; // the source may change once the call is back
		CK(cudaMemsetAsync(b + N / 2, 0x3f, 777));
		inplace<<<GRID>>>(b, N);
	}
	show("copies", device_sum(a, N * 4) ^ device_sum(b, N * 4));
	CK(cudaFree(a));
	CK(cudaFree(b));
}
static void case_poll() // the host learns of the end by asking
{
	float *a = filled(N, 1);
	cudaEvent_t e;
	int *pinned;
	CK(cudaHostAlloc(&pinned, 64, 0));
	CK(cudaEventCreate(&e));
	for (int i = 0; i < 3; i++) {
		inplace<<<GRID>>>(a, N);
		CK(cudaMemcpyAsync(pinned, a, 4, cudaMemcpyDeviceToHost));
		CK(cudaEventRecord(e));
		while (cudaEventQuery(e) == cudaErrorNotReady)
			std::this_thread::yield();
		show("poll", (uint64_t)*pinned);
	}
	CK(cudaFree(a));
	CK(cudaFreeHost(pinned));
}
static void case_threads()
{
	std::vector<std::thread> threads;
	std::vector<uint64_t> sums(4);
	for (int t = 0; t < 4; t++)
		threads.emplace_back([t, &sums] {
			cudaStream_t s;
			float *a = filled(N, (float)t);
			CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
			for (int i = 0; i < 6; i++) {
				inplace<<<GRID, 0, s>>>(a, N);
				if (i % 2)
					CK(cudaStreamSynchronize(s));
			}
			CK(cudaStreamSynchronize(s));
			sums[t] = device_sum(a, N * 4);
			CK(cudaStreamDestroy(s));
			CK(cudaFree(a));
		});
	for (auto &t : threads)
		t.join();
	for (int t = 0; t < 4; t++)
		show("threads", sums[t]);
}

static cudaResourceDesc resource_of(cudaArray_t array)
{
	cudaResourceDesc r = {};
	r.resType = cudaResourceTypeArray;
	r.res.array.array = array;
	return r;
}
static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
	cudaResourceDesc r = resource_of(array);
	cudaSurfaceObject_t s;
	CK(cudaCreateSurfaceObject(&s, &r));
	return s;
}
// All of an array from or to the host.
static void move(cudaArray_t array, std::vector<unsigned> &host, cudaExtent e, size_t element, bool in)
{
	cudaMemcpy3DParms p = {};
	cudaPitchedPtr at = make_cudaPitchedPtr(host.data(), e.width * element, e.width, e.height ? e.height : 1);
	p.extent = make_cudaExtent(e.width, e.height ? e.height : 1, e.depth ? e.depth : 1);
	p.kind = in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
	(in ? p.dstArray : p.srcArray) = array;
	(in ? p.srcPtr : p.dstPtr) = at;
	CK(cudaMemcpy3D(&p));
}
static std::vector<unsigned> counted(size_t n)
{
	std::vector<unsigned> x(n);
	for (size_t i = 0; i < n; i++)
		x[i] = 7 * (unsigned)i + 3;
	return x;
}
static const int W = 1237, H = 331; // no row ends where a chunk does
static const cudaExtent FLAT = {W, H, 0};
static cudaArray_t flat()
{
	cudaArray_t array;
	cudaChannelFormatDesc d = cudaCreateChannelDesc<unsigned>();
	std::vector<unsigned> x = counted((size_t)W * H);
	CK(cudaMalloc3DArray(&array, &d, FLAT, cudaArraySurfaceLoadStore));
	move(array, x, FLAT, 4, true);
	return array;
}
static void show_flat(const char *name, cudaArray_t array)
{
	std::vector<unsigned> x((size_t)W * H);
	move(array, x, FLAT, 4, false);
	show(name, sum_bytes(x.data(), x.size() * 4));
}
static void case_surfaces() // arrays that are written in place, by parameter and by a handle in memory
{
	dim3 grid((W + 127) / 128, H);
	cudaArray_t x = flat(), y = flat();
	cudaSurfaceObject_t sx = surface_of(x), sy = surface_of(y), *named;
	CK(cudaMalloc(&named, sizeof(sy)));
	CK(cudaMemcpy(named, &sy, sizeof(sy), cudaMemcpyHostToDevice));
	for (int i = 0; i < 6; i++) {
		surface_inplace<<<grid, 128>>>(sx, W, H);
		surface_inplace<<<grid, 128>>>(sx, W / 2, H / 2);
		surface_named<<<grid, 128>>>(named, W, H);
		if (i == 2)
			CK(cudaDeviceSynchronize());
	}
	CK(cudaDeviceSynchronize());
	show_flat("surface x", x);
	show_flat("surface named", y);
	CK(cudaDestroySurfaceObject(sx));
	CK(cudaDestroySurfaceObject(sy));
	CK(cudaFreeArray(x));
	CK(cudaFreeArray(y));
	CK(cudaFree(named));
}
static void case_slices() // three dimensions, and a level of a mipmapped array
{
	const int w = 61, h = 37, d = 29;
	cudaExtent e = make_cudaExtent(w, h, d);
	cudaChannelFormatDesc two = cudaCreateChannelDesc<uint2>(), one = cudaCreateChannelDesc<unsigned>();
	cudaArray_t deep, level;
	cudaMipmappedArray_t levels;
	std::vector<unsigned> x = counted((size_t)2 * w * h * d), y = counted((size_t)(W / 2) * (H / 2));
	CK(cudaMalloc3DArray(&deep, &two, e, cudaArraySurfaceLoadStore));
	CK(cudaMallocMipmappedArray(&levels, &one, FLAT, 3, cudaArraySurfaceLoadStore));
	CK(cudaGetMipmappedArrayLevel(&level, levels, 1));
	move(deep, x, e, 8, true);
	move(level, y, make_cudaExtent(W / 2, H / 2, 0), 4, true);
	cudaSurfaceObject_t s = surface_of(deep), t = surface_of(level);
	for (int i = 0; i < 4; i++) {
		surface_deep<<<dim3(1, h, d), 64>>>(s, w, h, d);
		surface_inplace<<<dim3((W / 2 + 127) / 128, H / 2), 128>>>(t, W / 2, H / 2);
	}
	CK(cudaDeviceSynchronize());
	move(deep, x, e, 8, false);
	move(level, y, make_cudaExtent(W / 2, H / 2, 0), 4, false);
	show("slices", sum_bytes(x.data(), x.size() * 4));
	show("level", sum_bytes(y.data(), y.size() * 4));
	CK(cudaDestroySurfaceObject(s));
	CK(cudaDestroySurfaceObject(t));
	CK(cudaFreeArray(deep));
	CK(cudaFreeMipmappedArray(levels));
}
static void case_textures() // what is read is copied to the array between launches that are not waited for
{
	const int w = 256, h = N / 256;
	float *a = filled(N, 1), *b = filled(N, 2);
	cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
	cudaArray_t array;
	cudaTextureDesc how = {};
	cudaTextureObject_t t;
	CK(cudaMallocArray(&array, &d, w, h));
	cudaResourceDesc r = resource_of(array);
	CK(cudaCreateTextureObject(&t, &r, &how, nullptr));
	for (int i = 0; i < 4; i++) {
		inplace<<<GRID>>>(a, N);
		CK(cudaMemcpy2DToArrayAsync(array, 0, 0, a, w * 4, w * 4, h, cudaMemcpyDeviceToDevice));
		texture_add<<<dim3(w / 128, h), 128>>>(t, b, w, h);
		texture_add<<<dim3(w / 128, h), 128>>>(t, a, w, h);
	}
	show("textures", device_sum(a, N * 4) ^ device_sum(b, N * 4));
	CK(cudaDestroyTextureObject(t));
	CK(cudaFreeArray(array));
	CK(cudaFree(a));
	CK(cudaFree(b));
}

int main(int argc, char **argv)
{
	static const trap cases[] = {
		{"inplace", case_inplace},     {"atomics", case_atomics}, {"chain", case_chain},
		{"managed", case_managed},     {"globals", case_globals}, {"append", case_append},
		{"once", case_once},	       {"mapped", case_mapped},	  {"graph", case_graph},
		{"alloc", case_async_alloc},   {"streams", case_streams}, {"callback", case_callback},
		{"copies", case_copies},       {"poll", case_poll},	  {"threads", case_threads},
		{"spin", case_spin},	       {"surfaces", case_surfaces}, {"slices", case_slices},
		{"textures", case_textures},
	};
	return trap_main(argc, argv, cases);
}
