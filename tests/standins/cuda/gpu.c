/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, streams and the thread of the simulated device: see gpu.h. */
#include "gpu.h"

#include "arrays.h"
#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct gpu gpu = {.lock = PTHREAD_MUTEX_INITIALIZER,
		  .work = PTHREAD_COND_INITIALIZER,
		  .done = PTHREAD_COND_INITIALIZER};

/* ---- memory ---- */

/* Index of the first memory that ends behind the address. */
static size_t place(cu_ptr address)
{
	size_t i = 0;

	while (i < gpu.n_memories && gpu.memories[i].address + gpu.memories[i].size <= address)
		i++;
	return i;
}

bool gpu_memory_add(cu_ptr address, size_t size, enum gpu_memory_kind kind)
{
	size_t i = place(address);

	if (gpu.n_memories == gpu.room) {
		size_t room = gpu.room ? 2 * gpu.room : 64;
		struct gpu_memory *more = realloc(gpu.memories, room * sizeof(*more));

		if (!more)
			return false;
		gpu.memories = more;
		gpu.room = room;
	}
	memmove(&gpu.memories[i + 1], &gpu.memories[i],
		(gpu.n_memories - i) * sizeof(*gpu.memories));
	gpu.memories[i] =
		(struct gpu_memory){.address = address,
				    .size = size,
				    .kind = kind,
				    .device = context_current() ? context_current()->device : 0};
	gpu.n_memories++;
	gpu.used += kind == MEMORY_DEVICE ? size : 0;
	return true;
}

struct gpu_memory *gpu_memory_of(cu_ptr address)
{
	size_t i = place(address);

	return i < gpu.n_memories && gpu.memories[i].address <= address ? &gpu.memories[i] : NULL;
}

bool gpu_memory_remove(cu_ptr address)
{
	struct gpu_memory *m = gpu_memory_of(address);
	size_t i = m ? (size_t)(m - gpu.memories) : 0;

	if (!m || m->address != address)
		return false;
	gpu.used -= m->kind == MEMORY_DEVICE ? m->size : 0;
	memmove(m, m + 1, (gpu.n_memories - i - 1) * sizeof(*m));
	gpu.n_memories--;
	return true;
}

/* First fit: what was given back is soon used again, with its old contents. */
cu_ptr gpu_allocate(size_t bytes, size_t align)
{
	cu_ptr base = (cu_ptr)(uintptr_t)gpu.host_base, at = base;
	size_t i;

	for (i = 0; i < gpu.n_memories; i++) {
		const struct gpu_memory *m = &gpu.memories[i];

		if (m->address < base || m->address >= base + GPU_MEMORY)
			continue;
		if (at + bytes <= m->address)
			break;
		at = (m->address + m->size + align - 1) & ~(cu_ptr)(align - 1);
	}
	if (!bytes || bytes > GPU_MEMORY || at + bytes > base + GPU_MEMORY ||
	    !gpu_memory_add(at, bytes, MEMORY_DEVICE))
		return 0;
	return at;
}

bool gpu_is_pageable(cu_ptr address)
{
	cu_ptr base = (cu_ptr)(uintptr_t)gpu.host_base;

	return !gpu_memory_of(address) && (address < base || address >= base + GPU_MEMORY);
}

static void *pageable(cu_ptr address)
{
	return gpu_is_pageable(address) ? (void *)(uintptr_t)address : NULL;
}

bool gpu_reaches_pageable(void)
{
	static int reaches = -1;

	if (reaches < 0)
		reaches = getenv("RETALLY_STANDIN_PAGEABLE") != NULL;
	return reaches;
}

cu_ptr gpu_backing(const struct gpu_memory *m, cu_ptr address)
{
	return m->mapped ? m->backing + (address - m->address) : address;
}

void *gpu_at(cu_ptr address, size_t n)
{
	const struct gpu_memory *m = gpu_memory_of(address);

	if (!m && gpu_reaches_pageable())
		return pageable(address);
	if (!m || n > m->size || address - m->address > m->size - n || (m->mapped && !m->backing))
		return NULL;
	if (gpu.running && m->kind == MEMORY_DEVICE && m->device != gpu.running->device &&
	    !gpu.running->peers[m->device])
		return NULL;
	address = gpu_backing(m, address);
	if (m->kind == MEMORY_DEVICE)
		return gpu.base + (address - (cu_ptr)(uintptr_t)gpu.host_base);
	return (void *)(uintptr_t)address;
}

/* ---- commands ---- */

struct gpu_command *gpu_command_new(enum gpu_command_kind kind)
{
	struct gpu_command *c = calloc(1, sizeof(*c));

	if (!c)
		abort(); /* a test machine without 400 bytes */
	c->kind = kind;
	return c;
}

