/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that the simulated device knows, by name: those of the test programs, and twins of
 * the product's own two (src/runtime/cuda/checks.c has them in PTX). Each counts the work that it
 * really does, so that a replay that finds other memory counts something else.
 */
#include "arrays.h"
#include "gpu.h"

#include <string.h>

static uint64_t argument(const struct gpu_launch *l, unsigned i)
{
	uint64_t value = 0;

	memcpy(&value, l->arguments + gpu_kernel_offset(l->function->kernel, i),
	       l->function->kernel->sizes[i]);
	return value;
}

#define ARRAY(type, name, i, n)                                  \
	type *name = gpu_at(argument(l, i), (n) * sizeof(type)); \
	if (!name)                                               \
	return STEP_FAULT

/* update(a, n), update_numbers(a, n, m, l): in place; m and l are not used. */
static enum gpu_step update(struct gpu_launch *l)
{
	uint64_t n = argument(l, 1);
	ARRAY(uint32_t, a, 0, n);

	for (uint64_t i = 0; i < n; i++)
		a[i] = a[i] * 3 + 1;
	l->work[RAW_LOADS] = l->work[RAW_STORES] = n;
	return STEP_DONE;
}

/* add(a, b, c, n): c = a + b. */
static enum gpu_step add(struct gpu_launch *l)
{
	uint64_t n = argument(l, 3);
	ARRAY(const uint32_t, a, 0, n);
	ARRAY(const uint32_t, b, 1, n);
	ARRAY(uint32_t, c, 2, n);

	for (uint64_t i = 0; i < n; i++)
		c[i] = a[i] + b[i];
	l->work[RAW_LOADS] = 2 * n;
	l->work[RAW_STORES] = n;
	return STEP_DONE;
}

/* set(a, value, n) and copy(to, from, n). */
static enum gpu_step set(struct gpu_launch *l)
{
	uint64_t n = argument(l, 2);
	uint32_t value = (uint32_t)argument(l, 1);
	ARRAY(uint32_t, a, 0, n);

	for (uint64_t i = 0; i < n; i++)
		a[i] = value;
	l->work[RAW_STORES] = n;
	return STEP_DONE;
}
static enum gpu_step copy(struct gpu_launch *l)
{
	uint64_t n = argument(l, 2);
	ARRAY(uint32_t, to, 0, n);
	ARRAY(const uint32_t, from, 1, n);

	memmove(to, from, n * sizeof(*to));
	l->work[RAW_LOADS] = l->work[RAW_STORES] = n;
	return STEP_DONE;
}

/* histogram(a, h, n): one atomic addition an item; the work depends on what is there. */
static enum gpu_step histogram(struct gpu_launch *l)
{
	uint64_t n = argument(l, 2);
	ARRAY(const uint32_t, a, 0, n);
	ARRAY(uint32_t, h, 1, 256);

	for (uint64_t i = 0; i < n; i++) {
		h[a[i] & 255]++;
		l->work[RAW_INSTRUCTIONS] += h[a[i] & 255] & 3;
	}
	l->work[RAW_LOADS] = n;
	l->work[RAW_ATOMICS] = n;
	return STEP_DONE;
}

/* chain(first, n): a list of nodes {data, next} in device memory, which no argument tells of. */
static enum gpu_step chain(struct gpu_launch *l)
{
	uint64_t n = argument(l, 1);

	for (cu_ptr at = argument(l, 0); at;) {
		const uint64_t *node = gpu_at(at, 16);
		uint32_t *data = node ? gpu_at(node[0], n * sizeof(*data)) : NULL;

		if (!data)
			return STEP_FAULT;
		for (uint64_t i = 0; i < n; i++)
			data[i] = data[i] * 5 + 3;
		l->work[RAW_LOADS] += 2 + n;
		l->work[RAW_STORES] += n;
		at = node[1];
	}
	return STEP_DONE;
}

static bool is_named(const struct gpu_global *g, const char *name)
{
	return !strcmp(g->name + (strncmp(g->name, "late_", 5) ? 0 : 5), name);
}

/* globals(a, n): adds to the module's variables `total` (4 bytes) and `table` (256 words), which
 * may also begin with `late_`. */
static enum gpu_step globals(struct gpu_launch *l)
{
	const struct CUmod_st *m = l->function->module;
	uint64_t n = argument(l, 1);
	uint32_t *total = NULL, *sums = NULL;
	ARRAY(const uint32_t, a, 0, n);

