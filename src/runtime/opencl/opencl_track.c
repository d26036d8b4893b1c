/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the layer knows of the program's objects: contexts, queues, memory objects and kernels, by
 * handle. The program's own references are counted here, because what the library reports includes
 * those of commands in flight.
 */
#include "runtime/opencl/opencl_internal.h"

#include <string.h>

#define BUCKETS 16384u

struct layer layer = {.table = PTHREAD_MUTEX_INITIALIZER};
static struct object *buckets[BUCKETS];

static struct object **bucket_of(const void *handle)
{
	return &buckets[((uintptr_t)handle >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 50];
}

static struct object *find_locked(const void *handle, enum object_kind kind)
{
	struct object *o = *bucket_of(handle);

	while (o && (o->handle != handle || o->kind != kind))
		o = o->next;
	return o;
}

void track_lock(void)
{
	pthread_mutex_lock(&layer.table);
}

void track_unlock(void)
{
	pthread_mutex_unlock(&layer.table);
}

void *track_find(const void *handle, enum object_kind kind)
{
	struct object *o;

	track_lock();
	o = find_locked(handle, kind);
	track_unlock();
	return o;
}

void track_add(void *object, void *handle, enum object_kind kind)
{
	struct object *o = object, **bucket = bucket_of(handle);

	track_lock();
	o->handle = handle;
	o->kind = kind;
	o->refs = 1;
	o->next = *bucket;
	*bucket = o;
	track_unlock();
}

void track_retain(const void *handle, enum object_kind kind)
{
	struct object *o;

	track_lock();
	o = find_locked(handle, kind);
	if (o)
		o->refs++;
	track_unlock();
}

bool track_release(const void *handle, enum object_kind kind)
{
	struct object *o;
	bool last;

	track_lock();
	o = find_locked(handle, kind);
	last = o && o->refs && !--o->refs;
	track_unlock();
	return last;
}

void track_remove(void *object)
{
	struct object *o = object, **at;

	track_lock();
	for (at = bucket_of(o->handle); *at; at = &(*at)->next)
		if (*at == o) {
			*at = o->next;
			break;
		}
	track_unlock();
}

/* ---- devices ---- */

static struct vendor_device *root_device(struct vendor_device *handle)
{
	struct vendor_device *parent = NULL;

	/* A part of a device does its work with the device's means. */
	for (int depth = 0; depth < 16; depth++) {
		parent = NULL;
		if (layer.next.clGetDeviceInfo(handle, OPENCL_DEVICE_PARENT_DEVICE, sizeof(parent),
					       (void *)&parent, NULL) ||
		    !parent)
			break;
		handle = parent;
	}
	return handle;
}

/* Called by one thread at a time (context_add). */
static struct device *device_add(struct vendor_device *handle)
{
	struct device *d = &layer.devices[layer.n_devices];
	struct vendor_platform *platform = NULL;
	const struct source *source = NULL;
	struct runtime_opencl_device about;
	const char *why = "nothing counts on this OpenCL device";
	struct error err = {0};
	uint64_t type = 0;

