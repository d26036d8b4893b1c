/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Type-safe growing arrays: `VEC(struct counter) v = {0};`. vec_push returns false when memory is
 * out (the vector is unchanged then). The elements are plain memory: owned by the vector, moved on
 * growth.
 */
#ifndef RETALLY_BASE_VEC_H
#define RETALLY_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define VEC(T)                   \
	struct {                 \
		T *items;        \
		size_t n;        \
		size_t capacity; \
	}

static inline bool vec_grow_(void **items, size_t *capacity, size_t want, size_t size)
{
	size_t cap = *capacity ? *capacity : 8;
	void *p;

	if (want <= *capacity)
		return true;
	while (cap < want)
		cap *= 2;
	if (cap > (size_t)-1 / 2 / size)
		return false;
	p = realloc(*items, cap * size);
	if (!p)
		return false;
	*items = p;
	*capacity = cap;
	return true;
}

#define vec_reserve(v, want) \
	vec_grow_((void **)&(v)->items, &(v)->capacity, (want), sizeof(*(v)->items))
#define vec_push(v, value) \
	(vec_reserve(v, (v)->n + 1) ? ((v)->items[(v)->n++] = (value), true) : false)
#define vec_clear(v) ((void)((v)->n = 0))
#define vec_release(v)                      \
	do {                                \
		free((v)->items);           \
		(v)->items = NULL;          \
		(v)->n = (v)->capacity = 0; \
	} while (0)
#define vec_for_each(v, it) \
	for (__typeof__(&*(v)->items) it = (v)->items; (v)->n && it < (v)->items + (v)->n; it++)

#endif
