/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saving, comparing and restoring memory objects. Three ways: directly, where the device's memory
 * is this process's own (copies and comparisons at the speed of memcpy, and no command that a
 * kernel which does not end could hold up); by reads and writes of buffers and images; and by
 * copies on the device through a buffer object over our own memory, where the program made the
 * buffer inaccessible to the host.
 */
#include "base/hash.h"
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

#define PIECE ((size_t)4 << 20) /* compared at a time where a copy is needed */

int memory_store_get(void *device, uint64_t bytes, enum runtime_store_kind kind, void **store_out,
		     struct error *err)
{
	struct store *s;
	int rc;

	(void)device;
	if (kind != RUNTIME_STORE_HOST)
		return error_set(err, RC_UNSUPPORTED, "OpenCL has no stores on the device");
	rc = store_take(&s, bytes, err);
	if (!rc)
		*store_out = s;
	return rc;
}

static void unlend(struct store *s)
{
	if (s->lent)
		layer.next.clReleaseMemObject(s->lent);
	s->lent = NULL;
	s->lent_to = NULL;
}

void memory_store_put(void *device, void *store)
{
	(void)device;
	unlend(store); /* it would keep the context alive */
	store_give(store);
}

static int failed(const char *what, int32_t status, struct error *err)
{
	return error_set(err, RC_ERROR, "%s (OpenCL error %d)", what, (int)status);
}

/* ---- directly ---- */

/* Where the device has the buffer, or NULL. wait: commands of ours may be made for it. */
static unsigned char *direct(struct device *d, struct memory *m, bool wait)
{
	struct vendor_event *event = NULL;
	struct vendor_queue *q;
	int32_t status = 0;
	void *at;

	if (m->direct)
		return m->direct;
	if (!wait || !d->is_direct || m->limited || m->context->n_devices != 1 ||
	    m->type != OPENCL_MEM_OBJECT_BUFFER)
		return NULL;
	q = replay_queue(m->context, d, NULL);
	if (!q)
		return NULL;
	at = layer.next.clEnqueueMapBuffer(q, m->object.handle, 1, OPENCL_MAP_READ, 0, m->size, 0,
					   NULL, NULL, &status);
	if (!at || status)
		return NULL;
	if (!layer.next.clEnqueueUnmapMemObject(q, m->object.handle, at, 0, NULL, &event) &&
	    event) {
		wait_for(event, "an unmap", NULL);
		layer.next.clReleaseEvent(event);
	}
	m->direct = at;
	return at;
}

/* ---- buffers that the host may not access ---- */

static struct vendor_mem *lend(struct store *s, struct context *c, struct error *err)
{
	int32_t status = 0;

	if (s->lent && s->lent_to == c->object.handle)
		return s->lent;
	unlend(s);
	s->lent = layer.next.clCreateBuffer(c->object.handle,
					    OPENCL_MEM_READ_WRITE | OPENCL_MEM_USE_HOST_PTR,
					    s->size, s->bytes, &status);
	if (!s->lent) {
		failed("no buffer object over saved contents", status, err);
		return NULL;
	}
	s->lent_to = c->object.handle;
	return s->lent;
}

/* Makes what the device wrote to the store visible in it, or the other way round. */
static int exchange(struct store *s, struct vendor_queue *q, uint64_t how, struct error *err)
{
	struct vendor_event *event = NULL;
	int32_t status = 0;
	void *at = layer.next.clEnqueueMapBuffer(q, s->lent, 1, how, 0, s->size, 0, NULL, NULL,
						 &status);
	int rc;

	if (!at || status)
		return failed("saved contents cannot be mapped", status, err);
	status = layer.next.clEnqueueUnmapMemObject(q, s->lent, at, 0, NULL, &event);
	if (status || !event)
		return failed("saved contents cannot be unmapped", status, err);
	rc = wait_for(event, "an unmap", err);
	layer.next.clReleaseEvent(event);
	return rc;
}

