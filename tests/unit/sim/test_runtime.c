/* SPDX-License-Identifier: Apache-2.0 */
/* The sim runtime alone, in front of an engine that only writes down: what it says about the
 * program's calls, and what it does when asked. */
#include "runtime/sim/runtime_sim.h"
#include "tests/unit/sim/fake_engine.h"
#include "tests/unit/sim/sim_test.h"

#include <pthread.h>

#define N     1000u
#define BYTES (N * 8)

static struct runtime_sim_options options;
static struct error err;

static int attach(const struct sim_tools *t, struct sim_api *api)
{
	return runtime_sim_attach(NULL, t, api, NULL, "no source", &options, &err);
}

struct here {
	struct sim_device *d;
	struct sim_queue *q;
	uint64_t a, b, c;
};

static void begin(struct here *h, const struct runtime_sim_options *o,
		  const struct sim_config *config)
{
	options = o ? *o : (struct runtime_sim_options){0};
	fake_reset();
	works(sim_install_tool(attach));
	h->d = sim_test_open(config);
	works(sim_queue_create(h->d, &h->q));
	works(sim_malloc(h->d, BYTES, &h->a));
	works(sim_malloc(h->d, BYTES, &h->b));
	works(sim_malloc(h->d, BYTES, &h->c));
	fake.boundaries[0] = '\0';
}

static void release_ops(void)
{
	for (uint32_t i = 0; i < fake.n_ops; i++)
		if (fake.ops[i].op.recorded)
			fake.runtime->op_release(fake.device, fake.ops[i].op.recorded);
	fake.n_ops = 0;
}

static void end(struct here *h)
{
	if (fake.verdict == REPLAY_RECORDED)
		release_ops();
	works(sim_close(h->d));
	assert_int_equal(fake.n_memories, 0);
	assert_true(runtime_sim_detach());
	runtime_sim_release();
	works(sim_install_tool(NULL));
}

static int drain(void)
{
	return fake.runtime->drain(fake.device, UINT64_C(60) * 1000000000, &err);
}

static const struct runtime_memory *memory_at(uint32_t op, uint32_t reach)
{
	return replay_memory_of(fake.ops[op].reach[reach].memory);
}

static void test_what_the_engine_hears(void **state)
{
	unsigned char host[64] = {1};
	struct here h;
	void *flag;

	(void)state;
	begin(&h, NULL, NULL);
	assert_int_equal(fake.n_memories, 3);
	works(enqueue(h.q, "vector_add", N, h.a, h.b + 400, h.a, 10));
	assert_int_equal(fake.n_ops, 1);
	assert_int_equal(fake.ops[0].op.kind, RUNTIME_DISPATCH);
	assert_string_equal(fake.ops[0].kernel, "vector_add");
	assert_int_equal(fake.ops[0].op.grid[0], 16);
	assert_int_equal(fake.ops[0].op.block[0], 64);
	assert_int_equal(fake.ops[0].op.flags, 0);
	/* a is read and written: one part, without a promise; all of b, wherever in it */
	assert_int_equal(fake.ops[0].op.n_reach, 2);
	assert_true(memory_at(0, 0)->address == h.a);
	assert_int_equal(fake.ops[0].reach[0].access, RUNTIME_MAY_READ_WRITE);
	assert_true(memory_at(0, 1)->address == h.b);
	assert_int_equal(fake.ops[0].reach[1].access, RUNTIME_ONLY_READS);
	assert_int_equal(fake.ops[0].reach[1].offset, 0);
	assert_int_equal(fake.ops[0].reach[1].size, BYTES);
	assert_true(fake.ops[0].launched);

	works(sim_copy_in(h.q, h.b + 8, host, 64));
	assert_int_equal(fake.ops[1].op.kind, RUNTIME_TRANSFER);
	assert_int_equal(fake.ops[1].op.flags, RUNTIME_OP_REACH_EXACT);
	assert_int_equal(fake.ops[1].reach[0].offset, 8);
	assert_int_equal(fake.ops[1].reach[0].size, 64);
	assert_int_equal(fake.ops[1].reach[0].access, RUNTIME_ONLY_WRITES);
	works(sim_copy(h.q, h.c, h.c + 100, 50));
	assert_int_equal(fake.ops[2].op.n_reach, 1);
	assert_int_equal(fake.ops[2].reach[0].offset, 0);
	assert_int_equal(fake.ops[2].reach[0].size, 150);
	assert_int_equal(fake.ops[2].reach[0].access, RUNTIME_MAY_READ_WRITE);
	works(sim_fill(h.q, h.c, 1, 10));
	assert_int_equal(fake.n_ops, 4);
	assert_string_equal(fake.boundaries, "");

	/* memory that the host uses as well: the launch may wait for it */
	works(sim_malloc_shared(h.d, 4, &flag));
	*(uint32_t *)flag = 1;
	works(enqueue(h.q, "spin", 1, (uint64_t)(uintptr_t)flag, h.a));
	assert_int_equal(fake.ops[4].op.flags, RUNTIME_OP_NO_WAIT_BEFORE);
	assert_int_equal(memory_at(4, 0)->flags, RUNTIME_MEMORY_HOST);

	/* what the library refuses: not a dispatch, or one that was not launched */
	assert_int_equal(enqueue(h.q, "nonsense", 1, 1), SIM_INVALID);
	assert_int_equal(enqueue(h.q, "update", 1, h.a), SIM_INVALID);
	assert_int_equal(fake.n_ops, 5);
	assert_int_equal(sim_copy_in(h.q, h.b + BYTES - 1, host, 64), SIM_INVALID);
	assert_int_equal(fake.n_ops, 6);
	assert_false(fake.ops[5].launched);
	assert_null(fake.ops[5].op.recorded);
	assert_int_equal(fake.n_after, fake.n_ops);
	end(&h);
}

