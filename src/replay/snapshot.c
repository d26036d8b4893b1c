/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a window may write is saved before it is written: memories in segments of chunks, each part
 * once a window, into stores of the runtime. After the window's own run the chunks that it changed
 * are found and their END image is saved beside.
 */
#include "replay/engine.h"

#include <string.h>

static uint64_t bytes_of_chunk(const struct replay_device *d, const struct segment *s, uint32_t i)
{
	uint64_t at = (uint64_t)i * d->chunk;

	return s->bytes - at < d->chunk ? s->bytes - at : d->chunk;
}

static bool fits(const struct replay_device *d, uint64_t bytes)
{
	uint64_t most = d->replay->options.max_snapshot;

	return !most || (bytes <= most && d->window.store_bytes + d->kept_bytes <= most - bytes);
}

/* A store, on the device while there is room. What is kept of other windows makes room first. */
static int get_store(struct replay_device *d, uint64_t bytes, void **store_out, struct error *err)
{
	int rc = RC_NO_SPACE;

	if (!fits(d, bytes))
		kept_forget_all(d);
	if (!fits(d, bytes))
		return error_set(err, RC_NO_SPACE, "more than --max-snapshot to save");
	if (d->runtime->capabilities & RUNTIME_DEVICE_STORE)
		rc = d->runtime->store_get(d->runtime_device, bytes, RUNTIME_STORE_DEVICE,
					   store_out, err);
	if (rc == RC_NO_SPACE || rc == RC_NO_MEMORY)
		rc = d->runtime->store_get(d->runtime_device, bytes, RUNTIME_STORE_HOST, store_out,
					   err);
	if ((rc == RC_NO_SPACE || rc == RC_NO_MEMORY) && kept_forget_all(d))
		return get_store(d, bytes, store_out, err);
	if (!rc)
		d->window.store_bytes += bytes;
	return rc;
}

static int add_segment(struct replay_device *d, struct replay_memory *m, uint64_t offset,
		       uint64_t bytes, const struct runtime_op *op, struct error *err)
{
	struct window *w = &d->window;
	struct segment s = {.memory = m, .offset = offset, .bytes = bytes, .next = m->segments};
	bool ordered = (d->runtime->capabilities & RUNTIME_ORDERED_SAVE) != 0;
	int rc;

	if (bytes / d->chunk >= UINT32_MAX - 64)
		return error_set(err, RC_NO_SPACE, "a memory is too large to save");
	s.n_chunks = (uint32_t)((bytes + d->chunk - 1) / d->chunk);
	if (!vec_reserve(&w->segments, w->segments.n + 1))
		return error_set(err, RC_NO_MEMORY, "out of memory for a snapshot");
	rc = get_store(d, bytes, &s.start, err);
	if (rc)
		return rc;
	rc = d->runtime->save(d->runtime_device, &m->m, offset, bytes, s.start, 0,
			      ordered ? op : NULL, err);
	if (rc) {
		/* It may have been begun. */
		device_park_store(d, s.start);
		w->store_bytes -= bytes;
		return rc;
	}
	if (d->runtime->capabilities & RUNTIME_TRACKS_WRITES)
		s.tracked = !d->runtime->track(d->runtime_device, &m->m, NULL);
	w->segments.items[w->segments.n++] = s;
	m->segments = (uint32_t)w->segments.n;
	m->whole = offset == 0 && bytes == m->m.size;
	w->account.saved_bytes += bytes;
	return 0;
}

/* The contents that another window left there serve again: nothing is copied. */
static bool use_kept(struct replay_device *d, struct replay_memory *m)
{
	struct window *w = &d->window;
	struct segment s = {.memory = m, .bytes = m->m.size, .tracked = true};

	if (!m->kept || m->segments || m->m.size / d->chunk >= UINT32_MAX - 64 ||
	    !vec_reserve(&w->segments, w->segments.n + 1))
		return false;
	s.start = kept_take(d, m);
	if (!s.start)
		return false;
	s.n_chunks = (uint32_t)((s.bytes + d->chunk - 1) / d->chunk);
	w->segments.items[w->segments.n++] = s;
	w->store_bytes += s.bytes;
	m->segments = (uint32_t)w->segments.n;
	m->whole = true;
	return true;
}

