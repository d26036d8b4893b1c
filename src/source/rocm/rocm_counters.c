/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of an agent, their dimensions, and the place of each record: see rocm_counters.h. */
#include "source/rocm/rocm_counters.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_    200u
#define COUNTERS_MAX 65536u

/* A newer library may write a longer struct than the one we know. */
union info {
	struct rocp_counter_info_v1 v1;
	uint64_t room[64];
};

/* ---- descriptions ---- */

static uint32_t rank_of(const char *name)
{
	static const char *const names[] = {"DIMENSION_XCC",           "DIMENSION_AID",
					    "DIMENSION_SHADER_ENGINE", "DIMENSION_SHADER_ARRAY",
					    "DIMENSION_WGP",           "DIMENSION_INSTANCE"};

	for (uint32_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return i + 1;
	return 0;
}

/* Sorted in, those of equal rank in the library's order. */
static void add_dimension(struct rocm_counter *k, const struct rocp_dimension_info *info)
{
	struct rocm_dimension d = {
		.id = info->id, .n = (uint32_t)info->instances, .rank = rank_of(info->name)};
	uint32_t at = k->n_dimensions++;

	for (; at && k->dimensions[at - 1].rank > d.rank; at--)
		k->dimensions[at] = k->dimensions[at - 1];
	k->dimensions[at] = d;
}

/* false: this counter cannot be used. */
static bool take_dimensions(struct rocm_counter *k, const struct rocp_counter_info_v1 *info)
{
	uint64_t n = 1, known = 1;

	if (info->n_dimensions > ROCM_DIMENSIONS_MAX || (info->n_dimensions && !info->dimensions))
		return false;
	for (uint64_t i = 0; i < info->n_dimensions; i++) {
		const struct rocp_dimension_info *d = info->dimensions[i];

		if (!d || !d->instances || d->instances > ROCM_INSTANCES_MAX)
			return false;
		n *= d->instances;
		if (n > ROCM_INSTANCES_MAX)
			return false;
		add_dimension(k, d);
	}
	for (uint32_t i = 0; i < k->n_dimensions; i++)
		known *= k->dimensions[i].rank ? k->dimensions[i].n : 1;
	k->n_instances = (uint32_t)n;
	k->n_known = (uint32_t)known;
	return true;
}

static struct rocm_counter *push(struct rocm_counters *c)
{
	if (c->n == c->room) {
		size_t room = c->room ? 2 * c->room : 256;
		struct rocm_counter *items = realloc(c->items, room * sizeof(*items));

		if (!items)
			return NULL;
		c->items = items;
		c->room = room;
	}
	memset(&c->items[c->n], 0, sizeof(*c->items));
	return &c->items[c->n];
}

static uint32_t on_counters(uint64_t agent, uint64_t *ids, size_t n, void *data)
{
	struct rocm_counters *c = data;
	struct rocm_counter *k;

	(void)agent;
	for (size_t i = 0; i < n && c->n < COUNTERS_MAX; i++) {
		union info info = {0};
		size_t length;

		if (c->api->rocprofiler_query_counter_info(ids[i], ROCP_COUNTER_INFO_VERSION_1,
							   &info) ||
		    !info.v1.name)
			continue;
		length = strnlen(info.v1.name, NAME_MAX_);
		if (!length || length == NAME_MAX_)
			continue;
		k = push(c);
		if (!k || !(k->name = strndup(info.v1.name, length))) {
			c->failed = true;
			return ROCP_OK;
		}
		k->id = ids[i];
		k->derived = (info.v1.bits & ROCP_COUNTER_IS_DERIVED) != 0;
		/* One that cannot be told apart is not listed: whoever wants it hears that it is
		 * not there. */
		if (take_dimensions(k, &info.v1))
			c->n++;
		else
			free(k->name);
	}
	return ROCP_OK;
}

int rocm_counters_list(struct rocm_counters *c, const struct rocm_api *api, uint64_t agent,
		       struct error *err)
{
	uint32_t status;

	*c = (struct rocm_counters){.api = api};
	status = api->rocprofiler_iterate_agent_supported_counters(agent, on_counters, c);
	if (status)
		return rocm_api_fail(api, status, "listing the counters of the device", err);
	if (c->failed)
		return error_set(err, RC_NO_MEMORY, "out of memory for the list of counters");
	if (!c->n)
		return error_set(err, RC_NOT_FOUND, "rocprofiler-sdk lists no counter of it");
	return 0;
}

void rocm_counters_release(struct rocm_counters *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i].name);
	free(c->items);
	free(c->places);
	*c = (struct rocm_counters){0};
}

