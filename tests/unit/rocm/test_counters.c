/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters as an SDK describes them, also one that describes nonsense, and the places of records.
 * The SDK is a table of functions of this test.
 */
#include "source/rocm/rocm_counters.h"
#include "source/rocm/rocm_host.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

static struct error err;

struct model {
	uint64_t n;
	struct rocp_counter_info_v1 info[64];
	struct rocp_dimension_info dimensions[64][12];
	const struct rocp_dimension_info *pointers[64][12];
};
static struct model model;

static uint32_t iterate(uint64_t agent, rocp_counters_callback callback, void *data)
{
	uint64_t ids[64];

	for (uint64_t i = 0; i < model.n; i++)
		ids[i] = 100 + i;
	return callback(agent, ids, model.n, data);
}

static uint32_t info(uint64_t counter, uint32_t version, void *out)
{
	if (version != ROCP_COUNTER_INFO_VERSION_1 || counter < 100 || counter >= 100 + model.n)
		return ROCP_COUNTER_NOT_FOUND;
	memcpy(out, &model.info[counter - 100], sizeof(model.info[0]));
	return ROCP_OK;
}

/* Record ids: counter in the low 16 bits, then 6 for each dimension. */
static uint32_t counter_of(uint64_t record, uint64_t *counter_out)
{
	*counter_out = record & 0xffff;
	return *counter_out ? ROCP_OK : ROCP_COUNTER_NOT_FOUND;
}

static uint32_t position(uint64_t record, uint64_t dimension, size_t *out)
{
	if (!dimension || dimension > 7)
		return ROCP_DIM_NOT_FOUND;
	*out = record >> (16 + 6 * (dimension - 1)) & 63;
	return ROCP_OK;
}

static const struct rocm_api api = {
	.rocprofiler_iterate_agent_supported_counters = iterate,
	.rocprofiler_query_counter_info = info,
	.rocprofiler_query_record_counter_id = counter_of,
	.rocprofiler_query_record_dimension_position = position,
};

static void add(const char *name)
{
	uint64_t i = model.n++;

	model.info[i] = (struct rocp_counter_info_v1){
		.size = sizeof(model.info[i]), .id = 100 + i, .name = name};
	model.info[i].dimensions = model.pointers[i];
}

static void dimension(const char *name, size_t n, uint64_t id)
{
	uint64_t i = model.n - 1, k = model.info[i].n_dimensions++;

	model.dimensions[i][k] =
		(struct rocp_dimension_info){.name = name, .instances = n, .id = id};
	model.pointers[i][k] = &model.dimensions[i][k];
}

static void test_order(void **state)
{
	struct rocm_counters c;
	const struct rocm_counter *k;
	struct rocm_place p;

	(void)state;
	model = (struct model){0};
	add("FLAT");
	add("TCC_HIT");
	dimension("DIMENSION_INSTANCE", 16, 1);
	dimension("DIMENSION_XCC", 8, 2);
	add("ODD");
	dimension("DIMENSION_INSTANCE", 4, 1);
	dimension("DIMENSION_TOMORROW", 3, 3);
	assert_int_equal(rocm_counters_list(&c, &api, 1, &err), 0);
	assert_int_equal(c.n, 3);
	k = rocm_counters_find(&c, "TCC_HIT[5]", 7);
	assert_non_null(k);
	assert_int_equal(k->n_instances, 128);
	assert_int_equal(k->n_known, 128);
	assert_null(rocm_counters_find(&c, "TCC_HI", 6));
	/* die 3, channel 5: instance 53 of the chip, whatever order the SDK lists them in */
	assert_int_equal(rocm_counters_place(&c, 101 | 5 << 16 | 3 << 22, &p, &err), 0);
	assert_int_equal(p.counter, 1);
	assert_int_equal(p.instance, 53);
	assert_int_equal(rocm_counters_place(&c, 100, &p, &err), 0);
	assert_int_equal(p.instance, 0);
	/* what nobody knows is the slowest */
	k = rocm_counters_find(&c, "ODD", 3);
	assert_int_equal(k->n_instances, 12);
	assert_int_equal(k->n_known, 4);
	assert_int_equal(rocm_counters_place(&c, 102 | 1 << 16 | UINT64_C(2) << 28, &p, &err), 0);
	assert_int_equal(p.instance, 9);
	assert_int_equal(p.instance % k->n_known, 1);
	rocm_counters_release(&c);
}

