/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting memory back: to the start of the window before each execution, and in the end to what the
 * window's own run left. Only chunks that some execution changed are written; every run of
 * neighbouring chunks is one copy. Where a chunk is kept: its START in the segment's start store;
 * its END in the packed end store if the window's own run changed it, else END is START.
 */
#include "replay/engine.h"

#include <string.h>

static bool bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static uint64_t bytes_of_run(const struct replay_device *d, const struct segment *s, uint32_t from,
			     uint32_t to)
{
	uint64_t begin = (uint64_t)from * d->chunk, end = (uint64_t)to * d->chunk;

	return (end > s->bytes ? s->bytes : end) - begin;
}

static uint32_t end_of_run(const uint64_t *bits, uint32_t from, uint32_t n)
{
	bool is = bit(bits, from);
	uint32_t i = from + 1;

	while (i < n) {
		if (!(i % 64)) { /* whole words */
			while (n - i >= 64 && bits[i / 64] == (is ? ~0ull : 0))
				i += 64;
			if (i >= n)
				break;
		}
		if (bit(bits, i) != is)
			break;
		i++;
	}
	return i < n ? i : n;
}

static int put(struct replay_device *d, struct segment *s, uint32_t from, uint32_t to, void *store,
	       uint64_t at, struct error *err)
{
	uint64_t bytes = bytes_of_run(d, s, from, to);
	int rc = d->runtime->restore(d->runtime_device, &s->memory->m,
				     s->offset + (uint64_t)from * d->chunk, bytes, store, at, err);

	if (!rc)
		d->window.account.restored_bytes += bytes;
	return rc;
}

bool snapshot_needs_restore(const struct replay_device *d)
{
	for (size_t i = 0; i < d->window.segments.n; i++) {
		const struct segment *s = &d->window.segments.items[i];

		if (s->memory->only_writes)
			continue;
		for (uint32_t k = 0; k < (s->n_chunks + 63) / 64; k++)
			if (s->dirty[k])
				return true;
	}
	return false;
}

int snapshot_restore_start(struct replay_device *d, struct error *err)
{
	uint64_t begin = replay_now(), spared = 0, before = d->window.account.restored_bytes;
	int rc = 0;

	vec_for_each (&d->window.segments, s) {
		uint32_t end;

		spared += s->bytes;
		/* What nobody reads before it is written again need not be put back. */
		if (s->memory->only_writes)
			continue;
		for (uint32_t i = 0; i < s->n_chunks && !rc; i = end) {
			end = end_of_run(s->dirty, i, s->n_chunks);
			if (bit(s->dirty, i))
				rc = put(d, s, i, end, s->start, (uint64_t)i * d->chunk, err);
		}
	}
	d->window.account.spared_bytes += spared - (d->window.account.restored_bytes - before);
	d->window.account.restore_ns += replay_now() - begin;
	return rc;
}

/* Calls visit for every run of chunks of one kind, with where its END is kept. */
typedef int visit_run(struct replay_device *d, struct segment *s, uint32_t from, uint32_t to,
		      void *store, uint64_t at, struct error *err);

static int each_run(struct replay_device *d, struct segment *s, visit_run *visit, bool all,
		    struct error *err)
{
	uint64_t packed = 0;
	uint32_t end, other;
	int rc = 0;

	for (uint32_t i = 0; i < s->n_chunks && !rc; i = end) {
		end = end_of_run(s->changed, i, s->n_chunks);
		if (bit(s->changed, i)) {
			rc = visit(d, s, i, end, s->end, packed, err);
			packed += bytes_of_run(d, s, i, end);
			continue;
		}
		if (all) {
			rc = visit(d, s, i, end, s->start, (uint64_t)i * d->chunk, err);
			continue;
		}
		other = end_of_run(s->dirty, i, s->n_chunks);
		end = other < end ? other : end;
		if (bit(s->dirty, i))
			rc = visit(d, s, i, end, s->start, (uint64_t)i * d->chunk, err);
	}
	return rc;
}

int snapshot_restore_end(struct replay_device *d, bool all, struct error *err)
{
	uint64_t begin = replay_now();
	int rc = 0;

	for (size_t i = 0; i < d->window.segments.n && !rc; i++)
		rc = each_run(d, &d->window.segments.items[i], put, all, err);
	d->window.account.restore_ns += replay_now() - begin;
	return rc;
}

static int compare(struct replay_device *d, struct segment *s, uint32_t from, uint32_t to,
		   void *store, uint64_t at, struct error *err)
{
	size_t words = ((size_t)(to - from) + 63) / 64;
	int rc;

	memset(d->scratch.items, 0, words * sizeof(uint64_t));
	rc = d->runtime->compare(
		d->runtime_device, &s->memory->m, s->offset + (uint64_t)from * d->chunk,
		bytes_of_run(d, s, from, to), store, at, d->chunk, d->scratch.items, err);
	for (size_t i = 0; i < words && !rc; i++)
		for (uint64_t v = d->scratch.items[i]; v; v &= v - 1) {
			uint32_t c = from + (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(v);

			if (c >= to)
				continue;
			s->dirty[c / 64] |= 1ull << (c % 64);
			d->window.varying = true;
		}
	return rc;
}

int snapshot_check(struct replay_device *d, bool *differs_out, struct error *err)
{
	bool varying = d->window.varying;
	uint64_t begin = replay_now();
	int rc = 0;

	d->window.varying = false;
	for (size_t i = 0; i < d->window.segments.n && !rc; i++)
		rc = each_run(d, &d->window.segments.items[i], compare, true, err);
	*differs_out = d->window.varying;
	d->window.varying |= varying;
	d->window.account.check_ns += replay_now() - begin;
	return rc;
}
