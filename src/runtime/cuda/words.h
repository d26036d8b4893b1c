/* SPDX-License-Identifier: Apache-2.0 */
/* A set of 8-byte words that may be addresses: what a graph's nodes name. Not safe for threads. */
#ifndef RETALLY_RUNTIME_CUDA_WORDS_H
#define RETALLY_RUNTIME_CUDA_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* {0} is the empty set. */
struct words {
	bool unknown; /* it does not hold all that it was given: memory is out, or too many */
	size_t n, room;
	uint64_t *slots; /* `room` of them, 0: free; owned */
};

/* What cannot be an address is left out, and so is what is in it already. */
void words_add(struct words *w, uint64_t word);
/* The 8-byte words of n bytes, wherever those lie; fewer than 8 at the end are left out. */
void words_add_bytes(struct words *w, const void *bytes, size_t n);
void words_add_all(struct words *w, const struct words *other);
void words_release(struct words *w);

#endif
