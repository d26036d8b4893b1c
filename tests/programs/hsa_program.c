/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the HSA test programs: hsa_program.h. */
#include "hsa_program.h"

#include "t0_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hsa_gpu gpus[8];
unsigned n_gpus;
uint64_t cpu, cpu_fine, cpu_kernarg, hsa_code;

void hsa_must(uint32_t status, const char *what)
{
	if (status == HSA_OK || status == HSA_BREAK)
		return;
	fprintf(stderr, "%s: %#x\n", what, status);
	exit(3);
}

static uint32_t add_pool(uint64_t pool, void *data)
{
	struct hsa_gpu *g = data;
	uint32_t segment = 0, flags = 0;
	HSA_MUST(hsa_amd_memory_pool_get_info(pool, HSA_POOL_SEGMENT, &segment));
	if (segment != HSA_SEGMENT_GLOBAL)
		return HSA_OK;
	HSA_MUST(hsa_amd_memory_pool_get_info(pool, HSA_POOL_GLOBAL_FLAGS, &flags));
	if (!g && flags & HSA_POOL_KERNARG)
		cpu_kernarg = pool;
	else if (!g && flags & HSA_POOL_FINE_GRAINED)
		cpu_fine = pool;
	else if (g && flags & HSA_POOL_COARSE_GRAINED)
		g->coarse = pool;
	else if (g && flags & HSA_POOL_FINE_GRAINED)
		g->fine = pool;
	return HSA_OK;
}

static uint32_t add_agent(uint64_t agent, void *data)
{
	uint32_t kind = 0;
	(void)data;
	HSA_MUST(hsa_agent_get_info(agent, HSA_AGENT_DEVICE, &kind));
	if (kind == HSA_KIND_CPU) {
		cpu = agent;
		return hsa_amd_agent_iterate_memory_pools(agent, add_pool, NULL);
	}
	struct hsa_gpu *g = &gpus[n_gpus++];
	g->agent = agent;
	HSA_MUST(hsa_agent_get_info(agent, HSA_AGENT_NAME, g->name));
	return hsa_amd_agent_iterate_memory_pools(agent, add_pool, g);
}

static const char all_kernels[] = T0_CODE_MAGIC
	"kernel accumulate\nkernel atomics\nkernel through_pointer\nkernel module_variable\n"
	"kernel produce\nkernel consume\nkernel wait_for_flag\nkernel set_flag\nkernel fill\n"
	"kernel copy\nkernel append\nkernel only_once\nkernel astray\nkernel nothing\n"
	"kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL\nkernel _Z5scalePfi\n"
	"variable total 4\nvariable table 4096 const\n";

/* The model GPU below AMD's own runtime is told which of its functions a kernel is. */
static void tell_model(const char *function, const void *first, const void *second)
{
	const char *path = getenv("HSA_MODEL_LIB");
	void *plugin = path ? dlopen(path, RTLD_NOLOAD | RTLD_NOW) : NULL;
	void (*tell)(const void *first, const void *second);
	if (!plugin)
		return;
	*(void **)(void *)&tell = dlsym(plugin, function);
	if (tell)
		tell(first, second);
	dlclose(plugin);
}

/* RETALLY_T1_CODE: a real code object in the place of the model's. */
static const char *real_code(size_t *bytes_out)
{
	static char code[1 << 20];
	const char *path = getenv("RETALLY_T1_CODE");
	FILE *f = path ? fopen(path, "rb") : NULL;
	if (!f)
		return NULL;
	*bytes_out = fread(code, 1, sizeof code, f);
	fclose(f);
	return code;
}

static void find_variable(uint64_t executable, const char *name)
{
	uint64_t symbol, address = 0;
	if (hsa_executable_get_symbol_by_name(executable, name, &gpus[0].agent, &symbol) ||
	    hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_VARIABLE_ADDRESS, &address))
		return;
	tell_model("t1_model_variable", name, (void *)(uintptr_t)address);
}

uint64_t hsa_load(unsigned gpu, const char *code)
{
	uint64_t reader, executable;
	size_t bytes = strlen(code);
	const char *real = real_code(&bytes);
	HSA_MUST(hsa_code_object_reader_create_from_memory(real ? real : code, bytes, &reader));
	HSA_MUST(hsa_executable_create_alt(HSA_PROFILE_OF_ALL, 0, NULL, &executable));
	HSA_MUST(hsa_executable_load_agent_code_object(executable, gpus[gpu].agent, reader, NULL,
						       NULL));
	HSA_MUST(hsa_executable_freeze(executable, NULL));
	HSA_MUST(hsa_code_object_reader_destroy(reader));
	if (real)
		find_variable(executable, "total");
	return executable;
}

void hsa_start(void)
{
	HSA_MUST(hsa_init());
	HSA_MUST(hsa_iterate_agents(add_agent, NULL));
	if (!n_gpus) {
		fprintf(stderr, "no GPU\n");
		exit(3);
	}
	hsa_code = hsa_load(0, all_kernels);
}

