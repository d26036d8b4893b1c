/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped memory for the layer: small objects by class, stores by size. */
#include "runtime/opencl/opencl_pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define SLAB       (256u << 10)
#define SMALLEST   5u  /* 32 bytes, with the header */
#define LARGEST    16u /* 64 KiB; above: a mapping of its own */
#define HUGE_PAGE  (2u << 20)
#define STORE_KEEP (UINT64_C(8) << 30) /* bytes of unused stores that stay mapped */

struct header {
	union {
		struct header *next; /* free */
		size_t bytes;        /* in use: of the class or mapping, with this header */
	} u;
	uint64_t align;
};
_Static_assert(sizeof(struct header) == 16, "keeps objects aligned to 16");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct header *free_objects[LARGEST + 1];
static unsigned char *slab, *slab_end;
static struct store *free_stores;
static uint64_t free_bytes;

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static unsigned class_of(size_t bytes)
{
	unsigned c = SMALLEST;

	while (c <= LARGEST && (size_t)1 << c < bytes)
		c++;
	return c;
}

void *pool_get(size_t bytes)
{
	size_t whole = bytes + sizeof(struct header), size;
	struct header *h;
	unsigned c;

	if (whole < bytes)
		return NULL;
	c = class_of(whole);
	if (c > LARGEST) {
		size = (whole + 4095) / 4096 * 4096;
		h = map(size);
		if (h)
			h->u.bytes = size;
		return h ? h + 1 : NULL;
	}
	size = (size_t)1 << c;
	pthread_mutex_lock(&lock);
	h = free_objects[c];
	if (h) {
		free_objects[c] = h->u.next;
	} else {
		if ((size_t)(slab_end - slab) < size) {
			/* What is left of the old one is lost: less than the largest class. */
			slab = map(SLAB);
			slab_end = slab ? slab + SLAB : NULL;
		}
		if (slab) {
			h = (struct header *)(void *)slab;
			slab += size;
		}
	}
	pthread_mutex_unlock(&lock);
	if (!h)
		return NULL;
	memset(h, 0, size);
	h->u.bytes = size;
	return h + 1;
}

void pool_put(void *object)
{
	struct header *h;
	unsigned c;

	if (!object)
		return;
	h = (struct header *)object - 1;
	c = class_of(h->u.bytes);
	if (c > LARGEST) {
		munmap(h, h->u.bytes);
		return;
	}
	pthread_mutex_lock(&lock);
	h->u.next = free_objects[c];
	free_objects[c] = h;
	pthread_mutex_unlock(&lock);
}

/* ---- stores ---- */

/* Sizes in steps of an eighth, so that a window of a slightly other size finds its store again. */
static size_t store_size(size_t bytes)
{
	size_t step = 4096;

	while (step * 16 < bytes)
		step *= 2;
	return (bytes + step - 1) / step * step;
}

int store_take(struct store **store_out, size_t bytes, struct error *err)
{
	size_t size = store_size(bytes ? bytes : 1);
	struct store **at, *s = NULL;

	pthread_mutex_lock(&lock);
	for (at = &free_stores; *at; at = &(*at)->next)
		if ((*at)->size == size) {
			s = *at;
			*at = s->next;
			free_bytes -= size;
			break;
		}
	pthread_mutex_unlock(&lock);
	if (!s) {
		s = pool_get(sizeof(*s));
		if (s)
			s->bytes = map(size);
		if (!s || !s->bytes) {
			pool_put(s);
			return error_set(err, RC_NO_MEMORY, "no memory for %zu bytes to save",
					 bytes);
		}
		s->size = size;
		if (size >= HUGE_PAGE)
			(void)madvise(s->bytes, size, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
		if (madvise(s->bytes, size, MADV_POPULATE_WRITE))
#endif
			for (size_t i = 0; i < size; i += 4096)
				((volatile unsigned char *)s->bytes)[i] = 0;
	}
	s->next = NULL;
	*store_out = s;
	return 0;
}

static void unmap_store(struct store *s)
{
	munmap(s->bytes, s->size);
	pool_put(s);
}

void store_give(struct store *s)
{
	bool keep;

	if (!s)
		return;
	pthread_mutex_lock(&lock);
	keep = free_bytes + s->size <= STORE_KEEP;
	if (keep) {
		s->next = free_stores;
		free_stores = s;
		free_bytes += s->size;
	}
	pthread_mutex_unlock(&lock);
	if (!keep)
		unmap_store(s);
}

void store_trim(void)
{
	struct store *list, *next;

	pthread_mutex_lock(&lock);
	list = free_stores;
	free_stores = NULL;
	free_bytes = 0;
	pthread_mutex_unlock(&lock);
	for (; list; list = next) {
		next = list->next;
		unmap_store(list);
	}
}
