/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is not the program's alone: taken from another process or API, given to one, put
 * together for several devices, or mapped in several places. Others may write it at any time, so
 * that it is never put back. With that the calls that map memory: whose it is says its handle.
 *
 * An allocation of cuMemCreate lives as long as a handle names it or it is mapped somewhere. Values
 * of handles come back for other allocations, and a mapping gives a handle again
 * (cuMemRetainAllocationHandle), so both are counted. Handle types that only allow an export
 * (PyTorch's segments) change nothing. A pool that is shared gives others nothing by itself: each
 * of its pointers must be exported.
 */
#include "runtime/cuda/calls.h"

#include <stdlib.h>

#define BUCKETS 1024u

struct allocation {
	enum memory_kind kind; /* of its mappings */
	int ordinal;           /* of its device, where it has one */
	unsigned handles, mappings;
};
struct handle {
	struct handle *next;
	uint64_t value;
	unsigned references;
	struct allocation *allocation;
};
static struct {
	pthread_mutex_t lock; /* never held over a call of the driver or the engine */
	struct handle *buckets[BUCKETS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

const char *cuda_memory_why_not(const struct program_memory *m, uint32_t *flags_out)
{
	if (m->kind == MEMORY_FOREIGN) {
		*flags_out |= RUNTIME_MEMORY_UNSAVABLE;
		return "memory of another process, API or device";
	}
	if (m->kind == MEMORY_SHARED) {
		*flags_out |= RUNTIME_MEMORY_UNSAVABLE | RUNTIME_MEMORY_HASHED;
		return "memory that another device or context uses, too";
	}
	if (m->kind == MEMORY_GIVEN) {
		/* The program's own, so that it can be read whatever others do. */
		*flags_out |= RUNTIME_MEMORY_UNSAVABLE | RUNTIME_MEMORY_HASHED;
		return "memory that was given to others, too, or is mapped twice";
	}
	return NULL;
}

/* ---- handles; with the lock held ---- */

static struct handle **handle_at(uint64_t value)
{
	struct handle **p = &table.buckets[(value ^ value >> 12 ^ value >> 21) % BUCKETS];

	while (*p && (*p)->value != value)
		p = &(*p)->next;
	return p;
}

static void allocation_check(struct allocation *a)
{
	if (!a->handles && !a->mappings)
		free(a);
}

static void handle_forget(struct handle **p)
{
	struct handle *h = *p;

	*p = h->next;
	h->allocation->handles--;
	allocation_check(h->allocation);
	free(h);
}

/* One more reference by this value. Without memory the handle stays unknown, and what it maps is
 * nobody's. a: NULL for a new allocation, which is returned. */
static struct allocation *handle_add(uint64_t value, struct allocation *a, enum memory_kind kind)
{
	struct handle **p = handle_at(value), *h = *p;

	/* The value means something else now; its end was not seen. */
	if (h && h->allocation != a) {
		handle_forget(p);
		p = handle_at(value);
		h = NULL;
	}
	if (!h) {
		h = calloc(1, sizeof(*h));
		if (h && !a && (a = calloc(1, sizeof(*a))))
			a->kind = kind;
		if (!h || !a) {
			free(h);
			return NULL;
		}
		h->value = value;
		h->allocation = a;
		h->next = *p;
		*p = h;
		a->handles++;
	}
	h->references++;
	return a;
}

void cuda_mapping_gone(uint64_t mapping_of)
{
	struct allocation *a = (struct allocation *)(uintptr_t)mapping_of; /* alive: it counts us */

	if (!a)
		return;
	pthread_mutex_lock(&table.lock);
	a->mappings--;
	allocation_check(a);
	pthread_mutex_unlock(&table.lock);
}

/* ---- given to others ---- */

static void tell_engine(const struct program_memory *m)
{
	struct cuda_context *c = &cuda_session.contexts[m->owner];
	uint32_t flags = 0;
	const char *why = cuda_memory_why_not(m, &flags);

	if (m->known && c->device)
		replay_memory_share(c->device, m->known, flags, why);
}

void cuda_memory_shared_since(const struct program_memory *m)
{
	struct program_memory now;

	if (memories_find(&cuda_session.memories, m->address, &now) && now.kind != m->kind &&
	    now.kind == MEMORY_GIVEN)
		tell_engine(&now);
}

static void came_in(struct cuda_context *c, cu_ptr address, size_t size);

/* The allocations in the part, which is given away: nobody has it before the call is back. */
static void share(struct cuda_context *c, const char *call, cu_ptr address, size_t size)
{
	cu_ptr end = address + (size ? size : 1);
	struct program_memory m;

	cuda_boundary(c, call);
	if (!memories_find(&cuda_session.memories, address, &m)) {
		came_in(c, address, size);
		return;
	}
	while (address < end && memories_find(&cuda_session.memories, address, &m)) {
		if (memories_give(&cuda_session.memories, address, &m))
			tell_engine(&m);
		address = m.address + m.size;
	}
}

static void share_mappings(uint64_t mapping_of)
{
	struct program_memory m;

	while (memories_give_mapping(&cuda_session.memories, mapping_of, &m))
		tell_engine(&m);
}

static void share_handle(struct cuda_context *c, const char *call, uint64_t value)
{
	struct allocation *a = NULL;
	const struct handle *h;

	cuda_boundary(c, call);
	pthread_mutex_lock(&table.lock);
	h = *handle_at(value);
	if (h && h->allocation->kind == MEMORY_DEVICE)
		h->allocation->kind = MEMORY_GIVEN;
	if (h) {
		a = h->allocation;
		a->mappings++; /* it stays while its mappings are changed */
	}
	pthread_mutex_unlock(&table.lock);
	if (a)
		share_mappings((uint64_t)(uintptr_t)a);
	cuda_mapping_gone((uint64_t)(uintptr_t)a);
}

static void exported_handle(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_export_params *p = data->params;

	if (!cuda_result(data))
		share_handle(c, data->function, p->what);
}

static void exported_address(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_export_params *p = data->params;

	if (!cuda_result(data))
		share(c, data->function, p->what, 0);
}

static void exported_range(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_export_range_params *p = data->params;

	if (!cuda_result(data))
		share(c, data->function, p->address, p->bytes);
}

/* The sign by which libraries for networks tell the driver that an adapter reads and writes it. */
static void attribute_set(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_set_pointer_params *p = data->params;

	if (!cuda_result(data) && p->attribute == CU_POINTER_SYNCHRONOUS && p->value &&
	    *(const unsigned *)p->value)
		share(c, data->function, p->address, 0);
}

static void bound_memory(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_bind_memory_params *p = data->params;

	if (!cuda_result(data))
		share_handle(c, data->function, p->handle);
}

static void bound_memory_on(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_bind_memory_on_params *p = data->params;

	if (!cuda_result(data))
		share_handle(c, data->function, p->handle);
}

static void bound_address(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_bind_address_params *p = data->params;

	if (!cuda_result(data))
		share(c, data->function, p->address, p->bytes);
}

static void bound_address_on(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_bind_address_on_params *p = data->params;

	if (!cuda_result(data))
		share(c, data->function, p->address, p->bytes);
}

/* ---- taken from others ---- */

/* At least `size` bytes from the address, as much as the driver says. Where that is not known,
 * anything may be reached through it. */
static void came_in(struct cuda_context *c, cu_ptr address, size_t size)
{
	const struct cuda_driver *d = &cuda_session.driver;
	cu_ptr start = 0;
	size_t all = 0;

	if (!d->pointer_attribute(&start, CU_POINTER_RANGE_START, address) &&
	    !d->pointer_attribute(&all, CU_POINTER_RANGE_SIZE, address) && start <= address &&
	    all > address - start && all - (address - start) >= size && c)
		cuda_memory_add(c, start, all, MEMORY_FOREIGN);
	else if (size && c)
		cuda_memory_add(c, address, size, MEMORY_FOREIGN);
	else
		cuda_session.why_none =
			"there is memory of another process, and the driver does not say how much";
}

static void imported(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_import_params *p = data->params;

	if (!cuda_result(data))
		came_in(c, *p->address_out, 0);
}

static void imported_buffer(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_external_params *p = data->params;

	if (!cuda_result(data))
		came_in(c, *p->address_out, p->buffer->bytes);
}

static void imported_graphics(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_graphics_params *p = data->params;

	if (!cuda_result(data) && p->address_out)
		came_in(c, *p->address_out, p->bytes_out ? *p->bytes_out : 0);
}

static void imported_somewhere(struct cuda_context *c, const struct cupti_callback_data *data)
{
	(void)c;
	if (!cuda_result(data))
		cuda_session.why_none = "there is memory of EGL, of which it is not told where";
}

/* What was opened twice is closed twice: whether it is still there the driver says. */
static void closed(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_free_params *p = data->params;
	struct program_memory m;
	cu_ptr start;

	if (!cuda_result(data) &&
	    cuda_session.driver.pointer_attribute(&start, CU_POINTER_RANGE_START, p->address) ==
		    CU_INVALID_VALUE &&
	    memories_take(&cuda_session.memories, p->address, &m))
		cuda_memory_remove(&m);
	(void)c;
}

/* ---- allocations and where they are mapped ---- */

static void created(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_create_params *p = data->params;
	enum memory_kind kind = MEMORY_DEVICE;
	struct allocation *a;

	if (cuda_result(data))
		return;
	if (p->properties && p->properties->place.type != CU_PLACE_DEVICE)
		kind = MEMORY_HOST;
	pthread_mutex_lock(&table.lock);
	a = handle_add(*p->handle_out, NULL, kind);
	if (a)
		a->ordinal = p->properties ? p->properties->place.ordinal : c ? c->ordinal : -1;
	pthread_mutex_unlock(&table.lock);
}

static void created_elsewhere(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_handle_out_params *p = data->params;

	(void)c;
	if (cuda_result(data))
		return;
	pthread_mutex_lock(&table.lock);
	handle_add(*p->handle_out, NULL, MEMORY_FOREIGN);
	pthread_mutex_unlock(&table.lock);
}

static void retained(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_retain_params *p = data->params;
	struct program_memory m;

	(void)c;
	if (cuda_result(data))
		return;
	if (!memories_find(&cuda_session.memories, (uintptr_t)p->address, &m))
		m.mapping_of = 0;
	pthread_mutex_lock(&table.lock);
	handle_add(*p->handle_out, (struct allocation *)(uintptr_t)m.mapping_of, MEMORY_FOREIGN);
	pthread_mutex_unlock(&table.lock);
}

/* Before the call: after it the value may be another's already. */
static void released(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_handle_params *p = data->params;
	struct handle **h;

	cuda_boundary(c, data->function);
	pthread_mutex_lock(&table.lock);
	h = handle_at(p->handle);
	if (*h && !--(*h)->references)
		handle_forget(h);
	pthread_mutex_unlock(&table.lock);
}

/* A context on the device, c if that is one. */
static struct cuda_context *context_on(struct cuda_context *c, int ordinal)
{
	for (unsigned i = 0; i < cuda_session.n_contexts && (!c || c->ordinal != ordinal); i++)
		if (cuda_session.contexts[i].ordinal == ordinal && !cuda_session.contexts[i].gone)
			return &cuda_session.contexts[i];
	return c;
}

static void mapped(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_map_params *p = data->params;
	struct program_memory m = {.address = p->address,
				   .size = p->bytes,
				   .kind = MEMORY_FOREIGN}; /* nobody knows where it is from */
	struct allocation *a = NULL;
	const struct handle *h;
	bool twice = false;

	if (cuda_result(data))
		return;
	pthread_mutex_lock(&table.lock);
	h = *handle_at(p->handle);
	if (h) {
		a = h->allocation;
		twice = a->mappings && a->kind == MEMORY_DEVICE;
		if (twice)
			a->kind = MEMORY_GIVEN;
		m.kind = a->kind;
		m.mapping_of = (uint64_t)(uintptr_t)a;
		a->mappings++;
	}
	pthread_mutex_unlock(&table.lock);
	if (twice) {
		cuda_boundary(c, data->function);
		share_mappings(m.mapping_of);
	}
	/* No context is needed to map memory. */
	c = a ? context_on(c, a->ordinal) : c;
	if (!c) {
		cuda_session.why_none = "memory was mapped before the device had a context";
		return;
	}
	m.owner = c->number;
	cuda_memory_record(&m);
}

static void unmapped(struct cuda_context *c, const struct cupti_callback_data *data)
{
	const struct cu_map_params *p = data->params;
	struct program_memory m;

	cuda_boundary(c, data->function);
	while (memories_take_in(&cuda_session.memories, p->address, p->bytes, &m))
		cuda_memory_remove(&m);
}

const struct cuda_call_entry cuda_shared_calls[] = {
	{"cuMemCreate", NULL, created},
	{"cuMemImportFromShareableHandle", NULL, created_elsewhere},
	{"cuMulticastCreate", NULL, created_elsewhere},
	{"cuMemRetainAllocationHandle", NULL, retained},
	{"cuMemRelease", released, NULL},
	{"cuMemMap", NULL, mapped},
	{"cuMemUnmap", unmapped, NULL},
	{"cuMemExportToShareableHandle", NULL, exported_handle},
	{"cuMulticastBindMem", cuda_call_boundary, bound_memory},
	{"cuMulticastBindMem_v2", cuda_call_boundary, bound_memory_on},
	{"cuMulticastBindAddr", cuda_call_boundary, bound_address},
	{"cuMulticastBindAddr_v2", cuda_call_boundary, bound_address_on},
	{"cuIpcGetMemHandle", NULL, exported_address},
	{"cuMemPoolExportPointer", NULL, exported_address},
	{"cuMemGetHandleForAddressRange", NULL, exported_range},
	{"cuPointerSetAttribute", cuda_call_boundary, attribute_set},
	{"cuIpcOpenMemHandle", NULL, imported},
	{"cuIpcOpenMemHandle_v2", NULL, imported},
	{"cuIpcCloseMemHandle", cuda_call_boundary, closed},
	{"cuMemPoolImportPointer", NULL, imported},
	{"cuExternalMemoryGetMappedBuffer", NULL, imported_buffer},
	{"cuGraphicsResourceGetMappedEglFrame", NULL, imported_somewhere},
	{"cuGraphicsResourceGetMappedPointer", NULL, imported_graphics},
	{"cuGraphicsResourceGetMappedPointer_v2", NULL, imported_graphics},
};
const size_t cuda_n_shared_calls = sizeof(cuda_shared_calls) / sizeof(*cuda_shared_calls);
