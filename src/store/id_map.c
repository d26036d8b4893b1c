/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; removal shifts back, so no tombstones pile up. */
#include "store/id_map.h"

#include <stdlib.h>

static size_t home(const struct id_map *m, uint64_t a, uint32_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15u ^ ((uint64_t)b + 0x7f4a7c15u) * 0xbf58476d1ce4e5b9u;

	h ^= h >> 31;
	h *= 0x94d049bb133111ebu;
	h ^= h >> 29;
	return (size_t)h & (m->capacity - 1);
}

/* The slot that holds the key, or the free one where it belongs. */
static size_t find(const struct id_map *m, uint64_t a, uint32_t b)
{
	size_t i = home(m, a, b);

	while (m->slots[i].used && (m->slots[i].a != a || m->slots[i].b != b))
		i = (i + 1) & (m->capacity - 1);
	return i;
}

static bool grow(struct id_map *m)
{
	struct id_map bigger = {.capacity = m->capacity ? m->capacity * 2 : 64};

	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < m->capacity; i++) {
		if (m->slots[i].used)
			bigger.slots[find(&bigger, m->slots[i].a, m->slots[i].b)] = m->slots[i];
	}
	bigger.n = m->n;
	free(m->slots);
	*m = bigger;
	return true;
}

bool id_map_get(const struct id_map *m, uint64_t a, uint32_t b, uint64_t *value_out)
{
	size_t i;

	if (!m->n)
		return false;
	i = find(m, a, b);
	if (!m->slots[i].used)
		return false;
	*value_out = m->slots[i].value;
	return true;
}

bool id_map_set(struct id_map *m, uint64_t a, uint32_t b, uint64_t value)
{
	size_t i;

	if (m->n * 2 >= m->capacity && !grow(m))
		return false;
	i = find(m, a, b);
	m->n += !m->slots[i].used;
	m->slots[i] = (struct id_map_slot){.a = a, .b = b, .value = value, .used = 1};
	return true;
}

bool id_map_mark(struct id_map *m, uint64_t number, uint32_t set, bool *new_out)
{
	uint64_t bits = 0, bit = (uint64_t)1 << number % 64;

	id_map_get(m, number / 64, set, &bits);
	*new_out = !(bits & bit);
	return !*new_out || id_map_set(m, number / 64, set, bits | bit);
}

void id_map_remove_value(struct id_map *m, uint64_t a, uint32_t b, uint64_t value)
{
	size_t hole, i, mask = m->capacity - 1;

	if (!m->n)
		return;
	hole = find(m, a, b);
	if (!m->slots[hole].used || m->slots[hole].value != value)
		return;
	m->n--;
	for (i = (hole + 1) & mask; m->slots[i].used; i = (i + 1) & mask) {
		size_t h = home(m, m->slots[i].a, m->slots[i].b);

		/* Move it only when its home is not between the hole and itself. */
		if (((i - h) & mask) >= ((i - hole) & mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].used = 0;
}

void id_map_release(struct id_map *m)
{
	free(m->slots);
	*m = (struct id_map){0};
}