const struct rocm_counter *rocm_counters_find(const struct rocm_counters *c, const char *name,
					      size_t n)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strncmp(c->items[i].name, name, n) && !c->items[i].name[n])
			return &c->items[i];
	return NULL;
}

/* ---- places ---- */

static size_t slot_of(const struct rocm_counters *c, uint64_t record_id)
{
	return (record_id * UINT64_C(0x9e3779b97f4a7c15)) >> 40 & (c->places_room - 1);
}

static struct rocm_place *find(const struct rocm_counters *c, uint64_t record_id)
{
	size_t i = slot_of(c, record_id);

	/* counter is one more than the index, so that a free place is known */
	while (c->places[i].counter && c->places[i].record_id != record_id)
		i = (i + 1) & (c->places_room - 1);
	return &c->places[i];
}

static bool grow(struct rocm_counters *c)
{
	struct rocm_place *old = c->places;
	size_t n = c->places_room;

	if (4 * (c->n_places + 1) < 3 * n)
		return true;
	c->places_room = n ? 2 * n : 1024;
	c->places = calloc(c->places_room, sizeof(*c->places));
	if (!c->places) {
		c->places = old;
		c->places_room = n;
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if (old[i].counter)
			*find(c, old[i].record_id) = old[i];
	free(old);
	return true;
}

static int ask(const struct rocm_counters *c, uint64_t record_id, struct rocm_place *place,
	       struct error *err)
{
	const struct rocm_counter *k = NULL;
	uint64_t counter = 0, flat = 0;
	uint32_t status = c->api->rocprofiler_query_record_counter_id(record_id, &counter);

	if (status)
		return rocm_api_fail(c->api, status, "asking what a record is of", err);
	for (size_t i = 0; i < c->n && !k; i++)
		if (c->items[i].id == counter)
			k = &c->items[i];
	if (!k)
		return error_set(err, RC_NOT_FOUND, "a record is of a counter that is not listed");
	for (uint32_t i = 0; i < k->n_dimensions; i++) {
		size_t position = 0;

		status = c->api->rocprofiler_query_record_dimension_position(
			record_id, k->dimensions[i].id, &position);
		if (status)
			return rocm_api_fail(c->api, status, "asking where a record is from", err);
		if (position >= k->dimensions[i].n)
			return error_set(err, RC_NOT_FOUND,
					 "a record of '%s' is from a place that it does not have",
					 k->name);
		flat = flat * k->dimensions[i].n + position;
	}
	*place = (struct rocm_place){.record_id = record_id,
				     .counter = (uint32_t)(k - c->items) + 1,
				     .instance = (uint32_t)flat};
	return 0;
}

int rocm_counters_place(struct rocm_counters *c, uint64_t record_id, struct rocm_place *place_out,
			struct error *err)
{
	struct rocm_place *p;
	int rc;

	if (!grow(c))
		return error_set(err, RC_NO_MEMORY, "out of memory for the places of records");
	p = find(c, record_id);
	if (!p->counter) {
		rc = ask(c, record_id, p, err);
		if (rc)
			return rc;
		c->n_places++;
	}
	*place_out = *p;
	place_out->counter--;
	return 0;
}
