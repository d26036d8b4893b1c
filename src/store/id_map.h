/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from pairs of numbers to a number, with removal: which row stands for dispatch D of pass P,
 * which name for kernel K of a file. Keys come from files, so the hash is mixed and the map stays
 * half empty. Zero-initialise.
 */
#ifndef RETALLY_STORE_ID_MAP_H
#define RETALLY_STORE_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_map_slot {
	uint64_t a, value;
	uint32_t b;
	uint32_t used;
};
struct id_map {
	struct id_map_slot *slots;
	size_t n, capacity;
};

bool id_map_get(const struct id_map *m, uint64_t a, uint32_t b, uint64_t *value_out);
/* Adds or replaces. False when memory is out. */
bool id_map_set(struct id_map *m, uint64_t a, uint32_t b, uint64_t value);
/* As a set of numbers, 64 to a slot, in sets of their own: adds one, *new_out: it was not there.
 * False when memory is out. */
bool id_map_mark(struct id_map *m, uint64_t number, uint32_t set, bool *new_out);
/* Nothing, unless the key has this value. */
void id_map_remove_value(struct id_map *m, uint64_t a, uint32_t b, uint64_t value);
void id_map_release(struct id_map *m);

#endif