static void nothing(void *data)
{
	(void)data;
}

static void query(void *data)
{
	sim_queue_query(data);
}

static void test_boundaries(void **state)
{
	struct sim_queue *second;
	struct sim_event *e;
	struct here h;
	uint32_t out;
	void *flag;

	(void)state;
	begin(&h, NULL, NULL);
	works(sim_queue_create(h.d, &second));
	works(sim_event_create(h.d, &e));
	works(sim_event_record(e, h.q));
	works(sim_queue_wait_event(second, e));
	assert_string_equal(fake.boundaries, ""); /* those stay within a window */
	works(sim_event_wait(e));
	works(sim_event_query(e));
	works(sim_queue_query(h.q));
	works(sim_queue_wait(h.q));
	works(sim_wait(h.d));
	works(sim_copy_out(h.q, &out, h.a, 4));
	works(sim_malloc_shared(h.d, 4, &flag));
	works(sim_free(h.d, (uint64_t)(uintptr_t)flag));
	works(sim_queue_callback(h.q, nothing, NULL));
	works(sim_queue_destroy(second));
	assert_string_equal(
		fake.boundaries,
		"sim_event_wait sim_event_query sim_queue_query sim_queue_wait sim_wait "
		"sim_copy_out sim_malloc_shared sim_free sim_queue_callback "
		"sim_queue_destroy ");
	works(sim_wait(h.d));
	fake.boundaries[0] = '\0';
	works(sim_queue_callback(h.q, query, h.q));
	assert_int_equal(drain(), 0);
	assert_string_equal(fake.boundaries, "sim_queue_callback sim_queue_query! ");
	works(sim_event_destroy(e));
	end(&h);
}

/* The program's whole sequence again, from the same memory, with the same end. */
static void test_doing_it_again(void **state)
{
	uint32_t x[N], first[N], again[N];
	uint64_t begin_ns, end_ns;
	struct here h;
	void *store;
	const struct runtime *rt;
	const struct runtime_memory *m;

	(void)state;
	begin(&h, NULL, NULL);
	rt = fake.runtime;
	for (uint32_t i = 0; i < N; i++)
		x[i] = i;
	works(sim_fill(h.q, h.b, 0, BYTES));
	works(sim_copy_in(h.q, h.a, x, sizeof(x)));
	memset(x, 0xff, sizeof(x)); /* the program may, now */
	works(enqueue(h.q, "update", N, h.a, N));
	works(sim_copy(h.q, h.b + 100, h.a, 400));
	works(enqueue(h.q, "append", 1, h.b, h.c, 5, 1));
	assert_int_equal(fake.n_ops, 5);
	assert_int_equal(drain(), 0);
	assert_int_equal(rt->times(fake.device, fake.ops[2].op.recorded, &begin_ns, &end_ns, &err),
			 0);
	assert_true(begin_ns && end_ns >= begin_ns);
	assert_int_equal(rt->times(fake.device, fake.ops[1].op.recorded, &begin_ns, &end_ns, &err),
			 RC_UNSUPPORTED);
	sim_test_read(h.q, h.a, first, sizeof(first));
	m = memory_at(2, 0);
	assert_int_equal(rt->store_get(fake.device, m->size, RUNTIME_STORE_HOST, &store, &err), 0);
	assert_int_equal(rt->save(fake.device, m, 0, m->size, store, 0, NULL, &err), 0);
	works(sim_fill(h.q, h.a, 0, BYTES));
	works(sim_wait(h.d));
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(rt->launch(fake.device, fake.ops[i].op.recorded, &err), 0);
	assert_int_equal(drain(), 0);
	sim_test_read(h.q, h.a, again, sizeof(again));
	assert_memory_equal(first, again, sizeof(first));
	rt->store_put(fake.device, store);
	end(&h);
}

