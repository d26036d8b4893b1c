/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of counters of a plan, each with CUPTI's configuration for the device at hand. Those
 * of the passes are configured at once, which proves the plan; the live ones, which mostly none is
 * wanted of, when they are asked for first. */
#ifndef RETALLY_SOURCE_CUDA_GROUPS_H
#define RETALLY_SOURCE_CUDA_GROUPS_H

#include "source/cuda/cuda_device.h"

struct cuda_group {
	struct cupti_host *host; /* configured with exactly these counters; NULL: not yet */
	uint32_t n;
	uint32_t *counters; /* indexes into the plan's */
	const char **names; /* of the plan */
	uint32_t parts;     /* CUPTI's passes */
	uint8_t *config;
	size_t config_size;
	bool failed; /* to be configured */
};
struct cuda_groups {
	const struct plan *plan;
	const struct cuda_target *target;
	char *chip;
	uint8_t *availability; /* of the device's counters */
	uint32_t n;
	struct cuda_group *groups;
	struct cuda_group *live; /* as the plan's */
	uint32_t *group_of;      /* of pass K at [K - 1]; UINT32_MAX: not of this source */
	uint32_t *part_of;
	uint32_t largest; /* counters of the largest group */
};

/* RC_MISMATCH when CUPTI on this device needs another number of passes for a group than the plan
 * says: it was made for another chip or CUPTI. */
int cuda_groups_init(struct cuda_groups *g, const struct cuda_native *native,
		     const struct plan *plan, struct error *err);
/* pass: a number as plan_counted() takes it. Nonzero: no such pass. The group may not be configured
 * yet. */
int cuda_groups_pass(const struct cuda_groups *g, uint32_t pass,
		     const struct cuda_group **group_out, uint32_t *part_out);
/* Before its group is used: configures it if it is not yet. */
int cuda_groups_prepare(struct cuda_groups *g, uint32_t pass, struct error *err);
void cuda_groups_release(struct cuda_groups *g);

#endif
