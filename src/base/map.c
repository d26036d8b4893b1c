/* SPDX-License-Identifier: Apache-2.0 */
/* String map: open addressing, linear probing, at most half full. */
#include "base/map.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static struct map_slot *map_find(const struct map *m, const char *key, uint64_t hash)
{
	size_t i = hash & (m->capacity - 1);

	while (m->slots[i].key && (m->slots[i].hash != hash || strcmp(m->slots[i].key, key)))
		i = (i + 1) & (m->capacity - 1);
	return &m->slots[i];
}

bool map_get(const struct map *m, const char *key, size_t *value_out)
{
	struct map_slot *s;

	if (!m->n)
		return false;
	s = map_find(m, key, hash64(key, strlen(key)));
	if (!s->key)
		return false;
	if (value_out)
		*value_out = s->value;
	return true;
}

static bool map_grow(struct map *m)
{
	struct map bigger = {.capacity = m->capacity ? 2 * m->capacity : 32, .n = m->n};

	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < m->capacity; i++)
		if (m->slots[i].key)
			*map_find(&bigger, m->slots[i].key, m->slots[i].hash) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return true;
}

bool map_set(struct map *m, const char *key, size_t value)
{
	uint64_t hash = hash64(key, strlen(key));
	struct map_slot *s;

	if (2 * (m->n + 1) > m->capacity && !map_grow(m))
		return false;
	s = map_find(m, key, hash);
	if (!s->key) {
		s->key = key;
		s->hash = hash;
		m->n++;
	}
	s->value = value;
	return true;
}

void map_release(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}