static void saves(enum runtime_store_kind kind, bool ordered)
{
	const struct runtime_sim_options o = {.no_ordered_save = !ordered};
	uint64_t bits[1] = {0}, h1, h2;
	struct runtime_op before = {.kind = RUNTIME_DISPATCH};
	const struct runtime_memory *m;
	const struct runtime *rt;
	uint32_t out[N];
	struct here h;
	void *store;

	begin(&h, &o, NULL);
	rt = fake.runtime;
	assert_int_equal(!!(rt->capabilities & RUNTIME_ORDERED_SAVE), ordered);
	works(enqueue(h.q, "set", N, h.a, N, 10));
	m = memory_at(0, 0);
	assert_int_equal(rt->store_get(fake.device, m->size + 8, kind, &store, &err), 0);
	/* in order: what the queue does before is saved, what it does behind is not */
	before.queue_native = h.q;
	if (!ordered)
		assert_int_equal(drain(), 0);
	assert_int_equal(
		rt->save(fake.device, m, 0, m->size, store, 8, ordered ? &before : NULL, &err), 0);
	works(enqueue(h.q, "set", 1, h.a, 1, 99));
	assert_int_equal(drain(), 0);
	assert_int_equal(rt->compare(fake.device, m, 0, m->size, store, 8, 1024, bits, &err), 0);
	assert_int_equal(bits[0], 1);
	assert_int_equal(rt->hash(fake.device, m, &h1, &err), 0);
	assert_int_equal(rt->restore(fake.device, m, 0, 1024, store, 8, &err), 0);
	assert_int_equal(rt->hash(fake.device, m, &h2, &err), 0);
	assert_int_not_equal(h1, h2);
	bits[0] = 0;
	assert_int_equal(rt->compare(fake.device, m, 0, m->size, store, 8, 1024, bits, &err), 0);
	assert_int_equal(bits[0], 0);
	sim_test_read(h.q, h.a, out, sizeof(out));
	assert_int_equal(out[0], 10);
	/* the last chunk is short */
	works(enqueue(h.q, "touch", 1, h.a, BYTES, 1000, 1));
	works(sim_wait(h.d));
	assert_int_equal(rt->compare(fake.device, m, 0, m->size, store, 8, 1024, bits, &err), 0);
	assert_int_equal(bits[0], 0xff);
	assert_int_equal(rt->save(fake.device, m, 0, m->size, store, 9, NULL, &err), RC_INVALID);
	rt->store_put(fake.device, store);
	end(&h);
}

static void test_saving_and_restoring(void **state)
{
	(void)state;
	saves(RUNTIME_STORE_HOST, true);
	saves(RUNTIME_STORE_DEVICE, true);
	saves(RUNTIME_STORE_HOST, false);
	saves(RUNTIME_STORE_DEVICE, false);
}

