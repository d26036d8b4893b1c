/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's memory. Addresses that programs get lie in a range of the process that is mapped
 * without any right, so that a host access faults at once, also while kernels run; the contents lie
 * elsewhere. Programs and tools have parts of their own: what a tool allocates never changes what a
 * program finds in its memory or where.
 */
#include "simdev/device.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

void *sim_pages(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void sim_pages_free(void *p, uint64_t bytes)
{
	if (p)
		munmap(p, bytes);
}

int sim_memory_init(struct sim_device *d)
{
	uint64_t own = (d->config.memory + SIM_PAGE - 1) & ~(uint64_t)(SIM_PAGE - 1);
	uint64_t tools = (d->config.tool_memory + SIM_PAGE - 1) & ~(uint64_t)(SIM_PAGE - 1);
	void *reserve;

	if (!own || own > UINT64_C(1) << 44 || tools > UINT64_C(1) << 44)
		return sim_fail(SIM_INVALID, "a device cannot have %llu bytes of memory",
				(unsigned long long)d->config.memory);
	d->reserve_size = own + tools;
	reserve = mmap(NULL, d->reserve_size, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	d->backing = sim_pages(d->reserve_size);
	if (reserve == MAP_FAILED || !d->backing) {
		if (reserve != MAP_FAILED)
			munmap(reserve, d->reserve_size);
		sim_pages_free(d->backing, d->reserve_size);
		d->backing = NULL;
		d->reserve_size = 0;
		return sim_fail(SIM_NO_MEMORY, "no addresses for a device with %llu bytes: %s",
				(unsigned long long)(own + tools), strerror(errno));
	}
	d->reserve = (uint64_t)(uintptr_t)reserve;
	d->own = (struct sim_region){.begin = d->reserve, .end = d->reserve + own};
	d->tools = (struct sim_region){.begin = d->own.end, .end = d->own.end + tools};
	return SIM_OK;
}

static uint64_t pages_bytes(const struct sim_allocation *a)
{
	return ((a->size + SIM_PAGE - 1) / SIM_PAGE + 63) / 64 * sizeof(uint64_t);
}

static void region_release(struct sim_region *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->items[i].pages)
			sim_pages_free(r->items[i].pages, pages_bytes(&r->items[i]));
		if (r->items[i].shared)
			sim_pages_free(r->items[i].real, r->items[i].size);
	}
	sim_pages_free(r->items, r->room * sizeof(*r->items));
	*r = (struct sim_region){0};
}

void sim_memory_release(struct sim_device *d)
{
	region_release(&d->own);
	region_release(&d->tools);
	region_release(&d->shared);
	sim_pages_free(d->backing, d->reserve_size);
	if (d->reserve_size)
		munmap((void *)(uintptr_t)d->reserve, d->reserve_size);
	d->backing = NULL;
	d->reserve_size = 0;
}

