/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of the transfers that a device carries out by itself: copies, fills, and writes that do not
 * block, whose sources are copied when they are enqueued. They are recorded and replayed with the
 * dispatches around them.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

/* A transfer on its way. Only of tracked objects; begin returns false for others, which are then
 * passed through. */
struct transfer {
	struct queue *queue;
	struct memory *source, *target; /* NULL: the host */
	struct runtime_op op;
	struct command command;
	struct reach reach;
	struct record *record;
	const char *why;
};

static bool transfer_open(struct transfer *t, struct vendor_queue *queue, struct vendor_mem *source,
			  struct vendor_mem *target, enum record_kind kind, uint32_t n_wait,
			  struct vendor_event *const *wait)
{
	memset(t, 0, sizeof(*t));
	if (!layer_is_on())
		return false;
	t->queue = track_find(queue, OBJECT_QUEUE);
	t->source = source ? track_find(source, OBJECT_MEMORY) : NULL;
	t->target = track_find(target, OBJECT_MEMORY);
	if (!t->queue || !t->queue->device)
		return false;
	if (!t->target || (source && !t->source)) {
		rules_apply("an unknown object", t->queue->device);
		return false;
	}
	t->op.kind = RUNTIME_TRANSFER;
	t->op.flags = RUNTIME_OP_REACH_EXACT;
	t->command.queue = t->queue;
	t->command.n_wait = n_wait;
	t->command.wait = wait;
	t->record = record_new(kind, t->queue);
	if (t->record) {
		t->record->source = source;
		t->record->target = target;
	} else {
		t->why = "out of memory for a transfer";
	}
	return true;
}

/* Part of a buffer, in its root; or all of it for images, views and rectangles (bytes 0). */
static void transfer_reach(struct transfer *t, struct memory *m, uint64_t offset, uint64_t bytes,
			   bool writes)
{
	struct memory *root = memory_root(m);

	if (m->type != OPENCL_MEM_OBJECT_BUFFER || root->type != OPENCL_MEM_OBJECT_BUFFER ||
	    !bytes || m->offset + offset > root->size || bytes > root->size - m->offset - offset) {
		/* Of the whole something stays, so nothing is only written. */
		reach_add(&t->reach, t->queue->device, root, 0, root->size,
			  writes ? RUNTIME_MAY_READ_WRITE : RUNTIME_ONLY_READS);
		return;
	}
	reach_add(&t->reach, t->queue->device, root, m->offset + offset, bytes,
		  writes ? RUNTIME_ONLY_WRITES : RUNTIME_ONLY_READS);
}

static void transfer_begin(struct transfer *t)
{
	const char *why = command_why(t->queue, &t->reach);

	if (!why)
		why = t->why;
	if (why) {
		record_free(t->record);
		t->record = NULL;
	}
	t->op.recorded = t->record;
	command_begin(&t->command, &t->op, &t->reach, why);
}

static int32_t transfer_end(struct transfer *t, int32_t status, struct vendor_event *const *event)
{
	command_end(&t->command, &t->op, &t->reach, !status, event);
	return status;
}

static void set3(size_t *to, const size_t *from)
{
	memcpy(to, from, 3 * sizeof(*to));
}

/* Copies what the host gives; without memory the transfer is declined. */
static void transfer_keep(struct transfer *t, const void *bytes, size_t size)
{
	if (!t->record)
		return;
	if (record_room(t->record, size))
		memcpy(t->record->data, bytes, size);
	else
		t->why = "out of memory for a transfer's source";
}

/* ---- writes ---- */

static void blocking_write(struct vendor_queue *queue, const char *call)
{
	struct queue *q = track_find(queue, OBJECT_QUEUE);

	if (q)
		rules_apply(call, q->device);
}

static int32_t write_buffer(struct vendor_queue *queue, struct vendor_mem *m, uint32_t blocking,
			    size_t offset, size_t size, const void *from, uint32_t n_wait,
			    struct vendor_event *const *wait, struct vendor_event **event)
{
	struct transfer t;