static void test_refused(void **state)
{
	struct rocm_counters c;
	struct rocm_place p;

	(void)state;
	model = (struct model){0};
	add(NULL);
	add("");
	add("TOO_MANY");
	dimension("DIMENSION_INSTANCE", 1000, 1);
	dimension("DIMENSION_XCC", 1000, 2);
	add("NONE");
	dimension("DIMENSION_INSTANCE", 0, 1);
	add("NO_ARRAY");
	model.info[model.n - 1].n_dimensions = 2;
	model.info[model.n - 1].dimensions = NULL;
	add("HOLE");
	model.info[model.n - 1].n_dimensions = 1;
	add("DEEP");
	model.info[model.n - 1].n_dimensions = UINT64_MAX;
	add("GOOD");
	dimension("DIMENSION_INSTANCE", 4, 1);
	assert_int_equal(rocm_counters_list(&c, &api, 1, &err), 0);
	assert_int_equal(c.n, 1);
	assert_string_equal(c.items[0].name, "GOOD");
	err = (struct error){0};
	assert_int_equal(rocm_counters_place(&c, 107 | 9 << 16, &p, &err), RC_NOT_FOUND);
	assert_string_equal(err.message,
			    "a record of 'GOOD' is from a place that it does not have");
	assert_int_equal(rocm_counters_place(&c, 103, &p, &err), RC_NOT_FOUND);
	assert_true(rocm_counters_place(&c, 0, &p, &err) != 0);
	rocm_counters_release(&c);
	model = (struct model){0};
	assert_int_equal(rocm_counters_list(&c, &api, 1, &err), RC_NOT_FOUND);
	rocm_counters_release(&c);
}

/* Anything: nothing crashes, what is listed makes sense, places lie inside. */
static void test_random(void **state)
{
	static const char *const names[] = {"DIMENSION_XCC", "DIMENSION_INSTANCE", NULL, "",
					    "DIMENSION_SHADER_ENGINE"};
	static const size_t sizes[] = {0, 1, 2, 3, 8, 64, 1000, 65534, 65535, SIZE_MAX};

	(void)state;
	srand(7);
	for (int round = 0; round < 3000; round++) {
		struct rocm_counters c;

		model = (struct model){0};
		for (int i = rand() % 40; i >= 0; i--) {
			add(rand() % 9 ? "X" : NULL);
			for (int k = rand() % 11; k > 0; k--)
				dimension(names[rand() % 5], sizes[rand() % 10],
					  (uint64_t)rand() % 9);
			if (rand() % 20 == 0)
				model.pointers[model.n - 1][0] = NULL;
		}
		if (!rocm_counters_list(&c, &api, 1, &err)) {
			for (size_t i = 0; i < c.n; i++) {
				assert_in_range(c.items[i].n_instances, 1, ROCM_INSTANCES_MAX);
				assert_int_equal(c.items[i].n_instances % c.items[i].n_known, 0);
			}
			for (int i = 0; i < 100; i++) {
				struct rocm_place p;
				uint64_t id =
					((uint64_t)rand() << 16) | (uint64_t)(100 + rand() % 50);

				if (!rocm_counters_place(&c, id, &p, &err)) {
					assert_in_range(p.counter, 0, c.n - 1);
					assert_in_range(p.instance, 0,
							c.items[p.counter].n_instances - 1);
				}
			}
		}
		rocm_counters_release(&c);
	}
}

static void test_chips(void **state)
{
	char name[32];

	(void)state;
	rocm_host_chip_name(90010, name, sizeof(name));
	assert_string_equal(name, "gfx90a");
	rocm_host_chip_name(90402, name, sizeof(name));
	assert_string_equal(name, "gfx942");
	rocm_host_chip_name(90008, name, sizeof(name));
	assert_string_equal(name, "gfx908");
	rocm_host_chip_name(110000, name, sizeof(name));
	assert_string_equal(name, "gfx1100");
	rocm_host_chip_name(120001, name, sizeof(name));
	assert_string_equal(name, "gfx1201");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_chips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
