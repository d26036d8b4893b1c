/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of the calls that make, keep and give up contexts, queues and memory objects. */
#include "runtime/opencl/opencl_internal.h"

/* ---- devices and contexts ---- */

static int32_t get_device_ids(struct vendor_platform *platform, uint64_t type, uint32_t n,
			      struct vendor_device **devices, uint32_t *n_out)
{
	struct thread_watch *w = layer_is_on() ? threads_watch() : NULL;
	int32_t status = layer.next.clGetDeviceIDs(platform, type, n, devices, n_out);

	threads_watched(w);
	return status;
}

static struct vendor_context *create_context(const intptr_t *properties, uint32_t n,
					     struct vendor_device *const *devices,
					     opencl_context_notify *notify, void *data,
					     int32_t *status)
{
	struct thread_watch *w = layer_is_on() ? threads_watch() : NULL;
	struct vendor_context *c =
		layer.next.clCreateContext(properties, n, devices, notify, data, status);

	threads_watched(w);
	if (c && layer_is_on())
		context_add(c);
	return c;
}

static struct vendor_context *create_context_from_type(const intptr_t *properties, uint64_t type,
						       opencl_context_notify *notify, void *data,
						       int32_t *status)
{
	struct thread_watch *w = layer_is_on() ? threads_watch() : NULL;
	struct vendor_context *c =
		layer.next.clCreateContextFromType(properties, type, notify, data, status);

	threads_watched(w);
	if (c && layer_is_on())
		context_add(c);
	return c;
}

static int32_t retain_context(struct vendor_context *c)
{
	int32_t status = layer.next.clRetainContext(c);

	if (!status && layer_is_on())
		track_retain(c, OBJECT_CONTEXT);
	return status;
}

static int32_t release_context(struct vendor_context *handle)
{
	struct context *c = layer_is_on() ? track_find(handle, OBJECT_CONTEXT) : NULL;

	if (c && track_release(handle, OBJECT_CONTEXT)) {
		rules_apply_context("clReleaseContext", c);
		/* A child that is never there: checks whether the context is used. */
		track_lock();
		c->children++;
		track_unlock();
		context_drop_child(c);
	}
	return layer.next.clReleaseContext(handle);
}

/* ---- queues ---- */

static struct vendor_queue *create_queue(struct vendor_context *c, struct vendor_device *d,
					 uint64_t properties, int32_t *status)
{
	struct thread_watch *w = layer_is_on() ? threads_watch() : NULL;
	struct vendor_queue *q = layer.next.clCreateCommandQueue(c, d, properties, status);

	threads_watched(w);
	if (q && layer_is_on())
		queue_add(c, d, q, properties);
	return q;
}

static struct vendor_queue *create_queue_with(struct vendor_context *c, struct vendor_device *d,
					      const uint64_t *properties, int32_t *status)
{
	struct thread_watch *w = layer_is_on() ? threads_watch() : NULL;
	struct vendor_queue *q =
		layer.next.clCreateCommandQueueWithProperties(c, d, properties, status);
	uint64_t bits = 0;

	threads_watched(w);
	for (; q && properties && *properties; properties += 2)
		if (*properties == OPENCL_QUEUE_PROPERTIES)
			bits = properties[1];
	if (q && layer_is_on())
		queue_add(c, d, q, bits);
	return q;
}

static int32_t retain_queue(struct vendor_queue *q)
{
	int32_t status = layer.next.clRetainCommandQueue(q);

	if (!status && layer_is_on())
		track_retain(q, OBJECT_QUEUE);
	return status;
}

