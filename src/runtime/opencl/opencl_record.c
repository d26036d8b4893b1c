/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded operations: everything that is needed to do them again, with the arguments, sources and
 * patterns as they were. Replays go through a queue of our own, in order, and a dispatch through a
 * kernel object of our own, so that nothing of the program's own objects changes.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

struct record *record_new(enum record_kind kind, struct queue *q)
{
	struct record *r = pool_get(sizeof(*r));

	if (!r)
		return NULL;
	r->kind = kind;
	r->context = q->context;
	return r;
}

void record_free(struct record *r)
{
	if (!r)
		return;
	if (r->event)
		layer.next.clReleaseEvent(r->event);
	if (r->kernel)
		kernel_leave(r->kernel);
	if (r->held)
		store_give(r->held);
	else
		pool_put(r->data);
	pool_put(r);
}

bool record_room(struct record *r, size_t bytes)
{
	if (bytes > 32768 && !store_take(&r->held, bytes, NULL))
		r->data = r->held->bytes;
	else
		r->data = pool_get(bytes + 1);
	return r->data != NULL;
}

void record_release(void *device, void *recorded)
{
	(void)device;
	record_free(recorded);
}

/* ---- recording ---- */

struct packed { /* of an argument, then its bytes, to a multiple of 8 */
	uint64_t size;
	uint64_t is_local;
};

static size_t packed_size(const struct argument *a)
{
	return sizeof(struct packed) + (a->is_local ? 0 : (a->size + 7) / 8 * 8);
}

static void copy3(size_t *to, const size_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n && from; i++)
		to[i] = from[i];
}

static struct vendor_kernel *copy_of(struct kernel *k, struct device *d, struct error *err)
{
	struct kernel_copy *copy;
	int32_t status = 0;

	track_lock();
	for (copy = k->copies; copy && copy->device != d; copy = copy->next)
		;
	track_unlock();
	if (copy)
		return copy->handle;
	copy = pool_get(sizeof(*copy));
	if (copy)
		copy->handle = layer.next.clCreateKernel(k->program, k->name, &status);
	if (!copy || !copy->handle) {
		pool_put(copy);
		error_set(err, RC_ERROR,
			  "cannot make another object of kernel '%s' (OpenCL error %d)", k->name,
			  (int)status);
		return NULL;
	}
	copy->device = d;
	track_lock();
	copy->next = k->copies;
	k->copies = copy;
	track_unlock();
	return copy->handle;
}

struct record *record_dispatch(struct kernel *k, struct queue *q, uint32_t dimensions,
			       const size_t *offset, const size_t *global, const size_t *local)
{
	struct record *r = record_new(RECORD_DISPATCH, q);
	size_t bytes = 0, at = 0;

	if (!r)
		return NULL;
	for (uint32_t i = 0; i < k->n_arguments; i++)
		bytes += packed_size(&k->arguments[i]);
	/* Now: the program may release its program object before the replay. */
	if (!copy_of(k, q->device, NULL) || !record_room(r, bytes)) {
		record_free(r);
		return NULL;
	}
	for (uint32_t i = 0; i < k->n_arguments; i++) {
		const struct argument *a = &k->arguments[i];
		struct packed p = {a->size, a->is_local};

		memcpy(r->data + at, &p, sizeof(p));
		if (!a->is_local && a->size)
			memcpy(r->data + at + sizeof(p), a->bytes, a->size);
		at += packed_size(a);
	}
	r->n_arguments = k->n_arguments;
	r->dimensions = dimensions;
	r->has_offset = offset != NULL;
	r->has_local = local != NULL;
	copy3(r->offset, offset, dimensions);
	copy3(r->global, global, dimensions);
	copy3(r->local, local, dimensions);
	track_lock();
	k->users++;
	track_unlock();
	r->kernel = k;
	return r;
}

/* ---- replaying ---- */

struct vendor_queue *replay_queue(struct context *c, struct device *d, struct error *err)
{
	uint32_t i = device_index(c, d);
	int32_t status = OPENCL_INVALID_VALUE;
	uint64_t properties[] = {OPENCL_QUEUE_PROPERTIES, OPENCL_QUEUE_PROFILING, 0};

	if (i == UINT32_MAX) {
		error_set(err, RC_ERROR, "the context does not have the device");
		return NULL;
	}
	if (c->replays[i])
		return c->replays[i];
	if (layer.next.clCreateCommandQueueWithProperties)
		c->replays[i] = layer.next.clCreateCommandQueueWithProperties(
			c->object.handle, d->handle, properties, &status);
	if (!c->replays[i] && layer.next.clCreateCommandQueue)
		c->replays[i] = layer.next.clCreateCommandQueue(c->object.handle, d->handle,
								OPENCL_QUEUE_PROFILING, &status);
	if (!c->replays[i])
		error_set(err, RC_ERROR, "cannot make a queue for replays (OpenCL error %d)",
			  (int)status);
	return c->replays[i];
}

static int32_t launch_dispatch(struct record *r, struct device *d, struct vendor_queue *q,
			       struct vendor_event **event, struct error *err)
{
	struct vendor_kernel *kernel = copy_of(r->kernel, d, err);
	size_t at = 0;
	int32_t status = kernel ? 0 : OPENCL_INVALID_VALUE;