	if (blocking && layer_is_on())
		blocking_write(queue, "clEnqueueWriteBuffer (blocking)");
	if (!from || !size || !transfer_open(&t, queue, NULL, m, RECORD_WRITE, n_wait, wait))
		return layer.next.clEnqueueWriteBuffer(queue, m, blocking, offset, size, from,
						       n_wait, wait, event);
	if (t.record) {
		t.record->target_offset = offset;
		t.record->bytes = size;
	}
	transfer_keep(&t, from, size);
	transfer_reach(&t, t.target, offset, size, true);
	t.command.blocking = blocking != 0;
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueWriteBuffer(queue, m, blocking, offset, size, from,
							    command_n_wait(&t.command),
							    command_wait(&t.command), event),
			    event);
}

/* The rectangle's rows, next to each other. */
static void keep_rectangle(struct transfer *t, const unsigned char *from, const size_t *origin,
			   const size_t *region, size_t row, size_t slice)
{
	size_t packed = region[0] * region[1] * region[2], at = 0;

	row = row ? row : region[0];
	slice = slice ? slice : row * region[1];
	if (!t->record)
		return;
	if (!record_room(t->record, packed)) {
		t->why = "out of memory for a transfer's source";
		return;
	}
	from += origin[2] * slice + origin[1] * row + origin[0];
	for (size_t z = 0; z < region[2]; z++)
		for (size_t y = 0; y < region[1]; y++) {
			memcpy(t->record->data + at, from + z * slice + y * row, region[0]);
			at += region[0];
		}
}

static int32_t write_rect(struct vendor_queue *queue, struct vendor_mem *m, uint32_t blocking,
			  const size_t *to_origin, const size_t *from_origin, const size_t *region,
			  size_t to_row, size_t to_slice, size_t from_row, size_t from_slice,
			  const void *from, uint32_t n_wait, struct vendor_event *const *wait,
			  struct vendor_event **event)
{
	struct transfer t;

	if (blocking && layer_is_on())
		blocking_write(queue, "clEnqueueWriteBufferRect (blocking)");
	if (!from || !to_origin || !from_origin || !region ||
	    !transfer_open(&t, queue, NULL, m, RECORD_WRITE_RECT, n_wait, wait))
		return layer.next.clEnqueueWriteBufferRect(
			queue, m, blocking, to_origin, from_origin, region, to_row, to_slice,
			from_row, from_slice, from, n_wait, wait, event);
	if (t.record) {
		set3(t.record->offset, to_origin);
		set3(t.record->global, region);
		t.record->pitch[0] = to_row;
		t.record->pitch[1] = to_slice;
	}
	keep_rectangle(&t, from, from_origin, region, from_row, from_slice);
	transfer_reach(&t, t.target, 0, 0, true);
	t.command.blocking = blocking != 0;
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueWriteBufferRect(
				    queue, m, blocking, to_origin, from_origin, region, to_row,
				    to_slice, from_row, from_slice, from,
				    command_n_wait(&t.command), command_wait(&t.command), event),
			    event);
}

static int32_t write_image(struct vendor_queue *queue, struct vendor_mem *m, uint32_t blocking,
			   const size_t *origin, const size_t *region, size_t row, size_t slice,
			   const void *from, uint32_t n_wait, struct vendor_event *const *wait,
			   struct vendor_event **event)
{
	struct transfer t;
	size_t size[3];

	if (blocking && layer_is_on())
		blocking_write(queue, "clEnqueueWriteImage (blocking)");
	if (!from || !origin || !region ||
	    !transfer_open(&t, queue, NULL, m, RECORD_WRITE_IMAGE, n_wait, wait))
		return layer.next.clEnqueueWriteImage(queue, m, blocking, origin, region, row,
						      slice, from, n_wait, wait, event);
	size[0] = region[0] * t.target->element;
	size[1] = region[1];
	size[2] = region[2];
	/* A 1D array's layers are a slice apart. */
	if (t.target->type == OPENCL_MEM_OBJECT_IMAGE1D_ARRAY && slice)
		row = slice;
	if (t.record) {
		set3(t.record->offset, origin);
		set3(t.record->global, region);
	}
	keep_rectangle(&t, from, (const size_t[3]){0, 0, 0}, size, row, slice);
	transfer_reach(&t, t.target, 0, 0, true);
	t.command.blocking = blocking != 0;
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueWriteImage(queue, m, blocking, origin, region, row,
							   slice, from, command_n_wait(&t.command),
							   command_wait(&t.command), event),
			    event);
}

