/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from strings to size_t (an index into some vector). Keys are not copied: they must outlive
 * the map. Iteration order is not offered on purpose: nothing printed may depend on a hash.
 */
#ifndef RETALLY_BASE_MAP_H
#define RETALLY_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	const char *key; /* NULL: free */
	size_t value;
	uint64_t hash;
};
struct map {
	struct map_slot *slots;
	size_t n;
	size_t capacity; /* power of two */
};

/* True and *value_out when the key is there. */
bool map_get(const struct map *m, const char *key, size_t *value_out);
/* Adds or replaces. False when memory is out. */
bool map_set(struct map *m, const char *key, size_t value);
void map_release(struct map *m);

#endif
