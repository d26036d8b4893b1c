/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, surfaces, textures and copies in boxes: see arrays.h. */
#include "arrays.h"

#include "driver.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS 8

struct CUarray_st {
	struct CUctx_st *context;
	struct cu_array_3d d;
	size_t element;
	cu_ptr storage;
	bool gone;
};
struct mipmap {
	unsigned n;
	bool foreign;
	struct CUarray_st levels[LEVELS];
};
/* Surfaces and textures; numbers from one on, as a device's slots are. */
struct object {
	struct CUctx_st *context;
	struct CUarray_st *array; /* NULL: it was destroyed */
	bool surface;
};
static struct object objects[64];
static unsigned n_objects;

static size_t at_least_one(size_t n)
{
	return n ? n : 1;
}

static size_t elements(const struct CUarray_st *a)
{
	return a->d.width * at_least_one(a->d.height) * at_least_one(a->d.depth);
}

static size_t element_size(const struct cu_array_3d *d)
{
	size_t channel = d->format == CU_FORMAT_U8              ? 1
			 : d->format == CU_FORMAT_U16           ? 2
			 : d->format == CU_FORMAT_U32           ? 4
			 : d->format == CU_FORMAT_FLOAT         ? 4
			 : d->format == CU_FORMAT_UNORM16X1 + 1 ? 2
								: 0;

	return d->channels == 1 || d->channels == 2 || d->channels == 4 ? channel * d->channels : 0;
}

static cu_result array_init(struct CUarray_st *a, const struct cu_array_3d *d)
{
	*a = (struct CUarray_st){.context = context_current(), .d = *d, .element = element_size(d)};
	/* Formats of video have a size nobody here needs to know. */
	if (!d->width || (!a->element && d->format != 0xb0))
		return CU_INVALID_VALUE;
	a->storage = gpu_allocate(elements(a) * (a->element ? a->element : 2), 512);
	return a->storage ? CU_OK : CU_OUT_OF_MEMORY;
}

static cu_result array_create(struct CUarray_st **out, const struct cu_array_3d *d)
{
	struct CUarray_st *a = calloc(1, sizeof(*a));
	cu_result result;

	if (!a)
		abort();
	result = array_init(a, d);
	if (result)
		free(a);
	else
		*out = a;
	return result;
}

static bool is_alive(const struct CUarray_st *a)
{
	return a && !a->gone && a->context == context_current();
}

/* The record is kept: whoever uses it later is found out. */
static void array_end(struct CUarray_st *a)
{
	gpu_context_wait(context_current());
	gpu_memory_remove(a->storage);
	a->gone = true;
}

cu_result cuArrayCreate_v2(struct CUarray_st **array, const struct cu_array_2d *description)
{
	struct {
		struct CUarray_st **array;
		const struct cu_array_2d *description;
	} p = {array, description};
	struct cu_array_3d d = {.width = description->width,
				.height = description->height,
				.format = description->format,
				.channels = description->channels};

	BEGIN(cuArrayCreate_v2);
	END(array_create(array, &d));
}

cu_result cuArray3DCreate_v2(struct CUarray_st **array, const struct cu_array_3d *description)
{
	struct {
		struct CUarray_st **array;
		const struct cu_array_3d *description;
	} p = {array, description};

	BEGIN(cuArray3DCreate_v2);
	END(array_create(array, description));
}

cu_result cuArrayDestroy(struct CUarray_st *array)
{
	struct {
		struct CUarray_st *array;
	} p = {array};

	BEGIN(cuArrayDestroy);
	if (!is_alive(array))
		END(ERROR_INVALID_HANDLE);
	array_end(array);
	END(CU_OK);
}

cu_result cuArray3DGetDescriptor_v2(struct cu_array_3d *description, struct CUarray_st *array)
{
	struct {
		struct cu_array_3d *description;
		struct CUarray_st *array;
	} p = {description, array};

	BEGIN(cuArray3DGetDescriptor_v2);
	if (!is_alive(array))
		END(ERROR_INVALID_HANDLE);
	*description = array->d;
	END(CU_OK);
}

cu_result standin_array_descriptor(struct cu_array_3d *description, struct CUarray_st *array)
{
	return cuArray3DGetDescriptor_v2(description, array);
}

static size_t halved(size_t n, unsigned times)
{
	return n ? at_least_one(n >> times) : 0;
}

