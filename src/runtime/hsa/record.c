/* SPDX-License-Identifier: Apache-2.0 */
/* Describing, recording and repeating kernel packets: see record.h. */
#include "runtime/hsa/record.h"

#include "runtime/hsa/submit.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory for arguments: classes by size, kept warm ---- */

#define CLASS_MIN 6u /* 64 bytes */
#define CLASSES   11u
#define SLAB      (64u << 10)

struct slab {
	struct slab *next;
	void *memory;
};
static struct {
	pthread_mutex_t lock;
	void *free[CLASSES]; /* lists through the memory itself */
	struct slab *slabs;
} arguments = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned class_of(size_t bytes)
{
	unsigned k = 0;

	while (k < CLASSES && (size_t)1 << (k + CLASS_MIN) < bytes)
		k++;
	return k;
}

static void *arguments_pop(unsigned k)
{
	void *p;

	pthread_mutex_lock(&arguments.lock);
	p = arguments.free[k];
	if (p)
		memcpy(&arguments.free[k], p, sizeof(void *));
	pthread_mutex_unlock(&arguments.lock);
	return p;
}

static void arguments_put(void *p, size_t room)
{
	unsigned k = class_of(room);

	if (!p)
		return;
	pthread_mutex_lock(&arguments.lock);
	memcpy(p, &arguments.free[k], sizeof(void *));
	arguments.free[k] = p;
	pthread_mutex_unlock(&arguments.lock);
}

/* More pieces of that class, which every GPU can read. */
static bool arguments_more(unsigned k)
{
	const struct hsa_amd_table *a = &hsa_session.amd;
	struct slab *slab = malloc(sizeof(*slab));
	size_t piece = (size_t)1 << (k + CLASS_MIN);

	if (!slab)
		return false;
	if (!hsa_session.kernarg_pool ||
	    a->hsa_amd_memory_pool_allocate(hsa_session.kernarg_pool, SLAB, 0, &slab->memory)) {
		free(slab);
		return false;
	}
	(void)a->hsa_amd_agents_allow_access(hsa_session.n_agents, hsa_session.agents, NULL,
					     slab->memory);
	for (size_t at = 0; at < SLAB; at += piece)
		arguments_put((char *)slab->memory + at, piece);
	pthread_mutex_lock(&arguments.lock);
	slab->next = arguments.slabs;
	arguments.slabs = slab;
	pthread_mutex_unlock(&arguments.lock);
	return true;
}

static void *arguments_get(size_t bytes, size_t *room_out)
{
	unsigned k = class_of(bytes);
	void *p;

	if (k >= CLASSES)
		return NULL;
	*room_out = (size_t)1 << (k + CLASS_MIN);
	p = arguments_pop(k);
	if (!p && arguments_more(k))
		p = arguments_pop(k);
	return p;
}

void hsa_record_give_back(void)
{
	struct slab *s, *next;

	pthread_mutex_lock(&arguments.lock);
	s = arguments.slabs;
	arguments.slabs = NULL;
	memset(arguments.free, 0, sizeof(arguments.free));
	pthread_mutex_unlock(&arguments.lock);
	for (; s; s = next) {
		next = s->next;
		if (!atomic_load(&hsa_session.closed))
			(void)hsa_session.amd.hsa_amd_memory_pool_free(s->memory);
		free(s);
	}
}

/* ---- what a kernel can reach ---- */

struct reach {
	uint64_t agent;
	uint64_t module; /* of the kernel; 0: not known */
	uint32_t n;
	const char *why; /* it cannot be replayed */
	struct runtime_reach *items;
};
static _Thread_local struct runtime_reach *reach_items __attribute__((tls_model("initial-exec")));

static void reach_add(void *data, const struct program_memory *m)
{
	struct reach *r = data;

	if (m->kind == MEMORY_HOST) {
		r->why = "it reaches memory that the host may use at any time";
		return;
	}
	if (m->owner != r->agent) {
		r->why = "it reaches memory of another device";
		return;
	}
	if (!m->known) {
		r->why = "it reaches memory that could not be recorded";
		return;
	}
	for (uint32_t i = r->n; i-- > 0;)
		if (r->items[i].memory == m->known)
			return;
	if (r->n == HSA_REACH_MAX) {
		r->why = "it reaches more memories than can be followed";
		return;
	}
	r->items[r->n++] = (struct runtime_reach){.memory = m->known, .size = m->size};
}

/* Module variables are reached without an argument. */
static void reach_add_variable(void *data, const struct program_memory *m)
{
	struct reach *r = data;

	if (m->kind == MEMORY_VARIABLE && (!r->module || m->module == r->module))
		reach_add(r, m);
}

/* Memory that appeared since the engine was last told. */
static void introduce(struct hsa_device *d)
{
	struct program_memory m;

	while (memories_unknown(&hsa_session.memories, d->agent, &m)) {
		struct runtime_memory r = {.address = m.address, .size = m.size};
		struct replay_memory *known;

		if (m.kind == MEMORY_FOREIGN) {
			r.flags = RUNTIME_MEMORY_UNSAVABLE;
			r.why = "it reaches memory that others use, too";
		}
		known = replay_memory_add(d->engine, &r);
		if (!known)
			return;
		if (!memories_name(&hsa_session.memories, m.address, known))
			replay_memory_remove(d->engine, known); /* another thread was faster */
	}
}

/* ---- describing ---- */