static int copy_out(struct vendor_queue *q, struct memory *m, uint64_t offset, uint64_t bytes,
		    struct store *s, uint64_t at, struct error *err)
{
	struct vendor_mem *lent = lend(s, m->context, err);
	struct vendor_event *event = NULL;
	int32_t status;
	int rc;

	if (!lent)
		return RC_ERROR;
	status = layer.next.clEnqueueCopyBuffer(q, m->object.handle, lent, offset, at, bytes, 0,
						NULL, &event);
	if (status || !event)
		return failed("a buffer cannot be copied", status, err);
	rc = wait_for(event, "a copy", err);
	layer.next.clReleaseEvent(event);
	return rc ? rc : exchange(s, q, OPENCL_MAP_READ, err);
}

/* ---- images ---- */

struct box {
	size_t origin[3], region[3];
	uint64_t offset, bytes; /* of it, in the packed image */
};

/* The smallest box of whole rows, or whole slices, that holds the part. */
static void box_of(const struct memory *m, uint64_t offset, uint64_t bytes, struct box *b)
{
	uint64_t row = m->element * m->region[0], slice = row * m->region[1];
	uint64_t first = offset / slice, last = (offset + bytes - 1) / slice;

	memset(b, 0, sizeof(*b));
	b->region[0] = m->region[0];
	if (first == last) {
		uint64_t in = offset - first * slice;
		uint64_t from = in / row, to = (in + bytes + row - 1) / row;

		b->origin[1] = from;
		b->region[1] = to - from;
		b->region[2] = 1;
		b->offset = first * slice + from * row;
		b->bytes = (to - from) * row;
	} else {
		b->region[1] = m->region[1];
		b->region[2] = last - first + 1;
		b->offset = first * slice;
		b->bytes = (last - first + 1) * slice;
	}
	b->origin[2] = first;
}

static int image_read(struct vendor_queue *q, struct memory *m, uint64_t offset, uint64_t bytes,
		      unsigned char *to, struct error *err)
{
	struct store *s;
	struct box b;
	int32_t status;
	int rc;

	box_of(m, offset, bytes, &b);
	if (b.offset == offset && b.bytes == bytes) {
		status = layer.next.clEnqueueReadImage(q, m->object.handle, 1, b.origin, b.region,
						       0, 0, to, 0, NULL, NULL);
		return status ? failed("an image cannot be read", status, err) : 0;
	}
	rc = store_take(&s, b.bytes, err);
	if (rc)
		return rc;
	status = layer.next.clEnqueueReadImage(q, m->object.handle, 1, b.origin, b.region, 0, 0,
					       s->bytes, 0, NULL, NULL);
	if (!status)
		memcpy(to, s->bytes + (offset - b.offset), bytes);
	store_give(s);
	return status ? failed("an image cannot be read", status, err) : 0;
}

static int image_write(struct vendor_queue *q, struct memory *m, uint64_t offset, uint64_t bytes,
		       const unsigned char *from, struct error *err)
{
	struct store *s = NULL;
	struct box b;
	int32_t status;
	int rc;

	box_of(m, offset, bytes, &b);
	if (b.offset != offset || b.bytes != bytes) {
		/* Rows of which only a part is put back keep the rest. */
		rc = store_take(&s, b.bytes, err);
		if (rc)
			return rc;
		rc = image_read(q, m, b.offset, b.bytes, s->bytes, err);
		if (rc) {
			store_give(s);
			return rc;
		}
		memcpy(s->bytes + (offset - b.offset), from, bytes);
		from = s->bytes;
	}
	status = layer.next.clEnqueueWriteImage(q, m->object.handle, 1, b.origin, b.region, 0, 0,
						from, 0, NULL, NULL);
	store_give(s);
	return status ? failed("an image cannot be written", status, err) : 0;
}

/* ---- any memory, drained ---- */

static int read_part(struct device *d, struct memory *m, uint64_t offset, uint64_t bytes,
		     struct store *s, uint64_t at, struct error *err)
{
	unsigned char *from = direct(d, m, true);
	struct vendor_queue *q;
	int32_t status;