void gpu_enqueue(struct CUstream_st *s, struct gpu_command *c)
{
	if (s->capture) {
		struct CUgraphNode_st *node = gpu_node_add(s->capture);

		node->command = *c;
		node->type = c->kind == COMMAND_KERNEL ? CU_NODE_KERNEL
			     : c->kind == COMMAND_COPY ? CU_NODE_MEMCPY
			     : c->kind == COMMAND_BOX  ? CU_NODE_MEMCPY
			     : c->kind == COMMAND_SET  ? CU_NODE_MEMSET
			     : c->kind == COMMAND_HOST ? CU_NODE_HOST
						       : CU_NODE_EMPTY;
		free(c);
		return;
	}
	c->number = ++gpu.next_number;
	if (s->last)
		s->last->next = c;
	else
		s->first = c;
	s->last = c;
	gpu.stalled = false;
	pthread_cond_signal(&gpu.work);
}

bool gpu_stream_idle(const struct CUstream_st *s)
{
	return !s->first;
}

bool gpu_context_idle(const struct CUctx_st *c)
{
	if (c->legacy.first)
		return false;
	for (const struct CUstream_st *s = c->streams; s; s = s->next)
		if (s->first)
			return false;
	return true;
}

void gpu_stream_wait(struct CUstream_st *s)
{
	while (!gpu_stream_idle(s))
		pthread_cond_wait(&gpu.done, &gpu.lock);
}

void gpu_context_wait(struct CUctx_st *c)
{
	while (!gpu_context_idle(c))
		pthread_cond_wait(&gpu.done, &gpu.lock);
}

/* The default stream waits for the blocking ones, and they for it. */
static bool may_begin(const struct CUstream_st *s)
{
	uint64_t number = s->first->number;
	const struct CUctx_st *c = s->context;

	if (s->first->kind == COMMAND_WAIT && s->first->event->done < s->first->generation)
		return false;
	if (s->flags & 1)
		return true;
	if (!s->is_default)
		return !c->legacy.first || c->legacy.first->number > number;
	for (const struct CUstream_st *k = c->streams; k; k = k->next)
		if (!(k->flags & 1) && k->first && k->first->number < number)
			return false;
	return true;
}

static void fill(unsigned char *to, const struct gpu_command *c)
{
	for (size_t i = 0; i < c->n; i++)
		memcpy(to + i * c->width, &c->value, c->width);
}

uint64_t gpu_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* No kernel here has floats; these are made up of its work, each in another share. */
static void count_floats(struct gpu_launch *l)
{
	static const struct {
		enum standin_raw raw, of;
		uint64_t times;
	} floats[] = {{RAW_DADD, RAW_LOADS, 1},    {RAW_DMUL, RAW_LOADS, 2},
		      {RAW_DFMA, RAW_LOADS, 3},    {RAW_FADD, RAW_STORES, 5},
		      {RAW_FMUL, RAW_STORES, 7},   {RAW_FFMA, RAW_STORES, 11},
		      {RAW_HADD, RAW_THREADS, 13}, {RAW_HMUL, RAW_THREADS, 17},
		      {RAW_HFMA, RAW_THREADS, 19}};

	for (size_t i = 0; i < sizeof(floats) / sizeof(*floats); i++)
		l->work[floats[i].raw] = floats[i].times * l->work[floats[i].of];
}

static enum gpu_step step_kernel(struct gpu_launch *l)
{
	enum gpu_step step;

	if (l->until_ns > gpu_clock_ns())
		return STEP_AGAIN;
	memset(l->work, 0, sizeof(l->work));
	gpu.running = l->function->module->context;
	step = l->function->kernel->step(l);
	gpu.running = NULL;
	if (step != STEP_DONE)
		return step;
	l->work[RAW_LAUNCHES] = 1;
	l->work[RAW_BLOCKS] = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	l->work[RAW_THREADS] = l->work[RAW_BLOCKS] * l->block[0] * l->block[1] * l->block[2];
	l->work[RAW_INSTRUCTIONS] += 2 * (l->work[RAW_LOADS] + l->work[RAW_STORES]) +
				     3 * l->work[RAW_ATOMICS] + l->work[RAW_THREADS];
	l->work[RAW_SECTORS_READ] = (l->work[RAW_LOADS] + l->work[RAW_ATOMICS] + 7) / 8;
	l->work[RAW_SECTORS_WRITTEN] = (l->work[RAW_STORES] + l->work[RAW_ATOMICS] + 7) / 8;
	l->work[RAW_DRAM_READ] = 32 * l->work[RAW_SECTORS_READ];
	l->work[RAW_DRAM_WRITTEN] = 32 * l->work[RAW_SECTORS_WRITTEN];
	l->work[RAW_OF_LOADS] = 2 * l->work[RAW_LOADS];
	l->work[RAW_OF_STORES] = 2 * l->work[RAW_STORES];
	l->work[RAW_OF_ATOMICS] = 3 * l->work[RAW_ATOMICS];
	l->work[RAW_SASS] = l->work[RAW_INSTRUCTIONS];
	l->work[RAW_CYCLES] = 1000 + l->work[RAW_INSTRUCTIONS] / 4;
	l->work[RAW_TIME_NS] = l->work[RAW_CYCLES] / 2;
	l->work[RAW_DRAM_CYCLES] = 3 * l->work[RAW_TIME_NS];
	count_floats(l);
	for (int i = 0; i < RAWS; i++)
		gpu.raw[l->function->module->context->device][i] += l->work[i];
	gpu.now_ns += l->work[RAW_TIME_NS];
	return STEP_DONE;
}