static int32_t release_queue(struct vendor_queue *handle)
{
	struct queue *q = layer_is_on() ? track_find(handle, OBJECT_QUEUE) : NULL;
	struct queue **at;
	bool busy;

	if (!q || !track_release(handle, OBJECT_QUEUE))
		return layer.next.clReleaseCommandQueue(handle);
	rules_apply("clReleaseCommandQueue", q->device);
	track_remove(q);
	track_lock();
	for (at = q->device ? &q->device->queues : NULL; at && *at; at = &(*at)->next)
		if (*at == q) {
			*at = q->next;
			break;
		}
	busy = q->busy != 0;
	q->dead = true;
	track_unlock();
	if (busy) /* another thread waits for it, and releases it then */
		return OPENCL_SUCCESS;
	if (q->device)
		order_forget(q->device);
	context_drop_child(q->context);
	pool_put(q);
	return layer.next.clReleaseCommandQueue(handle);
}

/* ---- memory ---- */

static struct vendor_mem *made(struct vendor_context *c, struct vendor_mem *m, const char *why)
{
	if (m && layer_is_on())
		memory_add(track_find(c, OBJECT_CONTEXT), m, why);
	return m;
}

static struct vendor_mem *create_buffer(struct vendor_context *c, uint64_t flags, size_t size,
					void *host, int32_t *status)
{
	return made(c, layer.next.clCreateBuffer(c, flags, size, host, status), NULL);
}

static struct vendor_mem *create_buffer_with(struct vendor_context *c, const uint64_t *properties,
					     uint64_t flags, size_t size, void *host,
					     int32_t *status)
{
	struct vendor_mem *m =
		layer.next.clCreateBufferWithProperties(c, properties, flags, size, host, status);

	return made(c, m,
		    properties && *properties ? "reaches imported or otherwise special memory"
					      : NULL);
}

static struct vendor_mem *create_sub_buffer(struct vendor_mem *parent, uint64_t flags,
					    uint32_t type, const void *info, int32_t *status)
{
	struct vendor_mem *m = layer.next.clCreateSubBuffer(parent, flags, type, info, status);
	struct memory *p = layer_is_on() ? track_find(parent, OBJECT_MEMORY) : NULL;

	if (m && p)
		memory_add(p->context, m, NULL);
	return m;
}

static struct vendor_mem *create_image(struct vendor_context *c, uint64_t flags,
				       const struct opencl_image_format *format,
				       const struct opencl_image_desc *desc, void *host,
				       int32_t *status)
{
	return made(c, layer.next.clCreateImage(c, flags, format, desc, host, status), NULL);
}

static struct vendor_mem *create_image_with(struct vendor_context *c, const uint64_t *properties,
					    uint64_t flags,
					    const struct opencl_image_format *format,
					    const struct opencl_image_desc *desc, void *host,
					    int32_t *status)
{
	struct vendor_mem *m = layer.next.clCreateImageWithProperties(c, properties, flags, format,
								      desc, host, status);

	return made(c, m,
		    properties && *properties ? "reaches imported or otherwise special memory"
					      : NULL);
}

static struct vendor_mem *create_image_2d(struct vendor_context *c, uint64_t flags,
					  const struct opencl_image_format *format, size_t width,
					  size_t height, size_t pitch, void *host, int32_t *status)
{
	return made(
		c, layer.next.clCreateImage2D(c, flags, format, width, height, pitch, host, status),
		NULL);
}

static struct vendor_mem *create_image_3d(struct vendor_context *c, uint64_t flags,
					  const struct opencl_image_format *format, size_t width,
					  size_t height, size_t depth, size_t row, size_t slice,
					  void *host, int32_t *status)
{
	return made(c,
		    layer.next.clCreateImage3D(c, flags, format, width, height, depth, row, slice,
					       host, status),
		    NULL);
}

static struct vendor_mem *create_pipe(struct vendor_context *c, uint64_t flags, uint32_t packet,
				      uint32_t n, const intptr_t *properties, int32_t *status)
{
	return made(c, layer.next.clCreatePipe(c, flags, packet, n, properties, status),
		    "reaches a pipe");
}

static const char *const from_gl = "reaches memory shared with OpenGL";

static struct vendor_mem *from_gl_buffer(struct vendor_context *c, uint64_t flags, uint32_t name,
					 int32_t *status)
{
	return made(c, layer.next.clCreateFromGLBuffer(c, flags, name, status), from_gl);
}

