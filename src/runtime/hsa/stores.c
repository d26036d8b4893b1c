/* SPDX-License-Identifier: Apache-2.0 */
/* Saving, comparing, putting back: see stores.h. */
#include "runtime/hsa/stores.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define GRAIN (64u << 10)
#define STAGE (4u << 20) /* read at once for comparing and hashing; a multiple of all chunks */

struct hsa_store {
	struct hsa_store *next; /* among the free ones */
	enum runtime_store_kind kind;
	uint64_t size;
	unsigned char *address;
};

static int closed(struct error *err)
{
	return error_set(err, RC_END, "the program shut the HSA runtime down");
}

static void *at_address(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static int copy(void *to, const void *from, uint64_t bytes, const char *what, struct error *err)
{
	uint32_t status;

	if (atomic_load(&hsa_session.closed))
		return closed(err);
	status = hsa_session.core.hsa_memory_copy(to, from, bytes);
	return status ? hsa_fail(status, what, err) : 0;
}

/* ---- memory of ours ---- */

static uint32_t allocate(struct hsa_device *d, enum runtime_store_kind kind, uint64_t bytes,
			 unsigned char **out)
{
	const struct hsa_amd_table *a = &hsa_session.amd;
	uint64_t pool = kind == RUNTIME_STORE_DEVICE ? d->device_pool : hsa_session.host_pool;
	void *p = NULL;
	uint32_t status;

	if (!pool)
		return HSA_OUT_OF_RESOURCES;
	status = a->hsa_amd_memory_pool_allocate(pool, bytes, 0, &p);
	if (status)
		return status;
	if (kind == RUNTIME_STORE_HOST)
		status = a->hsa_amd_agents_allow_access(1, &d->agent, NULL, p);
	if (status)
		(void)a->hsa_amd_memory_pool_free(p);
	else
		*out = p;
	return status;
}

static void store_free(struct hsa_store *s)
{
	if (!atomic_load(&hsa_session.closed))
		(void)hsa_session.amd.hsa_amd_memory_pool_free(s->address);
	free(s);
}

void hsa_store_trim(struct hsa_device *d, bool all)
{
	struct hsa_store *s;

	while ((s = d->free_stores)) {
		d->free_stores = s->next;
		store_free(s);
	}
	for (unsigned i = 0; i < 2 && all; i++) {
		if (d->stage[i] && !atomic_load(&hsa_session.closed))
			(void)hsa_session.amd.hsa_amd_memory_pool_free(d->stage[i]);
		d->stage[i] = NULL;
	}
}

bool hsa_store_holds(const struct hsa_device *d)
{
	return d->free_stores != NULL;
}

static struct hsa_store *reuse(struct hsa_device *d, uint64_t bytes, enum runtime_store_kind kind)
{
	struct hsa_store **best = NULL, *s;

	for (struct hsa_store **p = &d->free_stores; *p; p = &(*p)->next)
		if ((*p)->kind == kind && (*p)->size >= bytes && (*p)->size / 2 <= bytes + GRAIN &&
		    (!best || (*p)->size < (*best)->size))
			best = p;
	if (!best)
		return NULL;
	s = *best;
	*best = s->next;
	return s;
}

int hsa_store_get(void *device, uint64_t bytes, enum runtime_store_kind kind, void **store_out,
		  struct error *err)
{
	struct hsa_device *d = device;
	struct hsa_store *s;
	uint32_t status;

	if (atomic_load(&hsa_session.closed))
		return closed(err);
	bytes = (bytes + GRAIN - 1) / GRAIN * GRAIN;
	s = reuse(d, bytes, kind);
	if (s) {
		*store_out = s;
		return 0;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, RC_NO_MEMORY, "out of memory");
	s->kind = kind;
	s->size = bytes;
	status = allocate(d, kind, bytes, &s->address);
	if (status && d->free_stores) {
		hsa_store_trim(d, false);
		status = allocate(d, kind, bytes, &s->address);
	}
	if (status) {
		free(s);
		return error_set(err, RC_NO_MEMORY, "no room to save %.1f MB %s",
				 (double)bytes / 1e6,
				 kind == RUNTIME_STORE_DEVICE ? "on the device" : "on the host");
	}
	*store_out = s;
	return 0;
}

void hsa_store_put(void *device, void *store)
{
	struct hsa_device *d = device;
	struct hsa_store *s = store;

	s->next = d->free_stores;
	d->free_stores = s;
}

/* ---- copies ---- */

int hsa_store_save(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		   void *store, uint64_t store_offset, const struct runtime_op *before,
		   struct error *err)
{
	struct hsa_store *s = store;

	(void)device;
	(void)before; /* the device is idle: RUNTIME_ORDERED_SAVE is not promised */
	return copy(s->address + store_offset, at_address(m->address + offset), bytes,
		    "saving memory", err);
}

int hsa_store_restore(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		      void *store, uint64_t store_offset, struct error *err)
{
	struct hsa_store *s = store;

	(void)device;
	return copy(at_address(m->address + offset), s->address + store_offset, bytes,
		    "restoring memory", err);
}

/* ---- reading ---- */

static int stage(struct hsa_device *d, unsigned i, const void *from, uint64_t bytes,
		 struct error *err)
{
	uint32_t status;

	if (atomic_load(&hsa_session.closed))
		return closed(err);
	if (!d->stage[i]) {
		status = allocate(d, RUNTIME_STORE_HOST, STAGE, &d->stage[i]);
		if (status)
			return error_set(err, RC_NO_MEMORY, "no host memory to compare with");
	}
	return copy(d->stage[i], from, bytes, "reading memory", err);
}

int hsa_store_compare(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		      void *store, uint64_t store_offset, uint64_t chunk, uint64_t *bitmap,
		      struct error *err)
{
	struct hsa_device *d = device;
	const struct hsa_store *s = store;
	uint64_t step = chunk && chunk < STAGE ? STAGE / chunk * chunk : 0;
	int rc = 0;

	if (!step)
		return error_set(err, RC_INVALID, "chunks of %llu bytes cannot be compared",
				 (unsigned long long)chunk);
	for (uint64_t at = 0; at < bytes && !rc; at += step) {
		uint64_t n = bytes - at < step ? bytes - at : step;
		const unsigned char *saved = s->address + store_offset + at;

		rc = stage(d, 0, at_address(m->address + offset + at), n, err);
		if (!rc && s->kind == RUNTIME_STORE_DEVICE) {
			rc = stage(d, 1, saved, n, err);
			saved = d->stage[1];
		}
		for (uint64_t k = 0; k < n && !rc; k += chunk) {
			uint64_t size = n - k < chunk ? n - k : chunk, bit = (at + k) / chunk;

			if (memcmp(d->stage[0] + k, saved + k, size))
				bitmap[bit / 64] |= UINT64_C(1) << (bit % 64);
		}
	}
	return rc;
}

int hsa_store_hash(void *device, const struct runtime_memory *m, uint64_t *hash_out,
		   struct error *err)
{
	struct hsa_device *d = device;
	uint64_t pair[2] = {0, 0};
	int rc = 0;

	for (uint64_t at = 0; at < m->size && !rc; at += STAGE) {
		uint64_t n = m->size - at < STAGE ? m->size - at : STAGE;

		rc = stage(d, 0, at_address(m->address + at), n, err);
		if (rc)
			break;
		pair[1] = hash64(d->stage[0], n);
		pair[0] = hash64(pair, sizeof(pair));
	}
	*hash_out = pair[0];
	return rc;
}
