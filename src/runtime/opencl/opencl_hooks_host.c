/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of the calls by which the host waits, looks at what the device did, or changes it: they end
 * windows as opencl_rules.c says. And of events: user events, callbacks, barriers.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

static struct queue *ends(const char *call, struct vendor_queue *queue)
{
	struct queue *q = layer_is_on() ? track_find(queue, OBJECT_QUEUE) : NULL;

	if (q)
		rules_apply(call, q->device);
	return q;
}

/* A command that is not recorded is on the queue: a drain must look at it. */
static void went(struct queue *q, int32_t status)
{
	if (!q || status)
		return;
	atomic_store(&q->used, true);
	if (q->device)
		atomic_fetch_add(&q->device->enqueues, 1);
}

/* ---- waiting ---- */

static int32_t finish(struct vendor_queue *queue)
{
	ends("clFinish", queue);
	return layer.next.clFinish(queue);
}

static int32_t wait_for_events(uint32_t n, struct vendor_event *const *events)
{
	if (layer_is_on())
		rules_apply_context("clWaitForEvents", NULL);
	return layer.next.clWaitForEvents(n, events);
}

static int32_t get_event_info(struct vendor_event *e, uint32_t what, size_t size, void *value,
			      size_t *size_out)
{
	if (what == OPENCL_EVENT_COMMAND_EXECUTION_STATUS && layer_is_on())
		rules_apply_context("clGetEventInfo", NULL);
	return layer.next.clGetEventInfo(e, what, size, value, size_out);
}

static int32_t get_profiling_info(struct vendor_event *e, uint32_t what, size_t size, void *value,
				  size_t *size_out)
{
	if (layer_is_on())
		rules_apply_context("clGetEventProfilingInfo", NULL);
	return layer.next.clGetEventProfilingInfo(e, what, size, value, size_out);
}

/* ---- reading and mapping ---- */

static int32_t read_buffer(struct vendor_queue *queue, struct vendor_mem *m, uint32_t blocking,
			   size_t offset, size_t size, void *to, uint32_t n_wait,
			   struct vendor_event *const *wait, struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueReadBuffer", queue);
	int32_t status = layer.next.clEnqueueReadBuffer(queue, m, blocking, offset, size, to,
							n_wait, wait, event);

	went(q, status);
	return status;
}

static int32_t read_rect(struct vendor_queue *queue, struct vendor_mem *m, uint32_t blocking,
			 const size_t *origin, const size_t *to_origin, const size_t *region,
			 size_t row, size_t slice, size_t to_row, size_t to_slice, void *to,
			 uint32_t n_wait, struct vendor_event *const *wait,
			 struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueReadBufferRect", queue);
	int32_t status = layer.next.clEnqueueReadBufferRect(queue, m, blocking, origin, to_origin,
							    region, row, slice, to_row, to_slice,
							    to, n_wait, wait, event);

	went(q, status);
	return status;
}

static int32_t read_image(struct vendor_queue *queue, struct vendor_mem *m, uint32_t blocking,
			  const size_t *origin, const size_t *region, size_t row, size_t slice,
			  void *to, uint32_t n_wait, struct vendor_event *const *wait,
			  struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueReadImage", queue);
	int32_t status = layer.next.clEnqueueReadImage(queue, m, blocking, origin, region, row,
						       slice, to, n_wait, wait, event);

	went(q, status);
	return status;
}

static void count_map(struct vendor_mem *handle, bool mapped)
{
	struct memory *m = layer_is_on() ? track_find(handle, OBJECT_MEMORY) : NULL;
	struct memory *root = m ? memory_root(m) : NULL;

	if (root && mapped)
		atomic_fetch_add(&root->mapped, 1);
	else if (root && atomic_load(&root->mapped))
		atomic_fetch_sub(&root->mapped, 1);
}

static void *map_buffer(struct vendor_queue *queue, struct vendor_mem *m, uint32_t blocking,
			uint64_t flags, size_t offset, size_t size, uint32_t n_wait,
			struct vendor_event *const *wait, struct vendor_event **event,
			int32_t *status)
{
	struct queue *q = ends("clEnqueueMapBuffer", queue);
	void *at = layer.next.clEnqueueMapBuffer(queue, m, blocking, flags, offset, size, n_wait,
						 wait, event, status);

	went(q, !at);
	if (at)
		count_map(m, true);
	return at;
}

static void *map_image(struct vendor_queue *queue, struct vendor_mem *m, uint32_t blocking,
		       uint64_t flags, const size_t *origin, const size_t *region, size_t *row,
		       size_t *slice, uint32_t n_wait, struct vendor_event *const *wait,
		       struct vendor_event **event, int32_t *status)
{
	struct queue *q = ends("clEnqueueMapImage", queue);
	void *at = layer.next.clEnqueueMapImage(queue, m, blocking, flags, origin, region, row,
						slice, n_wait, wait, event, status);