static cu_result mipmap_create(struct mipmap **out, const struct cu_array_3d *d, unsigned n)
{
	struct mipmap *m = calloc(1, sizeof(*m));
	cu_result result = n && n <= LEVELS ? CU_OK : CU_INVALID_VALUE;

	if (!m)
		abort();
	for (unsigned i = 0; i < n && !result; i++) {
		struct cu_array_3d level = *d;

		level.width = halved(d->width, i);
		level.height = halved(d->height, i);
		level.depth = d->flags & CU_ARRAY_LAYERED ? d->depth : halved(d->depth, i);
		result = array_init(&m->levels[i], &level);
		m->n += !result;
	}
	*out = m;
	return result;
}

cu_result cuMipmappedArrayCreate(struct mipmap **array, const struct cu_array_3d *description,
				 unsigned levels)
{
	struct {
		struct mipmap **array;
		const struct cu_array_3d *description;
		unsigned levels;
	} p = {array, description, levels};

	BEGIN(cuMipmappedArrayCreate);
	END(mipmap_create(array, description, levels));
}

/* Of an API that shares it: the memory's handle is not looked at. */
cu_result cuExternalMemoryGetMappedMipmappedArray(struct mipmap **array, void *memory,
						  const struct standin_shared_array *description)
{
	struct {
		struct mipmap **array;
		void *memory;
		const struct standin_shared_array *description;
	} p = {array, memory, description};

	BEGIN(cuExternalMemoryGetMappedMipmappedArray);
	END(mipmap_create(array, &description->array, description->levels));
}

/* Each time another handle, as an interface allows that does not say that it is the same. */
cu_result cuMipmappedArrayGetLevel(struct CUarray_st **level, struct mipmap *array, unsigned i)
{
	struct {
		struct CUarray_st **level;
		struct mipmap *array;
		unsigned i;
	} p = {level, array, i};

	BEGIN(cuMipmappedArrayGetLevel);
	if (!array || i >= array->n)
		END(CU_INVALID_VALUE);
	*level = malloc(sizeof(**level));
	if (!*level)
		abort();
	**level = array->levels[i];
	END(CU_OK);
}

cu_result cuMipmappedArrayDestroy(struct mipmap *array)
{
	struct {
		struct mipmap *array;
	} p = {array};

	BEGIN(cuMipmappedArrayDestroy);
	if (!array || !is_alive(&array->levels[0]))
		END(ERROR_INVALID_HANDLE);
	for (unsigned i = 0; i < array->n; i++)
		array_end(&array->levels[i]);
	END(CU_OK);
}

/* ---- surfaces and textures ---- */

static cu_result object_create(uint64_t *out, const struct cu_resource *r, bool surface)
{
	if (!r || r->type || r->flags || !is_alive(r->of.array) ||
	    (surface && !(r->of.array->d.flags & CU_ARRAY_SURFACE)))
		return CU_INVALID_VALUE;
	if (n_objects == sizeof(objects) / sizeof(*objects))
		return CU_OUT_OF_MEMORY;
	objects[n_objects++] = (struct object){context_current(), r->of.array, surface};
	*out = n_objects;
	return CU_OK;
}

static struct object *object_of(uint64_t number, bool surface)
{
	struct object *o = number && number <= n_objects ? &objects[number - 1] : NULL;

	return o && o->array && o->surface == surface ? o : NULL;
}

static cu_result object_destroy(uint64_t number, bool surface)
{
	struct object *o = object_of(number, surface);

	if (!o || o->context != context_current())
		return CU_INVALID_VALUE;
	o->array = NULL;
	return CU_OK;
}

cu_result cuSurfObjectCreate(uint64_t *surface, const struct cu_resource *resource)
{
	struct cu_surface_create_params p = {surface, resource};

	BEGIN(cuSurfObjectCreate);
	END(object_create(surface, resource, true));
}

cu_result cuSurfObjectDestroy(uint64_t surface)
{
	struct cu_surface_params p = {surface};

	BEGIN(cuSurfObjectDestroy);
	END(object_destroy(surface, true));
}

cu_result cuTexObjectCreate(uint64_t *texture, const struct cu_resource *resource,
			    const void *sampling, const void *view)
{
	struct {
		uint64_t *texture;
		const struct cu_resource *resource;
		const void *sampling, *view;
	} p = {texture, resource, sampling, view};

	BEGIN(cuTexObjectCreate);
	END(object_create(texture, resource, false));
}

cu_result cuTexObjectDestroy(uint64_t texture)
{
	struct cu_surface_params p = {texture};

	BEGIN(cuTexObjectDestroy);
	END(object_destroy(texture, false));
}

