/* SPDX-License-Identifier: Apache-2.0 */
/* The device half of the sim source alone: it is called as the engine calls it. */
#include "source/sim/sim_abi.h"
#include "source/sim/sim_device.h"
#include "tests/unit/sim/sim_test.h"

#define N 1000u

static struct plan_counter counters[] = {
	{"SEQ_LOADS", "sim", "SEQ", "count", 0, "3"},
	{"SEQ_LOADS[1]", "sim", "SEQ", "count", 0, "3"},
	{"L2_READ_BYTES", "sim", "L2", "bytes", 0, "23"},
	{"cycles", "perf", "", "count", 0, "type=0 config=0"},
	{"SEQ_LEVEL_GROUPS", "sim", "SEQ", "groups", 0, "9"},
	{"SEQ_LEVEL_GROUPS_ACCUM", "sim", "SEQ", "groups", 0, "10"},
	{"MEM_READ_BYTES", "sim", "MEM", "bytes", 0, "30"},
};
static const uint32_t first[] = {0, 1, 2, 3}, second[] = {4, 5, 6};
static struct plan_pass passes[] = {{4, first, "", ""}, {3, second, "", ""}};
static struct plan plan = {.n_counters = 7, .counters = counters, .n_passes = 2, .passes = passes};

struct here {
	struct sim_tool_device native;
	struct sim_queue *q;
	uint64_t a;
	const struct source *s;
	void *device;
};
static struct error err;

static void begin(struct here *h, const struct source_sim_options *o, const struct sim_config *c)
{
	h->native = (struct sim_tool_device){sim_test_open(c), sim_test_tools()};
	works(sim_queue_create(h->native.device, &h->q));
	works(sim_malloc(h->native.device, N * 4, &h->a));
	h->s = source_sim(o);
	assert_int_equal(h->s->device_open(&h->device, &plan, "sim", &h->native, 0, &err), 0);
}

static void end(struct here *h)
{
	h->s->device_close(h->device);
	works(sim_close(h->native.device));
}

/* n updates of different sizes, each a unit. */
static void count(struct here *h, uint32_t pass, uint32_t n)
{
	assert_int_equal(h->s->pass_begin(h->device, pass, n, &err), 0);
	for (uint32_t i = 0; i < n; i++) {
		struct source_unit u = {.index = i, .queue_native = h->q};

		if (h->s->capabilities & SOURCE_NEEDS_DRAIN)
			works(sim_wait(h->native.device));
		assert_int_equal(h->s->unit_begin(h->device, &u, &err), 0);
		works(enqueue(h->q, "update", N, h->a, N / (i + 1)));
		if (h->s->capabilities & SOURCE_NEEDS_DRAIN)
			works(sim_wait(h->native.device));
		assert_int_equal(h->s->unit_end(h->device, &u, &err), 0);
	}
	works(sim_wait(h->native.device));
	assert_int_equal(h->s->pass_end(h->device, &err), 0);
}

static uint32_t get(struct here *h, uint32_t unit, struct spool_sample out[16])
{
	uint64_t enabled, running;
	uint32_t n;

	assert_int_equal(h->s->read(h->device, unit, out, 16, &n, &enabled, &running, &err), 0);
	return n;
}

static void counts(uint32_t capabilities)
{
	const struct source_sim_options o = {.capabilities = capabilities};
	struct spool_sample x[16];
	struct here h;

	begin(&h, &o, NULL);
	assert_int_equal(h.s->capabilities, capabilities);
	assert_int_equal(h.s->room(h.device), 3);
	for (int round = 0; round < 2; round++) {
		count(&h, 1, 2);
		assert_int_equal(get(&h, 0, x), 3); /* perf's is not ours */
		assert_int_equal(x[0].counter, 0);
		assert_int_equal(x[0].instance, SPOOL_INSTANCE_ALL);
		assert_int_equal(x[0].status, SAMPLE_OK);
		assert_int_equal(x[0].value.u64, 1000);
		assert_int_equal(x[1].counter, 1);
		assert_int_equal(x[1].instance, 1);
		assert_int_equal(x[1].value.u64, 488);
		assert_int_equal(x[2].value.u64, 4000);
		assert_int_equal(get(&h, 1, x), 3);
		assert_int_equal(x[0].value.u64, 500);
		count(&h, 2, 1);
		assert_int_equal(get(&h, 0, x), 3);
		assert_int_equal(x[0].value.u64, 16);
		assert_int_equal(x[2].value.u64, 4000);
	}
	end(&h);
}

static void test_counts(void **state)
{
	(void)state;
	counts(0);
	counts(SOURCE_NEEDS_DRAIN);
	counts(SOURCE_DEAR_PASS | SOURCE_WANTS_WARM_UP | SOURCE_OVERLAP);
}