	went(q, !at);
	if (at)
		count_map(m, true);
	return at;
}

static int32_t unmap(struct vendor_queue *queue, struct vendor_mem *m, void *at, uint32_t n_wait,
		     struct vendor_event *const *wait, struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueUnmapMemObject", queue);
	int32_t status = layer.next.clEnqueueUnmapMemObject(queue, m, at, n_wait, wait, event);

	went(q, status);
	if (!status)
		count_map(m, false);
	return status;
}

static int32_t migrate(struct vendor_queue *queue, uint32_t n, struct vendor_mem *const *memories,
		       uint64_t flags, uint32_t n_wait, struct vendor_event *const *wait,
		       struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueMigrateMemObjects", queue);
	int32_t status = layer.next.clEnqueueMigrateMemObjects(queue, n, memories, flags, n_wait,
							       wait, event);

	went(q, status);
	return status;
}

/* ---- order ---- */

static void mark(struct vendor_queue *queue, uint32_t n_wait, struct vendor_event *const *wait,
		 bool barrier, struct vendor_event *const *event, int32_t status)
{
	struct queue *q = layer_is_on() && !status ? track_find(queue, OBJECT_QUEUE) : NULL;

	went(q, status);
	if (q && q->device)
		order_mark(q, n_wait, wait, barrier, event ? *event : NULL);
}

static int32_t marker(struct vendor_queue *queue, struct vendor_event **event)
{
	int32_t status = layer.next.clEnqueueMarker(queue, event);

	mark(queue, 0, NULL, false, event, status);
	return status;
}

static int32_t marker_with(struct vendor_queue *queue, uint32_t n_wait,
			   struct vendor_event *const *wait, struct vendor_event **event)
{
	int32_t status = layer.next.clEnqueueMarkerWithWaitList(queue, n_wait, wait, event);

	mark(queue, n_wait, wait, false, event, status);
	return status;
}

static int32_t barrier(struct vendor_queue *queue)
{
	int32_t status = layer.next.clEnqueueBarrier(queue);

	mark(queue, 0, NULL, true, NULL, status);
	return status;
}

static int32_t barrier_with(struct vendor_queue *queue, uint32_t n_wait,
			    struct vendor_event *const *wait, struct vendor_event **event)
{
	int32_t status = layer.next.clEnqueueBarrierWithWaitList(queue, n_wait, wait, event);

	mark(queue, n_wait, wait, true, event, status);
	return status;
}

static int32_t queue_wait(struct vendor_queue *queue, uint32_t n, struct vendor_event *const *wait)
{
	int32_t status = layer.next.clEnqueueWaitForEvents(queue, n, wait);

	mark(queue, n, wait, true, NULL, status);
	return status;
}

static int32_t release_event(struct vendor_event *e)
{
	if (layer_is_on())
		order_forget_event(e);
	return layer.next.clReleaseEvent(e);
}

/* ---- user events and callbacks ---- */

static struct vendor_event *create_user_event(struct vendor_context *c, int32_t *status)
{
	struct vendor_event *e;

	if (!layer_is_on())
		return layer.next.clCreateUserEvent(c, status);
	/* From here on nothing is recorded; what is, ends now. */
	atomic_fetch_add(&layer.user_events, 1);
	rules_apply_context("clCreateUserEvent", NULL);
	e = layer.next.clCreateUserEvent(c, status);
	if (!e)
		atomic_fetch_sub(&layer.user_events, 1);
	return e;
}

static int32_t set_user_event_status(struct vendor_event *e, int32_t value)
{
	struct vendor_context *handle = NULL;
	struct context *c;
	int32_t status;

	/* What waits for it may be over, and its context gone, when the call returns. */
	if (value < 0 && layer_is_on() &&
	    !layer.next.clGetEventInfo(e, OPENCL_EVENT_CONTEXT, sizeof(handle), (void *)&handle,
				       NULL)) {
		c = track_find(handle, OBJECT_CONTEXT);
		if (c)
			c->failed_event = true;
	}
	status = layer.next.clSetUserEventStatus(e, value);
	if (!status && layer_is_on() && atomic_load(&layer.user_events))
		atomic_fetch_sub(&layer.user_events, 1);
	return status;
}

struct wrapped {
	opencl_event_notify *notify;
	void *data;
	bool counted;
};

static void called_back(struct vendor_event *e, int32_t status, void *data)
{
	struct wrapped *w = data;
	bool outer = in_callback;

	in_callback = true;
	w->notify(e, status, w->data);
	in_callback = outer;
	if (w->counted)
		atomic_fetch_sub(&layer.callbacks_due, 1);
	pool_put(w);
}

