/* SPDX-License-Identifier: Apache-2.0 */
/* The program's memory: see memory.h. */
#include "runtime/hsa/memory.h"

#include <stdlib.h>
#include <string.h>

/* Index of the first item that ends behind the address. With the lock held. */
static size_t place(const struct hsa_memories *m, uint64_t address)
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

static void take_out(struct hsa_memories *m, size_t i)
{
	memmove(&m->items[i], &m->items[i + 1], (m->n - i - 1) * sizeof(*m->items));
	m->n--;
}

static bool make_room(struct hsa_memories *m)
{
	size_t room = m->room ? 2 * m->room : 256;
	struct hsa_memory *items;

	if (m->n < m->room)
		return true;
	items = realloc(m->items, room * sizeof(*items));
	if (!items)
		return false;
	m->items = items;
	m->room = room;
	return true;
}

bool hsa_memories_add(struct hsa_memories *m, const struct hsa_memory *item)
{
	bool done;
	size_t i;

	if (!item->size || !item->address)
		return true;
	pthread_rwlock_wrlock(&m->lock);
	i = place(m, item->address);
	while (i < m->n && m->items[i].address < item->address + item->size)
		take_out(m, i);
	done = make_room(m);
	if (done) {
		memmove(&m->items[i + 1], &m->items[i], (m->n - i) * sizeof(*m->items));
		m->items[i] = *item;
		m->n++;
	}
	pthread_rwlock_unlock(&m->lock);
	return done;
}

bool hsa_memories_take(struct hsa_memories *m, uint64_t address, struct hsa_memory *out)
{
	bool found;
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = place(m, address);
	found = i < m->n && m->items[i].address == address;
	if (found) {
		*out = m->items[i];
		take_out(m, i);
	}
	pthread_rwlock_unlock(&m->lock);
	return found;
}

static bool lies_in(const struct hsa_memory *x, uint64_t address, uint64_t bytes, uint64_t module)
{
	if (bytes)
		return x->address < address + bytes && address < x->address + x->size;
	return x->kind == HSA_MEMORY_VARIABLE && x->module == module;
}

bool hsa_memories_take_in(struct hsa_memories *m, uint64_t address, uint64_t bytes, uint64_t module,
			  struct hsa_memory *out)
{
	bool found = false;

	pthread_rwlock_wrlock(&m->lock);
	for (size_t i = 0; i < m->n && !found; i++)
		if (lies_in(&m->items[i], address, bytes, module)) {
			*out = m->items[i];
			take_out(m, i);
			found = true;
		}
	pthread_rwlock_unlock(&m->lock);
	return found;
}

bool hsa_memories_find(struct hsa_memories *m, uint64_t address, struct hsa_memory *out)
{
	bool found;
	size_t i;

	pthread_rwlock_rdlock(&m->lock);
	i = place(m, address);
	found = i < m->n && m->items[i].address <= address;
	if (found)
		*out = m->items[i];
	pthread_rwlock_unlock(&m->lock);
	return found;
}

void hsa_memories_scan(struct hsa_memories *m, const void *bytes, size_t n, uint64_t agent,
		       uint64_t module, void (*visit)(void *data, const struct hsa_memory *memory),
		       void *data)
{
	uint64_t word;

	pthread_rwlock_rdlock(&m->lock);
	for (size_t at = 0; at + sizeof(word) <= n; at += sizeof(word)) {
		size_t i;

		memcpy(&word, (const char *)bytes + at, sizeof(word));
		if (!word)
			continue;
		i = place(m, word);
		if (i < m->n && m->items[i].address <= word)
			visit(data, &m->items[i]);
	}
	for (size_t i = 0; i < m->n; i++)
		if (m->items[i].kind == HSA_MEMORY_VARIABLE && m->items[i].agent == agent &&
		    (!module || m->items[i].module == module))
			visit(data, &m->items[i]);
	pthread_rwlock_unlock(&m->lock);
}

void hsa_memories_name(struct hsa_memories *m, uint64_t address, struct replay_memory *known)
{
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = place(m, address);
	if (i < m->n && m->items[i].address == address)
		m->items[i].known = known;
	pthread_rwlock_unlock(&m->lock);
}

bool hsa_memories_unknown(struct hsa_memories *m, uint64_t agent, struct hsa_memory *out)
{
	bool found = false;

	pthread_rwlock_rdlock(&m->lock);
	for (size_t i = 0; i < m->n && !found; i++) {
		const struct hsa_memory *x = &m->items[i];

		found = !x->known && x->agent == agent && x->kind != HSA_MEMORY_HOST;
		if (found)
			*out = *x;
	}
	pthread_rwlock_unlock(&m->lock);
	return found;
}
