/* SPDX-License-Identifier: Apache-2.0 */
/* The device of the engine's tests: queues, memory and the runtime's callbacks. */
#include "fake.h"

#include "../test.h"
#include "base/hash.h"
#include "fake_parts.h"

#include <stdlib.h>

/* ---- kernels ---- */

static int64_t run_add(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	int64_t work = 0;

	(void)f;
	for (uint64_t i = 0; i < args[0]->size; i++) {
		work += args[0]->bytes[i];
		args[0]->bytes[i] = (uint8_t)(args[0]->bytes[i] + value);
	}
	return work;
}

static int64_t run_fill(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	(void)f;
	memset(args[0]->bytes, (int)value, args[0]->size);
	return (int64_t)args[0]->size;
}

static int64_t run_append(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	uint8_t *at = &args[0]->bytes[0];

	(void)f;
	/* Run once too often it would leave its memory. */
	assert_true(*at + 1u < args[0]->size);
	args[0]->bytes[++*at] = (uint8_t)value;
	return *at;
}

static int64_t run_done(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	(void)f;
	if (args[0]->bytes[0])
		return 1;
	args[0]->bytes[0] = (uint8_t)(value | 1);
	return 1000;
}

static int64_t run_wait(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	(void)f;
	(void)value;
	return args[0]->bytes[0] ? 5 : -1;
}

static int64_t run_signal(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	(void)f;
	args[0]->bytes[0] = (uint8_t)value;
	return 1;
}

static int64_t run_outside(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	(void)f;
	for (int i = 0; i < FAKE_ARGS; i++)
		if (args[i])
			args[i]->bytes[0] = (uint8_t)(args[i]->bytes[0] + value);
	return 1;
}

static int64_t run_dot(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	uint64_t sum = value;

	(void)f;
	for (uint64_t i = 0; i < args[0]->size; i++)
		sum = sum * 31 + args[0]->bytes[i];
	memcpy(args[1]->bytes, &sum, sizeof(sum));
	return (int64_t)(sum & 0xffff);
}

static int64_t run_varying(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	static uint8_t next;

	(void)f;
	args[0]->bytes[value] = ++next;
	args[0]->bytes[args[0]->size - 1 - next % 64] = next;
	return 7;
}

static int64_t run_sparse(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	(void)f;
	args[0]->bytes[value]++;
	return args[0]->bytes[value];
}

static int64_t run_nothing(struct fake *f, struct fake_buffer *args[FAKE_ARGS], uint64_t value)
{
	(void)f;
	(void)value;
	return args[0]->bytes[0] + 1;
}

const struct fake_kernel fake_add = {"add", run_add}, fake_fill = {"fill", run_fill},
			 fake_append = {"append", run_append}, fake_done = {"done", run_done},
			 fake_wait = {"wait", run_wait}, fake_signal = {"signal", run_signal},
			 fake_outside = {"outside", run_outside}, fake_dot = {"dot", run_dot},
			 fake_varying = {"varying", run_varying},
			 fake_sparse = {"sparse", run_sparse},
			 fake_nothing = {"nothing", run_nothing};

/* ---- failures ---- */

int fake_fails(struct fake *f, enum fake_call call, struct error *err)
{
	struct fake_failure *x = &f->failures[call];
	uint64_t n = ++f->calls[call];

	if (f->lost && call != FAKE_APPEND)
		return error_set(err, RC_END, "the device fell off the bus");
	if (!x->after || n < x->after || n >= x->after + x->times)
		return 0;
	if (x->code == RC_END && call < FAKE_PASS_BEGIN)
		f->lost = true;
	return error_set(err, x->code, "call %d failed on demand", (int)call);
}

/* ---- queues ---- */

void fake_push(struct fake *f, uint32_t queue, struct fake_command c)
{
	struct fake_command *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	*copy = c;
	assert_true(vec_push(&f->queues[queue], copy));
}

