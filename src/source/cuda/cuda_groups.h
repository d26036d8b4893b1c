/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of counters of a plan, each with CUPTI's configuration for the device at hand. */
#ifndef RETALLY_SOURCE_CUDA_GROUPS_H
#define RETALLY_SOURCE_CUDA_GROUPS_H

#include "source/cuda/cuda_device.h"

struct cuda_group {
	struct cupti_host *host; /* configured with exactly these counters */
	uint32_t n;
	uint32_t *counters; /* indexes into the plan's */
	const char **names; /* of the plan */
	uint32_t parts;     /* CUPTI's passes */
	uint8_t *config;
	size_t config_size;
};
struct cuda_groups {
	const struct plan *plan;
	uint32_t n;
	struct cuda_group *groups;
	uint32_t *group_of; /* of pass K at [K - 1]; UINT32_MAX: not of this source */
	uint32_t *part_of;
	uint32_t largest; /* counters of the largest group */
};

/* RC_MISMATCH when CUPTI on this device needs another number of passes for a group than the plan
 * says: it was made for another chip or CUPTI. */
int cuda_groups_init(struct cuda_groups *g, const struct cuda_native *native,
		     const struct plan *plan, struct error *err);
/* Nonzero: no such pass. */
int cuda_groups_pass(const struct cuda_groups *g, uint32_t pass,
		     const struct cuda_group **group_out, uint32_t *part_out);
void cuda_groups_release(struct cuda_groups *g, const struct cuda_target *t);

#endif
