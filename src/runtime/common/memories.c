/* SPDX-License-Identifier: Apache-2.0 */
/* The program's memory by address: see memories.h. */
#include "runtime/common/memories.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PAGE                                                                    \
	4096u /* no memory begins here: small numbers among arguments are no pointers \
	       */

/* Index of the first item that ends behind the address. With the lock held. */
static size_t place(const struct memories *m, uint64_t address)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->items[middle].address + m->items[middle].size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The item that holds the address, NULL: none. With the lock held. */
static struct program_memory *holder(const struct memories *m, uint64_t address)
{
	size_t i = place(m, address);

	/* One past the end is a pointer that programs pass too (an end iterator), but only what
	 * begins there could be reached through it. */
	return i < m->n && m->items[i].address <= address ? &m->items[i] : NULL;
}

static void take_out(struct memories *m, size_t i, struct program_memory *out)
{
	if (out)
		*out = m->items[i];
	memmove(&m->items[i], &m->items[i + 1], (m->n - i - 1) * sizeof(*m->items));
	m->n--;
}

static bool make_room(struct memories *m)
{
	size_t room = m->room ? 2 * m->room : 256;
	struct program_memory *items;

	if (m->n < m->room)
		return true;
	items = realloc(m->items, room * sizeof(*items));
	if (!items)
		return false;
	m->items = items;
	m->room = room;
	return true;
}

bool memories_add(struct memories *m, const struct program_memory *item)
{
	bool done;
	size_t i;

	if (!item->size || !item->address)
		return true;
	pthread_rwlock_wrlock(&m->lock);
	i = place(m, item->address);
	while (i < m->n && m->items[i].address < item->address + item->size)
		take_out(m, i, NULL);
	done = make_room(m);
	if (done) {
		memmove(&m->items[i + 1], &m->items[i], (m->n - i) * sizeof(*m->items));
		m->items[i] = *item;
		m->n++;
		m->added++;
	}
	pthread_rwlock_unlock(&m->lock);
	return done;
}

bool memories_take(struct memories *m, uint64_t address, struct program_memory *out)
{
	bool found;
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = place(m, address);
	found = i < m->n && m->items[i].address == address;
	if (found)
		take_out(m, i, out);
	pthread_rwlock_unlock(&m->lock);
	return found;
}

bool memories_take_in(struct memories *m, uint64_t address, uint64_t bytes,
		      struct program_memory *out)
{
	bool found;
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = place(m, address);
	found = i < m->n && m->items[i].address < address + bytes;
	if (found)
		take_out(m, i, out);
	pthread_rwlock_unlock(&m->lock);
	return found;
}

static bool is_of_owner(const struct program_memory *x, uint64_t owner)
{
	return x->owner == owner;
}

static bool is_of_module(const struct program_memory *x, uint64_t module)
{
	return module && x->module == module;
}

static bool is_unknown_of(const struct program_memory *x, uint64_t owner)
{
	return x->owner == owner && !x->known;
}

typedef bool predicate(const struct program_memory *x, uint64_t key);

/* Index of the last that is one, m->n: none. With the lock held. */
static size_t last_that(const struct memories *m, predicate *is, uint64_t key)
{
	for (size_t i = m->n; i-- > 0;)
		if (is(&m->items[i], key))
			return i;
	return m->n;
}

static bool take_that(struct memories *m, predicate *is, uint64_t key, struct program_memory *out)
{
	bool found;
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = last_that(m, is, key);
	found = i < m->n;
	if (found)
		take_out(m, i, out);
	pthread_rwlock_unlock(&m->lock);
	return found;
}

bool memories_take_of_owner(struct memories *m, uint64_t owner, struct program_memory *out)
{
	return take_that(m, is_of_owner, owner, out);
}

bool memories_take_of_module(struct memories *m, uint64_t module, struct program_memory *out)
{
	return take_that(m, is_of_module, module, out);
}

/* Of the host and foreign memory nothing changes: both are never put back. */
static bool is_own(const struct program_memory *x)
{
	return x->kind == MEMORY_DEVICE || x->kind == MEMORY_MANAGED || x->kind == MEMORY_VARIABLE;
}

static bool is_own_mapping_of(const struct program_memory *x, uint64_t mapping_of)
{
	return is_own(x) && x->mapping_of == mapping_of;
}

static bool give(struct program_memory *x, struct program_memory *out)
{
	bool own = x && is_own(x);

	if (own) {
		x->kind = MEMORY_GIVEN;
		*out = *x;
	}
	return own;
}

bool memories_give(struct memories *m, uint64_t address, struct program_memory *out)
{
	bool given;

	pthread_rwlock_wrlock(&m->lock);
	given = give(holder(m, address), out);
	pthread_rwlock_unlock(&m->lock);
	return given;
}

bool memories_give_mapping(struct memories *m, uint64_t mapping_of, struct program_memory *out)
{
	bool given;
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = last_that(m, is_own_mapping_of, mapping_of);
	given = i < m->n && give(&m->items[i], out);
	pthread_rwlock_unlock(&m->lock);
	return given;
}

bool memories_find(struct memories *m, uint64_t address, struct program_memory *out)
{
	const struct program_memory *x;

	pthread_rwlock_rdlock(&m->lock);
	x = holder(m, address);
	if (x)
		*out = *x;
	pthread_rwlock_unlock(&m->lock);
	return x;
}

void memories_scan(struct memories *m, const void *bytes, size_t n, memories_visitor *visit,
		   void *data)
{
	pthread_rwlock_rdlock(&m->lock);
	for (size_t at = 0; at + sizeof(uint64_t) <= n; at += sizeof(uint64_t)) {
		const struct program_memory *x;
		uint64_t word;

		memcpy(&word, (const char *)bytes + at, sizeof(word));
		x = word < FIRST_PAGE ? NULL : holder(m, word);
		if (x)
			visit(data, x);
	}
	pthread_rwlock_unlock(&m->lock);
}

void memories_each(struct memories *m, uint64_t owner, memories_visitor *visit, void *data)
{
	pthread_rwlock_rdlock(&m->lock);
	for (size_t i = 0; i < m->n; i++)
		if (is_of_owner(&m->items[i], owner))
			visit(data, &m->items[i]);
	pthread_rwlock_unlock(&m->lock);
}

bool memories_name(struct memories *m, uint64_t address, struct replay_memory *known)
{
	bool taken;
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = place(m, address);
	taken = i < m->n && m->items[i].address == address && !m->items[i].known;
	if (taken)
		m->items[i].known = known;
	pthread_rwlock_unlock(&m->lock);
	return taken;
}

bool memories_share(struct memories *m, uint64_t address, struct program_memory *was_out)
{
	struct program_memory *x;
	bool changes;

	pthread_rwlock_wrlock(&m->lock);
	x = holder(m, address);
	changes = x && x->kind != MEMORY_SHARED;
	if (changes) {
		*was_out = *x;
		x->kind = MEMORY_SHARED;
		x->known = NULL;
		m->added++;
	}
	pthread_rwlock_unlock(&m->lock);
	return changes;
}

bool memories_unknown(struct memories *m, uint64_t owner, struct program_memory *out)
{
	bool found;
	size_t i;

	pthread_rwlock_rdlock(&m->lock);
	i = last_that(m, is_unknown_of, owner);
	found = i < m->n;
	if (found)
		*out = m->items[i];
	pthread_rwlock_unlock(&m->lock);
	return found;
}