	for (unsigned i = 0; i < m->n_globals; i++) {
		if (is_named(&m->globals[i], "total"))
			total = gpu_at(m->globals[i].address, 4);
		else if (is_named(&m->globals[i], "table"))
			sums = gpu_at(m->globals[i].address, 1024);
	}
	if (!total || !sums)
		return STEP_FAULT;
	for (uint64_t i = 0; i < n; i++) {
		*total += a[i] & 3;
		sums[i & 255] = sums[i & 255] * 7 + a[i];
	}
	l->work[RAW_LOADS] = n;
	l->work[RAW_ATOMICS] = n;
	l->work[RAW_INSTRUCTIONS] = *total & 1023;
	return STEP_DONE;
}

/* tally(): one to the module's variable `total`. */
static enum gpu_step tally(struct gpu_launch *l)
{
	const struct CUmod_st *m = l->function->module;

	for (unsigned i = 0; i < m->n_globals; i++)
		if (is_named(&m->globals[i], "total")) {
			uint32_t *total = gpu_at(m->globals[i].address, 4);

			l->work[RAW_ATOMICS] = 1;
			l->work[RAW_INSTRUCTIONS] = total ? ++*total : 0;
			return total ? STEP_DONE : STEP_FAULT;
		}
	return STEP_FAULT;
}

/* append(n, list, room, count): the end of a list moves. */
static enum gpu_step append(struct gpu_launch *l)
{
	uint64_t room = argument(l, 2), count = argument(l, 3);
	ARRAY(uint32_t, n, 0, 1);
	ARRAY(uint32_t, list, 1, room);

	for (uint64_t i = 0; i < count; i++, (*n)++) {
		l->work[RAW_ATOMICS]++;
		if (*n >= room)
			continue;
		list[*n] = *n * 2654435761u;
		l->work[RAW_STORES]++;
	}
	return STEP_DONE;
}

/* once(done, a, n): the second time there is nothing left to do. */
static enum gpu_step once(struct gpu_launch *l)
{
	uint64_t n = argument(l, 2);
	ARRAY(uint32_t, done, 0, n);
	ARRAY(uint32_t, a, 1, n);

	for (uint64_t i = 0; i < n; i++) {
		l->work[RAW_LOADS]++;
		if (done[i])
			continue;
		done[i] = 1;
		a[i] = a[i] * 11 + 7;
		l->work[RAW_LOADS]++;
		l->work[RAW_STORES] += 2;
	}
	return STEP_DONE;
}

/* spin(flag, out): waits for the host. */
static enum gpu_step spin(struct gpu_launch *l)
{
	ARRAY(const uint32_t, flag, 0, 1);
	ARRAY(uint32_t, out, 1, 1);

	if (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		return STEP_AGAIN;
	*out += 41;
	l->work[RAW_LOADS] = 2;
	l->work[RAW_STORES] = 1;
	return STEP_DONE;
}

/* answer(flag, a): the host waits for it. */
static enum gpu_step answer(struct gpu_launch *l)
{
	ARRAY(uint32_t, flag, 0, 1);
	ARRAY(const uint32_t, a, 1, 1);

	__atomic_store_n(flag, a[0] + 1, __ATOMIC_RELEASE);
	l->work[RAW_LOADS] = l->work[RAW_STORES] = 1;
	return STEP_DONE;
}

/* stray(pointer, n): writes where a word in memory says. */
static enum gpu_step stray(struct gpu_launch *l)
{
	uint64_t n = argument(l, 1);
	ARRAY(const uint64_t, pointer, 0, 1);
	uint32_t *to = gpu_at(*pointer, n * sizeof(*to));

	if (!to)
		return STEP_FAULT;
	for (uint64_t i = 0; i < n; i++)
		to[i] = to[i] * 13 + 5;
	l->work[RAW_LOADS] = n + 1;
	l->work[RAW_STORES] = n;
	return STEP_DONE;
}

/* surface(number, n): the elements of an array in place; what they become is counted, too. */
static enum gpu_step accumulate(struct gpu_launch *l, uint64_t number, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint32_t *e = number == UINT64_MAX
				      ? gpu_reference_element(l->function->module, i, sizeof(*e))
				      : gpu_surface_element(number, i, sizeof(*e));

		if (!e)
			return STEP_FAULT;
		*e = *e * 3 + (uint32_t)i;
		l->work[RAW_INSTRUCTIONS] += *e >> 8 & 1;
	}
	l->work[RAW_LOADS] = l->work[RAW_STORES] = n;
	return STEP_DONE;
}
static enum gpu_step surface(struct gpu_launch *l)
{
	return accumulate(l, argument(l, 0), argument(l, 1));
}

/* surface_at(pointer, n): the same, with the number in device memory. */
static enum gpu_step surface_at(struct gpu_launch *l)
{
	ARRAY(const uint64_t, number, 0, 1);