/* ---- copies ---- */

static int32_t copy_buffer(struct vendor_queue *queue, struct vendor_mem *from,
			   struct vendor_mem *to, size_t from_offset, size_t to_offset, size_t size,
			   uint32_t n_wait, struct vendor_event *const *wait,
			   struct vendor_event **event)
{
	struct transfer t;

	if (!transfer_open(&t, queue, from, to, RECORD_COPY, n_wait, wait))
		return layer.next.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size,
						      n_wait, wait, event);
	if (t.record) {
		t.record->source_offset = from_offset;
		t.record->target_offset = to_offset;
		t.record->bytes = size;
	}
	transfer_reach(&t, t.source, from_offset, size, false);
	transfer_reach(&t, t.target, to_offset, size, true);
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset,
							   size, command_n_wait(&t.command),
							   command_wait(&t.command), event),
			    event);
}

static int32_t copy_rect(struct vendor_queue *queue, struct vendor_mem *from, struct vendor_mem *to,
			 const size_t *from_origin, const size_t *to_origin, const size_t *region,
			 size_t from_row, size_t from_slice, size_t to_row, size_t to_slice,
			 uint32_t n_wait, struct vendor_event *const *wait,
			 struct vendor_event **event)
{
	struct transfer t;

	if (!from_origin || !to_origin || !region ||
	    !transfer_open(&t, queue, from, to, RECORD_COPY_RECT, n_wait, wait))
		return layer.next.clEnqueueCopyBufferRect(queue, from, to, from_origin, to_origin,
							  region, from_row, from_slice, to_row,
							  to_slice, n_wait, wait, event);
	if (t.record) {
		set3(t.record->offset, from_origin);
		set3(t.record->local, to_origin);
		set3(t.record->global, region);
		t.record->pitch[0] = from_row;
		t.record->pitch[1] = from_slice;
		t.record->pitch[2] = to_row;
		t.record->pitch[3] = to_slice;
	}
	transfer_reach(&t, t.source, 0, 0, false);
	transfer_reach(&t, t.target, 0, 0, true);
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueCopyBufferRect(
				    queue, from, to, from_origin, to_origin, region, from_row,
				    from_slice, to_row, to_slice, command_n_wait(&t.command),
				    command_wait(&t.command), event),
			    event);
}

static int32_t fill_buffer(struct vendor_queue *queue, struct vendor_mem *m, const void *pattern,
			   size_t pattern_size, size_t offset, size_t size, uint32_t n_wait,
			   struct vendor_event *const *wait, struct vendor_event **event)
{
	struct transfer t;

	if (!pattern || !transfer_open(&t, queue, NULL, m, RECORD_FILL, n_wait, wait))
		return layer.next.clEnqueueFillBuffer(queue, m, pattern, pattern_size, offset, size,
						      n_wait, wait, event);
	if (t.record) {
		t.record->target_offset = offset;
		t.record->bytes = size;
		t.record->pattern = pattern_size;
	}
	transfer_keep(&t, pattern, pattern_size);
	transfer_reach(&t, t.target, offset, size, true);
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueFillBuffer(queue, m, pattern, pattern_size, offset,
							   size, command_n_wait(&t.command),
							   command_wait(&t.command), event),
			    event);
}

static int32_t copy_image(struct vendor_queue *queue, struct vendor_mem *from,
			  struct vendor_mem *to, const size_t *from_origin, const size_t *to_origin,
			  const size_t *region, uint32_t n_wait, struct vendor_event *const *wait,
			  struct vendor_event **event)
{
	struct transfer t;

	if (!from_origin || !to_origin || !region ||
	    !transfer_open(&t, queue, from, to, RECORD_COPY_IMAGE, n_wait, wait))
		return layer.next.clEnqueueCopyImage(queue, from, to, from_origin, to_origin,
						     region, n_wait, wait, event);
	if (t.record) {
		set3(t.record->offset, from_origin);
		set3(t.record->local, to_origin);
		set3(t.record->global, region);
	}
	transfer_reach(&t, t.source, 0, 0, false);
	transfer_reach(&t, t.target, 0, 0, true);
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueCopyImage(queue, from, to, from_origin, to_origin,
							  region, command_n_wait(&t.command),
							  command_wait(&t.command), event),
			    event);
}

