/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, their surfaces and their contents: see arrays.h. */
#include "runtime/cuda/arrays.h"

#include "runtime/cuda/calls.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS 0xa700000000000000u
#define ADDRESS_GRAIN (1ull << 20)
#define BUCKETS       256u

/* Whatever the program made that is an array or has arrays as parts. */
struct array {
	struct array *next;
	const struct cuda_context *context;
	void *handle;
	/* Of a mipmapped array's level, a plane: two handles may be of the same part. */
	void *of;
	unsigned part;
	bool foreign;      /* it was not seen being made */
	unsigned surfaces; /* made of it now */
	bool referenced;   /* by a surface reference, which any kernel may use */
	/* While it is a memory: */
	uint64_t address;    /* 0: it is none */
	const char *why_not; /* its contents cannot be saved */
	size_t row, rows, slices;
};
struct surface {
	struct surface *next;
	uint64_t handle;
	const struct cuda_context *context;
	struct array *array;
};

static struct {
	pthread_mutex_t lock; /* never held over a call of the driver */
	struct array *arrays;
	struct surface *buckets[BUCKETS];
	_Atomic unsigned n; /* arrays that are memories */
	_Atomic unsigned n_always;
	uint64_t next_address;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .next_address = FIRST_ADDRESS};

/* ---- what was made; with the lock held ---- */

static struct array *find(const void *handle)
{
	struct array *a = table.arrays;

	while (a && a->handle != handle)
		a = a->next;
	return a;
}

static struct array *add(const struct cuda_context *c, void *handle)
{
	struct array *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->context = c;
	a->handle = handle;
	a->next = table.arrays;
	table.arrays = a;
	return a;
}

/* Any kernel may write it, or cannot be shown not to. */
static bool is_always(const struct array *a)
{
	return a->address && (a->referenced || a->why_not);
}

static bool is_of(const struct array *a, const struct cuda_context *c, const void *handle)
{
	return handle ? a->handle == handle || a->of == handle : a->context == c;
}

/* The array, with its parts, whichever context is current; or, without a handle, all of the
 * context; and the memory that it was, if any. False: no more. */
static bool take(const struct cuda_context *c, const void *handle, uint64_t *address_out)
{
	struct array **p = &table.arrays, *a;

	pthread_mutex_lock(&table.lock);
	while (*p && !is_of(*p, c, handle))
		p = &(*p)->next;
	a = *p;
	if (a) {
		*p = a->next;
		*address_out = a->address;
		table.n -= a->address != 0;
		table.n_always -= is_always(a);
	}
	for (unsigned i = 0; a && i < BUCKETS; i++)
		for (struct surface *s = table.buckets[i]; s; s = s->next)
			if (s->array == a)
				s->array = NULL; /* its handle may still be destroyed */
	pthread_mutex_unlock(&table.lock);
	free(a);
	return a != NULL;
}

static void forget_memory(uint64_t address)
{
	struct program_memory m;

	if (address && memories_take(&cuda_session.memories, address, &m))
		cuda_memory_remove(&m);
}

/* What had the handle before is gone, whoever ended it. */
static void made(const struct cuda_context *c, void *handle)
{
	uint64_t address;

	while (handle && take(c, handle, &address))
		forget_memory(address);
	pthread_mutex_lock(&table.lock);
	if (handle)
		add(c, handle);
	pthread_mutex_unlock(&table.lock);
}

void cuda_arrays_forget(const struct cuda_context *c)
{
	uint64_t address;

	while (take(c, NULL, &address))
		forget_memory(address);
}

/* ---- an array as a memory ---- */

static size_t element_bytes(const struct cu_array_3d *d)
{
	switch (d->format) {
	case CU_FORMAT_U8:
	case CU_FORMAT_S8:
		return d->channels;
	case CU_FORMAT_U16:
	case CU_FORMAT_S16:
	case CU_FORMAT_HALF:
		return 2 * (size_t)d->channels;
	case CU_FORMAT_U32:
	case CU_FORMAT_S32:
	case CU_FORMAT_FLOAT:
		return 4 * (size_t)d->channels;
	default:
		break;
	}
	if (d->format < CU_FORMAT_UNORM8X1 || d->format > CU_FORMAT_SNORM16X4)
		return 0;
	/* Groups of three widths, of bytes and of words in turn. */
	return (size_t)d->channels << ((d->format - CU_FORMAT_UNORM8X1) / 3 % 2);
}

static const char *judge(const struct cu_array_3d *d, bool described)
{
	if (!described || !cuda_session.driver.copy_3d)
		return "the program has a surface on an array that cannot be described";
	if (d->flags & (CU_ARRAY_SPARSE | CU_ARRAY_MAPPED_LATER))
		return "the program has a surface on a sparse array, which cannot be saved";
	if (!element_bytes(d) || !d->width)
		return "the program has a surface on an array of a format that cannot be saved";
	return NULL;
}

