/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once; what a loader hands out lives as long as its arena. Pointers
 * are 16-byte aligned and zeroed. NULL when memory is out. Not thread-safe.
 */
#ifndef RETALLY_BASE_ARENA_H
#define RETALLY_BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *head;
	size_t used; /* bytes handed out of the head block */
};

void *arena_alloc(struct arena *a, size_t size);
void *arena_array(struct arena *a, size_t n, size_t size); /* NULL also on overflow */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_release(struct arena *a);

#endif