uint64_t hsa_kernel(uint64_t executable, unsigned gpu, const char *name)
{
	char full[128];
	uint64_t symbol, object;
	snprintf(full, sizeof full, "%s.kd", name);
	HSA_MUST(hsa_executable_get_symbol_by_name(executable, full, &gpus[gpu].agent, &symbol));
	HSA_MUST(hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_KERNEL_OBJECT, &object));
	tell_model("t1_model_kernel", (void *)(uintptr_t)object, name);
	return object;
}

static void queue_error(uint32_t status, struct hsa_queue *queue, void *data)
{
	(void)queue, (void)data;
	fprintf(stderr, "queue error %#x\n", status);
	exit(3);
}

struct hsa_queue *hsa_new_queue(unsigned gpu, uint32_t size)
{
	struct hsa_queue *q;
	HSA_MUST(hsa_queue_create(gpus[gpu].agent, size, HSA_QUEUE_MULTI, queue_error, NULL,
				  UINT32_MAX, UINT32_MAX, &q));
	return q;
}

void *hsa_device(unsigned gpu, size_t bytes)
{
	void *p;
	HSA_MUST(hsa_amd_memory_pool_allocate(gpus[gpu].coarse, bytes, 0, &p));
	return p;
}

void hsa_put(void *to, const void *from, size_t bytes)
{
	HSA_MUST(hsa_memory_copy(to, from, bytes));
}

void hsa_get(void *to, const void *from, size_t bytes)
{
	HSA_MUST(hsa_memory_copy(to, from, bytes));
}

void *hsa_arguments(const void *arguments, size_t bytes)
{
	void *p;
	HSA_MUST(hsa_amd_memory_pool_allocate(cpu_kernarg, bytes, 0, &p));
	HSA_MUST(hsa_amd_agents_allow_access(1, &gpus[0].agent, NULL, p));
	memcpy(p, arguments, bytes);
	return p;
}

static struct hsa_packet *slot(struct hsa_queue *q, uint64_t *index_out)
{
	*index_out = hsa_queue_add_write_index_relaxed(q, 1);
	while (*index_out - hsa_queue_load_read_index_scacquire(q) >= q->size)
		; /* the ring is full */
	return (struct hsa_packet *)q->base + (*index_out & (q->size - 1));
}

static void publish(struct hsa_queue *q, struct hsa_packet *p, uint16_t header, uint64_t index,
		    bool ring)
{
	__atomic_store_n(&p->header, header, __ATOMIC_RELEASE);
	if (ring)
		hsa_signal_store_screlease(q->doorbell, (int64_t)index);
}

void hsa_launch(struct hsa_queue *q, uint64_t kernel, uint32_t items, void *arguments,
		uint64_t completion, unsigned flags)
{
	uint64_t index;
	struct hsa_packet *p = slot(q, &index);
	struct hsa_kernel_packet k = {.setup = 1,
				      .workgroup = {64, 1, 1},
				      .grid = {items, 1, 1},
				      .kernel_object = kernel,
				      .kernarg = arguments,
				      .completion = completion};
	memcpy((char *)p + 2, (const char *)&k + 2, sizeof k - 2);
	publish(q, p,
		(uint16_t)(HSA_PACKET_KERNEL | (flags & HSA_NO_BARRIER ? 0 : HSA_PACKET_BARRIER) |
			   HSA_FENCE_SYSTEM << HSA_PACKET_ACQUIRE_SHIFT |
			   HSA_FENCE_SYSTEM << HSA_PACKET_RELEASE_SHIFT),
		index, !(flags & HSA_NO_DOORBELL));
}

void hsa_barrier(struct hsa_queue *q, uint64_t dependency, uint64_t completion)
{
	uint64_t index;
	struct hsa_packet *p = slot(q, &index);
	struct hsa_barrier_packet b = {.dependency = {dependency}, .completion = completion};
	memcpy((char *)p + 2, (const char *)&b + 2, sizeof b - 2);
	publish(q, p, HSA_PACKET_BARRIER_AND | HSA_PACKET_BARRIER, index, true);
}

uint64_t hsa_new_signal(int64_t value)
{
	uint64_t s;
	HSA_MUST(hsa_signal_create(value, 0, NULL, &s));
	return s;
}

void hsa_await(uint64_t signal)
{
	while (hsa_signal_wait_scacquire(signal, HSA_LT, 1, UINT64_MAX, HSA_WAIT_BLOCKED) >= 1)
		;
}

void hsa_finish(struct hsa_queue *q)
{
	uint64_t s = hsa_new_signal(1);
	hsa_barrier(q, 0, s);
	hsa_await(s);
	HSA_MUST(hsa_signal_destroy(s));
}

uint64_t hsa_sum(const void *device, size_t bytes)
{
	unsigned char *copy = malloc(bytes);
	uint64_t h = 0xcbf29ce484222325u;
	if (!copy)
		exit(3);
	hsa_get(copy, device, bytes);
	for (size_t i = 0; i < bytes; i++)
		h = (h ^ copy[i]) * 0x100000001b3u;
	free(copy);
	return h;
}