static size_t at_least_one(size_t n)
{
	return n ? n : 1;
}

/* With the lock held. */
static void become_memory(struct array *a, const struct cu_array_3d *d, bool described)
{
	a->why_not = a->foreign ? "the program has a surface on an array of another process or API"
				: judge(d, described);
	a->row = a->why_not ? 1 : d->width * element_bytes(d);
	a->rows = a->why_not ? 1 : at_least_one(d->height);
	a->slices = a->why_not ? 1 : at_least_one(d->depth);
	a->address = table.next_address;
	table.next_address += (a->row * a->rows * a->slices / ADDRESS_GRAIN + 1) * ADDRESS_GRAIN;
	table.n++;
	table.n_always += is_always(a);
}

/* A surface is made of an array, as an object, or as a reference, whose end is not told. NULL: no
 * memory. */
static void bind(struct cuda_context *c, struct CUarray_st *handle, bool reference,
		 uint64_t surface)
{
	struct cu_array_3d d = {0};
	bool described = handle && cuda_session.driver.array_description &&
			 !cuda_session.driver.array_description(&d, handle);
	struct surface *s = reference ? NULL : calloc(1, sizeof(*s));
	uint64_t address = 0, size = 0;
	struct array *a;

	pthread_mutex_lock(&table.lock);
	a = find(handle);
	if (!a && (a = add(c, handle)))
		a->foreign = true;
	if (a && a->of) /* the first handle of the same part */
		for (struct array *k = a; k; k = k->next)
			if (k->of == a->of && k->part == a->part)
				a = k;
	if (a && !a->address) {
		become_memory(a, &d, described);
		address = a->address;
		size = a->row * a->rows * a->slices;
	}
	if (a && reference && !a->referenced) {
		table.n_always += !is_always(a);
		a->referenced = true;
	}
	if (a && s) {
		*s = (struct surface){.handle = surface,
				      .context = c,
				      .array = a,
				      .next = table.buckets[surface % BUCKETS]};
		table.buckets[surface % BUCKETS] = s;
		a->surfaces++;
		s = NULL;
	}
	pthread_mutex_unlock(&table.lock);
	free(s);
	if (address)
		cuda_memory_add(c, address, size, MEMORY_ARRAY);
}

/* The last surface of an array takes the memory with it. */
static void unbind(struct cuda_context *c, uint64_t handle)
{
	struct surface **p = &table.buckets[handle % BUCKETS], *s;
	uint64_t address = 0;

	pthread_mutex_lock(&table.lock);
	while (*p && ((*p)->handle != handle || (*p)->context != c))
		p = &(*p)->next;
	s = *p;
	if (s)
		*p = s->next;
	if (s && s->array && !--s->array->surfaces && !s->array->referenced) {
		address = s->array->address;
		table.n--;
		table.n_always -= is_always(s->array);
		s->array->address = 0;
	}
	pthread_mutex_unlock(&table.lock);
	free(s);
	forget_memory(address);
}

/* A copy of the record, with what stays true only as long as the array lives. */
static bool at(uint64_t address, struct array *out)
{
	const struct array *a;

	pthread_mutex_lock(&table.lock);
	for (a = table.arrays; a && a->address != address;)
		a = a->next;
	if (a)
		*out = *a;
	pthread_mutex_unlock(&table.lock);
	return a;
}

const char *cuda_array_why_not(uint64_t address)
{
	struct array a;

	return at(address, &a) ? a.why_not : "an array that is gone";
}

/* From a place on, the largest piece that is a box: the rest of a row, rows, slices. */
static size_t piece(const struct array *a, uint64_t offset, uint64_t bytes, struct cu_copy_3d *k)
{
	size_t slice = a->row * a->rows, n;

	k->to.x_bytes = offset % a->row;
	k->to.y = offset / a->row % a->rows;
	k->to.z = offset / slice;
	k->width_bytes = a->row;
	k->height = k->depth = 1;
	if (k->to.x_bytes || bytes < a->row) {
		n = a->row - k->to.x_bytes;
		k->width_bytes = bytes < n ? bytes : n;
	} else if (k->to.y || bytes < slice) {
		n = a->rows - k->to.y;
		k->height = bytes / a->row < n ? bytes / a->row : n;
	} else {
		k->height = a->rows;
		k->depth = bytes / slice;
	}
	return k->width_bytes * k->height * k->depth;
}