/* A module has one reference at most, which goes by the module. */
cu_result cuModuleGetSurfRef(struct CUmod_st **reference, struct CUmod_st *module, const char *name)
{
	struct {
		struct CUmod_st **reference;
		struct CUmod_st *module;
		const char *name;
	} p = {reference, module, name};

	BEGIN(cuModuleGetSurfRef);
	*reference = module;
	END(name ? CU_OK : CU_INVALID_VALUE);
}

cu_result cuSurfRefSetArray(struct CUmod_st *reference, struct CUarray_st *array, unsigned flags)
{
	struct cu_surface_reference_params p = {reference, array, flags};

	BEGIN(cuSurfRefSetArray);
	if (flags || !is_alive(array) || !(array->d.flags & CU_ARRAY_SURFACE))
		END(CU_INVALID_VALUE);
	reference->reference = array;
	END(CU_OK);
}

/* ---- elements ---- */

/* The rows lie in the opposite order, so that nobody gets by with a plain copy. */
static unsigned char *place(const struct CUarray_st *a, size_t x, size_t y, size_t z)
{
	size_t rows = at_least_one(a->d.height);
	size_t i = (z * rows + (rows - 1 - y)) * a->d.width + x;

	return gpu_at(a->storage + i * a->element, a->element);
}

static void *element(const struct CUarray_st *a, size_t i, size_t size)
{
	size_t rows;

	if (!a || a->gone || a->element != size || i >= elements(a))
		return NULL;
	rows = at_least_one(a->d.height);
	return place(a, i % a->d.width, i / a->d.width % rows, i / a->d.width / rows);
}

void *gpu_surface_element(uint64_t surface, size_t i, size_t size)
{
	const struct object *o = object_of(surface, true);

	return o ? element(o->array, i, size) : NULL;
}

const void *gpu_texture_element(uint64_t texture, size_t i, size_t size)
{
	const struct object *o = object_of(texture, false);

	return o ? element(o->array, i, size) : NULL;
}

void *gpu_reference_element(const struct CUmod_st *module, size_t i, size_t size)
{
	return element(module->reference, i, size);
}

/* ---- copies ---- */

static cu_ptr address_of(const struct cu_copy_side *s, size_t width, size_t y, size_t z)
{
	cu_ptr base = s->memory_type == 1 ? (cu_ptr)(uintptr_t)s->host : s->device;
	size_t pitch = s->pitch ? s->pitch : width, rows = at_least_one(s->height);

	return base + ((s->z + z) * rows + s->y + y) * pitch + s->x_bytes;
}

static bool side_is_good(const struct cu_copy_3d *k, const struct cu_copy_side *s)
{
	const struct CUarray_st *a = s->array;

	if (s->level || s->reserved)
		return false;
	if (s->memory_type == CU_MEMORY_ARRAY)
		return is_alive(a) && a->element && !(s->x_bytes % a->element) &&
		       !(k->width_bytes % a->element) &&
		       s->x_bytes + k->width_bytes <= a->d.width * a->element &&
		       s->y + k->height <= at_least_one(a->d.height) &&
		       s->z + k->depth <= at_least_one(a->d.depth);
	if (s->memory_type != 1 && s->memory_type != 2 && s->memory_type != CU_MEMORY_UNIFIED)
		return false;
	if ((s->pitch && s->pitch < s->x_bytes + k->width_bytes) ||
	    (k->depth > 1 && s->height < s->y + k->height))
		return false;
	if (s->memory_type == 1 && gpu_is_pageable((cu_ptr)(uintptr_t)s->host))
		return s->host;
	for (size_t z = 0; z < k->depth; z++)
		for (size_t y = 0; y < k->height; y++)
			if (!gpu_at(address_of(s, k->width_bytes, y, z), k->width_bytes))
				return false;
	return true;
}

static void *side_row(const struct cu_copy_3d *k, const struct cu_copy_side *s, size_t y, size_t z)
{
	cu_ptr at;

	if (s->memory_type == CU_MEMORY_ARRAY)
		return s->array->gone ? NULL
				      : place(s->array, s->x_bytes / s->array->element, s->y + y,
					      s->z + z);
	at = address_of(s, k->width_bytes, y, z);
	return gpu_is_pageable(at) ? (void *)(uintptr_t)at : gpu_at(at, k->width_bytes);
}

bool gpu_box_copy(const struct cu_copy_3d *k)
{
	for (size_t z = 0; z < k->depth; z++)
		for (size_t y = 0; y < k->height; y++) {
			const void *from = side_row(k, &k->from, y, z);
			void *to = side_row(k, &k->to, y, z);

			if (!from || !to)
				return false;
			memmove(to, from, k->width_bytes);
		}
	return true;
}