/* A copy of the arguments; NULL: they cannot be read or kept. */
static void *copy_arguments(const struct hsa_kernel_packet *p, size_t bytes, size_t *room_out)
{
	void *copy = arguments_get(bytes ? bytes : 1, room_out);
	struct program_memory m;

	if (!copy || !bytes)
		return copy;
	if (!memories_find(&hsa_session.memories, (uint64_t)(uintptr_t)p->kernarg, &m) ||
	    m.kind == MEMORY_HOST) {
		memcpy(copy, p->kernarg, bytes);
	} else if (hsa_session.core.hsa_memory_copy(copy, p->kernarg, bytes)) {
		arguments_put(copy, *room_out);
		copy = NULL;
	}
	return copy;
}

bool hsa_record_is_collective(const char *name)
{
	return strstr(name, "ncclDevKernel") || strstr(name, "ncclKernel") ||
	       strstr(name, "rccl") || strstr(name, "rocshmem");
}

static const char *against(const struct hsa_tap *tap, const struct hsa_kernel_packet *p,
			   const struct rocm_kernel *kernel)
{
	if (!kernel)
		return "its code object was not seen being loaded";
	if (tap->cooperative)
		return "a cooperative launch";
	if (kernel->argument_bytes && !p->kernarg)
		return "it has no arguments where it should";
	return NULL;
}

static struct hsa_op *record(const struct hsa_kernel_packet *packet,
			     const struct rocm_kernel *kernel)
{
	struct hsa_op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->packet = *packet;
	op->arguments = copy_arguments(packet, kernel->argument_bytes, &op->argument_room);
	if (!op->arguments) {
		free(op);
		return NULL;
	}
	op->packet.kernarg = op->arguments;
	return op;
}

void hsa_record_describe(struct hsa_tap *tap, const struct hsa_kernel_packet *packet,
			 const struct rocm_kernel *kernel, struct runtime_op *op_out)
{
	const char *why = against(tap, packet, kernel);
	struct reach reach = {.agent = tap->device->agent};
	struct hsa_op *op = NULL;

	*op_out = (struct runtime_op){.kind = RUNTIME_DISPATCH,
				      .queue = tap->number,
				      .queue_native = tap->queue,
				      .kernel = kernel ? kernel->name : "?",
				      .shared_bytes = packet->group_bytes};
	for (unsigned i = 0; i < 3; i++) {
		op_out->block[i] = packet->workgroup[i];
		op_out->grid[i] = packet->workgroup[i] ? (packet->grid[i] + packet->workgroup[i] -
							  1) / packet->workgroup[i]
						       : 0;
	}
	if (kernel)
		op_out->registers = kernel->registers;
	if (kernel && hsa_record_is_collective(kernel->name)) {
		op_out->flags |= RUNTIME_OP_NEVER_REPLAY;
		why = "a collective";
	}
	if (!reach_items)
		reach_items = malloc(HSA_REACH_MAX * sizeof(*reach_items));
	reach.items = reach_items;
	if (!why && !reach_items)
		why = "no memory to record it";
	if (!why && !(op = record(packet, kernel)))
		why = "its arguments could not be kept";
	if (op) {
		introduce(tap->device);
		reach.module = kernel->module;
		memories_scan(&hsa_session.memories, op->arguments, kernel->argument_bytes,
			      reach_add, &reach);
		memories_each(&hsa_session.memories, reach.agent, reach_add_variable, &reach);
		why = reach.why;
	}
	if (why) {
		hsa_record_free(op);
		op = NULL;
	}
	/* Of what is not recorded the list may be short: then it reaches anything. */
	op_out->n_reach = why ? 0 : reach.n;
	op_out->reach = reach.items;
	op_out->recorded = op;
	op_out->why = why;
}

void hsa_record_free(struct hsa_op *op)
{
	if (!op)
		return;
	hsa_flight_unref(op->live);
	arguments_put(op->arguments, op->argument_room);
	free(op);
}

/* ---- for the engine ---- */

int hsa_record_launch(void *device, void *recorded, struct error *err)
{
	struct hsa_device *d = device;
	struct hsa_op *op = recorded;
	struct hsa_kernel_packet packet = op->packet;
	struct hsa_flight *f = hsa_flight_new(0, NULL);
	struct rocm_times_at before;
	int rc;

	if (!f)
		return error_set(err, RC_NO_MEMORY, "no signal to launch a kernel again with");
	/* In order, behind what was launched before it, and with caches as between kernels of one
	 * queue: that is what the first run could rely on at most. */
	packet.header = (uint16_t)(HSA_PACKET_KERNEL | HSA_PACKET_BARRIER |
				   HSA_FENCE_SYSTEM << HSA_PACKET_ACQUIRE_SHIFT |
				   HSA_FENCE_SYSTEM << HSA_PACKET_RELEASE_SHIFT);
	packet.completion = f->signal;
	(void)rocm_device_last(&before);
	hsa_flight_track(d, f);
	rc = hsa_submit(d, &packet, f, err);
	op->timed = !rc && rocm_device_last(&op->at);
	hsa_flight_unref(f);
	return rc;
}

int hsa_record_times(void *device, void *recorded, uint64_t *begin_ns_out, uint64_t *end_ns_out,
		     struct error *err)
{
	struct hsa_op *op = recorded;

	(void)device;
	if (op->timed && rocm_device_times(&op->at, begin_ns_out, end_ns_out))
		return 0;
	return error_set(err, RC_UNSUPPORTED, "its times are not known");
}

void hsa_record_parked(void *device, void *recorded)
{
	struct hsa_op *op = recorded;

	(void)device;
	/* Its window is lost, and it may still run: the program hears of its end at once. */
	if (op->live)
		hsa_flight_forward(op->live);
}

void hsa_record_release(void *device, void *recorded)
{
	struct hsa_op *op = recorded;

	(void)device;
	if (op->live && hsa_flight_over(op->live))
		hsa_flight_deliver(op->live);
	else if (op->live)
		hsa_flight_forward(op->live);
	hsa_record_free(op);
}