	return accumulate(l, *number, argument(l, 1));
}

/* surface_reference(n): the same, with the module's reference. */
static enum gpu_step surface_reference(struct gpu_launch *l)
{
	return accumulate(l, UINT64_MAX, argument(l, 0));
}

/* texture(number, a, n): a = 3 a + what the texture has there. */
static enum gpu_step texture(struct gpu_launch *l)
{
	uint64_t n = argument(l, 2);
	ARRAY(uint32_t, a, 1, n);

	for (uint64_t i = 0; i < n; i++) {
		const uint32_t *e = gpu_texture_element(argument(l, 0), i, sizeof(*e));

		if (!e)
			return STEP_FAULT;
		a[i] = a[i] * 3 + *e;
		l->work[RAW_INSTRUCTIONS] += *e >> 8 & 1;
	}
	l->work[RAW_LOADS] = 2 * n;
	l->work[RAW_STORES] = n;
	return STEP_DONE;
}

/* wild(): an address that is nobody's. */
static enum gpu_step wild(struct gpu_launch *l)
{
	(void)l;
	return STEP_FAULT;
}

/* The product's: a bit for each chunk that differs; a block a chunk. */
static enum gpu_step compare(struct gpu_launch *l)
{
	uint64_t n = argument(l, 2), chunk = argument(l, 3);
	uint64_t chunks = chunk ? (n + chunk - 1) / chunk : 0;
	ARRAY(const unsigned char, a, 0, n);
	ARRAY(const unsigned char, b, 1, n);
	ARRAY(uint32_t, bits, 4, (chunks + 31) / 32);

	for (uint64_t i = 0; i < chunks && i < l->grid[0]; i++) {
		uint64_t size = n - i * chunk < chunk ? n - i * chunk : chunk;

		if (memcmp(a + i * chunk, b + i * chunk, size))
			bits[i / 32] |= 1u << (i % 32);
	}
	return STEP_DONE;
}

/* And a sum over all words, each mixed with its place. */
static enum gpu_step hash(struct gpu_launch *l)
{
	uint64_t n = argument(l, 1);
	ARRAY(const unsigned char, a, 0, n);
	ARRAY(uint64_t, sum, 2, 1);

	for (uint64_t i = 0; i < n; i += 8) {
		uint64_t w = 0, k = i * 0x9e3779b97f4a7c15u;

		memcpy(&w, a + i, n - i < 8 ? n - i : 8);
		w ^= k;
		w = (w ^ w >> 32) * 0xd6e8feb86659fd93u;
		w = (w ^ w >> 32) * 0xd6e8feb86659fd93u;
		*sum += w ^ w >> 32;
	}
	return STEP_DONE;
}

static const struct gpu_kernel kernels[] = {
	{"update", 2, {8, 4}, update},
	{"update_numbers", 4, {8, 4, 4, 8}, update},
	{"add", 4, {8, 8, 8, 4}, add},
	{"set", 3, {8, 4, 4}, set},
	{"copy", 3, {8, 8, 4}, copy},
	{"histogram", 3, {8, 8, 4}, histogram},
	{"chain", 2, {8, 4}, chain},
	{"globals", 2, {8, 4}, globals},
	{"tally", 0, {0}, tally},
	{"append", 4, {8, 8, 4, 4}, append},
	{"once", 3, {8, 8, 4}, once},
	{"spin", 2, {8, 8}, spin},
	{"answer", 2, {8, 8}, answer},
	{"stray", 2, {8, 4}, stray},
	{"surface", 2, {8, 4}, surface},
	{"surface_at", 2, {8, 4}, surface_at},
	{"surface_reference", 1, {4}, surface_reference},
	{"texture", 3, {8, 8, 4}, texture},
	{"wild", 0, {0}, wild},
	{"ncclDevKernel_update", 2, {8, 4}, update},
	{"ncclKernel_AllReduce_RING_LL", 2, {8, 4}, update},
	{"nvshmemi_transfer_rma", 2, {8, 4}, update},
	{"retally_compare", 5, {8, 8, 8, 8, 8}, compare},
	{"retally_hash", 3, {8, 8, 8}, hash},
};

const struct gpu_kernel *gpu_kernel_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		if (strlen(kernels[i].name) == length && !memcmp(kernels[i].name, name, length))
			return &kernels[i];
	return NULL;
}

size_t gpu_kernel_offset(const struct gpu_kernel *k, unsigned i)
{
	size_t at = 0;

	for (unsigned j = 0; j <= i && j < k->n; j++) {
		at = (at + k->sizes[j] - 1) / k->sizes[j] * k->sizes[j];
		if (j < i)
			at += k->sizes[j];
	}
	return at;
}
