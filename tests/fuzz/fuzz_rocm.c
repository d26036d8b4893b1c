/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents and counters as an SDK describes them, made of any bytes: sizes, counts, missing pointers,
 * dimensions of any extent, ids twice, record ids of nothing. Whatever is accepted must be within
 * its own limits, and every refusal is one sentence.
 */
#include "fuzz.h"
#include "source/rocm/rocm_counters.h"
#include "source/rocm/rocm_tool.h"

#include <string.h>

#define MOST 12

static struct {
	const uint8_t *at, *end;
	uint64_t ids[MOST];
	struct rocp_counter_info_v1 info[MOST];
	struct rocp_dimension_info dimensions[MOST][MOST];
	const struct rocp_dimension_info *pointers[MOST][MOST];
	size_t n;
	bool shuffled;
} sdk;
static char names[8][256];

static uint64_t take(unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes && sdk.at < sdk.end; i++)
		v = v << 8 | *sdk.at++;
	return v;
}

static const char *take_name(void)
{
	uint64_t which = take(1) % 10;

	return which < 8 ? names[which] : which == 8 ? "DIMENSION_XCC" : NULL;
}

static uint32_t iterate(uint64_t agent, rocp_counters_callback callback, void *data)
{
	return agent == 9 ? ROCP_AGENT_ARCH_NOT_SUPPORTED : callback(agent, sdk.ids, sdk.n, data);
}

static uint32_t info(uint64_t id, uint32_t version, void *out)
{
	for (size_t i = 0; version == ROCP_COUNTER_INFO_VERSION_1 && i < sdk.n; i++)
		if (sdk.ids[i] == id) {
			memcpy(out, &sdk.info[i], sizeof(sdk.info[i]));
			return ROCP_OK;
		}
	return ROCP_COUNTER_NOT_FOUND;
}

static uint32_t counter_of(uint64_t record, uint64_t *counter_out)
{
	*counter_out = record & 0xff;
	return record >> 63 ? ROCP_COUNTER_NOT_FOUND : ROCP_OK;
}

static uint32_t position(uint64_t record, uint64_t dimension, size_t *out)
{
	if (dimension == 77)
		return ROCP_DIM_NOT_FOUND;
	*out = record >> (8 + dimension % 40) & 63;
	return ROCP_OK;
}

static const char *status_name(uint32_t status)
{
	return status == ROCP_COUNTER_NOT_FOUND ? "ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND"
						: NULL;
}

static const struct rocm_api api = {
	.rocprofiler_iterate_agent_supported_counters = iterate,
	.rocprofiler_query_counter_info = info,
	.rocprofiler_query_record_counter_id = counter_of,
	.rocprofiler_query_record_dimension_position = position,
	.rocprofiler_get_status_name = status_name,
};

static void describe(size_t i)
{
	struct rocp_counter_info_v1 *v = &sdk.info[i];
	uint64_t n = take(1) % (MOST + 2);

	sdk.ids[i] = take(1);
	*v = (struct rocp_counter_info_v1){.size = take(1),
					   .id = sdk.ids[i],
					   .name = take_name(),
					   .bits = (uint8_t)take(1),
					   .n_dimensions = n,
					   .dimensions = sdk.pointers[i]};
	for (uint64_t k = 0; k < MOST; k++) {
		sdk.pointers[i][k] = NULL;
		if (k >= n || !take(1))
			continue;
		sdk.dimensions[i][k] = (struct rocp_dimension_info){
			.name = take_name(), .instances = take(1), .id = take(1)};
		if (sdk.dimensions[i][k].instances == 255)
			sdk.dimensions[i][k].instances = (size_t)take(8);
		sdk.pointers[i][k] = &sdk.dimensions[i][k];
	}
	if (n == MOST + 1) {
		v->n_dimensions = take(8);
		v->dimensions = v->n_dimensions > MOST ? v->dimensions : NULL;
	}
}

static void agents(void)
{
	struct rocp_agent described[4];
	const void *list[4];
	struct rocm_agent out[3];
	unsigned n = (unsigned)take(1) % 5, n_out;

	for (unsigned i = 0; i < n; i++) {
		described[i] = (struct rocp_agent){.size = take(2),
						   .id = take(8),
						   .type = (uint32_t)take(1) % 4,
						   .name = take_name(),
						   .node_id = (uint32_t)take(4)};
		list[i] = take(1) ? &described[i] : NULL;
	}
	n_out = rocm_tool_read_agents(out, 3, list, n);
	fuzz_assert(n_out <= 3 && n_out <= n);
	for (unsigned i = 0; i < n_out; i++)
		fuzz_assert(strnlen(out[i].name, sizeof(out[i].name)) < sizeof(out[i].name) &&
			    out[i].number == i);
	fuzz_assert(!rocm_tool_read_agents(out, 3, NULL, n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rocm_counters c;
	struct error err = {0};
	struct rocm_place place, again;
	int rc;

	memset(&sdk, 0, sizeof(sdk));
	sdk.at = data;
	sdk.end = data + size;
	memset(names, 'n', sizeof(names));
	for (unsigned i = 0; i < 8; i++) /* of 0, 1, 3, 15, 63, 199, 200 and 255 characters */
		names[i][(const unsigned[]){0, 1, 3, 15, 63, 199, 200, 255}[i]] = '\0';
	agents();
	sdk.n = take(1) % (MOST + 1);
	for (size_t i = 0; i < sdk.n; i++)
		describe(i);
	rc = rocm_counters_list(&c, &api, take(1) % 16, &err);
	if (rc)
		fuzz_assert(rc < 0 && *err.message && !strchr(err.message, '\n'));
	fuzz_assert(rc || (c.n && c.n <= sdk.n));
	for (size_t i = 0; !rc && i < c.n; i++) {
		const struct rocm_counter *k = &c.items[i];
		fuzz_assert(k->n_instances && k->n_instances <= ROCM_INSTANCES_MAX);
		fuzz_assert(k->n_known && k->n_instances % k->n_known == 0);
		fuzz_assert(k->n_dimensions <= ROCM_DIMENSIONS_MAX);
		fuzz_assert(rocm_counters_find(&c, k->name, strlen(k->name)));
	}
	while (!rc && sdk.at < sdk.end) {
		uint64_t record = take(8);
		int first = rocm_counters_place(&c, record, &place, &err);
		fuzz_assert(first == rocm_counters_place(&c, record, &again, &err));
		if (first) {
			fuzz_assert(first < 0 && *err.message);
			continue;
		}
		fuzz_assert(place.counter < c.n && place.counter == again.counter);
		fuzz_assert(place.instance < c.items[place.counter].n_instances &&
			    place.instance == again.instance);
	}
	rocm_counters_release(&c);
	return 0;
}