/* Our own memory on one side, an array of the program on the other. */
static bool is_own(const struct cu_copy_side *s)
{
	const struct gpu_memory *m =
		s->memory_type == CU_MEMORY_UNIFIED ? gpu_memory_of(s->device) : NULL;

	return m && m->own;
}

/* Memory of the host that the device does not know is waited for, whatever was called. */
static cu_result copy(const struct call *call, const struct cu_copy_3d *k,
		      struct CUstream_st *handle, bool wait)
{
	struct CUstream_st *s = stream_of(handle);
	struct gpu_command *c;

	if (!s)
		return ERROR_INVALID_HANDLE;
	if (!k->width_bytes || !k->height || !k->depth)
		return CU_OK;
	if (!side_is_good(k, &k->from) || !side_is_good(k, &k->to))
		return CU_INVALID_VALUE;
	if (call->injected) {
		bool back = is_own(&k->from) && k->to.memory_type == CU_MEMORY_ARRAY;

		standin_count(back ? "arrays put back" : "arrays looked at", 1);
		/* The control of the tests, as for other memory. */
		if (back && standin_fault("restore", NULL))
			return CU_OK;
	}
	c = gpu_command_new(COMMAND_BOX);
	c->box = *k;
	if (call->injected && standin_fault("copy", NULL)) { /* half of it is done */
		c->box.height = (k->height + 1) / 2;
		gpu_enqueue(s, c);
		return ERROR_OPERATING_SYSTEM;
	}
	wait |= k->from.memory_type == 1 || k->to.memory_type == 1;
	gpu_enqueue(s, c);
	if (wait && !s->capture)
		gpu_stream_wait(s);
	return s->context->error;
}

cu_result cuMemcpy3D_v2(const struct cu_copy_3d *box)
{
	struct {
		const struct cu_copy_3d *box;
	} p = {box};

	BEGIN(cuMemcpy3D_v2);
	END(copy(&call, box, NULL, true));
}

cu_result cuMemcpy3DAsync_v2(const struct cu_copy_3d *box, struct CUstream_st *stream)
{
	struct {
		const struct cu_copy_3d *box;
		struct CUstream_st *stream;
	} p = {box, stream};

	BEGIN(cuMemcpy3DAsync_v2);
	END(copy(&call, box, stream, false));
}

static void side_from_2d(struct cu_copy_side *to, const struct standin_copy_2d_side *from)
{
	*to = (struct cu_copy_side){.x_bytes = from->x_bytes,
				    .y = from->y,
				    .memory_type = from->memory_type,
				    .host = from->host,
				    .device = from->device,
				    .array = from->array,
				    .pitch = from->pitch};
}

cu_result cuMemcpy2DAsync_v2(const struct standin_copy_2d *box, struct CUstream_st *stream)
{
	struct {
		const struct standin_copy_2d *box;
		struct CUstream_st *stream;
	} p = {box, stream};
	struct cu_copy_3d k = {.width_bytes = box->width_bytes, .height = box->height, .depth = 1};

	BEGIN(cuMemcpy2DAsync_v2);
	side_from_2d(&k.from, &box->from);
	side_from_2d(&k.to, &box->to);
	END(copy(&call, &k, stream, false));
}

/* Of the first row alone: what is longer is refused. */
static struct cu_copy_3d row_copy(struct CUarray_st *array, size_t offset, const void *host,
				  size_t n, bool to_array)
{
	struct cu_copy_3d k = {.width_bytes = n, .height = 1, .depth = 1};
	struct cu_copy_side in = {
		.x_bytes = offset, .memory_type = CU_MEMORY_ARRAY, .array = array};
	struct cu_copy_side out = {.memory_type = 1};

	memcpy(&out.host, &host, sizeof(host));
	k.to = to_array ? in : out;
	k.from = to_array ? out : in;
	return k;
}

cu_result cuMemcpyHtoA_v2(struct CUarray_st *array, size_t offset, const void *from, size_t n)
{
	struct {
		struct CUarray_st *array;
		size_t offset;
		const void *from;
		size_t n;
	} p = {array, offset, from, n};
	struct cu_copy_3d k = row_copy(array, offset, from, n, true);

	BEGIN(cuMemcpyHtoA_v2);
	END(copy(&call, &k, NULL, true));
}

cu_result cuMemcpyAtoH_v2(void *to, struct CUarray_st *array, size_t offset, size_t n)
{
	struct {
		void *to;
		struct CUarray_st *array;
		size_t offset, n;
	} p = {to, array, offset, n};
	struct cu_copy_3d k = row_copy(array, offset, to, n, false);

	BEGIN(cuMemcpyAtoH_v2);
	END(copy(&call, &k, NULL, true));
}
