/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches and their records: any order, late ones, those of nobody; from other threads. */
#include "source/rocm/rocm_dispatch.h"
#include "tests/unit/test.h"

#include <pthread.h>

#define MS UINT64_C(1000000)

static uint64_t submit(struct rocm_pass_units *u, uint32_t unit, uint64_t *config_out)
{
	struct rocp_dispatch_data data = {.size = sizeof(data)};
	union rocp_user_data user = {0};

	*config_out = 0;
	rocm_dispatch_into(u, unit);
	rocm_dispatch_begins(data, config_out, &user, NULL);
	rocm_dispatch_into(NULL, 0);
	return user.value;
}

static void give(uint64_t ticket, uint64_t id, double value)
{
	struct rocp_dispatch_data data = {.size = sizeof(data), .start_ns = 10, .end_ns = 30};
	struct rocp_counter_record r = {.id = id, .value = value};

	rocm_dispatch_counted(data, &r, 1, (union rocp_user_data){.value = ticket}, NULL);
}

static void test_order(void **state)
{
	struct rocm_pass_units *u = rocm_dispatch_new();
	uint64_t a, b, config;

	(void)state;
	assert_true(rocm_dispatch_pass(u, 42, 2));
	a = submit(u, 0, &config);
	assert_int_equal(config, 42);
	b = submit(u, 1, &config);
	assert_false(rocm_dispatch_wait(u, 5 * MS));
	give(b, 7, 2);
	assert_false(rocm_dispatch_wait(u, 5 * MS));
	give(a, 7, 1);
	assert_true(rocm_dispatch_wait(u, 5 * MS));
	assert_true(rocm_dispatch_unit(u, 0)->values[0].value == 1);
	assert_true(rocm_dispatch_unit(u, 1)->values[0].value == 2);
	assert_int_equal(rocm_dispatch_unit(u, 1)->begin_ns, 10);
	assert_null(rocm_dispatch_unit(u, 2));
	/* a range: two dispatches are one unit */
	assert_true(rocm_dispatch_pass(u, 43, 1));
	a = submit(u, 0, &config);
	b = submit(u, 0, &config);
	give(a, 7, 1);
	give(b, 7, 2);
	assert_true(rocm_dispatch_wait(u, 5 * MS));
	assert_int_equal(rocm_dispatch_unit(u, 0)->n, 2);
	rocm_dispatch_free(u);
}

static void test_late(void **state)
{
	struct rocm_pass_units *u = rocm_dispatch_new();
	uint64_t a, b, config;

	(void)state;
	assert_true(rocm_dispatch_pass(u, 1, 1));
	a = submit(u, 0, &config);
	rocm_dispatch_forget(u);
	give(a, 7, 1);
	assert_true(rocm_dispatch_pass(u, 2, 1));
	b = submit(u, 0, &config);
	give(a, 7, 1);
	assert_false(rocm_dispatch_wait(u, 5 * MS));
	assert_int_equal(rocm_dispatch_unit(u, 0)->n, 0);
	give(b, 7, 3);
	assert_true(rocm_dispatch_wait(u, 5 * MS));
	assert_int_equal(rocm_dispatch_unit(u, 0)->n, 1);
	/* of nobody: nothing is touched */
	give(0, 1, 1);
	give(UINT64_MAX, 1, 1);
	give(UINT64_C(63) << 56, 1, 1);
	/* outside of a pass, or of a thread that said nothing: uncounted */
	rocm_dispatch_forget(u);
	assert_int_equal(submit(u, 0, &config), 0);
	assert_int_equal(config, 0);
	assert_int_equal(submit(NULL, 0, &config), 0);
	assert_int_equal(config, 0);
	rocm_dispatch_free(u);
	give(b, 7, 3);
}

static void *give_later(void *data)
{
	uint64_t *tickets = data;

	for (int i = 999; i >= 0; i--)
		give(tickets[i], (uint64_t)i, i);
	return NULL;
}

static void test_threads(void **state)
{
	struct rocm_pass_units *u = rocm_dispatch_new();
	static uint64_t tickets[1000];
	uint64_t config;
	pthread_t t;

	(void)state;
	for (int round = 0; round < 20; round++) {
		assert_true(rocm_dispatch_pass(u, 1, 1000));
		for (uint32_t i = 0; i < 1000; i++)
			tickets[i] = submit(u, i, &config);
		assert_int_equal(pthread_create(&t, NULL, give_later, tickets), 0);
		assert_true(rocm_dispatch_wait(u, 60000 * MS));
		pthread_join(t, NULL);
		for (uint32_t i = 0; i < 1000; i++) {
			assert_int_equal(rocm_dispatch_unit(u, i)->n, 1);
			assert_int_equal(rocm_dispatch_unit(u, i)->values[0].record_id, i);
		}
	}
	rocm_dispatch_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