static int32_t set_event_callback(struct vendor_event *e, int32_t when, opencl_event_notify *notify,
				  void *data)
{
	struct wrapped *w = notify && layer_is_on() ? pool_get(sizeof(*w)) : NULL;
	struct runtime_op op = {.kind = RUNTIME_TRANSFER, .flags = RUNTIME_OP_REACH_EXACT};
	uint32_t type = OPENCL_COMMAND_USER;
	struct vendor_queue *handle = NULL;
	struct device *d;
	struct queue *q;
	int32_t status, state = 0;

	if (!w)
		return layer.next.clSetEventCallback(e, when, notify, data);
	/* A user event may never be set: nobody waits for its callbacks. */
	layer.next.clGetEventInfo(e, OPENCL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL);
	*w = (struct wrapped){notify, data, type != OPENCL_COMMAND_USER};
	/* Not while passes run: their drains would wait for it, and it for the engine. */
	layer.next.clGetEventInfo(e, OPENCL_EVENT_COMMAND_QUEUE, sizeof(handle), (void *)&handle,
				  NULL);
	q = handle ? track_find(handle, OBJECT_QUEUE) : NULL;
	layer.next.clGetEventInfo(e, OPENCL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state), &state,
				  NULL);
	/* Of what is over it is called at once, in this thread. */
	d = q && !in_callback && state > 0 ? q->device : NULL;
	if (d) {
		op.queue = q->number;
		op.queue_native = handle;
		if (atomic_load(&layer.user_events))
			op.flags |= RUNTIME_OP_NO_WAIT_BEFORE;
		replay_before(d->replay, &op);
	}
	/* Only now: what came before drains the device, perhaps, and must not wait for it. */
	if (w->counted)
		atomic_fetch_add(&layer.callbacks_due, 1);
	status = layer.next.clSetEventCallback(e, when, called_back, w);
	if (d)
		replay_after(d->replay, &op, !status);
	if (status) {
		if (w->counted)
			atomic_fetch_sub(&layer.callbacks_due, 1);
		pool_put(w);
	}
	return status;
}

/* ---- memory and work that is not followed ---- */

static int32_t svm_free(struct vendor_queue *queue, uint32_t n, void **at,
			void (*notify)(struct vendor_queue *, uint32_t, void **, void *),
			void *data, uint32_t n_wait, struct vendor_event *const *wait,
			struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueSVMFree", queue);
	int32_t status =
		layer.next.clEnqueueSVMFree(queue, n, at, notify, data, n_wait, wait, event);

	went(q, status);
	return status;
}

static int32_t svm_memcpy(struct vendor_queue *queue, uint32_t blocking, void *to, const void *from,
			  size_t size, uint32_t n_wait, struct vendor_event *const *wait,
			  struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueSVMMemcpy", queue);
	int32_t status =
		layer.next.clEnqueueSVMMemcpy(queue, blocking, to, from, size, n_wait, wait, event);

	went(q, status);
	return status;
}

static int32_t svm_fill(struct vendor_queue *queue, void *to, const void *pattern,
			size_t pattern_size, size_t size, uint32_t n_wait,
			struct vendor_event *const *wait, struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueSVMMemFill", queue);
	int32_t status = layer.next.clEnqueueSVMMemFill(queue, to, pattern, pattern_size, size,
							n_wait, wait, event);

	went(q, status);
	return status;
}

static int32_t svm_map(struct vendor_queue *queue, uint32_t blocking, uint64_t flags, void *at,
		       size_t size, uint32_t n_wait, struct vendor_event *const *wait,
		       struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueSVMMap", queue);
	int32_t status =
		layer.next.clEnqueueSVMMap(queue, blocking, flags, at, size, n_wait, wait, event);

	went(q, status);
	return status;
}

static int32_t svm_unmap(struct vendor_queue *queue, void *at, uint32_t n_wait,
			 struct vendor_event *const *wait, struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueSVMUnmap", queue);
	int32_t status = layer.next.clEnqueueSVMUnmap(queue, at, n_wait, wait, event);

	went(q, status);
	return status;
}

static int32_t svm_migrate(struct vendor_queue *queue, uint32_t n, const void **at,
			   const size_t *sizes, uint64_t flags, uint32_t n_wait,
			   struct vendor_event *const *wait, struct vendor_event **event)
{
	struct queue *q = ends("clEnqueueSVMMigrateMem", queue);
	int32_t status =
		layer.next.clEnqueueSVMMigrateMem(queue, n, at, sizes, flags, n_wait, wait, event);

	went(q, status);
	return status;
}