static void test_stores_that_fail(void **state)
{
	const struct runtime_sim_options no_store = {.no_device_store = true, .no_tracking = true};
	const struct runtime_memory *m;
	const struct runtime *rt;
	struct runtime_op before = {.kind = RUNTIME_DISPATCH};
	uint64_t bits[1] = {0};
	struct sim_config c;
	struct here h;
	void *store, *second;

	(void)state;
	sim_config_default(&c);
	c.tool_memory = 2 * BYTES;
	c.fail_copy = 1;
	begin(&h, NULL, &c);
	rt = fake.runtime;
	works(enqueue(h.q, "set", N, h.a, N, 10));
	m = memory_at(0, 0);
	assert_int_equal(rt->store_get(fake.device, 3 * BYTES, RUNTIME_STORE_DEVICE, &store, &err),
			 RC_NO_MEMORY);
	assert_int_equal(rt->store_get(fake.device, BYTES, RUNTIME_STORE_DEVICE, &store, &err), 0);
	/* what was put back is there for a store of another size, too */
	rt->store_put(fake.device, store);
	assert_int_equal(rt->store_get(fake.device, 3 * BYTES, RUNTIME_STORE_DEVICE, &second, &err),
			 RC_NO_MEMORY);
	assert_int_equal(rt->store_get(fake.device, BYTES, RUNTIME_STORE_DEVICE, &store, &err), 0);
	/* an ordered save that fails is found out where it matters */
	before.queue_native = h.q;
	assert_int_equal(rt->save(fake.device, m, 0, BYTES, store, 0, &before, &err), 0);
	assert_int_equal(drain(), 0);
	assert_int_equal(rt->restore(fake.device, m, 0, BYTES, store, 0, &err), RC_IO);
	assert_int_equal(rt->compare(fake.device, m, 0, BYTES, store, 0, 64, bits, &err), RC_IO);
	rt->store_put(fake.device, store);
	end(&h);

	begin(&h, &no_store, NULL);
	assert_int_equal(
		fake.runtime->store_get(fake.device, 8, RUNTIME_STORE_DEVICE, &store, &err),
		RC_UNSUPPORTED);
	assert_null(fake.runtime->track);
	end(&h);
}

static void test_tracking_writes(void **state)
{
	const uint64_t size = 100 * SIM_PAGE;
	const struct runtime_memory *m;
	uint64_t address, bits[2] = {0};
	struct here h;
	void *store;

	(void)state;
	begin(&h, NULL, NULL);
	works(sim_malloc(h.d, size, &address));
	works(enqueue(h.q, "touch", 1, address, size, 1000, 1));
	assert_int_equal(drain(), 0);
	m = memory_at(0, 0);
	assert_int_equal(fake.runtime->track(fake.device, m, &err), 0);
	works(enqueue(h.q, "set", 64, address + 70 * SIM_PAGE, 64, 1));
	assert_int_equal(drain(), 0);
	/* chunks of eight pages */
	assert_int_equal(fake.runtime->changed(fake.device, m, 8 * SIM_PAGE, bits, &err), 0);
	assert_int_equal(bits[0], 1 << 8);
	bits[0] = 0;
	/* half a page each; what the engine writes back is no write of the program */
	assert_int_equal(
		fake.runtime->store_get(fake.device, size, RUNTIME_STORE_HOST, &store, &err), 0);
	assert_int_equal(fake.runtime->save(fake.device, m, 0, size, store, 0, NULL, &err), 0);
	assert_int_equal(fake.runtime->restore(fake.device, m, 0, size, store, 0, &err), 0);
	works(sim_fill(h.q, address + SIM_PAGE, 0, 1));
	assert_int_equal(drain(), 0);
	assert_int_equal(fake.runtime->changed(fake.device, m, SIM_PAGE / 2, bits, &err), 0);
	assert_int_equal(bits[0], 0xc);
	fake.runtime->store_put(fake.device, store);
	end(&h);
}

/* Two queues, an event between them, and a kernel that holds the first one up: without the wait the
 * second would overtake it. */
