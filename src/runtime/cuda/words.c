/* SPDX-License-Identifier: Apache-2.0 */
/* Words that may be addresses: see words.h. */
#include "runtime/cuda/words.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PAGE 4096
#define WORDS_MOST (1u << 22) /* 64 MiB of slots */

/* The slot that holds the word, or the free one where it belongs; there is one. */
static uint64_t *slot(const struct words *w, uint64_t word)
{
	size_t at = (size_t)(word * 0x9e3779b97f4a7c15u >> 32) & (w->room - 1);

	while (w->slots[at] && w->slots[at] != word)
		at = (at + 1) & (w->room - 1);
	return &w->slots[at];
}

static bool grow(struct words *w)
{
	struct words larger = {.room = w->room ? 2 * w->room : 64};

	if (w->n >= WORDS_MOST)
		return false;
	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < w->room; i++)
		if (w->slots[i])
			*slot(&larger, w->slots[i]) = w->slots[i];
	free(w->slots);
	w->slots = larger.slots;
	w->room = larger.room;
	return true;
}

void words_add(struct words *w, uint64_t word)
{
	uint64_t *s;

	if (word < FIRST_PAGE || w->unknown)
		return;
	if (2 * w->n >= w->room && !grow(w)) {
		words_release(w); /* nobody looks at some of them */
		w->unknown = true;
		return;
	}
	s = slot(w, word);
	w->n += !*s;
	*s = word;
}

void words_add_bytes(struct words *w, const void *bytes, size_t n)
{
	for (size_t at = 0; at + sizeof(uint64_t) <= n; at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, (const char *)bytes + at, sizeof(word));
		words_add(w, word);
	}
}

void words_add_all(struct words *w, const struct words *other)
{
	for (size_t i = 0; i < other->room; i++)
		words_add(w, other->slots[i]);
	if (other->unknown) {
		words_release(w);
		w->unknown = true;
	}
}

void words_release(struct words *w)
{
	free(w->slots);
	*w = (struct words){.unknown = w->unknown};
}
