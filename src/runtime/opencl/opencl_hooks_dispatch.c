/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of the calls that launch kernels. */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

/* The memories that the arguments name. An eight-byte value that happens to equal a live handle
 * is taken for one: that saves too much, never too little. */
static void reach_of_arguments(struct kernel *k, struct queue *q, struct reach *r)
{
	for (uint32_t i = 0; i < k->n_arguments; i++) {
		const struct argument *a = &k->arguments[i];
		struct memory *m, *root;
		void *handle;

		if (!a->is_set || a->is_local || a->size != sizeof(handle))
			continue;
		memcpy(&handle, a->bytes, sizeof(handle));
		if (!handle)
			continue;
		m = track_find(handle, OBJECT_MEMORY);
		if (!m) {
			if (track_find(handle, OBJECT_QUEUE))
				r->why = "enqueues kernels by itself";
			continue;
		}
		/* Whatever qualifiers and flags say, and the whole of what a part belongs to: a
		 * kernel can write to all of it. */
		root = memory_root(m);
		reach_add(r, q->device, root, 0, root->size, RUNTIME_MAY_READ_WRITE);
	}
}

static void geometry(struct runtime_op *op, const struct kernel *k, uint32_t dimensions,
		     const size_t *global, const size_t *local)
{
	for (uint32_t i = 0; i < 3; i++) {
		size_t items = i < dimensions && global ? global[i] : 1;
		size_t group = i < dimensions && local ? local[i] : 1;

		/* Where the library chooses the groups, work-items are what is known. */
		op->block[i] = i < dimensions && !local ? 0 : (uint32_t)group;
		op->grid[i] = (uint32_t)(group ? (items + group - 1) / group : items);
	}
	for (uint32_t i = 0; i < k->n_arguments; i++)
		if (k->arguments[i].is_local)
			op->shared_bytes += (uint32_t)k->arguments[i].size;
}

static int32_t enqueue_kernel(struct vendor_queue *queue, struct vendor_kernel *kernel,
			      uint32_t dimensions, const size_t *offset, const size_t *global,
			      const size_t *local, uint32_t n_wait,
			      struct vendor_event *const *wait, struct vendor_event **event)
{
	struct queue *q = layer_is_on() ? track_find(queue, OBJECT_QUEUE) : NULL;
	struct kernel *k = q ? track_find(kernel, OBJECT_KERNEL) : NULL;
	struct runtime_op op = {.kind = RUNTIME_DISPATCH};
	struct command c = {.queue = q, .n_wait = n_wait, .wait = wait};
	struct reach r = {0};
	const char *why;
	int32_t status;

	if (q && !k)
		rules_apply("an unknown object", q->device);
	if (!q || !q->device || !k || dimensions < 1 || dimensions > 3)
		return layer.next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
							 local, n_wait, wait, event);
	op.kernel = k->name;
	geometry(&op, k, dimensions, global, local);
	reach_of_arguments(k, q, &r);
	why = kernel_why(k, q->device);
	if (!why)
		why = command_why(q, &r);
	if (!why) {
		op.recorded = record_dispatch(k, q, dimensions, offset, global, local);
		if (!op.recorded)
			why = "no other kernel object for it could be made";
	}
	command_begin(&c, &op, &r, why);
	status = layer.next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
						   command_n_wait(&c), command_wait(&c), event);
	command_end(&c, &op, &r, !status, event);
	return status;
}

static int32_t enqueue_task(struct vendor_queue *queue, struct vendor_kernel *kernel,
			    uint32_t n_wait, struct vendor_event *const *wait,
			    struct vendor_event **event)
{
	const size_t one = 1;

	if (!layer_is_on())
		return layer.next.clEnqueueTask(queue, kernel, n_wait, wait, event);
	/* Defined as exactly this. */
	return enqueue_kernel(queue, kernel, 1, NULL, &one, &one, n_wait, wait, event);
}

static int32_t enqueue_native(struct vendor_queue *queue, void (*function)(void *), void *data,
			      size_t size, uint32_t n, struct vendor_mem *const *memories,
			      const void **places, uint32_t n_wait,
			      struct vendor_event *const *wait, struct vendor_event **event)
{
	struct queue *q = layer_is_on() ? track_find(queue, OBJECT_QUEUE) : NULL;
	struct runtime_op op = {.kind = RUNTIME_DISPATCH, .kernel = "(native function)"};
	struct command c = {.queue = q, .n_wait = n_wait, .wait = wait};
	struct reach r = {0};
	int32_t status;

	if (!q || !q->device)
		return layer.next.clEnqueueNativeKernel(queue, function, data, size, n, memories,
							places, n_wait, wait, event);
	rules_apply("clEnqueueNativeKernel", q->device);
	command_begin(&c, &op, &r, "a function of the host (clEnqueueNativeKernel)");
	status = layer.next.clEnqueueNativeKernel(queue, function, data, size, n, memories, places,
						  command_n_wait(&c), command_wait(&c), event);
	command_end(&c, &op, &r, !status, event);
	return status;
}

void hooks_dispatch(struct opencl_dispatch *t)
{
	t->clEnqueueNDRangeKernel = enqueue_kernel;
	t->clEnqueueTask = enqueue_task;
	t->clEnqueueNativeKernel = enqueue_native;
}