	if (layer.n_devices == OPENCL_DEVICES)
		return NULL;
	d->handle = handle;
	d->number = layer.n_devices;
	pthread_mutex_init(&d->order, NULL);
	d->epoch = pool_get(OPENCL_EPOCH * sizeof(*d->epoch));
	if (!d->epoch)
		return NULL;
	layer.next.clGetDeviceInfo(handle, OPENCL_DEVICE_TYPE, sizeof(type), &type, NULL);
	layer.next.clGetDeviceInfo(handle, OPENCL_DEVICE_NAME, sizeof(d->name) - 1, d->name, NULL);
	layer.next.clGetDeviceInfo(handle, OPENCL_DEVICE_PLATFORM, sizeof(platform),
				   (void *)&platform, NULL);
	if (platform)
		layer.next.clGetPlatformInfo(platform, OPENCL_PLATFORM_NAME,
					     sizeof(d->platform) - 1, d->platform, NULL);
	d->is_cpu = (type & OPENCL_DEVICE_TYPE_CPU) != 0;
	/* PoCL runs kernels of a CPU device on the very memory that a map of the buffer returns,
	 * and never moves it. */
	d->is_direct = d->is_cpu && !strcmp(d->platform, OPENCL_POCL) && !layer.options.by_commands;
	d->threads = (struct runtime_threads){sizeof(d->threads), d, threads_list};
	about = (struct runtime_opencl_device){d->number, d->name, d->platform, d->is_cpu};
	if (layer.options.choose)
		source = layer.options.choose(layer.options.data, &about, &why);
	if (replay_device_add(layer.engine, layer.callbacks, d, source,
			      d->is_cpu ? (void *)&d->threads : (void *)handle, d->number, why,
			      &d->replay, &err))
		d->replay = NULL;
	layer.n_devices++;
	return d->replay ? d : NULL;
}

struct device *device_of(struct vendor_device *handle)
{
	struct vendor_device *root = root_device(handle);

	for (uint32_t i = 0; i < layer.n_devices; i++)
		if (layer.devices[i].handle == root)
			return layer.devices[i].replay ? &layer.devices[i] : NULL;
	return NULL;
}

/* ---- contexts ---- */

struct context *context_add(struct vendor_context *handle)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	struct vendor_device *list[64];
	struct context *c = pool_get(sizeof(*c));
	size_t bytes = 0;

	if (!c)
		return NULL;
	if (layer.next.clGetContextInfo(handle, OPENCL_CONTEXT_DEVICES, sizeof(list), (void *)list,
					&bytes))
		bytes = 0;
	/* Only against another thread that makes a context: devices are looked up without it, and
	 * only by those who have a context. */
	pthread_mutex_lock(&one);
	for (size_t i = 0; i < bytes / sizeof(*list); i++) {
		struct device *d = device_of(list[i]);
		uint32_t k = 0;

		if (!d)
			d = device_add(root_device(list[i]));
		while (d && k < c->n_devices && c->devices[k] != d)
			k++;
		if (d && k == c->n_devices)
			c->devices[c->n_devices++] = d;
	}
	pthread_mutex_unlock(&one);
	track_add(c, handle, OBJECT_CONTEXT);
	return c;
}

uint32_t device_index(const struct context *c, const struct device *d)
{
	for (uint32_t i = 0; i < c->n_devices; i++)
		if (c->devices[i] == d)
			return i;
	return UINT32_MAX;
}

/* Objects of a context may outlive the program's last reference to it; our own queues go when the
 * last of them has gone. */
static void context_check(struct context *c)
{
	bool unused;

	track_lock();
	unused = !c->object.refs && !c->children;
	track_unlock();
	if (!unused)
		return;
	track_remove(c);
	for (uint32_t i = 0; i < c->n_devices; i++) {
		if (c->last[i])
			layer.next.clReleaseEvent(c->last[i]);
		if (c->replays[i])
			layer.next.clReleaseCommandQueue(c->replays[i]);
	}
	pool_put(c);
}

void context_drop_child(struct context *c)
{
	track_lock();
	if (c->children)
		c->children--;
	track_unlock();
	context_check(c);
}

static void context_adopt(struct context *c)
{
	track_lock();
	c->children++;
	track_unlock();
}

/* ---- queues ---- */

struct queue *queue_add(struct vendor_context *context, struct vendor_device *device,
			struct vendor_queue *handle, uint64_t properties)
{
	struct context *c = track_find(context, OBJECT_CONTEXT);
	struct queue *q;

