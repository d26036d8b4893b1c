/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of saved contents: see stores.h. */
#include "runtime/cuda/stores.h"

#include "runtime/cuda/arrays.h"
#include "runtime/cuda/drain.h"

#include <stdlib.h>

#define GRAIN (2ull << 20)

struct cuda_store {
	struct cuda_store *next; /* among the free ones */
	enum runtime_store_kind kind;
	uint64_t size;
	cu_ptr address;
	void *host; /* of a host store: the same place */
};

cu_ptr cuda_store_address(const void *store)
{
	return ((const struct cuda_store *)store)->address;
}

static void store_free(struct cuda_store *s)
{
	const struct cuda_driver *d = &cuda_session.driver;

	if (s->kind == RUNTIME_STORE_DEVICE)
		d->free(s->address);
	else
		d->host_free(s->host);
	free(s);
}

void cuda_store_trim(struct cuda_context *c)
{
	while (c->free_stores) {
		struct cuda_store *s = c->free_stores;

		c->free_stores = s->next;
		store_free(s);
	}
}

/* The smallest free piece that holds it and does not waste most of itself. */
static struct cuda_store *store_reuse(struct cuda_context *c, uint64_t bytes,
				      enum runtime_store_kind kind)
{
	struct cuda_store **best = NULL, *s;

	for (struct cuda_store **p = &c->free_stores; *p; p = &(*p)->next)
		if ((*p)->kind == kind && (*p)->size >= bytes &&
		    (*p)->size <= 2 * bytes + 4 * GRAIN && (!best || (*p)->size < (*best)->size))
			best = p;
	if (!best)
		return NULL;
	s = *best;
	*best = s->next;
	return s;
}

static cu_result store_allocate(struct cuda_store *s)
{
	const struct cuda_driver *d = &cuda_session.driver;
	cu_result result;

	if (s->kind == RUNTIME_STORE_DEVICE) {
		size_t free_bytes = 0, total = 0, reserve;

		result = d->memory_info(&free_bytes, &total);
		if (result)
			return result;
		reserve = total / 32;
		if (reserve < CUDA_STORE_RESERVE_MIN)
			reserve = CUDA_STORE_RESERVE_MIN;
		if (s->size > free_bytes || free_bytes - s->size < reserve)
			return CU_OUT_OF_MEMORY;
		return d->alloc(&s->address, s->size);
	}
	result = d->host_alloc(&s->host, s->size, 0);
	s->address = (cu_ptr)(uintptr_t)s->host;
	return result;
}

int cuda_store_get(void *device, uint64_t bytes, enum runtime_store_kind kind, void **store_out,
		   struct error *err)
{
	struct cuda_context *c = device;
	struct cuda_store *s;
	cu_result result;

	bytes = (bytes + GRAIN - 1) / GRAIN * GRAIN;
	s = store_reuse(c, bytes, kind);
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return error_set(err, RC_NO_MEMORY, "out of memory");
		s->kind = kind;
		s->size = bytes;
		result = store_allocate(s);
		if (result == CU_OUT_OF_MEMORY && c->free_stores) {
			cuda_store_trim(c);
			result = store_allocate(s);
		}
		if (result) {
			free(s);
			if (result == CU_OUT_OF_MEMORY)
				return error_set(err, RC_NO_MEMORY, "no room to save %.1f MB %s",
						 (double)bytes / 1e6,
						 kind == RUNTIME_STORE_DEVICE ? "on the device"
									      : "in pinned memory");
			return cuda_drain_fail("taking memory to save into", result, err);
		}
	}
	*store_out = s;
	return 0;
}

void cuda_store_put(void *device, void *store)
{
	struct cuda_context *c = device;
	struct cuda_store *s = store;

	s->next = c->free_stores;
	c->free_stores = s;
}

int cuda_store_save(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		    void *store, uint64_t store_offset, const struct runtime_op *before,
		    struct error *err)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct cuda_context *c = device;
	struct CUstream_st *stream = before ? before->queue_native : c->own;
	cu_result result;

	result = cuda_array_is(m->address)
			 ? cuda_array_copy(m->address, offset, bytes,
					   cuda_store_address(store) + store_offset, false, stream)
			 : d->copy(cuda_store_address(store) + store_offset, m->address + offset,
				   bytes, stream);
	if (result)
		return cuda_drain_fail("saving memory", result, err);
	if (before)
		cuda_drain_note(c, stream);
	else
		c->own_busy = true;
	return 0;
}

int cuda_store_restore(void *device, const struct runtime_memory *m, uint64_t offset,
		       uint64_t bytes, void *store, uint64_t store_offset, struct error *err)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct cuda_context *c = device;
	cu_result result;

	result = cuda_array_is(m->address)
			 ? cuda_array_copy(m->address, offset, bytes,
					   cuda_store_address(store) + store_offset, true, c->own)
			 : d->copy(m->address + offset, cuda_store_address(store) + store_offset,
				   bytes, c->own);
	c->own_busy = true;
	return result ? cuda_drain_fail("restoring memory", result, err) : 0;
}