#define SHARED_OBJECTS(name, entry)                                                         \
	static int32_t name(struct vendor_queue *queue, uint32_t n,                         \
			    struct vendor_mem *const *memories, uint32_t n_wait,            \
			    struct vendor_event *const *wait, struct vendor_event **event)  \
	{                                                                                   \
		struct queue *q = ends(#entry, queue);                                      \
		int32_t status = layer.next.entry(queue, n, memories, n_wait, wait, event); \
                                                                                            \
		went(q, status);                                                            \
		return status;                                                              \
	}
SHARED_OBJECTS(acquire_gl, clEnqueueAcquireGLObjects)
SHARED_OBJECTS(release_gl, clEnqueueReleaseGLObjects)
SHARED_OBJECTS(acquire_egl, clEnqueueAcquireEGLObjectsKHR)
SHARED_OBJECTS(release_egl, clEnqueueReleaseEGLObjectsKHR)

/* From here on nothing is replayed. */
static void set_opaque(const char *why)
{
	rules_apply_context("an unknown object", NULL);
	atomic_store(&layer.opaque, why);
}

/* Interfaces of extensions by which kernels run, or reach memory, past the hooks. Asking for one
 * is taken for using it. */
static void note_extension(const char *name)
{
	static const struct {
		const char *part, *why;
	} list[] = {
		{"MemAllocINTEL", "the program uses unified shared memory"},
		{"clSetKernelArgMemPointer", "the program uses unified shared memory"},
		{"clSetKernelArgDevicePointer", "the program uses addresses of the device"},
		{"clSVMAllocARM", "the program uses shared virtual memory of ARM"},
		{"clSetKernelArgSVMPointerARM", "the program uses shared virtual memory of ARM"},
		{"clImportMemory", "the program imports memory"},
		{"clEnqueueCommandBuffer", "the program uses command buffers"},
		{"ExternalMemObjects", "the program uses external memory"},
	};

	for (size_t i = 0; name && i < sizeof(list) / sizeof(*list); i++)
		if (strstr(name, list[i].part))
			set_opaque(list[i].why);
}

static void *extension_address(const char *name)
{
	void *at = layer.next.clGetExtensionFunctionAddress(name);

	if (at && layer_is_on())
		note_extension(name);
	return at;
}

static void *extension_address_for(struct vendor_platform *p, const char *name)
{
	void *at = layer.next.clGetExtensionFunctionAddressForPlatform(p, name);

	if (at && layer_is_on())
		note_extension(name);
	return at;
}

/* Where kernels reach all memory of the process, a pointer in a buffer is enough, and nobody has to
 * be told of it. A program that does so asks first whether it may. */
static int32_t get_device_info(struct vendor_device *d, uint32_t what, size_t size, void *value,
			       size_t *size_out)
{
	int32_t status = layer.next.clGetDeviceInfo(d, what, size, value, size_out);
	uint64_t can = 0;

	if (status || what != OPENCL_DEVICE_SVM_CAPABILITIES || !value || !layer_is_on())
		return status;
	memcpy(&can, value, size < sizeof(can) ? size : sizeof(can));
	if (can & OPENCL_SVM_FINE_GRAIN_SYSTEM)
		set_opaque("the program may use shared virtual memory of the whole process");
	return status;
}

void hooks_host(struct opencl_dispatch *t)
{
	t->clGetDeviceInfo = get_device_info;
	t->clFinish = finish;
	t->clWaitForEvents = wait_for_events;
	t->clGetEventInfo = get_event_info;
	t->clGetEventProfilingInfo = get_profiling_info;
	t->clEnqueueReadBuffer = read_buffer;
	t->clEnqueueReadBufferRect = read_rect;
	t->clEnqueueReadImage = read_image;
	t->clEnqueueMapBuffer = map_buffer;
	t->clEnqueueMapImage = map_image;
	t->clEnqueueUnmapMemObject = unmap;
	t->clEnqueueMigrateMemObjects = migrate;
	t->clEnqueueMarker = marker;
	t->clEnqueueMarkerWithWaitList = marker_with;
	t->clEnqueueBarrier = barrier;
	t->clEnqueueBarrierWithWaitList = barrier_with;
	t->clEnqueueWaitForEvents = queue_wait;
	t->clReleaseEvent = release_event;
	t->clCreateUserEvent = create_user_event;
	t->clSetUserEventStatus = set_user_event_status;
	t->clSetEventCallback = set_event_callback;
	t->clEnqueueSVMFree = svm_free;
	t->clEnqueueSVMMemcpy = svm_memcpy;
	t->clEnqueueSVMMemFill = svm_fill;
	t->clEnqueueSVMMap = svm_map;
	t->clEnqueueSVMUnmap = svm_unmap;
	t->clEnqueueSVMMigrateMem = svm_migrate;
	t->clEnqueueAcquireGLObjects = acquire_gl;
	t->clEnqueueReleaseGLObjects = release_gl;
	t->clEnqueueAcquireEGLObjectsKHR = acquire_egl;
	t->clEnqueueReleaseEGLObjectsKHR = release_egl;
	t->clGetExtensionFunctionAddress = extension_address;
	t->clGetExtensionFunctionAddressForPlatform = extension_address_for;
}