static struct vendor_mem *from_gl_texture(struct vendor_context *c, uint64_t flags, uint32_t target,
					  int32_t level, uint32_t name, int32_t *status)
{
	return made(c, layer.next.clCreateFromGLTexture(c, flags, target, level, name, status),
		    from_gl);
}

static struct vendor_mem *from_gl_texture_2d(struct vendor_context *c, uint64_t flags,
					     uint32_t target, int32_t level, uint32_t name,
					     int32_t *status)
{
	return made(c, layer.next.clCreateFromGLTexture2D(c, flags, target, level, name, status),
		    from_gl);
}

static struct vendor_mem *from_gl_texture_3d(struct vendor_context *c, uint64_t flags,
					     uint32_t target, int32_t level, uint32_t name,
					     int32_t *status)
{
	return made(c, layer.next.clCreateFromGLTexture3D(c, flags, target, level, name, status),
		    from_gl);
}

static struct vendor_mem *from_gl_renderbuffer(struct vendor_context *c, uint64_t flags,
					       uint32_t name, int32_t *status)
{
	return made(c, layer.next.clCreateFromGLRenderbuffer(c, flags, name, status), from_gl);
}

static struct vendor_mem *from_egl_image(struct vendor_context *c, void *display, void *image,
					 uint64_t flags, const intptr_t *properties,
					 int32_t *status)
{
	struct vendor_mem *m =
		layer.next.clCreateFromEGLImageKHR(c, display, image, flags, properties, status);

	return made(c, m, "reaches memory shared with EGL");
}

static int32_t retain_memory(struct vendor_mem *m)
{
	int32_t status = layer.next.clRetainMemObject(m);

	if (!status && layer_is_on())
		track_retain(m, OBJECT_MEMORY);
	return status;
}

static int32_t release_memory(struct vendor_mem *handle)
{
	struct memory *m = layer_is_on() ? track_find(handle, OBJECT_MEMORY) : NULL;

	if (m && track_release(handle, OBJECT_MEMORY)) {
		rules_apply_context("clReleaseMemObject", m->context);
		memory_forget(m);
	}
	return layer.next.clReleaseMemObject(handle);
}

static int32_t release_sampler(struct vendor_sampler *s)
{
	/* A recorded dispatch may have it as an argument. */
	if (layer_is_on())
		rules_apply_context("clReleaseSampler", NULL);
	return layer.next.clReleaseSampler(s);
}

void hooks_objects(struct opencl_dispatch *t)
{
	t->clGetDeviceIDs = get_device_ids;
	t->clCreateContext = create_context;
	t->clCreateContextFromType = create_context_from_type;
	t->clRetainContext = retain_context;
	t->clReleaseContext = release_context;
	t->clCreateCommandQueue = create_queue;
	t->clCreateCommandQueueWithProperties = create_queue_with;
	t->clRetainCommandQueue = retain_queue;
	t->clReleaseCommandQueue = release_queue;
	t->clCreateBuffer = create_buffer;
	t->clCreateBufferWithProperties = create_buffer_with;
	t->clCreateSubBuffer = create_sub_buffer;
	t->clCreateImage = create_image;
	t->clCreateImageWithProperties = create_image_with;
	t->clCreateImage2D = create_image_2d;
	t->clCreateImage3D = create_image_3d;
	t->clCreatePipe = create_pipe;
	t->clCreateFromGLBuffer = from_gl_buffer;
	t->clCreateFromGLTexture = from_gl_texture;
	t->clCreateFromGLTexture2D = from_gl_texture_2d;
	t->clCreateFromGLTexture3D = from_gl_texture_3d;
	t->clCreateFromGLRenderbuffer = from_gl_renderbuffer;
	t->clCreateFromEGLImageKHR = from_egl_image;
	t->clRetainMemObject = retain_memory;
	t->clReleaseMemObject = release_memory;
	t->clReleaseSampler = release_sampler;
}