static void collect_args(struct fake *f, const struct fake_launch *l,
			 struct fake_buffer *args[FAKE_ARGS])
{
	for (uint32_t i = 0; i < FAKE_ARGS; i++)
		args[i] = i < l->n_args ? &f->buffers[l->args[i]] : NULL;
	if (l->hidden > 0)
		args[l->n_args] = &f->buffers[l->hidden];
}

/* False: it waits. */
static bool run_command(struct fake *f, uint32_t queue, struct fake_command *c)
{
	struct fake_buffer *args[FAKE_ARGS];
	int64_t work;

	switch (c->kind) {
	case COMMAND_SAVE:
		memcpy(c->store + c->store_offset, c->from, c->bytes);
		return true;
	case COMMAND_UNIT_BEGIN:
		fake_unit_begins(f, queue, c->unit);
		return true;
	case COMMAND_UNIT_END:
		fake_unit_ends(f, queue, c->unit);
		return true;
	case COMMAND_LAUNCH:
		break;
	}
	collect_args(f, &c->launch, args);
	if (!c->launch.kernel) {
		memcpy(args[1]->bytes, args[0]->bytes, args[1]->size);
		return true;
	}
	work = c->launch.kernel->run(f, args, c->launch.value);
	if (work < 0)
		return false;
	fake_unit_works(f, queue, (uint64_t)work);
	return true;
}

/* Runs all that can run, one command of each queue in turn. */
bool fake_progress(struct fake *f)
{
	bool moved = true, idle = true;

	while (moved) {
		moved = false;
		idle = true;
		for (uint32_t q = 0; q < FAKE_QUEUES; q++) {
			if (!f->queues[q].n)
				continue;
			idle = false;
			if (!run_command(f, q, f->queues[q].items[0]))
				continue;
			free(f->queues[q].items[0]);
			memmove(f->queues[q].items, f->queues[q].items + 1,
				--f->queues[q].n * sizeof(*f->queues[q].items));
			moved = true;
		}
	}
	return idle;
}

/* ---- the runtime ---- */

static int drain(void *device, uint64_t bound_ns, struct error *err)
{
	struct fake *f = device;
	int rc;

	(void)bound_ns;
	pthread_mutex_lock(&f->lock);
	rc = fake_fails(f, FAKE_DRAIN, err);
	if (!rc && !fake_progress(f))
		rc = error_set(err, RC_TIMEOUT, "the device is not idle");
	pthread_mutex_unlock(&f->lock);
	return rc;
}

struct store {
	uint64_t size;
	uint8_t bytes[];
};

static int store_get(void *device, uint64_t bytes, enum runtime_store_kind kind, void **store_out,
		     struct error *err)
{
	struct fake *f = device;
	struct store *s;
	int rc;