	if (!c)
		return NULL;
	if (properties & OPENCL_QUEUE_ON_DEVICE)
		c->device_queue = true;
	q = pool_get(sizeof(*q));
	if (!q)
		return NULL;
	q->context = c;
	q->device = device_of(device);
	q->number = atomic_fetch_add(&layer.queue_numbers, 1);
	q->out_of_order = (properties & OPENCL_QUEUE_OUT_OF_ORDER) != 0;
	context_adopt(c);
	if (q->device) {
		track_lock();
		q->next = q->device->queues;
		q->device->queues = q;
		track_unlock();
	}
	track_add(q, handle, OBJECT_QUEUE);
	return q;
}

/* ---- memory ---- */

struct memory *memory_root(struct memory *m)
{
	while (m->parent)
		m = m->parent;
	return m;
}

static size_t image_number(struct vendor_mem *handle, uint32_t what)
{
	size_t n = 0;

	layer.next.clGetImageInfo(handle, what, sizeof(n), &n, NULL);
	return n;
}

/* Fills the box of an image; returns why it cannot be saved, or NULL. */
static const char *measure_image(struct memory *m, struct vendor_mem *handle)
{
	uint32_t levels = 0, samples = 0;
	size_t layers = image_number(handle, OPENCL_IMAGE_ARRAY_SIZE);
	size_t depth = image_number(handle, OPENCL_IMAGE_DEPTH);

	layer.next.clGetImageInfo(handle, OPENCL_IMAGE_NUM_MIP_LEVELS, sizeof(levels), &levels,
				  NULL);
	layer.next.clGetImageInfo(handle, OPENCL_IMAGE_NUM_SAMPLES, sizeof(samples), &samples,
				  NULL);
	m->element = image_number(handle, OPENCL_IMAGE_ELEMENT_SIZE);
	m->region[0] = image_number(handle, OPENCL_IMAGE_WIDTH);
	m->region[1] = image_number(handle, OPENCL_IMAGE_HEIGHT);
	m->region[2] = 1;
	if (m->type == OPENCL_MEM_OBJECT_IMAGE1D_ARRAY)
		m->region[1] = layers;
	else if (m->type == OPENCL_MEM_OBJECT_IMAGE2D_ARRAY)
		m->region[2] = layers;
	else if (m->type == OPENCL_MEM_OBJECT_IMAGE3D)
		m->region[2] = depth;
	if (!m->region[1])
		m->region[1] = 1;
	if (!m->region[2])
		m->region[2] = 1;
	m->size = m->element * m->region[0] * m->region[1] * m->region[2];
	if (levels > 1)
		return "reaches an image with mip levels";
	if (samples > 1)
		return "reaches an image with several samples";
	if (m->limited)
		return "reaches an image that the host may not access";
	return m->size ? NULL : "reaches an image of unknown size";
}

struct memory *memory_add(struct context *c, struct vendor_mem *handle, const char *why)
{
	struct vendor_mem *parent = NULL;
	struct memory *m = c ? pool_get(sizeof(*m)) : NULL;
	struct runtime_memory about = {0};

	if (!m)
		return NULL;
	m->context = c;
	layer.next.clGetMemObjectInfo(handle, OPENCL_MEM_TYPE, sizeof(m->type), &m->type, NULL);
	layer.next.clGetMemObjectInfo(handle, OPENCL_MEM_FLAGS, sizeof(m->flags), &m->flags, NULL);
	layer.next.clGetMemObjectInfo(handle, OPENCL_MEM_SIZE, sizeof(m->size), &m->size, NULL);
	layer.next.clGetMemObjectInfo(handle, OPENCL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent),
				      (void *)&parent, NULL);
	if (parent) {
		m->parent = track_find(parent, OBJECT_MEMORY);
		if (m->type == OPENCL_MEM_OBJECT_BUFFER)
			layer.next.clGetMemObjectInfo(handle, OPENCL_MEM_OFFSET, sizeof(m->offset),
						      &m->offset, NULL);
		else
			measure_image(m, handle);
	}
	m->limited = (m->flags & (OPENCL_MEM_HOST_NO_ACCESS | OPENCL_MEM_HOST_READ_ONLY |
				  OPENCL_MEM_HOST_WRITE_ONLY)) != 0;
	if (m->parent) {
		track_lock();
		m->parent->children++;
		track_unlock();
	} else {
		if (!why && parent)
			why = "reaches a part of an unknown memory object";
		if (!why && m->type == OPENCL_MEM_OBJECT_PIPE)
			why = "reaches a pipe";
		if (!why && m->type != OPENCL_MEM_OBJECT_BUFFER)
			why = measure_image(m, handle);
		about.size = m->size;
		about.data = m;
		about.flags = why ? RUNTIME_MEMORY_UNSAVABLE : 0;
		about.why = why;
		/* Handles are addresses of the library, not of memory: any number that stays
		 * unique serves. */
		about.address = atomic_fetch_add(&layer.addresses, 1) + 1;
		for (uint32_t i = 0; i < c->n_devices; i++)
			m->replay[i] = replay_memory_add(c->devices[i]->replay, &about);
	}
	context_adopt(c);
	track_add(m, handle, OBJECT_MEMORY);
	return m;
}