static void test_order_between_queues(void **state)
{
	struct sim_queue *second, *third;
	struct sim_event *e, *f;
	struct here h;
	uint32_t out[2];
	void *flag;

	(void)state;
	begin(&h, NULL, NULL);
	assert_true(fake.runtime->capabilities & RUNTIME_LAUNCH_KEEPS_ORDER);
	works(sim_queue_create(h.d, &second));
	works(sim_queue_create(h.d, &third));
	works(sim_event_create(h.d, &e));
	works(sim_event_create(h.d, &f));
	works(sim_malloc_shared(h.d, 4, &flag));
	*(uint32_t *)flag = 1;
	works(enqueue(h.q, "spin", 1, (uint64_t)(uintptr_t)flag, h.c));
	works(enqueue(h.q, "set", N, h.a, N, 1));
	works(sim_event_record(e, h.q));
	/* through a queue that does nothing else */
	works(sim_queue_wait_event(third, e));
	works(sim_event_record(f, third));
	works(sim_queue_wait_event(second, f));
	works(enqueue(second, "update", N, h.a, N));
	assert_int_equal(drain(), 0);
	for (int pass = 0; pass < 3; pass++) {
		uint64_t bound = 20000000;

		*(uint32_t *)flag = 0;
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(
				fake.runtime->launch(fake.device, fake.ops[i].op.recorded, &err),
				0);
		assert_int_equal(fake.runtime->drain(fake.device, bound, &err), RC_TIMEOUT);
		__atomic_store_n((uint32_t *)flag, 1, __ATOMIC_RELEASE);
		assert_int_equal(drain(), 0);
		sim_test_read(h.q, h.a, out, sizeof(out));
		assert_int_equal(out[1], 7);
	}
	works(sim_event_destroy(e));
	works(sim_event_destroy(f));
	works(sim_queue_destroy(third));
	end(&h);
}

/* A chain of operations that wait for each other must not keep all of them. */
static void test_released_records_go(void **state)
{
	struct sim_queue *queues[2];
	struct sim_event *e;
	struct here h;

	(void)state;
	begin(&h, NULL, NULL);
	queues[0] = h.q;
	works(sim_queue_create(h.d, &queues[1]));
	works(sim_event_create(h.d, &e));
	for (int i = 0; i < 2000; i++) {
		works(sim_queue_wait_event(queues[i % 2], e));
		works(enqueue(queues[i % 2], "update", 1, h.a, 1));
		works(sim_event_record(e, queues[i % 2]));
		if (i % 100 == 99)
			release_ops();
	}
	works(sim_event_destroy(e));
	assert_int_equal(drain(), 0);
	end(&h);
}

/* A save that one queue has still to do must not hold what another queue writes after it. */
static void test_a_queue_that_overtakes_a_save(void **state)
{
	const struct runtime_memory *m;
	struct runtime_op before = {.kind = RUNTIME_DISPATCH};
	struct sim_queue *second;
	struct here h;
	void *flag, *store;

	(void)state;
	begin(&h, NULL, NULL);
	works(sim_queue_create(h.d, &second));
	works(sim_malloc_shared(h.d, 4, &flag));
	for (int late = 0; late < 2; late++) {
		*(uint32_t *)flag = !late;
		works(enqueue(h.q, "spin", 1, (uint64_t)(uintptr_t)flag, h.c));
		works(enqueue(second, "set", N, h.b, N, 1)); /* other memory: nothing to wait for */
		/* What was launched before a save has ended, as it has when a window opens. */
		works(sim_queue_wait(second));
		m = memory_at(fake.n_ops - 1, 0);
		assert_int_equal(fake.runtime->store_get(fake.device, BYTES, RUNTIME_STORE_HOST,
							 &store, &err),
				 0);
		before.queue_native = h.q;
		assert_int_equal(
			fake.runtime->save(fake.device, m, 0, BYTES, store, 0, &before, &err), 0);
		works(enqueue(second, "update", N, h.b, N));
		/* A save that came too late is still copied, for nobody: not under this. */
		works(sim_queue_wait(second));
		__atomic_store_n((uint32_t *)flag, 1, __ATOMIC_RELEASE);
		assert_int_equal(drain(), 0);
		assert_int_equal(fake.runtime->restore(fake.device, m, 0, BYTES, store, 0, &err),
				 late ? RC_IO : 0);
		fake.runtime->store_put(fake.device, store);
	}
	end(&h);
}

static void launch_from_callback(void *data)
{
	struct here *h = data;

	enqueue(h->q, "update", N, h->b, N);
}