	assert_true(kind == RUNTIME_STORE_HOST || (f->runtime.capabilities & RUNTIME_DEVICE_STORE));
	pthread_mutex_lock(&f->lock);
	rc = fake_fails(f, FAKE_STORE_GET, err);
	if (!rc && f->room && f->bytes_stored + bytes > f->room)
		rc = error_set(err, RC_NO_MEMORY, "no memory for a snapshot");
	if (!rc) {
		s = malloc(sizeof(*s) + bytes);
		assert_non_null(s);
		memset(s->bytes, 0xee, bytes);
		s->size = bytes;
		f->stores++;
		f->bytes_stored += bytes;
		*store_out = s;
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static void store_put(void *device, void *store)
{
	struct fake *f = device;
	struct store *s = store;

	pthread_mutex_lock(&f->lock);
	f->stores--;
	f->bytes_stored -= s->size;
	free(s);
	pthread_mutex_unlock(&f->lock);
}

static struct fake_buffer *buffer_of(const struct runtime_memory *m, uint64_t offset,
				     uint64_t bytes)
{
	struct fake_buffer *b = m->data;

	assert_true(b->used && offset <= b->size && bytes <= b->size - offset);
	return b;
}

static int save(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		void *store, uint64_t store_offset, const struct runtime_op *before,
		struct error *err)
{
	struct fake *f = device;
	struct store *s = store;
	struct fake_buffer *b = buffer_of(m, offset, bytes);
	int rc;

	assert_true(store_offset + bytes <= s->size);
	pthread_mutex_lock(&f->lock);
	rc = fake_fails(f, FAKE_SAVE, err);
	if (rc)
		memcpy(s->bytes + store_offset, b->bytes + offset, bytes / 2);
	else if (before)
		fake_push(f, (uint32_t)before->queue,
			  (struct fake_command){.kind = COMMAND_SAVE,
						.from = b->bytes + offset,
						.store = s->bytes,
						.store_offset = store_offset,
						.bytes = bytes});
	else
		memcpy(s->bytes + store_offset, b->bytes + offset, bytes);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static int restore(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		   void *store, uint64_t store_offset, struct error *err)
{
	struct fake *f = device;
	struct store *s = store;
	struct fake_buffer *b = buffer_of(m, offset, bytes);
	int rc;

	assert_true(store_offset + bytes <= s->size);
	pthread_mutex_lock(&f->lock);
	assert_true(fake_is_own());
	rc = fake_fails(f, FAKE_RESTORE, err);
	if (!f->no_restore)
		memcpy(b->bytes + offset, s->bytes + store_offset, rc ? bytes / 2 : bytes);
	f->bytes_restored += bytes;
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static int compare(void *device, const struct runtime_memory *m, uint64_t offset, uint64_t bytes,
		   void *store, uint64_t store_offset, uint64_t chunk, uint64_t *bitmap,
		   struct error *err)
{
	struct fake *f = device;
	struct store *s = store;
	struct fake_buffer *b = buffer_of(m, offset, bytes);
	uint64_t at, n;
	int rc;

	assert_true(store_offset + bytes <= s->size);
	pthread_mutex_lock(&f->lock);
	assert_true(fake_is_own());
	rc = fake_fails(f, FAKE_COMPARE, err);
	for (at = 0; at < bytes && !rc; at += n) {
		n = bytes - at < chunk ? bytes - at : chunk;
		if (!f->no_restore &&
		    memcmp(b->bytes + offset + at, s->bytes + store_offset + at, n))
			bitmap[at / chunk / 64] |= 1ull << (at / chunk % 64);
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static int hash(void *device, const struct runtime_memory *m, uint64_t *hash_out, struct error *err)
{
	struct fake *f = device;
	struct fake_buffer *b = buffer_of(m, 0, 0);
	int rc;

	pthread_mutex_lock(&f->lock);
	assert_true(fake_is_own());
	rc = fake_fails(f, FAKE_HASH, err);
	*hash_out = hash64(b->bytes, b->size);
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static int launch(void *device, void *recorded, struct error *err)
{
	struct fake *f = device;
	struct fake_launch *l = recorded;
	int rc;

	pthread_mutex_lock(&f->lock);
	assert_true(fake_is_own());
	rc = fake_fails(f, FAKE_LAUNCH, err);
	if (!rc)
		fake_push(f, l->queue, (struct fake_command){.kind = COMMAND_LAUNCH, .launch = *l});
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static void op_release(void *device, void *recorded)
{
	struct fake *f = device;

	pthread_mutex_lock(&f->lock);
	f->recorded--;
	free(recorded);
	pthread_mutex_unlock(&f->lock);
}

const struct runtime fake_runtime = {
	.name = "fake",
	.size = sizeof(struct runtime),
	.capabilities = RUNTIME_ORDERED_SAVE | RUNTIME_DEVICE_STORE,
	.drain = drain,
	.store_get = store_get,
	.store_put = store_put,
	.save = save,
	.restore = restore,
	.compare = compare,
	.hash = hash,
	.launch = launch,
	.op_release = op_release,
};

/* ---- the program ---- */

int fake_alloc(struct fake *f, uint64_t size, uint32_t flags, const char *why)
{
	int i = 1; /* 0 means no buffer */

	if (f->replay)
		replay_boundary(f->device, "alloc");
	while (f->buffers[i].used)
		i++;
	assert_true(i < FAKE_BUFFERS);
	f->buffers[i] = (struct fake_buffer){.bytes = calloc(1, size), .size = size, .used = true};
	assert_non_null(f->buffers[i].bytes);
	for (uint64_t k = 0; k < size; k++)
		f->buffers[i].bytes[k] = (uint8_t)(k * 7 + (uint64_t)i);
	f->buffers[i].memory = (struct runtime_memory){.address = (uint64_t)i << 32,
						       .size = size,
						       .flags = flags,
						       .why = why,
						       .data = &f->buffers[i]};
	if (f->replay)
		f->buffers[i].record = replay_memory_add(f->device, &f->buffers[i].memory);
	return i;
}

void fake_free(struct fake *f, int buffer)
{
	if (f->replay) {
		replay_boundary(f->device, "free");
		replay_memory_remove(f->device, f->buffers[buffer].record);
	}
	free(f->buffers[buffer].bytes);
	memset(&f->buffers[buffer], 0, sizeof(f->buffers[buffer]));
}

static void fill_op(struct fake *f, const struct fake_launch *l, struct runtime_op *op,
		    struct runtime_reach reach[FAKE_ARGS])
{
	*op = (struct runtime_op){.kind = l->kernel ? RUNTIME_DISPATCH : RUNTIME_TRANSFER,
				  .flags = l->flags,
				  .why = l->why,
				  .queue = l->queue,
				  .kernel = l->kernel ? l->kernel->name : NULL,
				  .grid = {1 + l->wider, 2, 3},
				  .n_reach = l->n_args,
				  .reach = reach};
	for (uint32_t i = 0; i < l->n_args; i++)
		reach[i] = (struct runtime_reach){.memory = f->buffers[l->args[i]].record,
						  .size = f->buffers[l->args[i]].size,
						  .access = l->access[i]};
	if (!l->kernel) {
		reach[0].access = RUNTIME_ONLY_READS;
		reach[1].access = RUNTIME_ONLY_WRITES;
	}
}

enum replay_verdict fake_launch(struct fake *f, const struct fake_launch *l)
{
	struct runtime_reach reach[FAKE_ARGS];
	struct runtime_op op;
	struct fake_launch *copy = NULL;
	enum replay_verdict verdict = REPLAY_LIVE;

	fill_op(f, l, &op, reach);
	if (f->replay && !l->unrecordable) {
		copy = malloc(sizeof(*copy));
		assert_non_null(copy);
		*copy = *l;
		pthread_mutex_lock(&f->lock);
		f->recorded++;
		pthread_mutex_unlock(&f->lock);
		op.recorded = copy;
	}
	if (f->replay)
		verdict = replay_before(f->device, &op);
	pthread_mutex_lock(&f->lock);
	if (!l->fails)
		fake_push(f, l->queue, (struct fake_command){.kind = COMMAND_LAUNCH, .launch = *l});
	pthread_mutex_unlock(&f->lock);
	if (!f->replay)
		return verdict;
	replay_after(f->device, &op, !l->fails);
	if (copy && verdict != REPLAY_RECORDED)
		op_release(f, copy);
	return verdict;
}

bool fake_sync(struct fake *f, const char *name)
{
	bool idle;

	if (f->replay)
		replay_boundary(f->device, name);
	pthread_mutex_lock(&f->lock);
	idle = fake_progress(f);
	pthread_mutex_unlock(&f->lock);
	return idle;
}

uint64_t fake_hash(struct fake *f)
{
	uint64_t h = 0;

	for (int i = 1; i < FAKE_BUFFERS; i++) {
		uint64_t pair[2] = {h, 0};

		if (!f->buffers[i].used)
			continue;
		pair[1] = hash64(f->buffers[i].bytes, f->buffers[i].size);
		h = hash64(pair, sizeof(pair));
	}
	return h;
}
