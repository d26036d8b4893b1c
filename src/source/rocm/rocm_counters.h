/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of one agent as rocprofiler-sdk describes them, and where a record belongs: record
 * ids are opaque and are asked of the library once each, then remembered. Descriptions are taken as
 * they come: what makes no sense is left out or refused with a sentence. Not locked: one thread at
 * a time for each object.
 */
#ifndef RETALLY_SOURCE_ROCM_COUNTERS_H
#define RETALLY_SOURCE_ROCM_COUNTERS_H

#include "source/rocm/rocm_api.h"

#include <stdbool.h>

#define ROCM_DIMENSIONS_MAX 8
#define ROCM_INSTANCES_MAX  0xfffeu /* of one counter: they are numbered in 16 bits */

struct rocm_dimension {
	uint64_t id;
	uint32_t n;
	uint32_t rank; /* 0: not known by name */
};
/* Instances are numbered over all dimensions: those that are not known by name slowest, then dies
 * (XCC, AID), shader engines, arrays, and what is called "instance" fastest. That is the order in
 * which the planner numbers X[i], over all known dimensions. */
struct rocm_counter {
	uint64_t id;
	char *name;
	bool derived;
	uint32_t n_dimensions;
	struct rocm_dimension dimensions[ROCM_DIMENSIONS_MAX];
	uint32_t n_instances;
	uint32_t n_known; /* of the known dimensions: X[i] is every instance with i as remainder */
};
struct rocm_place {
	uint64_t record_id;
	uint32_t counter; /* index */
	uint32_t instance;
};
struct rocm_counters {
	const struct rocm_api *api;
	struct rocm_counter *items;
	size_t n, room;
	struct rocm_place *places; /* open addressing by record_id */
	size_t n_places, places_room;
	bool failed; /* out of memory while listing */
};

int rocm_counters_list(struct rocm_counters *c, const struct rocm_api *api, uint64_t agent,
		       struct error *err);
void rocm_counters_release(struct rocm_counters *c);
/* By the n characters of the name; NULL: there is none. */
const struct rocm_counter *rocm_counters_find(const struct rocm_counters *c, const char *name,
					      size_t n);
/* RC_NOT_FOUND: a record of no counter that was listed, or of a place that it does not have. */
int rocm_counters_place(struct rocm_counters *c, uint64_t record_id, struct rocm_place *place_out,
			struct error *err);

#endif