static void test_callbacks_and_verdicts(void **state)
{
	uint32_t out[2];
	struct here h;

	(void)state;
	begin(&h, NULL, NULL);
	works(sim_queue_callback(h.q, launch_from_callback, &h));
	assert_int_equal(drain(), 0);
	/* the callback itself, which cannot be done again, and what it launches */
	assert_int_equal(fake.n_ops, 2);
	assert_int_equal(fake.ops[0].op.kind, RUNTIME_TRANSFER);
	assert_null(fake.ops[0].op.recorded);
	assert_int_equal(fake.ops[0].op.flags, RUNTIME_OP_REACH_EXACT);
	assert_int_equal(fake.ops[1].op.flags, RUNTIME_OP_NO_WAIT_BEFORE);
	end(&h);
	/* live: the same for the program, and nothing stays with the engine */
	begin(&h, NULL, NULL);
	fake.verdict = REPLAY_LIVE;
	works(enqueue(h.q, "set", N, h.a, N, 3));
	works(sim_fill(h.q, h.a + 4, 0, 4));
	sim_test_read(h.q, h.a, out, sizeof(out));
	assert_int_equal(out[0], 3);
	assert_int_equal(out[1], 0);
	end(&h);
	/* memory that the engine could not take */
	begin(&h, NULL, NULL);
	fake.no_room = true;
	works(sim_free(h.d, h.a));
	works(sim_malloc(h.d, BYTES, &h.a));
	works(enqueue(h.q, "set", N, h.a, N, 3));
	assert_null(fake.ops[0].op.recorded);
	assert_int_equal(fake.ops[0].op.n_reach, 0);
	sim_test_read(h.q, h.a, out, sizeof(out));
	assert_int_equal(out[0], 3);
	end(&h);
}

static void test_attaching(void **state)
{
	struct sim_tools other = *sim_test_tools();
	struct sim_api api = other.next, before = api;
	struct here h;

	(void)state;
	other.size--;
	assert_int_equal(runtime_sim_attach(NULL, &other, &api, NULL, "", NULL, &err), RC_MISMATCH);
	assert_memory_equal(&api, &before, sizeof(api));
	begin(&h, NULL, NULL);
	assert_int_equal(runtime_sim_attach(NULL, &other, &api, NULL, "", NULL, &err), RC_EXISTS);
	/* after the end of collection the program goes on as if alone */
	works(enqueue(h.q, "set", N, h.a, N, 3));
	assert_true(runtime_sim_detach());
	works(enqueue(h.q, "set", N, h.b, N, 3));
	works(sim_wait(h.d));
	assert_int_equal(fake.n_ops, 1);
	release_ops();
	works(sim_close(h.d));
	/* what the engine asks a closed device is answered */
	assert_int_equal(drain(), RC_END);
	runtime_sim_release();
	works(sim_install_tool(NULL));
	fake_reset();
}

/* ---- 8 threads and 4 queues ---- */

struct submitter {
	struct sim_device *d;
	struct sim_queue *q;
	uint64_t memory;
};

static void *submit(void *data)
{
	struct submitter *s = data;
	uint64_t more;

	for (int i = 0; i < 100; i++) {
		if (enqueue(s->q, "update", 64, s->memory, 64) || sim_malloc(s->d, 512, &more) ||
		    sim_fill(s->q, more, 1, 512) || sim_free(s->d, more))
			return s;
		if (i % 10 == 9 && sim_queue_wait(s->q))
			return s;
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct submitter s[8];
	struct sim_queue *queues[4];
	pthread_t threads[8];
	struct here h;
	void *bad;

	(void)state;
	begin(&h, NULL, NULL);
	for (int i = 0; i < 4; i++)
		works(sim_queue_create(h.d, &queues[i]));
	for (int i = 0; i < 8; i++) {
		s[i] = (struct submitter){.d = h.d, .q = queues[i % 4]};
		works(sim_malloc(h.d, 256, &s[i].memory));
	}
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, submit, &s[i]), 0);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
	assert_int_equal(fake.n_ops, 1600);
	assert_int_equal(fake.n_memories, 11);
	end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_engine_hears),
		cmocka_unit_test(test_boundaries),
		cmocka_unit_test(test_doing_it_again),
		cmocka_unit_test(test_saving_and_restoring),
		cmocka_unit_test(test_stores_that_fail),
		cmocka_unit_test(test_tracking_writes),
		cmocka_unit_test(test_order_between_queues),
		cmocka_unit_test(test_released_records_go),
		cmocka_unit_test(test_a_queue_that_overtakes_a_save),
		cmocka_unit_test(test_callbacks_and_verdicts),
		cmocka_unit_test(test_attaching),
		cmocka_unit_test(test_threads),
	};

	sim_test_tools(); /* while no device is open */
	return cmocka_run_group_tests_name("sim runtime", tests, NULL, NULL);
}