static int32_t fill_image(struct vendor_queue *queue, struct vendor_mem *m, const void *color,
			  const size_t *origin, const size_t *region, uint32_t n_wait,
			  struct vendor_event *const *wait, struct vendor_event **event)
{
	struct transfer t;

	if (!color || !origin || !region ||
	    !transfer_open(&t, queue, NULL, m, RECORD_FILL_IMAGE, n_wait, wait))
		return layer.next.clEnqueueFillImage(queue, m, color, origin, region, n_wait, wait,
						     event);
	if (t.record) {
		set3(t.record->offset, origin);
		set3(t.record->global, region);
	}
	transfer_keep(&t, color, 16); /* four numbers of 32 bits, whatever the format */
	transfer_reach(&t, t.target, 0, 0, true);
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueFillImage(queue, m, color, origin, region,
							  command_n_wait(&t.command),
							  command_wait(&t.command), event),
			    event);
}

static int32_t image_to_buffer(struct vendor_queue *queue, struct vendor_mem *from,
			       struct vendor_mem *to, const size_t *origin, const size_t *region,
			       size_t to_offset, uint32_t n_wait, struct vendor_event *const *wait,
			       struct vendor_event **event)
{
	struct transfer t;

	if (!origin || !region ||
	    !transfer_open(&t, queue, from, to, RECORD_IMAGE_TO_BUFFER, n_wait, wait))
		return layer.next.clEnqueueCopyImageToBuffer(queue, from, to, origin, region,
							     to_offset, n_wait, wait, event);
	if (t.record) {
		set3(t.record->offset, origin);
		set3(t.record->global, region);
		t.record->target_offset = to_offset;
	}
	transfer_reach(&t, t.source, 0, 0, false);
	transfer_reach(&t, t.target, to_offset,
		       region[0] * region[1] * region[2] * t.source->element, true);
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueCopyImageToBuffer(
				    queue, from, to, origin, region, to_offset,
				    command_n_wait(&t.command), command_wait(&t.command), event),
			    event);
}

static int32_t buffer_to_image(struct vendor_queue *queue, struct vendor_mem *from,
			       struct vendor_mem *to, size_t from_offset, const size_t *origin,
			       const size_t *region, uint32_t n_wait,
			       struct vendor_event *const *wait, struct vendor_event **event)
{
	struct transfer t;

	if (!origin || !region ||
	    !transfer_open(&t, queue, from, to, RECORD_BUFFER_TO_IMAGE, n_wait, wait))
		return layer.next.clEnqueueCopyBufferToImage(queue, from, to, from_offset, origin,
							     region, n_wait, wait, event);
	if (t.record) {
		t.record->source_offset = from_offset;
		set3(t.record->offset, origin);
		set3(t.record->global, region);
	}
	transfer_reach(&t, t.source, from_offset,
		       region[0] * region[1] * region[2] * t.target->element, false);
	transfer_reach(&t, t.target, 0, 0, true);
	transfer_begin(&t);
	return transfer_end(&t,
			    layer.next.clEnqueueCopyBufferToImage(
				    queue, from, to, from_offset, origin, region,
				    command_n_wait(&t.command), command_wait(&t.command), event),
			    event);
}

void hooks_transfer(struct opencl_dispatch *t)
{
	t->clEnqueueWriteBuffer = write_buffer;
	t->clEnqueueWriteBufferRect = write_rect;
	t->clEnqueueWriteImage = write_image;
	t->clEnqueueCopyBuffer = copy_buffer;
	t->clEnqueueCopyBufferRect = copy_rect;
	t->clEnqueueFillBuffer = fill_buffer;
	t->clEnqueueCopyImage = copy_image;
	t->clEnqueueFillImage = fill_image;
	t->clEnqueueCopyImageToBuffer = image_to_buffer;
	t->clEnqueueCopyBufferToImage = buffer_to_image;
}