cu_result cuda_array_copy(uint64_t address, uint64_t offset, uint64_t bytes, cu_ptr linear,
			  bool to_array, struct CUstream_st *stream)
{
	cu_result result = CU_OK;
	struct array a;

	if (!at(address, &a) || a.why_not)
		return CU_INVALID_VALUE;
	while (bytes && !result) {
		struct cu_copy_3d k = {.to = {.memory_type = CU_MEMORY_ARRAY,
					      .array = (struct CUarray_st *)a.handle},
				       .from = {.memory_type = CU_MEMORY_UNIFIED,
						.device = linear,
						.pitch = a.row,
						.height = a.rows}};
		size_t n = piece(&a, offset, bytes, &k);

		if (!to_array) {
			struct cu_copy_side side = k.to;

			k.to = k.from;
			k.from = side;
		}
		result = cuda_session.driver.copy_3d(&k, stream);
		offset += n;
		linear += n;
		bytes -= n;
	}
	return result;
}

/* ---- who reaches it ---- */

static void visit_array(const struct array *a, memories_visitor *visit, void *data)
{
	struct program_memory m;

	if (a && a->address && memories_find(&cuda_session.memories, a->address, &m))
		visit(data, &m);
}

void cuda_arrays_scan(struct cuda_context *c, const void *bytes, size_t n, memories_visitor *visit,
		      void *data)
{
	if (!table.n)
		return;
	pthread_mutex_lock(&table.lock);
	for (const struct array *a = table.n_always ? table.arrays : NULL; a; a = a->next)
		if (is_always(a) && a->context == c)
			visit_array(a, visit, data);
	/* A small number may be one by chance: then more is saved than need be. */
	for (size_t i = 0; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, (const char *)bytes + i, sizeof(word));
		for (const struct surface *s = table.buckets[word % BUCKETS]; s; s = s->next)
			if (s->handle == word && s->context == c)
				visit_array(s->array, visit, data);
	}
	pthread_mutex_unlock(&table.lock);
}

/* ---- calls ---- */

#define ELEMENT_MOST 16 /* bytes */

static void room_2d(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_array_create_params *p = data->params;
	const struct cu_array_2d *d = p->description;

	if (d)
		cuda_memory_make_room(c, d->width * at_least_one(d->height) * ELEMENT_MOST,
				      data->function);
}

static void room_3d(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_array_create_params *p = data->params;
	const struct cu_array_3d *d = p->description;

	if (d)
		cuda_memory_make_room(c,
				      d->width * at_least_one(d->height) * at_least_one(d->depth) *
					      ELEMENT_MOST,
				      data->function);
}

static void array_made(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_array_create_params *p = data->params;

	if (!cuda_result(data))
		made(c, *p->array_out);
}

static void part_given(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_array_part_params *p = data->params;
	struct array *whole, *a = NULL;

	if (cuda_result(data))
		return;
	pthread_mutex_lock(&table.lock);
	whole = find(p->of);
	if (whole && !whole->foreign && !find(*p->array_out))
		a = add(c, *p->array_out);
	if (a) {
		a->of = p->of;
		a->part = p->part;
	}
	pthread_mutex_unlock(&table.lock);
}

static void array_destroyed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_array_params *p = data->params;
	uint64_t address;

	cuda_boundary(c, data->function);
	while (p->array && take(c, p->array, &address))
		forget_memory(address);
}

static void surface_made(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_surface_create_params *p = data->params;

	if (!cuda_result(data))
		bind(c, p->resource->type ? NULL : p->resource->of.array, false, *p->surface_out);
}

static void surface_destroyed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_surface_params *p = data->params;

	cuda_boundary(c, data->function);
	unbind(c, p->surface);
}

static void reference_set(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_surface_reference_params *p = data->params;

	if (!cuda_result(data))
		bind(c, p->array, true, 0);
}

const struct cuda_call_entry cuda_array_calls[] = {
	{"cuArrayCreate_v2", room_2d, array_made},
	{"cuArray3DCreate_v2", room_3d, array_made},
	{"cuMipmappedArrayCreate", room_3d, array_made},
	{"cuMipmappedArrayGetLevel", NULL, part_given},
	{"cuArrayGetPlane", NULL, part_given},
	{"cuArrayDestroy", array_destroyed, NULL},
	{"cuMipmappedArrayDestroy", array_destroyed, NULL},
	{"cuSurfObjectCreate", NULL, surface_made},
	{"cuSurfObjectDestroy", surface_destroyed, NULL},
	/* What was launched before uses what was set before. */
	{"cuSurfRefSetArray", cuda_call_boundary, reference_set},
};
const size_t cuda_n_array_calls = sizeof(cuda_array_calls) / sizeof(*cuda_array_calls);
