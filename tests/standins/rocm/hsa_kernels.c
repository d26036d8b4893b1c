/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of the model device do: each is a trap for naive replay. Programs declare their
 * arguments with the structs of t0_kernels.h; every address goes through memory_at.
 */
#include "hsa_standin.h"
#include "t0_kernels.h"

static uint32_t *words(struct kernel_call *c, void *address, uint32_t n)
{
	(void)c;
	return memory_at(address, (size_t)n * 4, "a kernel");
}

static void accumulate(struct kernel_call *c)
{
	const struct t0_accumulate *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	uint32_t *buffer = words(c, a->buffer, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		buffer[i] = buffer[i] * 5 + a->add + i;
	c->bytes_read = c->bytes_written = (uint64_t)a->n * 4;
}

static void atomics(struct kernel_call *c)
{
	const struct t0_atomics *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	uint64_t *total = memory_at(a->total, 8, "a kernel");
	uint32_t *bins = words(c, a->bins, a->n_bins);
	for (uint32_t i = 0; i < c->packet->grid[0]; i++) {
		uint64_t was = __atomic_fetch_add(total, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&bins[was % a->n_bins], 1, __ATOMIC_RELAXED);
	}
	c->bytes_read = c->bytes_written = c->packet->grid[0] * (uint64_t)12;
}

static void through_pointer(struct kernel_call *c)
{
	const struct t0_through_pointer *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	void **box = memory_at(a->box, sizeof *box, "a kernel");
	uint32_t *buffer = words(c, *box, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		buffer[i] = buffer[i] * 3 + 7;
	c->bytes_read = c->bytes_written = (uint64_t)a->n * 4;
}

static void module_variable(struct kernel_call *c)
{
	const struct t0_module_variable *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	uint64_t at = code_variable(c->executable, "total");
	if (!at)
		t0_abort("module_variable: the code object has no variable 'total'");
	uint32_t *total = memory_at((void *)(uintptr_t)at, 4, "a kernel");
	uint32_t *out = words(c, a->out, 1);
	*total = *total * 2 + c->packet->grid[0];
	*out += *total;
	c->bytes_read = c->bytes_written = 8;
}

static void produce(struct kernel_call *c)
{
	const struct t0_produce *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	uint32_t *to = words(c, a->to, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		to[i] = to[i] * 3 + 1;
	c->bytes_read = c->bytes_written = (uint64_t)a->n * 4;
}

static void consume(struct kernel_call *c)
{
	const struct t0_consume *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	const uint32_t *from = words(c, a->from, a->n);
	uint32_t *to = words(c, a->to, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		to[i] = to[i] * 7 + from[i];
	c->bytes_read = (uint64_t)a->n * 8;
	c->bytes_written = (uint64_t)a->n * 4;
}

static void wait_for_flag(struct kernel_call *c)
{
	const struct t0_wait_for_flag *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	uint32_t *flag = words(c, a->flag, 1), *out = words(c, a->out, 1);
	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < a->value && !*c->stop)
		t0_sleep_us(50);
	*out = *out * 2 + 1;
	c->bytes_written = 4;
}

static void set_flag(struct kernel_call *c)
{
	const struct t0_set_flag *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	__atomic_store_n(words(c, a->flag, 1), a->value, __ATOMIC_RELEASE);
	c->bytes_written = 4;
}

static void fill(struct kernel_call *c)
{
	const struct t0_fill *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	uint32_t *to = words(c, a->to, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		to[i] = a->value;
	c->bytes_written = (uint64_t)a->n * 4;
}

static void copy(struct kernel_call *c)
{
	const struct t0_copy *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	const uint32_t *from = words(c, a->from, a->n);
	uint32_t *to = words(c, a->to, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		to[i] = from[i];
	c->bytes_read = c->bytes_written = (uint64_t)a->n * 4;
}

static void append(struct kernel_call *c)
{
	const struct t0_append *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	uint32_t *used = words(c, a->used, 1), *list = words(c, a->list, a->room);
	for (uint32_t i = 0; i < c->packet->grid[0] && *used < a->room; i++) {
		uint32_t at = (*used)++;
		list[at] = i * 11 + at;
	}
	c->bytes_written = c->packet->grid[0] * (uint64_t)4;
}

static void only_once(struct kernel_call *c)
{
	const struct t0_only_once *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	uint32_t *done = words(c, a->done, a->n), *work = words(c, a->work, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		if (!done[i]) {
			work[i] += i + 1;
			done[i] = 1;
		}
	c->bytes_read = c->bytes_written = (uint64_t)a->n * 8;
}

/* Writes where no argument says: to an address that the program left in device memory, as a
 * number that only this kernel knows how to read. */
static void astray(struct kernel_call *c)
{
	const struct t0_astray *a = memory_at(c->packet->kernarg, sizeof *a, "arguments");
	const uint64_t *hidden = memory_at(a->hidden, 8, "a kernel");
	uint32_t *to = words(c, (void *)(uintptr_t)(*hidden ^ T0_ASTRAY_KEY), a->n);
	for (uint32_t i = 0; i < a->n; i++)
		to[i] = to[i] * 9 + 1;
	c->bytes_written = (uint64_t)a->n * 4;
}

static void nothing(struct kernel_call *c)
{
	(void)c;
}

const struct kernel_type t0_kernels[] = {
	{"accumulate", sizeof(struct t0_accumulate), accumulate, 0, 8},
	{"atomics", sizeof(struct t0_atomics), atomics, 0, 12},
	{"through_pointer", sizeof(struct t0_through_pointer), through_pointer, 0, 8},
	{"module_variable", sizeof(struct t0_module_variable), module_variable, 0, 8},
	{"produce", sizeof(struct t0_produce), produce, 0, 8},
	{"consume", sizeof(struct t0_consume), consume, 1024, 16},
	{"wait_for_flag", sizeof(struct t0_wait_for_flag), wait_for_flag, 0, 4},
	{"set_flag", sizeof(struct t0_set_flag), set_flag, 0, 4},
	{"fill", sizeof(struct t0_fill), fill, 0, 4},
	{"copy", sizeof(struct t0_copy), copy, 0, 8},
	{"append", sizeof(struct t0_append), append, 0, 8},
	{"only_once", sizeof(struct t0_only_once), only_once, 0, 8},
	{"astray", sizeof(struct t0_astray), astray, 0, 8},
	{"nothing", 0, nothing, 0, 4},
	/* a name of RCCL's: must run exactly once */
	{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", sizeof(struct t0_accumulate), accumulate, 0,
	 64},
	{"_Z5scalePfi", sizeof(struct t0_accumulate), accumulate, 0, 8}, /* scale(float*, int) */
};
const unsigned t0_n_kernels = sizeof t0_kernels / sizeof *t0_kernels;
