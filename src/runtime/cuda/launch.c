/* SPDX-License-Identifier: Apache-2.0 */
/* Describing and recording launches, and doing them again: see launch.h. */
#include "runtime/cuda/launch.h"

#include "base/vec.h"
#include "runtime/cuda/arrays.h"
#include "runtime/cuda/calls.h"
#include "runtime/cuda/functions.h"
#include "runtime/cuda/graph_table.h"
#include "runtime/cuda/pageable.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- recorded operations: a pool, so that a warm launch allocates nothing ---- */

#define OP_SMALL 2048 /* most launches fit; what is larger comes from malloc */

static struct {
	pthread_mutex_t lock;
	struct cuda_op *free;
} ops = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct cuda_op *cuda_op_new(size_t bytes)
{
	struct cuda_op *op = NULL;

	if (bytes <= OP_SMALL) {
		bytes = OP_SMALL;
		pthread_mutex_lock(&ops.lock);
		op = ops.free;
		if (op)
			ops.free = op->next;
		pthread_mutex_unlock(&ops.lock);
	}
	if (!op && !(op = malloc(sizeof(*op) + bytes)))
		return NULL;
	memset(op, 0, sizeof(*op));
	op->room = bytes;
	return op;
}

void cuda_op_free(struct cuda_op *op)
{
	if (!op)
		return;
	if (op->room > OP_SMALL) {
		free(op);
		return;
	}
	pthread_mutex_lock(&ops.lock);
	op->next = ops.free;
	ops.free = op;
	pthread_mutex_unlock(&ops.lock);
}

void cuda_launch_release(void *device, void *recorded)
{
	(void)device;
	cuda_op_free(recorded);
}

/* ---- reach ---- */

struct reach {
	struct cuda_context *context;
	unsigned n;
	bool overflow;
	const char *why;      /* it reaches something that forbids replay */
	VEC(uint64_t) others; /* memories of other contexts */
	struct runtime_reach *items;
};
static _Thread_local struct runtime_reach *reach_buffer;

static void reach_begin(struct reach *r, struct cuda_context *c)
{
	*r = (struct reach){.context = c};
	if (!reach_buffer)
		reach_buffer = malloc(CUDA_REACH_MAX * sizeof(*reach_buffer));
	r->items = reach_buffer;
	if (!r->items)
		r->overflow = true;
}

/* What the engine calls it belongs to the other context's windows. */
static void reach_other(struct reach *r, const struct program_memory *m)
{
	if (m->kind == MEMORY_HOST) {
		r->why = "it reaches memory that the host may use at any time";
		return;
	}
	r->why = cuda_session.contexts[m->owner].ordinal != r->context->ordinal
			 ? "reaches memory of another device"
			 : "reaches memory of another context";
	if (m->kind == MEMORY_SHARED || m->kind == MEMORY_GIVEN || m->kind == MEMORY_FOREIGN)
		return;
	(void)vec_push(&r->others, m->address);
}

static void reach_add(void *data, const struct program_memory *m)
{
	struct reach *r = data;

	if (m->owner != r->context->number) {
		reach_other(r, m);
		return;
	}
	if (!m->known || r->overflow)
		return;
	for (unsigned i = r->n; i-- > 0;)
		if (r->items[i].memory == m->known)
			return;
	if (r->n == CUDA_REACH_MAX) {
		r->overflow = true;
		return;
	}
	r->items[r->n++] = (struct runtime_reach){.memory = m->known, .size = m->size};
}

/* Memory that appeared since the engine was last told, and is needed now. */
static void reach_introduce(struct cuda_context *c)
{
	uint64_t added = cuda_session.memories.added;
	struct program_memory m;

	if (!c->device || c->introduced == added)
		return;
	while (memories_unknown(&cuda_session.memories, c->number, &m)) {
		struct runtime_memory r = {.address = m.address, .size = m.size};
		struct replay_memory *known;

		/* Managed memory is saved and put back like the device's own: the host looks at it
		 * after a call that ends the window, and threads that look during one race. */
		if (m.kind == MEMORY_HOST)
			r.flags |= RUNTIME_MEMORY_HOST;
		if (m.kind == MEMORY_MANAGED)
			r.flags |= RUNTIME_MEMORY_MANAGED;
		r.why = cuda_memory_why_not(&m, &r.flags);
		if (m.kind == MEMORY_ARRAY && (r.why = cuda_array_why_not(m.address)))
			r.flags |= RUNTIME_MEMORY_UNSAVABLE;
		known = replay_memory_add(c->device, &r);
		if (!known)
			return;
		if (!memories_name(&cuda_session.memories, m.address, known))
			replay_memory_remove(c->device, known); /* another thread was faster */
		else
			cuda_memory_shared_since(&m);
	}
	c->introduced = added;
}