bool snapshot_has(const struct replay_device *d, const struct replay_memory *m, uint64_t offset,
		  uint64_t size)
{
	if (m->whole || !size)
		return true;
	for (uint32_t i = m->segments; i; i = d->window.segments.items[i - 1].next) {
		const struct segment *s = &d->window.segments.items[i - 1];

		if (s->offset <= offset && offset + size <= s->offset + s->bytes)
			return true;
	}
	return false;
}

int snapshot_save(struct replay_device *d, struct replay_memory *m, uint64_t offset, uint64_t size,
		  const struct runtime_op *op, struct error *err)
{
	const struct segment *items = d->window.segments.items;
	uint64_t begin, end, at, stop;
	int rc;

	if (m->whole || !size)
		return 0;
	if (offset > m->m.size || size > m->m.size - offset)
		return error_set(err, RC_INVALID,
				 "the reach of an operation is outside its memory");
	if (use_kept(d, m))
		return 0;
	/* The same grid for all segments of a memory, which is the grid of `changed` too. */
	begin = offset / d->chunk * d->chunk;
	end = (offset + size + d->chunk - 1) / d->chunk * d->chunk;
	if (end > m->m.size)
		end = m->m.size;
	for (at = begin; at < end; at = stop) {
		uint32_t i = m->segments;
		bool saved = false;

		/* Up to where the state of `at` holds: the end of the segment that has it, or the
		 * next segment's begin. */
		stop = end;
		items = d->window.segments.items;
		for (; i && !saved; i = items[i - 1].next) {
			const struct segment *s = &items[i - 1];

			if (s->offset <= at && at < s->offset + s->bytes) {
				saved = true;
				stop = s->offset + s->bytes;
			} else if (s->offset > at && s->offset < stop) {
				stop = s->offset;
			}
		}
		if (saved)
			continue;
		rc = add_segment(d, m, at, stop - at, op, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- the write set ---- */

/* Bitmaps of all segments, cleared, and a scratch one as long as the longest run or memory. */
static int lay_out_bits(struct replay_device *d, struct error *err)
{
	struct window *w = &d->window;
	size_t words = 0, most = 1, at = 0;

	vec_for_each (&w->segments, s) {
		size_t whole = (s->memory->m.size / d->chunk + 64) / 64 + 1;

		words += 2 * (((size_t)s->n_chunks + 63) / 64);
		most = whole > most ? whole : most;
	}
	if (!vec_reserve(&w->bits, words + 1) || !vec_reserve(&d->scratch, most))
		return error_set(err, RC_NO_MEMORY, "out of memory for the write set");
	memset(w->bits.items, 0, (words + 1) * sizeof(uint64_t));
	vec_for_each (&w->segments, s) {
		size_t n = ((size_t)s->n_chunks + 63) / 64;

		s->changed = w->bits.items + at;
		s->dirty = s->changed + n;
		at += 2 * n;
	}
	return 0;
}

static bool bit(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* Sets the bits of chunks [from, to) of the segment that differ from the store. */
static int compare_run(struct replay_device *d, struct segment *s, uint32_t from, uint32_t to,
		       uint64_t *bits, struct error *err)
{
	uint64_t at = (uint64_t)from * d->chunk;
	uint64_t bytes = (uint64_t)(to - from - 1) * d->chunk + bytes_of_chunk(d, s, to - 1);
	size_t words = (size_t)(to - from + 63) / 64;
	int rc;

	memset(d->scratch.items, 0, words * sizeof(uint64_t));
	rc = d->runtime->compare(d->runtime_device, &s->memory->m, s->offset + at, bytes, s->start,
				 at, d->chunk, d->scratch.items, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < words; i++)
		for (uint64_t v = d->scratch.items[i]; v; v &= v - 1) {
			uint64_t c = from + i * 64 + (unsigned)__builtin_ctzll(v);

			if (c < to)
				bits[c / 64] |= 1ull << (c % 64);
		}
	return 0;
}

/* Where the runtime remembers writes, only what was written is compared. */
static int compare_tracked(struct replay_device *d, struct segment *s, struct error *err)
{
	size_t words = (s->memory->m.size / d->chunk + 64) / 64;
	uint64_t first = s->offset / d->chunk;
	uint32_t i = 0, end;
	int rc;

	memset(d->scratch.items, 0, words * sizeof(uint64_t));
	rc = d->runtime->changed(d->runtime_device, &s->memory->m, d->chunk, d->scratch.items, err);
	if (rc)
		return rc;
	/* dirty holds the candidates meanwhile: compare_run needs the scratch. */
	for (i = 0; i < s->n_chunks; i++)
		if (bit(d->scratch.items, first + i))
			s->dirty[i / 64] |= 1ull << (i % 64);
	for (i = 0; i < s->n_chunks; i = end) {
		for (end = i + 1; end < s->n_chunks && bit(s->dirty, end) == bit(s->dirty, i);
		     end++)
			;
		if (!bit(s->dirty, i))
			continue;
		s->touched = true;
		rc = compare_run(d, s, i, end, s->changed, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int find_changed(struct replay_device *d, struct segment *s, struct error *err)
{
	int rc = RC_ERROR;

	/* Two segments of one memory would take each other's answer. */
	if (s->tracked && s->memory->whole)
		rc = compare_tracked(d, s, NULL);
	if (rc) {
		memset(s->changed, 0, ((size_t)s->n_chunks + 63) / 64 * sizeof(uint64_t));
		rc = compare_run(d, s, 0, s->n_chunks, s->changed, err);
	}
	if (rc)
		return rc;
	memcpy(s->dirty, s->changed, ((size_t)s->n_chunks + 63) / 64 * sizeof(uint64_t));
	for (uint32_t i = 0; i < (s->n_chunks + 63) / 64; i++)
		s->n_changed += (uint32_t)__builtin_popcountll(s->changed[i]);
	return 0;
}

static int save_end(struct replay_device *d, struct segment *s, struct error *err)
{
	uint64_t packed = 0, bytes = 0;
	uint32_t i, end;
	int rc;

	if (!s->n_changed)
		return 0;
	for (i = 0; i < s->n_chunks; i++)
		if (bit(s->changed, i))
			bytes += bytes_of_chunk(d, s, i);
	rc = get_store(d, bytes, &s->end, err);
	if (rc)
		return rc;
	for (i = 0; i < s->n_chunks; i = end) {
		uint64_t run = bytes_of_chunk(d, s, i);

		end = i + 1;
		if (!bit(s->changed, i))
			continue;
		for (; end < s->n_chunks && bit(s->changed, end); end++)
			run += bytes_of_chunk(d, s, end);
		rc = d->runtime->save(d->runtime_device, &s->memory->m,
				      s->offset + (uint64_t)i * d->chunk, run, s->end, packed, NULL,
				      err);
		if (rc)
			return rc;
		packed += run;
	}
	d->window.account.saved_bytes += bytes;
	return 0;
}

int snapshot_end(struct replay_device *d, struct error *err)
{
	struct window *w = &d->window;
	uint64_t begin = replay_now(), compared;
	int rc = lay_out_bits(d, err);

	for (size_t i = 0; i < w->segments.n && !rc; i++)
		rc = find_changed(d, &w->segments.items[i], err);
	compared = replay_now();
	w->account.check_ns += compared - begin;
	for (size_t i = 0; i < w->segments.n && !rc; i++)
		rc = save_end(d, &w->segments.items[i], err);
	w->account.save_ns += replay_now() - compared;
	return rc;
}

void snapshot_forget(struct replay_device *d, bool parked)
{
	vec_for_each (&d->window.segments, s) {
		void *both[] = {s->start, s->end};

		s->memory->segments = 0;
		s->memory->whole = false;
		for (int i = 0; i < 2; i++) {
			if (!both[i])
				continue;
			if (parked)
				device_park_store(d, both[i]);
			else
				d->runtime->store_put(d->runtime_device, both[i]);
		}
	}
	vec_clear(&d->window.segments);
	d->window.store_bytes = 0;
}
