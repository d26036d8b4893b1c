/* SPDX-License-Identifier: Apache-2.0 */
/* The program's memory: see memory.h. */
#include "runtime/cuda/memory.h"

#include <stdlib.h>
#include <string.h>

/* Index of the first item that ends behind the address. With the lock held. */
static size_t cuda_memories_place(const struct cuda_memories *m, cu_ptr address)
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

static void cuda_memories_remove(struct cuda_memories *m, size_t i)
{
	memmove(&m->items[i], &m->items[i + 1], (m->n - i - 1) * sizeof(*m->items));
	m->n--;
}

bool cuda_memories_add(struct cuda_memories *m, const struct cuda_memory *item)
{
	bool done = false;
	size_t i;

	if (!item->size)
		return true;
	pthread_rwlock_wrlock(&m->lock);
	i = cuda_memories_place(m, item->address);
	while (i < m->n && m->items[i].address < item->address + item->size)
		cuda_memories_remove(m, i);
	if (m->n == m->room) {
		size_t room = m->room ? 2 * m->room : 256;
		struct cuda_memory *items = realloc(m->items, room * sizeof(*items));

		if (!items)
			goto out;
		m->items = items;
		m->room = room;
	}
	memmove(&m->items[i + 1], &m->items[i], (m->n - i) * sizeof(*m->items));
	m->items[i] = *item;
	m->n++;
	m->added++;
	done = true;
out:
	pthread_rwlock_unlock(&m->lock);
	return done;
}

bool cuda_memories_take(struct cuda_memories *m, cu_ptr address, struct cuda_memory *out)
{
	bool found;
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = cuda_memories_place(m, address);
	found = i < m->n && m->items[i].address == address;
	if (found) {
		*out = m->items[i];
		cuda_memories_remove(m, i);
	}
	pthread_rwlock_unlock(&m->lock);
	return found;
}

bool cuda_memories_take_of(struct cuda_memories *m, const struct cuda_context *context,
			   struct cuda_memory *out)
{
	bool found = false;

	pthread_rwlock_wrlock(&m->lock);
	for (size_t i = m->n; i-- > 0 && !found;) {
		if (m->items[i].context != context)
			continue;
		*out = m->items[i];
		cuda_memories_remove(m, i);
		found = true;
	}
	pthread_rwlock_unlock(&m->lock);
	return found;
}

bool cuda_memories_take_in(struct cuda_memories *m, cu_ptr address, size_t size,
			   struct cuda_memory *out)
{
	bool found;
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = cuda_memories_place(m, address);
	found = i < m->n && m->items[i].address < address + size;
	if (found) {
		*out = m->items[i];
		cuda_memories_remove(m, i);
	}
	pthread_rwlock_unlock(&m->lock);
	return found;
}

bool cuda_memories_find(struct cuda_memories *m, cu_ptr address, struct cuda_memory *out)
{
	bool found;
	size_t i;

	pthread_rwlock_rdlock(&m->lock);
	i = cuda_memories_place(m, address);
	found = i < m->n && m->items[i].address <= address;
	if (found)
		*out = m->items[i];
	pthread_rwlock_unlock(&m->lock);
	return found;
}

void cuda_memories_scan(struct cuda_memories *m, const void *bytes, size_t n,
			void (*visit)(void *data, const struct cuda_memory *memory), void *data)
{
	pthread_rwlock_rdlock(&m->lock);
	for (size_t at = 0; at + 8 <= n; at += 8) {
		cu_ptr word;
		size_t i;

		memcpy(&word, (const char *)bytes + at, 8);
		if (word < 4096 || !m->n)
			continue;
		i = cuda_memories_place(m, word);
		/* One past the end is a pointer that programs pass too (an end iterator), but only
		 * what begins there could be reached through it. */
		if (i < m->n && m->items[i].address <= word)
			visit(data, &m->items[i]);
	}
	pthread_rwlock_unlock(&m->lock);
}

bool cuda_memories_name(struct cuda_memories *m, cu_ptr address, struct replay_memory *known)
{
	bool taken;
	size_t i;

	pthread_rwlock_wrlock(&m->lock);
	i = cuda_memories_place(m, address);
	taken = i < m->n && m->items[i].address == address && !m->items[i].known;
	if (taken)
		m->items[i].known = known;
	pthread_rwlock_unlock(&m->lock);
	return taken;
}

bool cuda_memories_unknown(struct cuda_memories *m, const struct cuda_context *context,
			   struct cuda_memory *out)
{
	bool found = false;

	pthread_rwlock_rdlock(&m->lock);
	for (size_t i = 0; i < m->n && !found; i++) {
		found = m->items[i].context == context && !m->items[i].known;
		if (found)
			*out = m->items[i];
	}
	pthread_rwlock_unlock(&m->lock);
	return found;
}