	if (!bytes)
		return 0;
	if (from) {
		memcpy(s->bytes + at, from + offset, bytes);
		return 0;
	}
	q = replay_queue(m->context, d, err);
	if (!q)
		return RC_ERROR;
	if (m->type != OPENCL_MEM_OBJECT_BUFFER)
		return image_read(q, m, offset, bytes, s->bytes + at, err);
	if (m->limited)
		return copy_out(q, m, offset, bytes, s, at, err);
	status = layer.next.clEnqueueReadBuffer(q, m->object.handle, 1, offset, bytes,
						s->bytes + at, 0, NULL, NULL);
	return status ? failed("a buffer cannot be read", status, err) : 0;
}

int memory_restore(void *device, const struct runtime_memory *about, uint64_t offset,
		   uint64_t bytes, void *store, uint64_t at, struct error *err)
{
	struct device *d = device;
	struct memory *m = about->data;
	struct store *s = store;
	unsigned char *to = direct(d, m, true);
	struct vendor_event *event = NULL;
	struct vendor_queue *q;
	int32_t status;
	int rc;

	if (!bytes)
		return 0;
	if (to) {
		memcpy(to + offset, s->bytes + at, bytes);
		return 0;
	}
	q = replay_queue(m->context, d, err);
	if (!q)
		return RC_ERROR;
	if (m->type != OPENCL_MEM_OBJECT_BUFFER)
		return image_write(q, m, offset, bytes, s->bytes + at, err);
	if (!m->limited) {
		status = layer.next.clEnqueueWriteBuffer(q, m->object.handle, 1, offset, bytes,
							 s->bytes + at, 0, NULL, NULL);
		return status ? failed("a buffer cannot be written", status, err) : 0;
	}
	if (!lend(s, m->context, err))
		return RC_ERROR;
	/* The host wrote to the store, unless the device did and it was exchanged then. */
	rc = exchange(s, q, OPENCL_MAP_READ | OPENCL_MAP_WRITE, err);
	if (rc)
		return rc;
	status = layer.next.clEnqueueCopyBuffer(q, s->lent, m->object.handle, at, offset, bytes, 0,
						NULL, &event);
	if (status || !event)
		return failed("a buffer cannot be copied", status, err);
	rc = wait_for(event, "a copy", err);
	layer.next.clReleaseEvent(event);
	return rc;
}

/* ---- in front of a command of the program ---- */

static int add_save(struct command *c, struct vendor_event *event, struct error *err)
{
	if (!event)
		return 0;
	if (!c->queue->out_of_order) {
		layer.next.clReleaseEvent(event); /* the queue keeps the order */
		return 0;
	}
	if (c->n_saves == c->room) {
		uint32_t room = c->room ? 2 * c->room : 8;
		struct vendor_event **more = pool_get(room * sizeof(*more));

		if (!more) {
			wait_for(event, "a save", NULL);
			layer.next.clReleaseEvent(event);
			return error_set(err, RC_NO_MEMORY, "out of memory");
		}
		if (c->n_saves)
			memcpy((void *)more, (const void *)c->saves, c->n_saves * sizeof(*more));
		pool_put((void *)c->saves);
		c->saves = more;
		c->room = room;
	}
	c->saves[c->n_saves++] = event;
	return 0;
}

static int save_before(struct command *c, struct memory *m, uint64_t offset, uint64_t bytes,
		       struct store *s, uint64_t at, struct error *err)
{
	struct vendor_queue *q = c->queue->object.handle;
	struct vendor_event *event = NULL;
	struct vendor_event **event_out = c->queue->out_of_order ? &event : NULL;
	int32_t status;