/* Reads so much that nothing else stays in the L2. */
static bool fills_cache(const struct gpu_launch *l)
{
	uint64_t bytes;

	if (strcmp(l->function->kernel->name, "retally_hash") != 0)
		return false;
	memcpy(&bytes, l->arguments + gpu_kernel_offset(l->function->kernel, 1), sizeof(bytes));
	return bytes >= 2 * GPU_L2;
}

static enum gpu_step step(struct gpu_command *c)
{
	const void *from;
	void *to;

	switch (c->kind) {
	case COMMAND_KERNEL:
		gpu.cold = fills_cache(&c->launch);
		return step_kernel(&c->launch);
	case COMMAND_COPY:
		if (c->launch.until_ns > gpu_clock_ns())
			return STEP_AGAIN;
		gpu.cold &= c->n <= 8; /* a result that is fetched is one line */
		from = c->staged ? c->staged : gpu_at(c->from, c->n);
		to = gpu_at(c->to, c->n);
		if (!from)
			from = pageable(c->from);
		if (!to)
			to = pageable(c->to);
		if (!from || !to)
			return STEP_FAULT;
		memmove(to, from, c->n);
		gpu.now_ns += 100 + c->n / 1000;
		return STEP_DONE;
	case COMMAND_BOX:
		gpu.cold = false;
		gpu.now_ns += 100;
		return gpu_box_copy(&c->box) ? STEP_DONE : STEP_FAULT;
	case COMMAND_SET:
		gpu.cold = false;
		to = gpu_at(c->to, c->n * c->width);
		if (!to)
			return STEP_FAULT;
		fill(to, c);
		gpu.now_ns += 100;
		return STEP_DONE;
	case COMMAND_RECORD:
		c->event->done = c->generation;
		c->event->time_ns = gpu.now_ns;
		return STEP_DONE;
	case COMMAND_HOST: /* without the lock: it may call anything but the driver */
		pthread_mutex_unlock(&gpu.lock);
		c->call(c->data);
		pthread_mutex_lock(&gpu.lock);
		return STEP_DONE;
	case COMMAND_FREE:
		gpu_memory_remove(c->to);
		return STEP_DONE;
	case COMMAND_WAIT:
	case COMMAND_NOTHING:
	default:
		return STEP_DONE;
	}
}

static void pop(struct CUstream_st *s)
{
	struct gpu_command *c = s->first;

	s->first = c->next;
	if (!s->first)
		s->last = NULL;
	free(c->staged);
	free(c);
}

static bool serve(struct CUstream_st *s)
{
	enum gpu_step result;

	if (!s->first || !may_begin(s))
		return false;
	result = s->context->error ? STEP_DONE : step(s->first);
	if (result == STEP_AGAIN)
		return false;
	if (result == STEP_FAULT) {
		s->context->error = ERROR_ILLEGAL_ADDRESS;
		/* The rest of the context's work is never done, but it is over. */
	}
	if (s->context->error && s->first->kind == COMMAND_RECORD)
		s->first->event->done = s->first->generation;
	pop(s);
	pthread_cond_broadcast(&gpu.done);
	return true;
}

static void *worker(void *unused)
{
	struct timespec until;

	(void)unused;
	pthread_mutex_lock(&gpu.lock);
	for (;;) {
		bool any = false, left = false;

		gpu.stalled = true;
		for (struct CUctx_st *c = gpu.contexts; c; c = c->next) {
			any |= serve(&c->legacy);
			for (struct CUstream_st *s = c->streams; s; s = s->next)
				any |= serve(s);
			left |= !gpu_context_idle(c);
		}
		if (any) {
			/* Whoever waits for the lock gets it now and then. */
			pthread_mutex_unlock(&gpu.lock);
			pthread_mutex_lock(&gpu.lock);
			continue;
		}
		/* What waits may wait for the host, which says nothing: look again soon. */
		if (!left) {
			pthread_cond_wait(&gpu.work, &gpu.lock);
			continue;
		}
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 200000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		if (gpu.stalled)
			pthread_cond_timedwait(&gpu.work, &gpu.lock, &until);
	}
	return NULL;
}

void gpu_start(void)
{
	pthread_t thread;
	int fd;

	if (gpu.started)
		return;
	gpu.started = true;
	fd = memfd_create("standin-gpu", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)GPU_MEMORY))
		abort();
	gpu.host_base = mmap(NULL, GPU_MEMORY, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	gpu.base =
		mmap(NULL, GPU_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	if (gpu.host_base == MAP_FAILED || gpu.base == MAP_FAILED ||
	    pthread_create(&thread, NULL, worker, NULL))
		abort();
	pthread_detach(thread);
}