/* What it reaches of other contexts may change while their windows are open, and while passes run:
 * they end, and from now on that memory is neither saved nor put back. */
static void reach_share(struct reach *r)
{
	struct program_memory was;

	if (!r->others.n)
		return;
	cuda_boundary(r->context, "a launch of another context");
	vec_for_each (&r->others, address)
		if (memories_share(&cuda_session.memories, *address, &was))
			cuda_memory_unknown(&was);
	vec_release(&r->others);
}

static void reach_end(struct reach *r, struct runtime_op *op)
{
	reach_share(r);
	op->reach = r->items;
	op->n_reach = r->n;
	if (r->overflow)
		r->why = "reaches more memories than can be followed";
	if (cuda_session.why_none && !r->why)
		r->why = cuda_session.why_none;
	/* What is launched once is checked by nobody: it may reach anything. */
	if (r->why) {
		op->flags |= RUNTIME_OP_NEVER_REPLAY;
		op->why = r->why;
		op->n_reach = 0;
	}
}

/* ---- kernels ---- */

#define EXTRA_MOST      8           /* words of the list: it has two keys */
#define PARAMETERS_MOST (64u << 10) /* bytes; CUDA 13 takes 32764 */

/* The parameters as the launch gave them, packed into one buffer. */
static size_t pack(const struct cuda_function *f, void **arguments, unsigned char *out)
{
	for (unsigned i = 0; i < f->n; i++)
		memcpy(out + f->parameters[i].offset, arguments[i], f->parameters[i].size);
	return f->bytes;
}

bool cuda_extra_buffer(void *const *extra, const void **buffer_out, size_t *size_out)
{
	const void *buffer = NULL;
	const size_t *size = NULL;

	for (unsigned i = 0; i < EXTRA_MOST && extra[i] != CU_EXTRA_END; i += 2) {
		if (extra[i] == CU_EXTRA_POINTER)
			buffer = extra[i + 1];
		else if (extra[i] == CU_EXTRA_SIZE)
			size = extra[i + 1];
		else
			return false;
	}
	if (!buffer || !size || *size > PARAMETERS_MOST)
		return false;
	*buffer_out = buffer;
	*size_out = *size;
	return true;
}

/* Attributes that another launch of the same kernel may carry. Events must fire once; serial
 * replay makes programmatic dependence a wait that is over at once. */
static unsigned attributes_keep(const struct cu_launch_config *config, struct cu_attribute *out,
				bool *cooperative)
{
	unsigned n = 0;

	for (unsigned i = 0; i < config->n_attributes; i++) {
		const struct cu_attribute *a = &config->attributes[i];

		switch (a->id) {
		case CU_ATTRIBUTE_STREAM_SERIALIZATION:
		case CU_ATTRIBUTE_PROGRAMMATIC_EVENT:
		case CU_ATTRIBUTE_COMPLETION_EVENT:
		case CU_ATTRIBUTE_UPDATABLE_NODE:
			break;
		case CU_ATTRIBUTE_COOPERATIVE:
			*cooperative |= a->value.flag != 0;
			out[n++] = *a;
			break;
		default:
			out[n++] = *a;
		}
	}
	return n;
}

static struct cuda_op *record(const struct cuda_function *f, const struct cu_launch_config *config,
			      void **arguments, void **extra, bool cooperative, const char **why)
{
	const void *buffer = NULL;
	size_t size = f->bytes, pointers = 0, attributes_at;
	struct cuda_op *op;
	unsigned char *bytes;

	*why = f->why_unknown;
	if (f->known && (arguments || (!f->n && !extra)))
		pointers = (f->n + 1) * sizeof(void *);
	else if (!extra || !cuda_extra_buffer(extra, &buffer, &size))
		return NULL;
	*why = "no memory to record it";
	/* 16-byte alignment of the parameters is what the driver's own callers give. */
	pointers = (pointers + 15) & ~(size_t)15;
	attributes_at = (pointers + size + 15) & ~(size_t)15;
	op = cuda_op_new(attributes_at + config->n_attributes * sizeof(struct cu_attribute));
	if (!op)
		return NULL;
	op->kind = CUDA_OP_KERNEL;
	op->stream = config->stream;
	op->cooperative = cooperative;
	op->u.kernel.function = f->function;
	op->u.kernel.config = *config;
	op->u.kernel.n_bytes = size;
	bytes = op->bytes + pointers;
	if (buffer) {
		op->u.kernel.n_arguments = UINT_MAX;
		memcpy(bytes, buffer, size);
	} else {
		void **list = (void **)(void *)op->bytes;

		op->u.kernel.n_arguments = f->n;
		pack(f, arguments, bytes);
		for (unsigned i = 0; i < f->n; i++)
			list[i] = bytes + f->parameters[i].offset;
		list[f->n] = NULL;
	}
	op->u.kernel.config.attributes = (struct cu_attribute *)(void *)(op->bytes + attributes_at);
	op->u.kernel.config.n_attributes =
		attributes_keep(config, op->u.kernel.config.attributes, &op->cooperative);
	return op;
}

