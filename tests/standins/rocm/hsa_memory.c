/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the model device. One memfd holds all of it and is mapped twice: where the program
 * sees its addresses device memory is PROT_NONE, so that a host that touches it dies; a second
 * mapping, known only here, is what kernels and copies work on. Memory of CPU pools is readable
 * in both.
 */
#include "hsa_standin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SPACE    ((size_t)8 << 30) /* addresses of each half, sparse */
#define PAGE     4096u
#define MAX_LIVE 4096

struct block {
	size_t offset, bytes, wanted; /* bytes: whole pages */
	struct pool *pool;            /* NULL: internal */
	struct agent *agent;
	uint32_t type; /* enum hsa_pointer_kind */
	uint32_t alloc_flags;
	void *locked; /* host memory of the program, HSA_ADDRESS_LOCKED: nothing of ours */
	bool mapped;  /* of HSA_ADDRESS_RESERVED */
	void *user_data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *seen, *inner; /* the two mappings; the upper half is host-accessible */
static struct block blocks[MAX_LIVE];
static unsigned n_blocks;

void memory_init(void)
{
	int fd = memfd_create("t0-memory", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 2 * SPACE))
		t0_abort("cannot make the memory of the model device");
	seen = mmap(NULL, 2 * SPACE, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	inner = mmap(NULL, 2 * SPACE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (seen == MAP_FAILED || inner == MAP_FAILED ||
	    mprotect(seen + SPACE, SPACE, PROT_READ | PROT_WRITE))
		t0_abort("cannot map the memory of the model device");
	close(fd);
}

static struct block *find(const void *address)
{
	for (unsigned i = 0; i < n_blocks; i++) {
		struct block *b = &blocks[i];
		const char *base = b->locked ? b->locked : seen + b->offset;
		if ((const char *)address >= base && (const char *)address < base + b->wanted)
			return b;
	}
	return NULL;
}

static struct block *add(size_t bytes, bool device, size_t alignment)
{
	size_t low = device ? 0 : SPACE, high = low + SPACE;
	size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
	if (n_blocks == MAX_LIVE || !bytes || whole > SPACE)
		return NULL;
	/* First fit behind every live block; one page between them stays empty. */
	for (size_t at = low + PAGE; at + whole <= high;) {
		at = (at + alignment - 1) / alignment * alignment;
		size_t next = 0;
		for (unsigned i = 0; i < n_blocks; i++)
			if (!blocks[i].locked && blocks[i].offset < at + whole + PAGE &&
			    at < blocks[i].offset + blocks[i].bytes + PAGE)
				next = blocks[i].offset + blocks[i].bytes + PAGE;
		if (!next) {
			struct block *b = &blocks[n_blocks++];
			*b = (struct block){.offset = at, .bytes = whole, .wanted = bytes};
			return b;
		}
		at = next;
	}
	return NULL;
}

static void drop(struct block *b)
{
	/* What comes here next finds zeros, as the driver gives them. */
	if (!b->locked)
		madvise(inner + b->offset, b->bytes, MADV_REMOVE);
	*b = blocks[--n_blocks];
}

void *memory_at(const void *address, size_t bytes, const char *who)
{
	void *at = NULL;
	pthread_mutex_lock(&lock);
	struct block *b = find(address);
	if (b) {
		char *base = b->locked ? b->locked : seen + b->offset;
		size_t into = (size_t)((const char *)address - base);
		if (bytes > b->wanted - into)
			t0_abort("memory fault: %s touches %zu bytes at %p, %zu are allocated", who,
				 bytes, address, b->wanted - into);
		if (b->type == HSA_ADDRESS_RESERVED && !b->mapped)
			t0_abort("memory fault: %s at %p, reserved and not mapped", who, address);
		at = b->locked ? (char *)b->locked + into : inner + b->offset + into;
	}
	pthread_mutex_unlock(&lock);
	if (!at)
		t0_abort("memory fault: %s at %p, not allocated", who, address);
	return at;
}

/* For copies: other memory of the program is fine, too. */
static void *anywhere(const void *address, size_t bytes, const char *who)
{
	const char *a = address;
	if (a >= seen && a < seen + 2 * SPACE)
		return memory_at(address, bytes, who);
	return (void *)(uintptr_t)address;
}

uint32_t memory_move(void *to, const void *from, size_t bytes, const char *who)
{
	if (!bytes)
		return HSA_OK;
	bool fails = t0_fails(T0_COPY);
	memmove(anywhere(to, bytes, who), anywhere(from, bytes, who), fails ? bytes / 2 : bytes);
	return fails ? HSA_FAILED : HSA_OK;
}

void *memory_internal(struct agent *agent, size_t bytes)
{
	pthread_mutex_lock(&lock);
	struct block *b = add(bytes, true, PAGE);
	if (!b)
		t0_abort("no addresses left");
	b->agent = agent;
	b->type = HSA_ADDRESS_HSA;
	b->alloc_flags = HSA_ALLOC_EXECUTABLE;
	void *at = seen + b->offset;
	pthread_mutex_unlock(&lock);
	return at;
}

void memory_internal_free(void *address)
{
	pthread_mutex_lock(&lock);
	struct block *b = find(address);
	if (b)
		drop(b);
	pthread_mutex_unlock(&lock);
}

unsigned memory_live(void)
{
	unsigned n = 0;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n_blocks; i++)
		n += blocks[i].pool && blocks[i].type == HSA_ADDRESS_HSA;
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- pools ---- */

uint32_t t0_hsa_amd_memory_pool_allocate(uint64_t handle, size_t bytes, uint32_t flags,
					 void **address_out)
{
	struct pool *p = pool_of(handle);
	if (!p)
		return HSA_INVALID_POOL;
	if (!bytes || !address_out)
		return HSA_INVALID_ARGUMENT;
	if (p->segment != HSA_SEGMENT_GLOBAL)
		return HSA_INVALID_ALLOCATION;
	if (p->device && t0_fails(T0_ALLOC))
		return HSA_OUT_OF_RESOURCES;
	pthread_mutex_lock(&lock);
	struct block *b = NULL;
	if (!p->device || p->agent->live_bytes + bytes <= t0_config()->vram)
		b = add(bytes, p->device, PAGE);
	if (b) {
		b->pool = p;
		b->agent = p->agent;
		b->type = HSA_ADDRESS_HSA;
		b->alloc_flags = flags;
		if (p->device)
			p->agent->live_bytes += bytes;
		*address_out = seen + b->offset;
	}
	pthread_mutex_unlock(&lock);
	return b ? HSA_OK : HSA_OUT_OF_RESOURCES;
}

uint32_t t0_hsa_amd_memory_pool_free(void *address)
{
	pthread_mutex_lock(&lock);
	struct block *b = find(address);
	uint32_t status = HSA_OK;
	if (!b || b->locked || seen + b->offset != address || !b->pool) {
		status = HSA_INVALID_ALLOCATION;
	} else {
		if (b->pool->device)
			b->agent->live_bytes -= b->wanted;
		drop(b);
	}
	pthread_mutex_unlock(&lock);
	return address ? status : HSA_OK;
}

uint32_t t0_hsa_memory_allocate(uint64_t region, size_t bytes, void **address_out)
{
	return t0_hsa_amd_memory_pool_allocate(region, bytes, 0, address_out);
}

uint32_t t0_hsa_memory_free(void *address)
{
	return t0_hsa_amd_memory_pool_free(address);
}

uint32_t t0_hsa_amd_memory_lock(void *host, size_t bytes, uint64_t *agents, int n,
				void **address_out)
{
	(void)agents, (void)n;
	pthread_mutex_lock(&lock);
	uint32_t status = HSA_OUT_OF_RESOURCES;
	if (n_blocks < MAX_LIVE && bytes) {
		blocks[n_blocks++] = (struct block){.wanted = bytes,
						    .bytes = bytes,
						    .locked = host,
						    .agent = &t0_agents[0],
						    .type = HSA_ADDRESS_LOCKED};
		*address_out = host;
		status = HSA_OK;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

uint32_t t0_hsa_amd_memory_lock_to_pool(void *host, size_t bytes, uint64_t *agents, int n,
					uint64_t pool, uint32_t flags, void **address_out)
{
	(void)pool, (void)flags;
	return t0_hsa_amd_memory_lock(host, bytes, agents, n, address_out);
}

uint32_t t0_hsa_amd_memory_unlock(void *host)
{
	pthread_mutex_lock(&lock);
	struct block *b = find(host);
	if (b && b->locked)
		drop(b);
	pthread_mutex_unlock(&lock);
	return HSA_OK;
}

uint32_t t0_hsa_amd_agents_allow_access(uint32_t n, const uint64_t *agents, const uint32_t *flags,
					const void *address)
{
	(void)n, (void)agents, (void)flags;
	pthread_mutex_lock(&lock);
	bool known = find(address) != NULL;
	pthread_mutex_unlock(&lock);
	return known ? HSA_OK : HSA_INVALID_ALLOCATION;
}

uint32_t t0_hsa_amd_memory_migrate(const void *address, uint64_t pool, uint32_t flags)
{
	(void)address, (void)pool, (void)flags;
	return HSA_NOT_SUPPORTED;
}

uint32_t t0_hsa_amd_pointer_info(const void *address, struct hsa_pointer_info *info_out,
				 void *(*alloc)(size_t), uint32_t *n_accessible_out,
				 uint64_t **accessible_out)
{
	struct hsa_pointer_info info = {.size = sizeof info};
	if (!info_out || info_out->size == 0)
		return HSA_INVALID_ARGUMENT;
	pthread_mutex_lock(&lock);
	const struct block *b = find(address);
	if (b) {
		info.type = b->type;
		info.bytes = b->wanted;
		info.agent_base = b->locked ? b->locked : seen + b->offset;
		bool visible = b->locked || b->offset >= SPACE;
		info.host_base = visible ? info.agent_base : NULL;
		info.owner = (uint64_t)(uintptr_t)b->agent;
		info.global_flags = b->pool ? b->pool->flags : 0;
		info.user_data = b->user_data;
	}
	pthread_mutex_unlock(&lock);
	if (n_accessible_out)
		*n_accessible_out = 0;
	if (accessible_out && alloc && b && n_accessible_out) {
		*accessible_out = alloc(t0_n_agents * sizeof(uint64_t));
		for (unsigned i = 0; *accessible_out && i < t0_n_agents; i++)
			(*accessible_out)[i] = (uint64_t)(uintptr_t)&t0_agents[i];
		*n_accessible_out = *accessible_out ? t0_n_agents : 0;
	}
	uint32_t size = info_out->size < sizeof info ? info_out->size : (uint32_t)sizeof info;
	info.size = size;
	memcpy(info_out, &info, size);
	return HSA_OK;
}

/* ---- virtual memory: an address range, memory with a handle, the one put into the other ---- */

uint32_t t0_hsa_amd_vmem_address_reserve_align(void **address_out, size_t bytes, uint64_t hint,
					       uint64_t alignment, uint64_t flags)
{
	(void)hint, (void)flags;
	pthread_mutex_lock(&lock);
	struct block *b = add(bytes, true, alignment > PAGE ? alignment : PAGE);
	if (b) {
		b->type = HSA_ADDRESS_RESERVED;
		*address_out = seen + b->offset;
	}
	pthread_mutex_unlock(&lock);
	return b ? HSA_OK : HSA_OUT_OF_RESOURCES;
}

uint32_t t0_hsa_amd_vmem_address_reserve(void **address_out, size_t bytes, uint64_t hint,
					 uint64_t flags)
{
	return t0_hsa_amd_vmem_address_reserve_align(address_out, bytes, hint, PAGE, flags);
}

uint32_t t0_hsa_amd_vmem_address_free(void *address, size_t bytes)
{
	(void)bytes;
	pthread_mutex_lock(&lock);
	struct block *b = find(address);
	uint32_t status = HSA_INVALID_ALLOCATION;
	if (b && b->type == HSA_ADDRESS_RESERVED && !b->mapped) {
		drop(b);
		status = HSA_OK;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

uint32_t t0_hsa_amd_vmem_handle_create(uint64_t handle, size_t bytes, uint32_t type, uint64_t flags,
				       uint64_t *handle_out)
{
	(void)type, (void)flags, (void)bytes;
	if (!pool_of(handle))
		return HSA_INVALID_POOL;
	*handle_out = handle; /* all that matters later: whose memory it is */
	return HSA_OK;
}

uint32_t t0_hsa_amd_vmem_handle_release(uint64_t handle)
{
	return pool_of(handle) ? HSA_OK : HSA_INVALID_ALLOCATION;
}

uint32_t t0_hsa_amd_vmem_map(void *address, size_t bytes, size_t offset, uint64_t handle,
			     uint64_t flags)
{
	(void)bytes, (void)offset, (void)flags;
	pthread_mutex_lock(&lock);
	struct block *b = find(address);
	uint32_t status = HSA_INVALID_ALLOCATION;
	if (b && b->type == HSA_ADDRESS_RESERVED && !b->mapped && pool_of(handle)) {
		b->mapped = true;
		b->pool = pool_of(handle);
		b->agent = b->pool->agent;
		status = HSA_OK;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

uint32_t t0_hsa_amd_vmem_unmap(void *address, size_t bytes)
{
	(void)bytes;
	pthread_mutex_lock(&lock);
	struct block *b = find(address);
	uint32_t status = HSA_INVALID_ALLOCATION;
	if (b && b->type == HSA_ADDRESS_RESERVED && b->mapped) {
		b->mapped = false;
		b->pool = NULL;
		madvise(inner + b->offset, b->bytes, MADV_REMOVE);
		status = HSA_OK;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

uint32_t t0_hsa_amd_vmem_set_access(void *address, size_t bytes, const struct hsa_access_desc *desc,
				    size_t n)
{
	(void)bytes, (void)desc, (void)n;
	pthread_mutex_lock(&lock);
	bool known = find(address) != NULL;
	pthread_mutex_unlock(&lock);
	return known ? HSA_OK : HSA_INVALID_ALLOCATION;
}
