/* SPDX-License-Identifier: Apache-2.0 */
/* Which commands of several queues are known to be in order; and the layer's pool. */
#include "../test.h"
#include "runtime/opencl/opencl_internal.h"

/* The layer's calls into the engine: not made here. */
int replay_device_add(struct replay *r, const struct runtime *runtime, void *runtime_device,
		      const struct source *source, void *native, uint32_t number, const char *why,
		      struct replay_device **device_out, struct error *err)
{
	(void)r, (void)runtime, (void)runtime_device, (void)source, (void)native, (void)number,
		(void)why, (void)device_out;
	return error_set(err, RC_ERROR, "no engine");
}

struct replay_memory *replay_memory_add(struct replay_device *d, const struct runtime_memory *m)
{
	(void)d, (void)m;
	return NULL;
}

void replay_memory_remove(struct replay_device *d, struct replay_memory *m)
{
	(void)d, (void)m;
}

const struct runtime_memory *replay_memory_of(const struct replay_memory *m)
{
	(void)m;
	return NULL;
}

enum replay_verdict replay_before(struct replay_device *d, const struct runtime_op *op)
{
	(void)d, (void)op;
	return REPLAY_LIVE;
}

void replay_after(struct replay_device *d, const struct runtime_op *op, bool launched)
{
	(void)d, (void)op, (void)launched;
}

static const char *ended;

void replay_boundary(struct replay_device *d, const char *why)
{
	(void)d;
	ended = why;
}

static struct device device;
static struct queue one, two, loose;
static struct memory a, b;
static struct vendor_event *const e1 = (void *)0x100, *const e2 = (void *)0x200,
				  *const e3 = (void *)0x300;

static int setup(void **state)
{
	(void)state;
	pthread_mutex_init(&device.order, NULL);
	if (!device.epoch)
		device.epoch = pool_get(OPENCL_EPOCH * sizeof(*device.epoch));
	order_forget(&device);
	device.replay = (void *)&device;
	one.device = two.device = loose.device = &device;
	loose.out_of_order = true;
	ended = NULL;
	return device.epoch ? 0 : -1;
}

static bool clear(struct queue *q, struct memory *m, uint32_t n, struct vendor_event *const *wait)
{
	struct memory *list[] = {m};

	return order_is_clear(q, n, wait, list, 1);
}

static void went(struct queue *q, struct memory *m, uint32_t n, struct vendor_event *const *wait,
		 struct vendor_event *event)
{
	struct memory *list[] = {m};

	order_note(q, n, wait, list, 1, event);
}

static void test_in_order(void **state)
{
	(void)state;
	went(&one, &a, 0, NULL, NULL);
	assert_true(clear(&one, &a, 0, NULL));
	assert_true(clear(&two, &b, 0, NULL));
	assert_false(clear(&two, &a, 0, NULL));
}

static void test_events(void **state)
{
	(void)state;
	went(&one, &a, 0, NULL, e1);
	assert_true(clear(&two, &a, 1, &e1));
	assert_false(clear(&two, &a, 1, &e2));
	went(&two, &b, 1, &e1, e2);
	/* through the other queue's command */
	assert_true(clear(&loose, &a, 1, &e2));
	went(&one, &a, 0, NULL, NULL);
	assert_false(clear(&loose, &a, 1, &e2));
}

static void test_event_reused(void **state)
{
	(void)state;
	went(&one, &a, 0, NULL, e1);
	went(&two, &b, 0, NULL, e1); /* another event at the same address */
	assert_false(clear(&loose, &a, 1, &e1));
	assert_true(clear(&loose, &b, 1, &e1));
}

static void test_out_of_order(void **state)
{
	(void)state;
	went(&loose, &a, 0, NULL, e1);
	assert_false(clear(&loose, &a, 0, NULL));
	assert_true(clear(&loose, &a, 1, &e1));
	order_mark(&loose, 0, NULL, true, NULL);
	assert_true(clear(&loose, &a, 0, NULL));
	went(&loose, &a, 0, NULL, NULL);
	assert_false(clear(&loose, &a, 0, NULL));
	order_mark(&loose, 0, NULL, false, e3);
	assert_false(clear(&loose, &a, 0, NULL)); /* a marker holds nothing up */
	assert_true(clear(&two, &a, 1, &e3));
}