static const unsigned char *op_parameters(const struct cuda_op *op)
{
	size_t pointers = op->u.kernel.n_arguments == UINT_MAX
				  ? 0
				  : (op->u.kernel.n_arguments + 1) * sizeof(void *);

	return op->bytes + ((pointers + 15) & ~(size_t)15);
}

void cuda_launch_describe(struct cuda_context *c, const struct cu_launch_config *config,
			  struct CUfunc_st *function, void **arguments, void **extra,
			  bool cooperative, const char *name, struct runtime_op *op_out)
{
	const struct cuda_function *f = cuda_functions_get(c, function, name);
	struct cuda_op *op = NULL;
	const char *why = "no memory to record it";
	struct reach reach;

	*op_out = (struct runtime_op){.kind = RUNTIME_DISPATCH,
				      .flags = RUNTIME_OP_ONE_KERNEL,
				      .queue = (uint64_t)(uintptr_t)config->stream,
				      .queue_native = config->stream,
				      .kernel = name ? name : "?"};
	memcpy(op_out->grid, config->grid, sizeof(op_out->grid));
	memcpy(op_out->block, config->block, sizeof(op_out->block));
	op_out->shared_bytes = config->shared_bytes;
	reach_begin(&reach, c);
	if (f) {
		op_out->registers = f->registers;
		op_out->shared_bytes += f->shared_bytes;
		if (f->module)
			cuda_module_refresh(f->module);
		reach.why = cuda_function_why_not(f);
		op = record(f, config, arguments, extra, cooperative, &why);
	}
	if (op) {
		reach_introduce(c);
		memories_scan(&cuda_session.memories, op_parameters(op), op->u.kernel.n_bytes,
			      reach_add, &reach);
		cuda_arrays_scan(c, op_parameters(op), op->u.kernel.n_bytes, reach_add, &reach);
		if (!reach.why && cuda_pageable_scan(c, op_parameters(op), op->u.kernel.n_bytes, f))
			reach.why = cuda_pageable_why;
	}
	for (const struct cuda_variable *v = f && f->module ? cuda_module_variables(f->module)
							    : NULL;
	     v; v = v->next) {
		struct program_memory m;

		if (memories_find(&cuda_session.memories, v->address, &m))
			reach_add(&reach, &m);
	}
	/* What the open window has recorded of the module is not whole: it must not be replayed. */
	if (f && f->module && cuda_module_was_late(f->module)) {
		op_out->flags |= RUNTIME_OP_NO_WAIT_BEFORE;
		reach.why = "a variable of its module was found late";
	}
	reach.why = op || reach.why ? reach.why : why;
	op_out->recorded = op;
	reach_end(&reach, op_out);
}

/* ---- graphs ---- */

/* Pointers that lie in memory are followed by nobody here, so all of the device's is taken. What
 * the host uses, and what is another's, belongs to it only when the graph names it. */
static void reach_add_own(void *data, const struct program_memory *m)
{
	if (m->kind != MEMORY_HOST && m->kind != MEMORY_FOREIGN)
		reach_add(data, m);
}

static void reach_maybe(void *data, const struct program_memory *m)
{
	struct reach *r = data;

	(void)m;
	r->why = "a graph that may reach memory of another context";
}

void cuda_graph_describe(struct cuda_context *c, struct CUgraphExec_st *graph,
			 struct CUstream_st *stream, struct runtime_op *op_out)
{
	const char *why = cuda_graph_why_not(graph, c);
	struct cuda_op *op = cuda_op_new(0);
	struct reach reach;
	bool known, late = false;

	*op_out = (struct runtime_op){.kind = RUNTIME_DISPATCH,
				      .queue = (uint64_t)(uintptr_t)stream,
				      .queue_native = stream,
				      .kernel = "CUDA graph"};
	reach_begin(&reach, c);
	if (op) {
		op->kind = CUDA_OP_GRAPH;
		op->stream = stream;
		op->u.graph = graph;
		if (!why)
			why = cuda_graph_refresh(graph, &late);
		if (late) /* as of a kernel */
			op_out->flags |= RUNTIME_OP_NO_WAIT_BEFORE;
		reach_introduce(c);
		known = cuda_graph_scan(graph, reach_add, &reach);
		if (!why && cuda_graph_is_pageable(c, graph))
			why = cuda_pageable_why;
		for (unsigned i = 0; i < cuda_session.n_contexts; i++)
			if (i == c->number)
				memories_each(&cuda_session.memories, i,
					      known ? reach_add_own : reach_add, &reach);
			else if (!known)
				memories_each(&cuda_session.memories, i, reach_maybe, &reach);
	}
	reach.why = why ? why : reach.why;
	op_out->recorded = op;
	reach_end(&reach, op_out);
}