/* Index of the first allocation that ends behind the address. */
static uint32_t region_place(const struct sim_region *r, uint64_t address)
{
	uint32_t low = 0, high = r->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->items[middle].address + r->items[middle].size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int region_insert(struct sim_region *r, uint32_t at, const struct sim_allocation *a)
{
	if (r->n == r->room) {
		uint32_t room = r->room ? 2 * r->room : SIM_FIRST_ALLOCATED;
		struct sim_allocation *items = sim_pages(room * sizeof(*items));

		if (!items)
			return sim_fail(SIM_NO_MEMORY, "no memory for the list of allocations");
		if (r->n)
			memcpy(items, r->items, r->n * sizeof(*items));
		sim_pages_free(r->items, r->room * sizeof(*items));
		r->items = items;
		r->room = room;
	}
	memmove(r->items + at + 1, r->items + at, (r->n - at) * sizeof(*r->items));
	r->items[at] = *a;
	r->n++;
	r->used += a->size;
	return SIM_OK;
}

int sim_region_get(struct sim_device *d, struct sim_region *r, uint64_t bytes, uint64_t *address)
{
	uint64_t size, at = r->begin;
	struct sim_allocation a;
	uint32_t i;
	int rc;

	if (!bytes)
		return sim_fail(SIM_INVALID, "an allocation of no bytes");
	if (bytes > r->end - r->begin)
		return sim_fail(SIM_NO_MEMORY, "the device has no %llu bytes",
				(unsigned long long)bytes);
	size = (bytes + SIM_ALIGNMENT - 1) & ~(uint64_t)(SIM_ALIGNMENT - 1);
	pthread_mutex_lock(&d->memory_lock);
	for (i = 0; i < r->n; i++) {
		uint64_t next = r->items[i].address;

		if (next - at >= size)
			break;
		at = (next + r->items[i].size + SIM_ALIGNMENT - 1) & ~(uint64_t)(SIM_ALIGNMENT - 1);
	}
	if (i == r->n && (at > r->end || r->end - at < size)) {
		rc = sim_fail(SIM_NO_MEMORY, "the device has no %llu bytes left",
			      (unsigned long long)bytes);
	} else {
		a = (struct sim_allocation){
			.address = at, .size = bytes, .real = d->backing + (at - d->reserve)};
		rc = region_insert(r, i, &a);
		*address = at;
	}
	pthread_mutex_unlock(&d->memory_lock);
	return rc;
}

int sim_region_put(struct sim_device *d, struct sim_region *r, uint64_t address,
		   uint64_t *bytes_out)
{
	struct sim_allocation gone = {0};
	uint32_t i;

	pthread_mutex_lock(&d->memory_lock);
	i = region_place(r, address);
	if (i < r->n && r->items[i].address == address) {
		gone = r->items[i];
		r->n--;
		r->used -= gone.size;
		memmove(r->items + i, r->items + i + 1, (r->n - i) * sizeof(*r->items));
	}
	pthread_mutex_unlock(&d->memory_lock);
	if (!gone.size)
		return sim_fail(SIM_INVALID, "0x%llx is no allocation of this device",
				(unsigned long long)address);
	if (gone.pages)
		sim_pages_free(gone.pages, pages_bytes(&gone));
	if (gone.shared)
		sim_pages_free(gone.real, gone.size);
	if (bytes_out)
		*bytes_out = gone.size;
	return SIM_OK;
}

int sim_memory_shared(struct sim_device *d, uint64_t bytes, void **pointer_out)
{
	uint64_t size = (bytes + SIM_PAGE - 1) & ~(uint64_t)(SIM_PAGE - 1);
	struct sim_allocation a;
	int rc;

	if (!bytes || size < bytes)
		return sim_fail(SIM_INVALID, "an allocation of %llu bytes",
				(unsigned long long)bytes);
	a = (struct sim_allocation){.size = size, .shared = true, .real = sim_pages(size)};
	if (!a.real)
		return sim_fail(SIM_NO_MEMORY, "the host has no %llu bytes",
				(unsigned long long)bytes);
	a.address = (uint64_t)(uintptr_t)a.real;
	pthread_mutex_lock(&d->memory_lock);
	rc = region_insert(&d->shared, region_place(&d->shared, a.address), &a);
	pthread_mutex_unlock(&d->memory_lock);
	if (rc)
		sim_pages_free(a.real, size);
	else
		*pointer_out = a.real;
	return rc;
}

bool sim_memory_is_device(const struct sim_device *d, uint64_t address)
{
	return address - d->reserve < d->reserve_size;
}

static void mark_written(const struct sim_allocation *a, uint64_t offset, uint64_t bytes)
{
	for (uint64_t page = offset / SIM_PAGE; page <= (offset + bytes - 1) / SIM_PAGE; page++)
		__atomic_fetch_or(&a->pages[page / 64], UINT64_C(1) << (page % 64),
				  __ATOMIC_RELAXED);
}

static struct sim_allocation *find(struct sim_device *d, uint64_t address, uint64_t bytes)
{
	struct sim_region *r = !sim_memory_is_device(d, address) ? &d->shared
			       : address < d->own.end            ? &d->own
								 : &d->tools;
	uint32_t i = region_place(r, address);
	struct sim_allocation *a = i < r->n ? &r->items[i] : NULL;

	return a && address >= a->address && bytes <= a->size &&
			       address - a->address <= a->size - bytes
		       ? a
		       : NULL;
}

void *sim_memory_at(struct sim_device *d, uint64_t address, uint64_t bytes, bool write)
{
	struct sim_allocation *a;
	void *p = NULL;

	pthread_mutex_lock(&d->memory_lock);
	a = find(d, address, bytes);
	if (a) {
		p = a->real + (address - a->address);
		if (write && bytes && a->pages)
			mark_written(a, address - a->address, bytes);
	}
	pthread_mutex_unlock(&d->memory_lock);
	return p;
}

int sim_memory_track(struct sim_device *d, uint64_t address)
{
	struct sim_allocation *a;
	int rc = SIM_OK;

	pthread_mutex_lock(&d->memory_lock);
	a = find(d, address, 1);
	if (!a || a->address != address)
		rc = sim_fail(SIM_INVALID, "0x%llx is no allocation", (unsigned long long)address);
	else if (a->pages)
		for (uint64_t i = 0; i < pages_bytes(a) / sizeof(uint64_t); i++)
			__atomic_store_n(&a->pages[i], 0, __ATOMIC_RELAXED);
	else if (!(a->pages = sim_pages(pages_bytes(a))))
		rc = sim_fail(SIM_NO_MEMORY, "no memory to track an allocation");
	pthread_mutex_unlock(&d->memory_lock);
	return rc;
}

int sim_memory_tracked(struct sim_device *d, uint64_t address, uint64_t *pages_out)
{
	struct sim_allocation *a;
	int rc = SIM_OK;

	pthread_mutex_lock(&d->memory_lock);
	a = find(d, address, 1);
	if (!a || a->address != address || !a->pages)
		rc = sim_fail(SIM_INVALID, "0x%llx is not tracked", (unsigned long long)address);
	else
		for (uint64_t i = 0; i < pages_bytes(a) / sizeof(uint64_t); i++)
			pages_out[i] |= __atomic_exchange_n(&a->pages[i], 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&d->memory_lock);
	return rc;
}