/* The program gave up its last reference: out of the table, and with it whatever of it only others
 * kept. */
void memory_forget(struct memory *m)
{
	while (m) {
		struct memory *parent = m->parent;
		struct context *c = m->context;
		bool unused;

		track_lock();
		unused = !m->object.refs && !m->children;
		track_unlock();
		if (!unused)
			return;
		track_remove(m);
		for (uint32_t i = 0; i < c->n_devices; i++)
			if (m->replay[i])
				replay_memory_remove(c->devices[i]->replay, m->replay[i]);
		pool_put(m);
		context_drop_child(c);
		if (parent) {
			track_lock();
			parent->children--;
			track_unlock();
		}
		m = parent;
	}
}

/* ---- kernels ---- */

struct kernel *kernel_add(struct vendor_kernel *handle)
{
	struct vendor_context *context = NULL;
	struct kernel *k = pool_get(sizeof(*k));
	size_t length = 0;

	if (!k)
		return NULL;
	layer.next.clGetKernelInfo(handle, OPENCL_KERNEL_CONTEXT, sizeof(context), (void *)&context,
				   NULL);
	layer.next.clGetKernelInfo(handle, OPENCL_KERNEL_PROGRAM, sizeof(k->program),
				   (void *)&k->program, NULL);
	layer.next.clGetKernelInfo(handle, OPENCL_KERNEL_NUM_ARGS, sizeof(k->n_arguments),
				   &k->n_arguments, NULL);
	layer.next.clGetKernelInfo(handle, OPENCL_KERNEL_FUNCTION_NAME, 0, NULL, &length);
	k->context = track_find(context, OBJECT_CONTEXT);
	k->name = pool_get(length + 1);
	k->arguments = pool_get((size_t)(k->n_arguments + 1) * sizeof(*k->arguments));
	k->users = 1;
	if (!k->context || !k->name || !k->arguments ||
	    layer.next.clGetKernelInfo(handle, OPENCL_KERNEL_FUNCTION_NAME, length, k->name,
				       NULL)) {
		pool_put(k->name);
		pool_put(k->arguments);
		pool_put(k);
		return NULL;
	}
	context_adopt(k->context);
	track_add(k, handle, OBJECT_KERNEL);
	return k;
}

void kernel_leave(struct kernel *k)
{
	struct kernel_copy *copy, *next;
	struct context *c = k->context;
	bool unused;

	track_lock();
	unused = !--k->users;
	track_unlock();
	if (!unused)
		return;
	for (copy = k->copies; copy; copy = next) {
		next = copy->next;
		layer.next.clReleaseKernel(copy->handle);
		pool_put(copy);
	}
	for (uint32_t i = 0; i < k->n_arguments; i++)
		pool_put(k->arguments[i].bytes);
	pool_put(k->arguments);
	pool_put(k->name);
	pool_put(k);
	context_drop_child(c);
}
