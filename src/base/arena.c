/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BLOCK_SIZE 65536

struct arena_block {
	struct arena_block *next;
	size_t capacity;
	_Alignas(16) char bytes[];
};

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->head;
	size_t cap;
	void *p;

	if (size > (size_t)-1 / 2)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (!b || b->capacity - a->used < size) {
		cap = size > ARENA_BLOCK_SIZE ? size : ARENA_BLOCK_SIZE;
		b = malloc(sizeof(*b) + cap);
		if (!b)
			return NULL;
		b->next = a->head;
		b->capacity = cap;
		a->head = b;
		a->used = 0;
	}
	p = b->bytes + a->used;
	a->used += size;
	return memset(p, 0, size);
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	if (size && n > (size_t)-1 / 2 / size)
		return NULL;
	return arena_alloc(a, n * size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	return p ? memcpy(p, s, n) : NULL;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	p = arena_alloc(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

void arena_release(struct arena *a)
{
	struct arena_block *next;

	for (struct arena_block *b = a->head; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct arena){0};
}