static void test_full(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < OPENCL_EPOCH; i++) {
		assert_true(clear(&one, &a, 0, NULL));
		went(&one, &a, 0, NULL, NULL);
	}
	assert_false(clear(&one, &a, 0, NULL));
	rules_apply("many commands", &device);
	assert_string_equal(ended, "many commands");
	assert_true(clear(&one, &a, 0, NULL));
}

static void test_rules(void **state)
{
	(void)state;
	rules_apply("clFlush", &device);
	assert_null(ended);
	in_callback = true;
	rules_apply("clFinish", &device);
	assert_null(ended);
	in_callback = false;
	atomic_store(&layer.user_events, 1);
	rules_apply("clFinish", &device);
	assert_null(ended);
	rules_apply("clReleaseMemObject", &device);
	assert_string_equal(ended, "clReleaseMemObject");
	atomic_store(&layer.user_events, 0);
	rules_apply("clFinish", &device);
	assert_string_equal(ended, "clFinish");
}

static void test_pool(void **state)
{
	unsigned char *list[200];
	struct store *s, *again;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < 200; i++) {
			size_t n = i * i * 5 + 1;

			list[i] = pool_get(n);
			assert_non_null(list[i]);
			assert_int_equal((uintptr_t)list[i] % 16, 0);
			for (size_t k = 0; k < n; k++)
				assert_int_equal(list[i][k], 0);
			memset(list[i], (int)i, n);
		}
		for (size_t i = 0; i < 200; i++) {
			size_t n = i * i * 5 + 1;

			assert_int_equal(list[i][0], (unsigned char)i);
			assert_int_equal(list[i][n - 1], (unsigned char)i);
			pool_put(list[i]);
		}
	}
	pool_put(NULL);
	assert_int_equal(store_take(&s, 5000000, NULL), 0);
	assert_true(s->size >= 5000000 && s->size < 5000000 * 9 / 8);
	s->bytes[4999999] = 1;
	store_give(s);
	assert_int_equal(store_take(&again, 5000001, NULL), 0);
	assert_ptr_equal(again, s);
	store_give(again);
	store_trim();
}

static void test_written(void **state)
{
	size_t bytes = 8u << 20, pages;
	uint64_t bitmap[2] = {0};
	struct store *s;
	struct error err = {0};

	(void)state;
	if (!written_is_supported())
		skip_because("asynchronous write protection needs Linux 6.7");
	assert_int_equal(store_take(&s, bytes, &err), 0);
	assert_int_equal(written_arm(s->bytes, bytes, &err), 0);
	assert_int_equal(written_read(s->bytes, bytes, 65536, bitmap, &pages, &err), 0);
	assert_int_equal(pages, 0);
	s->bytes[3 * 65536 + 5] = 1;
	s->bytes[127 * 65536 + 65535] = 1;
	assert_int_equal(written_read(s->bytes, bytes, 65536, bitmap, &pages, &err), 0);
	assert_true(pages >= 2);
	assert_true(bitmap[0] >> 3 & 1);
	assert_true(bitmap[1] >> 63 & 1);
	/* Nothing is armed anew: the same answer again. */
	assert_int_equal(written_read(s->bytes, bytes, 65536, bitmap, &pages, &err), 0);
	assert_true(bitmap[0] >> 3 & 1);
	store_give(s);
	store_trim();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_in_order, setup),
		cmocka_unit_test_setup(test_events, setup),
		cmocka_unit_test_setup(test_event_reused, setup),
		cmocka_unit_test_setup(test_out_of_order, setup),
		cmocka_unit_test_setup(test_full, setup),
		cmocka_unit_test_setup(test_rules, setup),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