	if (m->context != c->queue->context)
		return error_set(err, RC_ERROR, "the memory is of another context");
	if (m->type != OPENCL_MEM_OBJECT_BUFFER) {
		struct box b;

		box_of(m, offset, bytes, &b);
		if (b.offset != offset || b.bytes != bytes)
			return error_set(err, RC_UNSUPPORTED, "a part of an image row");
		status = layer.next.clEnqueueReadImage(q, m->object.handle, 0, b.origin, b.region,
						       0, 0, s->bytes + at, c->n_wait, c->wait,
						       event_out);
	} else if (m->limited) {
		if (!lend(s, m->context, err))
			return RC_ERROR;
		status = layer.next.clEnqueueCopyBuffer(q, m->object.handle, s->lent, offset, at,
							bytes, c->n_wait, c->wait, event_out);
	} else {
		status = layer.next.clEnqueueReadBuffer(q, m->object.handle, 0, offset, bytes,
							s->bytes + at, c->n_wait, c->wait,
							event_out);
	}
	if (status)
		return failed("memory cannot be saved", status, err);
	atomic_store(&c->queue->used, true);
	return add_save(c, event, err);
}

int memory_save(void *device, const struct runtime_memory *about, uint64_t offset, uint64_t bytes,
		void *store, uint64_t at, const struct runtime_op *before, struct error *err)
{
	struct device *d = device;
	struct memory *m = about->data;

	if (!bytes)
		return 0;
	if (!before)
		return read_part(d, m, offset, bytes, store, at, err);
	if (!command_now)
		return error_set(err, RC_ERROR, "there is no command to save in front of");
	return save_before(command_now, m, offset, bytes, store, at, err);
}

/* ---- comparing ---- */

static void compare_bytes(const unsigned char *a, const unsigned char *b, uint64_t bytes,
			  uint64_t chunk, uint64_t first, uint64_t *bitmap)
{
	for (uint64_t i = 0; i * chunk < bytes; i++) {
		uint64_t n = bytes - i * chunk < chunk ? bytes - i * chunk : chunk;

		if (memcmp(a + i * chunk, b + i * chunk, n) != 0)
			bitmap[(first + i) / 64] |= UINT64_C(1) << ((first + i) % 64);
	}
}

/* A store that the device filled shows it only after an exchange. */
static int settle(struct device *d, struct memory *m, struct store *s, struct error *err)
{
	struct vendor_queue *q;

	if (!m->limited || !s->lent)
		return 0;
	q = replay_queue(m->context, d, err);
	return q ? exchange(s, q, OPENCL_MAP_READ, err) : RC_ERROR;
}

int memory_compare(void *device, const struct runtime_memory *about, uint64_t offset,
		   uint64_t bytes, void *store, uint64_t at, uint64_t chunk, uint64_t *bitmap,
		   struct error *err)
{
	struct device *d = device;
	struct memory *m = about->data;
	struct store *s = store, *piece;
	unsigned char *live = direct(d, m, true);
	uint64_t step = chunk < PIECE ? PIECE / chunk * chunk : chunk;
	int rc;

	if (live) {
		compare_bytes(live + offset, s->bytes + at, bytes, chunk, 0, bitmap);
		return 0;
	}
	rc = settle(d, m, s, err);
	if (rc)
		return rc;
	step = step < bytes ? step : bytes;
	rc = store_take(&piece, step, err);
	if (rc)
		return rc;
	for (uint64_t done = 0; done < bytes && !rc; done += step) {
		uint64_t n = bytes - done < step ? bytes - done : step;

		rc = read_part(d, m, offset + done, n, piece, 0, err);
		if (!rc)
			compare_bytes(piece->bytes, s->bytes + at + done, n, chunk, done / chunk,
				      bitmap);
	}
	memory_store_put(d, piece);
	return rc;
}

int memory_hash(void *device, const struct runtime_memory *about, uint64_t *hash_out,
		struct error *err)
{
	struct device *d = device;
	struct memory *m = about->data;
	unsigned char *live = direct(d, m, true);
	struct store *s;
	int rc;

	if (live) {
		*hash_out = hash64(live, m->size);
		return 0;
	}
	rc = store_take(&s, m->size, err);
	if (rc)
		return rc;
	rc = read_part(d, m, 0, m->size, s, 0, err);
	if (!rc)
		*hash_out = hash64(s->bytes, m->size);
	memory_store_put(d, s);
	return rc;
}