	for (uint32_t i = 0; i < r->n_arguments && !status; i++) {
		struct packed p;

		memcpy(&p, r->data + at, sizeof(p));
		at += sizeof(p);
		status = layer.next.clSetKernelArg(kernel, i, p.size,
						   p.is_local ? NULL : r->data + at);
		at += p.is_local ? 0 : (p.size + 7) / 8 * 8;
	}
	if (status)
		return status;
	return layer.next.clEnqueueNDRangeKernel(q, kernel, r->dimensions,
						 r->has_offset ? r->offset : NULL, r->global,
						 r->has_local ? r->local : NULL, 0, NULL, event);
}

static int32_t launch_transfer(struct record *r, struct vendor_queue *q,
			       struct vendor_event **event)
{
	const struct opencl_dispatch *n = &layer.next;

	switch (r->kind) {
	case RECORD_WRITE:
		return n->clEnqueueWriteBuffer(q, r->target, 0, r->target_offset, r->bytes, r->data,
					       0, NULL, event);
	case RECORD_WRITE_RECT: /* the source was packed */
		return n->clEnqueueWriteBufferRect(q, r->target, 0, r->offset, (size_t[3]){0, 0, 0},
						   r->global, r->pitch[0], r->pitch[1], 0, 0,
						   r->data, 0, NULL, event);
	case RECORD_WRITE_IMAGE:
		return n->clEnqueueWriteImage(q, r->target, 0, r->offset, r->global, r->pitch[0],
					      r->pitch[1], r->data, 0, NULL, event);
	case RECORD_COPY:
		return n->clEnqueueCopyBuffer(q, r->source, r->target, r->source_offset,
					      r->target_offset, r->bytes, 0, NULL, event);
	case RECORD_COPY_RECT:
		return n->clEnqueueCopyBufferRect(q, r->source, r->target, r->offset, r->local,
						  r->global, r->pitch[0], r->pitch[1], r->pitch[2],
						  r->pitch[3], 0, NULL, event);
	case RECORD_FILL:
		return n->clEnqueueFillBuffer(q, r->target, r->data, r->pattern, r->target_offset,
					      r->bytes, 0, NULL, event);
	case RECORD_COPY_IMAGE:
		return n->clEnqueueCopyImage(q, r->source, r->target, r->offset, r->local,
					     r->global, 0, NULL, event);
	case RECORD_FILL_IMAGE:
		return n->clEnqueueFillImage(q, r->target, r->data, r->offset, r->global, 0, NULL,
					     event);
	case RECORD_IMAGE_TO_BUFFER:
		return n->clEnqueueCopyImageToBuffer(q, r->source, r->target, r->offset, r->global,
						     r->target_offset, 0, NULL, event);
	case RECORD_BUFFER_TO_IMAGE:
		return n->clEnqueueCopyBufferToImage(q, r->source, r->target, r->source_offset,
						     r->offset, r->global, 0, NULL, event);
	case RECORD_DISPATCH:
		break;
	}
	return OPENCL_INVALID_OPERATION;
}

/* The context's replay queue has work: a drain must look at it. */
static int remember(struct context *c, struct device *d, struct vendor_event *event,
		    struct error *err)
{
	uint32_t i = device_index(c, d), k = 0;

	if (c->last[i])
		layer.next.clReleaseEvent(c->last[i]);
	layer.next.clRetainEvent(event);
	c->last[i] = event;
	while (k < d->n_replaying && d->replaying[k] != c)
		k++;
	if (k < d->n_replaying)
		return 0;
	if (k == OPENCL_DEVICES)
		return wait_for(event, "a replayed operation", err);
	d->replaying[d->n_replaying++] = c;
	return 0;
}

int record_launch(void *device, void *recorded, struct error *err)
{
	struct device *d = device;
	struct record *r = recorded;
	struct vendor_queue *q = replay_queue(r->context, d, err);
	struct vendor_event *event = NULL;
	struct error why = {0};
	int32_t status;

	if (!q)
		return RC_ERROR;
	status = r->kind == RECORD_DISPATCH ? launch_dispatch(r, d, q, &event, &why)
					    : launch_transfer(r, q, &event);
	if (status || !event)
		return error_set(err, RC_ERROR, "%s (OpenCL error %d)",
				 why.code ? why.message
					  : "an operation could not be launched again",
				 (int)status);
	if (r->event)
		layer.next.clReleaseEvent(r->event);
	r->event = event;
	return remember(r->context, d, event, err);
}

int record_times(void *device, void *recorded, uint64_t *begin_ns_out, uint64_t *end_ns_out,
		 struct error *err)
{
	struct record *r = recorded;

	(void)device;
	if (!r->event ||
	    layer.next.clGetEventProfilingInfo(r->event, OPENCL_PROFILING_COMMAND_START,
					       sizeof(*begin_ns_out), begin_ns_out, NULL) ||
	    layer.next.clGetEventProfilingInfo(r->event, OPENCL_PROFILING_COMMAND_END,
					       sizeof(*end_ns_out), end_ns_out, NULL))
		return error_set(err, RC_UNSUPPORTED, "the device tells no times");
	return 0;
}