/* ---- transfers ---- */

/* In one memory that the context's windows can have. */
static bool is_own(const struct cuda_context *c, cu_ptr address, size_t n, struct program_memory *m)
{
	return memories_find(&cuda_session.memories, address, m) && m->known &&
	       m->owner == c->number && m->kind != MEMORY_SHARED && m->kind != MEMORY_GIVEN &&
	       m->kind != MEMORY_FOREIGN && n <= m->address + m->size - address;
}

bool cuda_transfer_describe(struct cuda_context *c, struct cuda_op *recorded, cu_ptr to,
			    cu_ptr from, size_t n, struct runtime_op *op_out)
{
	static _Thread_local struct runtime_reach reach[2];
	struct program_memory m;

	*op_out = (struct runtime_op){.kind = RUNTIME_TRANSFER,
				      .flags = RUNTIME_OP_REACH_EXACT,
				      .queue = (uint64_t)(uintptr_t)recorded->stream,
				      .queue_native = recorded->stream,
				      .recorded = recorded,
				      .reach = reach};
	reach_introduce(c);
	if (!is_own(c, to, n, &m))
		return false;
	reach[op_out->n_reach++] = (struct runtime_reach){.memory = m.known,
							  .offset = to - m.address,
							  .size = n,
							  .access = RUNTIME_ONLY_WRITES};
	if (!from)
		return true;
	if (!is_own(c, from, n, &m))
		return false;
	reach[op_out->n_reach++] = (struct runtime_reach){.memory = m.known,
							  .offset = from - m.address,
							  .size = n,
							  .access = RUNTIME_ONLY_READS};
	return true;
}

/* ---- again ---- */

static cu_result kernel_again(struct cuda_op *op)
{
	const struct cuda_driver *d = &cuda_session.driver;
	const struct cu_launch_config *k = &op->u.kernel.config;
	struct CUfunc_st *f = op->u.kernel.function;
	void **arguments = (void **)(void *)op->bytes;
	size_t size = op->u.kernel.n_bytes;
	void *extra[] = {CU_EXTRA_POINTER, op->bytes, CU_EXTRA_SIZE, &size, CU_EXTRA_END};
	bool packed = op->u.kernel.n_arguments == UINT_MAX;

	if (k->n_attributes) {
		if (!d->launch_ex)
			return CU_NOT_FOUND;
		return d->launch_ex(k, f, packed ? NULL : arguments, packed ? extra : NULL);
	}
	if (op->cooperative) {
		if (!d->launch_cooperative || packed)
			return CU_NOT_FOUND;
		return d->launch_cooperative(f, k->grid[0], k->grid[1], k->grid[2], k->block[0],
					     k->block[1], k->block[2], k->shared_bytes, k->stream,
					     arguments);
	}
	return d->launch(f, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
			 k->block[2], k->shared_bytes, k->stream, packed ? NULL : arguments,
			 packed ? extra : NULL);
}

int cuda_launch_again(void *device, void *recorded, struct error *err)
{
	const struct cuda_driver *d = &cuda_session.driver;
	struct cuda_context *c = device;
	struct cuda_op *op = recorded;
	cu_result result = CU_OK;

	if (c->own_busy) { /* restores come first */
		result = d->stream_wait(c->own);
		c->own_busy = false;
	}
	switch (result ? -1 : (int)op->kind) {
	case CUDA_OP_KERNEL:
		result = kernel_again(op);
		break;
	case CUDA_OP_GRAPH:
		result = d->graph_launch(op->u.graph, op->stream);
		break;
	case CUDA_OP_COPY:
		result = d->copy(op->u.transfer.to, op->u.transfer.from, op->u.transfer.n,
				 op->stream);
		break;
	case CUDA_OP_HTOD:
		result = d->htod(op->u.transfer.to, op->bytes, op->u.transfer.n, op->stream);
		break;
	case CUDA_OP_SET8:
		result = d->set8(op->u.transfer.to, (unsigned char)op->u.transfer.value,
				 op->u.transfer.n, op->stream);
		break;
	case CUDA_OP_SET16:
		result = d->set16(op->u.transfer.to, (unsigned short)op->u.transfer.value,
				  op->u.transfer.n, op->stream);
		break;
	case CUDA_OP_SET32:
		result = d->set32(op->u.transfer.to, op->u.transfer.value, op->u.transfer.n,
				  op->stream);
		break;
	default:
		break;
	}
	cuda_drain_note(c, op->stream);
	if (result)
		return error_set(err, RC_ERROR, "launching it again: %s",
				 cuda_driver_error(d, result));
	return 0;
}