static void test_instances_apart(void **state)
{
	const struct source_sim_options o = {.per_instance = true};
	struct spool_sample x[16];
	uint64_t sum = 0;
	struct here h;

	(void)state;
	begin(&h, &o, NULL);
	assert_int_equal(h.s->room(h.device), 7);
	count(&h, 1, 1);
	assert_int_equal(get(&h, 0, x), 7);
	assert_int_equal(x[0].value.u64, 512);
	assert_int_equal(x[1].value.u64, 488);
	assert_int_equal(x[2].counter, 1);
	for (int i = 3; i < 7; i++) {
		assert_int_equal(x[i].counter, 2);
		assert_int_equal(x[i].instance, i - 3);
		sum += x[i].value.u64;
	}
	assert_int_equal(sum, 4000);
	end(&h);
}

static void test_overflow(void **state)
{
	struct spool_sample x[16];
	struct sim_config c;
	struct here h;

	(void)state;
	sim_config_default(&c);
	c.counter_bits = 10; /* 512 fit, 1024 do not */
	c.counter_start = 1000;
	begin(&h, NULL, &c);
	count(&h, 1, 1);
	get(&h, 0, x);
	assert_int_equal(x[0].status, SAMPLE_OK);
	assert_int_equal(x[0].value.u64, 1000);
	/* L2 has four instances with 1024 bytes each, but the last */
	assert_int_equal(x[2].status, SAMPLE_OVERFLOWED);
	assert_int_equal(x[2].value.u64, 0);
	end(&h);
}

static void test_what_goes_wrong(void **state)
{
	struct source_unit u = {.index = 0};
	struct spool_sample x[16];
	uint64_t enabled, running;
	struct sim_config c;
	struct here h;
	uint32_t n;
	void *other;

	(void)state;
	sim_config_default(&c);
	c.fail_program = 2;
	c.fail_read = 1;
	begin(&h, NULL, &c);
	assert_int_equal(h.s->device_open(&other, &plan, "sim", &h.native, 0, &err), RC_BUSY);
	assert_int_equal(h.s->device_open(&other, &plan, "opencl", &h.native, 0, &err),
			 RC_UNSUPPORTED);
	assert_int_equal(h.s->unit_begin(h.device, &u, &err), RC_INVALID);
	assert_int_equal(h.s->pass_begin(h.device, 3, 1, &err), RC_INVALID);
	assert_int_equal(h.s->pass_begin(h.device, 0, 1, &err), RC_INVALID);
	count(&h, 1, 1);
	assert_int_equal(h.s->read(h.device, 0, x, 2, &n, &enabled, &running, &err), RC_NO_SPACE);
	assert_int_equal(n, 3);
	assert_int_equal(h.s->read(h.device, 1, x, 16, &n, &enabled, &running, &err), RC_INVALID);
	assert_int_equal(h.s->read(h.device, 0, x, 16, &n, &enabled, &running, &err), RC_IO);
	assert_int_equal(get(&h, 0, x), 3);
	assert_int_equal(h.s->pass_begin(h.device, 1, 1, &err), RC_IO);
	h.s->pass_abort(h.device);
	assert_int_equal(h.s->read(h.device, 0, x, 16, &n, &enabled, &running, &err), RC_INVALID);
	count(&h, 2, 1);
	end(&h);

	sim_config_default(&c);
	c.lost_after = 1;
	begin(&h, NULL, &c);
	works(enqueue(h.q, "update", 1, h.a, 1));
	works(enqueue(h.q, "update", 1, h.a, 1));
	assert_int_equal(sim_wait(h.native.device), SIM_LOST);
	assert_int_equal(h.s->pass_begin(h.device, 1, 1, &err), RC_END);
	works(sim_close(h.native.device));
	h.native.device = NULL;
	assert_int_equal(h.s->pass_begin(h.device, 1, 1, &err), RC_END);
	h.s->device_close(h.device);
}

static void test_configs(void **state)
{
	static const char *const bad[] = {
		"", "x", "3x", "-3", " 3", "4294967295", "99999999999999"};
	struct plan_counter k = {.name = "X", .config = "7"};
	uint32_t id, instance;

	(void)state;
	assert_int_equal(sim_abi_decode(&k, &id, &instance, &err), 0);
	assert_int_equal(id, 7);
	assert_true(instance == SIM_ABI_ALL);
	k.name = "X[12]";
	assert_int_equal(sim_abi_decode(&k, &id, &instance, &err), 0);
	assert_int_equal(instance, 12);
	k.name = "X[]";
	assert_int_equal(sim_abi_decode(&k, &id, &instance, &err), RC_INVALID);
	k.name = "X";
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		k.config = bad[i];
		assert_int_equal(sim_abi_decode(&k, &id, &instance, &err), RC_INVALID);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),   cmocka_unit_test(test_instances_apart),
		cmocka_unit_test(test_overflow), cmocka_unit_test(test_what_goes_wrong),
		cmocka_unit_test(test_configs),
	};

	sim_test_tools(); /* while no device is open */
	return cmocka_run_group_tests_name("sim source", tests, NULL, NULL);
}
