/* SPDX-License-Identifier: Apache-2.0 */
/* Free lists by size. Small blocks are cut from chunks, large ones are mappings of their own. */
#include "runtime/sim/pool.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#define CLASS_MIN   6  /* 64 bytes */
#define CLASS_LARGE 16 /* from 64 KiB on */
#define CLASS_MAX   48
#define CHUNK       (1u << 20)

struct block {
	struct block *next;
};
struct mapping { /* at the begin of every mapping but those of large blocks */
	struct mapping *next;
	uint64_t size;
};
struct large { /* what is mapped for a large block */
	struct large *next;
	void *at;
	uint64_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks[CLASS_MAX + 1];
static struct mapping *chunks;
static struct large *larges;
static unsigned char *at, *end;

static unsigned class_of(uint64_t bytes)
{
	unsigned k = CLASS_MIN;

	while (k < CLASS_MAX && UINT64_C(1) << k < bytes)
		k++;
	return k;
}

static void *map(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void *cut(uint64_t bytes)
{
	void *p;

	if ((uint64_t)(end - at) < bytes) {
		struct mapping *chunk = map(CHUNK);

		if (!chunk)
			return NULL;
		chunk->next = chunks;
		chunk->size = CHUNK;
		chunks = chunk;
		at = (unsigned char *)chunk + 64;
		end = (unsigned char *)chunk + CHUNK;
	}
	p = at;
	at += bytes;
	return p;
}

static void *get_large(uint64_t bytes)
{
	struct large *l = cut(64);

	if (!l)
		return NULL;
	l->at = map(bytes);
	if (!l->at)
		return NULL; /* 64 bytes stay unused: no memory is left anyway */
	l->size = bytes;
	l->next = larges;
	larges = l;
	return l->at;
}

void *sim_pool_get(uint64_t bytes)
{
	unsigned k = class_of(bytes);
	void *p;

	if (bytes > UINT64_C(1) << CLASS_MAX)
		return NULL;
	pthread_mutex_lock(&lock);
	p = blocks[k];
	if (p)
		blocks[k] = blocks[k]->next;
	else if (k < CLASS_LARGE)
		p = cut(UINT64_C(1) << k);
	else
		p = get_large(UINT64_C(1) << k);
	pthread_mutex_unlock(&lock);
	return p;
}

void sim_pool_put(void *block, uint64_t bytes)
{
	unsigned k = class_of(bytes);
	struct block *b = block;

	if (!b)
		return;
	pthread_mutex_lock(&lock);
	b->next = blocks[k];
	blocks[k] = b;
	pthread_mutex_unlock(&lock);
}

void sim_pool_release(void)
{
	pthread_mutex_lock(&lock);
	for (struct large *l = larges; l; l = l->next)
		munmap(l->at, l->size);
	while (chunks) {
		struct mapping *next = chunks->next;

		munmap(chunks, chunks->size);
		chunks = next;
	}
	larges = NULL;
	at = end = NULL;
	for (unsigned k = 0; k <= CLASS_MAX; k++)
		blocks[k] = NULL;
	pthread_mutex_unlock(&lock);
}
