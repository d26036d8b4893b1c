/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock at which a GPU's SMs run when a pass ends, as NVML says: read, never set. NVML
 * (libnvidia-ml.so.1, of the driver) is opened at run time and stays open; without it nothing is
 * known. A reading is of that moment, not a mean of the pass.
 */
#ifndef RETALLY_SOURCE_CUDA_CLOCK_H
#define RETALLY_SOURCE_CUDA_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CUDA_CLOCK_PASSES 256 /* of the plan; later ones are not watched */

/* Of one device, zeroed at first. Not thread-safe. */
struct cuda_clock {
	struct nvml_device *device; /* NULL: its clock cannot be read */
	int (*read)(struct nvml_device *device, int type, unsigned *mhz_out);
	uint32_t passes; /* the last that was read */
	struct {
		uint32_t n;           /* readings */
		uint32_t least, most; /* MHz */
	} of[CUDA_CLOCK_PASSES];
};

/* Finds the device by its UUID (as the driver gives it). False: there is no NVML, or it does not
 * know the device. */
bool cuda_clock_open(struct cuda_clock *c, const unsigned char uuid[16]);
/* A pass of the plan (from 1) is about to end. */
void cuda_clock_read(struct cuda_clock *c, uint32_t pass);
/* One sentence on all readings, passes with the same clock together; false: there are none. */
bool cuda_clock_describe(const struct cuda_clock *c, char *text, unsigned size);

#endif
